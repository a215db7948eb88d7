"""Poses as the positions of 41 markers: aligned on the ground, resized to another body, split by contact and strategy.

A marker pose is (41, 3) in metres, in the order of `character.markers.MARKERS`. In the frame of the feet the origin is
on the floor amid both feet, -Y leads from the heels to the toes and +Z up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.markers import MARKERS
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.motion.contacts import runs

Strategy = Literal["upright", "squat", "stoop", "high"]
STRATEGIES: tuple[Strategy, ...] = ("upright", "squat", "stoop", "high")
# Which hands hold something, as bits.
LEFT, RIGHT = 1, 2

_INDEX = {name: k for k, name in enumerate(MARKERS)}


def rows(*names: str) -> list[int]:
    """Rows of markers by name."""
    return [_INDEX[name] for name in names]


WAIST = rows("LFWT", "RFWT", "LBWT", "RBWT")
FEET = {side: rows(*(side + m for m in ("HEE", "TOE", "MT5"))) for side in "LR"}
HANDS = {side: rows(*(side + m for m in ("WRA", "WRB", "FIN"))) for side in "LR"}
# An arm without the shoulder's marker, which moves with the trunk.
ARMS = {side: rows(*(side + m for m in ("UPA", "ELB", "FRM", "WRA", "WRB", "FIN"))) for side in "LR"}
LEGS = rows(*(side + m for side in "LR" for m in ("THI", "KNE", "SHN", "ANK", "HEE", "TOE", "MT5")))
_TRUNK = sorted(set(range(len(MARKERS))) - {*ARMS["L"], *ARMS["R"], *LEGS})
_MIRRORED = [_INDEX.get({"L": "R", "R": "L"}.get(name[0], name[0]) + name[1:], -1) for name in MARKERS]

# Gaps of a marker that are filled by straight lines.
_FILLED_S = 0.25
# Speeds are differences over this long.
_SPEED_WINDOW_S = 0.1
# A foot is in place below this speed (research prototype on the ACCAD takes).
_FOOT_MPS = 0.12
# An object moves above this speed (Y, section 3.2: a threshold on the object's speed, value not given).
_OBJECT_MPS = 0.1
# Two hands hold one thing: they move, their distance changes slower than this, for so long and so far (tuned on the
# ACCAD lifts, where hands that go down to the box close at 0.3 to 0.5 m/s).
_TOGETHER_MPS = 0.15
_SPREAD_MPS = 0.25
_APART_M = (0.08, 0.9)
# Hands that hang at the sides are nearer to the waist than this, seen from above.
_AHEAD_M = 0.15
_TRAVEL_M = 0.35
# While they rest, their distance stays within this.
_GRIP_M = 0.06
# The body is low with the trunk bent or both knees flexed by this much; it squats where the knees are flexed by so much
# more than the trunk is bent (ACCAD Female1: 70 to 80 more, Male1: 12 more; 115_06: 60 more, 115_01: 60 less).
_LOW_TRUNK_RAD = np.radians(35.0)
_LOW_KNEE_RAD = np.radians(55.0)
_SQUAT_RAD = np.radians(30.0)
# A low episode goes on until the body is upright within these.
_UP_TRUNK_RAD = np.radians(20.0)
_UP_KNEE_RAD = np.radians(40.0)


@dataclass(frozen=True, eq=False)
class MarkerTake:
    """Recorded markers: `points` (T, 41, 3), metres, NaN where a marker was not seen, +Z up, the floor at z = 0.

    `object` (T, 3) is the path of what is manipulated, where it was recorded.
    """

    name: str
    points: Array
    fps: float
    object: Array | None = None

    def __post_init__(self) -> None:
        if self.points.ndim != 3 or self.points.shape[1:] != (len(MARKERS), 3):
            raise BadValue(f"take '{self.name}' needs markers (T, {len(MARKERS)}, 3), not {self.points.shape}.")
        if self.object is not None and self.object.shape != (len(self.points), 3):
            raise BadValue(f"take '{self.name}' needs one position of the object for each of its frames.")


@dataclass(frozen=True)
class BodyLengths:
    """Lengths by which marker poses are resized, metres.

    `leg`: ankle to knee and knee to the middle of the waist; `trunk`: that middle to C7; `arm`: shoulder to elbow to
    wrist, all between markers.
    """

    leg: float
    trunk: float
    arm: float


# The built-in person of 1.70 m; marker poses of a database are resized to it.
REFERENCE = BodyLengths(leg=0.948, trunk=0.467, arm=0.545)


def body_lengths(points: Array) -> BodyLengths:
    """Lengths of the body that wears markers (T, 41, 3); NaN counts as not seen. Postures hardly matter."""

    def length(a: Array, b: Array, share: float) -> float:
        apart = np.linalg.norm(a - b, axis=-1)
        seen = apart[np.isfinite(apart)]
        if not len(seen):
            raise BadValue("body lengths need waist, leg and arm markers that are seen in some frame.")
        return float(np.percentile(seen, share))

    def at(name: str) -> Array:
        return points[:, _INDEX[name]]

    waist = points[:, WAIST].mean(axis=1)
    legs, arms = [], []
    for s in "LR":
        wrist = 0.5 * (at(s + "WRA") + at(s + "WRB"))
        # a bent hip brings the knee nearer to the waist's middle: the straight one counts
        legs.append(length(at(s + "KNE"), at(s + "ANK"), 50.0) + length(at(s + "KNE"), waist, 95.0))
        arms.append(length(at(s + "SHO"), at(s + "ELB"), 50.0) + length(at(s + "ELB"), wrist, 50.0))
    return BodyLengths(float(np.mean(legs)), length(waist, at("C7"), 95.0), float(np.mean(arms)))


def recorded_lengths(points: Array) -> BodyLengths:
    """Lengths of a recorded person by markers (T, 41, 3), legs and trunk in the reference's proportion.

    Waist markers are put up to 12 cm higher or lower on one person than on another (ACCAD: a trunk of 0.44 m and one of
    0.57 m between markers); what leg and trunk add up to does not depend on that.
    """
    found = body_lengths(points)
    size = (found.leg + found.trunk) / (REFERENCE.leg + REFERENCE.trunk)
    return BodyLengths(size * REFERENCE.leg, size * REFERENCE.trunk, found.arm)


def resized(points: ArrayLike, source: BodyLengths, target: BodyLengths) -> Array:
    """Marker poses (..., 41, 3) in the frame of the feet on a body of other lengths.

    Legs and the place of the waist are scaled from the floor, the trunk from the waist, arms from the shoulder: a
    person with long legs stands with them straight.
    """
    p = np.asarray(points, dtype=float)
    out = p * (target.leg / source.leg)
    waist = p[..., WAIST, :].mean(axis=-2, keepdims=True)
    waist_there = waist * (target.leg / source.leg)
    out[..., _TRUNK, :] = waist_there + (target.trunk / source.trunk) * (p[..., _TRUNK, :] - waist)
    for side in "LR":
        shoulder = rows(side + "SHO")
        reach = p[..., ARMS[side], :] - p[..., shoulder, :]
        out[..., ARMS[side], :] = out[..., shoulder, :] + (target.arm / source.arm) * reach
    return out


def filled(points: Array, fps: float) -> Array:
    """Markers (T, 41, 3) with short gaps filled by straight lines; longer ones and those at the ends stay NaN."""
    out = np.array(points, dtype=float)
    seen = np.isfinite(out).all(axis=-1)
    out[~seen] = np.nan
    frames = np.arange(len(out))
    for m in np.flatnonzero(~seen.all(axis=0)):
        for first, last in runs(~seen[:, m]):
            if first > 0 and last < len(out) - 1 and last - first < _FILLED_S * fps:
                ends, gap = [first - 1, last + 1], slice(first, last + 1)
                for c in range(3):
                    out[gap, m, c] = np.interp(frames[gap], ends, out[ends, m, c])
    return out


def speed(path: Array, fps: float) -> Array:
    """Speeds (T,) along positions (T, ...), metres a second, over windows of 0.1 s; NaN where positions are."""
    half = max(round(0.5 * _SPEED_WINDOW_S * fps), 1)
    k = np.arange(len(path))
    after, before = np.minimum(k + half, len(path) - 1), np.maximum(k - half, 0)
    step = path[after] - path[before]
    size = np.abs(step) if path.ndim == 1 else np.linalg.norm(step, axis=-1)
    return size * fps / np.maximum(after - before, 1)


def feet_in_place(points: Array, fps: float) -> NDArray[np.bool_]:
    """Frames (T,) in which both feet are seen and still."""
    fastest = np.maximum(*(speed(points[:, FEET[side]].mean(axis=1), fps) for side in "LR"))
    return np.nan_to_num(fastest, nan=np.inf) < _FOOT_MPS


def feet_frame(points: ArrayLike) -> tuple[Array, Array]:
    """Headings (...,) in radians and origins (..., 3) of the feet's frames of marker poses (..., 41, 3).

    The origin has the height 0. The heading is the turn about +Z from -Y to the direction of the feet.
    """
    p = np.asarray(points, dtype=float)
    middle = 0.5 * (p[..., FEET["L"], :].mean(axis=-2) + p[..., FEET["R"], :].mean(axis=-2))
    ahead = p[..., rows("LTOE", "RTOE"), :2].sum(axis=-2) - p[..., rows("LHEE", "RHEE"), :2].sum(axis=-2)
    return np.arctan2(ahead[..., 0], -ahead[..., 1]), np.concatenate([middle[..., :2], 0.0 * middle[..., 2:]], axis=-1)


def turned(points: ArrayLike, heading: ArrayLike) -> Array:
    """Points (..., n, 3) turned about +Z by angles (...,) in radians."""
    p, a = np.asarray(points, dtype=float), np.asarray(heading, dtype=float)[..., None]
    c, s = np.cos(a), np.sin(a)
    return np.stack([c * p[..., 0] - s * p[..., 1], s * p[..., 0] + c * p[..., 1], p[..., 2]], axis=-1)


def in_feet_frame(points: ArrayLike) -> Array:
    """Marker poses (..., 41, 3) of the world in the frames of their feet."""
    heading, origin = feet_frame(points)
    return turned(np.asarray(points, dtype=float) - origin[..., None, :], -heading)


def mirrored(points: Array) -> Array:
    """Marker poses (..., 41, 3) in the frame of the feet with left and right exchanged; NaN for a marker that only one
    side has."""
    out = points[..., _MIRRORED, :] * [-1.0, 1.0, 1.0]
    return np.where(np.array(_MIRRORED)[:, None] < 0, np.nan, out)


class Aligned:
    """Poses (N, m, 3) to which distances are asked, moved and turned on the ground (Y, section 3.2)."""

    def __init__(self, poses: Array) -> None:
        p = poses - poses.mean(axis=1, keepdims=True) * [1.0, 1.0, 0.0]
        self._x, self._y, self._z = (np.ascontiguousarray(p[..., c]) for c in range(3))
        self._size = (p**2).sum(axis=(1, 2))

    def distances(self, k: int, among: NDArray[np.int64]) -> Array:
        """Root-mean-square marker distances of pose k to others, each shifted and turned to the least of it."""
        x, y, z = self._x[k], self._y[k], self._z[k]
        u, v, w = self._x[among], self._y[among], self._z[among]
        alike = np.hypot(u @ x + v @ y, u @ y - v @ x) + w @ z
        return np.sqrt(np.maximum(self._size[among] + self._size[k] - 2.0 * alike, 0.0) / len(x))


def greedy(poses: Array, threshold_m: float) -> NDArray[np.int64]:
    """Numbers of poses (N, 41, 3) of which each is farther than the threshold from all kept before it."""
    aligned = Aligned(poses)
    kept = np.zeros(len(poses), np.int64)
    count = 0
    for k in range(len(poses)):
        if not count or aligned.distances(k, kept[:count]).min() > threshold_m:
            kept[count] = k
            count += 1
    return kept[:count]


def holding(take: MarkerTake) -> NDArray[np.uint8]:
    """Hands that hold something in each frame (T,) of a take with its gaps filled, as bits.

    With the object's path, it is held while it moves, by the hands that keep their distance to it. Without one, both
    hands hold one thing while they move together, and before and after as long as their distance stays.
    """
    points = take.points
    hands = {side: points[:, HANDS[side]].mean(axis=1) for side in "LR"}
    out = np.zeros(len(points), np.uint8)
    if take.object is not None:
        moves = np.nan_to_num(speed(take.object, take.fps)) > _OBJECT_MPS
        for side, bit in (("L", LEFT), ("R", RIGHT)):
            change = speed(np.linalg.norm(hands[side] - take.object, axis=-1), take.fps)
            out[moves & (np.nan_to_num(change, nan=np.inf) < _OBJECT_MPS)] |= bit
        return out
    middle = 0.5 * (hands["L"] + hands["R"])
    with np.errstate(invalid="ignore"):
        ahead = np.linalg.norm((middle - points[:, WAIST].mean(axis=1))[:, :2], axis=-1) > _AHEAD_M
        ahead |= middle[:, 2] > points[:, _INDEX["C7"], 2]
    for first, last in _held_by_both(hands["L"], hands["R"], ahead, take.fps):
        out[first : last + 1] = LEFT | RIGHT
    return out


def _held_by_both(left: Array, right: Array, ahead: NDArray[np.bool_], fps: float) -> list[tuple[int, int]]:
    """First and last frames of the intervals in which two hands (T, 3), at times ahead (T,), hold one thing."""
    apart = np.linalg.norm(left - right, axis=-1)
    middle = 0.5 * (left + right)
    with np.errstate(invalid="ignore"):
        steady = (speed(apart, fps) < _SPREAD_MPS) & (apart > _APART_M[0]) & (apart < _APART_M[1])
        alike = speed(left - right, fps) < 0.5 * (speed(left, fps) + speed(right, fps))
        moving = steady & alike & ahead & (speed(middle, fps) > _TOGETHER_MPS)
    out: list[tuple[int, int]] = []
    for first, last in runs(moving):
        frames = slice(first, last + 1)
        if np.linalg.norm(np.diff(middle[frames], axis=0), axis=-1).sum() < _TRAVEL_M:
            continue
        grip = float(np.median(apart[frames]))
        with np.errstate(invalid="ignore"):
            same = np.abs(apart - grip) < _GRIP_M
        while first > 0 and steady[first - 1] and same[first - 1]:
            first -= 1
        while last < len(apart) - 1 and steady[last + 1] and same[last + 1]:
            last += 1
        if out and first <= out[-1][1] + 1:
            out[-1] = out[-1][0], max(last, out[-1][1])
        else:
            out.append((first, last))
    return out


def bends(points: Array) -> tuple[Array, Array]:
    """Inclination of the trunk from the vertical and flexion of the straighter knee, radians, (T,) each."""
    waist = points[:, WAIST].mean(axis=1)
    trunk = points[:, _INDEX["C7"]] - waist
    inclination = np.arctan2(np.linalg.norm(trunk[:, :2], axis=-1), trunk[:, 2])
    flexion = []
    for s in "LR":
        knee = points[:, _INDEX[s + "KNE"]]
        up, down = waist - knee, points[:, _INDEX[s + "ANK"]] - knee
        flexion.append(np.pi - np.arctan2(np.linalg.norm(np.cross(up, down), axis=-1), (up * down).sum(axis=-1)))
    return inclination, np.minimum(*flexion)


def strategies(points: Array) -> NDArray[np.uint8]:
    """Strategy of each frame (T,) of marker poses (T, 41, 3) with gaps filled, as its number in `STRATEGIES`.

    An episode from upright to upright with the body low between is a squat or a stoop as a whole, by how the body is
    bent where the hands are lowest. Hands above C7 are a high reach.
    """
    trunk, knee = bends(points)
    hands = points[:, [*HANDS["L"], *HANDS["R"]], 2].mean(axis=1)
    out = np.zeros(len(points), np.uint8)
    with np.errstate(invalid="ignore"):
        out[hands > points[:, _INDEX["C7"], 2]] = STRATEGIES.index("high")
        bent = (trunk > _UP_TRUNK_RAD) | (knee > _UP_KNEE_RAD)
        low = (trunk > _LOW_TRUNK_RAD) | (knee > _LOW_KNEE_RAD)
    for first, last in runs(bent):
        frames = np.arange(first, last + 1)
        if not low[frames].any():
            continue
        lowest = frames[np.argmin(np.where(np.isfinite(hands[frames]), hands[frames], np.inf))]
        squat = knee[lowest] - trunk[lowest] > _SQUAT_RAD
        out[frames] = STRATEGIES.index("squat" if squat else "stoop")
    return out
