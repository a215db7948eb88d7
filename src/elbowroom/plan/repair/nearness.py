"""Times at which bodies come near to dragged objects, and what they meet then: sampled, without proof."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Body, Character
from elbowroom.geometry.kept import kept
from elbowroom.geometry.rotations import Array
from elbowroom.world.certificate_findings import Collision, who_and_limb
from elbowroom.world.exact import ExactWorld
from elbowroom.world.extent import box_corners, joint_transforms, outline
from elbowroom.world.pairs import moves
from elbowroom.world.paths import Interval, merged, places
from elbowroom.world.world import World

# Samples per second; and the distance that counts as near, metres, more than anything moves between two samples.
RATE, _NEAR = 60.0, 0.1
# Seconds added at both ends of an interval of nearness.
_PAD = 0.05


@dataclass(frozen=True, eq=False)
class Balls:
    """Balls around a character and what it holds: `centres` (T, K, 3) at `times` (T,), and `radii` (K,)."""

    times: Array
    centres: Array
    radii: Array

    def near(self, world: World, moved: Iterable[str], times: Array, margin: float = _NEAR) -> NDArray[np.bool_]:
        """Mask of times (N,) at which a ball is nearer than `margin` metres to the box of a moved object."""
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
    """Balls around a character at all times."""
    motion = world.motion(who)
    times = _sample_times(motion.span)
    joints, reach = _reach(motion.body)
    held = dict.fromkeys(hold.object for hold in world.holds if hold.by == who)
    things = [_ball(world, name, times) for name in held]
    centres = [joint_transforms(motion, times)[..., :3, 3][:, joints], *(ball.centres for ball in things)]
    return Balls(times, np.concatenate(centres, axis=1), np.concatenate([reach, *(ball.radii for ball in things)]))


def near_spans(world: World, moved: Sequence[str]) -> list[Interval]:
    """Intervals in which any character or moving object could meet the moved objects."""
    others = [name for name, thing in world.things.items() if name not in moved and moves(world, name, thing)]
    balls = [balls_of(world, who) for who in world.characters]
    balls += [_ball(world, name, _sample_times(world.span)) for name in others]
    found = [(float(t), float(t)) for b in balls for t in b.times[b.near(world, moved, b.times)]]
    begin, end = world.span
    return [(max(a - _PAD, begin), min(b + _PAD, end)) for a, b in merged(found, 2.0 * _PAD)]


def _sample_times(span: Interval) -> Array:
    return np.arange(span[0], span[1] + 1.0 / RATE, 1.0 / RATE)


def _ball(world: World, name: str, times: Array) -> Balls:
    """The ball around an object."""
    corners = _corners(world, name, times)
    radius = 0.5 * np.linalg.norm(corners[:1, -1] - corners[:1, 0], axis=1)
    return Balls(times, corners.mean(axis=1, keepdims=True), radius)


def _reach(body: Body) -> tuple[NDArray[np.int32], Array]:
    """Joints (K,) that carry parts, and the radius of these parts around them, (K,) metres."""

    def make() -> tuple[NDArray[np.int32], Array]:
        joints, points = outline(body.with_(skin=None) if isinstance(body, Character) else body)
        carriers, rows = np.unique(joints, return_inverse=True)
        radii = np.zeros(len(carriers))
        np.maximum.at(radii, rows, np.linalg.norm(points, axis=1))
        return carriers, radii

    return kept(body, "reach about joints", make)


def _corners(world: World, name: str, times: Array) -> Array:
    """Corners (T, 8, 3) of an object's box."""
    T = places(world.things[name].path, times)
    return box_corners(world.things[name].mesh.bounds) @ np.swapaxes(T[:, :3, :3], 1, 2) + T[:, None, :3, 3]


def meetings(world: World, exact: ExactWorld, times: Array, moved: Sequence[str] = ()) -> list[Collision]:
    """Collisions of bodies, or of what they hold, with `moved` objects, by default with any, at `times` (T,) only.

    What somebody holds may meet that person. Depths are not measured. `exact` may belong to the same world with other
    frames of its characters.
    """
    held = {hold.object: hold.by for hold in world.holds}
    whose = np.array([held.get(part.owner, part.owner) for part in exact.parts])
    body = np.array([part.kind == "body" or part.owner in held for part in exact.parts], dtype=bool)
    thing = np.array([part.kind in ("thing", "static") for part in exact.parts], dtype=bool)
    if moved:
        thing = np.array([part.owner in moved for part in exact.parts], dtype=bool)
    a, b = exact.index[:, 0], exact.index[:, 1]
    pairs = np.flatnonzero(((thing[a] & body[b]) | (thing[b] & body[a])) & (whose[a] != whose[b]))
    step = float(np.diff(times).min(initial=np.inf)) if len(times) > 1 else 0.0
    met: dict[int, list[tuple[float, float]]] = {}
    record = world.record(times) if len(times) else ()
    for k, t in enumerate(times):
        exact.place_snapshot(record[k])
        for pair in exact.near(0.0, pairs).tolist():
            if exact.collides(pair):
                met.setdefault(pair, []).append((t - 0.5 * step, t + 0.5 * step))
    found = []
    for pair, spans in met.items():
        who, limb = who_and_limb(exact, pair)
        for begin, end in merged(spans, 1.5 * step):
            during = (max(begin, float(world.span[0])), min(end, float(world.span[1])))
            found.append(Collision(during, who, limb, exact.pairs[pair], None, 0.5 * sum(during)))
    return sorted(found, key=lambda c: (c.during, c.pair))
