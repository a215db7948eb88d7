"""Moving parts of a search: joints that place a limb, held objects, and the pieces and items of a check; and tables
over time of everything that a search does not move, and how far they may be off between their rows.

Between rows, tables are lerped; what moves there may turn, bend or jump. So each interval is checked in between, and
what is found, with a reserve, is the slack of that interval: bounds and verdicts allow for it. A motion that bends
once between two rows is off by no more than 4/3 of what the looks find, a smooth one by no more than they find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Body
from elbowroom.errors import BadValue
from elbowroom.geometry.cover import BallTree
from elbowroom.geometry.fields import DistanceField
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.kernels import limb_tables as kernels
from elbowroom.kernels.limb_world import AWAY, COMES, LOOSE, THERE
from elbowroom.world.exact import ExactWorld
from elbowroom.world.things import Carried, Hold
from elbowroom.world.world import Record, World

# Base of joints among which is the root.
WORLD = -1

# Local transforms that change by less than this over time count as fixed.
_RIGID = 1e-9


@dataclass(frozen=True, eq=False)
class LimbJoints:
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
class LimbGrip:
    """A thing in a hand of the limb for a time: the joint that carries it, and its place on that joint."""

    hold: Hold
    part: int
    carrier: int
    T: Array


@dataclass(frozen=True, eq=False)
class LimbPiece:
    """One or more parts on a joint of the limb: a capsule (7,), or a cover of balls.

    `member` are parts of the exact world; `grip` is set for held objects. Of a cover of one box or mesh alone, T is its
    transform on the carrier, and half extents (3,) or a field are set.
    """

    carrier: int
    member: tuple[int, ...]
    capsule: Array | None
    cover: BallTree | None
    grip: LimbGrip | None = None
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
    grip: LimbGrip | None = None


def joints_of(body: Body, searched: Sequence[int], T: Array) -> LimbJoints:
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
    return LimbJoints(base, order, tuple(searched), {j: (at[c], M) for j, (c, M) in rides.items() if c in at})


def grips_of(exact: ExactWorld, who: str, joints: LimbJoints, span: tuple[float, float]) -> list[LimbGrip]:
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
            grips.append(LimbGrip(replace(led.hold, during=led.during), rows[led.hold.object], carrier, T))
    return grips


def _way(parents: Sequence[int], joint: int) -> list[int]:
    """Joints from the root to a joint."""
    way = [joint]
    while parents[way[-1]] >= 0:
        way.append(parents[way[-1]])
    return way[::-1]


# Rows and looks together are this many times as often as rows.
_STEP = 4
_RESERVE = 1.5


@dataclass(frozen=True, eq=False)
class Looks:
    """A world at rows of time (S,), and checked in between: `record` has `step` times for each row but the last."""

    times: Array
    step: int
    record: Record

    @staticmethod
    def at(world: World, times: Array) -> Looks:
        """A world at rows of time; only the first one where nothing moves."""
        between = times[:-1, None] + np.arange(_STEP) / _STEP * np.diff(times)[:, None]
        record = world.record(np.append(between.ravel(), times[-1]))
        placed = (*record.joints.values(), *record.things.values())
        if len(times) == 1 or not any((T[0] != T[-1]).any() or np.ptp(T, axis=0).any() for T in placed):
            joints, things = ({n: T[:1] for n, T in d.items()} for d in (record.joints, record.things))
            return Looks(times[:1], 1, Record(times[:1], joints, things))
        return Looks(times, _STEP, record)


@dataclass(frozen=True, eq=False)
class Tables:
    """Rows at `times` (S,); the rest as in `kernels.limb_world.Limb` and `Around`.

    lever (searched,): how far from each joint the limb reaches; travelled (S,): metres that points of the limb have
    been carried by the base and by followers since the first row, at most.
    """

    times: Array
    base: Array
    base_slack: Array
    follow: Array
    parent: NDArray[np.int64]
    source: NDArray[np.int64]
    offset: Array
    placed: Array
    center: Array
    slack: Array
    near: NDArray[np.int32]
    near_count: NDArray[np.int32]
    on: NDArray[np.uint8]
    lever: Array
    travelled: Array


def tables_of(
    exact: ExactWorld,
    who: str,
    joints: LimbJoints,
    pieces: Sequence[LimbPiece],
    spheres: Array,
    items: Sequence[Item],
    looks: Looks,
    margin: float,
) -> Tables:
    """Tables for rows of time; items are those that tables place."""
    times, step, T = looks.times, looks.step, looks.record.joints[who]
    body = exact.world.body(who)
    parents = [int(p) for p in body.parents]
    at = {j: i for i, j in enumerate(joints.body)}

    def above(j: int) -> int:
        p = parents[j]
        while p not in at and p != joints.base:
            p = parents[p]
        return p

    parent = np.array([at.get(above(j), -1) for j in joints.body], np.int64)
    followers = [j for j in joints.body if j not in joints.searched]
    source = [joints.searched.index(j) if j in joints.searched else -followers.index(j) - 1 for j in joints.body]
    rest = body.T_rest
    offset = np.array([(inverse(rest[parents[j]]) @ rest[j])[:3, 3] if j else T[0, 0, :3, 3] for j in joints.body])
    slid = relative(T, [max(parents[j], 0) for j in joints.searched], joints.searched)
    for i, j in enumerate(joints.searched):
        if np.ptp(slid[:, i, :, 3], axis=0).max() > 1e-6:
            raise BadValue(f"the joint {body.joint_names[j]} is prismatic: only revolute joints are searched.")
    on_base = np.tile(np.eye(4), (len(T), 1, 1)) if joints.base == WORLD else np.ascontiguousarray(T[:, joints.base])
    base, follow = on_base, relative(T, [above(j) for j in followers], followers)
    steps = np.array([np.linalg.norm(follow[:, -s - 1, :, 3], axis=1).max() if s < 0 else np.linalg.norm(o)
                      for s, o in zip(source, offset, strict=True)])  # fmt: skip
    far = np.zeros(len(joints.body))
    for i, p in enumerate(parent):
        far[i] = steps[i] + (far[p] if p >= 0 else 0.0)
    reach = float(max(far[p.carrier] + np.linalg.norm(s[:3]) + s[3] for p, s in zip(pieces, spheres, strict=True)))
    base_slack, way = np.zeros(len(times)), np.zeros(len(times) - 1)
    kernels.drift(base, follow, step, reach, base_slack, way)
    base_slack *= _RESERVE
    balls = np.array([item.ball for item in items]).reshape(-1, 4)
    placed, center = np.zeros((len(times), len(items), 3, 4)), np.zeros((len(times), len(items), 3))
    slack = np.zeros((len(times), len(items)))
    wide = 2.0 * float(spheres[:, 3].max()) + margin
    for frames, columns, joint, local in _carriers(exact, items, looks.record):
        kernels.place_items(frames, step, joint, local, balls[columns], wide, columns, placed, center, slack)
    slack *= _RESERVE
    on, there = _there(times, pieces, items)
    near, near_count = np.zeros(slack.shape, np.int32), np.zeros(len(times), np.int32)
    rows = np.ascontiguousarray(base[::step, :3])
    within = balls[:, 3] + slack + (base_slack + reach + margin)[:, None]
    kernels.within_reach(rows, center, within, there == AWAY, near, near_count)
    slack[there == COMES] += 2 * LOOSE
    lever = np.array([reach - far[at[j]] for j in joints.searched])
    return Tables(times, rows, base_slack, np.ascontiguousarray(follow[::step]), parent, np.array(source, np.int64),
                  offset, placed, center, slack, near, near_count, on, lever,
                  np.concatenate([[0.0], np.cumsum(way)]))  # fmt: skip


def relative(T: Array, above: Sequence[int], below: Sequence[int]) -> Array:
    """Places (N, K, 3, 4) of some joints in the frames of others, all placed by T (N, J, 4, 4)."""
    out = np.zeros((len(T), len(above), 3, 4))
    kernels.relative(T, np.array(above, np.int64), np.array(below, np.int64), out)
    return out


def _carriers(
    exact: ExactWorld, items: Sequence[Item], record: Record
) -> list[tuple[Array, NDArray[np.int64], NDArray[np.int64], Array]]:
    """Frames (N, J, 4, 4) of each body and thing that items ride on, which items, on which joints and where on them."""
    riding: dict[str, list[int]] = {}
    for m, item in enumerate(items):
        riding.setdefault(exact.parts[item.part].owner, []).append(m)
    out = []
    for owner, members in riding.items():
        parts = [exact.parts[items[m].part] for m in members]
        local = np.array([np.eye(4) if p.shape is None else p.shape.T_joint_shape for p in parts])
        if parts[0].kind == "body":
            frames, joint = record.joints[owner], np.array([p.joint for p in parts], np.int64)
        else:
            frames, joint = record.things[owner][:, None], np.zeros(len(parts), np.int64)
        out.append((np.ascontiguousarray(frames), np.array(members, np.int64), joint, local))
    return out


def held_when(times: Array, grips: Sequence[LimbGrip | None]) -> NDArray[np.uint8]:
    """Return whether what is gripped is in the hand from each row to the next, (S, N); THERE for what is no grip."""
    begin, end = times, np.append(times[1:], times[-1])
    on = np.full((len(times), len(grips)), THERE, np.uint8)
    for e, grip in enumerate(grips):
        if grip is not None:
            first, last = grip.hold.during
            on[:, e] = AWAY
            on[(begin < last) & (end >= first), e] = COMES
            on[(begin >= first) & (end < last), e] = THERE
    return on


def _there(
    times: Array, pieces: Sequence[LimbPiece], items: Sequence[Item]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return whether pieces (S, E) and items (S, M) are present from each row to the next; held objects are pieces."""
    begin, end = times, np.append(times[1:], times[-1])
    on = held_when(times, [piece.grip for piece in pieces])
    there = np.full((len(times), len(items)), THERE, np.uint8)
    held = [p.grip for p in pieces if p.grip is not None]
    for m, item in enumerate(items):
        for grip in held:
            if grip.part == item.part:
                first, last = grip.hold.during
                there[(begin < last) & (end >= first), m] = COMES
                there[(begin >= first) & (end < last), m] = AWAY
    return on, there
