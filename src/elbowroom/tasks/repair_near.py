"""When anybody could meet what is moved: by balls around what rides on each joint, and around what is held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Body, Character
from elbowroom.geometry.kept import kept
from elbowroom.geometry.rotations import Array
from elbowroom.world.extent import box_corners, joint_transforms, outline
from elbowroom.world.intervals import Interval, merged
from elbowroom.world.pairs import moves
from elbowroom.world.paths import places
from elbowroom.world.world import World

# How often a second it is looked at; metres beyond touch that count as near, more than anything goes between two looks.
RATE, _NEAR = 60.0, 0.1
# Seconds that are added at both ends of what is near.
_PAD = 0.05


@dataclass(frozen=True, eq=False)
class Balls:
    """Balls around someone and what they hold: `centres` (T, K, 3) at `times` (T,), and `radii` (K,)."""

    times: Array
    centres: Array
    radii: Array

    def near(self, world: World, moved: Iterable[str], times: Array, margin: float = _NEAR) -> NDArray[np.bool_]:
        """At which of some times (N,) any ball is nearer than `margin` metres to the box of something that is moved."""
        rows = np.clip(np.searchsorted(self.times, times - 0.5 / RATE), 0, len(self.times) - 1)
        centres = self.centres[rows]
        out = np.zeros(len(times), dtype=bool)
        for name in moved:
            corners = _corners(world, name, times)
            low, high = corners.min(axis=1)[:, None], corners.max(axis=1)[:, None]
            away = np.maximum(np.maximum(low - centres, centres - high), 0.0)
            out |= (np.einsum("tkc,tkc->tk", away, away) < (self.radii + margin) ** 2).any(axis=1)
        return out


def balls_of(world: World, who: str) -> Balls:
    """Balls around someone at all times."""
    motion = world.motion(who)
    times = _looks(motion.span)
    joints, reach = _reach(motion.body)
    held = dict.fromkeys(hold.object for hold in world.holds if hold.by == who)
    things = [_ball(world, name, times) for name in held]
    centres = [joint_transforms(motion, times)[..., :3, 3][:, joints], *(ball.centres for ball in things)]
    return Balls(times, np.concatenate(centres, axis=1), np.concatenate([reach, *(ball.radii for ball in things)]))


def near_spans(world: World, moved: Sequence[str]) -> list[Interval]:
    """Intervals in which anybody, or anything that goes about, could meet what is moved: at all other times it is far
    from them."""
    others = [name for name, thing in world.things.items() if name not in moved and moves(world, name, thing)]
    balls = [balls_of(world, who) for who in world.characters]
    balls += [_ball(world, name, _looks(world.span)) for name in others]
    found = [(float(t), float(t)) for b in balls for t in b.times[b.near(world, moved, b.times)]]
    begin, end = world.span
    return [(max(a - _PAD, begin), min(b + _PAD, end)) for a, b in merged(found, 2.0 * _PAD)]


def _looks(span: Interval) -> Array:
    return np.arange(span[0], span[1] + 1.0 / RATE, 1.0 / RATE)


def _ball(world: World, name: str, times: Array) -> Balls:
    """The ball around a thing."""
    corners = _corners(world, name, times)
    radius = 0.5 * np.linalg.norm(corners[:1, -1] - corners[:1, 0], axis=1)
    return Balls(times, corners.mean(axis=1, keepdims=True), radius)


def _reach(body: Body) -> tuple[NDArray[np.int32], Array]:
    """Joints (K,) that parts ride on, and how far these reach from them, (K,) metres."""

    def make() -> tuple[NDArray[np.int32], Array]:
        joints, points = outline(body.with_(skin=None) if isinstance(body, Character) else body)
        known, rows = np.unique(joints, return_inverse=True)
        radii = np.zeros(len(known))
        np.maximum.at(radii, rows, np.linalg.norm(points, axis=1))
        return known, radii

    return kept(body, "reach about joints", make)


def _corners(world: World, name: str, times: Array) -> Array:
    """Corners (T, 8, 3) of a thing's box."""
    T = places(world.things[name].path, times)
    return box_corners(world.things[name].mesh.bounds) @ np.swapaxes(T[:, :3, :3], 1, 2) + T[:, None, :3, 3]
