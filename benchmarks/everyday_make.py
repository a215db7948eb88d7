"""Everyday objects at random, and the places they lie in: on a table, in a box, on a shelf, on the floor.

Object number `index` of a seed is always the same. Kinds and places take turns; all else is drawn.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import trimesh
from scipy.spatial import cKDTree

import elbowroom as er
from elbowroom.files.meshes import read_meshes
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import about
from elbowroom.geometry.solids import assembled, box, cylinder, lathe, merge, rounded_box, sphere, tube
from elbowroom.geometry.transforms import placing, transform
from elbowroom.props.makers import made
from elbowroom.world.paths import Still
from elbowroom.world.world import World

# Metres between thumb and fingers of a hand 18 cm long, at most; a fingertip is a ball of a radius, so far off what it
# touches, metres; sides are across from each other where their normals are along the line between them, as the cosine.
SPAN_M, TIP_M, ROOM_M, ACROSS = 0.10, 0.008, 0.0015, 0.94

DATA = Path(os.environ.get("ELBOWROOM_DATA") or Path(__file__).resolve().parent.parent.parent / "shared" / "data")
WHO, THING = "ann", "thing"
PLACES = ("table", "box", "shelf", "floor")

# Makers of what people take in one hand; those of furniture and fittings are left out.
MAKERS = (
    "book", "bookend", "jar", "bottle", "mug", "tin", "bowl", "carton", "ball", "mouse", "pen_cup", "stapler", "vase",
    "picture", "box_with_lid", "cube", "cheese", "loaf", "board", "plate", "apple", "kettle", "herbs", "hoop", "hat",
    "keyboard", "pot_plant", "globe", "basket", "umbrella",
)  # fmt: skip

KINDS = (
    "box", "cube", "slab", "cylinder", "rod", "pen", "bowl", "plate", "ring", "card", "spoon", "hammer", "screwdriver",
    "ball", "mug", "pan", "lump", "file",
)  # fmt: skip

COLOR = (0.62, 0.16, 0.05)

# Parts of scenes, made as small as toys, metres along their longest side.
FILES = ("chaira", "chairb", "bookshelfc", "coffeetable", "kitchentable", "tvcabinet", "sofac", "palletjackb")
TOY_M = (0.08, 0.16)

# A thing lies this far above what carries it, metres.
LIFT_M = 0.0003
# Nothing is nearer to her feet on the floor, or farther back on the shelf: y, metres.
TOES_M, BACK_M = -0.22, -0.695
TABLE_M, SHELF_M, BOX_WALL_M, BOARD_M = 0.74, 1.05, 0.10, 0.02
# Distance of the boards of a shelf, and room above a higher object than that leaves room for, metres.
BOARDS_M, HEADROOM_M = 0.42, 0.04


@dataclass(frozen=True)
class Case:
    """One object in one place."""

    name: str
    kind: str
    place: str
    mesh: Mesh
    at: tuple[float, float]
    turn: float


def case(index: int, seed: int = 0) -> Case | None:
    """Case number `index`: makers in all places first, then random meshes; None where its file is not present."""
    rng = np.random.default_rng([seed, index])
    at = (float(rng.uniform(-0.18, 0.18)), float(rng.uniform(-0.03, 0.12)))
    turn = float(rng.uniform(0.0, 2.0 * np.pi))
    if index < len(MAKERS) * len(PLACES):
        kind, place = MAKERS[index // len(PLACES)], PLACES[index % len(PLACES)]
        return Case(f"{kind} ({place})", kind, place, merge(made(kind).values()), at, turn)
    n = index - len(MAKERS) * len(PLACES)
    kind, place = KINDS[n % len(KINDS)], PLACES[(n // len(KINDS) + n) % len(PLACES)]
    mesh = random_mesh(kind, rng)
    return None if mesh is None else Case(f"{kind} {index} ({place})", kind, place, mesh, at, turn)


def random_mesh(kind: str, rng: np.random.Generator) -> Mesh | None:
    """A mesh of a kind that lies on z = 0, about the middle."""
    u = rng.uniform
    if kind == "box":
        mesh = box(u([0.03, 0.04, 0.03], [0.09, 0.2, 0.16]))
    elif kind == "cube":
        mesh = box([u(0.02, 0.06)] * 3)
    elif kind == "slab":
        mesh = box([u(0.04, 0.09), u(0.08, 0.2), 0.02])
    elif kind == "cylinder":
        mesh = cylinder(u(0.015, 0.042), u(0.05, 0.2))
    elif kind in ("rod", "pen"):
        radius, length = (u(0.01, 0.03), u(0.08, 0.3)) if kind == "rod" else (u(0.004, 0.006), u(0.12, 0.16))
        mesh = cylinder(radius, length).moved(transform(np.zeros(3), about([0.0, 1.0, 0.0], 0.5 * np.pi)))
    elif kind == "bowl":
        mesh = made("bowl", {"radius": u(0.06, 0.12), "height": u(0.04, 0.08)})["bowl"]
    elif kind == "plate":
        mesh = made("plate", {"radius": u(0.07, 0.14)})["plate"]
    elif kind == "ring":
        angle = np.linspace(0.0, 2.0 * np.pi, 33)[:-1]
        line = u(0.02, 0.06) * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
        mesh = tube(line, u(0.004, 0.01), sections=12, ring=True)
    elif kind == "card":
        mesh = box([0.054, 0.086, 0.001])
    elif kind == "ball":
        mesh = sphere(u(0.015, 0.042))
    elif kind == "mug":
        mesh = made("mug", {"radius": u(0.033, 0.043), "height": u(0.07, 0.11)})["mug"]
    elif kind == "lump":
        mesh = _lump(rng)
    elif kind == "file":
        name = FILES[int(rng.integers(len(FILES)))]
        path = DATA / "scenes" / "parts" / f"{name}.glb"
        if not path.is_file():
            return None
        mesh = _file(path)
        mesh = mesh.moved(placing(scale=float(u(*TOY_M)) / float(np.ptp(mesh.bounds, axis=0).max())))
    else:
        mesh = _tool(kind, rng)
    low, high = mesh.bounds
    return mesh.moved(transform([*(-0.5 * (low + high)[:2]), -low[2]]))


def fits_hand(mesh: Mesh) -> bool:
    """Whether an object has two sides across from each other that a hand spans, with room for fingertips before both.

    By points on the surface alone: nothing of the planner is asked.
    """
    solid = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    points, faces = trimesh.sample.sample_surface(solid, 2500, seed=0)
    points, normals = np.asarray(points), np.asarray(solid.face_normals)[faces]
    tree = cKDTree(points)
    room = tree.query(points + (TIP_M + ROOM_M) * normals)[0] > TIP_M
    points, normals = points[room], normals[room]
    for p, n in zip(points, normals, strict=True):
        way = points - p
        far = np.linalg.norm(way, axis=1)
        way /= np.maximum(far, 1e-9)[:, None]
        near = (far > 1e-4) & (far <= SPAN_M)
        if np.any(near & (way @ n < -ACROSS) & (np.einsum("ij,ij->i", way, normals) > ACROSS)):
            return True
    return False


def _tool(kind: str, rng: np.random.Generator) -> Mesh:
    """A spoon, a hammer, a screwdriver or a pan, along x."""
    u, flat = rng.uniform, transform(np.zeros(3), about([0.0, 1.0, 0.0], 0.5 * np.pi))
    if kind == "spoon":
        length = u(0.15, 0.2)
        handle = rounded_box((length, 0.014, 0.004), (0.0, 0.0, 0.004), radius=0.0015)
        return assembled([handle, rounded_box((0.05, 0.04, 0.008), (0.5 * length, 0.0, 0.004), radius=0.003)])
    if kind == "hammer":
        handle = cylinder(u(0.011, 0.016), u(0.22, 0.3)).moved(flat)
        head = box([0.025, 0.11, 0.028], [float(handle.bounds[1, 0]), 0.0, 0.0])
        return assembled([handle, head])
    if kind == "screwdriver":
        grip = cylinder(u(0.011, 0.016), 0.1).moved(flat)
        return assembled([grip, cylinder(0.003, 0.1).moved(transform([0.1, 0.0, 0.0]) @ flat)])
    r = u(0.08, 0.12)
    dish = [(0, 0), (r, 0), (1.05 * r, 0.045), (1.02 * r, 0.045), (0.97 * r, 0.004), (0, 0.004)]
    grip = rounded_box((0.18, 0.026, 0.016), (r + 0.09, 0.0, 0.036), radius=0.005)
    return assembled([lathe(dish), grip])


def _lump(rng: np.random.Generator) -> Mesh:
    """A closed lump of a few centimetres, bumpy and squeezed at random."""
    solid = trimesh.creation.icosphere(subdivisions=3)
    v = np.asarray(solid.vertices)
    bumps = sum(0.08 * np.sin(v @ rng.normal(0.0, 2.5, 3) + rng.uniform(0.0, 6.0)) for _ in range(6))
    half = rng.uniform([0.018, 0.022, 0.015], [0.034, 0.05, 0.036])
    return Mesh(v * (1.0 + np.asarray(bumps)[:, None]) * half, np.asarray(solid.faces))


@cache
def _file(path: Path) -> Mesh:
    return merge(read_meshes(path).meshes.values())


@cache
def person() -> er.Clip:
    """A woman who stands."""
    return er.idle(er.preset("woman"), seconds=1.0, fps=60.0)


def world_of(case: Case) -> World:
    """A woman before the object in its place; her front is -y."""
    world = World(floor=0.0).with_character(WHO, person())
    x, y = case.at
    size = np.ptp(case.mesh.bounds, axis=0)
    turned = case.mesh.moved(transform(np.zeros(3), about([0.0, 0.0, 1.0], case.turn))).bounds[:, 1]
    if case.place == "floor":
        top, y = 0.0, min(-0.42 - y, TOES_M - float(turned[1]))
    elif case.place == "shelf":
        top, y = SHELF_M, max(-0.48 - 0.6 * y, BACK_M - float(turned[0]))
        parts = [([1.0, 0.34, BOARD_M], [0.0, -0.53, top - 0.5 * BOARD_M]),
                 ([1.0, 0.34, BOARD_M], [0.0, -0.53, top + max(BOARDS_M, float(size[2]) + HEADROOM_M)]),
                 ([1.0, BOARD_M, 1.5], [0.0, -0.71, 0.75])]  # fmt: skip
        world = world.with_static("shelf", merge([box(s, c) for s, c in parts]))
    else:
        top, y = TABLE_M, -0.42 - y
        world = world.with_static("table", box([1.4, 0.7, 0.03], [0.0, -0.6, top - 0.015]))
        if case.place == "box":
            room = np.maximum(1.2 * float(np.hypot(*size[:2])) + 0.16, 0.3)
            middle = np.array([0.0, -0.29 - 0.5 * room, 0.0])
            x, y = 0.4 * x, float(middle[1])
            wall = 0.5 * room + 0.004
            parts = [([room, room, 0.008], [0.0, 0.0, top + 0.004])]
            for s in (-1.0, 1.0):
                side = top + 0.5 * BOX_WALL_M + 0.008
                parts += [([room + 0.016, 0.008, BOX_WALL_M], [0.0, s * wall, side]),
                          ([0.008, room, BOX_WALL_M], [s * wall, 0.0, side])]  # fmt: skip
            world = world.with_static("crate", merge([box(s, c + middle) for s, c in parts]))
            top += 0.008
    T = transform([x, y, top + LIFT_M - float(case.mesh.bounds[0, 2])], about([0.0, 0.0, 1.0], case.turn))
    return world.with_object(THING, replace(case.mesh, color=COLOR), Still(T))
