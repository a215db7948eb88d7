"""Edits of a storyboard's lists: tasks, characters and objects. Each returns a new document; none needs a world."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from elbowroom.errors import BadValue, UnknownName
from elbowroom.studio.document import Document, speaks_of

_LISTS = ("objects", "fixtures", "characters")


def add_task(document: Document, verb: str, args: Mapping[str, Any], at: int | None = None) -> Document:
    """Add a task, by default at the end."""
    values = document.edited()
    tasks = values.setdefault("tasks", [])
    tasks.insert(len(tasks) if at is None else at, {verb: dict(args)})
    return document.with_values(values)


def change_task(document: Document, k: int, verb: str, args: Mapping[str, Any]) -> Document:
    """Replace task number `k`, from 0. Arguments that are None are left out."""
    values = document.edited()
    values["tasks"][_checked(document, k)] = {verb: {key: v for key, v in args.items() if v is not None}}
    return document.with_values(values)


def delete_task(document: Document, k: int) -> Document:
    """Delete a task."""
    values = document.edited()
    del values["tasks"][_checked(document, k)]
    return document.with_values(values)


def move_task(document: Document, k: int, by: int) -> Document:
    """Move a task earlier (-1) or later (+1) in the order."""
    values = document.edited()
    tasks = values["tasks"]
    to = min(max(_checked(document, k) + by, 0), len(tasks) - 1)
    tasks.insert(to, tasks.pop(k))
    return document.with_values(values)


def tasks_of(document: Document) -> list[tuple[str, dict[str, Any]]]:
    """Verbs with their arguments, in order."""
    return [next(iter(task.items())) for task in document.values.get("tasks", [])]


def add_static(document: Document, name: str, source: Mapping[str, Any]) -> Document:
    """Add a static obstacle, such as {'maker': 'table', 'at': [0, 1, 0]}."""
    values = document.edited()
    scene = values.setdefault("scene", {})
    scene.setdefault("meshes", []).append({**source, "name": free_name(document, name)})
    return document.with_values(values)


def add_object(document: Document, name: str, mesh: Mapping[str, Any], at: list[float]) -> Document:
    """Add a graspable object."""
    values = document.edited()
    values.setdefault("objects", {})[free_name(document, name)] = {"mesh": dict(mesh), "at": at}
    return document.with_values(values)


def add_character(document: Document, name: str, entry: Mapping[str, Any]) -> Document:
    """Add a character."""
    values = document.edited()
    values.setdefault("characters", {})[free_name(document, name)] = dict(entry)
    return document.with_values(values)


def change_character(document: Document, name: str, entry: Mapping[str, Any]) -> Document:
    """Replace properties of a character key by key; None removes a key."""
    values = document.edited()
    people = values.get("characters", {})
    if name not in people:
        raise UnknownName("character", name, people)
    changed = {**people[name], **entry}
    people[name] = {key: v for key, v in changed.items() if v is not None}
    return document.with_values(values)


def delete(document: Document, name: str, entry: int | None = None, part: str | None = None) -> Document:
    """Delete a character or object, with its grips and the tasks that refer to it.

    `entry` is the number of the scene's mesh, for static obstacles; `part` its name in the file of that mesh, if the
    rest of the file stays.
    """
    values = document.edited()
    if entry is not None and part is not None:
        mesh = values["scene"]["meshes"][entry]
        mesh["without"] = [*mesh.get("without", []), part]
        mesh.get("moved", {}).pop(part, None)
    elif entry is not None:
        del values["scene"]["meshes"][entry]
    else:
        found = next((key for key in _LISTS if name in values.get(key, {})), None)
        if found is None:
            known = [n for key in _LISTS for n in values.get(key, {})]
            raise UnknownName("deletable object", name, known)
        del values[found][name]
    for key in ("holds", "contacts", "tasks"):
        if key in values:
            values[key] = [one for one in values[key] if not speaks_of(one, name)]
    objects = values.get("objects", {})
    values["objects"] = {n: o for n, o in objects.items() if o.get("on") != name}
    return document.with_values({k: v for k, v in values.items() if k != "objects" or v})


def rename(document: Document, old: str, new: str, entry: int | None = None) -> Document:
    """Rename a character or object wherever it is referred to."""
    if new == old:
        return document
    if new in names_of(document):
        raise BadValue(f"the name '{new}' is already in use.")
    values = document.edited()
    if entry is not None:
        values["scene"]["meshes"][entry]["name"] = new
    else:
        for key in _LISTS:
            if old in values.get(key, {}):
                values[key] = {new if n == old else n: v for n, v in values[key].items()}
        for thing in values.get("objects", {}).values():
            if thing.get("on") == old:
                thing["on"] = new
    for key in ("holds", "contacts", "tasks"):
        if key in values:
            values[key] = _renamed(values[key], old, new)
    return document.with_values(values)


def names_of(document: Document) -> set[str]:
    """Names in use."""
    values = document.values
    named = {mesh["name"] for mesh in values.get("scene", {}).get("meshes", []) if "name" in mesh}
    return {"floor", *named, *(n for key in _LISTS for n in values.get(key, {}))}


def free_name(document: Document, wanted: str) -> str:
    """Unused name like the requested one: table, table_2, …"""
    plain = re.sub(r"[./\x00-\x1f]", "_", wanted.strip()) or "thing"
    taken, name, number = names_of(document), plain, 2
    while name in taken:
        name, number = f"{plain}_{number}", number + 1
    return name


def _checked(document: Document, k: int) -> int:
    count = len(document.values.get("tasks", []))
    if not 0 <= k < count:
        raise BadValue(f"there is no task {k + 1}; there are {count}.")
    return k


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {k: _renamed(v, old, new) for k, v in value.items()}
    if isinstance(value, list):
        return [_renamed(v, old, new) for v in value]
    if isinstance(value, str) and (value == old or value.startswith(f"{old}.")):
        return new + value[len(old) :]
    return value
