"""Pairs of characters that can meet: those too far away need not be checked."""

from __future__ import annotations

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.kept import kept
from elbowroom.motion.clip import Clip
from elbowroom.world.extent import outline
from elbowroom.world.world import World

# Metres beyond touch that count as near: as far as any check looks.
_NEAR = 0.3


def within_reach(world: World, who: str, during: tuple[float, float]) -> World:
    """World without characters that cannot touch a given one during an interval in any posture.

    Who holds something or is no clip stays in any case, and so do all things.
    """
    me = world.motion(who)
    if not isinstance(me, Clip):
        return world
    busy = {who, *(hold.by for hold in world.holds)}
    mine = any(hold.by == who for hold in world.holds)
    far = [
        name
        for name, motion in world.characters.items()
        if name not in busy and not mine and isinstance(motion, Clip) and _apart(me, motion, during) > _NEAR
    ]
    if not far:
        return world
    return world.with_(characters={name: m for name, m in world.characters.items() if name not in far})


def _apart(a: Clip, b: Clip, during: tuple[float, float]) -> float:
    """Least distance that two people can come to during an interval, metres, by their roots and lengths."""
    times = np.unique(np.concatenate([np.clip(clip.times, *during) for clip in (a, b)] + [np.asarray(during)]))
    # roots go straight between frames, and so does what is between them
    roots = [np.stack([np.interp(times, c.times, c.root[:, k]) for k in range(3)], axis=1) for c in (a, b)]
    way = roots[0] - roots[1]
    steps = np.linalg.norm(np.diff(way, axis=0), axis=1).max(initial=0.0)
    nearest = float(np.linalg.norm(way, axis=1).min()) - 0.5 * float(steps)
    return nearest - _length(a.character) - _length(b.character)


def _length(body: Character) -> float:
    """Farthest that any point of a body can be from its root, metres."""

    def make() -> float:
        parents, offsets = body.skeleton.parents, body.skeleton.offsets
        along = np.zeros(len(parents))
        for j in range(1, len(parents)):
            along[j] = along[parents[j]] + np.linalg.norm(offsets[j])
        joints, points = outline(body.with_(skin=None))
        return float((along[joints] + np.linalg.norm(points, axis=1)).max())

    return kept(body, "length", make)
