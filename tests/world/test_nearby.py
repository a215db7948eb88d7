"""People who stay out of reach are left out of what is looked at; those who may come near never are."""

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.plan.repair.stretch import within_reach
from elbowroom.world.paths import Still
from elbowroom.world.world import World

PERSON = human(skin=False)


def passing(aside: float, late: float = 0.0) -> World:
    """Ann walks along -Y; bob stands beside her way, where she is after some seconds."""
    ann = walk(PERSON, 1.3, seconds=4.0)
    at = np.array([aside, np.interp(late, ann.times, ann.root[:, 1]), ann.root[0, 2]])
    bob = Clip(PERSON, 60.0, np.tile(at, (len(ann), 1)), np.tile(PERSON.skeleton.rest, (len(ann), 1, 1)))
    return World(floor=0.0).with_character("ann", ann).with_character("bob", bob)


@pytest.mark.parametrize(("aside", "there"), [(1.0, True), (2.5, True), (8.0, False)])
def test_who_is_far_is_left_out(aside: float, there: bool) -> None:
    world = passing(aside, 2.0)
    assert ("bob" in within_reach(world, "ann", (1.0, 3.0)).characters) == there
    assert ("ann" in within_reach(world, "bob", (1.0, 3.0)).characters) == there


def test_only_the_interval_counts() -> None:
    world = passing(1.0, 4.0)
    clip = world.characters["ann"]
    assert isinstance(clip, Clip)
    fast = world.with_character("ann", clip.with_(root=clip.root * (1.0, 4.0, 1.0)))
    at = np.interp(4.0, clip.times, 4.0 * clip.root[:, 1])
    bob = fast.characters["bob"]
    assert isinstance(bob, Clip)
    fast = fast.with_character("bob", bob.with_(root=bob.root * (1.0, 0.0, 1.0) + (0.0, at, 0.0)))
    assert "bob" not in within_reach(fast, "ann", (0.0, 1.0)).characters
    assert "bob" in within_reach(fast, "ann", (3.5, 4.0)).characters


def test_hands_that_hold_are_longer_than_they_seem() -> None:
    world = passing(8.0, 2.0).with_object("ladder", box((8.0, 0.1, 0.1)), Still(np.eye(4)))
    assert "bob" in within_reach(world.with_hold("ladder", "bob", "left"), "ann", (1.0, 3.0)).characters
    assert "bob" in within_reach(world.with_hold("ladder", "ann", "left"), "ann", (1.0, 3.0)).characters
