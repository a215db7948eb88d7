"""Objects that characters begin with in the hand: in a real grasp, so that they can be handed over and put down."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.hand_shapes import finger_joints
from elbowroom.errors import BadFile
from elbowroom.geometry.rotations import angle_between
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.hands import bow_of
from elbowroom.plan.state.result import Plan
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import parse_storyboard
from elbowroom.world.allowances import HELD
from elbowroom.world.certificate import certify
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import World

BOTTLE = "bottle: {mesh: {maker: bottle}, mass: 0.5}"
BATON = "bottle: {mesh: {cylinder: {radius: 0.014, height: 0.3}}, mass: 0.1}"

# Depth to which closing fingers may press into what they grab, metres.
GRAB_M = 0.002


def board(people: str, folder: Path, *, thing: str = BOTTLE, hand: str = "right", task: str = "", scene: str = ""):
    """A storyboard in which ann begins with an object in the hand."""
    text = f"elbowroom: 1\n{scene}\nobjects:\n  {thing}\ncharacters:\n{people}\n"
    text += f"holds: [{{object: bottle, by: ann, hand: {hand}}}]\n" + (f"tasks: [{task}]\n" if task else "")
    return parse_storyboard(text, folder / "held.yaml")


def depth(world: World, t: float) -> float:
    """Deepest overlap of an object and the hand that holds it, metres."""
    exact = ExactWorld(world).place(t)
    assert exact.off
    return max((-(exact.overlap(k) or np.inf) if exact.hit(k) else 0.0 for k in exact.off), default=0.0)


def touching(world: World, t: float) -> int:
    """Number of parts of a hand within 2 mm of what it holds."""
    exact = ExactWorld(world).place(t)
    return sum(exact.within(k, 0.002) for k in exact.off)


@pytest.mark.parametrize("thing", [BOTTLE, BATON], ids=["bottle", "baton"])
@pytest.mark.parametrize("hand", ["left", "right"])
@pytest.mark.parametrize("body", ["woman", "child", "gorilla"])
def test_a_hand_closes_on_what_it_holds(thing: str, hand: str, body: str, tmp_path: Path) -> None:
    world = board(f"  ann: {{body: {body}}}", tmp_path, thing=thing, hand=hand).world
    assert abs(depth(world, 0.0)) <= GRAB_M, "the object is not in the palm"
    assert touching(world, 0.0) >= 4, "fingers and thumb are on it"
    own = [hit.pair for hit in ExactWorld(world).collisions(0.0) if "bottle" in hit.pair]
    assert not own, "it is not in the thigh of one who stands"


def test_a_rig_with_fingers_of_its_own_holds_it(data: Path, tmp_path: Path) -> None:
    rig = data / "characters" / "rocketbox_male_adult_01.glb"
    world = board(f"  ann: {{body: {{file: {rig}}}}}", tmp_path, thing=BATON).world
    assert abs(depth(world, 0.0)) <= GRAB_M and touching(world, 0.0) >= 3


def test_the_same_grip_each_time(tmp_path: Path) -> None:
    first, second = (board("  ann: {body: woman}", tmp_path).world for _ in range(2))
    np.testing.assert_array_equal(first.holds[0].T_hand_object, second.holds[0].T_hand_object)


def test_what_stands_is_upright_and_what_is_long_is_held_at_its_origin(tmp_path: Path) -> None:
    bottle = board("  ann: {body: woman, clip: {walk: {seconds: 2}}}", tmp_path).world
    assert min(bottle.frame("bottle", t)[2, 2] for t in np.linspace(0.0, 2.0, 9)) > 0.9
    baton = board("  ann: {body: woman}", tmp_path, thing=BATON).world
    grip = baton.holds[0].T_hand_object
    assert grip is not None and np.linalg.norm(grip[:3, 3]) < 0.12, "its middle is in the palm"


def test_an_object_too_large_for_a_hand_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="the right hand of 'ann' cannot close on 'bottle'; give it"):
        board("  ann: {body: woman}", tmp_path, thing="bottle: {mesh: {sphere: 0.2}}")


def handed_over(plan: Plan, to: str) -> None:
    assert plan.status == "found" and plan.certificate is not None and plan.certificate.free, plan.why
    last = max(plan.world.holds, key=lambda h: h.during[0])
    assert (last.by, last.object) == (to, "bottle")


def test_people_who_stand_hand_it_over(tmp_path: Path) -> None:
    people = "  ann: {body: woman, at: [0, 0.4]}\n  bob: {body: man, at: [0, -0.5], turn: 180}"
    task = "handover: {who: ann, object: bottle, to: bob}"
    handed_over(plan_storyboard(board(people, tmp_path, task=task)), "bob")


def test_people_who_walk_side_by_side_hand_it_over(tmp_path: Path) -> None:
    people = "\n".join(
        f"  {who}: {{body: {body}, clip: {{walk: {{speed: 1.1, seconds: 6}}}}, at: [{x}, 2]}}"
        for who, body, x in (("ann", "woman", 0.35), ("bob", "man", -0.35))
    )
    plan = plan_storyboard(
        board(people, tmp_path, thing=BATON, task="handover: {who: ann, object: bottle, to: bob, at: 3}")
    )
    handed_over(plan, "bob")
    clip = plan.world.motion("bob")
    elbow, shoulder = (clip.body.roles[f"left_{part}"] for part in ("forearm", "upper_arm"))
    for t in np.linspace(2.5, 4.0, 16):
        joints = plan.world.at(t).joints["bob"]
        assert joints[elbow, 2, 3] < joints[shoulder, 2, 3] + 0.02, "the taker's elbow is not above the shoulder"


@pytest.mark.parametrize(("body", "hand"), [("woman", "left"), ("gorilla", "right")])
def test_it_is_put_on_a_table_upright(body: str, hand: str, tmp_path: Path) -> None:
    scene = "scene: {meshes: [{maker: counter, name: counter, at: [0, -0.75, 0]}]}"
    task = "put: {who: ann, object: bottle, onto: counter}"
    plan = plan_storyboard(board(f"  ann: {{body: {body}}}", tmp_path, hand=hand, scene=scene, task=task))
    assert plan.status == "found" and plan.certificate is not None and plan.certificate.free, plan.why
    assert plan.world.frame("bottle", plan.world.span[1])[2, 2] > 0.999


@pytest.mark.parametrize("kind", ["scene", "object"])
def test_a_mug_is_put_in_easy_reach_and_the_hand_is_at_ease_afterwards(kind: str, tmp_path: Path) -> None:
    scene = "scene: {meshes: [{maker: table, name: table, at: [0, -0.75, 0]}]}" if kind == "scene" else ""
    mug, task = "bottle: {mesh: {maker: mug}, mass: 0.3}", "put: {who: ann, object: bottle, onto: table}"
    mug += "" if kind == "scene" else "\n  table: {mesh: {maker: table}, at: [0, -0.75, 0]}"
    plan = plan_storyboard(board("  ann: {body: woman}", tmp_path, thing=mug, scene=scene, task=task))
    assert plan.status == "found", plan.why
    assert any("nearer to the edge of table" in note for note in plan.world.notes)
    clip = plan.world.motion("ann")
    assert isinstance(clip, Clip)
    assert np.degrees(bow_of(clip.character, clip.world()).max()) < 35.0
    bare = er.idle(clip.character, 0.1, clip.fps).rotations[0]
    hand = [*clip.character.chain("right_arm").joints, *finger_joints(clip.character, "right")]
    assert angle_between(clip.rotations[0, hand], bare[hand]).max() > 0.3, "closed on the mug"
    assert angle_between(clip.rotations[-1, hand], bare[hand]).max() < 0.1, "as it is without one"


def test_depth_in_the_hand_is_bounded_and_listed(tmp_path: Path) -> None:
    good = board("  ann: {body: woman, clip: {walk: {seconds: 1}}}", tmp_path, thing=BATON).world
    found = certify(good)
    assert found.free and not found.evidence.excused
    assert all(a.depth_m < GRAB_M for a in found.allowed if a.why == HELD)
    hold = good.holds[0]
    assert hold.T_hand_object is not None
    deeper = np.array(hold.T_hand_object)
    deeper[:3, 3] = 0.0  # in the wrist
    bad = good.with_(holds=()).with_hold("bottle", "ann", "right", hold.during, deeper)
    assert {c.pair.b for c in certify(bad).collisions} == {"bottle"}


def test_a_grip_that_collides_is_advised_to_change(tmp_path: Path) -> None:
    """Repairing the motion or moving an obstacle would not help."""
    text = (
        f"elbowroom: 1\nobjects:\n  {BOTTLE}\ncharacters:\n  ann: {{body: woman}}\n"
        "holds: [{object: bottle, by: ann, hand: right, grip: {at: [0.05, 0, 0]}}]\n"
    )
    plan = plan_storyboard(parse_storyboard(text, tmp_path / "deep.yaml"))
    assert plan.status == "base-in-collision" and "grip" in plan.remedy
