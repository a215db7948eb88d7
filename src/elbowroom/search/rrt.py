"""A path of an object with a carrier that follows it: one tree, or two, with a payload along every branch (Y2).

Algorithms 1 and 2 of Yamane, Kuffner and Hodgins (2004): a tree grows from the start towards samples, every 20th of
which is the goal, step by step until a step fails; the steps until then stay. A node has a state, which is searched,
and a payload, which follows it (the pose of the carrier's body): the payload of a node initialises those of its
children.

Two details differ from the paper. Its metric (eq. 1) is a sum of squares, so that q + ε (q_t - q) is no step of length
ε: spaces measure by its root. And a second tree, from the goal, is optional: its payloads only show that its states can
be carried. Where the trees meet, the second one's branch is walked from the first one's payload, so that no payload
jumps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.kernels.space import CHECKS, NODES, ROUNDS, SAMPLES, TALLY
from elbowroom.search.birrt import Budget, PathStatus, PathTree, Stats, checked
from elbowroom.search.shortcut import SmoothingLimits, shortened
from elbowroom.stopping import may_stop_here

# Share of the samples that are the goal (Y, section 3.1).
GOAL_BIAS = 0.05
# Consecutive rounds without a new node after which a search ends: the trees are enclosed. Chosen; three successful
# searches of benchmarks/object_moves.py had 16 to 57 rounds in all.
_IN_VAIN = 40
# Rounds after which a search ends if one of its trees still is its root alone: that end is enclosed.
_ENCLOSED = 200

Payload = TypeVar("Payload")


class CarriedSpace(Protocol[Payload]):
    """Problem of a search with payloads: states are rows (W,)."""

    @property
    def width(self) -> int: ...

    def sample(self, rng: np.random.Generator) -> Array:
        """Draw a state from everywhere."""
        ...

    def distances(self, states: Array, state: Array) -> Array:
        """Distances (N,) of states (N, W) to a state."""
        ...

    def steer(self, start: Array, target: Array) -> Array:
        """State one step from `start` towards `target`; the target itself, bit by bit, within one step."""
        ...

    def advance(
        self, start: Array, payload: Payload, end: Array, tally: NDArray[np.int64]
    ) -> tuple[Array, Payload] | None:
        """State and payload at `end`, one step from `start`, or at the last valid state before it; None without one.

        Counts its checks in `tally[CHECKS]`.
        """
        ...

    def alike(self, a: Payload, b: Payload) -> bool:
        """Return whether two payloads at the same state can be continued in the same way."""
        ...


@dataclass(frozen=True, eq=False)
class CarriedPath(Generic[Payload]):
    """States (N, W) from start to goal with their payloads, none where nothing was found, and statistics.

    `trees` are those of the start and, where one was grown, of the goal.
    """

    states: Array
    payloads: tuple[Payload, ...]
    status: PathStatus
    stats: Stats = field(default_factory=Stats)
    trees: tuple[PathTree, ...] = ()

    @property
    def found(self) -> bool:
        """Return whether it leads from start to goal."""
        return self.status == "found"

    def __len__(self) -> int:
        return len(self.states)


# A whole-body step costs some hundred checks of a limb: ten times the limits of the paper's searches.
USUAL = Budget(checks=20_000, nodes=3_000)
EFFORT = SmoothingLimits(rounds=60, vain=60, checks=20_000)


def plan(
    space: CarriedSpace[Payload],
    start: tuple[Array, Payload],
    goal: Array,
    seed: int = 0,
    budget: Budget = USUAL,
    goal_payload: Payload | None = None,
    *,
    balanced: bool = False,
) -> CarriedPath[Payload]:
    """Search a path from a state (W,) with its payload to a goal state (W,). The same seed gives the same path.

    A second tree grows from the goal if `goal_payload` is given. The payload at the path's end is the one that was
    carried there, not `goal_payload`. With `balanced`, three of four samples are for the smaller tree: an enclosed end
    is what a search has to get out of. Limits are `budget.checks` in all and `budget.nodes` in one tree.
    """
    first = checked(space.width, "start", start[0])
    last = checked(space.width, "goal", goal)
    search = _TreeSearch(space, budget, np.random.default_rng(np.random.SeedSequence(seed)), balanced)
    trees = [_PayloadTree(first, start[1], budget.nodes)]
    if goal_payload is not None:
        trees.append(_PayloadTree(last, goal_payload, budget.nodes))
    search.tally[NODES] = len(trees)
    found = search.run(trees, last)
    kept = tuple(tree.kept() for tree in trees)
    stats = Stats.of(search.tally)
    if found is None:
        return CarriedPath(frozen(np.zeros((0, space.width))), (), "budget-spent", stats, kept)
    branch = trees[0].branch(found)
    payloads = tuple(trees[0].payloads[k] for k in branch)
    return CarriedPath(frozen(trees[0].states[branch]), payloads, "found", stats, kept)


def walked(
    space: CarriedSpace[Payload], start: tuple[Array, Payload], stations: Sequence[Array], budget: Budget = USUAL
) -> CarriedPath[Payload]:
    """The straight path from a state (W,) with its payload from station (W,) to station, if every step is valid."""
    tally = np.zeros(TALLY, np.int64)
    first = checked(space.width, "start", start[0])
    states = np.concatenate([first[None], *(_steps(space, a, b) for a, b in pairwise([first, *stations]))])
    payloads = _walk(space, states[0], start[1], states[1:], tally, budget.checks)
    stats = Stats.of(tally)
    if len(payloads) + 1 < len(states):
        return CarriedPath(frozen(np.zeros((0, space.width))), (), "budget-spent", stats)
    return CarriedPath(frozen(states), (start[1], *payloads), "found", stats)


def smooth(
    space: CarriedSpace[Payload], path: CarriedPath[Payload], seed: int = 0, effort: SmoothingLimits = EFFORT
) -> CarriedPath[Payload]:
    """Shorten a path: two random nodes are joined straight, and the rest is walked again from there.

    A shorter path replaces the old one where every step of it is valid, with payloads propagated until they match the
    old ones, or up to the goal (Y, section 3.3). The stats are those of smoothing.
    """
    tally = np.zeros(TALLY, np.int64)

    def straight(path: CarriedPath[Payload], i: int, j: int) -> CarriedPath[Payload] | None:
        tally[ROUNDS] += 1
        ahead = _steps(space, path.states[i], path.states[j])
        if len(ahead) >= j - i:
            return None
        ahead = np.concatenate([ahead, path.states[j + 1 :]])
        carried = _walk(space, path.states[i], path.payloads[i], ahead, tally, effort.checks, path.payloads[j:])
        if len(carried) < len(ahead):
            return None
        states = np.concatenate([path.states[: i + 1], ahead])
        return CarriedPath(frozen(states), (*path.payloads[: i + 1], *carried), "found")

    if not path.found:
        return path
    short = shortened(path, straight, seed, effort, lambda: int(tally[CHECKS]), distinct=True)
    return replace(short, stats=Stats.of(tally), trees=())


def _steps(space: CarriedSpace[Payload], start: Array, end: Array) -> Array:
    """States (N, W) of the straight path from one state to another, without the first."""
    out = [start]
    while not np.array_equal(out[-1], end):
        out.append(space.steer(out[-1], end))
    return np.array(out[1:]).reshape(-1, space.width)


def _walk(
    space: CarriedSpace[Payload],
    state: Array,
    payload: Payload,
    ahead: Array,
    tally: NDArray[np.int64],
    most_checks: int,
    known: Sequence[Payload] = (),
) -> list[Payload]:
    """Payloads at the states ahead (N, W), each from the one before, up to the first invalid step.

    `known` are valid ones at the last of these states: after one that is met again, they are reused.
    """
    carried: list[Payload] = []
    first = len(ahead) - len(known)
    for k, end in enumerate(ahead):
        got = space.advance(state, payload, end, tally) if tally[CHECKS] < most_checks else None
        if got is None or got[0] is not end:
            break
        state, payload = got
        carried.append(payload)
        if known and k >= first and space.alike(payload, known[k - first]):
            return carried + list(known[k - first + 1 :])
    return carried


class _PayloadTree(Generic[Payload]):
    """Nodes with states, parents and payloads; the root is node 0."""

    def __init__(self, state: Array, payload: Payload, most: int) -> None:
        self._rows = np.zeros((min(most, 256), len(state)))
        self._rows[0] = state
        self.parents = [-1]
        self.payloads = [payload]
        self._most = most

    @property
    def states(self) -> Array:
        """States (N, W)."""
        return self._rows[: len(self.parents)]

    @property
    def full(self) -> bool:
        """Return whether no node may be added."""
        return len(self.parents) >= self._most

    def add(self, parent: int, state: Array, payload: Payload) -> int:
        """Add a node and return its index."""
        if len(self.parents) == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[len(self.parents)] = state
        self.parents.append(parent)
        self.payloads.append(payload)
        return len(self.parents) - 1

    def branch(self, k: int) -> list[int]:
        """Indices of the nodes from the root to node k."""
        found = [k]
        while self.parents[found[-1]] >= 0:
            found.append(self.parents[found[-1]])
        return found[::-1]

    def kept(self) -> PathTree:
        """States and parents, for display."""
        return PathTree(frozen(self.states), np.array(self.parents, np.int64))


@dataclass(eq=False)
class _TreeSearch(Generic[Payload]):
    """A search in progress."""

    space: CarriedSpace[Payload]
    budget: Budget
    rng: np.random.Generator
    balanced: bool = False
    tally: NDArray[np.int64] = field(default_factory=lambda: np.zeros(TALLY, np.int64))

    @property
    def spent(self) -> bool:
        """Return whether no further check may be made."""
        return bool(self.tally[CHECKS] >= self.budget.checks)

    @property
    def fruitless(self) -> bool:
        """Return whether so many rounds gave so few nodes that the trees are enclosed."""
        least, rounds = self.budget.fruitless, self.tally[ROUNDS]
        return least is not None and bool(rounds >= least and self.tally[NODES] < rounds)

    def run(self, trees: list[_PayloadTree[Payload]], goal: Array) -> int | None:
        """Index of the first tree's node at the goal, None if the limits came first."""
        found = self.grow(trees[0], goal)  # the straight path first
        in_vain = 0
        while not (found[1] or self.spent or in_vain == _IN_VAIN or any(tree.full for tree in trees)):
            if self.fruitless or (self.tally[ROUNDS] >= _ENCLOSED and any(len(tree.parents) == 1 for tree in trees)):
                break
            may_stop_here()
            self.tally[ROUNDS] += 1
            nodes = self.tally[NODES]
            found = self.alone(trees[0], goal) if len(trees) == 1 else self.in_turn(trees)
            in_vain = 0 if self.tally[NODES] > nodes else in_vain + 1
        return found[0] if found[1] else None

    def alone(self, tree: _PayloadTree[Payload], goal: Array) -> tuple[int, bool]:
        """Round of Algorithm 1: grow towards a sample or the goal; last node, and whether it is at the goal."""
        at_goal = self.rng.random() < GOAL_BIAS
        last, reached = self.grow(tree, goal if at_goal else self.drawn())
        return last, reached and at_goal

    def in_turn(self, trees: list[_PayloadTree[Payload]]) -> tuple[int, bool]:
        """Round with two trees: one grows towards a sample, the other towards it; then the branches are joined."""
        rounds = int(self.tally[ROUNDS])
        turn = rounds % 2
        if self.balanced:
            turn = int(len(trees[1].parents) < len(trees[0].parents)) if rounds % 4 else rounds // 4 % 2
        before = len(trees[turn].parents)
        grown, _ = self.grow(trees[turn], self.drawn())
        if len(trees[turn].parents) == before:
            return 0, False
        met, reached = self.grow(trees[1 - turn], trees[turn].states[grown])
        if not reached:
            return 0, False
        ours, theirs = (grown, met) if turn == 0 else (met, grown)
        back = trees[1].branch(theirs)[::-1][1:]  # the state where they met is in both
        return self.follow(trees[0], ours, trees[1].states[back])

    def drawn(self) -> Array:
        """Draw a sample."""
        self.tally[SAMPLES] += 1
        return self.space.sample(self.rng)

    def grow(self, tree: _PayloadTree[Payload], target: Array) -> tuple[int, bool]:
        """Algorithm 2: steps from the nearest node towards a target until one fails; last node, and whether it got
        there.
        """
        nearest = int(np.argmin(self.space.distances(tree.states, target)))

        def next_state(state: Array) -> Array | None:
            return None if np.array_equal(state, target) else self.space.steer(state, target)

        return self._extend(tree, nearest, next_state)

    def follow(self, tree: _PayloadTree[Payload], node: int, ahead: Array) -> tuple[int, bool]:
        """Walk along given states (N, W) from a node; last node, and whether the last state was reached."""
        rows = iter(ahead)
        return self._extend(tree, node, lambda state: next(rows, None))

    def _extend(
        self, tree: _PayloadTree[Payload], node: int, next_state: Callable[[Array], Array | None]
    ) -> tuple[int, bool]:
        """Add nodes one after another until there is no next state (reached) or a step is invalid."""
        while (end := next_state(tree.states[node])) is not None:
            if tree.full or self.spent:
                return node, False
            got = self.space.advance(tree.states[node], tree.payloads[node], end, self.tally)
            if got is None:
                return node, False
            node = tree.add(node, *got)
            self.tally[NODES] += 1
            if got[0] is not end:
                return node, False
        return node, True
