"""Moving parts of a search: joints that place a limb, held objects, and the pieces and items of a check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.character.body import Body
from elbowroom.errors import BadValue
from elbowroom.geometry.cover import BallTree
from elbowroom.geometry.fields import DistanceField
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import limb_tables as kernels
from elbowroom.world.carried import Carried
from elbowroom.world.exact import ExactWorld
from elbowroom.world.things import Hold

# Base of joints among which is the root.
WORLD = -1

# Local transforms that change by less than this over time count as fixed.
_RIGID = 1e-9


@dataclass(frozen=True, eq=False)
class Joints:
    """Joints that place a limb, parents first.

    body: their indices in the body, (n,); searched: those that a posture rotates, in its order; base: the joint that
    carries all of them, or `WORLD`; rides: for every joint of the body that the search moves, which of `body` carries
    it and its transform on it.
    """

    base: int
    body: tuple[int, ...]
    searched: tuple[int, ...]
    rides: dict[int, tuple[int, Array]]


@dataclass(frozen=True, eq=False)
class Grip:
    """A thing in a hand of the limb for a time: the joint that carries it, and its place on that joint."""

    hold: Hold
    part: int
    carrier: int
    T: Array


@dataclass(frozen=True, eq=False)
class Piece:
    """One or more parts on a joint of the limb: a capsule (7,), or a cover of balls.

    `member` are parts of the exact world; `grip` is set for held objects. Of a cover of one box or mesh alone, T is its
    transform on the carrier, and half extents (3,) or a field are set.
    """

    carrier: int
    member: tuple[int, ...]
    capsule: Array | None
    cover: BallTree | None
    grip: Grip | None = None
    T: Array | None = None
    half: Array | None = None
    field: DistanceField | None = None


@dataclass(frozen=True, eq=False)
class Item:
    """A part that pieces may meet: half extents of a box (3,) with a rounding, or a field; ball (4,) around it.

    `carrier` is set, with the item's transform on it, where it is on the limb's own joints.
    """

    part: int
    half: Array
    rounding: float
    field: DistanceField | None
    ball: Array
    carrier: int = -1
    T: Array | None = None
    grip: Grip | None = None


def joints_of(body: Body, searched: Sequence[int], T: Array) -> Joints:
    """The joints that place a limb of a body that T (N, J, 4, 4) places over time.

    Those that do not move against their parents are left out. Where the root is searched, too, the base is `WORLD`.
    """
    parents = [int(p) for p in body.parents]
    wanted = set(searched)
    if not wanted or len(wanted) < len(searched):
        raise BadValue("a limb needs distinct joints.")
    moved = sorted({j for top in wanted for j in body.subtree(top)})
    ways = [_way(parents, j) for j in searched]
    base = WORLD
    if 0 not in wanted:
        base = max(set.intersection(*(set(w[:-1]) for w in ways)), key=lambda j: len(_way(parents, j)))
        while base in moved:
            base = parents[base]
    needed = {j for way in ways for j in (way if base == WORLD else way[way.index(base) + 1 :])}
    local, change = np.zeros((len(T), len(moved), 3, 4)), np.zeros(len(moved))
    kernels.relative(T, np.array([max(parents[j], 0) for j in moved]), np.array(moved), local)
    kernels.spread(local, change)
    rides: dict[int, tuple[int, Array]] = {}
    kept = set(needed)
    for i, j in enumerate(moved):
        if j in needed or change[i] > _RIGID:
            kept.add(j)
            rides[j] = (j, np.eye(4))
        else:
            carrier, place = rides[parents[j]]
            rides[j] = (carrier, place @ np.vstack([local[0, i], [0.0, 0.0, 0.0, 1.0]]))
    order = tuple(sorted(kept))
    at = {j: i for i, j in enumerate(order)}
    return Joints(base, order, tuple(searched), {j: (at[c], M) for j, (c, M) in rides.items() if c in at})


def grips_of(exact: ExactWorld, who: str, joints: Joints, span: tuple[float, float]) -> list[Grip]:
    """Objects that hands of the limb lead during a span: they move with the limb."""
    world, body = exact.world, exact.world.body(who)
    rows = {p.owner: i for i, p in enumerate(exact.parts) if p.kind == "thing"}
    grips = []
    paths = {name: world.things[name].path for name in rows}
    for led in (led for path in paths.values() if isinstance(path, Carried) for led in path.led):
        joint, T_joint_hand = body.hand(led.hold.hand) if led.hold.by == who else (-1, np.eye(4))
        apart = led.during[1] <= span[0] or led.during[0] > span[1]
        if joint in joints.rides and not apart:
            carrier, M = joints.rides[joint]
            T = M @ T_joint_hand @ led.grip
            grips.append(Grip(replace(led.hold, during=led.during), rows[led.hold.object], carrier, T))
    return grips


def _way(parents: Sequence[int], joint: int) -> list[int]:
    """Joints from the root to a joint."""
    way = [joint]
    while parents[way[-1]] >= 0:
        way.append(parents[way[-1]])
    return way[::-1]
