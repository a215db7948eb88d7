"""Placements of an object and its carriers, together, as a search space (E2, E3).

A state (6 + 3 n,) is the object's position (3,) in metres and its yaw, pitch and roll in radians relative to the start,
then for each of n carriers the offset behind and to the left of the usual position at the object, and a turn: 7 numbers
matter for one carrier of a level object, 12 for two of one that may tilt, 3 for each more. Carriers are upright
cylinders around their legs, the object is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import facing, leftwards
from elbowroom.kernels.fields import Fields
from elbowroom.kernels.team import Team, held, object_free, way_cost
from elbowroom.search.shortcut import SmoothingLimits, shortened

# Columns of a state.
X, Y, Z, YAW, PITCH, ROLL, OWN = range(7)
# Ranges of a carrier around the usual position: behind it and to its sides, metres, and turned, radians.
BEHIND_M, ASIDE_M, TURNED_RAD = (-0.06, 0.14), 0.16, np.radians(40.0)
# Tilt of an object that need not stay level, radians.
TILT_RAD = np.radians(35.0)
# Share of samples with each of height, tilt and carrier positions other than usual.
_OTHER = 0.45
# Share of samples from narrow places, and their yaw off the passage, radians, one standard deviation.
_NARROW, _OFF_RAD = 0.5, np.radians(12.0)
# Distance before and behind a narrow place in which any member of the team may be, metres.
_AROUND_M = 0.4
# Distance between checks of a local path, metres.
_STEP_M = 0.04
# Distance of the mid control points of a Bézier curve from its ends, and length below which steps are straight, metres.
_CONTROL_M, _STEPPED_M = 0.6, 0.5
# Samples of a curved local path by which its length is measured.
_CURVED = 17
# Metres that a radian counts as by which a base that rolls along its heading turns: everybody waits for it.
WHEEL_TURN_M = 0.75
# Steps of a base that count as standing, metres.
_STANDS_M = 1e-4
# Metres or radians by which states differ that count as the same.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Bearer:
    """One carrier.

    Usual position (3,), x, y and heading, about the object's origin at the start; hands (H, 3) in the object's frame;
    shoulders (H, 3) to the left, behind and above the carrier's position; reach (H, 2) of the arms; radius of legs and
    trunk; `room` (ny, nx), distance of cells to obstacles of these, metres; `elbow_room` the same at the height of bent
    arms; `elbows`, their distance to either side, and `depth`, the smallest distance of the body's middle from the
    object, metres. `gait` is 'walks' for people, 'rolls' for a base that rolls along its heading, which is not that of
    the state, and 'slides' for an omnidirectional one. `ceiling` (ny, nx) is the height of the lowest obstacle above
    the trunk and below the crown over cells, metres above the floor, inf where there is none. `back` is the distance
    behind the usual position while walking, metres, where there is room: bodies sway, the object does not.
    """

    stance: Array
    hands: Array
    shoulders: Array
    reach: Array
    radius: float
    room: Array
    elbow_room: Array
    elbows: float
    depth: float
    gait: Literal["walks", "rolls", "slides"] = "walks"
    ceiling: Array | None = None
    back: float = 0.0


@dataclass(frozen=True, eq=False)
class FloorCells:
    """Cells for the team: origin (2,), width, open ones (M, 2) and narrow places (N, 3) with the direction of the
    passage.
    """

    origin: Array
    cell_m: float
    open: Array
    narrow: Array


@dataclass(frozen=True, eq=False)
class TeamSpace:
    """Space of a team; see the module.

    `heights` are those of the object's origin, lowest, usual and highest. `cover` are groups of balls in the object's
    frame (`team_scene.grouped`), `outline` (4,) its rectangle on the floor at the start about its origin: middle and
    half size; `scene` the distance field of everything else, `upright` (3, 3) the object's rotation at the start.
    Without `tilts` it stays level; without `arms` elbows may collide, to be resolved later. Around positions `near` (M,
    n, 2), where carriers stand at the start and goals, tables may be nearer. States nearer than `closed` (M, W + 1),
    each a state and a distance, are invalid: paths through there have failed.
    """

    bearers: tuple[Bearer, ...]
    floor: FloorCells
    cover: tuple[Array, NDArray[np.int64], Array]
    outline: Array
    scene: Fields | None
    upright: Array
    heights: tuple[float, float, float]
    turn_m: float
    ground: float = 0.0
    margin: float = 0.01
    tilts: bool = True
    arms: bool = True
    near: Array = field(default_factory=lambda: np.zeros((0, 0, 2)))
    closed: Array = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def width(self) -> int:
        """Numbers of a state."""
        return OWN + 3 * len(self.bearers)

    def own(self, states: Array) -> Array:
        """Offsets of carriers from the usual positions, (..., n, 3)."""
        return states[..., OWN:].reshape(*states.shape[:-1], len(self.bearers), 3)

    def carriers(self, states: Array) -> tuple[Array, Array]:
        """Positions (..., n, 2) and headings (..., n) of carriers in states (..., W)."""
        usual = np.array([b.stance for b in self.bearers])
        own = self.own(states)
        at = usual[:, :2] - own[..., 0, None] * facing(usual[:, 2]) + own[..., 1, None] * leftwards(usual[:, 2])
        yaw = states[..., YAW, None]
        c, s = np.cos(yaw), np.sin(yaw)
        x = states[..., X, None] + c * at[..., 0] - s * at[..., 1]
        y = states[..., Y, None] + s * at[..., 0] + c * at[..., 1]
        return np.stack([x, y], axis=-1), yaw + usual[:, 2] + own[..., 2]

    def rotations(self, states: Array) -> Array:
        """Rotations of the object (..., 3, 3)."""
        a, b, c = (states[..., k] for k in (YAW, PITCH, ROLL))
        ca, sa, cb, sb, cc, sc = np.cos(a), np.sin(a), np.cos(b), np.sin(b), np.cos(c), np.sin(c)
        rows = [
            [ca * cb, ca * sb * sc - sa * cc, ca * sb * cc + sa * sc],
            [sa * cb, sa * sb * sc + ca * cc, sa * sb * cc - ca * sc],
            [-sb, cb * sc, cb * cc],
        ]
        R = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
        return np.asarray(R @ self.upright)

    def places(self, states: Array) -> Array:
        """Transforms of the object (..., 4, 4)."""
        T = np.zeros((*states.shape[:-1], 4, 4))
        T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = self.rotations(states), states[..., :3], 1.0
        return T

    def state(self, position: Array, yaw: float) -> Array:
        """State with the object at a position (3,), rotated by `yaw`, everybody at the usual positions."""
        out = np.zeros(self.width)
        out[:3], out[YAW] = position, yaw
        return out

    def leans(self, states: Array, number: int) -> Array:
        """Share (K,) of the distance to walk at, `Bearer.back`, that a carrier lacks in states (K, W)."""
        back = self.bearers[number].back
        return np.clip(1.0 - states[:, OWN + 3 * number] / max(back, 1e-9), 0.0, 1.0) * (back > 0.0)

    @cached_property
    def team(self) -> Team:
        """Arrays of the team for compiled code."""
        each, n = self.bearers, len(self.bearers)
        counts = np.array([len(b.hands) for b in each])
        hands, shoulders, reach = np.zeros((n, 2, 3)), np.zeros((n, 2, 3)), np.zeros((n, 2, 2))
        for k, (b, count) in enumerate(zip(each, counts, strict=True)):
            hands[k, :count], shoulders[k, :count], reach[k, :count] = b.hands, b.shoulders[:count], b.reach
        return Team(
            np.array([b.stance for b in each]), np.array([[b.radius, b.elbows, b.depth] for b in each]),
            np.array([b.gait == "walks" for b in each]), hands, shoulders, reach, counts,
            np.array([b.room for b in each], float), np.array([b.elbow_room for b in each], float),
            np.array([*self.floor.origin, self.floor.cell_m]), np.array(self.outline), np.array(self.upright, float),
            np.array(self.heights, float), np.array([self.turn_m, self.ground], float), np.array([self.arms]),
            np.array(self.near, float).reshape(-1, n, 2), np.array(self.closed, float).reshape(-1, self.width + 1),
        )  # fmt: skip

    def valid(self, states: Array) -> NDArray[np.bool_]:
        """Mask (K,) of states (K, W) that are free, with the object in everybody's reach."""
        good, rows = np.zeros(len(states), np.bool_), np.ascontiguousarray(states, dtype=float)
        scratch = np.zeros((3, 3))
        held(self.team, rows, scratch, good)
        if self.scene is not None and good.any():
            object_free(self.scene, self.team, *self.cover, rows, self.margin, scratch, good)
        return good

    def samples(self, rng: np.random.Generator, count: int) -> Array:
        """Sample up to `count` valid states (N, W): half of them from narrow places, aligned with the passage."""
        out = np.zeros((count, self.width))
        narrow = (rng.random(count) < _NARROW) & (len(self.floor.narrow) > 0)
        where = self.floor.open[rng.integers(0, len(self.floor.open), count)]
        out[:, :2] = where + self.floor.cell_m * (rng.random((count, 2)) - 0.5)
        out[:, YAW] = rng.uniform(-np.pi, np.pi, count)
        if len(self.floor.narrow):
            tight = self.floor.narrow[rng.integers(0, len(self.floor.narrow), count)]
            turned = tight[:, 2] - self.axis + np.pi * rng.integers(0, 2, count) + _OFF_RAD * rng.normal(size=count)
            along = np.stack([np.cos(tight[:, 2]), np.sin(tight[:, 2])], axis=-1)
            near = tight[:, :2] + (_AROUND_M + self.length) * rng.uniform(-1.0, 1.0, (count, 1)) * along
            out[narrow, :2], out[narrow, YAW] = near[narrow], turned[narrow]
        low, usual, high = self.heights
        out[:, Z] = np.where(rng.random(count) < _OTHER, rng.uniform(low, high, count), usual)
        if self.tilts:
            tilt = rng.uniform(-TILT_RAD, TILT_RAD, (count, 2))
            out[:, PITCH : ROLL + 1] = np.where(rng.random((count, 1)) < _OTHER, tilt, 0.0)
        ranges = np.array([BEHIND_M, (-ASIDE_M, ASIDE_M), (-TURNED_RAD, TURNED_RAD)])
        own = rng.uniform(ranges[:, 0], ranges[:, 1], (count, len(self.bearers), 3))
        out[:, OWN:] = np.where(rng.random((count, 1)) < _OTHER, own.reshape(count, -1), 0.0)
        return out[self.valid(out)]

    @property
    def length(self) -> float:
        """Largest distance of a carrier from the object's origin, metres."""
        return float(max(np.linalg.norm(b.stance[:2]) for b in self.bearers))

    @property
    def axis(self) -> float:
        """Direction along which the team is narrowest, relative to the object at the start, radians from x."""
        at = np.array([b.stance[:2] for b in self.bearers])
        if len(at) == 1:
            ahead = facing(self.bearers[0].stance[2])
            return float(np.arctan2(ahead[1], ahead[0]))
        spread = at - at.mean(axis=0)
        far = spread[np.argmax(np.linalg.norm(spread, axis=1))]
        return float(np.arctan2(far[1], far[0]))

    def distances(self, states: Array, state: Array) -> Array:
        """Distances (N,) of states (N, W) to a state, metres; rotations count by the size of the object."""
        return self._lengths(states - state)

    def _lengths(self, d: Array) -> Array:
        """Lengths (N,) of differences (N, W) of states, metres."""
        turns = (d[:, YAW] + np.pi) % (2.0 * np.pi) - np.pi
        own = d[:, OWN:].reshape(len(d), -1, 3)
        squares = (
            np.sum(d[:, :3] ** 2, axis=1) + (self.turn_m * turns) ** 2 + 0.25 * (d[:, PITCH] ** 2 + d[:, ROLL] ** 2)
        )
        return np.sqrt(squares + np.sum(own**2 * [1.0, 1.0, 0.09], axis=(1, 2)))

    def between(self, a: Array, b: Array, shares: Array) -> Array:
        """States (K, W) at shares (K,) of the local path from a to b.

        One carrier walks a Bézier curve along the headings at its ends, with the object; a team follows the object,
        which moves in a straight line.
        """
        share = np.asarray(shares, dtype=float)[:, None]
        turn = (b[YAW] - a[YAW] + np.pi) % (2.0 * np.pi) - np.pi
        out = a + share * (b - a)
        out[:, YAW] = a[YAW] + share[:, 0] * turn
        if len(self.bearers) == 1:
            self._walk(out, a, b, share[:, 0])
        return np.asarray(out)

    def _walk(self, out: Array, a: Array, b: Array, u: Array) -> None:
        """Put the object of states (K, W) before one carrier who walks from its position in `a` to that in `b`."""
        (px, py, first), (qx, qy, last) = self._stance(a), self._stance(b)
        far, w = math.hypot(qx - px, qy - py), 1.0 - u
        if far > _STEPPED_M:
            m = min(_CONTROL_M, far / 3.0)
            cx, cy = px + m * math.sin(first), py - m * math.cos(first)
            dx, dy = qx - m * math.sin(last), qy + m * math.cos(last)
            at = np.stack([w**3, 3.0 * w**2 * u, 3.0 * w * u**2, u**3], axis=1)
            place = at @ np.array([[px, py], [cx, cy], [dx, dy], [qx, qy]])
            along = np.stack([w**2, 2.0 * w * u, u**2], axis=1)
            way = along @ np.array([[cx - px, cy - py], [dx - cx, dy - cy], [qx - dx, qy - dy]])
            ahead = first + (np.arctan2(way[:, 0], -way[:, 1]) - first + np.pi) % (2.0 * np.pi) - np.pi
        else:
            place = np.stack([px + u * (qx - px), py + u * (qy - py)], axis=1)
            ahead = first + u * _wrapped(last - first)
        self.put_before(out, place, ahead)

    def _stance(self, state: Array) -> tuple[float, float, float]:
        """Position and heading of the only carrier."""
        x, y, heading = self.bearers[0].stance.tolist()
        at_x, at_y, _, yaw, _, _, behind, left, turn = state.tolist()
        s, c = math.sin(heading), math.cos(heading)
        x, y = x - behind * s + left * c, y + behind * c + left * s
        s, c = math.sin(yaw), math.cos(yaw)
        return at_x + c * x - s * y, at_y + s * x + c * y, yaw + heading + turn

    def put_before(self, states: Array, place: Array, heading: Array) -> None:
        """Move the object of states (K, W) before its only carrier, at positions (K, 2) with headings (K,)."""
        x, y, usual = self.bearers[0].stance.tolist()
        behind, left, turn = states[:, OWN], states[:, OWN + 1], states[:, OWN + 2]
        s, c = math.sin(usual), math.cos(usual)
        off_x, off_y = x - behind * s + left * c, y + behind * c + left * s
        yaw = heading - usual - turn
        c, s = np.cos(yaw), np.sin(yaw)
        states[:, X] = place[:, 0] - c * off_x + s * off_y
        states[:, Y] = place[:, 1] - s * off_x - c * off_y
        states[:, YAW] = yaw

    @cached_property
    def wheels(self) -> list[int]:
        """Numbers of carriers that roll along their heading."""
        return [k for k, bearer in enumerate(self.bearers) if bearer.gait == "rolls"]

    def way_cost(self, rows: Array) -> float:
        """Cost of a path through closely spaced states (K, W), see `cost`."""
        cost = float(way_cost(self.team, np.ascontiguousarray(rows)))
        if self.wheels and len(rows) > 2:
            steps = np.diff(self.carriers(rows)[0][:, self.wheels], axis=0)
            line = np.arctan2(steps[..., 0], -steps[..., 1])
            # forwards or backwards, whichever is nearer; what hardly moves has no direction
            turns = np.abs((np.diff(line, axis=0) + 0.5 * np.pi) % np.pi - 0.5 * np.pi)
            moves = np.hypot(steps[..., 0], steps[..., 1]) > _STANDS_M
            cost += WHEEL_TURN_M * float(np.where(moves[1:] & moves[:-1], turns, 0.0).sum(axis=0).max())
        return cost

    def pulled(self, rows: Array, rng: np.random.Generator, tries: int) -> Array:
        """A path through closely spaced states (K, W), straightened in some of its columns at a time.

        Position, yaw, height, tilt and each carrier's offset are straightened separately or together, between two
        states, where that is free and cheaper.
        """
        groups = [[X, Y], [YAW], [X, Y, YAW], [Z, PITCH, ROLL], list(range(OWN, self.width)), list(range(self.width))]
        weights = np.array([0.25, 0.15, 0.2, 0.1, 0.15, 0.15])

        def straight(rows: Array, i: int, j: int) -> Array | None:
            if j - i < 3:
                return None
            columns = groups[int(rng.choice(len(groups), p=weights))]
            out, share = np.array(rows), np.linspace(0.0, 1.0, j - i + 1)[:, None]
            out[i : j + 1, columns] = (1.0 - share) * rows[i, columns] + share * rows[j, columns]
            if YAW in columns:  # the shorter way round; later states are rotated by as much
                turn = _wrapped(float(rows[j, YAW] - rows[i, YAW]))
                out[i : j + 1, YAW] = rows[i, YAW] + share[:, 0] * turn
                out[j + 1 :, YAW] += turn - float(rows[j, YAW] - rows[i, YAW])
            if np.abs(out[i : j + 1] - rows[i : j + 1]).max() < _SAME:
                return None
            # wheels turn at both ends, too
            about = slice(max(i - 1, 0), j + 2) if self.wheels else slice(i, j + 1)
            cheaper = self.way_cost(out[about]) < 0.995 * self.way_cost(rows[about])
            return out if cheaper and self._passes(out[i : j + 1]) else None

        return shortened(rows, straight, rng, SmoothingLimits(rounds=tries, vain=tries))

    def _passes(self, rows: Array) -> bool:
        """Return whether states (K, W) are free, a few of them first."""
        return bool(self.valid(rows[:: max(len(rows) // 6, 1)]).all()) and bool(self.valid(rows).all())

    def spaced(self, a: Array, b: Array, step: float) -> Array:
        """States (K, W) along a local path with its ends, at most `step` metres apart, evenly where it is curved.

        One carrier swings the object about: it travels farther than its ends are apart.
        """
        if len(self.bearers) > 1:
            return self.between(a, b, np.linspace(0.0, 1.0, _count(float(self.distances(a[None], b)[0]), step)))
        u = np.linspace(0.0, 1.0, _CURVED)
        along = np.concatenate([[0.0], np.cumsum(self._lengths(np.diff(self.between(a, b, u), axis=0)))])
        even = np.linspace(0.0, along[-1], _count(float(along[-1]), step))
        return self.between(a, b, np.interp(even, along, u))

    def joins(self, a: Array, b: Array) -> bool:
        """Return whether the local path from a to b is free between its ends, coarse checks first."""
        rows = self.spaced(a, b, _STEP_M)[1:-1]
        n = len(rows)
        return n < 1 or all(bool(self.valid(some).all()) for some in (rows[n // 2 :: n], rows[:: max(n // 8, 1)], rows))

    def cost(self, a: Array, b: Array) -> float:
        """Length of a local path, metres, increased where carriers go sideways or backwards or off their usual
        positions, or turn on wheels.
        """
        return self.way_cost(self.between(a, b, np.linspace(0.0, 1.0, 5)))


def _count(length: float, step: float) -> int:
    """Number of states along a local path of some metres, with both ends."""
    return max(int(np.ceil(length / step)), 1) + 1


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)
