"""Built-in clips are proven free in continuous time, for every build: no limb enters another."""

from __future__ import annotations

import numpy as np
import pytest
from touching import entering, separation

from elbowroom.character.human import PRESETS, human, preset
from elbowroom.geometry import rotations as rot
from elbowroom.locomotion.clearance import arms_clear
from elbowroom.locomotion.room import gap, part
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import run, walk, walk_along, walk_to_run
from elbowroom.motion.clip import Clip
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.pairs import FLOOR
from elbowroom.world.world import World

# Metres.
SOLES_GIVE = 0.003
BUILDS = sorted(PRESETS)
PATH = [(-0.2, 3.4), (0.1, 2.2), (0.5, 1.0), (0.4, -0.3), (-0.6, -1.2), (-1.9, -1.6), (-3.2, -1.7)]


def proven(clip: Clip) -> Certificate:
    """The certificate of a clip, whose feet are never deeper in the floor than soles give way."""
    found = certify(World(floor=0.0).with_character("ann", clip))
    sunk = [a for a in found.allowed if a.pair.b == FLOOR and a.depth_m > SOLES_GIVE]
    assert not sunk, sunk
    return found


def told(found: Certificate) -> list[tuple[str, str, float]]:
    return [(c.pair.a, c.pair.b, c.depth_m) for c in found.collisions]


@pytest.mark.parametrize("name", BUILDS)
def test_walks_are_free(name):
    # the slow tight turn brings the feet close, the fast walk the fingers
    for speed, turn in ((0.6, 60.0), (1.8, -30.0)):
        found = proven(walk(preset(name), speed, turn, seconds=2.0))
        assert found.free and found.continuous, (speed, turn, told(found))


@pytest.mark.parametrize("name", BUILDS)
def test_runs_and_standing_are_free(name):
    for clip in (run(preset(name), 3.5, 30.0, seconds=1.5), idle(preset(name), seconds=6.0, fps=30.0)):
        found = proven(clip)
        assert found.free and found.continuous, (clip.name, told(found))


@pytest.mark.parametrize(("name", "speed", "turn"), [("gorilla", 4.0, 34.0), ("man", 3.0, -60.0)])
def test_legs_of_who_leans_into_a_fast_turn_have_room(name, speed, turn):
    found = proven(run(preset(name), speed, turn, seconds=1.2))
    assert found.free and found.continuous, told(found)


def test_going_over_to_a_run_is_free():
    found = proven(walk_to_run(preset("child"), seconds=4.0))
    assert found.free, told(found)


@pytest.mark.parametrize("bends", [PATH, [(0.0, 0.0), (0.5, -1.0), (-0.5, -2.0), (0.5, -3.0)]])
def test_walks_along_bends_are_free(bends):
    found = proven(walk_along(human(1.72), bends))
    assert found.free, told(found)


@pytest.mark.parametrize("name", ["woman", "man"])
def test_arms_hang_beside_the_body_and_not_like_wings(name):
    for clip in (idle(preset(name), seconds=4.0, fps=20.0), walk(preset(name), 1.3, seconds=3.0, fps=20.0)):
        at = clip.positions()
        joints = [clip.character.role(f"left_{p}") for p in ("upper_arm", "forearm")]
        arm = at[:, joints[1]] - at[:, joints[0]]
        out = np.degrees(np.arctan2(arm[:, 0], -arm[:, 2]))
        assert 6.0 < out.mean() < 17.0 and out.max() < 24.0


def test_arms_that_are_clear_stay_as_they_are():
    clip = idle(preset("man"), seconds=2.0, fps=30.0)
    assert np.abs(arms_clear(clip).rotations - clip.rotations).max() < 0.02


def test_an_arm_in_the_hip_is_brought_out():
    clip = idle(preset("woman"), seconds=0.5, fps=10.0)
    q = clip.rotations.copy()
    arm = clip.character.role("left_upper_arm")
    # swung inwards about the forward axis by 20 degrees, in the chest's frame
    q[:, arm] = rot.multiply(rot.about([0.0, 1.0, 0.0], np.radians(20.0)), q[:, arm])
    bad = clip.with_(rotations=q)
    assert any("thigh" in b or "pelvis" in b for _, b in entering(bad))
    assert not entering(arms_clear(bad))


def test_room_is_what_the_exact_distance_says():
    clip = walk(preset("man"), 1.4, seconds=2.0, fps=30.0)
    body, T = clip.character, clip.world()
    for a, b in (("left_hand", "left_thigh"), ("left_forearm", "pelvis"), ("left_shin", "right_shin")):
        exact = separation(clip, a, b)
        one, other = (part(body, (body.role(name),), T) for name in (a, b))
        ours, towards = gap(one, other, enough=1.0)
        assert np.all(ours < exact + 1e-6)
        assert np.quantile(exact - ours, 0.9) < 0.004
        assert np.allclose(np.linalg.norm(towards, axis=1), 1.0)
