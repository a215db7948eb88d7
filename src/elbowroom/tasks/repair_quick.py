"""Repairs without proofs, for as long as something is being moved: what meets at some moments is leaned aside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import CLOSE, Wish, style_of
from elbowroom.tasks.plan import Plan, Planned
from elbowroom.tasks.repair import ASIDE, USUAL
from elbowroom.tasks.repair_find import troubles
from elbowroom.tasks.repair_ladder import Wishes, by_limbs, mended
from elbowroom.tasks.repair_stretch import Clocks
from elbowroom.world.certificate_findings import Collision, who_and_limb
from elbowroom.world.exact import ExactWorld
from elbowroom.world.intervals import merged
from elbowroom.world.world import World

# Checks that one search may make: it has to be over before the hand has moved on.
_BUDGET = Budget(checks=3000)


def meetings(world: World, exact: ExactWorld, times: Array, moved: Sequence[str] = ()) -> list[Collision]:
    """Where bodies, or what they hold, meet what is moved, or by default any thing, at some `times` (T,) alone.

    Depths are not measured. `exact` may be of the same world with other frames of its people.
    """
    held = {hold.object for hold in world.holds}
    body = np.array([part.kind == "body" or part.owner in held for part in exact.parts], dtype=bool)
    thing = np.array([part.kind in ("thing", "static") for part in exact.parts], dtype=bool)
    if moved:
        thing = np.array([part.owner in moved for part in exact.parts], dtype=bool)
    a, b = exact.index[:, 0], exact.index[:, 1]
    pairs = np.flatnonzero((thing[a] & body[b]) | (thing[b] & body[a]))
    step = float(np.diff(times).min(initial=np.inf)) if len(times) > 1 else 0.0
    met: dict[int, list[tuple[float, float]]] = {}
    record = world.record(times) if len(times) else ()
    for k, t in enumerate(times):
        exact.place_snapshot(record[k])
        for pair in exact.near(0.0, pairs).tolist():
            if exact.hit(pair) and not _may(exact, pair):
                met.setdefault(pair, []).append((t - 0.5 * step, t + 0.5 * step))
    found = []
    for pair, spans in met.items():
        who, limb = who_and_limb(exact, pair)
        for begin, end in merged(spans, 1.5 * step):
            during = (max(begin, float(world.span[0])), min(end, float(world.span[1])))
            found.append(Collision(during, who, limb, exact.pairs[pair], None, 0.5 * sum(during)))
    return sorted(found, key=lambda c: (c.during, c.pair))


def mended_quickly(
    world: World, found: Sequence[Collision], sources: Mapping[str, Clip], seed: int, style: Wish, until: float
) -> Plan:
    """The world with limbs led round what they met, as far as leans and short searches do; nothing is proven of it.

    `sources` are the clips as they came. Nothing more is begun after `until`, by `time.perf_counter`; where there is no
    such time, bodies go aside, too.
    """
    rungs, budget = (by_limbs, _BUDGET) if math.isfinite(until) else (mended, USUAL)
    wishes = Wishes(
        sources, seed, style_of(style, CLOSE), budget, fix_self=False, max_aside=ASIDE, clocks=Clocks(until=until)
    )
    exact = ExactWorld(world)
    plans: list[Planned] = []
    for who in sources:
        for trouble in troubles(exact, who, found):
            done, _ = rungs(world, trouble, wishes)
            if done is not None:
                world = done.world
                plans += done.plans
    return Plan("found", world, tuple(plans), collisions=tuple(found))


def _may(exact: ExactWorld, pair: int) -> bool:
    """Whether a pair that meets may, as deep as it does."""
    if pair not in exact.contacts:
        return False
    depth = exact.distance(pair).value
    return depth is not None and exact.allowed(pair, -depth) is not None
