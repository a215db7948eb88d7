"""Recorded cycles that suit a velocity: families of strides, how fast each can go, and weights along a course."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import Course, Curve
from elbowroom.locomotion.figure import Figure
from elbowroom.locomotion.library import ClipLibrary

_BLEND_S = 0.10  # seconds over which weights of cycles are smoothed
_MODE_S = 0.25  # seconds over which one mode of walking fades into another
# metres: below this speed per rad/s of turn the body turns on the spot
_RATHER_M = 0.25
# m/s, scaled: slowest speed in a curve, however tight
_SLOWEST_M_S = 0.25
# m/s, scaled: walks up to the first, runs from the second on (Hreljac 1995: people change at 2 m/s)
WALKS, _RUNS = 1.95, 2.3
# share of crouching that remains where the trunk stoops, or belly and thighs would meet
_STOOP_LEGS = 0.57


@dataclass(frozen=True, eq=False)
class CycleBlend:
    """Weights (N, K) of a library's nodes over a course.

    Velocities (N, 3) forwards, left (m/s), turn (rad/s), and the share of running (N,).
    """

    weights: Array
    velocity: Array
    run: Array

    @staticmethod
    def along(figure: Figure, course: Course, library: ClipLibrary, velocity: Array | None = None) -> CycleBlend:
        """Weights along a course, or for velocities (N, 3) at its times."""
        rate = 1.0 / (course.times[1] - course.times[0])
        pace = np.sqrt(figure.scale)
        own = velocities(course) if velocity is None else velocity
        scaled = own * [1.0 / pace, 1.0 / pace, pace]
        shares = ways(scaled, library, course.low * np.ones(len(own)))
        weights = np.zeros((len(own), len(library.nodes)))
        for family, share in shares.items():
            share = scipy.ndimage.gaussian_filter1d(share, _MODE_S * rate, mode="nearest")
            weights += share[:, None] * library.weights(scaled, family)
            shares[family] = share
        weights = scipy.ndimage.gaussian_filter1d(weights, _BLEND_S * rate, axis=0, mode="nearest", truncate=3.0)
        return CycleBlend(weights, own, shares.get("run", np.zeros(len(own))))

    def mean(self, values: Array) -> Array:
        """Values (K, ...) of nodes, blended, (N, ...)."""
        return np.tensordot(self.weights, values, axes=1)


def velocities(course: Course) -> Array:
    """Velocity of the body on a course (N, 3) in its own axes: forwards and left, m/s, turn to the left, rad/s."""
    return _per_metre(course.curve, course.s) * course.speed[:, None]


def _per_metre(curve: Curve, s: Array) -> Array:
    """Travel forwards and left, and turn to the left (radians), per metre at positions (N,) of a curve, (N, 3)."""
    return np.concatenate([curve.going(s), curve.turn(s)[:, None]], axis=1)


def fastest(
    figure: Figure, curve: Curve, library: ClipLibrary | None,
    low: Callable[[Array], Array] | None = None, family: str = "walk", turns_aside: bool = False,
) -> Callable[[Array], Array] | None:  # fmt: skip
    """Highest speeds (N,), m/s, at positions (N,) of a curve that a library supports; None without one.

    low: share (N,) of crouching at positions (N,). With `turns_aside` only travel counts sideways and backwards, since
    recorded strides of these hardly turn: with turns among them nobody would be faster than the slowest.
    """
    if library is None:
        return None
    pace = np.sqrt(figure.scale)

    def most(s: Array) -> Array:
        each = _per_metre(curve, s) * [1.0 / pace, 1.0 / pace, pace]
        out = library.reach(each, family)
        if low is not None and "crouch" in library.fields:
            out = np.where(low(s) > 0.0, np.minimum(out, library.reach(each, "crouch")), out)
        for direction, there in directions(each).items():
            out = np.where(there, library.reach(each * [1.0, 1.0, not turns_aside], direction), out)
        return np.maximum(out, _SLOWEST_M_S * pace)

    return most


def directions(velocity: Array) -> dict[str, NDArray[np.bool_]]:
    """Masks of velocities (N, 3) of the reference leg that go sideways, and backwards; without those that rather
    turn.
    """
    v, aside, turns = np.abs(velocity).T
    goes = np.hypot(v, aside) > _RATHER_M * turns
    return {"side": goes & (aside > v), "back": goes & (aside <= v) & (velocity[:, 0] < 0.0)}


def ways(velocity: Array, library: ClipLibrary, low: Array) -> dict[str, Array]:
    """Shares (N,) of the families by velocities (N, 3) of the reference leg, as far as the library has them.

    low (N,): share of crouching when going ahead, see `Course`.
    """
    low = np.minimum(low, 1.0) - _STOOP_LEGS * np.clip(low - 1.0, 0.0, 1.0)
    shares = {family: there.astype(float) for family, there in directions(velocity).items()}
    shares["run"] = smoothstep((velocity[:, 0] - WALKS) / (_RUNS - WALKS)) * (1.0 - shares["side"]) * (1.0 - low)
    shares["crouch"] = low * (1.0 - shares["side"] - shares["back"])
    shares = {family: share for family, share in shares.items() if family in library.fields and share.any()}
    return shares | {"walk": 1.0 - sum(shares.values(), np.zeros(len(velocity)))}
