"""What bounds a reach: parts that are switched off or missing, limits, balance, collisions, and what makes no sense."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reach_cases import check, standing, target

from elbowroom.character.dynamics import Dynamics
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import angle_between
from elbowroom.motion.clip import Clip
from elbowroom.posing.balance import balance_margin
from elbowroom.posing.reach import ReachStyle, reach
from elbowroom.posing.reach_search import fold_of
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import Snapshot, World


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
    assert refused.status == "limits" and "joint limits" in refused.why
    assert reach(body, pose, "right", T, style=ReachStyle(limits=False)).found


def test_balance_bounds_a_lean() -> None:
    """A body that may not let its weight nearer to the edge than it stands does not lean as far as one that may."""
    body, pose = standing("person")
    style = ReachStyle(legs=False, margin=0.2)
    T = target(body, (-0.2, -0.87, 0.9), 20, 0)
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
