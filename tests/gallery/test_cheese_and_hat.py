"""The long sequence of paper S: five things done on one walk, in ten plans, among 36,000 triangles (S8)."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from intended import deep_contacts

from elbowroom.character.body import Character
from elbowroom.gallery.scenes import scenario
from elbowroom.motion.clip import Clip
from elbowroom.motion.quality import quality
from elbowroom.plan.state.result import Plan
from elbowroom.plan.verbs.encounters import seen_by
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.world.certificate import certify
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Still
from elbowroom.world.world import World
from tools.jerk import point_jerk


@cache
def planned() -> tuple[Storyboard, Plan]:
    """The scenario and its plan, worked out once for all tests."""
    board = scenario("cheese-and-hat").board()
    return board, plan_storyboard(board, seed=1, budget=600.0)


def clips() -> tuple[Clip, Clip]:
    """The walk as it was, and with everything done."""
    board, plan = planned()
    before, after = board.world.motion("ann"), plan.require().world.motion("ann")
    assert isinstance(before, Clip) and isinstance(after, Clip)
    return before, after


def gap(world: World, part: str, thing: str, t: float) -> float:
    """Distance of a part of the body from a thing, metres, below zero where they overlap; holds do not count."""
    laid = replace(world.objects[thing], path=Still(world.frame(thing, t)))
    exact = ExactWorld(world.with_(holds=(), objects={thing: laid}, static={}, floor=None)).place(t)
    value = exact.distance((f"ann.{part}", thing)).value
    assert value is not None
    return value


def at(verb: str, thing: str) -> float:
    """The time that the storyboard gives for a task."""
    told = planned()[0].tasks
    (found,) = [t.at for t in told if t.verb == verb and thing in (getattr(t, "object", ""), getattr(t, "target", ""))]
    assert found is not None
    return found


def test_five_things_are_done_in_ten_plans_and_proven() -> None:
    board, plan = planned()
    assert plan.found, f"{plan.status}: {plan.why}"
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    assert not deep_contacts(plan)
    assert [t.verb for t in board.tasks] == ["grab", "drop", "grab", "touch", "put"]
    assert len(plan.edits) == 10
    assert [p.limb for p in plan.edits] == ["right_arm"] * 6 + ["left_arm"] * 2 + ["right_arm"] * 2
    begins = [p.during[0] for p in plan.edits]
    assert begins == sorted(begins)


def test_the_scene_is_as_large_as_that_of_the_paper_and_the_walk_is_free_by_itself() -> None:
    world = planned()[0].world
    assert 30_000 <= world.triangles <= 40_000
    assert certify(world, clearance=False).free


def test_the_proof_would_tell_if_the_table_stood_nearer() -> None:
    world = planned()[1].require().world
    near = np.eye(4)
    near[1, 3] = 0.25
    static = {**world.static, "table": world.static["table"].moved(near)}
    told = certify(world.with_(static=static), during=(6.5, 9.0), clearance=False)
    assert any("table" in c.pair for c in told.collisions)


def test_the_cheese_is_in_the_hand_then_falls_and_lies_on_the_table() -> None:
    world = planned()[1].require().world
    (hold,) = [h for h in world.holds if h.object == "cheese"]
    assert (hold.by, hold.hand) == ("ann", "right")
    assert hold.during == pytest.approx((at("grab", "cheese"), at("drop", "cheese")), abs=0.15)
    names = ("thumb", "index", "middle", "ring", "little")
    fingers = [gap(world, f"right_{name}3", "cheese", hold.during[0]) for name in names]
    assert fingers[0] < 0.002 and np.sum(np.array(fingers) < 0.002) >= 3 and min(fingers) > -0.003
    let_go, end = (world.frame("cheese", t)[:3, 3] for t in (hold.during[1], world.span[1]))
    assert let_go[2] - end[2] == pytest.approx(0.1, abs=0.02)
    np.testing.assert_allclose(end, [0.42, 1.12, 0.7405], atol=0.002)


def test_the_switch_is_touched_with_the_left_hand_while_the_right_one_has_the_hat() -> None:
    world = planned()[1].require().world
    t = at("touch", "button")
    assert abs(gap(world, "left_index3", "button", t)) < 0.003
    assert any(h.object == "hat" and h.hand == "right" and h.during[0] < t < h.during[1] for h in world.holds)


def test_the_hat_ends_on_the_head_and_goes_with_it() -> None:
    world = planned()[1].require().world
    on = at("put", "hat")
    last = [h for h in world.holds if h.object == "hat"][-1]
    assert (last.by, last.hand) == ("ann", "head") and last.during[0] == pytest.approx(on, abs=0.05)
    times = np.linspace(on + 0.05, world.span[1], 6)
    local = [np.linalg.inv(world.frame("ann.head", t)) @ world.frame("hat", t) for t in times]
    np.testing.assert_allclose(local, [local[0]] * len(local), atol=1e-6)
    # level, above the eyes, and its crown over the head's
    head, hat = world.frame("ann.head", times[-1]), world.frame("hat", times[-1])
    assert hat[2, 2] > 0.95 and 0.04 < hat[2, 3] - head[2, 3] < 0.11
    assert np.linalg.norm(hat[:2, 3] - head[:2, 3]) < 0.03


def test_legs_walk_as_they_did_and_arms_where_nothing_is_asked() -> None:
    before, after = clips()
    body = before.character
    assert isinstance(body, Character)
    assert len(before) == len(after)
    np.testing.assert_array_equal(before.root, after.root)
    legs = [j for side in ("left", "right") for j in body.subtree(body.role(f"{side}_thigh"))]
    np.testing.assert_array_equal(before.rotations[:, legs], after.rotations[:, legs])
    # between the tasks only the arm that carries something is not what it was
    busy = [p.during for p in planned()[1].edits]
    idle = ~np.any([(before.times >= a) & (before.times <= b) for a, b in busy], axis=0)
    right = {*body.chain("right_arm").lead, *body.subtree(body.chain("right_arm").joints[0])}
    others = [j for j in range(len(body.parents)) if j not in right]
    assert 0.3 < idle.mean() < 0.7
    np.testing.assert_array_equal(before.rotations[idle][:, others], after.rotations[idle][:, others])


def test_joints_stay_in_their_ranges_and_arms_are_hardly_rougher_than_the_walk() -> None:
    before, after = (quality(clip) for clip in clips())
    assert after.limit_violations == 0
    assert after.foot_slide_m == before.foot_slide_m < 0.008
    assert after.peak_jerk <= max(2.0 * before.peak_jerk, 1500.0)


def test_hands_set_out_early_and_move_as_calmly_as_people_do() -> None:
    clip = clips()[1]
    body, T = clip.character, clip.world()
    for plan in planned()[1].edits:
        hand = T[:, body.role(plan.limb.replace("_arm", "_hand")), :3, 3]
        first, last = (round((t - clip.start) * clip.fps) for t in plan.during)
        assert point_jerk(hand[first - 15 : last + 16], clip.fps) < 450.0, plan.reason
        speed = np.linalg.norm(np.diff(seen_by(T[:, 0], hand), axis=0), axis=1) * clip.fps
        # no dash: within a twelfth of a second a hand gets no faster than a reach of this length asks for
        assert (speed[first + 5 : last] - speed[first : last - 5]).max() < 1.2, plan.reason
        assert speed[first:last].max() < 2.2, plan.reason
    on = planned()[1].edits[-2]
    assert on.reason == "put hat" and at("put", "hat") - on.during[0] > 1.3, "the hat is over the head for a while"
