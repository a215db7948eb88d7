"""Repair of a motion in the time around known collisions, so that a long walk costs no more than a short one."""

from __future__ import annotations

from collections.abc import Sequence

from elbowroom.plan.repair.pieces import fits, piece_of, windows
from elbowroom.plan.repair.repair import repair_since
from elbowroom.plan.result import Plan
from elbowroom.world.certificate_findings import Collision, Unproven
from elbowroom.world.edit import motions
from elbowroom.world.world import World


def repair_near(
    world: World, who: str, hits: Sequence[Collision | Unproven], *, seed: int = 0, searches: bool = True
) -> Plan:
    """Resolve the given collisions of a character, which are all since the first of them, in the time around them if
    possible.

    See `repair_since`; the certificate is that of the last time window.
    """
    plan: Plan | None = None
    since = min(hit.during[0] for hit in hits)
    found = windows(world, hits)
    for during in found:
        now = world if plan is None else plan.world
        piece = piece_of(now, during)
        done = repair_since(piece, who, since, seed=seed, searches=searches)
        if not fits(now, piece, done.edits) or (len(found) > 1 and not done.found):
            plan = None
            break
        whole = now.with_(characters=motions(now.characters, done.edits))
        done = done.with_(world=whole, base=now.characters)
        plan = done if plan is None else plan.then(done)
    return repair_since(world, who, since, seed=seed, searches=searches) if plan is None else plan
