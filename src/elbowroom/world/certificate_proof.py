"""The quick part of a proof: sound bounds on distance against bounds on travel, interval by interval, bisected.

For a pair and an interval (Schwarzer, Saha and Latombe 2005): where the distances at both ends add up to more than the
two parts can travel towards each other in between, they do not meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.robot import Robot
from elbowroom.geometry.fields import nowhere
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import fields, sweep
from elbowroom.kernels.sweep import Tree
from elbowroom.stopping import may_stop_here, report
from elbowroom.world.certificate_units import ProofStage, Units, hollow_fields, movers_of
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import holds_at
from elbowroom.world.scene_field import scene_field
from elbowroom.world.world import Record


def near_units(
    parts: NDArray[np.int64],
    tree: Tree,
    ball: Array,
    joint: NDArray[np.int64],
    bodies: Iterable[tuple[slice, Array]],
    floor: float,
    margin: float,
) -> NDArray[np.int64]:
    """Units of parts (U, 2) that may come within a margin, metres, at or between any of the knots of a tree.

    ball (K, M, 4): spheres around parts in the world; joint (M,): their joints in the tree; bodies: the parts of each,
    and the transforms (K, 4, 4) of its root. Two parts of one body are compared in the root's frame, in which hands and
    feet hardly move while it walks.
    """
    near = np.ones(len(parts), dtype=bool)
    a, b = parts.T
    rows, radius = np.arange(ball.shape[1]), ball[0, :, 3]
    ways = _ways(tree, ball, joint, np.column_stack([rows, np.full(len(rows), sweep.STATIC)]))
    low, high = ball[..., :3].min(axis=0), ball[..., :3].max(axis=0)
    ground = b == sweep.FLOOR
    # NaN counts as near
    near[ground] = ~(low[a[ground], 2] - radius[a[ground]] - floor - 0.5 * ways[a[ground]] > margin)
    two = np.flatnonzero(b >= 0)
    near[two] = ~(_gaps(low, high, a[two], b[two]) - (radius + 0.5 * ways)[parts[two]].sum(axis=1) > margin)
    for own, root in bodies:
        at_root = [m for m in rows[own].tolist() if joint[m] == joint[own].min()]
        same = np.flatnonzero((a >= own.start) & (a < own.stop) & (b >= own.start) & (b < own.stop))
        if not len(same) or tree.parent[0, joint[at_root[0]]] >= 0:
            continue
        ways = np.zeros(len(rows))
        ways[own] = _ways(tree, ball, joint, np.column_stack([rows[own], np.full(len(rows[own]), at_root[0])]))
        seen = np.zeros((len(ball), len(rows), 3))
        seen[:, own] = (ball[:, own, :3] - root[:, None, :3, 3]) @ root[:, :3, :3]
        gaps = _gaps(seen.min(axis=0), seen.max(axis=0), a[same], b[same])
        near[same] &= ~(gaps - (radius + 0.5 * ways)[parts[same]].sum(axis=1) > margin)
    return np.flatnonzero(near)


def _ways(tree: Tree, ball: Array, joint: NDArray[np.int64], units: NDArray[np.int64]) -> Array:
    """Upper bound on the approach of parts from knot to knot, (U,)."""
    way = np.zeros((len(units), len(ball) - 1))
    sweep.travel(tree, ball, joint, units, way)
    return way.max(axis=1)


def _gaps(low: Array, high: Array, a: NDArray[np.int64], b: NDArray[np.int64]) -> Array:
    """Distances (U,) of boxes."""
    return np.linalg.norm(np.maximum(np.maximum(low[a] - high[b], low[b] - high[a]), 0.0), axis=1)


# Knots processed together, few enough that boxes around people who walk side by side stay apart; bounds computed
# together: work may be cancelled in between.
_BLOCK = 48
_ROWS = 2_000
# Metres added to every travel: files hold single-precision numbers, which are this accurate within 100 m.
_ROUNDING = 2e-5
# Represents a bound without information, metres.
_NOTHING = -1e3
# Travel below which the exact test takes over, metres: from blunt bounds, and from sharp ones.
_BLUNT, _SHARP = 0.02, 0.001


@dataclass(frozen=True, eq=False)
class Items:
    """Units over intervals of time that are not proven yet.

    unit (I,); begin, end (I,) seconds; before, after (I,): lower bounds of the distances there; way (I,): travel in
    between, and bend (I,) its part that does not halve with the interval (`sweep.closing`); depth (I,): allowed
    overlap, metres. A negative depth also needs a shift of one of the two (`certificate_shifts`); what comes nearer
    than that is not proven here.
    """

    unit: NDArray[np.int64]
    begin: Array
    end: Array
    before: Array
    after: Array
    way: Array
    bend: Array
    depth: Array

    def __len__(self) -> int:
        return len(self.unit)

    @property
    def slack(self) -> Array:
        """Guaranteed clearance in the interval, (I,), allowed overlap and shifts included."""
        return 0.5 * (self.before + self.after - self.way) + self.depth

    @property
    def half_way(self) -> Array:
        """Travel in each half of the interval, (I,)."""
        return 0.5 * self.way + self.bend / 16.0

    def pick(self, rows: NDArray) -> Items:
        """Some of them."""
        return Items(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def halves(self, middle: Array) -> Items:
        """Both halves of each; `middle` (I,) are lower bounds of the distances halfway."""
        t = 0.5 * (self.begin + self.end)
        two = [
            (self.unit, self.unit),
            (self.begin, t),
            (t, self.end),
            (self.before, middle),
            (middle, self.after),
            (self.half_way, self.half_way),
            (0.25 * self.bend, 0.25 * self.bend),
            (self.depth, self.depth),
        ]
        return Items(*(np.concatenate(pair) for pair in two))


def joined(items: list[Items]) -> Items:
    """Several sets of items in one."""
    columns = ([getattr(i, name) for i in items] for name in Items.__dataclass_fields__)
    return Items(*(np.concatenate(c) for c in columns))


class Proof:
    """Bounds for the units of a stage.

    `allow` (U, K - 1) is the allowed overlap of a unit between knots, inf where it does not count; negative where it
    needs a shift. The static scene as a whole may not be touched; where one of its meshes may, the exact test decides.
    """

    def __init__(self, stage: ProofStage, exact: ExactWorld, units: Units) -> None:
        self.stage, self.exact, self.units = stage, exact, units
        self.movers = movers_of(exact)
        static = scene_field(exact.static) if (units.parts[:, 1] == sweep.STATIC).any() else None
        self._has_static = static is not None
        self._static = (static or nowhere()).arrays
        hollow = hollow_fields(exact)
        self._hollow = hollow if hollow is not None else self._static
        self._floor = exact.placed.height
        self._room = fields.new_room()
        self._joint = stage.joints_of(exact.parts)
        self._set_up_rows()
        self.allow = self._allowances()
        self._shift = float(-self.allow.min(initial=0.0))

    def place(self, record: Record) -> Array:
        """Transforms (N, M, 4, 4) of all moving parts."""
        T = np.empty((len(record), len(self.movers.radius), 4, 4))
        for name, rows, joints, local in self._bodies:
            np.matmul(record.joints[name][:, joints], local, out=T[:, rows])
        for name, row in self._things:
            T[:, row] = record.things[name]
        return T

    def bounds(
        self, T: Array, unit: NDArray[np.int64], time: NDArray[np.int64], need: Array, units: Units | None = None
    ) -> Array:
        """Lower bounds (I,) of distances of units at transforms T (N, M, 4, 4); see `sweep.bounds`."""
        out = np.zeros(len(unit))
        around = self._floor, self._static, self._has_static, self._hollow
        for first in range(0, len(unit), _ROWS):
            may_stop_here()
            rows = slice(first, first + _ROWS)
            asked = unit[rows], time[rows], need[rows]
            sweep.bounds(self.movers, T, (units or self.units).parts, *around, *asked, self._room, out[rows])
        return out

    def at(self, unit: NDArray[np.int64], times: Array, need: Array) -> Array:
        """Lower bounds (I,) of distances of units at times (I,)."""
        moments, row = np.unique(times, return_inverse=True)
        out = np.zeros(len(unit))
        for first in range(0, len(moments), _BLOCK):
            mine = (row >= first) & (row < first + _BLOCK)
            T = self.place(self.stage.world.record(moments[first : first + _BLOCK]))
            out[mine] = self.bounds(T, unit[mine], row[mine] - first, need[mine])
        return out

    def first_pass(self, margin: float) -> tuple[Items, Items, Items]:
        """All units from knot to knot: unproven items; those with less than `margin` to spare that may not touch; and
        those in allowed contact, as far as known.
        """
        open_items: list[Items] = []
        close: list[Items] = []
        touches: list[Items] = []
        knots = self.stage.knots
        for first in range(0, len(knots) - 1, _BLOCK):
            last = min(first + _BLOCK, len(knots) - 1)
            report("distances between frames", first / len(knots))
            times = knots[first : last + 1]
            record = self.stage.world.record(times)
            tree, T = self.stage.tree(record), self.place(record)
            ball = np.zeros((*T.shape[:2], 4))
            sweep.spheres(self.movers, T, ball)
            roots = [(rows, record.joints[name][:, 0]) for name, rows, _, _ in self._people]
            reach = margin + self._shift + _ROUNDING
            near = near_units(self.units.parts, tree, ball, self._joint, roots, self._floor, reach)
            allow, parts = self.allow[near, first:last], self.units.parts[near]
            way = np.zeros(allow.shape)
            bend = np.zeros(allow.shape)
            sweep.travel(tree, ball, self._joint, parts, way)
            plain = way.copy()
            sweep.closing(self.movers, T, tree, ball, self._joint, parts, way, bend)
            # a shifted part moves differently relative to the other
            way, bend = np.where(allow < 0.0, plain, way) + _ROUNDING, np.where(allow < 0.0, 0.0, bend)
            need = np.zeros((len(near), len(times)))
            need[:, 1:] = way
            need[:, :-1] = np.maximum(need[:, :-1], way)
            wanted = np.maximum(margin, -allow.min(axis=1, initial=0.0))[:, None]
            need = 0.5 * need + wanted
            unit = np.repeat(near, len(times))
            time = np.tile(np.arange(len(times)), len(near))
            d = self.bounds(T, unit, time, need.ravel()).reshape(need.shape)
            u, k = np.nonzero(~(0.5 * (d[:, :-1] + d[:, 1:] - way) > wanted))
            items = Items(near[u], times[k], times[k + 1], d[u, k], d[u, k + 1], way[u, k], bend[u, k], allow[u, k])
            static = self.units.parts[items.unit, 1] == sweep.STATIC
            close.append(replace(items, depth=np.maximum(items.depth, 0.0)).pick((items.depth == 0.0) | static))
            items = self._measurable(items)
            open_items.append(items.pick(~(items.slack > 0.0)))
            may = np.isfinite(items.depth) & (items.depth > 0.0)
            touches.append(items.pick(may & ~(items.before + items.after > items.way)))
        return joined(open_items), joined(close), joined(touches)

    def settle(self, items: Items) -> Items:
        """Bisect unproven items as long as bounds may decide; the rest is for the exact test."""
        rest: list[Items] = []
        while len(items):
            sharp = self.units.sharp[items.unit]
            unknown = ~((items.before + items.depth > 0.0) & (items.after + items.depth > 0.0))
            done = unknown | (items.way < np.where(sharp, _SHARP, _BLUNT))
            rest.append(items.pick(done))
            items = items.pick(~done)
            if not len(items):
                break
            middle = self.at(items.unit, 0.5 * (items.begin + items.end), 0.5 * items.half_way)
            items = self._measurable(items.halves(middle))
            items = items.pick(~(items.slack > 0.0))
        return joined(rest) if rest else items

    def _measurable(self, items: Items) -> Items:
        """Items without information on those in allowed overlap, whose depth the exact test measures.

        Only for the floor are negative bounds known to be depths.
        """
        overlapping = (items.depth > 0.0) & np.isfinite(items.depth) & (self.units.parts[items.unit, 1] != sweep.FLOOR)
        before, after = (np.where(overlapping & ~(d > 0.0), _NOTHING, d) for d in (items.before, items.after))
        return replace(items, before=before, after=after)

    def contact(self, pair: int, time: float) -> Contact | None:
        """The contact that allows a pair the deepest overlap at a time."""
        now = (c for c in self.exact.contacts.get(pair, ()) if holds_at(c.during, time))
        return max(now, key=lambda c: c.depth, default=None)

    def depth_allowed(self, pair: int, time: float) -> float:
        """Allowed overlap of a pair at a time, metres; negative if it is allowed only by a shift."""
        contact = self.contact(pair, time)
        if contact is None:
            return 0.0
        return -contact.depth if self.exact.by_shift[pair] else contact.depth

    def _allowances(self) -> Array:
        knots = self.stage.knots
        middle = 0.5 * (knots[:-1] + knots[1:])
        allow = np.zeros((len(self.units), len(middle)))
        unit_of = {k: u for u, pairs in enumerate(self.units.pairs) for k in pairs}
        static = self.units.parts[:, 1] == sweep.STATIC
        for k, contacts in self.exact.contacts.items():
            u, shifted = unit_of.get(k, -1), bool(self.exact.by_shift[k])
            for contact in contacts if u >= 0 and (shifted or not static[u]) else ():
                during = (middle >= contact.during[0]) & (middle <= contact.during[1])
                deeper = np.minimum if shifted else np.maximum
                allow[u, during] = deeper(allow[u, during], -contact.depth if shifted else contact.depth)
        for k, intervals in self.exact.off.items():
            for begin, end in intervals if k in unit_of and not static[unit_of[k]] else ():
                allow[unit_of[k], (middle >= begin) & (middle <= end)] = np.inf
        return allow

    def _set_up_rows(self) -> None:
        parts = self.exact.parts
        self._bodies = []
        for name in self.exact.world.characters:
            rows = [i for i, p in enumerate(parts) if p.kind == "body" and p.owner == name]
            shapes = [s for s in (parts[i].shape for i in rows) if s is not None]
            if rows:
                local = np.stack([s.T_joint_shape for s in shapes])
                self._bodies.append((name, slice(rows[0], rows[-1] + 1), np.array([s.joint for s in shapes]), local))
        self._things = [(p.owner, i) for i, p in enumerate(parts) if p.kind == "thing"]
        # links of robots move individually, not with their base
        self._people = [b for b in self._bodies if not isinstance(self.exact.world.body(b[0]), Robot)]
