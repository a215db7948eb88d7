"""Tasks of whole bodies: on supports besides the feet (P2), and after a wait for what moves.

A support is given, or is a hand on a surface where balance fails without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from elbowroom.geometry.mesh import highest
from elbowroom.geometry.rotations import UP, Array
from elbowroom.locomotion.departure import stance_of
from elbowroom.plan.checks.hands import arms_of, front_of, held_by, holder_of
from elbowroom.plan.checks.places import target_of
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import Status
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Hand, Support, Task
from elbowroom.plan.tight.moving import MovingScene
from elbowroom.plan.verbs.kneeling import kneel
from elbowroom.plan.verbs.leaning import lean_on

# Failures that a hand which bears weight may resolve. A reach that ends where balance does is out of reach to limbs,
# and of several grasps only the reason of the first is reported.
_HELPED: tuple[Status, ...] = ("out-of-balance", "target-out-of-reach", "target-in-collision")
# Failures that a wait may resolve, and seconds that are waited.
_WAITED_FOR: tuple[Status, ...] = ("target-in-collision", "start-in-collision", "no-path")
_WAITS_S = (1.0, 2.0, 3.5, 6.0)
# Distance out of reach beyond which leaning on a hand does not help, metres.
_FARTHEST_M = 0.6
# Places of a hand: heights, distances ahead and to its own side, shares of the body's height, and the grid, metres.
_HEIGHTS, _AHEAD, _ASIDE = (0.3, 0.68), (0.12, 0.5), (0.0, 0.35)
_GRID_M = 0.05
# The best place: share of the way to the target, metres to the side of the hand beyond the shoulder, height (share).
_ON_WAY, _BESIDE, _EASY = 0.45, 0.13, 0.48
# Half-width of the palm and unevenness under it, metres; distance between places that are tried, and how many.
_PALM_M, _LEVEL_M = 0.03, 0.006
_APART_M = 0.14
_TRIED = 4


def waiting(d: Director, task: Task, do: Callable[[Task], None]) -> None:
    """Carry out a task at once, or after a wait where something that moves is in the way; raises `PlanningFailure`."""
    failure = d.attempt(lambda: do(task))
    if failure is None:
        return
    actor = d.actor(task.who)
    timed = task.at is not None or task.begin is not None
    if failure.status not in _WAITED_FOR or d.whole_body == "never" or timed or not actor.stands:
        raise failure
    if MovingScene.around(d.world, task.who, actor.now, 1.0) is None:
        raise failure

    def later(seconds: float) -> None:
        acting.wait(d, actor, actor.frames(seconds))
        do(task)

    if d.attempt(lambda: d.first(_WAITS_S, later)) is not None:
        raise failure


def supported(d: Director, task: Task, do: Callable[[Task], None]) -> None:
    """Carry out a task on its support, that of the task before left first; raises `PlanningFailure`.

    With 'auto' it is done on the feet, and on the hand that bore weight before; a surface for a hand is chosen where
    balance fails so.
    """
    if task.support != "auto":
        kneel(d, task)
        lean_on(d, task)
        return do(task)
    alone = d.attempt(lambda: do(task))
    if alone is None:
        return
    if alone.status not in _HELPED or alone.anywhere or alone.missing > _FARTHEST_M:
        raise alone

    def leaning(option: Task) -> None:
        lean_on(d, option)
        do(option)

    options = _leaning(d, task)
    if not options:
        raise alone
    still = d.attempt(lambda: d.first(options, leaning))
    if still is not None:
        alone.why = f"{alone.why}; leaning on a hand does not help either ({still.why})"
        raise alone
    support = d.actor(task.who).support
    assert support is not None
    note = f"{task.verb}: {task.who}'s {support.given.hand} hand leans on {support.given.on}, for balance."
    d.world = d.world.with_(notes=(*d.world.notes, note))


def _leaning(d: Director, task: Task) -> list[Task]:
    """The task with supports of the hand that does not do it, the best places first."""
    actor = d.actor(task.who)
    found, thing = target_of(d.world, task, actor.now), task.thing or ""
    if found is None or not actor.stands or task.at is not None:
        return []
    hold = holder_of(d.world, thing, actor.now) if thing in d.world.objects else None
    hands = [hold.hand] if hold is not None and hold.by == task.who else arms_of(actor, task.hand)
    rated: list[tuple[float, Task]] = []
    sides: tuple[tuple[Hand, Hand], ...] = (("left", "right"), ("right", "left"))
    for working, other in (pair for pair in sides if pair[0] in hands):
        if f"{other}_arm" in actor.body.chains and held_by(d.world, task.who, other, actor.now) is None:
            for cost, on, at in _places(d, actor, other, found[1]):
                rated.append((cost, replace(task, hand=working, support=Support(other, on, at))))
    chosen: list[Task] = []
    for _, option in sorted(rated, key=lambda one: one[0]):
        near = [one for one in chosen if one.hand == option.hand and _apart(one, option) < _APART_M]
        if not near and len(chosen) < _TRIED:
            chosen.append(option)
    return chosen


def _apart(a: Task, b: Task) -> float:
    """Distance of two supporting hands, metres."""
    assert isinstance(a.support, Support) and isinstance(b.support, Support)
    return float(np.linalg.norm(np.subtract(a.support.at, b.support.at)))


def _places(
    d: Director, actor: Actor, hand: Hand, target: Array
) -> Iterator[tuple[float, str, tuple[float, float, float]]]:
    """Level places (3,) on what never moves for a hand: cost in metres from the best one, name of the mesh, place."""
    height, middle = actor.body.height, stance_of(actor.body, actor.pose)[0]
    front = front_of(actor, actor.body.skeleton.at(actor.pose))[:2]
    side = np.cross(UP, [*front, 0.0])[:2] * (1.0 if hand == "left" else -1.0)
    ahead = np.arange(_AHEAD[0] * height, _AHEAD[1] * height, _GRID_M)
    aside = np.arange(_ASIDE[0] * height, _ASIDE[1] * height, _GRID_M)
    grid = middle + (ahead[:, None, None] * front + aside[None, :, None] * side).reshape(-1, 2)
    best = middle + _ON_WAY * float((target[:2] - middle) @ front) * front + _BESIDE * height * side
    palm = _PALM_M * np.array([[0.0, 0.0], [-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    floor = d.world.floor or 0.0
    for name, mesh in d.world.static.items():
        low, high = mesh.bounds
        near = grid[((grid > low[:2]) & (grid < high[:2])).all(axis=1)]
        if not len(near) or not high[2] > floor + _HEIGHTS[0] * height:
            continue
        triangles = mesh.vertices[mesh.faces]
        spans = triangles[..., :2].min(axis=1), triangles[..., :2].max(axis=1)
        around = (spans[1] > near.min(axis=0) - _PALM_M) & (spans[0] < near.max(axis=0) + _PALM_M)
        triangles = triangles[around.all(axis=1)]
        for at in near:
            levels = np.array([highest(triangles, (at + corner)[None]) for corner in palm])
            share = (levels[0] - floor) / height
            if np.ptp(levels) < _LEVEL_M and _HEIGHTS[0] < share < _HEIGHTS[1]:
                cost = float(np.linalg.norm(at - best)) + abs(share - _EASY) * height
                yield cost, name, (float(at[0]), float(at[1]), float(levels[0]))
