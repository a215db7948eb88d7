"""Bodies, what they hold and what is around them as the optimiser sees them: balls and signed distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Body, Character
from elbowroom.geometry.cover import few_balls, few_balls_of
from elbowroom.geometry.kept import kept
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.signed import Region, SignedDistance, region_of
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.kernels.signed import FAR_M
from elbowroom.kernels.windows import Rig
from elbowroom.world.exact import own_pairs_of
from elbowroom.world.pairs import TestedShape, hand_of, shapes_of
from elbowroom.world.things import Hold
from elbowroom.world.world import Record, World

# Balls of a segment, of a finger's bone, and of a thing that is held.
_SEGMENT, _BONE, _THING = 10, 2, 24
# Distance over which a window looks for obstacles, metres beyond where the body is: half a step and an arm.
_AROUND_M = 0.7


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid part that moves with a joint: its name as in collision pairs, and balls (B, 4) in the joint's frame.

    `others`: whether it is tested against anything but its own body.
    """

    name: str
    joint: int
    balls: Array
    hold: Hold | None = None
    others: bool = True


def parts_of_body(body: Body, who: str) -> list[Part]:
    """Collision shapes of a body as parts."""

    def make() -> list[tuple[TestedShape, Array]]:
        return [
            (s, few_balls(s.shape, _BONE if hand_of(s.role) and "hand" not in s.role else _SEGMENT))
            for s in shapes_of(body)
        ]

    return [
        Part(f"{who}.{s.shape.name}", s.shape.joint, balls, others=s.others)
        for s, balls in kept(body, "few balls", make)
    ]


def parts_held(world: World, who: str, record: Record) -> list[Part]:
    """What one hand of a character holds at any of the times of a record, as parts of the body."""
    out = []
    for hold in world.holds:
        if hold.by != who:
            continue
        held = np.flatnonzero((hold.during[0] <= record.times) & (record.times <= hold.during[1]))
        if len(held):
            joint, k = world.body(who).hand(hold.hand)[0], int(held[len(held) // 2])
            T = inverse(record.joints[who][k, joint]) @ record.things[hold.object][k]
            balls = few_balls_of(world.objects[hold.object].mesh, _THING)
            out.append(Part(hold.object, joint, np.column_stack([apply(T, balls[:, :3]), balls[:, 3]]), hold))
    return out


def rig_of(body: Character, parts: Sequence[Part], joints: Sequence[int], rooted: bool) -> Rig:
    """A body with what it holds, for the joints that may turn."""
    counts = [len(part.balls) for part in parts]
    around = np.array([_around(part.balls) for part in parts])
    moves = np.zeros((len(body.parents), len(joints)), bool)
    for k, joint in enumerate(joints):
        moves[list(body.subtree(joint)), k] = True
    masses, still = body.masses, len(body.parents)
    holder, pairs = np.array([part.joint for part in parts], np.int64), _own_pairs(body, parts)
    return Rig(
        np.array(joints, np.int64),
        moves,
        rooted,
        np.concatenate([part.balls for part in parts]),
        np.repeat([part.joint for part in parts], counts).astype(np.int64),
        np.cumsum([0, *counts]).astype(np.int64),
        around,
        holder,
        moves[holder].any(axis=1) | rooted,
        pairs,
        (moves[holder[pairs[:, 0]]] != moves[holder[pairs[:, 1]]]).any(axis=1),
        np.zeros(still) if masses is None else masses.mass / masses.total,
        np.zeros((still, 3)) if masses is None else masses.center,
        body.parents.astype(np.int64),
    )


def _around(balls: Array) -> Array:
    """A ball (4,) around balls (B, 4)."""
    low, high = (balls[:, :3] - balls[:, 3:]).min(axis=0), (balls[:, :3] + balls[:, 3:]).max(axis=0)
    middle = 0.5 * (low + high)
    return np.array([*middle, float((np.linalg.norm(balls[:, :3] - middle, axis=1) + balls[:, 3]).max())])


def _own_pairs(body: Character, parts: Sequence[Part]) -> NDArray[np.int64]:
    """Pairs of parts (N, 2) that may meet: those that collision checks count, and what is held with what is not that
    arm."""
    own = own_pairs_of(body).counts
    pairs = np.argwhere(np.triu(own | own.T, 1))
    shapes = len(own)
    held = []
    for p, part in enumerate(parts[shapes:], shapes):
        forearm = int(body.parents[part.joint])
        arm = {forearm, *body.subtree(part.joint)}
        held += [(q, p) for q in range(shapes) if parts[q].joint not in arm and parts[q].others]
    return np.concatenate([pairs, np.array(held, np.int64).reshape(-1, 2)]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Around:
    """What surrounds a body at N times: distances to meshes, and balls (N, M, 4) of other bodies.

    place (N, G, 4, 4) leads from the world into the frame of each set of meshes, there (N, G) says when it counts.
    """

    distance: SignedDistance
    place: Array
    there: NDArray[np.bool_]
    others: Array


def around(world: World, who: str, record: Record) -> Around:
    """Everything that a character may meet at the times of a record: scene, things that it does not hold, others."""
    points = record.joints[who][:, :, :3, 3]
    box = np.stack([points.min(axis=(0, 1)) - _AROUND_M, points.max(axis=(0, 1)) + _AROUND_M])
    static = [m for m in world.static.values() if (m.bounds[0] < box[1]).all() and (m.bounds[1] > box[0]).all()]
    regions, place, there = [Region(tuple(static), box)], [np.broadcast_to(np.eye(4), (len(record), 4, 4))], []
    there.append(np.full(len(record), bool(static)))
    for name, T in record.things.items():
        mesh = world.objects[name].mesh
        counts = ~_held(world, name, who, record.times) & _near(mesh.bounds, T, box)
        if counts.any():
            regions.append(region_of(mesh))
            place.append(np.linalg.inv(T))
            there.append(counts)
    others = [_balls_at(world.body(name), name, T) for name, T in record.joints.items() if name != who]
    balls = np.concatenate(others, axis=1) if others else np.zeros((len(record), 0, 4))
    near = (
        (balls[..., :3] + balls[..., 3:] + FAR_M > box[0]) & (balls[..., :3] - balls[..., 3:] - FAR_M < box[1])
    ).all(-1)
    return Around(
        SignedDistance.to(regions),
        np.ascontiguousarray(np.stack(place, axis=1)),
        np.stack(there, axis=1),
        np.ascontiguousarray(balls[:, near.any(axis=0)]),
    )


def _held(world: World, thing: str, who: str, times: Array) -> NDArray[np.bool_]:
    spans = [hold.during for hold in world.holds if hold.object == thing and hold.by == who]
    return np.any([(a <= times) & (times <= b) for a, b in spans], axis=0) if spans else np.zeros(len(times), bool)


def _near(bounds: Array, T: Array, box: Array) -> NDArray[np.bool_]:
    """Whether a thing at T (N, 4, 4) may be within a box (2, 3), (N,)."""
    middle, size = T @ [*bounds.mean(axis=0), 1.0], 0.5 * float(np.linalg.norm(bounds[1] - bounds[0])) + FAR_M
    return np.asarray(((middle[:, :3] + size > box[0]) & (middle[:, :3] - size < box[1])).all(axis=1))


def _balls_at(body: Body, name: str, T: Array) -> Array:
    """Balls (N, M, 4) of a body with joints at T (N, J, 4, 4)."""
    parts = [part for part in parts_of_body(body, name) if part.others]
    placed = []
    for part in parts:
        centers = np.einsum("nab,mb->nma", T[:, part.joint, :3, :3], part.balls[:, :3]) + T[:, part.joint, None, :3, 3]
        placed.append(np.concatenate([centers, np.broadcast_to(part.balls[:, 3:], (*centers.shape[:2], 1))], axis=2))
    return np.concatenate(placed, axis=1) if placed else np.zeros((len(T), 0, 4))
