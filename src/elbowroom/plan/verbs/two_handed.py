"""Postures of a whole body that holds an object with both hands, the feet where they stand (Y3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elbowroom.character.hand_shapes import FLAT, finger_joints, finger_rotations
from elbowroom.character.limits import EPS
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.motion.posture_constraints import constraints_of
from elbowroom.motion.posture_db import PostureDatabase
from elbowroom.motion.recorded import recorded_postures
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director
from elbowroom.plan.hands import shifted
from elbowroom.plan.places import place_for, resting, supported
from elbowroom.plan.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.result import PlanningFailure, Status, blamed
from elbowroom.plan.tasks import Move
from elbowroom.posing.grasps_settle import Grasp
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.posing.whole_body import FEET, Load, WholeBody, support_of
from elbowroom.world.contacts import Contact
from elbowroom.world.pairs import Pair

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


class Holding:
    """Somebody who is to hold an object with both hands, at its start, at its goal, and on the way."""

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

    def at(
        self, targets: Mapping[str, Array], near: Pose, T_object: Array, *, loaded: bool, markers: bool = True
    ) -> Pose:
        """A posture near another one with hands and feet at their targets; raises `PlanningFailure`."""
        places, weights = self._markers(targets) if markers else (None, None)
        load = Load(self.mass if loaded else 0.0, apply(T_object, self.center[None])[0])
        found = self.body.solve(near, {**targets, **self.T_feet}, places, weights, load=load, support=self.support)
        if not found.found:
            kinds: dict[str, Status] = {"off-balance": "out-of-balance", "turned-too-far": "no-path"}
            status = kinds.get(found.status, "target-out-of-reach")
            raise PlanningFailure(status, f"{self.what}: {found.reason.rstrip('.')}")
        return found.pose

    def held_at(self, grips: Grips, T_object: Array, near: Pose) -> Pose:
        """A posture that holds the object at a place (4, 4) and is free; raises `PlanningFailure`."""
        pose = self.at(grips.targets(self.actor, T_object), near, T_object, loaded=True)
        found = self.freed(self.postures, pose, T_object)
        if isinstance(found, Pair):
            raise PlanningFailure("target-in-collision", f"{self.what}: {blamed(found)}")
        return found

    def freed(self, postures: Postures, pose: Pose, T_object: Array, most_rad: float = np.inf) -> Pose | Pair:
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

    @cached_property
    def postures(self) -> Postures:
        """Check of postures with the object at places that are given, flat hands on it."""
        d, actor = self.d, self.actor
        fingers: dict[int, Array] = {}
        contacts: list[Contact] = []
        for hand in ("left", "right"):
            turns = finger_rotations(actor.body, hand, FLAT)
            fingers |= dict(zip(finger_joints(actor.body, hand), turns, strict=True))
            contacts += hand_contacts(d.world, actor.who, hand, self.thing, (-np.inf, np.inf), PRESS)
        for T in (self.T_start, self.T_goal):
            contacts += supported(self.thing, resting(d.world, self.thing, actor.now, T), (-np.inf, np.inf))
        world = d.world.with_(contacts=(*d.world.contacts, *contacts))
        return Postures(world, actor.who, actor.now, fingers=fingers, led=self.thing)


def _recorded(actor: Actor, posture: str) -> PostureDatabase:
    """Recorded postures for a body."""
    recorded = recorded_postures()
    if posture in ("squat", "stoop"):
        recorded = recorded.of_strategy("squat" if posture == "squat" else "stoop")
    return recorded.for_character(actor.body)
