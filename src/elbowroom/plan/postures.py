"""Whether a whole posture of a person is free at a time, and whom to blame if not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.world.allowances import supports
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import Pair, Part, holding_joints
from elbowroom.world.world import Snapshot, World

# How deep fingers that close may press into what they take, metres.
PRESS = 0.002


class Postures:
    """Postures of one person at one time, all else as a world has it then.

    Parts of `hand` may touch `taking`, a thing. What a hand holds goes with it. `fingers` {joint: (4,)} replaces
    rotations of a posture before it is looked at.
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
    ) -> None:
        contacts = supports(world)
        if hand is not None and taking is not None:
            contacts += hand_contacts(world, who, hand, taking, (-np.inf, np.inf), PRESS)
        self.world = replace(world, contacts=(*world.contacts, *contacts))
        self.who, self.fingers = who, fingers or {}
        self._exact = ExactWorld(self.world)
        self._now = self.world.at(t)
        mine = {i for i, p in enumerate(self._exact.parts) if p.owner == who}
        held = [h for h in world.holds if h.by == who and h.during[0] <= t < h.during[1]]
        self._held = {}
        for hold in held:
            joint, T = world.body(who).hand(hold.hand)
            T_world_hand = self._now.joints[who][joint] @ T
            self._held[hold.object] = (joint, T @ inverse(T_world_hand) @ self._now.things[hold.object])
            mine |= {i for i, p in enumerate(self._exact.parts) if p.owner == hold.object}
        self._mine = np.array([a in mine or b in mine for a, b in self._exact.index], dtype=bool)
        self._hand = hand
        self._of_chain: dict[str, NDArray[np.bool_]] = {}
        # Nearly all postures that are asked about are not free, mostly for the same reason as the last ones: numbers
        # that grow with how lately a pair was in the way, those of a body with itself last.
        parts = self._exact.parts
        self._met = np.array([int(_apart(parts[a], parts[b])) for a, b in self._exact.index], dtype=np.int64)

    def blame(self, pose: Pose, *, but: str = "", of: str = "", room: float = 0.0) -> Pair | None:
        """A pair that collides in a posture, None where it is free.

        Pairs of the chain `but` are left out, those of the chain `of` alone are looked at, if any is named; `room` is
        a distance in metres that counts as a collision.
        """
        T = self._joints(pose)
        things = {name: T[joint] @ T_joint_thing for name, (joint, T_joint_thing) in self._held.items()}
        among = self._mine
        if but or of:
            among = self._mine & (self._pairs_of(of) if of else ~self._pairs_of(but))
        return self._blame(T, things, None, among, room)

    def _pairs_of(self, chain: str) -> NDArray[np.bool_]:
        """Pairs (P,) with a part of a chain of the person, or with what hangs on it."""
        if chain not in self._of_chain:
            moved = set(self.world.body(self.who).subtree(self.world.body(self.who).chain(chain).joints[0]))
            parts = np.array([p.owner == self.who and p.kind == "body" and p.joint in moved for p in self._exact.parts])
            self._of_chain[chain] = np.asarray(parts[self._exact.index].any(axis=1))
        return self._of_chain[chain]

    def hand_blame(self, pose: Pose, T_world_hand: Array) -> Pair | None:
        """A pair that collides whatever the body does, with the hand at a place: hand and fingers against the world."""
        body = self.world.body(self.who)
        joint, T_joint_hand = body.hand(self._hand or "right")
        mine = set(body.subtree(joint))
        T = self._joints(pose)
        T[list(mine)] = T_world_hand @ inverse(T[joint] @ T_joint_hand) @ T[list(mine)]
        things = {name: T[j] @ T_joint_thing for name, (j, T_joint_thing) in self._held.items() if j == joint}
        parts = self._exact.parts
        moved = {i for i, p in enumerate(parts) if (p.owner == self.who and p.joint in mine) or p.owner in things}
        counts = lambda a, b: (a in moved) != (b in moved) and _apart(parts[a], parts[b])  # noqa: E731
        return self._blame(T, things, counts, self._mine)

    def _joints(self, pose: Pose) -> Array:
        """World transforms (J, 4, 4) of a posture with the fingers as they are told."""
        rotations = pose.rotations
        if self.fingers:
            rotations = rotations.copy()
            for joint, turn in self.fingers.items():
                rotations[joint] = turn
        return np.array(self.world.body(self.who).transforms(pose.root[None], rotations[None])[0])

    def _blame(
        self,
        T: Array,
        things: dict[str, Array],
        counts: Callable[[int, int], bool] | None,
        among: NDArray[np.bool_],
        room: float = 0.0,
    ) -> Pair | None:
        snapshot = Snapshot(self._now.time, {**self._now.joints, self.who: T}, {**self._now.things, **things})
        exact = self._exact.place_snapshot(snapshot)
        near = exact.near(room)
        near = near[among[near]]
        for k in near[np.argsort(-self._met[near], kind="stable")].tolist():
            a, b = exact.index[k]
            if counts is not None and not counts(int(a), int(b)):
                continue
            if exact.hit(k) or (room > 0.0 and k not in exact.contacts and self._nearer(k, room)):
                value = exact.distance(k).value if k in exact.contacts else None
                if value is None or exact.allowed(k, -value) is None:
                    self._met[k] = self._met.max() + 1
                    return exact.pairs[k]
        return None

    def _nearer(self, k: int, room: float) -> bool:
        """Whether a pair is nearer than a distance in metres, as placed."""
        value = self._exact.distance(k, room).value
        return value is not None and value < room

    def valid(self, pose: Pose, *, but: str = "", of: str = "", room: float = 0.0) -> bool:
        """Whether a posture is free, see `blame`."""
        return self.blame(pose, but=but, of=of, room=room) is None


def _apart(p: Part, q: Part) -> bool:
    """Whether two parts are not of one body."""
    return not (p.kind == q.kind == "body" and p.owner == q.owner)


def hand_contacts(
    world: World, who: str, hand: str, thing: str, during: tuple[float, float], depth: float,
    why: str = "a hand takes it",
) -> list[Contact]:  # fmt: skip
    """All parts of a hand, or the part that wears a thing, may touch it during an interval, to a depth in metres."""
    body = world.body(who)
    joints = holding_joints(body, hand)
    names = dict.fromkeys(f"{who}.{shape.name}" for shape in body.shapes if shape.joint in joints)
    return [Contact(name, thing, during, "grip", depth, why) for name in names]
