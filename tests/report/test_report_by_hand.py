"""Measures against the same worked out in another way: sums over segments, a pendulum, vertices before a wall."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_makers import moved, person, still, subject, turned

from conftest import benchmark_module
from elbowroom.character.dynamics import GRAVITY
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.posing.balance import feet_of, hull_of
from elbowroom.report.balance import balance_of
from elbowroom.report.clearance import clearance_of
from elbowroom.report.difference import difference_of
from elbowroom.report.forces import forces_of, torque_of
from elbowroom.report.hands import hands_of
from elbowroom.report.speed import speed_of
from elbowroom.world.world import World

independent = benchmark_module("report_independent")

INSIDE = slice(30, -30)


def swinging(role: str, axis: list[float], size: float = 0.5, hertz: float = 0.8) -> Clip:
    """The T pose with one joint that swings to and fro about an axis of its parent."""
    clip = still(seconds=4.0)
    return turned(clip, role, axis, size * np.sin(2.0 * np.pi * hertz * clip.times))


@pytest.mark.parametrize(
    ("role", "axis"), [("spine1", [1.0, 0.0, 0.0]), ("right_upper_arm", [0.0, 1.0, 0.0]), ("spine1", [0.0, 1.0, 0.0])]
)
def test_the_zero_moment_point_of_who_swings_is_that_of_all_segments_momenta(role: str, axis: list[float]):
    clip = swinging(role, axis)
    forces = forces_of(subject(clip), (), 0.0)
    expected = independent.zero_moment_point(clip, 0.0)
    assert np.ptp(expected[INSIDE], axis=0).max() > 0.02  # it does wander
    np.testing.assert_allclose(forces.zmp[INSIDE], expected[INSIDE], atol=0.002)


@pytest.mark.parametrize("role", ["right_forearm", "right_upper_arm"])
def test_torque_of_a_swinging_arm_is_that_of_a_pendulum(role: str):
    """Moment of inertia times angular acceleration, and the weight times its lever, about the axis of the swing."""
    clip = swinging(role, [0.0, 1.0, 0.0])
    who = subject(clip)
    character, masses = clip.character, clip.character.masses
    assert masses is not None
    j = character.role(role)
    T = who.T_smooth
    joint = T[0, j, :3, 3]
    angle = 0.5 * np.sin(2.0 * np.pi * 0.8 * clip.times)
    faster = -((2.0 * np.pi * 0.8) ** 2) * angle
    about_y = np.zeros(len(clip))
    for k in character.subtree(j):
        R = T[:, k, :3, :3]
        arm = np.einsum("tab,b->ta", R, masses.center[k]) + T[:, k, :3, 3] - joint
        inertia = np.einsum("tab,bc,tdc->tad", R, masses.inertia[k], R)[:, 1, 1]
        about_y += (inertia + masses.mass[k] * (arm[:, 0] ** 2 + arm[:, 2] ** 2)) * faster
        about_y -= masses.mass[k] * GRAVITY * arm[:, 0]
    torque = np.einsum("tab,tb->ta", T[:, j, :3, :3], forces_of(who, (), 0.0).torque[:, j])[:, 1]
    np.testing.assert_allclose(torque[INSIDE], about_y[INSIDE], atol=0.02 * np.abs(about_y).max())
    assert np.ptp(about_y[INSIDE]) > 1.0


def test_the_ankles_of_a_walk_give_what_laboratories_find():
    """Force plates: 1.3 to 1.8 Nm for each kg at push-off, and a vertical force that peaks at 1.1 to 1.4 weights."""
    clip = walk(person(), 1.2, seconds=3.0, fps=60.0)
    who = subject(clip)
    forces = forces_of(who, (), 0.0)
    found = torque_of(who, forces)
    ankle = found.torque[found.counts][:, found.joints.index("left ankle")].max()
    assert 1.3 < ankle / person().masses.total < 1.8
    assert 1.1 < forces.ground[found.counts, 2].max() / forces.weight < 1.4


def test_clearance_from_a_wall_is_that_of_the_nearest_vertex():
    """Before a plane the nearest point of a convex shape is one of its corners, or an end of its axis."""
    clip = moved(lambda t: -0.15 * np.sin(np.pi * t / 3.0))
    wall = -1.05  # its face, metres along x
    world = World().with_character("ann", clip).with_static("wall", box([0.2, 6.0, 6.0], at=[wall - 0.1, 0.0, 1.0]))
    found = clearance_of(world)
    nearest = np.inf
    for shape in person().shapes:
        T = person().skeleton.T_rest[shape.joint] @ shape.T_joint_shape
        ends, reach = independent.corners_of(shape)
        nearest = min(nearest, float((ends @ T[:3, :3].T + T[:3, 3])[:, 0].min()) - reach - wall)
    way = np.interp(found.times, clip.times, clip.root[:, 0] - clip.root[0, 0])
    np.testing.assert_allclose(found.distance, nearest + way, atol=2e-4)
    assert found.smallest is not None and found.smallest[2] == pytest.approx(1.5, abs=0.01)


def test_jerk_of_a_sinusoid():
    size, hertz = 0.2, 1.0
    found = speed_of(subject(moved(lambda t: size * np.sin(2.0 * np.pi * hertz * t), seconds=4.0)))
    peak = size * (2.0 * np.pi * hertz) ** 3
    truth = np.abs(peak * np.cos(2.0 * np.pi * hertz * found.times))
    np.testing.assert_allclose(found.jerk[INSIDE, 0], truth[INSIDE], atol=0.03 * peak)


def test_a_hand_that_goes_round_goes_as_far_as_a_circle_is_long():
    clip = still(seconds=4.0)
    round_once = np.radians(360.0) * clip.times / clip.times[-1]
    found = hands_of(subject(turned(clip, "right_upper_arm", [0.0, 0.0, 1.0], round_once)))
    p = person().skeleton.T_rest[:, :3, 3]
    reach = np.linalg.norm((p[person().role("right_hand")] - p[person().role("right_upper_arm")])[:2])
    assert found.way("right") == pytest.approx(2.0 * np.pi * reach, rel=0.01)
    assert found.way("left") == pytest.approx(0.0, abs=1e-6)
    assert found.speeds["right"][INSIDE] == pytest.approx(np.full(len(clip) - 60, 2.0 * np.pi * reach / 4.0), rel=0.01)


def test_a_known_offset_is_the_difference():
    clip = still(seconds=3.0)
    root = np.array(clip.root)
    root[60:100, 0] += 0.03
    root[60:100, 2] += 0.04
    found = difference_of(subject(clip.with_(root=root)), clip)
    np.testing.assert_allclose(found.distance[60:100], 0.05, atol=1e-9)
    np.testing.assert_allclose(found.distance[:60], 0.0, atol=1e-9)
    facts = found.facts()
    assert facts["largest_m"] == 0.05 and facts["changed_s"] == [[1.0, pytest.approx(99 / 60, abs=1e-3)]]
    assert facts["mean_m"] == pytest.approx(0.05 * 40 / 181, abs=1e-4) and facts["similarity"] == 1.0


def test_the_support_of_two_feet_covers_what_is_under_and_between_them():
    def area(corners: Array) -> float:
        x, y = corners[:, 0], corners[:, 1]
        return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))

    foot = np.array([[0.0, 0.0], [0.1, 0.0], [0.1, 0.25], [0.0, 0.25]])
    assert area(hull_of(np.concatenate([foot, foot + [0.2, 0.0]]))) == pytest.approx(0.3 * 0.25)
    # one foot a step ahead: a foot, and what it sweeps over on the way to the other
    ahead = hull_of(np.concatenate([foot, foot + [0.2, 0.5]]))
    assert area(ahead) == pytest.approx(0.1 * 0.25 + 0.2 * 0.25 + 0.5 * 0.1)
    who = subject(still())
    found = balance_of(who, forces_of(who, (), 0.0))
    T = person().skeleton.T_rest
    widths, lengths = [], []
    for sole in feet_of(person()):
        toes = sole.toes if sole.toes >= 0 else sole.foot
        points = sole.outline @ T[sole.foot, :3, :3].T + T[sole.foot, :3, 3]
        tips = sole.toe_outline @ T[toes, :3, :3].T + T[toes, :3, 3]
        widths.append(np.concatenate([points, tips])[:, 0])
        lengths.append(np.concatenate([points, tips])[:, 1])
    across, along = np.ptp(np.concatenate(widths)), np.ptp(np.concatenate(lengths))
    polygon = found.polygon(60)
    np.testing.assert_allclose(np.ptp(polygon, axis=0), [across, along], atol=1e-6)
    assert 0.75 * across * along < area(polygon) < across * along  # rounded at its corners


def test_footprints_are_those_of_each_foot_however_many_corners_it_has():
    who = subject(still())
    found = balance_of(who, forces_of(who, (), 0.0))
    # the right foot has lost corners: as rigs have them whose soles differ
    fewer = replace(found, support=np.delete(found.support, [found.of_left, found.of_left + 2], axis=1))
    for prints in (found.footprints(), fewer.footprints()):
        assert len(prints) == 2
        left, right = sorted(prints, key=lambda p: -p[:, 0].mean())
        assert left[:, 0].min() > 0.0 > right[:, 0].max()  # none reaches over to the other side
