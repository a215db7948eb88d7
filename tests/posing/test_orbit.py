"""Orbit search: a handful of tests, limits and collisions alike; the coupling of wrist and elbow comes of it."""

from __future__ import annotations

from dataclasses import replace
from math import cos, radians, sin

import numpy as np
import pytest
from limb_cases import character, postures

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import still_clip
from elbowroom.posing.limb_ik import EASY_ORBIT, LimbIK
from elbowroom.posing.orbit import PAPER, Orbit, OrbitRange, search_orbit, search_orbits
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import Snapshot, World


def hand(place: Array, fingers: Array, palm: Array) -> Array:
    """Right hand (4, 4) with fingers and palm facing these unit directions."""
    # at rest the right hand's fingers point to -X and its palm to -Z
    T = transform(place)
    T[:3, :3] = np.stack([-fingers, np.cross(palm, fingers), -palm], axis=-1)
    return T


def palm_down(place: Array, tilt: float) -> Array:
    """Right hand (4, 4) with its fingers to the front, tipped down by an angle (radians); at 0 the palm faces down."""
    return hand(place, np.array([0.0, -cos(tilt), -sin(tilt)]), np.array([0.0, sin(tilt), -cos(tilt)]))


def wide_wrist(c: Character) -> Character:
    """The same person with a right wrist that bends any way."""
    limits = list(c.limits)
    hand = c.role("right_hand")
    assert limits[hand] is not None
    limits[hand] = replace(limits[hand], swing=(3.1, 3.1, 3.1, 3.1))  # type: ignore[type-var]
    return c.with_(limits=tuple(limits))


def elbow_height(c: Character, ik: LimbIK, found: Orbit) -> float:
    """Height of the elbow in the posture found."""
    return float(c.skeleton.at(ik.posed(c.skeleton.rest_pose, found.solution))[ik.joints[1], 2, 3])


def test_elbow_rises_as_the_wrist_turns_down() -> None:
    c = character("person")
    ik, wide = LimbIK(c, "right_arm"), LimbIK(wide_wrist(c), "right_arm")
    parent = c.T_rest[ik.parent]
    place = c.T_rest[ik.joints[0], :3, 3] + [-0.05, -0.35, -0.25]
    tilts = np.radians([0.0, 20.0, 40.0, 60.0, 80.0, 90.0, 100.0])
    found = [search_orbit(ik, parent, palm_down(place, t)) for t in tilts]
    assert all(f.found for f in found)
    heights = [elbow_height(c, ik, f) for f in found]
    assert found[0].angle == EASY_ORBIT and found[0].tests == 1
    assert np.all(np.diff(heights) >= 0.0) and heights[-1] > heights[0] + 0.1
    for tilt in tilts:
        other = search_orbit(wide, parent, palm_down(place, tilt))
        assert other.found and other.angle == EASY_ORBIT


def test_angles_go_out_both_ways_with_growing_steps() -> None:
    angles = np.degrees(PAPER.angles(EASY_ORBIT))
    assert angles[:4] == pytest.approx([20.0, 30.0, 10.0, 43.0])
    assert angles.max() == pytest.approx(130.0) and angles.min() == pytest.approx(-15.0)
    assert len(angles) <= 10 and len(np.unique(angles)) == len(angles)
    assert np.all(np.diff(np.diff(np.sort(angles[angles >= 20.0]))[:-1]) > -1e-9)
    # a posture with another angle is where the search begins, and the way back into the range is open
    far = np.degrees(PAPER.angles(radians(-160.0)))
    assert far[0] == pytest.approx(-160.0) and far.min() == far[0] and far.max() == pytest.approx(130.0)


def test_collisions_and_limits_are_one_test() -> None:
    c = character("person")
    ik = LimbIK(c, "right_arm")
    parent = c.T_rest[ik.parent]
    place = c.T_rest[ik.joints[0], :3, 3] + [0.3, -0.28, -0.1]
    target = hand(place, np.array([0.8, -0.6, 0.0]), np.array([0.0, 0.0, -1.0]))
    seen: list[Array] = []

    def clear(rotations: Array) -> bool:
        """The elbow stays above a table."""
        seen.append(rotations)
        full = np.array(c.skeleton.rest)
        full[list(ik.joints)] = rotations
        at = c.skeleton.forward(c.skeleton.offsets[0], full)[ik.joints[1], :3, 3]
        return bool(at[2] > target[2, 3] + 0.02)

    free = search_orbit(ik, parent, target)
    found = search_orbit(ik, parent, target, valid=clear)
    assert free.found and found.found and found.angle > free.angle
    assert clear(found.solution.rotations) and not clear(free.solution.rotations)
    assert all(ik.solve(parent, target, a).within_limits for a in (free.angle, found.angle))
    limits = [c.limits[j] for j in ik.joints]
    assert all(limit.contains(q) for row in seen for limit, q in zip(limits, row, strict=True) if limit is not None)
    assert len(seen) <= 12
    assert search_orbit(ik, parent, target, valid=lambda _: False).status == "blocked"


def test_the_elbow_leaves_the_body() -> None:
    """The hand in front of the chest: at 20 degrees the forearm is in the ribs, a higher elbow frees it."""
    c = character("person")
    ik = LimbIK(c, "right_arm")
    pose = c.skeleton.rest_pose
    exact = ExactWorld(World(characters={"me": still_clip(c)}, floor=None))

    def clear(rotations: Array) -> bool:
        full = np.array(pose.rotations)
        full[list(ik.joints)] = rotations
        T = c.skeleton.forward(pose.root, full)
        return exact.place_snapshot(Snapshot(0.0, {"me": T}, {})).free()

    place = c.T_rest[ik.joints[0], :3, 3] + [0.2, -0.2, -0.15]
    target = hand(place, normalize([1.0, -0.3, 0.0]), normalize([0.3, 1.0, 0.0]))
    low = search_orbit(ik, c.T_rest[ik.parent], target)
    high = search_orbit(ik, c.T_rest[ik.parent], target, valid=clear)
    assert low.found and low.angle == EASY_ORBIT and not clear(low.solution.rotations)
    assert high.found and high.angle > low.angle and clear(high.solution.rotations)
    assert elbow_height(c, ik, high) > elbow_height(c, ik, low) + 0.01
    assert high.tests <= 10


def test_what_fails_says_why() -> None:
    c = character("person")
    ik = LimbIK(c, "right_arm")
    parent, start = c.T_rest[ik.parent], c.T_rest[ik.joints[0], :3, 3]
    far = search_orbit(ik, parent, transform(start + [0.0, -1.0, 0.0]))
    assert far.status == "out of reach" and far.tests == 1
    assert float(far.solution.missing) == pytest.approx(1.0 - ik.reach[1], abs=1e-9)
    # fingers back at the shoulder, palm up
    twisted = palm_down(start + [0.05, -0.35, 0.1], radians(200.0))
    refused = search_orbit(ik, parent, twisted)
    assert refused.status == "limits" and not refused.found and refused.tests == len(PAPER.angles(EASY_ORBIT))
    assert refused.solution.excess.max() > 0.1
    every = ik.solve(parent, twisted, PAPER.angles(EASY_ORBIT)).excess.max(axis=-1)
    assert refused.solution.excess.max() == pytest.approx(every.min())
    assert search_orbit(ik, parent, twisted, limits=False).angle == EASY_ORBIT


@pytest.mark.parametrize("limb", ["left_arm", "right_leg"])
def test_batch_agrees_with_single_and_misses_little(limb: str) -> None:
    c = character("person")
    ik = LimbIK(c, limb)
    root, rotations = postures(c, ik, 2000)
    T = c.skeleton.forward(root, rotations)
    parents, ends = T[:, ik.parent], T[:, ik.joints[2]]
    many = search_orbits(ik, parents, ends)
    for i in range(0, 2000, 50):
        one = search_orbit(ik, parents[i], ends[i])
        assert one.found == many.found[i] and one.tests == many.tests[i]
        assert one.angle == pytest.approx(many.angle[i]) and np.allclose(
            one.solution.rotations, many.solution.rotations[i]
        )
    assert many.solution.within_limits[many.found].all()
    assert many.tests.max() <= 10
    # angle by angle: what a fine search finds in the same range
    fine = ik.solve(parents[:, None], ends[:, None], np.radians(np.arange(-15.0, 131.0, 2.0)))
    exists = fine.within_limits.any(axis=1)
    assert exists.mean() > 0.4 and (many.found & exists).sum() > 0.93 * exists.sum()
    # from the posture's own angle the first test does
    orbit, keep = ik.describe(parents, rotations[:, list(ik.joints)])
    forwards = ~np.asarray(keep.backwards)
    own = search_orbits(ik, parents[forwards], ends[forwards], start=orbit[forwards])
    assert own.found.all() and (own.tests == 1).all()


NO_RANGES: tuple[dict[str, float], ...] = (
    *({"step": 0.0}, {"growth": 0.5}, {"low": 1.0, "high": 0.0}),
    *({"step": np.nan}, {"high": np.nan}, {"step": 1e-9, "growth": 1.0}),
)


@pytest.mark.parametrize("wrong", NO_RANGES)
def test_ranges_that_are_none(wrong: dict[str, float]) -> None:
    with pytest.raises(BadValue, match="orbit"):
        OrbitRange(**wrong)


def test_a_start_that_is_no_number() -> None:
    c = character("person")
    ik = LimbIK(c, "right_arm")
    with pytest.raises(BadValue, match="start"):
        search_orbit(ik, c.T_rest[ik.parent], c.T_rest[ik.joints[2]], start=float("nan"))
