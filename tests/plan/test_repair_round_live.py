"""Somebody who walks round what is being moved: free and proven, on the side of last time, and not while hands work."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box, cylinder
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.allowed import at_work
from elbowroom.plan.repair.live import LiveRepair
from elbowroom.plan.state.result import Plan
from elbowroom.world.certificate import certify
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Still
from elbowroom.world.world import World

WALK = walk(human(), 1.2, 0.0, 5.0, 60.0)


def world_with(T: Array) -> World:
    post = cylinder(0.06, 2.5, at=(0.0, 0.0, 1.25))
    return World(floor=0.0).with_character("ann", WALK).with_object("post", post, Still(T))


def aside(plan: Plan) -> float:
    """Metres to the left of a walk along -y, at most."""
    clip = plan.world.motion("ann")
    assert isinstance(clip, Clip)
    off = (clip.root - WALK.root)[:, 0]
    return float(off[np.argmax(np.abs(off))])


def test_a_post_is_walked_round_wherever_it_is_moved_and_on_the_same_side() -> None:
    live, sides = LiveRepair(world_with(transform([2.0, -3.0, 0.0]))), []
    for x in (0.15, 0.1, 0.05, 0.0, -0.05):
        world = world_with(transform([x, -3.0, 0.0]))
        assert not certify(world, clearance=False).free
        plan = live.again(world, ["post"], sure=True, seconds=60.0)
        assert plan.found and [p.limb for p in plan.edits] == ["whole body, stepping aside"]
        assert certify(plan.world, clearance=False).free
        sides.append(aside(plan))
    assert max(sides) < -0.1 or min(sides) > 0.1
    away = live.again(world_with(transform([2.0, -3.0, 0.0])), ["post"], sure=True, seconds=60.0)
    assert away.found and not away.edits and aside(away) == 0.0


def test_what_was_planned_is_gone_on_with() -> None:
    before = world_with(transform([0.0, -3.0, 0.0]))
    first = LiveRepair(before).again(before, ["post"], sure=True, seconds=60.0)
    live = LiveRepair(before)
    live.learn(first)
    plan = live.again(world_with(transform([0.01, -3.02, 0.0])), ["post"], sure=True, seconds=60.0)
    assert plan.found and np.sign(aside(plan)) == np.sign(aside(first))


def test_hands_that_take_or_touch_something_keep_the_body_where_it_is() -> None:
    world = world_with(transform([2.0, -3.0, 0.0])).with_object("can", box((0.06, 0.06, 0.1)), Still(np.eye(4)))
    assert not at_work(world, "ann", (1.0, 4.0))
    held = world.with_hold("can", "ann", "right", (2.0, 5.0))
    assert at_work(held, "ann", (1.0, 4.0)) and not at_work(held, "ann", (2.5, 4.0))
    touch = Contact("ann.right_index3", "can", (3.0, 3.2))
    touching = world.with_(contacts=(*world.contacts, touch))
    assert at_work(touching, "ann", (1.0, 4.0)) and not at_work(touching, "ann", (3.5, 4.0))
    left = WALK.character.role("left_forearm")
    assert not at_work(touching, "ann", (1.0, 4.0), [left])


def test_who_is_at_work_does_not_walk_round() -> None:
    world = world_with(transform([0.0, -3.0, 0.0])).with_object("can", box((0.06, 0.06, 0.1)), Still(np.eye(4)))
    held = world.with_hold("can", "ann", "right", (2.5, 5.0), transform([0.0, -0.12, 0.05]))
    plan = LiveRepair(held).again(held, ["post"], seconds=3.0)
    assert aside(plan) == 0.0
    free = LiveRepair(world).again(world, ["post"], seconds=60.0)
    assert free.found and abs(aside(free)) > 0.1


@pytest.mark.parametrize("x", [-0.2, 0.2])
def test_the_other_side_is_found_where_one_is_closed(x: float) -> None:
    """A wall beside the way leaves one side only."""
    here = world_with(transform([0.0, -3.0, 0.0]))
    wall = box((0.1, 6.0, 2.0), at=(4.0 * x - np.sign(x) * 0.3, -3.0, 1.0))
    plan = LiveRepair(here.with_static("wall", wall)).again(here.with_static("wall", wall), ["post"], seconds=60.0)
    assert plan.found and np.sign(aside(plan)) == -np.sign(x)
