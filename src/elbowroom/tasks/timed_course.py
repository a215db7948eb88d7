"""How an arm goes from what a motion does to a target and back, when body and target both move.

The way is a fade between two motions of the arm: that of the base, and one that has the hand at the target in every
frame. At both ends of the fade posture and velocity are those of the one or the other: the hand leaves a swinging arm
without a jerk, and rests against a target that passes by.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.limits import JointLimit, clamp_pose
from elbowroom.character.skeleton import Pose
from elbowroom.finish.rounding import rounded
from elbowroom.geometry.rotations import Array, continuous, slerp
from elbowroom.posing.limb_ik import LimbIK

# An arm is drawn no straighter than this towards targets that are yet too far, shares of its length: from the first on
# its stretch grows ever less, up to the second.
_EASY, _MOST = 0.9, 0.985

# Orbits of the elbow about that of a posture that are tried for the frames in which the hand follows, radians.
_ORBITS = np.radians([0.0, 8.0, -8.0, 16.0, -16.0, 26.0, -26.0, 38.0, -38.0])

# Joints may leave their ranges by this much while they follow, radians: less than can be seen.
_BEYOND = np.radians(0.4)


# Frames to either side over which a joint comes to the end of its range.
_SOFTLY = 8


class Tracking:
    """An arm over frames of a body, T (N, J, 4, 4), whose hand follows places, at the elbow's orbit of a posture."""

    def __init__(self, body: Character, limb: str, T: Array, pose: Pose) -> None:
        self.ik = LimbIK(body, limb, pose)
        self.parents = T[:, self.ik.parent]
        self.shoulders = T[:, self.ik.joints[0], :3, 3]
        self.orbit, self._keep = self.ik.orbit_of(pose), self.ik.keep_of(pose)

    def postures(self, hands: Array, exact: NDArray[np.bool_], orbit: float | None = None) -> Array | None:
        """Rotations (N, 3, 4) with the hand at places (N, 4, 4), drawn nearer where it cannot be there.

        None where it cannot in a frame in which it must, `exact` (N,), or leaves its joints' ranges in one, at any
        orbit of the elbow near that of the posture. With an `orbit` the elbow stays there, as the first frame has it,
        and a hand whose work is done turns as its wrist allows.
        """
        drawn = hands.copy()
        way = hands[:, :3, 3] - self.shoulders
        far = np.linalg.norm(way, axis=1)
        length = self.ik.reach[1]
        easy = max(_EASY * length, float(far[exact].max(initial=0.0)))
        most = max(_MOST * length, easy + 1e-3)
        over = np.maximum(far - easy, 0.0)
        near = np.where(over > 0.0, easy + (most - easy) * np.tanh(over / (most - easy)), far)
        drawn[:, :3, 3] = self.shoulders + way * (near / np.maximum(far, 1e-9))[:, None]
        drawn[exact] = hands[exact]
        fixed = exact if orbit is None else np.arange(len(exact)) == 0
        for angle in self.orbit + _ORBITS if orbit is None else (orbit,):
            at = self.ik.solve(self.parents[exact], hands[exact], angle, self._keep)
            if at.reached.all() and (orbit is not None or (at.excess <= _BEYOND).all()):
                self.orbit = float(angle)
                q = self.ik.solve(self.parents, drawn, angle, self._keep).rotations
                return continuous(np.where(fixed[:, None, None], q, self._within(q)))
        return None

    def _within(self, q: Array) -> Array:
        """Rotations (N, 3, 4) within the joints' ranges: a hand on its way need not be turned yet as at its target."""
        limits = [self.ik.character.limits[j] for j in self.ik.joints]
        # a joint that comes to its end does not stop there at once
        return clamp_pose(limits, rounded(clamp_pose(limits, continuous(q)), _SOFTLY, continuous(q)))


def faded(base: Array, there: Array, share: Array, limits: Sequence[JointLimit | None] = ()) -> Array:
    """Rotations (N, n, 4) from one motion to the other by shares (N,); where they are 0 or 1 exactly that motion.

    Joints whose ranges are those of hinges fade in their bend and twist: between two of their rotations a slerp would
    leave the hinge.
    """
    q = slerp(base, there, share[:, None])
    for j, limit in enumerate(limits):
        if limit is not None and limit.kind == "hinge":
            a, b = limit.coordinates(base[:, j]), limit.coordinates(there[:, j])
            q[:, j] = limit.rotation(a + share[:, None] * (b - a))
    q = np.where((share == 0.0)[:, None, None], base, q)
    return continuous(np.where((share == 1.0)[:, None, None], there, q))
