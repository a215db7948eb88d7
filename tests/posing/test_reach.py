"""Reaching: feet stay, the hand gets there, ranges and balance are kept, and what is out of reach is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from limb_cases import FROM_FILES
from reach_cases import TARGETS, size, standing, target

from elbowroom.character.body import Character
from elbowroom.character.dynamics import Dynamics
from elbowroom.character.limits import pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array, angle_between, from_matrix
from elbowroom.motion.clip import Clip
from elbowroom.motion.mirror import mirror
from elbowroom.posing.balance import balance_margin
from elbowroom.posing.reach import Reached, ReachStyle, reach
from elbowroom.posing.reach_fold import fold_of
from elbowroom.posing.reach_help import help_for, way_to
from elbowroom.posing.reach_parts import parts_of, start_of
from elbowroom.posing.reach_search import Search
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import Snapshot, World


def check(body: Character, pose: Pose, T: Array, found: Reached) -> None:
    """All that a found reach promises."""
    before, after = body.skeleton.at(pose), body.skeleton.at(found.pose)
    hand = after[body.role("right_hand")]
    assert found.status == "found" and found.missing == 0.0
    assert np.linalg.norm(hand[:3, 3] - T[:3, 3]) < 1e-6
    assert angle_between(from_matrix(hand[:3, :3]), from_matrix(T[:3, :3])) < 1e-6
    for side in ("left", "right"):
        # on tiptoe the toes stay and the foot turns about them
        still = body.roles.get(f"{side}_toes", body.role(f"{side}_foot"))
        assert np.abs(after[still] - before[still]).max() < 1e-9
        if found.used["heels"] == 0.0:
            assert np.abs(after[body.role(f"{side}_foot")] - before[body.role(f"{side}_foot")]).max() < 1e-9
    helping = [body.roles[r] for r in body.roles if not r.startswith("left_") or "arm" not in r]
    over = pose_excess(body.limits, found.pose.rotations) - pose_excess(body.limits, pose.rotations)
    assert over[helping].max() < 1e-6
    assert balance_margin(body, found.pose) > 0.005


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
    search = Search(start, way_to(start, T[:3, 3], ReachStyle()), T[:3, 3], ReachStyle())
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


def test_parts_can_be_switched_off() -> None:
    body, pose = standing("person")
    far, low, high = (
        target(body, p, d, 0)
        for p, d in (((-0.2, -0.75, 1.0), 0), ((-0.15, -0.5, 0.4), 40), ((-0.15, -0.25, 1.96), -88))
    )
    full = ReachStyle()
    assert all(reach(body, pose, "right", T).found for T in (far, low, high))
    pelvis = body.skeleton.at(pose)[0]
    stiff = reach(body, pose, "right", far, style=replace(full, spine=False))
    spine = [body.role(r) for r in ("spine1", "spine2", "chest")]
    assert np.allclose(stiff.pose.rotations[spine], pose.rotations[spine], atol=1e-12) and not stiff.found
    still = reach(body, pose, "right", low, style=replace(full, legs=False))
    assert np.allclose(body.skeleton.at(still.pose)[0], pelvis, atol=1e-12) and not still.found
    flat = reach(body, pose, "right", high, style=replace(full, tiptoe=False))
    assert flat.used["heels"] == 0.0 < reach(body, pose, "right", high).used["heels"] and not flat.found
    collar = body.role("right_clavicle")
    held = reach(body, pose, "right", high, style=replace(full, clavicle=False))
    assert np.allclose(held.pose.rotations[collar], pose.rotations[collar], atol=1e-12)


def test_limits_say_so_and_can_be_left_out() -> None:
    body, pose = standing("person")
    T = target(body, (-0.2, -0.45, 1.1), 0, 0)
    T[:3, :3] = T[:3, :3] @ np.diag([-1.0, 1.0, -1.0])  # fingers towards the body
    refused = reach(body, pose, "right", T)
    assert refused.status == "limits" and "ranges" in refused.why
    assert reach(body, pose, "right", T, style=ReachStyle(limits=False)).found


def test_balance_bounds_a_lean() -> None:
    """A body that may not let its weight nearer to the edge than it stands does not lean as far as one that may."""
    body, pose = standing("person")
    style = ReachStyle(legs=False, margin=0.2)
    T = target(body, (-0.2, -0.85, 0.9), 20, 0)
    leaning = reach(body, pose, "right", T, style=replace(style, balance=False))
    before = balance_margin(body, pose)
    assert leaning.found and balance_margin(body, leaning.pose) < before - 0.01
    kept = reach(body, pose, "right", T, style=style)
    assert kept.status == "out-of-balance" and "balance" in kept.why and kept.missing > 0.0
    assert balance_margin(body, kept.pose) > before - 0.01
    assert Dynamics(body).com(leaning.pose)[1] < Dynamics(body).com(kept.pose)[1]


def test_collisions_are_avoided_by_orbit_then_by_posture() -> None:
    body, pose = standing("person")
    T = target(body, (-0.2, -0.45, 1.0), 0, 0)
    free = reach(body, pose, "right", T)
    asked: list[Pose] = []

    def not_as_before(p: Pose) -> bool:
        asked.append(p)
        return float(angle_between(p.rotations[0], free.pose.rotations[0])) > 1e-3

    other = reach(body, pose, "right", T, valid=not_as_before)
    check(body, pose, T, other)
    assert len(asked) > 1 and not_as_before(other.pose)
    elbow = body.role("right_forearm")
    at = body.skeleton.at(free.pose)[elbow, :3, 3]
    aside = reach(
        body, pose, "right", T, valid=lambda p: bool(np.linalg.norm(body.skeleton.at(p)[elbow, :3, 3] - at) > 0.05)
    )
    check(body, pose, T, aside)
    assert aside.orbit != free.orbit and aside.used == free.used
    assert reach(body, pose, "right", T, valid=lambda _: False).status == "blocked"


def test_crouches_do_not_enter_the_body() -> None:
    """Down to where the wrist is 0.3 m over the floor, the posture is free of collisions with itself."""
    body, pose = standing("person")
    world = World({"a": Clip(body, 30.0, pose.root[None], pose.rotations[None])}, floor=None)
    exact = ExactWorld(world)

    def free(p: Pose) -> bool:
        exact.place_snapshot(Snapshot(0.0, {"a": body.skeleton.at(p)}, {}))
        return not any(exact.hit(int(k)) for k in exact.near())

    for z in (0.3, 0.4, 0.5, 0.7):
        for y in (-0.4, -0.5):
            T = target(body, (-0.18, y, z), 60, 0)
            found = reach(body, pose, "right", T, valid=free)
            check(body, pose, T, found)


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


def test_bad_input() -> None:
    body, pose = standing("person")
    T = target(body, (-0.2, -0.45, 1.0), 0, 0)
    bad = T.copy()
    bad[0, 3] = np.nan
    with pytest.raises(BadValue):
        reach(body, pose, "right", bad)
    with pytest.raises(BadValue):
        reach(body, pose, "right", T[None])
    with pytest.raises(BadValue):
        reach(body, pose, "right", T, floor=np.inf)
    with pytest.raises(BadValue):
        reach(body, Pose.of(pose.root, np.full_like(pose.rotations, np.nan)), "right", T)
    with pytest.raises(UnknownName):
        reach(body, pose, "third", T)
    one_armed = body.with_(chains={k: v for k, v in body.chains.items() if k != "right_arm"})
    with pytest.raises(UnknownName):
        reach(one_armed, pose, "right", T)
    with pytest.raises(BadValue):
        ReachStyle(near=0.99, far=0.9)
    with pytest.raises(BadValue):
        ReachStyle(turn=float("nan"))


def test_a_body_without_legs_or_spine_still_reaches() -> None:
    body, pose = standing("person")
    gone = ("spine1", "spine2", "chest", "left_foot", "right_foot", "left_clavicle", "right_clavicle")
    bare = body.with_(
        roles={r: j for r, j in body.roles.items() if r not in gone},
        chains={k: v for k, v in body.chains.items() if "leg" not in k},
        masses=None,
    )
    T = target(body, (-0.22, -0.4, 1.15), 0, 0)
    found = reach(bare, pose, "right", T)
    assert found.found
    far = reach(bare, pose, "right", target(body, (-0.22, -0.9, 1.15), 0, 0))
    assert far.status == "out-of-reach" and np.allclose(far.pose.root, pose.root)


def test_stout_bodies_fold_less() -> None:
    slim, stout = (fold_of(standing(name)[0], 0.65) for name in ("child", "gorilla"))
    assert np.all(np.diff(slim[1]) <= 0.0) and np.all(np.diff(stout[1]) <= 0.0)
    assert np.all(stout[1] < slim[1] + 1e-9) and np.radians(20) < stout[1][-1] and slim[1][0] < np.radians(120)
    bare = standing("child")[0].with_(shapes=())
    assert np.all(np.isinf(fold_of(bare, 0.65)[1]))


def test_effort_is_a_line_of_help() -> None:
    body, pose = standing("person")
    start = start_of(parts_of(body, "right", pose), pose, 0.0)
    goal = np.array([-0.2, -0.6, 0.5])
    helps = help_for(start, way_to(start, goal, ReachStyle()), np.linspace(0.0, 1.0, 5), ReachStyle())
    assert np.all(helps[0] == 0.0) and np.all(np.diff(np.abs(helps[:, 1:4]), axis=0) >= 0.0)
    assert np.all(helps[1:, 0] > 0.0)
