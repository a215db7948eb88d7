"""Collision pairs of a limb: its pieces, the items around it, and which pairs of them count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.cover import BallTree, ball_tree, mesh_tree, packed_trees, shape_tree
from elbowroom.geometry.fields import DistanceField, distance_field
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape, hull_of
from elbowroom.geometry.transforms import apply
from elbowroom.kernels.cover import Balls
from elbowroom.kernels.limb_world import COUNTS, IGNORED, TOLD
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_forms import Surface
from elbowroom.world.fast_tables import Item, LimbGrip, LimbJoints, LimbPiece
from elbowroom.world.paths import Interval
from elbowroom.world.scene_field import with_area


class ContactAllowances:
    """Columns of `Around.allowances`, one for each kind of allowance for pairs over a span."""

    def __init__(self, exact: ExactWorld, span: Interval) -> None:
        self._exact, self._span = exact, span
        self._columns: dict[tuple[tuple[Interval, ...], tuple[tuple[Interval, float], ...]], int] = {}
        self.concerned = np.array([*exact.off, *exact.contacts], np.int64)

    def mode(self, k: int, *holds: Interval) -> int:
        """Return whether a pair, by number, counts over the span, or as far as holds last."""
        exact = self._exact
        off = [d for d in exact.off.get(k, ()) if self._meets(d, *holds)]
        touch = [(c.during, c.depth) for c in exact.contacts.get(k, ()) if self._meets(c.during, *holds)]
        begin, end = self._narrowed(*holds)
        if any(d[0] <= begin and d[1] >= end for d in off):
            return IGNORED
        return self._column(off, touch) if off or touch else COUNTS

    def static_mode(self, numbers: list[int], *holds: Interval) -> int:
        """The same for pairs of one part with the whole static scene: where it may touch some, it is asked."""
        touch = [
            (c.during, 0.0) for k in numbers for c in self._exact.contacts.get(k, ()) if self._meets(c.during, *holds)
        ]
        return self._column([], touch) if touch else COUNTS

    def table(self, times: Array) -> Array:
        """Allowances (S, K) from each row of time to the next, within the span; a single row is for all of it."""
        begin, end = times, np.append(times[1:], times[-1])
        if len(times) == 1:
            begin, end = np.array([self._span[0]]), np.array([self._span[1]])
        begin, end = np.minimum(begin, self._span[1]), np.minimum(end, self._span[1])
        out = np.full((len(times), len(self._columns)), -1.0)
        for (off, touch), c in self._columns.items():
            for (first, last), depth in (*touch, *((d, np.inf) for d in off)):
                some, whole = (begin <= last) & (end >= first), (begin >= first) & (end <= last)
                out[some, c] = np.maximum(out[some, c], 0.0)
                out[whole, c] = np.maximum(out[whole, c], depth)
        return out

    def _column(self, off: list[Interval], touch: list[tuple[Interval, float]]) -> int:
        key = (tuple(sorted(set(off))), tuple(sorted(set(touch))))
        return TOLD + self._columns.setdefault(key, len(self._columns))

    def _narrowed(self, *holds: Interval) -> Interval:
        begin, end = self._span
        for first, last in holds:
            begin, end = max(begin, first), min(end, last)
        return begin, end

    def _meets(self, during: Interval, *holds: Interval) -> bool:
        begin, end = self._narrowed(*holds)
        return during[0] <= end and during[1] >= begin


# A group of more capsules than this is covered by balls, whose tree rejects most of them at once.
_FEW = 2


class Brought(NamedTuple):
    """A part that the search moves: the joint that carries it, its transform on that joint, and the grip if it is held.

    `ride` is the transform of its body joint on the carrier; for a held object its own.
    """

    part: int
    carrier: int
    T: Array
    grip: LimbGrip | None
    ride: Array

    @property
    def holds(self) -> tuple[tuple[float, float], ...]:
        """Interval of its presence, if not always."""
        return () if self.grip is None else (self.grip.hold.during,)


class Parts:
    """Pieces, items and static meshes of one limb; mode (E, items + 2): which pairs count, static and floor last."""

    def __init__(
        self, exact: ExactWorld, who: str, joints: LimbJoints, grips: list[LimbGrip], span: tuple[float, float]
    ):
        self._exact = exact
        self._made_items: dict[int, Item] = {}
        self.allowances = ContactAllowances(exact, span)
        self.brought: list[Brought] = []
        for i, p in enumerate(exact.parts):
            if p.kind == "body" and p.owner == who and p.joint in joints.rides:
                assert p.shape is not None
                carrier, M = joints.rides[p.joint]
                self.brought.append(Brought(i, carrier, M @ p.shape.T_joint_shape, None, M))
        self.limb = {b.part: b for b in self.brought}
        self.brought += [Brought(g.part, g.carrier, g.T, g, g.T) for g in grips]
        self.floor = next((i for i, p in enumerate(exact.parts) if p.kind == "floor"), -1)
        self.static = [i for i, p in enumerate(exact.parts) if p.kind == "static"]
        numbers = exact.number[[b.part for b in self.brought]]
        movers = len(exact.number)
        tabled = [i for i in np.flatnonzero((numbers[:, :movers] >= 0).any(axis=0)).tolist() if i not in self.limb]
        own = self._own_modes()
        rides = np.flatnonzero((own != IGNORED).any(axis=0))
        self.items = [self._item(i) for i in tabled]
        for n in rides:
            b = self.brought[n]
            self.items.append(replace(self._item(b.part), carrier=b.carrier, T=b.T, grip=b.grip))
        modes = np.zeros((len(self.brought), len(self.items) + 2), np.int32)
        modes[:, : len(tabled)] = self._modes(numbers[:, tabled])
        modes[:, len(tabled) : -2] = own[:, rides]
        modes[:, -2] = self._static_modes(numbers[:, self.static])
        if self.floor >= 0:
            modes[:, -1:] = self._modes(numbers[:, [self.floor]])
        self.pieces, self.mode = self._pieces(modes)

    def pair(self, a: int, b: int) -> int:
        """Number of a pair of the exact world, -1 where it does not count."""
        number = self._exact.number
        if a < len(number):
            return number.item(a, b)
        return number.item(b, a) if b < len(number) else -1

    def _modes(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Modes of pairs of what is brought (B,) with others, by number."""
        modes = (numbers >= 0).astype(np.int32)
        for n, m in zip(*np.nonzero(np.isin(numbers, self.allowances.concerned)), strict=True):
            modes[n, m] = self.allowances.mode(int(numbers[n, m]), *self.brought[n].holds)
        return modes

    def _static_modes(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        modes: NDArray[np.int32] = np.any(numbers >= 0, axis=1).astype(np.int32)
        touched = np.isin(numbers, self.allowances.concerned)
        for n in np.flatnonzero(touched.any(axis=1)):
            modes[n] = self.allowances.static_mode(numbers[n, touched[n]].tolist(), *self.brought[n].holds)
        return modes

    def _own_modes(self) -> NDArray[np.int32]:
        """Modes (B, B) of two parts of the limb, of which the outer one is the piece, in the row."""
        rank = [(b.grip is not None, b.carrier, b.part) for b in self.brought]
        parts = [b.part for b in self.brought]
        number = self._exact.number[np.ix_(parts, parts)]
        modes = np.zeros(number.shape, np.int32)
        for n, m in zip(*np.nonzero(number >= 0), strict=True):
            if rank[n] >= rank[m]:
                modes[n, m] = self.allowances.mode(int(number[n, m]), *self.brought[n].holds, *self.brought[m].holds)
        return modes

    def fields(self) -> list[DistanceField]:
        """Fields of all parts that may move, each once: the same for every limb."""
        found = (self._item(i).field for i in range(len(self._exact.number)))
        return list(dict.fromkeys(field for field in found if field is not None))

    def _item(self, i: int) -> Item:
        if i not in self._made_items:
            self._made_items[i] = self._make_item(i)
        return self._made_items[i]

    def _make_item(self, i: int) -> Item:
        shape = self._exact.parts[i].shape
        size = None if shape is None else shape.size
        if shape is not None and size is not None and shape.kind != "mesh":
            radius = 0.0 if shape.kind == "box" else float(size[0])
            half = {"box": size, "capsule": np.array([0.0, 0.0, size[1]]), "sphere": np.zeros(3)}[shape.kind]
            return Item(i, half, radius, None, np.array([0.0, 0.0, 0.0, float(np.linalg.norm(half)) + radius]))
        mesh, closed = self.mesh_of(i)
        field = distance_field(mesh, closed=closed)
        return Item(i, np.zeros(3), 0.0, field, field.arrays.ball[0])

    def mesh_of(self, i: int) -> tuple[Mesh, NDArray | None]:
        """Triangles of a part in its own frame as the exact test sees them, and which of them bound solids."""
        form = self._exact.placed.forms[i]
        if isinstance(form, Surface):
            return with_area(form)
        shape = self._exact.parts[i].shape
        assert shape is not None and shape.mesh is not None
        return hull_of(shape.mesh), None

    def _pieces(self, modes: NDArray[np.int32]) -> tuple[list[LimbPiece], NDArray[np.int32]]:
        """Parts with the same carrier and the same pairs make one piece; modes (E, items + static + floor)."""
        groups: dict[tuple, list[int]] = {}
        for n, b in enumerate(self.brought):
            groups.setdefault((b.carrier, id(b.grip), modes[n].tobytes()), []).append(n)
        pieces: list[LimbPiece] = []
        rows: list[int] = []
        for members in groups.values():
            # overlap is known for single capsules only
            apart = bool((modes[members[0]] >= TOLD).any())
            made = self._made([self.brought[n] for n in members], apart)
            pieces += made
            rows += [members[0]] * len(made)
        return pieces, modes[rows]

    def _made(self, members: list[Brought], apart: bool) -> list[LimbPiece]:
        shapes = [self._exact.parts[b.part].shape for b in members]
        carrier, grip = members[0].carrier, members[0].grip
        round_ = all(s is not None and s.kind in ("capsule", "sphere") for s in shapes)
        if round_ and (apart or len(members) <= _FEW):
            return [
                LimbPiece(b.carrier, (b.part,), _capsule(s, b.T), None) for b, s in zip(members, shapes, strict=True)
            ]
        covers = [self._tree(b.part).moved(b.ride) for b in members]
        if len(members) > 1:
            whole = ball_tree(np.concatenate([c.ball for c in covers]))
            return [LimbPiece(carrier, tuple(b.part for b in members), None, whole, grip)]
        item = self._item(members[0].part)
        half = item.half if item.field is None else None
        return [LimbPiece(carrier, (members[0].part,), None, covers[0], grip, members[0].T, half, item.field)]

    def _tree(self, i: int) -> BallTree:
        """Balls of a part in the frame of the joint that it belongs to, of others in their own."""
        shape = self._exact.parts[i].shape
        return mesh_tree(*self.mesh_of(i)) if shape is None else shape_tree(shape)


def _capsule(shape: Shape | None, T: Array) -> Array:
    assert shape is not None
    half = shape.size[1] if shape.kind == "capsule" else 0.0
    a, b = apply(T, np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]))
    return np.array([*a, *b, shape.size[0]])


def packed(pieces: Sequence[LimbPiece]) -> tuple[Array, Array, Balls, NDArray[np.int64], NDArray[np.int64]]:
    """Spheres (E, 4), capsules (E, 7), covers, their roots (E,) and cores (E, C) of pieces."""
    nothing = ball_tree(np.zeros((1, 5)))
    balls, roots, cores = packed_trees([p.cover or nothing for p in pieces])
    capsules = np.array([[0, 0, 0, 0, 0, 0, -1.0] if p.capsule is None else p.capsule for p in pieces])
    spheres = balls.node[roots].copy()
    for e, p in enumerate(pieces):
        if p.capsule is not None:
            a, b, r = p.capsule[:3], p.capsule[3:6], p.capsule[6]
            spheres[e] = [*(0.5 * (a + b)), 0.5 * np.linalg.norm(b - a) + r]
    return spheres, capsules, balls, roots, cores
