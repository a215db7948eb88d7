"""Schema of storyboards: keys, types and ranges.

Lengths in metres, times in seconds, angles in degrees, masses in kilograms; +Z is up.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import Field, Tag, field_validator, model_validator

from elbowroom.props.makers import fitted, mechanism
from elbowroom.storyboard.cast import CharacterPart, Library
from elbowroom.storyboard.values import (
    BY_FORM,
    FloorPoint,
    Frame,
    GraspPart,
    Handle,
    ItemName,
    MeshSource,
    MeshValue,
    Number,
    PointValue,
    SecondsValue,
    StoryboardPart,
    StyleChoice,
    Text,
    TurnValue,
    only_one,
    rising,
    wrong,
)
from elbowroom.storyboard.verbs import TaskPart

# Entries of one kind in a storyboard: each takes milliseconds to make, and more to plan with.
MOST_THINGS = 1000
# People and robots in a storyboard: each takes up to half a second to make.
MOST_PEOPLE = 100


class SceneMesh(MeshSource):
    """A mesh that never moves; all meshes of a file keep their names."""

    name: ItemName | None = None
    at: PointValue = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    turn: TurnValue = 0.0
    without: list[Text] = Field(default_factory=list, description="Names of meshes of the file to leave out.")
    moved: dict[Text, Frame] = Field(
        default_factory=dict,
        description="Meshes of the file to reposition in its axes, by name.",
    )


class Scene(StoryboardPart):
    """Static surroundings and the floor."""

    meshes: list[SceneMesh] = Field(default_factory=list, max_length=MOST_THINGS)
    floor: Annotated[Annotated[Number, Tag("number")] | Annotated[Literal["auto", "none"], Tag("word")], BY_FORM] = (
        Field(default="auto", description="Height of the floor; 'auto' detects it, 'none' means no floor.")
    )


class PathKey(StoryboardPart):
    """Keyframe of an object; without `turn` it keeps its rotation."""

    t: SecondsValue
    at: PointValue
    turn: TurnValue | None = None


class StateKey(StoryboardPart):
    """Keyframe of a fixture's opening, in metres or degrees."""

    t: SecondsValue
    value: Number


class Object(StoryboardPart):
    """An object that rests, moves along a path, or is picked up by hands."""

    mesh: MeshValue
    mass: Annotated[float, Field(ge=0.0, le=1e6, allow_inf_nan=False)] | None = None
    freedom: Literal["free", "level"] = Field("free", description="Allowed rotation while it is carried.")
    at: PointValue | None = None
    turn: TurnValue | None = None
    path: Annotated[list[PathKey], Field(min_length=1)] | None = None
    smooth: bool = Field(
        False, description="Interpolate the keyframes of its path with a smooth curve instead of straight lines."
    )
    on: ItemName | None = Field(
        default=None, description="Fixture that it moves with; `at` is then in the fixture's axes."
    )
    handle: Handle | None = Field(default=None, description="Handle for grasping it.")
    frames: dict[ItemName, Frame] = Field(default_factory=dict)
    grasps: dict[ItemName, GraspPart] = Field(
        default_factory=dict, description="Grasps by name; default: proposed from the mesh."
    )

    @field_validator("path")
    @classmethod
    def _in_order(cls, path: list[PathKey] | None) -> list[PathKey] | None:
        rising(path or [])
        return path

    @model_validator(mode="after")
    def _one_place(self) -> Object:
        if self.path is not None and (self.at is not None or self.turn is not None or self.on is not None):
            raise wrong("has a 'path' and another position; give one of 'path' and 'at'")
        if self.smooth and self.path is None:
            raise wrong("is given without a 'path'; give one, or leave it out", "smooth")
        return self

    @property
    def placed(self) -> bool:
        """Return whether its position is given; if not, the hand that holds it determines it."""
        return any(v is not None for v in (self.at, self.turn, self.path, self.on))


class Slides(StoryboardPart):
    """A straight slide, metres."""

    axis: PointValue
    range: FloorPoint


class Turns(StoryboardPart):
    """A hinge about an axis through a point, degrees."""

    axis: PointValue
    range: FloorPoint
    origin: PointValue = Field(default_factory=lambda: [0.0, 0.0, 0.0])


def _pressed_behind(made: Any, given: Any) -> bool:
    """Return whether a button, as it is made, would have to be pulled to slide as a storyboard has it."""
    with suppress(TypeError, KeyError, ValueError):
        out, axes = made["handle"]["out"], (made["slides"]["axis"], given["slides"]["axis"])
        inwards, outwards = (float(sum(a * b for a, b in zip(out, axis, strict=True))) for axis in axes)
        return inwards < 0.0 < outwards
    return False


class FixturePart(StoryboardPart):
    """A drawer, door, lid or switch. Built-in props that open have a joint and a handle of their own."""

    mesh: MeshValue
    of: ItemName | None = Field(
        default=None, description="Mesh of the scene that it belongs to: a chest, a door_frame, a switch_plate."
    )
    slides: Slides | None = None
    turns: Turns | None = None
    at: PointValue = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    turn: TurnValue = 0.0
    mass: Annotated[float, Field(ge=0.0, le=1e6, allow_inf_nan=False)] | None = None
    handle: Handle | None = None
    frames: dict[ItemName, Frame] = Field(default_factory=dict)
    grasps: dict[ItemName, GraspPart] = Field(
        default_factory=dict, description="Grasps by name; default: at its handle."
    )
    state: Annotated[
        Annotated[Number, Tag("number")] | Annotated[list[StateKey], Field(min_length=1), Tag("list")], BY_FORM
    ] = Field(0.0, description="Opening: metres of a slide, degrees of a hinge; or keyframes.")

    @model_validator(mode="before")
    @classmethod
    def _as_made(cls, given: Any) -> Any:
        mesh = given.get("mesh") if isinstance(given, dict) else None
        if not isinstance(mesh, dict):
            return given
        with suppress(TypeError):  # options of other types are refused where the mesh is made
            made = mechanism(mesh.get("maker"), mesh.get("options", {}))
            if "slides" in given or "turns" in given:
                left_out = ("slides", "turns", "handle") if _pressed_behind(made, given) else ("slides", "turns")
                made = {key: value for key, value in made.items() if key not in left_out}
            return {**made, **given}
        return given

    @field_validator("state")
    @classmethod
    def _in_order(cls, state: float | list[StateKey]) -> float | list[StateKey]:
        if isinstance(state, list):
            rising(state)
        return state

    @model_validator(mode="after")
    def _one_joint(self) -> FixturePart:
        only_one(self, ("slides", "turns"))
        joint = self.slides or self.turns
        assert joint is not None
        low, high = joint.range
        kind = "slides" if self.slides else "turns"
        if not low <= high:
            raise wrong(f"goes from {low:g} to {high:g}; give the lower number first", kind, "range")
        if not any(abs(x) > 1e-9 for x in joint.axis):
            raise wrong("has no length; give a direction such as [0, 0, 1]", kind, "axis")
        keyed = isinstance(self.state, list)
        for k, value in enumerate([key.value for key in self.state] if isinstance(self.state, list) else [self.state]):
            if not low <= value <= high:
                place = ("state", k, "value") if keyed else ("state",)
                raise wrong(f"{value:g} is out of range; the range is {low:g} to {high:g}", *place)
        return self


TimeOrEnd = Annotated[Annotated[SecondsValue, Tag("number")] | Annotated[Literal["start", "end"], Tag("word")], BY_FORM]
During = Annotated[list[TimeOrEnd], Field(min_length=2, max_length=2, description="Start and end, seconds or 'end'.")]


class HoldPart(StoryboardPart):
    """An object in a hand."""

    object: ItemName
    by: ItemName
    hand: Text = Field(
        "right",
        description="left or right; the part that wears it, such as head; of a robot a limb or link.",
    )
    during: During | None = None
    grip: Frame | None = Field(default=None, description="Position of the object in the axes of the hand's joint.")
    leads: bool = Field(
        default=True,
        description="false: the hand follows the object and does not move it.",
    )
    carry: Literal["upright"] | None = Field(
        default=None,
        description="'upright': carried in front of the shoulder throughout, like an umbrella.",
    )


class ContactPart(StoryboardPart):
    """Two bodies that may touch: a body part such as ann.left_foot, an object, a mesh, or the floor."""

    who: Text
    on: Text
    during: During | None = None
    kind: Literal["support", "grip", "touch", "seat"] = "touch"  # soft tissue is the planner's to allow
    depth: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)] = 0.005


Depth = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class AllowPart(StoryboardPart):
    """Caps on allowed overlaps, metres; deeper ones are collisions."""

    feet: Annotated[Depth, Field(description="Feet of a recorded clip in the floor.")] = 0.05
    body: Annotated[Depth, Field(description="Other parts of a body in the floor.")] = 0.01
    own: Annotated[Depth, Field(description="Self-collision of a recorded clip.")] = 0.1
    generated: Annotated[Depth, Field(description="Feet in the floor and self-collision of a generated motion.")] = 0.01
    contact: Annotated[Depth, Field(description="Any other allowed contact: hands, resting objects, seats.")] = 0.005


class EditPart(StoryboardPart):
    """A change of one edit of the planned motion, or of all that have the same reason."""

    number: Annotated[int, Field(ge=1, description="Its number in the table that `elbowroom run` prints.")] | None = (
        None
    )
    reason: Text | None = Field(default=None, description="Its reason in that table, such as 'clear of post'.")
    strength: Annotated[float, Field(ge=0.0, le=1.0, description="Strength from 0 (none) to 1 (full).")] | None = None
    mute: bool = Field(default=False, description="Disable the edit.")

    @model_validator(mode="after")
    def _one_of_each(self) -> EditPart:
        only_one(self, ("number", "reason"))
        if self.strength is None and not self.mute:
            raise wrong("changes nothing; give a strength, or mute: true")
        return self


class StoryboardFile(StoryboardPart):
    """A storyboard: scene, objects, characters, grips, contacts and tasks."""

    elbowroom: Literal[1] = Field(description="Version of this format.")
    about: str = Field("", description="One-sentence description.")
    tags: list[Text] = Field(default_factory=list, description="Search tags; the gallery lists them.")
    fps: Annotated[float, Field(gt=0.0, le=1000.0, allow_inf_nan=False)] = 60.0
    scene: Scene = Field(default=Scene())
    objects: dict[ItemName, Object] = Field(default_factory=dict, max_length=MOST_THINGS)
    fixtures: dict[ItemName, FixturePart] = Field(default_factory=dict, max_length=MOST_THINGS)
    characters: dict[ItemName, CharacterPart] = Field(default_factory=dict, max_length=MOST_PEOPLE)
    holds: list[HoldPart] = Field(default_factory=list, max_length=MOST_THINGS)
    contacts: list[ContactPart] = Field(default_factory=list, max_length=MOST_THINGS)
    allow: AllowPart = Field(default_factory=AllowPart)
    style: StyleChoice | None = None
    library: Library = None
    capture: list[Text] = Field(
        default_factory=list,
        description="Files of recordings that whole-body motions are blended with, where that improves them.",
        max_length=MOST_THINGS,
    )
    tasks: list[TaskPart] = Field(
        default_factory=list, description="Tasks: verbs with their arguments.", max_length=MOST_THINGS
    )
    edits: list[EditPart] = Field(
        default_factory=list, description="Edits of the plan to weaken or mute.", max_length=MOST_THINGS
    )

    @model_validator(mode="before")
    @classmethod
    def _sized(cls, given: Any) -> Any:
        """Give fixtures that belong to a mesh of the scene its measures, where they have none of their own."""
        with suppress(AttributeError, TypeError):  # other forms are refused where they are read
            hosts = {m.get("name") or m.get("maker"): m for m in given.get("scene", {}).get("meshes", [])}
            fixtures = dict(given["fixtures"]) if "fixtures" in given else {}
            for name, part in fixtures.items():
                mesh, host = part.get("mesh"), hosts.get(part.get("of"))
                fit = host and fitted(mesh.get("maker"), host.get("maker"), host.get("options", {}))
                if fit:
                    fixtures[name] = {**part, "mesh": {**mesh, "options": {**fit[0], **mesh.get("options", {})}}}
            return {**given, "fixtures": fixtures} if fixtures else given
        return given
