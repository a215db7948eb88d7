"""The least that will do: a motion leaned aside for a while, by something that comes and goes smoothly.

The motion goes on underneath, so arms keep their swing. What is drawn is the lean, small ones first (after Esteves et
al. 2006: warped back to the least deformation that is free).
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

# Leans drawn at once, and for each of their numbers; how many of the best lead the next draw, and how often.
_DRAWN, _EACH, _BEST, _DRAWS = 96, 12, 12, 9
# It ends after so many draws where so many leans were found that hit nothing.
_ENOUGH = (3, 60)
# After so many draws in which every lean hit at one and the same frame there is no use in others: 200 leans of all
# sizes leave that frame where it is.
_IN_VAIN = 2
# How many are looked at closely then: most that fail do so at the first look.
_CLOSELY = 16
# The whole is done again with what close looks have found, so often.
_CYCLES = 2
# Radians that leans are drawn from at first, small and large.
_SMALL, _LARGE = 0.05, 1.2
# Frames at which leans are looked at: so many in and about the core, and so many on the way there and back.
# One in so many is looked at first.
_INSIDE, _ASIDE, _FEWER = 40, 16, 4
# What a hit and a doubt at all looks count for against a radian of lean; how much more doubts count where a close look
# has found a hit.
_HIT, _DOUBT, _MISSED = 60.0, 0.2, 100.0
# What roughness beyond what is allowed counts for, and the most that is told.
_ROUGH, _ROUGHEST = 1.0, 4.0
# A lean that is free is drawn back by halves, so often.
_BACK = 4
# Frames whose roughness is measured at once, so that long motions can be stopped, too.
_AT_ONCE = 10_000


@dataclass(frozen=True)
class Core:
    """Seconds from `begin` to `end` that a lean must be at its height; `first` and `last` are where it begins and ends.

    A lean that is there at `first` already, or at `last` still, has begin = first or end = last.
    """

    first: float
    begin: float
    end: float
    last: float

    def weights(self, times: Array) -> Array:
        """Share of the lean at times (T,): 0 at the ends, 1 in the core, without a jump in acceleration."""
        rise = np.ones(len(times)) if self.begin <= self.first else (times - self.first) / (self.begin - self.first)
        fall = np.ones(len(times)) if self.end >= self.last else (self.last - times) / (self.last - self.end)
        return smootherstep(rise) * smootherstep(fall)

    def largest(self, jerk: float) -> float:
        """Radians of the largest lean that comes and goes with no more than some angular jerk, rad/s³."""
        ramps = [r for r in (self.begin - self.first, self.last - self.end) if r > 0.0]
        return min((jerk * r**3 / 60.0 for r in ramps), default=np.inf)  # 60 A / r³ is that of a rise by A in r seconds


def bump(times: Array, begin: float, end: float) -> Array:
    """A bump (T,) of height 1 between two times, without a jump in acceleration."""
    s = np.clip((times - begin) / max(end - begin, 1e-9), 0.0, 1.0)
    return 64.0 * (s * (1.0 - s)) ** 3


class Leans(Protocol):
    """Ways to lean a base motion (T, n, 4) aside, each told by some numbers (K,)."""

    @property
    def reach(self) -> Array:
        """Weight of each number, (K,): its share in an offset of size 1."""
        ...

    def frames(self, leans: Array, rows: NDArray[np.int64]) -> Array:
        """Rotations (N, R, n, 4) of leans (N, K) at some of the frames (R,); not finite where there is no such lean."""
        ...


@dataclass(frozen=True, eq=False)
class Nudged:
    """Frames (T, n, 4) that are free, None where none were found, how many postures were looked at for them, and the
    lean (K,) that they have."""

    frames: Array | None
    checks: int
    lean: Array | None = None


def nudge(
    check: LimbCheck,
    ways: Leans,
    base: Array,
    times: Array,
    weights: Array,
    largest: float = np.inf,
    seed: int = 0,
    rough: Callable[[Array], Array] | None = None,
    until: float = math.inf,
) -> Nudged:
    """Frames (T, n, 4) of a limb at times (T,), its base (T, n, 4) leaned aside so that it is free, if any is.

    `weights` (T,) is how much of a lean there is at each frame: where it is 0, frames are those of the base. `largest`
    is the most that any number of a lean may be; `rough` says of frames (N, T, n, 4) how rough they are (N,), above 1
    being too rough. No other leans are drawn after `until`, by `time.perf_counter`: only for motions that follow a
    mouse, since the clock then picks the motion.
    """
    rng = np.random.default_rng(seed)
    looks = _looks(weights)
    every = np.arange(len(times))
    missed: list[int] = []
    checks = [0]
    always = np.ones(len(times), dtype=bool)  # frames at which every lean so far hits

    def whole(lean: Array) -> Array:
        q = ways.frames(lean[None], every)[0]
        return np.where((weights == 0.0)[:, None, None], base, rot.continuous(q))

    def codes_of(leans: Array, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        q = ways.frames(leans, rows)
        good = np.isfinite(q).all(axis=(1, 2, 3))
        q[~good] = base[rows]
        codes = check.batch(q.reshape(-1, *q.shape[2:]), np.tile(times[rows], len(leans)), resolve_uncertain=True)
        codes = codes.reshape(len(leans), -1)
        codes[~good] = HIT
        checks[0] += codes.size
        return codes

    def judged(leans: Array) -> tuple[Array, Array, Array, bool]:
        # what hits at some of the looks need not be looked at more
        some, rest = looks[::_FEWER], np.setdiff1d(looks, looks[::_FEWER])
        codes = codes_of(leans, some)
        always[np.setdiff1d(every, some[(codes == HIT).all(axis=0)])] = False
        hits, doubts = (codes == HIT).mean(axis=1), (codes == UNCERTAIN).mean(axis=1)
        clear = np.flatnonzero(hits == 0.0)
        if len(clear) and len(rest):
            codes = np.concatenate([codes[clear], codes_of(leans[clear], rest)], axis=1)
            # doubts weigh more where a close look has found a hit
            heed = np.where(np.isin(np.concatenate([some, rest]), missed), _MISSED, 1.0)
            hits[clear], doubts[clear] = (codes == HIT).mean(axis=1), ((codes == UNCERTAIN) * heed).mean(axis=1)
        rough_by = np.zeros(len(leans))
        if len(clear):
            rough_by[clear] = np.minimum(roughness(leans[clear]), _ROUGHEST)
        return hits, doubts, rough_by, bool(always.any())

    def hit_of(lean: Array) -> float | None:
        may_stop_here()
        q = whole(lean)
        if not np.isfinite(q).all() or (rough is not None and rough(q[None])[0] > 1.0):
            return float(times[0])
        return first_hit(check, q, times)

    def roughness(leans: Array) -> Array:
        few = max(_AT_ONCE // len(every), 1)
        return np.concatenate([roughness_of(leans[k : k + few]) for k in range(0, len(leans), few)])

    def roughness_of(leans: Array) -> Array:
        may_stop_here()
        q = ways.frames(leans, every)
        bad = ~np.isfinite(q).all(axis=(1, 2, 3))
        if rough is None or bad.all():
            return np.where(bad, np.inf, 0.0)
        q[bad] = base
        still = (weights == 0.0)[:, None, None]
        return np.where(bad, np.inf, rough(np.where(still, base, q)))

    for cycle in range(_CYCLES):
        leans = _small_leans(rng, ways.reach, largest, judged, until)
        if not leans and (cycle > 0 or always.any() or time.perf_counter() >= until):
            break
        for lean in _some(leans):
            hit = hit_of(lean)
            if hit is None:
                least = _drawn_back(hit_of, lean)
                return Nudged(whole(least), checks[0], least)
            missed.append(int(np.argmin(np.abs(times - hit))))
        looks = np.unique(np.concatenate([looks, np.array(missed, np.int64)]))
    return Nudged(None, checks[0])


def _looks(weights: Array) -> NDArray[np.int64]:
    """Frames at which leans are looked at first."""
    inside = np.flatnonzero(weights > 0.8)
    aside = np.flatnonzero((weights > 0.0) & (weights <= 0.8))
    picked = [
        rows[np.linspace(0, len(rows) - 1, n).astype(int)]
        for rows, n in ((inside, _INSIDE), (aside, _ASIDE))
        if len(rows)
    ]
    return np.unique(np.concatenate(picked))


def _small_leans(
    rng: np.random.Generator,
    reach: Array,
    largest: float,
    judged: Callable[[Array], tuple[Array, Array, Array, bool]],
    until: float,
) -> list[Array]:
    """Leans (K,) that no look finds to hit, small ones first: drawn anew and anew about the best so far.

    `judged` gives the share of looks that hit, and that are in doubt, and roughness, for leans (N, K), and whether one
    look has found every lean to hit so far.
    """
    mean, spread = np.zeros(len(reach)), np.ones(len(reach))
    count = max(_DRAWN, _EACH * int(np.count_nonzero(reach)))
    found: list[tuple[float, Array]] = []
    for draw in range(_DRAWS):
        unit = rng.normal(size=(count, len(reach)))
        if draw == 0:
            # numbers rest now and then, so that leans of few of them are among the first
            unit *= rng.random((count, len(reach))) < 0.6
            unit *= np.exp(rng.uniform(np.log(_SMALL), np.log(_LARGE), (count, 1)))
        leans = mean + spread * unit
        peak = np.abs(leans * reach).max(axis=1, keepdims=True)
        leans *= np.minimum(1.0, largest / np.maximum(peak, 1e-9))
        hits, doubts, rough, in_vain = judged(leans * reach)
        cost = _HIT * hits + _DOUBT * doubts + np.linalg.norm(leans[:, reach > 0.0], axis=1)
        cost += _ROUGH * np.maximum(rough - 1.0, 0.0)
        found += [(float(cost[k]), leans[k] * reach) for k in np.flatnonzero((hits == 0.0) & (rough <= 1.0))]
        if in_vain and draw + 1 >= _IN_VAIN:
            break
        best = leans[np.argsort(cost, kind="stable")[:_BEST]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        if (draw >= _ENOUGH[0] and len(found) >= _ENOUGH[1]) or time.perf_counter() >= until:
            break
    return [lean for _, lean in sorted(found, key=lambda f: f[0])]


def _some(leans: list[Array]) -> list[Array]:
    """The smallest of leans, which is at the brink, and some of the larger ones."""
    return [leans[k] for k in np.unique(np.linspace(0, len(leans) - 1, _CLOSELY).astype(int))] if leans else []


def _drawn_back(hit_of: Callable[[Array], float | None], lean: Array) -> Array:
    """The smallest share of a lean that is free, the whole of it being so."""
    return lean * least_share(lambda share: hit_of(share * lean) is None, _BACK)


def least_share(fits: Callable[[float], bool], halves: int) -> float:
    """A share between 0 and 1 that fits, as small as some halves find; 1 does."""
    low, high = 0.0, 1.0
    for _ in range(halves):
        may_stop_here()
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
