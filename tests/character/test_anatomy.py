"""Anatomical zero, signs and ranges on any rig; real walking stays within limits."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import real_files
from elbowroom.character import anatomy
from elbowroom.character.anatomy import limits_for
from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.character.limits import JointLimit, pose_excess, sample_pose
from elbowroom.character.range_of_motion import RANGES
from elbowroom.character.rig import as_character
from elbowroom.character.skeleton import Skeleton
from elbowroom.files.asf_amc import read_amc
from elbowroom.files.bvh import read_bvh
from elbowroom.geometry.rotations import Array, about, angle_between, conjugate, multiply, normalize, rotate

FRONT, BACK, UP, LEFT = np.array([[0.0, -1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])


@pytest.fixture(scope="module")
def person() -> Character:
    return human(skin=False)


def posed(c: Character, **degrees: tuple[float, float, float]) -> Array:
    """Joint positions (J, 3) with all parts at zero but the given ones."""
    terms = {p: np.zeros(3) for p in c.roles if c.limits[c.roles[p]] is not None}
    terms |= {p: np.radians(v) for p, v in degrees.items()}
    q = anatomy.rotations(c, terms)
    return c.skeleton.forward(c.skeleton.offsets[0], q)[:, :3, 3]


def way(c: Character, at: Array, a: str, b: str) -> Array:
    return normalize(at[c.role(b)] - at[c.role(a)])


# part, terms in degrees, bone shown by, where it points then, in the built-in person's axes
SIGNS = [
    ("left_upper_arm", (0, 0, 0), ("left_upper_arm", "left_forearm"), LEFT),
    ("left_upper_arm", (90, 0, 0), ("left_upper_arm", "left_forearm"), -UP),
    ("right_upper_arm", (90, 0, 0), ("right_upper_arm", "right_forearm"), -UP),
    ("left_upper_arm", (-90, 0, 0), ("left_upper_arm", "left_forearm"), UP),
    ("left_upper_arm", (0, -90, 0), ("left_upper_arm", "left_forearm"), FRONT),
    ("right_upper_arm", (0, 90, 0), ("right_upper_arm", "right_forearm"), FRONT),
    ("left_forearm", (90, 0, 0), ("left_forearm", "left_hand"), FRONT),
    ("right_forearm", (90, 0, 0), ("right_forearm", "right_hand"), FRONT),
    ("left_hand", (80, 0, 0), ("left_hand", "left_middle1"), -UP),
    ("right_hand", (80, 0, 0), ("right_hand", "right_middle1"), -UP),
    ("left_thigh", (90, 0, 0), ("left_thigh", "left_shin"), FRONT),
    ("right_thigh", (0, 45, 0), ("right_thigh", "right_shin"), normalize(-UP - LEFT)),
    ("left_thigh", (0, -45, 0), ("left_thigh", "left_shin"), normalize(-UP + LEFT)),
    ("left_shin", (90, 0, 0), ("left_shin", "left_foot"), BACK),
    ("right_shin", (90, 0, 0), ("right_shin", "right_foot"), BACK),
    ("spine1", (45, 0, 0), ("spine1", "spine2"), normalize(UP + FRONT)),
    ("spine1", (0, 45, 0), ("spine1", "spine2"), normalize(UP + LEFT)),
    ("left_index2", (90, 0, 0), ("left_index2", "left_index3"), -UP),
]


@pytest.mark.parametrize(("part", "terms", "bone", "points"), SIGNS)
def test_signs(
    person: Character, part: str, terms: tuple[float, float, float], bone: tuple[str, str], points: Array
) -> None:
    at = posed(person, **{part: terms})
    assert np.degrees(np.arccos(np.clip(way(person, at, *bone) @ points, -1, 1))) < 12.0


def test_twists_turn_out_where_the_table_says(person: Character) -> None:
    """With the elbow bent, an outward turn of the outstretched upper arm lifts the hand, on both sides."""
    for side, sign in (("left", -1), ("right", 1)):
        at = posed(person, **{f"{side}_upper_arm": (0, 0, sign * 60), f"{side}_forearm": (90, 0, 0)})
        assert way(person, at, f"{side}_forearm", f"{side}_hand")[2] > 0.8
        limit = person.limits[person.role(f"{side}_upper_arm")]
        assert limit is not None
        outwards = np.degrees(limit.twist[1] if sign > 0 else -limit.twist[0])
        assert outwards == pytest.approx(RANGES["upper_arm"].turns_out)
        knees = posed(person, **{f"{side}_thigh": (0, 0, sign * 40), f"{side}_shin": (90, 0, 0)})
        inwards = way(person, knees, f"{side}_shin", f"{side}_foot") @ (-LEFT if side == "left" else LEFT)
        assert inwards > 0.5  # an outward turn of the thigh swings the bent shin inwards


@pytest.mark.parametrize("swing", ["ellipse", "polygon"])
def test_the_shoulder_reaches_what_people_reach(person: Character, swing: str) -> None:
    limits = limits_for(person.skeleton, person.roles, person.front, swing=swing)  # type: ignore[arg-type]
    hang, across = 90.0, np.radians([0.0, 50.0])
    for side, back in (("left", 1.0), ("right", -1.0)):
        limit = limits[person.role(f"{side}_upper_arm")]
        assert limit is not None

        def within(x: float, y: float, limit=limit, back=back) -> bool:  # type: ignore[no-untyped-def]
            return bool(limit.contains(limit.rotation(np.radians([x, back * y, 0.0]))))

        assert within(hang, 0) and within(hang + 15, 0)  # at the side, a little across
        assert within(-88, 0)  # straight up, the girdle does the rest
        assert within(0, -90) and within(0, -130)  # to the front, and past it across the chest
        assert within(*(hang * np.array([np.cos(across[1]), np.sin(across[1])])))  # hanging and 50 degrees back
        assert not within(-130, 0) and not within(0, 100) and not within(0, -150)
    polygon = limits_for(person.skeleton, person.roles, person.front, swing="polygon")[person.role("left_upper_arm")]
    assert polygon is not None and not polygon.contains(polygon.rotation(np.radians([0.0, 60.0, 0.0])))


def test_coordinates_and_rotations_are_inverse(person: Character) -> None:
    q = sample_pose(person.limits, np.random.default_rng(5), 50)
    back = anatomy.rotations(person, anatomy.coordinates(person, q), base=q)
    assert np.max(angle_between(back, q)) < 1e-6


def bent(person: Character, turns: dict[str, Array]) -> Skeleton:
    """The person's skeleton with another rest pose."""
    rest = np.array(person.skeleton.rest)
    for name, q in turns.items():
        rest[person.role(name)] = q
    return replace(person.skeleton, rest=rest)


@pytest.mark.parametrize(
    "turns",
    [
        {"left_upper_arm": about([0.0, 1, 0], np.radians(45)), "right_upper_arm": about([0.0, 1, 0], -np.radians(45))},
        {"left_thigh": about([0.0, 1, 0], -np.radians(20)), "right_thigh": about([0.0, 1, 0], np.radians(20))},
        {"left_forearm": about([0.0, 0, 1], -np.radians(30)), "left_shin": about([1.0, 0, 0], np.radians(15))},
        {"spine2": about([1.0, 0, 0], np.radians(10)), "left_index2": about([0.0, 1, 0], np.radians(25))},
        {"left_forearm": about([1.0, 0, 0], -np.pi / 2)},
    ],
    ids=["A pose", "legs spread", "elbow and knee bent", "stooped", "palm forwards"],
)
def test_the_zero_does_not_depend_on_the_rest_pose(person: Character, turns: dict[str, Array]) -> None:
    other = limits_for(bent(person, turns), person.roles, person.front)
    for part, j in person.roles.items():
        a, b = person.limits[j], other[j]
        if a is not None and b is not None and "thumb" not in part:
            zero = (a.rotation(np.zeros(3)), b.rotation(np.zeros(3)))
            assert np.degrees(angle_between(*zero)) < 3.0, part


def test_hinge_axes_come_from_motion(person: Character) -> None:
    """A rig whose elbow bends upwards at rest: samples of motion show it, and the terms follow."""
    j = person.role("left_forearm")
    poses = np.tile(person.skeleton.rest, (20, 1, 1))
    upwards = about([0.0, 1, 0], -np.linspace(0.2, 1.5, 20))
    poses[:, j] = upwards
    seen = limits_for(person.skeleton, person.roles, person.front, recorded=True, poses=poses)[j]
    assert seen is not None and seen.contains(poses[:, j]).all()
    assert seen.coordinates(poses[:, j])[:, 0] == pytest.approx(np.linspace(0.2, 1.5, 20), abs=0.05)
    blind = person.limits[j]
    assert blind is not None and not blind.contains(poses[:, j]).any()


def test_a_zero_pose_that_lies_down_gets_a_rest_pose_from_motion(person: Character) -> None:
    """Like ACCAD's files: with zero rotations the spine lies along X; a clip shows how the body stands."""
    s = person.skeleton
    frames = np.tile([1.0, 0.0, 0.0, 0.0], (len(s), 1))
    frames[list(s.subtree(s.index("spine1")))] = about([0.0, 1, 0], np.pi / 2)
    offsets = rotate(conjugate(frames[np.maximum(s.parents, 0)]), s.offsets)
    odd = Skeleton(s.names, s.parents, offsets)
    alone = as_character(odd, name="x")
    assert any("not a standing pose" in n for n in alone.notes)
    poses = np.tile(s.local(frames), (5, 1, 1))
    poses[:, 0] = about([0.0, 0, 1], 0.3)
    poses[:3, person.role("left_thigh")] = about([1.0, 0, 0], -0.8)
    made = as_character(odd, name="x", poses=poses)
    assert any("rest pose was derived" in n for n in made.notes)
    assert made.front == pytest.approx(FRONT, abs=1e-6)
    at, wanted = made.skeleton.T_rest[:, :3, 3], s.T_rest[:, :3, 3]
    for a, b in (("left_thigh", "left_foot"), ("pelvis", "chest"), ("left_upper_arm", "left_hand")):
        now, then = (normalize(p[person.role(b)] - p[person.role(a)]) for p in (at, wanted))
        assert now @ then > 0.99, (a, b)
    assert -0.05 < at[:, 2].min() < 0.1


def walking_files() -> list[Path]:
    """Every CMU clip that the data's own list calls walking, but for two that mostly squat or lean over."""
    readme = real_files("README.md")
    if not readme:
        return []
    rows = re.findall(r"^\| (\S+\.(?:bvh|amc)) \| ([^|]*) \|", readme[0].read_text(), re.M)
    folder = {"bvh": "mocap/cmu_bvh", "amc": "mocap/cmu_asf_amc"}
    names = [name for name, what in rows if re.search("walk", what, re.I) and not re.search("squat|lean over", what)]
    return [readme[0].parent / folder[name[-3:]] / name for name in names]


@pytest.mark.parametrize("path", walking_files(), ids=lambda p: p.name)
def test_walking_is_within_limits(path: Path) -> None:
    clip = read_bvh(path) if path.suffix == ".bvh" else read_amc(path)
    character = clip.character
    outside = pose_excess(character.limits, clip.rotations[clip.source.lead :]) > 1e-9
    assert np.mean(~outside.any(axis=1)) >= 0.99
    limited = {p for p, j in character.roles.items() if character.limits[j] is not None}
    assert {"left_forearm", "right_hand", "left_shin", "right_foot", "chest", "neck", "left_thigh"} <= limited
    elbow = anatomy.coordinates(character, clip.rotations)["left_forearm"]
    assert np.degrees(np.abs(elbow[:, 1])).max() < 3.0  # CMU's elbows are true hinges, and the axis was found


def test_walking_would_fail_with_knees_that_bend_forwards(data: Path) -> None:
    """The check above can fail: the same clip with its knees bent the other way is out of range."""
    clip = read_bvh(data / "mocap/cmu_bvh/02_01.bvh")
    knee = clip.character.role("left_shin")
    q = np.array(clip.rotations)
    q[:, knee, 1:] *= -1.0
    limit = clip.character.limits[knee]
    assert limit is not None and np.mean(limit.contains(q[:, knee])) < 0.5


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("accad_bvh/Male1_B9_WalkToTurnLeft90.bvh", 0.99),
        ("accad_bvh/Male1_B20_WalkWithBox.bvh", 0.99),
        ("accad_bvh/Male1_A5_PickUpBox.bvh", 0.95),
        ("cmu_bvh/115_06.bvh", 0.99),  # lifts with bent knees
        ("cmu_asf_amc/127/127_29.amc", 0.99),  # ducks while running
    ],
)
def test_bending_down_and_rigs_of_other_makers_are_within_limits(data: Path, name: str, share: float) -> None:
    path = data / "mocap" / name
    clip = read_bvh(path) if path.suffix == ".bvh" else read_amc(path)
    outside = pose_excess(clip.character.limits, clip.rotations[clip.source.lead :]) > 1e-9
    assert np.mean(~outside.any(axis=1)) >= share


@pytest.mark.parametrize("swing", ["ellipse", "polygon"])
def test_the_hip_opens_further_when_it_is_flexed(person: Character, swing: str) -> None:
    limits = limits_for(person.skeleton, person.roles, FRONT, swing=swing)  # type: ignore[arg-type]
    for side, out in (("left", -1.0), ("right", 1.0)):
        limit = limits[person.role(f"{side}_thigh")]
        assert limit is not None

        def within(flexed: float, outwards: float, limit: JointLimit = limit, out: float = out) -> bool:
            a = multiply(about([1, 0, 0], np.radians(flexed)), about([0, 1, 0], np.radians(out * outwards)))
            return bool(limit.contains(multiply(limit.pre, multiply(a, limit.post))))

        assert within(90, 45) and within(115, 10) and within(0, 45)
        assert not within(90, 80) and not within(150, 0) and not within(0, 80)
        if swing == "polygon":
            assert not within(0, 62)


def test_a_joint_that_never_moves_hands_its_range_on(person: Character) -> None:
    """A spine whose lowest joint is stiff in all samples bends at the next one as far as both can."""
    rng = np.random.default_rng(2)
    poses = sample_pose(person.limits, rng, 20)
    poses[:, person.role("pelvis")] = person.skeleton.rest[person.role("pelvis")]
    free = limits_for(person.skeleton, person.roles, FRONT, recorded=True, poses=poses)
    poses[:, person.role("spine1")] = person.skeleton.rest[person.role("spine1")]
    stiff = limits_for(person.skeleton, person.roles, FRONT, recorded=True, poses=poses)
    j = person.role("spine2")
    before, after = free[j], stiff[j]
    assert before is not None and after is not None
    assert np.degrees(after.swing[1] - before.swing[1]) == pytest.approx(RANGES["spine1"].bends)


def test_a_short_collar_bone_turns_further(person: Character) -> None:
    j, arm = person.role("left_clavicle"), person.role("left_upper_arm")
    offsets = np.array(person.skeleton.offsets)
    offsets[arm] *= 0.5
    short = replace(person.skeleton, offsets=offsets)
    usual = limits_for(person.skeleton, person.roles, FRONT, recorded=True)[j]
    further = limits_for(short, person.roles, FRONT, recorded=True)[j]
    assert usual is not None and further is not None
    assert further.swing[0] > 1.3 * usual.swing[0]
