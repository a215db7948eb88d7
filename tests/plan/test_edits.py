"""Edits: cut from frames, stacked, made weaker or muted; what is weaker is proven again, or said not to be."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import about, multiply
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.layers import held
from elbowroom.plan.prove import prove
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.repair.whole_clip import begun_later, shifted_clips
from elbowroom.plan.state.edit import laid_in_turn, stacked
from elbowroom.plan.state.result import Plan
from elbowroom.world.edit import Edit, motions
from elbowroom.world.world import World
from tools.made_of_edits import assert_made_of_edits


@cache
def stroll() -> Clip:
    return walk(human(), 1.2, 0.0, 3.0, 60.0)


def bump(count: int, first: int, last: int) -> np.ndarray:
    """A share (count,) that rises and falls between two frames."""
    h = (np.arange(count) - first) / (last - first)
    return np.where((h > 0.0) & (h < 1.0), np.sin(np.pi * np.clip(h, 0.0, 1.0)) ** 2, 0.0)


def turned(clip: Clip, role: str, first: int, last: int, angle: float = 0.4) -> Clip:
    """A clip with a joint turned aside for a while."""
    q, j = np.array(clip.rotations), clip.character.role(role)
    share = bump(len(clip), first, last)
    rows = np.flatnonzero(share)
    turns = np.stack([about([1.0, 0.0, 0.0], angle * s) for s in share[rows]])
    q[rows, j] = multiply(q[rows, j], turns)
    return clip.with_(rotations=q)


def edit(limb: str, begin: float, end: float, reason: str = "a test") -> Edit:
    return Edit("ann", limb, reason, (begin, end), "avoid")


def both_hands() -> tuple[Clip, Clip, list[Edit]]:
    """Two arms that move at times that overlap, the neck with the second, and edits of them."""
    after = turned(turned(turned(stroll(), "right_forearm", 20, 90), "left_forearm", 60, 140), "neck", 60, 140)
    return stroll(), after, laid_in_turn([edit("right_arm", 0.3, 1.5), edit("left_arm", 1.0, 2.3)], stroll(), after)


def test_edits_have_the_joints_of_their_limbs_and_the_frames_in_which_they_differ() -> None:
    base, after, (right, left) = both_hands()
    names = base.character.joint_names
    assert [names[j] for j in right.layer.joints] == ["right_forearm"]
    assert {names[j] for j in left.layer.joints} == {"neck", "left_forearm"}
    assert right.layer.during == (pytest.approx(21 / 60), pytest.approx(89 / 60)) and right.layer.root is None
    made = motions({"ann": base}, [right, left])["ann"]
    assert isinstance(made, Clip) and np.array_equal(made.rotations, after.rotations)


def test_what_a_limb_does_before_its_first_edit_belongs_to_that_edit() -> None:
    """An arm that gives way early does so for its own edit, not for one of the other arm that begins before it."""
    base = stroll()
    after = turned(turned(base, "right_forearm", 20, 90), "left_forearm", 30, 140)
    right, left = laid_in_turn([edit("right_arm", 0.3, 1.5), edit("left_arm", 1.0, 2.3)], base, after)
    names = base.character.joint_names
    assert [names[j] for j in right.layer.joints] == ["right_forearm"]
    assert left.layer.during[0] == pytest.approx(31 / 60)
    plan = Plan("found", World().with_character("ann", after), (right, left), base={"ann": base})
    without = plan.muted(2).world.motion("ann").rotations
    arm = base.character.role("left_forearm")
    assert np.array_equal(without[:, arm], base.rotations[:, arm])


def test_a_hand_that_stays_belongs_to_the_edit_that_brought_it() -> None:
    """It goes there in one edit, waits, and goes back in another: each frame has one of them."""
    base = stroll()
    q, j = np.array(base.rotations), base.character.role("right_forearm")
    share = np.clip(np.minimum((np.arange(len(base)) - 20) / 20, (140 - np.arange(len(base))) / 20), 0.0, 1.0)
    q[:, j] = multiply(q[:, j], np.stack([about([1.0, 0.0, 0.0], 0.5 * s) for s in share]))
    after = base.with_(rotations=q)
    there, back = laid_in_turn([edit("right_arm", 20 / 60, 40 / 60), edit("right_arm", 2.0, 140 / 60)], base, after)
    assert there.layer.during[1] == pytest.approx(119 / 60) and back.layer.during[0] == pytest.approx(2.0)
    # without the second it fades where the first would have left off: no joint jumps from frame to frame
    plan = Plan("found", World().with_character("ann", after), (there, back), base={"ann": base})
    for weaker in (plan.muted(2), plan.muted(1), plan.with_edits({1: 0.5})):
        made = weaker.world.motion("ann").rotations[:, j]
        own = base.rotations[:, j]
        off = 2.0 * np.arccos(np.clip(np.abs(np.sum(made * own, axis=1)), 0.0, 1.0))
        assert off.max() > 0.1 and np.abs(np.diff(off)).max() < 0.06


def test_edits_over_edits_that_last_longer() -> None:
    """What was done first is held for as long as what comes later lasts."""
    base = stroll()
    first = turned(base, "right_forearm", 120, 240)  # it ends while the arm is turned
    under = laid_in_turn([edit("right_arm", 2.0, 3.0)], base, first)
    later = begun_later(first, 30)
    over = laid_in_turn([edit("whole body", 0.0, 3.5)], held(first, len(first) + 30), later)
    longer = later.with_()
    below, edits = stacked({"ann": base}, under, {"ann": longer}, over)
    made = motions(below, edits)["ann"]
    assert isinstance(made, Clip) and np.array_equal(made.rotations, later.rotations)
    assert np.array_equal(made.root, later.root) and edits[1].layer.root is not None
    only = motions(below, edits[:1])["ann"]
    assert isinstance(only, Clip) and (only.rotations[-30:] == first.rotations[-1]).all()


def test_a_clip_that_begins_later_stands_still_after_its_artificial_frames() -> None:
    clip = stroll().with_(source=replace(stroll().source, lead=2))
    later = begun_later(clip, 15)
    assert len(later) == len(clip) + 15 and later.start == clip.start
    assert np.array_equal(later.root[:2], clip.root[:2]) and (later.root[2:18] == clip.root[2]).all()
    assert np.array_equal(later.root[17:], clip.root[2:]) and np.array_equal(later.rotations[17:], clip.rotations[2:])
    delays = [way.delay for way in shifted_clips(World(floor=0.0).with_character("ann", stroll()), "ann", 0.0, 0.33)]
    assert delays == pytest.approx([4 / 60, 9 / 60, 19 / 60]), "whole frames within the bound, small ones first"


@cache
def repaired() -> Plan:
    """The right hand swings into the edge of a table, and is led round it."""
    hand = stroll().positions([1.5])[0, stroll().character.role("right_hand")]
    edge = box((0.3, 0.08, 0.06), (hand[0] - 0.13, hand[1], hand[2]))
    return repair(World(floor=0.0).with_character("ann", stroll()).with_static("table", edge), "ann", seed=1)


def test_a_repair_is_its_edits_and_muting_them_gives_the_clip_back() -> None:
    plan = repaired()
    assert plan.found
    assert_made_of_edits(plan)
    assert plan.base["ann"] is stroll() and plan.edits[0].reason == "clear of table"
    muted = plan.muted("clear of table")
    assert muted.status == "not-certified" and muted.certificate is None and "not been proven" in muted.why
    assert np.array_equal(muted.world.motion("ann").rotations, stroll().rotations)
    proven = prove(muted)
    assert proven.status == "not-certified" and "table" in proven.why and proven.certificate is not None
    again = prove(proven.muted(1, muted=False))
    assert again.found and np.array_equal(again.world.motion("ann").rotations, plan.world.motion("ann").rotations)
    assert plan.with_edits({1: 1.0}).found, "nothing changed: what was proven is"


def test_half_of_an_edit_is_half_way() -> None:
    plan = repaired()
    half = plan.with_edits({1: 0.5})
    assert half.edits[0].strength == 0.5 and half.edits[0].facts()["strength"] == 0.5 and plan.edits[0].strength == 1.0
    rows = slice(80, 100)
    hands = [w.motion("ann").positions()[rows, stroll().character.role("right_hand")]
             for w in (World().with_character("ann", stroll()), half.world, plan.world)]  # fmt: skip
    there, half_way = (np.linalg.norm(h - hands[0], axis=1).max() for h in (hands[2], hands[1]))
    assert 0.3 * there < half_way < 0.7 * there


def test_edits_that_do_not_exist_and_strengths_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UnknownName, match="edit 'clear of tabel': did you mean 'clear of table'"):
        repaired().muted("clear of tabel")
    with pytest.raises(UnknownName, match=r"1 \(clear of table\)"):
        repaired().with_edits({2: 0.5})
    with pytest.raises(BadValue, match="between 0 and 1"):
        repaired().with_edits({1: 1.2})
