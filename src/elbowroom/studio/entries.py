"""Entries of a storyboard's scene: which static meshes move together, and the entry of each.

An entry of the scene may be a whole room with a sofa and a lamp in it, or a lamp with a foot and a shade. Parts of a
room are moved one by one, and all together by the name of the entry; parts of a piece of furniture move together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio import edits
from elbowroom.studio.document import Document
from elbowroom.world.extent import FURNITURE


@dataclass(frozen=True, eq=False)
class _Known:
    """Names by entry, entries that are whole rooms, and centres of undersides (3,) by name, of a storyboard."""

    names: Mapping[int, tuple[str, ...]]
    places: frozenset[int]
    feet: Mapping[str, Array]


# Drags ask thirty times a second, and a storyboard never changes.
_known: WeakKeyDictionary[Storyboard, _Known] = WeakKeyDictionary()


def entry_names(board: Storyboard, name: str) -> tuple[str, ...]:
    """Names of all static meshes that move together with one; the name itself for other objects."""
    if name in board.stands:
        return (name,) if alone(board, name) else _know(board).names[board.stands[name]]
    parts = tuple(n for n in board.stands if n.startswith(f"{name}."))
    return parts if parts and name not in board.world.things else (name,)


def alone(board: Storyboard, name: str) -> bool:
    """Return whether a static mesh is a part of a room and can be moved separately."""
    return board.stands.get(name) in _know(board).places


def is_place(board: Storyboard, entry: int) -> bool:
    """Return whether an entry of the scene, by its number from 0, is larger than furniture and has parts."""
    return entry in _know(board).places


def foot(board: Storyboard, name: str) -> Array:
    """Centre of the underside (3,) of the meshes that move with a static mesh, in the world."""
    return _know(board).feet[name]


def entry_of(board: Storyboard, values: Mapping[str, Any], name: str) -> int | None:
    """Number from 0 of the scene's entry of a static mesh or a whole room; None for other objects."""
    if name in board.stands:
        return board.stands[name]
    found = (k for k, mesh in enumerate(values.get("scene", {}).get("meshes", [])) if mesh.get("name") == name)
    return next((k for k in found if is_place(board, k)), None)


def own_name(entry: Mapping[str, Any], name: str) -> str:
    """Name of a static mesh in the file of its entry."""
    return name.removeprefix(f"{entry['name']}.") if "name" in entry else name


def deleted(document: Document, board: Storyboard, name: str) -> Document:
    """Document without a character or object; of a whole room only the part is deleted, if it is one."""
    entry = entry_of(board, document.values, name)
    part = own_name(document.values["scene"]["meshes"][entry], name) if alone(board, name) else None
    return edits.delete(document, name, entry, part)


def _know(board: Storyboard) -> _Known:
    found = _known.get(board)
    if found is None:
        names: dict[int, list[str]] = {}
        for name, entry in board.stands.items():
            names.setdefault(entry, []).append(name)
        boxes = {entry: np.array([board.world.static[n].bounds for n in some]) for entry, some in names.items()}
        sizes = {entry: float(np.linalg.norm(np.ptp(box, axis=(0, 1)))) for entry, box in boxes.items()}
        places = frozenset(entry for entry, some in names.items() if len(some) > 1 and sizes[entry] >= FURNITURE)
        feet = {}
        for entry, some in names.items():
            for k, name in enumerate(some):
                box = boxes[entry][k : k + 1] if entry in places else boxes[entry]
                low, high = box.min(axis=(0, 1)), box.max(axis=(0, 1))
                feet[name] = np.array([*(0.5 * (low + high))[:2], low[2]])
        found = _known[board] = _Known({entry: tuple(some) for entry, some in names.items()}, places, feet)
    return found
