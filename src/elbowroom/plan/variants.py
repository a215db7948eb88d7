"""Several clearly different motions for one request: repairs of a clip, or plans of a storyboard (X6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.result import Plan
from elbowroom.stopping import deadline
from elbowroom.world.world import World

# Two motions look the same where no joint leaves its path in the other by more than this, metres.
ALIKE_M = 0.05
# Seeds that are tried per variant.
_TRIES = 3
# Sample rate for comparing two motions, per second, and the largest number of samples.
_MOMENTS_PER_S = 60.0
_MOST_MOMENTS = 2000
# Path points per sample that it is compared with.
_FINER = 4

MOST_VARIANTS = 1000


@dataclass(frozen=True, eq=False)
class Variant:
    """One of several motions: its seed, and its distance from those before it, metres (None for the first)."""

    seed: int
    plan: Plan
    differs: float | None = None


@dataclass(frozen=True, eq=False)
class Variants:
    """Motions that look different; seeds that failed (with the reason), and seeds that repeated a motion."""

    kept: tuple[Variant, ...]
    failed: tuple[Variant, ...] = ()
    alike: tuple[Variant, ...] = ()


def find_variants(
    attempt: Callable[[int, Variants], Plan],
    count: int,
    *,
    seed: int = 0,
    seeds: int | None = None,
    budget: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Variants:
    """Collect up to `count` different motions from `attempt`, called with a seed and the variants so far.

    Seeds are tried from `seed` on, at most `seeds` of them (three per variant by default). `progress` is called with
    the seed and the number found. `budget` seconds are for all of them together: variants found before it is spent are
    kept. A plan that changes nothing ends the search: other seeds would give the same motion.
    """
    if not 1 <= count <= MOST_VARIANTS:
        raise BadValue(f"the number of variants must be between 1 and {MOST_VARIANTS}, not {count}.")
    found = Variants(())
    with deadline(budget):
        for s in range(seed, seed + (_TRIES * count if seeds is None else seeds)):
            if progress is not None:
                progress(s, len(found.kept))
            plan = attempt(s, found)
            found = _sorted_in(found, s, plan)
            if plan.status == "budget-spent" or len(found.kept) == count or (plan.found and not plan.edits):
                break
    return found


def _sorted_in(found: Variants, seed: int, plan: Plan) -> Variants:
    """Variants with one more plan: kept, failed or alike."""
    if not plan.found:
        return Variants(found.kept, (*found.failed, Variant(seed, plan)), found.alike)
    differs = min((difference(plan.world, v.plan.world) for v in found.kept), default=None)
    variant = Variant(seed, plan, differs)
    if differs is None or differs > ALIKE_M:
        return Variants((*found.kept, variant), found.failed, found.alike)
    return Variants(found.kept, found.failed, (*found.alike, variant))


def repair_variants(
    world: World,
    count: int,
    who: str | Sequence[str] | None = None,
    *,
    seed: int = 0,
    budget: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    **how: Any,
) -> Variants:
    """Find up to `count` clearly different repairs: each is led away from those before it.

    `how` are further arguments of `repair`; the others are those of `find_variants`. A clip that is already free has no
    variants but itself.
    """

    def attempt(s: int, found: Variants) -> Plan:
        return repair(world, who, seed=s, apart=[v.plan.world for v in found.kept], **how)

    return find_variants(attempt, count, seed=seed, budget=budget, progress=progress)


def difference(a: World, b: World) -> float:
    """Largest distance of any joint from its whole path in the other motion, metres, regardless of time."""
    return max((_apart(_paths(a, name), _paths(b, name)) for name in a.characters), default=0.0)


def _paths(world: World, name: str) -> Array:
    """Joint positions (T, J, 3) of a character over all of its motion."""
    motion = world.motion(name)
    begin, end = motion.span
    count = _FINER * min(max(int((end - begin) * _MOMENTS_PER_S), 1), _MOST_MOMENTS) + 1
    return motion.body.transforms(*motion.sample(np.linspace(begin, end, count)))[..., :3, 3]


def _apart(a: Array, b: Array) -> float:
    """Hausdorff distance of two sets of joint paths (T, J, 3), the largest over the joints."""
    worst = 0.0
    for joint in range(a.shape[1]):
        for path, other in ((a[:, joint], b[:, joint]), (b[:, joint], a[:, joint])):
            worst = max(worst, float(scipy.spatial.cKDTree(other).query(path[::_FINER])[0].max()))
    return worst
