"""What a gait laboratory would measure on a clip: contacts from the skin alone, angles from the joints alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.motion.clip import Clip

TOUCH = 0.0025  # metres: skin lower than this touches the floor


def lowest(clip: Clip, side: str) -> np.ndarray:
    """Height of the lowest skin point of a foot at every frame, (T,)."""
    character = clip.character
    parts = [character.roles[f"{side}_{part}"] for part in ("foot", "toes") if f"{side}_{part}" in character.roles]
    mine = np.flatnonzero(np.isin(character.skin.owner, parts))
    skin, T = character.skin, clip.world()
    # only vertices of the sole can be lowest: those in the lower half of the foot at rest
    rest = skin.posed(character.skeleton.T_rest)
    mine = mine[rest[mine, 2] < 0.06]
    v = np.concatenate([skin.vertices[mine], np.ones((len(mine), 1))], axis=1)
    heights = np.zeros((len(clip), len(mine)))
    for k in range(skin.joints.shape[1]):
        rows = (T @ skin.inverse_bind)[:, skin.joints[mine, k], 2]  # (T, V, 4)
        heights += skin.weights[mine, k] * np.einsum("tvi,vi->tv", rows, v)
    return heights.min(axis=1)


def stretches(mask: np.ndarray) -> list[slice]:
    """Runs of true values that neither start at the first nor end at the last frame."""
    edges = np.flatnonzero(np.diff(mask.astype(int)))
    starts, ends = edges[~mask[edges]] + 1, edges[mask[edges]] + 1
    return [slice(a, ends[ends > a][0]) for a in starts if np.any(ends > a)]


def knee(clip: Clip, side: str) -> np.ndarray:
    """Knee flexion in degrees, (T,)."""
    limit = clip.character.limits[clip.character.role(f"{side}_shin")]
    return np.degrees(limit.coordinates(clip.rotations[:, clip.character.role(f"{side}_shin")])[:, 0])


def flexion(clip: Clip, role: str) -> np.ndarray:
    """Turn about the left-right axis in degrees, forwards or upwards positive, (T,), of hip or ankle."""
    return -np.degrees(rot.log(clip.rotations[:, clip.character.role(role)])[:, 0])


@dataclass
class Step:
    """One stance of a foot: frames of first contact and toe-off, and where the ankle stood flat (2,)."""

    side: str
    contact: int
    leave: int
    place: np.ndarray


def steps(clip: Clip) -> list[Step]:
    """Whole stances of both feet in order of time."""
    found = []
    for side in ("left", "right"):
        ankle = clip.positions()[:, clip.character.role(f"{side}_foot")]
        for run in stretches(lowest(clip, side) < TOUCH):
            if run.stop - run.start > 0.1 * clip.fps:
                third = slice(run.start + (run.stop - run.start) // 3, run.start + (run.stop - run.start) // 2)
                found.append(Step(side, run.start, run.stop - 1, np.median(ankle[third, :2], axis=0)))
    return sorted(found, key=lambda s: s.contact)


def flat_drift(clip: Clip, role: str, tilt: float = 0.4) -> float:
    """Largest way (m) that a joint wanders on the floor while its segment lies flat (within `tilt` degrees)."""
    character = clip.character
    j = character.role(role)
    T = clip.world()[:, j]
    up = T[:, :3, :3] @ (character.skeleton.T_rest[j, :3, :3].T @ np.array([0.0, 0.0, 1.0]))
    flat = np.degrees(np.arccos(np.clip(up[:, 2], -1, 1))) < tilt
    flat &= T[:, 2, 3] < T[flat, 2, 3].min() + 0.002
    spans = [np.ptp(T[run, :2, 3], axis=0) for run in stretches(flat) if run.stop - run.start > 2]
    assert spans, f"{role} is never flat on the floor"
    return float(np.max(np.hypot(*np.transpose(spans))))


def jolt(clip: Clip) -> float:
    """Largest angular acceleration of any joint, rad/s²."""
    q = clip.rotations
    velocity = rot.log(rot.multiply(rot.conjugate(q[:-1]), q[1:])) * clip.fps
    return float(np.linalg.norm(np.diff(velocity, axis=0), axis=-1).max() * clip.fps)


def circle(points: np.ndarray) -> float:
    """Radius of the circle nearest to points (N, 2)."""
    A = np.concatenate([2 * points, np.ones((len(points), 1))], axis=1)
    x, y, c = np.linalg.lstsq(A, np.sum(points**2, axis=1), rcond=None)[0]
    return float(np.sqrt(c + x * x + y * y))
