"""The problem of the optimiser: who may change what between two frames, what must hold, and what is in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import windows as kernels
from elbowroom.kernels.windows import BallBody, Pins, WindowScene
from elbowroom.motion.clip import Clip
from elbowroom.plan.optimise.balls import BallPart, Nearby, around, parts_held, parts_of_body, rig_of
from elbowroom.spaces.styles import CLOSE, Style
from elbowroom.world.paths import Interval
from elbowroom.world.world import Record, World

# Frames a second at which a window is solved: four for each knot of its splines. All frames are made from the splines.
RATE_HZ = 30.0
# Farthest that what collides may travel between two rows around the collision, metres, and rows a second at most: at
# 30 Hz a running leg jumps through a post of 6 cm, and the optimiser saw nothing to clear.
_TRAVEL_M, _DENSEST_HZ = 0.04, 120.0
# Seconds between knots: changes are as smooth as hands are moved, some three times a second.
_KNOT_S = 0.12
# Seconds around a collision in which its parts must be clear: proofs name times to a 240th of a second.
_ABOUT_S = 0.05
# Radians per metre or radian squared and second: how much a joint's turn counts, beside one of a forearm. Trunks are
# turned last, legs follow where the hips and feet go.
_STIFF = {"spine": 10.0, "neck": 4.0, "arm": 1.0, "leg": 1.5}
_LEAD, _HIPS = 6.0, 25.0
# Of a metre aside, and up or down, squared and a second: bending the knees is easier than leaving one's path.
_ASIDE, _DOWN = 120.0, 30.0
# Of a metre of hands, feet and head: they are what one sees. As in `repair.cost`.
ENDS = 6.0
# Of feet that stand and hands at work; they are put exactly where they were at last.
_PINNED = 6000.0
# Points of a pinned foot or hand that hold its orientation, metres from its joint.
_LEVER_M = 0.1
# Seconds to the fourth that weigh accelerations of a change against the change: 0.18 s, between slow and jerky.
_SMOOTH_S4 = 1e-3

# Tolerance of postures around the intervals of a style, radians.
_ASTRAY_RAD = 0.05
# Seconds between the sparsest rows.
ROW_S = 1.0 / RATE_HZ

# What a window knows of the same rows whatever it is to clear.
_SURROUNDINGS = ("times", "seconds", "record", "parts", "_rigs", "around", "_base", "T", "whole")
# What is the same while other things move.
_BODILY = ("parts", "_rigs", "whole")

BlamedSpans = Mapping[str, Sequence[Interval]]


def splines(
    times: Array, first: float, last: float, free: tuple[bool, bool]
) -> tuple[NDArray[np.int64], Array, Array, int]:
    """Cubic B-splines over seconds `first` to `last`: at times (N,) the first of four knots, weights and accelerations.

    They are 0 with their speeds and accelerations at ends that are not free. Returns the number of knots, too.
    """
    count = max(round((last - first) / _KNOT_S), 4)
    step = (last - first) / count
    begin, end = -1 if free[0] else 2, count + 1 if free[1] else count - 2
    u = (times - first) / step
    whole = np.clip(np.floor(u + 1e-9), 0, count - 1).astype(np.int64)
    away = np.abs(u[:, None] - (whole[:, None] - 1 + np.arange(4)))
    near, far = away < 1.0, away < 2.0
    value = np.where(near, (4.0 - 6.0 * away**2 + 3.0 * away**3) / 6.0, np.where(far, (2.0 - away) ** 3 / 6.0, 0.0))
    bend = np.where(near, 3.0 * away - 2.0, np.where(far, 2.0 - away, 0.0)) / step**2
    return whole - 1 - begin, value, bend, max(end - begin + 1, 1)


def _travel(T: Array) -> float:
    """Farthest that any of the frames (N, ..., 4, 4) goes between two times, metres."""
    steps = np.linalg.norm(np.diff(T[..., :3, 3], axis=0), axis=-1)
    return float(steps.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Window:
    """Frames `first` to `last` of a character's clip, which change as little as will do.

    `blame` names parts of the body, or things that it holds, with the times of their collisions; 'a|b' is a pair of own
    parts, and parts in `floored` collide with the floor. Of these, room is asked for: `margin` metres, and `more` by
    name of a part. All others keep the room that they have, up to that. `pinned` says at which frames of the clip
    (T,) a joint, by number, stays where it is: a foot that stands, a hand at work. `before` is what surrounded the same
    motion in another world. Own parts that collide may stay in each other by `deep_m` metres.
    """

    world: World
    who: str
    clip: Clip
    first: int
    last: int
    blame: BlamedSpans
    pinned: Mapping[int, NDArray[np.bool_]]
    margin: float
    floored: frozenset[str] = frozenset()
    more: Mapping[str, float] = field(default_factory=dict)
    style: Style = CLOSE
    deep_m: float = 0.0
    before: Nearby | None = None

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Frames at which the window is solved (F,): more of them around collisions of what moves fast."""
        step = max(int(self.clip.fps / RATE_HZ), 1)
        rows = np.unique([*range(self.first, self.last, step), self.last])
        frames = np.arange(self.first, self.last + 1)
        amid = frames[self._within(self._collisions, self.clip.times[frames])]
        rate = min(self._speed(amid) / _TRAVEL_M, _DENSEST_HZ)
        return np.union1d(rows, amid[:: max(int(self.clip.fps / rate), 1)]) if rate > RATE_HZ else rows

    @cached_property
    def _collisions(self) -> list[Interval]:
        return [span for some in self.blame.values() for span in some]

    def _speed(self, frames: NDArray[np.int64]) -> float:
        """Largest speed of one's own joints, and of all else that moves, added, at some frames of the clip, m/s."""
        if len(frames) < 2:
            return 0.0
        record = self.world.record(self.clip.times[frames])
        others = [T for who, T in record.joints.items() if who != self.who]
        travels = [
            max((_travel(T) for T in some), default=0.0)
            for some in ([record.joints[self.who]], [*others, *record.things.values()])
        ]
        return sum(travels) * self.clip.fps

    @cached_property
    def times(self) -> Array:
        """Seconds (F,) of these frames."""
        return self.clip.times[self.rows]

    @cached_property
    def seconds(self) -> Array:
        """Seconds (F,) that each row stands for."""
        return np.asarray(np.gradient(self.times))

    @cached_property
    def record(self) -> Record:
        """The world at these times."""
        return self.world.record(self.times)

    @cached_property
    def free(self) -> tuple[bool, bool]:
        """Ends of the window at which the clip begins or ends, so that there is nothing to leave or return to."""
        return self.first <= self.clip.source.lead, self.last >= len(self.clip) - 1

    def splines_at(self, times: Array) -> tuple[NDArray[np.int64], Array, Array, int]:
        """Splines of the window at times (N,), as `splines` has them."""
        begin, end = (float(self.clip.times[k]) for k in (self.first, self.last))
        return splines(times, begin, end, self.free)

    @cached_property
    def parts(self) -> list[BallPart]:
        """Parts of the body, then what it holds."""
        body = self.clip.character
        return [*parts_of_body(body, self.who), *parts_held(self.world, self.who, self.record)]

    @cached_property
    def around(self) -> Nearby:
        """Obstacles around the body."""
        return around(self.world, self.who, self.record, self.before)

    @cached_property
    def _rigs(self) -> dict[tuple[tuple[int, ...], bool], BallBody]:
        return {}

    def rig(self, joints: Sequence[int], rooted: bool) -> BallBody:
        """The body, of which some joints may turn."""
        key = tuple(joints), rooted
        if key not in self._rigs:
            self._rigs[key] = rig_of(self.clip.character, self.parts, joints, rooted)
        return self._rigs[key]

    @cached_property
    def T(self) -> Array:
        """Joints (F, J, 4, 4) as they are."""
        return self.record.joints[self.who]

    @cached_property
    def _base(self) -> Array:
        """Centres (F, Q, 3) of balls as they are."""
        rig = self.rig((), False)
        out = np.zeros((len(self.rows), len(rig.ball), 3))
        kernels.ball_places(rig, self.T, out)
        return out

    @cached_property
    def scene(self) -> WindowScene:
        """Room that each ball needs, and from what."""
        rig, base, near = self.rig((), False), self._base, self.around
        count = np.diff(rig.first)
        shape = base.shape[:2]
        parts = (shape[0], len(count))
        scene = WindowScene(
            near.place,
            near.there,
            near.others,
            near.first,
            near.crowd,
            np.zeros(shape),
            np.full(shape, -np.inf),
            np.zeros(parts),
            np.zeros(parts),
            base,
            self._apart(rig),
        )
        was = np.zeros(shape)
        kernels.distances(rig, near.distance.grids, scene, self.T, self.margin, was)
        radius = rig.ball[:, 3]
        blamed, met = (np.repeat(self._per_part(what), count, axis=1) for what in (self._colliding, self._meets))
        more = np.repeat([self.more.get(part.name, 0.0) for part in self.parts], count)
        full = radius + self.margin
        need = np.where(blamed, full + more, np.minimum(full, was))
        scene.need[:] = np.where(met, need, -np.inf)
        if self.world.floor is not None:
            level = self.world.floor + radius
            floored = np.repeat([part.name in self.floored for part in self.parts], count)
            height = np.where(blamed & floored, level + self.margin + more, np.minimum(level, base[..., 2]))
            scene.floor[:] = np.where(met, height, -np.inf)
        scene.room[:] = np.maximum.reduceat(scene.need - radius, rig.first[:-1], axis=1)
        scene.height[:] = np.maximum.reduceat(scene.floor - radius, rig.first[:-1], axis=1)
        return scene

    def _per_part(self, of: object) -> NDArray[np.bool_]:
        return np.stack([of(part) for part in self.parts], axis=1)  # type: ignore[operator]

    def _within(self, spans: Sequence[Interval], times: Array | None = None) -> NDArray[np.bool_]:
        """Rows (F,), or times (N,), in or near some intervals."""
        at = self.times if times is None else times
        out = np.zeros(len(at), bool)
        for begin, end in spans:
            out |= (begin - _ABOUT_S - ROW_S <= at) & (at <= end + _ABOUT_S + ROW_S)
        return out

    @cached_property
    def amid(self) -> NDArray[np.bool_]:
        """Rows (F,) in which something collides."""
        return self._within(self._collisions)

    def _colliding(self, part: BallPart) -> NDArray[np.bool_]:
        return self._within(self.blame.get(part.name, ()))

    def _meets(self, part: BallPart) -> NDArray[np.bool_]:
        """Rows (F,) in which a part counts against its surroundings."""
        return self._held(part) & part.others

    def _held(self, part: BallPart) -> NDArray[np.bool_]:
        during = (-np.inf, np.inf) if part.hold is None else part.hold.during
        return (during[0] <= self.times) & (self.times <= during[1])

    def _apart(self, rig: BallBody) -> Array:
        """Distance beyond touching (F, N) that pairs of own parts must keep, as `WindowScene.apart` has it."""
        names, out = [part.name for part in self.parts], np.full((len(self.rows), len(rig.pairs)), -np.inf)
        pairs = {name for name in self.blame if "|" in name}
        for n, (p, o) in enumerate(rig.pairs.tolist() if pairs else ()):
            spans = self.blame.get(f"{names[p]}|{names[o]}", self.blame.get(f"{names[o]}|{names[p]}", ()))
            if spans:
                more = max(self.more.get(names[k], 0.0) for k in (p, o))
                out[self._within(spans), n] = self.margin + more - self.deep_m
        for k, part in enumerate(self.parts):
            if part.hold is not None:
                out[np.ix_(~self._held(part), (rig.pairs == k).any(axis=1))] = np.nan
        return out

    # what should stay

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Joints whose places count: hands, feet, head."""
        roles = self.clip.character.roles
        wanted = ("left_hand", "right_hand", "left_foot", "right_foot", "head")
        return tuple(roles[role] for role in wanted if role in roles)

    def pins(
        self,
        shifts: Mapping[int, Array] | None = None,
        loose: Sequence[int] = (),
        ends: Mapping[int, Array] | None = None,
    ) -> Pins:
        """Points to keep: ends at a low weight, pinned joints at a high one.

        `shifts` (F, 3) moves the targets of joints by metres, `ends`, where they are given, those of ends; of `loose`
        joints the height alone counts.
        """
        joints, at, targets, weights, level = [], [], [], [], []
        for joint in self.ends:
            joints.append(joint)
            at.append(np.zeros(3))
            weights.append(np.full(len(self.rows), ENDS))
            level.append(False)
        for joint, mask in self.pinned.items():
            for axis in np.eye(3):
                joints.append(joint)
                at.append(_LEVER_M * axis)
                weights.append(np.where(mask[self.rows], _PINNED, 0.0))
                level.append(joint in loose)
        for k, (joint, point) in enumerate(zip(joints, at, strict=True)):
            moved = (ends if ends and k < len(self.ends) else shifts or {}).get(joint, 0.0)
            targets.append(self.T[:, joint, :3, :3] @ point + self.T[:, joint, :3, 3] + moved)
        return Pins(
            np.array(joints, np.int64),
            np.array(at).reshape(-1, 3),
            np.ascontiguousarray(np.stack(targets, axis=1)),
            np.ascontiguousarray(np.stack(weights, axis=1)),
            np.array(level, bool),
        )

    @cached_property
    def whole(self) -> tuple[int, ...]:
        """Joints of a body that may turn: all limbs and the trunk, without fingers and toes."""
        body = self.clip.character
        chains = [c for c in body.chains.values() if c.kind in _STIFF]
        joints = dict.fromkeys(j for c in chains for j in (*c.lead, *c.joints))
        above = set(body.stem)
        return (0, *(j for j in joints if j not in above and body.limits and body.limits[j] is not None))

    def stiffness(self, joints: Sequence[int], rooted: bool) -> Array:
        """Weights (n,) of variables, of joints and of the root."""
        stiff = dict.fromkeys(joints, _HIPS)
        for chain in self.clip.character.chains.values():
            stiff.update({j: _STIFF[chain.kind] for j in chain.joints if chain.kind in _STIFF})
            stiff.update(dict.fromkeys(chain.lead, _LEAD))
        root = [_ASIDE, _ASIDE, _DOWN] if rooted else []
        return np.array([w for j in joints for w in 3 * [_HIPS if j == 0 else stiff[j]]] + root)

    def rest(self, joints: Sequence[int], rooted: bool, calm: float) -> tuple[Array, int]:
        """Blocks (C, 4, n, n) of the cost of a change and, times `calm`, its accelerations; and the number of knots."""
        knot, value, bend, count = self.splines_at(self.times)
        blocks = np.zeros((count, 4))
        for d in range(4):
            for e in range(d, 4):
                inside = (knot + d >= 0) & (knot + e < count)
                both = value[:, d] * value[:, e] + calm * _SMOOTH_S4 * bend[:, d] * bend[:, e]
                np.add.at(blocks[:, e - d], knot[inside] + d, (self.seconds * both)[inside])
        return blocks[..., None, None] * np.diag(self.stiffness(joints, rooted)), count

    def spliced(self, made: tuple[Array, Array]) -> Clip:
        """The clip with roots (N, 3) and rotations (N, J, 4) of all frames of the window."""
        root, q = np.array(self.clip.root), np.array(self.clip.rotations)
        root[self.first : self.last + 1], q[self.first : self.last + 1] = made
        return self.clip.with_(root=root, rotations=q)

    def with_room(self, blame: BlamedSpans, floored: frozenset[str], more: Mapping[str, float]) -> Window:
        """The window with other parts to blame; what surrounds it is not read again."""
        out = replace(self, blame=blame, floored=floored, more=more, before=self.around)
        if len(out.rows) == len(self.rows) and np.array_equal(out.rows, self.rows):
            out.__dict__.update({name: self.__dict__[name] for name in _SURROUNDINGS if name in self.__dict__})
        return out

    def beside(self, known: Window) -> Window:
        """The window with what one of the same motion knows in a world in which other things have moved."""
        out = replace(self, before=known.around)
        out.__dict__.update({name: getattr(known, name) for name in _BODILY})
        return out

    def styled(self, joint: int) -> Array | None:
        """Intervals (3, 2) of a joint's coordinates in the style, radians; None where it has none."""
        limit = self.clip.character.limits[joint]
        found = None if limit is None else self.style.within(self.clip.character, (joint,), (limit,))
        return None if found is None or not np.isfinite(found).any() else found[0]

    def in_style(self, joints: Sequence[int], q: Array) -> bool:
        """Return whether rotations (N, J, 4) of the window keep to the style for at least half of the collisions."""
        amid = self._within(self._collisions, self.clip.times[self.first : self.last + 1])
        inside = np.ones(int(amid.sum()), bool)
        for j in joints:
            limit, wanted = self.clip.character.limits[j], self.styled(j)
            if limit is not None and wanted is not None:
                c = limit.coordinates(q[amid, j])
                inside &= ((c >= wanted[:, 0] - _ASTRAY_RAD) & (c <= wanted[:, 1] + _ASTRAY_RAD)).all(axis=1)
        return bool(np.mean(inside) >= 0.5) if len(inside) else True

    def changes(self, x: Array, times: Array) -> Array:
        """Variables (N, n) at times (N,) of knots x (C, n)."""
        knot, value, _, count = self.splines_at(times)
        out = np.zeros((len(times), x.shape[1]))
        for d in range(4):
            inside = (knot + d >= 0) & (knot + d < count)
            out[inside] += value[inside, d, None] * x[knot[inside] + d]
        return out

    def moved(self, x: Array, joints: Sequence[int], rooted: bool, rows: NDArray[np.int64]) -> tuple[Array, Array]:
        """Roots (N, 3) and rotations (N, J, 4) of frames of the clip, changed by knots x (C, n)."""
        v = self.changes(x, self.clip.times[rows])
        q, root = np.array(self.clip.rotations[rows]), np.array(self.clip.root[rows])
        turned = v[:, : 3 * len(joints)].reshape(len(rows), len(joints), 3)
        own = list(joints)
        q[:, own] = rot.multiply(rot.exp(turned), q[:, own])
        return root + v[:, -3:] if rooted else root, q
