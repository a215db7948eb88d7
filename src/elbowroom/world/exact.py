"""Exact collision of a whole world at one time, through Coal.

Coal alone is not exact: a body wholly inside of a closed mesh reads free to it, and so does a capsule whose axis has
sunk below a sheet of floor. So the floor is a half-space, closed parts of meshes are solids whose insides count, and
whatever is not finite is a hit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import coal
import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.kernels import boxes
from elbowroom.world.contacts import Contact
from elbowroom.world.exact_forms import Form, mesh_form, shape_form
from elbowroom.world.pairs import Pair, Part, kin_candidates, pairs_of, parts_of
from elbowroom.world.world import Snapshot, World

# Metres: once something overlaps, only what overlaps too is of interest.
_TINY = 1e-6


@dataclass(frozen=True, eq=False)
class Distance:
    """How far two parts are apart.

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
        """Whether the parts touch or overlap."""
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

    `pairs` are all pairs that count, by name, and `index` (P, 2) their parts; they are meant wherever a pair's number
    is asked for. Where one name has several shapes, several pairs bear the same names.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        every = parts_of(world)
        forms = [_form(part, world) for part in every]
        real = [i for i, (p, f) in enumerate(zip(every, forms, strict=True)) if p.kind == "floor" or f is not None]
        self.parts: tuple[Part, ...] = tuple(every[i] for i in real)
        # the floor has no form; it comes last and is asked for by its number alone
        self.forms: tuple[Form, ...] = tuple(f for f in forms if f is not None)
        self._floor = len(self.forms) if len(self.parts) > len(self.forms) else -1
        self._set_up_places()
        self._pairs = pairs_of(world, self.parts, self._kin_overlaps())
        self.index: NDArray[np.int32] = self._pairs.index
        self.pairs: tuple[Pair, ...] = tuple(self._pairs.names(k) for k in range(len(self.index)))
        self.ignored: tuple[Pair, ...] = self._pairs.ignored
        self.off = self._pairs.off
        self._contacts: dict[int, tuple[Contact, ...]] = {}
        for k, pair in enumerate(self.pairs):
            allowing = tuple(c for c in world.contacts if c.covers(*pair))
            if allowing:
                self._contacts[k] = allowing
        self.time = float("nan")

    # where everything is

    def place(self, t: float) -> ExactWorld:
        """Move everything to where it is at a time in seconds."""
        return self.place_snapshot(self.world.at(t))

    def place_snapshot(self, snapshot: Snapshot) -> ExactWorld:
        """Move everything to where a snapshot has it."""
        self.time = snapshot.time
        for name, (rows, joints, local) in self._bodies.items():
            self.T[rows] = snapshot.joints[name][joints] @ local
        for name, row in self._things.items():
            self.T[row] = snapshot.things[name]
        self._refresh()
        return self

    def gaps(self) -> Array:
        """Lower bounds (P,) of all distances, metres, from boxes around the parts; 0 where those overlap."""
        out = np.empty(len(self.index))
        boxes.gaps(self.index, self.low, self.high, out)
        return out

    def near(self, margin: float = 0.0) -> NDArray[np.int64]:
        """Numbers of the pairs that count now and may be nearer than a margin, the nearest boxes first."""
        gaps = self.gaps()
        gaps[self._resting()] = np.inf
        close = np.flatnonzero(~(gaps > margin))
        return close[np.argsort(gaps[close], kind="stable")]

    # one pair

    def hit(self, k: int) -> bool:
        """Whether a pair touches or overlaps."""
        a, b = self._ordered(k)
        if self._broken[a] or self._broken[b]:
            return True
        if b == self._floor:
            return not self._above_floor(a)[0] > 0.0
        if not np.all((self.low[a] <= self.high[b]) & (self.low[b] <= self.high[a])):
            return False
        return self._surfaces_meet(a, b) or self._swallowed(a, b)

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

    def numbers(self, a: str, b: str) -> list[int]:
        """Numbers of the pairs with these names, in either order."""
        wanted = {(a, b), (b, a)}
        found = [k for k, pair in enumerate(self.pairs) if tuple(pair) in wanted]
        if not found:
            known = {p.name for p in self.parts}
            for name in (a, b):
                if name not in known:
                    raise UnknownName("part", name, sorted(known))
            raise BadValue(f"'{a}' and '{b}' are no pair that counts.")
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
        """Whether nothing collides at a time, or as placed."""
        if t is not None:
            self.place(t)
        for k in self.near(0.0):
            if self.hit(int(k)):
                d = self._distance(int(k)) if int(k) in self._contacts else None
                if d is None or self.allowed(int(k), None if d.value is None else -d.value) is None:
                    return False
        return True

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
            if any(_during(c.during, self.time) for c in self._contacts.get(int(k), ())):
                continue
            d = self._distance(int(k), reach)
            if (d.points is not None or d.hit) and (best is None or _deeper(d, best)):
                best = d
                reach = min(reach, max(d.value or 0.0, _TINY))
        return best

    def allowed(self, k: int, depth: float | None) -> Contact | None:
        """The contact that lets a pair overlap to a depth at the time placed; unknown depth is never allowed."""
        if depth is None:
            return None
        for contact in self._contacts.get(k, ()):
            if _during(contact.during, self.time) and depth <= contact.depth:
                return contact
        return None

    def counts(self, k: int, t: float) -> bool:
        """Whether a pair counts at a time: an object does not collide with the hand that holds it."""
        return not any(_during(during, t) for during in self.off.get(k, ()))

    # inner workings

    def _set_up_places(self) -> None:
        n = len(self.parts)
        self.T = np.tile(np.eye(4), (n, 1, 1))
        self._center, self._half = np.zeros((n, 3)), np.zeros((n, 3))
        self.low, self.high = np.full((n, 3), -np.inf), np.full((n, 3), np.inf)
        for i, form in enumerate(self.forms):
            self._center[i] = form.bounds.mean(axis=0)
            self._half[i] = 0.5 * np.ptp(form.bounds, axis=0)
            self.low[i], self.high[i] = form.bounds
        if self._floor >= 0:
            assert self.world.floor is not None
            self.high[self._floor, 2] = self.world.floor
        self._bodies: dict[str, tuple[NDArray, NDArray, Array]] = {}
        for name in self.world.characters:
            rows = [i for i, p in enumerate(self.parts) if p.kind == "body" and p.owner == name]
            shapes = [s for s in (self.parts[i].shape for i in rows) if s is not None]
            if rows:
                local = np.stack([s.T_joint_shape for s in shapes])
                self._bodies[name] = (np.array(rows), np.array([s.joint for s in shapes]), local)
        self._things = {p.owner: i for i, p in enumerate(self.parts) if p.kind == "thing"}
        self._movers = np.array([i for i, p in enumerate(self.parts) if p.kind in ("body", "thing")], dtype=int)
        self._broken = np.zeros(n, dtype=bool)
        self._poses = [coal.Transform3s.Identity() for _ in range(n)]
        self._stale = np.zeros(n, dtype=bool)
        self._collision_request = coal.CollisionRequest()
        self._collision_request.num_max_contacts = 1
        self._collision_result = coal.CollisionResult()
        self._distance_request = coal.DistanceRequest()
        self._distance_request.enable_signed_distance = True
        self._distance_result = coal.DistanceResult()

    def _refresh(self) -> None:
        rows = self._movers
        boxes.around(rows, self.T, self._center, self._half, self.low, self.high)
        self._broken[rows] = ~np.isfinite(self.low[rows] + self.high[rows]).all(axis=1)
        self._stale[rows] = True

    def _kin_overlaps(self) -> set[tuple[int, int]]:
        """Pairs of one body's parts, at most two joints apart, that overlap in the rest pose."""
        for name, (rows, joints, local) in self._bodies.items():
            self.T[rows] = self.world.body(name).skeleton.T_rest[joints] @ local
        self._refresh()
        return {(a, b) for a, b in kin_candidates(self.world, self.parts) if self._surfaces_meet(a, b)}

    def _surfaces_meet(self, a: int, b: int) -> bool:
        one, other = self._placed(a), self._placed(b)
        result = self._collision_result
        for _, i, j in self._chunks(a, b, 0.0):
            result.clear()
            coal.collide(self.forms[a].chunk(i), one, self.forms[b].chunk(j), other, self._collision_request, result)
            if result.isCollision():
                return True
        return False

    def _chunks(self, a: int, b: int, margin: float) -> list[tuple[float, int, int]]:
        """Gaps and numbers of the chunks of two forms whose boxes are no farther apart than a margin, nearest first."""
        many = [len(self.forms[a].boxes), len(self.forms[b].boxes)]
        if many == [1, 1]:
            return [(0.0, 0, 0)]
        T_b_a = inverse(self.T[b]) @ self.T[a]
        found = []
        gaps = np.empty(many[1])
        for i, box in enumerate(self.forms[a].boxes):
            boxes.chunk_gaps(self.forms[b].boxes, T_b_a, box.mean(axis=0), 0.5 * np.ptp(box, axis=0), gaps)
            found += [(float(gaps[j]), i, int(j)) for j in np.flatnonzero(gaps <= margin)]
        return sorted(found)

    def _placed(self, i: int) -> Any:
        pose = self._poses[i]
        if self._stale[i]:
            pose.setRotation(self.T[i, :3, :3])
            pose.setTranslation(self.T[i, :3, 3])
            self._stale[i] = False
        return pose

    def _resting(self) -> list[int]:
        return [k for k, times in self.off.items() if any(_during(d, self.time) for d in times)]

    def _ordered(self, k: int) -> tuple[int, int]:
        """The parts of a pair: convex before surfaces before the floor."""
        a, b = int(self.index[k, 0]), int(self.index[k, 1])
        return (b, a) if self._rank(b) < self._rank(a) else (a, b)

    def _rank(self, i: int) -> int:
        return 2 if i == self._floor else 0 if self.forms[i].convex else 1

    def _distance(self, k: int, limit: float = np.inf) -> Distance:
        pair = self.pairs[k]
        a, b = self._ordered(k)
        swapped = a != self.index[k, 0]
        if self._broken[a] or self._broken[b]:
            return Distance(None, None, pair)
        value: float | None
        points: Array | None
        value, points = self._above_floor(a) if b == self._floor else self._apart(a, b, limit)
        if value is not None and value >= limit:
            return Distance(limit, None, pair)
        if points is not None and swapped:
            points = points[::-1]
        return Distance(value, points, pair)

    def _above_floor(self, i: int) -> tuple[float, Array]:
        form = self.forms[i]
        assert self.world.floor is not None
        points = apply(self.T[i], form.points)
        lowest = points[int(np.argmin(points[:, 2]))] - [0.0, 0.0, form.radius]
        value = float(lowest[2] - self.world.floor)
        return value, np.stack([lowest, [lowest[0], lowest[1], self.world.floor]])

    def _apart(self, a: int, b: int, limit: float) -> tuple[float | None, Array | None]:
        """Signed distance and nearest points of two placed forms; `limit` or more without points beyond it."""
        gap = np.maximum(np.maximum(self.low[a] - self.high[b], self.low[b] - self.high[a]), 0.0)
        if float(gap @ gap) >= limit * limit:
            return limit, None
        one, other, result = self._placed(a), self._placed(b), self._distance_result
        value, points = limit, None
        for gap_between, i, j in self._chunks(a, b, limit):
            if gap_between > max(value, 0.0):
                break
            result.clear()
            if value < np.inf:
                result.min_distance = max(value, _TINY)
            coal.distance(self.forms[a].chunk(i), one, self.forms[b].chunk(j), other, self._distance_request, result)
            found = float(result.min_distance)
            if not np.isfinite(found):
                return None, None
            if found < value:
                near = np.stack([result.getNearestPoint1(), result.getNearestPoint2()])
                value, points = found, near if np.all(np.isfinite(near)) else None
        if value <= 0.0 or self._swallowed(a, b):
            return self._deepest(a, b, value, points)
        return value, points

    def _swallowed(self, a: int, b: int) -> bool:
        """Whether a part of one lies wholly inside of a solid of the other, when their surfaces do not meet."""
        return self._inside(a, b) or self._inside(b, a)

    def _inside(self, a: int, b: int) -> bool:
        solid = self.forms[b].solid
        if solid is None:
            return False
        seeds = apply(inverse(self.T[b]) @ self.T[a], self.forms[a].seeds)
        return bool(solid.contains(seeds).any())

    def _deepest(self, a: int, b: int, value: float, points: Array | None) -> tuple[float | None, Array | None]:
        """Depth of two forms that overlap: Coal's, or that of the deepest point of one inside of the other."""
        one, other = self.forms[a], self.forms[b]
        known = one.convex
        depth = max(-value, 0.0) if known else 0.0
        for p, q, inner, outer in ((a, b, one, other), (b, a, other, one)):
            if outer.solid is None:
                continue
            known = True
            probes = apply(inverse(self.T[q]) @ self.T[p], inner.probes)
            deep = outer.solid.depth(probes)
            deep = np.where(deep > 0.0, deep + inner.radius, 0.0)
            i = int(np.argmax(deep))
            if deep[i] > depth:
                depth = float(deep[i])
                here = apply(self.T[q], probes[i : i + 1])[0]
                points = np.stack([here, here])
        return (-depth if known else None), points


def _form(part: Part, world: World) -> Form | None:
    if part.shape is not None:
        return shape_form(part.shape)
    if part.mesh is None:
        return None
    return mesh_form(part.mesh, part.name, world.floor if part.kind == "static" else None)


def _during(interval: tuple[float, float], t: float) -> bool:
    return interval[0] <= t <= interval[1]


def _deeper(d: Distance, than: Distance) -> bool:
    """Whether a distance is worse news than another; an unknown depth is worse than none."""
    if d.hit != than.hit:
        return d.hit
    return (0.0 if d.value is None else d.value) < (0.0 if than.value is None else than.value)
