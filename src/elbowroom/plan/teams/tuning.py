"""Residual collisions of carriers: spine, head, knees, elbows or the object give way, hands stay on the object (E7,
E11).

Collisions are grouped into blocks, one per colliding chain. A block is deformed by the first of some changes that frees
it, faded in and out; then the change is reduced to its minimum. Feet stay on their steps and hands on the object: the
whole body is solved again in every frame of the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import UP, Array, about, conjugate, from_matrix, multiply
from elbowroom.plan.checks.accept import hits
from elbowroom.plan.checks.hands import front_of
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import blamed
from elbowroom.plan.state.take import Take
from elbowroom.plan.steps.director import Director
from elbowroom.plan.teams.animate import Bent, Blocked, Frames, held_frames, replace_frames
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.plan.verbs.holding import Grips
from elbowroom.world.certificate_findings import Finding
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import Pair

# Seconds over which a change fades in and out, and distance within which blocks of one chain are merged.
_FADES_S, _TOGETHER_S = 0.7, 0.8
# Most blocks that are tuned.
_BLOCKS = 12
# Share of a change to which the smallest one is found, and frames of a block at which its pairs are checked for that.
_FINE, _LOOKS = 0.13, 11
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

# Chains that are tuned, the most movable first.
_CHAINS = ("arm", "head", "leg", "trunk")

Team = Sequence[tuple[Carrier, Grips, int]]


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
    """Frames of a team while blocks of them are changed.

    `rolled` lets robots, if any, follow the object at placements (N, 4, 4); `may_step_back` says whether a carrier, by
    number, could walk farther from the object on another path.
    """

    def __init__(
        self, d: Director, team: Team, made: Sequence[Frames], rolled: Callable[[Array], None] | None,
        may_step_back: Callable[[int], bool],
    ) -> None:  # fmt: skip
        self.d, self.team, self.made, self.rolled, self.may_step_back = d, team, list(made), rolled, may_step_back
        self.changes: list[list[Change]] = [[] for _ in team]
        self.parts = [_parts(carrier.actor) for carrier, _, _ in team]
        self.places = made[0].places
        self.known: list[Finding] = []
        self.exact: ExactWorld | None = None
        # seconds that were changed last, and collisions in them
        self.changed: tuple[tuple[float, float], list[Finding]] = ((0.0, 0.0), [])

    def tune(self, during: tuple[float, float], met: Sequence[Finding]) -> None:
        """Change blocks until everything is free; raises `Blocked` at the first block that cannot be freed."""
        met = _in_time(met)
        for _ in range(_BLOCKS):
            if not met:
                return
            self.known = met
            number, block = self._block(met)
            if not self._solved(number, block):
                carrier, _, first = self.team[number]
                frame = carrier.actor.frame(block[0].during[0]) - first
                chain = self._chain(block[0].pair, number)
                alone = self._steps_back(number, block) or (
                    chain in ("left_leg", "right_leg", "trunk", "head") and len(block[0].who) == 1
                )
                raise Blocked(f"{carrier.what}: {blamed(block[0].pair)} along the path", max(frame, 0),
                              number if alone else None, chain)  # fmt: skip
            met = self._left(met, during)
        carrier, _, first = self.team[0]
        frame = carrier.actor.frame(met[0].during[0]) - first if met else 0
        raise Blocked(f"{carrier.what}: bodies collide in too many places", max(frame, 0))

    def _chain(self, pair: Pair, number: int) -> str:
        """Chain of a carrier in a pair: an arm, the head, a leg or the trunk, the first of these, or the object."""
        who = self.team[number][0].actor.who
        mine = [self.parts[number].get(name, "trunk") for name in pair if name.startswith(f"{who}.")]
        return min(mine, key=lambda name: _CHAINS.index(name.rpartition("_")[2]), default="object")

    def _left(self, met: Sequence[Finding], during: tuple[float, float]) -> list[Finding]:
        """Collisions after a change of frames: those of other frames are as before."""
        (begin, end), left = self.changed
        here = [c for c in met if c.during[0] < end and c.during[1] > begin]
        span = (min([begin, *(c.during[0] for c in here)]), max([end, *(c.during[1] for c in here)]))
        if span != (begin, end):
            left = self._met((max(span[0], during[0]), min(span[1], during[1])))
        return _in_time([*(c for c in met if c not in here), *left])

    def _met(self, during: tuple[float, float]) -> list[Finding]:
        """Everything that collides between two times, or is not proven."""
        return _in_time(hits(self.d.world, during))

    def _block(self, met: Sequence[Finding]) -> tuple[int, list[Finding]]:
        """The first block: its carrier, and consecutive collisions of the same chain."""
        names = [carrier.actor.who for carrier, _, _ in self.team]
        number = next((names.index(who) for who in met[0].who if who in names), 0)
        chain = self._chain(met[0].pair, number)
        block = [met[0]]
        for other in met[1:]:
            same = names[number] in other.who and self._chain(other.pair, number) == chain
            if same and other.during[0] < block[-1].during[1] + _TOGETHER_S:
                block.append(other)
        return number, block

    def _options(self, number: int, block: Sequence[Finding]) -> Iterator[Change]:
        """Changes that may free a block, the least visible first."""
        carrier, _, began = self.team[number]
        actor = carrier.actor
        first = max(actor.frame(block[0].during[0]) - began, 0)
        last = max(actor.frame(max(c.during[1] for c in block)) - began, first)
        fades = actor.frames(_FADES_S)
        chain = self._chain(block[0].pair, number)
        kinds: dict[str, list[tuple[str, Sequence[float]]]] = {
            "head": [("bend", _BENDS_RAD), ("crouch", _CROUCHES_M), ("lean", _LEANS_RAD)],
            "trunk": [("lean", _LEANS_RAD), ("bend", _BENDS_RAD), ("crouch", _CROUCHES_M)],
            "arm": [(chain, _SWIVELS_RAD), ("object", _RAISES_M), ("lean", _LEANS_RAD)],
            "object": [("object", _RAISES_M)],
            "leg": [(chain, _KNEES_RAD), ("crouch", _LOWERS_M)],
        }
        options = kinds[chain.rpartition("_")[2]]
        if carrier.thing in block[0].pair and chain.endswith("_leg"):
            options = kinds["object"]
        if self._own_arm(number, block):
            # lower arms are off the trunk, whatever their elbows do; so are those of a person farther back
            lower = tuple(-size for size in _RAISES_M)
            others = [kind for kind in options if kind[0] != "object"]
            options = [("object", lower[:1])] if self._steps_back(number, block) else [("object", lower), *others]
        for kind, sizes in options:
            for size in sizes:
                for sign in (1.0,) if kind in ("bend", "crouch") else (1.0, -1.0):
                    yield Change(kind, sign * size, first, last, fades)

    def _own_arm(self, number: int, block: Sequence[Finding]) -> bool:
        """Return whether a block is of a carrier's arm and its own body."""
        pair, who = block[0].pair, self.team[number][0].actor.who
        return self._chain(pair, number).endswith("_arm") and all(name.startswith(f"{who}.") for name in pair)

    def _steps_back(self, number: int, block: Sequence[Finding]) -> bool:
        """Return whether a block is rather solved on a path farther from the object."""
        return self._own_arm(number, block) and self.may_step_back(number)

    def _solved(self, number: int, block: Sequence[Finding]) -> bool:
        """Free a block by the first change that does."""
        failed: dict[tuple[str, bool], float] = {}
        for change in self._options(number, block):
            kind = change.kind, change.size > 0.0
            if self._freed(number, change, block, failed.get(kind, 0.0) / abs(change.size)):
                return True
            failed[kind] = abs(change.size)
        return False

    def _freed(self, number: int, change: Change, block: Sequence[Finding], too_little: float) -> bool:
        """Apply a change, reduced to its minimum; return whether it frees the block. A share of it is `too_little`.

        Sizes are compared by the colliding pairs in some frames of the block. What is kept is proven, with the whole
        change where the minimum lacks something elsewhere. Where even the whole one leaves the block, smaller ones are
        not tried.
        """
        chain = self._chain(block[0].pair, number)
        before = (list(self.made), self.places, self.d.take, [list(c) for c in self.changes])
        people = {carrier.actor.who for carrier, _, _ in self.team}
        rolls = any(who not in people for met in block for who in met.who)  # else robots follow what is kept
        apart = change.kind == "object" and self.rolled is not None and not rolls  # robots are elsewhere till then
        enough = self._applied(number, change, rolls=rolls) and not self._meets(block)
        if not enough or (not apart and self._too_little(number, block, chain)):
            self._back(before)
            return False
        most = 1.0
        while most - too_little > _FINE:
            share = 0.5 * (most + too_little)
            self._back(before)
            smaller = replace(change, size=share * change.size)
            if self._applied(number, smaller, rolls=rolls) and not self._meets(block):
                most = share
            else:
                too_little = share
        for share in dict.fromkeys((most, 1.0)):
            self._back(before)
            smaller = replace(change, size=share * change.size)
            if self._applied(number, smaller, rolls=True, whole=True) and self._proven(number, smaller, chain):
                return True
        self._back(before)
        return False

    def _back(self, before: tuple[list[Frames], Array, Take, list[list[Change]]]) -> None:
        self.made, self.places = list(before[0]), before[1]
        self.changes = [list(c) for c in before[3]]
        self.d.take = before[2]

    def _frames(self, change: Change, whole: bool) -> tuple[int, int, int]:
        """Frames from and to which a change reaches, and the last one that is solved again.

        `whole`: with the frames after it, in which elbows return to where they were.
        """
        count = len(self.made[0].root)
        a, b = max(change.span[0], 1), min(change.span[1], count - 1)
        return a, b, min(b + change.fades, count - 1) if whole else b

    def _applied(self, number: int, change: Change, *, rolls: bool, whole: bool = False) -> bool:
        """Apply a change; return whether bodies can follow, with `rolls` robots, too."""
        count = len(self.made[0].root)
        a, b, last = self._frames(change, whole)
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
                bent = _bent(carrier.actor, self.made[k].like, self.changes[k])
                self.made[k] = held_frames(carrier, grips, walk, self.places, bent, (a, last, self.made[k]), last - b)
                replace_frames(self.d, carrier, grips, self.made[k], first)
            if change.kind == "object" and rolls and self.rolled is not None:
                self.rolled(self.places)
        except Blocked:
            return False
        return True

    def _meets(self, block: Sequence[Finding]) -> bool:
        """Return whether a pair of a block still collides in some of its frames."""
        if self.exact is None:
            self.exact = ExactWorld(self.d.world)
        begin, end = block[0].during[0], max(c.during[1] for c in block)
        among = np.array(sorted({k for c in block for k in self.exact.numbers(*c.pair)}), np.int64)
        # the middle first: it is met most
        times = np.linspace(begin, end, _LOOKS)[np.argsort(np.abs(np.arange(_LOOKS) - _LOOKS // 2), kind="stable")]
        record = self.d.world.record(times)
        for k in range(_LOOKS):
            self.exact.place_snapshot(record[k])
            if any(self.exact.collides(int(pair)) for pair in self.exact.near(0.0, among)):
                return True
        return False

    def _too_little(self, number: int, block: Sequence[Finding], chain: str) -> bool:
        """Return whether collisions of a block's chain are left in it."""
        met = self._met((block[0].during[0], max(c.during[1] for c in block)))
        return any(self._chain(c.pair, number) == chain and self._known(c) for c in met)

    def _proven(self, number: int, change: Change, chain: str) -> bool:
        """Return whether an applied change has left no collision that it should have solved, and made none."""
        carrier, _, first = self.team[number]
        a, _, last = self._frames(change, True)
        during = carrier.actor.time(first + a - 1), carrier.actor.time(first + last)
        met = self._met(during)
        self.changed = during, met
        if any(self._same(c, number, chain) for c in met):
            return False
        # an object that gives way must not meet the scene for it
        return change.kind != "object" or not any(carrier.thing in c.pair and not self._known(c) for c in met)

    def _known(self, met: Finding) -> bool:
        """Return whether a collision was there before the change."""
        return any(
            met.pair == k.pair and met.during[0] <= k.during[1] and k.during[0] <= met.during[1] for k in self.known
        )

    def _same(self, met: Finding, number: int, chain: str) -> bool:
        """Return whether a collision is one that a change of this carrier's chain should have solved or has made: those
        of other chains that were there before are for blocks to come."""
        who = self.team[number][0].actor.who
        own = self._chain(met.pair, number)
        if own != chain and self._known(met):
            return False
        return chain == "object" or (who in met.who and own in (chain, "left_leg", "right_leg", "trunk", "object"))


def _in_time(found: Iterable[Finding]) -> list[Finding]:
    """Findings, the earliest first."""
    return sorted(found, key=lambda hit: hit.during)


def _parts(actor: Actor) -> dict[str, str]:
    """Chain to which each part of a character belongs, by name: arms, legs and head; all others are of the trunk."""
    body = actor.body
    roots = {body.role(role): "head" for role in ("head", "neck") if role in body.roles}
    roots |= {chain.joints[0]: name for name, chain in body.chains.items() if chain.kind in ("arm", "leg")}
    return {f"{actor.who}.{body.joint_names[j]}": name for root, name in roots.items() for j in body.subtree(root)}


def _bent(actor: Actor, like: Bent, changes: Sequence[Change]) -> Bent:
    """Postures with changes."""
    root, q = np.array(like.root), np.array(like.rotations)
    swivels: dict[str, Array] = dict(like.swivels)
    for change in changes:
        size = change.size * change.weights(len(root))
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
