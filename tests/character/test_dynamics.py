"""Dynamics by Pinocchio against our own kinematics, sums, differences and hand computation."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from conftest import real_files
from elbowroom.character.dynamics import GRAVITY, Dynamics
from elbowroom.character.human import human
from elbowroom.character.masses import masses_for
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.files.bvh import read_bvh
from elbowroom.geometry.rotations import about, exp, multiply, normalize, to_matrix

PERSON = human(1.74, 72.0, skin=False)


@pytest.fixture(scope="module")
def dynamics() -> Dynamics:
    return Dynamics(PERSON)


def random_pose(seed: int) -> Pose:
    rng = np.random.default_rng(seed)
    return Pose.of(rng.normal(size=3), normalize(rng.normal(size=(len(PERSON.skeleton), 4))))


def moved(pose: Pose, v: np.ndarray, dynamics: Dynamics) -> Pose:
    """A pose after unit time at velocities (nv,), by our own quaternions."""
    q = np.array(pose.rotations)
    steps = np.zeros((len(q), 3))
    steps[0] = v[3:6]
    steps[1:] = v[dynamics.velocity_columns]
    root = pose.root + PERSON.skeleton.at(pose)[0, :3, :3] @ v[:3]
    return Pose.of(root, multiply(q, exp(steps)))


def our_com(pose: Pose) -> np.ndarray:
    assert PERSON.masses is not None
    T = PERSON.skeleton.at(pose)
    at = np.einsum("jab,jb->ja", T[:, :3, :3], PERSON.masses.center) + T[:, :3, 3]
    return PERSON.masses.mass @ at / PERSON.masses.total


@pytest.mark.parametrize("seed", range(20))
def test_forward_kinematics_equals_pinocchio(dynamics: Dynamics, seed: int) -> None:
    pose = random_pose(seed)
    np.testing.assert_allclose(PERSON.skeleton.at(pose), dynamics.joint_transforms(pose), atol=1e-9, rtol=0)


def test_configurations_convert_both_ways(dynamics: Dynamics) -> None:
    pose = random_pose(1)
    q = dynamics.to_q(pose.root, pose.rotations)
    assert q.shape == (3 + 4 * 54,)
    np.testing.assert_allclose(q[3:7], pose.rotations[0][[1, 2, 3, 0]], atol=1e-15)
    back = dynamics.from_q(q)
    np.testing.assert_allclose(back.root, pose.root)
    np.testing.assert_allclose(back.rotations, pose.rotations, atol=1e-14)
    batch = dynamics.to_q(np.tile(pose.root, (3, 1)), np.tile(pose.rotations, (3, 1, 1)))
    np.testing.assert_allclose(batch, np.tile(q, (3, 1)))


def test_mass_and_centre_of_mass_are_our_own_sums(dynamics: Dynamics) -> None:
    assert dynamics.mass == pytest.approx(72.0, abs=1e-9)
    assert dynamics.nv == 6 + 3 * 53
    for seed in range(5):
        pose = random_pose(seed)
        np.testing.assert_allclose(dynamics.com(pose), our_com(pose), atol=1e-9)


def test_jacobian_of_the_centre_of_mass_is_its_difference_quotient(dynamics: Dynamics) -> None:
    pose = random_pose(7)
    jacobian = dynamics.com_jacobian(pose)
    assert jacobian.shape == (3, dynamics.nv)
    rng = np.random.default_rng(0)
    for _ in range(5):
        v = rng.normal(size=dynamics.nv)
        h = 1e-6
        slope = (our_com(moved(pose, h * v, dynamics)) - our_com(moved(pose, -h * v, dynamics))) / (2 * h)
        np.testing.assert_allclose(jacobian @ v, slope, atol=1e-7)


def test_standing_still_needs_the_weight_at_the_root(dynamics: Dynamics) -> None:
    pose = PERSON.skeleton.rest_pose
    still = np.zeros(dynamics.nv)
    force = dynamics.inverse_dynamics(pose, still, still)
    np.testing.assert_allclose(force[:3], [0, 0, 72.0 * GRAVITY], atol=1e-9)
    # The moment at the root is that of the weight at the centre of mass.
    arm = our_com(pose) - pose.root
    np.testing.assert_allclose(force[3:6], np.cross(arm, [0, 0, 72.0 * GRAVITY]), atol=1e-8)


def test_the_shoulder_of_an_arm_held_out_carries_the_arms_moment(dynamics: Dynamics) -> None:
    pose = PERSON.skeleton.rest_pose
    still = np.zeros(dynamics.nv)
    shoulder = PERSON.role("left_upper_arm")
    torque = dynamics.inverse_dynamics(pose, still, still)[dynamics.velocity_columns[shoulder - 1]]
    assert PERSON.masses is not None
    arm = list(PERSON.skeleton.subtree(shoulder))
    at = PERSON.skeleton.T_rest[arm, :3, 3] + PERSON.masses.center[arm] - PERSON.skeleton.T_rest[shoulder, :3, 3]
    by_hand = sum(np.cross(p, [0, 0, m * GRAVITY]) for p, m in zip(at, PERSON.masses.mass[arm], strict=True))
    np.testing.assert_allclose(torque, by_hand, atol=1e-9)
    # About 3.6 kg whose centre is 0.31 m out: some 11 Nm, holding the arm up, so about -Y on the left.
    assert -14 < torque[1] < -8
    hanging = np.array(pose.rotations)
    hanging[shoulder] = about([0.0, 1.0, 0.0], np.pi / 2)
    down = dynamics.inverse_dynamics(Pose.of(pose.root, hanging), still, still)
    assert np.linalg.norm(down[dynamics.velocity_columns[shoulder - 1]]) < 0.5


def test_angular_acceleration_takes_the_moment_of_inertia(dynamics: Dynamics) -> None:
    head = PERSON.role("left_eye")
    assert PERSON.masses is not None
    still = np.zeros(dynamics.nv)
    spin = still.copy()
    columns = dynamics.velocity_columns[head - 1]
    spin[columns] = [0.0, 0.0, 3.0]
    pose = PERSON.skeleton.rest_pose
    extra = dynamics.inverse_dynamics(pose, still, spin) - dynamics.inverse_dynamics(pose, still, still)
    np.testing.assert_allclose(extra[columns], PERSON.masses.inertia[head] @ [0.0, 0.0, 3.0], atol=1e-12)


def throw(fps: float, frames: int, up: float) -> SimpleNamespace:
    """A body thrown upwards at `up` m/s without turning."""
    t = np.arange(frames) / fps
    root = np.zeros((frames, 3))
    root[:, 2] = 1.0 + up * t - 0.5 * GRAVITY * t**2
    return SimpleNamespace(fps=fps, root=root, rotations=np.tile(random_pose(2).rotations, (frames, 1, 1)))


def test_free_flight_needs_no_force(dynamics: Dynamics) -> None:
    force = dynamics.torques(throw(60.0, 12, 3.0))
    assert force.shape == (12, dynamics.nv)
    assert np.abs(force).max() < 1e-6 * 72 * GRAVITY


def test_derivatives_of_a_steady_turn_and_of_a_swing(dynamics: Dynamics) -> None:
    fps, frames = 120.0, 61
    t = np.arange(frames) / fps
    rotations = np.tile(PERSON.skeleton.rest, (frames, 1, 1))
    rotations[:, 0] = about([0.0, 0.0, 1.0], 1.5 * t)
    elbow = PERSON.role("right_forearm")
    angle = 0.4 * np.sin(3.0 * t)
    rotations[:, elbow] = about([0.0, 1.0, 0.0], angle)
    clip = SimpleNamespace(fps=fps, root=np.zeros((frames, 3)), rotations=rotations)
    velocity, acceleration = dynamics.derivatives(clip)
    np.testing.assert_allclose(velocity[:, 3:6], np.tile([0, 0, 1.5], (frames, 1)), atol=1e-9)
    column = dynamics.velocity_columns[elbow - 1][1]
    np.testing.assert_allclose(velocity[1:-1, column], 1.2 * np.cos(3.0 * t)[1:-1], atol=1e-3)
    np.testing.assert_allclose(acceleration[1:-1, column], -3.6 * np.sin(3.0 * t)[1:-1], atol=3e-3)
    with pytest.raises(BadValue, match="3 frames"):
        dynamics.derivatives(SimpleNamespace(fps=fps, root=np.zeros((2, 3)), rotations=rotations[:2]))


def test_power_of_the_torques_is_the_change_of_energy(dynamics: Dynamics) -> None:
    pose, rng = random_pose(11), np.random.default_rng(4)
    v, a = rng.normal(size=(2, dynamics.nv))

    def energy(t: float) -> float:
        at = moved(pose, v * t, dynamics)
        q = dynamics.to_q(at.root, at.rotations)
        kinetic = pin.computeKineticEnergy(dynamics.model, dynamics.data, q, v + a * t)
        return float(kinetic + 72.0 * GRAVITY * our_com(at)[2])

    h = 1e-5
    rate = (energy(h) - energy(-h)) / (2 * h)
    assert dynamics.inverse_dynamics(pose, v, a) @ v == pytest.approx(rate, rel=1e-5)


@pytest.mark.parametrize("path", real_files("mocap/*/02_01.bvh", "mocap/*/Male1*PickUpBox.bvh"), ids=lambda p: p.stem)
def test_recorded_rigs_have_dynamics_too(path: Path) -> None:
    clip = read_bvh(path)
    rig = clip.character
    masses = masses_for(rig.skeleton, rig.roles, 1.75, 70.0)
    model = Dynamics(rig.with_(masses=masses))
    pose = clip(clip.span[1] / 2)
    np.testing.assert_allclose(model.joint_transforms(pose), rig.skeleton.at(pose), atol=1e-9, rtol=0)
    assert model.mass == pytest.approx(70.0, abs=1e-9)
    # Over some seconds the floor carries the weight.
    k = slice(clip.source.lead + 5, -5)
    some = clip.with_(root=clip.root[k], rotations=clip.rotations[k])
    velocity, acceleration = model.derivatives(some)
    force = model.torques(some)
    turn = to_matrix(some.rotations[:, 0])
    lift = np.einsum("tij,tj->ti", turn, force[:, :3])[:, 2]
    assert lift.mean() == pytest.approx(70.0 * GRAVITY, rel=0.05)
    assert np.isfinite(velocity).all() and np.isfinite(acceleration).all()


def test_a_character_without_masses_and_wrong_shapes_are_told(dynamics: Dynamics) -> None:
    with pytest.raises(BadValue, match="no masses"):
        Dynamics(PERSON.with_(masses=None))
    with pytest.raises(BadValue, match=r"shape \(165,\)"):
        dynamics.inverse_dynamics(PERSON.skeleton.rest_pose, np.zeros(3), np.zeros(165))
