"""Postures of recorded people, asked by where hands and feet have to be (Y4, Y10).

A database holds marker poses of people whose feet stand, each unlike the others. A question names constraints: both
feet and one or both hands; the answer is where people had their 41 markers with hands and feet there. Three ways to
answer: the paper's weights by a singularity-robust inverse (eq. 3 and 4), the nearest pose, and local regression, the
default (research on 12 ACCAD takes, one left out at a time: `benchmarks/posture_database.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Character
from elbowroom.character.markers import MARKERS, marker_positions
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.motion import marker_poses as mp
from elbowroom.motion.marker_poses import BodyLengths, MarkerTake, Strategy
from elbowroom.motion.posture_constraints import (
    BOTH,
    SUMS,
    Constraints,
    HandSide,
    mirrored_rows,
    need_markers,
    points_of,
)

Method = Literal["local", "nearest", "linear"]
METHODS: tuple[Method, ...] = ("local", "nearest", "linear")

# Poses nearer to each other than this, root mean square over the markers, are one (Y gives no value; the paper's 4
# takes of 6 s became 257 poses, the ACCAD takes with standing feet become about 300).
THRESHOLD_M = 0.03
# Frames of a take that are offered, a second.
_OFFERED_HZ = 30.0
# Neighbours of a local regression, its ridge in m², and the width of its weights against the farthest neighbour
# (tuned on ACCAD by benchmarks/posture_database.py, takes left out and across persons).
_NEIGHBOURS = 60
_RIDGE_M2 = 0.1
_WIDTH = 0.5
# Deviations of the neighbours, along each of their principal axes, beyond which constraints are not extrapolated (same
# benchmark: as good as without a limit).
_BEYOND = 3.0
# Damping of the singularity-robust inverse, m² (research: 1e-3 to 1e-1 are equally good).
_DAMPING_M2 = 1e-2
# Root-mean-square distance of constraint points to the nearest recorded ones, and the mean marker error there, metres;
# measured by benchmarks/posture_database.py, one take left out; from 0.3 m on with all nearer poses left out.
_ERROR_AT_M = ((0.0, 0.02), (0.03, 0.045), (0.05, 0.065), (0.07, 0.09), (0.10, 0.13), (0.30, 0.145), (0.40, 0.21))


@dataclass(frozen=True, eq=False)
class MarkerPosture:
    """Answer of a database: `markers` (41, 3) in the world, with `weights` (41,) from 0 to 1.

    Markers at the constraints and of a free arm that no recording of one hand shows have weight 0. `distance_m` is how
    far the constraints are from the nearest recorded ones, root mean square; `expected_error_m` the mean error of the
    markers that is usual there; `take` the recording that is nearest.
    """

    markers: Array
    weights: Array
    distance_m: float
    expected_error_m: float
    take: str
    database: str


@dataclass(frozen=True, eq=False)
class PostureDatabase:
    """Marker poses (N, 41, 3) in the frame of the feet, of a body of given lengths.

    `take` (N,) is the number of each pose's take in `takes`; `held` (N,) the hands that hold something, as bits;
    `strategy` (N,) a number in `STRATEGIES`.
    """

    poses: Array
    take: NDArray[np.int64]
    held: NDArray[np.uint8]
    strategy: NDArray[np.uint8]
    takes: tuple[str, ...]
    lengths: BodyLengths = mp.REFERENCE
    name: str = "postures"
    source: str = ""

    def __post_init__(self) -> None:
        count = len(self.poses)
        if self.poses.shape[1:] != (len(MARKERS), 3) or not np.isfinite(self.poses).all():
            raise BadValue(f"a posture database needs finite markers (N, {len(MARKERS)}, 3), not {self.poses.shape}.")
        if not count or not len(self.take) == len(self.held) == len(self.strategy) == count:
            raise BadValue("a posture database needs at least one pose, each with its take, contact and strategy.")
        object.__setattr__(self, "poses", frozen(self.poses))

    def __len__(self) -> int:
        return len(self.poses)

    def where(self, keep: ArrayLike) -> PostureDatabase:
        """The poses of a mask (N,) or of numbers."""
        k = np.arange(len(self))[np.asarray(keep)]
        if not len(k):
            raise BadValue(f"no pose of the database '{self.name}' is left; give other recordings.")
        return replace(self, poses=self.poses[k], take=self.take[k], held=self.held[k], strategy=self.strategy[k])

    def of_strategy(self, strategy: Strategy) -> PostureDatabase:
        """The poses that fit a strategy: for a squat all but those of stoops, and the other way round."""
        if strategy not in mp.STRATEGIES:
            raise UnknownName("posture strategy", strategy, mp.STRATEGIES)
        unlike: dict[Strategy, Strategy] = {"squat": "stoop", "stoop": "squat"}
        if strategy in unlike:
            return self.where(self.strategy != mp.STRATEGIES.index(unlike[strategy]))
        return self.where(self.strategy == mp.STRATEGIES.index(strategy))

    def of_contact(self, *hands: HandSide) -> PostureDatabase:
        """The poses in which exactly these hands hold something: none of them while reaching."""
        return self.where(self.held == _bits(hands))

    def for_character(self, character: Character) -> PostureDatabase:
        """The poses resized to a character: legs, trunk and arms each by their length."""
        need_markers(character)
        rest = marker_positions(character, character.skeleton.T_rest)
        there = mp.body_lengths(rest[None])
        return replace(self, poses=mp.resized(self.poses, self.lengths, there), lengths=there)

    def posture(self, constraints: Constraints, method: Method = "local") -> MarkerPosture:
        """Posture of recorded people with hands and feet at the constraints."""
        if method not in METHODS:
            raise UnknownName("posture method", method, METHODS)
        hands = constraints.hands
        local = constraints.local()
        numbers = local[points_of(hands)].reshape(1, -1)
        (distance,), (nearest,) = (found[0] for found in self._nearest(numbers, hands, 1))
        if method == "nearest":
            found = self.poses[nearest]
        elif method == "linear":
            found = (self._linear(hands) @ np.append(numbers[0], 1.0)).reshape(-1, 3)
        else:
            found = self.regressed(numbers, hands)[0]
        world = mp.turned(found, constraints.heading) + constraints.origin
        rms = float(distance) / np.sqrt(len(points_of(hands)))
        one_handed = len(hands) == 1 and self.held[nearest] in (mp.LEFT, mp.RIGHT)
        return MarkerPosture(
            frozen(world),
            frozen(_weights(hands, one_handed)),
            rms,
            expected_error(rms),
            self.takes[self.take[nearest]],
            self.name,
        )

    def regressed(self, numbers: Array, hands: tuple[HandSide, ...] = BOTH) -> Array:
        """Marker poses (Q, 41, 3) in the frame of the feet by local regression at constraint rows (Q, 3 n).

        Beyond the recordings left and right count alike: that a person leaned back while the box was a little to the
        left says nothing about boxes far to the left.
        """
        found, beyond = self._regressed(numbers, hands)
        far = np.flatnonzero(beyond)
        if len(far):
            seen = mp.mirrored(self._regressed(*mirrored_rows(numbers[far], hands))[0])
            found[far] += 0.5 * beyond[far, None, None] * np.nan_to_num(seen - found[far])
        return found

    def _regressed(self, numbers: Array, hands: tuple[HandSide, ...]) -> tuple[Array, Array]:
        """Marker poses (Q, 41, 3) by local regression, and the shares (Q,) of the constraints that are beyond what the
        neighbours show, which is left out."""
        given, flat = self.rows(hands), self.poses.reshape(len(self), -1)
        count = min(_NEIGHBOURS, len(self))
        distance, index = self._nearest(numbers, hands, count)
        width = np.maximum(_WIDTH * distance[:, -1:], 1e-6)
        edge = np.exp(-((distance[:, -1:] / width) ** 2))
        # the farthest neighbour counts for nothing, so that answers do not jump where another one takes its place
        weight = np.exp(-((distance / width) ** 2)) - edge + 1e-9
        weight /= weight.sum(axis=1, keepdims=True)
        near, far = given[index], flat[index]
        x0, y0 = (weight[:, None] @ near)[:, 0], (weight[:, None] @ far)[:, 0]
        root = np.sqrt(weight * count)[..., None]
        x, y = (near - x0[:, None]) * root, (far - y0[:, None]) * root
        spread, axes = np.linalg.eigh(x.transpose(0, 2, 1) @ x)
        spread = np.maximum(spread, 0.0) + _RIDGE_M2
        asked = ((numbers - x0)[:, None] @ axes)[:, 0]
        most = _BEYOND * np.sqrt(spread / count)
        kept = np.clip(asked, -most, most)
        beyond = np.linalg.norm(asked - kept, axis=1) / np.maximum(np.linalg.norm(asked, axis=1), 1e-9)
        found = y0 + ((((kept / spread)[:, None] @ axes.transpose(0, 2, 1)) @ x.transpose(0, 2, 1)) @ y)[:, 0]
        return found.reshape(-1, len(MARKERS), 3), beyond

    def rows(self, hands: tuple[HandSide, ...] = BOTH) -> Array:
        """Constraint rows (N, 3 n) of all poses (eq. 3)."""
        return self._constraints[:, points_of(hands)].reshape(len(self), -1)

    @cached_property
    def _constraints(self) -> Array:
        return np.einsum("pm,nmi->npi", SUMS, self.poses)

    @cached_property
    def _kept(self) -> dict[tuple[str, tuple[HandSide, ...]], object]:
        return {}

    def _nearest(self, numbers: Array, hands: tuple[HandSide, ...], count: int) -> tuple[Array, NDArray[np.intp]]:
        """Distances (Q, count) and indices (Q, count) of the poses nearest to constraint rows (Q, 3 n), nearest first.

        All poses are compared: a database has hundreds, for which trees are no faster.
        """
        apart = self.rows(hands) - numbers[:, None]
        squared = np.einsum("qni,qni->qn", apart, apart)
        index = np.argsort(squared, axis=1, kind="stable")[:, :count]
        return np.sqrt(np.take_along_axis(squared, index, axis=1)), index

    def _linear(self, hands: tuple[HandSide, ...]) -> Array:
        """Map (123, 3 n + 1) from constraint numbers and 1 to markers: eq. 2 with the weights of eq. 4."""
        if ("linear", hands) not in self._kept:
            a = np.concatenate([self.rows(hands).T, np.ones((1, len(self)))])
            inverse = np.linalg.solve(a @ a.T + _DAMPING_M2 * np.eye(len(a)), a).T
            self._kept["linear", hands] = self.poses.reshape(len(self), -1).T @ inverse
        linear = self._kept["linear", hands]
        assert isinstance(linear, np.ndarray)
        return linear


def expected_error(distance_m: float) -> float:
    """Mean marker error in metres that is usual where the nearest constraints are so far, root mean square (Y10)."""
    at, error = np.array(_ERROR_AT_M).T
    slope = (error[-1] - error[-2]) / (at[-1] - at[-2])
    return float(np.interp(distance_m, at, error) + slope * max(distance_m - at[-1], 0.0))


def build(
    takes: Iterable[MarkerTake],
    *,
    name: str = "postures",
    threshold_m: float = THRESHOLD_M,
    hands: tuple[HandSide, ...] | None = None,
    source: str = "",
) -> PostureDatabase:
    """Make a database from the frames of takes in which both feet stand.

    A pose is kept if it is farther than the threshold from all that were kept before it, aligned on the ground. `hands`
    names those that hold something throughout; without it that is found out (`marker_poses.holding`).
    """
    poses, numbers, held, how = [], [], [], []
    names: list[str] = []
    for gappy in takes:
        take = replace(gappy, points=mp.filled(gappy.points, gappy.fps))
        points = take.points
        good = mp.feet_in_place(points, take.fps) & np.isfinite(points).all(axis=(1, 2))
        frames = np.flatnonzero(good)[:: max(round(take.fps / _OFFERED_HZ), 1)]
        if not len(frames):
            continue
        local = mp.in_feet_frame(points[frames])
        poses.append(mp.resized(local, mp.recorded_lengths(points), mp.REFERENCE))
        bits = mp.holding(take) if hands is None else np.full(len(points), _bits(hands), np.uint8)
        held.append(bits[frames])
        how.append(mp.strategies(points)[frames])
        numbers.append(np.full(len(frames), len(names)))
        names.append(take.name)
    if not poses:
        raise BadValue("a posture database needs frames in which both feet stand and all 41 markers are known.")
    every = np.concatenate(poses)
    k = mp.greedy(every, threshold_m)
    return PostureDatabase(
        every[k],
        np.concatenate(numbers)[k],
        np.concatenate(held)[k],
        np.concatenate(how)[k],
        tuple(names),
        name=name,
        source=source,
    )


def ranked(
    databases: Sequence[PostureDatabase], constraints: Constraints, method: Method = "local"
) -> list[MarkerPosture]:
    """Answers of several databases, the one with the nearest constraints first: the next is for where it fails."""
    return sorted((d.posture(constraints, method) for d in databases), key=lambda posture: posture.distance_m)


def _bits(hands: Iterable[HandSide]) -> int:
    return sum({"left": mp.LEFT, "right": mp.RIGHT}[hand] for hand in hands)


def _weights(hands: tuple[HandSide, ...], one_handed: bool) -> Array:
    """Weights (41,) of an answer's markers: 0 at constraints, and for a free arm unless recorded as such."""
    out = np.ones(len(MARKERS))
    out[[*mp.FEET["L"], *mp.FEET["R"]]] = 0.0
    for hand in BOTH:
        side = hand[0].upper()
        if hand in hands:
            out[mp.HANDS[side]] = 0.0
        elif not one_handed:
            out[mp.ARMS[side]] = 0.0
    return out
