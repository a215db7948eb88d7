"""Paths of a walker: the cheapest over the floor, upright where there is room, otherwise in another mode.

A path is searched over columns of the scene with the room that a body takes in each mode. It is a proposal: the motion
along it is checked with the whole body afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.kernels.grid_path import cheapest_path, costs_from, line_cost
from elbowroom.locomotion.course import facing
from elbowroom.locomotion.envelope import envelope
from elbowroom.locomotion.modes import BACK, Gait, Mode, modes_of
from elbowroom.plan.walking.bending import bent, pulled, spaced_along
from elbowroom.world.columns import CELL_M, Columns

# Clearance beside the arms that is as good as open floor, metres, and the cost factor without any. Tuned on 150 paths
# in three scenes: with 3.0 19 of them are longer than the shortest one by more than a tenth, with 0.7 five.
_COMFORT_M, _NARROW, _MOST_NARROW = 0.25, 0.7, 2.2
# Weights of comfort that are tried in turn while it makes a path longer than the shortest one by more than a factor.
_COMFORTS, _LONGER = (1.0, 0.4, 0.15, 0.05), 1.08
# Smallest clearance of a trunk, metres; arms may have to give way.
_KEEPS_M = 0.02
# Largest distance of an obstacle from the middle of its cell, metres.
_WITHIN_M = 0.4 * CELL_M
# Clearance of open floor, metres.
_OPEN_M = 5.0
# Largest half depth of what is stepped over, metres.
_OVER_M = 0.15
# Cost of a change of mode, metres.
_SWITCH_M = 0.5
# Radius around start and goal in which obstacles may be as near as the person already stands to them, metres.
_NEAR_M, _NEAR_COST = 0.4, 4.0
# Lower obstacles are stood on, since floors are uneven, metres.
_FLAT_M = 0.04
# Directions around a point in which positions to stand are searched, and their distance, metres.
_AROUND, _APART_M = 32, 0.12
# Metres from the easiest distance that a position is worth per unit of its cost, up to a cost, and per unit of the cost
# of the path to it.
_TIGHT_M, _TIGHTEST, _AWAY_M = 0.2, 1.7, 0.05
# Metres that count for a path where there is none yet: a door may be opened.
_NO_PATH_M = 20.0
# Distances for backing off from a place before turning away, or for coming straight up to it, tried in turn, metres.
_BEHIND_M = (0.45, 0.3)
# Metres between points of a path.
BAND_M = 0.1
# Clearance of the trunk below which a path is pushed aside, metres, and its cost per metre and square metre.
_TRUNK_M, _PRESSED = 0.04, 60.0
# Cost of a metre per metre of missing width, in the search for the narrowest place.
_SQUEEZED = 200.0


# Radius around a failed place that the next path avoids, metres.
AVOID_M = 0.35


@dataclass(frozen=True, eq=False)
class WalkPath:
    """Points (N, 2) of a path over columns, the mode of each, its length in metres and its cost.

    `beside` (K, 3) are points on it with the room beside swinging arms, metres.
    """

    points: Array
    modes: tuple[Mode, ...]
    length: float
    cost: float
    columns: Columns
    beside: Array = field(default_factory=lambda: np.zeros((0, 3)))


@dataclass(frozen=True, eq=False)
class Disc:
    """Cells that a path avoids, in one mode or in all: centre (2,) and radius, metres."""

    centre: Array
    radius: float
    mode: Mode | None = None


@dataclass(frozen=True)
class Narrow:
    """The narrowest place (2,) of an impassable path: its width and what would do, metres."""

    at: tuple[float, float]
    width: float
    needed: float


class WalkPaths:
    """Paths of one character over the columns of a scene, in the modes of a gait, or those given."""

    def __init__(
        self, columns: Columns, character: Character, gait: Gait = "any", modes: tuple[Mode, ...] = ()
    ) -> None:
        self.columns, self.character, self.modes = columns, character, modes or modes_of(gait, {})
        self._room: dict[tuple[float, float], Array] = {}
        spare = [self._spare(mode) for mode in self.modes]
        # finite, since paths interpolate them
        self._least, self._easy = (np.clip([pair[k] for pair in spare], -_OPEN_M, _OPEN_M) for k in (0, 1))
        self._cost = self._priced(1.0)

    def stands(self, point: Array) -> bool:
        """Return whether there is room for the trunk at a point (2,)."""
        j, i = self.columns.cell(point)
        return bool((self._least[:, j, i] >= 0.0).any())

    def comfort(self, points: Array) -> Array:
        """Cost per metre (N,) at points (N, 2) in the first mode; inf where the body does not fit."""
        cells = np.array([self.columns.cell(p) for p in points])
        return np.asarray(self._cost[0, cells[:, 0], cells[:, 1]] / CELL_M)

    def before(self, place: Array, face: float | None) -> Array | None:
        """A point (2,) behind a position (2,) that is faced from there, with room to stand; None where there is
        none.
        """
        if face is None:
            return None
        behind = (place - far * facing(face) for far in _BEHIND_M)
        return next((point for point in behind if self.stands(point)), None)

    def find(
        self,
        start: Array,
        goal: Array,
        avoid: Sequence[Disc] = (),
        leaving: float | None = None,
        arriving: float | None = None,
    ) -> WalkPath | None:
        """The cheapest path between two points (2,), without discs; None if there is none.

        Where there is room it backs off from the heading `leaving`, and comes up to the goal in the heading `arriving`.
        """
        first, last = self.before(start, leaving), self.before(goal, arriving)
        path = self._cheapest(start if first is None else first, goal if last is None else last, avoid)
        if path is None or (first is None and last is None):
            return path
        points = [path.points, *([] if last is None else [np.asarray(goal)[None, :2]])]
        modes = [*path.modes, *([] if last is None else [path.modes[-1]])]
        if first is not None:
            points, modes = [np.asarray(start)[None, :2], *points], [BACK, *modes]
        xy = np.concatenate(points)
        more = float(np.linalg.norm(np.diff(xy, axis=0), axis=1).sum()) - path.length
        return replace(path, points=xy, modes=tuple(modes), length=path.length + more, cost=path.cost + more)

    def _cheapest(self, start: Array, goal: Array, avoid: Sequence[Disc]) -> WalkPath | None:
        """The cheapest path between two points (2,), without discs; None if there is none.

        Where comfort makes an upright path much longer than the shortest one, it counts less.
        """
        closed = np.zeros(self._cost.shape, dtype=bool)
        for disc in avoid:
            which = np.array([disc.mode in (None, mode) for mode in self.modes])
            closed |= which[:, None, None] & self.columns.within(disc.centre, disc.radius)
        path = self._found(start, goal, closed, _COMFORTS[0])
        if path is None or any(mode != self.modes[0] for mode in path.modes):
            return path
        shortest = self.shortest(start, goal, closed[:1])
        for comfort in _COMFORTS[1:]:
            if shortest is None or path is None or path.length <= _LONGER * shortest:
                break
            path = self._found(start, goal, closed, comfort)
        return path

    def _found(self, start: Array, goal: Array, closed: NDArray[np.bool_], comfort: float) -> WalkPath | None:
        """The cheapest path between two points (2,) without closed cells, for a weight of comfort."""
        cost = self._near(self._cost if comfort == 1.0 else self._priced(comfort), start, goal)
        cost = np.where(closed, np.inf, cost)
        a, b = self.columns.cell(start), self.columns.cell(goal)
        cells = cheapest_path(cost, _SWITCH_M, np.array(a), np.array(b), CELL_M * min(m.factor for m in self.modes))
        return self._way(self._faced(cells, cost), cost, start, goal, comfort) if len(cells) else None

    def _priced(self, comfort: float) -> Array:
        """Cost (M, ny, nx) of a cell's width in each mode, for a weight of comfort; inf where the body does not fit."""
        narrow = np.clip(1.0 - self._easy / _COMFORT_M, 0.0, _MOST_NARROW) ** 2
        factors = np.array([mode.factor for mode in self.modes])[:, None, None]
        return np.where(self._least >= 0.0, CELL_M * factors * (1.0 + comfort * _NARROW * narrow), np.inf)

    def _faced(self, cells: Array, cost: Array) -> Array:
        """Cells (N, 3) of a path on which people face what they step over, rather than coming up to it sideways."""
        cells = cells.copy()
        cuts = [0, *(np.flatnonzero(np.diff(cells[:, 0])) + 1), len(cells)]
        runs = list(pairwise(cuts))
        for k, (a, b) in enumerate(runs):
            beside = [int(cells[runs[j][0], 0]) for j in (k - 1, k + 1) if 0 <= j < len(runs)]
            over = [mode for mode in beside if self.modes[mode].low > 0.0]
            fits = over and np.isfinite(cost[over[0], cells[a:b, 1], cells[a:b, 2]]).all()
            if self.modes[int(cells[a, 0])].manner != "forward" and fits:
                cells[a:b, 0] = over[0]
        return cells

    def around(self, centre: Array, radii: Array, easy: float, start: Array) -> Iterator[Array]:
        """Positions (2,) to stand at some distances from a point (2,), the best first, each apart from those before.

        Best is one at the `easy` distance, with room beside the arms, and near to `start` (2,).
        """
        angles = np.linspace(0.0, 2.0 * np.pi, _AROUND, endpoint=False)
        places = (centre[:2] + radii[:, None, None] * facing(angles)).reshape(-1, 2)
        cells = np.array([self.columns.cell(place) for place in places])
        room = (self._least[:, cells[:, 0], cells[:, 1]] >= 0.0).any(axis=0)
        cost = np.abs(np.repeat(radii, _AROUND) - easy) + _TIGHT_M * np.minimum(self.comfort(places), _TIGHTEST)
        away = self.costs_to(start, places)
        cost += _AWAY_M * np.where(np.isfinite(away), away, _NO_PATH_M)
        taken: list[Array] = []
        for k in np.argsort(np.where(room, cost, np.inf), kind="stable")[: int(room.sum())]:
            if all(np.linalg.norm(places[k] - other) > _APART_M for other in taken):
                taken.append(places[k])
                yield places[k]

    def costs_to(self, goal: Array, points: Array) -> Array:
        """Cost (N,) of the cheapest path from each of some points (N, 2) to a goal (2,); inf where there is none."""
        cost = self._near(self._cost, goal, goal)
        cells = np.array([self.columns.cell(p) for p in points])
        return np.asarray(costs_from(cost, _SWITCH_M, np.array(self.columns.cell(goal)))[cells[:, 0], cells[:, 1]])

    @property
    def spare(self) -> Array:
        """Clearance (M, ny, nx) beside the trunk in each mode, metres; negative where it does not fit."""
        return self._least

    def shortest(self, start: Array, goal: Array, closed: NDArray[np.bool_] | None = None) -> float | None:
        """Length of the shortest path in the first mode, however narrow, without closed cells (1, ny, nx), metres; None
        where there is none.
        """
        open_ = self._near(np.where(self._least[:1] >= 0.0, CELL_M, np.inf), start, goal)
        open_ = open_ if closed is None else np.where(closed, np.inf, open_)
        a, b = self.columns.cell(start), self.columns.cell(goal)
        cells = cheapest_path(open_, 0.0, np.array(a), np.array(b), CELL_M)
        return self._way(cells, open_, start, goal, None).length if len(cells) else None

    def narrowest(self, start: Array, goal: Array) -> Narrow | None:
        """The narrowest place of the path that lacks the least; None where walls leave no path at all."""
        whole = [k for k, mode in enumerate(self.modes) if mode.low == 0.0 and mode.high == 1.0] or [0]
        least = self._least[whole].max(axis=0)
        missing = np.maximum(-least[None], 0.0)
        squeezed = CELL_M * (1.0 + _SQUEEZED * missing)
        room = np.min([self._distance(band) for band in envelope(self.character, self.modes[0].manner).bands], axis=0)
        open_ = self._near(np.where(room[None] > 0.0, squeezed, np.inf), start, goal)
        cells = cheapest_path(open_, 0.0, np.array(self.columns.cell(start)), np.array(self.columns.cell(goal)), CELL_M)
        if not len(cells):
            return None
        row, column = cells[:, 1], cells[:, 2]
        k = int(np.argmin(least[row, column]))
        x, y = self.columns.point(cells[k, 1:])
        # from the middle of a cell to that of an occupied one, on both sides, and up to the obstacle in it
        width = 2.0 * float(room[row[k], column[k]]) + CELL_M
        return Narrow((float(x), float(y)), width, width - 2.0 * float(least[row[k], column[k]]))

    def _spare(self, mode: Mode) -> tuple[Array, Array]:
        """Clearance (ny, nx) beside the trunk, and beside the arms, in a mode, metres; negative: missing."""
        body = envelope(self.character, mode.manner)
        least = easy = np.full(self.columns.taken.shape, np.inf)
        for (low, high), half, trunk in zip(body.bands, body.half, body.trunk, strict=True):
            low, high = max(low, mode.low * body.height, _FLAT_M), min(high, mode.high * body.height)
            if low < high:
                room = self._distance((low, high))
                least = np.minimum(least, room + _WITHIN_M - trunk - _KEEPS_M)
                easy = np.minimum(easy, room - half)
        if mode.low > 0.0:  # what is stepped over is not wider than a step
            deep = self.columns.depth(_FLAT_M, mode.low * body.height) > _OVER_M
            least = np.where(deep, -np.inf, least)
        return least, easy

    def _distance(self, band: tuple[float, float]) -> Array:
        if band not in self._room:
            self._room[band] = self.columns.room(*band)
        return self._room[band]

    def _near(self, cost: Array, start: Array, goal: Array) -> Array:
        """Costs with the cells around start and goal open: a person stands there already, or is asked to."""
        bare = self._distance((_FLAT_M, 0.5 * envelope(self.character, "forward").height)) > 0.5 * _KEEPS_M
        near = (self.columns.within(start, _NEAR_M) | self.columns.within(goal, _NEAR_M)) & bare
        return np.where(near[None] & ~np.isfinite(cost), _NEAR_COST * CELL_M, cost)

    def _way(self, cells: Array, cost: Array, start: Array, goal: Array, comfort: float | None) -> WalkPath:
        """The way through cells (N, 3), pulled straight within each mode and bent smoothly by a weight of `comfort`
        unless that is None.
        """
        if len(cells) == 1:  # start and goal are in one cell, and not at one place
            cells = np.repeat(cells, 2, axis=0)
        cuts = [0, *(np.flatnonzero(np.diff(cells[:, 0])) + 1), len(cells)]
        points, modes = [], []
        total = 0.0
        for a, b in pairwise(cuts):
            mode, run = int(cells[a, 0]), cells[a:b, 1:]
            kept = run[pulled(run, cost[mode])]
            total += sum(line_cost(cost[mode], p, q) for p, q in pairwise(kept))
            xy = self.columns.point(kept)
            if a == 0:
                xy[0] = np.asarray(start)[:2]
            if b == len(cells):
                xy[-1] = np.asarray(goal)[:2]
            points.append(spaced_along(xy))
            modes += [mode] * len(points[-1])
        xy = np.concatenate(points)
        once = np.concatenate([[True], np.linalg.norm(np.diff(xy, axis=0), axis=1) > 1e-6])
        xy, modes = xy[once], [m for m, k in zip(modes, once, strict=True) if k]
        beside = np.zeros((0, 3))
        if comfort is not None:
            xy, modes, easy = self._bent(xy, modes, comfort)
            beside = np.column_stack([xy, easy])
        length = float(np.linalg.norm(np.diff(xy, axis=0), axis=1).sum())
        total += _SWITCH_M * (len(cuts) - 2)
        return WalkPath(xy, tuple(self.modes[m] for m in modes), length, total, self.columns, beside)

    def _bent(self, points: Array, modes: Sequence[int], comfort: float) -> tuple[Array, list[int], Array]:
        """Points (N, 2) of a path bent smoothly where it is walked upright, evenly spaced, their modes, and the room
        beside swinging arms (N,), metres.
        """
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        even = np.linspace(0.0, along[-1], max(int(np.ceil(along[-1] / BAND_M)), 1) + 1)
        which = np.asarray(modes)[np.searchsorted(along, even - 1e-9).clip(0, len(modes) - 1)]
        fine = np.stack([np.interp(even, along, points[:, k]) for k in (0, 1)], axis=-1)

        def dear(at: Array) -> Array:
            rows, cols = ((at - self.columns.origin) / CELL_M - 0.5).T[::-1]
            easy, least = np.empty(len(at)), np.empty(len(at))
            for m in set(which):
                here = which == m
                for room, out in ((self._easy, easy), (self._least, least)):
                    out[here] = scipy.ndimage.map_coordinates(
                        room[m], (rows[here], cols[here]), order=1, mode="nearest"
                    )
            tight = np.clip(_TRUNK_M - least, 0.0, 0.5)
            return 1.0 + comfort * _NARROW * np.maximum(1.0 - easy / _COMFORT_M, 0.0) ** 2 + _PRESSED * tight**2

        fixed = np.array([self.modes[m].manner != "forward" or self.modes[m].factor > 1.0 for m in which])
        tried = ((xy, np.array([self.columns.cell(p) for p in xy])) for xy in (bent(fine, fixed, dear), fine))
        worst = [(self._least[which, cells[:, 0], cells[:, 1]], xy, cells) for xy, cells in tried]
        # a band that is pressed into something is no better than the corners
        _, band, cells = worst[0] if (worst[0][0] >= np.minimum(worst[1][0].min(), 0.0)).all() else worst[1]
        return band, which.tolist(), self._easy[which, cells[:, 0], cells[:, 1]]
