"""Materials and textures of a surface: for the eye alone, kept from the file that brought them to those written."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, UnidentifiedImageError

from elbowroom.geometry.rotations import Array

# Textures larger than this are left out.
MOST_PIXELS = 8192 * 8192
# Side of a texture, pixels, that colours of vertices are looked up in.
_SAMPLED_PX = 256


@dataclass(frozen=True)
class Material:
    """Colour, linear RGB in 0..1, which multiplies a `texture`: the bytes of a PNG or JPEG file, or none."""

    name: str = ""
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    texture: bytes = b""
    metallic: float = 0.0
    roughness: float = 0.75


@dataclass(frozen=True, eq=False)
class Paint:
    """The material of each vertex (V,), an index, and its place in the texture, `uv` (V, 2), from the top left."""

    materials: tuple[Material, ...]
    of_vertex: NDArray[np.int32]
    uv: Array

    def __post_init__(self) -> None:
        for name, kind in (("of_vertex", np.int32), ("uv", float)):
            array = np.array(getattr(self, name), dtype=kind, order="C")
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @staticmethod
    def plain(material: Material, count: int) -> Paint:
        """One material for so many vertices."""
        return Paint((material,), np.zeros(count, np.int32), np.zeros((count, 2)))

    def taken(self, use: NDArray[np.integer]) -> Paint:
        """Paint of the vertices with these indices."""
        return Paint(self.materials, self.of_vertex[use], self.uv[use])

    @property
    def seams(self) -> NDArray[np.intp]:
        """Number (V,) shared by vertices that may be joined: of one material, at one place of its texture."""
        keys = np.column_stack([self.of_vertex, np.round(self.uv * 2**14)]).astype(np.int64)
        return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)

    @property
    def colors(self) -> Array:
        """Colour of each vertex (V, 3), linear RGB, with what its texture has there."""
        out = np.array([m.color for m in self.materials])[self.of_vertex]
        for k, material in enumerate(self.materials):
            pixels = sampled(material.texture) if material.texture else None
            mine = self.of_vertex == k
            if pixels is not None and mine.any():
                at = np.floor(np.mod(self.uv[mine], 1.0) * pixels.shape[1::-1]).astype(int)
                at = np.minimum(at, np.array(pixels.shape[1::-1]) - 1)
                out[mine] *= pixels[at[:, 1], at[:, 0]]
        return out


def joined(paints: Sequence[Paint]) -> Paint:
    """Paint of several surfaces one after another; equal materials become one."""
    materials = list(dict.fromkeys(m for paint in paints for m in paint.materials))
    of_vertex = [np.array([materials.index(m) for m in p.materials], np.int32)[p.of_vertex] for p in paints]
    return Paint(tuple(materials), np.concatenate(of_vertex), np.concatenate([p.uv for p in paints]))


def decoded(texture: bytes) -> Image.Image | None:
    """The picture in a PNG or JPEG file; None where it is damaged, of another kind or too large."""
    try:
        picture = Image.open(io.BytesIO(texture), formats=("PNG", "JPEG"))
        if picture.width * picture.height > MOST_PIXELS:
            return None
        return picture.convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError):
        return None


@lru_cache(maxsize=64)
def sampled(texture: bytes) -> Array | None:
    """A small copy of a texture (H, W, 3), linear RGB; None where it cannot be decoded."""
    picture = decoded(texture)
    if picture is None:
        return None
    picture.thumbnail((_SAMPLED_PX, _SAMPLED_PX))
    return linear(np.asarray(picture, dtype=float) / 255.0)


def linear(srgb: ArrayLike) -> Array:
    """Linear light from sRGB in 0..1, of any shape."""
    srgb = np.asarray(srgb, dtype=float)
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
