"""What the two lines on a proof say: everything that it excuses is named, with its bound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from adversary.makers import robot
from elbowroom import cli
from elbowroom.cli.results import print_free
from elbowroom.files.save import save
from elbowroom.geometry.solids import box
from elbowroom.motion.clip import Source
from elbowroom.motion.robot_clip import RobotClip
from elbowroom.world.certificate import certify
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Still
from elbowroom.world.world import World
from tools.simple_bodies import crossing

ALWAYS = (-np.inf, np.inf)


def gripping() -> World:
    """A robot that moves with a box in its gripper."""
    machine = robot()
    q = np.tile(machine.rest.q, (2, 1))
    q[1, 4] = 0.3
    world = World(floor=None).with_character("picker", RobotClip(machine, np.array([0.0, 0.5]), np.zeros((2, 3)), q))
    joint, T_joint_hand = machine.hand(link := next(iter(machine.links)))
    at = machine.transforms(machine.rest.root, machine.rest.q)[0, joint] @ T_joint_hand
    world = world.with_object("crate", box([0.05, 0.05, 0.05]), Still(at))
    return world.with_hold("crate", "picker", link)


def lines(world: World, capsys) -> str:
    print_free(certify(world), "2 frames")
    return " ".join(capsys.readouterr().out.split())


def test_recorded_self_contact_is_in_both_lines(capsys) -> None:
    world = World(floor=None).with_character("it", crossing([-0.01, 0.04], source=Source(format="BVH")))
    said = lines(world, capsys)
    assert "collision-free: proven in continuous time (2 frames), except for what the next line lists" in said
    assert "self-contact as recorded up to 4" in said and "no self-collision" not in said


def test_planned_contact_and_recorded_contact_are_told_apart(capsys) -> None:
    world = World(floor=None).with_character("it", crossing([-0.01, 0.008]))
    said = lines(world.with_contact(Contact("it.left_shin", "it.right_shin", ALWAYS, "touch", 0.01)), capsys)
    assert "except" not in said and "self-contact up to 8" in said and "as recorded" not in said


def test_a_proof_without_exceptions_has_none(capsys) -> None:
    world = World(floor=None).with_character("it", crossing([-0.01, -0.02]))
    assert certify(world).exceptions == []
    assert "except" not in lines(world, capsys)


def test_the_grip_of_a_robot_is_named_in_all_reports(capsys, tmp_path: Path) -> None:
    world = gripping()
    found = certify(world)
    assert found.free and found.exceptions == ["the depth of 'crate' in the grip of picker is not checked"]
    assert "in the grip of picker is not checked" in lines(world, capsys)
    for path in save([tmp_path / "a.npz", tmp_path / "a.glb"], world, certificate=found):
        told = CliRunner().invoke(cli.app, ["verify", str(path)])
        assert told.exit_code == 0 and "in the grip of picker is not checked" in " ".join(told.output.split())
