"""Path of a team and its object through a scene, from a roadmap that is learned once and stored (E3, E8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.kept import Arrays, contents, package_sources, remembered
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import smoothed
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.teams.animate import Blocked
from elbowroom.plan.teams.stances import MOST_BACK_M
from elbowroom.search.roadmap import Learning, Roadmap, lazy_path, shortened
from elbowroom.spaces.team import OWN, YAW, Bearer, TeamSpace, Z
from elbowroom.spaces.team_scene import passage_width, without_low
from elbowroom.world.columns import CELL_M

# Metres of a way in which carriers step back from the object.
_STEPS_BACK_M = 0.3
# Shares of a step back where there is less room.
_BACK_SHARES = (0.25, 0.5, 0.75, 1.0)
# Metres by which a person whose arm met the trunk steps back more.
_MORE_BACK_M = 0.08
# Distance from a start or goal within which the path for a width message may begin or end, metres.
_ENDS_M = 0.5
# Missing width from which on there is no path whatever is sampled, metres: rooms are measured in cells.
_SURELY_M = 2.0 * CELL_M
# Limits of learning at first, and where no way is found yet.
_FIRST, _MORE = Learning(samples=1500, idle=400), Learning(samples=24_000, idle=3000)
# Corners that are tried to be cut off.
_SHORTCUTS = 200
# Distance between states while a path is straightened, metres, and iterations.
_PULLED_M, _PULLS = 0.045, 600
# Shares of the possible rise by which the object is raised on the straight way to a goal.
_RAISED = (0.0, 0.25, 0.5, 0.75)
# Paths to different goals that are compared after that, and cost relative to another path beyond which shortening does
# not make one cheaper.
_SHORTENED, _HOPELESS = 4, 1.4
# Distance that later paths keep from a place where one failed, in the space's own metric, metres.
_AVOID_M = 0.3
# The same near a start or goal: a share of the distance to it; nearer than this no path avoids it.
_OF_ENDS, _LEAST_AVOID_M = 0.6, 0.1
# Extra clearance of a carrier whose legs or trunk collided, metres, and the radius around that place in which it
# applies.
_FARTHER_M, _FARTHER_WITHIN_M = 0.06, 0.8
# Metres from a person whose head met something within which that hangs.
_UNDER_M = 0.4
# Metres from one state of a way to the next, and over which its corners are rounded: the widest that is free.
_SPACED_M = 0.015
_ROUNDED_M = (0.25, 0.16, 0.09, 0.04)
# A path that costs so many times as much as one straight to a goal may be a detour: then as many times, for as many
# goals, a few samples are drawn for a cheaper one, and joined in rounds.
_DETOUR, _AROUND, _GOALS, _SAMPLES, _ROUNDS = 1.6, 2, 2, 300, 200

# Cost and states.
Path = tuple[float, list[Array]]


@dataclass(frozen=True, eq=False)
class TeamPath:
    """States (K, W) of a path, closely spaced; `piece` (K,) numbers their local paths."""

    states: Array
    piece: NDArray[np.int64]
    cost: float


@dataclass
class TeamPaths:
    """Paths of a team over its roadmap: later ones avoid places where earlier ones failed."""

    space: TeamSpace
    seed: int
    roadmap: Roadmap = field(init=False)
    failed: int = 0
    looked: dict[tuple[bytes, bytes], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        anywhere = replace(self.space, near=np.zeros((0, 0, 2)))  # for all starts and goals

        def learned() -> Arrays:
            roadmap = Roadmap(anywhere)
            roadmap.learn(np.random.default_rng(self.seed), _FIRST)
            return roadmap.arrays()

        about = (package_sources(), self.seed, *contents(anywhere))
        self.roadmap = Roadmap.of(self.space, remembered("roadmaps", about, learned))

    def find(self, start: Array, goals: Sequence[Array], what: str) -> TeamPath:
        """The cheapest path from a state to one of several, rounded and closely spaced; raises `PlanningFailure`."""
        rng = np.random.default_rng(self.seed + 1 + self.failed)
        found = self._found(start, goals)
        lack, narrow = (0.0, "") if found else self._narrowest(start, goals)
        best = min(self._across(start, goals), key=lambda path: path[0], default=None)
        for cost, states in found[:_SHORTENED]:
            if best is None or cost <= _HOPELESS * best[0]:
                best = self._cheaper(best, states, rng)
        if lack < _SURELY_M:
            best = self._around(start, goals, best, rng)
        if best is None and lack < _SURELY_M:
            for goal in (start, *goals):
                self.roadmap.add(goal, always=True)
            if not self._found(start, goals):
                self.roadmap.learn(rng, _MORE, lambda: bool(self._found(start, goals)))
            for _, states in self._found(start, goals)[:1]:
                best = self._around(start, goals, self._cheaper(None, states, rng), rng)
        if best is None:
            why = PlanningFailure("no-path", f"{what}: no path was found for all carriers and the object; {narrow}")
            why.anywhere = lack >= _SURELY_M and not self.failed  # ground may be left out after failures
            raise why
        return self._spaced(best[1])

    def _cheaper(self, best: Path | None, states: Sequence[Array], rng: np.random.Generator) -> Path:
        """The cheaper one of a path, if any, and one through some states, shortened."""
        short = shortened(self.space, states, self._at, rng, _SHORTCUTS)
        cost = self._cost(short)
        return (cost, short) if best is None or cost < best[0] else best

    def _around(self, start: Array, goals: Sequence[Array], best: Path | None, rng: np.random.Generator) -> Path | None:
        """A path through a few samples, where there is none yet or only a detour: roadmaps keep few states, and the
        path over them may go round the wrong side of things.
        """
        for goal in sorted(goals, key=lambda goal: self.space.cost(start, goal))[:_GOALS]:
            for _ in range(_AROUND):
                if best is not None and best[0] < _DETOUR * self.space.cost(start, goal):
                    break
                more = self.space.samples(rng, _SAMPLES)
                known = [] if best is None else best[1][1:-1]
                through = lazy_path(self.space, np.array([start, goal, *more, *known]), _ROUNDS)
                if through is not None:
                    best = self._cheaper(best, through, rng)
        return best

    def _narrowest(self, start: Array, goals: Sequence[Array]) -> tuple[float, str]:
        """Width that the carrier who lacks most lacks where the path is narrowest, metres, and a description."""
        space = self.space
        at = space.carriers(np.array([start, *goals]))[0]
        lacks = []
        for k, bearer in enumerate(space.bearers):
            ends = (at[:1, k], at[1:, k])
            wide = passage_width(bearer.room, space.floor.origin, CELL_M, ends, _ENDS_M)
            lacks.append((2.0 * bearer.radius - wide, wide, 2.0 * bearer.radius))
        lack, wide, needed = max(lacks)
        if wide == 0.0:
            return lack, "there is no path to walk"
        text = f"the widest path is {wide:.2f} m wide at its narrowest"
        more = f", and one carrier needs {needed:.2f} m" if lack > 0.0 else ", too little for the object"
        return lack, text + more

    def _at(self, a: Array, b: Array, share: float) -> Array:
        return np.asarray(self.space.between(a, b, np.array([share]))[0])

    def _cost(self, states: Sequence[Array]) -> float:
        return sum(self.space.cost(a, b) for a, b in pairwise(states))

    def _found(self, start: Array, goals: Sequence[Array]) -> list[Path]:
        """Paths over the roadmap to some goals, the cheapest first, with their costs."""
        paths = self.roadmap.find(start, goals, self.passable)
        return sorted(((self._cost(path), path) for path in paths if path is not None), key=lambda path: path[0])

    def _across(self, start: Array, goals: Sequence[Array]) -> Iterator[Path]:
        """Paths straight to some goals, raised as little as is free, with their costs."""
        for goal in goals:
            low = max(start[Z], goal[Z])
            for share in _RAISED:
                a, b = np.array(start), np.array(goal)
                a[Z] = b[Z] = low + share * max(self.space.heights[2] - low, 0.0)
                path = [start, a, b, goal]
                if all(self.space.joins(*pair) for pair in pairwise(path)):
                    yield self._cost(path), path
                    break

    def drop(self, failed: Blocked, state: Array, start: Array, goals: Sequence[Array]) -> bool:
        """Leave out all ways near a state; return False where every way passes it, near its ends.

        A person whose body met something keeps farther from all things around there; who found no way under
        something goes nowhere under it where it hangs as low as there; whose arm met the own trunk steps back more.
        """
        self.failed += 1
        if failed.number is not None and failed.chain.endswith("_arm"):
            self._use(replace(self.space, bearers=self._stepped_back(failed.number)))
            return True
        if failed.number is not None:
            bearer, at = self.space.bearers[failed.number], self.space.carriers(state[None])[0][0, failed.number]
            j, i = np.indices(bearer.room.shape)
            cells = self.space.floor.origin + CELL_M * (np.stack([i, j], axis=-1) + 0.5)
            far = np.linalg.norm(cells - at, axis=-1)
            if failed.chain == "head":
                room = without_low(bearer.room, bearer.ceiling, far < _UNDER_M, CELL_M)
            else:
                room = bearer.room - _FARTHER_M * (far < _FARTHER_WITHIN_M)
            others = list(self.space.bearers)
            others[failed.number] = replace(bearer, room=room)
            space = replace(self.space, bearers=tuple(others))
            if space.valid(np.array([start, *goals])).all():
                self._use(space)
                return True
        ends = float(self.space.distances(np.array([start, *goals]), state).min())
        closed = np.append(state, min(_OF_ENDS * ends, _AVOID_M))[None]
        self._use(replace(self.space, closed=np.concatenate([self.space.closed.reshape(-1, closed.shape[1]), closed])))
        return ends > _LEAST_AVOID_M

    def _stepped_back(self, number: int) -> tuple[Bearer, ...]:
        """Carriers, one of whom walks farther from the object."""
        back = min(self.space.bearers[number].back + _MORE_BACK_M, MOST_BACK_M[0])
        return tuple(replace(b, back=back) if k == number else b for k, b in enumerate(self.space.bearers))

    def may_step_back(self, number: int) -> bool:
        """Return whether a carrier can walk farther from the object."""
        return self.space.bearers[number].back < MOST_BACK_M[0]

    def _use(self, space: TeamSpace) -> None:
        self.space = self.roadmap.space = space
        self.looked.clear()

    def passable(self, a: Array, b: Array, joined: bool) -> bool:
        """Return whether a local path is free: one that was so may have been left out since, and a single carrier, who
        walks ahead, comes back along another curve than the one that was `joined`.
        """
        if not self.failed and (joined or len(self.space.bearers) > 1):
            return True
        edge = (a.tobytes(), b.tobytes())
        if edge not in self.looked:
            self.looked[edge] = self.space.joins(a, b)
        return self.looked[edge]

    def _spaced(self, states: Sequence[Array]) -> TeamPath:
        """States of a path, evenly spaced, with its corners rounded as far as that is free."""
        rows, piece = [], []
        for k, (a, b) in enumerate(pairwise(states)):
            n = max(int(self.space.distances(a[None], b)[0] / _SPACED_M), 2)
            part = self.space.between(a, b, np.linspace(0.0, 1.0, n + 1))
            rows.append(part if k == 0 else part[1:])
            piece += [k] * len(rows[-1])
        path = np.concatenate(rows)
        path[:, YAW] = np.unwrap(path[:, YAW])
        if len(self.space.bearers) > 1:
            path = self._pulled(path)
        cost = self.space.way_cost(path[::3])
        for width in (*_ROUNDED_M, 0.02):
            soft = smoothed(path, width / _SPACED_M)
            if self.space.valid(soft[:: max(len(soft) // 400, 1)]).all():
                break
        return TeamPath(self._stood_back(soft), np.array(piece, np.int64), cost)

    def _stood_back(self, path: Array) -> Array:
        """A way on which everybody steps back as far as they are to stand off the object, or as there is room."""
        k = _SPACED_M * np.arange(len(path))
        ends = smootherstep(k / _STEPS_BACK_M) * smootherstep((k[-1] - k) / _STEPS_BACK_M)
        looks = np.arange(0, len(path), max(len(path) // 400, 1))
        looks = looks[self.space.valid(path[looks])]
        for number, bearer in enumerate(self.space.bearers):
            if bearer.back <= 0.0:
                continue
            column = OWN + 3 * number
            farther = ends * np.clip(bearer.back - path[:, column], 0.0, None)
            most = np.zeros(len(looks))
            for share in _BACK_SHARES:
                other = np.array(path[looks])
                other[:, column] += share * farther[looks]
                most = np.where(self.space.valid(other), share, most)
            width = _STEPS_BACK_M / _SPACED_M
            shares = scipy.ndimage.minimum_filter1d(np.interp(np.arange(len(path)), looks, most), 2 * int(width) + 1)
            path = np.array(path)
            path[:, column] += scipy.ndimage.gaussian_filter1d(shares, width / 4.0, mode="nearest") * farther
        return path

    def _pulled(self, path: Array) -> Array:
        """A team's path straightened in parts, on coarser states."""
        rng = np.random.default_rng(self.seed + 7)
        every = max(round(_PULLED_M / _SPACED_M), 1)
        rows = np.unique(np.append(np.arange(0, len(path), every), len(path) - 1))
        coarse = self.space.pulled(path[rows], rng, _PULLS)
        return np.stack([np.interp(np.arange(len(path)), rows, coarse[:, c]) for c in range(path.shape[1])], axis=-1)
