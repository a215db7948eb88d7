"""Search for the least effort that brings a target into reach, with fallbacks, and the limit of folding before the
trunk meets the thighs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.posing.reach_help import (
    ASIDE,
    BALLS,
    CROUCH,
    DROP,
    FORWARDS,
    HEELS,
    KNEES,
    PROTRACT,
    SHRUG,
    TERMS,
    TURN,
    WEIGHT,
    ReachDirection,
    ReachStyle,
    direction_to,
    help_for,
    within,
)
from elbowroom.posing.reach_parts import ReachStart, parts_of, start_of
from elbowroom.posing.reach_posture import ReachPostures, postures
from elbowroom.stopping import may_stop_here
from elbowroom.world.exact import ExactWorld
from elbowroom.world.own_pairs import folds, tissue_depth
from elbowroom.world.world import Snapshot, World

# Crouches (share of the leg's length) and leans that are sampled.
_DEEP = np.linspace(0.0, 0.64, 6)
_LEANS = np.radians(np.arange(28.0, 117.0, 4.0))
# A reach to the floor also turns and leans sideways.
_TURNED, _ASIDE = float(np.radians(22.0)), float(np.radians(-8.0))
# Shapes that meet on straight legs before this lean are too stout for the test, radians.
_TELLING = float(np.radians(50.0))
# Reserve of a free lean before the first that collides, radians.
_LEAN_RESERVE = float(np.radians(6.0))
_TRUNK = ("spine1", "spine2", "chest")


@lru_cache(maxsize=64)
def fold_of(body: Character, crouch: float, soft: bool = False) -> tuple[Array, Array]:
    """Crouches (K,), share of the leg's length, and the largest free forward lean (K,) at each, radians.

    `crouch` is the deepest that a style has; with `soft`, belly and chest give way to thighs. The lean is infinite
    where the body has no legs, or no suitable shapes.
    """
    hand = next((side for side in ("right", "left") if f"{side}_arm" in body.chains), "")
    free = _DEEP, np.full(len(_DEEP), np.inf)
    pose = body.skeleton.rest_pose
    if not hand or not body.shapes or not parts_of(body, hand, pose).legs:
        return free
    start = start_of(parts_of(body, hand, pose), pose, float(_lowest(body)))
    style = ReachStyle(fold=np.pi, fold_less=0.0, crouch=crouch, limits=False)
    ahead = start.shoulder + start.length * (start.frame[0] - start.frame[2])
    helps = np.zeros((len(_DEEP), len(_LEANS), TERMS))
    side = -1.0 if start.parts.left else 1.0
    helps[..., FORWARDS], helps[..., CROUCH] = _LEANS, _DEEP[:, None] * start.leg
    helps[..., TURN], helps[..., ASIDE] = side * _TURNED, side * _ASIDE
    rows = within(start, helps.reshape(-1, TERMS), style)
    T = postures(start, direction_to(start, ahead, style), ahead, rows, style, rounds=2, free_arm=False).T
    exact = ExactWorld(World({"body": Clip(body, 30.0, pose.root[None], pose.rotations[None])}, floor=None))
    thighs = {f"body.{part}" for part in ("left_thigh", "right_thigh")}
    trunk = {f"body.{part}" for part in _TRUNK}
    numbers = [k for k, pair in enumerate(exact.pairs) if len({*pair} & thighs) == 1 and {*pair} & trunk]
    sides = {k: "left" if "body.left_thigh" in exact.pairs[k] else "right" for k in numbers}
    most = np.full(len(_DEEP), _LEANS[-1])
    for i, row in enumerate(T.reshape(len(_DEEP), len(_LEANS), *T.shape[1:])):
        for lean, joints in zip(_LEANS, row, strict=True):
            exact.place_snapshot(Snapshot(0.0, {"body": joints}, {}))
            gives = {side: tissue_depth(float(a)) if soft else 0.0 for side, a in folds(body, joints).items()}
            if any(exact.hit(k) and _too_deep(exact.overlap(k), gives[sides[k]]) for k in numbers):
                most[i] = lean - _LEAN_RESERVE
                break
    return (_DEEP, most) if most[0] > _TELLING else free


def _lowest(body: Character) -> float:
    """Height of the soles at rest."""
    parts = parts_of(body, "right" if "right_arm" in body.chains else "left", body.skeleton.rest_pose)
    T = body.T_rest
    return float(min((T[sole.foot, :3, :3] @ sole.heel + T[sole.foot, :3, 3])[2] for sole in parts.soles))


def _too_deep(overlap: float | None, gives: float) -> bool:
    """Return whether a pair with an overlap (minus its depth; None where unknown) is deeper than flesh gives way."""
    return overlap is None or -overlap > gives


# Efforts above 1 are straining: every part continues to its limit, the arm to full stretch.
_STRAINING = 1.35
_EFFORTS = np.concatenate([np.linspace(0.0, 1.0, 13), np.linspace(1.0, _STRAINING, 5)[1:]])
# The farthest reach is searched from help all over its range, on a fixed low-discrepancy sequence: multiples of powers
# of the root of x^11 = x + 1 (Roberts 2018). The best few are varied by ever smaller steps, the best one also amount by
# amount.
_SPREAD = (0.5 + np.outer(np.arange(1, 129), 1.0682971889 ** -np.arange(1.0, TERMS + 1))) % 1.0
_PARENTS, _SIZES = 4, (0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.035, 0.025, 0.015, 0.008)
_RNG = np.random.default_rng(0)
_STEPS = _RNG.normal(size=(len(_SIZES), 10, TERMS)) * (_RNG.random((len(_SIZES), 10, TERMS)) < 0.4)
_ONWARDS = 0.5, 1.0, 2.0  # extrapolation beyond the best, along the line from the others to it
_ALONG = np.concatenate([np.eye(TERMS), -np.eye(TERMS)])
_NAMED = {
    "lean": FORWARDS,
    "aside": ASIDE,
    "turn": TURN,
    "crouch": CROUCH,
    "heels": HEELS,
    "shrug": SHRUG,
    "protract": PROTRACT,
}
# Penalty for legs beyond limits or a fall: more than any distance.
_WORSE = 1e3
# Balance that the free arm may still make up for, metres.
_SPARE = 0.004
# Iterations of the last search for balance at the end of a reach.
_CARE = 4
# Full stretch, minus what the search for balance still moves.
_ALL_BUT = 0.998
# Leans up to this one keep trunk and thighs apart in every body, radians.
_UPRIGHT = float(np.radians(28.0))
# Postures from all over the range that are tried where no near one fits.
_SOME = 12
# Postures made together; there may be enough among the first of them.
_AT_ONCE = 32
# Negligible distance, metres.
TINY = 1e-9
# Variations after a rejected posture: other efforts, then other help by a share of its range.
_OTHER_EFFORTS = (0.12, -0.12, 0.25, -0.25)
_OTHER_HELP = (
    {ASIDE: 0.2}, {TURN: 0.2}, {KNEES: 0.3}, {CROUCH: 0.15, FORWARDS: -0.12}, {CROUCH: 0.15}, {FORWARDS: 0.12},
    {KNEES: 0.5, CROUCH: 0.1}, {CROUCH: 0.3, FORWARDS: -0.2, TURN: 0.1}, {ASIDE: 0.4}, {TURN: 0.4},
    {TURN: 0.3, ASIDE: -0.2},
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Choice:
    """One posture with the arm yet to be solved."""

    effort: float
    help: Array  # (10,)
    rows: ReachPostures  # of one
    missing: float  # metres

    @property
    def used(self) -> dict[str, float]:
        """Help of each part."""
        named = {name: float(self.rows.helps[0, k]) for name, k in _NAMED.items()}
        return {"effort": self.effort, **named}


class ReachSearch:
    """Search for help with one target."""

    def __init__(self, start: ReachStart, direction: ReachDirection, target: Array, style: ReachStyle) -> None:
        self.start, self.direction, self.target, self.style = start, direction, target, style
        self.need = min(style.margin, start.margin) if style.balance and start.com is not None else -np.inf

    def at(self, helps: Array, shift: Array | None = None, rounds: int = 2, **less: bool) -> ReachPostures:
        """Postures for rows of help (N, 10), see `postures`."""
        may_stop_here()
        # shapes are tested only when a body folds so far that it may meet itself
        bent = helps[:, FORWARDS].max(initial=0.0) > _UPRIGHT and self.style.legs
        fold = fold_of(self.start.parts.body, self.style.crouch, self.style.soft) if bent else None
        help_ = within(self.start, helps, self.style, fold)
        return postures(self.start, self.direction, self.target, help_, self.style, shift=shift, rounds=rounds, **less)

    def lacking(self, rows: ReachPostures) -> Array:
        """Missing distance of the arm in each, metres, (N,)."""
        far, near = rows.distance - self.start.length, self.start.nearest - rows.distance
        return np.maximum(np.maximum(far, near), 0.0)

    def wrong(self, rows: ReachPostures) -> Array:
        """Excess of legs over limits plus distance of the centre of mass outside its support, (N,); 0 where a body can
        stand.
        """
        return rows.strain + np.maximum(self.need - rows.margin, 0.0)

    def choose(self) -> Choice:
        """The least effort that brings the target into reach; less lean if out of balance; else the nearest."""
        style, start = self.style, self.start
        helps = self.help_at(_EFFORTS)
        rows = self.at(helps, rounds=1, free_arm=False, margin=False)
        stretch = 1.0 - (1.0 - np.minimum(_EFFORTS, 1.0)) ** style.arm_first
        wanted = style.near + (style.far - style.near) * stretch
        wanted = start.length * (wanted + (1.0 - style.far) * np.maximum(_EFFORTS - 1.0, 0.0) / (_STRAINING - 1.0))
        # as the style has it, or else with the arm at full stretch
        for most in (wanted, np.full(len(_EFFORTS), _ALL_BUT * start.length)):
            effort, shift = _crossing(rows.distance - most, rows.shift)
            choice = self.one(effort, self.help_at(np.array([effort]))[0], shift, 1)
            if choice.missing <= TINY and self.wrong(choice.rows)[0] <= 0.0:
                return choice
        rows = self.at(helps, rows.shift)
        stands, lacking = self.wrong(rows) <= 0.0, self.lacking(rows)
        good = np.flatnonzero(stands & (lacking <= TINY))
        if len(good):
            less, more = good[_EFFORTS[good] <= effort], good[_EFFORTS[good] > effort]
            k = int(less[-1]) if len(less) else int(more[0])
            return self.one(float(_EFFORTS[k]), helps[k], rows.shift[k : k + 1])
        if not style.thorough:
            k = int(np.argmin(self._cost(rows)))
            return self.one(float(_EFFORTS[k]), helps[k], rows.shift[k : k + 1])
        return self.farthest(helps, rows)

    def help_at(self, efforts: Array) -> Array:
        """Help of the body at efforts (N,), (N, 10)."""
        low, high = self.bounds()
        return np.clip(help_for(self.start, self.direction, efforts, self.style), low, high)

    def one(self, effort: float, help_: Array, shift: Array, rounds: int = 2) -> Choice:
        """A single posture."""
        rows = self.at(help_[None], shift, rounds)
        return Choice(effort, help_, rows, float(self.lacking(rows)[0]))

    def farthest(self, helps: Array, rows: ReachPostures) -> Choice:
        """The farthest reach, from some rows of help and others all over the range.

        The best few are varied by ever smaller fixed steps.
        """
        low, high = self.bounds()
        spread = low + (high - low) * _SPREAD
        others = self.at(spread, free_arm=False)
        helps, shift = np.concatenate([helps, spread]), np.concatenate([rows.shift, others.shift])
        costs = np.concatenate([self._cost(rows), self._cost(others)])
        for size, steps in zip(_SIZES, _STEPS, strict=True):
            best = np.argsort(costs, kind="stable")[:_PARENTS]
            if costs[best[0]] <= 0.0:
                break
            onwards = np.concatenate([share * (helps[best[0]] - helps[best[1:]]) for share in _ONWARDS])
            parents = np.concatenate([np.repeat(best, len(steps)), np.repeat(best[0], len(_ALONG) + len(onwards))])
            moves = size * (high - low) * np.concatenate([np.tile(steps, (len(best), 1)), _ALONG])
            varied = np.clip(helps[parents] + np.concatenate([moves, onwards]), low, high)
            tried = self.at(varied, shift[parents], rounds=1, free_arm=False)
            helps, shift = np.concatenate([helps[best], varied]), np.concatenate([shift[best], tried.shift])
            costs = np.concatenate([costs[best], self._cost(tried)])
        k = int(np.argmin(costs))
        if costs[k] <= 0.0:
            return self._back(rows.helps[-1], helps[k], shift[k : k + 1])
        return self.one(_STRAINING, helps[k], shift[k : k + 1], _CARE)

    def _back(self, usual: Array, found: Array, shift: Array) -> Choice:
        """The posture nearest to a usual one (10,) on the line to one that reaches (10,)."""
        line = usual + np.linspace(0.0, 1.0, 17)[:, None] * (found - usual)
        good = np.flatnonzero(self._cost(self.at(line, np.repeat(shift, len(line), axis=0))) <= 0.0)
        for k in (*good[:2], len(line) - 1):
            choice = self.one(_STRAINING, line[k], shift, _CARE)
            if choice.missing <= TINY and self.wrong(choice.rows)[0] <= 0.0:
                break
        return choice

    def _cost(self, rows: ReachPostures) -> Array:
        """Missing distance of the arm, with large penalties for faults; the free arm may still make up some balance."""
        shaky = np.maximum(self.need + _SPARE - rows.margin, 0.0)
        return self.lacking(rows) + _WORSE * (rows.strain + shaky)

    def variations(self, choice: Choice) -> Iterator[list[Choice]]:
        """Postures in which a body can stand, in batches: other efforts, leans, turns, crouches, then all over."""
        low, high = self.bounds()
        efforts = np.clip(choice.effort + np.array(_OTHER_EFFORTS), 0.0, _STRAINING)
        moves = np.zeros((2 * len(_OTHER_HELP), TERMS))
        for k, terms in enumerate(_OTHER_HELP):
            for column, share in terms.items():
                moves[2 * k : 2 * k + 2, column] = share, -share
        near = np.clip(choice.help + moves * (high - low), low, high)
        yield list(self._standing(choice, self.help_at(efforts), efforts))
        yield list(self._standing(choice, near, np.full(len(near), choice.effort)))
        spread = low + (high - low) * _SPREAD
        off = np.abs(spread - choice.help) @ (1.0 / np.where(high > low, high - low, np.inf))
        spread = spread[np.argsort(off, kind="stable")]
        yield list(islice(self._standing(choice, spread, np.full(len(spread), _STRAINING)), _SOME))

    def _standing(self, choice: Choice, helps: Array, efforts: Array) -> Iterator[Choice]:
        """Rows of help (N, 10), other than a choice's, that reach and stand."""
        others = np.flatnonzero(np.any(helps != choice.help, axis=1))
        for other in (others[k : k + _AT_ONCE] for k in range(0, len(others), _AT_ONCE)):
            rows = self.at(helps[other], np.repeat(choice.rows.shift, len(other), axis=0))
            for i in np.flatnonzero((self.lacking(rows) <= TINY) & (self.wrong(rows) <= 0.0)).tolist():
                yield Choice(float(efforts[other[i]]), helps[other[i]], rows.row(i), 0.0)

    def bounds(self) -> tuple[Array, Array]:
        """Smallest and largest amount of each kind of help, (10,) each; both 0 where a part does not help."""
        style, start, direction = self.style, self.start, self.direction
        low, high = np.zeros(TERMS), np.zeros(TERMS)
        parts = start.parts
        if style.spine and parts.spine:
            high[[FORWARDS, ASIDE, TURN]] = max(style.lean_far, style.lean_low), 1.5 * style.lean_aside, style.turn
            low[[FORWARDS, ASIDE, TURN]] = -0.3 * style.lean_far, -1.5 * style.lean_aside, -style.turn
        if style.legs and parts.legs:
            # at most to the edge of the support, with a little reserve
            high[CROUCH], high[WEIGHT] = style.crouch * start.leg, max(0.95 / max(style.weight, 1e-9), 1.0)
            low[KNEES], high[KNEES] = -style.knees_apart, style.knees_apart
            if style.tiptoe and direction.up > 0.0 and parts.toes:
                high[[HEELS, BALLS]] = style.heel_lift, 1.0
        if style.clavicle and parts.clavicle >= 0:
            high[[SHRUG, PROTRACT]] = style.shrug, style.protract
            low[[SHRUG, PROTRACT]] = -DROP * style.shrug, -style.protract
        return low, high


def _crossing(over: Array, shift: Array) -> tuple[float, Array]:
    """Effort at which `over` (K,) first falls to 0, and the pelvis' shift (1, 2) there; its minimum if it never
    does.
    """
    below = np.flatnonzero(over <= 0.0)
    if not len(below):
        k = int(np.argmin(over))
        return float(_EFFORTS[k]), shift[k : k + 1]
    k = int(below[0])
    if k == 0:
        return 0.0, shift[:1]
    s = over[k - 1] / (over[k - 1] - over[k])
    effort = _EFFORTS[k - 1] + s * (_EFFORTS[k] - _EFFORTS[k - 1])
    return float(effort), shift[k - 1 : k] + s * (shift[k : k + 1] - shift[k - 1 : k])
