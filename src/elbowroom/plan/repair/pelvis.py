"""Displacement of the body for a while: pelvis, steps, trunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from elbowroom.finish.nudge import Core
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import covering, smootherstep, smoothstep
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.kernels.limb_ik import REACHED
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import Flags, runs
from elbowroom.plan.checks.accept import Smooth
from elbowroom.plan.checks.allowed import planted
from elbowroom.posing.limb_ik import Keep, LimbIK, Solution
from elbowroom.world.allowances import Changed
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Interval
from elbowroom.world.world import World

# Seconds around an episode at full displacement, and the shortest time to leave and to return.
_PAD, _LEAST = 0.15, 0.3


@dataclass(frozen=True, eq=False)
class BodyDetour:
    """A world with a displaced character: `name` is the part that is moved, `text` describes it.

    `changed` are the leg joints and their interval; `contacts` are allowed then; `leaves` is the share of the collision
    depth that remains, 0 if no sample collides, out of `checks` samples.
    """

    world: World
    name: str
    text: str
    changed: Changed
    contacts: tuple[Contact, ...]
    leaves: float
    checks: int


def core_about(clip: Clip, during: Interval, seconds: float) -> Core | None:
    """Frames of departure and return of a displacement, with `seconds` for either; None where time is too short."""
    low, high = (float(clip.times[k]) for k in (clip.source.lead, -1))
    begin, end = during[0] - _PAD, during[1] + _PAD
    first, last = max(begin - seconds, low), min(end + seconds, high)
    begin, end = max(begin, first + _LEAST), min(end, last - _LEAST)
    if begin > during[0] or end < during[1]:
        return None
    return Core(first, begin, end, last)


# Largest extra descent so that legs reach, metres; iterations; gain on what a leg lacks; seconds over which it is
# spread.
_SINK, _ITERATIONS, _SHARE, _MORE, _ABOUT = 0.06, 4, 1.1, 0.004, 0.4
# Largest excess of a leg over its joint limits, beyond that of the clip, radians.
_EXCESS_RAD = 0.02
# Half-width of the average of the travel velocity, seconds: about a step, so that hip sway is excluded.
_STRIDE = 0.4
# Travel speeds below which a body does not turn towards its path, and above which it does fully, m/s.
_STANDS, _WALKS = 0.2, 0.6
# Extra width between feet that pass each other in a sidestep, metres, and as a share of the displacement.
_WIDER, _WIDENS = 0.03, 0.08
# Shortest step, seconds, and the share of the displacement below which none is made.
_SWING, _HARDLY = 0.25, 0.1
# Share of a swing after which a foot follows the body, and before whose end it stops to.
_LIFTED = 0.45

Offset = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class OffsetClip:
    """A displaced clip, and its largest displacement, metres."""

    clip: Clip
    by: Offset


# Share of a shoulder rotation taken by the pelvis; the spine takes the rest, and the neck undoes all of it: people look
# where they go.
_PELVIS_TURNS = 0.4
# Share of a bend or lean of the spine that the neck undoes.
_NECK_BACK = 0.5


@dataclass(frozen=True, eq=False)
class PelvisOffset:
    """A clip whose root is displaced during a core; `source` is the imported clip.

    Feet stay in place, or with `stepping` move along: a stance is displaced as the body is half way through it, a swing
    connects two stances. A walking body turns towards its new path.
    """

    clip: Clip
    source: Clip
    legs: Sequence[LimbIK]
    core: Core
    stepping: bool

    @cached_property
    def first(self) -> int:
        """First frame, unchanged."""
        return max(int(np.searchsorted(self.clip.times, self.core.first - 1e-9)), self.clip.source.lead)

    @cached_property
    def last(self) -> int:
        """Last frame, unchanged."""
        return int(np.searchsorted(self.clip.times, self.core.last + 1e-9)) - 1

    @property
    def _frames(self) -> slice:
        return slice(self.first, self.last + 1)

    @property
    def _swing(self) -> int:
        """Shortest step, frames."""
        return max(round(_SWING * self.clip.fps), 1)

    @cached_property
    def weights(self) -> Array:
        """Share of the displacement at each frame (T,)."""
        return self.core.weights(self.clip.times[self._frames])

    @cached_property
    def travel(self) -> Array:
        """Velocity over the floor at each frame (T, 2), m/s, averaged over steps."""
        low, high = self.clip.source.lead, len(self.clip) - 1
        rows, reach = np.arange(self.first, self.last + 1), max(round(_STRIDE * self.clip.fps), 1)
        a, b = np.clip(rows - reach, low, high), np.clip(rows + reach, low, high)
        pace = self.clip.fps / np.maximum(b - a, 1)
        return np.asarray((self.clip.root[b] - self.clip.root[a])[:, :2] * pace[:, None])

    @cached_property
    def _stances(self) -> list[list[tuple[int, int, int | None]]]:
        """For each foot its stances: first and last frame, and the frame whose displacement applies.

        None for stances that extend beyond the core, which stay.
        """
        if not self.stepping:
            return [[(0, len(self.weights) - 1, None)] for _ in self.legs]
        on = [planted(self.clip, self.source, ik.limb.partition("_")[0]) for ik in self.legs]
        return [_stances(foot[self._frames], self.weights, self._swing) for foot in on]

    @cached_property
    def _world(self) -> Array:
        return self.clip.world()[self._frames]

    @cached_property
    def _leg_data(self) -> list[tuple[Array, Keep, Solution]]:
        """Orbit angle, kept coordinates and current solution of each leg."""
        out = []
        for ik in self.legs:
            parent, foot = self._world[:, ik.parent], self._world[:, ik.joints[2]]
            orbit, keep = ik.describe_for(parent, foot, self.clip.rotations[self._frames][:, list(ik.joints)])
            out.append((orbit, keep, ik.solve(parent, foot, orbit, keep)))
        return out

    @cached_property
    def _paces(self) -> list[Smooth]:
        return [Smooth(self.source, self.clip, ik.joints, self.first, self.last) for ik in self.legs]

    @cached_property
    def trunk(self) -> dict[int, float]:
        """Spine joints with their shares of a bend or turn, and neck joints with negative ones."""
        chains, limits = self.clip.character.chains, self.clip.character.limits
        out = {}
        for name, sign in (("spine", 1.0), ("neck", -1.0)):
            joints = [j for j in chains[name].joints if limits[j] is not None] if name in chains else []
            out.update({j: sign / len(joints) for j in joints})
        return out

    @cached_property
    def ahead(self) -> Array:
        """Horizontal facing direction (3,) of the body at the largest displacement."""
        left = self._outwards[0][int(np.argmax(self.weights))]
        return np.cross(left, (0.0, 0.0, 1.0))

    def by(self, offset: Offset, turn: float = 0.0, bend: float = 0.0, lean: float = 0.0) -> OffsetClip | None:
        """The clip displaced by `offset`; None where the body cannot do it.

        Shoulders are turned to the left by `turn`, the spine is bent forwards by `bend` and to the left by `lean`,
        radians; the body sinks a little where its legs do not reach otherwise.
        """
        turns = self._turns(np.array(offset[:2])) + _PELVIS_TURNS * turn * self.weights
        sink = np.zeros(len(self.weights))
        for _ in range(_ITERATIONS):
            shift = self.weights[:, None] * offset - sink[:, None] * (0.0, 0.0, 1.0)
            T = self._moves(shift, turns)
            legs = self._legs(T, turns, min(_WIDER, _WIDENS * float(np.hypot(*offset[:2]))))
            lacking = np.max([solution.gap for solution in legs], axis=0)
            if lacking.max() <= REACHED:
                moved = self._moved(legs, offset, shift, turns)
                return moved if moved is None or not (turn or bend or lean) else self._bent(moved, turn, bend, lean)
            sink += self._spread(np.where(lacking > REACHED, _SHARE * lacking + _MORE, 0.0))
            if sink.max() > _SINK:
                return None
        return None

    def _bent(self, moved: OffsetClip, turn: float, bend: float, lean: float) -> OffsetClip | None:
        """A displaced clip with its trunk turned and bent; None where that is too fast or rough."""
        q, frames = np.array(moved.clip.rotations), self._frames
        for j, share in self.trunk.items():
            limit = self.clip.character.limits[j]
            assert limit is not None
            twist = (1.0 - _PELVIS_TURNS) * turn if share > 0.0 else turn
            back = 1.0 if share > 0.0 else _NECK_BACK
            by = share * np.array([back * bend, back * lean, twist])
            new = limit.moved(limit.coordinates(q[frames, j]), self.weights[:, None] * by)
            new = rot.nearest(new, q[frames, j])
            q[frames, j] = np.where((self.weights == 0.0)[:, None], q[frames, j], new)
        if bend or lean:
            self._hang(moved.clip, q)
        joints = tuple(self.trunk)
        pace = Smooth(self.source, self.clip, joints, self.first, self.last)
        return OffsetClip(moved.clip.with_(rotations=q), moved.by) if pace.good(q[frames][:, list(joints)]) else None

    def _hang(self, clip: Clip, q: Array) -> None:
        """Restore the world orientation of upper arms in rotations q (F, J, 4): they hang from a bending trunk."""
        body, frames = clip.character, self._frames
        was, now = (body.transforms(clip.root[frames], some[frames]) for some in (clip.rotations, q))
        for chain in body.chains.values():
            if chain.kind == "arm":
                top = chain.joints[0]
                above = int(body.parents[top])
                back = rot.multiply(
                    rot.conjugate(rot.from_matrix(now[:, above, :3, :3])), rot.from_matrix(was[:, above, :3, :3])
                )
                new = rot.nearest(rot.multiply(back, q[frames, top]), q[frames, top])
                q[frames, top] = np.where((self.weights == 0.0)[:, None], q[frames, top], new)

    def _moved(self, legs: Sequence[Solution], offset: Offset, shift: Array, turns: Array) -> OffsetClip | None:
        """The displaced clip; None where legs would be too fast, too rough, or beyond their limits."""
        root, q = np.array(self.clip.root), np.array(self.clip.rotations)
        root[self._frames] += shift
        if turns.any():
            q[self._frames, 0] = rot.multiply(rot.about((0.0, 0.0, 1.0), turns), q[self._frames, 0])
        for ik, solution, (_, _, was), pace in zip(self.legs, legs, self._leg_data, self._paces, strict=True):
            if not solution.reached.all() or (solution.excess > was.excess + _EXCESS_RAD).any():
                return None
            old = self.clip.rotations[self._frames][:, list(ik.joints)]
            same = (self.weights == 0.0)[:, None, None]
            new = np.where(same, old, rot.normalize(rot.nearest(solution.rotations, old)))
            if not pace.good(new):
                return None
            q[self._frames, list(ik.joints)] = new
        down = float((self.weights * offset[2] - shift[:, 2]).max())
        return OffsetClip(self.clip.with_(root=root, rotations=q), (*offset[:2], offset[2] - down))

    def _spread(self, down: Array) -> Array:
        """Descent (T,) of a body spread over time before and after it is needed, except at the ends."""
        frames = _ABOUT * self.clip.fps
        at = np.arange(len(down)) / (0.5 * frames)
        return covering(down, 2 * round(0.5 * frames) + 1) * smootherstep(at) * smootherstep(at[::-1])

    def _turns(self, by: Array) -> Array:
        """Turn of the walking direction to the left, radians (T,), for a displacement by (2,) metres."""
        if not self.stepping:
            return np.zeros(len(self.weights))
        x, y = self.travel.T
        u, v = self.travel.T + by[:, None] * np.gradient(self.weights) * self.clip.fps
        walks = smoothstep((np.hypot(x, y) - _STANDS) / (_WALKS - _STANDS))
        return np.where(self.weights > 0.0, walks * np.arctan2(x * v - y * u, x * u + y * v), 0.0)

    @cached_property
    def _outwards(self) -> list[Array]:
        """For each leg the horizontal direction away from the other one, (T, 3)."""
        hips = [self._world[:, ik.joints[0], :3, 3] * (1.0, 1.0, 0.0) for ik in self.legs]
        return [rot.normalize(hips[0] - hips[1]), rot.normalize(hips[1] - hips[0])]

    def _moves(self, shift: Array, turns: Array) -> Array:
        """Transform of the body at each frame, (T, 4, 4): rotated about its root and shifted by (T, 3) metres."""
        T = np.tile(np.eye(4), (len(turns), 1, 1))
        T[:, :3, :3] = rot.to_matrix(rot.about((0.0, 0.0, 1.0), turns))
        root = self.clip.root[self._frames]
        T[:, :3, 3] = root - (T[:, :3, :3] @ root[..., None])[..., 0] + shift
        return T

    def _legs(self, T: Array, turns: Array, wider: float) -> list[Solution]:
        """Each leg under the displaced body; passing feet keep `wider` metres more between them."""
        out = []
        for k, (ik, (orbit, keep, _), stances) in enumerate(zip(self.legs, self._leg_data, self._stances, strict=True)):
            foot = _stepped(self._world[:, ik.joints[2]], T, turns, stances, wider * self._outwards[k], self._swing)
            out.append(ik.solve(T @ self._world[:, ik.parent], foot, orbit, keep))
        return out


def _stances(stands: Flags, weights: Array, shortest: int) -> list[tuple[int, int, int | None]]:
    """First, last and middle frame of each stance in a mask of standing frames (T,).

    None for one that extends beyond the core, or is hardly displaced by `weights` (T,) and leaves less than `shortest`
    frames for a swing. A swing that extends beyond the core begins and ends where it did.
    """
    last = len(stands) - 1
    out: list[tuple[int, int, int | None]] = [(0, 0, None)] if not stands[0] else []
    for a, b in runs(stands):
        middle = (a + b) // 2
        short = (a < shortest or b > last - shortest) and weights[middle] < _HARDLY
        out.append((a, b, None if short or a == 0 or b == last else middle))
    return out if stands[-1] else [*out, (last, last, None)]


def _stepped(
    foot: Array, T: Array, turns: Array, stances: Sequence[tuple[int, int, int | None]], outward: Array, shortest: int
) -> Array:
    """Foot transforms (T, 4, 4) under a displaced body: each stance moves as the body (T, 4, 4) in its middle.

    Swings blend from one stance to the next. Half way the foot is under the body as before, and farther out by (T, 3)
    metres, clear of the other foot. Less than `shortest` frames are no swing.
    """
    with_body = np.array(T)
    with_body[:, 2, 3] = 0.0
    there = [np.eye(4) if middle is None else with_body[middle] for _, _, middle in stances]
    angles = [0.0 if middle is None else float(turns[middle]) for _, _, middle in stances]
    places, angle = np.array(foot[:, :3, 3]), np.zeros(len(foot))
    for level, turn, (a, b, _) in zip(there, angles, stances, strict=True):
        places[a : b + 1], angle[a : b + 1] = apply(level, foot[a : b + 1, :3, 3]), turn
    for k, ((_, b, _), (a, _, _)) in enumerate(pairwise(stances)):
        rows, s = slice(b, a + 1), (np.arange(b, a + 1) - b) / max(a - b, 1)
        step, under = (
            smootherstep(s),
            smootherstep(s / _LIFTED) * smootherstep((1.0 - s) / _LIFTED) * (a - b >= shortest),
        )
        before, after = (apply(level, foot[rows, :3, 3]) for level in there[k : k + 2])
        along = before + step[:, None] * (after - before)
        body = apply(with_body[rows], (foot[rows, :3, 3] + outward[rows])[:, None])[:, 0]
        places[rows] = along + under[:, None] * (body - along)
        turned = angles[k] + step * (angles[k + 1] - angles[k])
        angle[rows] = turned + under * (turns[rows] - turned)
    out = np.array(foot)
    out[:, :3, :3] = rot.to_matrix(rot.about((0.0, 0.0, 1.0), angle)) @ foot[:, :3, :3]
    out[:, :3, 3] = places
    return out
