"""Marker poses and posture databases: alignment, resizing, splits, and answers to constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elbowroom.character.human import human, preset
from elbowroom.character.markers import MARKERS, marker_positions
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.motion import marker_poses as mp
from elbowroom.motion.marker_poses import MarkerTake
from elbowroom.motion.posture_constraints import SUMS, Constraints, constraints_of
from elbowroom.motion.posture_db import METHODS, build, expected_error, ranked
from elbowroom.motion.recorded import recorded_postures


def asked(
    pose: Array, hands: tuple = ("left", "right"), heading: float = 0.0, origin: Array | None = None
) -> Constraints:
    """Constraints of a pose (41, 3) of the feet's frame, put elsewhere in the world."""
    at = np.zeros(3) if origin is None else origin
    return Constraints(mp.turned(SUMS @ pose, heading) + at, heading, at, hands)


def test_poses_are_compared_aligned_on_the_ground() -> None:
    pose = recorded_postures().poses[7]
    moved = mp.turned(pose, 2.1) + [3.0, -1.0, 0.0]
    raised = pose + [0.0, 0.0, 0.2]
    aligned = mp.Aligned(np.stack([pose, moved, raised]))
    assert aligned.distances(0, np.array([1, 2])) == pytest.approx([0.0, 0.2], abs=1e-6)
    assert mp.greedy(np.stack([pose, moved, raised]), 0.05).tolist() == [0, 2]
    assert np.allclose(mp.in_feet_frame(moved), mp.in_feet_frame(pose))


def test_the_best_turn_is_the_best_of_many() -> None:
    a, b = recorded_postures().poses[[5, 90]]
    level = np.array([1.0, 1.0, 0.0])
    ways = [
        np.sqrt(np.mean(np.sum((mp.turned(a - a.mean(axis=0) * level, t) - (b - b.mean(axis=0) * level)) ** 2, axis=1)))
        for t in np.linspace(-np.pi, np.pi, 2000)
    ]
    assert mp.Aligned(np.stack([a, b])).distances(0, np.array([1]))[0] == pytest.approx(min(ways), rel=1e-4)


def test_resizing_gives_the_lengths_and_long_legs_stay_straight() -> None:
    db = recorded_postures()
    clown = preset("clown", skin=False)
    there = db.for_character(clown)
    rest = marker_positions(clown, clown.skeleton.T_rest)
    assert there.lengths == mp.body_lengths(rest[None])
    standing = int(np.argmax(db.poses[:, MARKERS.index("C7"), 2]))
    waist = there.poses[standing, mp.WAIST, 2].mean() / db.poses[standing, mp.WAIST, 2].mean()
    assert waist == pytest.approx(there.lengths.leg / db.lengths.leg)
    arm = [np.linalg.norm(np.diff(d.poses[3][mp.rows("LSHO", "LELB")], axis=0)) for d in (there, db)]
    assert arm[0] / arm[1] == pytest.approx(there.lengths.arm / db.lengths.arm)
    assert np.allclose(mp.resized(there.poses, there.lengths, db.lengths), db.poses)


@pytest.mark.parametrize("method", METHODS)
def test_a_recorded_pose_is_found_again_wherever_it_stands(method: str) -> None:
    db = recorded_postures()
    heading, origin = 1.3, np.array([4.0, -2.0, 0.5])
    error = []
    for k in range(0, len(db), 40):
        posture = db.posture(asked(db.poses[k], heading=heading, origin=origin), method)
        true = mp.turned(db.poses[k], heading) + origin
        free = posture.weights > 0.0
        error.append(np.linalg.norm(posture.markers - true, axis=1)[free].mean())
        assert posture.distance_m == pytest.approx(0.0, abs=1e-9) and posture.take == db.takes[db.take[k]]
    assert np.mean(error) < {"nearest": 1e-9, "local": 0.05, "linear": 0.12}[method]


def test_weights_sum_to_one_in_eq_4() -> None:
    """Poses that are all shifted by the same vector give an answer that is shifted by it."""
    db = recorded_postures()
    shift = np.array([0.1, -0.2, 0.0])
    there = replace(db, poses=db.poses + shift)
    a = db.posture(asked(db.poses[30]), "linear").markers
    b = there.posture(asked(db.poses[30] + shift), "linear").markers
    assert np.abs(b - a - shift).max() < 0.02


def test_answers_change_little_where_constraints_do() -> None:
    db = recorded_postures()
    low, high = db.poses[db.strategy == 1][0], db.poses[db.strategy == 0][0]
    steps = np.linspace(0.0, 1.0, 200)[:, None, None]
    rows = ((SUMS @ low) * (1.0 - steps) + (SUMS @ high) * steps).reshape(200, -1)
    jump = np.linalg.norm(np.diff(db.regressed(rows), axis=0), axis=-1).max(axis=1)
    assert jump.max() < 8.0 * np.median(jump) and jump.max() < 0.03


def test_a_free_arm_is_left_alone_by_data_of_two_hands() -> None:
    db = recorded_postures()
    right = mp.ARMS["R"]
    both = db.posture(asked(db.poses[60]))
    one = db.posture(asked(db.poses[60], ("left",)))
    assert both.weights[right[:2]].all() and not one.weights[right].any() and one.weights[mp.ARMS["L"][:2]].all()
    assert one.weights[mp.rows("RSHO")].all()
    shown = replace(db, held=np.full(len(db), mp.LEFT, np.uint8)).posture(asked(db.poses[60], ("left",)))
    assert shown.weights[right].all()
    assert not both.weights[[*mp.FEET["L"], *mp.HANDS["R"]]].any()


def test_far_constraints_are_told_and_databases_ranked() -> None:
    db = recorded_postures()
    pose = db.poses[100]
    far = Constraints(asked(pose).points + [0.0, 0.0, 0.3], 0.0, np.zeros(3))
    near, away = db.posture(asked(pose)), db.posture(far)
    assert away.distance_m > 0.05 > near.distance_m and away.expected_error_m > 2.0 * near.expected_error_m
    errors = [expected_error(d) for d in np.linspace(0.0, 0.4, 50)]
    assert (np.diff(errors) > 0.0).all()
    other = replace(db.where(db.take != db.take[100]), name="others")
    assert [p.database for p in ranked([other, db], asked(pose))] == ["ACCAD", "others"]


def test_strategies_and_contacts_split_a_database() -> None:
    db = recorded_postures()
    squat, stoop = db.of_strategy("squat"), db.of_strategy("stoop")
    low = min(SUMS[0] @ p for p in db.poses[:, :, 2])
    assert low < 0.2
    knee = {}
    for name, part in (("squat", squat), ("stoop", stoop)):
        bent = part.where(part.poses[:, mp.HANDS["L"], 2].mean(axis=1) < 0.45)
        knee[name] = np.degrees(np.median(mp.bends(bent.poses)[1]))
    assert knee["squat"] > knee["stoop"] + 20.0
    assert len(db.of_contact()) + len(db.of_contact("left", "right")) == len(db)
    with pytest.raises(UnknownName, match="posture strategy 'kneel'"):
        db.of_strategy("kneel")  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="no pose of the database 'ACCAD' is left"):
        db.of_contact("left")


def test_constraints_from_targets_agree_with_those_of_a_pose() -> None:
    person = human(skin=False)
    T = np.array(person.skeleton.T_rest)
    place = transform(np.array([1.0, 2.0, 0.4]), rot.about((0, 0, 1), 0.7))
    roles = ("left_hand", "right_hand", "left_foot", "right_foot")
    given = constraints_of(person, {role: place @ T[person.role(role)] for role in roles})
    assert given.heading == pytest.approx(0.7, abs=1e-6) and given.origin[2] == pytest.approx(0.4, abs=0.01)
    rest = marker_positions(person, place @ T)
    assert np.allclose(given.points, SUMS @ rest, atol=1e-9)
    one = constraints_of(person, {role: T[person.role(role)] for role in roles[1:]})
    assert one.hands == ("right",) and np.isnan(one.points[:2]).all() and np.isfinite(one.points[2:]).all()
    recorded_postures().for_character(person).posture(one)
    with pytest.raises(BadValue, match="target for the right foot"):
        constraints_of(person, {"left_foot": np.eye(4)})
    with pytest.raises(BadValue, match="at least one hand"):
        constraints_of(person, {"left_foot": np.eye(4), "right_foot": np.eye(4)})


def lifting(fps: float = 60.0) -> MarkerTake:
    """Hands go 0.5 m up with a thing for a second, rest for a second, part and hang; the body stands."""
    pose = recorded_postures().poses[int(np.argmax(recorded_postures().poses[:, MARKERS.index("C7"), 2]))]
    t = np.arange(int(3.0 * fps)) / fps
    points = np.repeat(pose[None], len(t), axis=0)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        out = np.where(t < 2.0, 0.2, 0.2 + 0.6 * (t - 2.0))
        hand = np.stack([sign * out, -0.4 + 0.0 * t, 0.8 + 0.5 * np.clip(t, 0.0, 1.0)], axis=1)
        for m in mp.HANDS[side]:
            points[:, m] = hand
    return MarkerTake("made", points, fps)


def test_what_is_held_is_found_from_hands_and_from_the_object() -> None:
    take = lifting()
    held = mp.holding(take)
    assert (held[10:110] == 3).all() and not held[140:].any()
    hands = take.points[:, mp.HANDS["L"]].mean(axis=1)
    one = mp.holding(replace(take, object=hands))
    assert (one[10:55] & mp.LEFT).all() and not one[70:110].any()


def test_gaps_are_filled_only_where_they_are_short() -> None:
    points = np.repeat(recorded_postures().poses[:1], 100, axis=0) + np.linspace(0.0, 1.0, 100)[:, None, None]
    gappy = np.array(points)
    gappy[10:20, 3], gappy[40:90, 4], gappy[:3, 5] = np.nan, np.nan, np.nan
    out = mp.filled(gappy, 60.0)
    assert np.allclose(out[:, 3], points[:, 3])
    assert np.isnan(out[40:90, 4]).all() and np.isnan(out[:3, 5]).all()


def test_takes_without_standing_feet_are_refused() -> None:
    take = lifting()
    walking = replace(take, points=take.points + np.linspace(0.0, 5.0, len(take.points))[:, None, None])
    with pytest.raises(BadValue, match="both feet stand"):
        build([walking])
    with pytest.raises(BadValue, match="take 'bad' needs markers"):
        MarkerTake("bad", np.zeros((4, 40, 3)), 60.0)
    assert len(build([take], hands=("left",)).of_contact("left")) > 3


@pytest.mark.parametrize("hands", [("left", "right"), ("right",)])
def test_beyond_recordings_nobody_leans_back_for_a_box_aside(hands: tuple) -> None:
    db = recorded_postures()
    neck, waist = mp.rows("C7"), mp.WAIST

    def lean(pose: Array, aside: float) -> float:
        """Metres that the neck is behind the waist with hands moved aside, to the left where positive."""
        points = SUMS @ pose + np.array([aside, 0.0, 0.0]) * (np.arange(6) < 4)[:, None]
        found = db.posture(Constraints(points, 0.0, np.zeros(3), hands)).markers
        return float(found[neck, 1].mean() - found[waist, 1].mean())

    upright = db.poses[(db.strategy == mp.STRATEGIES.index("upright")) & (db.held == (mp.LEFT | mp.RIGHT))][::15]
    assert len(upright) >= 3
    for pose in upright:
        there = lean(pose, 0.0)
        assert all(abs(lean(pose, aside) - there) < 0.2 for aside in (-0.4, 0.4)), there
