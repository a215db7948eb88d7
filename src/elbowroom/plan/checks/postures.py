"""Collision check of whole postures of a character at a time, with the colliding pair."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Body, Character
from elbowroom.character.hand_shapes import HandShape, mixed
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.posing.fingers_model import hand_model
from elbowroom.posing.grasps import closed_on, drawn_back
from elbowroom.posing.grasps_settle import Grasp
from elbowroom.world.allowances import supports
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.own_pairs import folds, tissue_contacts, tissue_depth
from elbowroom.world.pairs import Pair, holding_joints
from elbowroom.world.paths import Still
from elbowroom.world.world import World

# Depth to which closing fingers may press into an object, metres.
PRESS = 0.002

# Stages of a closing hand that must be free, the most closed first.
_CLOSING = (1.0, 0.7, 0.35, 0.85, 0.5, 0.15)

# If an empty closing hand is farther than this from everything, closing on an object is free, too; and the clearance
# that it then keeps, metres.
_NEAR_M, _ROOM_M = 0.008, 0.0004

# Retreats of a grasp along its approach where the proposed hand has no room, metres.
_BACK_M = (0.01, 0.02, 0.03, 0.045)

# Parts of one body that keep clearance from each other on request, besides those below the elbows, and the largest such
# clearance, metres.
_KEPT_APART_M = 0.0015
_KEPT_APART = (
    (("left_upper_arm", "right_upper_arm"), ("neck", "head")),
    (("left_shin",), ("right_thigh",)),
    (("right_shin",), ("left_thigh",)),
)

# Intermediate hand shapes, see `mixed`: many grasps share both shapes.
between_shapes = lru_cache(maxsize=512)(mixed)


def at_rest(world: World, thing: str, T: Array) -> World:
    """A world in which an object stays at a placement (4, 4)."""
    return world.with_(objects={**world.objects, thing: replace(world.objects[thing], path=Still(T))})


@dataclass(frozen=True, eq=False)
class _PairKinds:
    """Pairs (P,) of parts: `apart`, not both of the body; `spaced`, kept apart with `most_room` metres at most."""

    apart: NDArray[np.bool_]
    spaced: NDArray[np.bool_]
    most_room: Array

    @classmethod
    def of(cls, world: World, exact: ExactWorld, who: str, led: str | None) -> _PairKinds:
        """The pairs of a world for postures of a character who may lead an object."""
        own = np.array([part.kind == "body" and part.owner == who for part in exact.parts], dtype=bool)
        joints_of = np.array([part.joint for part in exact.parts])
        apart: NDArray[np.bool_] = np.asarray(~own[exact.index].all(axis=1))
        body = world.body(who)
        below = {j for side in ("left", "right") for j in _below_elbow(body, side)}
        lower, joints = own & np.isin(joints_of, list(below)), joints_of[exact.index]
        near = np.zeros(len(joints), dtype=bool)
        for first, second in _KEPT_APART:
            a, b = (np.isin(joints, _joints_of(body, *roles)) for roles in (first, second))
            near |= (a[:, 0] & b[:, 1]) | (a[:, 1] & b[:, 0])
        one = lower[exact.index].sum(axis=1) == 1
        near &= ~(apart | one)
        # held objects move with the forearms
        thing = np.array([part.owner == led for part in exact.parts], dtype=bool)
        near |= (lower[exact.index] | thing[exact.index]).all(axis=1) & apart
        return cls(apart, apart | one | near, np.where(near, _KEPT_APART_M, np.inf))


class Postures:
    """Postures of one character at one time, everything else as a world has it then.

    Parts of `hand` may touch `taking`, an object. Held objects move with their hands; `led` names an object whose
    placement comes with each posture. `fingers` {joint: (4,)} overrides rotations of each posture.
    """

    def __init__(
        self,
        world: World,
        who: str,
        t: float,
        *,
        hand: str | None = None,
        taking: str | None = None,
        fingers: dict[int, Array] | None = None,
        led: str | None = None,
    ) -> None:
        how: dict[str, Any] = {"hand": hand, "taking": taking, "led": led}
        self._made = world, how, t
        contacts = supports(world)
        if hand is not None and taking is not None:
            contacts += hand_contacts(world, who, hand, taking, (-np.inf, np.inf), PRESS)
        self.world = replace(world, contacts=(*world.contacts, *contacts))
        if led is not None:  # at rest it may touch its support; once moved, that is a collision
            T_led = world.frame(led, t)
            moving = replace(world.objects[led], path=lambda t: T_led)
            self.world = replace(self.world, objects={**world.objects, led: moving})
        self.who, self.fingers = who, fingers or {}
        self._exact = ExactWorld(self.world)
        self._now = self.world.at(t)
        mine = {i for i, p in enumerate(self._exact.parts) if p.owner in (who, led)}
        held = [h for h in world.holds if h.by == who and h.during[0] <= t < h.during[1]]
        self._held = {}
        for hold in held:
            joint, T = world.body(who).hand(hold.hand)
            T_world_hand = self._now.joints[who][joint] @ T
            self._held[hold.object] = (joint, T @ inverse(T_world_hand) @ self._now.things[hold.object])
            mine |= {i for i, p in enumerate(self._exact.parts) if p.owner == hold.object}
        self._mine = np.isin(self._exact.index, list(mine)).any(axis=1)
        self._taking = taking
        self._among: dict[tuple[str, str], NDArray[np.int64]] = {}
        self._pairs = _PairKinds.of(world, self._exact, who, led)
        # Most queries collide, usually in the same pair as the last ones. Numbers that grow with how recently a pair
        # collided give the order of tests, pairs of the body with itself last.
        self._met: NDArray[np.int64] = np.asarray(self._pairs.apart, dtype=np.int64)
        self._exact.place_snapshot(self._now)

    def with_soft_tissue(self) -> Postures:
        """A copy in which belly and thighs may press into each other, depending on how far the body is folded."""
        world, how, t = self._made
        soft = tissue_contacts(world.body(self.who), self.who, (-np.inf, np.inf), world.caps.tissue)
        return Postures(world.with_(contacts=(*world.contacts, *soft)), self.who, t, fingers=self.fingers, **how)

    def with_fingers(self, fingers: dict[int, Array]) -> Postures:
        """A copy with other rotations {joint: (4,)} of fingers in each posture."""
        other = copy(self)
        other.fingers = fingers
        return other

    def with_object_at(self, T: Array) -> Postures:
        """A copy in which the object that may be touched lies at a placement (4, 4)."""
        world, how, t = self._made
        return Postures(at_rest(world, how["taking"], T), self.who, t, fingers=self.fingers, **how)

    def blame(
        self,
        pose: Pose,
        led: Mapping[str, Array] | None = None,
        *,
        but: str = "",
        of: str = "",
        room: float = 0.0,
        own_room: bool = True,
    ) -> Pair | None:
        """A colliding pair of a posture, None where it is free; `led` has placements (4, 4) of led objects by name.

        Pairs of chain `but` are skipped; with chain `of`, only its pairs are tested. `room` is the clearance in metres.
        Without `own_room`, self-pairs need it only for forearms and hands, upper arms against neck and head, and shins
        against the other thigh, because thighs and upper arms are always near the trunk.
        """
        T = self._joints(pose)
        things = {name: T[joint] @ T_joint_thing for name, (joint, T_joint_thing) in self._held.items()}
        things.update(led or {})
        if (but, of) not in self._among:
            chosen = self._mine
            if but or of:
                chosen = self._mine & (self._pairs_of(of) if of else ~self._pairs_of(but))
            self._among[but, of] = np.flatnonzero(chosen)
        return self._blame(T, things, self._among[but, of], room, own_room)

    def _pairs_of(self, chain: str) -> NDArray[np.bool_]:
        """Indices (P,) of pairs with a part of a chain, or with an object held by it."""
        body = self.world.body(self.who)
        moved = set(body.subtree(body.chain(chain).joints[0]))
        held = {name for name, (joint, _) in self._held.items() if joint in moved}
        own = [(p.owner == self.who and p.kind == "body" and p.joint in moved) or p.owner in held
               for p in self._exact.parts]  # fmt: skip
        return np.asarray(np.array(own)[self._exact.index].any(axis=1))

    def hand_blame(
        self,
        pose: Pose,
        T_world_hand: Array,
        hand: str,
        shape: HandShape | None = None,
        *,
        but: str = "",
        room: float = 0.0,
    ) -> Pair | None:
        """A colliding pair of hand or fingers and the world, whatever the body does, with the hand at `T_world_hand`
        (4, 4).

        Fingers as set, or in a `shape`; pairs with the object `but` are skipped; `room` as in `blame`.
        """
        body = self.world.body(self.who)
        joint, T_joint_hand = body.hand(hand)
        mine = list(body.subtree(joint))
        T = self._joints(pose)
        if shape is None:
            T[mine] = T_world_hand @ inverse(T[joint] @ T_joint_hand) @ T[mine]
        else:
            T[mine] = T_world_hand @ inverse(T_joint_hand) @ hand_model(body, hand).joints(shape)
        carried = {name: T[j] @ T_joint_thing for name, (j, T_joint_thing) in self._held.items() if j == joint}
        key = f"hand {hand}", but
        if key not in self._among:
            parts = self._exact.parts
            moved = np.array([(p.owner == self.who and p.joint in mine) or p.owner in carried for p in parts])
            left_out = np.array([p.owner == but for p in parts])[self._exact.index].any(axis=1)
            one = moved[self._exact.index].sum(axis=1) == 1
            self._among[key] = np.flatnonzero(self._mine & self._pairs.apart & one & ~left_out)
        things = {name: self._now.things[name] for name in self._held} | carried
        return self._blame(T, things, self._among[key], room)

    def carried_blame(
        self, pose: Pose, hands: Mapping[int, Array], led: Mapping[str, Array], room: float = 0.0
    ) -> Pair | None:
        """A colliding pair of led objects or the hands on them and the world, whatever the rest of the body does.

        `hands` are transforms (4, 4) by joint, `led` those of objects by name; see `blame`.
        """
        T, among = self._carried(pose, hands, led)
        return self._blame(T, dict(led), among, room)

    def carried_gap(
        self, pose: Pose, hands: Mapping[int, Array], led: Mapping[str, Array], most: float, but: Collection[str]
    ) -> float:
        """Distance from led objects and the hands on them to the world, at most `most` metres, without parts named in
        `but`.
        """
        T, among = self._carried(pose, hands, led)
        exact = self._exact.place_body(self.who, T, dict(led))
        near = [k for k in exact.near(most, among).tolist() if not any(name in but for name in exact.pairs[k])]
        gaps = (exact.distance(k, most).value for k in near)
        return float(min((gap for gap in gaps if gap is not None), default=most))

    def _carried(
        self, pose: Pose, hands: Mapping[int, Array], led: Mapping[str, Array]
    ) -> tuple[Array, NDArray[np.int64]]:
        """Joint transforms (J, 4, 4) with hands in place, and pairs of these and of led objects with the world."""
        body, T = self.world.body(self.who), self._joints(pose)
        below = {joint: list(body.subtree(joint)) for joint in hands}
        for joint, T_joint in hands.items():
            T[below[joint]] = T_joint @ inverse(T[joint]) @ T[below[joint]]
        key = "carried", ",".join(map(str, hands))
        if key not in self._among:
            with_hands = {j for joints in below.values() for j in joints}
            own = np.array([p.kind == "body" and p.owner == self.who for p in self._exact.parts])
            moved = np.array([p.owner in led for p in self._exact.parts])
            moved |= own & np.array([p.joint in with_hands for p in self._exact.parts])
            ends = self._exact.index
            one = (moved[ends].sum(axis=1) == 1) & ~(own & ~moved)[ends].any(axis=1)
            self._among[key] = np.flatnonzero(self._mine & one)
        return T, self._among[key]

    def grasp_blame(self, pose: Pose, grasp: Grasp, T_world_thing: Array) -> Pair | None:
        """A colliding pair of the hand of a grasp, the object at a placement (4, 4): open, and while it closes."""
        T, thing = T_world_thing @ grasp.T_thing_hand, self._taking
        found = self.hand_blame(pose, T, grasp.hand, grasp.open)
        if found is not None or grasp.open is grasp.shape or thing is None:
            return found
        # usually nothing is near: the contact of fingers and object is computed only where something is
        shapes = (between_shapes(grasp.open, grasp.shape, share) for share in _CLOSING[:3])
        if all(self.hand_blame(pose, T, grasp.hand, shape, but=thing, room=_NEAR_M) is None for shape in shapes):
            return None
        closed = closed_on(self.world.body(self.who), self.world.objects[thing].mesh, grasp).shape
        shapes = (mixed(grasp.open, closed, share) for share in _CLOSING)
        blames = (self.hand_blame(pose, T, grasp.hand, shape, room=_ROOM_M) for shape in shapes)
        return next((pair for pair in blames if pair is not None), None)

    def with_room(self, pose: Pose, grasp: Grasp, T_world_thing: Array) -> Grasp | None:
        """A grasp retreated along its approach by as little as makes room for the hand; None where it then holds
        nothing.

        Grasps are proposed for an object in empty space: a hand that would end in the board below it, or among its
        neighbours, grasps it farther out.
        """
        if self._taking is None or grasp.open is grasp.shape:
            return None
        body, mesh = self.world.body(self.who), self.world.objects[self._taking].mesh
        for by in _BACK_M:
            moved = drawn_back(grasp, by)
            if self.hand_blame(pose, T_world_thing @ moved.T_thing_hand, grasp.hand, grasp.open) is None:
                if not closed_on(body, mesh, moved).holds:
                    return None
                if self.grasp_blame(pose, moved, T_world_thing) is None:
                    return moved
        return None

    def _joints(self, pose: Pose) -> Array:
        """World transforms (J, 4, 4) of a posture with the overridden fingers."""
        rotations = pose.rotations
        if self.fingers:
            rotations = rotations.copy()
            for joint, turn in self.fingers.items():
                rotations[joint] = turn
        return np.array(self.world.body(self.who).transforms(pose.root[None], rotations[None])[0])

    def _blame(
        self, T: Array, things: dict[str, Array], among: NDArray[np.int64], room: float = 0.0, own_room: bool = True
    ) -> Pair | None:
        """The first colliding pair of indices `among`, with the character at T (J, 4, 4) and objects at theirs."""
        exact = self._exact.place_body(self.who, T, things)
        near = exact.near(room, among)
        for k in near[np.argsort(-self._met[near], kind="stable")].tolist():
            needs = room > 0.0 and k not in exact.contacts and (own_room or self._pairs.spaced[k])
            if exact.within(k, min(room, float(self._pairs.most_room[k]))) if needs else exact.hit(k):
                value = self._depth(k)
                contact = None if value is None else exact.allowed(k, -value)
                if contact is None or (contact.kind == "tissue" and -(value or 0.0) > self._tissue(T, contact.on)):
                    self._met[k] = self._met.max() + 1
                    met: Pair = exact.pairs[k]
                    return met
        return None

    def _depth(self, k: int) -> float | None:
        """Minus the depth of a pair that overlaps and may touch; None where it is unknown or must not touch.

        Two surfaces that lie exactly on each other have no depth; a shift that parts them bounds it.
        """
        if k not in self._exact.contacts:
            return None
        value = self._exact.overlap(k)
        if value is None:
            least = self._exact.separation(k, max(contact.depth for contact in self._exact.contacts[k]))
            value = -least if np.isfinite(least) else None
        return value

    def _tissue(self, T: Array, thigh: str) -> float:
        """Depth in metres to which a thigh may press belly and chest, the person at T (J, 4, 4)."""
        body = self.world.body(self.who)
        assert isinstance(body, Character)
        left = any(s.joint == body.roles["left_thigh"] and thigh == f"{self.who}.{s.name}" for s in body.shapes)
        return tissue_depth(float(folds(body, T)["left" if left else "right"]))

    def valid(self, pose: Pose, *, but: str = "", of: str = "", room: float = 0.0) -> bool:
        """Return whether a posture is free, see `blame`."""
        return self.blame(pose, but=but, of=of, room=room) is None


def _below_elbow(body: Body, side: str) -> tuple[int, ...]:
    """Joints of a forearm and its hand."""
    joint = body.roles.get(f"{side}_forearm") if isinstance(body, Character) else None
    return () if joint is None else tuple(body.subtree(joint))


def _joints_of(body: Body, *roles: str) -> list[int]:
    """Joints of those roles that a body has."""
    return [body.roles[role] for role in roles if role in body.roles] if isinstance(body, Character) else []


def hand_contacts(
    world: World, who: str, hand: str, thing: str, during: tuple[float, float], depth: float,
    why: str = "a hand takes it",
) -> list[Contact]:  # fmt: skip
    """Contacts that let all parts of a hand, or the part that wears an object, touch it, to a depth in metres."""
    body = world.body(who)
    joints = holding_joints(body, hand)
    names = dict.fromkeys(f"{who}.{shape.name}" for shape in body.shapes if shape.joint in joints)
    return [Contact(name, thing, during, "grip", depth, why) for name in names]
