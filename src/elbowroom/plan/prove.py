"""Proof of a plan's motion at the current strength of its edits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elbowroom.plan.state.edit import EditChange, changed_by, with_edit_contacts
from elbowroom.plan.state.result import Plan, Status
from elbowroom.stopping import OutOfTime
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.edit import motions
from elbowroom.world.world import World

# Largest distance of a hand from where it was planned to take or leave something, metres.
_MISSES_M = 0.002
_GRIP_ADVICE = "change its position in the hand ('grip'), or omit it so that a grasp is chosen"


def prove(plan: Plan, fps: float | None = None, *, own_contacts: bool = True) -> Plan:
    """The plan with its certificate for frames at `fps`; a refused proof changes the status.

    Weaker edits may leave a hand short of its object: that is 'not-certified', too. `own_contacts` is that of
    `certify`.
    """
    start = time.perf_counter()
    allowed = with_edit_contacts(plan.world, plan.edits)
    try:
        certificate = certify(allowed, fps, own_contacts=own_contacts, changed=changed_by(plan.edits))
    except OutOfTime as spent:
        return plan.with_(status="budget-spent", why=f"the proof: {spent}", certificate=None)
    seconds = {**plan.seconds, "certify": time.perf_counter() - start}
    missed = _missed(plan)
    status: Status = "found"
    if not certificate.free:
        status = "base-in-collision" if certificate.collisions and not plan.edits else "not-certified"
    elif missed:
        status = "not-certified"
    why = missed if certificate.free else _blame(certificate)
    usual = _GRIP_ADVICE if _grips_badly(plan.world, certificate) else plan.usual
    return plan.with_(status=status, why=why, usual=usual, certificate=certificate, seconds=seconds)


def changed_edits(plan: Plan, changes: Sequence[EditChange], fps: float | None, *, own_contacts: bool = True) -> Plan:
    """A plan with changed edits, and its proof; unchanged where it has no motion."""
    if not changes or plan.status not in ("found", "partial", "not-certified"):
        return plan
    made = plan
    for change in changes:
        if change.strength is not None:
            made = made.with_edits({change.which: change.strength})
        if change.muted:
            made = made.muted(change.which)
    return made if made.certificate is not None else prove(made, fps, own_contacts=own_contacts)


def _missed(plan: Plan) -> str:
    """Message about a hand that misses its object because edits are weaker than planned; empty if there is none."""
    if all(edit.share == 1.0 for edit in plan.edits):
        return ""
    whole = [replace(edit.with_strength(1.0), muted=False) for edit in plan.edits]
    planned = plan.world.with_(characters=motions(plan.base, whole))
    for hold in plan.world.holds:
        for t in hold.during:
            hands = [world.hand(hold.by, hold.hand, t)[:3, 3] for world in (planned, plan.world)]
            apart = float(np.linalg.norm(hands[0] - hands[1]))
            if apart > _MISSES_M:
                what = f"the {hold.hand} hand of {hold.by} misses {hold.object} by {100 * apart:.1f} cm at {t:.2f} s"
                return f"{what}, because edits are weaker than planned"
    return ""


def _grips_badly(world: World, certificate: Certificate) -> bool:
    """Return whether all that collides is somebody and what that person holds."""
    held = {(hold.by, hold.object) for hold in world.holds}
    pairs = [{world.split(name)[0] for name in collision.pair} for collision in certificate.collisions]
    return bool(pairs) and all(any({*one} == pair for one in held) for pair in pairs)


def _blame(certificate: Certificate) -> str:
    """Name the obstacle in a sentence."""
    if certificate.collisions:
        worst = max(certificate.collisions, key=lambda c: c.depth_m or 0.0)
        a, b = worst.pair
        return f"{a} and {b} collide at {worst.during[0]:.2f}–{worst.during[1]:.2f} s"
    first = certificate.unproven[0]
    a, b = first.pair
    return f"{a} and {b} are too close to decide at {first.during[0]:.2f}–{first.during[1]:.2f} s"
