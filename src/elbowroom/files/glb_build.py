"""Putting a GLB together: JSON lists, one binary chunk, and surfaces with normals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.mesh import Color, split_corners
from elbowroom.geometry.paint import Material, Paint
from elbowroom.geometry.rotations import Array

_COMPONENTS = {"uint8": 5121, "uint16": 5123, "uint32": 5125, "float32": 5126}
_KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_VERTICES, _INDICES = 34962, 34963
_LEAST_WEIGHT = 1e-4  # below it a joint's pull on a vertex cannot be seen


@dataclass(frozen=True, eq=False)
class Look:
    """Looks of a surface: paint, else colours of vertices (V, 3), else one colour under a name."""

    color: Color
    colors: Array | None = None
    paint: Paint | None = None
    name: str = ""

    def parts(self, use: NDArray, faces: NDArray) -> Iterator[tuple[Material, NDArray]]:
        """Materials, and the faces (F, 3) that have each; `use` are the vertices that faces count along.

        Of a face with several materials the last in the list counts, so that the hem of clothes follows edges.
        """
        if self.paint is None:
            white = (1.0, 1.0, 1.0)
            yield Material(self.name, self.color if self.colors is None else white), faces
            return
        of_face = self.paint.of_vertex[use[faces]].max(axis=1)
        for k in np.unique(of_face):
            yield self.paint.materials[k], faces[of_face == k]


class GlbBuilder:
    """Builder of one file; every method returns the index of the part that it added."""

    def __init__(self) -> None:
        self._json: dict[str, list[Any]] = {}
        self._data: list[bytes] = []
        self._length = 0
        self._materials: dict[Material, int] = {}
        self._textures: dict[bytes, int] = {}

    def add(self, kind: str, value: dict[str, Any]) -> int:
        """One more of 'nodes', 'meshes', 'skins', …"""
        listed = self._json.setdefault(kind, [])
        listed.append(value)
        return len(listed) - 1

    def entry(self, kind: str, index: int) -> dict[str, Any]:
        """One of the entries that were added."""
        found: dict[str, Any] = self._json[kind][index]
        return found

    def count(self, kind: str) -> int:
        """Number of entries so far."""
        return len(self._json.get(kind, []))

    def _view(self, array: NDArray, target: int | None) -> int:
        data = array.tobytes()
        view = {"buffer": 0, "byteOffset": self._length, "byteLength": len(data)}
        if target is not None:
            view["target"] = target
        self._data.append(data + b"\0" * (-len(data) % 4))
        self._length += len(self._data[-1])
        return self.add("bufferViews", view)

    def array(
        self, array: NDArray, *, target: int | None = None, bounds: bool = False, normalized: bool = False
    ) -> int:
        """An accessor on an array (N, width) of its own."""
        return self.arrays(array[None], target=target, bounds=bounds, normalized=normalized)[0]

    def arrays(
        self, arrays: NDArray, *, target: int | None = None, bounds: bool = False, normalized: bool = False
    ) -> list[int]:
        """Accessors on a stack of arrays (K, N, width), all in one buffer view."""
        _, count, width = arrays.shape
        view = self._view(arrays, target)
        out = []
        for k, array in enumerate(arrays):
            accessor: dict[str, Any] = {
                "bufferView": view,
                "byteOffset": k * array.nbytes,
                "componentType": _COMPONENTS[array.dtype.name],
                "count": count,
                "type": _KINDS[width],
            }
            if bounds:
                accessor["min"] = array.min(axis=0).tolist()
                accessor["max"] = array.max(axis=0).tolist()
            if normalized:
                accessor["normalized"] = True
            out.append(self.add("accessors", accessor))
        return out

    def material(self, wanted: Material) -> int:
        """A material; one for all that are alike. Colours are linear RGB in 0..1."""
        r, g, b = (round(min(max(float(c), 0.0), 1.0), 4) for c in wanted.color)
        key = replace(wanted, color=(r, g, b))
        if key not in self._materials:
            look: dict[str, Any] = {"baseColorFactor": [r, g, b, 1.0]}
            look |= {"metallicFactor": wanted.metallic, "roughnessFactor": wanted.roughness}
            if wanted.texture:
                # a texture of the bytes of a PNG or JPEG file; one for all uses of it
                if wanted.texture not in self._textures:
                    kind = "image/png" if wanted.texture.startswith(b"\x89PNG") else "image/jpeg"
                    view = self._view(np.frombuffer(wanted.texture, np.uint8), None)
                    image = self.add("images", {"bufferView": view, "mimeType": kind})
                    self._textures[wanted.texture] = self.add("textures", {"source": image})
                look["baseColorTexture"] = {"index": self._textures[wanted.texture]}
            named = {"name": wanted.name} if wanted.name else {}
            self._materials[key] = self.add("materials", named | {"pbrMetallicRoughness": look, "doubleSided": True})
        return self._materials[key]

    def surface(
        self,
        name: str,
        vertices: Array,
        faces: NDArray,
        look: Look,
        *,
        joints: NDArray | None = None,
        weights: Array | None = None,
    ) -> int:
        """A mesh with normals that keep sharp edges sharp; vertices are split along them, parts by material."""
        use, corners, normals = split_corners(vertices, faces)
        normals[np.sum(normals**2, axis=1) < 0.5] = [0.0, 1.0, 0.0]  # faces without area have none
        binding: dict[str, NDArray] = {}
        if joints is not None and weights is not None:
            binding = dict(zip(("JOINTS_0", "WEIGHTS_0"), _four_joints(joints[use], weights[use]), strict=True))
        primitives = []
        for material, mine in look.parts(use, corners):
            picked, index = np.unique(mine, return_inverse=True)
            attributes = {
                "POSITION": self.array(vertices[use[picked]].astype(np.float32), target=_VERTICES, bounds=True),
                "NORMAL": self.array(normals[picked].astype(np.float32), target=_VERTICES),
            }
            if look.colors is not None and look.paint is None:
                rgba = np.ones((len(picked), 4))
                rgba[:, :3] = np.clip(look.colors[use[picked]], 0.0, 1.0)
                whole = np.round(rgba * 65535).astype(np.uint16)
                attributes["COLOR_0"] = self.array(whole, target=_VERTICES, normalized=True)
            if look.paint is not None and material.texture:
                uv = look.paint.uv[use[picked]].astype(np.float32)
                attributes["TEXCOORD_0"] = self.array(uv, target=_VERTICES)
            attributes |= {key: self.array(rows[picked], target=_VERTICES) for key, rows in binding.items()}
            kind = np.uint16 if len(picked) < 65535 else np.uint32
            indices = self.array(index.reshape(-1, 1).astype(kind), target=_INDICES)
            primitives.append({"attributes": attributes, "indices": indices, "material": self.material(material)})
        return self.add("meshes", {"name": name, "primitives": primitives})

    def glb(self, extras: dict[str, Any]) -> bytes:
        """The whole file."""
        document: dict[str, Any] = {"asset": {"version": "2.0", "generator": "elbowroom"}, **self._json}
        document["extras"] = {"elbowroom": extras}
        if self._data:
            document["buffers"] = [{"byteLength": self._length}]
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        chunks = [(b"JSON", text)] + ([(b"BIN\0", b"".join(self._data))] if self._data else [])
        body = b"".join(len(data).to_bytes(4, "little") + kind + data for kind, data in chunks)
        return b"glTF" + (2).to_bytes(4, "little") + (12 + len(body)).to_bytes(4, "little") + body


def _four_joints(joints: NDArray, weights: Array) -> tuple[NDArray, NDArray[np.float32]]:
    """The four strongest joints of each vertex, none twice or without weight; the weights sum to one."""
    joints, weights = np.array(joints, dtype=np.int64), np.array(weights, dtype=float)
    for k in range(1, joints.shape[1]):
        for before in range(k):
            same = joints[:, k] == joints[:, before]
            weights[same, before] += weights[same, k]
            weights[same, k] = 0.0
    wide = ((0, 0), (0, max(0, 4 - joints.shape[1])))
    joints, weights = np.pad(joints, wide), np.pad(weights, wide)
    strongest = np.argsort(-weights, axis=1, kind="stable")[:, :4]
    joints, weights = np.take_along_axis(joints, strongest, 1), np.take_along_axis(weights, strongest, 1)
    weights[weights < _LEAST_WEIGHT * weights[:, :1]] = 0.0
    joints[weights == 0.0] = 0
    share = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return joints.astype(np.uint8 if joints.max(initial=0) < 256 else np.uint16), share
