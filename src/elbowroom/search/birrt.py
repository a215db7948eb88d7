"""A path from one state to another by two trees that grow towards each other (K5, S1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import birrt as kernels
from elbowroom.kernels.rng import rng
from elbowroom.kernels.space import CHECKS, NODES, ROUNDS, SAMPLES, TALLY
from elbowroom.stopping import may_stop_here

PathStatus = Literal["found", "start-in-collision", "goal-in-collision", "budget-spent"]

_STATUS: dict[int, PathStatus] = {
    kernels.FOUND: "found",
    kernels.START_HIT: "start-in-collision",
    kernels.GOAL_HIT: "goal-in-collision",
    kernels.SPENT: "budget-spent",
}


# Initial capacity of each tree, and its growth.
_ROOM = 256
# Checks after which a search returns to Python and may be cancelled: some milliseconds.
_AT_ONCE = 500


class Space(Protocol):
    """Problem of a search: the width of a state, and the compiled space for the edge between two states."""

    @property
    def width(self) -> int: ...

    def compiled(self, start: Array, goal: Array) -> Any: ...


@dataclass(frozen=True)
class Budget:
    """Limits of a search: checks of states, states in one tree. `widen` is the rounds until full effort.

    A carried object's search (`search/rrt.py`) ends after `fruitless` rounds, if given, with fewer nodes than rounds:
    its trees are enclosed.
    """

    checks: int = 200_000
    nodes: int = 10_000
    widen: int = 60
    fruitless: int | None = None

    def __post_init__(self) -> None:
        if min(self.checks, self.widen) < 1 or self.nodes < 2:
            raise BadValue("a search budget needs at least one check, one round of widening and two nodes.")


USUAL = Budget()


@dataclass(frozen=True)
class Stats:
    """Statistics: states checked, nodes kept, samples drawn, rounds."""

    checks: int = 0
    nodes: int = 0
    samples: int = 0
    rounds: int = 0

    @staticmethod
    def of(tally: NDArray[np.int64]) -> Stats:
        """Statistics from compiled counts."""
        return Stats(int(tally[CHECKS]), int(tally[NODES]), int(tally[SAMPLES]), int(tally[ROUNDS]))


@dataclass(frozen=True, eq=False)
class PathTree:
    """Tree grown from one end: states (N, W), the root first, and the index of each one's parent (N,), -1 for the
    root.
    """

    states: Array
    parents: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SearchPath:
    """States (N, W) from start to goal, none where nothing was found, and search statistics.

    `trees` are those of the start and the goal, recorded only inside `keeping_trees()`.
    """

    states: Array
    status: PathStatus
    stats: Stats = field(default_factory=Stats)
    trees: tuple[PathTree, ...] = ()

    @property
    def found(self) -> bool:
        """Return whether it leads from start to goal."""
        return self.status == "found"


_keeping: ContextVar[bool] = ContextVar("_keeping", default=False)


@contextmanager
def keeping_trees() -> Iterator[None]:
    """Record the trees of this thread's searches, for display; results are the same."""
    token = _keeping.set(True)
    try:
        yield
    finally:
        _keeping.reset(token)


def plan(space: Space, start: ArrayLike, goal: ArrayLike, seed: int = 0, budget: Budget = USUAL) -> SearchPath:
    """Search a path between two states (W,) of a space. The same seed gives the same path."""
    a, b = checked(space.width, "start", start), checked(space.width, "goal", goal)
    compiled, thrown = space.compiled(a, b), rng(seed)
    tally, size, drawn = np.zeros(TALLY, np.int64), np.zeros(3, np.int64), np.zeros(space.width)
    trees = _Trees.of(min(_ROOM, budget.nodes), space.width)
    trees.rows[0, 0], trees.rows[1, 0] = a, b
    code = kernels.FULL
    while code in (kernels.FULL, kernels.PAUSED):
        may_stop_here()
        limits = budget.checks, int(tally[CHECKS]) + _AT_ONCE, float(budget.widen)
        code, i, j = kernels.connect(compiled, thrown, *limits, *trees, drawn, size, tally)
        if code == kernels.FULL:
            if len(trees.tried) >= budget.nodes:
                code = kernels.SPENT
            else:
                trees = trees.larger(min(len(trees.tried) + _ROOM, budget.nodes))
    rows, parent = trees.rows, trees.parent
    states = np.zeros((0, space.width))
    if code == kernels.FOUND:
        states = np.concatenate([rows[0, _to_root(parent[0], i)[::-1]], rows[1, _to_root(parent[1], j)]])
    kept = tuple(trees.kept(k, int(size[k])) for k in range(2)) if _keeping.get() else ()
    return SearchPath(frozen(states), _STATUS[int(code)], Stats.of(tally), kept)


class _Trees(NamedTuple):
    """Room for two trees, as compiled code takes it."""

    rows: Array
    parent: NDArray[np.int64]
    seen: NDArray[np.int64]
    tried: NDArray[np.int64]

    @staticmethod
    def of(nodes: int, width: int) -> _Trees:
        """Empty room."""
        return _Trees(
            np.zeros((2, nodes, width)),
            np.zeros((2, nodes), np.int64),
            np.zeros((2, nodes), np.int64),
            np.zeros(nodes, np.int64),
        )

    def larger(self, nodes: int) -> _Trees:
        """A copy with more room."""
        out, count = _Trees.of(nodes, self.rows.shape[2]), len(self.tried)
        out.rows[:, :count], out.parent[:, :count], out.seen[:, :count], out.tried[:count] = self
        return out

    def kept(self, which: int, count: int) -> PathTree:
        """The first `count` states of one of the trees, without branches that were cut off."""
        rows, parent = self.rows[which, :count], self.parent[which, :count]
        stays = np.isfinite(rows).all(axis=1)
        number = np.cumsum(stays) - 1
        parents = np.where(parent[stays] < 0, -1, number[parent[stays]])
        return PathTree(frozen(rows[stays]), parents)


def _to_root(parent: NDArray[np.int64], k: int) -> list[int]:
    """Indices of the states from state k to the root of its tree."""
    found = []
    while k >= 0:
        found.append(k)
        k = int(parent[k])
    return found


def checked(width: int, name: str, state: ArrayLike) -> Array:
    """A state (W,) as an array; raises for invalid ones."""
    row = np.array(state, dtype=float, order="C")  # a copy: compiled code accepts writable arrays only
    if row.shape != (width,):
        raise BadValue(f"{name}: a state of this space has {width} numbers, not shape {row.shape}.")
    if not np.isfinite(row).all():
        raise BadValue(f"{name}: a state has a number that is not finite.")
    return row
