"""What people may be asked to do in a storyboard: one verb with its arguments for each task."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, Tag, model_validator

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

Side = Literal["left", "right"]
Priority = Annotated[int, Field(ge=-1000, le=1000)]
Place = Annotated[Annotated[Point, Tag("list")] | Annotated[Text, Tag("word")], BY_FORM]


class VerbPart(Part):
    """Who does it, and when; without a time as soon as what was asked before is done."""

    who: Name
    at: Seconds | None = Field(default=None, description="Second at which the hand is there.")
    priority: Priority | None = Field(default=None, description="Lower ones are planned first; else it is chosen.")
    style: StyleChoice | None = None


class HandPart(VerbPart):
    """With which hand; without it the one that suits."""

    hand: Side | None = None
    begin: Seconds | None = Field(default=None, description="Second at which the hand leaves what the person does.")
    back: Seconds | None = Field(default=None, description="Second by which the hand is back at what the person does.")

    @model_validator(mode="after")
    def _in_order(self) -> HandPart:
        times = [(key, t) for key in ("begin", "at", "back") if (t := getattr(self, key)) is not None]
        for (early, t), (late, then) in pairwise(times):
            if not t < then:
                raise wrong(f"'{late}' is {then:g} s, and '{early}' {t:g} s; it has to come after '{early}'", late)
        return self


class LimbPart(HandPart):
    """With a hand or with a foot."""

    foot: Side | None = Field(default=None, description="With this foot instead of a hand.")

    @model_validator(mode="after")
    def _one_limb(self) -> LimbPart:
        if self.foot is not None and self.hand is not None:
            raise wrong("is given, and 'hand' too; keep one of them", "foot")
        return self


class ReachPart(LimbPart):
    """Bring the hand to a place, and keep it there."""

    to: Place = Field(description="A point, a thing, a frame of it (cup.rim), a body part (bob.head).")
    shape: HandShapeName = "rest"


class GrabPart(HandPart):
    """Take an object."""

    object: Name
    grasp: Text | None = Field(default=None, description="One of its grasps by name; else the one that suits.")


class PutPart(HandPart):
    """Put what is held down."""

    object: Name
    to: Point | None = Field(default=None, description="Where its origin comes to be.")
    turn: Number | None = Field(default=None, description="Degrees about the vertical; else as it was taken.")
    onto: Text | None = Field(default=None, description="A thing, a mesh, a frame (shelf.top), a body part, the floor.")

    @model_validator(mode="after")
    def _one_place(self) -> PutPart:
        if (self.to is None) == (self.onto is None):
            told = "there is none" if self.to is None else "there are both"
            raise wrong(f"needs exactly one of 'to' and 'onto'; {told}")
        return self


class DropPart(HandPart):
    """Let what is held fall."""

    object: Name
    over: Place | None = Field(default=None, description="A point or a thing to drop it on; else where the hand is.")
    height: Annotated[float, Field(gt=0.0, le=10.0, allow_inf_nan=False)] = Field(
        0.08, description="Metres that it falls, with 'over'."
    )

    @model_validator(mode="after")
    def _falls_somewhere(self) -> DropPart:
        if self.over is None and "height" in self.model_fields_set:
            raise wrong("is how far it falls onto what 'over' says, and there is none; add it", "height")
        return self


class HoldOutPart(HandPart):
    """Hold out what is held for a time."""

    object: Name
    to: Place | None = Field(default=None, description="Where its origin comes to be; else before the body.")
    toward: Literal["front", "left", "right", "up"] = Field("front", description="To which side, without 'to'.")
    seconds: Annotated[float, Field(gt=0.0, le=3600.0)] = 1.0

    @model_validator(mode="after")
    def _one_way(self) -> HoldOutPart:
        if self.to is not None and "toward" in self.model_fields_set:
            raise wrong("is given, and 'to' too; keep one of them", "toward")
        return self


class HandoverPart(HandPart):
    """Give what is held to somebody."""

    object: Name
    to: Name = Field(description="Who takes it.")


class TouchPart(LimbPart):
    """Touch something with the fingertips, and go away again."""

    target: Place = Field(description="A point, a thing, a frame of it, a body part.")
    shape: HandShapeName = "flat"


class FixtureVerb(HandPart):
    """Move a fixture by hand."""

    fixture: Name
    to: Number | None = Field(default=None, description="Metres of a slide, degrees of a hinge; else all the way.")


class PressPart(FixtureVerb, LimbPart):
    """Press a button, a switch or a pedal, and let it back."""


class OpenPart(FixtureVerb):
    """Open a fixture by its handle."""


class ClosePart(FixtureVerb):
    """Close a fixture by its handle."""


class RestPart(HandPart):
    """Give the hand back to what the person does anyway."""


class RepairPart(Part):
    """Bring a motion out of what it runs into."""

    who: Name
    priority: Priority | None = None
    style: StyleChoice | None = None


class TaskPart(Part):
    """One thing to do: a verb with its arguments."""

    reach: ReachPart | None = None
    grab: GrabPart | None = None
    put: PutPart | None = None
    drop: DropPart | None = None
    hold: HoldOutPart | None = None
    handover: HandoverPart | None = None
    touch: TouchPart | None = None
    press: PressPart | None = None
    open: OpenPart | None = None
    close: ClosePart | None = None
    rest: RestPart | None = None
    repair: RepairPart | None = None

    @model_validator(mode="after")
    def _one_verb(self) -> TaskPart:
        given = [name for name in self.model_fields_set if getattr(self, name) is not None]
        if len(given) != 1:
            known = ", ".join(type(self).model_fields)
            told = "has no verb" if not given else f"has {len(given)} verbs"
            raise wrong(f"{told}; give one of {known}, each in a line of its own")
        return self

    @property
    def verb(self) -> str:
        """The word."""
        return next(name for name in type(self).model_fields if getattr(self, name) is not None)

    @property
    def told(self) -> HandPart | RepairPart:
        """What is said of it."""
        part = getattr(self, self.verb)
        assert isinstance(part, HandPart | RepairPart)
        return part
