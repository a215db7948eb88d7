"""Nodes of a glTF file: a checked tree, its transforms, and names that differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from elbowroom.errors import BadFile
from elbowroom.files.glb_container import Container, GltfPart
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.mesh_cleanup import has_area
from elbowroom.geometry.rotations import Array, normalize, to_matrix

_DEEPEST = 500

# The extension that puts one node's mesh at many places; left out, all but one of them would be missing.
_INSTANCES = "EXT_mesh_gpu_instancing"

# Metres (or whatever the unit is) beyond which a number is damage, not a place.
_FARTHEST = 1e9
# Extent below which a scene or an object has the wrong unit, metres.
_SMALLEST = 1e-5


class Nodes:
    """The node tree. Transforms are in the file's own axes and units, column vectors."""

    def __init__(self, container: Container) -> None:
        self.container = container
        self.parts: list[GltfPart] = container.json.parts("nodes", "node")
        count = len(self.parts)
        self.parents = [-1] * count
        for i, part in enumerate(self.parts):
            for child in part.indices("children", count, "node"):
                if self.parents[child] >= 0:
                    part.fail(f"shares its child, node {child}, with node {self.parents[child]}", "expected a tree")
                self.parents[child] = i
        # all nodes, parents first; every node has at most one parent, so what no root reaches is a cycle
        order = [i for i, p in enumerate(self.parents) if p < 0]
        depth = [0] * len(self.parts)
        for i in order:
            for child in self.parts[i].values.get("children", []):
                depth[child] = depth[i] + 1
                if depth[child] > _DEEPEST:
                    self.parts[child].fail(f"is more than {_DEEPEST} levels deep")
                order.append(child)
        if len(order) < len(self.parts):
            lost = min(set(range(len(self.parts))) - set(order))
            self.parts[lost].fail("is its own ancestor", "expected a tree without cycles")
        self.order = order
        for part in self.parts:
            extensions = part.values.get("extensions")
            if isinstance(extensions, dict) and _INSTANCES in extensions:
                part.fail(f"repeats its mesh by {_INSTANCES}", "export every copy as a node of its own")

    @cached_property
    def shown(self) -> set[int]:
        """Nodes of the scene that is shown; all of them where the file names no scene."""
        scenes = self.container.json.parts("scenes", "scene")
        if not scenes:
            return set(range(len(self.parts)))
        scene = scenes[self.container.json.index("scene", len(scenes), "scene", 0)]
        inside = set(scene.indices("nodes", len(self.parts), "node"))
        for i in self.order:
            if self.parents[i] in inside:
                inside.add(i)
        return inside

    def trs(self, i: int) -> tuple[Array, Array, Array] | None:
        """Translation (3,), rotation (4,) wxyz and scale (3,) of a node, or None where it has a matrix."""
        part = self.parts[i]
        if "matrix" in part:
            return None
        x, y, z, w = part.numbers("rotation", 4, (0.0, 0.0, 0.0, 1.0)) or ()
        q = normalize([w, x, y, z])
        if not np.any(q):
            part.fail("has a rotation of zero length")
        move = np.array(part.numbers("translation", 3, (0.0, 0.0, 0.0)))
        return move, q, np.array(part.numbers("scale", 3, (1.0, 1.0, 1.0)))

    def local(self, i: int) -> Array:
        """Transform of a node in its parent, (4, 4)."""
        found = self.trs(i)
        if found is not None:
            return compose(*found)
        matrix = np.array(self.parts[i].numbers("matrix", 16)).reshape(4, 4).T
        if np.any(np.abs(matrix[3] - [0, 0, 0, 1]) > 1e-4):
            self.parts[i].fail("has a matrix that is not a transform (its last row is not 0 0 0 1)")
        return matrix

    @cached_property
    def T_world(self) -> Array:
        """Transforms of all nodes as the file places them, (N, 4, 4), with scales."""
        out = np.zeros((len(self.parts), 4, 4))
        for i in self.order:
            parent = self.parents[i]
            out[i] = self.local(i) if parent < 0 else out[parent] @ self.local(i)
        return sane(out, self.container.path, "its node transforms")

    def ancestors(self, i: int) -> list[int]:
        """A node's parents from the nearest to the top."""
        out = []
        while (i := self.parents[i]) >= 0:
            out.append(i)
        return out

    def name(self, i: int) -> str:
        """The node's name, or that of the mesh on it, or its number."""
        return self.parts[i].text("name").strip() or f"node {i}"


def sane(values: Array, path: Path, what: str) -> Array:
    """The values, if they are finite and of a size that a scene can have."""
    if not np.all(np.abs(values) < _FARTHEST):  # false for NaN, too
        raise BadFile(path, f"{what} are too large or not numbers")
    return values


def check_sizes(path: Path, meshes: Mapping[str, Mesh]) -> None:
    """Raise `BadFile` where no mesh has a triangle with an area, or all are smaller than a grain of dust."""
    if not meshes:
        return
    if not any(has_area(m.vertices, m.faces).any() for m in meshes.values()):
        raise BadFile(path, "has only triangles without area", would_do="expected surfaces")
    largest = max(float(np.ptp(m.vertices, axis=0).max()) for m in meshes.values())
    if largest < _SMALLEST:
        raise BadFile(path, f"is only {largest:.1g} m large", would_do="give the units of the file (option: units)")


def compose(move: Array, q: Array, scale: Array) -> Array:
    """Transforms (..., 4, 4) from translations (..., 3), rotations (..., 4) and scales (..., 3)."""
    lead = np.broadcast_shapes(move.shape[:-1], q.shape[:-1], scale.shape[:-1])
    out = np.zeros((*lead, 4, 4))
    out[..., :3, :3] = to_matrix(q) * scale[..., None, :]
    out[..., :3, 3] = move
    out[..., 3, 3] = 1.0
    return out


def rigid(T: Array) -> Array:
    """The transforms (..., 4, 4) with scale, shear and mirroring taken out of their rotations."""
    m = T[..., :3, :3]
    size = np.linalg.norm(m, axis=-2, keepdims=True)
    turn = m / np.where(size > 0, size, 1.0)
    turn = turn * np.where(np.linalg.det(turn) < 0, -1.0, 1.0)[..., None, None]
    skewed = np.abs(np.swapaxes(turn, -1, -2) @ turn - np.eye(3)).max(axis=(-1, -2)) > 1e-6
    if np.any(skewed):
        u, _, v = np.linalg.svd(turn[skewed])
        best = u @ v
        turn[skewed] = best * np.where(np.linalg.det(best) < 0, -1.0, 1.0)[..., None, None]
    out = np.array(T)
    out[..., :3, :3] = turn
    return out


def distinct(names: Iterable[str]) -> list[str]:
    """The names with numbers behind those that came before: arm, arm.001, arm.002."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    out = []
    for name in names:
        free = name
        while free in taken:
            counts[name] = counts.get(name, 0) + 1
            free = f"{name}.{counts[name]:03d}"
        taken.add(free)
        out.append(free)
    return out
