"""A second opinion on glTF: skinning straight from the specification, with pygltflib and nothing of the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pygltflib
from scipy.spatial.transform import Rotation

_TYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Plain:
    """One file, at rest or with the last key of every channel of its first animation."""

    def __init__(self, path: Path, last_key: bool = False) -> None:
        self.gltf = pygltflib.GLTF2().load(str(path))
        self.blob = self.gltf.binary_blob()
        nodes = self.gltf.nodes
        if last_key:
            animation = self.gltf.animations[0]
            for channel in animation.channels:
                value = self.array(animation.samplers[channel.sampler].output)[-1].tolist()
                setattr(nodes[channel.target.node], channel.target.path, value)
        self.T = np.zeros((len(nodes), 4, 4))
        children = {c for n in nodes for c in n.children or []}
        for i in range(len(nodes)):
            if i not in children:
                self._place(i, np.eye(4))

    def _place(self, i: int, above: np.ndarray) -> None:
        node = self.gltf.nodes[i]
        T = np.eye(4)
        if node.matrix:
            T = np.array(node.matrix).reshape(4, 4).T
        else:
            turn = Rotation.from_quat(node.rotation or [0, 0, 0, 1]).as_matrix()
            T[:3, :3] = turn @ np.diag(node.scale or [1, 1, 1])
            T[:3, 3] = node.translation or [0, 0, 0]
        self.T[i] = above @ T
        for child in node.children or []:
            self._place(child, self.T[i])

    def array(self, index: int) -> np.ndarray:
        """An accessor's numbers, (N, width)."""
        accessor = self.gltf.accessors[index]
        view = self.gltf.bufferViews[accessor.bufferView]
        kind = np.dtype(_TYPES[accessor.componentType])
        width = _WIDTHS[accessor.type]
        stride = view.byteStride or kind.itemsize * width
        start = (view.byteOffset or 0) + (accessor.byteOffset or 0)
        rows = [np.frombuffer(self.blob, kind, width, start + k * stride) for k in range(accessor.count)]
        return np.array(rows).reshape(accessor.count, width)

    def joints(self) -> dict[str, np.ndarray]:
        """Places of all named nodes, Z up."""
        return {n.name: _z_up(self.T[i, :3, 3]) for i, n in enumerate(self.gltf.nodes) if n.name}

    def skinned(self) -> np.ndarray:
        """All skinned vertices in the world, Z up, (V, 3)."""
        out = []
        for node in self.gltf.nodes:
            if node.skin is None or node.mesh is None:
                continue
            skin = self.gltf.skins[node.skin]
            binds = self.array(skin.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)
            M = self.T[skin.joints] @ binds
            for primitive in self.gltf.meshes[node.mesh].primitives:
                a = primitive.attributes
                v = np.column_stack([self.array(a.POSITION), np.ones(self.gltf.accessors[a.POSITION].count)])
                w = self.array(a.WEIGHTS_0).astype(float)
                w /= w.sum(axis=1, keepdims=True)
                blend = np.einsum("vk,vkij->vij", w, M[self.array(a.JOINTS_0)])
                out.append(np.einsum("vij,vj->vi", blend, v)[:, :3])
        return _z_up(np.concatenate(out))


def _z_up(p: np.ndarray) -> np.ndarray:
    return np.stack([p[..., 0], -p[..., 2], p[..., 1]], axis=-1)
