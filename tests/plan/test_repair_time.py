"""Somebody who is sooner or later where something comes by: along the same way, and in time again afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.finish.nudge import Core
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place
from elbowroom.motion.quality import peak_jerk
from elbowroom.motion.stance import foot_slide
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.repair.whole_clip import later_by
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World

CLIP = walk(human(), 1.2, 0.0, 6.0, 60.0)


def with_a_cart(at: float) -> World:
    """A cart comes from the side and crosses the way of somebody at a time, three metres on."""
    middle = CLIP.positions([3.0])[0, 0]
    keys = np.array([[-4.0, middle[1], 0.55], [4.0, middle[1], 0.55]])
    path = Keyed(np.array([at - 2.0, at + 2.0]), keys, np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)))
    return World(floor=0.0).with_character("ann", CLIP).with_object("cart", box((0.3, 0.3, 1.0)), path)


@pytest.mark.parametrize("at", [2.8, 3.1])
def test_who_meets_a_cart_lets_it_pass_or_goes_first(at: float) -> None:
    plan = repair(with_a_cart(at))
    assert plan.found and plan.certificate is not None and plan.certificate.free
    (planned,) = plan.edits
    assert planned.limb == "whole body" and ("later" in planned.reason or "sooner" in planned.reason)
    clip = plan.world.characters["ann"]
    assert isinstance(clip, Clip)
    outside = (CLIP.times < planned.during[0]) | (CLIP.times > planned.during[1])
    assert outside.sum() > 10 and np.array_equal(clip.rotations[outside], CLIP.rotations[outside])
    # along the same way: each place of the root is one where it was at some time
    gaps = [np.linalg.norm(CLIP.root - root, axis=1).min() for root in clip.root]
    assert max(gaps) < 0.02
    # a foot that lifts slowly counts as planted a little longer
    assert foot_slide(clip).max() < 0.007
    assert peak_jerk(clip) < 2.0 * peak_jerk(CLIP)


def test_a_post_that_stands_is_there_sooner_or_later() -> None:
    middle = CLIP.positions([3.0])[0, 0]
    world = World(floor=0.0).with_character("ann", CLIP)
    plan = repair(world.with_static("post", box((0.1, 0.1, 2.0), (middle[0], middle[1], 1.0))))
    assert plan.found and not any("later" in p.reason or "sooner" in p.reason for p in plan.edits)


def test_nobody_hurries_or_dawdles() -> None:
    core = Core(0.5, 2.5, 3.5, 5.5)
    late = later_by(CLIP, core, 0.3)
    assert late is not None
    assert np.allclose(late.positions([3.0]), CLIP.positions([2.7]), atol=1e-3)
    assert later_by(CLIP, core, 0.6) is None and later_by(CLIP, core, -0.6) is None


def test_two_people_whose_ways_cross_pass_each_other() -> None:
    """Only one of them is repaired, and the other walks on as before."""
    other = place(CLIP, (3.6, -3.55), turn=-0.5 * np.pi)
    world = World(floor=0.0).with_character("ann", CLIP).with_character("bob", other)
    plan = repair(world, "ann")
    assert plan.found and plan.world.characters["bob"] is other
