"""Check of whole postures of a person at a time, and whom to blame if they are not free."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
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
from elbowroom.posing.grasps import Grasp, closed_on, drawn_back
from elbowroom.world.allowances import supports
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.own_pairs import folds, tissue_contacts, tissue_depth
from elbowroom.world.pairs import Pair, holding_joints
from elbowroom.world.world import World

# How deep fingers that close may press into what they take, metres.
PRESS = 0.002

# Shares of the closing of a hand at which it has to be free: what is closed last, first.
_CLOSING = (1.0, 0.7, 0.35, 0.85, 0.5, 0.15)

# Where nothing is nearer than this to a hand that closes on nothing, nothing is in its way when it closes on an object;
# room that it keeps then from all else, metres.
_NEAR_M, _ROOM_M = 0.008, 0.0004

# How far a grasp is drawn back along its approach where the hand has no room as proposed, metres.
_BACK_M = (0.01, 0.02, 0.03, 0.045)

# Parts of one body that keep room from each other where it is asked for, besides what is below the elbows, and how much
# at most, metres.
_KEPT_APART_M = 0.0015
_KEPT_APART = (
    (("left_upper_arm", "right_upper_arm"), ("neck", "head")),
    (("left_shin",), ("right_thigh",)),
    (("right_shin",), ("left_thigh",)),
)

# Shapes of a hand on its way from one to another, see `mixed`: many grasps have the same two.
between_shapes = lru_cache(maxsize=512)(mixed)


class Postures:
    """Postures of one person at one time, all else as a world has it then.

    Parts of `hand` may touch `taking`, a thing. What a hand holds goes with it; `led` names a thing whose place comes
    with each posture. `fingers` {joint: (4,)} replaces rotations of a posture before it is looked at.
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
        if led is not None:  # where it lies it may rest on things; what moves collides with them
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
        self._mine = np.array([a in mine or b in mine for a, b in self._exact.index], dtype=bool)
        self._taking = taking
        self._among: dict[tuple[str, str], NDArray[np.int64]] = {}
        # Nearly all postures that are asked about are not free, mostly for the same reason as the last ones: numbers
        # that grow with how lately a pair was in the way, those of a body with itself last.
        own = np.array([part.kind == "body" and part.owner == who for part in self._exact.parts], dtype=bool)
        joints_of = np.array([part.joint for part in self._exact.parts])
        self._apart: NDArray[np.bool_] = np.asarray(~own[self._exact.index].all(axis=1))
        body = world.body(who)
        below = {j for side in ("left", "right") for j in _below_elbow(body, side)}
        lower, joints = own & np.isin(joints_of, list(below)), joints_of[self._exact.index]
        near = np.zeros(len(joints), dtype=bool)
        for first, second in _KEPT_APART:
            a, b = (np.isin(joints, _joints_of(body, *roles)) for roles in (first, second))
            near |= (a[:, 0] & b[:, 1]) | (a[:, 1] & b[:, 0])
        one = lower[self._exact.index].sum(axis=1) == 1
        near &= ~(self._apart | one)
        # what hands hold goes along with the forearms
        thing = np.array([part.owner == led for part in self._exact.parts], dtype=bool)
        near |= (lower[self._exact.index] | thing[self._exact.index]).all(axis=1) & self._apart
        self._spaced: NDArray[np.bool_] = self._apart | one | near
        self._most_room = np.where(near, _KEPT_APART_M, np.inf)
        self._met: NDArray[np.int64] = np.asarray(self._apart, dtype=np.int64)
        self._last = 1
        self._exact.place_snapshot(self._now)

    def with_soft_tissue(self) -> Postures:
        """The same with belly and thighs that give way to each other, as far as a body is folded."""
        world, how, t = self._made
        soft = tissue_contacts(world.body(self.who), self.who, (-np.inf, np.inf), world.caps.tissue)
        return Postures(world.with_(contacts=(*world.contacts, *soft)), self.who, t, fingers=self.fingers, **how)

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
        """A pair that collides in a posture, None where it is free; `led` has places (4, 4) of things by name.

        Pairs of the chain `but` are left out, those of the chain `of` alone are looked at, if any is named; `room` is
        a distance in metres that counts as a collision. Without `own_room` only forearms and hands need it, of pairs of
        the body with itself, upper arms from neck and head, and shins from the other thigh: thighs and upper arms are
        near the trunk whatever one does.
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
        """Pairs (P,) with a part of a chain of the person, or with what hangs on it."""
        body = self.world.body(self.who)
        moved = set(body.subtree(body.chain(chain).joints[0]))
        parts = np.array([p.owner == self.who and p.kind == "body" and p.joint in moved for p in self._exact.parts])
        return np.asarray(parts[self._exact.index].any(axis=1))

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
        """A pair of hand or fingers and the world that collides whatever the body does, with a hand at a place (4, 4).

        Fingers are as told, or in a shape; pairs with the object `but` are left out; `room` as in `blame`.
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
            self._among[key] = np.flatnonzero(self._mine & self._apart & one & ~left_out)
        things = {name: self._now.things[name] for name in self._held} | carried
        return self._blame(T, things, self._among[key], room)

    def carried_blame(
        self, pose: Pose, hands: Mapping[int, Array], led: Mapping[str, Array], room: float = 0.0
    ) -> Pair | None:
        """A pair of things led, or of hands on them, and the world that collides whatever the rest of the body does.

        `hands` are places (4, 4) by joint, `led` those of things by name; see `blame`.
        """
        T, among = self._carried(pose, hands, led)
        return self._blame(T, dict(led), among, room)

    def carried_gap(
        self, pose: Pose, hands: Mapping[int, Array], led: Mapping[str, Array], most: float, but: Collection[str]
    ) -> float:
        """Metres, up to `most`, from things led and hands on them to the world, parts of names `but` left out."""
        T, among = self._carried(pose, hands, led)
        exact = self._exact.place_body(self.who, T, dict(led))
        near = [k for k in exact.near(most, among).tolist() if not any(name in but for name in exact.pairs[k])]
        gaps = (exact.distance(k, most).value for k in near)
        return float(min((gap for gap in gaps if gap is not None), default=most))

    def _carried(
        self, pose: Pose, hands: Mapping[int, Array], led: Mapping[str, Array]
    ) -> tuple[Array, NDArray[np.int64]]:
        """Joints (J, 4, 4) with hands at their places, and pairs of these and of things led with the world."""
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
        """A pair that collides with the hand of a grasp, the object at a place (4, 4): open, and while it closes."""
        T, thing = T_world_thing @ grasp.T_thing_hand, self._taking
        found = self.hand_blame(pose, T, grasp.hand, grasp.open)
        if found is not None or grasp.open is grasp.shape or thing is None:
            return found
        # mostly nothing is near: closing until the object is touched is worked out where something is
        shapes = (between_shapes(grasp.open, grasp.shape, share) for share in _CLOSING[:3])
        if all(self.hand_blame(pose, T, grasp.hand, shape, but=thing, room=_NEAR_M) is None for shape in shapes):
            return None
        closed = closed_on(self.world.body(self.who), self.world.objects[thing].mesh, grasp).shape
        shapes = (mixed(grasp.open, closed, share) for share in _CLOSING)
        blames = (self.hand_blame(pose, T, grasp.hand, shape, room=_ROOM_M) for shape in shapes)
        return next((pair for pair in blames if pair is not None), None)

    def with_room(self, pose: Pose, grasp: Grasp, T_world_thing: Array) -> Grasp | None:
        """A grasp drawn back along its approach by as little as leaves room for the hand; None where it holds nothing.

        Grasps are proposed for an object in empty space: a hand that would end in the board under it, or among its
        neighbours, takes it farther out.
        """
        if self._taking is None or grasp.open is grasp.shape:
            return None
        body, mesh = self.world.body(self.who), self.world.objects[self._taking].mesh
        for by in _BACK_M:
            moved = drawn_back(grasp, by)
            if self.hand_blame(pose, T_world_thing @ moved.T_thing_hand, grasp.hand, grasp.open) is None:
                touching = closed_on(body, mesh, moved).touching
                if "thumb" not in touching or len(touching) < 2:
                    return None
                if self.grasp_blame(pose, moved, T_world_thing) is None:
                    return moved
        return None

    def _joints(self, pose: Pose) -> Array:
        """World transforms (J, 4, 4) of a posture with the fingers as they are told."""
        rotations = pose.rotations
        if self.fingers:
            rotations = rotations.copy()
            for joint, turn in self.fingers.items():
                rotations[joint] = turn
        return np.array(self.world.body(self.who).transforms(pose.root[None], rotations[None])[0])

    def _blame(
        self, T: Array, things: dict[str, Array], among: NDArray[np.int64], room: float = 0.0, own_room: bool = True
    ) -> Pair | None:
        """The first of pairs `among` some numbers that collides, the person at T (J, 4, 4), objects at theirs."""
        exact = self._exact.place_body(self.who, T, things)
        near = exact.near(room, among)
        for k in near[np.argsort(-self._met[near], kind="stable")].tolist():
            needs = room > 0.0 and k not in exact.contacts and (own_room or self._spaced[k])
            if exact.within(k, min(room, float(self._most_room[k]))) if needs else exact.hit(k):
                value = exact.overlap(k) if k in exact.contacts else None
                contact = None if value is None else exact.allowed(k, -value)
                if contact is None or (contact.kind == "tissue" and -(value or 0.0) > self._tissue(T, contact.on)):
                    self._last += 1
                    self._met[k] = self._last
                    return exact.pairs[k]
        return None

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
    """Joints of roles that a body has."""
    return [body.roles[role] for role in roles if role in body.roles] if isinstance(body, Character) else []


def hand_contacts(
    world: World, who: str, hand: str, thing: str, during: tuple[float, float], depth: float,
    why: str = "a hand takes it",
) -> list[Contact]:  # fmt: skip
    """All parts of a hand, or the part that wears a thing, may touch it during an interval, to a depth in metres."""
    body = world.body(who)
    joints = holding_joints(body, hand)
    names = dict.fromkeys(f"{who}.{shape.name}" for shape in body.shapes if shape.joint in joints)
    return [Contact(name, thing, during, "grip", depth, why) for name in names]
