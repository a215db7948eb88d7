"""Postures between two: the ends are met, balls of the feet stay, heels turn about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from limb_cases import FROM_FILES
from reach_cases import TARGETS, size, standing, target

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array, angle_between
from elbowroom.posing.balance import balance_margin
from elbowroom.posing.reach import reach
from elbowroom.posing.stance import between

SHARES = smoothstep(np.linspace(0.0, 1.0, 31))


def reached(name: str, key: str) -> Pose:
    body, pose = standing(name)
    place, down, right = TARGETS[key]
    return reach(body, pose, "right", target(body, place, down, right, size(name))).pose


def slide(body: Character, T: Array) -> float:
    """How far the balls of the feet move over frames (T, J, 4, 4), metres."""
    still = [body.roles.get(f"{side}_toes", body.role(f"{side}_foot")) for side in ("left", "right")]
    return float(np.abs(T[:, still, :3, 3] - T[:1, still, :3, 3]).max())


@pytest.mark.parametrize("name", ["person", "child", "gorilla"])
@pytest.mark.parametrize(("a", "b"), [("", "low shelf"), ("low shelf", "above"), ("", "behind"), ("across", "waist")])
def test_feet_stay_on_the_way(name: str, a: str, b: str) -> None:
    body, pose = standing(name)
    start, end = (reached(name, key) if key else pose for key in (a, b))
    roots, rotations = between(body, start, end, SHARES)
    T = body.skeleton.forward(roots, rotations)
    assert slide(body, T) < 1e-6
    assert np.abs(T[0] - body.skeleton.at(start)).max() < 1e-6
    assert np.abs(T[-1] - body.skeleton.at(end)).max() < 1e-6
    # no joint jumps, and the body does not bob
    assert angle_between(rotations[1:], rotations[:-1]).max() < np.radians(12.0)
    assert np.linalg.norm(np.diff(roots, axis=0), axis=-1).max() < 0.08 * size(name)
    toes = [body.role(f"{side}_toes") for side in ("left", "right")]
    assert np.abs(T[:, toes, :3, :3] - T[:1, toes, :3, :3]).max() < 1e-6


@pytest.mark.parametrize("name", FROM_FILES)
def test_feet_of_rigs_from_files_stay(data: Path, name: str) -> None:
    body, pose = standing(name)
    for key in ("low shelf", "above"):
        end = reached(name, key)
        roots, rotations = between(body, pose, end, SHARES)
        T = body.skeleton.forward(roots, rotations)
        assert slide(body, T) < 1e-3
        assert np.abs(T[-1] - body.skeleton.at(end)).max() < 1e-3


def test_the_way_is_balanced() -> None:
    body, pose = standing("person")
    end = reached("person", "half a metre")
    roots, rotations = between(body, pose, end, np.linspace(0.0, 1.0, 9))
    for root, q in zip(roots, rotations, strict=True):
        assert balance_margin(body, Pose.of(root, q)) > 0.02


def test_without_legs_it_is_plain_interpolation() -> None:
    body, pose = standing("person")
    bare = body.with_(chains={k: v for k, v in body.chains.items() if "leg" not in k})
    end = reached("person", "waist")
    roots, rotations = between(bare, pose, end, [0.5])
    assert np.allclose(roots[0], 0.5 * (pose.root + end.root))
    assert rotations.shape == (1, len(body.skeleton), 4)


@pytest.mark.parametrize("s", [[-0.1], [1.1], [np.nan], 0.5, [[0.5]]])
def test_bad_shares(s: object) -> None:
    body, pose = standing("person")
    with pytest.raises(BadValue):
        between(body, pose, pose, s)  # type: ignore[arg-type]
