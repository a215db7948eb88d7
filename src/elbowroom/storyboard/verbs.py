"""Verbs of storyboard tasks with their arguments, as the registry of verbs describes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import reduce
from itertools import pairwise
from operator import or_
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import Field, Tag, WithJsonSchema, create_model, model_validator

from elbowroom.plan.tasks import Task, verbs
from elbowroom.plan.tasks.repair import Kept
from elbowroom.plan.tasks.task import Name as PlainName
from elbowroom.plan.tasks.task import Seconds as PlainSeconds
from elbowroom.plan.tasks.task import ShapeName
from elbowroom.posing.kneeling import Side
from elbowroom.storyboard.values import (
    BY_FORM,
    HandShapeName,
    ItemName,
    Number,
    PointValue,
    SecondsValue,
    StoryboardPart,
    StyleChoice,
    Text,
    wrong,
)

Priority = Annotated[int, Field(ge=-1000, le=1000)]


class TaskArguments(StoryboardPart):
    """Character of a task."""

    task: ClassVar[type[Task]] = Task

    who: ItemName
    priority: Priority | None = Field(
        default=None, description="Lower values are planned first; default: chosen by the planner."
    )
    style: StyleChoice | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> TaskArguments:
        keys, instead = self.task.refuses
        for key in keys:
            if (given := getattr(self, key)) == "stay" or given not in (None, "auto"):
                raise wrong(f"takes no '{'feet: stay' if key == 'feet' else key}'; {instead}")
        fault = self.task.fault({key: v for key in self.model_fields_set if (v := getattr(self, key)) is not None})
        if fault is not None:
            raise wrong(*fault)
        return self


class TimedArguments(TaskArguments):
    """Character and time of a task; without a time it starts when earlier tasks are done."""

    at: SecondsValue | None = Field(default=None, description="Time at which the hand reaches the target, in seconds.")


class SupportPart(StoryboardPart):
    """A hand that bears weight, flat on a surface, or a knee on the floor."""

    hand: Side | None = None
    on: Text | None = Field(default=None, description="Mesh of the scene or object that the hand leans on.")
    at: PointValue | None = Field(default=None, description="Point on its surface.")
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


class HandArguments(TimedArguments):
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
    begin: SecondsValue | None = Field(
        default=None, description="Time at which the hand leaves the base motion, in seconds."
    )
    back: SecondsValue | None = Field(
        default=None, description="Time by which the hand is back in the base motion, in seconds."
    )

    @model_validator(mode="after")
    def _in_order(self) -> HandArguments:
        times = [(key, t) for key in ("begin", "at", "back") if (t := getattr(self, key)) is not None]
        for (early, t), (late, then) in pairwise(times):
            if not t < then:
                raise wrong(f"'{late}' is {then:g} s, and '{early}' {t:g} s; it must come after '{early}'", late)
        return self


class KeepPart(StoryboardPart):
    """A limb that stays where it is during some seconds."""

    limb: ItemName
    during: Annotated[list[SecondsValue], Field(min_length=2, max_length=2)]

    @model_validator(mode="after")
    def _lasts(self) -> KeepPart:
        if self.during[0] > self.during[1]:
            raise wrong("ends before it begins; give the earlier time first", "during")
        return self


# Types of storyboards for types of tasks that have a form of their own there; others are translated by their parts.
_FORMS: dict[Any, Any] = {
    str: Text,
    float: Number,
    PlainName: ItemName,
    PlainSeconds: SecondsValue,
    ShapeName: HandShapeName,
    Kept: Annotated[Annotated[ItemName, Tag("word")] | Annotated[KeepPart, Tag("keys")], BY_FORM],
}
_CREW = Annotated[
    ItemName, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
]


def _form(hint: Any) -> Any:
    """Type in storyboards of a type of a task's field."""
    try:
        if hint in _FORMS:
            return _FORMS[hint]
    except TypeError:  # an annotation that cannot be hashed
        return hint
    kind, parts = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return _either(list(parts))
    if kind is tuple and parts[-1] is Ellipsis:
        return list[_form(parts[0])]  # type: ignore[misc]
    if kind is tuple:
        return Annotated[list[_form(parts[0])], Field(min_length=len(parts), max_length=len(parts))]  # type: ignore[misc]
    if kind is Annotated and parts[0] is float:
        return Annotated[(*parts, Field(allow_inf_nan=False))]  # type: ignore[return-value]
    return hint


def _either(parts: list[Any]) -> Any:
    """Type in storyboards of a union, told apart by the form of a value; points may differ in length."""
    given = [part for part in parts if part is not type(None)]
    points = [part for part in given if get_origin(part) is tuple and set(get_args(part)) == {float}]
    forms = [(_word(part), _form(part)) for part in given if part not in points]
    if points:
        lengths = [len(get_args(part)) for part in points]
        numbers = Annotated[list[Number], Field(min_length=min(lengths), max_length=max(lengths))]
        forms.insert(0, ("list", numbers))
    tagged = [Annotated[form, Tag(word)] for word, form in forms]
    form = forms[0][1] if len(forms) == 1 else Annotated[reduce(or_, tagged), BY_FORM]
    return form | None if type(None) in parts else form


def _word(part: Any) -> str:
    """Form of a value of a type, as storyboards tell them apart."""
    if get_origin(part) is tuple:
        return "list"
    return "number" if part in (float, int) else "word"


def _fields(kind: type[Task]) -> Iterator[tuple[str, Any]]:
    """Fields of a verb that other verbs do not have, with their types and defaults in storyboards."""
    hints, usual = get_type_hints(kind, include_extras=True), Task.__dataclass_fields__
    for one in dataclasses.fields(kind):
        if usual.get(one.name) is one:
            continue
        about = one.metadata.get("about") or None
        default = ... if one.default is dataclasses.MISSING else one.default
        default = list(default) if isinstance(default, tuple) else default
        yield one.name, (_form(hints[one.name]), Field(default, description=about))
    if kind.crew:
        yield "who", (_CREW, ...)


class _TeamArguments(HandArguments):
    """Arguments with several characters under 'who'."""

    @model_validator(mode="before")
    @classmethod
    def _all_of_them(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("who"), list) and data["who"]:
            return {**data, "who": data["who"][0], "helpers": [*data["who"][1:], *(data.get("helpers") or [])]}
        return data


def _arguments(kind: type[Task]) -> type[TaskArguments]:
    """Arguments of a verb."""
    base: type[TaskArguments] = TimedArguments if kind.timed else TaskArguments
    base = (_TeamArguments if kind.crew else HandArguments) if kind.takes_hand else base
    about = (kind.__doc__ or "").partition("\n\n")[0]
    made: Any = create_model(f"{kind.__name__}Part", __base__=base, __doc__=about, **dict(_fields(kind)))
    made.task = kind
    return made


class OneVerb(StoryboardPart):
    """One task: a verb with its arguments."""

    @model_validator(mode="after")
    def _one_verb(self) -> OneVerb:
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
    def arguments(self) -> Any:
        """Arguments of the verb."""
        return getattr(self, self.verb)


if TYPE_CHECKING:
    TaskPart = OneVerb
else:
    _VERBS = {verb: (_arguments(kind) | None, None) for verb, kind in verbs().items()}
    TaskPart = create_model("TaskPart", __base__=OneVerb, __doc__=OneVerb.__doc__, **_VERBS)
