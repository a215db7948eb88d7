"""Sooner or later where something comes by: for a while a motion goes slower or faster, along the same way (X8)."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from elbowroom.finish.nudge import Core
from elbowroom.motion.clip import Clip
from elbowroom.tasks.repair_aside import Aside, core_about
from elbowroom.tasks.repair_find import Trouble
from elbowroom.tasks.repair_hands import at_work
from elbowroom.tasks.repair_move import hits
from elbowroom.tasks.repair_stretch import Clocks
from elbowroom.world.allowances import Changed
from elbowroom.world.pairs import moves
from elbowroom.world.world import World

# Seconds later, or sooner, that are tried in turn, and of the way there and back.
_LATER, _WAY = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 2.5
# How fast a motion may go, as a share of what it did.
_SLOWEST, _FASTEST = 0.55, 1.45
# Looks a second.
_LOOKS = 30.0


def retimed(world: World, trouble: Trouble, clocks: Clocks) -> Iterator[Aside]:
    """The way to be sooner or later where something that moves is met, the least first; none where none is free."""
    start = time.perf_counter()
    clip = world.motion(trouble.who)
    assert isinstance(clip, Clip)
    core = core_about(clip, trouble.during, _WAY)
    if core is None or not _comes_by(world, trouble) or at_work(world, trouble.who, (core.first, core.last)):
        return
    times = np.arange(core.first, core.last, 1.0 / _LOOKS)
    for number, later in enumerate(sign * by for by in _LATER for sign in (1.0, -1.0)):
        new = later_by(clip, core, later)
        if clocks.late:
            break
        if new is not None and hits(there := world.with_character(trouble.who, new), trouble.who, times) == 0:
            told = f"{abs(later):.1f} s {'later' if later > 0.0 else 'sooner'}"
            changed = Changed(trouble.who, (), (core.first, core.last))
            yield Aside(there, "whole body", told, changed, (), 0.0, (number + 1) * len(times))
            break
    clocks.add("plan", start)


def later_by(clip: Clip, core: Core, later: float) -> Clip | None:
    """A clip that is `later` by some seconds during a core and goes slower before and faster after it, or, where less
    than 0, sooner; None where that were too slow or too fast."""
    wanted = clip.times - later * core.weights(clip.times)
    pace = np.diff(wanted) * clip.fps
    if pace.min() < _SLOWEST or pace.max() > _FASTEST:
        return None
    rows = np.flatnonzero(core.weights(clip.times) > 0.0)
    root, rotations = (np.array(part) for part in (clip.root, clip.rotations))
    root[rows], rotations[rows] = clip.sample(wanted[rows])
    return clip.with_(root=root, rotations=rotations)


def _comes_by(world: World, trouble: Trouble) -> bool:
    """Whether what is met moves by itself, so that it is elsewhere at another time."""
    mine = {hold.object for hold in world.holds if hold.by == trouble.who}
    names = {name for pair in trouble.pairs for name in pair} - mine
    others = {world.split(name)[0] for name in names} - {trouble.who}
    return any(n in world.characters or (n in world.things and moves(world, n, world.things[n])) for n in others)
