"""Path of a held object from its start to its goal, searched in the object's space, and frames of its carriers (Y2 to
Y6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.easing import between
from elbowroom.geometry.rotations import UP, Array, about, angle_between, continuous, normalize, slerp
from elbowroom.kernels.space import CHECKS
from elbowroom.motion.pace import Timing
from elbowroom.motion.recorded import recorded_carries
from elbowroom.motion.speed_profiles import CLEAR_M, path_times
from elbowroom.plan.checks.hands import front_of
from elbowroom.plan.checks.margins import BETWEEN_M, LIFTED_M, STEPS_M
from elbowroom.plan.checks.places import resting
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.result import PlanningFailure, blamed, tried
from elbowroom.plan.verbs.detours import arms_height, clear, detours, ends_above
from elbowroom.plan.verbs.holding import Grips, Holding, Team
from elbowroom.search.birrt import Budget
from elbowroom.search.rrt import EFFORT, smooth, walked
from elbowroom.search.rrt import plan as search
from elbowroom.spaces.object import ObjectSpace, between_states, cube_side, place_of, state_of
from elbowroom.world.pairs import Pair

# An object that is farther than this from its place no longer touches what it lay on there, metres.
_OFF_M = 0.02
# Travel of the object, metres, and rotation of the fastest joint, radians, between two checks of a whole body.
_STEP_M = 0.03
_TURN_RAD = 0.45
# Postures at one placement that differ by less are the same.
_ALIKE_M = 0.01
_ALIKE_RAD = 0.06
# Parts of a step in which a joint rotates farther than that.
_FINER = 4
# Pushes of the pelvis that are tried where a step collides: ahead, left, up, shares of the height, and a turn to the
# left, radians.
_PUSHES = (
    (-0.02, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.0, 0.12),
    (0.0, 0.0, 0.0, -0.12),
    (0.0, 0.0, 0.02, 0.0),
    (0.0, 0.0, -0.02, 0.0),
    (0.0, 0.02, 0.0, 0.0),
    (0.0, -0.02, 0.0, 0.0),
)
# Turns of an object below this are none, radians.
_SAME_TURN_RAD = 1e-3
# Steps of all detours, and limits of one search and of smoothing: a step takes two to three milliseconds. Successful
# searches of benchmarks/object_moves.py took up to 281 (206 nodes in 63 rounds); behind a wall there were 40 nodes in
# 183 rounds.
_WALKS = 300
_BUDGET = Budget(checks=320, nodes=600, fruitless=60)
_SMOOTH = replace(EFFORT, checks=120)
# Largest duration of a carry with a heavy object against that with a light one. Chosen, as `Settings.slower_per_kg`.
_SLOWEST = 2.5
# How often a carry is slowed for others who hold the object: they follow a slower one a little differently.
_SLOWED = 3
# Radians that elbows and knees may be turned in a frame where all else fails; more would show as a jerk.
FREED_RAD = 0.14
# Half-width of the average of postures on the way, nodes.
_SOFTENED = 3


@dataclass(frozen=True, eq=False)
class CarriedFrames:
    """Frames of a body that carries an object: roots (N, 3), rotations (N, J, 4), the object's placements (N, 4, 4).

    `lifted` and `set_down` are frames at which the object has left its place, and from which on it is at its goal.
    """

    root: Array
    rotations: Array
    places: Array
    lifted: int
    set_down: int
    checks: int

    @property
    def last(self) -> Pose:
        """Posture at the goal."""
        return Pose.of(self.root[-1], self.rotations[-1])


# Postures, one for each of those who hold the object.
Poses = tuple[Pose, ...]
# Postures one step on from a state (7,) with its postures to another, counted in a tally.
Follow = Callable[[Array, Poses, Array, NDArray[np.int64]], Poses | None]


def carried(
    team: Team, ends: Sequence[tuple[Pose, Pose]], *, searched: bool, rooms: Sequence[float] = STEPS_M,
    slower: Callable[[Array], float] | None = None,
) -> list[CarriedFrames]:  # fmt: skip
    """Frames of each from postures that hold the object at its start to those at its goal, or others there.

    Raises `PlanningFailure`.

    The object goes straight or by a detour, or `searched`: with the first of some `rooms` to all else, metres; where
    that fails, or the frames between its nodes collide, with the next. Detours are tried smoothed, and as they are.
    `slower` is the factor by which placements (N, 4, 4) of the object are too fast for others who hold it.
    """
    stuck: PlanningFailure | None = None
    for room in rooms:
        tried: list[Array] = []
        for smoothed in (True,) if searched else (True, False):
            try:
                states, poses, checks = _path(team, ends, room, searched=searched, smoothed=smoothed)
                if not any(np.array_equal(states, other) for other in tried):
                    tried.append(states)
                    return _frames(team, states, poses, checks, slower)
            except PlanningFailure as failed:
                stuck = stuck or failed
            if not tried:  # no path
                break
    assert stuck is not None
    raise stuck


def _path(
    team: Team, ends: Sequence[tuple[Pose, Pose]], room: float, *, searched: bool, smoothed: bool
) -> tuple[Array, list[Poses], int]:
    """Path of the object (N, 7), the postures that follow it, and the number of checks."""
    lead = team[0][0]
    d, T_start, T_goal = lead.d, lead.T_start, lead.T_goal
    turned = angle_between(state_of(T_start)[3:], state_of(T_goal)[3:]) > _SAME_TURN_RAD
    turning: Literal["level", "fixed"] = "level" if turned else "fixed"
    over = ends_above(lead, team[0][1], ends[0]) if searched else ends_above(lead)
    states, poses, checks = [state_of(T_start)], [tuple(start for start, _ in ends)], 0
    for T_a, T_b in pairwise([T_start, *over, T_goal]):
        if np.array_equal(T_a, T_b):
            continue
        middle = 0.5 * (T_a[:3, 3] + T_b[:3, 3])
        between = T_a is over[0] and T_b is over[1]
        follow = partial(_follow, team, not between, room if between else min(room, LIFTED_M))
        pushed = _remembered(partial(follow, _PUSHES))
        space = ObjectSpace(middle, cube_side(arms_height(lead)), pushed, turning=turning,
                            upright=state_of(T_a)[3:], step_m=_STEP_M, same=_alike,
                            ends=(T_a[:3, 3], T_b[:3, 3]))  # fmt: skip
        quick = replace(space, follow=partial(follow, ()))
        first, last = (state_of(T_a), poses[-1]), state_of(T_b)
        found = walked(space, first, [last])
        straight = found.found
        spent = found.stats.checks
        for stations in (
            detours(lead, T_a, T_b, alone=len(team) == 1) if between and not (searched or found.found) else ()
        ):
            by = [*map(state_of, stations), last]
            if spent < _WALKS and clear(team, [first[0], *by], room):
                found = walked(space, first, by)
                spent += found.stats.checks
            if found.found:
                break
        if searched and not found.found:
            found = search(quick, first, last, d.seed(), _BUDGET, _held_there(team, ends, T_b))
        if not found.found:
            raise PlanningFailure("no-path", f"{lead.what}: no path was found that the body can follow{_mostly(team)}")
        short = found if straight or not smoothed else smooth(quick, found, d.seed(), _SMOOTH)
        states += list(short.states[1:])
        poses += short.payloads[1:]
        checks += found.stats.checks + (0 if short is found else short.stats.checks)
    return np.array(states), poses, checks


def _mostly(team: Team) -> str:
    """Words on the collision that ended most steps of a search, the carriers' or none."""
    met = sum((holding.met for holding, _ in team), Counter[str]())
    return "".join(f"; mostly {pair}" for pair, _ in met.most_common(1))


def _held_there(team: Team, ends: Sequence[tuple[Pose, Pose]], T: Array) -> Poses:
    """Postures at the end of a search, near those at the goal; raises `PlanningFailure`."""
    found = tried(lambda: tuple(h.held_at(grips, T, goal) for (h, grips), (_, goal) in zip(team, ends, strict=True)))
    if isinstance(found, PlanningFailure):
        what, _, why = found.why.partition(": ")
        raise PlanningFailure("no-path", f"{what}: it cannot be held just above its goal: {why}")
    return found


def _gap(holding: Holding, grips: Grips, T: Array, under: Collection[str]) -> float:
    """Distance from the object at a placement (4, 4), and hands on it, to everything but its supports, metres.

    At most as far as speeds depend on it.
    """
    postures, hands = holding.postures(grips, lies=False), holding.hand_joints(grips, T)
    return postures.carried_gap(holding.actor.pose, hands, {holding.thing: T}, CLEAR_M, under)


def _follow(
    team: Team, lies: bool, room: float, pushes: Sequence[tuple[float, ...]],
    start: Array, poses: Poses, end: Array, tally: NDArray[np.int64],
) -> Poses | None:  # fmt: skip
    """The postures one step on, None where no free ones are near those before, pushed or not."""
    tally[CHECKS] += 1
    if any(holding.carried_blame(grips, place_of(end), room, lies=lies) for holding, grips in team):
        return None
    out = []
    for (holding, grips), pose in zip(team, poses, strict=True):
        step = _Step(holding, grips, holding.postures(grips, lies=lies), room, start, pose, end)
        # where recordings lead to a jump, or out of balance, stay at the previous posture
        found = _stepped(step, guided=True)
        if found is None and holding.guided[0] is not None:
            found = _stepped(step, guided=False)
        for push in pushes if found is None else ():
            tally[CHECKS] += 1
            found = _stepped(step, guided=False, push=push)
            if found is not None:
                break
        if found is None:
            return None
        out.append(found)
    return tuple(out)


def _remembered(follow: Follow) -> Follow:
    """A step function with a cache: detours that begin alike are walked once."""
    seen: dict[tuple[int, bytes], tuple[Poses, Poses | None]] = {}

    def step(start: Array, poses: Poses, end: Array, tally: NDArray[np.int64]) -> Poses | None:
        key = id(poses), np.round(end, 6).tobytes()
        if key not in seen:
            seen[key] = poses, follow(start, poses, end, tally)
        return seen[key][1]

    return step


class _Step(NamedTuple):
    """A step of one carrier with its checks: its states (7,), and the posture at the first."""

    holding: Holding
    grips: Grips
    postures: Postures
    room: float
    start: Array
    pose: Pose
    end: Array


def _stepped(step: _Step, *, guided: bool, push: tuple[float, ...] = ()) -> Pose | None:
    """The posture at the end of a step, None where there is none.

    A joint that rotates far, as shoulders do while hands are near them, is followed in smaller steps: what still
    rotates far then is a jump. A `push` moves the pelvis before the posture is solved.
    """
    holding = step.holding
    for count in (1,) if push else (1, _FINER):
        found = step.pose
        for k in range(1, count + 1):
            T = place_of(step.end if k == count else between_states(step.start, step.end, np.array(k / count)))
            near = _pushed(holding, found, push) if push else found
            targets = step.grips.targets(holding.actor, T)
            followed = tried(partial(holding.at, targets, near, T, loaded=True, markers=guided))
            if isinstance(followed, PlanningFailure):
                return None
            free = holding.freed(step.postures, followed, T, _TURN_RAD, step.room)
            if isinstance(free, Pair):
                holding.met[blamed(free)] += 1
                return None
            if angle_between(free.rotations, found.rotations).max() > _TURN_RAD:
                break
            found = free
        else:
            return found
    return None


def _alike(a: Poses, b: Poses) -> bool:
    """Return whether postures are so near to each other that frames between them show no difference."""
    return all(
        np.linalg.norm(p.root - q.root) < _ALIKE_M and angle_between(p.rotations, q.rotations).max() < _ALIKE_RAD
        for p, q in zip(a, b, strict=True)
    )


def _pushed(holding: Holding, pose: Pose, push: tuple[float, ...]) -> Pose:
    """A posture with the pelvis moved ahead, left and up, shares of the height, and turned left, radians."""
    front = front_of(holding.actor, holding.actor.body.skeleton.at(pose))
    up = UP
    ahead, left, rise, turn = push
    root = pose.root + holding.actor.body.height * (ahead * front + left * np.cross(up, front) + rise * up)
    return holding.actor.body.turned_by(about(up, turn), Pose.of(root, pose.rotations))


def _frames(
    team: Team, states: Array, poses: Sequence[Poses], checks: int, others: Callable[[Array], float] | None
) -> list[CarriedFrames]:
    """Frames along a path of the object (N, 7), as fast as people carry things, and others can; see `carried`."""
    lead = team[0][0]
    turns = angle_between(states[:-1, 3:], states[1:, 3:])
    joints = np.array([
        max(float(angle_between(p.rotations, q.rotations).max()) for p, q in zip(a, b, strict=True))
        for a, b in pairwise(poses)
    ])  # fmt: skip
    slower = min(1.0 + lead.d.settings.slower_per_kg * lead.mass, _SLOWEST)
    here = (lead.d.world, lead.thing, lead.actor.now)
    under = {name for end in (lead.T_start, lead.T_goal) for name in resting(*here, end)}
    near = np.array([min(_gap(holding, grips, T, under) for holding, grips in team) for T in place_of(states)])
    timing = path_times(states[:, :3], recorded_carries(), turns=turns, joints=joints, clearance=near, slower=slower)
    count = max(lead.actor.frames(timing.duration), 2)
    row, share, T = _placed(states, timing, count)
    for _ in range(_SLOWED):
        if others is None or (factor := others(T)) <= 1.0:
            break
        count = int(np.ceil(factor * count))
        row, share, T = _placed(states, timing, count)
    off = [np.linalg.norm(T[:, :3, 3] - end[:3, 3], axis=1) > _OFF_M for end in (lead.T_start, lead.T_goal)]
    lifted, set_down = int(np.argmax(off[0])), count - int(np.argmax(off[1][::-1]))
    out = []
    for k, (holding, grips) in enumerate(team):
        mine = [each[k] for each in poses]
        root, q = _followed(holding, grips, mine, T, (row, share), (lifted, set_down))
        out.append(CarriedFrames(root, q, T, lifted, set_down, checks))
    return out


def _placed(states: Array, timing: Timing, count: int) -> tuple[NDArray[np.int64], Array, Array]:
    """Rows and shares between them of a path of the object (N, 7) at count + 1 even times, and its placements."""
    row, _, share = between(timing.times, np.linspace(0.0, timing.duration, count + 1))
    return row, share, place_of(between_states(states[row], states[row + 1], share))


def _followed(
    holding: Holding, grips: Grips, poses: Sequence[Pose], T: Array,
    shares: tuple[NDArray[np.int64], Array], carried_from_to: tuple[int, int],
) -> tuple[Array, Array]:  # fmt: skip
    """Roots and rotations with the object at placements (N, 4, 4), near postures at rows and shares between them."""
    (row, share), (lifted, set_down) = shares, carried_from_to
    near_at = partial(holding.at, markers=False)
    stuck: PlanningFailure | None = None
    for width, most_rad, room, solve in (
        (_SOFTENED, 0.0, BETWEEN_M, near_at), (0, 0.0, BETWEEN_M, near_at),
        (_SOFTENED, FREED_RAD, BETWEEN_M, near_at), (0, FREED_RAD, BETWEEN_M, near_at),
        (0, FREED_RAD, BETWEEN_M, holding.along), (0, FREED_RAD, 0.0, near_at),
    ):  # fmt: skip
        near = _averaged(poses, width)
        root, q = [poses[0].root], [poses[0].rotations]
        try:
            for k in range(1, len(T)):
                a, b = near[row[k]], near[row[k] + 1]
                between = Pose.of(a.root + share[k] * (b.root - a.root), slerp(a.rotations, b.rotations, share[k]))
                pose = solve(grips.targets(holding.actor, T[k]), between, T[k], loaded=True)
                postures = holding.postures(grips, lies=not lifted <= k <= set_down)
                found = holding.freed(postures, pose, T[k], most_rad, room)
                if isinstance(found, Pair):
                    raise PlanningFailure("no-path", f"{holding.what}: {blamed(found)} along the path")
                root.append(found.root)
                q.append(found.rotations)
                met = holding.met_between(postures, np.array(root[-2:]), np.array(q[-2:]), T[k - 1 : k + 1])
                if met is not None:
                    raise PlanningFailure("no-path", f"{holding.what}: {blamed(met)} along the path")
        except PlanningFailure as failed:
            stuck = stuck or failed
        else:
            return np.array(root), np.array(q)
    assert stuck is not None
    raise stuck


def _averaged(poses: Sequence[Pose], width: int) -> list[Pose]:
    """Postures averaged over up to `width` before and after each; the ends stay."""
    if width == 0:
        return list(poses)
    root, q = np.stack([p.root for p in poses]), continuous(np.stack([p.rotations for p in poses]))
    out = []
    for k in range(len(poses)):
        reach = min(width, k, len(poses) - 1 - k)
        around = slice(k - reach, k + reach + 1)
        out.append(Pose.of(root[around].mean(axis=0), normalize(q[around].mean(axis=0))))
    return out
