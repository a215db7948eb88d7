"""Frames of people who carry an object along a trajectory: legs and trunk walk, arms hold it exactly (E5, E6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, angle_between, continuous
from elbowroom.locomotion.departure import footprints_of, led_over
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.walk import STANDS_S, landed, walk_course
from elbowroom.motion.clip import Clip
from elbowroom.motion.layers import held
from elbowroom.plan.arm_paths import LimbTrajectory
from elbowroom.plan.director import FOREVER, Director
from elbowroom.plan.hands import joints_of
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.teams.trajectory import Trajectory
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.plan.verbs.holding import Grips
from elbowroom.plan.walking.ground import Ground
from elbowroom.posing.whole_body import FEET

# Seconds after its time by which a trajectory is at rest.
_STILL_S = 0.5
# Radians that a joint may turn from one frame to the next at 60 frames a second: more is a leap.
_LEAP_RAD = 0.35

# Changes the posture that a frame of the walk is to resemble, before hands and feet are brought to their places.
Bend = Callable[[int, Pose], Pose]


class Blocked(PlanningFailure):
    """A carry that cannot be made whole at some frame, for the legs or the trunk of carrier `number` where given."""

    def __init__(self, why: str, frame: int, number: int | None = None) -> None:
        super().__init__("no-path", why)
        self.frame, self.number = frame, number


@dataclass(frozen=True, eq=False)
class Frames:
    """Frames of one carrier: the walk with free arms, and roots (N, 3) and rotations (N, J, 4) with hands on the
    object at places (N, 4, 4)."""

    walk: Clip
    root: Array
    rotations: Array
    places: Array


def walks(d: Director, carriers: Sequence[Carrier], timing: Trajectory) -> list[Clip]:
    """Walks of all carriers along their courses, of equal length, from how they stand."""
    clips = []
    for carrier, course in zip(carriers, timing.courses, strict=True):
        actor = carrier.actor
        count = round((timing.duration + STANDS_S) * actor.base.fps) + 1
        if course is None:
            rows = (np.repeat(actor.root[-1:], count, axis=0), np.repeat(actor.q[-1:], count, axis=0))
            clips.append(actor.base.with_(root=rows[0], rotations=rows[1]))
            continue
        floor = 0.0 if d.world.floor is None else d.world.floor
        ground = Ground(d.world, actor.now, figure(actor.body).scale, course.curve.at(course.s))
        feet, fps = footprints_of(actor.body, actor.pose), actor.base.fps
        made = walk_course(
            actor.body, course, fps=fps, seed=d.settings.seed, feet=feet, library=d.settings.library, terrain=ground
        )
        d.allow(ground.contacts(actor.who, actor.body, (actor.now, FOREVER)))
        clips.append(led_over(made.with_(root=made.root + np.array([0.0, 0.0, floor])), actor.pose))
    still = round((timing.duration + STANDS_S + _STILL_S) * clips[0].fps)
    last = max(still, *(landed(clip) for clip in clips))
    return [held(clip, last + 1) for clip in clips]


def held_frames(
    carrier: Carrier, grips: Grips, walk: Clip, places: Array, bend: Bend | None = None,
    since: tuple[int, int, Frames] | None = None,
) -> Frames:  # fmt: skip
    """Frames of a walk with hands on the object at places (N, 4, 4); raises `Blocked`.

    `bend` changes the walk's postures first. With `since`, two frames and what was made before, only those between are
    made anew.
    """
    actor, body = carrier.actor, carrier.actor.body
    feet = [body.role(foot) for foot in FEET]
    arms = [j for hand in grips.grasps for j in joints_of(actor, hand)]
    T_feet = walk.world()[:, feet]
    first, last = (1, len(walk) - 1) if since is None else since[:2]
    root, q = np.array(walk.root), np.array(walk.rotations)
    if since is not None:
        root, q = np.array(since[2].root), np.array(since[2].rotations)
    else:
        root[0], q[0] = actor.root[-1], actor.q[-1]
    fingers = [j for hand in ("left", "right") for j in finger_joints(body, hand)]
    for k in range(first, last + 1):
        near = np.array(walk.rotations[k])
        near[arms] = q[k - 1, arms]
        near[fingers] = actor.q[-1][fingers]
        pose = Pose.of(walk.root[k], near)
        if bend is not None:
            pose = bend(k, pose)
        targets = grips.targets(actor, places[k]) | dict(zip(FEET, T_feet[k], strict=True))
        found = carrier.body.solve(pose, targets)
        if not found.found:
            raise Blocked(f"{carrier.what}: {found.reason.rstrip('.')}", k)
        root[k], q[k] = found.pose.root, found.pose.rotations
        turns = angle_between(q[k], q[k - 1])
        if float(turns.max()) > _LEAP_RAD * 60.0 / actor.base.fps:
            raise Blocked(f"{carrier.what}: {actor.who}.{body.joint_names[int(np.argmax(turns))]} would leap", k)
    return Frames(walk, root, continuous(q), places)


def add_frames(d: Director, carrier: Carrier, grips: Grips, frames: Frames) -> None:
    """Work the frames of a carrier into their motion: the walk is base motion, arms on the object an edit over it."""
    actor = carrier.actor
    first = actor.k
    actor.walk(frames.walk, 0)
    replace_frames(d, carrier, grips, frames, first)
    during = (actor.time(first), actor.now)
    for hand in grips.grasps:
        arm = list(actor.body.chain(f"{hand}_arm").joints)
        d.note(actor, f"{hand}_arm", f"carry {carrier.thing}", during, LimbTrajectory(frames.rotations[:, arm], "ik"))
        d.edits[-1] = replace(d.edits[-1], replanned=tuple(range(len(actor.body.parents))))


def replace_frames(d: Director, carrier: Carrier, grips: Grips, frames: Frames, first: int) -> None:
    """Let a carrier move as in some frames since frame number `first`."""
    actor = carrier.actor
    actor.root, actor.q = np.array(actor.root), np.array(actor.q)
    actor.root[first:], actor.q[first:] = frames.root, continuous(np.concatenate([actor.q[first : first + 1],
                                                                                  frames.rotations[1:]]))  # fmt: skip
    actor.away = True
    for hand in grips.grasps:
        actor.keep(joints_of(actor, hand))
    d.world = actor.placed(d.world)
