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
from elbowroom.kernels.windows import BallBody
from elbowroom.world.exact import own_pairs_of
from elbowroom.world.pairs import TestedShape, hand_of, shapes_of
from elbowroom.world.things import Hold
from elbowroom.world.world import Record, World

# Balls of a segment, of a finger's bone, and of a thing that is held.
_SEGMENT, _BONE, _THING = 24, 3, 48
# Distance over which a window looks for obstacles, metres beyond where the body is: half a step and an arm.
_AROUND_M = 0.7


@dataclass(frozen=True, eq=False)
class BallPart:
    """A rigid part that moves with a joint: its name as in collision pairs, and balls (B, 4) in the joint's frame.

    `others`: whether it is tested against anything but its own body.
    """

    name: str
    joint: int
    balls: Array
    hold: Hold | None = None
    others: bool = True


def parts_of_body(body: Body, who: str) -> list[BallPart]:
    """Collision shapes of a body as parts."""

    def make() -> list[tuple[TestedShape, Array]]:
        return [
            (s, few_balls(s.shape, _BONE if hand_of(s.role) and "hand" not in s.role else _SEGMENT))
            for s in shapes_of(body)
        ]

    return [
        BallPart(f"{who}.{s.shape.name}", s.shape.joint, balls, others=s.others)
        for s, balls in kept(body, "few balls", make)
    ]


def parts_held(world: World, who: str, record: Record) -> list[BallPart]:
    """Objects that a character holds at any of the times of a record, as parts of the body."""
    out = []
    for hold in world.holds:
        if hold.by != who:
            continue
        held = np.flatnonzero((hold.during[0] <= record.times) & (record.times <= hold.during[1]))
        if len(held):
            joint, k = world.body(who).hand(hold.hand)[0], int(held[len(held) // 2])
            T = inverse(record.joints[who][k, joint]) @ record.things[hold.object][k]
            balls = few_balls_of(world.objects[hold.object].mesh, _THING)
            out.append(BallPart(hold.object, joint, np.column_stack([apply(T, balls[:, :3]), balls[:, 3]]), hold))
    return out


def rig_of(body: Character, parts: Sequence[BallPart], joints: Sequence[int], rooted: bool) -> BallBody:
    """A body with what it holds, for the joints that may turn."""
    counts = [len(part.balls) for part in parts]
    around = np.array([_around(part.balls) for part in parts])
    moves = np.zeros((len(body.parents), len(joints)), bool)
    for k, joint in enumerate(joints):
        moves[list(body.subtree(joint)), k] = True
    masses, still = body.masses, len(body.parents)
    holder, pairs = np.array([part.joint for part in parts], np.int64), _own_pairs(body, parts)
    return BallBody(
        np.array(joints, np.int64),
        moves,
        rooted,
        np.concatenate([part.balls for part in parts]),
        np.repeat([part.joint for part in parts], counts).astype(np.int64),
        np.cumsum([0, *counts]).astype(np.int64),
        around,
        holder,
        np.asarray(moves[holder].any(axis=1) | rooted),
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


def _own_pairs(body: Character, parts: Sequence[BallPart]) -> NDArray[np.int64]:
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
class Nearby:
    """Surroundings of a body at N times: distances to meshes, and balls (N, M, 4) of other bodies.

    first (C + 1,) is the first ball of each part of these bodies, crowd (N, C, 4) a ball around each part. place (N, G,
    4, 4) leads from the world into the frame of each set of meshes, there (N, G) says when it counts.
    """

    distance: SignedDistance
    place: Array
    there: NDArray[np.bool_]
    others: Array
    first: NDArray[np.int64]
    crowd: Array
    regions: tuple[Region, ...] = ()


def measured(world: World, who: str, times: Array) -> Nearby:
    """Distances to all that a character may meet wherever things are moved, for `around` at any of some times."""
    box = _box_around(world.record(times).joints[who])
    regions = (_static_region(world, box), *(region_of(thing.mesh) for thing in world.objects.values()))
    place, there = np.zeros((0, len(regions), 4, 4)), np.zeros((0, len(regions)), bool)
    return Nearby(
        SignedDistance.to(regions),
        place,
        there,
        np.zeros((0, 0, 4)),
        np.zeros(1, np.int64),
        np.zeros((0, 0, 4)),
        regions,
    )


def around(world: World, who: str, record: Record, before: Nearby | None = None) -> Nearby:
    """Everything that a character may meet at the times of a record: scene, things that it does not hold, others.

    Distances that were measured `before` to the same meshes serve again.
    """
    box = _box_around(record.joints[who])
    static = _static_region(world, box)
    regions, place, there = [static], [np.broadcast_to(np.eye(4), (len(record), 4, 4))], []
    there.append(np.full(len(record), bool(static.meshes)))
    for name, T in record.things.items():
        mesh = world.objects[name].mesh
        counts = ~_held(world, name, who, record.times)
        if (counts & _near(mesh.bounds, T, box)).any():
            regions.append(region_of(mesh))
            place.append(inverse(T))
            there.append(counts)
    known = None if before is None else _found_in(before.regions, regions)
    if before is not None and known is not None:
        distance, all_regions = before.distance, before.regions
        places = np.broadcast_to(np.eye(4), (len(record), len(all_regions), 4, 4)).copy()
        counted = np.zeros((len(record), len(all_regions)), bool)
        for k, T, counts in zip(known, place, there, strict=True):
            places[:, k], counted[:, k] = T, counts
    else:
        distance, all_regions = SignedDistance.to(regions), tuple(regions)
        places, counted = np.ascontiguousarray(np.stack(place, axis=1)), np.stack(there, axis=1)
    return Nearby(distance, places, counted, *_crowd(world, who, record, box), all_regions)


def _box_around(T: Array) -> Array:
    """The box (2, 3) around joints (N, J, 4, 4) within which obstacles count."""
    points = T[:, :, :3, 3]
    return np.stack([points.min(axis=(0, 1)) - _AROUND_M, points.max(axis=(0, 1)) + _AROUND_M])


def _static_region(world: World, box: Array) -> Region:
    meshes = [m for m in world.static.values() if (m.bounds[0] < box[1]).all() and (m.bounds[1] > box[0]).all()]
    return Region(tuple(meshes), box)


def _found_in(known: Sequence[Region], regions: Sequence[Region]) -> list[int] | None:
    """Numbers of known regions, each once, that have the meshes and hold the boxes of regions; None without them.

    The first are those of the scene, which may have more.
    """
    if not known or not all(any(m is n for n in known[0].meshes) for m in regions[0].meshes):
        return None
    out, left = [0], list(range(1, len(known)))
    for region in regions[1:]:
        k = next((k for k in left if known[k].meshes[0] is region.meshes[0]), None)
        if k is None:
            return None
        left.remove(k)
        out.append(k)
    inside = [
        (known[k].box[0] <= region.box[0]).all() and (known[k].box[1] >= region.box[1]).all()
        for k, region in zip(out, regions, strict=True)
    ]
    return out if all(inside) else None


def _held(world: World, thing: str, who: str, times: Array) -> NDArray[np.bool_]:
    spans = [hold.during for hold in world.holds if hold.object == thing and hold.by == who]
    return np.any([(a <= times) & (times <= b) for a, b in spans], axis=0) if spans else np.zeros(len(times), bool)


def _near(bounds: Array, T: Array, box: Array) -> NDArray[np.bool_]:
    """Return whether a thing at T (N, 4, 4) may be within a box (2, 3), (N,)."""
    middle, size = T @ [*bounds.mean(axis=0), 1.0], 0.5 * float(np.linalg.norm(bounds[1] - bounds[0])) + FAR_M
    return np.asarray(((middle[:, :3] + size > box[0]) & (middle[:, :3] - size < box[1])).all(axis=1))


def _crowd(world: World, who: str, record: Record, box: Array) -> tuple[Array, NDArray[np.int64], Array]:
    """Balls (N, M, 4) of other bodies near a box; the first of each part (C + 1,), and a ball around each (N, C, 4)."""
    balls, first, crowd = [np.zeros((len(record), 0, 4))], [0], [np.zeros((len(record), 0, 4))]
    for name, T in record.joints.items():
        for part in parts_of_body(world.body(name), name) if name != who else ():
            if not part.others:
                continue
            around = _placed(_around(part.balls)[None], T[:, part.joint])
            middle, size = around[..., :3], around[..., 3:] + FAR_M
            if ((middle + size > box[0]) & (middle - size < box[1])).all(axis=2).any():
                balls.append(_placed(part.balls, T[:, part.joint]))
                first.append(first[-1] + len(part.balls))
                crowd.append(around)
    return (
        np.ascontiguousarray(np.concatenate(balls, axis=1)),
        np.array(first, np.int64),
        np.ascontiguousarray(np.concatenate(crowd, axis=1)),
    )


def _placed(balls: Array, T: Array) -> Array:
    """Balls (M, 4) in the frame of a joint at T (N, 4, 4), in the world (N, M, 4)."""
    centers = np.einsum("nab,mb->nma", T[:, :3, :3], balls[:, :3]) + T[:, None, :3, 3]
    return np.concatenate([centers, np.broadcast_to(balls[:, 3:], (*centers.shape[:2], 1))], axis=2)
