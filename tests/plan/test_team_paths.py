"""Roadmaps of teams: learned once for a scene, a cast and an object, stored, and used by later queries."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import elbowroom as er
from elbowroom.geometry.cover import mesh_cover
from elbowroom.geometry.fields import distance_field
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.teams.paths import TeamPaths
from elbowroom.plan.teams.trajectory import trajectory
from elbowroom.search.roadmap import Roadmap
from elbowroom.spaces.team import YAW, Bearer, FloorCells, TeamSpace
from elbowroom.spaces.team_scene import grouped

ORIGIN, CELL = np.array([-4.0, -4.0]), 0.05
SHOULDERS = np.array([[0.17, 0.0, 1.4], [-0.17, 0.0, 1.4]])


def space(wall: float = 0.0, half_length: float = 0.6, radius: float = 0.25) -> TeamSpace:
    """Two people with a board, and a wall at x = 0 that ends at y = `wall`; made anew by each call."""
    mesh = box((0.1, 4.0, 2.0), (0.0, wall - 2.0, 1.0))
    x, y = np.meshgrid(*[ORIGIN[0] + CELL * (np.arange(160) + 0.5)] * 2)
    room = np.hypot(np.maximum(np.abs(x) - 0.05, 0.0), np.maximum(y - wall, 0.0))
    hands = half_length - 0.1
    ends = [
        Bearer(np.array([0.0, sign * (half_length + 0.3), heading]),
               np.array([[sign * 0.2, sign * hands, 0.0], [sign * -0.2, sign * hands, 0.0]]), SHOULDERS,
               np.tile([0.15, 0.7], (2, 1)), radius, room, room, 0.3, 0.2)
        for sign, heading in ((1.0, 0.0), (-1.0, np.pi))
    ]  # fmt: skip
    free = np.stack([x[room > radius], y[room > radius]], axis=-1)
    return TeamSpace(tuple(ends), FloorCells(ORIGIN, CELL, free, np.zeros((0, 3))),
                     grouped(mesh_cover(box((0.4, 2.0 * half_length, 0.05)))[:, :4]),
                     np.array([0.0, 0.0, 0.2, half_length]), distance_field(mesh).arrays, np.eye(3), (0.8, 0.95, 1.2),
                     0.5, tilts=False)  # fmt: skip


def ends(team: TeamSpace) -> tuple[Array, Array]:
    return team.state(np.array([-1.8, -1.2, 0.95]), 0.0), team.state(np.array([1.8, -1.2, 0.95]), 0.0)


@pytest.fixture
def learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of roadmaps that are learned, with an empty cache."""
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    before, told = Roadmap.learn, list[int]()
    monkeypatch.setattr(Roadmap, "learn", lambda *asked: (told.append(len(told)), before(*asked)))
    return told


def test_a_roadmap_is_learned_once_and_used_again(learned: list[int]) -> None:
    first = TeamPaths(space(), 0)
    start, goal = ends(first.space)
    found = first.find(start, [goal], "carry")
    assert learned == [0]
    # other arrays with the same content, as another process has them; another start
    second = TeamPaths(replace(space(), near=np.zeros((1, 2, 2))), 0)
    assert learned == [0] and len(second.roadmap.edges) == len(first.roadmap.edges) > 0
    np.testing.assert_array_equal(second.roadmap.states, first.roadmap.states)
    np.testing.assert_array_equal(TeamPaths(space(), 0).find(start, [goal], "carry").states, found.states)


@pytest.mark.parametrize("other", [
    lambda: TeamPaths(space(wall=0.5), 0), lambda: TeamPaths(space(radius=0.27), 0),
    lambda: TeamPaths(space(half_length=0.7), 0), lambda: TeamPaths(space(), 1),
    lambda: TeamPaths(replace(space(), outline=np.array([0.0, 0.0, 0.3, 0.6])), 0),
], ids=["scene", "cast", "object", "seed", "outline"])  # fmt: skip
def test_another_scene_cast_or_object_has_its_own(learned: list[int], other) -> None:
    TeamPaths(space(), 0)
    other()
    assert learned == [0, 1]


def test_a_second_query_takes_less_than_50_ms(learned: list[int]) -> None:
    team = space()
    start, goal = ends(team)
    TeamPaths(team, 0).find(start, [goal], "carry")
    seconds = []
    for _ in range(3):
        begun = time.process_time()
        assert TeamPaths(space(), 0)._found(start, [goal])
        seconds.append(time.process_time() - begun)
    assert learned == [0] and min(seconds) < 0.05


ANOTHER = """
import json, os, sys, time
sys.path[:0] = [{folder!r}]
from test_team_paths import Roadmap, TeamPaths, ends, space

os.environ["ELBOWROOM_CACHE"] = {cache!r}  # after compiled code was found
team, before, learned = space(), Roadmap.learn, []
Roadmap.learn = lambda *asked: (learned.append(1), before(*asked))
begun = time.process_time()
paths = TeamPaths(team, 0)
seconds = time.process_time() - begun
start, goal = ends(team)
states = paths.find(start, [goal], "carry").states
print(json.dumps([len(learned), seconds, len(paths.roadmap.edges), states.tolist()]))
"""


def test_another_process_uses_the_stored_roadmap(tmp_path: Path) -> None:
    code = ANOTHER.format(folder=str(Path(__file__).parent), cache=str(tmp_path))
    runs = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
        runs.append(json.loads(done.stdout))
    (learned, first, edges, path), (again, second, same, other) = runs
    assert (learned, again) == (1, 0) and second < 0.5 * first
    assert same == edges > 0 and other == path


def test_all_stop_where_somebody_turns_back_and_only_there():
    team = space()
    place, yaw = np.array([-2.0, 1.5, 0.95]), 1.2
    states = [team.state(place, 0.0) for _ in range(81)]
    for k, state in enumerate(states):  # the board is turned and turned back, while it goes ahead
        state[0] += 0.005 * k
        state[YAW] += yaw * (1.0 - abs(k - 40) / 40.0)
    bodies = [er.preset("woman"), er.preset("man")]
    timing = trajectory(team, np.array(states), bodies, 0.8, 0.5, 30.0, Settings().library)
    times = np.arange(0.0, timing.duration, 0.05)
    fast = np.linalg.norm(np.diff(team.carriers(timing.at(times))[0], axis=0), axis=2).max(axis=1) / 0.05
    slow = times[:-1][fast < 0.08]
    assert fast.max() < 0.8
    assert 0.05 < np.ptp(slow[(slow > 1.0) & (slow < timing.duration - 1.0)]) < 2.0


@pytest.mark.parametrize("accel", [0.2, 0.5])
def test_a_team_accelerates_no_more_than_it_is_told(accel: float) -> None:
    team = space()
    states = [team.state(np.array([-2.0 + 0.01 * k, 1.5, 0.95]), 0.0) for k in range(301)]
    bodies = [er.preset("woman"), er.preset("man")]
    timing = trajectory(team, np.array(states), bodies, 0.8, accel, 30.0, Settings().library)
    times = np.arange(0.0, timing.duration, 0.02)
    fast = np.linalg.norm(np.gradient(team.carriers(timing.at(times))[0], times, axis=0), axis=2)
    gains = np.abs(np.gradient(fast, times, axis=0))
    assert gains.max() <= 1.1 * accel
    assert gains.max() >= 0.5 * accel, "nobody is slower than necessary"
