"""What may stand in a storyboard: the keys, their kinds and ranges. Lengths in metres, times in seconds, angles in
degrees, masses in kilograms; +Z is up.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from elbowroom.character.anthropometry import Sex
from elbowroom.world.contacts import Kind

Number = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, le=1e6, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0.0, le=86400.0, allow_inf_nan=False)]
Point = Annotated[list[Number], Field(min_length=3, max_length=3)]
Spot = Annotated[list[Number], Field(min_length=2, max_length=2)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[^./\x00-\x1f]+$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Color = Annotated[list[Unit], Field(min_length=3, max_length=3)]


def _kind(value: Any) -> str:
    """Which of a union's forms a value has; models and mappings are the long one."""
    if isinstance(value, str):
        return "word"
    if isinstance(value, list):
        return "list"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else "keys"


_BY_FORM = Discriminator(_kind)
Turn = Annotated[
    Annotated[Number, Tag("number")] | Annotated[Point, Tag("list")],
    _BY_FORM,
    Field(description="Degrees about z, or degrees about x, y and z in turn, each about the world's axis."),
]


class Part(BaseModel):
    """Base of all parts: unknown keys are rejected, numbers are numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _wrong(what: str, *at: str | int) -> PydanticCustomError:
    """What is wrong, with the way from the part to the value to blame."""
    return PydanticCustomError("storyboard", "{what}", {"what": what, "at": at})


def _only_one(part: Part, names: tuple[str, ...]) -> None:
    given = [name for name in names if getattr(part, name) is not None]
    if len(given) != 1:
        known = ", ".join(f"'{n}'" for n in names[:-1]) + f" and '{names[-1]}'"
        told = "none" if not given else " and ".join(f"'{n}'" for n in given)
        raise _wrong(f"needs exactly one of {known}; there is {told}")


class Cylinder(Part):
    """An upright cylinder about its middle."""

    radius: Positive
    height: Positive


class MeshSource(Part):
    """A mesh: from a file, or a box, sphere or cylinder about its middle."""

    file: Text | None = None
    part: Text | None = Field(default=None, description="One mesh of the file by name; without it all are taken.")
    units: Positive | None = Field(default=None, description="Metres per unit of the file.")
    up: Literal["Y", "Z"] | None = None
    box: Annotated[list[Positive], Field(min_length=3, max_length=3)] | None = None
    sphere: Positive | None = None
    cylinder: Cylinder | None = None
    scale: Positive = 1.0
    color: Color | None = Field(default=None, description="Linear red, green and blue, 0 to 1.")

    @model_validator(mode="after")
    def _one_source(self) -> MeshSource:
        _only_one(self, ("file", "box", "sphere", "cylinder"))
        return self


class SceneMesh(MeshSource):
    """A mesh that never moves; all meshes of a file keep their names."""

    name: Name | None = None
    at: Point = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    turn: Turn = 0.0
    without: list[Text] = Field(default_factory=list, description="Names of meshes of the file that are left out.")


class Scene(Part):
    """What stands around, and the ground."""

    meshes: list[SceneMesh] = Field(default_factory=list)
    floor: Annotated[Annotated[Number, Tag("number")] | Annotated[Literal["auto", "none"], Tag("word")], _BY_FORM] = (
        Field(default="auto", description="Height of the ground; 'auto' estimates it, 'none' is no ground.")
    )


Mesh = Annotated[Annotated[Text, Tag("word")] | Annotated[MeshSource, Tag("keys")], _BY_FORM]


class Frame(Part):
    """A named place on a thing, in the thing's own axes."""

    at: Point = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    turn: Turn = 0.0


class PathKey(Part):
    """Where a thing is at a time; without `turn` as before."""

    t: Seconds
    at: Point
    turn: Turn | None = None


class StateKey(Part):
    """How far a fixture is open at a time, metres or degrees."""

    t: Seconds
    value: Number


def _rising(keys: list[Any]) -> None:
    for k in range(1, len(keys)):
        if not keys[k].t > keys[k - 1].t:
            late, early = keys[k - 1].t, keys[k].t
            raise _wrong(f"must rise, but {early:g} s follows {late:g} s; give the keys in order of time", k, "t")


class Object(Part):
    """A thing that rests, moves along a path, or is taken by hands."""

    mesh: Mesh
    mass: Annotated[float, Field(ge=0.0, le=1e6, allow_inf_nan=False)] | None = None
    freedom: Literal["free", "level"] = Field("free", description="How it may be turned while it is carried.")
    at: Point | None = None
    turn: Turn | None = None
    path: Annotated[list[PathKey], Field(min_length=1)] | None = None
    on: Name | None = Field(default=None, description="Fixture that it rides on; `at` is in its axes then.")
    frames: dict[Name, Frame] = Field(default_factory=dict)

    @field_validator("path")
    @classmethod
    def _in_order(cls, path: list[PathKey] | None) -> list[PathKey] | None:
        _rising(path or [])
        return path

    @model_validator(mode="after")
    def _one_place(self) -> Object:
        if self.path is not None and (self.at is not None or self.turn is not None or self.on is not None):
            raise _wrong("has a 'path' and another place; give one of 'path' and 'at'")
        return self

    @property
    def placed(self) -> bool:
        """Whether anything says where it is; if not, the hand that holds it does."""
        return any(v is not None for v in (self.at, self.turn, self.path, self.on))


class Slides(Part):
    """A straight slide, metres."""

    axis: Point
    range: Spot


class Turns(Part):
    """A hinge about an axis through a point, degrees."""

    axis: Point
    range: Spot
    origin: Point = Field(default_factory=lambda: [0.0, 0.0, 0.0])


class FixturePart(Part):
    """A drawer, door, lid or switch."""

    mesh: Mesh
    slides: Slides | None = None
    turns: Turns | None = None
    at: Point = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    turn: Turn = 0.0
    mass: Annotated[float, Field(ge=0.0, le=1e6, allow_inf_nan=False)] | None = None
    handle: Frame | None = None
    frames: dict[Name, Frame] = Field(default_factory=dict)
    state: Annotated[
        Annotated[Number, Tag("number")] | Annotated[list[StateKey], Field(min_length=1), Tag("list")], _BY_FORM
    ] = Field(0.0, description="How far it is open: metres of a slide, degrees of a hinge; or keys over time.")

    @field_validator("state")
    @classmethod
    def _in_order(cls, state: float | list[StateKey]) -> float | list[StateKey]:
        if isinstance(state, list):
            _rising(state)
        return state

    @model_validator(mode="after")
    def _one_joint(self) -> FixturePart:
        _only_one(self, ("slides", "turns"))
        joint = self.slides or self.turns
        assert joint is not None
        low, high = joint.range
        kind = "slides" if self.slides else "turns"
        if not low <= high:
            raise _wrong(f"goes from {low:g} to {high:g}; give the lower number first", kind, "range")
        if not any(abs(x) > 1e-9 for x in joint.axis):
            raise _wrong("has no length; give a direction such as [0, 0, 1]", kind, "axis")
        keyed = isinstance(self.state, list)
        for k, value in enumerate([key.value for key in self.state] if isinstance(self.state, list) else [self.state]):
            if not low <= value <= high:
                place = ("state", k, "value") if keyed else ("state",)
                raise _wrong(f"{value:g} lies outside; the range is from {low:g} to {high:g}", *place)
        return self


class Human(Part):
    """The built-in person."""

    height: Positive = 1.70
    mass: Positive | None = None
    sex: Sex = "average"
    leg_scale: Positive = 1.0
    arm_scale: Positive = 1.0
    trunk_scale: Positive = 1.0
    head_scale: Positive = 1.0
    hand_scale: Positive = 1.0
    foot_scale: Positive = 1.0
    shoulder_scale: Positive = 1.0
    hip_scale: Positive = 1.0
    trunk_girth_scale: Positive = 1.0
    arm_girth_scale: Positive = 1.0
    leg_girth_scale: Positive = 1.0
    skin: bool = True


class RobotSource(Part):
    """A robot from a URDF file."""

    file: Text
    base: Literal["fixed", "wheels", "free"] = "fixed"
    packages: list[Text] = Field(default_factory=list, description="Folders that package:// paths are looked up in.")


class BodySource(Part):
    """Whose body it is."""

    human: Human | None = None
    preset: Literal["woman", "man", "child", "clown", "gorilla"] | None = None
    file: Text | None = Field(default=None, description="A rigged character.")
    robot: RobotSource | None = None
    units: Positive | None = None
    up: Literal["Y", "Z"] | None = None

    @model_validator(mode="after")
    def _one_body(self) -> BodySource:
        _only_one(self, ("human", "preset", "file", "robot"))
        return self


class Walk(Part):
    """Walking or running from the origin, facing -Y."""

    speed: Positive | None = None
    turn: Number = Field(0.0, description="Degrees per second to the left.")
    seconds: Annotated[float, Field(gt=0.0, le=3600.0)] = 4.0
    seed: Annotated[int, Field(ge=0)] = 0


class Idle(Part):
    """Standing, breathing, shifting weight."""

    seconds: Annotated[float, Field(gt=0.0, le=3600.0)] = 8.0
    seed: Annotated[int, Field(ge=0)] = 0


class WalkAlong(Part):
    """Walking along points on the floor, from standing to standing."""

    path: Annotated[list[Spot], Field(min_length=2, max_length=10_000)]
    speed: Positive = 1.2
    seed: Annotated[int, Field(ge=0)] = 0


class JointKey(Part):
    """Joint values of a robot at a time: radians as in its URDF, metres for slides; those not named as before."""

    t: Seconds
    joints: dict[str, Number] = Field(default_factory=dict)
    at: Point | None = None
    turn: Turn | None = None


class ClipSource(Part):
    """A motion: from a file, built in, or the keys of a robot."""

    file: Text | None = None
    clip: Text | None = Field(default=None, description="Which clip of a file that has several.")
    units: Positive | None = None
    up: Literal["Y", "Z"] | None = None
    fps: Positive | None = None
    fix_rig: bool = False
    asf: Text | None = Field(default=None, description="Skeleton of an AMC file.")
    walk: Walk | None = None
    run: Walk | None = None
    idle: Idle | None = None
    walk_along: WalkAlong | None = None
    keys: Annotated[list[JointKey], Field(min_length=1)] | None = Field(default=None, description="Of a robot.")

    @model_validator(mode="after")
    def _one_clip(self) -> ClipSource:
        _only_one(self, ("file", "walk", "run", "idle", "walk_along", "keys"))
        return self

    @field_validator("keys")
    @classmethod
    def _in_order(cls, keys: list[JointKey] | None) -> list[JointKey] | None:
        _rising(keys or [])
        return keys


class CharacterPart(Part):
    """A person or robot, and what they do. Without a body it is the clip's own, without a clip they rest."""

    body: Annotated[Annotated[Text, Tag("word")] | Annotated[BodySource, Tag("keys")], _BY_FORM] | None = None
    clip: Annotated[Annotated[Text, Tag("word")] | Annotated[ClipSource, Tag("keys")], _BY_FORM] | None = None
    at: Spot = Field(default_factory=lambda: [0.0, 0.0])
    turn: Number = Field(0.0, description="Degrees to the left.")
    lift: Annotated[Annotated[Number, Tag("number")] | Annotated[Literal["auto"], Tag("word")], _BY_FORM] = Field(
        0.0, description="Metres upwards; 'auto' puts the feet on the floor."
    )
    start: Seconds | None = Field(default=None, description="Second at which the motion begins.")

    @model_validator(mode="after")
    def _someone(self) -> CharacterPart:
        if self.body is None and self.clip is None:
            raise _wrong("needs a 'body', a 'clip' or both; there is none")
        return self


Moment = Annotated[Annotated[Seconds, Tag("number")] | Annotated[Literal["start", "end"], Tag("word")], _BY_FORM]
During = Annotated[list[Moment], Field(min_length=2, max_length=2, description="From and to, seconds or 'end'.")]


class HoldPart(Part):
    """An object in a hand."""

    object: Name
    by: Name
    hand: Text = Field("right", description="left or right; of a robot the name of a limb or link.")
    during: During | None = None
    grip: Frame | None = Field(default=None, description="The object in the axes of the hand's joint.")


class ContactPart(Part):
    """Two things that may touch: a part such as ann.left_foot, a thing, a mesh, or the floor."""

    who: Text
    on: Text
    during: During | None = None
    kind: Kind = "touch"
    depth: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)] = 0.01


class StoryboardFile(Part):
    """A storyboard: a scene, things, people, what they hold and touch, and what they are to do."""

    elbowroom: Literal[1] = Field(description="Version of this format.")
    about: str = ""
    fps: Annotated[float, Field(gt=0.0, le=1000.0, allow_inf_nan=False)] = 60.0
    scene: Scene = Field(default=Scene())
    objects: dict[Name, Object] = Field(default_factory=dict)
    fixtures: dict[Name, FixturePart] = Field(default_factory=dict)
    characters: dict[Name, CharacterPart] = Field(default_factory=dict)
    holds: list[HoldPart] = Field(default_factory=list)
    contacts: list[ContactPart] = Field(default_factory=list)
    tasks: list[dict[str, Any]] = Field(default_factory=list, description="Verbs with their arguments.")
