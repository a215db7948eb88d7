"""Balance: the centre of mass agrees with dynamics, the margin with the polygon under the soles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reach_cases import standing

from elbowroom.character.body import Character
from elbowroom.character.dynamics import Dynamics
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array, about, multiply
from elbowroom.posing.balance import (
    balance_margin,
    contact_points,
    feet_of,
    hull_of,
    margin_inside,
)


def support_polygon(body: Character, pose: Pose) -> Array:
    """Corners (K, 2) of the ground under the feet, counterclockwise."""
    return hull_of(contact_points(body, body.skeleton.at(pose)))


def inside(polygon: Array, point: Array) -> float:
    """Signed distance of a point to a convex polygon, counterclockwise, worked out edge by edge."""
    ends = np.roll(polygon, -1, axis=0)
    edge = ends - polygon
    length = np.linalg.norm(edge, axis=1)
    off = (edge[:, 0] * (point[1] - polygon[:, 1]) - edge[:, 1] * (point[0] - polygon[:, 0])) / length
    if off.min() >= 0.0:
        return float(off.min())
    along = np.clip(np.sum((point - polygon) * edge, axis=1) / length**2, 0.0, 1.0)
    return -float(np.linalg.norm(polygon + along[:, None] * edge - point, axis=1).min())


@pytest.mark.parametrize("name", ["person", "child", "gorilla"])
def test_center_of_mass_is_that_of_dynamics(name: str) -> None:
    body, pose = standing(name)
    dynamics = Dynamics(body)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q = np.array([multiply(p, about(rng.normal(size=3), 0.3 * rng.random())) for p in pose.rotations])
        moved = Pose.of(rng.normal(size=3), q)
        assert np.allclose(center_of_mass(body, body.skeleton.at(moved)), dynamics.com(moved), atol=1e-9)


def test_the_margin_is_the_distance_to_the_polygon() -> None:
    body, pose = standing("person")
    polygon = support_polygon(body, pose)
    T = body.skeleton.at(pose)
    assert balance_margin(body, pose) == pytest.approx(inside(polygon, center_of_mass(body, T)[:2]), abs=2e-3)
    rng = np.random.default_rng(1)
    places = rng.uniform(-0.3, 0.3, (200, 2))
    found = margin_inside(contact_points(body, T)[None], places)
    wanted = np.array([inside(polygon, p) for p in places])
    assert np.abs(found - wanted).max() < 2e-3
    assert (wanted > 0.02).any() and (wanted < -0.02).any()


def test_soles_are_as_large_as_feet() -> None:
    body, pose = standing("person")
    T = body.skeleton.at(pose)
    for sole in feet_of(body):
        outline = np.concatenate([sole.outline, sole.toe_outline + body.skeleton.offsets[sole.toes]])
        length = np.ptp(outline @ (T[sole.foot, :3, :3].T @ [0.0, 1.0, 0.0]))
        assert 0.13 < length / 1.70 < 0.17  # feet are about 0.15 of stature
    polygon = support_polygon(body, pose)
    width = np.ptp(polygon[:, 0])
    apart = T[body.role("left_foot"), 0, 3] - T[body.role("right_foot"), 0, 3]
    assert apart + 0.05 < width < apart + 0.14


def test_leaning_out_loses_the_margin_and_one_foot_has_less() -> None:
    body, pose = standing("person")
    leaning = np.array(pose.rotations)
    leaning[0] = multiply(about([1.0, 0.0, 0.0], 0.3), leaning[0])
    over = Pose.of(pose.root + [0.0, -0.25, 0.0], leaning)
    held = np.array(body.skeleton.at(pose))
    points = contact_points(body, held)
    com = center_of_mass(body, body.skeleton.at(over))
    assert margin_inside(points, com[:2]) < 0.0 < balance_margin(body, pose)
    raised = np.array(pose.rotations)
    raised[body.role("left_thigh")] = multiply(about([1.0, 0.0, 0.0], -0.9), raised[body.role("left_thigh")])
    one_foot = Pose.of(pose.root, raised)
    assert balance_margin(body, one_foot) < balance_margin(body, pose) - 0.03
    assert np.ptp(support_polygon(body, one_foot)[:, 0]) < 0.5 * np.ptp(support_polygon(body, pose)[:, 0])


def test_in_the_air_there_is_no_support() -> None:
    body, pose = standing("person")
    above = Pose.of(pose.root + [0.0, 0.0, 0.5], pose.rotations)
    assert balance_margin(body, above) == -np.inf and len(support_polygon(body, above)) == 0
    assert balance_margin(body, above, floor=0.5) == pytest.approx(balance_margin(body, pose))


def test_without_masses_or_feet() -> None:
    body, pose = standing("person")
    with pytest.raises(BadValue):
        center_of_mass(replace(body, masses=None), body.skeleton.at(pose))
    footless = body.with_(roles={r: j for r, j in body.roles.items() if "foot" not in r})
    assert feet_of(footless) == () and balance_margin(footless, pose) == -np.inf
