"""The stored shapes of the mannequin: one surface, several bodies, all with the same triangles.

`mannequin_base.json` is made by tools/mannequin/make.py from the base mesh of MakeHuman, which is in the public
domain (CC0 1.0). It holds the left half in an A pose, metres, +Z up, facing -Y.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Shape:
    """One body: left half of the surface and joints of both sides in its own A pose, metres."""

    vertices: Array  # (V, 3)
    joints: Mapping[str, Array]  # (3,) each
    eye_radius: float
    hair: float  # height of the hair above the crown


@dataclass(frozen=True, eq=False)
class Shapes:
    """The left half of the surface: first the `middle` vertices with x = 0, then those of the left side.

    Columns of `joint_of` are indices into `joint_names`; weights (V, 4) sum to one.
    """

    names: tuple[str, ...]
    vertices: Array  # (S, V, 3)
    joints: Array  # (S, H, 3): middle and left side, the first H of joint_names
    eye_radii: Array  # (S,)
    hair: Array  # (S,)
    joint_names: tuple[str, ...]
    triangles: Ints  # (F, 3)
    joint_of: Ints  # (V, 4)
    weights: Array  # (V, 4)
    zone: Ints  # (V,), index into zones
    zones: tuple[str, ...]
    middle: int

    def mixed(self, shares: Mapping[str, float]) -> Shape:
        """A body as a sum of stored ones, by name; shares that sum to one keep the size."""
        share = np.array([shares.get(name, 0.0) for name in self.names])
        at = np.tensordot(share, self.joints, 1)
        joints = dict(zip(self.joint_names, at, strict=False))
        for name in self.joint_names[len(at) :]:
            joints[name] = joints[mirrored_name(name)] * MIRROR
        vertices = np.tensordot(share, self.vertices, 1)
        return Shape(vertices, joints, float(share @ self.eye_radii), float(share @ self.hair))

    def whole(self, half: Array) -> Array:
        """Vertices of both sides (2 V - middle, 3) from those of the left half (V, 3)."""
        return np.concatenate([half, half[self.middle :] * MIRROR])

    @property
    def whole_triangles(self) -> Ints:
        """Triangles of both sides, (2 F, 3)."""
        n, m = self.vertices.shape[1], self.middle
        other = np.where(self.triangles < m, self.triangles, self.triangles + n - m)
        return np.concatenate([self.triangles, other[:, ::-1]]).astype(np.int32)

    @property
    def whole_joint_of(self) -> Ints:
        """Joints of both sides' vertices, (2 V - middle, 4), indices into `joint_names`."""
        swap = np.array([self.joint_names.index(mirrored_name(name)) for name in self.joint_names])
        return np.concatenate([self.joint_of, swap[self.joint_of[self.middle :]]]).astype(np.int32)


MIRROR = np.array([-1.0, 1.0, 1.0])


def mirrored_name(name: str) -> str:
    """The joint on the other side; joints of the middle are their own."""
    if name.startswith("left_"):
        return "right_" + name.removeprefix("left_")
    return "left_" + name.removeprefix("right_") if name.startswith("right_") else name


@lru_cache(maxsize=1)
def shapes() -> Shapes:
    """The stored shapes."""
    file = resources.files("elbowroom.character") / "mannequin_base.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    arrays = {name: _unpacked(packed) for name, packed in document["arrays"].items()}
    weights = arrays["weights"].astype(float)
    return Shapes(
        names=tuple(document["shapes"]),
        vertices=frozen(arrays["vertices"] * document["unit"]),
        joints=frozen(document["joint_places"]),
        eye_radii=frozen(document["eye_radius"]),
        hair=frozen(document["hair"]),
        joint_names=tuple(document["joint_names"]),
        triangles=frozen(arrays["triangles"], np.int32),
        joint_of=frozen(arrays["joint_of"], np.int32),
        weights=frozen(weights / weights.sum(axis=1, keepdims=True)),
        zone=frozen(arrays["zone"], np.int32),
        zones=tuple(document["zones"]),
        middle=int(document["middle"]),
    )


def _unpacked(packed: dict[str, Any]) -> NDArray:
    raw = zlib.decompress(base64.b64decode(packed["data"]))
    return np.frombuffer(raw, dtype=packed["dtype"]).reshape(packed["shape"])
