"""Repair of a motion in the time around known collisions, so that a long walk costs no more than a short one."""

from __future__ import annotations

from collections.abc import Sequence

from elbowroom.plan.repair.pieces import fits, piece_of, window
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.result import Plan
from elbowroom.world.certificate_findings import Collision, Unproven
from elbowroom.world.edit import motions
from elbowroom.world.world import World


def repair_near(
    world: World, who: str, hits: Sequence[Collision | Unproven], *, seed: int = 0, searches: bool = True
) -> Plan:
    """Resolve the given collisions of a character, which are all there are, in the time around them if possible.

    See `repair`; the certificate is that of the window.
    """
    during = window(world, hits)
    if during is not None:
        piece = piece_of(world, during)
        done = repair(piece, who, seed=seed, searches=searches)
        if fits(world, piece, done.edits):
            whole = world.with_(characters=motions(world.characters, done.edits))
            return done.with_(world=whole, base=world.characters)
    return repair(world, who, seed=seed, searches=searches)
