"""People carry an object on foot: lifted, walked in step with hands on it, set down, and proven."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import UP, Array, about, angle, angle_between, from_matrix, multiply
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place
from elbowroom.motion.stance import foot_slide
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import Plan, PlanningFailure
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Carry, Move
from elbowroom.plan.teams import under_way
from elbowroom.plan.teams.carry import TeamCarrier
from elbowroom.plan.teams.possible import why_impossible
from elbowroom.search.roadmap import Learning, Roadmap
from elbowroom.world.paths import Still
from elbowroom.world.world import World
from tools.rooted import rooted

ONCE = Settings(probes=0)
GOAL = (1.3, 0.0, 0.6455)


def scene(people: int = 2, fps: float = 30.0) -> World:
    """A board on a stand between two people, or before one of them."""
    ann, bob = (er.idle(er.preset(name), seconds=0.5, fps=fps) for name in ("woman", "man"))
    far = 0.93 if people == 2 else 0.48
    world = World(floor=0.0).with_character("ann", place(ann, (0.0, far), 0.0))
    if people == 2:
        world = world.with_character("bob", place(bob, (0.0, -0.97), np.pi))
    world = world.with_static("stand", box((0.2, 0.2, 0.62), (0.0, 0.0, 0.31)))
    size = (0.36, 1.2 if people == 2 else 0.3, 0.05)
    return world.with_object("board", box(size), Still(transform([0.0, 0.0, 0.6455])), mass=4.0)


@cache
def carried() -> Plan:
    task = Carry(who="ann", helpers=("bob",), object="board", to=GOAL, turn=0.0, speed=0.5, accel=0.4)
    return plan_tasks(scene(fps=60.0).with_static("other", box((0.2, 0.2, 0.62), (1.3, 0.0, 0.31))), [task], ONCE)


def walking(world: World) -> tuple[float, float]:
    """Seconds between which the board is under way."""
    times = np.arange(*world.span, 1.0 / 30.0)
    at = np.array([world.frame("board", t)[:2, 3] for t in times])
    moving = np.flatnonzero(np.linalg.norm(np.diff(at, axis=0), axis=1) > 1e-5)
    return float(times[moving[0]]), float(times[moving[-1] + 1])


def test_two_people_carry_a_board_to_its_goal():
    plan = carried().require()
    assert plan.certificate is not None and plan.certificate.free
    np.testing.assert_allclose(plan.world.frame("board", plan.world.span[1])[:3, 3], GOAL, atol=1e-3)
    for who in ("ann", "bob"):
        assert np.linalg.norm(np.diff(plan.world.motion(who).sample(plan.world.span)[0][:, :2], axis=0)) > 1.0


@dataclass
class Sampled:
    """The carry at 240 Hz, 4 times its frame rate: board, hands by name and pelvises (N, 4, 4)."""

    times: Array
    board: Array
    hands: dict[str, Array]
    pelvises: list[Array]
    feet: list[Clip]


def sampled() -> Sampled:
    world = carried().require().world
    times = np.arange(*walking(world), 1.0 / 240.0)
    hands, pelvises, feet = {}, [], []
    for who in ("ann", "bob"):
        motion = world.motion(who)
        body = motion.body
        feet.append(Clip(body, 240.0, *motion.sample(times)))
        T = feet[-1].world()
        for hand in ("left", "right"):
            joint, T_hand = body.hand(hand)
            hands[f"{who} {hand}"] = T[:, joint] @ T_hand
        pelvises.append(T[:, 0])
    return Sampled(times, np.array([world.frame("board", t) for t in times]), hands, pelvises, feet)


def faults(s: Sampled) -> set[str]:
    """Names of the checks that fail."""
    found = set()
    for T in s.hands.values():
        grip = inverse(s.board) @ T
        if np.linalg.norm(grip[:, :3, 3] - grip[0, :3, 3], axis=1).max() > 1e-3:
            found.add("grip")
        if np.degrees(angle(from_matrix(grip[0, :3, :3].T @ grip[:, :3, :3]))).max() > 0.5:
            found.add("turn of the grip")
    if np.degrees(np.arccos(np.clip(s.board[:, 2, 2], -1.0, 1.0))).max() > 0.5:
        found.add("level")
    apart = np.linalg.norm(s.pelvises[0][:, :2, 3] - s.pelvises[1][:, :2, 3], axis=1)
    # a board of 1.2 m between bodies that are 0.15 of their height off it at least, and arms of 0.75 m
    if apart.min() < 1.2 + 0.15 * 3.4 or apart.max() > 1.2 + 2 * 0.75:
        found.add("link")
    rows = slice(None, None, 4)  # frames: between them the motion is linear
    at, times = s.board[rows, :2, 3], s.times[rows]
    fast = np.linalg.norm(np.gradient(at, times, axis=0), axis=1)
    if fast.max() > 0.5 * 1.02:
        found.add("speed")
    if np.abs(np.gradient(fast, times))[2:-2].max() > 0.4 * 1.1:
        found.add("acceleration")
    if max(float(foot_slide(clip).max()) for clip in s.feet) > 2e-3:
        found.add("feet")
    return found


def test_grips_level_links_limits_and_feet_are_kept_between_frames():
    s = sampled()
    assert np.ptp(s.board[:, 0, 3]) > 1.2 and all(len(foot_slide(clip)) >= 4 for clip in s.feet)
    assert faults(s) == set()


def tampered(s: Sampled, what: str) -> Sampled:
    """The carry with one thing wrong."""
    wave = np.sin(np.linspace(0.0, 3.0, len(s.times)))
    board, hands = np.array(s.board), {name: np.array(T) for name, T in s.hands.items()}
    if what == "grip":
        hands["ann left"][:, 2, 3] += 0.0015 * wave
    elif what == "turn of the grip":
        hands["bob right"] = hands["bob right"] @ transform(np.zeros((len(wave), 3)), about(UP, 0.01 * wave))
    elif what == "level":
        tilt = transform(np.zeros((len(wave), 3)), about([1.0, 0.0, 0.0], 0.01 * wave))
        board, hands = board @ tilt, {name: board @ tilt @ inverse(board) @ T for name, T in hands.items()}
    elif what == "link":
        s = replace(s, pelvises=[s.pelvises[0], s.pelvises[0]])
    elif what in ("speed", "acceleration"):
        # 0.3 m/s more at 0.3 m/s^2, or 4 mm to and fro in half a second
        more = 0.15 * (1.0 - np.cos(2.0 * np.pi * s.times / 6.0)) if what == "speed" else 0.004 * np.sin(13.0 * s.times)
        board[:, 0, 3] += np.cumsum(more) / 240.0 if what == "speed" else more
        hands = {name: board @ inverse(s.board) @ T for name, T in hands.items()}
    else:
        clip = s.feet[0]
        slow = 0.02 * np.arange(len(clip))[:, None] / 240.0 * [1.0, 0.0, 0.0]
        s = replace(s, feet=[clip.with_(root=clip.root + slow), *s.feet[1:]])
    return replace(s, board=board, hands=hands)


@pytest.mark.parametrize("what", ["grip", "turn of the grip", "level", "link", "speed", "acceleration", "feet"])
def test_each_of_these_checks_can_fail(what):
    assert what in faults(tampered(sampled(), what))


def test_people_of_different_size_keep_their_grips_between_frames_and_turn_no_joint_fast():
    world = World(floor=0.0).with_static("post", box((0.3, 0.3, 1.8), (2.0, 0.6, 0.9)))
    for name, (x, y) in (("stand", (0.0, 0.0)), ("other", (4.0, 1.5))):
        world = world.with_static(name, box((0.3, 0.3, 0.62), (x, y, 0.31)))
    for who, preset, x, turn in (("bob", "man", -1.29, 0.5 * np.pi), ("kid", "child", 1.29, -0.5 * np.pi)):
        clip = er.idle(er.preset(preset), seconds=0.5, fps=30.0)
        world = world.with_character(who, place(clip, (x, 0.0), turn))
    world = world.with_object("board", box((2.0, 0.36, 0.05)), Still(transform([0.0, 0.0, 0.6455])), mass=8.0)
    task = Carry(who="bob", helpers=("kid",), object="board", to=(4.0, 1.5, 0.6455))
    world = plan_tasks(world, [task], ONCE, fps=30.0).require().world
    times = np.arange(*walking(world), 1.0 / 120.0)
    board = np.array([world.frame("board", t) for t in times])
    assert len({(hold.by, hold.hand) for hold in world.holds}) == 4
    for hold in world.holds:
        motion = world.motion(hold.by)
        joint, T_hand = motion.body.hand(hold.hand)
        root, q = motion.sample(times)
        grip = inverse(board) @ motion.body.transforms(root, q)[:, joint] @ T_hand
        assert np.linalg.norm(grip[:, :3, 3] - grip[0, :3, 3], axis=1).max() < 1e-3
        assert np.degrees(angle(from_matrix(grip[0, :3, :3].T @ grip[:, :3, :3]))).max() < 0.5
        roles = ("pelvis", "spine1", "spine2", "chest", *(f"{hold.hand}_{p}" for p in ("upper_arm", "forearm", "hand")))
        upper = q[:, [motion.body.role(role) for role in roles]]
        assert 120.0 * angle_between(upper[1:], upper[:-1]).max() < 4.0  # rad/s


@cache
def alone() -> Plan:
    world = scene(people=1).with_static("other", box((0.2, 0.2, 0.62), (1.0, -0.9, 0.31)))
    return plan_tasks(world, [Carry(who="ann", object="board", to=(1.0, -0.9, 0.6455))], ONCE)


def test_a_carrier_straightens_up_after_letting_go():
    world = alone().require().world
    motion = world.motion("ann")
    T = motion.body.transforms(*motion.sample(np.linspace(*world.span, 200)))
    trunk = T[:, motion.body.role("neck"), :3, 3] - T[:, motion.body.role("pelvis"), :3, 3]
    bent = np.degrees(np.arccos(trunk[:, 2] / np.linalg.norm(trunk, axis=1)))
    assert bent[0] < 3.0 and bent[-1] < 3.0 and bent.max() > 10.0  # while it lifts the board or sets it down


def test_one_person_carries_a_box_from_stand_to_stand():
    plan = alone().require()
    assert plan.certificate is not None and plan.certificate.free
    np.testing.assert_allclose(plan.world.frame("board", plan.world.span[1])[:3, 3], (1.0, -0.9, 0.6455), atol=1e-3)


def lifting(world: World) -> TeamCarrier:
    """Ann, who is to lift the board before her."""
    d = Director(world, ONCE, 30.0, 0)
    return TeamCarrier(d, d.actor("ann"), Move(who="ann", object="board", to=(0.0, 0.0, 0.85)), "carry board")


def test_hands_wait_before_their_grips_and_the_object_stays_where_it_is():
    carrier = lifting(scene(people=1))
    body, option = carrier.actor.body, next(carrier.options(["left", "right"]))
    T = carrier.T_start
    pose = carrier.beside(option.grips, T, option.start, 0.05)
    joints = body.skeleton.at(pose)
    for hand, grasp in option.grips.grasps.items():
        joint, T_hand = body.hand(hand)
        off = inverse(T @ grasp.T_thing_hand) @ joints[joint] @ T_hand  # relative to the grip
        np.testing.assert_allclose(np.linalg.norm(off[:3, 3]), 0.05, atol=1e-4)
        away = T[:3, :3].T @ ((joints[joint] @ T_hand)[:3, 3] - (T @ grasp.T_thing_hand)[:3, 3])
        assert away @ grasp.approach < -0.049 * np.linalg.norm(grasp.approach)
    # a shelf between raised hands is met by a board that is raised with them, not by one that stays
    shelved = lifting(scene(people=1).with_static("shelf", box((0.1, 0.1, 0.02), (0.0, 0.0, 0.95))))
    raised = transform([0.0, 0.0, 0.3]) @ T
    above = shelved.beside(option.grips, raised, option.start, 0.05, T)
    assert np.linalg.norm(above.root - option.start.root) < 0.5
    with pytest.raises(PlanningFailure, match="shelf"):
        shelved.beside(option.grips, raised, option.start, 0.05)


def test_hands_without_room_before_the_object_are_told():
    carrier = lifting(scene(people=1))
    grips = next(carrier.options(["left", "right"])).grips
    target = grips.targets(carrier.actor, carrier.T_start, 0.05)["left_hand"][:3, 3]
    blocked = lifting(scene(people=1).with_static("block", box((0.04, 0.04, 0.04), tuple(target))))
    with pytest.raises(PlanningFailure, match="block"):
        blocked.beside(grips, carrier.T_start, carrier.actor.pose, 0.05)


@cache
def crossed(waits: bool) -> Plan:
    """Two people carry the board across the way of a woman who walks."""
    kim = er.walk_along(er.preset("woman"), [(1.7, 8.0), (1.7, -6.0)], fps=30.0)
    world = scene().with_character("kim", kim).with_static("other", box((0.2, 0.2, 0.62), (3.2, 0.0, 0.31)))
    task = Carry(who="ann", helpers=("bob",), object="board", to=(3.2, 0.0, 0.6455), turn=0.0, tries=1)
    with pytest.MonkeyPatch.context() as patch:
        if not waits:
            patch.setattr(under_way, "delay_past_people", lambda *asked: asked[-1][0])
        return plan_tasks(world, [task], ONCE)


def test_a_team_waits_for_somebody_who_crosses_its_way():
    plan = crossed(True).require()
    assert plan.certificate is not None and plan.certificate.free
    times = np.arange(*plan.world.span, 0.1)
    kim, ann = (plan.world.motion(who).sample(times)[0][:, :2] for who in ("kim", "ann"))
    assert np.linalg.norm(kim - ann, axis=1).min() > 0.5
    passed = times[np.argmax(kim[:, 1] < -1.5)]
    board = np.array([plan.world.frame("board", t)[:2, 3] for t in times])
    assert board[times < passed, 0].max() < 1.2 < board[-1, 0]


def test_a_team_that_waits_shifts_its_weight_with_feet_and_grips_in_place():
    world = crossed(True).require().world
    times = np.arange(max(hold.during[0] for hold in world.holds) + 1.0, walking(world)[0] - 0.5, 1.0 / 120.0)
    assert len(times) > 240
    board = np.array([world.frame("board", t) for t in times])
    for hold in world.holds:
        motion = world.motion(hold.by)
        joint, T_hand = motion.body.hand(hold.hand)
        clip = Clip(motion.body, 120.0, *motion.sample(times))
        assert np.ptp(clip.root, axis=0).max() > 0.004
        grip = inverse(board) @ clip.world()[:, joint] @ T_hand
        assert np.linalg.norm(grip[:, :3, 3] - grip[0, :3, 3], axis=1).max() < 5e-4
        feet = clip.world()[:, [motion.body.role(f"{side}_foot") for side in ("left", "right")]][..., :3, 3]
        assert np.ptp(feet, axis=0).max() < 1e-3


def test_without_waiting_they_would_collide():
    assert not crossed(False).found


@pytest.mark.parametrize("who", ["woman", "man"])
def test_fingers_bend_under_the_edge_of_a_table_and_forearms_stay_off_the_trunk(who):
    body = er.preset(who)
    stands = place(er.idle(body, seconds=0.5, fps=30.0), (0.0, 0.45 + 0.22 * body.height), 0.0)
    world = World(floor=0.0).with_character("ann", stands).with_static("stand", box((0.5, 0.3, 0.62), (0.0, 0.0, 0.31)))
    world = world.with_object("table", box((1.8, 0.9, 0.05)), Still(transform([0.0, 0.0, 0.6455])), mass=20.0)
    d = Director(world, ONCE, 30.0, 0)
    up = Move(who="ann", object="table", to=(0.0, 0.0, 0.5 * body.height))
    option = next(TeamCarrier(d, d.actor("ann"), up, "carry table", 4).options(["left", "right"]))
    assert {grasp.name for grasp in option.grips.grasps.values()} == {"edge bent45"}
    assert option.guided[0] is not None  # as recorded people stand, which they could not with palms flat under it


def test_a_goal_without_room_is_told():
    world = scene(people=1).with_static("block", box((1.0, 1.0, 2.0), (2.0, 0.0, 1.0)))
    plan = plan_tasks(world, [Carry(who="ann", object="board", to=(2.0, 0.0, 1.0))], ONCE)
    assert plan.status == "target-in-collision" and "no room for all carriers and the object" in plan.why


def test_a_gap_too_narrow_for_a_carrier_is_told_without_a_search(monkeypatch):
    before = Roadmap.learn

    def learn(roadmap: Roadmap, rng: np.random.Generator, limits: Learning, *done: object) -> None:
        assert not done, "a roadmap is extended to find what widths tell"
        before(roadmap, rng, limits)

    world = scene(people=1)
    walls = {"left": ((0.1, 3.0, 2.4), (1.5, 1.65, 1.2)), "right": ((0.1, 3.0, 2.4), (1.5, -1.65, 1.2)),
             "behind": ((0.1, 6.5, 2.4), (-1.5, 0.0, 1.2)), "after": ((0.1, 6.5, 2.4), (4.5, 0.0, 1.2)),
             "beside": ((6.1, 0.1, 2.4), (1.5, 3.25, 1.2)), "across": ((6.1, 0.1, 2.4), (1.5, -3.25, 1.2))}  # fmt: skip
    for name, (size, at) in walls.items():
        world = world.with_static(name, box(size, at))
    monkeypatch.setattr(Roadmap, "learn", learn)
    plan = plan_tasks(world, [Carry(who="ann", object="board", to=(3.0, 0.0, 0.9))], ONCE)
    assert plan.status == "no-path" and "m wide at its narrowest, and one carrier needs" in plan.why


def test_people_may_come_from_afar():
    far = place(er.idle(er.preset("woman"), seconds=0.5, fps=30.0), (-9.0, -7.0), 0.0)
    assert why_impossible(scene(people=1).with_character("ann", far), ["ann"], "board", GOAL) == ""


def test_what_cannot_be_meant_is_told():
    with pytest.raises(BadValue, match="'speed' of carry is 9"):
        Carry(who="ann", object="board", to=GOAL, speed=9.0)
    with pytest.raises(BadValue, match="name each character once"):
        plan_tasks(scene(), [Carry(who="ann", helpers=("ann",), object="board", to=GOAL)], ONCE)


def test_a_body_faces_as_its_pelvis_does_under_a_root_that_never_turns():
    # imported rigs often have a first joint above the pelvis, which stays as it was exported
    body = rooted("ground")
    q = np.array(body.skeleton.rest)
    q[1] = multiply(about(UP, np.pi), q[1])
    T = body.skeleton.forward(body.skeleton.offsets[0], q)
    np.testing.assert_allclose(body.facing(T), [0.0, 1.0, 0.0], atol=1e-9)
