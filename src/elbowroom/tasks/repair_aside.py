"""What is told of a way aside, and when somebody is on it."""

from __future__ import annotations

from dataclasses import dataclass

from elbowroom.finish.nudge import Core
from elbowroom.motion.clip import Clip
from elbowroom.world.allowances import Changed
from elbowroom.world.certificate_findings import Interval
from elbowroom.world.contacts import Contact
from elbowroom.world.world import World

# Seconds about a trouble at which it is all the way there, and of the way there and back, at least.
_PAD, _LEAST = 0.15, 0.3


@dataclass(frozen=True, eq=False)
class Aside:
    """A world in which someone is elsewhere for a while: what of the body is moved by its `name`, and how, in words.

    `changed` are the joints of the legs, and when; `contacts` what may touch then; `leaves` is the share of the depth
    in things that is left, 0 where no look finds anything in anything, out of so many `checks`.
    """

    world: World
    name: str
    told: str
    changed: Changed
    contacts: tuple[Contact, ...]
    leaves: float
    checks: int


def core_about(clip: Clip, during: Interval, way: float) -> Core | None:
    """When someone goes aside and comes back, with `way` seconds for either; None where there is too little time."""
    low, high = (float(clip.times[k]) for k in (clip.source.lead, -1))
    begin, end = during[0] - _PAD, during[1] + _PAD
    first, last = max(begin - way, low), min(end + way, high)
    begin, end = max(begin, first + _LEAST), min(end, last - _LEAST)
    if begin > during[0] or end < during[1]:
        return None
    return Core(first, begin, end, last)
