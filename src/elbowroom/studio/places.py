"""Entries of a storyboard's scene, positions in it, and the storyboard or world with one of them changed.

An entry of the scene may be a whole room with a sofa and a lamp in it, or a lamp with a foot and a shade. Parts of a
room are moved one by one, and all together by the name of the entry; parts of a piece of furniture move together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import scipy

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place as placed
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.storyboard.things import quaternion
from elbowroom.studio import edits
from elbowroom.studio.document import Document
from elbowroom.world.extent import FURNITURE
from elbowroom.world.paths import Keyed, Riding, Still
from elbowroom.world.things import Fixture
from elbowroom.world.world import World

# An object whose origin is farther than this from the middle of its underside has its handle there instead, metres.
_NEAR = 0.5

PlaceKind = Literal["static", "object", "fixture", "character", "target"]


@dataclass(frozen=True, eq=False)
class ScenePlace:
    """Initial position `T` (4, 4) in the world, and how a handle may move and rotate it.

    `axes` has the axes x, y and z about which it can be rotated; `flat` keeps it on the floor. `grip` (3,) is the
    position of the handle in its own axes: a mesh from a file may be far from the file's origin.
    """

    name: str
    kind: PlaceKind
    T: Array
    axes: tuple[bool, bool, bool] = (True, True, True)
    flat: bool = False
    grip: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def handle(self) -> Array:
        """Position of its handle, (4, 4) in the world."""
        return np.asarray(self.T @ transform(self.grip))

    def held_at(self, T: Array) -> Array:
        """Its position (4, 4), if its handle is at `T` (4, 4)."""
        return np.asarray(T @ transform(-np.array(self.grip)))


def places_of(document: Document, board: Storyboard) -> dict[str, ScenePlace]:
    """Everything movable, by name, without held objects that have no position of their own."""
    values = document.values
    out: dict[str, ScenePlace] = {}
    for k, entry in enumerate(values.get("scene", {}).get("meshes", [])):
        if entry.get("name") not in (None, *board.stands) and is_place(board, k):
            out[entry["name"]] = ScenePlace(entry["name"], "static", _frame(entry.get("at"), entry.get("turn")))
    for name, k in board.stands.items():
        entry = values["scene"]["meshes"][k]
        T = _frame(entry.get("at"), entry.get("turn"))
        own = entry.get("moved", {}).get(own_name(entry, name), {}) if alone(board, name) else {}
        T = T @ _frame(own.get("at"), own.get("turn"))
        out[name] = ScenePlace(name, "static", T, grip=_grip(board, name, T) if "file" in entry else (0.0, 0.0, 0.0))
    for name, entry in values.get("fixtures", {}).items():
        out[name] = ScenePlace(name, "fixture", _frame(entry.get("at"), entry.get("turn")))
    for name, entry in values.get("objects", {}).items():
        if "path" in entry:
            first = entry["path"][0]
            out[name] = ScenePlace(name, "object", transform(first["at"], quaternion(0.0)), (False, False, False))
        elif "on" in entry:
            T_world_on = np.asarray(board.world.things[entry["on"]].path(board.world.span[0]))
            out[name] = ScenePlace(name, "object", T_world_on @ _frame(entry.get("at"), entry.get("turn")))
        elif "at" in entry or "turn" in entry:
            out[name] = ScenePlace(name, "object", _frame(entry.get("at"), entry.get("turn")))
    for name, entry in values.get("characters", {}).items():
        x, y = entry.get("at", (0.0, 0.0))
        z = board.world.floor or 0.0
        out[name] = ScenePlace(name, "character", _frame((x, y, z), entry.get("turn")), (False, False, True), flat=True)
    for k, (_, point) in targets_of(document).items():
        flat = len(point) == 2
        at = np.array([*point, board.world.floor or 0.0] if flat else point)
        out[target_name(k)] = ScenePlace(target_name(k), "target", transform(at), (False, False, False), flat=flat)
    return out


def targets_of(document: Document) -> dict[int, tuple[str, list[float]]]:
    """Points that tasks go to, by the number of the task from 0: the key of the point, and the point itself."""
    out = {}
    for k, task in enumerate(document.values.get("tasks", [])):
        ((_, args),) = task.items()
        key = next((key for key in ("to", "target", "over") if isinstance(args.get(key), list)), None)
        if key is not None:
            out[k] = (key, args[key])
    return out


def target_name(k: int) -> str:
    """Name of the target point of a task, by the number of the task from 0."""
    return f"target of task {k + 1}"


def task_of(name: str) -> int | None:
    """Number of the task, from 0, whose target point has that name."""
    number = name.removeprefix("target of task ")
    return int(number) - 1 if number != name and number.isdigit() else None


def with_place(document: Document, board: Storyboard, name: str, T: Array) -> Document:
    """Document with an object at `T` (4, 4)."""
    if not np.all(np.isfinite(T)):
        raise BadValue(f"'{name}' needs a position of finite numbers.")
    where = places_of(document, board)
    if name not in where:
        raise UnknownName("movable object", name, where)
    place, values = where[name], document.edited()
    at = [_millimetres(x) for x in T[:3, 3]]
    if place.kind == "static":
        entry = values["scene"]["meshes"][entry_of(board, values, name)]
        if alone(board, name):
            inside = inverse(_frame(entry.get("at"), entry.get("turn"))) @ T
            entry = entry.setdefault("moved", {}).setdefault(own_name(entry, name), {})
            at, T = [_millimetres(x) for x in inside[:3, 3]], inside
        _put(entry, at, _degrees(T))
    elif place.kind == "fixture":
        _put(values["fixtures"][name], at, _degrees(T))
    elif place.kind == "character":
        _put(values["characters"][name], at[:2], _degrees(T)[2])
    elif place.kind == "target":
        k = task_of(name)
        assert k is not None
        ((_, args),) = values["tasks"][k].items()
        key, before = targets_of(document)[k]
        args[key] = at[: len(before)]
    else:
        entry = values["objects"][name]
        if "path" in entry:
            shift = T[:3, 3] - place.T[:3, 3]
            for key in entry["path"]:
                key["at"] = [_millimetres(x) for x in np.array(key["at"]) + shift]
        elif "on" in entry:
            T_world_on = np.asarray(board.world.things[entry["on"]].path(board.world.span[0]))
            inside = inverse(T_world_on) @ T
            _put(entry, [_millimetres(x) for x in inside[:3, 3]], _degrees(inside))
        else:
            _put(entry, at, _degrees(T))
    return document.with_values(values)


def moved_world(document: Document, board: Storyboard, name: str, T: Array, place: ScenePlace | None = None) -> World:
    """World of the storyboard with an object at `T` (4, 4), and everything that moves with it.

    The motion of a character moves as a whole. Robots and objects held from the start are rebuilt. `place` is its place
    in the document, if known.
    """
    place = place or places_of(document, board)[name]
    world, D = board.world, T @ inverse(place.T)
    if place.kind == "target":
        return world
    if place.kind == "static":
        names = entry_names(board, name)
        static = {n: m.moved(D) if n in names else m for n, m in world.static.items()}
        return world.with_(static=static)
    motion = world.characters.get(name)
    if isinstance(motion, Clip):
        turn = float(np.arctan2(D[1, 0], D[0, 0]))
        return world.with_character(name, placed(motion, D[:2, 3], turn, lift=float(D[2, 3])))
    thing = world.objects.get(name)
    if isinstance(thing, Fixture):
        there = Fixture.at(thing.mesh, thing.joint, T, thing.state, thing.frames, thing.mass, thing.grasps)
        return world.with_fixture_as(name, there)
    path = None if thing is None else thing.path
    if isinstance(path, Still):
        path = Still(T)
    elif isinstance(path, Riding):
        path = Riding(path.base, inverse(np.asarray(path.base(world.span[0]))) @ T)
    elif isinstance(path, Keyed):
        path = Keyed(path.times, path.positions + D[:3, 3], path.quaternions)
    else:
        return with_place(document, board, name, T).board().world
    return world.with_(objects={**world.objects, name: replace(world.objects[name], path=path)})


def _grip(board: Storyboard, name: str, T: Array) -> tuple[float, float, float]:
    """Position of the handle of a static mesh at `T`: at its origin if that is near, else at its underside."""
    middle = foot(board, name)
    if float(np.linalg.norm(T[:3, 3] - middle)) < _NEAR:
        return (0.0, 0.0, 0.0)
    x, y, z = np.round(inverse(T) @ [*middle, 1.0], 3)[:3]
    return float(x), float(y), float(z)


def _frame(at: Any, turn: Any) -> Array:
    return transform(np.array(at or (0.0, 0.0, 0.0), dtype=float), quaternion(turn or 0.0))


def _put(entry: dict[str, Any], at: list[float], turn: Any) -> None:
    """Write a position; a rotation about z alone is one number, and no rotation is left out."""
    entry["at"] = at
    if isinstance(turn, list) and abs(turn[0]) < 0.005 and abs(turn[1]) < 0.005:
        turn = turn[2]
    if turn == 0.0 and "turn" not in entry:
        return
    entry["turn"] = turn


def _degrees(T: Array) -> list[float]:
    """Rotation in degrees about x, y and z in turn, each about the world's axis."""
    angles = scipy.spatial.transform.Rotation.from_matrix(T[:3, :3]).as_euler("xyz", degrees=True)
    return [round(float(a), 2) + 0.0 for a in angles]


def _millimetres(x: float) -> float:
    return round(float(x), 4) + 0.0


def shown_place(place: ScenePlace) -> Mapping[str, Any]:
    """Position and rotation of its handle, in metres and degrees, for display."""
    return {"at": [_millimetres(x) for x in place.handle[:3, 3]], "turn": _degrees(place.T)}


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
