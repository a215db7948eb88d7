"""Exact collision with meshes as they really are: no wrong 'free'."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import IDENTITY
from elbowroom.geometry.shapes import Shape, capsule
from elbowroom.geometry.solids import box, merge, sphere
from elbowroom.motion.clip import Clip
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Keyed
from elbowroom.world.world import Snapshot, World

ARM = capsule("arm", 0, [-0.1, 0, 0], [0.1, 0, 0], 0.04)


def world_of(mesh: Mesh, at: object = (0.0, 0.0, 0.0), floor: float | None = None, shape: Shape = ARM) -> World:
    skeleton = Skeleton(("root",), np.array([-1]), np.zeros((1, 3)))
    character = Character(name="ann", skeleton=skeleton, shapes=(shape,))
    clip = Clip(character, 30.0, np.array([at], dtype=float), np.tile(IDENTITY, (1, 1, 1)))
    return World({"ann": clip}, {"thing": mesh}, floor=floor)


def flipped(mesh: Mesh, which: slice) -> Mesh:
    faces = mesh.faces.copy()
    faces[which] = faces[which][:, ::-1]
    return Mesh(mesh.vertices, faces)


CUPBOARD = box([1.0, 1.0, 2.0])
BESIDE = box([1.0, 1.0, 2.0], at=(-1.0, 0.0, 0.0))
VARIANTS = {
    "closed": CUPBOARD,
    "inside out": flipped(CUPBOARD, slice(None)),
    "some faces flipped": flipped(CUPBOARD, slice(0, 12, 3)),
    "every face twice": Mesh(CUPBOARD.vertices, np.concatenate([CUPBOARD.faces, CUPBOARD.faces])),
    "one face twice": Mesh(CUPBOARD.vertices, np.concatenate([CUPBOARD.faces, CUPBOARD.faces[:1]])),
    "every face from both sides": Mesh(CUPBOARD.vertices, np.concatenate([CUPBOARD.faces, CUPBOARD.faces[:, ::-1]])),
    "without shared vertices": Mesh(CUPBOARD.vertices[CUPBOARD.faces].reshape(-1, 3), np.arange(36).reshape(12, 3)),
    "with triangles of no area": Mesh(
        CUPBOARD.vertices, np.concatenate([CUPBOARD.faces, [[0, 0, 1], [2, 2, 2], [3, 4, 3]]])
    ),
    "with a smaller one inside": merge([CUPBOARD, box([0.7, 0.7, 0.7])]),
    "with a loose sheet": merge([CUPBOARD, Mesh(np.array([[3.0, 0, 0], [4, 0, 0], [3, 1, 0]]), [[0, 1, 2]])]),
    "sharing a wall with another": merge(
        [CUPBOARD, Mesh(BESIDE.vertices, BESIDE.faces[(BESIDE.vertices[BESIDE.faces, 0] < -0.6).any(axis=1)])]
    ),
    "meeting one that is inside out": merge([CUPBOARD, flipped(box([1.0, 1.0, 3.0]), slice(None))]),
    "standing on another": merge([CUPBOARD, box([1.0, 1.0, 2.0], at=(0.0, 0.0, -2.0))]),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_an_arm_inside_of_a_closed_cupboard_hits_it(variant: str, scale: float) -> None:
    mesh = VARIANTS[variant].moved(np.diag([scale, scale, scale, 1.0]))
    exact = ExactWorld(world_of(mesh, at=(0.0, 0.0, 0.1 * scale)))
    (hit,) = exact.collisions(0.0)
    assert hit.pair == ("ann.arm", "thing")
    assert hit.depth > 0.04
    outside = ExactWorld(world_of(mesh, at=(0.7 * scale, 0.0, 0.0)))
    assert outside.free(0.0)
    assert outside.distance(0).value == pytest.approx(0.2 * scale - 0.14, abs=1e-6)


@pytest.mark.parametrize("dropped", [[0], [0, 1], [3, 7]])
def test_a_cupboard_with_holes_is_a_surface(dropped: list[int]) -> None:
    mesh = Mesh(CUPBOARD.vertices, np.delete(CUPBOARD.faces, dropped, axis=0))
    assert ExactWorld(world_of(mesh)).free(0.0)
    kept = mesh.vertices[mesh.faces].mean(axis=1)
    for at in kept:
        assert not ExactWorld(world_of(mesh, at=at)).free(0.0)


def test_a_character_inside_of_a_wall() -> None:
    wall = box([4.0, 3.0, 3.0], at=(0.0, 0.0, 1.5))
    exact = ExactWorld(world_of(wall, at=(0.0, 0.0, 1.0), floor=0.0))
    (hit,) = exact.collisions(0.0)
    assert hit.depth == pytest.approx(1.0 + 0.04, abs=1e-3)


@pytest.mark.parametrize("height", [0.1, -0.02, -0.1, -0.5, -5.0])
def test_a_foot_under_a_sheet_of_floor_hits_the_floor(height: float) -> None:
    sheet = Mesh(np.array([[-5.0, -5, 0], [5, -5, 0], [5, 5, 0], [-5, 5, 0]]), [[0, 1, 2], [0, 2, 3]])
    hits = ExactWorld(world_of(sheet, at=(0.0, 0.0, height), floor=0.0)).collisions(0.0)
    assert [h.pair for h in hits] == ([] if height > 0.04 else [("ann.arm", "floor")])
    if hits:
        assert hits[0].depth == pytest.approx(0.04 - height)


def test_an_object_inside_of_an_object() -> None:
    world = World(floor=None).with_static("safe", box([1.0, 1.0, 1.0]))
    path = Keyed.along([0.0, 1.0], [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    inside = ExactWorld(world.with_object("pea", sphere(0.05), path))
    (hit,) = inside.collisions(0.0)
    assert hit.depth == pytest.approx(0.5, abs=0.06)
    assert inside.free(1.0)
    world = World(floor=None).with_static("pea", sphere(0.05))
    around = ExactWorld(world.with_object("safe", box([1.0, 1.0, 1.0]), path))
    assert [set(h.pair) for h in around.collisions(0.0)] == [{"safe", "pea"}]
    assert around.free(1.0)


def test_a_thin_plate_and_a_needle_are_hit() -> None:
    plate = box([2.0, 2.0, 0.0005])
    needle = box([0.0002, 0.0002, 2.0])
    for mesh in (plate, needle):
        assert not ExactWorld(world_of(mesh)).free(0.0)
        assert ExactWorld(world_of(mesh, at=(0.5, 0.5, 0.2))).free(0.0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vertices_that_are_not_finite_name_the_mesh(value: float) -> None:
    vertices = CUPBOARD.vertices.copy()
    vertices[2, 1] = value
    with pytest.raises(BadValue, match="'vase'"):
        ExactWorld(World(static={"vase": Mesh(vertices, CUPBOARD.faces)}))
    unused = Mesh(np.concatenate([CUPBOARD.vertices, [[np.nan] * 3]]), CUPBOARD.faces)
    assert not ExactWorld(world_of(unused)).free(0.0)
    broken = Shape("arm", 0, "mesh", np.zeros(3), mesh=Mesh(vertices, CUPBOARD.faces))
    with pytest.raises(BadValue, match="'arm'"):
        ExactWorld(world_of(CUPBOARD, shape=broken))


def test_faces_of_vertices_that_are_not_there() -> None:
    with pytest.raises(BadValue, match="'thing'"):
        ExactWorld(world_of(Mesh(CUPBOARD.vertices, [[0, 1, 99]])))


def test_empty_meshes_and_lines_are_nothing() -> None:
    empty = Mesh(np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    line = Mesh(np.array([[0.0, 0, 0], [0, 0, 1], [0, 0, 2]]), [[0, 1, 2], [0, 0, 1]])
    for mesh in (empty, line):
        exact = ExactWorld(world_of(mesh, floor=-9.0))
        assert tuple(exact.pairs) == (("ann.arm", "floor"),)
        assert exact.free(0.0)


def test_a_place_that_is_not_finite_is_a_hit() -> None:
    world = world_of(CUPBOARD, at=(9.0, 9.0, 9.0))
    exact = ExactWorld(world)
    assert exact.free(0.0)
    joints = world.at(0.0).joints["ann"].copy()
    joints[0, 0, 3] = np.nan
    exact.place_snapshot(Snapshot(0.0, {"ann": joints}, {}))
    assert not exact.free()
    assert exact.collisions()[0].depth is None


def test_a_large_mesh_in_chunks_answers_like_a_small_one() -> None:
    ball = sphere(1.0)
    fine = _subdivided(ball, 3)
    assert len(fine.faces) > 20_000
    random = np.random.default_rng(3)
    for at in random.uniform(-1.3, 1.3, (40, 3)):
        coarse = ExactWorld(world_of(ball, at=at)).place(0.0).distance(0)
        exact = ExactWorld(world_of(fine, at=at)).place(0.0)
        assert exact.distance(0).value == pytest.approx(coarse.value, abs=1e-5)
        assert exact.hit(0) == coarse.hit


def _subdivided(mesh: Mesh, times: int) -> Mesh:
    vertices, faces = mesh.vertices, mesh.faces
    for _ in range(times):
        vertices, faces = trimesh.remesh.subdivide(vertices, faces)
    return Mesh(vertices, faces)
