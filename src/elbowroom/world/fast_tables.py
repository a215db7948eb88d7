"""Tables over time of everything that a search does not move, and how far they may be off between their rows.

Between rows, tables are lerped; what moves there may turn, bend or jump. So each interval is looked at in between, and
what is found, with a reserve, is the slack of that interval: bounds and verdicts allow for it. A motion that bends
once between two rows is off by no more than 4/3 of what the looks find, a smooth one by no more than they find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.kernels.limb_world import AWAY, COMES, LOOSE, THERE
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast_parts import Grip, Item, Joints, Piece
from elbowroom.world.world import Record

_LOOKS = (0.25, 0.5, 0.75)
_RESERVE = 1.5


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
    joints: Joints,
    pieces: Sequence[Piece],
    spheres: Array,
    items: Sequence[Item],
    record: Record,
    margin: float,
) -> Tables:
    """Tables for the times of a record; items are those that tables place."""
    times, T = record.times, record.joints[who]
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
    offset = np.array([(inverse(rest[parents[j]]) @ rest[j])[:3, 3] for j in joints.body])
    for j in joints.searched:
        slid = np.ptp((inverse(T[:, parents[j]]) @ T[:, j])[:, :3, 3], axis=0).max()
        if slid > 1e-6:
            raise BadValue(f"the joint {body.joint_names[j]} slides: only joints that turn are searched.")

    def bases(r: Record) -> Array:
        return r.joints[who][:, joints.base]

    def follows(r: Record) -> Array:
        own = r.joints[who]
        made = [inverse(own[:, above(j)]) @ own[:, j] for j in followers]
        return np.stack(made, axis=1) if made else np.zeros((len(own), 0, 4, 4))

    def places(r: Record) -> Array:
        made = [_place(exact, item, r) for item in items]
        return np.stack(made, axis=1) if made else np.zeros((len(r), 0, 4, 4))

    base, follow, place = bases(record), follows(record), places(record)
    steps = np.array([np.linalg.norm(follow[:, -s - 1, :3, 3], axis=1).max() if s < 0 else np.linalg.norm(o)
                      for s, o in zip(source, offset, strict=True)])  # fmt: skip
    far = np.zeros(len(joints.body))
    for i, p in enumerate(parent):
        far[i] = steps[i] + (far[p] if p >= 0 else 0.0)
    reaches = [far[p.carrier] + np.linalg.norm(s[:3]) + s[3] for p, s in zip(pieces, spheres, strict=True)]
    reach = float(max(reaches))
    lever = [reach - far[at[j]] for j in joints.searched]
    carried = [base, *(follow[:, i] for i in range(follow.shape[1]))]
    steps_taken = np.sum([_off(T[1:], T[:-1], reach) for T in carried], axis=0)
    widest = float(spheres[:, 3].max())
    balls = np.array([item.ball for item in items]).reshape(-1, 4)
    center = np.einsum("smij,mj->smi", place[..., :3, :3], balls[:, :3]) + place[..., :3, 3]
    maps = inverse(place)
    base_slack = np.zeros(len(times))
    slack = np.zeros(center.shape[:2])
    for share in _LOOKS if len(times) > 1 else ():
        seen = exact.world.record(times[:-1] + share * np.diff(times))
        base_slack[:-1] = np.maximum(base_slack[:-1], _off(_lerped(base, share), bases(seen), reach))
        for i in range(follow.shape[1]):
            base_slack[:-1] += _off(_lerped(follow[:, i], share), follows(seen)[:, i], reach)
        true = places(seen)
        for m, ball in enumerate(balls):
            middle = apply(true[:, m], ball[None, :3])[:, 0]
            drawn = center[:-1, m] * (1 - share) + center[1:, m] * share
            here = _lerped(maps[:, m], share)
            wrong = np.einsum("sij,sj->si", here[:, :3, :3], middle) + here[:, :3, 3] - ball[:3]
            turn = np.linalg.norm(here[:, :3, :3] - inverse(true[:, m])[:, :3, :3], axis=(1, 2))
            off = np.linalg.norm(wrong, axis=1) + turn * (ball[3] + 2 * widest + margin)
            slack[:-1, m] = np.maximum(slack[:-1, m], np.maximum(off, np.linalg.norm(drawn - middle, axis=1)))
    base_slack, slack = _RESERVE * base_slack, _RESERVE * slack
    near, near_count = _within_reach(
        base[:, :3, 3], center, balls[:, 3] + slack + (base_slack + reach + margin)[:, None]
    )
    on, away = _there(times, pieces, items)
    slack[away == COMES] += 2 * LOOSE
    gone = away == AWAY
    for k in np.flatnonzero(gone.any(axis=1)):
        left = [m for m in near[k, : near_count[k]] if not gone[k, m]]
        near[k, : len(left)], near_count[k] = left, len(left)
    return Tables(times, np.ascontiguousarray(base[:, :3]), base_slack, np.ascontiguousarray(follow[:, :, :3]), parent,
                  np.array(source, np.int64), offset, np.ascontiguousarray(maps[:, :, :3]), center, slack, near,
                  near_count, on, np.array(lever), np.concatenate([[0.0], np.cumsum(steps_taken)]))  # fmt: skip


def _place(exact: ExactWorld, item: Item, record: Record) -> Array:
    """Where an item is over time, (N, 4, 4)."""
    part = exact.parts[item.part]
    if part.shape is not None:
        return record.joints[part.owner][:, part.joint] @ part.shape.T_joint_shape
    if part.kind == "thing":
        return record.things[part.owner]
    return np.tile(np.eye(4), (len(record), 1, 1))


def _lerped(T: Array, share: float) -> Array:
    return T[:-1] * (1 - share) + T[1:] * share


def _off(here: Array, there: Array, reach: float) -> Array:
    """How far points within a reach of frames (N, 4, 4) are from those of others at most, (N,)."""
    wrong = here - there
    return np.linalg.norm(wrong[:, :3, 3], axis=1) + np.linalg.norm(wrong[:, :3, :3], axis=(1, 2)) * reach


def _within_reach(base: Array, center: Array, reach: Array) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Items (S, M), and how many, that come within a reach (S, M) of a base (S, 3) before the next row."""
    apart = center - base[:, None]
    step = np.zeros(center.shape[:2])
    step[:-1] = np.linalg.norm(apart[1:] - apart[:-1], axis=-1)
    close = np.linalg.norm(apart, axis=-1) - step <= reach
    order = np.argsort(~close, axis=1, kind="stable").astype(np.int32)
    return np.ascontiguousarray(order), close.sum(axis=1).astype(np.int32)


def held_when(times: Array, grips: Sequence[Grip | None]) -> NDArray[np.uint8]:
    """Whether what is gripped is in the hand from each row to the next, (S, N); THERE for what is no grip."""
    begin, end = times, np.append(times[1:], times[-1])
    on = np.full((len(times), len(grips)), THERE, np.uint8)
    for e, grip in enumerate(grips):
        if grip is not None:
            first, last = grip.hold.during
            on[:, e] = AWAY
            on[(begin < last) & (end >= first), e] = COMES
            on[(begin >= first) & (end < last), e] = THERE
    return on


def _there(times: Array, pieces: Sequence[Piece], items: Sequence[Item]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Whether pieces (S, E) and items (S, M) are there from each row to the next: what a hand holds is a piece."""
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
