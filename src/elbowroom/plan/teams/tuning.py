"""Residual collisions of carriers: spine, head, knees, elbows or the object give way, hands stay on the object (E7,
E11).

Collisions are grouped into blocks, one per colliding chain. A block is deformed by the first of some changes that frees
it, faded in and out; then the change is reduced to its minimum. Feet stay on their steps and hands on the object: the
whole body is solved again in every frame of the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import UP, Array, about, conjugate, from_matrix, multiply
from elbowroom.motion.clip import Clip
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director
from elbowroom.plan.hands import front_of
from elbowroom.plan.result import blamed
from elbowroom.plan.teams.animate import Bent, Blocked, Frames, held_frames, replace_frames
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.plan.verbs.holding import Grips
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.certificate_findings import Collision, Unproven
from elbowroom.world.pairs import Pair

# Seconds over which a change fades in and out, and distance within which blocks of one chain are merged.
_FADES_S, _TOGETHER_S = 0.7, 0.8
# Most blocks that are tuned.
_BLOCKS = 12
# Bisections for the smallest change.
_HALVINGS = 3
# Sizes of changes that are tried: of the trunk and of elbows, radians; of the pelvis and the object, metres.
_BENDS_RAD = (0.25, 0.5, 0.8)
_LEANS_RAD = (0.12, 0.22)
_SWIVELS_RAD = (0.35, 0.7, 1.0)
_CROUCHES_M = (0.08, 0.16, 0.26)
_RAISES_M = (0.06, 0.12, 0.2)
_KNEES_RAD = (0.12, 0.25)
_LOWERS_M = (0.02, 0.05)
# Share of a bend for neck and head each, relative to a spine joint.
_HEAD = 0.5

Team = Sequence[tuple[Carrier, Grips, int]]
Met = Collision | Unproven


@dataclass(frozen=True)
class Change:
    """A change of kind 'bend', 'lean', 'crouch', 'object' or of a limb ('left_arm', 'right_leg', …) between two frames.

    Faded in before and out after them; `size` in radians or metres, to the left or outwards for leans, elbows and
    knees.
    """

    kind: str
    size: float
    first: int
    last: int
    fades: int

    def weights(self, count: int) -> Array:
        """Share of the change in each of `count` frames, (count,)."""
        k = np.arange(count)
        gap = np.maximum(np.maximum(self.first - k, k - self.last), 0)
        share = smootherstep(1.0 - gap / self.fades)
        # both ends stay unchanged
        ramp = smootherstep(k / self.fades) * smootherstep((count - 1 - k) / self.fades)
        return np.minimum(share, ramp)

    @property
    def span(self) -> tuple[int, int]:
        """Frames that it changes."""
        return self.first - self.fades, self.last + self.fades


class Tuning:
    """Frames of a team while blocks of them are changed; `rolled` lets robots follow the object at placements (N, 4,
    4).
    """

    def __init__(self, d: Director, team: Team, made: Sequence[Frames], rolled: Callable[[Array], None]) -> None:
        self.d, self.team, self.made, self.rolled = d, team, list(made), rolled
        self.changes: list[list[Change]] = [[] for _ in team]
        self.places = made[0].places
        self.known: list[Met] = []
        # seconds that were changed last, and collisions in them
        self.changed: tuple[tuple[float, float], list[Met]] = ((0.0, 0.0), [])

    def tune(self, during: tuple[float, float], found: Certificate) -> None:
        """Change blocks until everything is free; raises `Blocked` at the first block that cannot be freed."""
        met: list[Met] = sorted([*found.collisions, *found.unproven], key=lambda c: c.during)
        for _ in range(_BLOCKS):
            if not met:
                return
            self.known = met
            number, block = self._block(met)
            if not any(self._freed(number, change, block) for change in self._options(number, block)):
                carrier, _, first = self.team[number]
                frame = carrier.actor.frame(block[0].during[0]) - first
                chain = _chain(block[0].pair, carrier.actor.who)
                alone = chain in ("left_leg", "right_leg", "trunk", "head") and len(block[0].who) == 1
                raise Blocked(f"{carrier.what}: {blamed(block[0].pair)} along the path", max(frame, 0),
                              number if alone else None, chain)  # fmt: skip
            met = self._left(met, during)
        carrier, _, first = self.team[0]
        frame = carrier.actor.frame(met[0].during[0]) - first if met else 0
        raise Blocked(f"{carrier.what}: bodies collide in too many places", max(frame, 0))

    def _left(self, met: Sequence[Met], during: tuple[float, float]) -> list[Met]:
        """Collisions after a change of frames: those of other frames are as before."""
        (begin, end), left = self.changed
        here = [c for c in met if c.during[0] < end and c.during[1] > begin]
        span = (min([begin, *(c.during[0] for c in here)]), max([end, *(c.during[1] for c in here)]))
        if span != (begin, end):
            found = self._certified((max(span[0], during[0]), min(span[1], during[1])))
            left = [*found.collisions, *found.unproven]
        return sorted([*(c for c in met if c not in here), *left], key=lambda c: c.during)

    def _certified(self, during: tuple[float, float]) -> Certificate:
        return certify(self.d.world, during=during, clearance=False, contacts="never")

    def _block(self, met: Sequence[Met]) -> tuple[int, list[Met]]:
        """The first block: its carrier, and consecutive collisions of the same chain."""
        names = [carrier.actor.who for carrier, _, _ in self.team]
        number = next((names.index(who) for who in met[0].who if who in names), 0)
        chain = _chain(met[0].pair, names[number])
        block = [met[0]]
        for other in met[1:]:
            same = names[number] in other.who and _chain(other.pair, names[number]) == chain
            if same and other.during[0] < block[-1].during[1] + _TOGETHER_S:
                block.append(other)
        return number, block

    def _options(self, number: int, block: Sequence[Met]) -> Iterator[Change]:
        """Changes that may free a block, the least visible first."""
        carrier, _, began = self.team[number]
        actor = carrier.actor
        first = max(actor.frame(block[0].during[0]) - began, 0)
        last = max(actor.frame(max(c.during[1] for c in block)) - began, first)
        fades = actor.frames(_FADES_S)
        chain = _chain(block[0].pair, actor.who)
        kinds: dict[str, list[tuple[str, Sequence[float]]]] = {
            "head": [("bend", _BENDS_RAD), ("crouch", _CROUCHES_M), ("lean", _LEANS_RAD)],
            "trunk": [("lean", _LEANS_RAD), ("bend", _BENDS_RAD), ("crouch", _CROUCHES_M)],
            "left_arm": [("left_arm", _SWIVELS_RAD), ("object", _RAISES_M), ("lean", _LEANS_RAD)],
            "right_arm": [("right_arm", _SWIVELS_RAD), ("object", _RAISES_M), ("lean", _LEANS_RAD)],
            "object": [("object", _RAISES_M)],
            "left_leg": [("left_leg", _KNEES_RAD), ("crouch", _LOWERS_M)],
            "right_leg": [("right_leg", _KNEES_RAD), ("crouch", _LOWERS_M)],
        }
        if carrier.thing in block[0].pair and chain.endswith("_leg"):
            kinds[chain] = [("object", _RAISES_M)]
        if chain.endswith("_arm") and all(name.startswith(f"{actor.who}.") for name in block[0].pair):
            # lower arms are off the trunk, whatever their elbows do
            lower = tuple(-size for size in _RAISES_M)
            kinds[chain] = [("object", lower), *(kind for kind in kinds[chain] if kind[0] != "object")]
        for kind, sizes in kinds[chain]:
            for size in sizes:
                for sign in (1.0,) if kind in ("bend", "crouch") else (1.0, -1.0):
                    yield Change(kind, sign * size, first, last, fades)

    def _freed(self, number: int, change: Change, block: Sequence[Met]) -> bool:
        """Apply a change and reduce it to its minimum; return whether it frees the block."""
        chain = _chain(block[0].pair, self.team[number][0].actor.who)
        before = (list(self.made), self.places, self.d.save(), [list(c) for c in self.changes])
        if not self._tried(number, change, chain):
            self._back(before)
            return False
        enough, too_little = 1.0, 0.0
        for _ in range(_HALVINGS):
            share = 0.5 * (enough + too_little)
            self._back(before)
            if self._tried(number, replace(change, size=share * change.size), chain):
                enough = share
            else:
                too_little = share
        self._back(before)
        return self._tried(number, replace(change, size=enough * change.size), chain, whole=True)

    def _back(self, before: tuple[list[Frames], Array, object, list[list[Change]]]) -> None:
        self.made, self.places = list(before[0]), before[1]
        self.changes = [list(c) for c in before[3]]
        self.d.restore(before[2])  # type: ignore[arg-type]

    def _tried(self, number: int, change: Change, chain: str, *, whole: bool = False) -> bool:
        """Apply a change; return whether bodies can follow and its block is free of that chain's collisions.

        `whole`: also of the frames after it, in which elbows return to where they were.
        """
        count = len(self.made[0].root)
        a, b = max(change.span[0], 1), min(change.span[1], count - 1)
        last = min(b + change.fades, count - 1) if whole else b
        moved = range(len(self.team)) if change.kind == "object" else [number]
        if change.kind == "object":
            self.places = np.array(self.places)
            self.places[:, 2, 3] += change.size * change.weights(count)
        else:
            self.changes[number].append(change)
        try:
            for k in moved:
                carrier, grips, first = self.team[k]
                walk = self.made[k].walk
                bent = _bent(carrier.actor, walk, self.changes[k])
                self.made[k] = held_frames(carrier, grips, walk, self.places, bent, (a, last, self.made[k]), last - b)
                replace_frames(self.d, carrier, grips, self.made[k], first)
            if change.kind == "object":
                self.rolled(self.places)
        except Blocked:
            return False
        carrier, _, first = self.team[number]
        # most failures are within the block
        for begin, end in ((max(change.first, a), min(change.last, b)), (a - 1, last)):
            during = carrier.actor.time(first + begin), carrier.actor.time(first + end)
            found = self._certified(during)
            met: list[Met] = [*found.collisions, *found.unproven]
            self.changed = during, met
            if any(self._same(c, number, chain) for c in met):
                return False
            # an object that gives way must not meet the scene for it
            if change.kind == "object" and any(carrier.thing in c.pair and not self._known(c) for c in met):
                return False
        return True

    def _known(self, met: Met) -> bool:
        """Return whether a collision was there before the change."""
        return any(
            met.pair == k.pair and met.during[0] <= k.during[1] and k.during[0] <= met.during[1] for k in self.known
        )

    def _same(self, met: Met, number: int, chain: str) -> bool:
        """Return whether a collision is one that a change of this carrier's chain should have solved or has made: those
        of other chains that were there before are for blocks to come."""
        who = self.team[number][0].actor.who
        own = _chain(met.pair, who)
        if own != chain and self._known(met):
            return False
        return chain == "object" or (who in met.who and own in (chain, "left_leg", "right_leg", "trunk", "object"))


def _chain(pair: Pair, who: str) -> str:
    """Chain of a character in a pair: head, trunk, an arm, a leg, or the object."""
    parts = [name.partition(".")[2] for name in pair if name.startswith(f"{who}.")]
    if not parts:
        return "object"
    for part in parts:
        if any(word in part for word in ("upper_arm", "forearm", "hand", "thumb", "index", "middle", "ring", "little")):
            return "left_arm" if part.startswith("left") else "right_arm"
    if any(part in ("head", "neck") or "eye" in part for part in parts):
        return "head"
    legs = [part for part in parts if any(word in part for word in ("thigh", "shin", "foot", "toes"))]
    return f"{legs[0].partition('_')[0]}_leg" if legs else "trunk"


def _bent(actor: Actor, walk: Clip, changes: Sequence[Change]) -> Bent:
    """Postures of a walk with changes."""
    root, q = np.array(walk.root), np.array(walk.rotations)
    swivels: dict[str, Array] = {}
    for change in changes:
        size = change.size * change.weights(len(walk))
        side, _, limb = change.kind.partition("_")
        if limb:  # elbows and knees swivel outwards on either side
            end, turns = (f"{side}_hand", np.diff(size, prepend=0.0)) if limb == "arm" else (f"{side}_foot", size)
            swivels[end] = swivels.get(end, 0.0) + (turns if side == "left" else -turns)
        elif change.kind == "crouch":
            root[:, 2] -= size
        else:
            rows = np.flatnonzero(size)
            q[rows] = _leaned(actor, root[rows], q[rows], size[rows], sideways=change.kind == "lean")
    return Bent(root, q, swivels)


def _leaned(actor: Actor, root: Array, q: Array, angle: Array, *, sideways: bool) -> Array:
    """Rotations (N, J, 4) with the spine bent forwards, neck and head with it, or leaned to the left, by angles
    (N,).
    """
    body = actor.body
    front = front_of(actor, body.transforms(root, q))
    axis = -front if sideways else np.cross(UP, front)
    parts = [(role, 1.0) for role in ("spine1", "spine2", "chest") if role in body.roles]
    if not sideways:
        parts += [(role, _HEAD) for role in ("neck", "head") if role in body.roles]
    total = sum(share for _, share in parts if share == 1.0) or 1.0
    for role, share in parts:
        joint = body.role(role)
        parent = from_matrix(body.transforms(root, q)[:, int(body.parents[joint]), :3, :3])
        turn = multiply(conjugate(parent), multiply(about(axis, angle * share / total), parent))
        q[:, joint] = multiply(turn, q[:, joint])
    return q
