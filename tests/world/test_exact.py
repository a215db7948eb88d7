"""Exact collision against results that can be worked out by hand or by brute force."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import IDENTITY, about, normalize, to_matrix
from elbowroom.geometry.shapes import Shape, capsule
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Keyed, Still
from elbowroom.world.world import World


def ball(radius: float, name: str = "ball") -> Shape:
    return Shape(name, 0, "sphere", np.array([radius, 0.0, 0.0]))


def body(*shapes: Shape, at: object = (0.0, 0.0, 0.0), turn: object = IDENTITY) -> Clip:
    """A character of one joint that stays where it is."""
    skeleton = Skeleton(("root",), np.array([-1]), np.zeros((1, 3)))
    character = Character(name="it", skeleton=skeleton, shapes=shapes)
    return Clip(character, 30.0, np.array([at, at], dtype=float), np.tile(turn, (2, 1, 1)))


def alone(*shapes: Shape, at: object = (0.0, 0.0, 0.0), turn: object = IDENTITY) -> World:
    return World(floor=None).with_character("it", body(*shapes, at=at, turn=turn))


@pytest.mark.parametrize("gap", [0.3, 0.01, -0.01, -0.04])
def test_ball_against_box(gap: float) -> None:
    world = alone(ball(0.1), at=(0.5 + 0.1 + gap, 0.05, 0.0)).with_static("block", box([1.0, 1.0, 1.0]))
    found = ExactWorld(world).place(0.0).distance(("it.ball", "block"))
    assert found.value == pytest.approx(gap, abs=1e-6)
    assert found.hit == (gap < 0)
    if gap > 0:
        np.testing.assert_allclose(found.points, [[0.5 + gap, 0.05, 0.0], [0.5, 0.05, 0.0]], atol=1e-5)


@pytest.mark.parametrize("inset", [0.02, 0.15, 0.4])
def test_a_ball_inside_of_a_block_is_as_deep_as_its_far_side(inset: float) -> None:
    world = alone(ball(0.1), at=(0.5 - inset, 0.0, 0.0)).with_static("block", box([1.0, 1.0, 1.0]))
    (hit,) = ExactWorld(world).collisions(0.0)
    assert hit.pair == ("it.ball", "block")
    assert hit.depth == pytest.approx(inset + 0.1, abs=1e-6)


@pytest.mark.parametrize("gap", [0.2, -0.03])
def test_capsules_that_cross(gap: float) -> None:
    lying = capsule("lying", 0, [-1, 0, 0], [1, 0, 0], 0.1)
    across = capsule("across", 0, [0.3, -1, 0], [0.3, 1, 0], 0.05)
    world = alone(lying).with_character("other", body(across, at=(0.0, 0.0, 0.15 + gap)))
    found = ExactWorld(world).place(0.0).distance(("other.across", "it.lying"))
    assert found.value == pytest.approx(gap, abs=1e-6)


@pytest.mark.parametrize("kind", ["capsule", "box", "mesh"])
def test_height_above_the_floor(kind: str) -> None:
    turn = about([1.0, 0.0, 0.0], np.array(0.4))
    size = {"capsule": [0.05, 0.2, 0.0], "box": [0.05, 0.1, 0.2], "mesh": [0.0, 0.0, 0.0]}[kind]
    mesh = box([0.1, 0.2, 0.4]) if kind == "mesh" else None
    shape = Shape("leg", 0, kind, np.array(size), mesh=mesh)  # type: ignore[arg-type]
    world = World(floor=0.2).with_character("it", body(shape, at=(1.0, 2.0, 0.5), turn=turn))
    lowest = 0.05 + 0.2 * np.cos(0.4) if kind == "capsule" else 0.1 * np.sin(0.4) + 0.2 * np.cos(0.4)
    found = ExactWorld(world).place(0.0).distance(("it.leg", "floor"))
    assert found.value == pytest.approx(0.3 - lowest, abs=1e-9)


def test_a_limit_spares_work_and_says_so() -> None:
    world = alone(ball(0.1), at=(1.0, 0.0, 0.0)).with_static("block", box([1.0, 1.0, 1.0]))
    exact = ExactWorld(world).place(0.0)
    assert exact.distance(0, 0.2).value == 0.2
    assert exact.distance(0, 0.2).points is None
    assert exact.distance(0, 0.5).value == pytest.approx(0.4)
    assert exact.clearance(0.0, 0.2) is None
    assert exact.clearance(0.0).value == pytest.approx(0.4)


def test_clearance_is_that_of_the_worst_pair() -> None:
    world = alone(ball(0.1)).with_static("near", box([0.1, 0.1, 0.1]), at=(0.3, 0.0, 0.0))
    world = world.with_static("nearer", box([0.1, 0.1, 0.1]), at=(0.0, 0.25, 0.0))
    found = ExactWorld(world).clearance(0.0)
    assert found.pair == ("it.ball", "nearer")
    assert found.value == pytest.approx(0.1)
    world = world.with_static("in", box([0.1, 0.1, 0.1]), at=(0.0, 0.0, 0.13))
    world = world.with_static("deeper", box([0.1, 0.1, 0.1]), at=(0.0, 0.0, -0.10))
    assert ExactWorld(world).clearance(0.0).pair == ("it.ball", "deeper")


def test_depth_of_two_meshes_is_that_of_the_deepest_vertex() -> None:
    world = World(floor=None).with_static("block", box([1.0, 1.0, 1.0]))
    path = Keyed.along([0.0, 1.0], [[0.56, 0.0, 0.0], [0.7, 0.0, 0.0]])
    world = world.with_object("crate", box([0.2, 0.2, 0.2]), path)
    exact = ExactWorld(world)
    (hit,) = exact.collisions(0.0)
    assert hit.depth == pytest.approx(0.04, abs=1e-6)
    assert exact.overlap(0) == exact.distance(0).value == -hit.depth
    assert exact.collisions(1.0) == []
    assert exact.distance(0).value == pytest.approx(0.1)


def test_two_open_surfaces_have_no_depth() -> None:
    sheet = Mesh(np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]]), np.array([[0, 1, 2]]))
    upright = Mesh(np.array([[0.0, 0, -1], [0.1, 0, 1], [-0.1, 0, 1]]), np.array([[0, 1, 2]]))
    world = World(floor=None).with_static("sheet", sheet)
    path = Keyed.along([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    world = world.with_object("card", upright, path)
    exact = ExactWorld(world)
    (hit,) = exact.collisions(0.0)
    assert hit.depth is None and exact.overlap(0) is None
    allowed = world.with_contact(Contact("card", "sheet", (0.0, 1.0), depth=1.0))
    assert len(ExactWorld(allowed).collisions(0.0)) == 1, "an unknown depth is not within any depth"


def test_contacts_allow_to_their_depth_and_for_their_time() -> None:
    world = alone(ball(0.1), at=(0.58, 0.0, 0.0)).with_static("block", box([1.0, 1.0, 1.0]))
    touching = world.with_contact(Contact("it", "block", (0.0, 0.5), depth=0.03))
    exact = ExactWorld(touching)
    assert exact.collisions(0.2) == []
    assert exact.free(0.2)
    assert [h.allowed.depth for h in exact.touches(0.2)] == [0.03]
    assert exact.clearance(0.2) is None
    assert len(exact.collisions(0.8)) == 1
    assert not exact.free(0.8)
    shallow = world.with_contact(Contact("it.ball", "block", (0.0, 0.5), depth=0.01))
    assert len(ExactWorld(shallow).collisions(0.2)) == 1


def test_names_that_are_not_there() -> None:
    world = alone(ball(0.1)).with_static("block", box([1.0, 1.0, 1.0])).with_static("post", box([0.1, 0.1, 0.1]))
    exact = ExactWorld(world).place(0.0)
    with pytest.raises(UnknownName, match="bloc"):
        exact.distance(("it.ball", "bloc"))
    with pytest.raises(BadValue, match="not a collision pair"):
        exact.distance(("block", "post"))


coordinate = st.floats(-0.6, 0.6)


@settings(max_examples=60, deadline=None)
@given(st.lists(coordinate, min_size=6, max_size=6), st.lists(coordinate, min_size=4, max_size=4), st.floats(0.01, 0.3))
def test_capsules_near_a_lumpy_solid_as_by_brute_force(ends: list[float], turn: list[float], radius: float) -> None:
    a, b = np.array(ends[:3]), np.array(ends[3:])
    solid = trimesh.creation.icosphere(subdivisions=1, radius=0.4)
    lumps = 1.0 + 0.2 * np.sin(5.0 * solid.vertices[:, [0]] + 3.0 * solid.vertices[:, [2]])
    solid = trimesh.Trimesh(solid.vertices * lumps, solid.faces)
    world = alone(capsule("rod", 0, a, b, radius))
    q = normalize(np.array(turn)) if np.linalg.norm(turn) > 0.1 else IDENTITY
    T = transform([0.1, 0.0, 0.2], q)
    world = world.with_object("lump", Mesh(solid.vertices, solid.faces), Still(T))
    exact = ExactWorld(world).place(0.0)
    samples = a + np.linspace(0.0, 1.0, 200)[:, None] * (b - a)
    local = (samples - T[:3, 3]) @ to_matrix(q)
    away = -trimesh.proximity.signed_distance(solid, local)
    smallest = float(away.min()) - radius
    found = exact.distance(("it.rod", "lump"))
    spacing = float(np.linalg.norm(b - a)) / 200 + 1e-6
    if abs(smallest) > spacing:
        assert exact.hit(0) == (smallest < 0.0)
    if smallest > spacing:
        assert smallest - spacing <= found.value <= smallest + 1e-6
    if smallest < -spacing:
        assert found.value == pytest.approx(smallest, abs=0.15 * radius + spacing)


def test_random_triangles_meet_as_by_brute_force() -> None:
    random = np.random.default_rng(5)
    for _ in range(60):
        one = random.uniform(-1, 1, (3, 3, 3))
        other = random.uniform(-1, 1, (3, 3, 3)) + [0.8, 0.0, 0.0]
        faces = np.arange(9).reshape(3, 3)
        world = World(floor=None).with_static("one", Mesh(one.reshape(-1, 3), faces))
        path = Keyed.along([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, 9.0]])
        world = world.with_object("other", Mesh(other.reshape(-1, 3), faces), path)
        meet = any(_cross(p, q) or _cross(q, p) for p in one for q in other)
        assert ExactWorld(world).place(0.0).hit(0) == meet


def _cross(edges: np.ndarray, triangle: np.ndarray) -> bool:
    """Whether an edge of one triangle passes through another one."""
    for start, end in zip(edges, np.roll(edges, -1, axis=0), strict=True):
        a, b, c = triangle
        solution = np.linalg.solve(np.stack([b - a, c - a, start - end], axis=1), start - a)
        if solution[0] >= 0 and solution[1] >= 0 and solution[0] + solution[1] <= 1 and 0 <= solution[2] <= 1:
            return True
    return False
