"""A hand touches a place, or is just there at a time, while the person walks, the place moves, or both."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elbowroom.character.hand_shapes import finger_joints, finger_rotations, hand_shape
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director
from elbowroom.plan.hands import shoulder_of
from elbowroom.plan.moving.passage import Passage
from elbowroom.plan.moving.timing import (
    ContactTiming,
    beside,
    far_away,
    frames_for,
    frames_of,
    helpful,
    in_motion,
    moments,
    named,
    paces,
)
from elbowroom.plan.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Point, Reach, Rest, Task, Touch
from elbowroom.plan.verbs import touch as standing
from elbowroom.plan.verbs.grasp_choice import Place, Taking, failure, fitting, look, sifted
from elbowroom.plan.verbs.put import rest
from elbowroom.plan.verbs.touch import place_of, pointing, spots_on, surface_of
from elbowroom.posing.grasps import press_target

# How many ways to touch something are enough to choose from.
_ENOUGH = 10

# Seconds that a hand stays with what it touches, and metres that it goes off at least.
_TOUCHES, _OFF = 0.08, 0.12

# Seconds after a task's time for which somebody who stands goes on standing.
_STANDS_ON = 2.0


def reach_to(d: Director, task: Reach) -> None:
    """Bring the middle of the grip to a place at a time; on top of a motion the hand then goes back to it."""
    actor = d.actor(task.who)
    if not in_motion(d, actor, task.to if isinstance(task.to, str) else None, task.at):
        return standing.reach_to(d, task)
    begin_layer(d, actor, task)
    what = "reach"
    target = task.to if isinstance(task.to, str) else None
    T_owner, points = _ways_of(d, actor, task.to)
    shape = hand_shape(task.shape)

    def options() -> Iterator[tuple[str, int, Pose, Array]]:
        failed: list[tuple[float, PlanningFailure]] = []
        for hand, k in frames_for(d, actor, task, points, what):
            actor.trunk = helpful(actor, hand, k, target)
            postures = Postures(d.world, actor.who, actor.time(k))
            shoulder = shoulder_of(actor, hand, actor.neutral(k))
            for T in pointing(actor, hand, points[k], shoulder):
                found = d.reach(actor, hand, T, k, postures)
                if found.found:
                    yield hand, k, found.pose, T
                else:
                    cost, stuck = failure(found, postures, what)
                    if found.status == "out-of-reach":
                        stuck = far_away(actor, hand, points, k, stuck.why)
                    failed.append((cost, stuck))
        if failed:
            raise min(failed, key=lambda f: f[0])[1]

    def do(option: tuple[str, int, Pose, Array]) -> None:
        hand, k, pose, T = option
        m = moments(d, actor, hand, task, k, T, 1)
        passage = Passage(d, actor, hand, m, pose, named(actor, task, what, k))
        passage.help(points)
        fingers = finger_rotations(actor.body, hand, shape)
        T_hand = T_owner @ inverse(T_owner[k]) @ T
        passage.come(T_hand[m.leaves : m.done + 1], fingers, fingers, ContactTiming())
        _back(passage, T_hand[m.done : m.back + 1], "reach back")

    d.first(options(), do)
    actor.layered = not actor.stands


def touch(d: Director, task: Touch) -> None:
    """Touch a surface with the fingertips at a time and go away again."""
    actor = d.actor(task.who)
    if not in_motion(d, actor, task.target if isinstance(task.target, str) else None, task.at):
        return standing.touch(d, task)
    begin_layer(d, actor, task)
    what = f"touch {task.target}" if isinstance(task.target, str) else "touch"
    target = task.target if isinstance(task.target, str) else None
    T_owner, points = _ways_of(d, actor, task.target)

    def options() -> Iterator[tuple[int, Taking, str]]:
        failed: list[tuple[float, PlanningFailure]] = []
        for hand, k in frames_for(d, actor, task, points, what):
            actor.trunk = helpful(actor, hand, k, target)
            thing, mesh = surface_of(d, task.target, actor.time(k))
            spots = spots_on(d, task.target, mesh, shoulder_of(actor, hand, actor.neutral(k)), actor.time(k))
            postures = Postures(d.world, actor.who, actor.time(k), hand=hand, taking=thing or None)
            ways = press_target(actor.body, hand, spots[0], task.shape)
            place = Place(np.eye(4), postures, what)
            fit = fitting(d, ways, actor.neutral(k), [place], failed, back=False)
            looks = (look(d, actor, hand, way, np.eye(4), k, postures, what) for way in fit)
            # those most at ease first: a finger that slants down is no good where the elbow has to rise for it
            yield from ((k, taking, thing) for taking in sifted(looks, _ENOUGH, failed))
            if failed and all(f[1].status == "target-out-of-reach" for f in failed):
                failed = [(f[0], far_away(actor, hand, points, k, f[1].why)) for f in failed]
        if failed:
            raise min(failed, key=lambda f: f[0])[1]

    def do(option: tuple[int, Taking, str]) -> None:
        ways = paces(actor, option[1].hand, points, option[0])
        d.first(ways, lambda pace: _touched(d, actor, task, *option, T_owner, points, pace, what))

    d.first(options(), do)
    actor.layered = not actor.stands


def _touched(
    d: Director,
    actor: Actor,
    task: Touch,
    k: int,
    taking: Taking,
    thing: str,
    T_owner: Array,
    points: Array,
    pace: ContactTiming,
    what: str,
) -> None:
    hand = taking.hand
    T_hand = T_owner @ inverse(T_owner[k]) @ taking.grasp.T_thing_hand
    m = moments(d, actor, hand, task, k, T_hand[k], actor.frames(_TOUCHES), pace.early)
    passage = Passage(d, actor, hand, m, taking.target, named(actor, task, what, k), quick=pace.quick)
    passage.help(points)
    if thing:
        near = actor.time(max(m.there - actor.frames(pace.slow), m.leaves)), actor.time(m.done) + 0.5
        d.allow(hand_contacts(d.world, actor.who, hand, thing, near, PRESS))
    back = -T_owner[k, :3, :3].T @ taking.approach
    rows = np.arange(m.leaves, m.done + 1)
    left = 1.0 - smootherstep((rows - m.there + actor.frames(pace.slow)) / actor.frames(pace.slow))
    passage.come(beside(T_owner[rows], T_hand[rows], back, left), taking.open, taking.open, pace)
    rows = np.arange(m.done, m.back + 1)
    away = passage.away()
    _back(passage, beside(T_owner[rows], T_hand[rows], _OFF * normalize(back), away), f"leave {thing or 'it'}")


def _back(passage: Passage, hands: Array, what: str) -> None:
    """Back to what the person does anyway."""
    actor, m = passage.actor, passage.m
    own = actor.original.rotations[m.done :]
    fingers = np.array(own[:, list(finger_joints(actor.body, passage.hand))])
    passage.leave(hands, np.array(own[:, passage.arm]), fingers, what)
    passage.finish()


def begin_layer(d: Director, actor: Actor, task: Task) -> None:
    """Make what is done so far the motion under the next task, which is laid over it.

    Somebody who stands goes back to that first, and goes on for as long as a task at a time needs.
    """
    if actor.stands and (actor.away or actor.kept):
        rest(d, Rest(who=actor.who))
    actor.bake_into_base(actor.frame(task.at) + actor.frames(_STANDS_ON) if actor.stands and task.at is not None else 0)
    actor.layered = True


def _ways_of(d: Director, actor: Actor, target: Point | str) -> tuple[Array, Array]:
    """Places of what a target is on (N, 4, 4) and the target itself (N, 3) by frame."""
    times = actor.base.times
    if not isinstance(target, str) or d.world.split(target)[0] in d.world.static:
        point = place_of(d, target, float(times[0]))
        return np.tile(np.eye(4), (len(times), 1, 1)), np.tile(point, (len(times), 1))
    T = frames_of(d.world, target, times)
    return T, T[:, :3, 3]
