"""What a body that goes aside runs into, looked at a few times a second by the exact test."""

from __future__ import annotations

import numpy as np

from elbowroom.tasks.repair_find import Trouble
from elbowroom.tasks.repair_stretch import MARGIN
from elbowroom.tasks.repair_sway import Moved, Sway
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import Snapshot, World

# Looks a second, by default, and within the trouble itself, at least.
USUAL, _WITHIN = 30.0, 5
# Metres that a hit counts for at least, and one whose depth is not known.
SHALLOW, _DEEP = 0.002, 0.05


class Looks:
    """How often a moved clip hits what is around it, and legs each other, looked at a few times a second."""

    def __init__(
        self, world: World, trouble: Trouble, sway: Sway, *, rate: float = USUAL, exact: ExactWorld | None = None
    ) -> None:
        who = self._who = trouble.who
        self.count = 0
        exact = self._exact = exact or ExactWorld(world)
        step = max(round(sway.clip.fps / rate), 1)
        # trouble may be over between two looks
        begin, end = np.clip(np.searchsorted(sway.clip.times, trouble.during), sway.first, sway.last)
        rows = np.union1d(np.arange(sway.first, sway.last + 1, step), np.linspace(begin, end, _WITHIN).astype(int))
        # those of the trouble first: what does not get out of it shows there
        inside = (rows >= begin) & (rows <= end)
        rows = np.concatenate([rows[inside], rows[~inside]])
        self._record = world.record(sway.clip.times[rows])
        self._rows = rows - sway.first
        self._held = [hold.object for hold in world.holds if hold.by == who]
        body = world.body(who)
        limbs = {j for name, c in body.chains.items() if name.endswith(("leg", "arm")) for j in (*c.lead, *c.joints)}
        hips = {ik.joints[0] for ik in sway.legs}
        below = {k for j in limbs - hips for k in body.subtree(j)}
        legs = {k for j in hips for k in body.subtree(j)}
        pairs = [[exact.parts[int(i)] for i in row] for row in exact.index]
        mine = [[p for p in pair if p.owner == who or p.name in self._held] for pair in pairs]
        above = np.array([pair[1].kind != "floor" for pair in pairs], dtype=bool)  # feet stand as high as they did
        outer = above & np.array([len(own) == 1 for own in mine], dtype=bool)
        body_parts = [[p for p in own if p.owner == who] for own in mine]
        # held things and limbs may be planned anew afterwards; the trunk and thighs may not
        self._trunk = outer & np.array([len(own) == 1 and own[0].joint not in below for own in body_parts], dtype=bool)
        self._stuck = np.array([any(p.joint in trouble.joints for p in own) for own in body_parts], dtype=bool)
        self._counts = outer | above & np.array([any(p.joint in legs for p in own) for own in body_parts], dtype=bool)
        self._pairs = np.flatnonzero(self._trunk | self._counts)

    def depth(self, moved: Moved, most: tuple[float, float] | None = None) -> tuple[float, float] | None:
        """Depth of what hits and is not allowed, metres, over all looks: of parts in trouble, and of all; None where
        that is more than the `most`, if there is such, or the trunk comes too near to something."""
        T = moved.clip.world(self._record.times)
        own = total = 0.0
        for k in range(len(self._record)):
            self.count += 1
            here = self._record[k]
            along = moved.T_new_old[self._rows[k]]
            things = {name: along @ at if name in self._held else at for name, at in here.things.items()}
            exact = self._exact.place_snapshot(Snapshot(here.time, {**here.joints, self._who: T[k]}, things))
            for n in map(int, exact.near(MARGIN, self._pairs)):
                a, b = (int(i) for i in exact.index[n])
                if most is not None and self._trunk[n] and exact.placed.within(a, b, MARGIN):
                    return None
                if self._counts[n] and exact.hit(n):
                    depth = exact.distance(n).value
                    if exact.allowed(n, None if depth is None else -depth) is None:
                        deep = _DEEP if depth is None else max(-depth, SHALLOW)
                        own, total = own + deep * self._stuck[n], total + deep
            if most is not None and (own > most[0] or total > most[1]):
                return None
        return own, total
