"""Smallest smooth offset of a motion that makes it free for a while.

The motion goes on underneath, so arms keep their swing. Offsets are sampled, small ones first (after Esteves et al.
2006: warped back to the least deformation that is free).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from elbowroom.finish.settle import first_hit
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.stopping import may_stop_here
from elbowroom.world.fast import HIT, UNCERTAIN, LimbCheck

# Offsets sampled at once, in all and per number; how many of the best guide the next round, and rounds.
_DRAWN, _EACH, _BEST, _DRAWS = 96, 12, 12, 9
# Offsets of a round that are judged at a time, smaller ones first, and the stride among those too large to be the best.
_JUDGED, _LARGER = 32, 4
# Rounds after which sampling ends if so many free offsets were found.
_ENOUGH = (3, 30)
# Rounds in which every offset collides at one and the same frame, after which sampling ends: 200 offsets of all sizes
# leave that frame in collision.
_IN_VAIN = 2
# Rounds without fewer hits than before, after which sampling that is not thorough ends where no offset is free: in the
# gallery, arms had a free one in the second round or never, while feet find one after longer.
_STUCK = 2
# Offsets that then get a full check: most that fail do so at the first sample.
_CLOSELY = 16
# Repetitions with what full checks have found.
_CYCLES = 2
# Sizes of the first samples, radians, small and large.
_SMALL, _LARGE = 0.05, 1.2
# Frames that are checked: in and around the core, and during the fades. Stride of the first pass.
_INSIDE, _ASIDE, _FEWER = 40, 16, 4
# Penalty of a hit and of an uncertain sample at all checks against a radian of offset; and the factor for uncertain
# samples where a full check has found a hit.
_HIT, _DOUBT, _MISSED = 60.0, 0.2, 100.0
# Penalty of roughness beyond the limit, and its largest value.
_ROUGH, _ROUGHEST = 1.0, 4.0
# Bisections that shrink a free offset.
_BACK = 4
# Frames whose roughness is measured at once, so that long motions can be cancelled.
_AT_ONCE = 10_000


@dataclass(frozen=True)
class Core:
    """Seconds from `begin` to `end` of full offset; `first` and `last` are where the fades start and end.

    An offset that is present at `first` already, or at `last` still, has begin = first or end = last.
    """

    first: float
    begin: float
    end: float
    last: float

    def weights(self, times: Array) -> Array:
        """Share of the offset at times (T,): 0 at the ends, 1 in the core, without a jump in acceleration."""
        rise = np.ones(len(times)) if self.begin <= self.first else (times - self.first) / (self.begin - self.first)
        fall = np.ones(len(times)) if self.end >= self.last else (self.last - times) / (self.last - self.end)
        return smootherstep(rise) * smootherstep(fall)

    def largest(self, jerk: float) -> float:
        """Largest offset whose fades stay within an angular jerk in rad/s³, radians."""
        ramps = [r for r in (self.begin - self.first, self.last - self.end) if r > 0.0]
        # a rise by A in r seconds has a jerk of 60 A / r³
        return min((jerk * r**3 / 60.0 for r in ramps), default=np.inf)


def bump(times: Array, begin: float, end: float) -> Array:
    """A bump (T,) of height 1 between two times, without a jump in acceleration."""
    s = np.clip((times - begin) / max(end - begin, 1e-9), 0.0, 1.0)
    return 64.0 * (s * (1.0 - s)) ** 3


class OffsetFamily(Protocol):
    """A family of offsets of a base motion (T, n, 4), each given by some numbers (K,)."""

    @property
    def reach(self) -> Array:
        """Weight of each number, (K,): its share in an offset of size 1."""
        ...

    def frames(self, offsets: Array, rows: NDArray[np.int64]) -> Array:
        """Rotations (N, R, n, 4) of offsets (N, K) at some of the frames (R,); not finite where impossible."""
        ...


@dataclass(frozen=True)
class Sampling:
    """Largest size of each number of an offset, random seed, and effort.

    `thorough` sampling is repeated with what full checks have found, and goes on where nothing improves. No other
    offsets are sampled after `until`, by `time.perf_counter`: only for live drags, since the clock then chooses the
    motion.
    """

    largest: float = math.inf
    seed: int = 0
    until: float = math.inf
    thorough: bool = True


SAMPLING = Sampling()


@dataclass(frozen=True, eq=False)
class Nudged:
    """Free frames (T, n, 4), None where none were found, the number of checks, and their offset (K,)."""

    frames: Array | None
    checks: int
    offset: Array | None = None


def nudge(
    check: LimbCheck,
    family: OffsetFamily,
    base: Array,
    times: Array,
    weights: Array,
    rough: Callable[[Array], Array] | None = None,
    sampling: Sampling = SAMPLING,
) -> Nudged:
    """Frames (T, n, 4) of a limb at times (T,), its base (T, n, 4) with an offset that makes it free, if any does.

    `weights` (T,) is the share of the offset at each frame: where it is 0, frames are those of the base. `rough` gives
    the roughness (N,) of frames (N, T, n, 4), above 1 being too rough.
    """
    rng = np.random.default_rng(sampling.seed)
    samples = _first_samples(weights)
    every = np.arange(len(times))
    missed: list[int] = []
    checks = [0]
    always = np.ones(len(times), dtype=bool)  # frames at which every offset so far collides

    def whole(offset: Array) -> Array:
        q = family.frames(offset[None], every)[0]
        return np.where((weights == 0.0)[:, None, None], base, rot.continuous(q))

    def codes_of(offsets: Array, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        q = family.frames(offsets, rows)
        good = np.isfinite(q).all(axis=(1, 2, 3))
        q[~good] = base[rows]
        codes = check.batch(q.reshape(-1, *q.shape[2:]), np.tile(times[rows], len(offsets)), resolve_uncertain=True)
        codes = codes.reshape(len(offsets), -1)
        codes[~good] = HIT
        checks[0] += codes.size
        return codes

    def judged(offsets: Array) -> tuple[Array, Array, Array, bool]:
        # offsets that already hit need no further checks
        some, rest = samples[::_FEWER], np.setdiff1d(samples, samples[::_FEWER])
        codes = codes_of(offsets, some)
        always[np.setdiff1d(every, some[(codes == HIT).all(axis=0)])] = False
        hits, doubts = (codes == HIT).mean(axis=1), (codes == UNCERTAIN).mean(axis=1)
        clear = np.flatnonzero(hits == 0.0)
        if len(clear) and len(rest):
            codes = np.concatenate([codes[clear], codes_of(offsets[clear], rest)], axis=1)
            # uncertain samples weigh more where a full check has found a hit
            heed = np.where(np.isin(np.concatenate([some, rest]), missed), _MISSED, 1.0)
            hits[clear], doubts[clear] = (codes == HIT).mean(axis=1), ((codes == UNCERTAIN) * heed).mean(axis=1)
        rough_by = np.zeros(len(offsets))
        if len(clear):
            rough_by[clear] = np.minimum(roughness(offsets[clear]), _ROUGHEST)
        return hits, doubts, rough_by, bool(always.any())

    def hit_of(offset: Array) -> float | None:
        may_stop_here()
        q = whole(offset)
        if not np.isfinite(q).all() or (rough is not None and rough(q[None])[0] > 1.0):
            return float(times[0])
        return first_hit(check, q, times)

    def roughness(offsets: Array) -> Array:
        few = max(_AT_ONCE // len(every), 1)
        return np.concatenate([roughness_of(offsets[k : k + few]) for k in range(0, len(offsets), few)])

    def roughness_of(offsets: Array) -> Array:
        may_stop_here()
        q = family.frames(offsets, every)
        bad = ~np.isfinite(q).all(axis=(1, 2, 3))
        if rough is None or bad.all():
            return np.where(bad, np.inf, 0.0)
        q[bad] = base
        still = (weights == 0.0)[:, None, None]
        return np.where(bad, np.inf, rough(np.where(still, base, q)))

    for cycle in range(_CYCLES if sampling.thorough else 1):
        offsets = _small_offsets(rng, family.reach, sampling, judged)
        if not offsets and (cycle > 0 or always.any() or time.perf_counter() >= sampling.until):
            break
        for offset in _some(offsets):
            hit = hit_of(offset)
            if hit is None:
                least = _drawn_back(hit_of, offset)
                return Nudged(whole(least), checks[0], least)
            missed.append(int(np.argmin(np.abs(times - hit))))
        samples = np.unique(np.concatenate([samples, np.array(missed, np.int64)]))
    return Nudged(None, checks[0])


def _first_samples(weights: Array) -> NDArray[np.int64]:
    """Frames of the first checks."""
    inside = np.flatnonzero(weights > 0.8)
    aside = np.flatnonzero((weights > 0.0) & (weights <= 0.8))
    picked = [
        rows[np.linspace(0, len(rows) - 1, n).astype(int)]
        for rows, n in ((inside, _INSIDE), (aside, _ASIDE))
        if len(rows)
    ]
    return np.unique(np.concatenate(picked))


def _small_offsets(
    rng: np.random.Generator,
    reach: Array,
    sampling: Sampling,
    judged: Callable[[Array], tuple[Array, Array, Array, bool]],
) -> list[Array]:
    """Offsets (K,) without a hit, small ones first, resampled around the best so far.

    `judged` gives, for offsets (N, K), the shares of checks that hit and that are uncertain, roughness, and whether one
    check has hit for every offset so far.
    """
    mean, spread = np.zeros(len(reach)), np.ones(len(reach))
    count = max(_DRAWN, _EACH * int(np.count_nonzero(reach)))
    found: list[tuple[float, Array]] = []
    fewest: list[float] = []  # share of hits of the best offset of each round
    for draw in range(_DRAWS):
        unit = rng.normal(size=(count, len(reach)))
        if draw == 0:
            # numbers are zeroed now and then, so that offsets of few of them come early
            unit *= rng.random((count, len(reach))) < 0.6
            unit *= np.exp(rng.uniform(np.log(_SMALL), np.log(_LARGE), (count, 1)))
        offsets = mean + spread * unit
        peak = np.abs(offsets * reach).max(axis=1, keepdims=True)
        offsets *= np.minimum(1.0, sampling.largest / np.maximum(peak, 1e-9))
        size = np.linalg.norm(offsets[:, reach > 0.0], axis=1)
        order = np.argsort(size, kind="stable")
        cost, in_vain = np.full(count, np.inf), False
        fewest.append(np.inf)
        while len(order):
            # none of these is among the best; a few may still pass the full check where smaller ones do not
            larger = np.sort(cost)[_BEST - 1] <= size[order[0]]
            some, order = (order[::_LARGER], order[:0]) if larger else (order[:_JUDGED], order[_JUDGED:])
            hits, doubts, rough, in_vain = judged(offsets[some] * reach)
            fewest[-1] = min(fewest[-1], float(hits.min()))
            cost[some] = size[some] + _HIT * hits + _DOUBT * doubts + _ROUGH * np.maximum(rough - 1.0, 0.0)
            found += [(float(cost[k]), offsets[k] * reach) for k in some[(hits == 0.0) & (rough <= 1.0)]]
        stuck = not (sampling.thorough or found) and draw >= _STUCK and fewest[-1] >= fewest[-1 - _STUCK]
        if stuck or (in_vain and draw + 1 >= _IN_VAIN):
            break
        best = offsets[np.argsort(cost, kind="stable")[:_BEST]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        if (draw >= _ENOUGH[0] and len(found) >= _ENOUGH[1]) or time.perf_counter() >= sampling.until:
            break
    return [offset for _, offset in sorted(found, key=lambda f: f[0])]


def _some(offsets: list[Array]) -> list[Array]:
    """The smallest offset, which is at the border of collision, and some larger ones."""
    return [offsets[k] for k in np.unique(np.linspace(0, len(offsets) - 1, _CLOSELY).astype(int))] if offsets else []


def _drawn_back(hit_of: Callable[[Array], float | None], offset: Array) -> Array:
    """The smallest fraction of an offset that is free, given that the whole is."""
    return offset * least_share(lambda share: hit_of(share * offset) is None, _BACK)


def least_share(fits: Callable[[float], bool], halves: int) -> float:
    """A fraction between 0 and 1 that fits, as small as `halves` bisections find; 1 does."""
    low, high = 0.0, 1.0
    for _ in range(halves):
        may_stop_here()
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
