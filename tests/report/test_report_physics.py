"""Physics against motions whose forces are known, and against MuJoCo."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_makers import moved, person, still, subject

from conftest import DATA, benchmark_module
from elbowroom.character.dynamics import GRAVITY, Dynamics
from elbowroom.character.human import human
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.transforms import apply
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.report.bearing import bearing_of, gaps_of
from elbowroom.report.forces import CarriedLoad, forces_of
from elbowroom.report.physics import FRICTION, HELP, SLIDES_M_S, Physics, _Needed, physics_of
from elbowroom.report.sections import body as drawn
from elbowroom.world.contacts import Contact
from elbowroom.world.world import World

for needed in ("repair_clips", "report_independent", "report_damage_cases"):
    benchmark_module(needed)
damage = benchmark_module("report_physics")


def physics(clip: Clip, loads: tuple[CarriedLoad, ...] = (), contacts: tuple[Contact, ...] = ()) -> Physics:
    """Physics of a clip on a floor at height 0."""
    who = subject(clip)
    found = bearing_of(who, 0.0, contacts)
    return physics_of(who, forces_of(who, loads, 0.0), found, gaps_of(who, World()))


def lifted(by: float) -> Clip:
    """A person who stands at a height over the floor, metres."""
    clip = still()
    return clip.with_(root=clip.root + [0.0, 0.0, by])


def lying() -> Clip:
    """A stiff person who lies on the back on the floor."""
    clip = still()
    turn = rot.about([1.0, 0.0, 0.0], -0.5 * np.pi)
    q = np.array(clip.rotations)
    q[:, 0] = rot.multiply(turn, q[:, 0])
    flat = clip.with_(rotations=q)
    T = flat.world()[0]
    low = min(float(apply(T[s.joint], shape_mesh(s).vertices)[:, 2].min()) for s in person().shapes)
    return flat.with_(root=flat.root - [0.0, 0.0, low])


def test_a_person_who_stands_is_borne_by_the_feet():
    found = physics(still())
    assert found.light == "good" and found.share == 1.0 and found.help.max() < 1e-6
    np.testing.assert_allclose(found.push[..., 2].sum(axis=1), found.weight, rtol=1e-6)
    assert found.spans() == [] and "feasible" in found.says and "<svg" in drawn(found)


def test_a_person_in_the_air_misses_all_of_the_weight():
    found = physics(lifted(0.15))
    np.testing.assert_allclose(found.help, 1.0, rtol=1e-6)
    assert found.light == "bad" and found.share == 0.0
    assert found.why[0] == "nothing touches the ground, but it must bear 1.0 times the weight"
    assert found.facts()["infeasible"][0]["why"] == found.why[0]


def test_a_free_fall_needs_no_ground():
    clip = moved(lambda t: 20.0 - 0.5 * GRAVITY * t**2, axis=2, seconds=1.5)
    found = physics(clip)
    assert found.share == 1.0 and found.help.max() < 0.01


def test_who_falls_faster_than_gravity_is_pulled():
    found = physics(moved(lambda t: 20.0 - GRAVITY * t**2, axis=2, seconds=1.5))
    assert (
        found.share == 0.0
        and found.why[len(found.why) // 2] == "it needs a pull from the floor of 1.0 times the weight"
    )


@pytest.mark.parametrize(("speed", "feasible"), [(0.5 * SLIDES_M_S, True), (2.0 * SLIDES_M_S, False)])
def test_who_slides_over_the_floor_would_be_slowed(speed: float, feasible: bool):
    found = physics(moved(lambda t: speed * t))
    assert found.share == (1.0 if feasible else 0.0)
    assert feasible or set(found.why) == {"supporting feet slide, but friction does not slow the body"}


@pytest.mark.parametrize(("faster", "feasible"), [(0.0, True), (6.0, False)])
def test_who_is_pushed_forwards_would_tip_over(faster: float, feasible: bool):
    """The zero moment point of a body 1 m above its feet moves by 0.6 m, beyond any foot."""
    clip = moved(lambda t: 0.5 * faster * (t - 1.5) ** 2, axis=1)
    who = subject(clip)
    stands = replace(bearing_of(who, 0.0), slides=np.zeros((len(clip), bearing_of(who, 0.0).points.shape[1], 2)))
    found = physics_of(who, forces_of(who, (), 0.0), stands)
    assert (found.share == 1.0) is feasible
    assert feasible or "tip over" in found.why[0] or "friction" in found.why[0]


@pytest.mark.parametrize(("slope", "why"), [(0.9 * FRICTION, ""), (1.3 * FRICTION, "it needs 1.4 times the friction")])
def test_friction_bounds_what_a_point_can_give(slope: float, why: str):
    """A point right below the body along the needed force: only friction decides."""
    force = np.array([slope, 0.0, 1.0])
    arms = -2.0 * force[None] / np.linalg.norm(force)
    needed = _Needed(np.concatenate([force, np.zeros(3)]), arms, np.zeros((1, 2)), 1e-3)
    found = needed.solved()
    assert needed.why(found).startswith(why) and bool(needed.why(found)) == bool(why)
    if not why:
        np.testing.assert_allclose(found.push[0], force, atol=1e-9)


def test_no_ground_pushes_with_ten_times_the_weight():
    wrench = np.array([0.0, 0.0, 10.0, 0.0, 0.0, 0.0])
    needed = _Needed(wrench, np.array([[0.0, 0.0, -3.0]]), np.zeros((1, 2)), HELP)
    assert needed.why(needed.solved()) == "the ground would have to push with 10.0 times the weight"


def test_a_body_that_lies_is_borne_by_its_back():
    found = physics(lying())
    assert found.share == 1.0 and found.bearing is not None
    on = found.push[0, :, 2] > 0.0
    assert on.any() and not on[: found.bearing.of_feet].any()


def test_a_seat_bears_where_it_is_declared():
    high = lifted(0.5)
    seat = Contact("ann", "stool", (0.0, 9.0), "seat")
    assert physics(high).share == 0.0
    assert physics(high, contacts=(seat,)).share == 1.0


def test_a_load_held_far_ahead_tips_the_body():
    clip = still()
    ahead = clip.world()[:, clip.character.role("left_hand"), :3, 3] + 1.0 * np.asarray(clip.character.front)
    load = CarriedLoad("safe", 60.0, clip.character.role("left_hand"), ahead, np.ones(len(clip)))
    found = physics(clip, (load,))
    assert found.share == 0.0 and "tip over" in found.why[0]


def test_small_and_large_bodies_far_away_are_judged_alike():
    for height in (0.5, 2.9):
        clip = still(human(height, skin=False))
        assert physics(clip.with_(root=clip.root + [5e3, -5e3, 0.0])).share == 1.0


def test_a_short_clip_is_not_judged():
    clip = still(seconds=0.3)
    found = physics(clip)
    assert found.light == "none" and "short" in found.says


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("accelerates sideways", 5.0),
        ("drifts sideways on its feet", 0.6),
        ("hovers", 0.15),
        ("leans over the left foot", 40.0),
    ],
)
def test_damaged_frames_of_a_recording_fail(name: str, size: float, data: object):
    make = {row[0]: row[2] for row in damage.DAMAGES}[name]
    clip = damage.recorded("cmu_bvh/115_01.bvh")
    assert damage.physics(clip).share > 0.95
    found = damage.physics(make(clip, size))
    assert found.share < 0.05 and found.light == "bad"


@pytest.mark.parametrize("path", ["cmu_bvh/02_01.bvh", "cmu_bvh/69_24.bvh", "cmu_asf_amc/16/16_22.amc"])
def test_recorded_walks_pass(path: str, data: object):
    clip = damage.without_lead(damage.read(path))
    assert DATA.exists() and damage.physics(clip).share > 0.97


def model_xml(clip: Clip) -> str:
    """The character as MuJoCo's XML: the same tree, frames and inertias."""
    skeleton, masses = clip.character.skeleton, clip.character.masses
    assert masses is not None
    children: dict[int, list[int]] = {}
    for j, parent in enumerate(skeleton.parents.tolist()):
        children.setdefault(parent, []).append(j)

    def words(values: np.ndarray) -> str:
        return " ".join(f"{v:.17g}" for v in np.ravel(values))

    def element(j: int) -> str:
        joint = "<freejoint/>" if skeleton.parents[j] < 0 else '<joint type="ball"/>'
        place = np.zeros(3) if skeleton.parents[j] < 0 else skeleton.offsets[j]
        m = masses.inertia[j]
        full = words(np.array([m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]]))
        mass = f'<inertial pos="{words(masses.center[j])}" mass="{masses.mass[j]:.17g}" fullinertia="{full}"/>'
        inner = "".join(element(k) for k in children.get(j, []))
        return f'<body pos="{words(place)}">{joint}{mass if masses.mass[j] > 0.0 else ""}{inner}</body>'

    world = "".join(element(j) for j in children[-1])
    return (
        '<mujoco><compiler boundmass="1e-9" boundinertia="1e-12" balanceinertia="true"/>'
        f'<option gravity="0 0 {-GRAVITY}"/><worldbody>{world}</worldbody></mujoco>'
    )


def test_the_force_of_the_ground_is_that_of_mujoco():
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    clip = walk(person(), 1.3, 0.3, 2.0, 60.0)
    who = subject(clip)
    forces = forces_of(who, (), 0.0)
    dynamics = Dynamics(person())
    velocity, acceleration = dynamics.derivatives(who.smooth)
    model = mujoco.MjModel.from_xml_string(model_xml(clip))
    state = mujoco.MjData(model)
    assert model.nv == dynamics.nv
    order = dynamics.velocity_columns.ravel()
    for k in range(10, len(clip) - 10, 7):
        turn = who.T_smooth[k, 0, :3, :3]
        linear, angular = velocity[k, :3], velocity[k, 3:6]
        state.qpos[:] = np.concatenate([who.smooth.root[k], rot.normalize(who.smooth.rotations[k]).ravel()])
        state.qvel[:] = np.concatenate([turn @ linear, angular, velocity[k, order]])
        # MuJoCo differentiates the root's velocity in the world, Pinocchio in the root's frame
        along = turn @ (acceleration[k, :3] + np.cross(angular, linear))
        state.qacc[:] = np.concatenate([along, acceleration[k, 3:6], acceleration[k, order]])
        mujoco.mj_inverse(model, state)
        force, moment = state.qfrc_inverse[:3], turn @ state.qfrc_inverse[3:6]
        about_com = moment + np.cross(who.T_smooth[k, 0, :3, 3] - forces.com[k], force)
        np.testing.assert_allclose(force, forces.ground[k], atol=1e-4 * forces.weight)
        np.testing.assert_allclose(about_com, forces.moment[k], atol=1e-4 * forces.weight)
