"""Leans: they come and go smoothly, keep ranges, feet and hanging arms as told, and are no larger than need be."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.character.limits import JointLimit
from elbowroom.finish.least import relax
from elbowroom.finish.nudge import Core, Sampling, nudge
from elbowroom.finish.offsets import JointOffsets
from elbowroom.finish.settle import first_hit
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box
from elbowroom.motion.clip import Clip, still_clip
from elbowroom.world.fast import LimbCheck
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World

PERSON = human(skin=False)
ARM = list(PERSON.chain("right_arm").joints)
LEG = list(PERSON.chain("left_leg").joints)
FPS, FRAMES = 60.0, 121
TIMES = np.arange(FRAMES) / FPS
CORE = Core(0.2, 0.8, 1.2, 1.8)
EVERY = np.arange(FRAMES)


def moving() -> Clip:
    """Standing, the right arm swinging by its side, the legs a little bent."""
    one = still_clip(PERSON)
    q = np.repeat(one.rotations, FRAMES, axis=0).copy()
    for j, terms in zip(ARM, ((58, -10, 0), (25, 0, 0), (0, 0, 0)), strict=True):
        swing = np.radians(np.array(terms) + np.outer(np.sin(3.0 * TIMES), (0, 12, 0) if j == ARM[0] else (0, 0, 0)))
        q[:, j] = limit(j).rotation(swing)
    for j, terms in zip(LEG, ((20, 0, 0), (40, 0, 0), (10, 0, 0)), strict=True):
        q[:, j] = limit(j).rotation(np.radians(terms))
    return Clip(PERSON, FPS, np.repeat(one.root, FRAMES, axis=0), q)


def limit(joint: int) -> JointLimit:
    found = PERSON.limits[joint]
    assert found is not None
    return found


CLIP = moving()
BASE = CLIP.rotations[:, ARM]
WEIGHTS = CORE.weights(TIMES)


def arm_offsets() -> JointOffsets:
    return JointOffsets([limit(j) for j in ARM], BASE, WEIGHTS, [1.0, 1.0, 1.0])


def arm_check(path: Keyed, size: float = 0.06) -> LimbCheck:
    """Of the arm while a cube comes and goes."""
    world = World(floor=0.0).with_character("ann", CLIP).with_object("cube", box((size, size, size)), path)
    return LimbCheck(world, "ann", "right_arm", (0.0, 2.0), margin=0.005)


def to_the_hand() -> Keyed:
    hand = CLIP.positions([1.0])[0, ARM[2]] + (-0.05, 0.0, -0.05)
    return Keyed.along([0.0, 0.9, 1.1, 2.0], [hand + (-1.5, 0, 0), hand, hand, hand + (-1.5, 0, 0)])


def test_weights_come_and_go_without_a_jump() -> None:
    assert WEIGHTS[TIMES <= 0.2].max() == 0.0 and WEIGHTS[TIMES >= 1.8].max() == 0.0
    assert WEIGHTS[(TIMES >= 0.8) & (TIMES <= 1.2)].min() == 1.0
    speed = np.diff(WEIGHTS) * FPS
    assert np.abs(np.diff(speed)).max() * FPS < 20.0  # 10 / sqrt(3) / 0.6² is the most
    open_ends = Core(0.0, 0.0, 2.0, 2.0)
    assert open_ends.weights(TIMES).min() == 1.0 and open_ends.largest(1000.0) == np.inf
    assert CORE.largest(1000.0) == pytest.approx(1000.0 * 0.6**3 / 60.0)


def test_leans_of_joints_keep_their_ranges_and_the_ends() -> None:
    offsets = arm_offsets()
    leans = np.random.default_rng(0).normal(size=(40, len(offsets.reach))) * 2.0
    q = offsets.frames(leans, EVERY)
    assert q.shape == (40, FRAMES, 3, 4)
    assert rot.angle_between(q[:, WEIGHTS == 0.0], BASE[WEIGHTS == 0.0]).max() < 1e-6
    whole = q[:, WEIGHTS == 1.0]
    for j, joint in enumerate(ARM):
        assert limit(joint).excess(whole[:, :, j]).max() < 1e-6
    assert rot.angle_between(offsets.frames(np.zeros((1, 9)), EVERY)[0], BASE).max() < 1e-6


def test_nudge_is_free_small_and_leaves_the_rest() -> None:
    check = arm_check(to_the_hand())
    assert first_hit(check, BASE, TIMES) is not None
    done = nudge(check, arm_offsets(), BASE, TIMES, WEIGHTS, sampling=Sampling(seed=4))
    q = done.frames
    assert q is not None and done.checks > 0
    assert not check.hits_batch(q, TIMES).any()
    assert np.array_equal(q[WEIGHTS == 0.0], BASE[WEIGHTS == 0.0])
    away: Array = rot.angle_between(q, BASE)
    assert 0.05 < away.max() < 0.8
    again = nudge(check, arm_offsets(), BASE, TIMES, WEIGHTS, sampling=Sampling(seed=4)).frames
    assert again is not None and np.array_equal(q, again)


def test_nothing_is_given_where_nothing_is_free() -> None:
    shoulder = CLIP.positions([1.0])[0, ARM[0]]
    check = arm_check(Keyed.along([0.0], [shoulder]), 0.3)
    done = nudge(check, arm_offsets(), BASE, TIMES, WEIGHTS)
    # two draws tell that no lean helps: the first is all that is made after a deadline
    first = nudge(check, arm_offsets(), BASE, TIMES, WEIGHTS, sampling=Sampling(until=0.0))
    assert done.frames is None and 0 < done.checks <= 2 * first.checks


def test_a_lean_is_drawn_back_to_the_least_that_is_free() -> None:
    check = arm_check(to_the_hand())
    for seed in range(3):
        offset = nudge(check, arm_offsets(), BASE, TIMES, WEIGHTS, sampling=Sampling(seed=seed)).offset
        assert offset is not None

        def hit(share: float, offset: Array = offset) -> bool:
            q = np.where((WEIGHTS == 0.0)[:, None, None], BASE, arm_offsets().frames(share * offset[None], EVERY)[0])
            return first_hit(check, q, TIMES) is not None

        assert not hit(1.0) and hit(0.85)


def test_after_a_deadline_no_more_leans_are_drawn() -> None:
    check = arm_check(to_the_hand())
    late = nudge(check, arm_offsets(), BASE, TIMES, WEIGHTS, sampling=Sampling(until=0.0))
    assert late.checks < 0.5 * nudge(check, arm_offsets(), BASE, TIMES, WEIGHTS).checks


def test_what_is_passed_between_two_frames_is_a_hit() -> None:
    offset = np.zeros((2, 9))
    offset[:, 1] = (-0.3, 0.3)
    q = arm_offsets().frames(offset, np.array([60]))[:, 0]
    clip = CLIP.rotations[60].copy()
    clip[ARM] = rot.slerp(q[0], q[1], 0.5)
    wrist = CLIP.with_(root=CLIP.root[:1], rotations=clip[None]).positions()[0, ARM[2]]
    check = arm_check(Keyed.along([0.0], [wrist]), 0.01)
    t = np.array([1.0, 1.0 + 1.0 / FPS])
    assert not check.hits_batch(q, t).any()
    assert check.travels(q[:2], t[:2])[0] < 0.5
    hit = first_hit(check, q, t)
    assert hit is not None and t[0] < hit < t[1]


def test_relaxed_frames_are_free_and_nearer_to_the_base() -> None:
    check = arm_check(to_the_hand())
    offset = np.zeros((1, 9))
    offset[0, :5] = (-0.6, 0.5, 0.0, 0.9, 0.0)
    wide = arm_offsets().frames(offset, EVERY)[0]
    wide = np.where((WEIGHTS == 0.0)[:, None, None], BASE, wide)
    assert first_hit(check, wide, TIMES) is None
    q = relax(check, wide, TIMES, BASE, seed=1)
    assert first_hit(check, q, TIMES) is None
    before, after = (rot.angle_between(x, BASE).sum() for x in (wide, q))
    assert after < 0.95 * before
    assert np.array_equal(q[[0, -1]], wide[[0, -1]])
