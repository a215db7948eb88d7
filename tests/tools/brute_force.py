"""Collisions the slow way: the exact test at many times a second, nothing skipped, nothing remembered."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place
from elbowroom.world.certificate import Certificate
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import Pair
from elbowroom.world.world import World

Interval = tuple[float, float]


def brute_force(
    world: World, rate: float = 1000.0, counts: Callable[[Pair], bool] = lambda pair: True
) -> dict[Pair, list[Interval]]:
    """First and last times of all runs of hits, for each pair that counts and is not allowed to touch."""
    exact = ExactWorld(world)
    wanted = np.array([counts(pair) for pair in exact.pairs])
    begin, end = world.span
    times = np.linspace(begin, end, int(np.ceil((end - begin) * rate)) + 1)
    hits: dict[Pair, list[float]] = {}
    for first in range(0, len(times), 500):
        record = world.record(times[first : first + 500])
        for i in range(len(record)):
            exact.place_snapshot(record[i])
            for k in exact.near(0.0):
                if not wanted[k] or not exact.hit(int(k)):
                    continue
                depth = exact.distance(int(k)).value if exact.world.contacts else None
                if depth is None or exact.allowed(int(k), -depth) is None:
                    seen = hits.setdefault(exact.pairs[k], [])
                    if not seen or seen[-1] != record.times[i]:
                        seen.append(float(record.times[i]))
    return {pair: runs(seen, 1.5 / rate) for pair, seen in hits.items()}


def runs(times: list[float], gap: float) -> list[Interval]:
    """Runs of times that are no more than a gap apart."""
    out: list[Interval] = []
    for t in times:
        if out and t - out[-1][1] <= gap:
            out[-1] = (out[-1][0], t)
        else:
            out.append((t, t))
    return out


def disagreements(
    certificate: Certificate, found: dict[Pair, list[Interval]], rate: float = 1000.0, local: float = 1.0 / 240.0
) -> list[str]:
    """What a certificate and brute force say differently, interval by interval, in words.

    Every hit of brute force lies in a collision; every moment of a collision is as near to a hit as `local` and the
    rate tell apart. A collision that falls between two looks of brute force may be missing there: it is short.
    """
    out = []
    claimed: dict[Pair, list[Interval]] = {}
    for c in certificate.collisions:
        claimed.setdefault(c.pair, []).append(c.during)
    slack = local + 1.0 / rate
    for pair in {*claimed, *found}:
        names, ours, theirs = f"{pair.a}, {pair.b}", claimed.get(pair, []), found.get(pair, [])
        for a, b in theirs:
            if not any(x - 1e-9 <= a and b <= y + 1e-9 for x, y in ours):
                out.append(f"{names}: brute force hits {a:.4f}–{b:.4f} s, the certificate has {ours}")
        for a, b in ours:
            inside = sorted(h for h in theirs if h[0] <= b and a <= h[1])
            if not inside:
                if b - a > 2.0 * slack:
                    out.append(f"{names}: the certificate has {a:.4f}–{b:.4f} s, brute force nothing")
                continue
            gaps = [x[0] - y[1] for y, x in pairwise(inside)]
            if inside[0][0] - a > slack or b - inside[-1][1] > slack or max(gaps, default=0.0) > 2.0 * slack:
                out.append(f"{names}: the certificate has {a:.4f}–{b:.4f} s, brute force {inside}")
    return out


def in_the_thick_of(world: World, clip: Clip, rng: np.random.Generator) -> Clip:
    """The clip, turned at random, so that its middle is beside a random piece of furniture."""
    pieces = [m.bounds for m in world.static.values() if 0.3 < np.ptp(m.bounds, axis=0).max() < 3.0]
    bounds = pieces[rng.integers(len(pieces))]
    spot = bounds.mean(axis=0)[:2] + rng.uniform(-0.6, 0.6, 2)
    turned = place(clip, (0.0, 0.0), rng.uniform(0.0, 2.0 * np.pi), about="start", lift=world.floor or 0.0)
    return place(turned, spot - turned.root[len(clip) // 2, :2])
