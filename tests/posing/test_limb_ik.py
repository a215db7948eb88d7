"""Analytic limb IK: exact on reachable targets for every rig, honest on others, the inverse of forward kinematics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_cases import BUILT_IN, FROM_FILES, LIMBS, character, errors, postures

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.files.asf_amc import read_amc
from elbowroom.geometry.rotations import Array, about, angle_between, multiply, normalize
from elbowroom.geometry.transforms import apply, transform
from elbowroom.posing.limb_ik import LimbIK


def check_exact(c: Character, limb: str, n: int, pose: Pose | None = None) -> None:
    """Random reachable targets at random orbits are met; the posture that made them is found again."""
    ik = LimbIK(c, limb, pose)
    root, rotations = postures(c, ik, n)
    if pose is not None:
        still = [j for j in range(1, len(c.skeleton)) if j not in ik.joints]
        rotations[:, still] = pose.rotations[still]
    T = c.skeleton.forward(root, rotations)
    parent, end, own = T[:, ik.parent], T[:, ik.joints[2]], rotations[:, list(ik.joints)]
    orbit, keep = ik.describe(parent, own)
    again = ik.solve(parent, end, orbit, keep)
    assert again.missing.max() < 1e-6 and again.within_limits.all()
    # Near full stretch half of the digits are lost in the flexion, not in the place of the end; with bones beside their
    # hinge, whose flexion and twist depend on each other, more of them.
    same = angle_between(again.rotations, own).max(axis=-1) < 1e-6
    assert same.mean() > 0.998 if ik.geometry.coupled else same.all()
    assert max(errors(c, ik, root, rotations, again.rotations, end)) < 1e-6
    anywhere = np.random.default_rng(1).uniform(-np.pi, np.pi, n)
    solved = ik.solve(parent, end, anywhere)
    # Another orbit needs another twist: bones beside their hinge then reach a little farther or less far, and so do
    # recorded elbows that were out of their plane.
    met = solved.reached
    plain = not ik.geometry.coupled and np.abs(np.asarray(keep.off_axis)).max() < 1e-9
    assert met.all() if plain else met.mean() > 0.95
    assert max(errors(c, ik, root[met], rotations[met], solved.rotations[met], end[met])) < 1e-6
    back, _ = ik.describe(parent, solved.rotations)
    assert np.abs(np.exp(1j * back) - np.exp(1j * anywhere)).max() < 1e-6


@pytest.mark.parametrize("limb", LIMBS)
@pytest.mark.parametrize("name", BUILT_IN)
def test_exact_for_built_in_people(name: str, limb: str) -> None:
    check_exact(character(name), limb, 4000)


@pytest.mark.parametrize("limb", LIMBS)
@pytest.mark.parametrize("name", FROM_FILES)
def test_exact_for_rigs_from_files(data: Path, name: str, limb: str) -> None:
    check_exact(character(name), limb, 4000)


def test_bones_beside_their_hinge() -> None:
    c = character("person")
    offsets = np.array(c.skeleton.offsets)
    offsets[c.role("right_forearm")] += [0.0, 0.03, -0.02]
    offsets[c.role("right_hand")] += [0.0, -0.02, 0.01]
    check_exact(c.with_(skeleton=replace(c.skeleton, offsets=offsets)), "right_arm", 2000)


def test_bent_joint_between_elbow_and_wrist(data: Path) -> None:
    c = character("cmu")
    between = c.skeleton.index("rwrist")
    rotations = np.array(c.skeleton.rest)
    rotations[between] = multiply(rotations[between], about([1.0, 0.3, 0.2], 0.35))
    pose = Pose.of(c.skeleton.offsets[0], rotations)
    assert LimbIK(c, "right_arm", pose).geometry.coupled
    check_exact(c, "right_arm", 2000, pose)


def test_wrist_only_swings_and_elbow_is_a_hinge() -> None:
    c = character("person")
    ik = LimbIK(c, "left_arm")
    root, rotations = postures(c, ik, 500)
    T = c.skeleton.forward(root, rotations)
    solved = ik.solve(T[:, ik.parent], T[:, ik.joints[2]], 0.6).rotations
    elbow, wrist = c.limits[ik.joints[1]], c.limits[ik.joints[2]]
    assert elbow is not None and wrist is not None
    assert np.abs(elbow.coordinates(solved[:, 1])[:, 1]).max() < 1e-9
    assert np.abs(wrist.coordinates(solved[:, 2])[:, 2]).max() < 1e-9
    # and the excess is that of the ranges themselves
    excess = np.stack([c.limits[j].excess(solved[:, k]) for k, j in enumerate(ik.joints)], -1)  # type: ignore[union-attr]
    assert np.abs(excess - ik.solve(T[:, ik.parent], T[:, ik.joints[2]], 0.6).excess).max() < 1e-9
    assert excess.max() > 0.1


@pytest.mark.parametrize("swing", ["ellipse", "polygon"])
def test_excess_of_both_kinds_of_ranges(swing: str) -> None:
    from elbowroom.character.anatomy import limits_for

    person = character("person")
    c = person.with_(limits=limits_for(person.skeleton, person.roles, person.front, swing=swing))  # type: ignore[arg-type]
    ik = LimbIK(c, "right_arm")
    root, rotations = postures(c, ik, 500)
    T = c.skeleton.forward(root, rotations)
    solved = ik.solve(T[:, ik.parent], T[:, ik.joints[2]], 2.0)
    shoulder = c.limits[ik.joints[0]]
    assert shoulder is not None and (shoulder.polygon is not None) == (swing == "polygon")
    assert np.abs(shoulder.excess(solved.rotations[:, 0]) - solved.excess[:, 0]).max() < 1e-9
    assert (solved.excess[:, 0] > 0.1).any()


@pytest.mark.parametrize("name", ["person", "gorilla"])
@pytest.mark.parametrize("limb", ["right_arm", "left_leg"])
def test_missing_distance_against_brute_force(name: str, limb: str) -> None:
    c = character(name)
    ik = LimbIK(c, limb)
    hinge = c.limits[ik.joints[1]]
    assert hinge is not None
    flexions = np.linspace(-np.pi, np.pi, 4001)
    rotations = np.tile(c.skeleton.rest, (len(flexions), 1, 1))
    rotations[:, ik.joints[1]] = hinge.rotation(np.stack([flexions, 0 * flexions, 0 * flexions], -1))
    T = c.skeleton.forward(np.tile(c.skeleton.offsets[0], (len(flexions), 1)), rotations)
    start = T[0, ik.joints[0], :3, 3]
    possible = np.linalg.norm(T[:, ik.joints[2], :3, 3] - start, axis=-1)
    rng = np.random.default_rng(3)
    away = (
        normalize(rng.normal(size=(300, 3)))
        * np.concatenate([rng.uniform(0, 1.5, 200), rng.uniform(0, 0.02, 100)])[:, None]
    )
    targets = transform(start + away, normalize(rng.normal(size=(300, 4))))
    solved = ik.solve(T[0, ik.parent], targets, rng.uniform(-1, 1, 300))
    wanted = np.linalg.norm(away, axis=-1)
    brute = np.abs(wanted[:, None] - possible).min(axis=1)
    missed = ~solved.reached
    assert 50 < missed.sum() < 250
    assert np.abs(brute - solved.missing)[missed].max() < 1e-6
    assert brute[~missed].max() < 2e-3  # between two flexions of the brute force
    assert np.array_equal(solved.gap[missed] > 0, wanted[missed] > possible.max())
    # what is told is what is missing when the posture is put on
    rotations = np.tile(c.skeleton.rest, (300, 1, 1))
    rotations[:, list(ik.joints)] = solved.rotations
    there = c.skeleton.forward(np.tile(c.skeleton.offsets[0], (300, 1)), rotations)[:, ik.joints[2], :3, 3]
    assert np.abs(np.linalg.norm(there - targets[:, :3, 3], axis=-1) - solved.missing).max() < 1e-9


def shoulder_of(c: Character, ik: LimbIK) -> tuple[Array, Array]:
    """T_world_parent (4, 4) at rest, and where the limb starts."""
    T = c.T_rest
    return T[ik.parent], T[ik.joints[0], :3, 3]


def middles(c: Character, ik: LimbIK, target: Array, orbits: Array) -> Array:
    """Where the middle joint is at these orbits, (n, 3)."""
    parent, _ = shoulder_of(c, ik)
    solved = ik.solve(parent, target, orbits).rotations
    rotations = np.tile(c.skeleton.rest, (len(orbits), 1, 1))
    rotations[:, list(ik.joints)] = solved
    return c.skeleton.forward(np.tile(c.skeleton.offsets[0], (len(orbits), 1)), rotations)[:, ik.joints[1], :3, 3]


@pytest.mark.parametrize(("limb", "outwards"), [("left_arm", 1.0), ("right_arm", -1.0)])
@pytest.mark.parametrize("at", [(0.0, -0.4, -0.1), (0.0, -0.3, 0.3), (-0.25, -0.3, -0.1), (0.0, -0.25, -0.3)])
def test_orbit_of_arms_is_lowest_at_zero_and_grows_outwards(
    limb: str, outwards: float, at: tuple[float, float, float]
) -> None:
    c = character("person")
    ik = LimbIK(c, limb)
    orbits = np.radians(np.arange(-180, 181, 5.0))
    place = shoulder_of(c, ik)[1] + np.array(at) * [outwards, 1, 1]
    elbow = middles(c, ik, transform(place), orbits)
    assert np.degrees(orbits[np.argmin(elbow[:, 2])]) == pytest.approx(0.0, abs=1e-9)
    rising = elbow[(orbits >= 0)][:, 2]
    assert np.all(np.diff(rising) > 0)
    away = outwards * elbow[:, 0]
    assert away[orbits == np.radians(60.0)] > away[orbits == 0.0] + 0.05


@pytest.mark.parametrize(("limb", "outwards"), [("left_leg", 1.0), ("right_leg", -1.0)])
def test_orbit_of_legs_is_foremost_at_zero_and_grows_outwards(limb: str, outwards: float) -> None:
    c = character("person")
    ik = LimbIK(c, limb)
    orbits = np.radians(np.arange(-180, 181, 5.0))
    place = shoulder_of(c, ik)[1] + np.array([0.0, -0.15, -0.6])
    knee = middles(c, ik, transform(place), orbits)
    assert np.degrees(orbits[np.argmin(knee[:, 1])]) == pytest.approx(0.0, abs=1e-9)
    away = outwards * knee[:, 0]
    assert away[orbits == np.radians(60.0)] > away[orbits == 0.0] + 0.1


@pytest.mark.parametrize(("left", "right"), [("left_arm", "right_arm"), ("left_leg", "right_leg")])
def test_mirrored_limbs_have_mirrored_solutions(left: str, right: str) -> None:
    c = character("person")
    a, b = LimbIK(c, left), LimbIK(c, right)
    flip = np.diag([-1.0, 1.0, 1.0, 1.0])
    rng = np.random.default_rng(5)
    start = shoulder_of(c, a)[1]
    targets = transform(start + 0.25 * rng.normal(size=(200, 3)), normalize(rng.normal(size=(200, 4))))
    orbits = rng.uniform(-1, 2.5, 200)
    one = a.solve(shoulder_of(c, a)[0], targets, orbits)
    # built-in frames are aligned with the world, so a mirrored turn is (w, x, -y, -z)
    two = b.solve(shoulder_of(c, b)[0], flip @ targets @ flip, orbits)
    assert angle_between(one.rotations * [1.0, 1.0, -1.0, -1.0], two.rotations).max() < 1e-7
    assert np.abs(one.excess - two.excess).max() < 1e-9 and np.abs(one.gap - two.gap).max() < 1e-12


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["left_arm", "right_leg"]),
    st.sampled_from([(0, 0, -1), (0, 0, 1), (0, -1, 0), (0, 1, 0), (1, 0, 0), (-1, 0, 0)]),
    st.sampled_from([0.0, 1e-300, 1e-13, 1e-7, 0.1, "full", "over"]),
    st.floats(-7.0, 7.0),
)
def test_singular_targets(limb: str, direction: tuple[int, int, int], far: float | str, orbit: float) -> None:
    """Straight, at the joint itself, along the axis from which the orbit counts: always numbers, always the truth."""
    c = character("person")
    ik = LimbIK(c, limb)
    parent, start = shoulder_of(c, ik)
    distance = {"full": ik.reach[1], "over": ik.reach[1] + 0.2}.get(far, far) if isinstance(far, str) else far
    target = transform(start + distance * np.array(direction, dtype=float))
    solved = ik.solve(parent, target, orbit)
    assert np.abs(np.linalg.norm(solved.rotations, axis=-1) - 1.0).max() < 1e-9
    rotations = np.array(c.skeleton.rest)
    rotations[list(ik.joints)] = solved.rotations
    T = c.skeleton.forward(c.skeleton.offsets[0], rotations)[ik.joints[2]]
    assert np.linalg.norm(T[:3, 3] - target[:3, 3]) == pytest.approx(float(solved.missing), abs=1e-8)
    assert np.abs(T[:3, :3] - target[:3, :3]).max() < 1e-9
    if far == "over":
        assert float(solved.gap) == pytest.approx(0.2, abs=1e-9)
    if far == 0.0:
        assert solved.gap < 0.0


def test_reach_of_the_range() -> None:
    c = character("person")
    ik = LimbIK(c, "right_arm")
    near, far = ik.reach
    start = shoulder_of(c, ik)[1]
    for distance, fits in ((near - 1e-3, False), (near + 1e-3, True), (far - 1e-3, True)):
        target = transform(start + [-distance, 0, 0])
        solved = ik.solve(shoulder_of(c, ik)[0], target)
        assert bool(solved.reached) and bool(solved.excess[1] < 1e-9) == fits
    assert far == pytest.approx(0.533, abs=2e-3)


def test_one_and_many_agree() -> None:
    c = character("person")
    ik = LimbIK(c, "right_leg")
    root, rotations = postures(c, ik, 5)
    T = c.skeleton.forward(root, rotations)
    orbits = np.array([0.1, 0.5, 2.0])
    grid = ik.solve(T[:, None, ik.parent], T[:, None, ik.joints[2]], orbits)
    assert grid.rotations.shape == (5, 3, 3, 4) and grid.gap.shape == (5, 3) and grid.excess.shape == (5, 3, 3)
    for i in range(5):
        for k in range(3):
            one = ik.solve(T[i, ik.parent], T[i, ik.joints[2]], orbits[k])
            assert one.rotations.shape == (3, 4) and one.gap.shape == ()
            assert np.array_equal(one.rotations, grid.rotations[i, k]) and one.gap == grid.gap[i, k]


def test_posture_of_a_recording_is_found_again(data: Path) -> None:
    clip = read_amc(data / "mocap/cmu_asf_amc/02/02_01.amc")
    for t in np.linspace(*clip.span, 12):
        pose = clip(float(t))
        for limb in LIMBS:
            ik = LimbIK(clip.character, limb, pose)
            T = clip.character.skeleton.at(pose)
            found = ik.solve(T[ik.parent], T[ik.joints[2]], ik.orbit_of(pose), ik.keep_of(pose))
            again = ik.posed(pose, found)
            assert angle_between(again.rotations, pose.rotations).max() < 1e-6
            assert np.abs(apply(clip.character.skeleton.at(again), np.zeros((1, 3))) - T[:, None, :3, 3]).max() < 1e-9


@pytest.mark.parametrize(
    "spoil",
    [
        lambda T: T * np.nan,
        lambda T: np.where(T[0, 3] == T, np.inf, T),
        lambda T: T * np.array([[2.0], [2.0], [2.0], [1.0]]),
        lambda T: np.diag([-1.0, 1.0, 1.0, 1.0]) @ T,
        lambda T: T[:3, :3],
    ],
)
def test_bad_transforms_are_refused(spoil: object) -> None:
    c = character("person")
    ik = LimbIK(c, "right_arm")
    T = transform([-0.4, -0.3, 1.1])
    with pytest.raises(BadValue, match="T_world_end"):
        ik.solve(c.T_rest[ik.parent], spoil(T))  # type: ignore[operator]
    with pytest.raises(BadValue, match="T_world_parent"):
        ik.solve(spoil(T), T)  # type: ignore[operator]
    with pytest.raises(BadValue, match="number 1"):
        ik.solve(c.T_rest[ik.parent], np.stack([T, T * np.nan]))
    with pytest.raises(BadValue, match="orbit"):
        ik.solve(c.T_rest[ik.parent], T, np.nan)


def test_limbs_that_are_none_are_refused() -> None:
    c = character("person")
    with pytest.raises(UnknownName, match="right_arm"):
        LimbIK(c, "right_wing")
    with pytest.raises(BadValue, match="not an arm or leg"):
        LimbIK(c, next(name for name, chain in c.chains.items() if chain.kind not in ("arm", "leg")))
    with pytest.raises(BadValue, match="needs a range"):
        LimbIK(c.with_(limits=()), "right_arm")
