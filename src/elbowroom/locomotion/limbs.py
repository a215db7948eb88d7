"""Limbs of two bones with a hinge between them, solved for many frames at once.

Unlike `motion.legs`, which swings a limb from its present posture, the result depends on the target alone, and
the hinge stays a hinge: the limb's plane is given by the direction of its hinge axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import hinge as kernels
from elbowroom.kernels.turns import Vector


class Hinged(NamedTuple):
    """World rotation of the upper bone (N, 4), and rotation of the hinge from the standing figure (N,)."""

    upper: Array
    bend: Array


@dataclass(frozen=True, eq=False)
class TwoBoneLimb:
    """Upper and lower bone (3,) of the standing figure, unit hinge axis (3,) about which a positive rotation bends the
    limb.
    """

    upper: Array
    lower: Array
    axis: Array

    def length(self, flexion: ArrayLike) -> Array:
        """Distance from root to end at a flexion from straight (radians, any shape)."""
        constant, size = kernels.squared_distance(*self._in_hinge_frame)
        return np.sqrt(constant + size * np.cos(np.asarray(flexion, dtype=float)))

    def flexion(self, distance: ArrayLike) -> Array:
        """Flexion from straight at which the end is that far from the root; the nearest possible where none is."""
        constant, size = kernels.squared_distance(*self._in_hinge_frame)
        wanted = (np.asarray(distance, dtype=float) ** 2 - constant) / size
        return np.arccos(np.clip(wanted, -1.0, 1.0))

    def solve(self, reach: Array, axis: Array, least: float = 0.0) -> Hinged:
        """Rotate the limb so that its end is at `reach` (N, 3) from its root and its hinge points along `axis` (N, 3).

        `least` is the smallest flexion (radians): a target beyond it is approached along the line to it.
        """
        upper, lower = self._in_hinge_frame
        ends, axes = np.array(reach, dtype=float, order="C"), np.array(axis, dtype=float, order="C")
        turns, bend = np.empty((len(ends), 4)), np.empty(len(ends))
        kernels.turn_to(upper, lower, ends, axes, least, turns, bend)
        return Hinged(rot.multiply(turns, rot.conjugate(self._frame)), bend)

    @cached_property
    def _frame(self) -> Array:
        """The hinge frame as a rotation (4,): its x is the hinge's axis."""
        return rot.arc([1.0, 0.0, 0.0], self.axis)

    @cached_property
    def _in_hinge_frame(self) -> tuple[Vector, Vector]:
        """Both bones in the hinge frame."""
        upper, lower = rot.rotate(rot.conjugate(self._frame), np.stack([self.upper, self.lower])).tolist()
        return tuple(upper), tuple(lower)


def twist_about(q: Array, bone: Array) -> Array:
    """The part of rotations (N, 4) about a bone (3,): q = twist * swing, with the swing across the bone."""
    axis = rot.normalize(bone)
    half = np.arctan2(q[:, 1:] @ axis, q[:, 0])
    return rot.about(axis, 2.0 * half)
