"""Visibility of the action from a direction: faces, hands and objects, not hidden by furniture or backs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Body, Character
from elbowroom.character.grip import grip_frame
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.world.cells import CUT, SOLID, Cells, samples
from elbowroom.world.extent import FURNITURE, action
from elbowroom.world.things import Fixture
from elbowroom.world.world import Record, World

# Metres: how far lines of sight are followed, and from where on; what is smaller than the third hides nothing worth
# mention; what moves less than the fourth stands still.
REACH, _SKIN, _SMALL, _TRAVELS = 3.0, 0.05, 0.35, 0.05
_CLOSE = 1.0  # metres: furniture that is farther from people is background
_BUSY = 0.3  # metres: hands that travel less in all are idle
_ENOUGH = 1.5  # a side that is seen at 42 degrees is as good as one seen from its front
_STOUT = 0.085  # radius of a trunk, share of its owner's height
_THINGS = 12  # as many are looked for, those that move first
_FACES = np.concatenate([np.eye(3), -np.eye(3)])


@dataclass(frozen=True, eq=False)
class _Spot:
    """Places that are to be seen: points (T, P, 3), and the way each is turned (T, P, 3) where it has a front.

    `areas` (P,) are those of sides, as shares of the most that can be seen of them at once; None of a face. `owner` is
    whose own trunk does not hide it.
    """

    weight: float
    points: Array
    fronts: Array | None = None
    areas: Array | None = None
    owner: str = ""


def seen_from(
    world: World,
    times: ArrayLike,
    backs: ArrayLike,
    *,
    only: ArrayLike | None = None,
    reach: float = REACH,
    cut_open: bool = True,
) -> Array:
    """Share (D,), 0..1, of what matters over times (T,) in seconds that is seen from directions `backs` (D, 3).

    Each direction points from the action to an eye that is `reach` metres away. What matters are faces, chests,
    hands (the more they do, the more) and things, above all when hands are away from where they mostly are; or, where
    `only` (T, 3) is given, that point. With `cut_open` static meshes larger than furniture are cut open before the
    action, as pictures have it, and hide nothing there.
    """
    times = np.atleast_1d(np.asarray(times, dtype=float))
    backs = np.asarray(backs, dtype=float)
    record = world.record(times)
    if only is None:
        spots, moments = _spots(world, record)
    else:
        spots, moments = [_Spot(1.0, np.asarray(only, dtype=float)[:, None])], np.ones(len(times))
    total = sum(spot.weight for spot in spots) * moments.sum()
    if not total:
        return np.ones(len(backs))
    places = np.concatenate([spot.points.reshape(-1, 3) for spot in spots])
    if not np.isfinite(places).all():
        raise BadValue("an object has a position that is not finite; visibility cannot be computed.")
    cells = Cells(places.min(axis=0) - reach, places.max(axis=0) + reach)
    for mesh in world.static.values():
        cells.mark(samples(mesh, cells.apart), CUT if _size(mesh.bounds) >= FURNITURE else SOLID)
    moving = {}
    for name, thing in world.things.items():
        if _size(thing.mesh.bounds) > _SMALL:
            points, T = samples(thing.mesh, cells.apart), record.things[name]
            if np.ptp(T, axis=0).any():
                moving[name] = points
            else:
                cells.mark(apply(T[0], points))
    cut = np.full(len(backs), np.inf)
    if cut_open:
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
            out += moments[k] * spot.weight / total * _worth(spot, k, seen, backs)
    return out


def _worth(spot: _Spot, k: int, seen: NDArray[np.bool_], backs: Array) -> Array:
    """Visible share of a spot at time k from each direction (D,), given which points are in sight (P, D)."""
    if spot.fronts is None:
        return seen.mean(axis=0)
    towards = spot.fronts[k] @ backs.T
    if spot.areas is None:  # a face: whole from half-way before it, two thirds in profile
        return (seen * np.clip(0.65 + 0.65 * towards, 0.0, 1.0)).mean(axis=0)
    return np.minimum(_ENOUGH * spot.areas @ (seen * np.maximum(towards, 0.0)), 1.0)


def _spots(world: World, record: Record) -> tuple[list[_Spot], Array]:
    """Spots of interest in a world, and the weight of each moment (T,)."""
    out: list[_Spot] = []
    hands: list[Array] = []
    chests: list[Array] = []
    away = np.zeros(len(record))
    for name, T in record.joints.items():
        body = world.body(name)
        chest = T[..., :3, 3][:, body.roles.get("chest", 0)]
        if "head" in body.roles:
            out.append(_face(name, body, T))
        chests.append(chest)
        for hand in _hands(body, T):
            hands.append(hand)
            beside = hand - chest
            away = np.maximum(away, np.linalg.norm(beside - np.median(beside, axis=0), axis=-1))
    ways = [float(np.linalg.norm(np.diff(points, axis=0), axis=-1).sum()) for points in hands]
    most = max([_BUSY, *ways])
    out += [_Spot(0.1 + 1.9 * (way / most) ** 2, points[:, None]) for points, way in zip(hands, ways, strict=True)]
    out += [_Spot(1.0, chest[:, None], owner=name) for name, chest in zip(record.joints, chests, strict=True)]
    out += _thing_spots(world, record, chests) + _scene_spots(world, chests)
    return out, 0.1 + (away / max(_TRAVELS, float(away.max()))) ** 2


def _hands(body: Body, T: Array) -> list[Array]:
    """Grip points of hands, (T, 3) each; for a robot the ends of its arms."""
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
    return _Spot(2.2, points + _SKIN * fronts, fronts, owner=name)


def _thing_spots(world: World, record: Record, chests: list[Array]) -> list[_Spot]:
    """Sides of things, of fixtures those towards people (chests (T, 3) each); what moves matters more."""
    moved = {name: float(np.ptp(T[:, :3], axis=0).max()) > _TRAVELS for name, T in record.things.items()}
    chosen = sorted(moved, key=lambda name: not moved[name])[:_THINGS]
    out = []
    for name in chosen:
        thing, T = world.things[name], record.things[name]
        weight = (2.0 if moved[name] or isinstance(thing, Fixture) else 1.0) / len(chosen)
        sides, areas = _sides(thing.mesh.bounds)
        areas /= max(float(np.linalg.norm(areas[:3])), 1e-9)
        points, fronts = apply(T, sides), _FACES @ T[:, :3, :3].swapaxes(-1, -2)
        if isinstance(thing, Fixture) and chests:
            areas *= np.any([((chest[0] - points[0]) * fronts[0]).sum(axis=-1) > 0.0 for chest in chests], axis=0)
        out.append(_Spot(weight, points, fronts, areas))
    return out


def _scene_spots(world: World, chests: list[Array]) -> list[_Spot]:
    """The sides that furniture turns to people (chests (T, 3) each) who stand close by: what they face is there."""
    points: list[Array] = []
    fronts: list[Array] = []
    areas: list[float] = []
    boxes = [mesh.bounds for mesh in world.static.values() if _SMALL < _size(mesh.bounds) < FURNITURE]
    for chest in (path.mean(axis=0) for path in chests):
        for bounds in boxes:
            if np.linalg.norm((chest - np.clip(chest, *bounds))[:2]) < _CLOSE:
                sides, area = _sides(bounds)
                turned = ((chest - sides) * _FACES).sum(axis=-1) > 0.0
                level = turned & (_FACES[:, 2] == 0.0)
                points, fronts, areas = [*points, *sides[level]], [*fronts, *_FACES[level]], [*areas, *area[level]]
    if not points:
        return []
    times = (len(chests[0]), 1, 1)
    shares = np.array(areas) / max(float(np.linalg.norm(np.array(areas) @ np.array(fronts))), 1e-9)
    return [_Spot(1.2, np.tile(points, times), np.tile(fronts, times), shares)]


def _sides(bounds: Array) -> tuple[Array, Array]:
    """Points (6, 3) before the sides of a box, in the order of `_FACES`, and the areas of these (6,)."""
    size = bounds[1] - bounds[0]
    return bounds.mean(axis=0) + _FACES * (0.5 * size + _SKIN), np.tile(np.roll(size, 1) * np.roll(size, 2), 2)


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
    """Return whether balls hide points (P, 3) from directions (D, 3); (P, D)."""
    away = centers - points[:, None]  # (P, B, 3)
    along = away @ backs.T  # (P, B, D)
    aside = (away**2).sum(axis=-1)[..., None] - along**2
    return np.any((along > 0.0) & (aside < radius * radius), axis=1)
