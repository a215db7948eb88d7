"""Distance fields never promise more room than there is, and covers hold what they cover."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

from elbowroom.geometry import fields as field_files
from elbowroom.geometry.cover import ball_tree, mesh_cover, packed_trees, shape_cover
from elbowroom.geometry.fields import distance_field, pack
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.shapes import capsule
from elbowroom.geometry.solidity import solid_faces
from elbowroom.geometry.solids import box, merge, sphere
from elbowroom.geometry.transforms import apply, inverse, transform
from elbowroom.kernels import fields as kernels
from elbowroom.kernels.compiled import njit_nogil

lower, nearer, squared = njit_nogil()(kernels.lower), njit_nogil()(kernels.nearer), njit_nogil()(kernels.squared)
winding, within = njit_nogil()(kernels.winding), njit_nogil()(kernels.within)


def flipped(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices, mesh.faces[:, ::-1])


def farthest_outside(points: np.ndarray, balls: np.ndarray) -> float:
    """How far the worst of points (N, 3) is out of the union of balls (M, 5), metres; in slices, to spare memory."""
    worst = -np.inf
    for part in np.array_split(points, max(len(points) * len(balls) // 500_000, 1)):
        apart = np.linalg.norm(part[:, None] - balls[None, :, :3], axis=2) - balls[:, 3]
        worst = max(worst, float(apart.min(axis=1).max(initial=-np.inf)))
    return worst


def torus() -> Mesh:
    solid = trimesh.creation.torus(0.4, 0.12)
    return Mesh(solid.vertices, solid.faces)


SOLIDS = {
    "box": (box((1.0, 0.6, 0.4)), lambda p: np.all(np.abs(p) < [0.5, 0.3, 0.2], axis=1)),
    "overlapping": (
        merge([box((1, 1, 1)), box((1, 1, 1), (0.5, 0.3, 0.2))]),
        lambda p: np.all(np.abs(p) < 0.5, axis=1) | np.all(np.abs(p - [0.5, 0.3, 0.2]) < 0.5, axis=1),
    ),
    "hollow": (
        merge([box((1, 1, 1)), flipped(box((0.6, 0.6, 0.6)))]),
        lambda p: np.all(np.abs(p) < 0.5, axis=1) & ~np.all(np.abs(p) < 0.3, axis=1),
    ),
    "inside out": (flipped(box((1, 1, 1))), lambda p: np.all(np.abs(p) < 0.5, axis=1)),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_inside_of_solids(name: str) -> None:
    mesh, inside = SOLIDS[name]
    assert solid_faces(mesh).all()
    field = distance_field(mesh).arrays
    room = kernels.room()
    points = np.random.default_rng(0).uniform(-0.8, 1.1, (4000, 3))
    found = [winding(field.solids, 0, *p, room.nodes) != 0 for p in points]
    assert np.array_equal(found, inside(points))


@pytest.mark.parametrize("mesh", [box((1.0, 0.6, 0.4)), torus(), merge([sphere(0.3), box((2.0, 2.0, 0.01))])])
def test_lower_bound_holds_and_is_tight(mesh: Mesh) -> None:
    field = distance_field(mesh).arrays
    room = kernels.room()
    points = np.random.default_rng(1).uniform(mesh.bounds[0] - 0.3, mesh.bounds[1] + 0.3, (3000, 3))
    _, true, _ = trimesh.proximity.closest_point(trimesh.Trimesh(mesh.vertices, mesh.faces), points)
    inside = np.array([winding(field.solids, 0, *p, room.nodes) != 0 for p in points])
    low = np.array([lower(field, 0, *p) for p in points])
    exact = np.sqrt([max(within(field, 0, *p, 10.0, 0.0, room), 0.0) for p in points])
    assert np.all(low <= np.where(inside, 0.0, true) + 1e-6)
    assert np.allclose(exact[~inside], true[~inside], atol=1e-6)
    near = ~inside & (true > 0.03) & (true < 0.12)
    assert np.mean((true - low)[near]) < 0.006


def test_every_brick_and_corner_knows_its_side() -> None:
    # thin slabs and blocks whose faces fall between, on and beside the lattice
    rng = np.random.default_rng(7)
    slabs = [box((1.0, 1.2, 0.03 + 0.04 * k), (0.1, 0.0, 0.5 * k), (1, 1, 1)) for k in range(5)]
    blocks = [box(rng.uniform(0.3, 1.6, 3), rng.uniform(-2, 2, 3)) for _ in range(8)]
    field = distance_field(merge([*slabs, *blocks])).arrays
    room = kernels.room()
    shape, edge, n = field.shape[0], field.edge[0], int(field.n[0])
    for b in range(len(field.start)):
        place = np.array(np.unravel_index(b, shape))
        middle = field.origin[0] + (place + 0.5) * edge
        inside = winding(field.solids, 0, *middle, room.nodes) != 0
        if field.start[b] < 0:
            assert (field.start[b] == kernels.INSIDE) == inside
            continue
        for c in (0, 31, 62, 93, 124):
            corner = field.origin[0] + (place + np.array(np.unravel_index(c, (n + 1,) * 3)) / n) * edge
            inside = winding(field.solids, 0, *corner, room.nodes) != 0
            surface = abs(within(field, 0, *corner, 10.0, 0.0, room)) if not inside else 0.0
            assert field.corner[field.start[b] + c] == pytest.approx(np.sqrt(surface), abs=1e-5)


def test_quick_answers_are_never_wrong() -> None:
    field = distance_field(
        merge([torus(), box((2.0, 0.4, 0.03), (0, 0, 0.3)), box((1.0, 1.0, 1.0), (0, 0.9, 0))])
    ).arrays
    room = kernels.room()
    rng = np.random.default_rng(8)
    said = np.zeros(3, dtype=int)
    for p, r in zip(rng.uniform(-1.2, 1.4, (4000, 3)), rng.uniform(0.0, 0.3, 4000), strict=True):
        inside = winding(field.solids, 0, *p, room.nodes) != 0
        d2 = -1.0 if inside else within(field, 0, *p, 10.0, 0.0, room)
        bound, near = squared(field, 0, *p), nearer(field, 0, *p, r)
        assert bound >= 0 or d2 < 0
        assert bound <= max(d2, 0.0) + 1e-9
        assert bound < 0 or np.sqrt(bound) == pytest.approx(lower(field, 0, *p), abs=1e-9)
        assert not near or d2 < r * r
        said += [bound > r * r, bound < 0, near]
    assert np.all(said > 50), "all three answers occur"


def test_open_and_broken_meshes_are_no_solids() -> None:
    cube = box((1, 1, 1))
    assert not solid_faces(Mesh(cube.vertices, cube.faces[1:])).any()
    turned = cube.faces.copy()
    turned[0] = turned[0][::-1]
    assert not solid_faces(Mesh(cube.vertices, turned)).any()
    both = merge([Mesh(cube.vertices, cube.faces[1:]), box((1, 1, 1), (3, 0, 0))])
    assert np.array_equal(solid_faces(both), [False] * 11 + [True] * 12)
    degenerate = Mesh(cube.vertices, np.vstack([cube.faces, [[0, 0, 1]]]))
    assert np.array_equal(solid_faces(degenerate), [True] * 12 + [False])


def test_packed_fields_answer_as_alone() -> None:
    alone = [distance_field(m) for m in (box((1.0, 0.6, 0.4)), torus(), box((2.0, 2.0, 0.01)))]
    packed = pack(alone)
    room = kernels.room()
    for p in np.random.default_rng(2).uniform(-1, 1, (300, 3)):
        for k, field in enumerate(alone):
            assert lower(packed, k, *p) == lower(field.arrays, 0, *p)
            one = within(field.arrays, 0, *p, 0.3, 0.0, room)
            assert within(packed, k, *p, 0.3, 0.0, room) == one


def test_damaged_cache_is_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    first = distance_field(torus()).arrays
    (kept,) = (tmp_path / "fields").glob("*.npz")
    made = []
    monkeypatch.setattr(field_files, "_make", lambda m, c, make=field_files._make: made.append(m) or make(m, c))
    assert np.array_equal(distance_field(torus()).arrays.corner, first.corner)
    assert not made, "the cache was not used"
    data = bytearray(kept.read_bytes())
    for damage in (data[: len(data) // 2], b"", data[:-3000] + bytes(3000), b"noise" * 1000):
        kept.write_bytes(bytes(damage))
        assert np.array_equal(distance_field(torus()).arrays.corner, first.corner)
    flip = bytearray(data)
    flip[len(flip) // 3] ^= 0xFF
    kept.write_bytes(bytes(flip))
    assert np.array_equal(distance_field(torus()).arrays.corner, first.corner)
    assert len(made) == 5


@pytest.mark.parametrize("mesh", [box((0.3, 0.1, 0.06)), torus()])
def test_cover_holds_the_solid_and_its_core_is_in_it(mesh: Mesh) -> None:
    balls = mesh_cover(mesh)
    solid = trimesh.Trimesh(mesh.vertices, mesh.faces)
    surface, _ = trimesh.sample.sample_surface(solid, 2000, seed=0)
    volume = np.random.default_rng(3).uniform(*mesh.bounds, (4000, 3))
    volume = volume[solid.contains(volume)]
    for points in (surface, volume):
        assert farthest_outside(points, balls) <= 1e-9
    thick = balls[balls[:, 4] > 0]
    assert np.all(-trimesh.proximity.signed_distance(solid, thick[:, :3]) + thick[:, 4] <= 1e-6)


def test_capsule_cover_and_trees() -> None:
    shape = capsule("forearm", 0, [0, 0, 0], [0.2, 0.1, 0.05], 0.03)
    balls = shape_cover(shape)
    rng = np.random.default_rng(4)
    points = rng.uniform(-0.1, 0.3, (20000, 3))
    points = points[shape.signed_distance(points) <= 0]
    assert farthest_outside(apply(inverse(shape.T_joint_shape), points), balls) <= 1e-9
    covers = [balls, mesh_cover(box((0.3, 0.1, 0.06)))]
    trees = [ball_tree(covers[0]).moved(transform([1.0, 0.0, 0.0])), ball_tree(covers[1])]
    packed, roots, cores = packed_trees(trees)
    assert np.allclose(packed.ball[cores[0], 0], 1.0) and np.all(packed.ball[cores[1], 4] > 0.0)
    assert len(packed.ball) == sum(len(c) for c in covers)
    for k, root in enumerate(roots):
        todo, seen = [int(root)], 0
        while todo:
            n = todo.pop()
            first, count = packed.kids[n]
            if first >= 0:
                todo += [first, count]
                continue
            members = packed.ball[-first - 1 : -first - 1 + count]
            assert np.all((members[:, 0] > 0.5) == (k == 0))
            reach = np.linalg.norm(members[:, :3] - packed.node[root, :3], axis=1) + members[:, 3]
            assert np.all(reach <= packed.node[root, 3] + 1e-12)
            seen += count
        assert seen == len(covers[k])


def test_a_solid_part_too_small_for_a_point_inside_is_covered() -> None:
    case = box((0.05, 0.05, 0.08))
    screw = box((0.0002, 0.0002, 0.0002), (0.0103, 0.0071, 0.0113))
    mesh = merge([Mesh(case.vertices, case.faces[:-2]), screw])
    balls = mesh_cover(mesh)
    apart = np.linalg.norm(mesh.vertices[:, None] - balls[:, :3], axis=2) - balls[:, 3]
    assert len(balls) and (apart.min(axis=1) <= 1e-9).all()
