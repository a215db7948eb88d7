"""Repairs of somebody whose hands are at work: a hand is where it takes something when it does so."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.allowed import at_work
from elbowroom.plan.repair.repair import repair
from elbowroom.world.paths import Still
from elbowroom.world.world import World

CLIP = walk(human(), 1.1, 0.0, 4.0, 60.0)
HAND = CLIP.character.role("right_hand")


@cache
def taking(at: float) -> World:
    """Somebody who takes a coin that is where the right hand comes by at a time."""
    T = CLIP.world(np.array([at]))[0, HAND]
    grip = transform([0.0, 0.0, -0.09])
    coin = box((0.01, 0.01, 0.01))
    world = World(floor=0.0).with_character("ann", CLIP).with_object("coin", coin, Still(T @ grip))
    return world.with_hold("coin", "ann", "right", (at, 4.0), grip)


def in_the_way(world: World, t: float) -> World:
    """A ledge that the right hand swings into at a time."""
    hand = CLIP.positions([t])[0, HAND]
    return world.with_static("ledge", box((0.3, 0.08, 0.05), (hand[0] - 0.15 - 0.01, hand[1], hand[2])))


def hand_at(world: World, t: float) -> np.ndarray:
    clip = world.characters["ann"]
    assert isinstance(clip, Clip)
    return clip.positions([t])[0, HAND]


@pytest.mark.parametrize("at", [1.0, 2.1])
def test_the_hand_is_there_when_it_takes_something(at: float) -> None:
    world = in_the_way(taking(at), 1.5)
    plan = repair(world)
    assert any(p.limb.startswith("right_arm") for p in plan.edits)
    assert np.allclose(hand_at(plan.world, at), hand_at(world, at), rtol=0.0, atol=1e-9)
    assert np.linalg.norm(hand_at(plan.world, 1.5) - hand_at(world, 1.5)) > 0.01


def test_what_a_hand_takes_amid_trouble_is_told() -> None:
    plan = repair(in_the_way(taking(1.5), 1.5), max_aside=0.6)
    assert plan.status == "partial" and "grasps, releases or touches" in plan.why
    assert np.allclose(hand_at(plan.world, 1.5), hand_at(taking(1.5), 1.5), rtol=0.0, atol=1e-9)


def test_who_is_taken_something_off_stays_where_they_are() -> None:
    """A hat that another takes off a head is held by the head until then."""
    world = World(floor=0.0).with_character("ann", CLIP).with_object("hat", box((0.2, 0.2, 0.1)), Still(np.eye(4)))
    worn = world.with_hold("hat", "ann", "head", (0.0, 2.0), transform([0.0, 0.0, 0.2]))
    assert at_work(worn, "ann", (1.0, 3.0)) and not at_work(worn, "ann", (2.5, 3.0))
    assert not at_work(worn, "ann", (1.0, 3.0), CLIP.character.chains["right_arm"].joints)
