"""Timing of a hand whose body or target moves: departure, contact, return."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.hands import arms_of, beyond_reach, hand_of, held_by, shoulder_of
from elbowroom.plan.checks.places import moves, moving_until
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, tried
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Task
from elbowroom.posing.limb_ik import LimbIK

# Duration of a hand motion on top of a moving base, relative to one from rest, and its minimum in seconds.
_USUAL, _LEAST = 1.0, 0.45

# Seconds for which a target must rest for a task to be done meanwhile.
_RESTS_S = 5.0

# Distances from shoulder to target within this of the smallest count as smallest, metres.
_AS_NEAR = 0.03

# Seconds after contact during which the target should still be near.
_AFTER = 0.2

# Extra reach of an arm with the body's help, metres.
_HELP = 0.25

# Distance beyond the arm's length that is certainly out of reach, metres.
_FARTHEST = 0.6

T = TypeVar("T")


@dataclass(frozen=True)
class Moments:
    """Frames of a task: the hand leaves the motion, arrives, has finished, is back in the motion."""

    leaves: int
    there: int
    done: int
    back: int


def in_motion(d: Director, actor: Actor, target: str | None, at: float | None) -> bool:
    """Return whether a task needs a motion over a motion: the actor walks, or the target moves at that time.

    A target in reach that rests for as long as the task takes is taken as one that never moves.
    """
    if not actor.stands:
        return True
    if target is None:
        return False
    if at is None and actor.idle:
        here = np.asarray(d.world.frame(target, actor.now)[:3, 3])
        near = min(beyond_reach(actor, hand, here) for hand in arms_of(actor, None)) <= 0.0
        if near and not moves(d.world, target, np.linspace(actor.now, actor.now + _RESTS_S, 65)):
            return False
    end = moving_until(d.world, target) if actor.idle else actor.base.span[1]
    span = (actor.now, max(end, actor.now)) if at is None else (max(actor.now, at - 1.0), at + 0.5)
    return moves(d.world, target, np.linspace(*span, 65))


def best_frame(d: Director, actor: Actor, hand: str, points: Array) -> int:
    """First frame with the smallest distance from a shoulder to a target, points (N, 3) by frame."""
    far = _distances(actor, hand, points)
    # in passing, meet the target in front of the shoulder, since the hand leaves it later
    after = np.minimum(np.arange(len(far)) + actor.frames(_AFTER), len(far) - 1)
    far = np.maximum(far, far[after])
    first = _first(actor, hand) + actor.frames(_USUAL * d.seconds_for(0.6))
    last = len(far) - 1 - actor.frames(0.5)
    if first > last:
        raise PlanningFailure("too-little-time", f"{actor.who} has no time left before its motion ends")
    near = far[first : last + 1]
    return first + int(np.flatnonzero(near <= near.min() + _AS_NEAR)[0])


def moments(
    d: Director, actor: Actor, hand: str, task: Task, k: int, T_world_hand: Array, work: int, early: float = 0.0
) -> Moments:
    """Frames for a hand that must be at `T_world_hand` (4, 4) in frame k and works there for `work` frames.

    It moves with its target from `early` seconds before contact. The durations of approach and return depend on the
    hand's distance relative to the body.
    """
    first, last = _first(actor, hand), len(actor.base) - 1
    with_it = k - actor.frames(early) if early > 0.0 else k
    here = actor.body.skeleton.at(actor.neutral(k))[:1]
    target = seen_by(here, T_world_hand[None, :3, 3])[0]
    joint, T_joint_hand = actor.body.hand(hand)

    def needs(clip: Clip, rows: NDArray[np.int64], share: float) -> NDArray[np.int64]:
        T = actor.body.transforms(clip.root[rows], clip.rotations[rows])
        distances = np.linalg.norm(seen_by(T[:, 0], (T[:, joint] @ T_joint_hand)[:, :3, 3]) - target, axis=1)
        return np.array([actor.frames(share * d.seconds_for(x)) for x in distances.tolist()])

    before = np.arange(max(with_it - 1, 0), min(first, max(with_it - 1, 0)) - 1, -1)
    if task.begin is None:
        enough = np.flatnonzero(with_it - before >= _mean_so_far(needs(actor.base, before, _USUAL)))
        leaves = int(before[enough[0]]) if len(enough) else first
    else:
        leaves = actor.frame(task.begin)
    least = int(needs(actor.base, np.array([k]), _LEAST)[0])
    if leaves < first or k - leaves < least:
        short = (max(first, leaves) + least - k) / actor.base.fps
        raise PlanningFailure("too-little-time", f"{task.verb}: {actor.time(k):g} s is {short:.2f} s too early")
    done = k + work
    after = np.arange(min(done + 1, last), last + 1)
    enough = np.flatnonzero(after - done >= _mean_so_far(needs(actor.original, after, _USUAL)))
    back = (int(after[enough[0]]) if len(enough) else last) if task.back is None else actor.frame(task.back)
    if task.back is not None and back - done < least:
        late = (done + least - back) / actor.base.fps
        raise PlanningFailure("too-little-time", f"{task.verb}: {late:.2f} s too late to be back by {task.back:g} s")
    if last - done < least:
        late = (done + least - last) / actor.base.fps
        raise PlanningFailure(
            "too-little-time", f"{task.verb}: the motion of {actor.who} ends {late:.2f} s too early for that"
        )
    return Moments(leaves, k, done, min(back, last))


def _mean_so_far(values: NDArray[np.int64]) -> Array:
    """Running means (N,): whether a swinging arm is near or far is chance."""
    return np.cumsum(values) / np.arange(1, len(values) + 1)


def seen_by(T: Array, points: Array) -> Array:
    """Points (N, 3) of the world in local frames (N, 4, 4)."""
    return np.asarray(np.einsum("nij,ni->nj", T[:, :3, :3], points - T[:, :3, 3]))


def frames_for(
    d: Director, actor: Actor, task: Task, points: Array, what: str, *, only: str | None = None
) -> list[tuple[str, int]]:
    """Candidate hands, the nearer first, with the frame in which each would arrive.

    `points` (N, 3) is the target by frame of a continuing motion; a point (3,) is a target for which the actor pauses,
    and the hand arrives as soon as it can. `only` is the one hand to use, whatever it holds.
    """
    found = []
    busy = ""
    late: list[PlanningFailure] = []
    for hand in arms_of(actor, task.hand if only is None else only):
        arrival = _soonest if points.ndim == 1 else _in_passing
        k = tried(partial(arrival, d, actor, hand, task, points, what))
        if isinstance(k, PlanningFailure):
            late.append(k)
            continue
        hold = held_by(d.world, actor.who, hand, actor.time(k))
        if hold is None or only is not None:
            shoulder = shoulder_of(actor, hand, actor.pose) if points.ndim == 1 else shoulders(actor, hand)[k]
            point = points if points.ndim == 1 else points[k]
            found.append((float(np.linalg.norm(point - shoulder)), hand, k))
        else:
            busy = f"the {hand} hand of {actor.who} holds '{hold.object}'"
    if not found and late:
        raise late[0]
    if not found:
        raise PlanningFailure("hand-not-free", f"{what}: {busy or f'{actor.who} has no arm'}")
    return [(hand, k) for _, hand, k in sorted(found)]


def _soonest(d: Director, actor: Actor, hand: str, task: Task, point: Array, what: str) -> int:
    """Frame in which a hand can or must be at a point (3,); raises `PlanningFailure` if that is too early."""
    distance = float(np.linalg.norm(point - hand_of(actor, hand, actor.pose)[:3, 3]))
    return actor.k + d.frames_until(actor, distance, task.at, 0, what, beyond_reach(actor, hand, point))


def _in_passing(d: Director, actor: Actor, hand: str, task: Task, points: Array, what: str) -> int:
    """Frame in which a hand meets a target, points (N, 3) by frame; raises `PlanningFailure` if there is none."""
    k = best_frame(d, actor, hand, points) if task.at is None else int(np.floor(_row(actor, task.at)))
    if not 0 <= k < len(points):
        begin, end = actor.base.span
        raise PlanningFailure("too-little-time", f"{what}: {task.at:g} s is outside {begin:g} to {end:g} s")
    far = float(_distances(actor, hand, points)[k]) - LimbIK(actor.body, f"{hand}_arm").reach[1]
    if far > _FARTHEST:
        raise far_away(actor, hand, points, k, f"{what}: the hand is still {far - _HELP:.2f} m away")
    if task.at is not None and k < _first(actor, hand) + actor.frames(_LEAST * d.seconds_for(0.0)):
        raise PlanningFailure("too-little-time", f"{what}: {task.at:g} s is too early")
    return k


def _row(actor: Actor, t: float) -> float:
    return float((t - actor.base.start) * actor.base.fps + 1e-6)


def helpful(actor: Actor, hand: str, k: int, target: str | None) -> bool:
    """Return whether the trunk may help a hand around frame k: not while the other hand is at its target.

    Nor does it help towards a part of its own body, which would move along.
    """
    if target is not None and target.startswith(f"{actor.who}."):
        return False
    near = actor.frames(2.0)
    return not any(other != hand and first - near < k < last + near for other, first, last in actor.contacts)


def far_away(actor: Actor, hand: str, points: Array, k: int, why: str) -> PlanningFailure:
    """Reason why a target, points (N, 3) by frame, is out of reach in frame k, and when it would be within."""
    far = _distances(actor, hand, points)
    reach = LimbIK(actor.body, f"{hand}_arm").reach[1] + _HELP
    near = np.flatnonzero(far <= reach)
    if not len(near):
        best = int(np.argmin(far))
        then = f"its nearest approach is {far[best] - reach:.2f} m out of reach, at {actor.time(best):.2f} s"
    else:
        other = int(near[np.argmin(np.abs(near - k))])
        then = f"at {actor.time(other):.2f} s it may be within reach"
    return PlanningFailure("target-out-of-reach", f"{why} at {actor.time(k):.2f} s; {then}")


def in_reach(
    options: Iterable[T], actor: Actor, hands: Sequence[tuple[str, int]], points: Array, what: str
) -> Iterator[T]:
    """The same options; a failure for distance also says when the target, points (N, 3) by frame, is within reach."""
    try:
        yield from options
    except PlanningFailure as failure:
        if failure.status == "target-out-of-reach" and failure.why.startswith(what):
            raise far_away(actor, hands[0][0], points, hands[0][1], failure.why) from None
        raise


def shoulders(actor: Actor, hand: str) -> Array:
    """Shoulder positions by frame, (N, 3)."""
    return np.asarray(actor.base.world()[:, actor.body.chain(f"{hand}_arm").joints[0], :3, 3])


def _distances(actor: Actor, hand: str, points: Array) -> Array:
    return np.asarray(np.linalg.norm(points - shoulders(actor, hand), axis=1))


def _first(actor: Actor, hand: str) -> int:
    return actor.free_from.get(hand, 0)


@dataclass(frozen=True)
class ContactTiming:
    """Timing around a contact, seconds.

    `slow` before it the final approach begins, `early` before it the hand moves with the target except for that
    approach, `closing` before it the fingers begin to close, and `work` after it they have closed. `shaped` is the
    share by which they are closed before that. A `quick` hand approaches and retreats faster, because its target is
    soon out of reach.
    """

    early: float = 0.1
    slow: float = 0.35
    closing: float = 0.15
    work: float = 0.1
    shaped: float = 0.35
    quick: bool = False


# Timings that are tried in turn, for a target with little relative motion and for one in passing.
_ALONG = (ContactTiming(), ContactTiming(shaped=0.0), ContactTiming(0.2, 0.4, 0.05, 0.2, 0.0))
_PASSING = (
    ContactTiming(0.03, 0.3, 0.2, 0.034, quick=True),
    ContactTiming(0.03, 0.3, 0.2, 0.034, 0.0, quick=True),
    ContactTiming(0.03, 0.25, 0.12, 0.067, 0.0, quick=True),
)

# Speeds of a shoulder relative to a target, m/s: up to the first the hand moves along, from the second on it passes by.
_SLOW, _FAST = 0.4, 1.2

# Distance that a body may go on while its hand is still at a target in passing, metres, and limits of the duration,
# seconds: a shorter one looks like snatching.
_STAYS, _LINGERS = 0.15, (0.12, 0.2)


def paces(actor: Actor, hand: str, points: Array, k: int) -> tuple[ContactTiming, ...]:
    """Contact timings to try at a target in frame k, points (N, 3) by frame; quick ones if it is soon out of reach."""
    return at_speed(speed_past(actor, hand, points, k), _ALONG, _PASSING)


def at_speed(
    speed: float, along: tuple[ContactTiming, ...], passing: tuple[ContactTiming, ...]
) -> tuple[ContactTiming, ...]:
    """Timings to try at a target with a relative speed in m/s."""
    return along if speed <= _SLOW else (*passing, *along) if speed <= _FAST else passing


def speed_past(actor: Actor, hand: str, points: Array, k: int) -> float:
    """Speed of a shoulder relative to a target in frame k, points (N, 3) by frame, m/s."""
    near = slice(max(k - 3, 0), k + 4)
    apart = (points - shoulders(actor, hand))[near]
    return float(np.linalg.norm(apart[-1] - apart[0])) * actor.base.fps / max(len(apart) - 1, 1)


def lingers(speed: float) -> float:
    """Seconds for which a hand that has finished follows a target in passing at a relative speed in m/s."""
    return float(np.clip(_STAYS / max(speed, 1e-3), *_LINGERS))
