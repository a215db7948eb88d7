"""Toes that stay above the floor: they bend up at the ball, as those of people do."""

from __future__ import annotations

import numpy as np
import scipy

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import UP, Array
from elbowroom.geometry.transforms import apply
from elbowroom.motion.clip import Clip
from elbowroom.motion.soles import soles

# Largest angle between toes that are bent up and the sole, radians, and seconds before and after over which they are.
_MOST_BENT, _SOFT_S = 1.0, 0.033


def toes_above(clip: Clip, floor: float) -> Clip:
    """The clip with toes bent up at the ball wherever they would be below the floor, as those of people are."""
    T, q = clip.world(), np.array(clip.rotations)
    for sole in (sole for sole in soles(clip.character) if sole.toes >= 0):
        T_toes = T[:, sole.toes]
        turn = rot.multiply(rot.from_matrix(T_toes[:, :3, :3]), rot.conjugate(sole.toes_flat))
        ahead, across = rot.rotate(turn, sole.ahead), rot.rotate(turn, np.cross(sole.ahead, UP))
        up = np.cross(across, ahead)
        points = apply(T_toes, sole.toe_outline) - T_toes[:, None, :3, 3]
        a, b, c = (np.einsum("tki,ti->tk", points, axis) for axis in (ahead, up, across))
        # height of a point, once bent by an angle: lift sin(angle + phase) + beside
        level, rise = (a * ahead[:, None, 2] + b * up[:, None, 2], a * up[:, None, 2] - b * ahead[:, None, 2])
        lift, phase, beside = np.hypot(level, rise), np.arctan2(level, rise), c * across[:, None, 2]
        wanted = (floor - T_toes[:, None, 2, 3] - beside) / np.maximum(lift, 1e-9)
        foot = rot.rotate(rot.multiply(rot.from_matrix(T[:, sole.foot, :3, :3]), rot.conjugate(sole.flat)), sole.ahead)
        bent = np.arctan2(np.einsum("ti,ti->t", np.cross(foot, ahead), across), np.einsum("ti,ti->t", foot, ahead))
        left = np.where(np.arange(len(T)) < clip.source.lead, 0.0, np.maximum(_MOST_BENT - bent, 0.0))
        angle = (np.arcsin(np.clip(wanted, -1.0, 1.0)) - phase).max(axis=1).clip(0.0, left)
        if angle.any():
            soft = np.minimum(softened(angle, clip.fps), left)
            parent = rot.from_matrix(T[:, clip.character.parents[sole.toes], :3, :3])
            turned = rot.multiply(rot.about(across, soft), rot.from_matrix(T_toes[:, :3, :3]))
            q[:, sole.toes] = np.where(
                soft[:, None] > 0.0, rot.multiply(rot.conjugate(parent), turned), q[:, sole.toes]
            )
    return clip.with_(rotations=rot.continuous(q))


def soft_frames(fps: float) -> int:
    """Frames before and after over which feet and toes give way to the floor."""
    return max(round(_SOFT_S * fps), 1)


def softened(needed: Array, fps: float) -> Array:
    """Amounts (T,) that change softly in time and are nowhere less than those that are needed."""
    soft = soft_frames(fps)
    most = scipy.ndimage.maximum_filter1d(needed, 2 * soft + 1)
    return np.asarray(scipy.ndimage.gaussian_filter1d(most, 0.5 * soft, radius=soft, mode="nearest"))
