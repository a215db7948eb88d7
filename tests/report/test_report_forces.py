"""Centre of mass, zero moment point and torques against sums by hand."""

from __future__ import annotations

import numpy as np
import pytest
from report_makers import moved, person, still, subject, turned

from elbowroom.character.dynamics import GRAVITY
from elbowroom.geometry.solids import box
from elbowroom.posing.balance import balance_margin
from elbowroom.report.balance import balance_of
from elbowroom.report.forces import forces_of, loads_of, torque_of, weighed
from elbowroom.world.paths import Still
from elbowroom.world.world import World


def segments() -> tuple[np.ndarray, np.ndarray]:
    """Masses (J,) and their centres (J, 3) in the rest pose, without any of the code under test."""
    masses, T = person().masses, person().skeleton.T_rest
    assert masses is not None
    return masses.mass, np.array([T[j, :3, :3] @ masses.center[j] + T[j, :3, 3] for j in range(len(T))])


def test_a_symmetrical_pose_has_its_centre_of_mass_in_the_middle():
    forces = forces_of(subject(still()), (), 0.0)
    mass, at = segments()
    np.testing.assert_allclose(forces.com, np.tile(mass @ at / mass.sum(), (len(forces.com), 1)), atol=1e-9)
    assert np.abs(forces.com[:, 0]).max() < 1e-9


def test_the_zero_moment_point_of_who_stands_is_below_the_centre_of_mass():
    clip = turned(still(), "spine1", [1.0, 0.0, 0.0], np.full(121, 0.2))
    forces = forces_of(subject(clip), (), 0.0)
    np.testing.assert_allclose(forces.zmp, forces.com[:, :2], atol=1e-9)
    assert np.abs(forces.com[:, 1] - forces_of(subject(still()), (), 0.0).com[:, 1]).max() > 0.01
    np.testing.assert_allclose(forces.ground[:, 2], person().masses.total * GRAVITY, rtol=1e-9)


@pytest.mark.parametrize("acceleration", [0.4, -1.1])
def test_the_zero_moment_point_of_who_is_pushed_lies_behind(acceleration: float):
    """A stiff body that speeds up by a leans on a point z a / g behind its centre of mass."""
    forces = forces_of(subject(moved(lambda t: 0.5 * acceleration * t**2)), (), 0.0)
    inside = slice(30, -30)
    behind = forces.com[inside, 2] * acceleration / GRAVITY
    np.testing.assert_allclose((forces.com[:, 0] - forces.zmp[:, 0])[inside], behind, rtol=0.01)
    np.testing.assert_allclose(forces.zmp[inside, 1], forces.com[inside, 1], atol=1e-6)


def test_there_is_no_zero_moment_point_in_free_fall():
    forces = forces_of(subject(moved(lambda t: -0.5 * GRAVITY * t**2, axis=2)), (), 0.0)
    assert np.isnan(forces.zmp[30:-30]).all()
    assert np.abs(forces.torque[30:-30]).max() < 0.5  # nothing pulls at what falls


def holding(mass: float | None) -> World:
    """The T pose with a cube in the right hand, its middle 12 cm beyond the wrist."""
    wrist = person().skeleton.T_rest[person().role("right_hand"), :3, 3]
    at = np.eye(4)
    at[:3, 3] = wrist - [0.12, 0.0, 0.0]
    world = World().with_character("ann", still())
    world = world.with_object("cube", box([0.05, 0.05, 0.05]), Still(at), mass=mass)
    return world.with_hold("cube", by="ann", hand="right")


@pytest.mark.parametrize("role", ["right_forearm", "right_upper_arm"])
def test_torque_of_a_held_weight_is_its_weight_times_its_lever(role: str):
    character, weight = person(), 2.0
    world = holding(weight)
    who = subject(still())
    loads, notes = loads_of(world, who)
    assert not notes and [load.name for load in loads] == ["cube"]
    j = character.role(role)
    joint = character.skeleton.T_rest[j, :3, 3]
    wrist = character.skeleton.T_rest[character.role("right_hand"), :3, 3]
    mass, at = segments()
    arm = list(character.subtree(j))
    own = sum(mass[k] * GRAVITY * (joint - at[k])[[0, 1]] for k in arm)
    moment = own + weight * GRAVITY * (joint - (wrist - [0.12, 0.0, 0.0]))[[0, 1]]
    torque = np.linalg.norm(forces_of(who, loads, 0.0).torque[:, j], axis=-1)
    np.testing.assert_allclose(torque, np.linalg.norm(moment), rtol=1e-6)
    alone = np.linalg.norm(forces_of(who, (), 0.0).torque[:, j], axis=-1)
    np.testing.assert_allclose(alone, np.linalg.norm(own), rtol=1e-6)


def test_the_ground_bears_what_is_held():
    who = subject(still())
    loads, _ = loads_of(holding(2.0), who)
    forces = forces_of(who, loads, 0.0)
    np.testing.assert_allclose(forces.ground[:, 2], (person().masses.total + 2.0) * GRAVITY, rtol=1e-9)
    mass, at = segments()
    cube = person().skeleton.T_rest[person().role("right_hand"), :3, 3] - [0.12, 0.0, 0.0]
    com = (mass @ at + 2.0 * cube) / (mass.sum() + 2.0)
    np.testing.assert_allclose(forces.zmp, np.tile(com[:2], (len(forces.zmp), 1)), atol=1e-9)


def test_an_unknown_weight_is_told_and_can_be_given():
    world = holding(None)
    loads, notes = loads_of(world, subject(still()))
    assert not loads and "cube" in notes[0]
    loads, notes = loads_of(weighed(world, {"cube": 1.5}), subject(still()))
    assert loads[0].mass == 1.5 and not notes


def test_a_weight_is_taken_over_in_a_fifth_of_a_second():
    world = holding(2.0)
    hold = world.holds[0]
    late = world.with_(holds=()).with_hold("cube", "ann", "right", (1.0, 2.0), hold.T_hand_object)
    (load,), _ = loads_of(late, subject(still()))
    assert load.share[60] == 0.0 and load.share[66] == pytest.approx(0.5) and load.share[72] == 1.0
    assert np.all(np.diff(load.share[:100]) >= 0.0) and load.share[-1] == 1.0


def test_both_feet_bear_the_body_alike_and_wholly():
    forces = forces_of(subject(still()), (), 0.0)
    assert forces.rest.max() < 1e-6  # newtons that no foot takes up
    for part in ("thigh", "shin", "foot"):
        left, right = (
            np.linalg.norm(forces.torque[:, person().role(f"{s}_{part}")], axis=-1) for s in ("left", "right")
        )
        np.testing.assert_allclose(left, right, rtol=1e-6)
    # each ankle bears half of the body but the feet, before or behind it by what the centre of mass is
    mass, at = segments()
    foot = list(person().subtree(person().role("left_foot")))
    ankle = person().skeleton.T_rest[person().role("left_foot"), :3, 3]
    half, com = 0.5 * mass.sum() * GRAVITY, mass @ at / mass.sum()
    pitch = half * (com[1] - ankle[1]) - sum(mass[k] * GRAVITY * (at[k, 1] - ankle[1]) for k in foot)
    turn = person().skeleton.T_rest[person().role("left_foot"), :3, :3]
    about_x = (turn @ forces.torque[0, person().role("left_foot")])[0]
    assert abs(about_x) == pytest.approx(abs(pitch), rel=1e-6)


def test_effort_is_a_share_of_strength_and_its_moment_is_told():
    who = subject(still())
    loads, _ = loads_of(holding(30.0), who)
    found = torque_of(who, forces_of(who, loads, 0.0))
    assert found.light == "bad"
    k = found.joints.index("right shoulder")
    assert found.effort[60, k] == pytest.approx(found.torque[60, k] / found.strength[k])
    assert any("shoulder" in m.what or "elbow" in m.what or "wrist" in m.what for m in found.moments)
    assert found.change.max() < 1e-6


@pytest.mark.parametrize("lean", [0.0, 0.03, 0.25])
def test_balance_agrees_with_the_margin_of_a_single_pose(lean: float):
    clip = turned(still(), "spine1", [1.0, 0.0, 0.0], np.full(121, lean))
    who = subject(clip)
    found = balance_of(who, forces_of(who, (), 0.0))
    expected = balance_margin(person(), clip(0.0), 0.0)
    np.testing.assert_allclose(found.com_margin, expected, atol=0.004)
    np.testing.assert_allclose(found.zmp_margin[16:-16], expected, atol=0.004)
    assert (found.light == "good") == (expected > -0.01)


def test_who_leans_out_over_the_feet_would_fall():
    clip = still()
    lean = np.full(len(clip), 0.35)
    for role in ("left_foot", "right_foot"):  # the feet stay flat, the body leans as one
        clip = turned(clip, role, [1.0, 0.0, 0.0], -lean)
    whole = turned(clip, "pelvis", [1.0, 0.0, 0.0], lean)
    feet = [person().role("left_foot"), person().role("right_foot")]
    shift = clip.positions()[0, feet].mean(axis=0) - whole.positions()[0, feet].mean(axis=0)
    who = subject(whole.with_(root=whole.root + shift))
    found = balance_of(who, forces_of(who, (), 0.0))
    assert found.light == "bad" and found.com_margin.max() < -0.05 and "cannot keep" in found.says
