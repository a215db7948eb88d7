"""Postures and targets that the tests of reaching share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from limb_cases import character

from elbowroom.character.body import Character
from elbowroom.character.limits import pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, about, angle_between, from_matrix, multiply, to_matrix
from elbowroom.locomotion.standing import idle
from elbowroom.posing.balance import balance_margin
from elbowroom.posing.reach import Reached

# Where the right wrist is to be, for a person of 1.65 m who stands at the origin and faces -Y, and how far the fingers
# point down and to the right (degrees).
TARGETS: dict[str, tuple[tuple[float, float, float], float, float]] = {
    "low shelf": ((-0.15, -0.5, 0.3), 40, 0),
    "half a metre": ((-0.15, -0.5, 0.5), 25, 0),
    "knee": ((-0.2, -0.45, 0.65), 20, 0),
    "waist": ((-0.2, -0.45, 0.95), 0, 0),
    "chest": ((-0.15, -0.5, 1.25), 0, 0),
    "head": ((-0.15, -0.45, 1.6), -20, 0),
    "above": ((-0.15, -0.3, 1.85), -50, 0),
    "across": ((0.45, -0.4, 1.05), 0, -50),
    "behind": ((-0.45, 0.45, 1.0), 0, 140),
}


@lru_cache
def standing(name: str) -> tuple[Character, Pose]:
    """A character and how it stands at ease."""
    body = character(name)
    clip = idle(body, 0.1, 30.0)
    return body, Pose.of(clip.root[0], clip.rotations[0])


def size(name: str) -> float:
    """Height of a character against that of the targets' person, by its shoulders."""
    body, pose = standing(name)
    return float(body.skeleton.at(pose)[body.role("right_upper_arm"), 2, 3]) / 1.35


def target(body: Character, place: tuple[float, float, float], down: float, right: float, scale: float = 1.0) -> Array:
    """A right hand's place with the thumb up."""
    x, y, z = np.eye(3)
    turn = multiply(about(y, -np.pi / 2), about(z, np.pi / 2))
    turn = multiply(about(z, -np.radians(right)), multiply(about(x, np.radians(down)), turn))
    T = np.eye(4)
    T[:3, :3] = to_matrix(turn) @ body.T_rest[body.role("right_hand"), :3, :3]
    T[:3, 3] = scale * np.asarray(place)
    return T


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
