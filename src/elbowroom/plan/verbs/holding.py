"""Whole-body postures that hold an object with one hand or both, feet in place (Y3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from elbowroom.character.dynamics import too_heavy
from elbowroom.character.hand_shapes import finger_joints, finger_rotations
from elbowroom.character.skeleton import Pose
from elbowroom.files.clip_library import posture_database
from elbowroom.geometry.rotations import UP, Array, about, angle_between, normalize
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.motion.posture_constraints import constraints_of
from elbowroom.motion.posture_db import MarkerPosture, PostureDatabase
from elbowroom.motion.recorded import recorded_postures
from elbowroom.plan.checks.accept import met_between
from elbowroom.plan.checks.freeing import freed
from elbowroom.plan.checks.hands import front_of, shifted
from elbowroom.plan.checks.margins import STEPS_M
from elbowroom.plan.checks.places import place_for, resting, supported
from elbowroom.plan.checks.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import Folded, PlanningFailure, Status, blamed, tried
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Move
from elbowroom.posing.grasps import closed_on
from elbowroom.posing.grasps_settle import Grasp
from elbowroom.posing.trunk_bend import unfolding
from elbowroom.posing.whole_body import FEET, ITERATIONS, Load, WholeBody, support_of
from elbowroom.spaces.object import between_states, place_of, state_of
from elbowroom.world.contacts import Contact
from elbowroom.world.own_pairs import BELLY, THIGHS, tissue_contacts
from elbowroom.world.pairs import Pair

# Iterations of a posture solved from itself, until no joint rotates by more than this, radians.
_SETTLES = 5
_SETTLED_RAD = 0.03
# Initial pelvis placements for the solver: back and down, shares of the body's height, and tilted ahead, radians. The
# last ones are a stoop and two squats.
_PELVIS = (
    (0.0, 0.0, 0.0),
    (0.06, 0.0, 0.0),
    (0.06, 0.08, 0.0),
    (0.0, 0.12, 0.0),
    (0.12, 0.04, 0.3),
    (0.12, 0.02, 1.1),
    (0.14, 0.2, 0.5),
    (0.08, 0.28, 0.2),
)
# Rotation of a joint from one frame to the next above which postures between the two are checked, radians.
_FAR_RAD = 0.12
# Weights of recorded markers against that of the previous posture, per marker, in the order in which they are tried.
# The first is nearest to left-out takes (benchmarks/object_moves_natural.py), the second leaves room where rigid shapes
# cannot fold as people do.
PULLS = (0.5, 0.15)


@dataclass(frozen=True, eq=False)
class Grips:
    """Hands on an object: a grasp each, by hand."""

    grasps: Mapping[str, Grasp]

    @property
    def closes(self) -> bool:
        """Return whether fingers close on the object; palms that press it from two sides stay flat."""
        return any(grasp.open is not grasp.shape for grasp in self.grasps.values())

    def targets(self, actor: Actor, T_object: Array, aside_m: float = 0.0) -> dict[str, Array]:
        """Transforms of the hands' joints (..., 4, 4) with the object at placements (..., 4, 4), `aside_m` before
        contact.

        `aside_m` is for a single placement.
        """
        out = {}
        for hand, grasp in self.grasps.items():
            T_hand = T_object @ grasp.T_thing_hand
            if aside_m:
                T_hand = shifted(T_hand, -aside_m * (T_object[:3, :3] @ normalize(grasp.approach)))
            out[f"{hand}_hand"] = T_hand @ inverse(actor.body.hand(hand)[1])
        return out


@dataclass
class _Remembered:
    """Checks of postures by what they are about, the last recorded posture that was asked for, by its hands, and
    collisions that ended steps of the object's paths.
    """

    postures: dict[object, Postures] = field(default_factory=dict)
    answer: tuple[object, MarkerPosture] | None = None
    met: Counter[str] = field(default_factory=Counter)


class Holding:
    """A person who holds an object at its start, at its goal, and on the way; one of several `people`."""

    def __init__(self, d: Director, actor: Actor, task: Move, what: str, people: int = 1) -> None:
        self.d, self.actor, self.what, self.thing, self.people = d, actor, what, task.object, people
        self.T_start = d.world.frame(task.object, actor.now)
        self.T_goal = place_for(d.world, task, self.T_start, actor.now)
        self.databases = _databases(actor, task)
        # recorded postures that guide the solver, and the weight of their markers
        self.guided: tuple[PostureDatabase | None, float] = (next(iter(self.databases), None), PULLS[0])
        self._remembered = _Remembered()
        self.support = support_of(actor.body, actor.pose, d.world.floor or 0.0) if task.balance else None
        self.T_feet = {foot: actor.body.skeleton.at(actor.pose)[actor.body.role(foot)] for foot in FEET}

    @property
    def met(self) -> Counter[str]:
        """Collisions that ended steps of the object's paths, in words."""
        return self._remembered.met

    @property
    def mass(self) -> float:
        """Share of the object's mass, kg."""
        return (self.d.world.objects[self.thing].mass or 0.0) / self.people

    @cached_property
    def body(self) -> WholeBody:
        """Solver of the body's postures."""
        return WholeBody(unfolding(self.actor.body))

    def at(
        self, targets: Mapping[str, Array], near: Pose, T_object: Array, *, loaded: bool, markers: bool = True
    ) -> Pose:
        """A posture near another one with hands and feet at their targets; raises `PlanningFailure`."""
        places, weights = self._markers(targets) if markers else (None, None)
        return self._solved(targets, near, T_object, places, weights, loaded=loaded)

    def along(self, targets: Mapping[str, Array], near: Pose, T_object: Array, *, loaded: bool) -> Pose:
        """A frame of a motion near a posture between two solved ones; raises `PlanningFailure`.

        Limbs alone follow their targets where that does: solved frame by frame, an elbow at the end of its range may
        leave the branch of the postures around it, and return.
        """
        found = tried(lambda: self._solved(targets, near, T_object, loaded=loaded, iterations=0))
        return self._solved(targets, near, T_object, loaded=loaded) if isinstance(found, PlanningFailure) else found

    def _solved(
        self, targets: Mapping[str, Array], near: Pose, T_object: Array, markers: Array | None = None,
        weights: Array | None = None, *, loaded: bool, iterations: int = ITERATIONS,
    ) -> Pose:  # fmt: skip
        load = Load(self.mass if loaded else 0.0, self._borne_at(targets, T_object))
        found = self.body.solve(near, {**targets, **self.T_feet}, markers, weights, load=load, support=self.support,
                                iterations=iterations)  # fmt: skip
        if not found.found:
            kinds: dict[str, Status] = {"off-balance": "out-of-balance", "turned-too-far": "no-path"}
            status = kinds.get(found.status, "target-out-of-reach")
            why = found.reason.rstrip(".").replace(f"of {self.actor.body.name} ", f"of {self.actor.who} ")
            raise PlanningFailure(status, f"{self.what}: {why}")
        return found.pose

    def _borne_at(self, targets: Mapping[str, Array], T_object: Array) -> Array:
        """Point (3,) at which the load acts: the object's middle, or between the hands of one of several people."""
        if self.people == 1:
            return np.asarray(apply(T_object, self.d.world.objects[self.thing].mesh.bounds.mean(axis=0)[None])[0])
        return np.asarray(np.mean([T[:3, 3] for T in targets.values()], axis=0))

    def held_at(self, grips: Grips, T_object: Array, near: Pose) -> Pose:
        """A free posture that holds the object at a placement (4, 4); raises `PlanningFailure`.

        If it collides, it is solved again from other pelvis placements.
        """
        met = self.carried_blame(grips, T_object, STEPS_M[-1])
        if met is not None:
            raise PlanningFailure("target-in-collision", f"{self.what}: {blamed(met)}")
        targets = grips.targets(self.actor, T_object)
        front, up = front_of(self.actor, self.actor.body.skeleton.at(near)), UP
        stuck: PlanningFailure | None = None
        known: list[Pose] = []
        for behind, below, tilt in _PELVIS:
            root = near.root - self.actor.body.height * (behind * front + below * up)
            tilted = self.actor.body.turned_by(about(np.cross(up, front), tilt), Pose.of(root, near.rotations))
            try:
                pose = self._settled(targets, tilted, T_object, known)
                if pose is None:
                    continue
                known.append(pose)
                found = self._required(self.freed(self.postures(grips), pose, T_object, room=STEPS_M[-1]))
                return self._strong(found, T_object, grips)
            except PlanningFailure as failed:
                stuck = stuck or failed
                if failed.status == "target-out-of-reach":
                    break
        assert stuck is not None
        raise stuck

    def carried_blame(self, grips: Grips, T_object: Array, room: float, *, lies: bool = True) -> Pair | None:
        """A colliding pair of the object at a placement (4, 4), or the hands on it, whatever the body does."""
        hands = self.hand_joints(grips, T_object)
        return self.postures(grips, lies=lies).carried_blame(self.actor.pose, hands, {self.thing: T_object}, room)

    def hand_joints(self, grips: Grips, T_object: Array) -> dict[int, Array]:
        """Transforms (4, 4) of the hands' joints with the object at a placement (4, 4)."""
        body = self.actor.body
        return {body.role(hand): T_hand for hand, T_hand in grips.targets(self.actor, T_object).items()}

    def _strong(self, pose: Pose, T_object: Array, grips: Grips) -> Pose:
        """A posture in which no joint exceeds its strength; raises `PlanningFailure`."""
        body, center = self.actor.body, self._borne_at(grips.targets(self.actor, T_object), T_object)
        why = too_heavy(body, body.skeleton.at(pose), self.mass, center, tuple(grips.grasps))
        if why:
            raise PlanningFailure("too-heavy", f"{self.what}: {why}")
        return pose

    def _settled(self, targets: Mapping[str, Array], near: Pose, T_object: Array, known: Sequence[Pose]) -> Pose | None:
        """A fixed point of the solver: a posture solved from afar would go on changing at the first step from there.

        None where it is one of those that are `known`.
        """
        pose = self.at(targets, near, T_object, loaded=True)
        for _ in range(_SETTLES):
            if any(_alike(pose, other) for other in known):
                return None
            before, pose = pose, self.at(targets, pose, T_object, loaded=True)
            if _alike(before, pose):
                break
        return pose

    def beside(self, grips: Grips, T: Array, near: Pose, aside_m: float, T_object: Array | None = None) -> Pose:
        """A free posture with open hands `aside_m` before where the object has its grips at a placement T (4, 4).

        The object is there, or at T_object (4, 4). Raises `PlanningFailure`.
        """
        T_object = T if T_object is None else T_object
        pose = self.at(grips.targets(self.actor, T, aside_m), near, T_object, loaded=False)
        return self._required(self.freed(self.postures(grips, closed=False), pose, T_object, room=STEPS_M[-1]))

    def _required(self, found: Pose | Pair) -> Pose:
        if isinstance(found, Pair):
            parts = {name.removeprefix(f"{self.actor.who}.") for name in found}
            flesh = bool(parts & set(BELLY)) and bool(parts & set(THIGHS))
            kind = Folded if flesh else PlanningFailure
            raise kind("target-in-collision", f"{self.what}: {blamed(found)}")
        return found

    def freed(
        self, postures: Postures, pose: Pose, T_object: Array, most_rad: float = np.inf, room: float = 0.0
    ) -> Pose | Pair:
        """A posture with elbows and knees swivelled until it is free with the object at a placement (4, 4), see
        `freed`.

        Everything else, forearms and hands keep `room` metres of clearance.
        """

        def blame(pose: Pose) -> Pair | None:
            return postures.blame(pose, {self.thing: T_object}, room=room, own_room=False)

        return freed(self.actor.body, blame, pose, most_rad)

    def met_between(self, postures: Postures, root: Array, q: Array, places: Array) -> Pair | None:
        """A pair that collides between two frames in which a joint rotates far, see `Carrier._met`."""

        def blame(pose: Pose, k: int, share: float) -> Pair | None:
            T = place_of(between_states(state_of(places[k]), state_of(places[k + 1]), np.array(share)))
            return postures.blame(pose, {self.thing: T})

        far = angle_between(q[:-1], q[1:]).max(axis=1)
        return met_between(root, q, np.maximum(np.ceil(far / _FAR_RAD), 1).astype(int), blame)

    def _markers(self, targets: Mapping[str, Array]) -> tuple[Array | None, Array | None]:
        guide, pull = self.guided
        if guide is None:
            return None, None
        key, known = (guide, *targets, *(T.tobytes() for T in targets.values())), self._remembered
        if known.answer is None or key != known.answer[0]:  # postures are solved several times for the same hands
            known.answer = key, guide.posture(constraints_of(self.actor.body, {**targets, **self.T_feet}))
        found = known.answer[1]
        return found.markers, pull * found.weights

    def fits(self, grips: Grips) -> list[tuple[float, PostureDatabase, MarkerPosture]]:
        """Databases, best fit first: metres to the nearest constraints, at start and goal, and the worse answer of the
        two (Y10).
        """
        out = []
        for database in self.databases:
            answers = [
                database.posture(constraints_of(self.actor.body, {**grips.targets(self.actor, T), **self.T_feet}))
                for T in (self.T_start, self.T_goal)
            ]
            worst = max(answers, key=lambda answer: answer.distance_m)
            out.append((worst.distance_m, database, worst))
        return sorted(out, key=lambda fit: fit[0])

    def fingers(self, grips: Grips, *, closed: bool) -> dict[str, Array]:
        """Rotations (n, 4) of the fingers by hand, open or as they lie on the object."""
        body, mesh = self.actor.body, self.d.world.objects[self.thing].mesh
        return {
            hand: closed_on(body, mesh, grasp).rotations
            if closed and grasp.open is not grasp.shape
            else finger_rotations(body, hand, grasp.open)
            for hand, grasp in grips.grasps.items()
        }

    def postures(self, grips: Grips, *, closed: bool = True, lies: bool = True) -> Postures:
        """Posture check with the object at given placements, hands on it, fingers open or closed.

        With `lies` the object may touch its supports at start and goal.
        """
        shapes = tuple((hand, grasp.name if grips.closes else grasp.shape.name) for hand, grasp in grips.grasps.items())
        key = (shapes, closed and grips.closes, lies)
        if key not in self._remembered.postures:
            d, actor = self.d, self.actor
            fingers: dict[int, Array] = {}
            contacts: list[Contact] = []
            for hand, turns in self.fingers(grips, closed=closed).items():
                fingers |= dict(zip(finger_joints(actor.body, hand), turns, strict=True))
                contacts += hand_contacts(d.world, actor.who, hand, self.thing, (-np.inf, np.inf), PRESS)
            for T in (self.T_start, self.T_goal) if lies else ():
                contacts += supported(self.thing, resting(d.world, self.thing, actor.now, T), (-np.inf, np.inf))
            contacts += tissue_contacts(actor.body, actor.who, (-np.inf, np.inf), d.world.caps.tissue)
            world = d.world.with_(contacts=(*d.world.contacts, *contacts))
            self._remembered.postures[key] = Postures(world, actor.who, actor.now, fingers=fingers, led=self.thing)
        return self._remembered.postures[key]


def _alike(a: Pose, b: Pose) -> bool:
    """Return whether two postures with the same hands and feet are one and the same to the solver."""
    return bool(angle_between(a.rotations, b.rotations).max() < _SETTLED_RAD)


# Those who hold the object, with their grips; the first one leads.
Team = Sequence[tuple[Holding, Grips]]


def _databases(actor: Actor, task: Move) -> list[PostureDatabase]:
    """Recorded postures for a body: those of the task's files, or the built-in ones, of the requested kind."""
    if task.posture == "none":
        return []
    found = [_from_file(path) for path in task.postures] if task.postures else [recorded_postures()]
    if task.posture in ("squat", "stoop"):
        found = [database.of_strategy("squat" if task.posture == "squat" else "stoop") for database in found]
    return [database.for_character(actor.body) for database in found]


@lru_cache(maxsize=8)
def _from_file(path: str) -> PostureDatabase:
    return posture_database([path], name=Path(path).stem)
