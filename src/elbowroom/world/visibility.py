"""How much of the action is seen from a direction: faces, hands and things, not hidden by furniture or backs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Body, Character
from elbowroom.character.grip import grip_frame
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.world.cells import CUT, SOLID, Cells, samples
from elbowroom.world.extent import FURNITURE, action
from elbowroom.world.things import Fixture
from elbowroom.world.world import Record, World

# Metres: how far lines of sight are followed, and from where on; what is smaller than the third hides nothing worth
# mention; what moves less than the fourth stands still.
_REACH, _SKIN, _SMALL, _TRAVELS = 4.0, 0.05, 0.35, 0.05
_STOUT = 0.085  # radius of a trunk, share of its owner's height
_THINGS = 12  # as many are looked for, those that move first
_FACES = np.concatenate([np.eye(3), -np.eye(3)])


@dataclass(frozen=True, eq=False)
class _Spot:
    """Places that are to be seen: points (T, P, 3), and the way each is turned (T, P, 3) where it has a front."""

    weight: float
    points: Array
    fronts: Array | None = None
    owner: str = ""  # the character whose own trunk does not hide it
    face: bool = False  # a face is worth less from the side; of a thing any side will do


def seen_from(
    world: World, times: ArrayLike, backs: ArrayLike, *, only: ArrayLike | None = None, reach: float = _REACH
) -> Array:
    """Share (D,), 0..1, of what matters over times (T,) in seconds that is seen from directions `backs` (D, 3).

    Each direction points from the action to an eye that is `reach` metres away. What matters are faces, chests,
    hands (the more they do, the more) and things; or, where `only` (T, 3) is given, that point. Static meshes larger
    than furniture are cut open before the action, as pictures have it, and hide nothing there.
    """
    times = np.atleast_1d(np.asarray(times, dtype=float))
    backs = np.asarray(backs, dtype=float)
    record = world.record(times)
    spots = _spots(world, record) if only is None else [_Spot(1.0, np.asarray(only, dtype=float)[:, None])]
    total = sum(spot.weight for spot in spots)
    if not total:
        return np.ones(len(backs))
    places = np.concatenate([spot.points.reshape(-1, 3) for spot in spots])
    cells = Cells(places.min(axis=0) - reach, places.max(axis=0) + reach)
    for mesh in world.static.values():
        cells.mark(samples(mesh, cells.side), CUT if _size(mesh.bounds) >= FURNITURE else SOLID)
    meshes = {name: thing.mesh for name, thing in world.things.items() if _size(thing.mesh.bounds) > _SMALL}
    moving = {name: samples(mesh, cells.side) for name, mesh in meshes.items()}
    cut = (action(world, times) @ (backs * [1.0, 1.0, 0.0]).T).max(axis=0)
    trunks = {name: _trunk(world.body(name), T) for name, T in record.joints.items()}
    out = np.zeros(len(backs))
    for k in range(len(times)):
        now = cells.with_points([apply(record.things[name][k], points) for name, points in moving.items()])
        every = np.concatenate([spot.points[k] for spot in spots])
        free = ~now.hides(every, backs, (_SKIN, reach), cut)
        ends = np.cumsum([spot.points.shape[1] for spot in spots])
        for spot, seen in zip(spots, np.split(free, ends[:-1]), strict=True):
            for name, (centers, radius) in trunks.items():
                if name != spot.owner:
                    seen &= ~_behind(spot.points[k], backs, centers[k], radius)
            out += spot.weight / (total * len(times)) * _worth(spot, k, seen, backs)
    return out


def _worth(spot: _Spot, k: int, seen: NDArray[np.bool_], backs: Array) -> Array:
    """How much of a spot is seen at time k from each direction (D,), given which points are in sight (P, D)."""
    if spot.fronts is None:
        return seen.mean(axis=0)
    towards = spot.fronts[k] @ backs.T
    if spot.face:  # all of it from the front, half of it in profile
        return (seen * np.clip(0.5 + 0.7 * towards, 0.0, 1.0)).mean(axis=0)
    turned = np.maximum(towards, 0.0)
    return (seen * turned).sum(axis=0) / np.maximum(turned.sum(axis=0), 1e-9)


def _spots(world: World, record: Record) -> list[_Spot]:
    """What matters in a world."""
    out, hands = [], []
    for name, T in record.joints.items():
        body = world.body(name)
        if "head" in body.roles:
            out.append(_face(name, body, T))
        out.append(_Spot(1.0, T[..., :3, 3][:, [body.roles.get("chest", 0)]], owner=name))
        hands += _hands(body, T)
    ways = [float(np.linalg.norm(np.diff(points, axis=0), axis=-1).sum()) for points in hands]
    most = max([_TRAVELS, *ways])
    out += [_Spot(0.6 + 1.4 * way / most, points[:, None]) for points, way in zip(hands, ways, strict=True)]
    return out + _thing_spots(world, record)


def _hands(body: Body, T: Array) -> list[Array]:
    """Where hands take things, (T, 3) each; of a robot where its arms end."""
    sides = [side for side in ("left", "right") if f"{side}_hand" in body.roles]
    if sides:
        return [(T[:, body.roles[f"{side}_hand"]] @ grip_frame(body, side))[:, :3, 3] for side in sides]
    return [T[:, chain.end, :3, 3] for chain in body.chains.values() if chain.kind in ("arm", "6r", "numeric")]


def _face(name: str, body: Body, T: Array) -> _Spot:
    head = body.roles["head"]
    eyes = [body.roles[f"{side}_eye"] for side in ("left", "right") if f"{side}_eye" in body.roles]
    points = T[..., :3, 3][:, eyes or [head]].mean(axis=1, keepdims=True)
    front = body.front if isinstance(body, Character) else np.array([1.0, 0.0, 0.0])
    fronts = T[:, [head], :3, :3] @ (body.T_rest[head, :3, :3].T @ front)
    return _Spot(1.5, points + _SKIN * fronts, fronts, owner=name, face=True)


def _thing_spots(world: World, record: Record) -> list[_Spot]:
    """Handles of fixtures and sides of other things; those that move matter more."""
    moved = {name: float(np.ptp(T[:, :3], axis=0).max()) > _TRAVELS for name, T in record.things.items()}
    chosen = sorted(moved, key=lambda name: not moved[name])[:_THINGS]
    out = []
    for name in chosen:
        thing, T = world.things[name], record.things[name]
        weight = (2.0 if moved[name] else 1.0) / len(chosen)
        if isinstance(thing, Fixture) and "handle" in thing.frames:
            out.append(_Spot(weight, (T @ thing.frame("handle"))[:, None, :3, 3]))
            continue
        low, high = thing.mesh.bounds
        sides = 0.5 * (low + high) + _FACES * (0.5 * (high - low) + _SKIN)
        out.append(_Spot(weight, apply(T, sides), _FACES @ T[:, :3, :3].swapaxes(-1, -2)))
    return out


def _size(bounds: Array) -> float:
    return float(np.linalg.norm(np.ptp(bounds, axis=0)))


def _trunk(body: Body, T: Array) -> tuple[Array, float]:
    """Balls (T, B, 3) that stand for a person's trunk and head, and their radius; none of a robot."""
    if not ("pelvis" in body.roles and "head" in body.roles):
        return np.zeros((len(T), 0, 3)), 0.0
    foot, top = T[:, body.roles["pelvis"], :3, 3], T[:, body.roles["head"], :3, 3]
    along = np.linspace(0.0, 1.1, 7)[:, None]
    height = float(np.ptp(body.T_rest[:, 2, 3]))
    return foot[:, None] + along * (top - foot)[:, None], _STOUT * height


def _behind(points: Array, backs: Array, centers: Array, radius: float) -> NDArray[np.bool_]:
    """Whether balls hide points (P, 3) from directions (D, 3); (P, D)."""
    away = centers - points[:, None]  # (P, B, 3)
    along = away @ backs.T  # (P, B, D)
    aside = (away**2).sum(axis=-1)[..., None] - along**2
    return np.any((along > 0.0) & (aside < radius * radius), axis=1)
