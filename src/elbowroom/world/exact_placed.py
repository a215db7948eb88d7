"""Rigid forms placed in the world, and how two of them stand to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import coal
import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.kernels import boxes
from elbowroom.world.exact_forms import Form

# Metres: Coal takes a distance of zero for the end of a search, so a search for overlap starts above it.
TINY = 1e-6

# Metres: as far as anything goes; its square is still a number.
_FAR = 1e9

# Deepest contacts that are undone one after the other before a way out is given up.
_PUSHES = 8

# Unit vectors (26, 3) all round: up first, then the other axes, then what lies between them.
_GRID = np.array([(x, y, z) for z in (1, 0, -1) for x in (0, 1, -1) for y in (0, 1, -1)], dtype=float)
_BY_AXES = np.argsort(np.abs(_GRID).sum(axis=1), kind="stable")[1:]
ALL_ROUND = _GRID[_BY_AXES] / np.linalg.norm(_GRID[_BY_AXES], axis=1, keepdims=True)

# Triangles that overlap a convex form, checked for the deepest in each chunk.
_CONTACTS = 2048


class Placed:
    """Forms and, as the last part, a floor where there is one (its height in metres).

    T (N, 4, 4) places them; low, high (N, 3) are boxes around them. Call `moved` after changing T of some.
    """

    def __init__(self, forms: Sequence[Form], floor: float | None) -> None:
        n = len(forms) + (floor is not None)
        self.forms = tuple(forms)
        self.height = np.nan if floor is None else floor
        self.floor = -1 if floor is None else len(forms)
        self.T = np.tile(np.eye(4), (n, 1, 1))
        self.low, self.high = np.full((n, 3), -np.inf), np.full((n, 3), np.inf)
        if floor is not None:
            self.high[self.floor, 2] = floor
        self._center, self._half = np.zeros((n, 3)), np.zeros((n, 3))
        if forms:
            bounds = np.stack([form.bounds for form in forms])
            self.low[: len(forms)], self.high[: len(forms)] = bounds[:, 0], bounds[:, 1]
            self._center[: len(forms)], self._half[: len(forms)] = bounds.mean(axis=1), 0.5 * np.ptp(bounds, axis=1)
        self._broken = np.zeros(n, dtype=bool)
        self._stale = np.zeros(n, dtype=bool)
        self._poses = [coal.Transform3s.Identity() for _ in range(n)]
        self._rank = np.array([0 if f.convex else 1 for f in forms] + [2] * (floor is not None))
        self._collide = coal.CollisionRequest()
        self._collide.num_max_contacts = 1
        self._collided = coal.CollisionResult()
        self._probe = coal.CollisionRequest()
        self._probe.num_max_contacts = _CONTACTS
        self._probe.enable_contact = True
        self._measure = coal.DistanceRequest()
        self._measure.enable_signed_distance = True
        self._measured = coal.DistanceResult()

    def moved(self, rows: NDArray[np.int64]) -> None:
        """Take note that T of these parts has changed."""
        boxes.around(rows, self.T, self._center, self._half, self.low, self.high)
        self._broken[rows] = ~np.isfinite(self.low[rows] + self.high[rows]).all(axis=1)
        self._stale[rows] = True
        if self._broken.any():
            self.low[self._broken], self.high[self._broken] = -np.inf, np.inf

    def hit(self, a: int, b: int) -> bool:
        """Return whether two parts touch or overlap; a place that is not finite touches everything."""
        if self._broken[a] or self._broken[b]:
            return True
        if self._rank[b] < self._rank[a]:
            a, b = b, a
        if b == self.floor:
            return not self._above_floor(a)[0] > 0.0
        return self._boxes_meet(a, b) and (self.surfaces_meet(a, b) or self._swallowed(a, b))

    def within(self, a: int, b: int, margin: float) -> bool:
        """Return whether two parts come within a margin of each other, metres, or overlap; `hit` with a reserve."""
        if self._broken[a] or self._broken[b]:
            return True
        if self._rank[b] < self._rank[a]:
            a, b = b, a
        if b == self.floor:
            return not self._above_floor(a)[0] > margin
        apart = np.maximum(self.low[a] - self.high[b], self.low[b] - self.high[a])
        if float(apart.max()) > margin:
            return False
        self._collide.security_margin = margin
        try:
            return self.surfaces_meet(a, b, margin) or self._swallowed(a, b)
        finally:
            self._collide.security_margin = 0.0

    def distance(self, a: int, b: int, limit: float = np.inf) -> tuple[float | None, Array | None]:
        """Signed distance in metres and nearest points (2, 3), that of `a` first.

        Beyond `limit`, that and no points. Where two parts overlap: minus the depth, or None where that is unknown.
        """
        if self._broken[a] or self._broken[b]:
            return None, None
        if self._rank[b] < self._rank[a]:
            value, points = self.distance(b, a, limit)
            return value, None if points is None else points[::-1]
        if b == self.floor:
            height, points = self._above_floor(a)
            return (height, points) if height < limit else (limit, None)
        gap = np.maximum(np.maximum(self.low[a] - self.high[b], self.low[b] - self.high[a]), 0.0)
        if float(gap @ gap) >= limit * limit:
            return limit, None
        value, points = self._between_surfaces(a, b, limit)
        if not value > 0.0 or (self._boxes_meet(a, b) and self._swallowed(a, b)):
            return self._deepest(a, b, value, points)
        return value, points

    def overlap(self, a: int, b: int) -> float | None:
        """Minus the depth of two parts that are known to overlap, as `distance` has it; quick for two surfaces."""
        surfaces = self._rank[a] == self._rank[b] == 1 and not (self._broken[a] or self._broken[b])
        value = self._deepest(a, b, np.nan, None)[0] if surfaces else None
        return self.distance(a, b, TINY)[0] if value is None else value

    def shifted_distance(self, a: int, b: int, shift: Array, limit: float) -> tuple[float | None, Array | None]:
        """`distance` with part `a` shifted by a vector (3,), metres."""
        with self._shifted(a, shift):
            return self.distance(a, b, limit)

    def shifted_hit(self, a: int, b: int, shift: Array) -> bool:
        """`hit` with part `a` shifted by a vector (3,), metres."""
        with self._shifted(a, shift):
            return self.hit(a, b)

    def separation(self, a: int, b: int, most: float) -> float:
        """Length of a shift of `a` that parts two forms which overlap, at most `most` metres; inf where none is found.

        No point of the one is then deeper in the other: an upper bound of the depth, as `distance` has a lower one.
        """
        if self._rank[b] < self._rank[a]:
            a, b = b, a
        push, pushes = np.zeros(3), [np.zeros(3)]
        for _ in range(_PUSHES):
            with self._shifted(a, push):
                if not self.hit(a, b):
                    return float(np.linalg.norm(push))
                out = self._way_out(a, b)
            if out is None:
                break
            push = push + out
            pushes.append(out)
            if np.linalg.norm(push) > most:
                break
        ways = [w / np.linalg.norm(w) for w in (push, *pushes[1:]) if np.any(w)]
        for way in (*ways, *ALL_ROUND):
            with self._shifted(a, most * way):
                if not self.hit(a, b):
                    return most
        return np.inf

    @contextmanager
    def _shifted(self, a: int, shift: Array) -> Iterator[None]:
        """Part `a` elsewhere for a while."""
        kept, rows = self.T[a, :3, 3].copy(), np.array([a])
        self.T[a, :3, 3] += shift
        self.moved(rows)
        try:
            yield
        finally:
            self.T[a, :3, 3] = kept
            self.moved(rows)

    def _way_out(self, a: int, b: int) -> Array | None:
        """The shift (3,) of `a` that undoes its deepest contact with `b`, and a hair more."""
        one, other, result = self._pose(a), self._pose(b), self._collided
        best: tuple[float, Array] | None = None
        most = float(np.linalg.norm(np.ptp(self.forms[a].bounds, axis=0)))
        for _, i, j in self._chunks(a, b, 0.0):
            result.clear()
            coal.collide(self.forms[a].chunk(i), one, self.forms[b].chunk(j), other, self._probe, result)
            for contact in result.getContacts() if result.isCollision() else ():
                depth = -float(contact.penetration_depth)
                if depth <= most and (best is None or depth > best[0]):
                    best = depth, -np.array(contact.normal, dtype=float)
        return None if best is None else best[1] * (max(best[0], 0.0) + 10.0 * TINY)

    def surfaces_meet(self, a: int, b: int, margin: float = 0.0) -> bool:
        """Return whether the surfaces of two forms meet; convex forms are full to the middle.

        Chunks are checked whose boxes are no farther apart than a margin.
        """
        one, other, result = self._pose(a), self._pose(b), self._collided
        for _, i, j in self._chunks(a, b, margin):
            result.clear()
            coal.collide(self.forms[a].chunk(i), one, self.forms[b].chunk(j), other, self._collide, result)
            if result.isCollision():
                return True
        return False

    def _between_surfaces(self, a: int, b: int, limit: float) -> tuple[float, Array | None]:
        """Coal's signed distance, not more than `limit`; NaN where it is not a number."""
        one, other, result = self._pose(a), self._pose(b), self._measured
        value: float = limit
        points: Array | None = None
        for gap, i, j in self._chunks(a, b, limit):
            if gap > max(value, 0.0):
                break
            result.clear()
            if value < np.inf:
                result.min_distance = max(value, TINY)
            coal.distance(self.forms[a].chunk(i), one, self.forms[b].chunk(j), other, self._measure, result)
            found = float(result.min_distance)
            if not np.isfinite(found):
                return np.nan, None
            if found < value:
                near = np.stack([result.getNearestPoint1(), result.getNearestPoint2()])
                value, points = found, near if np.all(np.isfinite(near)) else None
        return value, points

    def _contacts(self, a: int, b: int) -> Iterator[tuple[float, Array]]:
        """Depth and nearest points of the deepest contact of a convex form with a surface, chunk by chunk."""
        one, other, result = self._pose(a), self._pose(b), self._collided
        for _, i, j in self._chunks(a, b, 0.0):
            result.clear()
            coal.collide(self.forms[a].chunk(i), one, self.forms[b].chunk(j), other, self._probe, result)
            if result.isCollision():
                deepest = min(result.getContacts(), key=lambda contact: contact.penetration_depth)
                points = np.stack([deepest.getNearestPoint1(), deepest.getNearestPoint2()])
                yield -float(deepest.penetration_depth), points

    def _chunks(self, a: int, b: int, margin: float) -> list[tuple[float, int, int]]:
        """Gaps and numbers of the chunks of two forms whose boxes are no farther apart than a margin, nearest first."""
        ours, theirs = self.forms[a].boxes, self.forms[b].boxes
        if len(ours) == len(theirs) == 1:
            return [(0.0, 0, 0)]
        gaps, numbers = boxes.close(ours, theirs, boxes.relative(self.T, a, b), min(margin, _FAR))
        return [(gap, i, j) for gap, (i, j) in zip(gaps.tolist(), numbers.tolist(), strict=True)]

    def _boxes_meet(self, a: int, b: int) -> bool:
        return bool(boxes.meet(self.low, self.high, a, b))

    def _pose(self, i: int) -> Any:
        pose = self._poses[i]
        if self._stale[i]:
            pose.setRotation(self.T[i, :3, :3])
            pose.setTranslation(self.T[i, :3, 3])
            self._stale[i] = False
        return pose

    def _above_floor(self, i: int) -> tuple[float, Array]:
        """Height of a form's lowest point above the floor, that point and the one of the floor below it."""
        form = self.forms[i]
        points = apply(self.T[i], form.points)
        lowest = points[int(np.argmin(points[:, 2]))] - [0.0, 0.0, form.radius]
        return float(lowest[2] - self.height), np.stack([lowest, [lowest[0], lowest[1], self.height]])

    def _swallowed(self, a: int, b: int) -> bool:
        """Return whether a connected part of one is inside a solid of the other, if their surfaces do not meet."""
        return self._inside(a, b) or self._inside(b, a)

    def _inside(self, a: int, b: int) -> bool:
        solid = self.forms[b].solid
        if solid is None:
            return False
        return solid.contains_any(boxes.relative(self.T, a, b), self.forms[a].seeds)

    def _deepest(self, a: int, b: int, value: float, points: Array | None) -> tuple[float | None, Array | None]:
        """Minus the depth of two forms that overlap: of a convex one and a triangle, or of a point inside a solid.

        Neither is more than the shortest shift that parts the two; the largest is taken. Two surfaces have none where
        no closed part contains a vertex of the other.
        """
        one, other = self.forms[a], self.forms[b]
        known = one.convex and bool(np.isfinite(value)) and value > -_FAR
        depth = max(-value, 0.0) if known else 0.0
        if one.convex and not other.convex:
            # where an axis lies in a triangle Coal's depth is the largest number there is
            most = float(np.linalg.norm(np.ptp(one.bounds, axis=0)))
            for found, near in self._contacts(a, b):
                if depth < found <= most:
                    depth, points = found, near
        for p, q, inner, outer in ((a, b, one, other), (b, a, other, one)):
            if outer.solid is None:
                continue
            probes = apply(boxes.relative(self.T, p, q), inner.probes)
            probes = probes[((probes >= outer.bounds[0]) & (probes <= outer.bounds[1])).all(axis=1)]
            if not len(probes):
                continue
            deep = outer.solid.depth(probes)
            i = int(np.argmax(deep))
            if deep[i] > 0.0 and deep[i] + inner.radius > depth:
                known, depth = True, float(deep[i] + inner.radius)
                here = apply(self.T[q], probes[i : i + 1])[0]
                points = np.stack([here, here])
        return (-depth if known else None), points
