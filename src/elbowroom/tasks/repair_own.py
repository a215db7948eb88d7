"""What a recorded motion may touch of itself and the floor while part of it is planned anew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.world.allowances import supports
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import FLOOR
from elbowroom.world.world import World

# Metres: a body gives way by as much; deeper than the clip is then by as much; what measuring at another time may add
# at the ends of an interval. Plans keep some of it in reserve, so that proofs have room.
_GIVES, _DEEPER, _ROUNDING, _RESERVE = 0.01, 0.005, 0.002, 0.0015
_WHY = "in the clip"

Interval = tuple[float, float]


@dataclass(frozen=True, eq=False)
class OwnTouches:
    """How deep parts of someone that joints move are in the rest of the body and the floor: depth (P, K) of pairs at
    times (K,), metres, 0 where they do not touch."""

    who: str
    pairs: tuple[tuple[str, str], ...]
    times: Array
    depth: Array

    def contacts(self, during: Interval, *, planned: bool) -> list[Contact]:
        """What may touch while it is planned anew: 10 mm deep, as deep as at the interval's ends, or 5 mm deeper than
        the clip is then. Plans may use a little less of it than proofs."""
        less = _RESERVE if planned else 0.0
        made = [Contact(self.who, other, during, "touch", _GIVES - less, _WHY) for other in (self.who, FLOOR)]
        ends = [int(np.argmin(np.abs(self.times - t))) for t in during]
        for (a, b), depth in zip(self.pairs, self.depth, strict=True):
            usual = max(_GIVES, float(depth[ends].max()) + _ROUNDING)
            if usual > _GIVES:
                made.append(Contact(a, b, during, "touch", usual - less, _WHY))
            for k, deep in enumerate(np.maximum(depth[:-1], depth[1:]) + _DEEPER):
                begin, end = max(float(self.times[k]), during[0]), min(float(self.times[k + 1]), during[1])
                if deep > usual and depth[k : k + 2].any() and begin < end:
                    made.append(Contact(a, b, (begin, end), "touch", float(deep) - less, _WHY))
        return made


def own_touches(exact: ExactWorld, who: str, joints: Iterable[int], times: Sequence[float] | Array) -> OwnTouches:
    """Measure what touches at times (K,) of someone's own parts, of which joints move one or both."""
    body = exact.world.body(who)
    moved = {j for top in joints for j in body.subtree(top)}

    def concerns(k: int) -> bool:
        a, b = (exact.parts[int(i)] for i in exact.index[k])
        mine = [p for p in (a, b) if p.kind == "body" and p.owner == who]
        own = len(mine) == 2 or (len(mine) == 1 and b.kind == "floor")
        return own and any(p.joint in moved for p in mine)

    wanted = np.array([concerns(k) for k in range(len(exact.pairs))], dtype=bool)
    found: dict[tuple[str, str], Array] = {}
    record = exact.world.record(times)
    for i in range(len(record)):
        exact.place_snapshot(record[i])
        for k in exact.near(0.0):
            if wanted[k] and exact.hit(int(k)):
                depth = exact.distance(int(k)).value
                row = found.setdefault((exact.pairs[k].a, exact.pairs[k].b), np.zeros(len(record)))
                row[i] = max(row[i], 0.0 if depth is None else -depth)
    depths = np.array(list(found.values())).reshape(-1, len(record))
    return OwnTouches(who, tuple(found), record.times, depths)


def with_contacts(world: World, contacts: Iterable[Contact]) -> World:
    """The world for a check: soles stand on the floor, and contacts are allowed."""
    return world.with_(contacts=(*world.contacts, *supports(world), *contacts))
