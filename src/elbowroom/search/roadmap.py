"""Roadmap of a space by visibility (Siméon, Laumond and Nissoux 2000), learned once and queried many times (E3).

A sample that sees no guard becomes one; a sample that sees guards of two components joins them. Samples that join two
guards of one component are kept, too, where the path between them through the roadmap is much longer (useful cycles,
Nieuwenhuisen and Overmars 2004): a visibility roadmap is a tree, without alternatives for a path that fails later.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.search import shortcut
from elbowroom.search.shortcut import SmoothingLimits
from elbowroom.stopping import may_stop_here

# Samples per batch, and guards of one component to which a sample's connection is tried.
_AT_ONCE = 64
_GUARDS = 3
# A cycle is kept where the path through the roadmap is so many times as long as through the sample.
_USEFUL = 2.5
# Nodes to which a start or goal's connection is tried.
_NEAR = 12
# Nearest states that each is joined to in a lazy search.
_LAZY_NEAR = 16
# Largest cost of a piece with its corner cut, relative to the piece before.
_GAIN = 0.99


class RoadmapSpace(Protocol):
    """Problem of a roadmap: states are rows (W,)."""

    def samples(self, rng: np.random.Generator, count: int) -> Array:
        """Draw up to `count` valid states (N, W)."""
        ...

    def distances(self, states: Array, state: Array) -> Array:
        """Distances (N,) of states (N, W) to a state."""
        ...

    def joins(self, a: Array, b: Array) -> bool:
        """Return whether the local path from a to b is valid."""
        ...

    def cost(self, a: Array, b: Array) -> float:
        """Cost of the local path from a to b, at least their distance."""
        ...


@dataclass(frozen=True)
class Learning:
    """Limits of learning: samples in all, and samples in a row that change nothing, after which everything is
    covered.
    """

    samples: int = 4000
    idle: int = 600


@dataclass
class Roadmap:
    """States (N, W), which of them are guards, and edges with their costs."""

    space: RoadmapSpace
    states: list[Array] = field(default_factory=list)
    guard: list[bool] = field(default_factory=list)
    edges: dict[tuple[int, int], float] = field(default_factory=dict)
    drawn: int = 0

    def learn(self, rng: np.random.Generator, limits: Learning, done: Callable[[], bool] | None = None) -> None:
        """Draw samples until the limits, or until `done` returns True after one that was kept."""
        idle = 0
        while self.drawn < limits.samples and idle < limits.idle:
            may_stop_here()
            found = self.space.samples(rng, _AT_ONCE)
            self.drawn += _AT_ONCE
            for state in found:
                kept = self.add(state)
                idle = 0 if kept else idle + 1
                if kept and done is not None and done():
                    return
            if not len(found):
                idle += _AT_ONCE // 8

    def add(self, state: Array, *, always: bool = False) -> bool:
        """Keep a state where it is useful, or `always`; return whether it was kept."""
        if not self.states:
            return self._keep(state, True, [])
        component = self.components()
        distance = self.space.distances(np.array(self.states), state)
        seen: list[int] = []
        looks: dict[int, int] = {}
        for k in np.argsort(distance, kind="stable").tolist():
            c = int(component[k])
            if (always or self.guard[k]) and looks.get(c, 0) < _GUARDS:
                looks[c] = looks.get(c, 0) + 1
                if self.space.joins(self.states[k], state):
                    seen.append(k)
        if always or not seen:
            return self._keep(state, True, seen)
        first = {int(component[k]): k for k in reversed(seen)}  # the nearest of each component
        joined = list(first.values()) if len(first) > 1 else self._useful(state, seen)
        return self._keep(state, False, joined) if joined else False

    def _useful(self, state: Array, seen: Sequence[int]) -> list[int]:
        """Two guards seen from a state between which the roadmap is much longer than through the state."""
        if len(seen) < 2:
            return []
        through = {k: self.space.cost(self.states[k], state) for k in seen}
        a = seen[0]
        far = self._costs_from(a, lambda _a, _b: True)
        for b in seen[1:]:
            if far.get(b, (np.inf, -1))[0] > _USEFUL * (through[a] + through[b]):
                return [a, b]
        return []

    def _keep(self, state: Array, guard: bool, joined: Sequence[int]) -> bool:
        self.states.append(np.array(state, dtype=float))
        self.guard.append(guard)
        new = len(self.states) - 1
        for k in joined:
            self.edges[k, new] = self.space.cost(self.states[k], state)
        return True

    def components(self) -> NDArray[np.int64]:
        """Component index of each node (N,)."""
        root = list(range(len(self.states)))

        def top(k: int) -> int:
            while root[k] != k:
                root[k] = root[root[k]]
                k = root[k]
            return k

        for a, b in self.edges:
            root[top(a)] = top(b)
        return np.array([top(k) for k in range(len(root))], np.int64)

    def find(
        self, start: Array, goals: Sequence[Array], passable: Callable[[Array, Array, bool], bool]
    ) -> list[list[Array] | None]:
        """States of the cheapest path to each goal, without edges that are not `passable`; None where there is none.

        `passable` gets both states of an edge and whether it was joined in this direction: local paths may be curves
        that differ on the way back.
        """
        at = {-1: start} | {-2 - k: goal for k, goal in enumerate(goals)}
        nodes = np.array(self.states) if self.states else np.zeros((0, len(start)))
        ends: dict[tuple[int, int], float] = {}
        for number, state in at.items():
            for k in np.argsort(self.space.distances(nodes, state), kind="stable")[:_NEAR].tolist():
                a, b = (state, self.states[k]) if number == -1 else (self.states[k], state)
                if self.space.joins(a, b):
                    ends[(number, k) if number == -1 else (k, number)] = self.space.cost(a, b)
            if number < -1 and self.space.joins(start, state):
                ends[-1, number] = self.space.cost(start, state)

        def state_of(k: int) -> Array:
            return at[k] if k < 0 else self.states[k]

        def usable(a: int, b: int) -> bool:
            joined = (a, b) in self.edges or (a, b) in ends
            return a >= -1 and passable(state_of(a), state_of(b), joined)  # no way leads on from a goal

        reached = self._costs_from(-1, usable, ends)
        ways: list[list[Array] | None] = []
        for number in range(-2, -2 - len(goals), -1):
            if number not in reached:
                ways.append(None)
                continue
            way = [number]
            while way[-1] != -1:
                way.append(reached[way[-1]][1])
            ways.append([state_of(k) for k in reversed(way)])
        return ways

    def _costs_from(
        self, start: int, usable: Callable[[int, int], bool], more: dict[tuple[int, int], float] | None = None
    ) -> dict[int, tuple[float, int]]:
        """Cost of the cheapest path from a node to each reachable one, and the node before it."""
        beside: dict[int, list[tuple[int, float]]] = {}
        for (a, b), cost in (*self.edges.items(), *(more or {}).items()):
            beside.setdefault(a, []).append((b, cost))
            beside.setdefault(b, []).append((a, cost))
        out: dict[int, tuple[float, int]] = {}
        heap = [(0.0, start, start)]
        while heap:
            cost, node, before = heapq.heappop(heap)
            if node in out:
                continue
            out[node] = cost, before
            for other, more_cost in beside.get(node, ()):
                if other not in out and usable(node, other):
                    heapq.heappush(heap, (cost + more_cost, other, node))
        return out

    def arrays(self) -> dict[str, NDArray]:
        """All that was learned, as arrays by name."""
        width = len(self.states[0]) if self.states else 0
        return {
            "states": np.array(self.states).reshape(-1, width),
            "guard": np.array(self.guard, bool),
            "edges": np.array(list(self.edges), np.int64).reshape(-1, 2),
            "costs": np.array(list(self.edges.values())),
            "drawn": np.array([self.drawn]),
        }

    @classmethod
    def of(cls, space: RoadmapSpace, arrays: dict[str, NDArray]) -> Roadmap:
        """A roadmap from its arrays."""
        edges = {(int(a), int(b)): float(c) for (a, b), c in zip(arrays["edges"], arrays["costs"], strict=True)}
        return cls(space, list(arrays["states"]), [bool(g) for g in arrays["guard"]], edges, int(arrays["drawn"][0]))


def lazy_path(space: RoadmapSpace, states: Array, rounds: int) -> list[Array] | None:
    """A cheap path from the first of some states (N, W) to the second by way of others; None where none is found.

    Local paths to the nearest states are taken for free at the cost of their distance until they are part of the
    cheapest path (lazy PRM, Bohlin and Kavraki 2000); so many rounds of that are made at most.
    """
    count = len(states)
    far = np.stack([space.distances(states, state) for state in states])
    np.fill_diagonal(far, np.inf)
    among = np.argsort(far, axis=1, kind="stable")[:, :_LAZY_NEAR] if count > _LAZY_NEAR else np.indices(far.shape)[1]
    weights = np.full((count, count), np.inf)
    np.put_along_axis(weights, among, np.take_along_axis(far, among, axis=1), axis=1)
    weights = np.minimum(weights, weights.T)
    priced, free = set[tuple[int, int]](), set[tuple[int, int]]()
    for _ in range(rounds):
        reached, before = scipy.sparse.csgraph.dijkstra(weights, indices=0, return_predecessors=True)
        if not np.isfinite(reached[1]):
            return None
        way = [1]
        while way[-1] != 0:
            way.append(int(before[way[-1]]))
        edges = [(b, a) for a, b in pairwise(way)]
        new = [edge for edge in edges if edge not in priced]
        for a, b in new:
            weights[a, b] = space.cost(states[a], states[b])
        priced.update(new)
        if new:
            continue
        # the longest first: it is the least likely to be free
        for a, b in sorted((edge for edge in edges if edge not in free), key=lambda edge: -far[edge]):
            if not space.joins(states[a], states[b]):
                weights[a, b] = np.inf
                break
            free.add((a, b))
        else:
            return [states[k] for k in reversed(way)]
    return None


def shortened(
    space: RoadmapSpace, states: Sequence[Array], between: Callable[[Array, Array, float], Array],
    rng: np.random.Generator, tries: int,
) -> list[Array]:  # fmt: skip
    """A path with corners cut where that is valid and cheaper: states are left out, or places between them joined."""

    def cost(way: Sequence[Array]) -> float:
        return sum(space.cost(a, b) for a, b in pairwise(way))

    def straight(way: list[Array], i: int, j: int) -> list[Array] | None:
        u, v = rng.random(2)
        corner = [between(way[i], way[i + 1], u), between(way[j - 1], way[j], v)]
        old = cost(way[i : j + 1])
        for inner, most in (([], old + 1e-9), (corner, _GAIN * old)):
            piece = [way[i], *inner, way[j]]
            if cost(piece) <= most and all(space.joins(a, b) for a, b in pairwise(piece)):
                return [*way[:i], *piece, *way[j + 1 :]]
        return None

    return shortcut.shortened(list(states), straight, rng, SmoothingLimits(rounds=tries, vain=tries))
