"""Foot contacts, floor, steps and slide on clips with known answers, and on recorded ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from motion_makers import odd_rig, person, planted, standing, stepping, wild

from conftest import real_files
from elbowroom.errors import BadValue
from elbowroom.files.bvh import read_bvh
from elbowroom.motion.contacts import estimate_floor, foot_contacts, runs, steps
from elbowroom.motion.edit import place
from elbowroom.motion.soles import sole_points, soles
from elbowroom.motion.stance import foot_slide


def test_a_standing_person_has_both_feet_down_and_does_not_slide():
    clip = standing(person())
    contacts = foot_contacts(clip)
    assert contacts.on.all() and contacts.flat("left").all()
    assert contacts.floor == pytest.approx(0.0, abs=1e-4)
    assert np.all(foot_slide(clip, contacts) < 1e-12)


def test_soles_lie_under_the_feet_heel_behind_ball():
    for character in (person(), person(1.1), odd_rig()):
        points = sole_points(character, character.skeleton.T_rest[None])[0]
        assert np.ptp(points[:, 2]) < 1e-9
        for sole, (heel, ball) in zip(soles(character), points.reshape(2, 2, 3), strict=True):
            ankle = character.skeleton.T_rest[sole.foot, :3, 3]
            assert (heel - ankle) @ character.front < 0 < (ball - ankle) @ character.front


@pytest.mark.parametrize("character", [person(), person(1.1), odd_rig()], ids=["adult", "child", "odd"])
def test_contacts_of_a_known_walk(character):
    stride = 0.3 * character.skeleton.offsets[0, 2] / 0.9
    clip = stepping(character, stride=stride)
    contacts = foot_contacts(clip)
    truth = planted(clip)
    found = np.stack([contacts.foot("left"), contacts.foot("right")], axis=1)
    # touching down and lifting off are soft: they may be seen a few hundredths of a second early or late
    for k in range(2):
        assert len(runs(found[:, k])) == len(runs(truth[:, k]))
        edges = [
            abs(a - b)
            for x, y in zip(runs(found[:, k]), runs(truth[:, k]), strict=True)
            for a, b in zip(x, y, strict=True)
        ]
        assert max(edges) <= 0.08 * clip.fps
    assert contacts.floor == pytest.approx(
        sole_points(character, character.skeleton.T_rest[None])[..., 2].min(), abs=2e-3
    )


def test_contacts_survive_noise_and_a_leaning_floor():
    clip = stepping(person(), stride=0.4)
    rng = np.random.default_rng(4)
    shaken = clip.with_(
        root=clip.root + 0.002 * rng.normal(size=clip.root.shape) + [0, 0, 1] * np.linspace(0, 0.05, len(clip))[:, None]
    )
    contacts = foot_contacts(shaken)
    truth = planted(clip)
    for k, side in enumerate(("left", "right")):
        assert np.mean(contacts.foot(side) == truth[:, k]) > 0.9
        assert len(runs(contacts.foot(side))) == len(runs(truth[:, k]))


def test_steps_alternate_and_know_their_times():
    clip = stepping(person())
    found = steps(foot_contacts(clip))
    whole = [s for s in found if s.whole]
    assert [s.side for s in whole[:4]] in (["left", "right"] * 2, ["right", "left"] * 2)
    assert all(0.55 < s.off - s.strike < 0.78 for s in whole)
    assert not found[0].whole, "the clip begins on a foot"


@pytest.mark.parametrize("speed", [0.02, 0.05, 0.1])
def test_slide_is_the_way_of_a_planted_foot(speed):
    still = standing(person(), frames=61, fps=60.0)
    clip = still.with_(root=still.root + speed * still.times[:, None] * [0.6, 0.8, 0.0])
    np.testing.assert_allclose(foot_slide(clip, foot_contacts(clip)), speed * 1.0, rtol=1e-6)


def test_a_shuffling_foot_is_not_planted():
    still = standing(person(), frames=61, fps=60.0)
    clip = still.with_(root=still.root + 0.25 * still.times[:, None] * [1.0, 0.0, 0.0])
    assert not foot_contacts(clip).on[10:-10].any()


def test_a_foot_in_the_air_has_no_contact():
    clip = place(stepping(person()), lift=0.3)
    assert estimate_floor(clip) == pytest.approx(0.3, abs=3e-3)
    assert foot_contacts(clip).on.any()
    assert not foot_contacts(clip, floor=0.0).on.any(), "30 cm over the given floor nothing touches it"


def test_artificial_frames_have_no_contacts():
    clip = wild(person(), lead=2)
    assert not foot_contacts(clip).on[:2].any()


def test_contacts_of_other_frames_are_refused():
    with pytest.raises(BadValue, match="do not fit"):
        foot_slide(standing(person(), 30), foot_contacts(standing(person(), 31)))
    with pytest.raises(BadValue, match="'left' or 'right'"):
        foot_contacts(standing(person())).foot("middle")


@pytest.mark.parametrize(
    "path", real_files("mocap/cmu_bvh/0[27]_01.bvh", "mocap/accad_bvh/*B9*.bvh"), ids=lambda p: p.stem
)
def test_recorded_walks_step_left_and_right_in_turn(path):
    contacts = foot_contacts(read_bvh(path))
    found = steps(contacts)
    assert len(found) >= 5
    assert all(a.side != b.side for a, b in pairwise(found[1:]))
    whole = [s.off - s.strike for s in found if s.whole]
    assert 0.35 < np.median(whole) < 1.0
    # in a walk there is always a foot on the ground, and both are for some of the time
    down = contacts.foot("left").astype(int) + contacts.foot("right")
    assert np.mean(down[2:] >= 1) > 0.97 and 0.05 < np.mean(down[2:] == 2) < 0.6
