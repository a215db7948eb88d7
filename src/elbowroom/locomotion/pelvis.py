"""The pelvis: its turns over the gait cycle, and a height from which the planted feet are always in reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded
from scipy.ndimage import maximum_filter1d

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.feet import Foot
from elbowroom.locomotion.limbs import Limb

GRAVITY = 9.81
# seconds: bends of the height faster than this are smoothed away, walking and running
_SMOOTH_WALK, _SMOOTH_RUN = 0.048, 0.03
_ROUNDS = 8
_DUE = 0.009  # seconds


def turned(yaw: Array, roll: Array, pitch: Array) -> Array:
    """World turns (N, 4) of a body part: left about the vertical, then over to the left, then bent forwards."""
    about_z = rot.about([0.0, 0.0, 1.0], yaw)
    about_y = rot.about([0.0, 1.0, 0.0], roll)
    about_x = rot.about([1.0, 0.0, 0.0], pitch)
    return rot.multiply(rot.multiply(about_z, about_y), about_x)


def height(
    feet: list[Foot], limbs: list[Limb], hips: list[Array], knees: list[Array], rate: float, least: Array,
    standing_height: float, run: Array,
) -> Array:  # fmt: skip
    """Height of the pelvis joint (N,) over N frames at `rate` per second.

    hips: hip joints against the pelvis joint in world axes plus the pelvis' place on the floor, (N, 3) each; knees:
    bend that each loaded knee is to have, (N,) radians. In the air the body falls freely. No planted foot is ever
    farther from its hip than a knee bent by `least` (N,) reaches.
    """
    n = len(hips[0])
    want, weight = np.zeros(n), np.full(n, 1e-6)
    want += standing_height * 1e-6
    most = np.full(n, np.inf)
    for foot, limb, hip, knee in zip(feet, limbs, hips, knees, strict=True):
        across = np.linalg.norm(foot.ankle[:, :2] - hip[:, :2], axis=1)
        base = foot.ankle[:, 2] - hip[:, 2]
        target = base + np.sqrt(np.maximum(limb.length(knee) ** 2 - across**2, 0.01))
        ceiling = base + np.sqrt(np.maximum(limb.length(least) ** 2 - across**2, 0.01))
        want += foot.load * target
        weight += foot.load
        # already in reach a little before contact, or the falling body would straighten the knee on landing
        due = maximum_filter1d(foot.planted.astype(float), 2 * int(_DUE * rate) + 1) > 0
        most = np.minimum(most, np.where(due, ceiling, np.inf))
    aloft = ~(feet[0].planted | feet[1].planted)
    target = want / weight
    limit = np.where(np.isfinite(most), most, 1e3)
    smooth = (1.0 - run) * _SMOOTH_WALK + run * _SMOOTH_RUN
    z = target
    push = np.zeros(n)
    for _ in range(_ROUNDS):
        z = _smoothed(target, weight + push, limit, push, aloft, smooth * rate, rate)
        over = z > limit
        if not over.any():
            break
        push = np.where(over, np.maximum(push * 4.0, 4.0), push)
    return z


def _smoothed(
    target: Array, weight: Array, limit: Array, push: Array, aloft: NDArray[np.bool_], smooth: Array, rate: float
) -> Array:
    """Least squares: near the targets, held under the limit where `push` says so, little bending, free fall aloft.

    smooth (N,): frames over which bends are smoothed.
    """
    n = len(target)
    own = weight - push
    bend = (np.where(aloft, 40.0, 1.0) * smooth**4)[1:-1]
    fall = np.where(aloft, -GRAVITY / rate**2, 0.0)[1:-1]
    bands = np.zeros((3, n))  # upper form: bands[2] diagonal, bands[1] first, bands[0] second
    right = own * target + push * (limit - 0.001)
    bands[2] = weight
    for k, c in enumerate((1.0, -2.0, 1.0)):
        right[k : n - 2 + k] += bend * c * fall
        bands[2, k : n - 2 + k] += bend * c * c
    bands[1, 1 : n - 1] += bend * -2.0
    bands[1, 2:n] += bend * -2.0
    bands[0, 2:n] += bend
    return solveh_banded(bands, right)
