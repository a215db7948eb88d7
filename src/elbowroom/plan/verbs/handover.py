"""Handovers: an object changes hands of two characters (S5, S7), or of one (Y5); both hold it before one lets go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from elbowroom.character.hand_shapes import HandShape, finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import UP, Array, normalize
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.solids import merge
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.checks.hands import (
    arms_of,
    as_it_stood,
    effort,
    front_of,
    hand_of,
    held_by,
    joints_of,
    released,
    shoulder_of,
)
from elbowroom.plan.checks.places import turned
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, tried
from elbowroom.plan.state.take import Grip
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director, varied
from elbowroom.plan.steps.give_way import require_free
from elbowroom.plan.tasks import Grab, Handover, Regrasp, Rest
from elbowroom.plan.verbs.carry import grip_of, holding_hand, rest
from elbowroom.plan.verbs.grasp_choice import ReachableGrasp, reachable_grasps
from elbowroom.plan.verbs.hold import bring
from elbowroom.plan.verbs.leave import let_go, take
from elbowroom.posing.fingers_model import HandAtThing, hand_model
from elbowroom.posing.grasps import closed_on, grasps_of
from elbowroom.posing.grasps_settle import Grasp
from elbowroom.world.pairs import holding_joints
from elbowroom.world.things import FOREVER

# Meeting places: shares of the way from the giver's chest to the taker's, metres sideways, and below the shoulders as
# shares of their height.
_ALONG, _ASIDE, _BELOW = (0.5, 0.42, 0.58), (0.0, 0.12, -0.12), (0.1, 0.04, 0.16, 0.24)

# Metres before the line between two chests at which people who walk side by side meet.
_AHEAD_M = (0.3, 0.2, 0.4)

# Meeting places that are rated with the taker's grasps, tried, tried without a path to them, and tried out of reach.
_RATED, _PLACES, _TRIES, _FAR = 64, 16, 6, 3

# Twice the distance before the chest at which hands of one person meet, share of the height; tuned on `regrasp`.
_BEFORE = 0.38

# Room between two hands on one object, metres: bodies sway. On a small object they have less, and it counts how far
# their wrists are apart.
_ROOM_M, _APART_M = 0.003, 0.09

# Seconds that both hands hold the object, and that the giver arrives before the other's fingers close, at a given time.
BOTH_S, EARLY_S = 0.12, 0.35


def hand_over_standing(d: Director, task: Handover) -> None:
    """Meet, take, release, and return."""
    giver, taker = d.actor(task.who), d.actor(task.to)
    what = f"hand over {task.object}"
    hand = holding_hand(d, task, task.object)
    grip = grip_of(d, giver, hand, task.object)
    T_thing_hand = inverse(d.world.frame(task.object, giver.now)) @ hand_of(giver, hand, giver.pose)
    closing = d.settings.close
    begin = giver.now
    far: list[PlanningFailure] = []

    def meet(T_meet: Array) -> None:
        if len(far) >= _FAR:
            raise far[0]
        failure = tried(lambda: _meet(T_meet))
        if failure is not None and failure.status == "target-out-of-reach":
            far.append(_too_far(d, failure, task, T_meet) if failure.missing > 0.0 else failure)
            raise far[-1]
        if failure is not None:
            raise failure

    def _meet(T_meet: Array) -> None:
        there = None if task.at is None else task.at - closing - EARLY_S
        bring(d, giver, hand, T_meet @ T_thing_hand, there, what)
        when = _when(d, giver, taker, T_meet) if task.at is None else task.at - closing
        asked = Grab(who=task.to, object=task.object, at=when)

        def receive(taking: ReachableGrasp) -> None:
            take(d, taker, taking, task.object, f"take {task.object}", when)
            pass_on(d, giver, hand, taker, taking, task.object, grip)
            require_free(d, (begin, taker.now), what)

        # beside a hand on a small object, grasps are drawn back as others are that have no room
        proposed = None if beside.small else partial(beside.grasps_of, t=when)
        options = reachable_grasps(d, taker, task.object, asked, what, proposed=proposed)
        room = (t for t in options if beside.room(t.grasp) and closes(d, taker, t, task.object, when))
        d.first(any_of(room, f"{what}: no grasp of {task.to} keeps clear of the hand of {task.who}"), receive)

    beside = Beside(d, giver, hand, taker, task.object)
    d.first(varied(d, meetings(d, beside, what)), meet, _TRIES)


def _too_far(d: Director, giver: PlanningFailure, task: Handover, T_meet: Array) -> PlanningFailure:
    """Failure of two people who stand too far apart to meet at a placement of the object (4, 4): by what both miss."""
    taker = d.actor(task.to)
    best = [grasps_of(d.world, taker.who, hand, task.object, taker.now)[:1] for hand in arms_of(taker, None)]
    missing = [d.reach(taker, g.hand, T_meet @ g.T_thing_hand, taker.k, None).missing for few in best for g in few]
    apart = giver.missing + min(missing, default=0.0)
    why = f"hand over {task.object}: {task.who} and {task.to} stand at least {apart:.2f} m too far apart"
    return PlanningFailure(giver.status, why, missing=apart)


class Beside:
    """Grasps of a taker on an object, with room beside the closed hand of its giver, whatever their bodies do."""

    def __init__(self, d: Director, giver: Actor, hand: str, taker: Actor, thing: str) -> None:
        self._d, self.giver, self.hand, self.taker, self.thing = d, giver, hand, taker, thing
        self.small = False  # no grasp has room beside the giver's hand
        T_thing = d.world.frame(thing, giver.now)
        self.T_thing_hand = inverse(T_thing) @ hand_of(giver, hand, giver.pose)
        opened = np.array(giver.pose.rotations)
        opened[list(finger_joints(giver.body, hand))] = grip_of(d, giver, hand, thing).open
        poses = giver.pose, Pose.of(giver.pose.root, opened)
        self._closed, self._open = (self._hand_mesh(pose).moved(inverse(T_thing)) for pose in poses)

    def _hand_mesh(self, pose: Pose) -> Mesh:
        """The giver's hand in a posture, in the world."""
        body = self.giver.body
        joints, T = holding_joints(body, self.hand), body.skeleton.at(pose)
        return merge(shape_mesh(s).moved(T[s.joint]) for s in body.shapes if s.joint in joints)

    def room(self, grasp: Grasp) -> bool:
        """Return whether the taker's hand is clear of the giver's: open and closed, and while the giver opens it."""
        if self.small:
            return bool(np.linalg.norm(grasp.T_thing_hand[:3, 3] - self.T_thing_hand[:3, 3]) > _APART_M)
        return kept(grasp, ("beside", self), lambda: self._room(grasp))

    def _room(self, grasp: Grasp) -> bool:
        body, mesh = self.taker.body, self._d.world.objects[self.thing].mesh
        model = hand_model(body, grasp.hand)

        def clear(other: Mesh, shape: HandShape) -> bool:
            scene = HandAtThing(model, other)
            scene.put_thing(inverse(grasp.T_thing_hand))
            scene.put_hand(model.places(shape))
            return scene.gap(range(len(model.shapes)), limit=_ROOM_M) >= _ROOM_M

        # fingers closed on the object take longer to find
        return clear(self._closed, grasp.open) and all(
            clear(other, closed_on(body, mesh, grasp).shape) for other in (self._closed, self._open)
        )

    def grasps_of(self, hand: str, t: float) -> list[Grasp]:
        """Grasps of one of the taker's hands at a time."""
        known = grasps_of(self._d.world, self.taker.who, hand, self.thing, t)
        return [grasp for grasp in known if self.room(grasp)]


def pass_on(d: Director, giver: Actor, hand: str, taker: Actor, taking: ReachableGrasp, thing: str, grip: Grip) -> None:
    """Let both hold the object; then the giver releases it and its hand returns."""
    d.world = d.world.with_hold(thing, taker.who, taking.hand, (taker.now, FOREVER))
    acting.wait(d, taker, taker.frames(BOTH_S))
    acting.wait(d, giver, max(giver.frame(taker.now) - giver.k, 0))
    now = giver.now
    acting.wait(d, taker, max(taker.frame(now) - taker.k, 0))
    T_taker, T_thing = hand_of(taker, taking.hand, taker.pose), d.world.frame(thing, now)
    d.world = released(d.world, thing, now, giver.who)
    taker.keep(joints_of(taker, taking.hand))
    came = -taking.approach / np.linalg.norm(taking.approach)
    own = (taking.hand, taking.grasp.name)
    taken = grip.T_world_taken if giver is taker else as_it_stood(T_thing, grip.T_world_taken)
    d.take = d.take.with_grip(thing, Grip(taking.open, T_taker[:3, :3].T @ came, taken, own))
    T_giver = hand_of(giver, hand, giver.pose)
    home = normalize(shoulder_of(giver, hand, giver.pose) - T_giver[:3, 3])
    let_go(d, giver, hand, thing, grip.open, [T_giver[:3, :3] @ grip.out, home], f"leave {thing}")
    # The taker waits until the giver's fingers are open, and leaves while that hand returns.
    acting.wait(d, taker, max(taker.frame(now + d.settings.close) - taker.k, 0))
    rest(d, Rest(who=giver.who, hand="left" if hand == "left" else "right"))


def _when(d: Director, giver: Actor, taker: Actor, T_meet: Array) -> float:
    """Time at which the taker's hand arrives: as soon as both can."""
    arms = arms_of(taker, None)
    distances = [float(np.linalg.norm(T_meet[:3, 3] - hand_of(taker, h, taker.pose)[:3, 3])) for h in arms]
    needed = d.seconds_for(min(distances, default=0.0)) + d.settings.approach / d.settings.slow
    return max(giver.now + 0.5 * EARLY_S, taker.now + needed)


def closes(d: Director, taker: Actor, taking: ReachableGrasp, thing: str, t: float) -> bool:
    """Return whether the taker's fingers can close on the object at a time without other collisions."""
    body, hand, grasp = taker.body, taking.hand, taking.grasp
    closed = closed_on(body, d.world.objects[thing].mesh, grasp)
    fingers = dict(zip(finger_joints(body, hand), closed.rotations, strict=True))
    return Postures(d.world, taker.who, t, hand=hand, taking=thing, fingers=fingers).valid(taking.target)


def any_of(options: Iterator[ReachableGrasp], why: str) -> Iterator[ReachableGrasp]:
    """The same options; raises where there is none."""
    given = False
    for option in options:
        given = True
        yield option
    if not given:
        raise PlanningFailure("target-in-collision", why)


def meetings(d: Director, beside: Beside, what: str, at: tuple[int, int] | None = None) -> Iterator[Array]:
    """Placements of the object (4, 4) between two people, or before one, the easiest for both hands first.

    `at` are the frames of giver and taker in which they meet, by default their last final ones.
    """
    giver, taker, thing = beside.giver, beside.taker, beside.thing
    k, taker_k = (giver.k, taker.k) if at is None else at
    a, pose = _breast(giver, k), giver.neutral(k)
    before = _BEFORE * giver.body.height * front_of(giver, giver.body.skeleton.at(pose))
    across = before if giver is taker else _breast(taker, taker_k) - a
    height = min(giver.body.height, taker.body.height)
    side = normalize(np.cross(UP, across))
    asides: tuple[float, ...] = _ASIDE
    if at is not None:  # in front of two who walk side by side
        asides = tuple(float(np.sign(side @ before)) * share for share in _AHEAD_M)
    # as it is held, and as it stood
    T_held = d.world.frame(thing, giver.now)
    held = (T_held, as_it_stood(T_held, grip_of(d, giver, beside.hand, thing).T_world_taken))
    points = [
        a + along * across + aside * side - below * height * UP
        for along in _ALONG
        for aside in asides
        for below in _BELOW
    ]
    for small in (False, True):
        beside.small = small
        tilts = held[:1] if small else held
        places = np.stack([T for point in points for T_thing in tilts for T in turned(T_thing, point)])
        easy = effort(giver, beside.hand, places @ beside.T_thing_hand, k, elbows_low=not small)
        few = np.argsort(easy, kind="stable")[:_RATED]
        cost = easy[few] + _taking_effort(d, beside, places[few], taker_k)
        if np.isfinite(cost).any():
            break
    if not np.isfinite(cost).any():
        hands = [held_by(d.world, taker.who, h, taker.time(taker_k)) for h in arms_of(taker, None)]
        if all(hold is not None for hold in hands):
            raise PlanningFailure("hand-not-free", f"{what}: {taker.who} has no free hand to take it")
        raise PlanningFailure(
            "target-in-collision", f"{what}: {giver.who}'s hand leaves {taker.who} no room to take it"
        )
    for i in np.argsort(cost, kind="stable")[:_PLACES]:
        if np.isfinite(cost[i]):
            yield places[few[i]]


def _taking_effort(d: Director, beside: Beside, places: Array, k: int) -> Array:
    """Effort of the taker's hand with its best grasp at each placement (N, 4, 4) in a frame, inf without any."""
    taker = beside.taker
    best, t = np.full(len(places), np.inf), taker.time(k)
    for hand in arms_of(taker, None):
        grasps = [] if held_by(d.world, taker.who, hand, t) else grasps_of(d.world, taker.who, hand, beside.thing, t)
        if not grasps:
            continue
        ends = (places[:, None] @ np.stack([g.T_thing_hand for g in grasps])).reshape(-1, 4, 4)
        cost = effort(taker, hand, ends, k, elbows_low=not beside.small).reshape(len(places), -1) + [
            g.cost for g in grasps
        ]
        # only those that are the best somewhere are compared with the giver's hand
        while blocked := [n for n in set(cost.argmin(axis=1).tolist()) if not beside.room(grasps[n])]:
            cost[:, blocked] = np.inf
            if not np.isfinite(cost).any():
                break
        best = np.minimum(best, cost.min(axis=1))
    return best


def _breast(actor: Actor, k: int) -> Array:
    """Middle between the shoulders of the actor's posture in a frame without tasks, (3,)."""
    pose = actor.neutral(k)
    return np.asarray(np.mean([shoulder_of(actor, h, pose) for h in arms_of(actor, None)], axis=0))


# Placements before the body that are tried without a path to them.
_PLACEMENTS = 6


def regrasp(d: Director, task: Regrasp) -> None:
    """Hold an object before the body, take it with the other hand, and release it with the first."""
    actor, what = d.actor(task.who), f"regrasp {task.object}"
    first = holding_hand(d, replace(task, hand=None), task.object)
    other = _other_hand(d, actor, first, task, what)
    grip = grip_of(d, actor, first, task.object)
    T_thing_hand = inverse(d.world.frame(task.object, actor.now)) @ hand_of(actor, first, actor.pose)
    begin = actor.now

    def meet(T_meet: Array) -> None:
        bring(d, actor, first, T_meet @ T_thing_hand, None, what)

        def receive(taking: ReachableGrasp) -> None:
            take(d, actor, taking, task.object, what, None)
            pass_on(d, actor, first, actor, taking, task.object, grip)
            require_free(d, (begin, actor.now), what)

        asked = Grab(who=actor.who, object=task.object)
        proposed = partial(beside.grasps_of, t=actor.now)
        hands = [(other, actor.k)]
        options = reachable_grasps(d, actor, task.object, asked, what, hands, proposed=proposed, manner="alone")
        room = (t for t in options if closes(d, actor, t, task.object, actor.now))
        d.first(any_of(room, f"{what}: the {first} hand leaves no room on it for the {other} hand"), receive)

    beside = Beside(d, actor, first, actor, task.object)
    d.first(varied(d, meetings(d, beside, what)), meet, _PLACEMENTS)


def _other_hand(d: Director, actor: Actor, first: str, task: Regrasp, what: str) -> str:
    """The hand that takes the object from the first one; raises where it cannot."""
    if first not in ("left", "right"):
        raise PlanningFailure("hand-not-free", f"{what}: {actor.who} wears it ({first}) and must grab it first")
    (other,) = arms_of(actor, task.hand or ("left" if first == "right" else "right"))
    hold = held_by(d.world, actor.who, other, actor.now)
    if hold is not None:
        held = "it already" if hold.object == task.object else f"'{hold.object}'"
        raise PlanningFailure("hand-not-free", f"{what}: the {other} hand of {actor.who} holds {held}")
    if not actor.stands:
        raise PlanningFailure("no-path", f"{what}: {actor.who} is walking; hands can be changed only while standing")
    return other
