"""What elbowroom leaves in a GLB besides: holds, contacts and masses come back, and nonsense does no harm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.files.content import proof_of
from elbowroom.files.glb_story import story_of, with_story
from elbowroom.files.glb_write import write_glb
from elbowroom.files.open import open_file
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.walk import walk
from elbowroom.world.certificate import certify
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Still
from elbowroom.world.played import played
from elbowroom.world.world import World


@pytest.fixture(scope="module")
def carrying() -> World:
    """A walk that starts at 0.5 s with a cube in the left hand from 1 s on."""
    clip = walk(human(skin=False), 1.0, seconds=2.0, fps=30.0).with_(start=0.5)
    world = World().with_character("ann", clip)
    at = world.hand("ann", "left", 1.0) @ transform([0.076, 0.0, -0.076])  # the fingers are 4 mm in it
    world = world.with_object("cube", box([0.06, 0.06, 0.06]), Still(at), mass=0.7)
    world = world.with_contact(Contact("ann", "cube", (0.5, 1.2), "touch", 0.002, "fingers close"))
    world = world.with_contact(Contact("ann", "wall", (-np.inf, np.inf), "support", 0.004))
    return world.with_hold("cube", "ann", "left", (1.0, 2.5))


def test_holds_contacts_and_masses_come_back(carrying: World, tmp_path: Path):
    write_glb(tmp_path / "a.glb", carrying, 30.0)
    read = open_file(tmp_path / "a.glb").world()
    (hold,) = read.holds
    assert (hold.object, hold.by, hold.hand) == ("cube", "ann", "left")
    assert hold.during == pytest.approx((0.5, 2.0))  # the file's time begins with the motion
    assert read.objects["cube"].mass == pytest.approx(0.7)
    first, second = read.contacts
    assert (first.who, first.on, first.kind, first.why) == ("ann", "cube", "touch", "fingers close")
    assert first.during == pytest.approx((0.0, 0.7)) and first.depth == 0.002
    assert second.during == (-np.inf, np.inf)
    for t in (0.2, 0.5, 1.1, 1.9):
        np.testing.assert_allclose(read.at(t).things["cube"], carrying.at(t + 0.5).things["cube"], atol=2e-5)


def test_what_is_held_does_not_collide_in_the_file(carrying: World, tmp_path: Path):
    write_glb(tmp_path / "a.glb", carrying, 30.0)
    read = open_file(tmp_path / "a.glb").world()
    held = certify(read, clearance=False, during=(0.6, 2.0)).collisions
    assert not [c for c in held if "cube" in c.pair and c.limb == "left_arm"]
    without = certify(read.with_(holds=(), contacts=()), clearance=False, during=(0.6, 2.0)).collisions
    assert [c for c in without if "cube" in c.pair and c.limb == "left_arm"]  # the cube is in the hand's way else


@pytest.mark.parametrize(
    "story",
    [
        {"holds": 3, "contacts": "x", "masses": []},
        {"holds": [None, {}, {"object": 1, "by": 2, "hand": 3, "during": [0, 1]}]},
        {"holds": [{"object": "none", "by": "ann", "hand": "left", "during": [0, 1]}]},
        {"holds": [{"object": "cube", "by": "bob", "hand": "left", "during": [0, 1]}]},
        {"holds": [{"object": "cube", "by": "ann", "hand": "third", "during": [0, 1]}]},
        {"holds": [{"object": "cube", "by": "ann", "hand": "left", "during": [2, 1]}]},
        {"holds": [{"object": "cube", "by": "ann", "hand": "left", "during": [float("nan"), 1]}]},
        {"contacts": [{"who": "ann", "on": "cube", "during": [0, 1], "kind": "fly", "depth": 0.1, "why": ""}]},
        {"contacts": [{"who": "ann", "on": "cube", "during": [0, 1], "kind": "touch", "depth": -1, "why": ""}]},
        {"masses": {"cube": -1.0, "none": 2.0}},
        {"masses": {"cube": True}},
    ],
)
def test_nonsense_in_a_file_is_left_out(carrying: World, story: dict):
    plain = carrying.with_(holds=(), contacts=())
    told = with_story(plain, story)
    assert not told.holds and not told.contacts and told.objects["cube"].mass == 0.7


def test_the_story_is_plain_data(carrying: World):
    import json

    json.dumps(story_of(carrying, 0.5, proof_of(played(carrying))), allow_nan=False)
