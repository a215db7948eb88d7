"""Who walks walks round what stands in the way: feet stand, the body turns to where it goes, and is back in the end."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import cylinder
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip, Source
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.legs import place_feet
from elbowroom.motion.stance import foot_slide
from elbowroom.plan.repair.repair import repair
from elbowroom.world.certificate import certify
from elbowroom.world.contacts import Caps
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
    (planned,) = [p for p in plan.edits if p.limb.startswith("whole body")]
    assert "clear of post" in planned.reason
    before, after = world.characters["ann"], plan.world.characters["ann"]
    assert isinstance(before, Clip) and isinstance(after, Clip)
    outside = (before.times < planned.during[0]) | (before.times > planned.during[1])
    assert np.array_equal(after.root[outside], before.root[outside])
    assert 0.1 < np.abs(after.root - before.root)[:, 0].max() < 0.61
    standing = foot_contacts(before)
    assert (foot_slide(after, standing, heights=before) - foot_slide(before, standing)).max() < 1e-4
    # the body goes on facing ahead: a step to the side is no turn
    turned = rot.heading(after.rotations[:, 0]) - rot.heading(before.rotations[:, 0])
    assert np.abs(turned).max() < np.radians(20.0)


def test_nobody_goes_farther_aside_than_allowed() -> None:
    plan = repair(towards_a_post(), max_aside=0.1)
    assert plan.status == "partial" and "post" in plan.why
    before, after = (w.characters["ann"] for w in (towards_a_post(), plan.world))
    assert isinstance(before, Clip) and isinstance(after, Clip)
    assert np.abs(after.root - before.root)[:, :2].max() < 0.1 + 1e-9


def test_who_squats_too_deep_is_raised_over_planted_feet() -> None:
    body = human(1.70)
    count, rest = 121, body.skeleton.rest
    still = Clip(body, 60.0, np.tile(body.skeleton.offsets[0], (count, 1)), np.tile(rest, (count, 1, 1)))
    down = 0.72 * np.sin(np.linspace(0.0, np.pi, count)) ** 2
    root, T = still.root + np.outer(down, (0.0, 0.1, -1.0)), still.world()
    feet = {side: T[:, body.role(f"{side}_foot")] for side in ("left", "right")}
    squat = still.with_(root=root, rotations=place_feet(body, root, still.rotations, feet), source=Source(format="bvh"))
    world = World(floor=0.0, caps=Caps(own=0.02)).with_character("ann", squat)
    assert {pair for one in certify(world).collisions for pair in one.pair} == {
        "ann.pelvis", "ann.left_shin", "ann.right_shin"
    }  # fmt: skip
    plan = repair(world)
    assert plan.found, plan.why
    assert "body itself" in plan.edits[0].reason
    after = plan.world.motion("ann")
    assert isinstance(after, Clip)
    up = (after.root - squat.root)[:, 2]
    assert up.max() < 0.06 and up.min() > -0.01
    for side in ("left", "right"):
        foot = body.role(f"{side}_foot")
        assert np.abs(after.world()[:, foot, :3, 3] - T[:, foot, :3, 3]).max() < 1e-3
