"""Repairs: limbs get out of the way and the rest of the motion stays as it is, looked at by the exact test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip, Source
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.quality import peak_jerk
from elbowroom.plan.checks.allowed import own_touches
from elbowroom.plan.checks.episodes import clip_of, collision_episodes, linkages
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.repair.whole_clip import raised
from elbowroom.plan.state.result import Plan
from elbowroom.plan.tasks import Repair
from elbowroom.search.birrt import Budget
from elbowroom.storyboard.plan import plan_in_turn
from elbowroom.world.certificate import certify
from elbowroom.world.certificate_findings import Unproven
from elbowroom.world.contacts import Caps
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World
from tools.made_of_edits import assert_made_of_edits


@dataclass(frozen=True, eq=False)
class Unframed:
    """A motion that is not made of frames."""

    clip: Clip

    @property
    def body(self) -> Character:
        return self.clip.body

    @property
    def span(self) -> tuple[float, float]:
        return self.clip.span

    def __call__(self, t: float) -> Pose:
        return self.clip(t)

    def sample(self, times: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        return self.clip.sample(times)


@cache
def stroll() -> Clip:
    return walk(human(), 1.2, 0.0, 3.0, 60.0)


def place_of(role: str, t: float) -> np.ndarray:
    clip = stroll()
    return clip.positions([t])[0, clip.character.role(role)]


def past_a_table(near: float = 0.06) -> World:
    """The right hand swings into the edge of a table."""
    hand = place_of("right_hand", 1.5)
    edge = box((0.3, 0.08, 0.06), (hand[0] - 0.15 - 0.04 + near, hand[1], hand[2]))
    return World(floor=0.0).with_character("ann", stroll()).with_static("table", edge)


def frames_of(plan: Plan) -> Clip:
    clip = plan.world.characters["ann"]
    assert isinstance(clip, Clip)
    return clip


def changed(plan: Plan, before: Clip) -> tuple[np.ndarray, np.ndarray]:
    """Frames and joints that are not what they were, bit by bit."""
    after = frames_of(plan)
    assert np.array_equal(after.root, before.root)
    off = np.any(after.rotations != before.rotations, axis=2)
    return np.flatnonzero(off.any(axis=1)), np.flatnonzero(off.any(axis=0))


@pytest.fixture(scope="module")
def table_plan() -> Plan:
    return repair(past_a_table(), "ann", seed=1)


def test_arm_gets_out_of_the_way_and_is_proven_free(table_plan: Plan) -> None:
    before = certify(past_a_table())
    assert not before.free and {c.limb for c in before.collisions} == {"right_arm"}
    assert table_plan.found and table_plan.certificate is not None and table_plan.certificate.free
    assert certify(table_plan.world).free
    assert [c.pair for c in table_plan.collisions] == [c.pair for c in before.collisions]
    exact = ExactWorld(table_plan.world)
    for t in np.linspace(0.0, 3.0, 601):
        assert not [h for h in exact.place(t).collisions() if "table" in h.pair]


def test_nothing_else_changes(table_plan: Plan) -> None:
    frames, joints = changed(table_plan, stroll())
    body = stroll().character
    assert set(joints) <= {body.role("right_clavicle"), *body.chain("right_arm").joints}
    begin, end = table_plan.edits[0].during
    assert stroll().times[frames[0]] > begin and stroll().times[frames[-1]] < end
    assert len(table_plan.edits) == 1 and table_plan.edits[0].limb in ("right_arm", "right_arm and shoulder")


def test_joins_the_clip_without_a_pop(table_plan: Plan) -> None:
    before, after = stroll(), frames_of(table_plan)
    frames, joints = changed(table_plan, before)
    for k in (frames[0], frames[-1]):
        apart = rot.angle_between(before.rotations[k, joints], after.rotations[k, joints]) * before.fps
        assert apart.max() < 0.2  # radians a second that it leaves the clip with
    assert peak_jerk(after) <= max(2.0 * peak_jerk(before), 1500.0)


def test_same_seed_same_motion(table_plan: Plan) -> None:
    again = repair(past_a_table(), seed=1)
    assert np.array_equal(frames_of(again).rotations, frames_of(table_plan).rotations)


def test_what_is_free_is_left_alone() -> None:
    world = World(floor=0.0).with_character("ann", stroll())
    plan = repair(world)
    assert plan.found and not plan.edits and not plan.collisions
    assert len(changed(plan, stroll())[0]) == 0


def test_leg_steps_over_and_planted_feet_stay() -> None:
    clip = stroll()
    stands = foot_contacts(clip).foot("left")
    off, on = (np.flatnonzero(np.diff(stands.astype(int)) == d) for d in (-1, 1))
    middle = clip.times[[off[1], on[on > off[1]][0]]].mean()
    swing = place_of("left_foot", float(middle))
    world = World(floor=0.0).with_character("ann", clip)
    world = world.with_static("brick", box((0.3, 0.06, 0.12), (swing[0] + 0.1, swing[1] - 0.05, 0.06)))
    before = certify(world)
    assert {c.limb for c in before.collisions} == {"left_leg"}
    plan = repair(world)
    assert plan.found, plan.why
    _, joints = changed(plan, clip)
    assert set(joints) <= set(clip.character.chain("left_leg").joints)
    stands, foot = foot_contacts(clip).foot("left"), clip.character.role("left_foot")
    moved = np.linalg.norm(frames_of(plan).positions()[:, foot] - clip.positions()[:, foot], axis=-1)
    assert moved[stands].max() < 1e-3 < 0.02 < moved.max()


def test_what_a_hand_holds_is_taken_past() -> None:
    """A stick in the hand hits a post; the arm that holds it is to blame, and the stick stays in the hand."""
    hand = place_of("right_hand", 1.5)
    grip = transform((-0.09, 0.0, -0.045))
    world = World(floor=0.0).with_character("ann", stroll())
    stick = box((0.02, 0.7, 0.02))
    world = world.with_object("stick", stick, Keyed.along([0.0], [[0.0, 0.0, 5.0]]))
    world = world.with_hold("stick", "ann", "right", T_hand_object=grip)
    tip = world.frame("stick", 1.5)
    reach = tip[:3, 3] + tip[:3, 1] * 0.3
    post = box((0.08, 0.08, 1.2), (reach[0], reach[1], hand[2]))
    world = world.with_static("post", post)
    found = [c for c in certify(world).collisions if "post" in c.pair]
    assert found
    plan = repair(world)
    assert plan.found, plan.why
    for t in np.linspace(*stroll().span, 40):
        assert np.allclose(np.linalg.inv(plan.world.hand("ann", "right", t)) @ plan.world.frame("stick", t), grip)


def test_moving_obstacle_is_avoided_when_it_comes() -> None:
    hand = place_of("right_hand", 1.5)
    path = Keyed.along([0.0, 1.5, 3.0], [hand + (-3.0, 0.0, 0.0), hand, hand + (-3.0, 0.0, 0.0)])
    world = World(floor=0.0).with_character("ann", stroll())
    world = world.with_object("ball", box((0.1, 0.1, 0.1)), path)
    assert not certify(world).free
    plan = repair(world)
    assert plan.found, plan.why
    assert plan.certificate is not None and plan.certificate.free


def test_recorded_clips_may_touch_themselves_as_before() -> None:
    """Hands in the hips of a clip from a file are its own business; an arm through the trunk is not."""
    clip = stroll()
    thigh = clip.character.role("left_upper_arm")
    limit = clip.character.limits[thigh]
    assert limit is not None

    def turned_in(degrees: float) -> Clip:
        q = np.array(clip.rotations)
        q[:, thigh] = limit.rotation([np.radians(degrees), 0.0, 0.0])
        return clip.with_(rotations=q, source=Source(format="bvh"))

    through = past_a_table().with_character("ann", turned_in(100.0)).with_(static={})
    assert not certify(through).free
    assert not certify(through.with_(caps=Caps(own=0.3))).free, "no cap is deeper than the parts are thick"
    deep = turned_in(82.0)
    plan = repair(past_a_table().with_character("ann", deep))
    assert plan.found, plan.why
    assert plan.certificate is not None and plan.certificate.touches["self"] > 0.03
    assert any(a.why == "in the clip" for a in plan.certificate.allowed)
    left = clip.character.chain("left_arm").joints
    assert not set(changed(plan, deep)[1]) & {*left, *clip.character.chain("left_leg").joints}


def test_clip_deep_in_the_floor_is_raised_and_keeps_its_poses() -> None:
    clip = stroll()
    sunk = clip.root - np.outer(0.09 * np.sin(np.linspace(0.0, np.pi, len(clip))), (0.0, 0.0, 1.0))
    world = World(floor=0.0).with_character("ann", clip.with_(root=sunk, source=Source(format="bvh")))
    assert not certify(world).free
    plan = repair(world)
    assert plan.found, plan.why
    rise = frames_of(plan).root - sunk
    assert np.array_equal(frames_of(plan).rotations, clip.rotations) and not rise[:, :2].any()
    assert 0.03 < rise[:, 2].max() < 0.06, "no higher than the allowed depth of recorded feet asks for"
    assert_made_of_edits(plan)


def test_clip_is_raised_around_a_short_dip_only_and_without_a_jerk() -> None:
    clip = stroll()
    deep = 0.07 * np.exp(-(((clip.times - 1.5) / 0.06) ** 2))
    sunk = clip.with_(root=clip.root - np.outer(deep, (0.0, 0.0, 1.0)), source=Source(format="bvh"))
    rise = raised(world := World(floor=0.0).with_character("ann", sunk), "ann", certify(world).collisions)
    assert rise is not None
    up = (clip_of(rise.world, "ann").root - sunk.root)[:, 2]
    assert 0.01 < up.max() < 0.03
    assert np.ptp(clip.times[up > 0.0]) < 0.8, "0.1 s too deep, and 0.3 s to rise and to sink"
    assert np.abs(np.diff(up, 2)).max() * clip.fps**2 < 1.6


def test_no_repair_keeps_an_overlap_deeper_than_the_cap() -> None:
    clip = stroll().with_(root=stroll().root - (0.0, 0.0, 0.3), source=Source(format="bvh"))
    world = World(floor=0.0).with_character("ann", clip)
    leg = clip.character.chain("left_leg").joints
    planned = own_touches(ExactWorld(world), "ann", leg, clip.times[::8]).contacts(clip.span, planned=False)
    assert max(contact.depth for contact in planned) == pytest.approx(world.caps.feet)


def test_what_cannot_be_repaired_is_told() -> None:
    """A wall right through the way: the trunk is in it, and no limb helps."""
    at = place_of("pelvis", 1.5)
    world = World(floor=0.0).with_character("ann", stroll()).with_static("wall", box((2.0, 0.1, 2.0), (0, at[1], 1.0)))
    plan = repair(world, search_budget=Budget(checks=2000))
    assert plan.status == "partial" and plan.certificate is not None and not plan.certificate.free
    assert "wall" in plan.why and "collisions before" in plan.why
    with pytest.raises(Exception, match="partial"):
        plan.require()


def test_recorded_walk_is_raised_onto_a_carpet_and_not_onto_a_box() -> None:
    clip = stroll().with_(source=Source(format="bvh"))
    middle = clip.positions()[len(clip) // 2, 0, :2]
    for thick, up in ((0.015, True), (0.2, False)):
        world = World(floor=0.0).with_character("ann", clip)
        world = world.with_static("carpet", box((1.0, 0.8, thick), (*middle, 0.5 * thick)))
        found = certify(world).collisions
        assert any("carpet" in one.pair for one in found)
        rise = raised(world, "ann", found)
        assert (rise is not None) is up
        if rise is not None:
            there = clip_of(rise.world, "ann")
            assert (there.rotations == clip.rotations).all() and (there.root[:, :2] == clip.root[:, :2]).all()
            assert thick <= (there.root - clip.root)[:, 2].max() < thick + 0.03
            assert not certify(rise.world).collisions


def test_whole_clip_moves_only_within_a_bound() -> None:
    """The feet stand in a thing beside the way: nothing but another way helps."""
    stands = foot_contacts(stroll()).foot("left")
    k = int(np.flatnonzero(stands)[len(np.flatnonzero(stands)) // 2])
    foot = stroll().positions()[k, stroll().character.role("left_foot")]
    block = box((0.1, 0.1, 0.3), (foot[0] + 0.06, foot[1] - 0.05, 0.15))
    world = World(floor=0.0).with_character("ann", stroll()).with_static("block", block)
    left = repair(world, max_aside=0.0, advise=True)
    assert left.status == "partial" and not any("moved by" in edit.reason for edit in left.edits)  # tried, not done
    assert left.remedy.startswith("the clip moved by ") and "(verified)" in left.remedy
    plan = repair(world, max_aside=0.0, max_shift=0.25)
    assert plan.found, plan.why
    assert plan.edits[0].limb == "whole body"
    assert_made_of_edits(plan)
    moved = np.linalg.norm(frames_of(plan).root - stroll().root, axis=1)
    assert 0.0 < moved.max() <= 0.25 + 1e-9 and np.ptp(moved) < 1e-9


def test_blame_and_linkages() -> None:
    world = past_a_table()
    found = collision_episodes(ExactWorld(world), "ann", certify(world).collisions)
    assert [t.limb for t in found] == ["right_arm"]
    assert "collides with table" in found[0].text or "table collides with" in found[0].text
    near = [Unproven(c.pair, c.during, c.who, c.limb) for c in certify(world).collisions]
    (graze,) = collision_episodes(ExactWorld(world), "ann", near)
    assert graze.grazes and "too close to be proven" in graze.text and "collides" not in graze.text
    body = stroll().character
    names = dict.fromkeys(one.name for one in linkages(body, "right_arm"))
    assert list(names) == ["right_arm", "right_arm and shoulder", "right_arm and spine"]
    stuck = [body.role("right_clavicle")]
    assert next(iter(linkages(body, "right_arm", stuck))).name == "right_arm and shoulder"
    assert linkages(body, "pelvis") == []


def test_odd_characters_and_clips_are_told_and_not_stumbled_over() -> None:
    """One frame in a wall; a body whose joints have no ranges; one without chains; a clip that begins in trouble."""
    wall = box((2.0, 0.1, 2.0), place_of("pelvis", 1.5) * (0, 1, 1))
    still = stroll().with_(root=stroll().root[90:91], rotations=stroll().rotations[90:91])
    stiff = stroll().with_(character=stroll().character.with_(limits=()))
    whole = stroll().with_(character=stroll().character.with_(chains={}))
    for clip in (still, stiff, whole):
        plan = repair(World(floor=0.0, static={"wall": wall}).with_character("ann", clip))
        assert plan.status == "partial" and "wall" in plan.why
    hand = place_of("right_hand", 0.0)
    early = World(floor=0.0).with_character("ann", stroll())
    early = early.with_static("rail", box((0.05, 0.1, 0.05), hand + (-0.03, 0.0, -0.05)))
    plan = repair(early)
    assert plan.collisions[0].during[0] == 0.0
    assert plan.found, plan.why
    assert "from the first frame on" in plan.edits[0].reason and plan.edits[0].during[0] == 0.0


def test_repair_is_a_task() -> None:
    plan = plan_in_turn(past_a_table(), [Repair(who="ann")])
    assert plan.found and plan.edits and plan.collisions
    assert_made_of_edits(plan)


def test_bad_input_is_refused() -> None:
    world = World(floor=0.0).with_character("ann", stroll())
    with pytest.raises(UnknownName):
        repair(world, "bob")
    with pytest.raises(BadValue):
        repair(world.with_character("ann", Unframed(stroll())), "ann")
