"""Meshes and point clouds on the graphics side: static ones uploaded once, bodies re-posed for every frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import moderngl
import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Skin
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Color, Mesh, SmoothNormals, frozen, split_at_creases, welded
from elbowroom.geometry.paint import decoded
from elbowroom.geometry.rotations import Array, arc, to_matrix
from elbowroom.geometry.shapes import capsule_mesh
from elbowroom.geometry.solids import assembled


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points (T, M, 3) in metres at a fixed rate, NaN where not seen; `lines` (L, 2) joins pairs of them."""

    points: Array  # (T, M, 3)
    fps: float = 30.0
    start: float = 0.0
    radius: float = 0.016
    color: Color = (0.75, 0.20, 0.12)
    lines: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int32))

    def __post_init__(self) -> None:
        points = frozen(self.points)
        if points.ndim != 3 or points.shape[-1] != 3 or not len(points) or not self.fps > 0:
            raise BadValue(f"a cloud needs points (T, M, 3) and a positive rate, not {points.shape} at {self.fps}.")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "lines", frozen(self.lines, np.int32).reshape(-1, 2))

    @property
    def span(self) -> tuple[float, float]:
        """First and last time in seconds."""
        return self.start, self.start + (len(self.points) - 1) / self.fps

    def at(self, t: float) -> Array:
        """Points (M, 3) of the frame nearest to a time; the ends are held."""
        k = int(np.clip(round((t - self.start) * self.fps), 0, len(self.points) - 1))
        return self.points[k]

    def mesh(self, t: float) -> Mesh:
        """Balls and lines at a time."""
        points = self.at(t)
        seen = np.all(np.isfinite(points), axis=-1)
        ball = capsule_mesh(self.radius, 0.0, segments=10)
        vertices = (points[seen][:, None, :] + ball.vertices).reshape(-1, 3)
        faces = _repeated(ball, int(np.count_nonzero(seen)))
        a, b = (self.lines[seen[self.lines].all(axis=1)]).T
        rod = capsule_mesh(0.3 * self.radius, 1.0, segments=6)
        span = points[b] - points[a]
        length = np.linalg.norm(span, axis=-1)
        turn = to_matrix(arc(np.array([0.0, 0.0, 1.0]), span))
        along = rod.vertices * np.stack([0 * length + 1, 0 * length + 1, 0.5 * length], axis=-1)[:, None, :]
        rods = np.einsum("lij,lvj->lvi", turn, along) + 0.5 * (points[a] + points[b])[:, None, :]
        faces = np.concatenate([faces, _repeated(rod, len(a)) + np.int32(len(vertices))])
        return Mesh(np.concatenate([vertices, rods.reshape(-1, 3)]), faces, self.color)


def _repeated(mesh: Mesh, count: int) -> NDArray[np.int32]:
    """Faces of `count` copies of a mesh whose vertices follow each other."""
    steps = np.arange(count, dtype=np.int32)[:, None, None] * len(mesh.vertices)
    return (mesh.faces[None] + steps).reshape(-1, 3)


ATTRIBUTES = ("in_position", "in_normal", "in_color", "in_uv")
TEXTURE_UNIT = 2  # after those of the lights
_SRGB8 = 0x8C41  # GL_SRGB8: sampled as linear light
_MOST_PX = 2048  # side of a texture on the graphics side


class GpuSurface:
    """Triangles in buffers of their own, drawn by any of the programs."""

    def __init__(
        self,
        programs: dict[str, moderngl.Program],
        moving: bytes,
        looks: VertexLooks,
        index: NDArray[np.int32],
    ) -> None:
        """`moving` is positions and normals (V, 6), float32; `index` (F, 3)."""
        context = next(iter(programs.values())).ctx
        self._moving = context.buffer(moving)
        order = np.argsort(looks.texture_of[index].max(axis=1), kind="stable")
        counts = np.bincount(looks.texture_of[index].max(axis=1), minlength=len(looks.textures))
        self._textures = [_texture(context, data) for data in looks.textures]
        # corners of each texture, one after another: first and number
        self._runs = list(zip(3 * (np.cumsum(counts) - counts), 3 * counts, strict=True))
        indices = context.buffer(np.ascontiguousarray(index[order], dtype=np.int32).tobytes())
        self._owned = [self._moving, context.buffer(looks.rows), indices]
        self._arrays = {}
        for name, program in programs.items():
            full = name == "scene"
            content = [(self._moving, "3f 3f" if full else "3f 12x", *ATTRIBUTES[: 2 if full else 1])]
            if full:
                content.append((self._owned[1], "3f 2f", *ATTRIBUTES[2:]))
            self._arrays[name] = context.vertex_array(program, content, index_buffer=indices)

    def update(self, positions: Array, normals: Array) -> None:
        """New positions and normals (V, 3) each."""
        self._moving.write(packed(positions, normals))

    def draw(self, program: str) -> None:
        """Draw with the program of that name."""
        if program != "scene":
            self._arrays[program].render(moderngl.TRIANGLES)
            return
        for texture, (first, count) in zip(self._textures, self._runs, strict=True):
            if count:
                texture.use(TEXTURE_UNIT)
                self._arrays[program].render(moderngl.TRIANGLES, vertices=int(count), first=int(first))

    def release(self) -> None:
        """Give the buffers back."""
        for array in self._arrays.values():
            array.release()
        for buffer in self._owned:
            buffer.release()
        for texture in self._textures:
            texture.release()


def packed(positions: Array, normals: Array) -> bytes:
    """Positions and normals interleaved, float32."""
    return np.concatenate([positions, normals], axis=1).astype(np.float32).tobytes()


def mesh_surface(programs: dict[str, moderngl.Program], meshes: list[Mesh]) -> GpuSurface | None:
    """Rigid meshes as one surface, sharp where their edges are; None when there is nothing to draw."""
    split = [split_at_creases(m) for m in meshes if len(m.faces)]
    if not split:
        return None
    whole = assembled([mesh for mesh, _ in split])
    normals = np.concatenate([n for _, n in split])
    return GpuSurface(programs, packed(whole.vertices, normals), looks_of(whole), whole.faces)


@dataclass(frozen=True, eq=False)
class VertexLooks:
    """Colours and places in textures of vertices (V, 5) as float32; textures, the first of them none; which one
    each vertex has (V,)."""

    rows: bytes
    textures: tuple[bytes, ...]
    texture_of: NDArray[np.intp]


def looks_of(shown: Mesh | Skin) -> VertexLooks:
    """Looks of a mesh or skin: its textures, else the colours of its vertices."""
    count = len(shown.vertices)
    colors = np.tile(shown.color, (count, 1)) if shown.colors is None else shown.colors
    uv, texture_of, textures = np.zeros((count, 2)), np.zeros(count, np.intp), [b""]
    if shown.paint is not None and any(m.texture for m in shown.paint.materials):
        paint = shown.paint
        textures = list(dict.fromkeys([b"", *(m.texture for m in paint.materials)]))
        texture_of = np.array([textures.index(m.texture) for m in paint.materials])[paint.of_vertex]
        plain = np.array([m.color for m in paint.materials])[paint.of_vertex]
        colors, uv = np.where(texture_of[:, None] > 0, plain, colors), paint.uv
    rows = np.concatenate([colors, uv], axis=1).astype(np.float32).tobytes()
    return VertexLooks(rows, tuple(textures), texture_of)


def _texture(context: moderngl.Context, data: bytes) -> moderngl.Texture:
    """A texture with smaller copies of itself, repeated beyond its edges; white where there is none."""
    picture = decoded(data) if data else None
    if picture is None:
        return context.texture((1, 1), 3, b"\xff\xff\xff", alignment=1)
    picture.thumbnail((_MOST_PX, _MOST_PX))
    texture = context.texture(picture.size, 3, picture.tobytes(), alignment=1, internal_format=_SRGB8)
    texture.build_mipmaps()
    texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
    return texture


class PosedBody:
    """A body's visible mesh in as many poses as one picture shows."""

    def __init__(self, programs: dict[str, moderngl.Program], skin: Skin) -> None:
        self._programs = programs
        self._skin = skin
        self._normals = SmoothNormals(skin.faces, welded(skin.vertices, skin.owner))
        self._looks = looks_of(skin)
        self._exposures: list[GpuSurface] = []

    def posed(self, T_world_joint: Array, exposure: int) -> GpuSurface:
        """The surface for joint transforms (J, 4, 4), kept under the number of its exposure."""
        positions = self._skin.posed(T_world_joint)
        normals = self._normals(positions)
        if exposure < len(self._exposures):
            self._exposures[exposure].update(positions, normals)
            return self._exposures[exposure]
        surface = GpuSurface(self._programs, packed(positions, normals), self._looks, self._skin.faces)
        self._exposures.append(surface)
        return surface
