"""Limbs that are to be kept stay where they are in a repair, and say so where it fails because of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.character.human import preset
from elbowroom.cli.options import limb_kept
from elbowroom.errors import BadFile, BadValue, UnknownName
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk_along
from elbowroom.plan.checks.allowed import Pin
from elbowroom.plan.repair.repair import repair
from elbowroom.storyboard.storyboard import parse_storyboard
from elbowroom.world.world import World


@pytest.fixture(scope="module")
def past_a_rail() -> World:
    walk = walk_along(preset("woman"), np.array([(0.0, 0.0), (0.0, -4.0)]), 1.3, fps=30)
    world = World(floor=0.0).with_character("ann", walk)
    return world.with_static("rail", box((0.05, 0.6, 0.3), (0.32, -2.0, 0.85)))


def test_a_limb_that_is_kept_stays(past_a_rail: World):
    plan = repair(past_a_rail, keep=[Pin("ann", "right_arm", (-math.inf, math.inf))])
    assert plan.status == "found"
    old, new = past_a_rail.motion("ann").world(), plan.world.motion("ann").world()
    hand = plan.world.body("ann").role("right_hand")
    assert np.abs(old[:, hand] - new[:, hand]).max() < 1e-9
    assert {edit.limb.removesuffix(" and shoulder") for edit in plan.edits} == {"left_arm"}


def test_who_may_not_give_way_says_so(past_a_rail: World):
    plan = repair(past_a_rail, keep=[Pin("ann", "left_arm", (0.0, 9.0))])
    assert plan.status == "partial" and "or a limb is kept" in plan.why
    assert plan.world.motion("ann").rotations == pytest.approx(past_a_rail.motion("ann").rotations)


def test_limbs_to_keep_are_limbs(past_a_rail: World):
    with pytest.raises(UnknownName, match="limb of ann"):
        repair(past_a_rail, keep=[Pin("ann", "tail", (0.0, 1.0))])
    page = "elbowroom: 1\ncharacters: {ann: {body: woman}}\ntasks:\n  - repair: {who: ann, keep: [KEPT], aside: 0.2}\n"
    task = parse_storyboard(page.replace("KEPT", "left_leg, {limb: right_arm, during: [1, 2]}")).tasks[0]
    assert task.keep == (("left_leg", (-math.inf, math.inf)), ("right_arm", (1.0, 2.0))) and task.aside == 0.2
    for wrong, says in (
        ("tail", "unknown limb of ann 'tail'"),
        ("{limb: neck, during: [2, 1]}", "ends before it begins"),
    ):
        with pytest.raises(BadFile, match=says):
            parse_storyboard(page.replace("KEPT", wrong))


def test_keep_on_the_command_line():
    assert limb_kept("left_arm=1.2-2.5") == ("left_arm", (1.2, 2.5))
    assert limb_kept("spine") == ("spine", (-math.inf, math.inf))
    for wrong in ("=1-2", "left_arm=", "left_arm=2-1"):
        with pytest.raises(BadValue, match="--keep takes a limb"):
            limb_kept(wrong)
