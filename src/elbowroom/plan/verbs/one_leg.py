"""Postures on one leg: the weight over the standing foot, the other foot at a target (S5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.character.limits import EPS
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import UP, Array, about, arc, conjugate, from_matrix, multiply, normalize, to_matrix
from elbowroom.motion.soles import Sole
from elbowroom.plan.checks.hands import front_of
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.posing.balance import feet_of
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.posing.orbit import OrbitRange, search_orbit

# Iterations that bring the centre of mass over the standing foot, and their tolerance, metres.
_ROUNDS, _OVER = 24, 0.002

# Knees point ahead, or outwards by so much, radians.
_KNEES = OrbitRange(low=float(np.radians(-20.0)), high=float(np.radians(60.0)))

# Arms are abducted by so much, radians: thighs come up beside them.
_SPREAD = float(np.radians(14.0))

# Share of the leg's length that the standing knee keeps in reserve.
_SPARE = 0.004


@dataclass(frozen=True, eq=False)
class Footing:
    """A foot that is to move, and the standing one, in a posture."""

    actor: Actor
    side: str
    pose: Pose

    @property
    def other(self) -> str:
        """Side of the standing foot."""
        return "left" if self.side == "right" else "right"

    @property
    def sole(self) -> Sole:
        """The moving foot."""
        return next(s for s in feet_of(self.actor.body) if s.side == self.side)

    @property
    def standing(self) -> Sole:
        """The standing foot."""
        return next(s for s in feet_of(self.actor.body) if s.side == self.other)

    @property
    def T_world_foot(self) -> Array:
        """Present transform of the moving foot, (4, 4)."""
        return np.asarray(self.actor.body.skeleton.at(self.pose)[self.sole.foot])

    def front(self) -> Array:
        """Facing direction of the body, a horizontal unit vector (3,)."""
        return front_of(self.actor, self.actor.body.skeleton.at(self.pose))

    def tip(self) -> Array:
        """Tip of the moving foot in the frame of its joint, toes as on flat ground, (3,)."""
        sole = self.sole
        if sole.toes < 0:
            return np.asarray(sole.tip)
        turn = to_matrix(multiply(conjugate(sole.flat), sole.toes_flat))
        return np.asarray(turn @ sole.tip + self.actor.body.skeleton.offsets[sole.toes])

    def turned(self, heading: Array, up: Array, pitch: float = 0.0) -> Array:
        """Orientation of the foot joint, (3, 3), along a horizontal heading (3,) with its sole perpendicular to `up`
        (3,).

        `pitch` lifts the toes, radians.
        """
        sole = self.sole
        level = arc(normalize(sole.ahead), heading)
        raised = about(np.cross(heading, UP), pitch)
        return to_matrix(multiply(arc(UP, up), multiply(raised, multiply(level, sole.flat))))

    def at(self, T_world_foot: Array, root: Array | None = None) -> Pose | None:
        """A posture with the foot at a transform (4, 4) and the weight over the other one; None out of reach.

        With a `root` (3,) the pelvis is there.
        """
        body = self.actor.body
        stand, swing = LimbIK(body, f"{self.other}_leg", self.pose), LimbIK(body, f"{self.side}_leg", self.pose)
        T = body.skeleton.at(self.pose)
        T_stand, over = T[stand.joints[2]], self._middle(T)
        orbit, keep = stand.describe(T[stand.parent], self.pose.rotations[list(stand.joints)])
        q = self._arms_out(T)
        if self.sole.toes >= 0 and int(body.parents[self.sole.toes]) == self.sole.foot:
            q[self.sole.toes] = multiply(conjugate(self.sole.flat), self.sole.toes_flat)
        at = np.array(self.pose.root if root is None else root)
        for _ in range(_ROUNDS if root is None else 1):
            moved = np.eye(4)
            moved[:3, 3] = at - self.pose.root
            firm = stand.solve(moved @ T[stand.parent], T_stand, orbit, keep)
            free = search_orbit(
                swing, moved @ T[swing.parent], T_world_foot, start=swing.orbit_of(self.pose), angles=_KNEES
            )
            q[list(stand.joints)], q[list(swing.joints)] = firm.rotations, free.solution.rotations
            short = max(float(firm.gap), float(free.solution.gap), 0.0)
            off = over - center_of_mass(body, body.skeleton.at(Pose.of(at, q)))[:2]
            done = short == 0.0 and (root is not None or float(np.linalg.norm(off)) < _OVER)
            if done and free.found and float(firm.excess.max()) <= max(self._excess(stand, T), EPS):
                return Pose.of(at, q)
            if root is None:
                at = at + np.array([*off, -0.7 * short - (_SPARE if short > 0.0 else 0.0)])
        return None

    def _arms_out(self, T: Array) -> Array:
        """Rotations (J, 4) of the posture with hanging arms abducted a little, out of the way of the thighs."""
        body, q = self.actor.body, np.array(self.pose.rotations)
        for side, sign in (("left", 1.0), ("right", -1.0)):
            arm = body.chains.get(f"{side}_arm")
            if arm is None or set(arm.joints) & set(self.actor.kept):
                continue
            shoulder, elbow, hand = (T[j, :3, 3] for j in arm.joints)
            if hand[2] < elbow[2] < shoulder[2]:
                parent = from_matrix(T[int(body.parents[arm.joints[0]]), :3, :3])
                turn = about(self.front(), sign * _SPREAD)
                local = multiply(conjugate(parent), multiply(turn, parent))
                q[arm.joints[0]] = multiply(local, q[arm.joints[0]])
        return q

    def _middle(self, T: Array) -> Array:
        """Middle of the standing sole on the floor, (2,)."""
        heel, ball = self.standing.points(T[None])[0]
        return np.asarray((0.45 * heel + 0.55 * ball)[:2])

    def _excess(self, ik: LimbIK, T: Array) -> float:
        """Present excess of the standing leg over its joint limits, radians, which stays allowed."""
        orbit, keep = ik.describe(T[ik.parent], self.pose.rotations[list(ik.joints)])
        return float(ik.solve(T[ik.parent], T[ik.joints[2]], orbit, keep).excess.max())


def footing(actor: Actor, side: str, what: str) -> Footing:
    """Footing of an actor on both feet, about to move one; raises `PlanningFailure` where it is not."""
    actor.body.chain(f"{side}_leg")
    if len(feet_of(actor.body)) < 2 or actor.body.masses is None:
        raise PlanningFailure("out-of-balance", f"{what}: {actor.who} does not have two feet to stand on")
    if not actor.stands:
        raise PlanningFailure("out-of-balance", f"{what}: {actor.who} is walking and needs the foot for that")
    return Footing(actor, side, actor.pose)
