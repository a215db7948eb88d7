"""Reaching: feet stay, the hand gets there, ranges and balance are kept, and what is out of reach is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from limb_cases import FROM_FILES
from reach_cases import TARGETS, check, size, standing, target

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, angle_between
from elbowroom.geometry.shapes import capsule
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import mirror
from elbowroom.posing.balance import balance_margin
from elbowroom.posing.reach import Reached, ReachStyle, reach
from elbowroom.posing.reach_help import direction_to, help_for
from elbowroom.posing.reach_parts import below_floor, parts_of, start_of
from elbowroom.posing.reach_search import ReachSearch


@pytest.mark.parametrize("name", ["person", "child", "clown", "gorilla"])
def test_built_in_people_reach_from_shelf_to_overhead(name: str) -> None:
    body, pose = standing(name)
    for key, (place, down, right) in TARGETS.items():
        if name == "clown" and key == "low shelf":
            continue  # its legs are too long for its arms
        T = target(body, place, down, right, size(name))
        check(body, pose, *any_roll(body, pose, T))


@pytest.mark.parametrize("name", FROM_FILES)
def test_rigs_from_files_reach(data: Path, name: str) -> None:
    body, pose = standing(name)
    for key in ("low shelf", "half a metre", "waist", "chest", "above"):
        place, down, right = TARGETS[key]
        T = target(body, place, down, right, size(name))
        check(body, pose, *any_roll(body, pose, T))


def any_roll(body: Character, pose: Pose, T: Array) -> tuple[Array, Reached]:
    """A target and how it is reached, turned about the front where the wrist's range of other arms asks for it."""
    for roll in np.radians([0, -30, 30, -60, 60, -90]):
        found = reach(body, pose, "right", _rolled(T, roll))
        if found.found:
            return _rolled(T, roll), found
    return T, found


def _rolled(T: Array, roll: float) -> Array:
    out = T.copy()
    c, s = np.cos(roll), np.sin(roll)
    out[:3, :3] = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]) @ T[:3, :3]
    return out


def test_near_targets_move_the_arm_alone() -> None:
    body, pose = standing("person")
    T = target(body, (-0.22, -0.27, 1.2), 0, 0)
    found = reach(body, pose, "right", T)
    check(body, pose, T, found)
    assert found.used["effort"] == 0.0
    moved = angle_between(found.pose.rotations, pose.rotations) > 1e-6
    names = {body.joint_names[j] for j in np.flatnonzero(moved)}
    assert names <= {"right_clavicle", "right_upper_arm", "right_forearm", "right_hand"}


def test_help_grows_with_distance() -> None:
    body, pose = standing("person")
    leans = [
        reach(body, pose, "right", target(body, (-0.2, -y, 1.1), 0, 0)).used["lean"] for y in (0.35, 0.5, 0.65, 0.8)
    ]
    assert leans[0] < np.radians(8) and np.all(np.diff(leans) > np.radians(3))
    knees = [
        reach(body, pose, "right", target(body, (-0.15, -0.5, z), 40, 0)).used["crouch"] for z in (0.9, 0.6, 0.4, 0.3)
    ]
    assert knees[0] < 0.01 and np.all(np.diff(knees) > 0.02)
    heels = [reach(body, pose, "right", target(body, (-0.15, -0.2, z), -60, 0)).used["heels"] for z in (1.6, 1.8, 1.88)]
    assert heels[0] == 0.0 and heels[2] > heels[1] >= 0.0


def test_small_moves_of_the_target_make_small_moves_of_the_body() -> None:
    body, pose = standing("person")
    for a, b in (("half a metre", "chest"), ("chest", "above"), ("chest", "across")):
        ends = [np.array(TARGETS[k][0]) for k in (a, b)]
        last = None
        for s in np.linspace(0.0, 1.0, 60):
            place = ends[0] + s * (ends[1] - ends[0])
            found = reach(body, pose, "right", target(body, tuple(place), 0, -20), style=ReachStyle(limits=False))
            assert found.found
            if last is not None:
                step = np.linalg.norm(ends[1] - ends[0]) / 59
                body_only = [j for j in range(len(body.joint_names)) if "right_" not in body.joint_names[j]]
                turned = angle_between(found.pose.rotations, last.rotations)
                # at most 40 degrees for each 10 cm of the hand's way
                assert turned[body_only].max() < 7.0 * step + 1e-6
                assert np.linalg.norm(found.pose.root - last.root) < 3.0 * step
            last = found.pose


def test_the_same_call_gives_the_same_posture() -> None:
    body, pose = standing("person")
    for place in ((-0.2, -0.6, 0.8), (-0.2, -1.6, 0.8)):
        one, two = (reach(body, pose, "right", target(body, place, 0, 0)) for _ in range(2))
        assert one.status == two.status and np.array_equal(one.pose.q, two.pose.q) and one.missing == two.missing


@pytest.mark.parametrize("place", [(-0.2, -1.7, 1.2), (-1.6, -0.2, 1.0), (-0.2, -0.4, 2.6), (0.9, -1.0, 0.4)])
def test_what_is_missing_agrees_with_brute_force(place: tuple[float, float, float]) -> None:
    """A thousand times as many postures are tried, at random and then around the best; none gets much nearer."""
    body, pose = standing("person")
    T = target(body, place, 0, 0)
    found = reach(body, pose, "right", T)
    assert found.status == "out-of-reach" and f"{found.missing:.3f} m" in found.why
    wrist = body.skeleton.at(found.pose)[body.role("right_hand"), :3, 3]
    assert abs(np.linalg.norm(wrist - T[:3, 3]) - found.missing) < 2e-3
    assert balance_margin(body, found.pose) > 0.005
    start = start_of(parts_of(body, "right", pose), pose, 0.0)
    search = ReachSearch(start, direction_to(start, T[:3, 3], ReachStyle()), T[:3, 3], ReachStyle())
    low, high = search.bounds()
    rng = np.random.default_rng(3)
    helps = low + (high - low) * rng.random((4000, len(low)))
    for spread in (0.15, 0.1, 0.06, 0.03, 0.015):
        rows = search.at(helps, rounds=3)
        lacking = np.where(search.wrong(rows) <= 0.0, search.lacking(rows), np.inf)
        best = helps[np.argsort(lacking)[:20]]
        noise = rng.normal(size=(1000, len(low))) * (rng.random((1000, len(low))) < 0.5)
        helps = np.clip(np.concatenate([best, np.repeat(best, 50, axis=0) + spread * (high - low) * noise]), low, high)
    assert -0.03 < found.missing - lacking.min() < 0.02


def test_a_target_too_near_to_the_shoulder_is_told() -> None:
    body, pose = standing("person")
    T = np.eye(4)
    T[:3, 3] = body.skeleton.at(pose)[body.role("right_upper_arm"), :3, 3] + [0.0, -0.01, 0.0]
    still = ReachStyle(spine=False, legs=False, clavicle=False)
    found = reach(body, pose, "right", T, style=still)
    arm = parts_of(body, "right", pose).arm
    assert found.status == "out-of-reach"
    assert found.missing == pytest.approx(arm.reach[0] - 0.01, abs=1e-9)


def test_the_left_hand_is_the_mirror_of_the_right() -> None:
    body, pose = standing("person")
    clip = Clip(body, 30.0, pose.root[None], pose.rotations[None])
    turned = mirror(clip)
    flipped = Pose.of(turned.root[0], turned.rotations[0])
    T = target(body, (-0.2, -0.6, 0.7), 20, 0)
    right = reach(body, pose, "right", T)
    wanted = mirror(Clip(body, 30.0, right.pose.root[None], right.pose.rotations[None]))
    hand = body.skeleton.forward(wanted.root[0], wanted.rotations[0])[body.role("left_hand")]
    left = reach(body, flipped, "left", hand)
    assert left.found and left.used["lean"] == pytest.approx(right.used["lean"], abs=1e-6)
    assert left.used["turn"] == pytest.approx(-right.used["turn"], abs=1e-6)
    assert np.linalg.norm(left.pose.root - wanted.root[0]) < 1e-6


def test_effort_is_a_line_of_help() -> None:
    body, pose = standing("person")
    start = start_of(parts_of(body, "right", pose), pose, 0.0)
    goal = np.array([-0.2, -0.6, 0.5])
    helps = help_for(start, direction_to(start, goal, ReachStyle()), np.linspace(0.0, 1.0, 5), ReachStyle())
    assert np.all(helps[0] == 0.0) and np.all(np.diff(np.abs(helps[:, 1:4]), axis=0) >= 0.0)
    assert np.all(helps[1:, 0] > 0.0)


def test_shins_stay_above_the_floor() -> None:
    """Boots that reach far to the front at the ankle would enter the floor in the crouch of somebody without them."""
    body, pose = standing("person")
    shins = [body.role(part) for part in ("left_shin", "right_shin")]
    ankle = body.T_rest[body.role("left_foot")][:3, 3]
    ends = [_in_joint(body, j, [0.0, -0.09, 0.05 - ankle[2]]) for j in shins]
    toes = [capsule(f"boot{j}", j, end, end, 0.02) for j, end in zip(shins, ends, strict=True)]
    booted = body.with_(shapes=(*body.shapes, *toes))
    deep = []
    for z in (0.3, 0.45, 0.6):
        T = target(body, (-0.15, -0.45, z), 30.0, 0.0)
        bare, found = reach(body, pose, "right", T), reach(booted, pose, "right", T)
        parts = parts_of(booted, "right", pose)
        assert start_of(parts, pose, 0.0).sunk == 0.0
        if bare.found:
            deep.append(below_floor(parts, body.skeleton.at(bare.pose)[None], 0.0)[0])
        if found.found:
            assert below_floor(parts, body.skeleton.at(found.pose)[None], 0.0)[0] <= 1e-6
    assert max(deep) > 0.005, "the crouch is deep enough to tell"


def _in_joint(body: Character, joint: int, off_ankle: list[float]) -> Array:
    """A place (3,) in a shin's frame, off the ankle by a vector in the axes of the body at rest."""
    foot = next(j for j in range(len(body.parents)) if body.parents[j] == joint)
    return np.asarray(np.linalg.inv(body.T_rest[joint])[:3] @ [*(body.T_rest[foot][:3, 3] + off_ankle), 1.0])
