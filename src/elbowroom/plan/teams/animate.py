"""Frames of people who carry an object along a trajectory: legs and trunk walk, arms hold it exactly (E5, E6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import (
    UP,
    Array,
    about,
    angle_between,
    conjugate,
    continuous,
    exp,
    from_matrix,
    log,
    multiply,
    rotate,
    slerp,
)
from elbowroom.geometry.transforms import apply, inverse, transform
from elbowroom.locomotion.clearance import arms_clear
from elbowroom.locomotion.departure import footprints_of, leaned, led_over, stance_of
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import STANDS_S, WalkOptions, landed, walk_course
from elbowroom.motion.clip import Clip
from elbowroom.motion.layers import held
from elbowroom.plan.checks.ground import Ground
from elbowroom.plan.checks.hands import joints_of
from elbowroom.plan.repair.arm_paths import LimbTrajectory
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.steps.director import Director
from elbowroom.plan.teams.trajectory import Trajectory
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.plan.verbs.holding import Grips
from elbowroom.posing.whole_body import FEET
from elbowroom.spaces.team import TeamSpace
from elbowroom.world.things import FOREVER

# Seconds after its end by which a trajectory is at rest.
_STILL_S = 0.5
# Seconds at the end of a walk for which arms without the object are kept off the body.
_ARMS_S = 0.5
# Rotation of a joint beyond which postures are evened out, and beyond which it is a jump, rad/s. Rotations that a walk
# itself has are no jumps of its carrier, up to so many times as fast.
_BRISK_RAD_S, _LEAP_RAD_S = 4.0, 8.0
_OF_WALK = 1.5
# Distance of a hand from its grip midway between two frames beyond which postures are evened out, and of a corner of
# the object from where it should be beyond which another hand leads it, metres: together 1 mm.
_OFF_M, _LED_OFF_M = 5e-4, 5e-4
# Seconds over which postures are evened out, and how often at most.
_EVENS_S, _EVENED = 0.12, 3
# Seconds over which carriers who wait begin to shift their weight, and come to rest.
_SWAYS_IN_S = 1.0
_TRUNK = ("spine1", "spine2", "chest", "left_clavicle", "right_clavicle")


class Blocked(PlanningFailure):
    """A carry that cannot be made whole at some frame, for a chain of the body of carrier `number` where given."""

    def __init__(self, why: str, frame: int, number: int | None = None, chain: str = "") -> None:
        super().__init__("no-path", why)
        self.frame, self.number, self.chain = frame, number, chain


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


class Walk(NamedTuple):
    """A walk with free arms: upright, and leaned where its carrier is near the object."""

    upright: Clip
    leaned: Clip


def walks(d: Director, carriers: Sequence[Carrier], space: TeamSpace, timing: Trajectory) -> list[Walk]:
    """Walks of all carriers along their courses, of equal length, from their stances.

    Where a person is not as far back from the object as walking upright takes, it leans as it did to lift it.
    """
    made = []
    for number, (carrier, course) in enumerate(zip(carriers, timing.courses, strict=True)):
        actor = carrier.actor
        if course is None:
            count = round((timing.duration + STANDS_S) * actor.base.fps) + 1
            mine = [j for hand in ("left", "right") for j in joints_of(actor, hand)]
            stays, rises = (_standing(actor, pose, count) for pose in (actor.pose, actor.neutral(actor.k, mine)))
            made.append(Walk(led_over(rises, actor.pose), stays))
            continue
        floor = 0.0 if d.world.floor is None else d.world.floor
        ground = Ground(d.world, actor.now, figure(actor.body).scale, course.curve.at(course.s))
        feet, fps = footprints_of(actor.body, actor.pose), actor.base.fps
        options = WalkOptions(fps=fps, seed=d.settings.seed, library=d.settings.library, terrain=ground, on_frames=True)
        walk = walk_course(actor.body, course, options, feet)
        d.allow(ground.contacts(actor.who, actor.body, (actor.now, FOREVER)))
        walk = walk.with_(root=walk.root + np.array([0.0, 0.0, floor]))
        leans = space.leans(timing.at(np.arange(len(walk)) / fps - STANDS_S), number)
        low = leaned(walk, actor.pose, leans)
        begun = led_over(low, actor.pose)
        made.append(Walk(begun if low is walk else led_over(walk, actor.pose), begun))
    still = round((timing.duration + STANDS_S + _STILL_S) * carriers[0].actor.base.fps)
    last = max(still, *(landed(walk.leaned) for walk in made))
    return [Walk(_arms_at_end(held(walk.upright, last + 1)), held(walk.leaned, last + 1)) for walk in made]


def _standing(actor: Actor, pose: Pose, count: int) -> Clip:
    """Frames of an actor that stands in a posture."""
    root, q = np.repeat(pose.root[None], count, axis=0), np.repeat(pose.rotations[None], count, axis=0)
    return actor.base.with_(root=root, rotations=q)


def _arms_at_end(walk: Clip) -> Clip:
    """A walk with its arms off the body at the end, where they hang again: before that they hold the object."""
    end = arms_clear(walk.with_(root=walk.root[-1:], rotations=walk.rotations[-1:])).rotations
    moved = np.flatnonzero((end[0] != walk.rotations[-1]).any(axis=-1))
    share = smootherstep(1.0 - np.arange(len(walk))[::-1, None] / (_ARMS_S * walk.fps))
    q = np.array(walk.rotations)
    q[:, moved] = slerp(q[:, moved], end[:, moved], share)
    return walk.with_(rotations=q)


def held_frames(
    carrier: Carrier, grips: Grips, walk: Clip, places: Array, bent: Bent | None = None,
    since: tuple[int, int, Frames] | None = None, returns: int = 0, *, in_time: bool = True,
) -> Frames:  # fmt: skip
    """Frames of a walk with hands on the object at placements (N, 4, 4); raises `Blocked`.

    `bent` are postures that frames should resemble in place of the walk's. With `since`, two frames and the previous
    result, only those between are solved again; in the last of them, as many as `returns`, arms come back to that.
    Where joints turn fast, or hands leave their grips between frames, the trunk's share is evened out in time, unless
    frames are not `in_time`.
    """
    like = Bent(walk.root, walk.rotations, {}) if bent is None else bent
    root, q, rows, blocked = _solved_frames(carrier, grips, walk, places, like, since, returns)
    fast = _speeds(walk, q, rows) if in_time else np.zeros((1, 1))
    blocked = _leap(carrier, fast, rows) or blocked
    shared = in_time and carrier.people > 1 and blocked is None  # what one carries alone follows its hands
    uneven = fast.max(initial=0.0) > _BRISK_RAD_S or (
        shared and _offs(carrier, grips, places[rows], root[rows], q[rows])[0].max() > _OFF_M
    )
    given = like
    for _ in range(_EVENED if uneven else 0):
        even = _evened(carrier.actor.body, given, root, q, _EVENS_S * walk.fps)
        new_root, new_q, rows, stuck = _solved_frames(carrier, grips, walk, places, even, since, returns)
        fast = _speeds(walk, new_q, rows)
        stuck = _leap(carrier, fast, rows) or stuck
        if stuck is None or blocked is not None:
            root, q, like, blocked = new_root, new_q, even, stuck
        if fast.max(initial=0.0) <= _BRISK_RAD_S:
            break
    if blocked is not None:
        raise blocked
    return Frames(walk, root, continuous(q), places, like if since is None else since[2].like)


def _solved_frames(
    carrier: Carrier, grips: Grips, walk: Clip, places: Array, like: Bent, since: tuple[int, int, Frames] | None,
    returns: int,
) -> tuple[Array, Array, slice, Blocked | None]:  # fmt: skip
    """Roots (N, 3) and rotations (N, J, 4) that resemble some postures, with hands on the object, see `held_frames`;
    the frames that were solved, with the one before them, and what ended them.
    """
    actor, body = carrier.actor, carrier.actor.body
    first, last = (1, len(walk) - 1) if since is None else since[:2]
    if since is not None:
        root, q = np.array(since[2].root), np.array(since[2].rotations)
    else:
        root, q = np.array(walk.root), np.array(walk.rotations)
        root[0], q[0] = actor.root[-1], actor.q[-1]
    rows = slice(first, last + 1)
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
    end = first + solved.iterations + int(solved.found)
    blocked = None if solved.found else Blocked(f"{carrier.what}: {solved.reason.rstrip('.')}", end)
    return root, q, slice(first - 1, end), blocked


def _speeds(walk: Clip, q: Array, rows: slice) -> Array:
    """Angular speeds (K, J) of joints in some of the frames (N, J, 4), rad/s; 0 where a walk is about as fast."""
    fast, own = (walk.fps * angle_between(turns[rows][1:], turns[rows][:-1]) for turns in (q, walk.rotations))
    return np.where(fast > _OF_WALK * own, fast, 0.0)


def _leap(carrier: Carrier, fast: Array, rows: slice) -> Blocked | None:
    """The first joint that is too fast in some frames, of speeds (K, J)."""
    leaps = np.argwhere(fast > _LEAP_RAD_S)
    if not len(leaps):
        return None
    name = f"{carrier.actor.who}.{carrier.actor.body.joint_names[int(leaps[0, 1])]}"
    return Blocked(f"{carrier.what}: {name} would leap", rows.start + 1 + int(leaps[0, 0]))


def _offs(carrier: Carrier, grips: Grips, places: Array, root: Array, q: Array) -> tuple[Array, Array]:
    """Distances (2, N - 1) midway between frames, metres: of hands from their grips, and of the object's corners from
    where they should be if that hand leads it.
    """
    actor, bounds = carrier.actor, carrier.d.world.objects[carrier.thing].mesh.bounds
    corners = np.stack(np.meshgrid(*bounds.T), axis=-1).reshape(-1, 3)
    T_body = actor.body.transforms(0.5 * (root[1:] + root[:-1]), slerp(q[1:], q[:-1], 0.5))
    turns = from_matrix(places[:, :3, :3])
    middle = transform(0.5 * (places[1:, :3, 3] + places[:-1, :3, 3]), slerp(turns[1:], turns[:-1], 0.5))
    hands, things = [], []
    for hand, T in grips.targets(actor, middle).items():
        T_hand = T_body[:, actor.body.role(hand)]
        hands.append(np.linalg.norm(T_hand[:, :3, 3] - T[:, :3, 3], axis=1))
        led = apply(T_hand @ inverse(T) @ middle, corners) - apply(middle, corners)
        things.append(np.linalg.norm(led, axis=-1).max(axis=1))
    return np.array(hands), np.array(things)


def _evened(body: Character, like: Bent, root: Array, q: Array, frames: float) -> Bent:
    """Postures whose root and trunk differ from others as solved ones (N, 3), (N, J, 4) do, evened out over some
    frames.
    """
    joints = [0, *(body.role(role) for role in _TRUNK if role in body.roles)]
    moved = scipy.ndimage.gaussian_filter1d(root - like.root, frames, axis=0, mode="nearest")
    turned = log(multiply(q[:, joints], conjugate(like.rotations[:, joints])))
    turned = scipy.ndimage.gaussian_filter1d(turned, frames, axis=0, mode="nearest")
    rotations = np.array(like.rotations)
    rotations[:, joints] = multiply(exp(turned), rotations[:, joints])
    return Bent(like.root + moved, rotations, like.swivels)


def let_steadiest_lead(
    d: Director, carriers: Sequence[Carrier], grips: Sequence[Grips], made: Sequence[Frames]
) -> None:
    """Let the object follow another hand if it would be off between frames in the one that it follows."""
    thing = carriers[0].thing
    far: dict[tuple[str, str], float] = {}
    for carrier, taken, frames in zip(carriers, grips, made, strict=True):
        offs = _offs(carrier, taken, frames.places, frames.root, frames.rotations)[1]
        far |= {(carrier.actor.who, h): float(off) for h, off in zip(taken.grasps, offs.max(axis=1), strict=True)}
    led = [hold for hold in d.world.holds if hold.object == thing and (hold.by, hold.hand) in far and hold.leads]
    lead = min(led, key=lambda hold: hold.during[0])
    if far[lead.by, lead.hand] > _LED_OFF_M:
        best = min(far, key=lambda hand: far[hand])
        d.world = d.world.with_(holds=tuple(
            replace(hold, leads=(hold.by, hold.hand) == best) if hold in led else hold for hold in d.world.holds
        ))  # fmt: skip


def swaying_frames(carrier: Carrier, grips: Grips, count: int, seed: int) -> Frames:
    """Frames of a carrier who waits with the object in its hands and shifts its weight, as people do who stand at ease,
    and comes back to its posture; raises `Blocked`.
    """
    actor, body = carrier.actor, carrier.actor.body
    still, ease = _standing(actor, actor.pose, count + 1), idle(body, count / actor.base.fps, actor.base.fps, seed=seed)
    k, soft = np.arange(count + 1), _SWAYS_IN_S * actor.base.fps
    share = smootherstep(k / soft) * smootherstep((count - k) / soft)
    turn = about(UP, stance_of(body, actor.pose)[1])
    root = still.root + share[:, None] * rotate(turn, ease.root - ease.root[0])
    q = np.array(still.rotations)
    over = multiply(turn, multiply(multiply(ease.rotations[:, 0], conjugate(ease.rotations[0, 0])), conjugate(turn)))
    q[:, 0] = slerp(q[:, 0], multiply(over, q[:, 0]), share)
    joints = [body.role(role) for role in (*_TRUNK[:3], "neck", "head") if role in body.roles]
    over = multiply(conjugate(ease.rotations[0, joints]), ease.rotations[:, joints])
    q[:, joints] = slerp(q[:, joints], multiply(q[:, joints], over), share[:, None])
    T = np.asarray(carrier.d.world.frame(carrier.thing, actor.now))
    return held_frames(carrier, grips, still, np.repeat(T[None], count + 1, axis=0), Bent(root, q, {}))


def add_frames(d: Director, carrier: Carrier, grips: Grips, frames: Frames, upright: Clip) -> None:
    """Work the frames of a carrier into its motion: the walk upright, to which it returns, is base motion; what holds
    the object is an edit over it.
    """
    actor = carrier.actor
    first = actor.k
    actor.walk(upright, 0)
    replace_frames(d, carrier, grips, frames, first)
    during = (actor.time(first), actor.now)
    for hand in grips.grasps:
        arm = list(actor.body.chain(f"{hand}_arm").joints)
        way = LimbTrajectory(frames.rotations[:, arm], "ik")
        d.note(actor, f"{hand}_arm", f"carry {carrier.thing}", during, way, whole=True)


def replace_frames(d: Director, carrier: Carrier, grips: Grips, frames: Frames, first: int) -> None:
    """Replace a carrier's motion by some frames from frame number `first` on."""
    actor = carrier.actor
    root, q = np.array(actor.root), np.array(actor.q)
    root[first:], q[first:] = frames.root, continuous(np.concatenate([q[first : first + 1], frames.rotations[1:]]))
    actor.change(root=root, q=q, away=True)
    for hand in grips.grasps:
        actor.keep(joints_of(actor, hand))
    d.world = actor.placed(d.world)
