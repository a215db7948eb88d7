"""Walking: within what gait laboratories publish, at every speed, turn and build."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from gait_measures import circle, flat_drift, flexion, jolt, knee, lowest, steps
from touching import separation

from conftest import real_files
from elbowroom.character.human import PRESETS, human, preset
from elbowroom.character.limits import pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.files.glb_read import read_glb
from elbowroom.geometry import rotations as rot
from elbowroom.locomotion import walk as walks_module
from elbowroom.locomotion.course import facing
from elbowroom.locomotion.departure import headings_of, walk_from
from elbowroom.locomotion.gait import leg
from elbowroom.locomotion.gait_tables import WALK_ANKLE, WALK_HIP, WALK_KNEE, curve
from elbowroom.locomotion.limbs import TwoBoneLimb
from elbowroom.locomotion.sole import FootMotion
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import WalkOptions, walk, walk_along

SPEEDS = (0.6, 0.9, 1.3, 1.8)


@pytest.fixture(scope="module")
def walks():
    person = human()
    return {v: walk(person, v, seconds=4.0, fps=120.0) for v in SPEEDS}


@pytest.mark.parametrize(
    ("speed", "low", "high"), [(0.6, 0.38, 0.50), (0.9, 0.50, 0.62), (1.3, 0.62, 0.74), (1.8, 0.75, 0.88)]
)
def test_step_length_is_normal(walks, speed, low, high):
    # Grieve and Gear 1966; Fukuchi 2018, adults of about 1.70 m
    found = steps(walks[speed])
    lengths = [np.linalg.norm(b.place - a.place) for a, b in pairwise(found)]
    assert len(lengths) >= 3
    assert low < np.min(lengths) and np.max(lengths) < high


@pytest.mark.parametrize("speed", SPEEDS)
def test_knee_at_contact_and_toe_off_is_normal(walks, speed):
    clip = walks[speed]
    for step in steps(clip):
        angles = knee(clip, step.side)
        assert 1.0 < angles[step.contact] < 16.0  # Schwartz 2008: 5 ± 6, a little more with speed
        assert 26.0 < angles[step.leave] < 52.0  # Perry and Burnfield 2010: 40 at toe-off
    assert 50.0 < knee(clip, "left").max() < 72.0


@pytest.mark.parametrize("speed", SPEEDS)
def test_foot_clears_the_floor_by_little_and_never_enters_it(walks, speed):
    clip = walks[speed]
    for side in ("left", "right"):
        height = lowest(clip, side)
        assert height.min() > -0.005
        own = [s for s in steps(clip) if s.side == side]
        for a, b in pairwise(own):
            swing = b.contact - a.leave
            middle = height[a.leave + int(0.4 * swing) : a.leave + int(0.75 * swing)]
            assert 0.006 < middle.min() < 0.035  # Winter 1992: 1.3 cm


def test_joint_curves_follow_the_published_ones(walks):
    clip = walks[1.3]
    own = [s for s in steps(clip) if s.side == "left"]
    cycle = slice(own[0].contact, own[1].contact)
    phase = np.linspace(0, 1, cycle.stop - cycle.start, endpoint=False)
    for angles, table, most in (
        (knee(clip, "left"), WALK_KNEE, 7.0),
        (flexion(clip, "left_thigh"), WALK_HIP, 9.0),
        (flexion(clip, "left_foot"), WALK_ANKLE, 9.0),
    ):
        wanted = np.degrees(curve(table)(phase))
        assert np.sqrt(np.mean((angles[cycle] - wanted) ** 2)) < most
        assert np.corrcoef(angles[cycle], wanted)[0, 1] > 0.85


@pytest.mark.parametrize(("speed", "low", "high"), [(0.6, 0.0, 0.025), (1.3, 0.018, 0.05), (1.8, 0.03, 0.07)])
def test_pelvis_rises_and_falls_twice_a_stride(walks, speed, low, high):
    z = walks[speed].positions()[:, 0, 2]
    assert low <= np.ptp(z) <= high
    turns = np.flatnonzero(np.diff(np.sign(np.diff(z))) != 0)
    count = len(steps(walks[speed]))
    if speed > 1.0:
        assert abs(len(turns) - 2 * count) <= 4


@pytest.mark.parametrize("speed", [0.6, 1.3, 1.8])
@pytest.mark.parametrize("name", sorted(PRESETS))
def test_feet_stay_planted_for_every_build(name, speed):
    clip = walk(preset(name), speed, seconds=3.0)
    for side in ("left", "right"):
        assert flat_drift(clip, f"{side}_foot") < 0.002
        assert flat_drift(clip, f"{side}_toes") < 0.002
        assert lowest(clip, side).min() > -0.005


@pytest.mark.parametrize("turn", [-60.0, 35.0, 60.0])
@pytest.mark.parametrize("speed", [0.7, 1.4])
def test_speed_and_turn_are_as_asked(speed, turn):
    clip = walk(human(), speed, turn, seconds=7.0)
    heading = np.unwrap(rot.heading(clip.rotations[:, 0]))
    rate = np.polyfit(clip.times, heading, 1)[0]
    assert np.degrees(rate) == pytest.approx(turn, rel=0.03)
    assert abs(rate) * circle(clip.root[:, :2]) == pytest.approx(speed, rel=0.03)
    assert flat_drift(clip, "left_foot") < 0.002


@pytest.mark.parametrize("speed", SPEEDS)
def test_straight_speed_is_as_asked(walks, speed):
    root = walks[speed].root
    assert -(root[-1, 1] - root[0, 1]) / walks[speed].duration == pytest.approx(speed, rel=0.03)
    assert np.abs(root[:, 0]).max() < 0.06


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_joints_stay_within_limits(name):
    for speed, turn in ((0.7, 0.0), (1.7, 20.0), (1.1, -60.0)):
        clip = walk(preset(name), speed, turn, seconds=2.5, fps=30.0)
        excess = np.degrees(pose_excess(clip.character.limits, clip.rotations)).max(axis=0)
        worst = int(excess.argmax())
        assert excess[worst] < 3.5, clip.character.skeleton.names[worst]


@pytest.mark.parametrize("speed", SPEEDS)
def test_nothing_pops(walks, speed):
    assert jolt(walk(human(), speed, seconds=4.0)) < 700.0


def test_arms_swing_against_the_legs(walks):
    clip = walks[1.3]
    arm = clip.positions()[:, clip.character.role("left_hand")] - clip.root
    leg = clip.positions()[:, clip.character.role("left_foot")] - clip.root
    assert np.corrcoef(arm[:, 1], leg[:, 1])[0, 1] < -0.6
    assert 0.15 < np.ptp(arm[:, 1]) < 0.6


def test_head_stays_level_and_looks_ahead(walks):
    clip = walks[1.3]
    head = clip.world()[:, clip.character.role("head"), :3, :3]
    assert np.degrees(np.arccos(head[:, 2, 2])).max() < 12.0
    left = walk(human(), 1.0, 50.0, seconds=3.0)
    T = left.world()
    gaze = -T[:, left.character.role("head"), :2, 1]
    body = -T[:, 0, :2, 1]
    ahead = np.arctan2(body[:, 0] * gaze[:, 1] - body[:, 1] * gaze[:, 0], np.sum(body * gaze, axis=1))
    assert np.degrees(np.median(ahead)) > 5.0


def test_same_seed_same_walk():
    a, b, c = (walk(human(), 1.2, seconds=2.0, seed=s) for s in (3, 3, 4))
    assert np.array_equal(a.rotations, b.rotations) and np.array_equal(a.root, b.root)
    assert not np.array_equal(a.rotations, c.rotations)


def test_starts_from_and_ends_in_standing():
    clip = walk(human(), 1.2, seconds=5.0, start=True, stop=True)
    speed = np.linalg.norm(np.diff(clip.root, axis=0), axis=1) * clip.fps
    assert speed[:8].max() < 0.08 and speed[-8:].max() < 0.08 and speed.max() > 1.1
    feet = [clip.positions()[-1, clip.character.role(f"{s}_foot")] for s in ("left", "right")]
    assert abs(feet[0][1] - feet[1][1]) < 0.02 and 0.1 < feet[0][0] - feet[1][0] < 0.3
    assert flat_drift(clip, "right_foot") < 0.002
    assert jolt(clip) < 700.0


def test_frame_rate_only_samples_the_same_walk():
    fine, coarse = (walk(human(), 1.3, seconds=2.0, fps=f) for f in (60.0, 20.0))
    assert np.allclose(fine.root[::3], coarse.root, atol=1e-9)


PATH = np.array([(-0.2, 3.4), (0.1, 2.2), (0.5, 1.0), (0.4, -0.3), (-0.6, -1.2), (-1.9, -1.6), (-3.2, -1.7)])


def test_walk_along_follows_the_path_and_slows_in_turns():
    clip = walk_along(human(), PATH, speed=1.3)
    way = clip.root[:, :2]
    for point in PATH:
        assert np.linalg.norm(way - point, axis=1).min() < 0.12
    assert np.linalg.norm(way[0] - PATH[0]) < 0.05 and np.linalg.norm(way[-1] - PATH[-1]) < 0.05
    for side in ("left", "right"):
        assert flat_drift(clip, f"{side}_foot") < 0.002
        assert lowest(clip, side).min() > -0.005
    hairpin = np.array([(0.0, 0.0), (0.0, -2.0), (0.35, -2.6), (0.9, -2.6), (1.2, -2.0), (1.2, 0.0)])
    tight = walk_along(human(), hairpin, speed=1.3)
    speed = np.linalg.norm(np.diff(tight.root[:, :2], axis=0), axis=1) * tight.fps
    bend = np.abs(np.gradient(np.unwrap(rot.heading(tight.rotations[:, 0])))[:-1] * tight.fps)
    assert np.median(speed[bend > np.radians(50)]) < 0.8 * np.median(speed[(bend < np.radians(15)) & (speed > 0.7)])


def test_walk_along_takes_a_curve():
    clip = walk_along(human(), lambda u: (2.0 * np.sin(3.0 * u), 2.0 * np.cos(3.0 * u)), speed=1.0)
    assert np.abs(np.linalg.norm(clip.root[:, :2], axis=1) - 2.0).max() < 0.08


RIGS = ("CesiumMan", "quaternius_worker", "rocketbox_male_adult_01", "rocketbox_male_child_01")


@pytest.mark.parametrize("path", real_files(*(f"characters/{name}.glb" for name in RIGS)), ids=lambda p: p.stem)
def test_rigs_from_files_walk(path):
    character = next(iter(read_glb(path).characters.values()))
    clip = walk(character, 1.1, seconds=3.0)
    root = clip.positions()[:, character.role("pelvis")]
    assert -(root[-1, 1] - root[0, 1]) / clip.duration == pytest.approx(1.1, rel=0.04)
    for side in ("left", "right"):
        assert flat_drift(clip, f"{side}_foot") < 0.002
        assert lowest(clip, side).min() > -0.005
    assert np.degrees(pose_excess(character.limits, clip.rotations)).max() < 8.0


TURNED_OUT = ("rocketbox_male_adult_01", "rocketbox_male_child_01")


@pytest.mark.parametrize("path", real_files(*(f"characters/{name}.glb" for name in TURNED_OUT)), ids=lambda p: p.stem)
def test_thighs_of_rigs_with_legs_turned_out_stay_apart(path):
    character = next(iter(read_glb(path).characters.values()))
    for clip in (idle(character, 6.0, fps=10.0), walk(character, 1.3, seconds=3.0, fps=20.0)):
        assert separation(clip, "left_thigh", "right_thigh").min() > 0.002


@pytest.mark.parametrize("path", real_files(f"characters/{TURNED_OUT[0]}.glb"), ids=lambda p: p.stem)
def test_a_rig_whose_pelvis_is_not_its_root_sets_out_without_turning_about(path):
    character = next(iter(read_glb(path).characters.values()))
    assert character.role("pelvis") != 0
    stands = idle(character, 0.1, fps=30.0)
    turn = rot.about(rot.UP, np.radians(165.0))
    q = np.array(stands.rotations[0])
    q[0] = rot.multiply(turn, q[0])  # as somebody who is placed in a scene with a heading
    pose = Pose.of(rot.rotate(turn, stands.root[0]), q)
    path = 2.0 * facing(np.radians(165.0)) * np.array([[0.0], [1.0]])
    clip = walk_from(character, pose, path, options=WalkOptions(fps=30.0))
    off = np.degrees(headings_of(character, clip.world())) - 165.0
    assert np.abs((off + 180.0) % 360.0 - 180.0).max() < 12.0


def test_a_leg_that_a_rig_has_turned_out_stands_as_it_does_at_rest():
    turned = rot.about([0.0, 0.0, 1.0], np.radians(16.0))
    bones = rot.rotate(turned, np.array([[0.0, -0.03, -0.4], [0.0, 0.04, -0.4]]))
    limb = TwoBoneLimb(*bones, rot.rotate(turned, np.array([1.0, 0.0, 0.0])))
    zero = np.zeros(1)
    foot = FootMotion(bones.sum(axis=0)[None], zero, zero, zero, zero + 1.0, np.ones(1, dtype=bool), zero)
    turns = leg("left", limb, foot, np.zeros((1, 3)), rot.IDENTITY[None], zero)
    assert all(np.degrees(rot.angle(turn)).max() < 0.01 for turn in turns.values())


def test_a_walk_that_was_made_before_comes_from_the_disk_bit_by_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    body = preset("woman")
    made = walk(body, 1.2, seconds=1.0, fps=30.0)
    monkeypatch.setattr(walks_module, "_made", lambda *_, **__: pytest.fail("made twice"))
    again = walk(body, 1.2, seconds=1.0, fps=30.0)
    assert again.character is body and (again.fps, again.start, again.name) == (made.fps, made.start, made.name)
    np.testing.assert_array_equal(again.root, made.root)
    np.testing.assert_array_equal(again.rotations, made.rotations)
    for other in ({"speed": 1.3}, {"turn": 5.0}, {"fps": 60.0}, {"seed": 1}, {"stop": True, "seconds": 3.0}):
        with pytest.raises(pytest.fail.Exception, match="made twice"):
            walk(body, **{"speed": 1.2, "seconds": 1.0, "fps": 30.0, **other})
    with pytest.raises(pytest.fail.Exception, match="made twice"):
        walk(preset("woman", height=1.64), 1.2, seconds=1.0, fps=30.0)
