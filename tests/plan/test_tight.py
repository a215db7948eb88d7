"""Whole bodies in tight places: component by component, in balance, free, and reported as such."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.body import Character
from elbowroom.character.hands import grip_frame
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import about, angle_between, continuous, exp, multiply, slerp, to_matrix
from elbowroom.geometry.solids import box
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.tight.capture import refined
from elbowroom.plan.tight.chain import BodyProblem, body_path
from elbowroom.plan.tight.dynamic_balance import slowed, zero_moment, zmp_margin
from elbowroom.plan.tight.frames import Planned, frames_of
from elbowroom.plan.tight.recordings import Capture
from elbowroom.plan.tight.settings import FLAT, TightSettings
from elbowroom.posing.balance import balance_margin, margin_inside
from elbowroom.posing.stance import between
from elbowroom.posing.stand import Balancer, shrunk
from elbowroom.posing.whole_body import FEET, support_of
from elbowroom.search.birrt import Budget
from elbowroom.spaces.component import PosePath, components
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world.allowances import supports
from elbowroom.world.fast_body import BodyCheck
from elbowroom.world.world import World

# Directions ahead, left and up of somebody who faces -Y, in columns.
AXES = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
QUICK = TightSettings(component=Budget(checks=120, nodes=200))


@cache
def room(gap: float = 0.0) -> World:
    """A woman before a board at table height; with a gap, a second one that far above it."""
    world = er.World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0))
    world = world.with_static("board", box((1.2, 0.5, 0.04), (0.0, -0.5, 0.72)))
    if gap > 0.0:
        world = world.with_static("lid", box((1.2, 0.5, 0.04), (0.0, -0.5, 0.76 + gap)))
    return world.with_(contacts=(*world.contacts, *supports(world)))


def standing(world: World) -> tuple[Character, Pose]:
    motion = world.motion("ann")
    root, q = motion.sample(np.zeros(1))
    assert isinstance(motion.body, Character)
    return motion.body, Pose.of(root[0], q[0])


@cache
def hand_at(place: tuple[float, float, float], low: float, high: float) -> Pose:
    """The woman in the room with her right hand at a place, free, her pelvis lowered by metres between two bounds."""
    world = room()
    body, pose = standing(world)
    T, rng = body.skeleton.at(pose), np.random.default_rng(1)
    feet = {foot: T[body.role(foot)] for foot in FEET}
    balance, check = Balancer(body, 0.0, 0.015), BodyCheck(world, "ann", 0.0, margin=0.004)
    for _ in range(80):
        q, T_hand = np.array(pose.rotations), T[body.role("right_hand")].copy()
        q[0] = multiply(about((1.0, 0.0, 0.0), rng.uniform(0.0, 1.2)), q[0])
        T_hand[:3, :3], T_hand[:3, 3] = to_matrix(exp(0.8 * rng.normal(size=3))) @ T_hand[:3, :3], place
        start = Pose.of(pose.root + [rng.uniform(-0.1, 0.1), rng.uniform(0.0, 0.25), -rng.uniform(low, high)], q)
        support = balance.support(pose, feet)
        found = balance.solver.solve(start, {"right_hand": T_hand, **feet}, support=support)
        if found.found and check.free(found.pose):
            return found.pose
    raise AssertionError("no posture")


def problem(world: World, start: Pose, goal: Pose) -> BodyProblem:
    body, _ = standing(world)
    return BodyProblem(body, start, goal, BodyCheck(world, "ann", 0.0, margin=0.004), Balancer(body, 0.0, 0.015), AXES)


def test_bodies_have_38_degrees_of_freedom_in_five_components() -> None:
    body, _ = standing(room())
    found = components(body)
    assert {name: one.width for name, one in found.items()} == {
        "pelvis": 6, "spine": 3, "head": 3, "right_arm": 7, "left_arm": 7,
    }  # fmt: skip
    # six of each leg are closed over feet that stand
    assert sum(one.width for one in found.values()) + 12 == 38
    parts = [j for one in found.values() for j in one.parts]
    assert sorted(parts) == list(range(len(body.parents)))


def test_the_fast_check_with_a_root_says_what_the_exact_one_says() -> None:
    world = room()
    body, pose = standing(world)
    check, exact, rng = BodyCheck(world, "ann", 0.0), Postures(world, "ann", 0.0), np.random.default_rng(3)
    free = 0
    for _ in range(60):
        q = np.array(pose.rotations)
        q[0] = multiply(about(rng.normal(size=3), 0.4 * rng.random()), q[0])
        q[body.role("right_upper_arm")] = multiply(q[body.role("right_upper_arm")], about(rng.normal(size=3), 0.8))
        other = Pose.of(pose.root + rng.normal(size=3) * [0.2, 0.2, 0.02] + [0.0, 0.1, 0.03], q)
        free += check.free(other)
        assert check.free(other) == exact.valid(other)
        assert (check.blame(other) is None) == check.free(other)
    assert 5 < free < 55


def test_parts_that_are_not_there_meet_nothing() -> None:
    world = room()
    body, pose = standing(world)
    into = Pose.of(pose.root + [0.0, -0.35, 0.0], pose.rotations)
    check = BodyCheck(world, "ann", 0.0)
    assert not check.free(into)
    assert check.with_parts(components(body)["head"].parts).free(into)
    assert not check.with_parts(components(body)["pelvis"].parts).free(into)


def test_a_body_comes_out_from_under_a_board_in_balance() -> None:
    world = room()
    body, _ = standing(world)
    start = hand_at((-0.15, -0.36, 0.5), 0.1, 0.6)
    goal = hand_at((-0.15, -0.4, 0.86), 0.0, 0.1)
    given = problem(world, start, goal)
    found = body_path(given, seed=1)
    assert found.path is not None and found.stats.checks > 0
    frames = frames_of(given, found.path, 60)
    assert frames is not None
    poses = [Pose.of(r, q) for r, q in zip(*frames, strict=True)]
    assert min(balance_margin(body, pose) for pose in poses) > 0.01
    feet = body.transforms(*frames)[..., :3, 3][:, [body.role(foot) for foot in FEET]]
    assert np.ptp(feet, axis=0).max() < 1e-3
    assert given.check.first_hit(*frames) is None
    # a fast hand must not pass a corner between two frames either
    middles = 0.5 * (frames[0][:-1] + frames[0][1:]), slerp(frames[1][:-1], frames[1][1:], np.array(0.5))
    assert given.check.with_margin(0.0).first_hit(*middles) is None
    again = body_path(given, seed=1)
    assert again.path is not None
    np.testing.assert_array_equal(again.path.rotations, found.path.rotations)


def test_a_gap_that_is_closed_is_told_by_its_component() -> None:
    world = room(0.03)  # no hand fits between the boards
    start = hand_at((-0.15, -0.36, 0.5), 0.1, 0.6)
    goal = hand_at((-0.15, -0.4, 0.86), 0.0, 0.1)
    five = TightSettings(decompositions=QUICK.decompositions[:1], component=QUICK.component)
    found = body_path(problem(world, start, goal), seed=1, settings=five)
    assert found.path is None and found.blocked
    assert found.stats.checks <= 2 * 5 * (QUICK.component.checks + 10)


def test_flat_planning_stays_callable() -> None:
    world = room()
    _, pose = standing(world)
    turned = np.array(pose.rotations)
    flat = TightSettings(decompositions=(FLAT,), component=QUICK.component)
    found = body_path(problem(world, pose, Pose.of(pose.root - [0.0, 0.0, 0.02], turned)), settings=flat)
    assert found.decomposition in ((), FLAT)


def test_supports_are_drawn_in() -> None:
    square = np.array([[0.0, 0.0], [0.2, 0.0], [0.2, 0.2], [0.0, 0.2]])
    np.testing.assert_allclose(np.ptp(shrunk(square, 0.02), axis=0), 0.16)


def test_a_planner_has_one_of_two_names() -> None:
    with pytest.raises(BadValue, match="whole-body"):
        er.Reach(who="ann", to=(0.0, -0.5, 1.0), planner="flat")


def test_whole_bodies_are_planned_where_that_is_asked_for() -> None:
    world = er.World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0))
    task = er.Reach(who="ann", hand="right", to=(-0.2, -0.5, 0.9), feet="stay", planner="whole-body")
    plan = er.plan_tasks(world, [task]).require()
    assert {edit.tier for edit in plan.edits if edit.reason == "reach"} == {"whole-body"}
    assert plan.certificate is not None and plan.certificate.free


def test_a_screwdriver_is_taken_from_under_a_chair() -> None:
    plan = plan_storyboard(scenario("tools-under-a-chair").board(), probes=0).require()
    assert plan.certificate is not None and plan.certificate.free


def test_recordings_refine_a_path_that_stays_free() -> None:
    world = room()
    body, _ = standing(world)
    given = problem(world, hand_at((-0.15, -0.36, 0.5), 0.1, 0.6), hand_at((-0.15, -0.4, 0.86), 0.0, 0.1))
    planned = body_path(given, seed=2)
    assert planned.path is not None
    few = TightSettings(QUICK.decompositions[:1], QUICK.component, nodes=10, clearance_samples=4)
    capture = Capture.of(body, [er.walk(body, seconds=1.5)])
    done = refined(given, planned.path, planned.path, capture, seed=2, settings=few)
    assert given.check.first_hit(done.path.root, done.path.rotations) is None
    assert angle_between(done.path.rotations[-1], given.goal.rotations).max() < 1e-6
    assert done.before.similarity.shape == done.before.clearance.shape == done.inferred.shape == (10, 4)
    assert ((done.before.clearance >= 0.0) & (done.before.clearance <= 1.0)).all()
    assert {"search&mapping", "PS", "TV", "CLR", "blend"} <= set(done.seconds)
    # recordings make a path no worse by either criterion, or are left out
    assert done.used == (done.path is not done.planned)
    if done.used:
        assert done.after.means[0] > done.smoothed.means[0] and done.after.means[1] <= done.smoothed.means[1]


def test_a_hand_that_is_lifted_through_a_board_is_repaired_over_planted_feet() -> None:
    world = room()
    low, high = hand_at((-0.15, -0.36, 0.5), 0.1, 0.6), hand_at((-0.15, -0.4, 0.86), 0.0, 0.1)
    body, motion = standing(world)[0], world.motion("ann")
    assert isinstance(motion, Clip)
    share = np.repeat([0.0, 1.0], 60)
    share[40:80] = smootherstep(np.linspace(0.0, 1.0, 40))
    root, q = between(body, low, high, share)
    for end, pose in enumerate((low, high)):
        root[share == end], q[share == end] = pose.root, pose.rotations
    clip = motion.with_(root=root, rotations=continuous(q))
    plan = er.repair(world.with_character("ann", clip), "ann")
    assert plan.found, plan.why
    new = plan.world.motion("ann")
    assert isinstance(new, Clip) and plan.certificate is not None and plan.certificate.free
    changed = np.flatnonzero(angle_between(new.rotations, clip.rotations).max(axis=-1) > 1e-9)
    assert changed[0] > 0 and changed[-1] < len(clip) - 1  # it leaves the clip and returns to it
    feet = body.transforms(new.root, new.rotations)[..., :3, 3][:, [body.role(foot) for foot in FEET]]
    assert np.ptp(feet, axis=0).max() < 1e-3
    assert min(balance_margin(body, Pose.of(*row)) for row in zip(new.root, new.rotations, strict=True)) > 0.01


def test_a_target_in_a_closed_gap_is_refused_with_a_sentence() -> None:
    task = er.Reach(who="ann", hand="right", to=(-0.15, -0.45, 0.755), feet="stay", planner="whole-body")
    plan = er.plan_tasks(room(0.03), [task])
    assert plan.status == "target-in-collision"
    assert "ann.right_hand would collide with" in plan.why


def test_recordings_that_do_not_suit_are_refused(data: Path) -> None:
    body, _ = standing(room())
    with pytest.raises(BadValue, match="at least one recording"):
        Capture.of(body, [])
    with pytest.raises(BadValue, match="retarget"):
        Capture.of(body, [er.read_bvh(data / "mocap" / "cmu_bvh" / "02_01.bvh")])


def test_a_hand_on_a_rail_bears_weight_that_the_feet_cannot() -> None:
    world = er.World(floor=0.0).with_character("bob", er.idle(er.preset("man"), seconds=1.0))
    world = world.with_static("rail", box((1.5, 0.1, 0.06), (0.0, -0.42, 0.79)))
    lean = er.Support("left", "rail", (0.3, -0.42, 0.82))
    reach = er.Reach(who="bob", hand="right", to=(-0.15, -1.12, 0.82), feet="stay", planner="whole-body", support=lean)
    plan = er.plan_tasks(world, [reach]).require()
    assert plan.certificate is not None and plan.certificate.free
    spans = {c.during for c in plan.world.contacts if (c.kind, c.on) == ("support", "rail")}
    assert len(spans) == 1
    motion = plan.world.motion("bob")
    body, (begin, end) = motion.body, spans.pop()
    assert isinstance(body, Character)
    root, q = motion.sample(np.arange(begin, end, 0.1))
    feet = [balance_margin(body, Pose.of(*row)) for row in zip(root, q, strict=True)]
    assert min(feet) < -0.02  # without the hand he would fall over
    hand = (body.transforms(root, q)[:, body.role("left_hand")] @ grip_frame(body, "left"))[:, :3, 3]
    there = [k for k, e in enumerate(plan.edits) if e.reason == "lean on rail"][-1]
    bears = np.arange(begin, end, 0.1) > plan.edits[there].during[1]
    assert np.ptp(hand[bears], axis=0).max() < 1e-4
    corners = np.concatenate([support_of(body, Pose.of(root[0], q[0])), hand[bears][:1, :2]])
    com = center_of_mass(body, body.transforms(root, q))[bears, :2]
    assert margin_inside(corners[None], com).min() > 0.0


def test_a_working_hand_cannot_support_as_well() -> None:
    with pytest.raises(BadValue, match="other one"):
        er.Reach(who="ann", hand="left", to=(0.0, -0.5, 1.0), support=er.Support("left", "rail", (0.0, -0.4, 0.8)))


@pytest.mark.parametrize("down", [0.35, 0.45])
def test_frames_brought_into_balance_do_not_jump_away_from_those_that_are(down: float) -> None:
    world = er.World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0))
    world = world.with_(contacts=(*world.contacts, *supports(world)))
    body, stand = standing(world)
    given, feet = problem(world, stand, stand), PosePath(body, [stand, stand]).feet(0.0)
    poses = []
    for low in np.sin(np.linspace(0.0, np.pi, 31)):
        q = np.array(stand.rotations)
        q[0] = multiply(about((1.0, 0.0, 0.0), 0.6 * low), q[0])
        poses.append(given.balance.solver.solve(Pose.of(stand.root + low * np.array([0.0, 0.16, -down]), q), feet).pose)
    path = PosePath(body, [stand, *poses[1:-1], stand])
    assert any(given.balance.by_limbs(pose, feet, stand) is None for pose in path.poses)
    frames = frames_of(given, path, 120)
    assert frames is not None
    assert np.abs(np.diff(frames[0], 2, axis=0)).max() < 0.004
    assert np.degrees(np.abs(np.diff(angle_between(frames[1][1:], frames[1][:-1]), axis=0))).max() < 2.0


def test_a_motion_too_quick_for_its_feet_is_slowed_until_the_zero_moment_point_is_in_the_support() -> None:
    given = problem(room(), hand_at((-0.15, -0.36, 0.5), 0.1, 0.6), hand_at((-0.15, -0.4, 0.86), 0.0, 0.1))
    found = body_path(given, seed=1)
    assert found.path is not None
    frames = frames_of(given, found.path, 24)
    quick = Planned(frames, found.path, found.path, (0.0, 0.0), found.stats, "")
    before = zmp_margin(given, frames, 30.0) if frames is not None else None
    assert before is not None and before < -0.01
    calm = slowed(given, quick, 30.0)
    assert calm.frames is not None and calm.zmp_m is not None
    assert len(calm.frames[0]) > 25 and calm.zmp_m >= 0.0
    # slower where that is needed, along the same path
    assert (np.diff(calm.shares) >= 0.0).all() and calm.shares[0] == 0.0 and calm.shares[-1] == 1.0
    # the same at rest: the point is below the centre of mass
    still = (np.repeat(calm.frames[0][:1], 30, axis=0), np.repeat(calm.frames[1][:1], 30, axis=0))
    at_rest = zero_moment(given, still, 30.0)
    assert at_rest is not None
    np.testing.assert_allclose(at_rest.points, at_rest.centers, atol=1e-6)
    center = center_of_mass(given.body, given.body.skeleton.at(given.start))
    np.testing.assert_allclose(at_rest.points[10], center[:2], atol=1e-6)


def test_a_fold_on_one_side_lets_nothing_give_way_on_the_other() -> None:
    world = er.World(floor=-1.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0))
    body, pose = standing(world)
    check, exact = BodyCheck(world, "ann", 0.0), Postures(world, "ann", 0.0)
    soft, rng, pressed = exact.with_soft_tissue(), np.random.default_rng(5), 0
    for _ in range(120):
        q = np.array(pose.rotations)
        q[body.role("spine1")] = about((0.0, 1.0, 0.0), -0.3)  # to the side that folds less
        for role, low, high in (("spine1", 0.0, 0.7), ("spine2", 0.0, 0.6), ("left_thigh", -2.4, -1.6),
                                ("right_thigh", -1.7, -1.2)):  # fmt: skip
            q[body.role(role)] = multiply(about((1.0, 0.0, 0.0), rng.uniform(low, high)), q[body.role(role)])
        for role in ("left_upper_arm", "right_upper_arm"):
            q[body.role(role)] = multiply(about((1.0, 0.0, 0.0), -2.6), q[body.role(role)])
        other = Pose.of(pose.root, q)
        if check.free(other):
            assert soft.valid(other)
            pressed += not exact.valid(other)
    assert pressed > 3
