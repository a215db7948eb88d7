"""Limbs of two bones with a true hinge between them, solved for whole runs of frames.

Unlike `geometry.two_bone`, which swings a limb from where it is, the answer here depends on the target alone, and
the hinge stays a hinge: the limb's plane is given by the direction of its hinge axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array


class Hinged(NamedTuple):
    """World turn of the upper bone (N, 4), turn of the hinge from how the limb stands (N,), missing reach (N,), m."""

    upper: Array
    bend: Array
    missing: Array


class Limb(NamedTuple):
    """Upper and lower bone (3,) as they stand, unit hinge axis (3,) about which a positive turn bends the limb."""

    upper: Array
    lower: Array
    axis: Array

    def length(self, flexion: ArrayLike) -> Array:
        """Distance from root to end at a flexion from straight (radians, any shape)."""
        constant, size, _ = self._terms
        return np.sqrt(constant + size * np.cos(np.asarray(flexion, dtype=float)))

    def flexion(self, distance: ArrayLike) -> Array:
        """Flexion from straight at which the end is that far from the root; the nearest possible where none is."""
        constant, size, _ = self._terms
        wanted = (np.asarray(distance, dtype=float) ** 2 - constant) / size
        return np.arccos(np.clip(wanted, -1.0, 1.0))

    @property
    def _terms(self) -> tuple[float, float, float]:
        """Squared length = constant + size cos(flexion); the limb as it stands is bent by `-straight` already."""
        a, b, k = self.upper, self.lower, self.axis
        along = float(a @ k) * float(b @ k)
        cosine, sine = 2.0 * (float(a @ b) - along), 2.0 * float(a @ np.cross(k, b))
        return float(a @ a + b @ b) + 2.0 * along, float(np.hypot(cosine, sine)), float(np.arctan2(sine, cosine))

    def solve(self, reach: Array, axis: Array, least: float = 0.0) -> Hinged:
        """Turn the limb so that its end is at `reach` (N, 3) from its root and its hinge points along `axis` (N, 3).

        `least` is the smallest flexion (radians): a target beyond it is approached along the line to it.
        """
        distance = np.linalg.norm(reach, axis=-1)
        flexion = np.maximum(self.flexion(distance), least)
        bend = flexion + self._terms[2]
        b = rot.rotate(rot.about(self.axis, bend), self.lower)
        upper = between(self.upper + b, np.broadcast_to(self.axis, reach.shape), reach, axis)
        return Hinged(upper, bend, np.abs(distance - self.length(flexion)))


def between(line: Array, side: Array, new_line: Array, new_side: Array) -> Array:
    """Turns (N, 4) that take one direction to another exactly and a second one as near as it can get."""
    return rot.from_matrix(_frame(new_line, new_side) @ np.swapaxes(_frame(line, side), -1, -2))


def _frame(line: Array, side: Array) -> Array:
    z = rot.normalize(line)
    x = rot.normalize(side - np.sum(side * z, axis=-1, keepdims=True) * z)
    return np.stack([x, np.cross(z, x), z], axis=-1)


def twist_about(q: Array, bone: Array) -> Array:
    """The part of rotations (N, 4) that turns about a bone (3,): q = twist * swing, with the swing across the bone."""
    axis = rot.normalize(bone)
    half = np.arctan2(q[:, 1:] @ axis, q[:, 0])
    return rot.about(axis, 2.0 * half)
