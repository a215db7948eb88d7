"""What a robot holds touches its gripper, no deeper than a hand would be, in the proof and in the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adversary.verdicts import checker
from elbowroom.character.robot import mobile_arm
from elbowroom.files.open import open_file
from elbowroom.files.save import save
from elbowroom.files.verify import verify
from elbowroom.geometry.rotations import UP, about
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.robot_clip import RobotClip
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.paths import Still
from elbowroom.world.played import played
from elbowroom.world.world import World

# Thickness of the held block, metres.
BLOCK_M = 0.06


def held(deep_m: float) -> World:
    """A robot that turns with a block on its fork, which is so deep in it."""
    robot = mobile_arm("r")
    turns = [about(UP, angle) for angle in np.linspace(0.0, 1.2, 31)]
    clip = RobotClip.of(robot, [robot.pose(quaternion=turn) for turn in turns], np.arange(31) / 30.0)
    world = World(floor=0.0).with_character("r", clip)
    world = world.with_object("block", box((0.1, 0.08, BLOCK_M)), Still(np.eye(4)))
    return world.with_hold("block", "r", "grip", (0.0, 1.0), transform([0.0, 0.0, 0.5 * BLOCK_M - deep_m]))


def proof(world: World) -> Certificate:
    return certify(played(world, 30.0))


@pytest.mark.parametrize("deep_m", [0.006, 0.015, 0.03])
def test_a_gripper_inside_what_it_holds_is_a_collision(deep_m: float) -> None:
    found = proof(held(deep_m))
    assert not found.free
    assert {frozenset(c.pair) for c in found.collisions} == {frozenset(("r.fork", "block"))}


def test_a_gripper_that_touches_is_listed_with_its_depth(tmp_path: Path) -> None:
    world = held(0.003)
    found = proof(world)
    assert found.free and not found.evidence.excused
    (grip,) = [a for a in found.allowed if set(a.pair) == {"r.fork", "block"}]
    assert 0.0029 < grip.depth_m <= 0.005 and grip.why == "holds it"
    assert "contacts up to" in found.summary
    save([tmp_path / "held.npz", tmp_path / "held.glb"], played(world, 30.0), certificate=found)
    for name in ("held.npz", "held.glb"):
        again = verify(tmp_path / name)
        assert again.good, (name, again.violations)
        assert [(set(a.pair), a.why) for a in again.proof.allowed] == [({"r.flange", "block"}, "holds it")]
    assert not checker().verify(tmp_path / "held.npz", 200.0, 0.0).violations


def test_an_object_just_above_the_fork_needs_no_allowance() -> None:
    found = proof(held(-0.0005))
    assert found.free and not found.allowed


def test_a_file_cannot_excuse_a_gripper_by_a_link(tmp_path: Path) -> None:
    """Files of earlier versions joined a gripper and its object at any depth."""
    save([tmp_path / "deep.npz"], held(0.02))
    with np.load(tmp_path / "deep.npz") as file:
        arrays = dict(file)
    arrays["linked_pair"] = np.array([*arrays["linked_pair"].tolist(), ["r.flange", "block"]])
    arrays["linked_during"] = np.array([*arrays["linked_during"].tolist(), [0.0, 1.0]])
    np.savez(tmp_path / "joined.npz", **arrays)
    again = verify(tmp_path / "joined.npz")
    assert {frozenset(c.pair) for c in again.certificate.collisions} == {frozenset(("r.flange", "block"))}
    world = open_file(tmp_path / "joined.npz").world()
    assert not proof(world).free
