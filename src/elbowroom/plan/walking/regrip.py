"""Regrips: an object is set down on the way and taken with another grip if none works at both start and goal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from elbowroom.geometry.mesh import highest
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.plan.checks.hands import may_step
from elbowroom.plan.checks.places import place_for, resting
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import NoCommonGrip, PlanningFailure, Status
from elbowroom.plan.state.take import Take
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Move
from elbowroom.plan.walking.approach import stepping_up
from elbowroom.plan.walking.doors import walk_through
from elbowroom.plan.walking.stances import hold_failures, spot_on, stances_for
from elbowroom.plan.walking.walked import WalkRequest
from elbowroom.world.things import Fixture

# Failures that another grip may resolve.
_BY_GRIP: tuple[Status, ...] = ("target-out-of-reach", "out-of-balance", "target-in-collision", "no-path")
# Height at which most grips are possible, a share of the body's.
_EASY = 0.5
# Distance between places that are checked, and from start or goal to them, metres: with feet in place, and on foot.
_GRID_M = 0.12
_NEAR_M = (0.7, 1.5)
# Smallest difference of height from start and goal, metres: on the level of either, grips are those of that end.
_APART_M = 0.15
# Directions (2, 8) in which an object's foot is farthest out: its outline is tested there.
_ALL_SIDES = np.stack([np.cos(np.arange(8) * np.pi / 4), np.sin(np.arange(8) * np.pi / 4)])
# Unevenness under an object, and the gap below it, metres.
_LEVEL_M = 0.005
_ABOVE_M = 0.0005
# Places that are examined; free ones that are checked, and those that are tried, with feet in place and on foot.
_EXAMINED = 40
_FREE = (6, 6)
_TRIED = (2, 1)
# Cost of a metre from start and goal, relative to a height of the body.
_WAY = 0.3

# Carries out one of two moves.
Do = Callable[[Move], None]


def step_and_move(d: Director, task: Move) -> None:
    """Move an object from the present stance or another one, with another grip on the way where one does not serve."""
    actor = d.actor(task.who)
    if not isinstance(task.feet, str):
        walk_through(d, actor, spot_on(actor, task.feet), WalkRequest(f"step up to {task.object}"))
        return task.perform(d)
    before = d.take

    def do(leg: Move) -> None:
        stepping_up(d, leg, lambda: leg.perform(d))

    stuck = d.attempt(lambda: do(task))
    if stuck is not None:
        if task.object not in d.world.objects:
            raise stuck
        by_regripping(d, task, before, stuck, do)


def by_regripping(d: Director, task: Move, before: Take, why: PlanningFailure, do: Do) -> None:
    """Move an object by way of a support on which it is taken with another grip; raises the reason where that fails.

    The reason is `why`, or that no grip serves both ends where each of them can be held by itself.
    """
    actor = d.actor(task.who)
    if why.status not in _BY_GRIP or why.anywhere or why.missing > 0.0 or task.helpers or d.mode.brief:
        raise why
    d.take = before
    T_start = np.asarray(d.world.frame(task.object, actor.now))
    T_goal = place_for(d.world, task, T_start, actor.now)
    most = _FREE[may_step(actor, task)]
    between = list(islice(_places_between(d, actor, task, T_start, T_goal), most))
    alike = why.status == "no-path"  # some grip serves both ends, but not the way between them
    ends = () if alike and not between else (T_goal, T_start)
    if not (ends and all(_can_hold(d, actor, task, T, T) for T in ends)):
        raise why
    last = replace(task, onto=None, to=_point(T_goal))
    useful = (T for T in between if _can_hold(d, actor, task, T, T_goal))
    begin = actor.now

    def by_way_of(T: Array) -> None:
        do(replace(task, onto=None, turn=None, to=_point(T)))
        do(last)

    for T in islice(useful, _TRIED[may_step(actor, task)]):
        if d.attempt(partial(by_way_of, T)) is None:
            on = ", ".join(resting(d.world, task.object, begin, T))
            note = f"move {task.object}: set down on {on} on the way and taken up again with another grip"
            d.world = d.world.with_(notes=(*d.world.notes, note))
            return
    raise why if alike else NoCommonGrip(task.object, why)


def _can_hold(d: Director, actor: Actor, task: Move, T_a: Array, T_b: Array) -> bool:
    """Return whether a person could hold an object at two placements (4, 4) with one grip, from one stance."""
    if not hold_failures(d, actor, task, ends=(T_a, T_b)):
        return True
    return may_step(actor, task) and next(stances_for(d, actor, task, ends=(T_a, T_b)), None) is not None


def _places_between(d: Director, actor: Actor, task: Move, T_start: Array, T_goal: Array) -> Iterator[Array]:
    """Placements (4, 4) of an object on level supports between the heights of its start and goal, oriented as at its
    start, those at an easy height first."""
    mesh = d.world.objects[task.object].mesh
    corners = apply(T_start, mesh.vertices) - T_start[:3, 3]
    foot = corners[corners[:, 2] < corners[:, 2].min() + _LEVEL_M, :2]
    foot = foot[np.unique((foot @ _ALL_SIDES).argmax(axis=0))]
    middle, below = float(np.mean(corners[:, 2])), float(corners[:, 2].min())
    near, floor = _NEAR_M[may_step(actor, task)], d.world.floor or 0.0
    others = {n: o.mesh.moved(d.world.frame(n, actor.now)) for n, o in d.world.objects.items()
              if n != task.object and not isinstance(o, Fixture)}  # fmt: skip
    low, high = sorted(float(T[2, 3]) for T in (T_start, T_goal))
    found = []
    for ground in (*d.world.static.values(), *others.values()):
        triangles = _within(ground.vertices[ground.faces], (T_start, T_goal), near + float(np.abs(foot).max()))
        for xy in _grid(ground.bounds[:, :2] - [foot.min(axis=0), foot.max(axis=0)], (T_start, T_goal), near):
            heights = [highest(triangles, xy[None] + by) for by in foot]
            if max(heights) - min(heights) < _LEVEL_M:
                at = np.array([*xy, max(heights) - below + _ABOVE_M])
                if not low + _APART_M < at[2] < high - _APART_M:
                    continue
                far = max(float(np.linalg.norm(at - T[:3, 3])) for T in (T_start, T_goal))
                height = (at[2] + middle - floor) / actor.body.height
                found.append((abs(height - _EASY) + _WAY * far, tuple(at)))
    for _, place in sorted(found)[:_EXAMINED]:
        T = np.array(T_start)
        T[:3, 3] = place
        up = np.array(T)
        up[2, 3] += 0.01
        if len(resting(d.world, task.object, actor.now, T)) and not resting(d.world, task.object, actor.now, up):
            yield T


def _within(triangles: Array, ends: tuple[Array, Array], near: float) -> Array:
    """Triangles (F, 3, 3) whose boxes are within some metres of one of two placements (4, 4), seen from above."""
    low, high = triangles[..., :2].min(axis=1), triangles[..., :2].max(axis=1)
    here = [((low <= T[:2, 3] + near) & (high >= T[:2, 3] - near)).all(axis=1) for T in ends]
    return np.asarray(triangles[np.logical_or(*here)])


def _grid(bounds: Array, ends: tuple[Array, Array], near: float) -> Iterator[Array]:
    """Points (2,) within bounds (2, 2), and within some metres of one of two placements (4, 4)."""
    steps = [np.linspace(a, b, int(max(b - a, 0.0) / _GRID_M) + 2) for a, b in bounds.T if b >= a]
    if len(steps) < 2:
        return
    for x in steps[0]:
        for y in steps[1]:
            xy = np.array([x, y])
            if min(float(np.linalg.norm(xy - T[:2, 3])) for T in ends) < near:
                yield xy


def _point(T: Array) -> tuple[float, float, float]:
    return float(T[0, 3]), float(T[1, 3]), float(T[2, 3])
