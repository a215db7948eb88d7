"""Verbs of storyboard tasks with their arguments."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, Tag, WithJsonSchema, model_validator

from elbowroom.storyboard.values import (
    BY_FORM,
    HandShapeName,
    Name,
    Number,
    Part,
    Point,
    Seconds,
    StyleChoice,
    Text,
    wrong,
)

# Times of a hand.
_TIMES = ("at", "begin", "back")

Side = Literal["left", "right"]
Priority = Annotated[int, Field(ge=-1000, le=1000)]
FloorPoint = Annotated[list[Number], Field(min_length=2, max_length=3)]
FloorPlace = Annotated[Annotated[FloorPoint, Tag("list")] | Annotated[Text, Tag("word")], BY_FORM]
Facing = Annotated[Annotated[Number, Tag("number")] | Annotated[Text, Tag("word")], BY_FORM]
FootprintPart = Annotated[list[Number], Field(min_length=3, max_length=3)]
Footprints = Annotated[list[FootprintPart], Field(min_length=2, max_length=2)]
Feet = Annotated[Annotated[Literal["auto", "stay"], Tag("word")] | Annotated[Footprints, Tag("list")], BY_FORM]
Place = Annotated[Annotated[Point, Tag("list")] | Annotated[Text, Tag("word")], BY_FORM]


class VerbPart(Part):
    """Character and time of a task; without a time it starts when earlier tasks are done."""

    # keys that a verb inherits and does not take, and what to do instead
    _refused: ClassVar[tuple[tuple[str, ...], str]] = ((), "")

    who: Name
    at: Seconds | None = Field(default=None, description="Time at which the hand reaches the target, in seconds.")
    priority: Priority | None = Field(
        default=None, description="Lower values are planned first; default: chosen by the planner."
    )
    style: StyleChoice | None = None

    @model_validator(mode="after")
    def _takes_them(self) -> VerbPart:
        keys, instead = self._refused
        for key in keys:
            if (given := getattr(self, key)) == "stay" or given not in (None, "auto"):
                raise wrong(f"takes no '{'feet: stay' if key == 'feet' else key}'; {instead}")
        return self


class GoPart(VerbPart):
    """Walk to a place and stand there."""

    at: Seconds | None = Field(default=None, description="Time of arrival in seconds; default: as soon as possible.")
    to: FloorPlace = Field(
        description="A point [x, y] on the floor (a height is ignored), an object, a mesh, or a character."
    )
    facing: Facing | None = Field(
        default=None, description="Heading on arrival in degrees, as 'turn' of a character, or an object to face."
    )
    gait: Literal["any", "walk", "brisk", "run", "crouch", "sidle", "back"] = Field(
        default="any", description="Manner of walking; 'any': upright where there is room."
    )


class SupportPart(Part):
    """A hand that bears weight, flat on a surface, or a knee on the floor."""

    hand: Side | None = None
    on: Text | None = Field(default=None, description="Mesh of the scene or object that the hand leans on.")
    at: Point | None = Field(default=None, description="Point on its surface.")
    knee: Side | None = Field(default=None, description="Instead of a hand: this knee, on the floor.")

    @model_validator(mode="after")
    def _one_kind(self) -> SupportPart:
        given = [key for key in ("hand", "on", "at") if getattr(self, key) is not None]
        if self.knee is not None and given:
            raise wrong("is given together with 'knee'; keep one of them", given[0])
        if self.knee is None and len(given) < 3:
            raise wrong("needs a hand, on what and at which point, {hand: left, on: table, at: [x, y, z]}; "
                        "or {knee: left}; or 'auto'")  # fmt: skip
        return self


_SupportChoice = Annotated[
    Annotated[Literal["auto"], Tag("word")] | Annotated[SupportPart, Tag("keys")],
    BY_FORM,
]


class HandPart(VerbPart):
    """Hand of a task; default: chosen by the planner."""

    hand: Side | None = None
    feet: Literal["auto", "stay"] = Field(
        default="auto", description="'stay': keep the feet in place; 'auto': walk up to targets out of reach."
    )
    planner: Literal["auto", "whole-body"] = Field(
        default="auto",
        description="'whole-body': plan all of the body at once; 'auto': only if limbs alone find no path.",
    )
    support: _SupportChoice | None = Field(
        default=None,
        description="The other hand leans on something during the task, or a knee is on the floor; tasks in a row keep "
        "it there. 'auto': a hand, on a surface chosen by the planner, where balance fails without it.",
    )
    begin: Seconds | None = Field(
        default=None, description="Time at which the hand leaves the base motion, in seconds."
    )
    back: Seconds | None = Field(
        default=None, description="Time by which the hand is back in the base motion, in seconds."
    )

    @model_validator(mode="after")
    def _in_order(self) -> HandPart:
        times = [(key, t) for key in ("begin", "at", "back") if (t := getattr(self, key)) is not None]
        for (early, t), (late, then) in pairwise(times):
            if not t < then:
                raise wrong(f"'{late}' is {then:g} s, and '{early}' {t:g} s; it must come after '{early}'", late)
        return self


class LimbPart(HandPart):
    """Hand or foot of a task."""

    foot: Side | None = Field(default=None, description="Use this foot instead of a hand.")

    @model_validator(mode="after")
    def _one_limb(self) -> LimbPart:
        if self.foot is not None and self.hand is not None:
            raise wrong("is given together with 'hand'; keep one of them", "foot")
        return self


class ReachPart(LimbPart):
    """Move the hand to a target and keep it there."""

    to: Place = Field(description="A point, an object, a frame of it (cup.rim), or a body part (bob.head).")
    shape: HandShapeName = "rest"


class GrabPart(HandPart):
    """Grasp an object."""

    object: Name
    grasp: Text | None = Field(default=None, description="Name of a grasp; default: chosen by the planner.")


class PutPart(HandPart):
    """Put down a held object."""

    object: Name
    to: Point | None = Field(default=None, description="Goal position of its origin.")
    turn: Number | None = Field(
        default=None, description="Goal rotation in degrees about the vertical; default: as grasped."
    )
    onto: Text | None = Field(
        default=None, description="An object, a mesh, a frame (shelf.top), a body part, or the floor."
    )

    @model_validator(mode="after")
    def _one_place(self) -> PutPart:
        if (self.to is None) == (self.onto is None):
            found = "none is given" if self.to is None else "both are given"
            raise wrong(f"needs exactly one of 'to' and 'onto'; {found}")
        return self


class MovePart(PutPart):
    """Move an object with one hand or both and the whole body, feet in place."""

    _refused: ClassVar = (_TIMES + ("hand",), "'hands' names them, and it starts when the previous task is done")

    feet: Feet = Field(  # type: ignore[assignment]
        default="auto",
        description="'stay': keep the feet in place; 'auto': step to where the object can be held at its start and "
        "goal; or footprints [[x, y, heading], [x, y, heading]] of the left and the right ankle, headings in degrees.",
    )
    hands: Literal["both", "left", "right"] = Field(
        default="both", description="Hands that hold it: palms on opposite sides, or one of them alone."
    )
    helpers: list[Name] = Field(default=[], description="Characters that also hold it, with their own hands.")
    posture: Literal["auto", "squat", "stoop", "none"] = Field(
        default="auto", description="Recorded postures to follow: of squats, of stoops, all of them, or none."
    )
    postures: list[Text] = Field(
        default=[], description="Recordings to take postures from instead of the built-in ones: .c3d, .bvh, .amc …"
    )
    balance: bool = Field(default=True, description="Keep the weight over the feet.")

    @model_validator(mode="after")
    def _helped_in_place(self) -> MovePart:
        if self.helpers and not isinstance(self.feet, str):
            raise wrong("cannot be combined with 'helpers', who stay in place", "feet")
        return self


class CarryPart(PutPart):
    """Carry an object on foot, alone or with others, and set it down."""

    _refused: ClassVar = (_TIMES + ("hand", "feet"), "it starts when the previous task is done")

    who: Annotated[
        Name, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
    ]
    helpers: list[Name] = Field(default=[], description="Other carriers; or name all of them under 'who'.")
    level: bool = Field(default=True, description="Keep it as level as it is at the start.")
    speed: Annotated[float, Field(ge=0.1, le=1.8)] = Field(0.8, description="Highest speed in metres per second.")
    accel: Annotated[float, Field(ge=0.05, le=3.0)] = Field(0.5, description="Highest acceleration in m/s².")
    tries: Annotated[int, Field(ge=1, le=100)] = Field(10, description="Number of paths to try.")

    @model_validator(mode="before")
    @classmethod
    def _all_of_them(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("who"), list) and data["who"]:
            return {**data, "who": data["who"][0], "helpers": [*data["who"][1:], *(data.get("helpers") or [])]}
        return data


class FetchPart(PutPart):
    """Go to an object, take it, go to its goal, and put it there."""

    _refused: ClassVar = (_TIMES + ("feet",), "use grab and put for that")


class FollowPart(VerbPart):
    """Walk behind another character until they stand."""

    _refused: ClassVar = (("at",), "it starts when the previous task is done")

    whom: Name = Field(description="Character to follow.")
    distance: Annotated[float, Field(ge=0.6, le=20.0)] = Field(1.2, description="Metres between the two.")


class DropPart(HandPart):
    """Drop a held object."""

    object: Name
    over: Place | None = Field(default=None, description="A point or object to drop it onto; default: below the hand.")
    height: Annotated[float, Field(gt=0.0, le=10.0, allow_inf_nan=False)] = Field(
        0.08, description="Height of the fall in metres, with 'over'."
    )

    @model_validator(mode="after")
    def _falls_somewhere(self) -> DropPart:
        if self.over is None and "height" in self.model_fields_set:
            raise wrong("needs 'over', the target of the fall; add it", "height")
        return self


class HoldOutPart(HandPart):
    """Hold out a held object for some time."""

    object: Name
    to: Place | None = Field(default=None, description="Target of its origin; default: in front of the body.")
    toward: Literal["front", "left", "right", "up"] = Field("front", description="Direction, if 'to' is not given.")
    seconds: Annotated[float, Field(gt=0.0, le=3600.0)] = 1.0

    @model_validator(mode="after")
    def _one_way(self) -> HoldOutPart:
        if self.to is not None and "toward" in self.model_fields_set:
            raise wrong("is given together with 'to'; keep one of them", "toward")
        return self


class HandoverPart(HandPart):
    """Hand a held object to another character."""

    object: Name
    to: Name = Field(description="Character that takes it.")


class RegraspPart(HandPart):
    """Take a held object with the other hand; both hold it before the first releases it."""

    object: Name
    _refused: ClassVar = (_TIMES, "it starts when the previous task is done")


class TouchPart(LimbPart):
    """Touch a target with the fingertips and withdraw."""

    target: Place = Field(description="A point, an object, a frame of it, or a body part.")
    shape: HandShapeName = "flat"


class FixtureVerb(HandPart):
    """Move a fixture by hand."""

    fixture: Name
    to: Number | None = Field(
        default=None, description="Opening in metres of a slide, degrees of a hinge; default: all the way."
    )


class PressPart(FixtureVerb, LimbPart):
    """Press a button, switch or pedal, and release it."""


class OpenPart(FixtureVerb):
    """Open a fixture by its handle."""


class ClosePart(FixtureVerb):
    """Close a fixture by its handle."""


class RestPart(HandPart):
    """Return the hand to the base motion."""


class KeepPart(Part):
    """A limb that stays where it is during some seconds."""

    limb: Name
    during: Annotated[list[Seconds], Field(min_length=2, max_length=2)]

    @model_validator(mode="after")
    def _lasts(self) -> KeepPart:
        if self.during[0] > self.during[1]:
            raise wrong("ends before it begins; give the earlier time first", "during")
        return self


class RepairPart(Part):
    """Repair the collisions of a motion."""

    who: Name
    priority: Priority | None = None
    style: StyleChoice | None = None
    keep: list[Annotated[Annotated[Name, Tag("word")] | Annotated[KeepPart, Tag("keys")], BY_FORM]] = Field(
        default=[], description="Limbs to leave unchanged, throughout or from one time to another."
    )
    aside: Annotated[float, Field(ge=0.0, le=1.0)] | None = Field(
        default=None, description="Maximum sidestep of the body in metres; default: 0.6."
    )


class TaskPart(Part):
    """One task: a verb with its arguments."""

    reach: ReachPart | None = None
    grab: GrabPart | None = None
    put: PutPart | None = None
    move: MovePart | None = None
    carry: CarryPart | None = None
    drop: DropPart | None = None
    hold: HoldOutPart | None = None
    handover: HandoverPart | None = None
    regrasp: RegraspPart | None = None
    touch: TouchPart | None = None
    press: PressPart | None = None
    open: OpenPart | None = None
    close: ClosePart | None = None
    go: GoPart | None = None
    fetch: FetchPart | None = None
    follow: FollowPart | None = None
    rest: RestPart | None = None
    repair: RepairPart | None = None

    @model_validator(mode="after")
    def _one_verb(self) -> TaskPart:
        given = [name for name in self.model_fields_set if getattr(self, name) is not None]
        if len(given) != 1:
            known = ", ".join(type(self).model_fields)
            count = "has no verb" if not given else f"has {len(given)} verbs"
            raise wrong(f"{count}; give one of {known}, each on a line of its own")
        return self

    @property
    def verb(self) -> str:
        """Name of the verb."""
        return next(name for name in type(self).model_fields if getattr(self, name) is not None)

    @property
    def arguments(self) -> VerbPart | RepairPart:
        """Arguments of the verb."""
        part = getattr(self, self.verb)
        assert isinstance(part, VerbPart | RepairPart)
        return part
