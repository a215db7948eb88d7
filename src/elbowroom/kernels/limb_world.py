"""Data of a check of a limb: the limb, everything around it over time, and room to work in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.cover import Balls
from elbowroom.kernels.fields import Fields, Room

Array = NDArray[np.float64]

# What was met, where it is no item.
STATIC, FLOOR = -2, -3

# Whether a pair counts: not at all, or always, or from TOLD on as a column of `Around.told` says for the time.
IGNORED, COUNTS, TOLD = 0, 1, 2

# Whether a piece is there between two rows: not, or for a part of the time, or all of it.
AWAY, COMES, THERE = 0, 1, 2

# What a cover stands for, where it is no mesh.
SEVERAL, BOX = -1, -2

# Balls of a cover in doubt after which no sure hit is looked for any more.
KEEN = 200

# Places that may be off by more than this, metres, give no sure hits.
LOOSE = 0.005


class Limb(NamedTuple):
    """Limb that a search moves: n joints, parents first, and E pieces that ride on them.

    parent (n,): joint before it in the limb, -1 for the base; source (n,): row of the posture that turns it, or
    -(i + 1) for place i of `follow` (S, F, 3, 4), its place in the parent's frame over time; offset (n, 3) in the
    parent's frame. joint (E,): what a piece rides on; sphere (E, 4): ball around it, in the joint's frame;
    capsule (E, 7): ends of its axis and radius, or for a cover a negative radius; balls, root (E,): covers;
    core (E, C): balls of a cover that meet things first. A cover that stands for one box or mesh is that to capsules:
    box (E, 3): its half extents, field (E,): its field among `Around.meshes`, or SEVERAL or BOX; own (E, 3, 4): map
    from the joint's frame to its own.
    """

    parent: NDArray[np.int64]
    source: NDArray[np.int64]
    offset: Array
    follow: Array
    joint: NDArray[np.int64]
    sphere: Array
    capsule: Array
    balls: Balls
    root: NDArray[np.int64]
    core: NDArray[np.int64]
    box: Array
    field: NDArray[np.int64]
    own: Array


class Around(NamedTuple):
    """Everything else, at S times from `start` on, `rate` a second.

    base (S, 3, 4): frame that the limb hangs on; base_slack (S,): how far places of the limb may be off between that
    row and the next. static: field of all that never moves, where has_static.

    Items are M things placed by tables, then O that ride on the limb's own joints. half (M + O, 3), rounding (M + O,):
    half extents of a box without its rounded edges; field (M + O,): its field in `meshes` where it is a mesh, else -1;
    bound (M + O,): radius of a ball around it. placed (S, M, 3, 4): maps from the world to items; center (S, M, 3):
    middles of their balls; slack (S, M): how far they may be off before the next row; near (S, M), near_count (S,):
    those that the limb can reach before the next row. own_joint (O,), own_map (O, 3, 4), own_center (O, 3): joint
    that an own item rides on, the map from that joint's frame to it, and the middle of its ball in the joint's frame;
    own_on (S, O): whether it is there.

    mode (E, M + O), static_mode (E,), floor_mode (E,): what pairs count; told (S, K): from a row to the next, pairs
    count where this is negative, do not where it is infinite, and else may overlap to this depth, metres: hits are then
    left to the exact test. on (S, E): whether a piece is there. floor: height of the ground, -inf without one. margin:
    clearance that is asked for, metres.
    """

    start: float
    rate: float
    base: Array
    base_slack: Array
    static: Fields
    has_static: bool
    half: Array
    rounding: Array
    field: NDArray[np.int64]
    bound: Array
    meshes: Fields
    placed: Array
    center: Array
    slack: Array
    near: NDArray[np.int32]
    near_count: NDArray[np.int32]
    own_joint: NDArray[np.int64]
    own_map: Array
    own_center: Array
    own_on: NDArray[np.uint8]
    mode: NDArray[np.int32]
    static_mode: NDArray[np.int32]
    floor_mode: NDArray[np.int32]
    told: Array
    on: NDArray[np.uint8]
    floor: float
    margin: float


class Buffers(NamedTuple):
    """Room to work in for one thread.

    frames (n, 3, 4): joints; middle (E, 3): middles of pieces in the world; to (2, 3, 4): the world in an item's frame
    and a piece's joint in it; ends (2, 3): of an axis; visit, open: parts of covers and axes yet to see; doubt (P, 2):
    pairs in doubt.
    """

    frames: Array
    middle: Array
    to: Array
    ends: Array
    visit: NDArray[np.int64]
    open: Array
    room: Room
    doubt: NDArray[np.int64]
