"""Body models of the SMPL family, as their NPZ files store them: shape, joints, skin. Pickled models are not read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from elbowroom.character.skin import Skin
from elbowroom.errors import BadFile
from elbowroom.files.conventions import turned_points
from elbowroom.files.npz_arrays import Arrays
from elbowroom.geometry.rotations import Array

_WANTED = "give the model as .npz; a .pkl file could run any program and is never opened"
# Joints of the body without hands and face, which come first in all models.
BODY_JOINTS = 22
# Joints that move one vertex.
_MOST_JOINTS = 8


class BodyModel:
    """A body model with the shape of one person: `joints` (J, 3) and a skin, metres, in the model's axes (Y up).

    `betas` (B,) are shape parameters; those that the model does not have are ignored. Corrections of the skin that
    depend on the pose are left out.
    """

    def __init__(self, path: Path, count: int, betas: Array) -> None:
        if path.suffix.lower() != ".npz":
            raise BadFile(path, f"is a body model with the suffix '{path.suffix}'", would_do=_WANTED)
        with Arrays(path) as file:
            self.vertices = file.get("v_template", 2).astype(float)
            regressor = file.get("J_regressor", 2).astype(float)
            self.weights = file.get("weights", 2).astype(float)
            self.faces = file.get("f", 2, kind="iu").astype(np.int32)
            shapes = file.get("shapedirs", 3).astype(float)
            tree = file.get("kintree_table", 2).astype(np.int64)
        size, joints = len(self.vertices), len(regressor)
        good = self.vertices.shape[1] == 3 and self.weights.shape == (size, joints) and self.faces.shape[1] == 3
        good = good and regressor.shape[1] == size and shapes.shape[:2] == (size, 3)
        if not good or not size or self.faces.min(initial=0) < 0 or self.faces.max(initial=0) >= size:
            raise BadFile(
                path, "has arrays that do not fit together", would_do="expected an SMPL, SMPL-H or SMPL-X model"
            )
        if joints != count and (count != BODY_JOINTS or joints < count):
            raise BadFile(path, f"has {joints} joints, and the motion {count}", would_do="give the model of the motion")
        used = min(len(betas), shapes.shape[2])
        self.vertices = self.vertices + shapes[:, :, :used] @ betas[:used]
        self.joints = (regressor @ self.vertices)[:count]
        for k in range(joints - 1, count - 1, -1):  # what the motion does not have moves with the joint above
            above = int(tree[0, k]) if tree.shape[1] == joints else -1
            if not 0 <= above < k:
                raise BadFile(path, f"has no tree of {joints} joints", where="array 'kintree_table'")
            self.weights[:, above] += self.weights[:, k]
        self.weights = self.weights[:, :count]

    def skin(self) -> Skin:
        """The surface bound to the joints in the T pose, +Z up."""
        order = np.argsort(-self.weights, axis=1)[:, :_MOST_JOINTS].astype(np.int32)
        weights = np.take_along_axis(self.weights, order, axis=1)
        total = weights.sum(axis=1, keepdims=True)
        inverse_bind = np.tile(np.eye(4), (len(self.joints), 1, 1))
        inverse_bind[:, :3, 3] = -turned_points(self.joints, "Y")
        return Skin(
            turned_points(self.vertices, "Y"), self.faces, order, weights / np.maximum(total, 1e-9), inverse_bind
        )
