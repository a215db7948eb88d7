"""Postures of a limb as a search space: at one time (K5), or together with time in a moving world (S1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Character
from elbowroom.character.limits import JointLimit, stacked
from elbowroom.errors import BadValue
from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import limb_space as kernels
from elbowroom.kernels import limb_state
from elbowroom.search.birrt import USUAL, Budget, SearchPath, plan
from elbowroom.spaces.styles import NATURAL, Style, span_of
from elbowroom.world.fast import FREE, LimbCheck


def places_of(check: LimbCheck) -> NDArray[np.int64]:
    """Indices (n,) of the searched joints, as the check counts them."""
    return np.array([np.flatnonzero(check.limb.source == k)[0] for k in range(len(check.joints))], np.int64)


def marks_of(check: LimbCheck) -> tuple[NDArray[np.int64], Array]:
    """Marks of a limb: positions of its joints but the first, the end of the last one's pieces, and their side.

    Without the side a rotation of the palm would have no length.
    """
    searched = places_of(check).tolist()
    joints, places = [], []
    for i in searched[1:]:
        joints.append(i)
        places.append(np.zeros(3))
    end = searched[-1]
    carried = [e for e, j in enumerate(check.limb.joint) if j == end]
    if not carried:
        return np.array(joints or [end], np.int64), np.array(places or [np.zeros(3)])
    balls = check.limb.sphere[carried]
    far = np.linalg.norm(balls[:, :3], axis=1)
    center, radius = balls[np.argmax(far), :3], float(balls[np.argmax(far), 3])
    along = center / np.linalg.norm(center) if np.linalg.norm(center) > 1e-6 else np.array([1.0, 0.0, 0.0])
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    joints += [end, end]
    places += [center + radius * along, center + radius * across / np.linalg.norm(across)]
    return np.array(joints, np.int64), np.array(places)


def fastest(check: LimbCheck) -> float:
    """Largest speed at which the limb is carried, m/s."""
    carried, times = check.tables.travelled, check.tables.times
    return float((np.diff(carried) / np.diff(times)).max()) if len(times) > 1 else 0.0


def stirred(check: LimbCheck) -> Array:
    """Metres (S,) that obstacles within reach have moved past the limb's base since the first row.

    Only where they are faster than what carries it: their approach, in addition to the limb's own motion.
    """
    tables = check.tables
    rows = len(tables.times)
    if rows < 2 or not tables.placed.shape[1]:
        return np.zeros(rows)
    turn, at = tables.base[:, :, :3], tables.base[:, :, 3]
    center = np.einsum("sji,smj->smi", turn, tables.center - at[:, None])
    turned = np.einsum("smij,sjk->smik", tables.placed[..., :3], turn)
    bound = check.around.bound[: center.shape[1]]
    step = np.linalg.norm(np.diff(center, axis=0), axis=2)
    step += np.linalg.norm(np.diff(turned, axis=0), axis=(2, 3)) * bound
    near = np.arange(center.shape[1]) < tables.near_count[:-1, None]
    steps = np.where(near, np.take_along_axis(step, tables.near[:-1].astype(np.int64), axis=1), 0.0).max(axis=1)
    return np.concatenate([[0.0], np.cumsum(np.maximum(steps - np.diff(tables.travelled), 0.0))])


# Length of one step of a tree, metres; longer with time, where seconds count as metres, too.
_STEP, _STEP_IN_TIME = 0.2, 0.5


@dataclass(frozen=True, eq=False)
class LimbSearchSpace:
    """Space of a limb. States are rows: time (s), coordinates (3 n, radians), local rotations (4 n), marks (3 K, m).

    Made by `over`. It works on the calling thread; its data may be shared.
    """

    check: LimbCheck
    limits: tuple[JointLimit, ...]
    timed: bool
    _fixed: kernels.LimbSpace

    @staticmethod
    def over(
        check: LimbCheck,
        limits: Sequence[JointLimit | None] | None = None,
        *,
        timed: bool = False,
        style: Style = NATURAL,
        step: float | None = None,
        resolution: float = 0.01,
        speed: ArrayLike = 2.0 * np.pi,
        time_weight: float = 0.3,
    ) -> LimbSearchSpace:
        """The space of postures of the limb of a check.

        limits: those of the limb's joints, by default the character's own. timed: whether time is searched, too. style:
        where samples are drawn from; its intervals hold at any effort. step: metres of one step of a tree; resolution:
        largest travel of points of the limb between checks, metres. speed: largest rad/s, one number or one per joint;
        time_weight: metres that a second counts for.
        """
        body = check.world.body(check.who)
        if limits is None:
            if not isinstance(body, Character):
                raise BadValue(f"the joints of '{body.name}' have no ranges; give limits.")
            limits = [body.limits[j] for j in check.joints]
        step = (_STEP_IN_TIME if timed else _STEP) if step is None else step
        if not (step > 0.0 and resolution > 0.0 and time_weight >= 0.0):
            raise BadValue("step and resolution must be lengths above 0, time_weight 0 or more.")
        names = [body.joint_names[j] for j in check.joints]
        given: list[JointLimit] = []
        for name, limit in zip(names, limits, strict=True):
            if limit is None:
                raise BadValue(f"the joint {name} has no range to sample from.")
            given.append(limit)
        n = len(given)
        speeds = np.array(np.broadcast_to(np.asarray(speed, dtype=float), n))
        if not (speeds > 0.0).all():
            raise BadValue("joint speeds must be above 0 rad/s.")
        first, last = _intervals(given, style, style.within(body, check.joints, given))
        mark_joint, mark = marks_of(check)
        lever = np.array(check.tables.lever, dtype=float)
        fixed = kernels.LimbSpace(
            limb=check.limb,
            around=check.around,
            buffers=check.scratch().buffers,
            joints=stacked(given),
            first=first,
            last=last,
            mark_joint=mark_joint,
            mark=mark,
            lever=lever,
            travelled=np.array(check.tables.travelled, dtype=float),
            stirred=kept(check.tables, "stirred", lambda: stirred(check)),
            timed=timed,
            speed=speeds,
            top=float(speeds @ lever) + fastest(check),
            begin=0.0,
            end=0.0,
            time_weight=float(time_weight),
            step=float(step),
            resolution=float(resolution),
            spare=np.zeros((2, mark.size)),
        )
        return LimbSearchSpace(check, tuple(given), timed, fixed)

    @property
    def width(self) -> int:
        """Numbers in a state."""
        return 1 + 7 * len(self.limits) + 3 * len(self._fixed.mark)

    @property
    def resolution(self) -> float:
        """Largest travel of points of the limb between checks, metres."""
        return self._fixed.resolution

    @property
    def slowest(self) -> float:
        """Speed that every joint may have, rad/s."""
        return float(self._fixed.speed.min())

    def compiled(self, start: Array, goal: Array) -> kernels.LimbSpace:
        """Compiled space for searches, with its own scratch memory; times are sampled between those of two states."""
        if self.timed and not start[0] < goal[0]:
            raise BadValue(f"the goal must be later than the start, not {start[0]:g} s and then {goal[0]:g} s.")
        if not self.timed and start[0] != goal[0]:
            raise BadValue("start and goal must be at the same time; with timed=True they may differ.")
        return self._here()._replace(begin=float(start[0]), end=float(goal[0]))

    def _here(self) -> kernels.LimbSpace:
        """Copy with scratch memory for this thread and call."""
        joints = self._fixed.joints._replace(q=np.zeros((len(self.limits), 4)))
        spare = np.zeros_like(self._fixed.spare)
        return self._fixed._replace(buffers=self.check.scratch().buffers, joints=joints, spare=spare)

    def state(self, q: ArrayLike, t: float = 0.0) -> Array:
        """State of a posture, local rotations (n, 4), at a time."""
        q = self.check.posture(q, t)
        row = np.zeros((1, self.width))
        row[0, 0] = t
        row[0, 1 : 1 + 3 * len(q)] = np.concatenate([x.coordinates(r) for x, r in zip(self.limits, q, strict=True)])
        limb_state.fill(self._here(), row)
        return row[0]

    def rotations(self, states: ArrayLike) -> Array:
        """Local rotations (..., n, 4) of states (..., W)."""
        rows, n = np.asarray(states, dtype=float), len(self.limits)
        return rows[..., 1 + 3 * n : 1 + 7 * n].reshape(*rows.shape[:-1], n, 4)

    def coordinates(self, states: ArrayLike) -> Array:
        """Coordinates (..., n, 3) of states (..., W), radians."""
        rows, n = np.asarray(states, dtype=float), len(self.limits)
        return rows[..., 1 : 1 + 3 * n].reshape(*rows.shape[:-1], n, 3)

    def marks(self, states: ArrayLike) -> Array:
        """Positions of the marks in the world, (..., K, 3), for states (..., W), metres."""
        rows, n = np.asarray(states, dtype=float), len(self.limits)
        return rows[..., 1 + 7 * n :].reshape(*rows.shape[:-1], -1, 3)

    def tree_lines(self, path: SearchPath) -> tuple[Array, ...]:
        """Positions of the limb's last joint at both ends of each edge of a path's trees, (E, 2, 3) each, metres."""
        out = []
        for tree in path.trees:
            at = self.marks(tree.states)[:, max(len(self.limits) - 2, 0)]
            edges = tree.parents >= 0
            out.append(np.stack([at[tree.parents[edges]], at[edges]], axis=1))
        return tuple(out)

    def at_time(self, states: ArrayLike, t: float) -> Array:
        """The same postures (N, W) with everything else as at one time, seconds."""
        rows = np.array(states, dtype=float)
        rows[:, 0] = t
        limb_state.fill(self._here(), rows)
        return rows

    def dense(self, path: SearchPath, spacing: float = 0.005) -> Array:
        """States (M, W) along a path, no point of the limb travelling more than `spacing` metres between two."""
        states, space = np.array(path.states, dtype=float, order="C"), self._here()
        rows = np.zeros((limb_state.dense(space, states, spacing, np.zeros((0, self.width))), self.width))
        rows[0] = states[0]
        limb_state.dense(space, states, spacing, rows)
        return frozen(rows)


def _intervals(limits: list[JointLimit], style: Style, within: Array | None) -> tuple[Array, Array]:
    """Sampling intervals (n, 3, 2) of joint coordinates at effort 0 and 1, `within` those of the style."""
    last = np.stack([span_of(limit) for limit in limits])
    first = last.copy()
    for j, limit in enumerate(limits):
        if limit.kind == "hinge":
            low, high = limit.flexion
            if high >= -low:
                first[j, 0, 0] = max(style.flexion * high, low) if style.flexion > 0.0 else low
            else:
                first[j, 0, 1] = min(style.flexion * low, high) if style.flexion > 0.0 else high
        elif limit.kind == "swing":
            first[j, :2] *= style.wrist
    if within is not None:
        finite = np.isfinite(within)
        first[finite] = last[finite] = within[finite]
    return first, last


# Rotations by which joints escape uncertain states, radians, and attempts at each.
_AWAY = (0.02, 0.05, 0.1, 0.2)
_TRIES = 24


def plan_limb(space: LimbSearchSpace, start: Array, goal: Array, seed: int = 0, budget: Budget = USUAL) -> SearchPath:
    """`search.birrt.plan`, where ends that only the exact test finds free are left and entered under that test."""
    path = plan(space, start, goal, seed, budget)
    before, after = np.zeros((0, space.width)), np.zeros((0, space.width))
    for _ in range(2):
        leaving = path.status == "start-in-collision"
        if not leaving and path.status != "goal-in-collision":
            break
        end = start if leaving else goal
        found = escape(space, end, seed, forward=leaving)
        if found is None:
            return path
        if leaving:
            before, start = end[None], found
        else:
            after, goal = end[None], found
        path = plan(space, start, goal, seed, budget)
    if not path.found:
        return path
    return replace(path, states=frozen(np.concatenate([before, path.states, after])))


def escape(space: LimbSearchSpace, state: Array, seed: int = 0, *, forward: bool = True) -> Array | None:
    """A nearby state that is surely free, reached freely by the exact test; None where there is none.

    With time, it is a moment later, or earlier if not `forward`.
    """
    check, rng = space.check, np.random.default_rng(seed)
    coordinates, t = space.coordinates(state), float(state[0])
    if not check.free(space.rotations(state), t):
        return None
    for away in _AWAY:
        moved = coordinates + rng.uniform(-away, away, (_TRIES, *coordinates.shape))
        q = np.stack([x.rotation(x.clamp_coordinates(moved[:, j])) for j, x in enumerate(space.limits)], axis=1)
        span = float(4.0 * away / space.slowest) if space.timed else 0.0
        then = t + span if forward else t - span
        if not check.span[0] <= then <= check.span[1]:
            continue
        for k in np.flatnonzero(check.batch(q, then) == FREE):
            there = space.state(q[k], then)
            ends = np.stack([state, there] if forward else [there, state])
            way = space.dense(SearchPath(ends, "found"), space.resolution)
            if all(check.free(space.rotations(row), float(row[0])) for row in way):
                return there
    return None
