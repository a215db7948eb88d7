"""The search on a space of its own: a point among boxes in the plane, with or without time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path as File

import numpy as np
import planar_space as planar
import pytest
from numba.core.caching import NullCache

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import birrt, shortcut
from elbowroom.kernels.rng import rng, uniform
from elbowroom.search.birrt import Budget, SearchPath, keeping_trees, plan
from elbowroom.search.shortcut import SmoothingLimits, smooth


@dataclass(frozen=True, eq=False)
class Plane:
    """A square of 2 m about the origin with boxes (B, 4) in it: low x, y, high x, y."""

    boxes: Array
    timed: bool = False
    width: int = 3

    def compiled(self, start: Array, goal: Array) -> planar.Plane:
        return planar.Plane(self.boxes, self.timed, float(start[0]), float(goal[0]), 0.2, 0.01)


@pytest.fixture(autouse=True, scope="module")
def nothing_kept() -> Iterator[None]:
    """Keep nothing that is compiled for the plane: others who load what is kept do not know its type."""
    asking = (birrt.connect, shortcut.shorten)
    kept = [f._cache for f in asking]
    for f in asking:
        f._cache = NullCache()
    yield
    for f, cache in zip(asking, kept, strict=True):
        f._cache = cache


def wall(*gaps: tuple[float, float]) -> Plane:
    """A wall along x = 0 with gaps."""
    ends = [-1.01, *(y for gap in gaps for y in gap), 1.01]
    return Plane(np.array([[-0.05, a, 0.05, b] for a, b in zip(ends[::2], ends[1::2], strict=True)]))


def at(x: float, y: float, t: float = 0.0) -> Array:
    return np.array([t, x, y])


def length(path: SearchPath) -> float:
    return float(np.linalg.norm(np.diff(path.states[:, 1:], axis=0), axis=1).sum())


def is_free(space: Plane, path: SearchPath) -> bool:
    """Brute force at a tenth of the resolution; corners may be cut by half of it."""
    a, b = path.states[:-1, None, 1:], path.states[1:, None, 1:]
    p = (a + np.linspace(0.0, 1.0, 2001)[:, None] * (b - a)).reshape(-1, 1, 2)
    return not ((p > space.boxes[:, :2] + 0.005) & (p < space.boxes[:, 2:] - 0.005)).all(axis=2).any()


def test_straight_where_nothing_is_in_the_way() -> None:
    path = plan(Plane(np.zeros((0, 4))), at(-0.8, 0), at(0.8, 0.3))
    assert path.found and len(path.states) == 2 and path.stats.nodes == 2 and path.stats.samples == 0


@pytest.mark.parametrize("gap", [(0.3, 0.7), (0.85, 0.89)])
def test_through_a_gap(gap: tuple[float, float]) -> None:
    space, a, b = wall(gap), at(-0.8, -0.5), at(0.8, -0.5)
    path = plan(space, a, b, seed=1)
    assert path.found
    assert (path.states[0] == a).all() and (path.states[-1] == b).all()
    assert is_free(space, path)
    short = smooth(space, path, seed=1)
    assert is_free(space, short)
    assert (short.states[0] == a).all() and (short.states[-1] == b).all()
    assert length(short) <= length(path) + 1e-9
    corner = 0.5 * sum(gap)
    assert length(short) < 1.15 * 2 * np.hypot(0.8, corner + 0.5)


def test_brute_force_finds_what_is_in_the_way() -> None:
    path = plan(Plane(np.zeros((0, 4))), at(-0.8, -0.5), at(0.8, -0.5))
    assert not is_free(wall((0.3, 0.7)), path)


def test_what_rough_looks_miss_is_cut() -> None:
    """Trees grow through walls that are thinner than their looks are apart; paths do not."""
    thin = wall((0.6, 0.7))
    thin.boxes[:, [0, 2]] = -0.011, 0.011
    for seed in range(6):
        path = plan(thin, at(-0.8, -0.5), at(0.8, -0.5), seed)
        assert path.found and is_free(thin, path)
    assert plan(replace(thin, boxes=np.array([[-0.011, -1.01, 0.011, 1.01]])), at(-0.8, 0), at(0.8, 0)).status == (
        "budget-spent"
    )


def test_no_way_is_told_within_the_budget() -> None:
    path = plan(wall(), at(-0.8, 0), at(0.8, 0), budget=Budget(checks=5000, nodes=4000))
    assert path.status == "budget-spent" and not path.found and len(path.states) == 0
    assert 5000 <= path.stats.checks < 5400
    assert smooth(wall(), path) is path
    few = plan(wall(), at(-0.8, 0), at(0.8, 0), budget=Budget(checks=10**6, nodes=300))
    assert few.status == "budget-spent" and few.stats.nodes <= 600


def test_ends_that_are_hit() -> None:
    space = wall((0.3, 0.7))
    assert plan(space, at(0, 0), at(0.8, 0)).status == "start-in-collision"
    assert plan(space, at(-0.8, 0), at(0, 0)).status == "goal-in-collision"


@pytest.mark.parametrize("at_once", [1, 7, 10**9])
def test_where_a_search_pauses_makes_no_difference(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    for space, b in ((wall((0.862, 0.88)), at(0.8, -0.5)), (wall(), at(0.8, 0.0))):
        usual = plan(space, at(-0.8, -0.5), b, seed=3, budget=Budget(checks=6000))
        with monkeypatch.context() as patch:
            patch.setattr("elbowroom.search.birrt._AT_ONCE", at_once)
            other = plan(space, at(-0.8, -0.5), b, seed=3, budget=Budget(checks=6000))
        assert usual.stats.checks > 1000, "it pauses in between"
        assert np.array_equal(usual.states, other.states) and usual.stats == other.stats


def test_same_seed_same_path_whatever_the_room() -> None:
    space, a, b = wall((0.862, 0.88)), at(-0.8, -0.5), at(0.8, -0.5)
    first, again, other = (plan(space, a, b, seed=s) for s in (3, 3, 5))
    assert np.array_equal(first.states, again.states) and first.stats == again.stats
    assert first.states.shape != other.states.shape or not np.array_equal(first.states, other.states)
    # trees that outgrow their first room go on as if they had had more
    assert first.found and first.stats.nodes > 512
    roomy = plan(space, a, b, seed=3, budget=Budget(nodes=100_000))
    assert np.array_equal(first.states, roomy.states)


def test_trees_are_kept_where_they_are_asked_for() -> None:
    thin = wall((0.6, 0.7))
    thin.boxes[:, [0, 2]] = -0.011, 0.011  # rough looks go through it, so that branches are cut
    a, b = at(-0.8, -0.5), at(0.8, -0.5)
    plain = plan(thin, a, b, seed=0)
    with keeping_trees():
        path = plan(thin, a, b, seed=0)
    assert plain.trees == plan(thin, a, b, seed=0).trees == ()
    assert np.array_equal(path.states, plain.states) and path.stats == plain.stats
    count = 0
    for tree, root in zip(path.trees, (a, b), strict=True):
        assert np.array_equal(tree.states[0], root) and tree.parents[0] == -1
        numbers = np.arange(1, len(tree.parents))
        assert (tree.parents[1:] >= 0).all() and (tree.parents[1:] < numbers).all()
        steps = tree.states[1:, 1:] - tree.states[tree.parents[1:], 1:]
        assert np.linalg.norm(steps, axis=1).max() <= 0.2 + 1e-9  # each grew by one step from its parent
        count += len(tree.states)
    on_trees = {tuple(row) for tree in path.trees for row in tree.states}
    assert all(tuple(row) in on_trees for row in path.states)
    assert count < path.stats.nodes  # what was cut off is not there


def test_time_runs_forward() -> None:
    space = replace(wall((0.3, 0.7)), timed=True)
    a, b = at(-0.8, -0.5, 0.0), at(0.8, -0.5, 4.0)
    for seed in range(5):
        path = plan(space, a, b, seed)
        assert path.found and (np.diff(path.states[:, 0]) > 0.0).all()
        assert is_free(space, path)
        short = smooth(space, path, seed)
        assert (np.diff(short.states[:, 0]) > 0.0).all() and short.states[-1, 0] == 4.0
        speed = np.linalg.norm(np.diff(short.states[:, 1:], axis=0), axis=1) / np.diff(short.states[:, 0])
        assert speed.max() <= planar.SPEED + 1e-6
    assert plan(space, a, at(0.8, -0.5, 0.5), budget=Budget(checks=3000)).status == "budget-spent"  # too fast


def test_smoothing_stops_when_told() -> None:
    space = wall((0.3, 0.7))
    path = plan(space, at(-0.8, -0.5), at(0.8, -0.5), seed=2)
    assert np.array_equal(smooth(space, path, effort=SmoothingLimits(rounds=0)).states, path.states)
    assert smooth(space, path, effort=SmoothingLimits(rounds=7)).stats.rounds <= 7


def test_bad_states_and_budgets() -> None:
    space = wall()
    with pytest.raises(BadValue, match="3 numbers"):
        plan(space, np.zeros(2), np.zeros(3))
    with pytest.raises(BadValue, match="not finite"):
        plan(space, at(np.nan, 0), at(0.8, 0))
    with pytest.raises(BadValue):
        Budget(checks=0)


def test_dice_are_even_and_their_own() -> None:
    a, b = rng(1), rng(2)
    x = np.array([uniform(a) for _ in range(20_000)])
    y = np.array([uniform(b) for _ in range(20_000)])
    assert x.min() >= 0.0 and x.max() < 1.0
    assert abs(x.mean() - 0.5) < 0.01 and abs(x.var() - 1 / 12) < 0.003
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.03 and abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 0.03


def test_compiled_search_loads_in_the_next_process(tmp_path: File) -> None:
    """A space's own answers are in what is kept: the second process compiles nothing."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np, planar_space as p\n"
        "from elbowroom.kernels import birrt\n"
        "from elbowroom.kernels.rng import rng\n"
        "rows = np.zeros((2, 64, 3)); rows[0, 0] = (0, -0.8, 0); rows[1, 0] = (0, 0.8, 0)\n"
        "space = p.Plane(np.zeros((0, 4)), False, 0.0, 0.0, 0.2, 0.01)\n"
        "z = np.zeros\n"
        "out = birrt.connect(space, rng(0), 1000, 1000, 10.0, rows, z((2, 64), np.int64), z((2, 64), np.int64), "
        "z(64, np.int64), z(3), z(3, np.int64), z(4, np.int64))\n"
        "print(out[0], sum(birrt.connect.stats.cache_hits.values()), sum(birrt.connect.stats.cache_misses.values()))\n"
    )
    env = {**os.environ, "ELBOWROOM_CACHE": str(tmp_path)}
    env.pop("NUMBA_CACHE_DIR", None)
    said = [
        subprocess.run(
            [sys.executable, "-c", code, str(File(__file__).parent)],
            env=env,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert said == [["0", "0", "1"], ["0", "1", "0"]]
