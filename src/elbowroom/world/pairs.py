"""The parts of a world by name, and which pairs of them must not meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Body, Character
from elbowroom.errors import BadValue
from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.shapes import Shape, unfolded
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Keyed, KeyedState, Still
from elbowroom.world.things import Fixture, Thing
from elbowroom.world.world import World

FLOOR = "floor"

# Kinds of parts that may move; they come first.
_MOVE = ("body", "thing")

_FINGERS = ("thumb", "index", "middle", "ring", "little")

# Samples of a fixture over the span of a world that show whether it moves.
_SAMPLES = 65


class Pair(NamedTuple):
    """Two parts by name: 'ann.right_hand', 'post', 'floor'."""

    a: str
    b: str


@dataclass(frozen=True, eq=False)
class Part:
    """One rigid piece of a world that can hit something.

    `owner` is the name of a character or thing, or of the static mesh itself; `joint` and `shape` are set for pieces of
    characters, `mesh` for the others (None for the floor). A piece of a body may be left out of tests against its `own`
    body, or of those against all `others`.
    """

    name: str
    kind: Literal["body", "thing", "static", "floor"]
    owner: str
    joint: int = -1
    shape: Shape | None = None
    mesh: Mesh | None = None
    role: str = ""
    own: bool = True
    others: bool = True


class TestedShape(NamedTuple):
    """Collision shape of a body, the role of its segment, and what it is tested against: its own body, all others."""

    shape: Shape
    role: str
    own: bool
    others: bool


@dataclass(frozen=True, eq=False)
class PairNames(Sequence[Pair]):
    """Names of pairs (P, 2) of parts, made on demand: there are thousands, and few are ever reported."""

    parts: tuple[Part, ...]
    rows: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, k: int) -> Pair: ...
    @overload
    def __getitem__(self, k: slice) -> PairNames: ...
    def __getitem__(self, k: int | slice) -> Pair | PairNames:
        """The names of a pair, or of several."""
        if isinstance(k, slice):
            return PairNames(self.parts, self.rows[k])
        a, b = self.rows[k].tolist()
        return Pair(self.parts[a].name, self.parts[b].name)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Parts and pairs (P, 2) of their indices that count.

    `off` has intervals in seconds of pairs that are switched off for a time: an object and the hand that holds it.
    `ignored` are pairs of one body that never count: neighbours that overlap in easy poses, parts of one hand, shapes
    of one joint.
    """

    parts: tuple[Part, ...]
    index: NDArray[np.int32]
    ignored: PairNames
    off: dict[int, tuple[tuple[float, float], ...]] = field(default_factory=dict)

    @cached_property
    def names(self) -> PairNames:
        """The names of all pairs."""
        return PairNames(self.parts, self.index)

    @cached_property
    def number(self) -> NDArray[np.int32]:
        """Number of the pair of two parts, -1 where it does not count, (M, N); parts that move come first."""
        movers = sum(p.kind in _MOVE for p in self.parts)
        number = np.full((movers, len(self.parts)), -1, np.int32)
        a, b = self.index.T
        number[a, b] = np.arange(len(self.index))
        both = b < movers
        number[b[both], a[both]] = np.flatnonzero(both)
        return number

    def covered(self, contact: Contact) -> NDArray[np.int64]:
        """Indices of the pairs of a contact."""
        who, on = self._called(contact.who), self._called(contact.on)
        if not (len(who) and len(on)):
            return np.zeros(0, np.int64)
        low, high = np.minimum(who[:, None], on), np.maximum(who[:, None], on)
        # moving parts come first, and static pairs do not count
        rows = low < len(self.number)
        found = self.number[low[rows], high[rows]]
        return np.unique(found[found >= 0]).astype(np.int64)

    def oriented(self, contact: Contact, pair: int) -> Contact:
        """The contact with its shift as that of the first part of a pair."""
        if contact.shift is None or self.index[pair, 0] in self._called(contact.who):
            return contact
        x, y, z = contact.shift
        return replace(contact, shift=(-x, -y, -z))

    def _called(self, name: str) -> NDArray[np.int64]:
        """Indices of the parts that a name of a contact means."""
        return np.array(self._meant.get(name, ()), dtype=np.int64)

    @cached_property
    def _meant(self) -> dict[str, list[int]]:
        """Indices of the parts that names of contacts mean: only characters have parts, 'tray' is not 'tray.001'."""
        meant: dict[str, list[int]] = {}
        for i, part in enumerate(self.parts):
            names = {part.name}
            if part.kind == "body":  # 'ann' and 'ann.left_foot' mean 'ann.left_foot.sole'
                dots = (k for k, letter in enumerate(part.name) if letter == "." and k >= len(part.owner))
                names |= {part.owner, *(part.name[:k] for k in dots)}
            for name in names:
                meant.setdefault(name, []).append(i)
        return meant


def parts_of(world: World) -> tuple[Part, ...]:
    """All parts of a world, without eyes, which are inside heads."""
    parts = [part for name in world.characters for part in _parts_of_body(name, world.body(name))]
    own = {part.name for part in parts}
    for name in (*world.things, *world.static):
        if name in own:
            raise BadValue(f"'{name}' is the name of both a body part and an object: rename one of them.")
    parts += [Part(name, "thing", name, mesh=thing.mesh) for name, thing in world.things.items()]
    parts += [Part(name, "static", name, mesh=mesh) for name, mesh in world.static.items()]
    if world.floor is not None:
        parts.append(Part(FLOOR, "floor", FLOOR))
    return tuple(parts)


def _parts_of_body(name: str, body: Body) -> tuple[Part, ...]:
    """Parts of a character, made once for a body and a name."""

    def found() -> tuple[Part, ...]:
        return tuple(
            Part(f"{name}.{s.shape.name}", "body", name, s.shape.joint, s.shape, None, s.role, s.own, s.others)
            for s in shapes_of(body)
        )

    return kept(body, ("parts", name), found)


def shapes_of(body: Body) -> tuple[TestedShape, ...]:
    """Collision shapes of a body: those of `body.shapes`, and the slimmer ones for tests against itself."""

    def found() -> tuple[TestedShape, ...]:
        roles = _segment_roles(body)
        shapes, own = unfolded([s for s in body.shapes if not roles[s.joint].endswith("_eye")])
        slim = np.isin(np.arange(len(shapes)), own)
        return tuple(TestedShape(s, roles[s.joint], bool(own[k] < 0), not slim[k]) for k, s in enumerate(shapes))

    return kept(body, "shapes that hit", found)


def pairs_of(world: World, parts: tuple[Part, ...], own: Mapping[str, OwnPairs]) -> Pairs:
    """Pairs that count. `own` gives, by name of a character, those of its own parts."""
    moving = {name for name, thing in world.things.items() if moves(world, name, thing)}
    movers = sum(p.kind in _MOVE for p in parts)  # they come first
    free = np.array([p.kind == "body" or (p.kind == "thing" and p.owner in moving) for p in parts], dtype=bool)
    meet = free[:movers, None] | free[None]
    others = np.array([p.others for p in parts], dtype=bool)
    meet &= others[:movers, None] & others[None]
    meet &= np.arange(len(parts)) > np.arange(movers)[:, None]
    ignored = [np.zeros((0, 2), np.int64)]
    first = 0
    for name in world.characters:
        counts = own[name].counts
        last = first + len(counts)
        meet[first:last, first:last] = counts
        tested = np.array([p.own for p in parts[first:last]], dtype=bool)
        ignored.append(first + np.argwhere(np.triu(~counts & tested & tested[:, None], 1)))
        first = last
    index = np.argwhere(meet).astype(np.int32).reshape(-1, 2)
    pairs = Pairs(parts, index, PairNames(parts, np.concatenate(ignored).astype(np.int32)))
    rows = {p.owner: i for i, p in enumerate(parts) if p.kind == "thing"}
    for hold, during in ((hold, world.held_during(hold)) for hold in world.holds):
        if during is None:
            continue
        joints = holding_joints(world.body(hold.by), hold.hand)
        holding = [i for i, p in enumerate(parts[:movers]) if p.owner == hold.by and p.joint in joints and p.others]
        for k in pairs.number[holding, rows[hold.object]].tolist() if hold.object in rows else ():
            pairs.off[k] = (*pairs.off.get(k, ()), during)
    for link in world.linked:
        k = int(pairs.number[rows[link.a], rows[link.b]]) if link.a in rows and link.b in rows else -1
        if k >= 0:
            pairs.off[k] = (*pairs.off.get(k, ()), link.during)
    return pairs


@dataclass(frozen=True, eq=False)
class OwnPairs:
    """Pairs of one body's parts: counts (M, M), above the diagonal; `ignored` are those that overlap in easy poses."""

    counts: NDArray[np.bool_]
    ignored: tuple[tuple[int, int], ...]


def moves(world: World, name: str, thing: Thing) -> bool:
    """Return whether an object moves or is held at any time; a path without keyframes counts as moving."""
    if any(h.object == name for h in world.holds):
        return True
    if isinstance(thing, Fixture):
        if isinstance(thing.state, KeyedState):
            return bool(np.ptp(thing.state.values) > 0.0)
        states = [thing.state(float(t)) for t in np.linspace(*world.span, _SAMPLES)]
        return bool(np.ptp(states) > 0.0)
    if isinstance(thing.path, Keyed):
        return bool(np.ptp(thing.path.positions, axis=0).any() or np.ptp(thing.path.quaternions, axis=0).any())
    return not isinstance(thing.path, Still)


def hand_of(role: str) -> str:
    """'left' or 'right' for a hand and its fingers, '' for other parts."""
    side, _, what = role.partition("_")
    if side in ("left", "right") and (what == "hand" or what.rstrip("0123456789") in _FINGERS):
        return side
    return ""


def holding_joints(body: Body, hand: str) -> frozenset[int]:
    """Joints of the segment that holds an object; of a hand or gripper its fingers, too.

    Whatever else hangs on the segment still collides: a rod on the chest does not pass through both arms.
    """
    joint = body.hand(hand)[0]
    below = body.subtree(joint)
    if not isinstance(body, Character):
        return frozenset(below if joint in {chain.end for chain in body.chains.values()} else (joint,))
    roles = _segment_roles(body)
    return frozenset(below if hand_of(roles[joint]) else (j for j in below if roles[j] == roles[joint]))


def _segment_roles(body: Body) -> list[str]:
    """Role of each joint: its own, else that of the nearest joint above it that has one."""
    own = {joint: role for role, joint in body.roles.items()}
    roles: list[str] = []
    for j, parent in enumerate(body.parents):
        roles.append(own.get(j, roles[parent] if parent >= 0 else ""))
    return roles
