"""The exact test's part in fast validity: it decides uncertain cases, and is the reference for all answers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array, to_matrix
from elbowroom.geometry.transforms import inverse
from elbowroom.kernels import boxes
from elbowroom.kernels.limb_world import FLOOR, STATIC, Around, Buffers
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_placed import Placed
from elbowroom.world.fast_parts import Parts
from elbowroom.world.fast_tables import WORLD, LimbJoints, Tables
from elbowroom.world.pairs import Pair
from elbowroom.world.world import Snapshot

# Error of the tables above which everything is placed again, metres.
_TRUST = 5e-4
# Times for which the world is remembered.
_SNAPSHOTS = 1024


@dataclass(frozen=True, eq=False)
class ThreadScratch:
    """Scratch memory of one thread; `decided`: whether postures that were in doubt are free, by rotations, root where
    that is searched, and time."""

    buffers: Buffers
    placed: Placed
    decided: dict[tuple[bytes, float], bool] = field(default_factory=dict)


class ExactJudge:
    """Exact answers for a limb; the state of a query is in scratch memory, one for each thread."""

    def __init__(
        self,
        exact: ExactWorld,
        who: str,
        joints: LimbJoints,
        parts: Parts,
        tables: Tables,
        around: Around,
        span: tuple[float, float],
    ) -> None:
        self._exact, self._who, self._joints, self._parts, self._tables = exact, who, joints, parts, tables
        self._start, self._rate, self.margin, self._span = around.start, around.rate, around.margin, span
        self._movers = np.flatnonzero([p.kind in ("body", "thing") for p in exact.parts])
        self._pairs: dict[frozenset[int], NDArray[np.int32]] = {}
        self._things = [(i, p.owner) for i, p in enumerate(exact.parts) if p.kind == "thing"]
        self._bodies: dict[str, tuple[list[int], list[int], Array]] = {}
        for name in exact.world.characters:
            own = [(i, p.shape) for i, p in enumerate(exact.parts) if p.owner == name and p.shape is not None]
            if own:
                local = np.stack([shape.T_joint_shape for _, shape in own])
                self._bodies[name] = ([i for i, _ in own], [shape.joint for _, shape in own], local)
        self._static: dict[int, NDArray[np.int32]] = {}
        self._snapshots: dict[float, Snapshot] = {}

    def placed(self) -> Placed:
        """All parts of the world, things where they are at the start."""
        placed = Placed(self._exact.placed.forms, self._exact.world.floor)
        places = self._exact.world.at(self._start).things
        for i, p in enumerate(self._exact.parts):
            if p.kind == "thing":
                placed.T[i] = places[p.owner]
        placed.moved(self._movers)
        return placed

    def blame(self, q: Array, t: float, scratch: ThreadScratch, count: int) -> Pair | None:
        """Colliding pair among uncertain ones, if any: placed by the tables, with their slack."""
        doubts = scratch.buffers.doubt[:count].tolist()
        row, share = self._row(t)
        slack = [self._slack(m, row, share) for _, m in doubts]
        if max(slack) > _TRUST:
            return self.exactly(q, t, scratch)
        self._place(scratch, doubts, row, share)
        now = self._when(t)
        for (e, m), off in zip(doubts, slack, strict=True):
            for a in self._parts.pieces[e].member:
                for b in self._others(scratch, a, m, self.margin + off):
                    if self._hit(scratch.placed, a, b, now, off):
                        touching = off > 0.0 and self._parts.pair(a, b) in self._exact.contacts
                        return self.exactly(q, t, scratch) if touching else self._pair(a, b)
        return None

    def names(self, scratch: ThreadScratch, e: int, m: int, t: float) -> list[Pair]:
        """Names of the colliding pairs of a piece and an item, as in scratch memory, else of the nearest one."""
        row, share = self._row(t)
        self._place(scratch, [[e, m]], row, share)
        found: list[tuple[float, Pair]] = []
        hit: list[Pair] = []
        for a in self._parts.pieces[e].member:
            for b in self._others(scratch, a, m, 0.05):
                if self._parts.pair(a, b) >= 0:
                    value, _ = scratch.placed.distance(a, b, 0.05)
                    found.append((-1.0 if value is None else value, self._pair(a, b)))
                    if found[-1][0] <= self.margin and self._hit(scratch.placed, a, b, self._when(t)):
                        hit.append(found[-1][1])
        return hit or [min(found)[1]] if found else []

    def exactly(self, q: Array, t: float, scratch: ThreadScratch, snapshot: Snapshot | None = None) -> Pair | None:
        """A colliding pair of the limb, if any, everything placed at a time and the limb by a posture."""
        exact, placed, parts = self._exact, scratch.placed, self._parts
        snapshot = snapshot or self._at(t)
        for name, (rows, joints, local) in self._bodies.items():
            placed.T[rows] = snapshot.joints[name][joints] @ local
        for i, name in self._things:
            placed.T[i] = snapshot.things[name]
        frames = self._frames(q, snapshot.joints[self._who])
        mine = set(parts.limb)
        for i, carrier, T, grip, _ in parts.brought:
            if grip is None or grip.hold.during[0] <= t < grip.hold.during[1]:
                placed.T[i] = frames[carrier] @ T
                mine.add(i)
        placed.moved(self._movers)
        wanted = self._pairs.get(frozenset(mine))
        if wanted is None:
            concern = np.isin(exact.index, list(mine)).any(axis=1)
            wanted = self._pairs[frozenset(mine)] = np.ascontiguousarray(exact.index[concern])
        gaps = np.empty(len(wanted))
        boxes.gaps(wanted, placed.low, placed.high, gaps)
        close = wanted[gaps <= self.margin].tolist()
        now = self._when(t)
        return next((self._pair(a, b) for a, b in close if self._hit(placed, a, b, now)), None)

    def _at(self, t: float) -> Snapshot:
        """The world at a time, cached: motions are checked many times at the times of their frames."""
        found = self._snapshots.get(t)
        if found is None:
            if len(self._snapshots) >= _SNAPSHOTS:
                self._snapshots.clear()
            found = self._snapshots[t] = self._exact.world.at(t)
        return found

    def _hit(self, placed: Placed, a: int, b: int, t: float, off: float = 0.0) -> bool:
        """Return whether two parts are closer than the margin without allowance at a time, with a position error."""
        limit = self.margin + off
        k = self._parts.pair(a, b)
        if k < 0 or not self._exact.counts(k, t):
            return False
        known = self._exact.contacts.get(k)
        contacts = [c for c in known if c.during[0] <= t <= c.during[1]] if known else None
        near = placed.within(a, b, limit) if limit > 0.0 else placed.hit(a, b)
        if not near or not contacts:
            return near
        value = placed.overlap(a, b) if limit == 0.0 or placed.hit(a, b) else 0.0
        return value is None or off - value > max(c.depth for c in contacts)

    def _row(self, t: float) -> tuple[int, float]:
        """Row of the tables that a time follows, and how far it is to the next, as the compiled check has it."""
        last = len(self._tables.times) - 1
        s = min(max((t - self._start) * self._rate, 0.0), float(last))
        k = min(int(s), max(last - 1, 0))
        s -= k
        if s < 1e-6:
            return k, 0.0
        return (min(k + 1, last), 0.0) if s > 1.0 - 1e-6 else (k, s)

    def _when(self, t: float) -> float:
        """The time at which holds and contacts are evaluated: that of a row, except for rounding."""
        row, share = self._row(t)
        if share == 0.0 and len(self._tables.times) > 1:
            t = float(self._tables.times[row])
        return min(max(t, self._span[0]), self._span[1])

    def _pair(self, a: int, b: int) -> Pair:
        a, b = min(a, b), max(a, b)
        return Pair(self._exact.parts[a].name, self._exact.parts[b].name)

    def _slack(self, m: int, row: int, share: float) -> float:
        if share == 0.0:
            return 0.0
        own = float(self._tables.base_slack[row])
        if m < 0:
            return own
        return own + (float(self._tables.slack[row, m]) if m < self._tables.slack.shape[1] else own)

    def _others(self, scratch: ThreadScratch, a: int, m: int, limit: float) -> list[int]:
        """Parts that item m represents, as far as part a may be near them."""
        if m == FLOOR:
            return [self._parts.floor]
        if m != STATIC:
            return [self._parts.items[m].part]
        if a not in self._static:
            self._static[a] = np.array([(a, b) for b in self._parts.static if self._parts.pair(a, b) >= 0], np.int32)
        pairs = self._static[a].reshape(-1, 2)
        gaps = np.empty(len(pairs))
        boxes.gaps(pairs, scratch.placed.low, scratch.placed.high, gaps)
        return [int(b) for b in pairs[gaps <= limit, 1]]

    def _place(self, scratch: ThreadScratch, doubts: list[list[int]], row: int, share: float) -> None:
        """Place uncertain parts by the frames in the buffers and the tables."""
        placed, frames, parts, rows = scratch.placed, scratch.buffers.frames, self._parts, []
        wanted = {i for e, _ in doubts for i in parts.pieces[e].member}
        items = {m for _, m in doubts if m >= 0}
        tabled = self._tables.placed.shape[1]
        wanted |= {parts.items[m].part for m in items if m >= tabled}
        for i, carrier, T, _, _ in parts.brought:
            if i in wanted:
                placed.T[i, :3] = frames[carrier] @ T
                rows.append(i)
        for m in items:
            if m < tabled:
                table, after = self._tables.placed, min(row + 1, len(self._tables.times) - 1)
                here = table[row, m] * (1.0 - share) + table[after, m] * share
                i = parts.items[m].part
                placed.T[i, :3, :3] = here[:, :3].T
                placed.T[i, :3, 3] = -here[:, :3].T @ here[:, 3]
                rows.append(i)
        placed.moved(np.array(rows))

    def _frames(self, q: Array, joints: Array) -> list[Array]:
        """Frames (4, 4) of the limb's joints for a posture, the rest of the body placed by joints (J, 4, 4)."""
        tables, body = self._tables, self._joints.body
        frames: list[Array] = []
        turned = to_matrix(q)
        base = np.eye(4) if self._joints.base == WORLD else joints[self._joints.base]
        for i, (parent, source) in enumerate(zip(tables.parent, tables.source, strict=True)):
            local = np.eye(4)
            if source >= 0:
                local[:3, :3], local[:3, 3] = turned[source], tables.offset[i]
            else:
                local = inverse(joints[body[parent]] if parent >= 0 else base) @ joints[body[i]]
            frames.append((frames[parent] if parent >= 0 else base) @ local)
        return frames
