"""Who walks walks round what stands in the way: feet stand, the body turns to where it goes, and is back in the end."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import cylinder
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.stance import foot_slide
from elbowroom.plan.repair.repair import repair
from elbowroom.world.world import World


def towards_a_post(aside: float = 0.0) -> World:
    clip = walk(human(), 1.2, 0.0, 5.0, 60.0)
    middle = clip.positions([2.5])[0, 0]
    post = cylinder(0.06, 2.5, at=(middle[0] + aside, middle[1], 1.25))
    return World(floor=0.0).with_character("ann", clip).with_static("post", post)


@pytest.mark.parametrize("aside", [0.0, 0.12])
def test_a_post_on_the_way_is_walked_round(aside: float) -> None:
    world = towards_a_post(aside)
    plan = repair(world)
    assert plan.found and plan.certificate is not None and plan.certificate.continuous
    (planned,) = [p for p in plan.edits if p.limb == "whole body"]
    assert "clear of post" in planned.reason
    before, after = world.characters["ann"], plan.world.characters["ann"]
    assert isinstance(before, Clip) and isinstance(after, Clip)
    outside = (before.times < planned.during[0]) | (before.times > planned.during[1])
    assert np.array_equal(after.root[outside], before.root[outside])
    assert 0.25 < np.abs(after.root - before.root)[:, 0].max() < 0.61
    standing = foot_contacts(before)
    assert (foot_slide(after, standing) - foot_slide(before, standing)).max() < 1e-4
    # the body faces where it goes, which in a walk straight on is the same all the way
    turned = rot.heading(after.rotations[:, 0]) - rot.heading(before.rotations[:, 0])
    step = after.root[24:] - after.root[:-24]
    leads = np.arctan2(step[:, 0], -step[:, 1])[:: len(step) // 10]
    assert np.abs(turned).max() > np.radians(8.0)
    assert np.abs(leads - turned[12:-12:][:: len(step) // 10]).max() < np.radians(7.0)


def test_nobody_goes_farther_aside_than_allowed() -> None:
    plan = repair(towards_a_post(), max_aside=0.1)
    assert plan.status == "partial" and "post" in plan.why
    before, after = (w.characters["ann"] for w in (towards_a_post(), plan.world))
    assert isinstance(before, Clip) and isinstance(after, Clip)
    assert np.abs(after.root - before.root)[:, :2].max() < 0.1 + 1e-9
