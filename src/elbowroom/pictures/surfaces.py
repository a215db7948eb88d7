"""Meshes on the graphics side: static ones uploaded once, bodies re-posed for every frame."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from elbowroom.character.skin import Skin
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.normals import SmoothNormals, split_at_creases, welded
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import assembled

ATTRIBUTES = ("in_position", "in_normal", "in_color")


class Surface:
    """Triangles in buffers of their own, drawn by any of the programs."""

    def __init__(
        self,
        programs: dict[str, moderngl.Program],
        moving: bytes,
        colors: bytes,
        index: NDArray[np.int32],
    ) -> None:
        """`moving` is positions and normals (V, 6), `colors` (V, 3), float32; `index` (F, 3)."""
        context = next(iter(programs.values())).ctx
        self._moving = context.buffer(moving)
        self._owned = [self._moving, context.buffer(colors)]
        indices = None if index is None else context.buffer(np.ascontiguousarray(index, dtype=np.int32).tobytes())
        if indices is not None:
            self._owned.append(indices)
        self._arrays = {}
        for name, program in programs.items():
            full = name == "scene"
            content = [(self._moving, "3f 3f" if full else "3f 12x", *ATTRIBUTES[: 2 if full else 1])]
            if full:
                content.append((self._owned[1], "3f", ATTRIBUTES[2]))
            self._arrays[name] = context.vertex_array(program, content, index_buffer=indices)

    def update(self, positions: Array, normals: Array) -> None:
        """New positions and normals (V, 3) each."""
        self._moving.write(packed(positions, normals))

    def draw(self, program: str) -> None:
        """Draw with the program of that name."""
        self._arrays[program].render(moderngl.TRIANGLES)

    def release(self) -> None:
        """Give the buffers back."""
        for array in self._arrays.values():
            array.release()
        for buffer in self._owned:
            buffer.release()


def packed(positions: Array, normals: Array) -> bytes:
    """Positions and normals interleaved, float32."""
    return np.concatenate([positions, normals], axis=1).astype(np.float32).tobytes()


def mesh_surface(programs: dict[str, moderngl.Program], meshes: list[Mesh]) -> Surface | None:
    """Rigid meshes as one surface, sharp where their edges are; None when there is nothing to draw."""
    split = [split_at_creases(m) for m in meshes if len(m.faces)]
    if not split:
        return None
    whole = assembled([mesh for mesh, _ in split])
    assert whole.colors is not None
    normals = np.concatenate([n for _, n in split])
    colors = whole.colors.astype(np.float32).tobytes()
    return Surface(programs, packed(whole.vertices, normals), colors, whole.faces)


class Figure:
    """A body's visible mesh in as many poses as one picture shows."""

    def __init__(self, programs: dict[str, moderngl.Program], skin: Skin) -> None:
        self._programs = programs
        self._skin = skin
        self._normals = SmoothNormals(skin.faces, welded(skin.vertices, skin.owner))
        colors = np.tile(skin.color, (len(skin.vertices), 1)) if skin.colors is None else skin.colors
        self._colors = colors.astype(np.float32).tobytes()
        self._exposures: list[Surface] = []

    def posed(self, T_world_joint: Array, exposure: int) -> Surface:
        """The surface for joint transforms (J, 4, 4), kept under the number of its exposure."""
        positions = self._skin.posed(T_world_joint)
        normals = self._normals(positions)
        if exposure < len(self._exposures):
            self._exposures[exposure].update(positions, normals)
            return self._exposures[exposure]
        surface = Surface(self._programs, packed(positions, normals), self._colors, self._skin.faces)
        self._exposures.append(surface)
        return surface
