"""A free way of a limb over frames of its body, with as much room as its ends have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.tasks.actor import Actor
from elbowroom.tasks.arm_ways import ArmWays, NoWay, Way
from elbowroom.tasks.director import Director
from elbowroom.tasks.level import LEVEL, Levelling, level_thing
from elbowroom.tasks.stuck import Stuck, why_not
from elbowroom.world.fast import LimbCheck

# Clearance of ways whose ends have no more, metres.
_TIGHT = 0.001

# Searches that are made for a way on which something stays level.
_SEARCHES = 4


def limb_way(
    d: Director,
    actor: Actor,
    limb: str,
    root: Array,
    q: Array,
    what: str,
    *,
    margin: float | None = None,
    straight: bool = False,
) -> Way:
    """A free way of a limb from the first to the last of some frames that follow the last one; raises `Stuck`.

    `root` (N, 3) and `q` (N, J, 4) are those frames; `straight` is the limb's straight way or none.
    """
    joints = list(actor.body.chain(limb).joints)
    times = actor.times(len(root) - 1)
    world = actor.placed(d.world, root, q)
    during = (float(times[0]), float(times[-1]))
    T = actor.body.transforms(root, q)
    way: Way | NoWay = NoWay("no-path")
    thing = level_thing(d.world, actor.who, limb, during[0])
    for clearance in dict.fromkeys((d.settings.margin if margin is None else margin, _TIGHT, 0.0)):
        check = LimbCheck(world, actor.who, limb, during, margin=clearance)
        ways = ArmWays(actor.body, limb, actor.pose, times, T, check, d.settings)
        way = ways.find(q[0, joints], q[-1, joints], d.seed(), straight=straight)
        if isinstance(way, Way) and way.tier == "plan" and thing is not None:
            way = _level(d, actor, thing, what, ways, way, Levelling(actor, limb, root, q, ways.free))
        # Ends that are nearer to something than the margin are left and entered with less.
        if isinstance(way, Way) or way.status == "no-path" or clearance == 0.0:
            break
    if isinstance(way, NoWay):
        raise Stuck(way.status, f"{what}: {why_not(way)}")
    return way


def _level(d: Director, actor: Actor, thing: str, what: str, ways: ArmWays, way: Way, levelling: Levelling) -> Way:
    """A searched way on which what must not be tilted is level, or the most level of a few; the world's notes tell."""
    best, least = way, np.inf
    for _ in range(_SEARCHES):
        arm = levelling.levelled(way.rotations)
        tilt = levelling.tilt(arm)
        if tilt < least:
            best, least = replace(way, rotations=arm), tilt
        if least <= LEVEL:
            return best
        other = ways.planned(way.rotations[0], way.rotations[-1], d.seed())
        way = other if isinstance(other, Way) else way
    note = f"{what}: {thing} is tilted by up to {np.degrees(least):.0f} degrees on its way: no level one was found"
    d.world = d.world.with_(notes=(*d.world.notes, note))
    return best
