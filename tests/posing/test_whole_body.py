"""Whole-body postures: hands and feet where they must be, by other code; ranges, balance, paths and reasons."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reach_cases import standing

from elbowroom.character.body import Character
from elbowroom.character.limits import pose_excess
from elbowroom.character.markers import MARKERS, marker_positions
from elbowroom.character.masses import center_of_mass
from elbowroom.character.rig import as_character
from elbowroom.character.skeleton import Pose, Skeleton
from elbowroom.errors import BadValue, UnknownName
from elbowroom.files.glb_read import read_glb
from elbowroom.geometry.rotations import Array, about, multiply
from elbowroom.kernels import whole_body_solve
from elbowroom.locomotion.standing import idle
from elbowroom.posing.balance import margin_inside
from elbowroom.posing.whole_body import FEET, ITERATIONS, Load, WholeBody, WholeBodySolution, support_of

HANDS = ("left_hand", "right_hand")
PEOPLE = ("woman", "child", "clown", "gorilla")


def with_arms(body: Character, pose: Pose, rng: np.random.Generator) -> Pose:
    """A posture with the trunk bent a little and both arms anywhere in their ranges in front of it."""
    q = np.array(pose.rotations)
    for role in ("spine1", "spine2", "chest"):
        if role in body.roles:
            j = body.role(role)
            limit = body.limits[j]
            assert limit is not None
            q[j] = limit.rotation(limit.clamp_coordinates(limit.coordinates(q[j]) + rng.uniform(-0.1, 0.2, 3)))
    for side, sign in (("left", -1.0), ("right", 1.0)):
        wanted = {
            "upper_arm": (rng.uniform(0.2, 1.2), sign * rng.uniform(0.2, 1.3), rng.uniform(-0.3, 0.3)),
            "forearm": (rng.uniform(0.3, 1.8), 0.0, rng.uniform(-0.6, 0.6)),
            "hand": (*rng.uniform(-0.3, 0.3, 2), 0.0),
        }
        for part, coordinates in wanted.items():
            j = body.role(f"{side}_{part}")
            limit = body.limits[j]
            assert limit is not None
            q[j] = limit.rotation(limit.clamp_coordinates(coordinates))
    return Pose.of(pose.root, q)


def targets_of(body: Character, pose: Pose) -> dict[str, Array]:
    """Where both hands are in a posture."""
    T = body.skeleton.at(pose)
    return {hand: T[body.role(hand)] for hand in HANDS}


def check(
    body: Character, start: Pose, found: WholeBodySolution, targets: dict[str, Array], support: Array | None = None
) -> None:
    """Hands at their targets, feet where they were, joints in range, the weight over the feet."""
    assert found.status == "found", found.reason
    T, before = body.skeleton.at(found.pose), body.skeleton.at(start)
    for end, wanted in {**{foot: before[body.role(foot)] for foot in FEET}, **targets}.items():
        np.testing.assert_allclose(T[body.role(end)], wanted, atol=1e-6)
    moved = np.any(found.pose.rotations != start.rotations, axis=1)
    assert pose_excess(body.limits, found.pose.rotations)[moved].max() < 1e-8
    if support is not None:
        margin = float(margin_inside(support, center_of_mass(body, T)[:2]))
        assert margin >= -1e-6 and found.com_margin == pytest.approx(margin, abs=2.5e-3)


@pytest.mark.parametrize("name", PEOPLE)
def test_random_targets_are_met(name: str) -> None:
    body, start = standing(name)
    solver, support = WholeBody(body), support_of(body, start)
    rng = np.random.default_rng(3)
    for _ in range(15):
        targets = targets_of(body, with_arms(body, start, rng))
        check(body, start, solver.solve(start, targets, support=support), targets, support)


def test_an_imported_rig_meets_its_targets(data: Path) -> None:
    body = next(iter(read_glb(data / "characters/rocketbox_male_adult_01.glb").characters.values()))
    clip = idle(body, 0.1, 30.0)
    start = Pose.of(clip.root[0], clip.rotations[0])
    assert tuple(body.markers) == MARKERS
    rng = np.random.default_rng(3)
    solver = WholeBody(body)
    for _ in range(5):
        targets = targets_of(body, with_arms(body, start, rng))
        check(body, start, solver.solve(start, targets), targets)


@pytest.mark.parametrize("name", PEOPLE)
def test_a_path_down_and_up_turns_joints_little(name: str) -> None:
    """Hands go down by half of the stature and up again, 2 cm from posture to posture."""
    body, start = standing(name)
    support = support_of(body, start)
    solver = WholeBody(body, most_turn=np.radians(15.0))
    front = with_arms(body, start, np.random.default_rng(4))
    first = solver.solve(start, targets_of(body, front), support=support)
    pose, iterations = first.pose, []
    deep = np.arange(0.0, 0.45 * body.height, 0.02)
    for depth in [*deep, *deep[::-1]]:
        targets = targets_of(body, first.pose)
        for T in targets.values():
            T[2, 3] -= depth
        found = solver.solve(pose, targets, support=support)
        check(body, start, found, targets, support)
        assert found.turn < np.radians(15.0)
        pose = found.pose
        iterations.append(found.iterations)
    assert np.median(iterations) <= 9


def test_the_same_call_gives_the_same_bits_in_any_thread() -> None:
    body, start = standing("woman")
    solver, support = WholeBody(body), support_of(body, start)
    targets = targets_of(body, with_arms(body, start, np.random.default_rng(5)))
    found = solver.solve(start, targets, support=support)
    T = body.skeleton.at(start)
    problem = solver.problem((*HANDS, *FEET))
    ends = {**targets, **{foot: T[body.role(foot)] for foot in FEET}}

    def run(_: int) -> Array:
        root, q, numbers = np.zeros(3), np.zeros((len(body.skeleton), 4)), np.zeros(whole_body_solve.NUMBERS)
        aims = solver.aims(ends, support=support)
        begin = np.array(start.root[None]), np.array(start.rotations[None])
        whole_body_solve.solve(*problem.copy(), aims, *begin, ITERATIONS, root, q, numbers)
        return np.concatenate([root, q.reshape(-1)])

    with ThreadPoolExecutor(3) as pool:
        for other in pool.map(run, range(12)):
            np.testing.assert_array_equal(other, np.concatenate([found.pose.root, found.pose.q]))


def test_markers_draw_the_body_and_never_the_hands() -> None:
    """Markers of a crouch: the posture comes near to it, with hands and feet as told."""
    body, start = standing("woman")
    crouch = np.array(start.rotations)
    crouch[body.role("spine1")] = multiply(crouch[body.role("spine1")], about([1.0, 0.0, 0.0], 0.5))
    solver = WholeBody(body)
    T = body.skeleton.forward(start.root - [0.0, -0.05, 0.25], crouch)
    wished = marker_positions(body, T)
    weights = np.array([0.0 if m[1:] in ("HEE", "TOE", "MT5", "ANK", "FIN", "WRA", "WRB") else 1.0 for m in MARKERS])
    targets = targets_of(body, with_arms(body, start, np.random.default_rng(6)))
    for T_hand in targets.values():
        T_hand[2, 3] -= 0.2
    plain, drawn = solver.solve(start, targets), solver.solve(start, targets, wished, weights)
    check(body, start, drawn, targets)
    trunk = [MARKERS.index(m) for m in ("LFWT", "RFWT", "LBWT", "RBWT", "C7", "T10")]
    off = [np.linalg.norm(marker_positions(body, body.skeleton.at(s.pose))[trunk] - wished[trunk], axis=-1).mean()
           for s in (plain, drawn)]  # fmt: skip
    assert off[1] < 0.5 * off[0]


def test_a_load_is_made_up_for() -> None:
    body, start = standing("woman")
    solver, support = WholeBody(body), support_of(body, start)
    targets = targets_of(body, with_arms(body, start, np.random.default_rng(7)))
    load = Load(40.0, np.mean([T[:3, 3] for T in targets.values()], axis=0) + [0.0, -0.25, 0.0])
    found = solver.solve(start, targets, support=support, load=load)
    check(body, start, found, targets)
    assert body.masses is not None
    own = center_of_mass(body, body.skeleton.at(found.pose))
    both = (body.masses.total * own + load.mass * np.asarray(load.center)) / (body.masses.total + load.mass)
    assert margin_inside(support, both[:2]) >= 0.0
    plain = center_of_mass(body, body.skeleton.at(solver.solve(start, targets, support=support).pose))
    away = (plain - np.asarray(load.center))[:2]
    assert (own - plain)[:2] @ away / np.linalg.norm(away) > 0.01


def test_gaze_turns_the_head_and_nothing_else() -> None:
    body, start = standing("woman")
    targets = targets_of(body, with_arms(body, start, np.random.default_rng(8)))
    plain, looking = (WholeBody(body).solve(start, targets, gaze=g) for g in (None, [0.3, -1.0, 1.0]))
    check(body, start, looking, targets)
    changed = np.flatnonzero(np.any(plain.pose.rotations != looking.pose.rotations, axis=1))
    assert set(changed) == {body.role(r) for r in ("neck", "head", "left_eye", "right_eye")}
    assert looking.gaze_error < np.radians(2.0)


def test_failures_say_why() -> None:
    body, start = standing("woman")
    solver, support = WholeBody(body), support_of(body, start)
    hands = targets_of(body, with_arms(body, start, np.random.default_rng(9)))
    far = {hand: np.array(T) for hand, T in hands.items()}
    far["left_hand"][1, 3] -= 2.0
    missed = solver.solve(start, far)
    assert missed.status == "out-of-reach" and missed.missing["left_hand"] > 0.3 and "left_hand" in missed.reason
    heavy = solver.solve(start, hands, support=support, load=Load(400.0, [0.0, -1.5, 1.0]))
    assert heavy.status == "off-balance" and "centre of mass" in heavy.reason and heavy.com_margin < 0.0
    # arms that cannot leave the level, and a hand that has to be above the head
    narrow = {"swing": (0.05,) * 4, "twist": (-0.05, 0.05), "flexion": (0.1, 0.2)}
    limits = list(body.limits)
    for part in ("upper_arm", "forearm", "hand"):
        j = body.role(f"right_{part}")
        assert limits[j] is not None
        limits[j] = replace(limits[j], polygon=None, **narrow)
    above = np.array(hands["right_hand"])
    above[:3, 3] = -0.2, 0.0, 1.95
    bent = WholeBody(body.with_(limits=tuple(limits))).solve(start, {"right_hand": above})
    assert bent.status == "out-of-range" and bent.excess > 0.01 and "range" in bent.reason
    turned = WholeBody(body, most_turn=0.05).solve(start, hands)
    assert turned.status == "turned-too-far" and turned.turn > 0.05
    with pytest.raises(UnknownName, match="tail"):
        solver.solve(start, {"tail": np.eye(4)})
    with pytest.raises(BadValue, match="rigid"):
        solver.solve(start, {"left_hand": np.diag([2.0, 1.0, 1.0, 1.0])})
    with pytest.raises(BadValue, match="41"):
        solver.solve(start, hands, np.zeros((3, 3)))
    with pytest.raises(BadValue, match="masses"):
        WholeBody(body.with_(masses=None)).solve(start, hands, support=support)


def test_rigs_without_clavicles_or_spine_do_what_they_can() -> None:
    body, start = standing("woman")
    roles = {
        role: j for role, j in body.roles.items() if not role.endswith("clavicle") and not role.startswith("spine")
    }
    roles.pop("chest")
    stiff = WholeBody(body.with_(roles=roles))
    assert len(stiff.notes) == 2 and "spine" in stiff.notes[0] and "clavicles" in stiff.notes[1]
    assert not WholeBody(body).notes
    straight = Pose.of(start.root, start.rotations)
    targets = targets_of(body, with_arms(body.with_(roles=roles), straight, np.random.default_rng(2)))
    check(body, start, stiff.solve(start, targets), targets)


def test_a_free_arm_keeps_its_shape() -> None:
    body, start = standing("woman")
    target = targets_of(body, with_arms(body, start, np.random.default_rng(3)))["right_hand"]
    found = WholeBody(body).solve(start, {"right_hand": target})
    check(body, start, found, {"right_hand": target})
    for part in ("upper_arm", "forearm", "hand"):
        j = body.role(f"left_{part}")
        np.testing.assert_array_equal(found.pose.rotations[j], start.rotations[j])


def test_joints_between_elbow_and_hand_keep_their_turn() -> None:
    """A rig with a joint half way down each forearm, which is turned: the hands still come to their targets."""
    plain, _ = standing("woman")
    s = plain.skeleton
    names, parents, offsets = list(s.names), [int(p) for p in s.parents], [np.array(o) for o in s.offsets]
    for side in ("left", "right"):
        hand, elbow = names.index(f"{side}_hand"), names.index(f"{side}_forearm")
        names.insert(hand, f"{side}_forearm_twist")
        parents = [p if p < hand else p + 1 for p in parents]
        parents.insert(hand, elbow)
        parents[hand + 1] = hand
        offsets[hand] *= 0.5
        offsets.insert(hand, offsets[hand].copy())
    body = as_character(Skeleton(tuple(names), np.array(parents), np.array(offsets)), name="twisting")
    clip = idle(body, 0.1, 30.0)
    q = np.array(clip.rotations[0])
    twist = [names.index(f"{side}_forearm_twist") for side in ("left", "right")]
    q[twist] = multiply(q[twist], about([1.0, 0.0, 0.0], 0.3))
    start = Pose.of(clip.root[0], q)
    targets = targets_of(body, start)
    for T in targets.values():
        T[:3, 3] += [0.0, -0.1, 0.1]
    found = WholeBody(body).solve(start, targets)
    check(body, start, found, targets)
    np.testing.assert_array_equal(found.pose.rotations[twist], q[twist])
