"""Supports besides the feet, and whole bodies among what moves: held, balanced, free in time."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.body import Character
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadFile, BadValue
from elbowroom.geometry.solids import box
from elbowroom.plan.tight.moving import MovingScene
from elbowroom.posing.balance import contact_points, margin_inside
from elbowroom.posing.kneeling import Kneeling, kneeling_pose
from elbowroom.spaces.component import PosePath
from elbowroom.storyboard.storyboard import parse_storyboard
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World

AHEAD = np.array([0.0, -1.0, 0.0])


def standing(preset: str = "man") -> tuple[Character, Pose]:
    clip = er.idle(er.preset(preset), seconds=1.0)
    assert isinstance(clip.body, Character)
    return clip.body, Pose.of(clip.root[0], clip.rotations[0])


def alone(preset: str = "man", who: str = "bob") -> World:
    return er.World(floor=0.0).with_character(who, er.idle(er.preset(preset), seconds=1.0))


@pytest.mark.parametrize("preset", ["man", "woman", "child"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_bodies_kneel_on_either_knee_in_balance(preset: str, side: str) -> None:
    body, stand = standing(preset)
    found = kneeling_pose(body, stand, AHEAD, side, 0.0)  # type: ignore[arg-type]
    assert found is not None
    pose, moved = found
    T, before = body.skeleton.at(pose), body.skeleton.at(stand)
    other = "left" if side == "right" else "right"
    np.testing.assert_allclose(T[body.role(f"{other}_foot")], before[body.role(f"{other}_foot")], atol=1e-6)
    assert T[body.role(f"{side}_shin"), 2, 3] < 0.08 and moved[1] > 0.2 * body.height
    knee = Kneeling(body, pose, side, 0.0)  # type: ignore[arg-type]
    corners = knee.support(pose, PosePath(body, [pose, pose]).feet(0.0))
    assert knee.margin(pose, corners) > 0.01
    # the pelvis tilts over the hips, and both legs stay
    tilted = body.skeleton.at(knee.tilted(0.6))
    legs = [j for s in ("left", "right") for j in body.subtree(body.role(f"{s}_thigh"))]
    np.testing.assert_allclose(tilted[legs], T[legs], atol=1e-9)
    assert tilted[body.role("chest"), 1, 3] < T[body.role("chest"), 1, 3] - 0.1
    assert knee.tilt_of(knee.tilted(0.6)) == pytest.approx(0.6)


def test_a_knee_on_the_floor_bears_weight_during_a_low_reach() -> None:
    task = er.Reach(who="bob", hand="right", to=(-0.1, -0.45, 0.1), feet="stay", support=er.Knee("right"))
    plan = er.plan_tasks(alone(), [task]).require()
    assert plan.certificate is not None and plan.certificate.free
    spans = {c.during for c in plan.world.contacts if c.kind == "support" and c.who == "bob.right_shin"}
    assert len(spans) == 1
    begin, end = spans.pop()
    motion = plan.world.motion("bob")
    body = motion.body
    assert isinstance(body, Character) and end - begin > 1.0
    root, q = motion.sample(np.arange(begin, end, 1.0 / 60.0))
    T = body.transforms(root, q)
    legs = [body.role(r) for r in ("left_foot", "right_foot", "left_shin", "right_shin")]
    assert np.ptp(T[..., :3, 3][:, legs], axis=0).max() < 1e-6
    # on the way down and up the weight is over the feet, and over one of them while the other is in the air
    root, q = motion.sample(np.concatenate([np.arange(0.0, begin, 0.05), np.arange(end + 0.05, motion.span[1], 0.05)]))
    T = body.transforms(root, q)
    assert margin_inside(contact_points(body, T, 0.0), center_of_mass(body, T)[:, :2]).min() > 0.01
    # at the end he stands as before
    assert np.abs(motion.sample([motion.span[1]])[0][0] - motion.sample([0.0])[0][0]).max() < 1e-6


def test_storyboards_ask_for_supports() -> None:
    text = """elbowroom: 1
scene: {floor: 0.0}
characters: {bob: {body: {preset: man}, clip: {idle: {seconds: 1}}}}
tasks:
  - reach: {who: bob, hand: left, to: [0.1, -0.4, 0.2], feet: stay, support: %s}
"""
    board = parse_storyboard(text % "{knee: left}")
    assert board.tasks[0].support == er.Knee("left")
    assert parse_storyboard(text % "auto").tasks[0].support == "auto"
    for wrong, what in (("{knee: left, hand: right}", "together"), ("{hand: right}", "needs a hand"),
                        ("{knee: both}", "'left' or 'right'"), ("never", "'auto'")):  # fmt: skip
        with pytest.raises(BadFile, match=what):
            parse_storyboard(text % wrong)
    with pytest.raises(BadValue, match="'left' or 'right'"):
        er.Knee("both")  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="'auto'"):
        er.Reach(who="bob", to=(0.0, -0.4, 0.2), support="never")  # type: ignore[arg-type]


def test_a_hand_leans_where_balance_fails_without_it_and_only_there() -> None:
    world = alone().with_static("rail", box((1.5, 0.1, 0.06), (0.0, -0.42, 0.79)))
    far = er.Reach(who="bob", hand="right", to=(-0.15, -1.15, 0.82), feet="stay", support="auto")
    plan = er.plan_tasks(world, [far]).require()
    assert plan.certificate is not None and plan.certificate.free
    spans = {c.during for c in plan.world.contacts if (c.kind, c.on) == ("support", "rail")}
    assert len(spans) == 1 and any("leans on rail" in note for note in plan.world.notes)
    begin, end = spans.pop()
    motion = plan.world.motion("bob")
    assert isinstance(motion.body, Character)
    root, q = motion.sample(np.arange(begin, end, 0.1))
    hand = motion.body.transforms(root, q)[:, motion.body.role("left_hand"), :3, 3]
    assert np.ptp(hand, axis=0).max() < 1e-4
    near = er.Reach(who="bob", hand="right", to=(-0.15, -0.5, 0.95), feet="stay", support="auto")
    plan = er.plan_tasks(world, [near]).require()
    assert not [c for c in plan.world.contacts if (c.kind, c.on) == ("support", "rail")]


def test_nothing_to_lean_on_is_out_of_reach_as_before() -> None:
    far = er.Reach(who="bob", hand="right", to=(-0.15, -1.3, 0.82), feet="stay", support="auto")
    plan = er.plan_tasks(alone(), [far], er.Settings(probes=0))
    assert plan.status in ("target-out-of-reach", "out-of-balance")


def crossed(keys: list[tuple[float, tuple[float, float, float]]]) -> World:
    """A woman before a board over which a post moves."""
    world = alone("woman", "ann").with_static("board", box((1.2, 0.5, 0.04), (0.0, -0.55, 0.72)))
    times, places = np.array([t for t, _ in keys]), np.array([at for _, at in keys])
    path = Keyed(times, places, np.tile([1.0, 0.0, 0.0, 0.0], (len(keys), 1)))
    return world.with_object("post", box((0.1, 0.1, 0.5)), path)


REACH = er.Reach(who="ann", hand="right", to=(-0.15, -0.5, 0.95), feet="stay", planner="whole-body")


@pytest.mark.parametrize("keys", [
    [(0.0, (-1.5, -0.4, 1.0)), (2.5, (1.5, -0.4, 1.0))],
    [(0.0, (-1.0, -0.4, 1.0)), (1.0, (-0.15, -0.4, 1.0)), (3.0, (-0.15, -0.4, 1.0)), (4.0, (-1.5, -0.4, 1.0))],
    [(0.0, (-1.0, -0.4, 1.0)), (0.3, (-0.25, -0.33, 1.0))],
], ids=["crosses", "stays a while", "comes to stay"])  # fmt: skip
def test_whole_bodies_pass_what_moves(keys: list[tuple[float, tuple[float, float, float]]]) -> None:
    plan = er.plan_tasks(crossed(keys), [REACH]).require()
    assert plan.certificate is not None and plan.certificate.free  # exact, between frames, everything at its time
    assert any(edit.tier == "whole-body" for edit in plan.edits)


def test_timings_stop_on_the_way_where_later_and_slower_do_not_help() -> None:
    body, stand = standing("woman")
    path = PosePath(body, [Pose.of(stand.root + [0.0, -0.5 * s, 0.0], stand.rotations) for s in np.linspace(0, 1, 9)])
    here, there = (0.0, 0.6, 1.0), (0.0, -0.42, 1.0)
    # behind her from 0.9 s on, where she starts; before her until 4 s
    world = crossed([(0.0, there), (3.8, there), (4.0, (3.0, 0.0, 1.0))])
    chases = Keyed(np.array([0.0, 0.7, 0.9]), np.array([[0.0, 2.0, 1.0], here, (0.0, 0.13, 1.0)]),
                   np.tile([1.0, 0.0, 0.0, 0.0], (3, 1)))  # fmt: skip
    world = world.with_object("cart", box((0.1, 0.1, 0.5)), chases)
    scene = MovingScene.around(world, "ann", 0.0, 1.0)
    assert scene is not None and set(scene.rest.objects) == set()
    found = list(scene.timings(path, 30.0, 30))
    assert len(found) == 1
    share = found[0]
    assert share[0] == 0.0 and share[-1] == 1.0
    waits = (share > 0.05) & (share < 0.95) & (np.abs(np.gradient(share)) < 1e-3)
    assert waits.sum() > 15  # a stop in the middle
    assert MovingScene.around(alone("woman", "ann"), "ann", 0.0, 1.0) is None
