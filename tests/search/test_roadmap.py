"""Roadmaps by visibility: few nodes cover a space; ways are found, shortened, and found otherwise if one is closed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.search.roadmap import Learning, Roadmap, lazy_path, shortened


@dataclass(frozen=True)
class Rooms:
    """The square from -2 to 2 with a wall at x = 0 that is open between some heights."""

    gaps: tuple[tuple[float, float], ...] = ((0.9, 1.3), (-1.9, -1.5))

    def free(self, points: Array) -> Array:
        open_ = np.any([(points[:, 1] > a) & (points[:, 1] < b) for a, b in self.gaps], axis=0)
        return (np.abs(points[:, 0]) > 0.1) | open_

    def samples(self, rng: np.random.Generator, count: int) -> Array:
        points = rng.uniform(-2.0, 2.0, (count, 2))
        return points[self.free(points)]

    def distances(self, states: Array, state: Array) -> Array:
        return np.linalg.norm(states - state, axis=1)

    def joins(self, a: Array, b: Array) -> bool:
        return bool(self.free(a + np.linspace(0.0, 1.0, 80)[:, None] * (b - a)).all())

    def cost(self, a: Array, b: Array) -> float:
        return float(np.linalg.norm(b - a))


START, GOAL = np.array([-1.0, 0.2]), np.array([1.0, 0.2])


def learned(space: Rooms, seed: int = 0) -> Roadmap:
    roadmap = Roadmap(space)
    roadmap.learn(np.random.default_rng(seed), Learning(samples=3000, idle=600))
    return roadmap


def anything(_a: Array, _b: Array, _joined: bool) -> bool:
    return True


def length(way: list[Array]) -> float:
    return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())


def test_few_nodes_cover_a_space_and_lead_through_the_nearer_gap():
    space = Rooms()
    roadmap = learned(space)
    assert len(roadmap.states) < 60 < roadmap.drawn
    way = roadmap.find(START, [GOAL], anything)[0]
    assert way is not None and all(space.joins(a, b) for a, b in pairwise(way))
    short = shortened(space, way, lambda a, b, u: a + u * (b - a), np.random.default_rng(1), 200)
    assert length(short) <= length(way) and length(short) < 2.9  # straight to the gap and back takes 2.5
    assert max(p[1] for p in short) > 0.8


def test_a_way_that_is_closed_later_leaves_the_other_one():
    roadmap = learned(Rooms())

    def below(a: Array, b: Array, _joined: bool) -> bool:
        middle = a + np.linspace(0.0, 1.0, 40)[:, None] * (b - a)
        return bool(np.linalg.norm(middle - [0.0, 1.1], axis=1).min() > 0.4)

    way = roadmap.find(START, [GOAL], below)[0]
    assert way is not None and min(p[1] for p in way) < -1.0


def test_without_a_gap_there_is_no_way():
    assert learned(Rooms(())).find(START, [GOAL], anything) == [None]


def test_a_roadmap_is_the_same_for_a_seed_and_after_it_was_stored():
    first, again = learned(Rooms()), learned(Rooms())
    assert all(np.array_equal(a, b) for a, b in zip(first.states, again.states, strict=True))
    stored = Roadmap.of(Rooms(), first.arrays())
    assert stored.edges == first.edges and stored.guard == first.guard
    a, b = (roadmap.find(START, [GOAL], anything)[0] for roadmap in (first, stored))
    assert a is not None and b is not None and np.array_equal(np.array(a), np.array(b))


def test_ways_to_several_goals_are_those_to_each_alone_and_pass_no_other_goal():
    roadmap, beyond = learned(Rooms()), np.array([1.8, 0.2])
    together = roadmap.find(START, [GOAL, beyond], anything)
    for goal, way in zip((GOAL, beyond), together, strict=True):
        alone = roadmap.find(START, [goal], anything)[0]
        assert way is not None and alone is not None and np.array_equal(np.array(way), np.array(alone))


def test_a_lazy_search_finds_the_near_gap_with_few_checks():
    checked: list[bool] = []

    class Counted(Rooms):
        def joins(self, a: Array, b: Array) -> bool:
            checked.append(super().joins(a, b))
            return checked[-1]

    space = Counted()
    states = np.array([START, GOAL, *space.samples(np.random.default_rng(0), 200)])
    found = lazy_path(space, states, 200)
    assert found is not None and (found[0] == START).all() and (found[-1] == GOAL).all()
    assert all(Rooms().joins(a, b) for a, b in pairwise(found))
    assert sum(space.cost(a, b) for a, b in pairwise(found)) < 3.0  # 2.6 by the near gap, 4.5 by the other
    assert False in checked and len(checked) < 100  # of some 1600 local paths


def test_a_lazy_search_tells_that_there_is_no_path():
    closed = Rooms(gaps=((3.0, 4.0),))
    assert lazy_path(closed, np.array([START, GOAL]), 50) is None
    assert lazy_path(closed, np.array([START, GOAL, *closed.samples(np.random.default_rng(0), 40)]), 2000) is None
