"""Search for an orbit angle within joint limits and free of collisions, one test for both (Kallmann 2005).

It starts at a low angle, or at that of the present posture, and goes out both ways with a growing step, so that few
postures are tested. It is greedy: a narrow window between two steps can be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.limits import EPS
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import orbit as kernels
from elbowroom.posing.limb_ik import EASY_ORBIT, NOTHING, Keep, LimbIK, Solution, checked, empty, numbers, rows

OrbitStatus = Literal["found", "out of reach", "limits", "blocked"]
ValidRotations = Callable[[Array], bool]

# Largest number of angles of a quick search.
_MOST = 1000


@dataclass(frozen=True)
class OrbitRange:
    """Angles that a search may try, radians: from `low` to `high`, first by `step`, each step `growth` times the last.

    A start outside the range widens it.
    """

    low: float = float(np.radians(-15.0))
    high: float = float(np.radians(130.0))
    step: float = float(np.radians(10.0))
    growth: float = 1.3

    def __post_init__(self) -> None:
        if not (-2 * np.pi <= self.low <= self.high <= 2 * np.pi):
            raise BadValue(
                f"orbit angles from {self.low} to {self.high} are not a range within a full turn either way."
            )
        if not (0.0 < self.step < np.inf and 1.0 <= self.growth < np.inf and len(self.steps) <= _MOST):
            raise BadValue(
                f"a step of {self.step} growing by {self.growth} does not cover a range of orbit angles; "
                "use a step of a few degrees and a growth of 1 or more."
            )

    @cached_property
    def steps(self) -> Array:
        """Distances from the start at which angles are tried, (K,), enough for any start within a turn of the range."""
        span, found = self.high - self.low + 2 * np.pi, [self.step]
        while found[-1] < span and len(found) <= _MOST:
            found.append(self.step + self.growth * found[-1])
        return frozen(found)

    def angles(self, start: float) -> Array:
        """Angles in the order of trial, (M,)."""
        out = np.zeros(2 * len(self.steps) + 1)
        return out[: kernels.candidates(start, self.low, self.high, self.steps, out)]


PAPER = OrbitRange()


@dataclass(frozen=True, eq=False)
class Orbit:
    """Result of a search; if nothing fits, the posture with the smallest excess and the reason for rejection."""

    status: OrbitStatus
    angle: float
    solution: Solution
    tests: int  # postures tested

    @property
    def found(self) -> bool:
        """Return whether the posture fits."""
        return self.status == "found"


@dataclass(frozen=True, eq=False)
class Orbits:
    """Results of searches for many targets, leading shape (...)."""

    found: NDArray[np.bool_]  # (...)
    angle: Array  # (...)
    solution: Solution
    tests: NDArray[np.int64]  # (...)


def search_orbit(
    ik: LimbIK,
    T_world_parent: ArrayLike,
    T_world_end: ArrayLike,
    *,
    start: float = EASY_ORBIT,
    valid: ValidRotations | None = None,
    limits: bool = True,
    angles: OrbitRange = PAPER,
    keep: Keep = NOTHING,
) -> Orbit:
    """First orbit angle whose posture is within the limits (unless `limits` is off) and `valid`.

    T_world_parent, T_world_end (4, 4) and `keep` as for `LimbIK.solve`. `valid` gets the three local rotations (3, 4)
    of postures within the limits and returns whether they are free of collisions.
    """
    tried = angles.angles(float(numbers("start", start)))
    return _first_fit(tried, ik.solve(T_world_parent, T_world_end, tried, keep), valid, limits)


def search_orbit_of_each(
    ik: LimbIK,
    T_world_parent: Array,
    T_world_end: Array,
    *,
    start: float,
    valid: Callable[[int, Array], bool],
    limits: bool,
    angles: OrbitRange,
) -> Iterator[Orbit]:
    """`search_orbit` with the parent at each of some transforms (N, 4, 4), solved at once and tested one by one.

    `valid` gets the index of the transform as well.
    """
    tried = angles.angles(start)
    every = ik.solve(T_world_parent[:, None], T_world_end, tried)
    for n in range(len(T_world_parent)):
        yield _first_fit(tried, _one(every, n), partial(valid, n), limits)


def _first_fit(tried: Array, every: Solution, valid: ValidRotations | None, limits: bool) -> Orbit:
    """The first of some angles (K,) whose posture fits."""
    worst = every.excess.max(axis=-1)
    fits = worst <= EPS if limits else np.ones(len(tried), dtype=bool)
    if not every.reached[0]:
        return Orbit("out of reach", float(tried[0]), _one(every, 0), 1)
    for k in np.flatnonzero(fits).tolist():
        if valid is None or valid(every.rotations[k]):
            return Orbit("found", float(tried[k]), _one(every, k), k + 1)
    k = int(np.argmin(worst))
    return Orbit("blocked" if fits.any() else "limits", float(tried[k]), _one(every, k), len(tried))


def search_orbits(
    ik: LimbIK,
    T_world_parent: ArrayLike,
    T_world_end: ArrayLike,
    *,
    start: ArrayLike = EASY_ORBIT,
    angles: OrbitRange = PAPER,
    keep: Keep = NOTHING,
) -> Orbits:
    """`search_orbit` by joint limits alone, for many targets: T (..., 4, 4) and start (...) broadcast, `keep` is
    one.
    """
    parents, ends = checked("T_world_parent", T_world_parent), checked("T_world_end", T_world_end)
    starts = numbers("start", start)
    lead = np.broadcast_shapes(parents.shape[:-2], ends.shape[:-2], starts.shape)
    out, angle, tests = empty(lead), np.zeros(lead), np.zeros(lead, dtype=np.int64)
    kernels.search(
        ik.geometry,
        rows(parents, lead, (4, 4)),
        rows(ends, lead, (4, 4)),
        rows(starts, lead, ()),
        angles.low,
        angles.high,
        angles.steps,
        EPS,
        float(numbers("keep.off_axis", keep.off_axis)),
        float(numbers("keep.twist", keep.twist)),
        bool(keep.backwards),
        out.rotations.reshape(-1, 3, 4),
        out.gap.reshape(-1),
        out.excess.reshape(-1, 3),
        angle.reshape(-1),
        tests.reshape(-1),
    )
    return Orbits(out.reached & out.within_limits, angle, out, tests)


def _one(many: Solution, k: int) -> Solution:
    return Solution(many.rotations[k], many.gap[k], many.excess[k])
