"""Residual collisions of people who carry something: spine, head and elbows give way, hands stay on the object (E7)."""

from __future__ import annotations

from collections.abc import Sequence

from elbowroom.plan.director import Director
from elbowroom.plan.result import blamed
from elbowroom.plan.teams.animate import Blocked, Frames
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.plan.verbs.holding import Grips
from elbowroom.world.certificate import Certificate

Team = Sequence[tuple[Carrier, Grips, Frames, int]]


def tuned(d: Director, team: Team, during: tuple[float, float], found: Certificate) -> None:
    """Let bodies give way."""
    met = sorted([*found.collisions, *found.unproven], key=lambda c: c.during)
    carrier = team[0][0]
    frame = carrier.actor.frame(met[0].during[0]) - team[0][3]
    raise Blocked(f"{carrier.what}: {blamed(met[0].pair)} on the way", frame)
