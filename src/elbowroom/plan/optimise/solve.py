"""The optimiser: Gauss-Newton on splines of all joints and the root, from a seed that decides which way to go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.limits import stacked
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import window_ranges as range_kernels
from elbowroom.kernels import windows as kernels
from elbowroom.kernels.bands import solve
from elbowroom.motion.contacts import runs
from elbowroom.plan.optimise.window import ENDS, ROW_S, Window
from elbowroom.stopping import may_stop_here

# Of a metre in an obstacle, and in one's own body, squared and a second. Beside a forearm's radian: a hand that is 2 cm
# too near is worth half a radian.
_HIT, _OWN = 3000.0, 1500.0
# What has settled, so that a round gained less than this share, and lacks room is worth more by this factor. What is so
# deep in something after some rounds stays there.
_SETTLED, _HARDER = 0.1, 4.0
_HOPELESS_M, _HOPELESS_AFTER = 0.12, 10
# So does what has settled that deep although room has become worth that much more.
_STUCK_M, _STUCK = 0.04, _HARDER**2
# Of a metre of the centre of mass over the floor, and of the head's turn: people keep their balance and look where
# they go.
_BALANCE, _GAZE = 60.0, 8.0
# Of a radian beyond a joint's range; what the weight need not hold, of the 0.02 rad that the gate leaves a motion; and
# how much less than a clip itself has beyond its range an answer aims at, since the gate leaves little more than that.
_RANGE, _SPARE_RAD, _LESS_RAD = 2000.0, 0.008, 0.001
# Of a radian beside the intervals of a style, squared and a second.
_STYLE = 400.0
# Largest turn of a joint in one round, radians, and rounds at most, and those in which a seed pushes.
_STEP_RAD, ROUNDS, _PUSHES = 0.3, 24, 5
# What a part may lack of its room when the search ends, and the change then, metres and radians.
_DONE_M, _DONE_RAD = 0.002, 0.01
# What parts of answers that go on from others may lack before the cost of the change counts, metres.
_ENOUGH_M = 0.006
# How far feet that stand and hands at work may then be from where they must be, metres: closed-form limbs put them
# there, unless they are stretched.
_PLACED_M = 0.001
# Damping, as a share of the stiffness: the least, the first after a round that made things worse, and the factors by
# which it grows there and shrinks elsewhere.
_DAMPING, _STEADY, _STEADIER, _BOLDER = 1e-3, 0.1, 5.0, 4.0
# Rounds in which feet follow a body that steps aside; then they stay.
_FOLLOWING = 10
# The same of the root of a body that steps aside: it comes back to what it went round without falling into it.
_SLOWLY = 5.0
_TINY_RAD = 1e-5
_LEVEL = np.array([1.0, 1.0, 0.0])


@dataclass(frozen=True, eq=False)
class WindowSeed:
    """A way to begin: joints that may turn, whether the root may move, and the way (3,) that is pushed at first.

    Feet in `loose` leave where they stand; `shifts` (F, 3) put them elsewhere; those `stepping` stand beside where they
    did by as much as the root is aside then. `start` are knots to begin from. `calm` multiplies the weight of
    accelerations, `firm` that of joint ranges, `hard` those of obstacles and one's own body. `slow` is damping, as a
    share of the stiffness: with it an answer moves less far from its start.
    """

    name: str
    joints: tuple[int, ...]
    rooted: bool
    way: tuple[float, float, float] = (0.0, 0.0, 0.0)
    loose: tuple[int, ...] = ()
    stepping: tuple[int, ...] = ()
    shifts: dict[int, Array] | None = None
    start: Array | None = None
    calm: float = 1.0
    firm: float = 1.0
    hard: float = 1.0
    slow: float = 0.0


@dataclass(frozen=True, eq=False)
class Answer:
    """Knots x (C, n) found from a seed; what the worst part lacks of its room, metres; and the cost of the change.

    `lacks` (P,) is that of each part, `hard` what the weights of obstacles have become, `ranged` whether joints are all
    but within their ranges.
    """

    seed: WindowSeed
    x: Array
    lack: float
    cost: float
    lacks: Array
    hard: float = 1.0
    ranged: bool = True


@dataclass(frozen=True)
class _Weights:
    """Factors by which room, ranges, and feet and hands that stay weigh more than at first."""

    hard: float
    bend: float
    firm: float = 1.0


@dataclass(frozen=True, eq=False)
class _SumAt:
    """The sum of all terms at knots x (C, n), and its slopes A (F, n, n) and b (F, n) by frame.

    `cost` is that of the change alone, `lacks` (P,) what parts lack of their room, `over` how far joints are beyond
    their ranges, radians, `off` how far feet and hands are from where they stay, metres.
    """

    x: Array
    total: float
    cost: float
    lacks: Array
    over: float
    off: float
    A: Array
    b: Array

    @property
    def deepest(self) -> float:
        """Most that a part lacks of its room, metres."""
        return float(self.lacks.max(initial=0.0))

    @property
    def done(self) -> bool:
        """Return whether everything is where it must be."""
        return self.deepest < _DONE_M and self.over < _SPARE_RAD and self.off < _PLACED_M


class _Terms:
    """All terms of a window from a seed; feet follow a body that steps aside."""

    def __init__(self, window: Window, seed: WindowSeed) -> None:
        body, joints = window.clip.character, seed.joints
        # where the root has them
        self.window, self.seed = window, replace(seed, shifts=None) if seed.stepping else seed
        self.rig, self.pins = window.rig(joints, seed.rooted), window.pins(self.seed.shifts, seed.loose)
        self.base, _ = window.rest(joints, seed.rooted, seed.calm)
        self.knot, self.value, _, _ = window.splines_at(window.times)
        self.ranges, self.above = _RangeTerms(window, joints), np.array([body.parents[j] for j in joints], np.int64)
        self.balance = _BALANCE if body.masses is not None and seed.rooted else 0.0
        self.com = self.was = _centers(window)

    @property
    def stiff(self) -> Array:
        """Stiffness (C, 4, n) of knots against themselves and the three after them."""
        return np.diagonal(self.base, axis1=2, axis2=3)

    def follow(self, x: Array) -> None:
        """Put stances, hands and balance beside where they were by as much as knots x (C, n) have the root aside."""
        window, seed = self.window, self.seed
        aside = window.changes(x, window.times)[:, -3:] * _LEVEL
        shifts = _stances_aside(window, seed.stepping, aside)
        ends = dict.fromkeys(window.ends, aside) | {j: _swung(window, j, shifts[j]) for j in shifts}
        self.seed, self.pins = replace(seed, shifts=shifts), window.pins(shifts, seed.loose, ends)
        self.com = self.was + aside[:, :2]

    def at(self, x: Array, weights: _Weights, way: Array) -> _SumAt:
        """The sum at knots x (C, n); what collides is pushed along `way` (3,) where that is not zero."""
        window, seed, pins, rig = self.window, self.seed, self.pins, self.rig
        joints, frames, n = seed.joints, len(window.rows), self.base.shape[-1]
        v = window.changes(x, window.times)
        root, q = window.moved(x, joints, seed.rooted, window.rows)
        T, axes = window.clip.character.transforms(root, q), np.zeros((frames, len(joints), 3, 3))
        range_kernels.axes_of(self.above, T, v, axes)
        A, b, costs = np.zeros((frames, n, n)), np.zeros((frames, n)), np.zeros(frames)
        lacks, grids = np.zeros(len(window.parts)), window.around.distance.grids
        firm = pins._replace(weight=np.where(pins.weight > ENDS, weights.firm, 1.0) * pins.weight)
        hit, own = weights.hard * _HIT, weights.hard * _OWN
        kernels.terms(
            rig, window.scene, grids, firm, T, axes, hit, own, self.balance, self.com, way, A, b, lacks, costs
        )
        over = self.ranges.add(A, b, costs, q, v, weights.bend)
        for i, joint in enumerate(joints):
            _keep_to_style(window, joint, q[:, joint], v[:, 3 * i : 3 * i + 3], A, b, costs, slice(3 * i, 3 * i + 3))
        _look_ahead(window, T, axes, joints, rig.moves, A, b, costs)
        change = _change(self.stiff, x)
        return _SumAt(x, change + float(costs @ window.seconds), change, lacks, over, _off(pins, T), A, b)

    def system(self, value: _SumAt) -> tuple[Array, Array]:
        """Banded blocks H (C, 4, n, n) and g (C, n), of which the step from a value is the solution."""
        x, stiff, dt = value.x, self.stiff, self.window.seconds
        count = len(x)
        H, g = np.array(self.base), np.zeros_like(x)
        for d in range(4):
            g[d:] -= stiff[: count - d, d] * x[: count - d]
            if d:
                g[: count - d] -= stiff[: count - d, d] * x[d:]
        kernels.gather(dt[:, None, None] * value.A, dt[:, None] * value.b, self.knot, self.value, H, g)
        return H, g


def optimise(window: Window, seed: WindowSeed, rounds: int = ROUNDS) -> Answer:
    """The least change of a window that a seed leads to.

    Levenberg-Marquardt: a round that makes the sum of all terms larger is taken back and tried with more damping. What
    has settled and still lacks room, or is beyond a range, is asked for with more weight.
    """
    terms, turns = _Terms(window, seed), 3 * len(seed.joints)
    share = np.full(terms.base.shape[-1], max(_DAMPING, seed.slow))
    share[turns:] = max(_SLOWLY if seed.stepping else _DAMPING, seed.slow)
    steadied = 4.0 * ROW_S * window.stiffness(seed.joints, seed.rooted)
    x = np.zeros((len(terms.base), len(share))) if seed.start is None else np.array(seed.start)
    weights, damping, most = _Weights(seed.hard, _RANGE * seed.firm), 0.0, np.inf
    taken: _SumAt | None = None
    best: Answer | None = None
    H = g = np.zeros(0)
    for k in range(rounds + 1):
        may_stop_here()
        following = bool(seed.stepping) and k < _FOLLOWING
        if following:
            terms.follow(x)
        way = np.array(seed.way if k < _PUSHES else (0.0, 0.0, 0.0))
        led, settled = following or bool(way.any()), False
        value = terms.at(x, weights, way)
        if taken is None or led or value.total <= most:
            settled = most - value.total < _SETTLED * value.total
            taken, most, damping = value, value.total, damping / _BOLDER if damping > _STEADY else 0.0
            H, g = terms.system(value)
            ranged = value.over < _SPARE_RAD
            found = Answer(terms.seed, x, value.deepest, value.cost, value.lacks, weights.hard, ranged)
            best = found if best is None or seed.slow == 0.0 or _better(found, best) else best
        else:
            damping = max(damping, _STEADY) * _STEADIER
        stuck = weights.hard >= _STUCK * seed.hard and taken.deepest > _STUCK_M
        if k == rounds or stuck or (k >= _HOPELESS_AFTER and taken.deepest > _HOPELESS_M):
            break
        damped = np.array(H)
        damped[:, 0] += np.diag(np.maximum(share, damping) * steadied)
        step = solve(damped, g)
        size = float(np.abs(step[:, :turns]).max(initial=0.0))
        if taken.done and size < _DONE_RAD and not led:
            break
        x = taken.x + step * min(1.0, _STEP_RAD / max(size, 1e-9))
        if led:
            most = np.inf
        elif settled and not taken.done:
            weights, most = _harder(weights, taken), np.inf
    assert best is not None
    return best


def _harder(weights: _Weights, value: _SumAt) -> _Weights:
    """More weight for what is not yet where it must be."""
    wanted = (value.deepest > _DONE_M, value.over > 0.5 * _SPARE_RAD, value.off > _PLACED_M)
    return _Weights(*(_HARDER * w if more else w for w, more in zip(astuple(weights), wanted, strict=True)))


def _off(pins: kernels.Pins, T: Array) -> float:
    """Largest distance of a foot that stands, or a hand at work, from where it must be, metres."""
    frames = T[:, pins.joint]
    places = np.einsum("feab,eb->fea", frames[..., :3, :3], pins.at) + frames[..., :3, 3]
    off = np.where(pins.level[None, :, None], [0.0, 0.0, 1.0], 1.0) * (places - pins.target)
    return float((np.linalg.norm(off, axis=2) * (pins.weight > ENDS)).max(initial=0.0))


def _better(a: Answer, b: Answer) -> bool:
    """Return whether an answer that goes on from another lacks less or, where both have all but enough, costs less."""
    if a.ranged != b.ranged:
        return a.ranged
    if max(a.lack, b.lack) <= _ENOUGH_M:
        return a.cost < b.cost
    return a.lack < b.lack


def _stances_aside(window: Window, feet: Sequence[int], shift: Array) -> dict[int, Array]:
    """Shifts (F, 3) of feet in each stance that lies within a window: the mean of the root's shifts (F, 3) then."""
    out = {}
    for joint in feet:
        out[joint] = np.zeros_like(shift)
        for first, last in runs(window.pinned[joint][window.rows]):
            if first > 0 and last < len(shift) - 1:  # what stands beyond the window stays
                out[joint][first : last + 1] = shift[first : last + 1].mean(axis=0)
    return out


def _swung(window: Window, foot: int, shift: Array) -> Array:
    """Shifts (F, 3) of a foot that swings from one stance to the next, from those of its stances."""
    stands, times = window.pinned[foot][window.rows], window.times
    if not stands.any():
        return shift
    at = np.flatnonzero(stands)
    before = np.clip(np.searchsorted(at, np.arange(len(times)), "right") - 1, 0, len(at) - 1)
    after = np.minimum(before + 1, len(at) - 1)
    lasts = np.maximum(times[at[after]] - times[at[before]], 1e-9)
    share = smootherstep(np.clip((times - times[at[before]]) / lasts, 0.0, 1.0))[:, None]
    return np.asarray((1.0 - share) * shift[at[before]] + share * shift[at[after]])


def _change(stiff: Array, x: Array) -> float:
    """Cost of the change of knots x (C, n): of turns, shifts and their accelerations."""
    total = 0.0
    for d in range(4):
        both = float((stiff[: len(x) - d, d] * x[: len(x) - d] * x[d:]).sum())
        total += both if d == 0 else 2.0 * both
    return total


def _centers(window: Window) -> Array:
    """Centre of mass, seen from above (F, 2)."""
    body = window.clip.character
    if body.masses is None:
        return np.zeros((len(window.rows), 2))
    R, p = window.T[..., :3, :3], window.T[..., :3, 3]
    places = np.einsum("fjab,jb->fja", R, body.masses.center) + p
    return np.ascontiguousarray(np.einsum("j,fja->fa", body.masses.mass / body.masses.total, places)[:, :2])


def _slopes(v: Array) -> Array:
    """Matrices (..., 3, 3) from small changes of rotation vectors (..., 3) to rotations that they add on the left."""
    angle = np.linalg.norm(v, axis=-1)[..., None, None]
    cross = np.zeros((*v.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        cross[..., j, k], cross[..., k, j] = -v[..., i], v[..., i]
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    once = np.where(small, 0.5, (1.0 - np.cos(safe)) / safe**2)
    twice = np.where(small, 1.0 / 6.0, (safe - np.sin(safe)) / safe**3)
    return np.asarray(np.eye(3) + once * cross + twice * (cross @ cross))


def _look_ahead(
    window: Window,
    T: Array,
    axes: Array,
    joints: Sequence[int],
    moves: NDArray[np.bool_],
    A: Array,
    b: Array,
    costs: Array,
) -> None:
    """Add the weight of the head's turn in the world."""
    head = window.clip.character.roles.get("head", -1)
    turning = [k for k in range(len(joints)) if head >= 0 and moves[head, k]]
    if not turning:
        return
    now, was = (rot.from_matrix(M[:, head, :3, :3]) for M in (T, window.T))
    off = rot.log(rot.multiply(was, rot.conjugate(now)))
    rows = np.zeros((len(T), 3, A.shape[1]))
    for k in turning:
        rows[:, :, 3 * k : 3 * k + 3] = axes[:, k]
    A += _GAZE * (rows.transpose(0, 2, 1) @ rows)
    b += _GAZE * np.einsum("fan,fa->fn", rows, off)
    costs += _GAZE * (off**2).sum(axis=1)


def _keep_to_style(
    window: Window, joint: int, q: Array, v: Array, A: Array, b: Array, costs: Array, own: slice
) -> None:
    """Add what brings rotations q (F, 4) of a joint, changed by v (F, 3), into the style while something collides."""
    limit, wanted = window.clip.character.limits[joint], window.styled(joint)
    if limit is None or wanted is None:
        return
    c = limit.coordinates(q)
    off = np.where(window.amid[:, None], np.clip(c, wanted[:, 0], wanted[:, 1]) - c, 0.0)
    rows = np.flatnonzero(np.abs(off).max(axis=1) > 0.0)
    if len(rows):
        tiny = [limit.coordinates(rot.multiply(rot.exp(_TINY_RAD * axis), q[rows])) - c[rows] for axis in np.eye(3)]
        slope = np.stack(tiny, axis=2) / _TINY_RAD @ _slopes(v[rows])
        slope[off[rows] == 0.0] = 0.0
        A[rows, own, own] += _STYLE * slope.transpose(0, 2, 1) @ slope
        b[rows, own] += _STYLE * np.einsum("fca,fc->fa", slope, off[rows])
        costs[rows] += _STYLE * (off[rows] ** 2).sum(axis=1)


class _RangeTerms:
    """The ranges of joints, or what their clip has beyond them."""

    def __init__(self, window: Window, joints: Sequence[int]) -> None:
        limits, was = window.clip.character.limits, window.clip.rotations[window.first : window.last + 1]
        ranged = [(k, j, limit) for k, j in enumerate(joints) if (limit := limits[j]) is not None]
        self.joints = [j for _, j, _ in ranged]
        self.own = np.array([3 * k for k, _, _ in ranged], np.int64)
        self.ranges = stacked([limit for _, _, limit in ranged]) if ranged else None
        excess = np.stack([limit.excess(was[:, j]) for _, j, limit in ranged], axis=1) if ranged else np.zeros((1, 0))
        self.most = excess.max(axis=0)
        self.aim, self.gate = np.maximum(self.most - _LESS_RAD, 0.0), np.maximum(self.most - _SPARE_RAD, 0.0)
        # what has been beyond the range stays at its end, so that rounds do not go to and fro
        self.held = np.zeros((len(window.rows), len(ranged)), bool)
        if ranged:  # so does what the clip has beyond it
            self.held[:] = (excess[window.rows - window.first] > self.aim) & (self.most > _LESS_RAD)

    def add(self, A: Array, b: Array, costs: Array, q: Array, v: Array, weight: float) -> float:
        """Add what brings rotations q (F, J, 4), changed by v (F, n), back into the ranges.

        Returns by how much they are beyond what they may be, less what the weight need not hold, radians.
        """
        if self.ranges is None:
            return -np.inf
        excess, own = np.zeros(len(self.own)), np.ascontiguousarray(q[:, self.joints])
        range_kernels.ranges(self.ranges, self.own, own, v, self.most, self.aim, self.held, weight, A, b, costs, excess)
        return float((excess - self.gate).max())
