"""Speed, jerk, hands, joint limits and difference against motions with known answers."""

from __future__ import annotations

import numpy as np
import pytest
from report_makers import moved, person, still, subject, turned

from elbowroom.character.human import human
from elbowroom.geometry import rotations as rot
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place
from elbowroom.motion.smooth import derivative, judged, smoothed
from elbowroom.report.difference import difference_of
from elbowroom.report.hands import hands_of
from elbowroom.report.limits import limits_of
from elbowroom.report.speed import speed_of


def test_speed_of_a_sinusoid():
    found = speed_of(subject(moved(lambda t: 0.3 * np.sin(2.0 * np.pi * 0.5 * t), seconds=4.0)))
    peak = 0.3 * 2.0 * np.pi * 0.5
    np.testing.assert_allclose(found.speed[found.counts].max(axis=0), peak, rtol=0.005)
    truth = np.abs(peak * np.cos(2.0 * np.pi * 0.5 * found.times))
    np.testing.assert_allclose(found.speed[found.counts, 0], truth[found.counts], atol=0.02)


def test_jerk_of_a_cubic():
    found = speed_of(subject(moved(lambda t: 0.7 * t**3 - 0.4 * t**2)))
    inside = slice(30, -30)
    np.testing.assert_allclose(found.jerk[inside], 6.0 * 0.7, rtol=0.01)
    assert found.jerk[found.counts].max() < 1.05 * 6.0 * 0.7  # what the ends of the clip add
    assert found.light == "good"


def test_a_pop_is_seen():
    clip = moved(lambda t: 0.2 * t)
    root = np.array(clip.root)
    root[90] += [0.0, 0.12, 0.0]
    assert speed_of(subject(clip)).light == "good"
    popped = speed_of(subject(clip.with_(root=root)))
    assert popped.light == "bad" and "pops" in popped.says
    assert {p.part for p in popped.pops} == set(popped.parts)
    assert all(p.time == pytest.approx(1.5) and p.leap == pytest.approx(0.12) for p in popped.pops)
    assert popped.moments[0].time == pytest.approx(1.5)


def test_a_jump_between_two_frames_is_a_pop():
    clip = moved(lambda t: 0.2 * t + 0.1 * (t > 1.0))
    found = speed_of(subject(clip))
    assert found.light == "bad" and found.pops[0].time == pytest.approx(1.0, abs=0.02)


def test_the_filter_keeps_what_people_do_and_takes_away_noise():
    t = np.arange(241) / 60.0
    slow, fast = np.sin(2 * np.pi * t), np.sin(2 * np.pi * 15.0 * t)
    np.testing.assert_allclose(smoothed(slow, 60.0)[30:-30], slow[30:-30], atol=0.002)
    assert np.abs(smoothed(fast, 60.0)[30:-30]).max() < 0.03
    np.testing.assert_array_equal(smoothed(fast, 12.0), fast)  # nothing that fast is in such a rate
    np.testing.assert_allclose(derivative(t**2, 60.0)[5:-5], 2 * t[5:-5], atol=1e-9)
    assert not judged(10, 60.0).any() and judged(60, 60.0).sum() == 30


def reaching(bells: int) -> Clip:
    """The right arm swings forwards by 80 degrees in as many bells of speed as told, with hardly a pause between."""
    clip = still(seconds=3.0)
    s = np.clip((clip.times - 0.5) / 1.6, 0.0, 1.0) * bells
    k = np.minimum(np.floor(s), bells - 1)
    u = s - k
    way = (k + u**3 * (10.0 - 15.0 * u + 6.0 * u**2)) / bells  # minimum jerk
    # a slow drift keeps the hand from standing still between the bells
    drift = 0.25 * np.clip((clip.times - 0.5) / 1.6, 0.0, 1.0)
    return turned(clip, "right_upper_arm", [0.0, 0.0, 1.0], np.radians(80.0) * (0.75 * way + drift))


@pytest.mark.parametrize("bells", [1, 2, 3])
def test_peaks_of_speed_are_counted(bells: int):
    found = hands_of(subject(reaching(bells)))
    assert [m.hand for m in found.movements] == ["right"]
    (movement,) = found.movements
    assert movement.peaks == bells
    p = person().skeleton.T_rest[:, :3, 3]
    reach = np.linalg.norm(p[person().role("right_hand")] - p[person().role("right_upper_arm")])
    assert movement.way == pytest.approx(np.radians(80.0) * reach, rel=0.03)
    assert movement.straight == pytest.approx(2.0 * reach * np.sin(np.radians(40.0)), rel=0.03)
    assert movement.during == pytest.approx((0.5, 2.1), abs=0.12)


def test_a_shaking_hand_is_told():
    clip = still(seconds=3.0)
    shaken = turned(
        clip, "right_upper_arm", [0.0, 0.0, 1.0], 0.3 * clip.times + 0.08 * np.sin(2 * np.pi * 5 * clip.times)
    )
    assert hands_of(subject(shaken)).light != "good"


def test_who_only_walks_along_moves_no_hand():
    found = hands_of(subject(moved(lambda t: 1.3 * t)))
    assert not found.movements and found.speeds["left"][60] == pytest.approx(1.3, rel=1e-3)


@pytest.mark.parametrize(("past", "light"), [(-5.0, "good"), (3.0, "good"), (10.0, "look"), (30.0, "bad")])
def test_joints_past_their_range_are_told_by_how_much(past: float, light: str):
    j = person().role("right_forearm")
    limit = person().limits[j]
    assert limit is not None
    clip = still()
    q = np.array(clip.rotations)
    q[40:60, j] = limit.rotation([limit.flexion[1] + np.radians(past), 0.0, 0.5 * sum(limit.twist)])
    found = limits_of(subject(clip.with_(rotations=q)))
    k = found.joints.index("right elbow")
    assert np.degrees(found.excess[50, k]) == pytest.approx(max(past, 0.0), abs=1e-6)
    assert found.light == light and found.frames_past == (20 if past > 0 else 0)
    if past > 0:
        assert "right elbow" in found.moments[0].what and 0.6 < found.moments[0].time < 1.0


def test_an_unchanged_motion_does_not_differ():
    found = difference_of(subject(reaching(1)), reaching(1))
    assert found.distance.max() == 0.0 and found.similarity.min() == 1.0
    assert not found.changed and "Nothing was changed" in found.says


def test_what_was_changed_is_told_where_and_when():
    clip = still(seconds=3.0)
    angle = np.where((clip.times > 1.0) & (clip.times < 2.0), np.radians(60.0), 0.0)
    found = difference_of(subject(turned(clip, "right_forearm", [0.0, 0.0, 1.0], angle)), clip)
    hand = person().skeleton.T_rest[:, :3, 3]
    below = person().subtree(person().role("right_forearm"))
    lever = max(np.linalg.norm(hand[j] - hand[person().role("right_forearm")]) for j in below)
    assert found.distance.max() == pytest.approx(2.0 * lever * np.sin(np.radians(30.0)), rel=0.01)
    assert [found.changed[0][0], found.changed[0][1]] == pytest.approx([1.0, 2.0], abs=0.04)
    mean = dict(zip(found.limbs, found.similarity.mean(axis=0), strict=True))
    assert mean["right arm"] < 1.0 and mean["left arm"] == 1.0 == mean["trunk"]
    # four joints of the arm, one of them off by 60 degrees: 30 on average of squares
    assert found.similarity[90, found.limbs.index("right arm")] == pytest.approx(0.5 ** ((30.0 / 25.0) ** 2), rel=1e-6)


def test_an_original_that_lies_elsewhere_is_brought_here():
    clip = reaching(2)
    elsewhere = place(clip, (3.0, -2.0), np.radians(70.0))
    found = difference_of(subject(clip), elsewhere)
    assert found.distance.max() < 1e-6 and "70°" in found.notes[0].replace("-70°", "70°")


def test_an_original_of_another_rig_is_carried_over():

    child = still(human(1.2, skin=False), seconds=3.0)
    found = difference_of(subject(still(seconds=3.0)), child)
    assert "another rig" in found.notes[0] and found.similarity.min() > 0.95


def test_quaternions_of_other_sign_are_the_same_posture():
    clip = reaching(1)
    q = np.array(clip.rotations)
    flipped = Clip(clip.character, clip.fps, clip.root, rot.multiply(q, -rot.IDENTITY))
    assert difference_of(subject(clip), flipped).distance.max() < 1e-9


@pytest.mark.parametrize(("seconds", "light"), [(0.05, "look"), (0.3, "bad")])
def test_a_joint_that_leaves_its_range_for_a_moment_is_worth_a_look(seconds: float, light: str):
    clip = still(seconds=2.0)
    limit = clip.character.limits[clip.character.role("left_forearm")]
    q = np.array(clip.rotations)
    beyond = limit.rotation([limit.flexion[1] + np.radians(30.0), 0.0, 0.5 * sum(limit.twist)])
    q[np.abs(clip.times - 1.0) < 0.5 * seconds, clip.character.role("left_forearm")] = beyond
    found = limits_of(subject(clip.with_(rotations=q)))
    assert found.light == light and ("for a moment" in found.says) is (light == "look")
