"""Rungs for tight places: the pelvis goes aside or down for a while and feet stay, the whole body steps aside, or who
walks walks round what is in the way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.tasks.repair_aside import Aside, core_about
from elbowroom.tasks.repair_find import Trouble
from elbowroom.tasks.repair_hands import at_work
from elbowroom.tasks.repair_looks import SHALLOW, Looks
from elbowroom.tasks.repair_own import with_contacts
from elbowroom.tasks.repair_stretch import MARGIN, Clocks, Job, touches_of
from elbowroom.tasks.repair_sway import Moved, Offset, Sway
from elbowroom.world.allowances import Changed
from elbowroom.world.contacts import Contact
from elbowroom.world.world import World

# Directions in which it is gone aside.
_DIRECTIONS = 8
# Seconds of the way round things, and of the way back.
ROUND = 2.0
# Metres a second from which on somebody gets on, so that there is a left and a right to walk round things.
_WALKS = 0.4
# How many ways are followed up, and the share of the depth that they leave at most.
_FOLLOWED, _GAIN = 3, 0.7
_LEGS = ("left_leg", "right_leg")


@dataclass(frozen=True)
class _Kind:
    """A way to go aside: metres `aside` and `down` that are tried in turn, with so many `seconds` for the way there and
    the way back; in steps or over the feet; in all directions, or to the two sides of where somebody walks."""

    aside: tuple[float, ...]
    seconds: float
    down: tuple[float, ...] = ()
    stepping: bool = True
    sides: bool = False


_OVER = _Kind((0.03, 0.06, 0.1), 0.6, (0.02, 0.05), stepping=False)
_STEPS = _Kind((0.05, 0.1, 0.15, 0.2), 1.2)
_ROUND = _Kind((0.3, 0.4, 0.5, 0.6, 0.8, 1.0), ROUND, sides=True)


def told_by(by: Offset) -> str:
    """How far somebody goes aside and down, (3,) metres, in words."""
    aside, down = np.hypot(*by[:2]), -by[2]
    told = [f"{100 * aside:.0f} cm aside"] if aside > 0.0 else []
    told += [f"{100 * down:.0f} cm down"] if down > 0.005 else []
    return " and ".join(told) or "up"


def sways(
    world: World, source: Clip, trouble: Trouble, recorded: bool, max_aside: float, clocks: Clocks, *, far: bool
) -> Iterator[Aside]:
    """Ways aside that keep the trunk free, `max_aside` metres at most: of the pelvis over its feet and in steps, or
    `far`, round things.

    Of each kind those that leave the least in trouble come first; none are looked at after the first, and least, that
    leaves nothing. `source` is the clip as it came; what is `recorded` may touch itself as it does.
    """
    for kind in (_ROUND,) if far else (_OVER, _STEPS):
        amounts = tuple(a for a in kind.aside if a <= max_aside + 1e-9)
        if amounts:
            yield from _of_a_kind(world, source, trouble, recorded, replace(kind, aside=amounts), clocks)


def _of_a_kind(
    world: World,
    source: Clip,
    trouble: Trouble,
    recorded: bool,
    kind: _Kind,
    clocks: Clocks,
) -> Iterator[Aside]:
    start = time.perf_counter()
    clip = world.motion(trouble.who)
    assert isinstance(clip, Clip)
    legs, core = legs_of(clip), core_about(clip, trouble.during, kind.seconds)
    if not legs or core is None or at_work(world, trouble.who, (core.first, core.last)):
        return
    sway = Sway(clip, source, legs, core, kind.stepping)
    joints = tuple(j for ik in legs for j in ik.joints)
    frames, span = (sway.first, sway.last), (core.first, core.last)
    contacts: tuple[Contact, ...] = ()
    planned: list[Contact] = []
    if recorded:
        job = Job(world, source, trouble.who, joints, joints, (), trouble.during, *frames, recorded, MARGIN)
        touches = touches_of(job, *frames)
        contacts, planned = tuple(touches.contacts(span, planned=False)), touches.contacts(span, planned=True)
    looks = Looks(with_contacts(world, planned), trouble, sway)
    as_is = looks.depth(Moved(clip, (0.0, 0.0, 0.0), np.tile(np.eye(4), (len(sway.weights), 1, 1)))) or (0.0, 0.0)
    # parts in trouble are to be less deep in something than they were, and all else together no deeper
    most = _GAIN * as_is[0], max(as_is[1], SHALLOW)
    found = []
    for number, by in enumerate(_offsets(kind, sway)):
        moved = sway.by(by)
        depth = None if moved is None else looks.depth(moved, most)
        if moved is not None and depth is not None:
            found.append((depth[1], number, moved))
            if depth[1] == 0.0:
                break
    clocks.add("plan", start)
    changed = Changed(trouble.who, joints, span)
    for left, _, moved in sorted(found, key=lambda f: f[:2])[:_FOLLOWED]:
        there = world.with_character(trouble.who, moved.clip)
        name = "whole body" if kind.stepping else "pelvis and legs"
        yield Aside(there, name, told_by(moved.by), changed, contacts, left / most[1], looks.count)


def _offsets(kind: _Kind, sway: Sway) -> Iterator[Offset]:
    """Small ones first."""
    for down in kind.down:
        yield 0.0, 0.0, -down
    angles = np.arange(_DIRECTIONS) * (2.0 * np.pi / _DIRECTIONS)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if kind.sides:
        left = left_of(sway)
        directions = np.zeros((0, 2)) if left is None else np.stack([left, -left])
    for aside in kind.aside:
        for x, y in aside * directions:
            yield float(x), float(y), 0.0


def legs_of(clip: Clip) -> list[LimbIK]:
    """The legs of somebody, left and right; none for bodies without legs of three joints."""
    try:
        return [LimbIK(clip.character, name) for name in _LEGS]
    except (BadValue, UnknownName):
        return []


def left_of(sway: Sway) -> Array | None:
    """The direction (2,) to the left of where somebody walks when they are farthest aside; None where they do not."""
    x, y = sway.travel[int(np.argmax(sway.weights))]
    speed = float(np.hypot(x, y))
    return np.array([-y, x]) / speed if speed > _WALKS else None
