"""What the two lines on a proof say: everything that it excuses is named, with its bound."""

from __future__ import annotations

import numpy as np

from elbowroom.cli.results import print_free
from elbowroom.motion.clip import Source
from elbowroom.world.certificate import certify
from elbowroom.world.contacts import Contact
from elbowroom.world.world import World
from tools.simple_bodies import crossing

ALWAYS = (-np.inf, np.inf)


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
