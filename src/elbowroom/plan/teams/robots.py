"""Robots that carry an object with people: bases roll, arms hold it by inverse kinematics (E1, E6)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise, product

import numpy as np

from elbowroom.character.robot import Robot
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import UP, Array, about, from_matrix
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.motion.pace import Timing
from elbowroom.motion.robot_clip import RobotClip
from elbowroom.plan.checks.accept import hits
from elbowroom.plan.checks.hands import released
from elbowroom.plan.checks.postures import PRESS, hand_contacts
from elbowroom.plan.state.result import PlanningFailure, blamed
from elbowroom.plan.steps.director import Director
from elbowroom.plan.teams.animate import Blocked
from elbowroom.plan.teams.arm_space import ArmSpace
from elbowroom.plan.teams.stances import footprint
from elbowroom.plan.teams.trajectory import TURN_RAD_S
from elbowroom.posing.robot_ik import RobotArmIK
from elbowroom.posing.two_hands import under_edge
from elbowroom.world.exact import ExactWorld
from elbowroom.world.things import FOREVER

# Grips that are tried: metres to the side of the robot's middle, and of the fork in from the edge.
_ASIDE_M = (0.0, 0.12, -0.12, 0.24, -0.24)
_INSIDE_M = (0.05, 0.035)
# Gap between fork and object, and the start of its straight approach in its own frame, in front and below, metres.
_GAP_M = 0.0005
_COMES_FROM_M = (np.array([-0.12, 0.0, -0.04]), np.array([-0.3, 0.0, -0.05]))
# Postures of the arm that are tried for one grip.
_POSTURES = 4
# Postures of the straight approach that are checked first, and height to which an arm must be able to lift, metres.
_LOOKS, _LIFTS_M = 5, 0.06
# Speed of the arm's joints, rad/s, shortest reach, seconds, and speed of its last, straight part, m/s.
_ARM_RAD_S = 1.2
_LEAST_S, _STRAIGHT_M_S = 1.0, 0.15
# Peak speed of a smooth step relative to its mean.
_PEAK = 1.9
# Fastest rotation of a joint of the arm, rad/s: more is a jump.
_LEAP_RAD_S = 12.0


class RobotCarrier:
    """A robot of a team, and its gripper on the object, `T_thing_grip` (4, 4)."""

    def __init__(self, d: Director, who: str, thing: str, what: str, fps: float) -> None:
        body = d.world.body(who)
        assert isinstance(body, Robot)
        if body.base != "wheels":
            raise BadValue(f"{what}: {who} stands on a base that is {body.base}; one on wheels can carry objects.")
        self.d, self.who, self.thing, self.what, self.fps = d, who, thing, what, fps
        self.robot, self.ik = body, RobotArmIK.of(body)
        self.T_thing_grip = np.eye(4)
        self.folded = self.values

    @property
    def clip(self) -> RobotClip:
        """Motion up to now."""
        motion = self.d.world.motion(self.who)
        assert isinstance(motion, RobotClip)
        return motion

    @property
    def values(self) -> Array:
        """Values (n,) of the arm's joints at the end of the motion so far."""
        return np.array(self.clip.q[-1, 3 + np.array(self.ik.run)])

    @property
    def place(self) -> tuple[Array, float]:
        """Position (2,) and heading of the base at the end of the motion so far; it faces along its x axis."""
        w, _, _, z = self.clip.q[-1, :4]
        return np.array(self.clip.root[-1, :2]), float(2.0 * np.arctan2(z, w) + 0.5 * np.pi)

    def bases(self, places: Array, headings: Array) -> Array:
        """Transforms (N, 4, 4) of bases at positions (N, 2) with headings (N,)."""
        height = np.full(len(places), self.clip.root[-1, 2])
        return transform(np.column_stack([places, height]), about(UP, headings - 0.5 * np.pi))

    def take(self, now: float) -> float:
        """Bring the gripper to the object and hold it; return the time of contact. Raises `PlanningFailure`."""
        if self.clip.span[1] < now - 1e-9:
            self._add(np.array([now]), self.bases(*self._still(1)), self.values[None])
        place, heading = self.place
        T_thing = np.asarray(self.d.world.frame(self.thing, now))
        base = self.bases(place[None], np.array([heading]))[0]
        stuck: PlanningFailure | None = None
        exact = ExactWorld(self.d.world).place(now)
        for T_grip in self._candidates(T_thing, place, now):
            rng = np.random.default_rng(self.d.settings.seed)
            postures = self.ik.solutions(inverse(base) @ T_grip, rng, self.folded)
            met = [self._met(exact, base, values) for values in postures]
            stuck = stuck or next((PlanningFailure("no-path", f"{self.what}: {why}") for why in met if why), None)
            free = [values for values, why in zip(postures, met, strict=True) if not why][:_POSTURES]
            for values, comes_from in product(free, _COMES_FROM_M):
                self.T_thing_grip = inverse(T_thing) @ T_grip
                begun = max(now, self.clip.span[1])
                taken = self.d.attempt(partial(self._taken, T_grip, comes_from, values, begun, exact))
                if not isinstance(taken, PlanningFailure):
                    return taken
                stuck = stuck or taken
        if stuck is None:
            raise PlanningFailure("target-out-of-reach", f"{self.what}: the arm of {self.who} does not reach it from "
                                  "where it stands")  # fmt: skip
        raise stuck

    def _met(self, exact: ExactWorld, base: Array, values: Array, *, off: bool = False) -> str:
        """Sentence on a collision of the arm at values (n,), with the object only where it is to be `off` it; empty
        where there is none.
        """
        root, q = self._rows(base[None], values[None])
        exact.place_body(self.who, self.robot.transforms(root, q)[0], {})
        for k in exact.near(0.0):
            pair = exact.pairs[int(k)]
            mine = any(name.partition(".")[0] == self.who for name in pair)
            if mine and (off or self.thing not in pair) and exact.collides(int(k)):
                return blamed(pair)
        return ""

    def _still(self, count: int) -> tuple[Array, Array]:
        place, heading = self.place
        return np.tile(place, (count, 1)), np.full(count, heading)

    def _candidates(self, T_thing: Array, place: Array, now: float) -> Iterator[Array]:
        """Transforms (4, 4) of the gripper under the edge in front of the robot."""
        middle, axes, half = footprint(self.d.world, self.thing, now)
        local = axes.T @ (place - middle)
        out = local - np.clip(local, -half, half)
        side = int(np.argmax(np.abs(out)))
        ahead = np.array([*(-np.sign(out[side]) * axes[:, side]), 0.0])
        left = np.cross(UP, ahead)
        mesh = self.d.world.objects[self.thing].mesh
        triangles = mesh.moved(T_thing).vertices[mesh.faces]
        for inside in _INSIDE_M:
            for aside in _ASIDE_M:
                point = under_edge(triangles, place + aside * left[:2], ahead[:2], inside)
                if point is not None:
                    T = np.eye(4)
                    T[:3, :3] = np.stack([ahead, left, UP], axis=1)
                    T[:3, 3] = point - _GAP_M * UP
                    yield T

    def _taken(self, T_grip: Array, comes_from: Array, values: Array, now: float, exact: ExactWorld) -> float:
        """Reach a grip at which the arm has values (n,), by way of `comes_from` (3,) relative to it, and hold the
        object; `exact` is the world now.
        """
        base = self.bases(*self._still(1))[0]
        steps = self._drawn_off(T_grip, comes_from)
        try:
            back = self._followed(np.tile(base, (len(steps), 1, 1)), steps, values)
        except Blocked:
            raise PlanningFailure("target-out-of-reach", f"{self.what}: {self.who} cannot drive up to it") from None
        raised = np.tile(T_grip, (_LOOKS, 1, 1))
        raised[:, 2, 3] += np.linspace(0.0, _LIFTS_M, _LOOKS)
        if self.ik.followed(np.tile(base, (_LOOKS, 1, 1)), raised, values)[1] is not None:
            why = f"the arm of {self.who} cannot lift it from where it stands"
            raise PlanningFailure("target-out-of-reach", f"{self.what}: {why}")
        on = back[::-1]
        for row in on[:: max(len(on) // _LOOKS, 1)]:
            if why := self._met(exact, base, row):
                raise PlanningFailure("no-path", f"{self.what}: {why}")
        rows = np.concatenate([self._reached(on[0], base, exact), on[1:]])
        times = now + np.arange(1, len(rows) + 1) / self.fps
        self._add(times, np.tile(base, (len(rows), 1, 1)), rows)
        end, straight_on = float(times[-1]), float(times[-len(on)])
        self.d.allow(hand_contacts(self.d.world, self.who, self.ik.hand, self.thing, (straight_on, end), PRESS))
        self._require_free((now, end))
        T_hold = inverse(self.T_thing_grip)
        self.d.world = self.d.world.with_hold(self.thing, self.who, self.ik.hand, (end, FOREVER), T_hold, leads=False)
        return end

    def _reached(self, goal: Array, base: Array, exact: ExactWorld) -> Array:
        """Frames (N, n) of the arm from where it is to values (n,), around everything; raises `PlanningFailure`."""
        joints, run = self.robot.joints, list(self.ik.run)
        lower = np.maximum(joints.lower[run], np.minimum(self.values, goal) - np.pi)
        upper = np.minimum(joints.upper[run], np.maximum(self.values, goal) + np.pi)
        space = ArmSpace(lower, upper, lambda values: not self._met(exact, base, values, off=True))
        path = space.path(self.values, goal, self.d.settings.seed)
        if path is None:
            why = self._met(exact, base, self.values, off=True) or self._met(exact, base, goal, off=True)
            raise PlanningFailure("no-path", f"{self.what}: {why or f'the arm of {self.who} finds no path to it'}")
        return np.concatenate([self._eased(a, b) for a, b in pairwise(path)])

    def _eased(self, a: Array, b: Array) -> Array:
        """Frames (N, n) of the arm from values (n,) to others, without the first."""
        seconds = max(float(np.abs(b - a).max()) / _ARM_RAD_S * _PEAK, _LEAST_S)
        return a + Timing.eased(1.0, round(seconds * self.fps)).places[1:, None] * (b - a)

    def _require_free(self, during: tuple[float, float]) -> None:
        for hit in () if self.d.settings.tier == "ik" else hits(self.d.world, during, self.who):
            raise PlanningFailure("no-path", f"{self.what}: {blamed(hit.pair)}")

    def stay(self, until: float) -> None:
        """Hold the object until a time with the base in place; raises `Blocked`."""
        count = round((until - self.clip.span[1]) * self.fps)
        if count > 0:
            times = self.clip.span[1] + np.arange(1, count + 1) / self.fps
            T = np.stack([np.asarray(self.d.world.frame(self.thing, t)) for t in times])
            self.follow(times, self.bases(*self._still(count)), T)

    def too_fast(self, things: Array) -> float:
        """Factor by which joints of the arm are too fast with the object at placements (N, 4, 4), a frame each, from
        now on and the base in place; 0 where it is out of reach.
        """
        values, bad = self.ik.followed(self.bases(*self._still(len(things))), things @ self.T_thing_grip, self.values)
        if bad is not None:
            return 0.0
        most = np.minimum(self.robot.joints.speed[list(self.ik.run)], _PEAK * _ARM_RAD_S)
        return float((np.abs(np.diff(values, axis=0)) * self.fps / most).max())

    def turn(self, heading: float) -> float:
        """Turn on the spot with the object in the arm; return the duration in seconds."""
        place, first = self.place
        turn = (heading - first + np.pi) % (2.0 * np.pi) - np.pi
        count = round(abs(turn) / TURN_RAD_S * _PEAK * self.fps)
        if count:
            begin = self.clip.span[1]
            times = begin + np.arange(1, count + 1) / self.fps
            headings = first + Timing.eased(1.0, count).places[1:] * turn
            T = np.tile(np.asarray(self.d.world.frame(self.thing, begin)), (count, 1, 1))
            self.follow(times, self.bases(np.tile(place, (count, 1)), headings), T)
        return count / self.fps

    def follow(self, times: Array, bases: Array, things: Array) -> None:
        """Hold the object at placements (N, 4, 4) with bases at (N, 4, 4) at times (N,); raises `Blocked`."""
        self._add(times, bases, self._followed(bases, things @ self.T_thing_grip, self.values))

    def _followed(self, bases: Array, grips: Array, before: Array) -> Array:
        """Values (N, n) of the arm with bases and gripper at (N, 4, 4), continued from (n,); raises `Blocked`."""
        values, bad = self.ik.followed(bases, grips, before)
        if bad is not None:
            raise Blocked(f"{self.what}: it is out of reach of the arm of {self.who}", bad)
        turns = np.abs(np.diff(np.concatenate([before[None], values]), axis=0)).max(axis=1)
        if turns.max() * self.fps > _LEAP_RAD_S:
            raise Blocked(f"{self.what}: the arm of {self.who} would jump", int(np.argmax(turns)))
        return values

    def back_to(self, now: float) -> None:
        """Remove all frames after a time."""
        clip = self.clip
        rows = clip.times <= now + 1e-6
        kept = RobotClip(self.robot, clip.times[rows], clip.root[rows], clip.q[rows], clip.name)
        self.d.world = self.d.world.with_character(self.who, kept)
        self.stay(now)

    def leave(self, now: float) -> None:
        """Release the object at a time, retract the gripper and fold the arm, where that is free."""
        self.stay(now)
        self.d.world = released(self.d.world, self.thing, now, self.who)
        self.d.first(product((True, False), _COMES_FROM_M), lambda option: self._left(now, *option))

    def _left(self, now: float, folds: bool, comes_from: Array) -> None:
        """Retract the gripper from a time on to `comes_from` (3,) of it, and fold the arm; raises `PlanningFailure`."""
        base = self.bases(*self._still(1))[0]
        T_grip = np.asarray(self.d.world.frame(self.thing, now)) @ self.T_thing_grip
        steps = self._drawn_off(T_grip, comes_from)[1:]
        rows = self._followed(np.tile(base, (len(steps), 1, 1)), steps, self.values)
        if folds:
            rows = np.concatenate([rows, self._eased(rows[-1], self.folded)])
        times = now + np.arange(1, len(rows) + 1) / self.fps
        off = float(times[len(steps) - 1])
        self.d.allow(hand_contacts(self.d.world, self.who, self.ik.hand, self.thing, (now, off), PRESS))
        self._add(times, np.tile(base, (len(rows), 1, 1)), rows)
        self._require_free((now, float(times[-1])))

    def _drawn_off(self, T_grip: Array, comes_from: Array) -> Array:
        """Transforms (N + 1, 4, 4) of the gripper from a grip straight to `comes_from` (3,) of it."""
        share = Timing.eased(1.0, round(float(np.linalg.norm(comes_from)) / _STRAIGHT_M_S * self.fps)).places
        steps = np.tile(T_grip, (len(share), 1, 1))
        steps[:, :3, 3] += share[:, None] * (T_grip[:3, :3] @ comes_from)
        return steps

    def _add(self, times: Array, bases: Array, values: Array) -> None:
        """Add frames at times (N,) with bases at (N, 4, 4) and the arm's values (N, n)."""
        clip = self.clip
        root, q = self._rows(bases, values)
        made = RobotClip(
            self.robot, np.concatenate([clip.times, times]), np.concatenate([clip.root, root]),
            np.concatenate([clip.q, q]), clip.name,
        )  # fmt: skip
        self.d.world = self.d.world.with_character(self.who, made)

    def _rows(self, bases: Array, values: Array) -> tuple[Array, Array]:
        """Roots (N, 3) and joints (N, Q) with bases at (N, 4, 4) and the arm's values (N, n)."""
        q = np.repeat(self.clip.q[-1:], len(values), axis=0)
        q[:, :4] = from_matrix(bases[:, :3, :3])
        q[:, 3 + np.array(self.ik.run)] = values
        return bases[:, :3, 3], q
