"""Several repairs of the same clip that differ to the eye: past the other side, higher or lower (X6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from elbowroom.errors import BadValue
from elbowroom.stopping import deadline
from elbowroom.tasks.repair import repair
from elbowroom.tasks.storyboard_plan import ALIKE, MOST_VARIANTS, Variant, Variants, difference
from elbowroom.world.world import World

# Seeds that are tried for each variant that is wanted.
_TRIES = 3


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
    """Up to `count` clearly different repairs, from this seed on: each is led away from those before it.

    `how` is what `repair` takes besides; `progress` is told the seed and how many are found. A clip that is free
    as it is has no variants but itself. `budget` is for all of them together: what was found when it is spent is kept.
    """
    if not 1 <= count <= MOST_VARIANTS:
        raise BadValue(f"the number of variants is between 1 and {MOST_VARIANTS}, not {count}.")
    kept: list[Variant] = []
    failed: list[Variant] = []
    alike: list[Variant] = []
    with deadline(budget):
        for s in range(seed, seed + _TRIES * count):
            if progress is not None:
                progress(s, len(kept))
            plan = repair(world, who, seed=s, apart=[v.plan.world for v in kept], **how)
            if not plan.found:
                failed.append(Variant(s, plan))
                if plan.status == "budget-spent":
                    break
                continue
            differs = min((difference(plan.world, v.plan.world) for v in kept), default=None)
            variant = Variant(s, plan, differs)
            (kept if differs is None or differs > ALIKE else alike).append(variant)
            if len(kept) == count or not plan.plans:
                break
    return Variants(tuple(kept), tuple(failed), tuple(alike))
