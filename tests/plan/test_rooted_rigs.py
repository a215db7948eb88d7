"""Bodies of rigs whose root joint is not the pelvis turn as a whole, whatever they do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.character.skeleton import Pose
from elbowroom.files.open import open_file
from elbowroom.files.save import save
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.transforms import facing as way
from elbowroom.locomotion.departure import led_over, walk_from
from elbowroom.locomotion.figure import can_walk
from elbowroom.locomotion.standing import at_ease
from elbowroom.locomotion.walk import WalkOptions
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.tasks import Go
from elbowroom.posing.held import facing_of
from elbowroom.report.limits import limits_of
from elbowroom.report.people import Subject
from elbowroom.world.extent import facing
from elbowroom.world.world import World
from tools.rooted import rooted, wrung

RIGS = ("rocketbox_male_adult_01.fbx", "rocketbox_male_adult_01.glb", "rocketbox_male_child_01.glb",
        "quaternius_worker.glb", "CesiumMan.glb", "RiggedFigure.glb", "RobotExpressive.glb")  # fmt: skip


def walked(body: Character, heading: float) -> Clip:
    """A walk of 1.5 m from standing at the origin, facing -Y, to stand facing a heading."""
    ease = at_ease(body)
    pose = Pose.of(ease.root[0], ease.rotations[0])
    return walk_from(body, pose, [np.zeros(2), 1.5 * way(heading)], heading, options=WalkOptions(fps=30.0))


def check_turns_as_a_whole(clip: Clip, heading: float) -> None:
    assert wrung(clip) < 1.0
    measured = limits_of(Subject("who", clip))
    assert "waist" not in measured.says and measured.excess[:, -1].max() == 0.0
    last = clip.character.facing(clip.world([clip.span[1]]))[0, :2]
    assert last @ way(heading) > np.cos(np.radians(8.0))
    assert facing(clip, [clip.span[1]])[:2] @ last > 0.999
    assert facing_of(clip)[-1, :2] @ last > 0.999


@pytest.mark.parametrize("at", ["hips", "ground"])
def test_a_root_turns_with_the_pelvis(at: str) -> None:
    for heading in np.arange(8) * np.pi / 4:
        check_turns_as_a_whole(walked(rooted(at), float(heading)), float(heading))


@pytest.mark.parametrize("name", RIGS)
def test_every_rig_walks_in_eight_directions(data: Path, name: str) -> None:
    if not (data / "characters" / name).exists():
        pytest.skip(f"{name} is not here")
    body = next(iter(open_file(data / "characters" / name).characters.values()))
    if not can_walk(body):
        pytest.skip(f"{name} has no feet to walk with")
    for heading in np.arange(8) * np.pi / 4:
        check_turns_as_a_whole(walked(body, float(heading)), float(heading))


def test_a_planned_walk_to_a_place_behind() -> None:
    world = World(floor=0.0).with_character("who", at_ease(rooted()))
    plan = plan_tasks(world, [Go(who="who", to=(0.0, 2.0), facing=float(np.pi))])
    assert plan.found, plan.why
    clip = plan.world.characters["who"]
    assert isinstance(clip, Clip)
    check_turns_as_a_whole(clip, float(np.pi))


def test_a_recording_with_its_heading_in_the_pelvis_leads_over_without_a_swirl() -> None:
    """A clip whose root stays while the pelvis turns is blended so that the body never faces elsewhere."""
    body = rooted("ground")
    walk = place(walked(body, 0.0), turn=float(np.radians(170.0)))
    before = np.array(walk.rotations[0])
    before[1] = rot.multiply(before[0], before[1])
    before[0] = rot.IDENTITY
    at = walk.root[0] + walk.world([0.0])[0, 1, :3, 3] - body.skeleton.forward(walk.root[0], before)[1, :3, 3]
    blended = led_over(walk, Pose.of(at, before))
    fronts = body.facing(blended.world())[:, :2]
    assert (fronts @ way(float(np.radians(170.0)))).min() > np.cos(np.radians(25.0))
    hips = blended.world()[:, 1, :3, 3] - walk.world()[:, 1, :3, 3]
    assert np.linalg.norm(hips, axis=1).max() < 0.02


@pytest.mark.parametrize("at", ["hips", "ground"])
def test_a_posture_is_turned_about_its_pelvis(at: str) -> None:
    body = rooted(at)
    ease = at_ease(body)
    pose = Pose.of(ease.root[0] + [3.0, 1.0, 0.0], ease.rotations[0])
    turn = rot.multiply(rot.about([0.0, 0.0, 1.0], 1.1), rot.about([1.0, 0.0, 0.0], 0.4))
    before, after = body.skeleton.at(pose), body.skeleton.at(body.turned_by(turn, pose))
    middle = before[body.pelvis, :3, 3]
    assert body.stem == (0, 1)
    np.testing.assert_allclose(after[:, :3, 3], middle + rot.rotate(turn, before[:, :3, 3] - middle), atol=1e-9)


@pytest.mark.parametrize("suffix", ["glb", "npz", "bvh"])
def test_files_keep_the_turn(tmp_path: Path, suffix: str) -> None:
    clip = walked(rooted(), float(np.pi))
    path = tmp_path / f"walk.{suffix}"
    save([path], World(floor=0.0).with_character("who", clip))
    back = open_file(path).clip()
    assert back.character.joint_names[:2] == ("Bip01", "pelvis")
    check_turns_as_a_whole(back, float(np.pi))
    for role in ("pelvis", "head", "left_hand", "right_foot"):
        here, there = (c.world()[-1, c.character.role(role), :3, 3] for c in (back, clip))
        np.testing.assert_allclose(here, there, atol=1e-4)


def test_the_report_sees_a_wrung_waist() -> None:
    clip = at_ease(rooted())
    assert limits_of(Subject("who", clip)).light == "good"
    q = np.array(clip.rotations)
    q[:, 1] = rot.multiply(rot.about([0.0, 0.0, 1.0], np.radians(60.0)), q[:, 1])
    found = limits_of(Subject("who", clip.with_(rotations=q)))
    assert found.light == "bad" and "waist" in found.says
    # a spine of bones without known limits
    plain = human(1.70)
    loose = plain.with_(limits=tuple(None for _ in plain.limits))
    q = np.tile(plain.skeleton.rest, (5, 1, 1))
    q[:, plain.role("spine2")] = rot.about([0.0, 0.0, 1.0], np.radians(90.0))
    clip = Clip(loose, 30.0, np.tile(plain.skeleton.offsets[0], (5, 1)), q)
    found = limits_of(Subject("who", clip))
    assert found.light == "bad" and found.excess[:, -1].max() == pytest.approx(np.radians(35.0), abs=1e-6)


@pytest.mark.parametrize("name", [r for r in RIGS if r != "RobotExpressive.glb"])
def test_arms_of_every_rig_hang(data: Path, name: str) -> None:
    if not (data / "characters" / name).exists():
        pytest.skip(f"{name} is not here")
    body = next(iter(open_file(data / "characters" / name).characters.values()))
    T = at_ease(body).world()[0, :, :3, 3]
    for side in ("left", "right"):
        arm = T[body.role(f"{side}_hand")] - T[body.role(f"{side}_upper_arm")]
        assert np.degrees(np.arctan2(np.linalg.norm(arm[:2]), -arm[2])) < 26.0
