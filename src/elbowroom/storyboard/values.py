"""Value types used all over a storyboard: numbers, positions, names, meshes."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError

from elbowroom.errors import ElbowroomError
from elbowroom.spaces.styles import CLOSE, Style, StyleLike, style_of

Number = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, le=1e6, allow_inf_nan=False)]
SecondsValue = Annotated[float, Field(ge=0.0, le=86400.0, allow_inf_nan=False)]
PointValue = Annotated[list[Number], Field(min_length=3, max_length=3)]
FloorPoint = Annotated[list[Number], Field(min_length=2, max_length=2)]
ItemName = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[^./\x00-\x1f]+$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
HandShapeName = Literal["rest", "flat", "point", "hook", "pinch", "power"]
ColorValue = Annotated[list[Unit], Field(min_length=3, max_length=3)]


def _kind(value: Any) -> str:
    """Form of a union's value; models and mappings are 'keys'."""
    if isinstance(value, str):
        return "word"
    if isinstance(value, list):
        return "list"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else "keys"


BY_FORM = Discriminator(_kind)
TurnValue = Annotated[
    Annotated[Number, Tag("number")] | Annotated[PointValue, Tag("list")],
    BY_FORM,
    Field(description="Rotation in degrees about z, or about x, y and z in turn, each about the world's axis."),
]


class StoryboardPart(BaseModel):
    """Base of all parts: unknown keys are rejected, numbers must be numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


def wrong(what: str, *at: str | int) -> PydanticCustomError:
    """Error text with the steps from the part to the faulty value."""
    return PydanticCustomError("storyboard", "{what}", {"what": what, "at": at})


def only_one(part: StoryboardPart, names: tuple[str, ...]) -> None:
    given = [name for name in names if getattr(part, name) is not None]
    if len(given) != 1:
        known = ", ".join(f"'{n}'" for n in names[:-1]) + f" and '{names[-1]}'"
        found = "none is given" if not given else " and ".join(f"'{n}'" for n in given) + " are given"
        raise wrong(f"needs exactly one of {known}; {found}")


def rising(keys: list[Any]) -> None:
    for k in range(1, len(keys)):
        if not keys[k].t > keys[k - 1].t:
            late, early = keys[k - 1].t, keys[k].t
            raise wrong(
                f"must increase, but {early:g} s follows {late:g} s; give the keyframes in order of time", k, "t"
            )


class Cylinder(StoryboardPart):
    """An upright cylinder about its centre."""

    radius: Positive
    height: Positive


class MeshSource(StoryboardPart):
    """A mesh: from a file, a box, sphere or cylinder about its centre, or a built-in prop."""

    file: Text | None = None
    part: Text | None = Field(default=None, description="One mesh of the file by name; default: all.")
    units: Positive | None = Field(default=None, description="Metres per unit of the file.")
    up: Literal["Y", "Z"] | None = None
    box: Annotated[list[Positive], Field(min_length=3, max_length=3)] | None = None
    sphere: Positive | None = None
    cylinder: Cylinder | None = None
    maker: Text | None = Field(default=None, description="Name of a built-in prop: table, bookshelf, plant, …")
    options: dict[ItemName, Any] = Field(default_factory=dict, description="Options of the prop.")
    scale: Positive = 1.0
    color: ColorValue | None = Field(default=None, description="Linear red, green and blue, 0 to 1.")

    @model_validator(mode="after")
    def _one_source(self) -> MeshSource:
        only_one(self, ("file", "box", "sphere", "cylinder", "maker"))
        if self.options and self.maker is None:
            raise wrong("need a 'maker', and there is none; remove them", "options")
        return self


class MeshPiece(MeshSource):
    """One of several meshes of an object or a fixture, in its axes."""

    at: PointValue = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    turn: TurnValue = 0.0


MeshValue = Annotated[
    Annotated[Text, Tag("word")]
    | Annotated[MeshSource, Tag("keys")]
    | Annotated[list[MeshPiece], Field(min_length=1, max_length=100), Tag("list")],
    BY_FORM,
]


class Frame(StoryboardPart):
    """A named frame on an object, in the object's own axes."""

    at: PointValue = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    turn: TurnValue = 0.0


class Handle(Frame):
    """A handle in the object's own axes: its middle, and how it stands.

    `along` is the direction of its bar, `out` the one away from what it is fixed to. `turn` says the same by a rotation
    of z along the bar and x out.
    """

    along: PointValue | None = Field(
        default=None, description="Direction of its bar, such as [0, 0, 1] if it is upright."
    )
    out: PointValue | None = Field(default=None, description="Direction away from the object.")

    @model_validator(mode="after")
    def _stands_somehow(self) -> Handle:
        if (self.along is None) != (self.out is None):
            raise wrong("needs both 'along' and 'out', or none of them")
        if self.along is not None and self.turn != 0.0:
            raise wrong("is given besides 'along' and 'out', which say the same; leave it out", "turn")
        return self


class GraspPart(StoryboardPart):
    """A grasp: position of the middle of the closed hand, in the object's own axes.

    Without rotation, the thumb's side of the hand is towards +z, and the palm faces +x.
    """

    hand: Literal["left", "right"]
    at: PointValue = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    turn: TurnValue = 0.0
    shape: HandShapeName = "power"
    width: Positive | None = Field(default=None, description="Opening of the hand in metres; default: from the object.")
    approach: PointValue | None = Field(
        default=None, description="Direction of the hand's approach; default: palm first."
    )

    @model_validator(mode="after")
    def _goes_somewhere(self) -> GraspPart:
        if self.approach is not None and not any(abs(x) > 1e-9 for x in self.approach):
            raise wrong("has no length; give a direction such as [0, 0, -1]", "approach")
        return self


class StylePart(StoryboardPart):
    """A custom style: angles in degrees, shares from 0 to 1."""

    parts: dict[ItemName, dict[ItemName, FloorPoint]] = Field(
        default_factory=dict,
        description="Intervals by part and joint coordinate: {upper_arm: {swing_x: [50, 100]}}; no side: both sides.",
    )
    flexion: Unit = Field(
        CLOSE.flexion, description="Minimum bend of elbows and knees tried first, as a share of their range."
    )
    wrist: Annotated[Unit, Field(gt=0.0)] = Field(CLOSE.wrist, description="Share of their range that wrists may use.")
    close: bool = Field(True, description="Keep repairs as close to the clip as possible.")
    elbow: Number | None = Field(default=None, description="Elbow elevation in degrees from straight below.")

    @model_validator(mode="after")
    def _sound(self) -> StylePart:
        try:
            self.style()
        except ElbowroomError as error:
            raise wrong(str(error).removesuffix(".")) from None
        return self

    def style(self) -> Style:
        """Style in the planner's units."""
        intervals = {
            part: {name: (math.radians(low), math.radians(high)) for name, (low, high) in intervals.items()}
            for part, intervals in self.parts.items()
        }
        orbit = None if self.elbow is None else math.radians(self.elbow)
        return Style(intervals, self.flexion, self.wrist, self.close, orbit)


def _known(name: str) -> str:
    try:
        style_of(name, CLOSE)
    except ElbowroomError as error:
        raise wrong(str(error).removesuffix(".")) from None
    return name


StyleChoice = Annotated[
    Annotated[Text, AfterValidator(_known), Tag("word")] | Annotated[StylePart, Tag("keys")],
    BY_FORM,
    Field(description="Motion style: a name, or a custom style."),
]


def style_from(choice: str | StylePart | None) -> StyleLike:
    """Style requested by a storyboard."""
    return choice.style() if isinstance(choice, StylePart) else choice
