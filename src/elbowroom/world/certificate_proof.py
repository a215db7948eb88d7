"""The quick part of a proof: sound bounds on distance against bounds on travel, interval by interval, bisected.

For a pair and an interval (Schwarzer, Saha and Latombe 2005): where the distances at both ends add up to more than the
two parts can travel towards each other in between, they do not meet in between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.fields import nowhere
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import fields, sweep
from elbowroom.stopping import may_stop_here
from elbowroom.world.certificate_cull import near_units
from elbowroom.world.certificate_stage import LEAP, Stage
from elbowroom.world.certificate_units import Units, hollow_fields, movers_of
from elbowroom.world.exact import ExactWorld
from elbowroom.world.scene_field import scene_field
from elbowroom.world.world import Record

# Knots looked at together; bounds worked out together: in between work may be stopped.
_BLOCK = 240
_ROWS = 10_000
# Metres added to every travel, for rounding.
_ROUNDING = 1e-7
# Stands for a bound that says nothing, metres.
_NOTHING = -1e3
# Below this travel in metres the exact test takes over from bounds that are not sharp; from sharp ones below that.
_BLUNT, _SHARP = 0.02, 0.001


@dataclass(frozen=True, eq=False)
class Items:
    """Units over intervals of time that are not proven yet.

    unit (I,); begin, end (I,) seconds; before, after (I,): what the distances there certainly are; way (I,): travel in
    between; depth (I,): how deep they may overlap, metres.
    """

    unit: NDArray[np.int64]
    begin: Array
    end: Array
    before: Array
    after: Array
    way: Array
    depth: Array

    def __len__(self) -> int:
        return len(self.unit)

    @property
    def slack(self) -> Array:
        """What they certainly keep free in the interval, (I,), overlap allowed included."""
        return 0.5 * (self.before + self.after - self.way) + self.depth

    def pick(self, rows: NDArray) -> Items:
        """Some of them."""
        return Items(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def halves(self, middle: Array) -> Items:
        """Both halves of each; `middle` (I,) is what the distances halfway certainly are."""
        t = 0.5 * (self.begin + self.end)
        two = [
            (self.unit, self.unit),
            (self.begin, t),
            (t, self.end),
            (self.before, middle),
            (middle, self.after),
            (0.5 * self.way, 0.5 * self.way),
            (self.depth, self.depth),
        ]
        return Items(*(np.concatenate(pair) for pair in two))


def joined(items: list[Items]) -> Items:
    """Several sets of items in one."""
    columns = ([getattr(i, name) for i in items] for name in Items.__dataclass_fields__)
    return Items(*(np.concatenate(c) for c in columns))


class Proof:
    """Bounds for the units of a stage.

    `allow` (U, K - 1) is the depth that a unit may overlap by between knots, inf where it does not count. The static
    scene as a whole may not be touched; where one of its meshes may, the exact test sees to it.
    """

    def __init__(self, stage: Stage, exact: ExactWorld, units: Units) -> None:
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

    def place(self, record: Record) -> Array:
        """Places (N, M, 4, 4) of all parts that move."""
        T = np.empty((len(record), len(self.movers.radius), 4, 4))
        for name, rows, joints, local in self._bodies:
            np.matmul(record.joints[name][:, joints], local, out=T[:, rows])
        for name, row in self._things:
            T[:, row] = record.things[name]
        return T

    def bounds(
        self, T: Array, unit: NDArray[np.int64], time: NDArray[np.int64], need: Array, units: Units | None = None
    ) -> Array:
        """Distances (I,) that units certainly have at places T (N, M, 4, 4); see `sweep.bounds`."""
        out = np.zeros(len(unit))
        around = self._floor, self._static, self._has_static, self._hollow
        for first in range(0, len(unit), _ROWS):
            may_stop_here()
            rows = slice(first, first + _ROWS)
            asked = unit[rows], time[rows], need[rows]
            sweep.bounds(self.movers, T, (units or self.units).parts, *around, *asked, self._room, out[rows])
        return out

    def at(self, unit: NDArray[np.int64], times: Array, need: Array) -> Array:
        """Distances (I,) that units certainly have at times (I,)."""
        moments, row = np.unique(times, return_inverse=True)
        out = np.zeros(len(unit))
        for first in range(0, len(moments), _BLOCK):
            mine = (row >= first) & (row < first + _BLOCK)
            T = self.place(self.stage.world.record(moments[first : first + _BLOCK]))
            out[mine] = self.bounds(T, unit[mine], row[mine] - first, need[mine])
        return out

    def first_pass(self, margin: float) -> tuple[Items, Items, dict[int, list[tuple[float, float]]]]:
        """All units from knot to knot: items that are not proven; those with less than `margin` to spare; touches.

        The touches are, for parts that may press into the floor and do, times of knots and heights there.
        """
        open_items: list[Items] = []
        close: list[Items] = []
        touches: dict[int, list[tuple[float, float]]] = {}
        knots = self.stage.knots
        for first in range(0, len(knots) - 1, _BLOCK):
            last = min(first + _BLOCK, len(knots) - 1)
            times = knots[first : last + 1]
            record = self.stage.world.record(times)
            tree, T = self.stage.tree(record), self.place(record)
            ball = np.zeros((*T.shape[:2], 4))
            sweep.spheres(self.movers, T, ball)
            roots = [(rows, record.joints[name][:, 0]) for name, rows, _, _ in self._bodies]
            near = near_units(self.units.parts, tree, ball, self._joint, roots, self._floor, margin + _ROUNDING)
            allow, parts = self.allow[near, first:last], self.units.parts[near]
            way = np.zeros(allow.shape)
            sweep.travel(tree, ball, self._joint, parts, way)
            way += _ROUNDING
            need = np.zeros((len(near), len(times)))
            need[:, 1:] = way
            need[:, :-1] = np.maximum(need[:, :-1], way)
            need = 0.5 * need + margin
            unit = np.repeat(near, len(times))
            time = np.tile(np.arange(len(times)), len(near))
            d = self.bounds(T, unit, time, need.ravel()).reshape(need.shape)
            u, k = np.nonzero(~(0.5 * (d[:, :-1] + d[:, 1:] - way) > margin))
            items = Items(near[u], times[k], times[k + 1], d[u, k], d[u, k + 1], way[u, k], allow[u, k])
            close.append(items.pick(items.depth == 0.0))
            items = self._measurable(items)
            open_items.append(items.pick(~(items.slack > 0.0)))
            may = np.zeros(need.shape, dtype=bool)
            may[:, :-1] = np.isfinite(allow) & (allow > 0.0) & (parts[:, 1:] == sweep.FLOOR)
            may[:, 1:] |= may[:, :-1]
            for u, k in zip(*np.nonzero(may & ~(d > 0.0)), strict=True):
                touches.setdefault(int(near[u]), []).append((float(times[k]), float(d[u, k])))
        return joined(open_items), joined(close), touches

    def touching(self, units: Units, times: Array) -> list[tuple[int, float, float]]:
        """Units, times and bounds that are not positive, at times (N,): what may touch then."""
        found = []
        for first in range(0, len(times), _BLOCK):
            here = times[first : first + _BLOCK]
            T = self.place(self.stage.world.record(here))
            unit = np.repeat(np.arange(len(units)), len(here))
            time = np.tile(np.arange(len(here)), len(units))
            d = self.bounds(T, unit, time, np.zeros(len(unit)), units)
            rows = np.flatnonzero(~(d > 0.0))
            found += list(zip(unit[rows].tolist(), here[time[rows]].tolist(), d[rows].tolist(), strict=True))
        return found

    def settle(self, items: Items) -> Items:
        """Bisect what is not proven as long as bounds may do it; the rest is for the exact test."""
        rest: list[Items] = []
        while len(items):
            sharp = self.units.sharp[items.unit]
            unknown = ~((items.before + items.depth > 0.0) & (items.after + items.depth > 0.0))
            done = unknown | (items.way < np.where(sharp, _SHARP, _BLUNT))
            rest.append(items.pick(done))
            items = items.pick(~done)
            if not len(items):
                break
            middle = self.at(items.unit, 0.5 * (items.begin + items.end), 0.25 * items.way)
            items = self._measurable(items.halves(middle))
            items = items.pick(~(items.slack > 0.0))
        return joined(rest) if rest else items

    def _measurable(self, items: Items) -> Items:
        """Items, with nothing said of those that may overlap and do: how deep they are is for the exact test to tell.

        Only of the floor are bounds below zero known to be depths.
        """
        told = (items.depth > 0.0) & np.isfinite(items.depth) & (self.units.parts[items.unit, 1] != sweep.FLOOR)
        before, after = (np.where(told & ~(d > 0.0), _NOTHING, d) for d in (items.before, items.after))
        return replace(items, before=before, after=after)

    def depth_allowed(self, pair: int, time: float) -> float:
        """How deep a pair may overlap at a time, metres."""
        contacts = self.exact.contacts.get(pair, ())
        return max((c.depth for c in contacts if c.during[0] <= time <= c.during[1]), default=0.0)

    def _allowances(self) -> Array:
        knots = self.stage.knots
        middle = 0.5 * (knots[:-1] + knots[1:])
        allow = np.zeros((len(self.units), len(middle)))
        unit_of = {pairs[0]: u for u, pairs in enumerate(self.units.pairs) if self.units.parts[u, 1] != sweep.STATIC}
        for k, contacts in self.exact.contacts.items():
            for contact in contacts if k in unit_of else ():
                during = (middle >= contact.during[0]) & (middle <= contact.during[1])
                allow[unit_of[k], during] = np.maximum(allow[unit_of[k], during], contact.depth)
        for k, intervals in self.exact.off.items():
            for begin, end in intervals if k in unit_of else ():
                allow[unit_of[k], (middle >= begin) & (middle <= end)] = np.inf
        owner = np.array([p.owner for p in self.exact.parts])
        for name, t in self.stage.jumps:  # nothing is proven of a leap
            leaping = ((owner[self.units.parts] == name) & (self.units.parts >= 0)).any(axis=1)
            allow[np.ix_(leaping, (middle > t - LEAP) & (middle < t))] = np.inf
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
