"""The least that will do: a motion leaned aside for a while, by a turn of its joints that comes and goes smoothly.

The motion goes on underneath, so arms keep their swing. What is drawn is the lean, small ones first (after Esteves et
al. 2006: warped back to the least deformation that is free).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.limits import JointLimit
from elbowroom.finish.settle import first_hit
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.world.fast import BAND, HIT, LimbCheck

# Leans drawn at once, how many of the best lead the next draw, and how often.
_DRAWN, _BEST, _DRAWS = 96, 12, 7
# Which are looked at closely then, by their place in the order of size.
_CLOSELY = (0.0, 0.1, 0.3, 0.6, 0.85)
# The whole is done again with what close looks have found, so often.
_CYCLES = 3
# Radians that leans are drawn from at first, small and large.
_SMALL, _LARGE = 0.05, 1.2
# Frames at which leans are looked at: so many in and about the core, and so many on the way there and back.
_INSIDE, _ASIDE = 40, 16
# What a hit and a doubt at all looks count for against a radian of lean.
_HIT, _DOUBT = 20.0, 0.2
# A lean that is free is drawn back by halves, so often.
_BACK = 4


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
        return _soft(rise) * _soft(fall)

    def largest(self, jerk: float) -> float:
        """Radians of the largest lean that comes and goes with no more than some angular jerk, rad/s³."""
        ramps = [r for r in (self.begin - self.first, self.last - self.end) if r > 0.0]
        return min((jerk * r**3 / 60.0 for r in ramps), default=np.inf)  # 60 A / r³ is that of a rise by A in r seconds


def nudge(
    check: LimbCheck,
    limits: Sequence[JointLimit],
    base: Array,
    times: Array,
    core: Core,
    *,
    scale: Sequence[float],
    jerk: float,
    seed: int = 0,
) -> Array | None:
    """Frames (T, n, 4) of a limb at times (T,), its base (T, n, 4) leaned aside so that it is free; None if none is.

    `scale` is how much each joint takes part, `jerk` the angular jerk that a lean may bring, rad/s³.
    Frames at both ends are those of the base.
    """
    rng = np.random.default_rng(seed)
    weights = core.weights(times)
    terms = np.stack([limit.coordinates(base[:, j]) for j, limit in enumerate(limits)], axis=1)
    reach = np.array(scale)[:, None] * np.array([_freedom(limit) for limit in limits])
    looks = _looks(times, weights, core)

    def frames(lean: Array) -> Array:
        q = rot.slerp(base, _leaned(limits, terms, lean), weights[:, None])
        return np.where((weights == 0.0)[:, None, None], base, rot.continuous(q))

    def verdicts(leans: Array) -> NDArray[np.uint8]:
        q = rot.slerp(base[looks], _leaned(limits, terms[looks], leans[:, None]), weights[looks][:, None])
        codes = check.batch(q.reshape(-1, *q.shape[2:]), np.tile(times[looks], len(leans)), keen=True)
        codes = codes.reshape(len(leans), -1)
        # where a close look has found a hit, doubts are hits
        return np.where(np.isin(looks, missed) & (codes == BAND), HIT, codes)

    missed: list[int] = []
    for cycle in range(_CYCLES):
        leans = _small_leans(rng, reach, core.largest(jerk), verdicts)
        if not leans and cycle > 0:
            break
        for lean in _some(leans):
            hit = first_hit(check, frames(lean), times)
            if hit is None:
                return _drawn_back(check, frames, lean, times)
            missed.append(int(np.argmin(np.abs(times - hit))))
        looks = np.unique(np.concatenate([looks, np.array(missed, np.int64)]))
    return None


def _looks(times: Array, weights: Array, core: Core) -> NDArray[np.int64]:
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
    rng: np.random.Generator, reach: Array, largest: float, verdicts: Callable[[Array], NDArray[np.uint8]]
) -> list[Array]:
    """Leans (n, 3) that no look finds to hit, small ones first: drawn anew and anew about the best so far."""
    mean = np.zeros(reach.shape)
    spread = np.ones(reach.shape)
    found: list[tuple[float, Array]] = []
    for draw in range(_DRAWS):
        unit = rng.normal(size=(_DRAWN, *reach.shape))
        if draw == 0:
            # joints rest now and then, so that leans of one joint alone are among them
            unit *= rng.random((_DRAWN, reach.shape[0], 1)) < 0.6
            unit *= np.exp(rng.uniform(np.log(_SMALL), np.log(_LARGE), (_DRAWN, 1, 1)))
        leans = mean + spread * unit
        peak = np.abs(leans * reach).max(axis=(1, 2), keepdims=True)
        leans *= np.minimum(1.0, largest / np.maximum(peak, 1e-9))
        codes = verdicts(leans * reach)
        hits, doubts = (codes == HIT).mean(axis=1), (codes == BAND).mean(axis=1)
        size = np.sqrt((leans**2).sum(axis=(1, 2)))
        cost = _HIT * hits + _DOUBT * doubts + size
        found += [(float(cost[k]), leans[k] * reach) for k in np.flatnonzero(hits == 0.0)]
        best = leans[np.argsort(cost, kind="stable")[:_BEST]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
    return [lean for _, lean in sorted(found, key=lambda f: f[0])]


def _some(leans: list[Array]) -> list[Array]:
    """The smallest of leans, which is at the brink, and some of the larger ones."""
    return [leans[k] for k in dict.fromkeys(int(share * len(leans)) for share in _CLOSELY)] if leans else []


def _drawn_back(check: LimbCheck, frames: Callable[[Array], Array], lean: Array, times: Array) -> Array:
    """Frames of the smallest share of a lean that is free, the whole of it being so."""
    low, high, best = 0.0, 1.0, frames(lean)
    for _ in range(_BACK):
        middle = 0.5 * (low + high)
        q = frames(middle * lean)
        if first_hit(check, q, times) is None:
            high, best = middle, q
        else:
            low = middle
    return best


def _leaned(limits: Sequence[JointLimit], terms: Array, lean: Array) -> Array:
    """Rotations (..., n, 4) of terms (..., n, 3) with a lean (n, 3) added, kept within the joints' ranges.

    Where a recorded posture is out of range already, it stays so by as much.
    """
    out = []
    for j, limit in enumerate(limits):
        own = terms[..., j, :]
        beyond = own - limit.clamp_coordinates(own)
        out.append(limit.rotation(limit.clamp_coordinates(own + lean[..., j, :]) + beyond))
    return np.stack(out, axis=-2)


def _freedom(limit: JointLimit) -> tuple[float, float, float]:
    """How readily a joint's terms are used: bends before turns, wrists and ankles least."""
    if limit.kind == "hinge":
        return 1.2, 0.0, 0.4
    return (0.4, 0.4, 0.0) if limit.kind == "swing" else (1.0, 1.0, 0.5)


def _soft(x: Array) -> Array:
    """0 to 1 with no speed and no acceleration at either end."""
    s = np.clip(x, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
