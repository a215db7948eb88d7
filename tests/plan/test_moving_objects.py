"""Objects that both hands move and that lead the whole body, the feet in place."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import elbowroom as er
from conftest import benchmark_module
from elbowroom.character.dynamics import load_effort, strength_of
from elbowroom.character.markers import marker_positions
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, ElbowroomError, UnknownName
from elbowroom.files.open import open_file
from elbowroom.geometry.rotations import angle_between
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Grab, Move
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.posing.whole_body import FEET, WholeBody
from elbowroom.report import report
from elbowroom.report.sections import body as section
from elbowroom.storyboard.storyboard import read_storyboard
from elbowroom.world.certificate import certify
from elbowroom.world.paths import Still
from elbowroom.world.world import World
from tools.made_of_edits import assert_made_of_edits
from tools.move_measures import grip_errors

ONCE = Settings(probes=0)
GOAL = (0.2, -0.62, 0.8605)


def scene(size: tuple[float, float, float] = (0.36, 0.26, 0.22)) -> World:
    """A woman before a table with a crate on it."""
    world = World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0, fps=30.0))
    world = world.with_static("table", box((1.4, 0.5, 0.03), (0.0, -0.68, 0.7345)))
    at = transform([-0.15, -0.6, 0.7505 + 0.5 * size[2]])
    return world.with_object("crate", box(size), Still(at), mass=4.0)


@cache
def moved() -> Plan:
    return plan_tasks(scene(), [Move(who="ann", object="crate", to=GOAL)], ONCE)


def test_a_crate_is_moved_by_both_hands_and_proven():
    plan = moved().require()
    assert plan.certificate is not None and plan.certificate.free
    np.testing.assert_allclose(plan.world.frame("crate", plan.world.span[1])[:3, 3], GOAL, atol=1e-6)
    holds = {hold.hand: hold for hold in plan.world.holds}
    assert set(holds) == {"left", "right"} and holds["left"].during == holds["right"].during
    assert_made_of_edits(plan)


def test_two_people_move_a_board_together():
    world = World(floor=0.0)
    for who, body, y, turn in (("ann", "woman", 0.15, 0.0), ("tim", "child", -1.3, np.pi)):
        clip = er.idle(er.preset(body), seconds=1.0, fps=30.0)
        world = world.with_character(who, place(clip, (0.0, y), turn))
    for k, y in enumerate((-0.4, -0.75)):
        world = world.with_static(f"trestle{k}", box((0.5, 0.06, 0.62), (0.0, y, 0.31)))
    board = box((0.4, 0.9, 0.06))
    world = world.with_object("board", board, Still(transform([0.0, -0.6, 0.6505])), mass=6.0)
    task = Move(who="ann", object="board", to=(0.1, -0.6, 0.6505), helpers=("tim",))
    plan = plan_tasks(world, [task], ONCE).require()
    assert {(hold.by, hold.hand) for hold in plan.world.holds} == {
        (who, hand) for who in ("ann", "tim") for hand in ("left", "right")
    }
    far, turned = grip_errors(plan.world)
    assert far < 0.001 and turned < 0.5
    with pytest.raises(BadValue, match="once"):
        plan_tasks(world, [replace(task, helpers=("ann",))], ONCE)


def footprints(world: World) -> dict[str, np.ndarray]:
    """Ankles (2,) by side while the crate is held, which is when they stand."""
    (begin, end), body = world.holds[0].during, world.body("ann")
    first, last = (world.at(t).joints["ann"] for t in (begin, end - 1e-6))
    joints = {side: body.role(f"{side}_foot") for side in ("left", "right")}
    assert all(np.abs(first[j, :3, 3] - last[j, :3, 3]).max() < 0.001 for j in joints.values())
    return {side: first[j, :2, 3] for side, j in joints.items()}


def test_feet_are_put_where_they_are_asked_for():
    feet = ((0.15, -0.06, np.radians(20.0)), (-0.12, -0.04, np.radians(-12.0)))
    plan = plan_tasks(scene(), [Move(who="ann", object="crate", to=GOAL, feet=feet)], ONCE).require()
    assert plan.certificate is not None and plan.certificate.free
    for side, (x, y, _) in zip(("left", "right"), feet, strict=True):
        np.testing.assert_allclose(footprints(plan.world)[side], (x, y), atol=0.002)


def test_a_stance_is_chosen_and_stepped_to_where_the_object_is_out_of_reach():
    """She stands too far off and aside; told to stay, she has to refuse."""
    world = scene()
    clip = world.motion("ann")
    assert isinstance(clip, Clip)
    world = world.with_character("ann", place(clip, (-0.4, 1.5)))
    task = Move(who="ann", object="crate", to=GOAL, feet="stay")
    assert plan_tasks(world, [task], ONCE).status == "target-out-of-reach"
    plan = plan_tasks(world, [replace(task, feet="auto")], ONCE).require()
    assert plan.certificate is not None and plan.certificate.free
    assert max(at[1] for at in footprints(plan.world).values()) < 0.2


def test_footprints_are_for_moves_and_are_two():
    feet = ((0.1, 0.0, 0.0), (-0.1, 0.0, 0.0))
    with pytest.raises(BadValue, match="only move takes"):
        Grab(who="ann", object="crate", feet=feet)
    for wrong in (feet[:1], ((0.1, 0.0), (-0.1, 0.0)), ((0.1, 0.0, np.nan), feet[1])):
        with pytest.raises(BadValue, match="left foot"):
            Move(who="ann", object="crate", to=GOAL, feet=wrong)  # type: ignore[arg-type]


def test_a_box_goes_round_boards_from_a_high_place_to_a_low_one_aside():
    """Shoulders turn fast where hands are near them, and flesh of the shoulders is near the neck."""
    plan, _ = benchmark_module("object_moves").one("woman", 7, 2, 2)
    assert plan.status == "found" and plan.certificate is not None and plan.certificate.free


def test_no_arm_leaps_beside_a_high_box_or_on_the_way_down():
    """With legs of 1.5 m an elbow had two branches beside the box: frames alternated between them."""
    plan, _ = benchmark_module("object_moves").one("long-legs", 6, 0, 0)
    assert plan.status == "found" and plan.certificate.free
    q = plan.world.motion("ann").rotations
    assert angle_between(q[1:], q[:-1]).max() < 0.35


def test_what_hands_hold_collides_whatever_the_body_does():
    world = scene()
    postures = Postures(world, "ann", 0.0, led="crate")
    clip = world.motion("ann")
    assert isinstance(clip, Clip)
    ann = Pose.of(clip.root[0], clip.rotations[0])
    hand = er.preset("woman").role("left_hand")
    for crate_at, hand_at, met in (
        ((0.0, -0.6, 1.2), (0.3, -0.6, 1.2), None),
        ((0.0, -0.6, 0.8), (0.3, -0.6, 1.2), "crate"),
        ((0.0, -0.6, 1.2), (0.3, -0.6, 0.75), "ann.left"),
    ):
        pair = postures.carried_blame(ann, {hand: transform(hand_at)}, {"crate": transform(crate_at)})
        assert (pair is None) == (met is None)
        assert pair is None or ("table" in pair and any(name.startswith(met) for name in pair))
    lifted = {hand: transform((0.3, -0.6, 1.2))}, {"crate": transform((0.0, -0.6, 0.75 + 0.11 + 0.05))}
    assert postures.carried_gap(ann, *lifted, 0.15, ()) == pytest.approx(0.05, abs=1e-3)
    assert postures.carried_gap(ann, *lifted, 0.15, ("table",)) == 0.15


def test_forearms_may_be_nearer_to_what_hands_hold_than_to_all_else():
    world = scene()
    clip = world.motion("ann")
    assert isinstance(clip, Clip)
    ann = Pose.of(clip.root[0], clip.rotations[0])
    body = er.preset("woman")
    elbow, wrist = (body.skeleton.at(ann)[body.role(f"left_{part}"), :3, 3] for part in ("forearm", "hand"))

    def met(led: str, aside: float, room: float) -> bool:
        beside = {"crate": transform(0.5 * (elbow + wrist) + (aside, 0.0, 0.0))}
        there = world.with_object("crate", box((0.1, 0.05, 0.05)), Still(beside["crate"]))
        found = Postures(there, "ann", 0.0, led=led or None)
        # pairs with other things come before those of the body with itself
        return "crate" in (found.blame(ann, beside if led else None, room=room, own_room=False) or ())

    aside = next(x for x in np.arange(0.06, 0.2, 0.004) if not met("crate", x, 0.0)) + 0.003
    assert met("", aside, 0.012) and not met("crate", aside, 0.012)


def seconds_held(world: World) -> float:
    begin, end = world.holds[0].during
    return end - begin


def test_a_carry_is_slower_beside_a_wall():
    walled = scene().with_static("wall", box((1.4, 0.02, 0.8), (0.0, -0.77, 1.16)))
    plan = plan_tasks(walled, [Move(who="ann", object="crate", to=GOAL)], ONCE).require()
    assert seconds_held(plan.world) > 1.15 * seconds_held(moved().world)


def test_a_load_slows_a_carry_as_much_as_is_asked_for():
    light = plan_tasks(scene(), [Move(who="ann", object="crate", to=GOAL)], replace(ONCE, slower_per_kg=0.0)).require()
    assert seconds_held(moved().world) == pytest.approx(1.16 * seconds_held(light.world), abs=1.5 / 30.0)
    with pytest.raises(BadValue, match="slower_per_kg"):
        replace(ONCE, slower_per_kg=-0.1)


def test_the_report_says_how_well_recordings_fit():
    (ann,) = report(moved().world).people
    assert ann.recorded is not None and 0.0 < ann.recorded.distance.max() < 0.5
    begin, end = moved().world.holds[0].during
    assert begin <= ann.recorded.times[0] and ann.recorded.times[-1] <= end
    assert ann.recorded.headline == f"{100 * ann.recorded.off.mean():.0f} cm off recorded postures"
    shown = section(ann.recorded)
    assert "<svg viewBox" in shown and "usual there" in shown
    (still,) = report(scene()).people
    assert still.recorded is None and "recorded" not in still.measures


def recording(path: Path, aside: float, raised: float) -> str:
    """File with the postures of the carry, trunk and head moved aside and hands raised by so many metres."""
    world = moved().world
    motion = world.motion("ann")
    assert isinstance(motion, Clip)
    body = motion.character
    solver, ends = WholeBody(body), ("left_hand", "right_hand", *FEET)
    first, last = (round((t - motion.start) * motion.fps) for t in world.holds[0].during)
    poses = []
    for k in range(first, last + 1, 3):
        pose = Pose.of(motion.root[k], motion.rotations[k])
        T = body.skeleton.at(pose)
        targets = {end: transform([0.0, 0.0, raised * end.endswith("hand")]) @ T[body.role(end)] for end in ends}
        markers = marker_positions(body, T)
        markers[markers[:, 2] > 1.0, 0] += aside
        for _ in range(4):
            found = solver.solve(pose, targets, markers, np.ones(len(markers)))
            assert found.found
            pose = found.pose
        poses.append(pose)
    clip = motion.with_(root=np.array([p.root for p in poses]), rotations=np.array([p.rotations for p in poses]))
    er.save([path], World(floor=0.0).with_character("ann", clip))
    return str(path)


def test_the_better_of_two_databases_is_followed_and_the_other_where_that_fails(tmp_path: Path):
    """A lamp hangs where the head would be in recordings that fit best, of a trunk that leans to the left."""
    leaning = recording(tmp_path / "leaning.npz", 0.25, 0.0)
    upright = recording(tmp_path / "upright.npz", 0.0, 0.06)
    lamp = scene().with_static("lamp", box((0.16, 0.16, 0.3), (0.3, -0.2, 1.6)))

    def plan(world: World, *postures: str) -> tuple[World, str]:
        task = Move(who="ann", object="crate", to=GOAL, feet="stay", postures=postures)
        found = plan_tasks(world, [task], ONCE).require().world
        (note,) = (note for note in found.notes if "recorded posture" in note)
        return found, note

    assert "follows recorded postures (leaning, nearest take leaning)" in plan(scene(), upright, leaning)[1]
    found, note = plan(lamp, leaning, upright)
    assert "follows recorded postures (upright, nearest take upright); hands and feet are" in note
    assert "with leaning (" in note and "no collision-free motion was found" in note
    assert note in report(found).notes


def test_balance_can_be_left_out():
    d = Director(scene(), ONCE, 30.0, 0)
    task = Move(who="ann", object="crate", to=GOAL)
    supports = [Carrier(d, d.actor("ann"), replace(task, balance=b), "move crate").support for b in (True, False)]
    assert supports[0] is not None and supports[1] is None


def test_the_same_seed_moves_it_the_same_way():
    again = plan_tasks(scene(), [Move(who="ann", object="crate", to=GOAL)], ONCE)
    np.testing.assert_array_equal(again.world.motion("ann").rotations, moved().world.motion("ann").rotations)


@pytest.mark.parametrize(
    ("goal", "status"), [((0.2, -2.5, 0.86), "target-out-of-reach"), ((0.0, -0.62, 0.74), "target-in-collision")]
)
def test_goals_that_cannot_be_are_told(goal: tuple[float, float, float], status: str):
    plan = plan_tasks(scene(), [Move(who="ann", object="crate", to=goal, feet="stay")], ONCE)
    assert plan.status == status and "move crate" in plan.why


def test_what_is_too_wide_for_the_arms_is_told():
    plan = plan_tasks(scene((1.3, 0.26, 0.22)), [Move(who="ann", object="crate", to=GOAL, feet="stay")], ONCE)
    assert plan.status == "target-out-of-reach" and "hands" in plan.why


def test_a_plank_too_long_for_two_palms_is_taken_by_its_edge():
    world = World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0, fps=30.0))
    for side in (-0.55, 0.55):
        world = world.with_static(f"trestle {side:g}", box((0.1, 0.3, 0.8), (side, -0.55, 0.4)))
    world = world.with_static("shelf", box((1.8, 0.3, 0.03), (0.0, -0.73, 1.15)))
    world = world.with_object("plank", box((1.5, 0.24, 0.03)), Still(transform([0.0, -0.5, 0.8155])), mass=3.0)
    task = Move(who="ann", object="plank", to=(0.0, -0.6, 1.181), feet="stay")
    plan = plan_tasks(world, [task], ONCE).require()
    assert plan.certificate is not None and plan.certificate.free
    far, turned = grip_errors(plan.world)
    assert far < 0.001 and turned < 0.5


def test_one_hand_moves_a_can_and_the_other_stays_off_it():
    world = World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0, fps=30.0))
    world = world.with_static("table", box((1.4, 0.5, 0.03), (0.0, -0.68, 0.7345)))
    world = world.with_object("can", box((0.06, 0.06, 0.14)), Still(transform([-0.3, -0.5, 0.8205])), mass=0.3)
    goal = (-0.05, -0.5, 0.8205)
    plan = plan_tasks(world, [Move(who="ann", object="can", to=goal, hands="right")], ONCE).require()
    assert {hold.hand for hold in plan.world.holds} == {"right"}
    np.testing.assert_allclose(plan.world.frame("can", plan.world.span[1])[:3, 3], goal, atol=1e-6)


@cache
def lifted() -> Plan:
    """A crate goes from the floor onto a bench."""
    world = World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0, fps=30.0))
    world = world.with_static("bench", box((1.0, 0.4, 0.03), (0.0, -0.85, 0.6)))
    crate = box((0.36, 0.26, 0.24))
    world = world.with_object("crate", crate, Still(transform([0.0, -0.45, 0.1205])), mass=4.0)
    return plan_tasks(world, [Move(who="ann", object="crate", to=(0.0, -0.85, 0.7365), posture="stoop")], ONCE)


def test_a_crate_is_lifted_from_the_floor_and_only_soft_tissue_gives_way():
    plan = lifted().require()
    assert plan.certificate is not None and plan.certificate.free
    own = [a for a in plan.certificate.allowed if all(name.startswith("ann.") for name in a.pair)]
    assert own and {a.why for a in own} == {"soft tissue"}
    assert max(a.depth_m for a in own) <= 0.03
    assert any("recorded posture" in note for note in plan.world.notes)


def test_what_gave_way_is_in_the_file_and_verified_from_it(tmp_path: Path):
    plan = lifted().require()
    path = tmp_path / "lift.npz"
    er.save([path], plan.world, certificate=plan.certificate)
    soft = [c for c in open_file(path).world().contacts if c.why == "soft tissue"]
    assert soft and all(c.kind == "tissue" for c in soft)
    assert certify(open_file(path).world()).free


def test_what_is_too_heavy_is_told():
    world = scene()
    heavy = replace(world.objects["crate"], mass=60.0)
    plan = plan_tasks(world.with_(objects={"crate": heavy}), [Move(who="ann", object="crate", to=GOAL)], ONCE)
    assert plan.status == "too-heavy" and "60 kg" in plan.why


def test_a_light_load_is_borne_and_a_heavy_one_is_not():
    body = er.preset("woman")
    clip = er.idle(body, seconds=0.1)
    T = body.skeleton.at(Pose.of(clip.root[0], clip.rotations[0]))
    for mass, bears in ((5.0, True), (60.0, False)):
        role, torque, share = load_effort(body, T, mass, (0.0, -0.5, 1.0), ("left", "right"))
        assert (share <= 1.0) == bears
        assert share == pytest.approx(torque / strength_of(body, role))
    one, both = (load_effort(body, T, 8.0, (0.0, -0.5, 1.0), hands)[2] for hands in (("left",), ("left", "right")))
    assert one > both


def test_a_busy_hand_is_told():
    world = scene().with_object("can", box((0.05, 0.05, 0.12)), Still(transform([-0.5, -0.55, 0.81])))
    tasks = [Grab(who="ann", object="can"), Move(who="ann", object="crate", to=GOAL)]
    plan = plan_tasks(world, tasks, ONCE)
    assert plan.status == "hand-not-free" and "both hands" in plan.why


def test_a_hand_that_the_body_lacks_is_told():
    body = er.preset("woman")
    chains = {name: chain for name, chain in body.chains.items() if name != "right_arm"}
    clip = er.idle(body, seconds=1.0, fps=30.0).with_(character=replace(body, chains=chains))
    world = scene().with_character("ann", clip)
    plan = plan_tasks(world, [Move(who="ann", object="crate", to=GOAL)], ONCE)
    assert plan.status == "hand-not-free" and "only one arm" in plan.why
    with pytest.raises(UnknownName, match="right_arm"):
        plan_tasks(world, [Move(who="ann", object="crate", to=GOAL, hands="right")], ONCE)


def test_it_takes_no_time_and_no_hand(tmp_path: Path):
    with pytest.raises(BadValue, match="omit"):
        plan_tasks(scene(), [Move(who="ann", object="crate", to=GOAL, at=2.0)], ONCE)
    text = """
elbowroom: 1
scene:
  floor: 0
  meshes:
    - {box: [1.4, 0.5, 0.03], name: table, at: [0, -0.68, 0.7345]}
objects:
  crate: {mesh: {box: [0.36, 0.26, 0.22]}, at: [-0.15, -0.6, 0.8605], mass: 4}
characters:
  ann: {body: woman}
tasks:
  - move: {who: ann, object: crate, onto: table, posture: stoop, HERE}
"""
    path = tmp_path / "move.yaml"
    path.write_text(text.replace(", HERE", ""))
    (task,) = read_storyboard(path).tasks
    assert isinstance(task, Move) and task.posture == "stoop" and task.onto == "table"
    path.write_text(text.replace("HERE", "postures: [none.c3d]"))
    with pytest.raises(ElbowroomError, match=r"none\.c3d"):
        read_storyboard(path)
    path.write_text(text.replace("HERE", "hand: left"))
    with pytest.raises(ElbowroomError, match="takes no 'hand'"):
        read_storyboard(path)
