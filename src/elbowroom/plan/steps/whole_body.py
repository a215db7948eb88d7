"""Whole-body motion of a standing character between two postures, where nothing smaller succeeds (P1, P2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import UP, Array, angle_between
from elbowroom.motion.pace import Timing
from elbowroom.plan.checks.hands import front_of
from elbowroom.plan.checks.margins import ladder
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, Status, blamed
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tight.capture import refined
from elbowroom.plan.tight.chain import BodyProblem, standing_balance
from elbowroom.plan.tight.criteria import blended_components
from elbowroom.plan.tight.dynamic_balance import slowed, zmp_margin
from elbowroom.plan.tight.frames import Planned, frames_of, planned_frames
from elbowroom.plan.tight.moving import MovingScene
from elbowroom.plan.tight.recordings import capture_for
from elbowroom.plan.tight.settings import USUAL, TightSettings
from elbowroom.posing.kneeling import Kneeling
from elbowroom.posing.stand import Balancer
from elbowroom.posing.whole_body import Load
from elbowroom.spaces.component import PosePath
from elbowroom.world.allowances import supports
from elbowroom.world.edit import CaptureBlend
from elbowroom.world.fast_body import BodyCheck
from elbowroom.world.world import World

# Fingers that rotate less than this on the way count as still, radians.
_MOVED_RAD = 0.02


def whole_body_frames(
    d: Director, actor: Actor, goal: Pose, count: int, arm: str, what: str, settings: TightSettings = USUAL
) -> Iterator[Planned]:
    """Motions to a posture in at least `count` frames: blended with recordings where that improves it, then as planned.

    Raises `PlanningFailure`. `arm` is the working one.
    """
    scene = MovingScene.around(d.world, actor.who, actor.now, count / actor.base.fps)
    problem = body_problem(d, actor, goal, arm, what, settings, None if scene is None else scene.rest)

    def count_of(path: PosePath) -> int:
        return max(count, _frames(d, actor, path))

    done = planned_frames(problem, d.seed, count_of, settings)
    if done.frames is None:
        raise _no_path(done, what)
    if scene is not None:
        yield from _among_moving(d, actor, scene, problem, done, count_of, what)
        return
    done = slowed(problem, done, actor.base.fps)
    if d.settings.capture:
        blended, account = _with_capture(d, actor, problem, done, settings)
        if blended is not None:
            point = zmp_margin(problem, blended, actor.base.fps)
            if point is None or done.zmp_m is None or point >= min(done.zmp_m, 0.0):
                yield replace(done, frames=blended, blend=account, zmp_m=point)
        done = replace(done, blend=account.dropped())
    yield done


def _no_path(done: Planned, what: str) -> PlanningFailure:
    """Failure of a search."""
    part = done.blocked.replace("_", " ").replace("+", ", ") or "body"
    why = f"{what}: the whole body finds no balanced path either; it fails at the {part}"
    return PlanningFailure("no-path", why)


def _among_moving(
    d: Director, actor: Actor, scene: MovingScene, problem: BodyProblem, done: Planned,
    count_of: Callable[[PosePath], int], what: str,
) -> Iterator[Planned]:  # fmt: skip
    """Motions among what moves: timings of the path, then a path clear of all that is swept; raises if there is none.

    Recordings are not followed here: they would change where the body is at a time.
    """
    assert done.path is not None
    fps, some = actor.base.fps, False
    for share in scene.timings(done.path, fps, count_of(done.path)):
        frames = frames_of(problem, done.path, len(share) - 1, share)
        if frames is not None:
            some = True
            yield replace(done, frames=frames, zmp_m=zmp_margin(problem, frames, fps))
    around = replace(problem, check=scene.swept(problem.check))
    if around.check.free(around.start) and around.check.free(around.goal):
        found = planned_frames(around, d.seed, count_of, USUAL)
        if found.frames is not None:
            yield slowed(around, found, fps)
            return
    if not some:
        why = f"{what}: moving obstacles block the whole body whenever it starts, and no path avoids them"
        raise PlanningFailure("no-path", why)


def _with_capture(
    d: Director, actor: Actor, problem: BodyProblem, done: Planned, settings: TightSettings
) -> tuple[tuple[Array, Array] | None, CaptureBlend]:
    """Frames of a planned motion blended with recordings, None where that does not improve it, with the account."""
    assert done.frames is not None and done.path is not None and done.searched is not None
    count = len(done.frames[0]) - 1
    capture = capture_for(actor.body, d.settings.capture)
    timing = Timing(np.arange(count + 1) / actor.base.fps, done.shares)
    better = refined(problem, done.searched, done.path, capture, timing, d.seed(), settings)
    frames = frames_of(problem, better.path, count, done.share) if better.used else None
    return frames, better.blend(actor.now, blended_components(capture.database))


def body_problem(
    d: Director, actor: Actor, goal: Pose, arm: str, what: str, settings: TightSettings = USUAL,
    world: World | None = None,
) -> BodyProblem:  # fmt: skip
    """Problem of a whole body from its current posture to a goal; raises `PlanningFailure` where an end collides.

    `world` is what it may collide with, by default everything.
    """
    world = world or d.world
    world = world.with_(contacts=(*world.contacts, *supports(world)))
    start = actor.pose
    fingers = [j for hand in ("left", "right") for j in finger_joints(actor.body, hand)]
    moved = bool(fingers) and float(angle_between(start.rotations[fingers], goal.rotations[fingers]).max()) > _MOVED_RAD
    widest = BodyCheck(world, actor.who, actor.now, margin=settings.margin, fingers=moved)
    for margin in ladder(settings.margin):
        check = widest.with_margin(margin)
        pairs = [check.blame(pose) for pose in (start, goal)]
        if pairs == [None, None]:
            break
    else:
        status: Status = "start-in-collision" if pairs[0] is not None else "target-in-collision"
        raise PlanningFailure(status, f"{what}: {blamed(pairs[0] or pairs[1])}")
    return BodyProblem(actor.body, start, goal, check, _balance(d, actor, goal, settings), axes_of(actor), arm)


def axes_of(actor: Actor) -> Array:
    """Directions ahead, left and up of a character, (3, 3), in columns."""
    front, up = front_of(actor, actor.body.skeleton.at(actor.pose)), UP
    return np.stack([front, np.cross(up, front), up], axis=1)


def _balance(d: Director, actor: Actor, goal: Pose, settings: TightSettings) -> Balancer:
    """Balance of a character with its load; as far from the border as both ends are, none where one is unbalanced."""
    floor = d.world.floor or 0.0
    held = [(d.world.objects[h.object].mass or 0.0, actor.body.hand(h.hand)) for h in d.world.holds
            if h.by == actor.who and h.during[0] <= actor.now < h.during[1]]  # fmt: skip

    def load(T: Array) -> Load | None:
        mass = sum(m for m, _ in held)
        if mass <= 0.0:
            return None
        return Load(mass, sum(m * (T[joint] @ T_hand)[:3, 3] for m, (joint, T_hand) in held) / mass)

    carried = load if held else None
    if actor.knee is not None:
        return _kneeling(actor.knee, (actor.pose, goal), settings.balance, carried)
    lean = actor.support
    bears: dict[str, Any] = {"load": carried}
    if lean is not None:
        bears |= {"others": lean.corners, "pinned": {lean.end: lean.T_world_hand}}
    return standing_balance(actor.body, floor, (actor.pose, goal), settings.balance, **bears)


def _kneeling(knee: Kneeling, ends: tuple[Pose, Pose], least_m: float, load: Any) -> Balancer:
    """Balance on a knee, as far from the border as both ends are, `least_m` at most."""
    plain = knee.with_(0.0, load=load)
    corners = plain.support(knee.pose, PosePath(knee.body, [knee.pose, knee.pose]).feet(0.0))
    return knee.with_(max(min(least_m, *(plain.margin(pose, corners) for pose in ends)), 0.0), load=load)


def _frames(d: Director, actor: Actor, path: PosePath) -> int:
    """Number of frames of a path at the usual speed of the farthest-moving point."""
    return actor.frames(d.seconds_for(path.length_m))
