"""Visibility of the action from a direction: faces, hands and objects, not hidden by furniture or backs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Body
from elbowroom.character.hands import grip_frame
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.world.extent import FURNITURE, action
from elbowroom.world.things import Fixture
from elbowroom.world.world import Record, World

SOLID, CUT = np.uint8(1), np.uint8(2)
_SIDE = 0.04  # metres
_MOST = 220  # cells across, at most


class Cells:
    """A box from low to high (3,) in metres, divided into cubes; points `apart` metres from each other fill them."""

    def __init__(self, low: Array, high: Array) -> None:
        self._side = max(_SIDE, float((high - low).max()) / _MOST)
        self.apart = 0.7 * self._side
        self._low = low
        self._shape = np.ceil((high - low) / self._side).astype(np.int64) + 1
        self._grid = np.zeros(int(self._shape.prod()), np.uint8)

    def mark(self, points: Array, kind: np.uint8 = SOLID) -> None:
        """Mark the cells of points (N, 3) as holding something SOLID, or something that is CUT open before a plane."""
        cells, inside = self._numbers(points)
        self._grid[cells[inside]] |= kind

    def with_points(self, clouds: list[Array]) -> Cells:
        """These cells and those of solid points (N, 3) besides."""
        if not clouds:
            return self
        other = Cells.__new__(Cells)
        other.__dict__.update(self.__dict__)
        other._grid = self._grid.copy()
        for points in clouds:
            other.mark(points)
        return other

    def hides(self, points: Array, ways: Array, reach: tuple[float, float], planes: Array) -> NDArray[np.bool_]:
        """Return whether lines from points (P, 3) in directions (D, 3) are occluded; (P, D).

        `reach` is where on the way to look, in metres. What is cut hides nothing where n·p > d, n being the level
        part of a direction and d its of `planes` (D,).
        """
        steps = np.arange(reach[0], reach[1], self._side)
        along = points[:, None, None] + steps[:, None] * ways[:, None]  # (P, D, S, 3)
        cells, inside = self._numbers(along)
        found = np.where(inside, self._grid[cells], np.uint8(0))
        if not np.any(found & CUT):
            return np.any(found & SOLID, axis=-1)
        kept = np.einsum("pdsi,di->pds", along[..., :2], ways[:, :2]) <= planes[:, None]
        return np.any((found & SOLID != 0) | ((found & CUT != 0) & kept), axis=-1)

    def _numbers(self, points: Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Number of the cell of each point (..., 3), 0 where it is in none, and whether it is in one."""
        place = np.floor((points - self._low) / self._side).astype(np.int64)
        inside = np.all((place >= 0) & (place < self._shape), axis=-1)
        number = (place[..., 0] * self._shape[1] + place[..., 1]) * self._shape[2] + place[..., 2]
        return np.where(inside, number, 0), inside


def samples(mesh: Mesh, apart: float) -> Array:
    """Points (N, 3) all over a mesh, hardly farther apart than so many metres."""
    corners = mesh.vertices[mesh.faces]
    lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=-1)  # of the edges 01, 12, 20
    longest = lengths.max(axis=-1)
    large = longest >= apart
    first = lengths[large].argmax(axis=-1)[:, None]
    a, b, c = (np.take_along_axis(corners[large], ((first + k) % 3)[..., None], axis=1)[:, 0] for k in range(3))
    height = np.linalg.norm(np.cross(b - a, c - a), axis=-1) / longest[large]
    across, up = (np.ceil(x / apart).astype(np.int64) for x in (longest[large], height))
    up = np.maximum(up, 1)
    count = (across + 1) * (up + 1)
    which = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    row, place = np.divmod(number, across[which] + 1)
    v = row / up[which]
    u = (1.0 - v) * place / across[which]
    spread = a[which] + u[:, None] * (b - a)[which] + v[:, None] * (c - a)[which]
    points = np.concatenate([corners[~large].mean(axis=1), spread])
    _, kept = np.unique(np.floor(points / (0.5 * apart)) @ [1.0, 1e5, 1e10], return_index=True)
    return points[kept]


# Metres: length of lines of sight, and their start; objects smaller than the third are transparent; what moves less
# than the fourth stands still.
REACH, _SKIN, _SMALL, _TRAVELS = 3.0, 0.05, 0.35, 0.05
_CLOSE = 1.0  # metres: furniture farther from people is background
_BUSY = 0.3  # metres: hands with less total travel are idle
_ENOUGH = 1.5  # a side seen at 42 degrees is as good as from its front
_STOUT = 0.085  # radius of a trunk, share of its owner's height
_THINGS = 12  # objects that are considered, moving ones first
_FACES = np.concatenate([np.eye(3), -np.eye(3)])


@dataclass(frozen=True, eq=False)
class _InterestPoints:
    """Points of interest: points (T, P, 3), and their normals (T, P, 3) where they have a front.

    `areas` (P,) are those of sides, as shares of the most that is visible at once; None for a face. `owner` is the
    character whose own trunk does not hide it.
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
    """Visible share (D,), 0..1, of what matters over times (T,) in seconds from directions `backs` (D, 3).

    Each direction points from the action to an eye that is `reach` metres away. What matters are faces, chests, hands
    (by activity) and objects, above all when hands are away from their usual place; or, where `only` (T, 3) is given,
    that point. With `cut_open` large static meshes are cut open in front of the action, as in pictures, and hide
    nothing there.
    """
    times = np.atleast_1d(np.asarray(times, dtype=float))
    backs = np.asarray(backs, dtype=float)
    record = world.record(times)
    if only is None:
        spots, moments = _spots(world, record)
    else:
        spots, moments = [_InterestPoints(1.0, np.asarray(only, dtype=float)[:, None])], np.ones(len(times))
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


def _worth(spot: _InterestPoints, k: int, seen: NDArray[np.bool_], backs: Array) -> Array:
    """Visible share of a spot at time k from each direction (D,), given which points are in sight (P, D)."""
    if spot.fronts is None:
        return seen.mean(axis=0)
    towards = spot.fronts[k] @ backs.T
    if spot.areas is None:  # a face: all of it within 57 degrees of its front, two thirds in profile
        return (seen * np.clip(0.65 + 0.65 * towards, 0.0, 1.0)).mean(axis=0)
    return np.minimum(_ENOUGH * spot.areas @ (seen * np.maximum(towards, 0.0)), 1.0)


def _spots(world: World, record: Record) -> tuple[list[_InterestPoints], Array]:
    """Spots of interest in a world, and the weight of each moment (T,)."""
    out: list[_InterestPoints] = []
    hands: list[Array] = []
    chests: list[Array] = []
    away = np.zeros(len(record))
    for name, T in record.joints.items():
        body = world.body(name)
        chest = T[..., :3, 3][:, body.roles.get("chest", 0)]
        if "head" in body.roles:
            head = body.roles["head"]
            eyes = [body.roles[f"{side}_eye"] for side in ("left", "right") if f"{side}_eye" in body.roles]
            points = T[..., :3, 3][:, eyes or [head]].mean(axis=1, keepdims=True)
            fronts = T[:, [head], :3, :3] @ (body.T_rest[head, :3, :3].T @ body.front)
            out.append(_InterestPoints(2.2, points + _SKIN * fronts, fronts, owner=name))
        chests.append(chest)
        for hand in _hands(body, T):
            hands.append(hand)
            beside = hand - chest
            away = np.maximum(away, np.linalg.norm(beside - np.median(beside, axis=0), axis=-1))
    ways = [float(np.linalg.norm(np.diff(points, axis=0), axis=-1).sum()) for points in hands]
    most = max([_BUSY, *ways])
    out += [
        _InterestPoints(0.1 + 1.9 * (way / most) ** 2, points[:, None]) for points, way in zip(hands, ways, strict=True)
    ]
    out += [_InterestPoints(1.0, chest[:, None], owner=name) for name, chest in zip(record.joints, chests, strict=True)]
    out += _thing_spots(world, record, chests) + _scene_spots(world, chests)
    return out, 0.1 + (away / max(_TRAVELS, float(away.max()))) ** 2


def _hands(body: Body, T: Array) -> list[Array]:
    """Grip points of hands, (T, 3) each; for a robot the ends of its arms."""
    sides = [side for side in ("left", "right") if f"{side}_hand" in body.roles]
    if sides:
        return [(T[:, body.roles[f"{side}_hand"]] @ grip_frame(body, side))[:, :3, 3] for side in sides]
    return [T[:, chain.end, :3, 3] for chain in body.chains.values() if chain.kind in ("arm", "6r", "numeric")]


def _thing_spots(world: World, record: Record, chests: list[Array]) -> list[_InterestPoints]:
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
        out.append(_InterestPoints(weight, points, fronts, areas))
    return out


def _scene_spots(world: World, chests: list[Array]) -> list[_InterestPoints]:
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
    return [_InterestPoints(1.2, np.tile(points, times), np.tile(fronts, times), shares)]


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
