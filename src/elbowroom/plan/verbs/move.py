"""Both hands move an object that leads the whole body, the feet where they stand (Y1 to Y6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.hand_shapes import finger_joints, finger_rotations
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.easing import smootherstep, smoothstep
from elbowroom.geometry.rotations import Array, angle_between, slerp
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.kernels.space import CHECKS
from elbowroom.motion.recorded import recorded_carries
from elbowroom.motion.speed_profiles import path_times
from elbowroom.plan import acting
from elbowroom.plan.arm_paths import LimbTrajectory
from elbowroom.plan.director import FOREVER, Director
from elbowroom.plan.give_way import require_free
from elbowroom.plan.hands import arms_of, front_of, hand_of, held_by, joints_of, released, shifted
from elbowroom.plan.limb_path import body_way, limb_way
from elbowroom.plan.places import resting, supported
from elbowroom.plan.postures import PRESS, hand_contacts
from elbowroom.plan.result import PlanningFailure, blamed
from elbowroom.plan.tasks import Move
from elbowroom.plan.verbs.grasp_choice import effort
from elbowroom.plan.verbs.two_handed import Grips, Holding
from elbowroom.posing.two_hands import two_hand_grasps
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
# Seconds that both hands take for a way at least: the whole body goes along.
_LEAST_S = 0.8
# Metres that an object is lifted before it is carried, and above its place before it is set down.
_LIFT_M = 0.04
# An object that is farther than this from its place no longer touches what it lay on there, metres.
_OFF_M = 0.02
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
        why = f"the {busy[0]} hand of {actor.who} is busy" if busy else f"{actor.who} has only one arm"
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


class Carrier(Holding):
    """Somebody who moves an object with both hands."""

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
        apart = self.at(grips.targets(actor, self.T_start, _BESIDE_M), start, self.T_start, loaded=False)
        before = self.freed(self.postures, apart, self.T_start)
        if isinstance(before, Pair):
            raise PlanningFailure("target-in-collision", f"{self.what}: {blamed(before)} beside it")
        opened = {h: finger_rotations(actor.body, h, g.open) for h, g in grips.grasps.items()}
        under = resting(d.world, self.thing, actor.now)
        goal_under = resting(d.world, self.thing, actor.now, self.T_goal)
        self.reach(grips, before, opened)
        begin = actor.now
        self._allow_hands(grips)
        self.straight(grips, self.T_start, f"take {self.thing}", away=False)
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
        lifted, set_down = self.carry(grips)
        # only while it is lifted off and set down: it does not slide from the one to the other
        off, on = (-np.inf, lifted), (set_down, FOREVER)
        touching = (*supported(self.thing, under, off), *supported(self.thing, goal_under, on))
        d.world = d.world.with_(contacts=(*contacts, *touching))
        for hand in grips.grasps:
            d.world = released(d.world, self.thing, actor.now, actor.who)
            actor.unpin(hand)
        self._allow_hands(grips)
        self.straight(grips, self.T_goal, f"leave {self.thing}", away=True)
        self.back()
        require_free(d, (begin, actor.now), self.what)

    def _allow_hands(self, grips: Grips) -> None:
        """Let hands touch the object while they come to it, or leave it, straight."""
        d, actor = self.d, self.actor
        during = (actor.now, actor.time(actor.k + self._straight_frames))
        for hand in grips.grasps:
            d.allow(hand_contacts(d.world, actor.who, hand, self.thing, during, PRESS))

    @property
    def _straight_frames(self) -> int:
        return self.actor.frames(_BESIDE_M / self.d.settings.slow)

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
        above = self.freed(
            self.postures,
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

    def travel(self, goal: Pose, fingers: Mapping[str, Array], what: str, focus: Array | None = None) -> None:
        """Both hands go to a posture, the body straight there, each arm as its tier finds; back without a focus."""
        d, actor = self.d, self.actor
        goal = d.looking(actor, goal, focus)
        ways = [
            float(np.linalg.norm(hand_of(actor, h, goal)[:3, 3] - hand_of(actor, h, actor.pose)[:3, 3]))
            for h in fingers
        ]
        far = max(*ways, float(np.linalg.norm(goal.root - actor.pose.root)))
        count = actor.frames(max(d.seconds_for(far), _LEAST_S))
        root, q = body_way(actor, goal, count)
        share = smootherstep(np.linspace(0.0, 1.0, count + 1))
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

    def straight(self, grips: Grips, T_object: Array, what: str, *, away: bool) -> None:
        """Hands go to the object, or off it, straight; the body as it is but for what they need."""
        actor = self.actor
        share = smoothstep(np.linspace(0.0, 1.0, self._straight_frames + 1))
        root, q = [actor.root[-1]], [actor.q[-1]]
        pose = actor.pose
        for gap in _BESIDE_M * (share if away else 1.0 - share)[1:]:
            pose = self.at(grips.targets(actor, T_object, gap), pose, T_object, loaded=False)
            rotations = pose.rotations.copy()
            rotations[self._fingers(grips)] = actor.q[-1][self._fingers(grips)]
            root.append(pose.root)
            q.append(rotations)
        self._add(np.array(root), np.array(q), what, "ik", 0)

    def carry(self, grips: Grips) -> tuple[float, float]:
        """The object goes to its goal along a searched path, and the body follows.

        Seconds at which it has been lifted off, and from which on it is set down.
        """
        d, actor = self.d, self.actor
        turned = angle_between(state_of(self.T_start)[3:], state_of(self.T_goal)[3:]) > _SAME_TURN_RAD
        turning: Literal["level", "fixed"] = "level" if turned else "fixed"
        stations = [self.T_start, *self._between(), self.T_goal]
        pose, checks = actor.pose, 0
        states, poses = [state_of(self.T_start)], [actor.pose]
        for T_a, T_b in pairwise(stations):
            middle = 0.5 * (T_a[:3, 3] + T_b[:3, 3])
            space = ObjectSpace(middle, cube_side(actor.body.height), partial(self._advance, grips),
                                turning=turning, upright=state_of(T_a)[3:], step_m=_STEP_M)  # fmt: skip
            there = self.held_at(grips, T_b, pose)
            found = search(space, (state_of(T_a), pose), state_of(T_b), d.seed(), _BUDGET, there)
            if not found.found:
                raise PlanningFailure("no-path", f"{self.what}: no way was found on which the body could follow it")
            short = smooth(space, found, d.seed())
            states += list(short.states[1:])
            poses += short.payloads[1:]
            pose, checks = short.payloads[-1], checks + found.stats.checks + short.stats.checks
        return self._play(grips, np.array(states), poses, checks)

    def _between(self) -> list[Array]:
        """Places over the start and over the goal, so that the object is lifted off and set down from above."""
        return [shifted(T, np.array([0.0, 0.0, _LIFT_M])) for T in (self.T_start, self.T_goal)]

    def _advance(self, grips: Grips, start: Array, pose: Pose, end: Array, tally: NDArray[np.int64]) -> Pose | None:
        """The posture one step on, None where there is none near the one before that is free."""
        tally[CHECKS] += 1
        T = place_of(end)
        try:
            followed = self.at(grips.targets(self.actor, T), pose, T, loaded=True)
        except PlanningFailure:
            return None
        found = self.freed(self.postures, followed, T, _TURN_RAD)
        if isinstance(found, Pair) or angle_between(found.rotations, pose.rotations).max() > _TURN_RAD:
            return None
        return found

    def _play(self, grips: Grips, states: Array, poses: Sequence[Pose], checks: int) -> tuple[float, float]:
        """Add frames along a path of the object (N, 7), as fast as people carry things; see `carry`."""
        actor = self.actor
        begun = actor.k
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
        ends = [np.linalg.norm(place - T[:3, 3], axis=1) > _OFF_M for T in (self.T_start, self.T_goal)]
        lifted, set_down = int(np.argmax(ends[0])), count - int(np.argmax(ends[1][::-1]))
        return actor.time(begun + lifted), actor.time(begun + set_down)

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
