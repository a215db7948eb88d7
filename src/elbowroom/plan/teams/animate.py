"""Frames of people who carry an object along a trajectory: legs and trunk walk, arms hold it exactly (E5, E6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array, angle_between, conjugate, continuous, multiply, slerp
from elbowroom.locomotion.clearance import arms_clear
from elbowroom.locomotion.departure import footprints_of, leaned, led_over
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.walk import STANDS_S, WalkOptions, landed, walk_course
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
from elbowroom.spaces.team import TeamSpace

# Seconds after its end by which a trajectory is at rest.
_STILL_S = 0.5
# Seconds at the end of a walk for which arms without the object are kept off the body.
_ARMS_S = 0.5
# Largest rotation of a joint between frames at 60 fps, radians: more is a jump.
_LEAP_RAD = 0.35
# Rotations that the walk itself has are no leaps of those who hold something, up to so many times as large.
_OF_WALK = 1.5
# Leaps that are spread over the frames around them, seconds to either side, and joints that do so.
_EASED, _EASES_S = 3, 0.5
_TRUNK = ("spine1", "spine2", "chest", "left_clavicle", "right_clavicle")


class Blocked(PlanningFailure):
    """A carry that cannot be made whole at some frame, for a chain of the body of carrier `number` where given."""

    def __init__(self, why: str, frame: int, number: int | None = None, chain: str = "") -> None:
        super().__init__("no-path", why)
        self.frame, self.number, self.chain = frame, number, chain


class Leap(Blocked):
    """Joints that turn too far between two frames; roots (N, 3) and rotations (N, J, 4) up to there."""

    def __init__(self, why: str, frame: int, root: Array, rotations: Array) -> None:
        super().__init__(why, frame)
        self.root, self.rotations = root, rotations


class Bent(NamedTuple):
    """Postures that N frames should resemble before hands and feet are brought to their targets.

    root (N, 3), rotations (N, J, 4), and swivels (N,) of elbows and knees by hand or foot, radians; those of elbows
    accumulate over the frames.
    """

    root: Array
    rotations: Array
    swivels: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Frames:
    """Frames of one carrier.

    The walk with free arms, and roots (N, 3) and rotations (N, J, 4) with hands on the object at placements (N, 4, 4);
    `like` are the postures that they resemble, before changes.
    """

    walk: Clip
    root: Array
    rotations: Array
    places: Array
    like: Bent


def walks(d: Director, carriers: Sequence[Carrier], space: TeamSpace, timing: Trajectory) -> list[Clip]:
    """Walks of all carriers along their courses, of equal length, from their stances.

    Where a person is not as far back from the object as walking upright takes, it leans as it did to lift it.
    """
    clips = []
    for number, (carrier, course) in enumerate(zip(carriers, timing.courses, strict=True)):
        actor = carrier.actor
        count = round((timing.duration + STANDS_S) * actor.base.fps) + 1
        if course is None:
            rows = (np.repeat(actor.root[-1:], count, axis=0), np.repeat(actor.q[-1:], count, axis=0))
            clips.append(actor.base.with_(root=rows[0], rotations=rows[1]))
            continue
        floor = 0.0 if d.world.floor is None else d.world.floor
        ground = Ground(d.world, actor.now, figure(actor.body).scale, course.curve.at(course.s))
        feet, fps = footprints_of(actor.body, actor.pose), actor.base.fps
        options = WalkOptions(fps=fps, seed=d.settings.seed, library=d.settings.library, terrain=ground, on_frames=True)
        made = walk_course(actor.body, course, options, feet)
        d.allow(ground.contacts(actor.who, actor.body, (actor.now, FOREVER)))
        made = made.with_(root=made.root + np.array([0.0, 0.0, floor]))
        leans = space.leans(timing.at(np.arange(len(made)) / fps - STANDS_S), number)
        clips.append(led_over(leaned(made, actor.pose, leans), actor.pose))
    still = round((timing.duration + STANDS_S + _STILL_S) * clips[0].fps)
    last = max(still, *(landed(clip) for clip in clips))
    return [_arms_at_end(held(clip, last + 1)) for clip in clips]


def _arms_at_end(walk: Clip) -> Clip:
    """A walk with its arms off the body at the end, where they hang again: before that they hold the object."""
    first = max(len(walk) - round(_ARMS_S * walk.fps), 0)
    end = arms_clear(walk.with_(root=walk.root[first:], rotations=walk.rotations[first:]))
    return walk.with_(rotations=np.concatenate([walk.rotations[:first], end.rotations]))


def held_frames(
    carrier: Carrier, grips: Grips, walk: Clip, places: Array, bent: Bent | None = None,
    since: tuple[int, int, Frames] | None = None, returns: int = 0, leap_rad: float = _LEAP_RAD,
) -> Frames:  # fmt: skip
    """Frames of a walk with hands on the object at placements (N, 4, 4); raises `Blocked`.

    `bent` are postures that frames should resemble in place of the walk's. With `since`, two frames and the previous
    result, only those between are solved again; in the last of them, as many as `returns`, arms come back to that.
    Joints that turn by more than `leap_rad` between frames at 60 fps leap.
    """
    actor, body = carrier.actor, carrier.actor.body
    first, last = (1, len(walk) - 1) if since is None else since[:2]
    if since is not None:
        root, q = np.array(since[2].root), np.array(since[2].rotations)
    else:
        root, q = np.array(walk.root), np.array(walk.rotations)
        root[0], q[0] = actor.root[-1], actor.q[-1]
    rows = slice(first, last + 1)
    like = Bent(walk.root, walk.rotations, {}) if bent is None else bent
    found_root, found_q = np.array(like.root[rows]), np.array(like.rotations[rows])
    fingers = [j for hand in ("left", "right") for j in finger_joints(body, hand)]
    found_q[:, fingers] = actor.q[-1][fingers]
    T_feet = body.transforms(walk.root[rows], walk.rotations[rows])[:, [body.role(foot) for foot in FEET]]
    targets = grips.targets(actor, places[rows]) | dict(zip(FEET, T_feet.swapaxes(0, 1), strict=True))
    arms = [j for hand in grips.grasps for j in joints_of(actor, hand)]
    before = Pose.of(root[first - 1], q[first - 1])
    swivels = {end: turns[rows] for end, turns in like.swivels.items()}
    solved = carrier.body.follow(before, found_root, found_q, targets, carried=arms, swivels=swivels)
    if solved.found and since is not None and 0 < returns < len(found_q):
        # elbows keep what they were turned by: blended back, then hands are brought to their targets again
        m = len(found_q) - returns
        share = smootherstep(np.arange(1, returns + 1) / returns)[:, None]
        found_q[m:, arms] = slerp(found_q[m:, arms], since[2].rotations[rows][m:, arms], share)
        later = {end: T[m:] for end, T in targets.items()}
        solved = carrier.body.follow(Pose.of(found_root[m - 1], found_q[m - 1]), found_root[m:], found_q[m:], later)
        solved = replace(solved, iterations=m + solved.iterations)
    root[rows], q[rows] = found_root, found_q
    done = solved.iterations + 1 if solved.found else solved.iterations
    turns = angle_between(q[first : first + done], q[first - 1 : first + done - 1])
    own = angle_between(walk.rotations[first : first + done], walk.rotations[first - 1 : first + done - 1])
    leaps = np.argwhere(turns > np.maximum(leap_rad * 60.0 / actor.base.fps, _OF_WALK * own))
    if len(leaps):
        name = body.joint_names[int(leaps[0, 1])]
        raise Leap(f"{carrier.what}: {actor.who}.{name} would leap", first + int(leaps[0, 0]), root, q)
    if not solved.found:
        raise Blocked(f"{carrier.what}: {solved.reason.rstrip('.')}", first + done)
    return Frames(walk, root, continuous(q), places, like if since is None else since[2].like)


def steady_frames(carrier: Carrier, grips: Grips, walk: Clip, places: Array) -> Frames:
    """`held_frames` of a walk; raises `Blocked`. Where arms would leap, the trunk approaches that posture in time."""
    bent = Bent(walk.root, walk.rotations, {})
    for _ in range(_EASED):
        try:
            return held_frames(carrier, grips, walk, places, bent)
        except Leap as leap:
            bent = _approaching(carrier, bent, leap)
    return held_frames(carrier, grips, walk, places, bent)


def _approaching(carrier: Carrier, like: Bent, leap: Leap) -> Bent:
    """Postures whose trunk approaches the one that it leaps to, and returns."""
    body, k = carrier.actor.body, leap.frame
    off = np.abs(np.arange(len(like.root)) - k) / carrier.actor.frames(_EASES_S)
    rows = np.flatnonzero(off < 1.0)
    share = smootherstep(1.0 - off[rows])[:, None]
    root, q = np.array(like.root), np.array(like.rotations)
    root[rows] += share * (leap.root[k] - like.root[k])
    for joint in [0, *(body.role(role) for role in _TRUNK if role in body.roles)]:
        turn = multiply(leap.rotations[k, joint], conjugate(like.rotations[k, joint]))
        q[rows, joint] = slerp(q[rows, joint], multiply(turn, q[rows, joint]), share[:, 0])
    return Bent(root, q, like.swivels)


def add_frames(d: Director, carrier: Carrier, grips: Grips, frames: Frames) -> None:
    """Work the frames of a carrier into its motion: the walk is base motion, arms on the object an edit over it."""
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
    """Replace a carrier's motion by some frames from frame number `first` on."""
    actor = carrier.actor
    actor.root, actor.q = np.array(actor.root), np.array(actor.q)
    actor.root[first:], actor.q[first:] = frames.root, continuous(np.concatenate([actor.q[first : first + 1],
                                                                                  frames.rotations[1:]]))  # fmt: skip
    actor.away = True
    for hand in grips.grasps:
        actor.keep(joints_of(actor, hand))
    d.world = actor.placed(d.world)
