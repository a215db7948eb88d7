"""Both hands move an object that leads the whole body, the feet where they stand (Y1 to Y6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.hand_shapes import finger_joints, finger_rotations
from elbowroom.character.limits import EPS
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array, angle_between, normalize, slerp
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.kernels.space import CHECKS
from elbowroom.motion.posture_constraints import constraints_of
from elbowroom.motion.posture_db import PostureDatabase
from elbowroom.motion.recorded import recorded_carries, recorded_postures
from elbowroom.motion.speed_profiles import path_times
from elbowroom.plan import acting
from elbowroom.plan.actor import Actor
from elbowroom.plan.arm_paths import LimbTrajectory
from elbowroom.plan.director import FOREVER, Director
from elbowroom.plan.give_way import require_free
from elbowroom.plan.hands import arms_of, front_of, hand_of, held_by, joints_of, released, shifted
from elbowroom.plan.limb_path import body_way, limb_way
from elbowroom.plan.places import place_for, resting, supported
from elbowroom.plan.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.result import PlanningFailure, Status, blamed
from elbowroom.plan.tasks import Move
from elbowroom.plan.verbs.grasp_choice import effort
from elbowroom.posing.grasps_settle import Grasp
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.posing.two_hands import two_hand_grasps
from elbowroom.posing.whole_body import FEET, Load, WholeBody, support_of
from elbowroom.search.birrt import Budget
from elbowroom.search.rrt import plan as search
from elbowroom.search.rrt import smooth
from elbowroom.spaces.object import ObjectSpace, cube_side, place_of, state_of
from elbowroom.world.pairs import Pair

# Pairs of grasps that are looked at, and tried.
_LOOKS = 24
_TRIES = 4
# Metres that hands come from beside the object, and are off it before they go back.
_BESIDE_M = 0.08
# Metres of lift before an object is carried, and above its place before it is set down.
_LIFTS_M = (0.04, 0.02)
# Metres of the object's way, and radians of the farthest joint, from one look at a whole body to the next.
_STEP_M = 0.03
_TURN_RAD = 0.35
# Where hands go first that find no way straight to an object: above it and nearer to the body, shares of its height.
_OVER = 0.18
_NEARER = 0.1
# Turns of an object below this are none, radians.
_SAME_TURN_RAD = 1e-3
# Limits of one search: a step takes one to two milliseconds.
_BUDGET = Budget(checks=6_000, nodes=2_000)
# Limits of a search for one arm on its way to the object: both arms are searched, for several grips.
_REACHES = Budget(checks=5_000)
# Turns of an elbow about shoulder and hand that are tried, radians.
_ELBOWS_RAD = np.radians([8, -8, 16, -16, 24, -24, 34, -34, 46, -46, 60, -60])
# Radians that joints may be farther out of their ranges than the solver leaves them.
_BEYOND_RAD = 0.01
# Pull of the recorded markers against that of the posture before, per marker.
_MARKERS = 0.15


@dataclass(frozen=True, eq=False)
class Grips:
    """Both hands on an object: a grasp each, by hand."""

    grasps: Mapping[str, Grasp]

    def targets(self, actor: Actor, T_object: Array, aside_m: float = 0.0) -> dict[str, Array]:
        """Places of the hands' joints (4, 4) with the object at a place (4, 4), `aside_m` before they touch it."""
        out = {}
        for hand, grasp in self.grasps.items():
            T_hand = shifted(T_object @ grasp.T_thing_hand, -aside_m * (T_object[:3, :3] @ normalize(grasp.approach)))
            out[f"{hand}_hand"] = T_hand @ inverse(actor.body.hand(hand)[1])
        return out


def move(d: Director, task: Move) -> None:
    """Take an object with both hands, carry it to its place, set it down, and let go."""
    actor = d.actor(task.who)
    if task.object not in d.world.objects:
        raise UnknownName("object", task.object, d.world.objects)
    what = f"move {task.object}"
    if not (task.at is task.begin is task.back is task.hand is None):
        raise BadValue(f"{what}: both hands move it, and the planner chooses the times; leave out hand and times.")
    busy = [h for h in arms_of(actor, None) if held_by(d.world, actor.who, h, actor.now) is not None]
    if busy or len(arms_of(actor, None)) < 2:
        why = f"the {busy[0]} hand of {actor.who} is busy" if busy else f"{actor.who} has not two arms"
        raise PlanningFailure("hand-not-free", f"{what}: {why}, and it takes both hands")
    if not actor.stands:
        raise PlanningFailure("no-path", f"{what}: {actor.who} walks, and both hands move things only where feet stand")
    carrier = Carrier(d, actor, task, what)
    settings = d.settings
    d.settings = replace(settings, search_budget=_REACHES)
    try:
        d.first(carrier.grips(), carrier.do, _TRIES)
    finally:
        d.settings = settings


class Carrier:
    """Somebody who moves an object with both hands."""

    def __init__(self, d: Director, actor: Actor, task: Move, what: str) -> None:
        self.d, self.actor, self.what, self.thing = d, actor, what, task.object
        self.T_start = d.world.frame(task.object, actor.now)
        self.T_goal = place_for(d.world, task, self.T_start, actor.now)
        self.mass = d.world.objects[task.object].mass or 0.0
        self.center = d.world.objects[task.object].mesh.bounds.mean(axis=0)
        self.body = WholeBody(actor.body)
        self.support = support_of(actor.body, actor.pose, d.world.floor or 0.0)
        self.recorded = None if task.posture == "none" else _recorded(actor, task.posture)
        self.T_feet = {foot: actor.body.skeleton.at(actor.pose)[actor.body.role(foot)] for foot in FEET}

    def grips(self) -> Iterator[Grips]:
        """Pairs of grasps with which the object can be held at its start and at its goal, the easiest first."""
        d, actor = self.d, self.actor
        mesh, ahead = d.world.objects[self.thing].mesh, front_of(actor, actor.body.skeleton.at(actor.pose))
        pairs = two_hand_grasps(actor.body, mesh, self.T_start, ahead)
        if not pairs:
            raise PlanningFailure(
                "target-out-of-reach",
                f"{self.what}: the two hands of {actor.who} do not fit round it from where it lies",
            )
        cost = np.array([a.cost + b.cost for a, b in pairs])
        for T in (self.T_start, self.T_goal):
            for hand, k in (("left", 0), ("right", 1)):
                ends = T @ np.stack([pair[k].T_thing_hand for pair in pairs])
                cost = cost + effort(actor, hand, ends, actor.k)
        failed: list[PlanningFailure] = []
        for i in np.argsort(cost, kind="stable")[:_LOOKS]:
            grips = Grips(dict(zip(("left", "right"), pairs[i], strict=True)))
            try:
                for T in (self.T_start, self.T_goal):
                    self.held_at(grips, T, actor.pose)
            except PlanningFailure as stuck:
                failed.append(stuck)
            else:
                yield grips
        if len(failed) == min(len(pairs), _LOOKS):
            raise failed[0]

    def do(self, grips: Grips) -> None:
        """Reach, take, carry, set down, let go, and go back."""
        d, actor = self.d, self.actor
        start = self.held_at(grips, self.T_start, actor.pose)
        before = self.at(grips.targets(actor, self.T_start, _BESIDE_M), start, self.T_start, loaded=False)
        beside = self._freed(self._postures(grips), before, self.T_start)
        if isinstance(beside, Pair):
            raise PlanningFailure("target-in-collision", f"{self.what}: {blamed(beside)} beside it")
        before = beside
        opened = {h: finger_rotations(actor.body, h, g.open) for h, g in grips.grasps.items()}
        under = resting(d.world, self.thing, actor.now)
        goal_under = resting(d.world, self.thing, actor.now, self.T_goal)
        self.reach(grips, before, opened)
        begin = actor.now
        for hand in grips.grasps:
            d.allow(hand_contacts(d.world, actor.who, hand, self.thing, (begin, FOREVER), PRESS))
        self.follow(grips, [self.T_start], start, f"take {self.thing}", aside=True)
        for hand in grips.grasps:
            actor.keep(joints_of(actor, hand))
            actor.pin(hand)
            T_hand = hand_of(actor, hand, actor.pose)
            d.world = d.world.with_hold(
                self.thing, actor.who, hand, (actor.now, FOREVER), inverse(T_hand) @ self.T_start
            )
        contacts = d.world.contacts
        both = [*under, *(name for name in goal_under if name not in under)]
        d.allow(supported(self.thing, both, (-np.inf, FOREVER)))
        taken = actor.now
        self.carry(grips)
        d.world = d.world.with_(contacts=(
            *contacts,
            *supported(self.thing, under, (-np.inf, taken + 0.6)),
            *supported(self.thing, goal_under, (actor.now - 0.6, FOREVER)),
        ))  # fmt: skip
        for hand in grips.grasps:
            d.world = released(d.world, self.thing, actor.now, actor.who)
            actor.unpin(hand)
        self.follow(grips, [self.T_goal], actor.pose, f"leave {self.thing}", aside=True, away=True)
        self.back()
        require_free(d, (begin, actor.now), self.what)

    def reach(self, grips: Grips, before: Pose, opened: Mapping[str, Array]) -> None:
        """Both hands go beside the object; where no way leads straight there, first over it and nearer to the body."""
        d, actor = self.d, self.actor
        what, focus, saved = f"reach {self.thing}", self.T_start[:3, 3], d.save()
        try:
            return self.travel(before, opened, what, focus)
        except PlanningFailure as stuck:
            d.restore(saved)
            if stuck.status != "no-path":
                raise
        front = front_of(actor, actor.body.skeleton.at(actor.pose))
        over = shifted(self.T_start, actor.body.height * (_OVER * np.array([0.0, 0.0, 1.0]) - _NEARER * front))
        above = self._freed(
            self._postures(grips),
            self.at(grips.targets(actor, over, _BESIDE_M), before, over, loaded=False),
            self.T_start,
        )
        if isinstance(above, Pair):
            raise PlanningFailure("no-path", f"{what}: no free way was found ({blamed(above)} over it)")
        for pose in (above, before):
            self.travel(pose, opened, what, focus)

    def back(self) -> None:
        """Both hands go back to the base motion."""
        actor = self.actor
        mine = [j for hand in ("left", "right") for j in joints_of(actor, hand)]
        goal = actor.neutral(actor.k + actor.frames(1.0), mine)
        fingers = {h: goal.rotations[list(finger_joints(actor.body, h))] for h in ("left", "right")}
        self.travel(goal, fingers, f"leave {self.thing}")
        actor.give_back(tuple(mine))

    # postures

    def at(
        self, targets: Mapping[str, Array], near: Pose, T_object: Array, *, loaded: bool, markers: bool = True
    ) -> Pose:
        """A posture near another one with hands and feet at their targets; raises `PlanningFailure`."""
        places, weights = self._markers(targets) if markers else (None, None)
        load = Load(self.mass if loaded else 0.0, transform(self.center)[:3, 3] @ T_object[:3, :3].T + T_object[:3, 3])
        found = self.body.solve(near, {**targets, **self.T_feet}, places, weights, load=load, support=self.support)
        if not found.found:
            kinds: dict[str, Status] = {"off-balance": "out-of-balance", "turned-too-far": "no-path"}
            status = kinds.get(found.status, "target-out-of-reach")
            raise PlanningFailure(status, f"{self.what}: {found.reason.rstrip('.')}")
        return found.pose

    def held_at(self, grips: Grips, T_object: Array, near: Pose) -> Pose:
        """A posture that holds the object at a place (4, 4) and is free; raises `PlanningFailure`."""
        pose = self.at(grips.targets(self.actor, T_object), near, T_object, loaded=True)
        found = self._freed(self._postures(grips), pose, T_object)
        if isinstance(found, Pair):
            raise PlanningFailure("target-in-collision", f"{self.what}: {blamed(found)}")
        return found

    def _freed(self, postures: Postures, pose: Pose, T_object: Array, most_rad: float = np.inf) -> Pose | Pair:
        """A posture with its elbows turned about shoulder and hand until it is free, as little as will do.

        What is in the way where that does not help; no elbow turns by more than `most_rad`.
        """
        pair = postures.blame(pose, {self.thing: T_object})
        for side in ("left", "right", "left"):
            if pair is None or not any(f".{side}_{part}" in name for name in pair for part in ("fore", "upper_arm")):
                continue
            ik = LimbIK(self.actor.body, f"{side}_arm", pose)
            T_parent, T_hand = ik.T_world_parent(pose), self.actor.body.skeleton.at(pose)[ik.joints[-1]]
            orbit, keep = ik.orbit_of(pose), ik.keep_of(pose)
            most = max(float(ik.solve(T_parent, T_hand, orbit, keep).excess.max()), EPS) + _BEYOND_RAD
            for turn in _ELBOWS_RAD[np.abs(_ELBOWS_RAD) <= most_rad]:
                solved = ik.solve(T_parent, T_hand, orbit + turn, keep)
                if not (solved.reached.all() and float(solved.excess.max()) <= most):
                    continue
                turned = ik.posed(pose, solved)
                other = postures.blame(turned, {self.thing: T_object})
                if other is None or not any(f".{side}_" in name for name in other):
                    pose, pair = turned, other
                    break
        return pose if pair is None else pair

    def _markers(self, targets: Mapping[str, Array]) -> tuple[Array | None, Array | None]:
        if self.recorded is None:
            return None, None
        found = self.recorded.posture(constraints_of(self.actor.body, {**targets, **self.T_feet}))
        return found.markers, _MARKERS * found.weights

    def _postures(self, grips: Grips) -> Postures:
        d, actor = self.d, self.actor
        fingers = {
            joint: turn
            for hand, grasp in grips.grasps.items()
            for joint, turn in zip(
                finger_joints(actor.body, hand), finger_rotations(actor.body, hand, grasp.open), strict=True
            )
        }
        contacts = [c for h in grips.grasps for c in hand_contacts(
            d.world, actor.who, h, self.thing, (-np.inf, np.inf), PRESS)]  # fmt: skip
        for T in (self.T_start, self.T_goal):
            contacts += supported(self.thing, resting(d.world, self.thing, actor.now, T), (-np.inf, np.inf))
        world = d.world.with_(contacts=(*d.world.contacts, *contacts))
        return Postures(world, actor.who, actor.now, fingers=fingers, led=self.thing)

    # motion

    def travel(self, goal: Pose, fingers: Mapping[str, Array], what: str, focus: Array | None = None) -> None:
        """Both hands go to a posture, the body straight there, each arm as its tier finds; back without a focus."""
        d, actor = self.d, self.actor
        goal = d.looking(actor, goal, focus)
        ways = [
            float(np.linalg.norm(hand_of(actor, h, goal)[:3, 3] - hand_of(actor, h, actor.pose)[:3, 3]))
            for h in fingers
        ]
        far = max(*ways, float(np.linalg.norm(goal.root - actor.pose.root)))
        count = actor.frames(max(d.seconds_for(far), 0.8))
        root, q = body_way(actor, goal, count)
        share = np.linspace(0.0, 1.0, count + 1)
        share = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        for hand, turned in fingers.items():
            joints = list(finger_joints(actor.body, hand))
            q[:, joints] = slerp(q[:1, joints], turned, share[:, None])
        found = []
        for hand in fingers:
            arm = list(actor.body.chain(f"{hand}_arm").joints)
            way = limb_way(d, actor, f"{hand}_arm", root, q, what)
            q[:, arm] = way.rotations
            found.append((hand, way))
        acting.add(d, actor, root, q, away=focus is not None)
        for hand, way in found:
            d.note(actor, f"{hand}_arm", what, (actor.time(actor.k - count), actor.now), way)

    def follow(
        self, grips: Grips, places: list[Array], near: Pose, what: str, *, aside: bool = False, away: bool = False
    ) -> None:
        """Hands go to the object, or off it, straight; the body as it is but for what they need."""
        d, actor = self.d, self.actor
        count = actor.frames(_BESIDE_M / d.settings.slow)
        share = np.linspace(0.0, 1.0, count + 1)
        share = share * share * (3.0 - 2.0 * share)
        root, q = [actor.root[-1]], [actor.q[-1]]
        pose = actor.pose
        for s in share[1:]:
            gap = _BESIDE_M * (s if away else 1.0 - s) if aside else 0.0
            pose = self.at(grips.targets(actor, places[0], gap), pose, places[0], loaded=False)
            rotations = pose.rotations.copy()
            rotations[self._fingers(grips)] = actor.q[-1][self._fingers(grips)]
            root.append(pose.root)
            q.append(rotations)
        self._add(np.array(root), np.array(q), what, "ik", 0)

    def carry(self, grips: Grips) -> None:
        """The object goes to its goal along a searched path, and the body follows."""
        d, actor = self.d, self.actor
        postures = self._postures(grips)
        turned = angle_between(state_of(self.T_start)[3:], state_of(self.T_goal)[3:]) > _SAME_TURN_RAD
        turning: Literal["level", "fixed"] = "level" if turned else "fixed"
        stations = [self.T_start, *self._between(), self.T_goal]
        pose, checks = actor.pose, 0
        states, poses = [state_of(self.T_start)], [actor.pose]
        for T_a, T_b in pairwise(stations):
            middle = 0.5 * (T_a[:3, 3] + T_b[:3, 3])
            space = ObjectSpace(middle, cube_side(actor.body.height), partial(self._advance, grips, postures),
                                turning=turning, upright=state_of(T_a)[3:], step_m=_STEP_M)  # fmt: skip
            there = self.held_at(grips, T_b, pose)
            found = search(space, (state_of(T_a), pose), state_of(T_b), d.seed(), _BUDGET, there)
            if not found.found:
                raise PlanningFailure("no-path", f"{self.what}: no way was found on which the body could follow it")
            short = smooth(space, found, d.seed())
            states += list(short.states[1:])
            poses += short.payloads[1:]
            pose, checks = short.payloads[-1], checks + found.stats.checks + short.stats.checks
        self._play(grips, np.array(states), poses, checks)

    def _between(self) -> list[Array]:
        """Places over the start and over the goal, so that the object is lifted off and set down from above."""
        return [shifted(T, np.array([0.0, 0.0, _LIFTS_M[0]])) for T in (self.T_start, self.T_goal)]

    def _advance(
        self, grips: Grips, postures: Postures, start: Array, pose: Pose, end: Array, tally: NDArray[np.int64]
    ) -> Pose | None:
        """The posture one step on, None where there is none near the one before that is free."""
        tally[CHECKS] += 1
        T = place_of(end)
        try:
            followed = self.at(grips.targets(self.actor, T), pose, T, loaded=True)
        except PlanningFailure:
            return None
        found = self._freed(postures, followed, T, _TURN_RAD)
        if isinstance(found, Pair) or angle_between(found.rotations, pose.rotations).max() > _TURN_RAD:
            return None
        return found

    def _play(self, grips: Grips, states: Array, poses: Sequence[Pose], checks: int) -> None:
        """Frames along a path of the object (N, 7), as fast as people carry things."""
        actor = self.actor
        turns = angle_between(states[:-1, 3:], states[1:, 3:])
        timing = path_times(states[:, :3], recorded_carries(), turns=turns)
        count = max(actor.frames(timing.duration), 2)
        at = np.linspace(0.0, timing.duration, count + 1)
        row = np.clip(np.searchsorted(timing.times, at, side="right") - 1, 0, len(states) - 2)
        span = np.maximum(timing.times[row + 1] - timing.times[row], 1e-9)
        share = np.clip((at - timing.times[row]) / span, 0.0, 1.0)
        place = states[row, :3] + share[:, None] * (states[row + 1, :3] - states[row, :3])
        turn = slerp(states[row, 3:], states[row + 1, 3:], share)
        root, q, pose = [actor.root[-1]], [actor.q[-1]], actor.pose
        for k, T in list(enumerate(transform(place, turn)))[1:]:
            a, b = poses[row[k]], poses[row[k] + 1]
            near = Pose.of(a.root + share[k] * (b.root - a.root), slerp(a.rotations, b.rotations, share[k]))
            pose = self.at(grips.targets(actor, T), near, T, loaded=True, markers=False)
            rotations = pose.rotations.copy()
            rotations[self._fingers(grips)] = actor.q[-1][self._fingers(grips)]
            root.append(pose.root)
            q.append(rotations)
        self._add(np.array(root), np.array(q), f"carry {self.thing}", "plan", checks)

    def _fingers(self, grips: Grips) -> list[int]:
        return [j for hand in grips.grasps for j in finger_joints(self.actor.body, hand)]

    def _add(self, root: Array, q: Array, what: str, tier: str, checks: int) -> None:
        """Add frames of the whole body; both arms are noted."""
        d, actor = self.d, self.actor
        acting.add(d, actor, root, q)
        during = (actor.time(actor.k - len(root) + 1), actor.now)
        for hand in ("left", "right"):
            arm = list(actor.body.chain(f"{hand}_arm").joints)
            way = LimbTrajectory(q[:, arm], "plan" if tier == "plan" else "ik", checks=checks)
            d.note(actor, f"{hand}_arm", what, during, way)
        d.edits[-1] = replace(d.edits[-1], replanned=tuple(range(len(actor.body.parents))))


def _recorded(actor: Actor, posture: str) -> PostureDatabase:
    """Recorded postures for a body."""
    recorded = recorded_postures()
    if posture in ("squat", "stoop"):
        recorded = recorded.of_strategy("squat" if posture == "squat" else "stoop")
    return recorded.for_character(actor.body)
