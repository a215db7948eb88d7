"""Meshes of the gallery: closed solids of sensible sizes, things at rest, pages of storyboards that can be read."""

from itertools import pairwise

import numpy as np
import pytest
import trimesh

from elbowroom.gallery.scenes import scenarios
from elbowroom.geometry.mesh import Mesh
from elbowroom.props.makers import MAKERS, made
from elbowroom.world.certificate import certify
from elbowroom.world.paths import KeyedState
from elbowroom.world.things import Fixture
from elbowroom.world.world import World

# Furniture with which the first scenes are made of plain boxes; its lamp has an open shade.
_OPEN = {"floor_lamp"}


def parts(mesh: Mesh) -> list[trimesh.Trimesh]:
    """Connected solids of a mesh."""
    return list(trimesh.Trimesh(mesh.vertices, mesh.faces).split(only_watertight=False, repair=False))


@pytest.mark.parametrize("name", [n for n in MAKERS if n not in _OPEN])
def test_every_part_is_a_closed_solid(name: str) -> None:
    for mesh in made(name).values():
        for part in parts(mesh):
            assert part.is_watertight and part.volume > 0.0


@pytest.mark.parametrize("name", list(MAKERS))
def test_sizes_are_those_of_a_home(name: str) -> None:
    for mesh in made(name).values():
        size = np.ptp(mesh.bounds, axis=0)
        assert 0.005 < size.max() < 4.0
        assert size.min() > 0.001
        assert mesh.colors is None or (mesh.colors.min() >= 0.0 and mesh.colors.max() <= 1.0)


def test_the_same_seed_makes_the_same_books() -> None:
    one, same, other = (made("book_row", {"seed": seed})["book_row"] for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.vertices, same.vertices)
    assert one.vertices.shape != other.vertices.shape or not np.allclose(one.vertices, other.vertices)


def test_books_stand_side_by_side() -> None:
    row = made("book_row", {"length": 0.5, "room": 0.3, "seed": 1})["book_row"]
    low, high = row.bounds
    assert low[0] >= 0.0 and high[0] <= 0.5 and low[2] == 0.0 and high[2] <= 0.26
    covers = sorted(
        (p for p in parts(row) if p.extents[2] > 0.15 and p.bounds[0, 2] < 1e-9), key=lambda p: p.bounds[0, 0]
    )
    gaps = [b.bounds[0, 0] - a.bounds[1, 0] for a, b in pairwise(covers)]
    assert len(covers) > 8 and min(gaps) > 0.0005


@pytest.mark.parametrize(
    ("name", "least", "most"), [("bookshelf", 11_000, 13_000), ("bookshelf-large", 28_000, 32_000)]
)
def test_shelves_have_as_many_triangles_as_they_say(name: str, least: int, most: int) -> None:
    assert least < scenarios()[name].board().world.triangles < most


@pytest.mark.parametrize("name", [s.name for s in scenarios().values() if "K9" in s.features])
def test_nothing_collides_before_anything_is_asked(name: str) -> None:
    world = scenarios()[name].board().world
    proven = certify(world)
    assert proven.free, proven.collisions
    # what can be taken rests on something: less than half a millimetre above it, and not in it
    placed = {n: o.mesh.moved(o.path(0.0)) for n, o in world.objects.items()}
    loose = {n: mesh for n, mesh in placed.items() if world.objects[n].freedom != "joint"}
    fixed = [*world.static.values(), *(mesh for n, mesh in placed.items() if n not in loose)]
    assert all(_gap_below(fixed, mesh) < 0.0005 for mesh in loose.values())


@pytest.mark.parametrize(("name", "part"), [("drawer", "drawer"), ("door", "door"), ("switch", "button")])
def test_what_opens_moves_freely(name: str, part: str) -> None:
    world = scenarios()[name].board().world
    old = world.objects[part]
    assert isinstance(old, Fixture)
    state = KeyedState(np.array([0.0, 2.0]), np.array(old.joint.range))
    moving = Fixture.at(old.mesh, old.joint, old.T_world_closed, state)
    proven = certify(World(static=world.static, objects={part: moving}))
    assert proven.free and proven.continuous, proven.collisions


def _gap_below(fixed: list[Mesh], thing: Mesh) -> float:
    """Metres from the lowest corner of a thing down to the first level triangle under it."""
    lowest = thing.vertices[np.argmin(thing.vertices[:, 2])]
    gaps = [np.inf]
    for mesh in fixed:
        corners = mesh.vertices[mesh.faces]
        low, high = corners.min(axis=1), corners.max(axis=1)
        under = np.all((low <= lowest + [0, 0, 1e-6]) & (high[:, :] >= lowest * [1, 1, 0]), axis=1)
        gaps += list(lowest[2] - high[under & (high[:, 2] - low[:, 2] < 1e-6), 2])
    return float(min(gaps))
