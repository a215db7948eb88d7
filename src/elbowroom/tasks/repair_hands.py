"""When a body or a limb may be moved: not while it takes, leaves or touches something, which is where it is."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from elbowroom.motion.clip import Clip
from elbowroom.world.certificate_findings import Interval
from elbowroom.world.contacts import Contact, fits
from elbowroom.world.world import World


def at_work(world: World, who: str, span: Interval, joints: Iterable[int] = (0,)) -> bool:
    """Whether parts that some joints move take, leave or touch something during a span; by default the whole body."""
    return any((a < span[1] and span[0] < b) or span[0] < a == b < span[1] for a, b in _works(world, who, joints))


def hands_free(world: World, clip: Clip, who: str, joints: Iterable[int], during: Interval) -> tuple[int, int] | None:
    """First and last frame about a time from which on, and up to which, joints may be moved otherwise; None where a
    part that they move is at work just then."""
    low, high = clip.source.lead, len(clip) - 1
    for begin, end in _works(world, who, joints):
        if end <= during[0]:
            low = max(low, int(np.searchsorted(clip.times, end - 1e-9)))
        elif begin >= during[1]:
            high = min(high, int(np.searchsorted(clip.times, begin + 1e-9)) - 1)
        else:
            return None
    return low, high


def _works(world: World, who: str, joints: Iterable[int]) -> list[Interval]:
    """When parts that joints move take or leave something, moments, and when they touch it: hands mostly, but a hat is
    taken off a head, too, and a foot presses a button."""
    body, (begin, end) = world.body(who), world.motion(who).span
    moved = {k for j in joints for k in body.subtree(j)}
    holds = [hold for hold in world.holds if hold.by == who and body.hand(hold.hand)[0] in moved]
    found = [(t, t) for hold in holds for t in hold.during if begin < t < end]
    parts = [f"{who}.{shape.name}" for shape in body.shapes if shape.joint in moved]
    return found + [c.during for c in world.contacts if c.kind in ("touch", "grip", "seat") and _of(c, who, parts)]


def _of(contact: Contact, who: str, parts: list[str]) -> bool:
    """Whether a contact is one of some parts of somebody with something else, the floor apart."""
    for mine, other in ((contact.who, contact.on), (contact.on, contact.who)):
        if any(fits(mine, part) for part in parts) and not fits(who, other) and other != "floor":
            return True
    return False
