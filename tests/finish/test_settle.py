"""Paths of an arm as frames: slow at the ends, round in the corners, free between frames."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.errors import BadValue
from elbowroom.finish.settle import bell, between_free, first_hit, interpolate, rounded, settle, soften, wrist_travel
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box
from elbowroom.motion.clip import Clip, still_clip
from elbowroom.search.birrt import SearchPath
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSearchSpace, plan_limb
from elbowroom.world.fast import HIT, LimbCheck
from elbowroom.world.world import World

PERSON = human(skin=False)
ARM = list(PERSON.chain("right_arm").joints)
SECONDS, FPS = 2.0, 60.0


def posture(*degrees: tuple[float, float, float]) -> Array:
    limits = [PERSON.limits[j] for j in ARM]
    return np.stack([x.rotation(np.radians(c)) for x, c in zip(limits, degrees, strict=True)])  # type: ignore


LOW = posture((70, -20, 0), (30, 0, 0), (0, 0, 0))
HIGH = posture((20, 50, 0), (60, 0, 0), (10, 0, 0))


def standing() -> Clip:
    frames = int(SECONDS * FPS) + 1
    one = still_clip(PERSON)
    q = np.repeat(one.rotations, frames, axis=0).copy()
    q[:, ARM] = LOW
    return Clip(PERSON, FPS, np.repeat(one.root, frames, axis=0), q)


def space_with(static: dict[str, object], timed: bool = False) -> LimbSearchSpace:
    world = World(static=static, floor=0.0).with_character("ann", standing())  # type: ignore[arg-type]
    return LimbSearchSpace.over(
        LimbCheck(world, "ann", "right_arm", (0.0, SECONDS), margin=0.005), timed=timed, speed=4.0
    )


@pytest.fixture(scope="module")
def open_space() -> LimbSearchSpace:
    return space_with({})


@pytest.fixture(scope="module")
def timed_space() -> LimbSearchSpace:
    return space_with({}, timed=True)


def speeds(q: Array) -> Array:
    """Radians a second of each joint, (T - 1, n)."""
    return rot.angle_between(q[:-1], q[1:]) * FPS


def test_bell_has_no_speed_at_its_ends_and_is_fastest_half_way() -> None:
    s = bell(np.linspace(3.0, 5.0, 201))
    assert s[0] == 0.0 and s[-1] == 1.0 and np.argmax(np.diff(s)) in (99, 100)
    assert np.diff(s)[[0, -1]].max() < 0.02 * np.diff(s).max()


def test_wrist_has_even_speed_along_its_way(open_space: LimbSearchSpace) -> None:
    a, b = open_space.state(LOW), open_space.state(HIGH)
    q, along = wrist_travel(open_space, SearchPath(np.stack([a, b]), "found"))
    even = interpolate(along, q, np.linspace(0.0, 1.0, 50))
    wrist = np.array([open_space.marks(open_space.state(x))[1] for x in even])
    step = np.linalg.norm(np.diff(wrist, axis=0), axis=1)
    assert step.max() < 1.25 * step.min()


def test_rounding_keeps_the_ends_and_takes_the_corner_away() -> None:
    corner = rot.exp(np.stack([np.minimum(np.arange(121), 60) / 60.0, np.zeros(121), np.zeros(121)], axis=-1))[:, None]
    soft = rounded(corner, 12)
    assert np.allclose(soft[[0, -1]], corner[[0, -1]])
    assert speeds(soft)[0, 0] < 0.05 * speeds(corner)[0, 0]
    bend = np.abs(np.diff(speeds(soft)[:, 0]))
    assert bend.max() < 0.25 * np.abs(np.diff(speeds(corner)[:, 0])).max()
    assert rot.angle_between(soft, corner).max() < 0.12


def test_rounding_leaves_and_joins_its_base_with_its_velocity() -> None:
    t = np.arange(91) / 30.0
    base = rot.exp(np.stack([np.sin(3 * t), 0.3 * np.cos(5 * t), 0 * t], axis=-1))[:, None]
    away = rot.exp(np.stack([0 * t, 0 * t, 0.8 * np.interp(t, [0, 1, 2, 3], [0, 1, 1, 0])], axis=-1))[:, None]
    q = rounded(rot.multiply(base, away), 6, base)
    assert np.allclose(q[[0, -1]], base[[0, -1]])
    apart = rot.angle_between(q, base)[:, 0]
    assert apart[1] < 0.003 and apart[-2] < 0.003 and apart[45] == pytest.approx(0.8, abs=1e-3)


class Gate:
    """A check that lets a joint through at one moment alone where it has turned far enough."""

    def batch(self, q: Array, t: Array, resolve_uncertain: bool = True, until_hit: bool = False) -> Array:
        low = (np.abs(np.asarray(t) - 1.0) < 0.01) & (rot.angle(q[:, 0]) < 0.985)
        return np.where(low, HIT, 0)

    def free_batch(self, q: Array, t: Array) -> Array:
        return self.batch(q, t) != HIT

    def travels(self, q: Array, _: Array) -> Array:
        return np.zeros(len(q) - 1)


def test_a_way_that_is_tight_somewhere_has_no_corners_elsewhere() -> None:
    t = np.arange(121) / FPS
    turn = np.interp(t, [0.0, 1.0, 1.5, 2.0], [0.0, 1.0, 0.2, 0.0])
    frames = rot.exp(np.stack([turn, 0 * t, 0 * t], axis=-1))[:, None]
    done = soften(Gate(), frames, t)  # type: ignore[arg-type]
    assert done.free and done.how == "rounded where it is free"
    assert rot.angle(done.rotations[60, 0]) >= 0.985
    assert speeds(done.rotations)[0, 0] < 0.2 * speeds(frames)[0, 0]
    bends = [np.abs(np.diff(speeds(q)[:, 0]))[85:95].max() for q in (done.rotations, frames)]
    assert bends[0] < 0.3 * bends[1]


def test_free_path_is_gone_along_with_the_bell(open_space: LimbSearchSpace) -> None:
    path = plan_limb(open_space, open_space.state(LOW), open_space.state(HIGH))
    times = np.arange(0.0, 1.0 + 1e-9, 1 / FPS)
    done = settle(open_space, path, times)
    assert done.free and done.how == "bell"
    assert rot.angle_between(done.rotations[[0, -1]], np.stack([LOW, HIGH])).max() < 1e-6
    assert speeds(done.rotations)[[0, -1]].max() < 0.1 * speeds(done.rotations).max()
    assert not done.rotations.flags.writeable


def test_own_times_are_kept_where_they_matter(timed_space: LimbSearchSpace) -> None:
    """There and back: with the bell over its way it would be there at another time."""
    rows = np.stack([timed_space.state(q, t) for q, t in ((LOW, 0.0), (HIGH, 0.7), (HIGH, 1.2), (LOW, 2.0))])
    times = np.arange(0.0, SECONDS + 1e-9, 1 / FPS)
    base = np.repeat(LOW[None], len(times), axis=0)
    done = settle(timed_space, SearchPath(rows, "found"), times, base, slow_ends=False)
    assert done.free and done.how.startswith("rounded")
    at = rot.angle_between(done.rotations[57], HIGH).max()
    assert at < 0.05
    assert speeds(done.rotations)[[0, -1]].max() < 0.2


def test_what_is_free_wins_over_what_is_beautiful() -> None:
    """A plate that the planned path just clears: frames are free, looked at closely by the exact test."""
    plate = box((0.4, 0.4, 0.02), (-0.45, -0.25, 1.05))
    space = space_with({"plate": plate})
    path = plan_limb(space, space.state(LOW), space.state(HIGH), seed=3)
    assert path.found
    times = np.arange(0.0, 1.5, 1 / FPS)
    done = settle(space, smooth(space, path, seed=3), times)
    assert done.free
    fine = np.linspace(0.0, times[-1], 800)
    assert not space.check.hits_batch(interpolate(times, done.rotations, fine), fine).any()


def test_path_into_a_thing_is_told_and_where() -> None:
    space = space_with({"plate": box((0.4, 0.4, 0.02), (-0.45, -0.25, 1.05))})
    rows = np.stack([space.state(LOW), space.state(HIGH)])
    times = np.arange(0.0, 1.0, 1 / FPS)
    straight = interpolate([0.0, 1.0], np.stack([LOW, HIGH]), times)
    hit = first_hit(space.check, straight, times)
    assert hit is not None and 0.0 < hit < 1.0
    assert not between_free(space.check, straight, times)
    assert not settle(space, SearchPath(rows, "found"), times).free


def test_bad_times_are_refused(open_space: LimbSearchSpace) -> None:
    rows = np.stack([open_space.state(LOW), open_space.state(HIGH)])
    for times in ([0.0], [0.0, 0.0, 1.0], [1.0, 0.0]):
        with pytest.raises(BadValue):
            settle(open_space, SearchPath(rows, "found"), times)
    with pytest.raises(BadValue):
        settle(open_space, SearchPath(rows, "budget-spent"), [0.0, 1.0])
