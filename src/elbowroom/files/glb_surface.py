"""Triangles of glTF meshes: vertices, faces, colours and, where present, joints with weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.files.glb_container import Container, GltfPart
from elbowroom.geometry.mesh import Color
from elbowroom.geometry.paint import Material, Paint, joined, sampled
from elbowroom.geometry.rotations import Array

_WHITE: Color = (1.0, 1.0, 1.0)
_TRIANGLES, _STRIP, _FAN = 4, 5, 6


@dataclass(frozen=True, eq=False)
class GltfSurface:
    """All triangles of one glTF mesh, in its own frame. `joints` count along the list of the skin in use."""

    vertices: Array  # (V, 3)
    faces: NDArray[np.int32]  # (F, 3)
    colors: Array  # (V, 3), linear RGB
    joints: NDArray[np.int64]  # (V, K); K is 0 where nothing is bound
    weights: Array  # (V, K), not yet summing to one
    has_color: bool
    paint: Paint | None = None

    @property
    def main_color(self) -> Color:
        """The colour of the largest part of the area, linear RGB."""
        a, b, c = (self.vertices[self.faces[:, k]] for k in range(3))
        area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        shades, which = np.unique(np.round(self.colors[self.faces[:, 0]], 3), axis=0, return_inverse=True)
        r, g, b_ = shades[np.argmax(np.bincount(which.reshape(-1), area + 1e-12))]
        return float(r), float(g), float(b_)


class Surfaces:
    """Meshes of a file, decoded lazily. `notes` collects what was left out."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self.parts = container.json.parts("meshes", "mesh")
        self._materials = container.json.parts("materials", "material")
        self._made: dict[int, GltfSurface] = {}
        self._images: dict[int, bytes] = {}
        self.notes: list[str] = []

    def __getitem__(self, index: int) -> GltfSurface:
        if index not in self._made:
            part = self.parts[index]
            weights = part.values.get("weights")
            if isinstance(weights, list) and any(weights):
                self._note(f"Blend shapes of '{part.text('name')}' are active in the file; it was read without them.")
            self._made[index] = _merged([s for p in part.parts("primitives", "primitive") if (s := self._read(p))])
        return self._made[index]

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _read(self, part: GltfPart) -> GltfSurface | None:
        mode = part.integer("mode", _TRIANGLES, 0, 6)
        if mode < _TRIANGLES:
            self._note("Points and lines were left out.")
            return None
        if part.values.get("targets"):
            self._note("Blend shapes were left out.")
        attributes = part.part("attributes")
        if attributes is None or "POSITION" not in attributes:
            self._note("A part of a mesh without positions was left out.")
            return None
        container, count = self._container, len(self._container.accessors)

        def rows(name: str, kinds: tuple[str, ...]) -> Array:
            found = container.array(attributes.index(name, count, "accessor"), kinds, name)
            if len(found) != len(vertices):
                attributes.fail(f"has {len(found)} of {name} for {len(vertices)} positions")
            return found

        at = attributes.index("POSITION", count, "accessor")
        if "bufferView" not in container.accessors[at] and "sparse" not in container.accessors[at]:
            attributes.fail("has positions without data", "export it again without mesh compression")
        vertices = container.array(at, ("VEC3",), "positions")
        color, known = self._color(part)
        colors = np.tile(color, (len(vertices), 1))
        paint = self._paint(part, attributes, rows, len(vertices)) if "COLOR_0" not in attributes else None
        if paint is not None:
            colors, known = paint.colors, True
        if "COLOR_0" in attributes:
            colors = np.clip(colors * rows("COLOR_0", ("VEC3", "VEC4"))[:, :3], 0.0, 1.0)
            known = known or bool(len(colors) and colors.min() < 0.999)
        joints, weights = [], []
        for k in range(4):
            if f"JOINTS_{k}" not in attributes or f"WEIGHTS_{k}" not in attributes:
                break
            at = attributes.index(f"JOINTS_{k}", count, "accessor")
            joints.append(container.whole(at, ("VEC4",), "joints of the skin", 2**16, "joint"))
            weights.append(rows(f"WEIGHTS_{k}", ("VEC4",)))
            if len(joints[-1]) != len(vertices):
                attributes.fail(f"has {len(joints[-1])} of JOINTS_{k} for {len(vertices)} positions")
        none = np.zeros((len(vertices), 0))
        faces = _triangles(mode, self._corners(part, len(vertices)))
        return GltfSurface(
            vertices,
            faces,
            colors,
            np.concatenate(joints, axis=1) if joints else none.astype(np.int64),
            np.maximum(np.concatenate(weights, axis=1), 0.0) if weights else none,
            known,
            paint,
        )

    def _corners(self, part: GltfPart, vertices: int) -> NDArray[np.int64]:
        at = part.index("indices", len(self._container.accessors), "accessor", -1)
        if at < 0:
            return np.arange(vertices)
        return self._container.whole(at, ("SCALAR",), "indices", vertices, "vertex")[:, 0]

    def _color(self, part: GltfPart) -> tuple[Color, bool]:
        """The material's base colour, and whether the file gives one."""
        at = part.index("material", len(self._materials), "material", -1)
        look = self._materials[at].part("pbrMetallicRoughness") if at >= 0 else None
        if look is None:
            return _WHITE, False
        factor = look.numbers("baseColorFactor", 4)
        if factor is None or min(factor[:3]) >= 1.0:  # white is what programs write for 'none' or 'see texture'
            return _WHITE, False
        r, g, b = np.clip(factor[:3], 0.0, 1.0)
        return (float(r), float(g), float(b)), True

    def _paint(
        self, part: GltfPart, attributes: GltfPart, rows: Callable[[str, tuple[str, ...]], Array], count: int
    ) -> Paint | None:
        """The material of a primitive's vertices and their places in its texture; None where the file gives neither."""
        at = part.index("material", len(self._materials), "material", -1)
        if at < 0:
            return None
        color, known = self._color(part)
        look = self._materials[at].part("pbrMetallicRoughness")
        uv, texture = np.zeros((count, 2)), b""
        if look is not None and (info := look.part("baseColorTexture")) is not None:
            name = f"TEXCOORD_{info.integer('texCoord', 0, 0, 16)}"
            texture = self._texture(info) if name in attributes else b""
            if texture:
                uv = rows(name, ("VEC2",))
        if not (known or texture):
            return None
        metallic, roughness = (
            min(max(look.number(key, 1.0), 0.0), 1.0) if look else 1.0 for key in ("metallicFactor", "roughnessFactor")
        )
        material = Material(self._materials[at].text("name").strip(), color, texture, metallic, roughness)
        return Paint((material,), np.zeros(count, np.int32), uv)

    def _texture(self, info: GltfPart) -> bytes:
        """The bytes of a texture's PNG or JPEG file; none, with a note, where it cannot be read."""
        json = self._container.json
        textures, images = json.parts("textures", "texture"), json.parts("images", "image")
        at = textures[info.index("index", len(textures), "texture")].index("source", len(images), "image", -1)
        if at not in self._images:
            data = self._container.image(images[at]) if at >= 0 else b""
            self._images[at] = data if data and sampled(data) is not None else b""
        if not self._images[at]:
            self._note("Textures that are missing, damaged, larger than 8192 pixels, or not PNG or JPEG were left out.")
        return self._images[at]


def _triangles(mode: int, corners: NDArray[np.int64]) -> NDArray[np.int32]:
    """Faces (F, 3) from a list of corners, without those that use a vertex twice."""
    if mode == _TRIANGLES:
        faces = corners[: len(corners) // 3 * 3].reshape(-1, 3)
    elif len(corners) < 3:
        faces = np.zeros((0, 3), np.int64)
    elif mode == _FAN:
        faces = np.stack([np.full(len(corners) - 2, corners[0]), corners[1:-1], corners[2:]], axis=1)
    else:
        faces = np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1)
        faces[1::2] = faces[1::2, [1, 0, 2]]
    a, b, c = faces.T
    return faces[(a != b) & (b != c) & (c != a)].astype(np.int32)


def _merged(surfaces: list[GltfSurface]) -> GltfSurface:
    """Primitives as one surface; those with fewer weights are filled up with zeros."""
    if len(surfaces) == 1:
        return surfaces[0]
    width = max((s.joints.shape[1] for s in surfaces), default=0)
    starts = np.cumsum([0, *(len(s.vertices) for s in surfaces)])

    def filled(a: NDArray) -> NDArray:
        return np.pad(a, ((0, 0), (0, width - a.shape[1])))

    return GltfSurface(
        np.concatenate([np.zeros((0, 3)), *(s.vertices for s in surfaces)]),
        np.concatenate(
            [np.zeros((0, 3), np.int32), *(s.faces + k for s, k in zip(surfaces, starts[:-1], strict=True))]
        ),
        np.concatenate([np.zeros((0, 3)), *(s.colors for s in surfaces)]),
        np.concatenate([np.zeros((0, width), np.int64), *(filled(s.joints) for s in surfaces)]),
        np.concatenate([np.zeros((0, width)), *(filled(s.weights) for s in surfaces)]),
        any(s.has_color for s in surfaces),
        joined_surfaces(surfaces),
    )


def joined_surfaces(surfaces: list[GltfSurface]) -> Paint | None:
    """Paint of surfaces one after another, white for those without; None where nobody has any."""
    if not any(s.paint is not None for s in surfaces):
        return None
    return joined([s.paint or Paint.plain(Material(), len(s.vertices)) for s in surfaces])
