"""How motion is to look, in a storyboard: a style by its name, or one of its own."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import AfterValidator, Field, Tag, model_validator

from elbowroom.errors import ElbowroomError
from elbowroom.spaces.styles import CLOSE, Style, Wish, style_of
from elbowroom.tasks.storyboard_parts import BY_FORM, Name, Number, Part, Spot, Text, Unit, wrong


class StylePart(Part):
    """A style of one's own: angles in degrees, shares from 0 to 1."""

    parts: dict[Name, dict[Name, Spot]] = Field(
        default_factory=dict,
        description="Intervals by part and term: {upper_arm: {swing_x: [50, 100]}}; without a side of both.",
    )
    flexion: Unit = Field(CLOSE.flexion, description="Elbows and knees from this share of their bend at first.")
    wrist: Annotated[Unit, Field(gt=0.0)] = Field(CLOSE.wrist, description="Wrists within this share of their range.")
    close: bool = Field(True, description="Repairs keep as near to the clip as will do.")
    elbow: Number | None = Field(default=None, description="Degrees that elbows turn up from straight below.")

    @model_validator(mode="after")
    def _sound(self) -> StylePart:
        try:
            self.style()
        except ElbowroomError as error:
            raise wrong(str(error).removesuffix(".")) from None
        return self

    def style(self) -> Style:
        """In the planner's units."""
        intervals = {
            part: {term: (math.radians(low), math.radians(high)) for term, (low, high) in terms.items()}
            for part, terms in self.parts.items()
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
    Field(description="How motion is to look: the name of a style, or one of its own."),
]


def style_from(choice: str | StylePart | None) -> Wish:
    """What a storyboard asks for."""
    return choice.style() if isinstance(choice, StylePart) else choice
