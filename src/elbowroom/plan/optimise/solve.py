"""The optimiser: Gauss-Newton on splines of all joints and the root, from a seed that decides which way to go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
_BALANCE, _GAZE = 60.0, 2.0
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


def optimise(window: Window, seed: WindowSeed, rounds: int = ROUNDS) -> Answer:
    """The least change of a window that a seed leads to.

    Levenberg-Marquardt: a round that makes the sum of all terms larger is taken back and tried with more damping. What
    has settled and still lacks room, or is beyond a range, is asked for with more weight.
    """
    body, joints, rooted = window.clip.character, seed.joints, seed.rooted
    if seed.stepping:
        seed = replace(seed, shifts=None)  # where the root has them
    rig, scene, pins = window.rig(joints, rooted), window.scene, window.pins(seed.shifts, seed.loose)
    base, count = window.rest(joints, rooted, seed.calm)
    n, rows, dt = base.shape[-1], window.rows, window.seconds
    knot, value, _, _ = window.splines_at(window.times)
    stiff = np.diagonal(base, axis1=2, axis2=3)
    ranges, above = _RangeTerms(window, joints), np.array([body.parents[j] for j in joints], np.int64)
    share = np.full(n, max(_DAMPING, seed.slow))
    share[n - 3 :] = max(_SLOWLY if seed.stepping else _DAMPING, seed.slow)
    steadied = 4.0 * ROW_S * window.stiffness(joints, rooted)
    balance = _BALANCE if body.masses is not None and rooted else 0.0
    com = was = _centers(window)
    x = np.zeros((count, n)) if seed.start is None else np.array(seed.start)
    hard, bend, firmly, damping = seed.hard, _RANGE * seed.firm, 1.0, 0.0
    # what is known at the last x that was taken
    at, total, lacks, over, off = x, np.inf, np.zeros(len(window.parts)), 0.0, 0.0
    H, g, best = base, np.zeros((count, n)), Answer(seed, x, np.inf, 0.0, lacks, hard, False)
    for k in range(rounds + 1):
        may_stop_here()
        v = window.changes(x, window.times)
        following = bool(seed.stepping) and k < _FOLLOWING
        if following:
            aside = v[:, -3:] * _LEVEL
            shifts = _stances_aside(window, seed.stepping, aside)
            ends = dict.fromkeys(window.ends, aside) | {j: _swung(window, j, shifts[j]) for j in shifts}
            seed, pins, com = replace(seed, shifts=shifts), window.pins(shifts, seed.loose, ends), was + aside[:, :2]
        root, q = window.moved(x, joints, rooted, rows)
        T = body.transforms(root, q)
        axes = np.zeros((len(rows), len(joints), 3, 3))
        range_kernels.axes_of(above, T, v, axes)
        A, b, costs = np.zeros((len(rows), n, n)), np.zeros((len(rows), n)), np.zeros(len(rows))
        lack, way = np.zeros(len(window.parts)), np.array(seed.way if k < _PUSHES else (0.0, 0.0, 0.0))
        firm = pins._replace(weight=np.where(pins.weight > ENDS, firmly, 1.0) * pins.weight)
        hit, own, grids = hard * _HIT, hard * _OWN, window.around.distance.grids
        kernels.terms(rig, scene, grids, firm, T, axes, hit, own, balance, com, way, A, b, lack, costs)
        beyond = ranges.add(A, b, costs, q, v, bend)
        for i, joint in enumerate(joints):
            _keep_to_style(window, joint, q[:, joint], v[:, 3 * i : 3 * i + 3], A, b, costs, slice(3 * i, 3 * i + 3))
        _look_ahead(window, T, axes, joints, rig.moves, A, b, costs)
        change = _change(stiff, x)
        now = change + float(costs @ dt)
        free_to_go = following or bool(way.any())
        taken = now <= total or free_to_go
        if taken:
            settled = total - now < _SETTLED * now
            at, total, lacks, over, off = x, now, lack, beyond, _off(pins, T)
            A *= dt[:, None, None]
            b *= dt[:, None]
            H, g = np.array(base), np.zeros((count, n))
            for d in range(4):
                g[d:] -= stiff[: count - d, d] * x[: count - d]
                if d:
                    g[: count - d] -= stiff[: count - d, d] * x[d:]
            kernels.gather(A, b, knot, value, H, g)
            damping = damping / _BOLDER if damping > _STEADY else 0.0
            found = Answer(seed, x, float(lacks.max(initial=0.0)), change, lacks, hard, over < _SPARE_RAD)
            best = found if seed.slow == 0.0 or _better(found, best) else best
        else:
            settled, damping = False, max(damping, _STEADY) * _STEADIER
        deepest = lacks.max(initial=0.0)
        stuck = hard >= _STUCK * seed.hard and deepest > _STUCK_M
        if k == rounds or stuck or (k >= _HOPELESS_AFTER and deepest > _HOPELESS_M):
            break
        damped = np.array(H)
        damped[:, 0] += np.diag(np.maximum(share, damping) * steadied)
        step = solve(damped, g)
        size = float(np.abs(step[:, : 3 * len(joints)]).max(initial=0.0))
        done = deepest < _DONE_M and over < _SPARE_RAD and off < _PLACED_M
        if done and size < _DONE_RAD and not free_to_go:
            break
        x = at + step * min(1.0, _STEP_RAD / max(size, 1e-9))
        if free_to_go:
            total = np.inf
        elif settled and not done:
            hard = _HARDER * hard if deepest > _DONE_M else hard
            bend = _HARDER * bend if over > 0.5 * _SPARE_RAD else bend
            firmly = _HARDER * firmly if off > _PLACED_M else firmly
            total = np.inf  # of other weights
    return best


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
