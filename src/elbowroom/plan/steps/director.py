"""Director of a plan: the current take and the settings while tasks are done one after another.

The steps that add frames to an actor are in `plan.acting`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array
from elbowroom.plan.checks.allowed import Pin
from elbowroom.plan.checks.freeing import clear_free_arm, free_arm
from elbowroom.plan.checks.hands import arm_to, arms_of, longest_reach, may_step, shoulder_of, touches_itself
from elbowroom.plan.checks.places import target_of
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.repair.arm_paths import LimbTrajectory
from elbowroom.plan.state.actor import Actor, Track
from elbowroom.plan.state.result import PlanningFailure, Status, tried
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.state.take import Take
from elbowroom.plan.tasks import Task
from elbowroom.plan.tight.goals import whole_body_reach
from elbowroom.plan.tight.settings import BRIEF, USUAL
from elbowroom.posing.gaze import looking_at
from elbowroom.posing.kneeling import TILTS_RAD, Kneeling
from elbowroom.posing.reach import Reached, reach
from elbowroom.posing.reach_help import ReachStatus
from elbowroom.spaces.component import PosePath
from elbowroom.spaces.styles import NATURAL, style_of
from elbowroom.stopping import may_stop_here
from elbowroom.world.columns import columns_of
from elbowroom.world.contacts import Contact
from elbowroom.world.edit import Edit
from elbowroom.world.pairs import Pair
from elbowroom.world.paths import Interval
from elbowroom.world.things import FOREVER
from elbowroom.world.world import World

# Duration of a hand motion: a constant in seconds, plus a term for its length.
_LEAST = 0.45

# Use of whole-body planning: never, after limbs have failed, or at once.
WholeBodyUse = Literal["never", "last", "at once"]
# Failures of limbs that planning the whole body may resolve.
ESCALATES: tuple[Status, ...] = (
    "no-path", "target-in-collision", "start-in-collision", "target-out-of-reach", "out-of-balance", "not-certified"
)  # fmt: skip

# Whole-body postures that one plan may search for, and the first of them that it searches for thoroughly.
_POSTURES = 40
_THOROUGH = 6
# Whole-body paths that one plan may search after limbs have failed: a failed one takes up to 10 s.
_PATHS = 12
# Searches that reach no posture at a place, in balance or at all, after which other turns of the hand there are not
# tried; and what counts as the same place, metres.
_MISSES = 3
_SAME_PLACE_M = 0.12

# Failed places to stand after which one attempt at all tasks ends: about 20 s.
MOST_FAILED_WALKS = 14
# Free space required around shoulder and target, metres: more than a hand's length.
_ABOUT_M = 0.2

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _Miss:
    """A place (3,) of a hand that the whole body does not reach, and whether it would fall over there."""

    hand: str
    at: Array
    falls: bool


def _unbalanced(found: Reached) -> Reached:
    """A failed reach whose target is in reach of a body that falls over."""
    return replace(found, status="out-of-balance") if found.status == "out-of-reach" else found


@dataclass(frozen=True)
class PlanMode:
    """Manner of planning: `careful` checks whole bodies after each step, because an earlier plan could not be
    proven; `escalates` plans whole bodies where limbs fail; `brief` tries few places to stand, because the plan only
    shows whether a change would help.
    """

    careful: bool = False
    escalates: bool = False
    brief: bool = False


@dataclass
class Spent:
    """Expenses of one plan: whole-body postures, whole-body paths left after limbs have failed, failed walks to
    places to stand; places that the whole body does not reach; grasps by object that led to failures of later tasks,
    and objects with another grasp to try where a hand is not seen to put them down.
    """

    postures: int = 0
    paths_left: int = _PATHS
    walks: int = 0
    missed: list[_Miss] = field(default_factory=list)
    refused: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    choosy: set[str] = field(default_factory=set)


class Director:
    """Current take, and settings, while tasks are planned one after another.

    The take is all that tasks change; whoever tries something keeps the one before it (`attempt`, `first`).
    """

    def __init__(self, world: World, settings: Settings, fps: float, attempt: int, mode: PlanMode = PlanMode()) -> None:
        self.take = Take(_kept(world))
        self.settings, self.mode, self.spent, self._fps = settings, mode, Spent(), fps
        self.coming: Sequence[Task] = ()  # tasks that are still to do
        self.doing = ""  # description of the current task
        self.at_once = False  # start hand motions without waiting: the task gives the time
        self.whole_body: WholeBodyUse = "never"  # for the current task
        self._over = False  # earlier plans continue below the current one
        self._seeds = 1000 * settings.seed + attempt * 300

    @property
    def world(self) -> World:
        """The world of the current take."""
        return self.take.world

    @world.setter
    def world(self, world: World) -> None:
        self.take = replace(self.take, world=world)

    @property
    def tracks(self) -> Mapping[str, Track]:
        """Tracks of the current take."""
        return self.take.tracks

    def follow(self, who: str, track: Track) -> None:
        """Make a track the current one of a character."""
        self.take = self.take.with_track(who, track)

    @property
    def actors(self) -> dict[str, Actor]:
        """Actors of the current take by name."""
        return {who: Actor(self, who) for who in self.take.tracks}

    def actor(self, who: str) -> Actor:
        """Return the actor of that name; it enters the take on first use."""
        actor = Actor(self, who)
        if who not in self.take.tracks:
            self.follow(who, Track.of(self.world, who, self._fps))
            if self._over:
                edits = (*self.take.below[1], *self.take.edits)
                arms = [e for e in edits if e.who == who and e.limb.endswith("_arm")]
                actor.on_top((e.limb.removesuffix("_arm"), e.during) for e in arms)
            self.allow(touches_itself(self.world, actor))
        return actor

    def on_top(self, world: World) -> None:
        """Plan from now on over finished motions, from their start: no body waits for a hand."""
        self.take = replace(self.take, world=world, tracks={}, edits=(), below=self.take.layers(world))
        self._over = True

    @property
    def pins(self) -> tuple[Pin, ...]:
        """Intervals during which hands must stay at their targets."""
        return tuple(
            Pin(actor.who, hand, (actor.time(first), actor.time(last)))
            for actor in self.actors.values()
            for hand, first, last in actor.contacts
        )

    def seed(self) -> int:
        """Return a new seed for each search."""
        self._seeds += 1
        return self._seeds

    def attempt(self, do: Callable[[], T]) -> T | PlanningFailure:
        """Carry something out; where it fails, return the reason with the take as it was before."""
        before = self.take
        done = tried(do)
        if isinstance(done, PlanningFailure):
            self.take = before
        return done

    def first(self, options: Iterable[T], do: Callable[[T], None], most: int = 1000) -> None:
        """Carry out the first feasible option; raise the failure of the first option if there is none.

        Gives up after `most` options for which a path was searched without success.
        """
        failure, begun = None, self.take
        for option in options:
            reason = self.attempt(partial(do, option))
            if reason is None:
                return
            self.take = begun
            failure = failure or reason
            failure.searched |= reason.searched
            failure.by_limbs |= reason.by_limbs
            most -= reason.searched
            if most <= 0:
                break
            may_stop_here()
        assert failure is not None, "there is always an option, or a reason why not"
        raise failure

    def reach(
        self,
        actor: Actor,
        hand: str,
        T_world_hand: Array,
        k: int,
        postures: Postures | None,
        orbit: float | None = None,
    ) -> Reached:
        """A posture at frame k with a hand at its target, starting from the actor's posture without the task.

        `orbit` is the initial elbow angle, radians; None takes that of the style.
        """
        style = self.settings.reach
        if actor.layered:  # the base moves the legs, and walking is never statically balanced
            style = replace(style, legs=False, tiptoe=False, balance=False, spine=style.spine and actor.trunk)
        checked = postures if self.settings.tier != "ik" else None
        floor = 0.0 if self.world.floor is None else self.world.floor
        # Start the shoulder girdle where the base has it: help on top of help would exceed its range.
        pose = actor.neutral(k, actor.body.chain(f"{hand}_arm").lead)
        orbit = style_of(self.settings.style, NATURAL).orbit if orbit is None else orbit
        other = free_arm(self.world, actor, hand, k)
        if actor.knee is not None:
            style = replace(style, legs=False, tiptoe=False, balance=False, soft=True)
            asked = partial(reach, actor.body, hand=hand, T_world_hand=T_world_hand)
            asked = partial(asked, style=style, floor=floor, orbit=orbit)
            return self._kneeling_reach(actor, actor.knee, pose, asked, checked, other)
        asked = partial(reach, actor.body, pose, hand, T_world_hand, style=style, floor=floor, orbit=orbit)
        if actor.support is not None and checked is not None:  # limbs and trunk alone would take that hand off
            body = whole_body_reach(actor, hand, T_world_hand, pose, checked, other, floor)
            status: ReachStatus = "out-of-reach" if body.status == "unknown" else body.status
            return Reached(status, pose if body.pose is None else body.pose, 0.0, {"effort": 1.0}, 0.0)
        found = self._reach(asked, actor, checked, other)
        if found.found or checked is None or self.whole_body == "never" or self.spent.postures >= _POSTURES:
            return found
        self.spent.postures += 1
        at = T_world_hand[:3, 3]
        near = [one for one in self.spent.missed if one.hand == hand and np.linalg.norm(one.at - at) < _SAME_PLACE_M]
        if len(near) >= _MISSES:
            return _unbalanced(found) if any(one.falls for one in near) else found
        if self._cut_off(actor, hand, pose, T_world_hand[:3, 3], k):
            return found
        effort = USUAL if self.spent.postures <= _THOROUGH else BRIEF
        body = whole_body_reach(actor, hand, T_world_hand, pose, checked, other, floor, effort)
        if body.pose is not None:
            done: ReachStatus = "found" if body.status == "found" else "blocked"
            return replace(found, status=done, pose=body.pose, missing=0.0, why="")
        falls = body.status == "out-of-balance"
        self.spent.missed.append(_Miss(hand, at, falls))
        return _unbalanced(found) if falls else found

    def _kneeling_reach(
        self, actor: Actor, knee: Kneeling, pose: Pose, asked: Callable[..., Reached], checked: Postures | None,
        other: str | None,
    ) -> Reached:  # fmt: skip
        """A posture on one knee for a reach request, the pelvis tilted ahead as little as is enough."""
        balance, first = knee.with_(USUAL.balance), None
        checked = None if checked is None else checked.with_soft_tissue()
        corners = balance.support(knee.pose, PosePath(knee.body, [knee.pose, knee.pose]).feet(0.0))
        for angle in TILTS_RAD:
            start = knee.tilted(angle, pose)
            found = self._reach(partial(asked, pose=start), actor, checked, other)
            if found.found and balance.margin(found.pose, corners) < 0.0:
                found = replace(found, status="out-of-balance")
            if found.found:
                return found
            first = found if first is None or found.missing < first.missing else first
        assert first is not None
        return first

    def walled_off(self, task: Task) -> bool:
        """Return whether walls separate a character that does not step for a task from its target, for each hand."""
        actor = self.actor(task.who)
        found = target_of(self.world, task, actor.now)
        if found is None or may_step(actor, task):
            return False
        return all(self._cut_off(actor, hand, actor.pose, found[1], actor.k) for hand in arms_of(actor, task.hand))

    def _cut_off(self, actor: Actor, hand: str, pose: Pose, point: Array, k: int) -> bool:
        """Return whether walls separate an actor at a frame from a point (3,), as far as arm and trunk reach."""
        if self.world.floor is None:
            return False
        shoulder = shoulder_of(actor, hand, pose)
        columns = columns_of(self.world.with_(objects={}), actor.time(k), [shoulder, point])
        return not columns.joined(shoulder, point, longest_reach(actor, hand), _ABOUT_M)

    def _reach(
        self, asked: Callable[..., Reached], actor: Actor, checked: Postures | None, other: str | None
    ) -> Reached:
        """A posture for a reach request, with the free arm `other` moved out of the way if there is one."""
        if checked is None or other is None:
            return asked(valid=None if checked is None else checked.valid)
        # the free arm is ignored here: it is moved out of the way below
        found = asked(valid=partial(checked.valid, but=other))
        if found.found:
            like = actor.q[-1] if actor.away else None
            cleared = clear_free_arm(checked, actor.body, found.pose, other, self.settings.margin, like)
            found = asked(valid=checked.valid) if cleared is None else replace(found, pose=cleared)
        return found

    def near(
        self, actor: Actor, hand: str, pose: Pose, T_world_hand: Array, k: int, postures: Postures
    ) -> Pose | Pair | None:
        """A posture with a hand at a nearby target, by the arm alone if possible; otherwise the obstacle."""
        checked = self.settings.tier != "ik"
        moved = arm_to(actor, hand, pose, T_world_hand)
        pair = None if moved is None or not checked else postures.blame(moved)
        if moved is not None and pair is None:
            return moved
        met = postures.hand_blame(pose, T_world_hand, hand) if checked else None
        if met is not None:  # moving the body does not make room for the hand itself
            return met
        if checked and self.whole_body != "never":  # another posture altogether may be far from this one
            idle, floor = free_arm(self.world, actor, hand, k), 0.0 if self.world.floor is None else self.world.floor
            body = whole_body_reach(actor, hand, T_world_hand, pose, postures, idle, floor, BRIEF)
            if body.status == "found" and body.pose is not None:
                return body.pose
        other = self.reach(actor, hand, T_world_hand, k, postures)
        return other.pose if other.found else pair

    def looking(self, actor: Actor, pose: Pose, point: Array | None) -> Pose:
        """A posture that looks at a point (3,)."""
        return pose if point is None or not self.settings.gaze else looking_at(actor.body, pose, point)

    def seconds_for(self, metres: float) -> float:
        """Duration of a hand motion of a given length."""
        return _LEAST + metres / self.settings.speed

    def frames_until(
        self, actor: Actor, metres: float, at: float | None, then: int, what: str, far: float = 0.0
    ) -> int:
        """Frames until the slow end of a hand's approach: all that are left if there is a time, otherwise the usual
        number.

        Raises `PlanningFailure` if there are too few. A target out of reach by `far` metres is reported as such
        instead.
        """
        usual = actor.frames(self.seconds_for(metres))
        if at is None:
            return usual
        count = actor.frame(at) - then - actor.k
        least = actor.frames(0.5 * self.seconds_for(metres))
        if count < least and far > 0.0:
            why = f"{what}: the goal is at least {far:.2f} m out of reach"
            raise PlanningFailure("target-out-of-reach", why, missing=far)
        if count < least:
            short = (least - count) / actor.base.fps
            raise PlanningFailure("too-little-time", f"{what}: {at:g} s is {short:.2f} s too early")
        return count

    def allow(self, contacts: Sequence[Contact]) -> None:
        """Allow some pairs to touch."""
        self.world = self.world.with_(contacts=(*self.world.contacts, *contacts))

    def note(
        self, actor: Actor, limb: str, reason: str, during: Interval, way: LimbTrajectory, *, whole: bool = False,
        **more: Any,
    ) -> None:  # fmt: skip
        """Record an edit for a planned motion of a limb; a `whole` body was planned with it."""
        joints = tuple(range(len(actor.body.parents))) if whole else actor.body.chain(limb).joints
        self.take = self.take.with_edits(Edit(actor.who, limb, reason, during, *way.cost, replanned=joints, **more))


def _kept(world: World) -> World:
    """A world whose contacts up to the end of its motion last as long as tasks take: a mug in a drawer stays on it."""
    end = world.span[1]
    kept = (replace(c, during=(c.during[0], FOREVER)) if c.during[1] >= end else c for c in world.contacts)
    return world.with_(contacts=tuple(kept))


def varied(d: Director, options: Iterable[T]) -> Iterator[T]:
    """Options rotated by the settings' variety: that many of the first come last."""
    cleared: list[T] = []
    try:
        for option in options:
            if len(cleared) < d.settings.variety:
                cleared.append(option)
            else:
                yield option
    except PlanningFailure:  # there is no option at all
        if not cleared:
            raise
    yield from cleared
