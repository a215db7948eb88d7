"""Single frames in which a recorded body leaps and is back in the next: faults of the capture, not motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip

# A frame is a jolt if its trunk is this far (metres) from the middle of its neighbours, and farther than what
# an acceleration of a person (m/s²) makes of it.
_LEAP, _ACCELERATION = 0.006, 40.0
# Parts that show it: the hips and what they carry on both sides.
_PARTS = ("pelvis", "left_thigh", "right_thigh")


def jolts(clip: Clip) -> NDArray[np.intp]:
    """Frames in which hips leap away from where both neighbouring frames have them."""
    parts = [clip.character.roles[r] for r in _PARTS if r in clip.character.roles] or [0]
    off = _off_neighbours(clip.positions()[:, parts]).max(axis=1)
    off[: clip.source.lead + 1] = 0.0
    threshold = max(_LEAP * _size(clip.character), 0.5 * _ACCELERATION / clip.fps**2)
    # The frames beside a leap are off by half of it, too.
    highest = off > 1.5 * np.maximum(np.roll(off, 1), np.roll(off, -1))
    return np.flatnonzero((off > threshold) & highest)


def without_jolts(clip: Clip) -> tuple[Clip, int]:
    """Clip with such frames interpolated between their neighbours, and their number."""
    found = jolts(clip)
    if not len(found):
        return clip, 0
    root, q = np.array(clip.root), np.array(clip.rotations)
    root[found] = 0.5 * (root[found - 1] + root[found + 1])
    q[found] = rot.slerp(q[found - 1], q[found + 1], 0.5)
    return clip.with_(root=root, rotations=q), len(found)


def _off_neighbours(p: Array) -> Array:
    """Distance (T, P) of points (T, P, 3) from the middle of where they are one frame before and after."""
    out = np.zeros(p.shape[:2])
    out[1:-1] = np.linalg.norm(p[1:-1] - 0.5 * (p[:-2] + p[2:]), axis=-1)
    return out


def _size(character: Character) -> float:
    """Height of the joints in the rest pose relative to an adult's."""
    z = character.skeleton.T_rest[:, 2, 3]
    return float(np.ptp(z)) / 1.7
