"""Units of a proof: a world as it is played back, prepared over time; parts as hulls with ball covers, the static scene
as one field, and pairs.

Frames and the ends of holds and contacts cut time into intervals in which every joint rotates, and everything
translates, at constant speed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.robot import Robot
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.fields import distance_field, pack
from elbowroom.geometry.kept import Arrays, is_kept, kept, remembered
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import convex_hull, stored_hull
from elbowroom.kernels import fields
from elbowroom.kernels.sweep import FLOOR, STATIC, Movers, Tree
from elbowroom.motion.clip import Motion
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_forms import Form, Surface
from elbowroom.world.extent import box_corners
from elbowroom.world.pairs import Part
from elbowroom.world.played import PlayedWorld
from elbowroom.world.world import Record

# Largest ball of a cover relative to half of its part's thickness; finer covers cost time, coarser ones are less
# decisive.
_FAT = 1.25
_DEEPEST = 5
# A closed mesh that fills this share of its hull is replaced by it.
_FULL = 0.98
# Hulls of meshes with more corners than this are boxed.
_CORNERS = 256

# Key under which covers are stored with their forms.
_COVER = "few balls"


@dataclass(frozen=True, eq=False)
class Units:
    """Pairs of one world grouped for a proof: a part against the whole static scene is one unit.

    parts (U, 2): part and part, FLOOR or STATIC; pairs: the indices of a unit's pairs in the exact world; sharp (U,):
    whether bounds are nearly exact.
    """

    parts: NDArray[np.int64]
    pairs: tuple[tuple[int, ...], ...]
    sharp: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.parts)


def units_of(exact: ExactWorld, numbers: Sequence[int] | NDArray[np.int64]) -> Units:
    """Units of some of the pairs of a world, by rising number."""
    rows = np.asarray(numbers, dtype=np.int64)
    codes = {"floor": FLOOR, "static": STATIC}
    code = np.array([codes.get(p.kind, i) for i, p in enumerate(exact.parts)], dtype=np.int64)
    parts = np.column_stack([exact.index[rows, 0].astype(np.int64), code[exact.index[rows, 1]]])
    # pairs go by their parts, and static meshes follow each other
    first = np.flatnonzero(np.any(np.diff(parts, axis=0, prepend=-9), axis=1))
    listed, ends = rows.tolist(), [*first[1:].tolist(), len(rows)]
    pairs = tuple(tuple(listed[a:b]) for a, b in zip(first.tolist(), ends, strict=True)) if len(rows) else ()
    parts = parts[first].reshape(-1, 2)
    convex = np.array([form.convex for form in exact.placed.forms] + [False], dtype=bool)
    sharp = (parts[:, 1] == FLOOR) | ((parts[:, 1] >= 0) & convex[parts[:, 0]] & convex[parts[:, 1]])
    return Units(parts, pairs, sharp)


def movers_of(exact: ExactWorld) -> Movers:
    """Parts of bodies and things, packed."""
    forms = [exact.placed.forms[i] for i, p in enumerate(exact.parts) if p.kind in ("body", "thing")]
    points = [_corners(form) for form in forms]
    covers = _covers(forms)
    balls = [_around(form) for form in forms]
    hollow = np.array([_is_hollow(form) for form in forms], dtype=bool)
    return Movers(
        np.concatenate([*points, np.zeros((0, 3))]),
        np.cumsum([0, *map(len, points)]).astype(np.int64),
        np.array([form.radius for form in forms]),
        np.array(balls).reshape(-1, 4),
        np.concatenate([*covers, np.zeros((0, 4))]),
        np.cumsum([0, *map(len, covers)]).astype(np.int64),
        np.where(hollow, np.cumsum(hollow) - 1, -1),
    )


def hollow_fields(exact: ExactWorld) -> fields.Fields | None:
    """Distance fields of moving objects that their hulls describe badly, in the order of `Movers.field`."""
    things = [exact.placed.forms[i] for i, p in enumerate(exact.parts) if p.kind in ("body", "thing")]
    hollow = [f for f in things if isinstance(f, Surface) and _is_hollow(f)]
    return pack([distance_field(f.mesh, closed=np.where(f.closed, 0, -1)) for f in hollow]) if hollow else None


def _is_hollow(form: Form) -> bool:
    """Return whether a form is much smaller than its hull: an umbrella, a table, a frame."""
    return kept(form, "hollow", lambda: _lacks(form))


def _lacks(form: Form) -> bool:
    if not isinstance(form, Surface):
        return False
    if not form.closed.all():
        return True
    a, b, c = np.moveaxis(form.mesh.vertices[form.mesh.faces], 1, 0)
    volume = abs(float(np.einsum("ij,ij->", a, np.cross(b, c)))) / 6.0
    hull = stored_hull(form.points)
    return hull is not None and volume < _FULL * float(hull.volume)


def _corners(form: Form) -> Array:
    """Points (N, 3) whose hull, thickened, holds a form."""
    boxed = isinstance(form, Surface) and len(form.points) > _CORNERS
    return np.asarray(box_corners(form.bounds) if boxed else form.points, dtype=float)


def _around(form: Form) -> Array:
    """A ball (4,) around a form."""
    return kept(form, "ball", lambda: _ball(_corners(form)) + np.array([0.0, 0.0, 0.0, form.radius]))


def _covers(forms: Sequence[Form]) -> list[Array]:
    """Balls (N, 4) that contain each of some forms, cached with the forms and together on disk."""

    def make() -> Arrays:
        covers = [kept(form, _COVER, partial(_covered, form)) for form in forms]
        return {"balls": np.concatenate([*covers, np.zeros((0, 4))]), "counts": np.array([len(c) for c in covers])}

    if not all(is_kept(form, _COVER) for form in forms):
        made_by = Path(__file__).read_bytes()  # covers of other sources are not trusted
        about = (made_by, *(part for form in forms for part in (_corners(form), form.radius)))
        stored = remembered("balls", about, make)
        for form, balls in zip(forms, np.split(stored["balls"], np.cumsum(stored["counts"])[:-1]), strict=True):
            kept(form, _COVER, partial(np.array, balls))
    return [kept(form, _COVER, partial(_covered, form)) for form in forms]


def _covered(form: Form) -> Array:
    points, radius = _corners(form), form.radius
    if len(points) <= 2:
        length = float(np.linalg.norm(points[-1] - points[0]))
        count = int(np.ceil(length / radius)) + 1
        centers = points[0] + np.linspace(0.0, 1.0, count)[:, None] * (points[-1] - points[0])
        fat = np.hypot(radius, 0.5 * length / (count - 1)) if count > 1 else radius
        return np.column_stack([centers, np.full(count, fat)])
    thick = 0.5 * float(np.ptp(points, axis=0).min())
    return np.array(_pieces(points, _FAT * max(thick, 0.01), _DEEPEST)) + np.array([0.0, 0.0, 0.0, radius])


def _pieces(points: Array, size: float, deepest: int) -> list[Array]:
    """Balls around pieces of the hull of points, halved across until the balls are small enough."""
    ball = _ball(points)
    if ball[3] <= size or deepest == 0:
        return [ball]
    axis = int(np.argmax(np.ptp(points, axis=0)))
    middle = 0.5 * (points[:, axis].min() + points[:, axis].max())
    hull = convex_hull(points)
    if hull is None:
        return [ball]
    edges = np.unique(np.sort(hull.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    a, b = points[edges[:, 0]], points[edges[:, 1]]
    crosses = (a[:, axis] - middle) * (b[:, axis] - middle) < 0.0
    a, b = a[crosses], b[crosses]
    s = (middle - a[:, axis]) / (b[:, axis] - a[:, axis])
    cut = a + s[:, None] * (b - a)
    corners = points[hull.corners]
    halves = (corners[corners[:, axis] <= middle], corners[corners[:, axis] >= middle])
    return [piece for half in halves for piece in _pieces(np.concatenate([half, cut]), size, deepest - 1)]


def _ball(points: Array) -> Array:
    """A small ball (4,) around points (N, 3): its centre moves towards whatever is farthest."""
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    for step in range(2, 20):
        apart = points - center
        center = center + apart[int(np.argmax(np.einsum("ij,ij->i", apart, apart)))] / step * 0.5
    start = 0.5 * (points.min(axis=0) + points.max(axis=0))
    found = [np.append(c, np.linalg.norm(points - c, axis=1).max()) for c in (start, center)]
    return min(found, key=lambda ball: float(ball[3]))


# Times closer than this are the same, seconds.
SAME_S = 1e-9


class ProofStage:
    """A played world at any time, and its motion between the knots (K,) of time.

    With `during`, knots are those of that interval of seconds alone. `cuts` are further times of knots.
    """

    def __init__(
        self, world: PlayedWorld, during: tuple[float, float] | None = None, cuts: Iterable[float] = ()
    ) -> None:
        self.world = world
        self._cuts = np.array([*cuts], dtype=float)
        span = float(world.times[0]), float(world.times[-1])
        self._span = span if during is None else _within(during, span)
        self.knots = self._cut()
        counts = [len(m.body.parents) for m in world.characters.values()]
        self._first = dict(zip(world.characters, np.cumsum([0, *counts])[:-1].tolist(), strict=True))
        self._things = {name: sum(counts) + i for i, name in enumerate(world.objects)}

    def joints_of(self, parts: tuple[Part, ...]) -> NDArray[np.int64]:
        """Number (M,) in `tree` of the joint that each part of a body and each thing rides on."""
        ridden = {"body": lambda p: self._first[p.owner] + p.joint, "thing": lambda p: self._things[p.owner]}
        return np.array([ridden[p.kind](p) for p in parts if p.kind in ridden], dtype=np.int64)

    def tree(self, record: Record) -> Tree:
        """Motion of joints between the times of a record: bodies first, then one joint for each object.

        People's joints move with their parents; links of robots and objects move independently, as in files.
        """
        times = record.times
        count = sum(len(m.body.parents) for m in self.world.characters.values()) + len(self._things)
        place = np.zeros((len(times), count, 3))
        parent = np.full((len(times) - 1, count), -1, np.int32)
        angle, shift = np.zeros((len(times) - 1, count)), np.zeros((len(times) - 1, count))
        for name, motion in self.world.characters.items():
            o, parents = self._first[name], motion.body.parents
            rows = slice(o, o + len(parents))
            place[:, rows] = record.joints[name][..., :3, 3]
            if isinstance(motion.body, Robot):
                angle[:, rows], shift[:, rows] = _world_steps(record.joints[name])
            else:
                parent[:, rows] = np.where(parents < 0, -1, parents + o)
                angle[:, rows], shift[:, rows] = _steps(motion, times)
        for name, j in self._things.items():
            T = record.things[name]
            place[:, j] = T[:, :3, 3]
            angle[:, j], shift[:, j] = _world_steps(T)
        return Tree(parent, angle, shift, place)

    def _cut(self) -> Array:
        """All times at which a speed or an allowance changes."""
        begin, end = self._span
        ends = [*map(self.world.held_during, self.world.holds), *(c.during for c in self.world.contacts)]
        times = [np.array([begin, end]), self.world.times, self._cuts, *(np.array(d) for d in ends if d is not None)]
        merged = np.unique(np.clip(np.concatenate(times), begin, end))
        if len(merged) == 1:  # a single frame is held
            return np.array([begin, begin + 1.0 / self.world.fps])
        kept = merged[:1].tolist()
        for t in merged[1:].tolist():
            if t - kept[-1] > SAME_S:  # than the last that is kept: a row of close times is not one time
                kept.append(t)
        return np.array(kept)


def _steps(motion: Motion, times: Array) -> tuple[Array, Array]:
    """Rotations and translations (K - 1, J) of a person's joints against their parents from one time to the next."""
    root, q = motion.sample(times)
    shift = np.zeros((len(times) - 1, len(motion.body.parents)))
    shift[:, 0] = np.linalg.norm(np.diff(root, axis=0), axis=1)
    return rot.angle_between(q[:-1], q[1:]), shift


def _world_steps(T: Array) -> tuple[Array, Array]:
    """Rotations and translations (K - 1, ...) of transforms T (K, ..., 4, 4) from one time to the next."""
    turn = np.swapaxes(T[:-1, ..., :3, :3], -1, -2) @ T[1:, ..., :3, :3]
    return rot.angle(rot.from_matrix(turn)), np.linalg.norm(np.diff(T[..., :3, 3], axis=0), axis=-1)


def _within(during: tuple[float, float], span: tuple[float, float]) -> tuple[float, float]:
    """The part of an interval that lies in a span."""
    begin, end = max(during[0], span[0]), min(during[1], span[1])
    if not begin <= end:
        raise BadValue(
            f"a proof during {during[0]:g} to {during[1]:g} s has nothing to check: the motion lasts from "
            f"{span[0]:g} to {span[1]:g} s."
        )
    return begin, end
