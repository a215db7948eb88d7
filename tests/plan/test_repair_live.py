"""Repairs that follow what is moved: free where they are told to be, and nothing where nothing is in the way."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.errors import UnknownName
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.allowed import freeze_grips
from elbowroom.plan.repair.live import LiveRepair
from elbowroom.plan.repair.nearness import near_spans
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.result import Plan
from elbowroom.world.certificate import certify
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast import LimbCheck
from elbowroom.world.paths import Still
from elbowroom.world.world import World

HOME = np.array([-0.62, -2.4, 0.0])


@pytest.fixture(scope="module")
def repaired() -> tuple[World, Plan, Mesh]:
    """A walk with an umbrella past a post, its repair, and the post in its own axes."""
    world = freeze_grips(scenario("umbrella").board().world)
    return world, repair(world, "ann"), world.static["post"].moved(inverse(transform(HOME)))


def with_post(world: World, post: Mesh, T: Array) -> World:
    static = {name: mesh for name, mesh in world.static.items() if name != "post"}
    return world.with_(static=static).with_object("post", post, Still(T))


def clip_of(world: World) -> Clip:
    clip = world.motion("ann")
    assert isinstance(clip, Clip)
    return clip


def proven(world: World, post: Mesh, T: Array) -> bool:
    """Whether a motion is free of a post that stands there for good."""
    objects = {name: thing for name, thing in world.objects.items() if name != "post"}
    static = {**world.static, "post": post.moved(T)}
    return certify(world.with_(objects=objects, static=static), clearance=False).free


@pytest.mark.parametrize("by", [(0.0, 0.0), (0.0, 0.15), (0.02, -0.2), (-0.03, 0.1)])
def test_a_known_way_is_taken_later_or_sooner_more_or_less(
    repaired: tuple[World, Plan, Mesh], by: tuple[float, float]
) -> None:
    world, plan, post = repaired
    live = LiveRepair(world)
    live.learn(plan)
    T = transform(HOME + [*by, 0.0])
    assert not proven(world, post, T)
    found = live.again(with_post(world, post, T), ["post"], sure=True)
    assert found.found and len(found.edits) == 1 and found.certificate is None
    assert proven(found.world, post, T)
    begin, end = found.edits[0].during
    times, before, after = clip_of(world).times, clip_of(world).rotations, clip_of(found.world).rotations
    outside = (times < begin - 0.02) | (times > end + 0.02)
    assert np.array_equal(before[outside], after[outside]) and not np.array_equal(before, after)
    excess = max(
        float(limit.excess(after[:, j]).max() - limit.excess(before[:, j]).max())
        for j, limit in enumerate(clip_of(world).character.limits)
        if limit is not None
    )
    assert excess < 0.008  # of the 0.02 rad that the gate leaves a motion


def test_the_motion_goes_back_where_nothing_is_in_the_way(repaired: tuple[World, Plan, Mesh]) -> None:
    world, plan, post = repaired
    live = LiveRepair(world)
    live.learn(plan)
    aside = live.again(with_post(world, post, transform(HOME + [-0.6, 0.0, 0.0])), ["post"])
    assert aside.found and aside.edits == ()
    assert np.array_equal(clip_of(aside.world).rotations, clip_of(world).rotations)


def test_plans_that_a_thing_does_not_come_near_stay_as_they_are(repaired: tuple[World, Plan, Mesh]) -> None:
    world, plan, post = repaired
    live = LiveRepair(world)
    live.learn(plan)
    away = with_post(world, post, transform([9.0, 9.0, 0.0]))
    away = away.with_static("second", post, at=HOME)
    found = live.again(away, ["post"])
    assert found.found and found.edits == plan.edits
    assert np.array_equal(clip_of(found.world).rotations, clip_of(plan.world).rotations)


def test_where_nothing_that_is_known_will_do_a_way_is_found_and_known_from_then_on(
    repaired: tuple[World, Plan, Mesh],
) -> None:
    world, _, post = repaired
    live, T = LiveRepair(world), transform(HOME)
    found = live.again(with_post(world, post, T), ["post"], sure=True)
    assert found.found and len(found.edits) == 1 and proven(found.world, post, T)
    beside = transform(HOME + [0.0, 0.03, 0.0])
    again = live.again(with_post(world, post, beside), ["post"], seconds=0.0)  # there is no time to look for another
    assert again.found and again.edits[0].limb == found.edits[0].limb


def test_it_says_what_is_in_the_way_where_no_way_is_found_in_time(repaired: tuple[World, Plan, Mesh]) -> None:
    world, plan, post = repaired
    live = LiveRepair(world)
    live.learn(plan)
    amid = with_post(world, post, transform([0.0, -2.4, 0.0]))
    for _ in range(2):
        stuck = live.again(amid, ["post"], seconds=0.01)
        assert stuck.status == "partial" and "collides with post at" in stuck.why
    with pytest.raises(UnknownName, match="post"):
        live.again(world, ["post"])


def test_ways_that_do_not_fit_leave_nobody_in_other_things(repaired: tuple[World, Plan, Mesh]) -> None:
    world, plan, post = repaired
    live = LiveRepair(world)
    live.learn(plan)
    # another post stands where the first one did: the way past that cannot be taken elsewhere
    near = with_post(world, post, transform(HOME + [0.0, 0.12, 0.0])).with_static("second", post, at=HOME)
    found = live.again(near, ["post"], seconds=0.01)
    free = certify(found.world, clearance=False).free
    assert free == found.found


def test_what_is_far_from_a_thing_need_not_be_proven_anew(repaired: tuple[World, Plan, Mesh]) -> None:
    world, plan, post = repaired
    there = with_post(plan.world, post, transform(HOME))
    spans = near_spans(there, ["post"])
    assert spans and sum(b - a for a, b in spans) < 0.7 * (world.span[1] - world.span[0])
    exact = ExactWorld(there)
    for t in np.arange(*world.span, 1.0 / 30.0):
        exact.place(float(t))
        distance = min(exact.distance(k, 0.09).value or 0.0 for k, pair in enumerate(exact.pairs) if "post" in pair)
        assert distance >= 0.09 or any(a <= t <= b for a, b in spans)
    assert near_spans(with_post(world, post, transform([9.0, 9.0, 0.0])), ["post"]) == []


def test_a_check_with_a_thing_elsewhere_answers_as_a_new_one(repaired: tuple[World, Plan, Mesh]) -> None:
    world, plan, post = repaired
    first = LimbCheck(with_post(world, post, transform(HOME)), "ann", "right_arm", (1.3, 2.3), rate=60.0)
    clip = clip_of(plan.world)
    rows = np.flatnonzero((clip.times > 1.31) & (clip.times < 2.29))
    q, t = clip.rotations[rows][:, list(first.joints)], clip.times[rows]
    for by in ([0.05, 0.0, 0.0], [0.1, 0.2, 0.0], [0.0, -0.1, 0.0]):
        there = with_post(world, post, transform(HOME + by))
        moved, new = first.elsewhere(there, ["post"]), LimbCheck(there, "ann", "right_arm", (1.3, 2.3), rate=60.0)
        assert np.array_equal(moved.batch(q, t, resolve_uncertain=True), new.batch(q, t, resolve_uncertain=True))
        assert np.array_equal(moved.free_batch(q, t), new.free_batch(q, t))
        assert np.array_equal(moved.hits_batch(q[::6], t[::6]), new.hits_batch(q[::6], t[::6]))
    assert np.array_equal(
        first.free_batch(q, t),
        LimbCheck(with_post(world, post, transform(HOME)), "ann", "right_arm", (1.3, 2.3), rate=60.0).free_batch(q, t),
    )
    assert not first.elsewhere(with_post(world, post, transform(HOME + [0.2, 0, 0])), ["post"]).free_batch(q, t).all()
