"""Exact collision of a whole world at one time, through Coal.

Coal alone is not exact: a body wholly inside a closed mesh reads free to it, and so does a capsule whose axis has
sunk below a sheet of floor. So the floor is a half-space, closed parts of meshes are solids whose insides count, and
whatever is not finite is a hit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Body, Character
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.kept import kept
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import boxes
from elbowroom.stopping import may_stop_here
from elbowroom.world.contacts import Contact
from elbowroom.world.exact_forms import Form, Surface, mesh_form, shape_form
from elbowroom.world.exact_placed import TINY, Placed
from elbowroom.world.own_pairs import easy_poses, own_pairs
from elbowroom.world.pairs import OwnPairs, Pair, PairNames, Part, pairs_of, parts_of, shapes_of
from elbowroom.world.paths import holds_at
from elbowroom.world.world import Snapshot, World


@dataclass(frozen=True, eq=False)
class Distance:
    """Distance between two parts.

    `value` in metres is negative where they overlap, by the depth, and None where they overlap and depth is not
    defined (two open surfaces). For overlapping solids and surfaces the depth is a lower bound: no shorter shift parts
    them. points (2, 3) are the nearest points, or None where the distance was not asked for beyond a limit: then
    `value` is that limit.
    """

    value: float | None
    points: Array | None
    pair: Pair

    @property
    def hit(self) -> bool:
        """Return whether the parts touch or overlap."""
        return self.value is None or not self.value > 0.0


@dataclass(frozen=True, eq=False)
class Hit:
    """Two parts that overlap at a time; `allowed` is the contact that permits it, if one does."""

    pair: Pair
    depth: float | None
    points: Array | None
    allowed: Contact | None = None


class ExactWorld:
    """Collision of a world, time after time: `place(t)`, then ask.

    `index` (P, 2) are the parts of all pairs that count; numbers of pairs refer to them. Where
    one name has several shapes, several pairs bear the same names. `contacts` has, by number of a pair, what lets it
    touch; `off`, when it does not count.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        found = [(part, _form(part, world)) for part in parts_of(world)]
        found = [(part, form) for part, form in found if form is not None or part.kind == "floor"]
        self.parts: tuple[Part, ...] = tuple(part for part, _ in found)
        self.placed = Placed([form for _, form in found if form is not None], world.floor)
        self._set_up_movers()
        own = {name: own_pairs_of(world.body(name)) for name in world.characters}
        self._pairs = pairs_of(world, self.parts, own)
        self.index: NDArray[np.int32] = self._pairs.index
        self.off = self._pairs.off
        self.contacts: dict[int, tuple[Contact, ...]] = {}
        for contact in world.contacts:
            for k in self._pairs.covered(contact).tolist():
                self.contacts[k] = (*self.contacts.get(k, ()), self._pairs.oriented(contact, k))
        self.time = float("nan")

    @property
    def pairs(self) -> PairNames:
        """All pairs that count, by name."""
        return self._pairs.names

    @cached_property
    def ignored(self) -> tuple[Pair, ...]:
        """Pairs of one body that never count, by name."""
        return tuple(self._pairs.ignored)

    @property
    def number(self) -> NDArray[np.int32]:
        """Number of the pair of two parts, -1 where it does not count, (M, N) for the M parts that may move."""
        return self._pairs.number

    @property
    def static(self) -> list[Surface]:
        """Forms of the static meshes."""
        forms = zip(self.parts, self.placed.forms, strict=False)  # the floor has none
        return [form for part, form in forms if part.kind == "static" and isinstance(form, Surface)]

    @cached_property
    def by_shift(self) -> NDArray[np.bool_]:
        """Pairs (P,) of two surfaces: depths of those have no bound, so what lets them touch is proven by a shift.

        Links of robots count as surfaces, because files play them as meshes.
        """
        links = {name for name in self.world.characters if not isinstance(self.world.body(name), Character)}
        link = np.array([p.kind == "body" and p.owner in links for p in self.parts])
        return np.asarray(self._curved[self.index].any(axis=1) & (self._curved | link)[self.index].all(axis=1))

    @cached_property
    def by_separation(self) -> NDArray[np.bool_]:
        """Pairs (P,) of a convex part and a surface, whose depth is bounded by a shift that parts them."""
        solid = np.array([p.kind != "floor" for p in self.parts])
        one = self._curved[self.index].sum(axis=1) == 1
        return np.asarray(one & solid[self.index].all(axis=1) & ~self.by_shift)

    @cached_property
    def _curved(self) -> NDArray[np.bool_]:
        """Parts that are surfaces; the floor, where there is one, comes last."""
        curved = [not form.convex for form in self.placed.forms]
        return np.array(curved + [False] * (len(self.parts) - len(curved)), dtype=bool)

    # where everything is

    def place(self, t: float) -> ExactWorld:
        """Move everything to where it is at a time in seconds."""
        return self.place_snapshot(self.world.at(t))

    def place_snapshot(self, snapshot: Snapshot) -> ExactWorld:
        """Move everything to where a snapshot has it."""
        may_stop_here()
        self.time = snapshot.time
        T = self.placed.T
        for name, (rows, joints, local) in self._bodies.items():
            T[rows] = snapshot.joints[name][joints] @ local
        for name, row in self._things.items():
            T[row] = snapshot.things[name]
        self.placed.moved(self._movers)
        return self

    def place_body(self, name: str, joints: Array, things: Mapping[str, Array]) -> ExactWorld:
        """Move one body to joint transforms (J, 4, 4) and some objects to theirs (4, 4); all else stays as placed."""
        may_stop_here()
        moved = {self._things[thing]: T for thing, T in things.items() if thing in self._things}
        for row, T in moved.items():
            self.placed.T[row] = T
        rows = np.fromiter(moved, dtype=np.int64, count=len(moved))
        if name in self._bodies:
            mine, carriers, local = self._bodies[name]
            self.placed.T[mine] = joints[carriers] @ local
            rows = np.concatenate([mine, rows])
        self.placed.moved(rows)
        return self

    def gaps(self) -> Array:
        """Lower bounds (P,) of all distances, metres, from boxes around the parts; 0 where those overlap."""
        out = np.empty(len(self.index))
        boxes.gaps(self.index, self.placed.low, self.placed.high, out)
        return out

    def near(self, margin: float = 0.0, among: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Numbers of the pairs that count now and may be nearer than a margin, the nearest boxes first.

        `among` restricts the check to these pairs.
        """
        if among is not None:
            gaps = np.empty(len(among))
            boxes.gaps(self.index[among], self.placed.low, self.placed.high, gaps)
            close = np.flatnonzero(~(gaps > margin))
            close = close[[self.counts(int(k), self.time) for k in among[close]]] if len(close) else close
            return among[close[np.argsort(gaps[close], kind="stable")]]
        gaps = self.gaps()
        gaps[self._resting()] = np.inf
        close = np.flatnonzero(~(gaps > margin))
        return close[np.argsort(gaps[close], kind="stable")]

    # one pair

    def hit(self, k: int) -> bool:
        """Return whether a pair touches or overlaps."""
        return self.placed.hit(int(self.index[k, 0]), int(self.index[k, 1]))

    def within(self, k: int, margin: float) -> bool:
        """Return whether a pair comes within a margin of each other, metres, or overlaps."""
        return self.placed.within(int(self.index[k, 0]), int(self.index[k, 1]), margin)

    def distance(self, pair: int | Pair | tuple[str, str], limit: float = np.inf) -> Distance:
        """Signed distance of a pair, by number or by names, with the nearest points.

        Distances of `limit` metres or more are not worked out: then `value` is `limit`, and there are no points.
        """
        if isinstance(pair, (int, np.integer)):
            return self._distance(int(pair), limit)
        numbers = self.numbers(*pair)
        best = self._distance(numbers[0], limit)
        for k in numbers[1:]:
            other = self._distance(k, limit)
            best = other if _deeper(other, best) else best
        return best

    def overlap(self, k: int) -> float | None:
        """Signed distance of a pair that is known to touch or overlap; None where its depth is unknown."""
        return self.placed.overlap(int(self.index[k, 0]), int(self.index[k, 1]))

    def shifted_distance(self, k: int, shift: Array, limit: float = np.inf) -> Distance:
        """Signed distance of a pair whose first part is shifted by a vector (3,), metres."""
        value, points = self.placed.shifted_distance(int(self.index[k, 0]), int(self.index[k, 1]), shift, limit)
        return Distance(value, points, self.pairs[k])

    def shifted_hit(self, k: int, shift: Array) -> bool:
        """Return whether a pair touches or overlaps with its first part shifted by a vector (3,), metres."""
        return self.placed.shifted_hit(int(self.index[k, 0]), int(self.index[k, 1]), shift)

    def separation(self, k: int, most: float) -> float:
        """Length of a shift that parts a pair, at most `most` metres; inf where none is found."""
        return self.placed.separation(int(self.index[k, 0]), int(self.index[k, 1]), most)

    def numbers(self, a: str, b: str) -> list[int]:
        """Numbers of the pairs with these names, in either order."""
        one, other = (np.array([p.name == name for p in self.parts], dtype=bool) for name in (a, b))
        left, right = self.index.T
        found = np.flatnonzero((one[left] & other[right]) | (one[right] & other[left])).tolist()
        if not found:
            known = {p.name for p in self.parts}
            for name in (a, b):
                if name not in known:
                    raise UnknownName("part", name, sorted(known))
            raise BadValue(f"'{a}' and '{b}' are not a collision pair.")
        return found

    # all pairs

    def touches(self, t: float | None = None) -> list[Hit]:
        """All pairs that overlap at a time, or as placed, allowed or not; the deepest first."""
        if t is not None:
            self.place(t)
        hits = []
        for k in self.near(0.0):
            if self.hit(int(k)):
                d = self._distance(int(k))
                depth = None if d.value is None else max(-d.value, 0.0)
                hits.append(Hit(d.pair, depth, d.points, self.allowed(int(k), depth)))
        return sorted(hits, key=lambda h: -np.inf if h.depth is None else -h.depth)

    def collisions(self, t: float | None = None) -> list[Hit]:
        """Pairs that overlap at a time, or as placed, deeper than any contact allows; the deepest first."""
        return [h for h in self.touches(t) if h.allowed is None]

    def free(self, t: float | None = None) -> bool:
        """Return whether nothing collides at a time, or as placed."""
        if t is not None:
            self.place(t)
        return not any(self.collides(k) for k in self.near(0.0).tolist())

    def collides(self, k: int) -> bool:
        """Return whether a pair overlaps as placed, deeper than any contact allows."""
        if not self.hit(k):
            return False
        value = self.overlap(k) if k in self.contacts else None
        return value is None or self.allowed(k, -value) is None

    def clearance(self, t: float | None = None, limit: float = np.inf) -> Distance | None:
        """The smallest distance of all pairs that count and may not touch, at a time or as placed.

        None where no pair comes nearer than `limit`.
        """
        if t is not None:
            self.place(t)
        gaps = self.gaps()
        best: Distance | None = None
        reach = limit
        for k in self.near(limit):
            if gaps[k] > reach:
                break
            if any(holds_at(c.during, self.time) for c in self.contacts.get(int(k), ())):
                continue
            d = self._distance(int(k), reach)
            if (d.points is not None or d.hit) and (best is None or _deeper(d, best)):
                best = d
                reach = min(reach, max(d.value or 0.0, TINY))
        return best

    def allowed(self, k: int, depth: float | None) -> Contact | None:
        """The contact that lets a pair overlap to a depth at the time placed; unknown depth is never allowed."""
        if depth is None:
            return None
        for contact in self.contacts.get(k, ()):
            if holds_at(contact.during, self.time) and depth <= contact.depth:
                return contact
        return None

    def counts(self, k: int, t: float) -> bool:
        """Return whether a pair counts at a time: an object does not collide with the hand that holds it."""
        return k not in self.off or not any(holds_at(during, t) for during in self.off[k])

    # inner workings

    def _set_up_movers(self) -> None:
        """Indices of the parts of each body and object."""
        self._bodies: dict[str, tuple[NDArray, NDArray, Array]] = {}
        for name in self.world.characters:
            rows = [i for i, p in enumerate(self.parts) if p.kind == "body" and p.owner == name]
            shapes = [s for s in (self.parts[i].shape for i in rows) if s is not None]
            if rows:
                local = np.stack([s.T_joint_shape for s in shapes])
                self._bodies[name] = (np.array(rows), np.array([s.joint for s in shapes]), local)
        self._things = {p.owner: i for i, p in enumerate(self.parts) if p.kind == "thing"}
        self._movers = np.flatnonzero([p.kind in ("body", "thing") for p in self.parts])

    def _resting(self) -> list[int]:
        return [k for k, times in self.off.items() if any(holds_at(d, self.time) for d in times)]

    def _distance(self, k: int, limit: float = np.inf) -> Distance:
        value, points = self.placed.distance(int(self.index[k, 0]), int(self.index[k, 1]), limit)
        return Distance(value, points, self.pairs[k])


def own_pairs_of(body: Body) -> OwnPairs:
    """Pairs of one body's parts that count; worked out once for each body."""
    return kept(body, "own pairs", lambda: own_pairs(body, lambda near: _overlaps(body, near)))


def _overlaps(body: Body, near: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Pairs of one body's parts that overlap in a pose that everybody can take."""
    shapes = [s.shape for s in shapes_of(body)]
    if not shapes:
        return set()
    placed = Placed([shape_form(shape) for shape in shapes], None)
    joints, local = [shape.joint for shape in shapes], np.stack([shape.T_joint_shape for shape in shapes])
    found: set[tuple[int, int]] = set()
    for T in easy_poses(body):
        placed.T[:] = T[joints] @ local
        placed.moved(np.arange(len(shapes)))
        found |= {(a, b) for a, b in near if (a, b) not in found and placed.surfaces_meet(a, b)}
    return found


def _form(part: Part, world: World) -> Form | None:
    if part.shape is not None:
        return shape_form(part.shape)
    if part.mesh is None:
        return None
    return mesh_form(part.mesh, part.name, world.floor if part.kind == "static" else None)


def _deeper(d: Distance, than: Distance) -> bool:
    """Return whether a distance is worse news than another; an unknown depth is worse than none."""
    if d.hit != than.hit:
        return d.hit
    return (0.0 if d.value is None else d.value) < (0.0 if than.value is None else than.value)
