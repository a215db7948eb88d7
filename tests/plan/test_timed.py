"""Tasks at times on top of motions, at targets that stand, move, or are worn by somebody."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.hands import grip_frame
from elbowroom.errors import BadValue
from elbowroom.files.npz import read_npz, write_npz
from elbowroom.files.open import open_file
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.solids import box, cylinder
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import estimate_floor
from elbowroom.motion.edit import place
from elbowroom.motion.quality import quality
from elbowroom.motion.retarget import retarget
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Grab, Put, Reach, Task, Touch
from elbowroom.posing.reach import ReachStyle
from elbowroom.props.wardrobe import hat
from elbowroom.world.certificate import certify
from elbowroom.world.paths import Keyed, Still, places
from elbowroom.world.paths import PlacementPath as ThingPath
from elbowroom.world.world import World
from tools.jerk import point_jerk
from tools.made_of_edits import assert_made_of_edits

AT = 2.8


@cache
def ring() -> tuple[World, Plan]:
    """The gallery's ring-idle, before and after."""
    board = scenario("ring-idle").board()
    return board.world, plan_tasks(board.world, board.tasks)


@cache
def street() -> World:
    """A woman walks past a table with a can on it."""
    ann = er.walk(er.preset("woman"), seconds=4.0, speed=1.2, fps=60.0)
    world = World(floor=0.0).with_character("ann", ann)
    world = world.with_static("table", box((0.5, 1.0, 0.03), (-0.6, -2.4, 0.885)))
    return world.with_object("can", cylinder(0.033, 0.12), Still(transform([-0.45, -2.3, 0.9602])), mass=0.3)


@cache
def passing() -> Plan:
    return plan_tasks(street(), [Grab(who="ann", object="can")])


def clips(world: World, plan: Plan, who: str = "ann") -> tuple[Clip, Clip]:
    before, after = world.motion(who), plan.world.motion(who)
    assert isinstance(before, Clip) and isinstance(after, Clip)
    return before, after


def changed(before: Clip, after: Clip, first: float, last: float) -> set[str]:
    """Names of joints that differ in any bit between two times, fingers left out."""
    fingers = {*finger_joints(before.character, "left"), *finger_joints(before.character, "right")}
    rows = (before.times >= first - 1e-9) & (before.times <= last + 1e-9)
    differs = (before.rotations != after.rotations[: len(before)]).any(axis=2)[rows].any(axis=0)
    return {before.character.joint_names[j] for j in np.flatnonzero(differs) if j not in fingers}


def test_a_cube_is_taken_out_of_a_moving_hoop_at_its_time() -> None:
    world, plan = ring()
    assert plan.found, plan.advice
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    (hold,) = plan.world.holds
    assert hold.T_hand_object is not None
    wrist = plan.world.hand("ann", hold.hand, AT)
    target = world.frame("cube", AT) @ inverse(hold.T_hand_object)
    assert np.linalg.norm(wrist[:3, 3] - target[:3, 3]) < 0.001
    assert abs(hold.during[0] - AT) < 0.25
    # it does not jump when it is taken, and then goes with the hand
    before, at = (plan.world.frame("cube", hold.during[0] - dt)[:3, 3] for dt in (1e-4, 0.0))
    assert np.linalg.norm(before - at) < 0.001
    for t in np.linspace(hold.during[0], plan.world.span[1], 12):
        held = plan.world.hand("ann", hold.hand, t) @ hold.T_hand_object
        assert np.linalg.norm(plan.world.frame("cube", t)[:3, 3] - held[:3, 3]) < 0.001


def test_what_is_not_planned_is_the_clip_bit_by_bit() -> None:
    world, plan = ring()
    before, after = clips(world, plan)
    assert np.array_equal(before.root, after.root)
    begin, end = plan.edits[0].during[0], plan.edits[-1].during[1]
    legs = {n for n in before.character.joint_names if any(w in n for w in ("thigh", "shin", "foot", "toes"))}
    assert not changed(before, after, 0.0, 9.0) & {*legs, "pelvis", "left_forearm", "left_hand"}
    assert not changed(before, after, 0.0, begin)
    assert changed(before, after, end, 9.0) <= {"right_upper_arm", "right_forearm", "right_hand"}, "it carries the cube"


def test_base_and_edits_make_the_motion_of_somebody_who_moves() -> None:
    for plan in (ring()[1], passing()):
        assert plan.found
        assert_made_of_edits(plan)
    assert passing().base["ann"] is street().motion("ann")


def test_the_motion_is_smooth_and_within_ranges() -> None:
    clip = clips(*ring())[1]
    found = quality(clip)
    assert found.peak_jerk < 1100.0 and found.limit_violations == 0
    hand = clip.world()[:, clip.character.role("right_hand"), :3, 3]
    assert point_jerk(hand, clip.fps) < 130.0, "the way there is leaned aside, not searched"


def test_against_the_target_as_it_is_a_moment_later_the_motion_is_not_free() -> None:
    _, plan = ring()

    def late(path: ThingPath, by: float) -> Keyed:
        assert isinstance(path, Keyed)
        return Keyed(path.times + by, path.positions, path.quaternions)

    for by, free in ((0.0, True), (0.2, False)):
        objects = {name: replace(thing, path=late(thing.path, by)) for name, thing in plan.world.objects.items()}
        proof = certify(plan.world.with_(objects=objects), during=(1.0, plan.world.holds[0].during[0]), clearance=False)
        assert proof.free is free


def test_the_arm_alone_leaves_all_else_as_it_is() -> None:
    ann = er.idle(er.preset("woman"), seconds=4.0, fps=60.0)
    path = Keyed.along([0.0, 4.0], [[-0.6, -0.42, 1.15], [0.1, -0.42, 1.15]])
    world = World(floor=0.0).with_character("ann", ann).with_object("cube", box((0.05, 0.05, 0.05)), path)
    alone = Settings(gaze=False, reach=ReachStyle(spine=False, clavicle=False))
    plan = plan_tasks(world, [Grab(who="ann", hand="right", object="cube", at=1.9, begin=0.9, back=3.1)], alone)
    assert plan.found, plan.advice
    before, after = clips(world, plan)
    assert changed(before, after, 0.0, 9.0) == {"right_upper_arm", "right_forearm", "right_hand"}
    assert not changed(before, after, 0.0, 0.9)
    assert plan.edits[0].during[0] == pytest.approx(0.9) and plan.edits[-1].during[1] == pytest.approx(3.1)


def test_a_walk_past_a_table_takes_what_is_on_it_at_the_best_time() -> None:
    plan = passing()
    assert plan.found, plan.advice
    (hold,) = plan.world.holds
    assert "at 1." in plan.edits[0].reason and plan.edits[0].reason.startswith("grab can at")
    before, after = clips(street(), plan)
    assert "left_shin" not in changed(before, after, 0.0, 9.0) and np.array_equal(before.root, after.root)
    assert quality(after).peak_jerk <= max(2.0 * quality(before).peak_jerk, 1500.0)
    # it is taken where it stood, and ends with her, far from the table
    assert plan.world.frame("can", hold.during[0])[1, 3] == pytest.approx(-2.3, abs=1e-3)
    assert plan.world.frame("can", 4.0)[1, 3] < -4.0


def test_both_hands_work_at_once_and_each_is_there_at_its_time() -> None:
    world = street().with_static("post", box((0.1, 0.1, 2.2), (0.55, -2.3, 1.1)))
    tasks = [
        Grab(who="ann", object="can", hand="right", at=1.75),
        Touch(who="ann", target="post", hand="left", at=1.8),
    ]
    plan = plan_tasks(world, tasks)
    assert plan.found, plan.advice
    (hold,) = plan.world.holds
    assert hold.T_hand_object is not None
    can = plan.world.hand("ann", "right", 1.75) @ hold.T_hand_object
    assert np.linalg.norm(can[:3, 3] - world.frame("can", 1.75)[:3, 3]) < 0.001
    knuckle = plan.world.frame("ann.left_middle3", 1.8)[:3, 3]
    assert 0.45 < knuckle[0] < 0.5 and abs(knuckle[1] + 2.3) < 0.06, "fingertips are at the post"


def test_a_time_at_which_the_walk_is_elsewhere_is_told_with_one_that_would_do() -> None:
    plan = plan_tasks(street(), [Grab(who="ann", object="can", at=3.5)])
    assert plan.status == "target-out-of-reach" and "m away at 3.5" in plan.why and "within reach" in plan.why
    away = plan_tasks(street(), [Reach(who="ann", to=(5.0, -2.0, 1.0), at=2.0)])
    assert away.status == "target-out-of-reach" and "its nearest approach is" in away.why
    idle = World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=4.0, fps=60.0))
    stands = plan_tasks(idle, [Reach(who="ann", to=(0.0, -3.0, 1.0), at=0.5)])
    assert stands.status == "target-out-of-reach" and "m out of reach" in stands.why


@pytest.mark.parametrize("task", [Touch(who="ann", target="can", at=0.1), Grab(who="ann", object="can", at=3.99)])
def test_too_little_time_before_or_after_is_told(task: Task) -> None:
    along = Keyed.along([0.0, 4.0], [[-0.4, -0.3, 1.1], [-0.4, -5.1, 1.1]])
    world = street().with_object("can", box((0.05, 0.05, 0.05)), along)
    plan = plan_tasks(world, [task])
    assert plan.status == "too-little-time", plan.why


def test_a_hat_is_put_on_and_stays_on_the_head(tmp_path: Path) -> None:
    ann = er.idle(er.preset("woman"), seconds=6.0, fps=60.0)
    world = World(floor=0.0).with_character("ann", ann).with_static("stand", cylinder(0.03, 1.1, (-0.25, -0.5, 0.55)))
    world = world.with_object("hat", hat(), Still(transform([-0.25, -0.5, 1.1025])), mass=0.15)
    plan = plan_tasks(world, [Grab(who="ann", object="hat"), Put(who="ann", object="hat", onto="ann.head")])
    assert plan.found, plan.advice
    worn_from = plan.world.holds[-1].during[0]
    worn = [
        inverse(plan.world.frame("ann.head", t)) @ plan.world.frame("hat", t)
        for t in np.linspace(worn_from, plan.world.span[1], 7)
    ]
    assert all(np.allclose(T, worn[0], atol=1e-6) for T in worn)
    write_npz(tmp_path / "hat.npz", plan.world, 60.0)
    again = read_npz(tmp_path / "hat.npz")
    assert again.holds[-1].hand == "head"
    assert np.allclose(again.frame("hat", 5.5)[:3, 3], plan.world.frame("hat", 5.5)[:3, 3], atol=1e-3)


def test_a_can_goes_from_a_belt_onto_a_tray_that_moves() -> None:
    ann = er.idle(er.preset("woman"), seconds=8.0, fps=60.0)
    world = World(floor=0.0).with_character("ann", ann).with_static("belt", box((3.0, 0.4, 0.05), (0.0, -0.5, 0.85)))
    ends = [[-0.75, -0.45, 0.9353], [0.85, -0.45, 0.9353]]
    world = world.with_object("can", cylinder(0.033, 0.12), Keyed.along([0.0, 8.0], ends), mass=0.3)
    tray = Keyed.along([0.0, 8.0], [[-1.4, -0.5, 0.8853], [0.2, -0.5, 0.8853]])
    world = world.with_object("tray", box((0.3, 0.22, 0.02)), tray)
    plan = plan_tasks(world, [Grab(who="ann", object="can", at=3.0), Put(who="ann", object="can", onto="tray", at=6.0)])
    assert plan.found, plan.advice
    for t in (6.2, 7.0, 8.0):
        apart = plan.world.frame("can", t)[:3, 3] - plan.world.frame("tray", t)[:3, 3]
        assert np.allclose(apart, [0.0, 0.0, 0.0705], atol=1e-3)


def test_who_only_stands_waits_for_what_comes_by_on_a_belt() -> None:
    still = er.idle(er.preset("woman"), seconds=1.0, fps=60.0)
    ann = still.with_(root=still.root[:1], rotations=still.rotations[:1])
    world = World(floor=0.0).with_character("ann", ann).with_static("belt", box((4.0, 0.5, 0.1), (0.0, -0.75, 0.75)))
    along = Keyed.along([0.0, 8.0], [[-1.2, -0.6, 0.861], [1.2, -0.6, 0.861]])
    world = world.with_object("can", cylinder(0.033, 0.12), along, mass=0.3)
    plan = plan_tasks(world, [Grab(who="ann", object="can")], Settings(probes=0))
    assert plan.found, plan.why
    assert np.linalg.norm(plan.world.motion("ann").sample([8.0])[0][0, :2] - ann.root[0, :2]) < 0.05  # no step
    assert 2.5 < plan.world.holds[-1].during[0] < 5.5


def test_nothing_is_put_on_what_somebody_carries_away() -> None:
    world = street().with_object("tray", box((0.02, 0.02, 0.02)), Still(np.eye(4)))
    T = grip_frame(world.body("ann"), "left") @ transform([0.03, 0.0, 0.0])
    world = world.with_hold("can", "ann", "right").with_hold("tray", "ann", "left", None, T)
    with pytest.raises(BadValue, match="'tray' is carried from 2 s on"):
        plan_tasks(world, [Put(who="ann", object="can", onto="tray", at=2.0)])


def test_a_recorded_walk_that_touches_itself_takes_something_too(data: Path) -> None:
    walk = retarget(open_file(data / "mocap" / "cmu_bvh" / "02_01.bvh").clip(None), er.preset("woman"))
    walk = place(walk, (0.0, 0.0), 0.0, lift=-estimate_floor(walk))
    k = len(walk) // 2
    shoulder = walk.world()[k, walk.character.chain("right_arm").joints[0], :3, 3]
    ahead = (walk.root[k + 10] - walk.root[k - 10]) * [1.0, 1.0, 0.0]
    ahead /= np.linalg.norm(ahead)
    at = shoulder + 0.3 * ahead + 0.38 * np.cross(ahead, [0.0, 0.0, 1.0]) - [0.0, 0.0, 0.25]
    world = World(floor=0.0).with_character("ann", walk)
    world = world.with_object("can", cylinder(0.033, 0.12), Still(transform(at)), mass=0.3)
    plan = plan_tasks(world, [Grab(who="ann", object="can", hand="right")])
    assert plan.found, plan.advice
    before, after = clips(world, plan)
    arm = {"right_clavicle", "right_upper_arm", "right_forearm", "right_hand"}
    begins, ends = zip(*(edit.during for edit in plan.edits), strict=True)
    assert changed(before, after, max(ends), 9.0) <= arm
    assert not changed(before, after, 0.0, min(begins))


def test_paths_can_be_smooth() -> None:
    keys = Keyed.along([0.0, 1.0, 2.0], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    x = places(keys.smoothed(), np.linspace(0.0, 2.0, 121))[:, 0, 3]
    straight = places(keys, np.linspace(0.0, 2.0, 121))[:, 0, 3]
    assert x[60] == straight[60] == pytest.approx(1.0)
    assert np.abs(np.diff(x, n=2)).max() < 0.002 < np.abs(np.diff(straight, n=2)).max()
