"""What a search moves and what it may meet: a limb's joints, its pieces, the items around it, and which pairs count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Body
from elbowroom.errors import BadValue
from elbowroom.geometry.cover import BallTree, ball_tree, hull_of, mesh_tree, packed_trees, shape_tree
from elbowroom.geometry.fields import DistanceField, distance_field
from elbowroom.geometry.kept import KeptTogether, kept
from elbowroom.geometry.mending import has_area
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.kernels.cover import Balls
from elbowroom.kernels.limb_world import ASKS, COUNTS, IGNORED
from elbowroom.world.carried import Carried
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_forms import Surface
from elbowroom.world.things import Hold
from elbowroom.world.world import Record

# Local places that change by less than this over time do not move.
_RIGID = 1e-9
# A group of more capsules than this is covered by balls, whose tree leaves most of them out at once.
_FEW = 2


@dataclass(frozen=True, eq=False)
class Joints:
    """Joints that place a limb, parents first.

    body: their numbers in the body, (n,); searched: those that a posture turns, in its order; base: the joint that all
    hang on; rides: for every joint of the body that the search moves, which of `body` carries it and its place on it.
    """

    base: int
    body: tuple[int, ...]
    searched: tuple[int, ...]
    rides: dict[int, tuple[int, Array]]


@dataclass(frozen=True, eq=False)
class Grip:
    """A thing in a hand of the limb for a time: the joint that carries it, and its place on that joint."""

    hold: Hold
    part: int
    carrier: int
    T: Array


@dataclass(frozen=True, eq=False)
class Piece:
    """One or more parts that ride on a joint of the limb: a capsule (7,), or a cover of balls.

    `member` are parts of the exact world; `grip` is set for what a hand holds. Of a cover of one box or mesh alone, T
    is its place on the carrier, and half extents (3,) or a field are set.
    """

    carrier: int
    member: tuple[int, ...]
    capsule: Array | None
    cover: BallTree | None
    grip: Grip | None = None
    T: Array | None = None
    half: Array | None = None
    field: DistanceField | None = None


@dataclass(frozen=True, eq=False)
class Item:
    """A part that pieces may meet: half extents of a box (3,) with a rounding, or a field; ball (4,) around it.

    `carrier` is set, with the item's place on it, where it rides on the limb's own joints.
    """

    part: int
    half: Array
    rounding: float
    field: DistanceField | None
    ball: Array
    carrier: int = -1
    T: Array | None = None
    grip: Grip | None = None


def joints_of(body: Body, searched: Sequence[int], record: Record, who: str) -> Joints:
    """The joints that place a limb; those that do not move against their parents are left out."""
    parents = [int(p) for p in body.parents]
    wanted = set(searched)
    if not wanted or len(wanted) < len(searched) or 0 in wanted:
        raise BadValue("a limb is made of different joints, none of them the root.")
    moved = {j for top in wanted for j in body.subtree(top)}
    ways = [_way(parents, j) for j in searched]
    common = [set(w[:-1]) for w in ways]
    base = max(set.intersection(*common), key=lambda j: len(_way(parents, j)))
    while base in moved:
        base = parents[base]
    needed = {j for way in ways for j in way[way.index(base) + 1 :]}
    T = record.joints[who]
    rides: dict[int, tuple[int, Array]] = {}
    kept = set(needed)
    for j in sorted(moved):
        local = inverse(T[:, parents[j]]) @ T[:, j]
        if j in needed or np.ptp(local, axis=0).max() > _RIGID:
            kept.add(j)
            rides[j] = (j, np.eye(4))
        else:
            carrier, place = rides[parents[j]]
            rides[j] = (carrier, place @ local[0])
    order = tuple(sorted(kept))
    at = {j: i for i, j in enumerate(order)}
    return Joints(base, order, tuple(searched), {j: (at[c], M) for j, (c, M) in rides.items() if c in at})


def grips_of(exact: ExactWorld, who: str, joints: Joints, span: tuple[float, float]) -> list[Grip]:
    """Things that hands of the limb hold during a span."""
    world, body = exact.world, exact.world.body(who)
    rows = {p.owner: i for i, p in enumerate(exact.parts) if p.kind == "thing"}
    grips = []
    for hold in world.holds:
        joint, T_joint_hand = body.hand(hold.hand) if hold.by == who else (-1, np.eye(4))
        apart = hold.during[1] <= span[0] or hold.during[0] > span[1]
        if joint not in joints.rides or apart or hold.object not in rows:
            continue
        carrier, M = joints.rides[joint]
        path = world.things[hold.object].path
        assert isinstance(path, Carried)
        T = M @ T_joint_hand @ path.grip(hold)
        grips.append(Grip(hold, rows[hold.object], carrier, T))
    return grips


class Parts:
    """Pieces, items and static meshes of one limb, and the modes of their pairs."""

    def __init__(self, exact: ExactWorld, who: str, joints: Joints, grips: list[Grip], span: tuple[float, float]):
        self._exact, self._span = exact, span
        self.numbers = {(int(a), int(b)): k for k, (a, b) in enumerate(exact.index)}
        self.numbers |= {(b, a): k for (a, b), k in self.numbers.items()}
        parts = exact.parts
        self.limb: dict[int, tuple[int, Array]] = {}
        for i, p in enumerate(parts):
            if p.kind == "body" and p.owner == who and p.joint in joints.rides:
                assert p.shape is not None
                carrier, M = joints.rides[p.joint]
                self.limb[i] = (carrier, M @ p.shape.T_joint_shape)
        self._bring: list[tuple[int, int, Array, Grip | None]] = [(i, c, T, None) for i, (c, T) in self.limb.items()]
        self._bring += [(g.part, g.carrier, g.T, g) for g in grips]
        self.floor = next((i for i, p in enumerate(parts) if p.kind == "floor"), -1)
        told = {
            int(b if a in self.limb else a)
            for k, (a, b) in enumerate(exact.index)
            if k in exact.contacts and (a in self.limb or b in self.limb)
        }
        self.static = [i for i, p in enumerate(parts) if p.kind == "static" and i not in told]
        self.items = self._items(parts)
        self.pieces, self.mode = self._pieces()

    def pair(self, a: int, b: int) -> int | None:
        """Number of a pair of the exact world, None where it does not count."""
        return self.numbers.get((a, b))

    def _mode(self, a: int, b: int, *grips: Grip | None) -> int:
        """Whether a pair counts, over the whole span or while both are gripped."""
        k = self.numbers.get((a, b))
        if k is None:
            return IGNORED
        exact, (begin, end) = self._exact, self._span
        for grip in grips:
            if grip is not None:
                begin, end = max(begin, grip.hold.during[0]), min(end, grip.hold.during[1])
        off = [d for d in exact.off.get(k, ()) if d[0] <= end and d[1] >= begin]
        if any(d[0] <= begin and d[1] >= end for d in off):
            return IGNORED
        told = any(c.during[0] <= end and c.during[1] >= begin for c in exact.contacts.get(k, ()))
        return ASKS if off or told else COUNTS

    def _items(self, parts: Sequence) -> list[Item]:
        """Items that tables place, then those that ride on the limb itself."""
        fixed = {*self.limb, *self.static, self.floor}
        mine = [i for i, _, _, _ in self._bring]
        tabled = [i for i in range(len(parts)) if i not in fixed and any((i, a) in self.numbers for a in mine)]
        items = [self._item(i) for i in tabled]
        for n, (i, carrier, T, grip) in enumerate(self._bring):
            if any(self._own(m, n) for m in range(len(self._bring))):
                found = self._item(i)
                items.append(Item(i, found.half, found.rounding, found.field, found.ball, carrier, T, grip))
        return items

    def _own(self, piece: int, item: int) -> int:
        """Mode of two parts of the limb, of which the outer one is the piece."""
        (a, ca, _, ga), (b, cb, _, gb) = self._bring[piece], self._bring[item]
        if a == b or (ga is not None, ca, a) < (gb is not None, cb, b):
            return IGNORED
        return self._mode(a, b, ga, gb)

    def _item(self, i: int) -> Item:
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
            return _surface(form)
        shape = self._exact.parts[i].shape
        assert shape is not None and shape.mesh is not None
        return hull_of(shape.mesh), None

    def _pieces(self) -> tuple[list[Piece], NDArray[np.uint8]]:
        """Parts with the same carrier and the same pairs make one piece; modes (E, items + static + floor)."""
        groups: dict[tuple, list[int]] = {}
        tabled = sum(item.carrier < 0 for item in self.items)
        rides = [n for n in range(len(self._bring)) if any(self._own(m, n) for m in range(len(self._bring)))]
        for n, (i, carrier, _, grip) in enumerate(self._bring):
            row = [self._mode(i, item.part, grip) for item in self.items[:tabled]]
            row += [self._own(n, other) for other in rides]
            row.append(COUNTS if any((i, s) in self.numbers for s in self.static) else IGNORED)
            row.append(self._mode(i, self.floor, grip))
            groups.setdefault((carrier, id(grip) if grip else 0, tuple(row)), []).append(n)
        pieces: list[Piece] = []
        modes: list[tuple[int, ...]] = []
        for (_, _, row), members in groups.items():
            made = self._made([self._bring[n] for n in members])
            pieces += made
            modes += [row] * len(made)
        return pieces, np.array(modes, dtype=np.uint8).reshape(len(pieces), len(self.items) + 2)

    def _made(self, members: list[tuple[int, int, Array, Grip | None]]) -> list[Piece]:
        parts = self._exact.parts
        shapes = [parts[i].shape for i, _, _, _ in members]
        carrier, grip = members[0][1], members[0][3]
        round_ = all(s is not None and s.kind in ("capsule", "sphere") for s in shapes)
        if round_ and len(members) <= _FEW:
            return [Piece(carrier, (i,), _capsule(parts[i].shape, T), None) for i, _, T, _ in members]
        covers = [self._tree(i).moved(T) for i, _, T, _ in members]
        if len(members) > 1:
            whole = ball_tree(np.concatenate([c.ball for c in covers]))
            return [Piece(carrier, tuple(i for i, _, _, _ in members), None, whole, grip)]
        item, T = self._item(members[0][0]), members[0][2]
        half = item.half if item.field is None else None
        return [Piece(carrier, (members[0][0],), None, covers[0], grip, T, half, item.field)]

    def _tree(self, i: int) -> BallTree:
        """Balls of a part in its own frame."""
        shape = self._exact.parts[i].shape
        if shape is not None:
            return shape_tree(shape)
        return mesh_tree(*self.mesh_of(i))


def _surface(form: Surface) -> tuple[Mesh, NDArray]:
    """The triangles of a surface that have an area or close a solid, and which of them bound solids."""
    return kept(form, "surface", lambda: _surface_of(form))


def _surface_of(form: Surface) -> tuple[Mesh, NDArray]:
    keep = form.closed | has_area(form.mesh.vertices, form.mesh.faces)
    return (form.mesh if keep.all() else Mesh(form.mesh.vertices, form.mesh.faces[keep])), form.closed[keep]


def _capsule(shape: Shape | None, T: Array) -> Array:
    assert shape is not None
    half = shape.size[1] if shape.kind == "capsule" else 0.0
    a, b = apply(T, np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]))
    return np.array([*a, *b, shape.size[0]])


def packed(pieces: Sequence[Piece]) -> tuple[Array, Array, Balls, NDArray[np.int64], NDArray[np.int64]]:
    """Spheres (E, 4), capsules (E, 7), covers, their roots (E,) and cores (E, C) of pieces."""
    balls, roots, cores = packed_trees([p.cover or ball_tree(np.zeros((1, 5))) for p in pieces])
    capsules = np.array([[0, 0, 0, 0, 0, 0, -1.0] if p.capsule is None else p.capsule for p in pieces])
    spheres = balls.node[roots].copy()
    for e, p in enumerate(pieces):
        if p.capsule is not None:
            a, b, r = p.capsule[:3], p.capsule[3:6], p.capsule[6]
            spheres[e] = [*(0.5 * (a + b)), 0.5 * np.linalg.norm(b - a) + r]
    return spheres, capsules, balls, roots, cores


_MERGED: KeptTogether[DistanceField] = KeptTogether(8)


def merged(parts: Parts) -> DistanceField | None:
    """One field of the static meshes."""
    meshes = [mesh for mesh in map(parts.mesh_of, parts.static) if len(mesh[0].faces)]
    return _MERGED.of([mesh for mesh, _ in meshes], (), lambda: _merged(meshes)) if meshes else None


def _merged(meshes: Sequence[tuple[Mesh, NDArray | None]]) -> DistanceField:
    closed = [
        np.where(np.zeros(len(mesh.faces), bool) if shut is None else shut, i, -1)
        for i, (mesh, shut) in enumerate(meshes)
    ]
    first = np.cumsum([0, *(len(mesh.vertices) for mesh, _ in meshes)])
    faces = np.concatenate([mesh.faces + o for (mesh, _), o in zip(meshes, first[:-1], strict=True)])
    whole = Mesh(np.concatenate([mesh.vertices for mesh, _ in meshes]), faces)
    return DistanceField(distance_field(whole, closed=np.concatenate(closed)).arrays)


def _way(parents: Sequence[int], joint: int) -> list[int]:
    """Joints from the root to a joint."""
    way = [joint]
    while parents[way[-1]] >= 0:
        way.append(parents[way[-1]])
    return way[::-1]
