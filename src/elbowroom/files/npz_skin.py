"""Skins of characters in an NPZ file, as plain arrays: what is shown after reading is what was written."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character, Skin
from elbowroom.errors import BadFile
from elbowroom.files.npz_arrays import NpzArrays

# Vertices of all skins of a file together, about 120 MB: characters beyond that are stored without theirs.
MOST_VERTICES = 1_000_000
# Joints by which a vertex may be moved: no rig has more than 12.
_MOST_JOINTS = 64
# Largest deviation of the sum of a vertex' weights from 1: some files round weights to bytes.
_OFF_ONE = 0.02


def skin_arrays(bodies: Mapping[str, Character]) -> dict[str, NDArray]:
    """Arrays of the skins of characters by name; a skin that several wear is stored once. Textures are not kept."""
    out: dict[str, NDArray] = {}
    stored: dict[int, str] = {}
    left = MOST_VERTICES
    for name, body in bodies.items():
        skin, at = body.skin, f"char/{name}/skin"
        if skin is None or not len(skin.vertices):
            continue
        if id(skin) in stored:
            out[f"{at}/of"] = np.array(stored[id(skin)])
            continue
        left -= len(skin.vertices)
        if left < 0:
            break
        stored[id(skin)] = name
        colors = np.tile(skin.color, (len(skin.vertices), 1)) if skin.colors is None else skin.colors
        out |= {f"{at}/vertices": skin.vertices, f"{at}/faces": skin.faces, f"{at}/joints": skin.joints}
        out |= {f"{at}/weights": skin.weights, f"{at}/inverse_bind": skin.inverse_bind}
        out[f"{at}/colors"] = np.asarray(colors, np.float32)
    return out


def read_skin(file: NpzArrays, name: str, joints: int, known: dict[str, Skin]) -> Skin | None:
    """The skin of a character of a file, with so many joints; None where it is not stored.

    `known` are skins read before by character, to which this one is added.
    """
    if f"char/{name}/skin/of" in file:
        name = str(file.get(f"char/{name}/skin/of", 0, kind="U"))
        if f"char/{name}/skin/vertices" not in file:
            raise BadFile(file.path, f"refers to the skin of '{name}', which has none", where="array 'skin/of'")
    at = f"char/{name}/skin"
    if f"{at}/vertices" not in file:
        return None
    if name in known and len(known[name].inverse_bind) == joints:
        return known[name]
    mesh = file.mesh(at)
    count = len(mesh.vertices)
    of, weights = file.get(f"{at}/joints", 2, kind="iu"), file.get(f"{at}/weights", 2)
    if of.shape != weights.shape or len(of) != count or not 0 < of.shape[1] <= _MOST_JOINTS:
        raise BadFile(file.path, "needs joints and weights (V, K) of every vertex", where=f"{at}/joints, weights")
    if not count or not 0 <= int(of.min()) <= int(of.max()) < joints:
        raise BadFile(file.path, "refers to joints that do not exist", where=f"{at}/joints")
    if weights.min() < 0.0 or np.abs(weights.sum(axis=1) - 1.0).max() > _OFF_ONE:
        raise BadFile(file.path, "needs weights of zero or more that sum to 1", where=f"{at}/weights")
    bind = file.get(f"{at}/inverse_bind", 3, (joints, 4, 4))
    colors = np.clip(file.get(f"{at}/colors", 2, (count, 3)), 0.0, 1.0)
    known[name] = Skin(mesh.vertices, mesh.faces, of.astype(np.int32), weights, bind, colors)
    return known[name]
