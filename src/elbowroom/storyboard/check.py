"""Validation of a storyboard; the first fault is reported in one sentence with its line."""

from __future__ import annotations

import math
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from elbowroom.errors import BadFile
from elbowroom.storyboard.model import StoryboardFile
from elbowroom.storyboard.yaml_lines import Document, Location

# Error texts by pydantic's error type.
_TEXTS = {
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "list_type": "must be a list, [...]",
    "dict_type": "must have keys",
    "model_type": "must have keys",
    "model_attributes_type": "must have keys",
    "finite_number": "must be a finite number",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be a name without '.', '/' and control characters",
}


def checked(document: Document) -> StoryboardFile:
    """Validated storyboard of a document; raises `BadFile` for the first fault in the file."""
    if not isinstance(document.values, dict):
        raise BadFile(document.path, "is not a storyboard", would_do="it must begin with the line 'elbowroom: 1'")
    try:
        return StoryboardFile.model_validate(document.values)
    except ValidationError as error:
        found = [(e["type"] == "missing", _fault(document, e)) for e in error.errors(include_url=False)]
    # a key with a typo explains the one that is missing beside it
    _, (location, what, would_do) = min(found, key=lambda f: (document.line(f[1][0]), f[0], len(f[1][0])))
    raise document.error(location, what, would_do)


def _fault(document: Document, error: Any) -> tuple[Location, str, str]:
    kind, context = error["type"], error.get("ctx", {})
    steps = (*error["loc"], *context.get("at", ()))
    location, value, rest = _walked(document.values, steps)
    if kind == "storyboard":
        what, _, would_do = context["what"].partition("; ")
        return location, what, would_do
    if kind == "missing":
        return location, f"has no '{error['loc'][-1]}'", "add it"
    if kind == "extra_forbidden":
        return _unknown_key(location, _keys_at(tuple(error["loc"][:-1])))
    shown = _shown(value)
    if kind == "literal_error":
        return location, f"must be {context['expected']}, not {shown}", ""
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return location, f"cannot be {shown}", f"it takes {_forms(context.get('expected_tags', ''))}"
    if kind in ("too_short", "too_long"):
        bound = context.get("min_length", context.get("max_length"))
        word = "at least" if kind == "too_short" else "at most"
        found = context["actual_length"]
        return location, f"must have {word} {bound} items, not {len(value) if found is None else found}", ""
    text = _TEXTS.get(kind) or error["msg"].replace("Input should be", "must be")
    # pydantic marks an invalid key by an extra last step
    return location, f"{text}, not {shown}" if "[key]" not in rest else f"the key {text}", ""


def _walked(values: Any, steps: tuple[Any, ...]) -> tuple[Location, Any, list[Any]]:
    """Location that steps lead to, its value, and the steps that pydantic added."""
    location: list[str | int] = []
    rest: list[Any] = []
    for step in steps:
        inside = isinstance(step, int) and step < len(values) if isinstance(values, list) else False
        if inside or (isinstance(values, dict) and step in values):
            values = values[step]
            location.append(step)
        else:
            rest.append(step)
    return tuple(location), values, rest


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "keys"
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def _forms(tags: str) -> str:
    names = {"'word'": "text", "'keys'": "keys", "'list'": "a list", "'number'": "a number"}
    return " or ".join(names.get(tag.strip(), tag.strip()) for tag in tags.split(","))


def _unknown_key(location: Location, known: list[str]) -> tuple[Location, str, str]:
    name = str(location[-1])
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    what = "is not a verb" if len(location) == 3 and location[0] == "tasks" else "is not a key of this part"
    return location, what, f"{hint}there are {', '.join(known)}" if known else ""


def _keys_at(steps: tuple[Any, ...]) -> list[str]:
    """Keys allowed at a location, found along the fields of the models."""
    models: list[type[BaseModel]] = [StoryboardFile]
    for step in steps:
        found = [m.model_fields[step].annotation for m in models if step in m.model_fields]
        models = [part for a in found for part in _models_in(a)] or models
    return list(dict.fromkeys(name for m in models for name in m.model_fields))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Models that occur anywhere inside a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for inner in getattr(annotation, "__args__", ()) for m in _models_in(inner)]
