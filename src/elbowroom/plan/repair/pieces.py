"""Repair of long takes in pieces: collisions with some seconds around them, so that time grows with their number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip, Motion
from elbowroom.world.certificate_findings import Finding
from elbowroom.world.edit import Edit
from elbowroom.world.paths import Interval, Still, merged
from elbowroom.world.things import Fixture
from elbowroom.world.world import World

# Shorter takes are repaired as a whole, seconds.
LONG_S = 30.0
# Seconds on either side of a collision: a walk around an obstacle takes two or three each way.
_AROUND_S = 4.0
# Seconds of collisions in one piece at most, unless they follow each other without a break.
_PIECE_S = 15.0
# Collisions with less time between them stay in one piece, seconds; half of it on either side of a piece counts as its.
_BREAK_S = 1.0
# Share of a world beyond which it is repaired as a whole rather than in a window.
_MOST = 0.7
# Frames at the ends of a piece that a repair must leave unchanged: positions and velocities continue there.
_KEPT_FRAMES = 2


def is_long(world: World) -> bool:
    """Return whether a world is long enough to be repaired in pieces, and moves by clips only."""
    begin, end = world.span
    return end - begin > LONG_S and _of_clips(world)


def _of_clips(world: World) -> bool:
    return all(isinstance(motion, Clip) for motion in world.characters.values())


@dataclass(frozen=True)
class Piece:
    """Interval `during` of a take that is repaired on its own, for the collisions from `since` until `until`."""

    during: Interval
    since: float
    until: float

    def has(self, hit: Finding) -> bool:
        """Return whether a collision is one of this piece."""
        return hit.during[1] >= self.since and hit.during[0] <= self.until


def pieces(world: World, hits: Sequence[Finding]) -> list[Piece]:
    """Pieces of a take in which all of the given collisions are; those of dense collisions overlap."""
    cores: list[Interval] = []
    for begin, end in merged([hit.during for hit in hits], _BREAK_S):
        if cores and begin - cores[-1][1] < 2.0 * _AROUND_S and end - cores[-1][0] < _PIECE_S:
            cores[-1] = cores[-1][0], end
        else:
            cores.append((begin, end))
    (begin, end), slack = world.span, 0.5 * _BREAK_S
    return [Piece((max(a - _AROUND_S, begin), min(b + _AROUND_S, end)), a - slack, b + slack) for a, b in cores]


def windows(world: World, hits: Sequence[Finding]) -> list[Interval]:
    """Intervals of the pieces for some collisions; none where they make up most of a world."""
    found, (begin, end) = [piece.during for piece in pieces(world, hits)], world.span
    return found if _of_clips(world) and sum(b - a for a, b in found) < _MOST * (end - begin) else []


def piece_of(world: World, during: Interval) -> World:
    """A world with all clips cut to an interval; times stay.

    Objects are where they were, although clips no longer show how hands took them or put them down before.
    """
    begin = during[0]
    holds, put = [], dict(world.objects)
    last = {hold.object: hold for hold in sorted(world.holds, key=lambda h: h.during[1]) if hold.during[0] <= begin}
    for hold in world.holds:
        thing, now = world.objects[hold.object], last.get(hold.object)
        if now is None or isinstance(thing, Fixture) or now.fall is not None or now.onto is not None:
            holds.append(hold)
        elif hold.during[0] <= begin < hold.during[1] and hold.T_hand_object is None:
            T = inverse(world.hand(hold.by, hold.hand, begin)) @ world.frame(hold.object, begin)
            holds.append(replace(hold, T_hand_object=T))
        elif hold.during[1] > begin or now.during[1] > begin:
            holds.append(hold)
        else:
            put[hold.object] = replace(thing, path=Still(world.frame(hold.object, begin)))
    return world.with_(characters=clips_in(world.characters, during), objects=put, holds=tuple(holds))


def clips_in(motions: Mapping[str, Motion], during: Interval) -> dict[str, Clip]:
    """Frames of clips in an interval, by name; of a clip outside it, the nearest frame."""
    out: dict[str, Clip] = {}
    for name, clip in motions.items():
        assert isinstance(clip, Clip)
        rows = np.searchsorted(clip.times, [during[0] - 1e-6, during[1] + 1e-6])
        first = int(min(rows[0], len(clip) - 1))
        frames = slice(first, int(max(rows[1], first + 1)))
        source = replace(clip.source, lead=max(clip.source.lead - first, 0))
        start = float(clip.times[first])
        out[name] = clip.with_(root=clip.root[frames], rotations=clip.rotations[frames], start=start, source=source)
    return out


def fits(world: World, before: World, edits: Iterable[Edit]) -> bool:
    """Return whether edits of a piece leave its ends unchanged, except for those of the take itself."""
    for edit in edits:
        whole, piece = world.motion(edit.who), before.motion(edit.who)
        frames = _KEPT_FRAMES / edit.layer.fps - 1e-6
        first, last = edit.layer.during
        if first < piece.span[0] + frames and piece.span[0] > whole.span[0] + 1e-6:
            return False
        if last > piece.span[1] - frames and piece.span[1] < whole.span[1] - 1e-6:
            return False
    return True
