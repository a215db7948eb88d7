"""Skins and meshes as nodes of a viser scene, and how they are posed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Skin
from elbowroom.files.glb_build import GlbBuilder, Look
from elbowroom.geometry.mesh import Mesh, split_at_creases, srgb8
from elbowroom.geometry.rotations import Array, from_matrix
from elbowroom.geometry.transforms import inverse

if TYPE_CHECKING:
    import viser

_SAME = 1e-6  # metres, and parts of quaternions, that nobody sees
_COLORS = 12  # parts of a skin that differ in colour; each is a mesh of its own in the player


@dataclass(eq=False)
class SkinNode:
    """A skin in a scene: its parts, and for each of them the joints (B,) of its bones. `last` (J, 7) was sent last."""

    parts: tuple[viser.MeshSkinnedHandle, ...]
    joints: tuple[NDArray, ...]
    last: NDArray | None = None
    _written: list[tuple[dict[str, Any], dict[str, Any]]] | None = None  # messages of each bone, as viser writes them

    def pose(self, positions: NDArray, turns: NDArray, recording: viser.infra.StateSerializer | None = None) -> None:
        """Place joints: positions (J, 3) and quaternions (J, 4) in the world; those that stay are not sent again.

        Bones have setters of their own, which compare each alone: six times as long for a pose. With a `recording`
        messages go there alone, as viser would write them: by way of the server they take ten times as long. They are
        encoded at once, since viser searches all others for arrays.
        """
        from msgspec import Raw
        from msgspec.msgpack import encode
        from viser import _messages

        if recording is not None and self._written is None:
            self._written = [
                (
                    _messages.SetBoneOrientationMessage(part.name, k, (1.0, 0.0, 0.0, 0.0)).as_serializable_dict(),
                    _messages.SetBonePositionMessage(part.name, k, (0.0, 0.0, 0.0)).as_serializable_dict(),
                )
                for part, used in zip(self.parts, self.joints, strict=True)
                for k in range(len(used))
            ]
        now = np.concatenate([positions, turns], axis=1)
        moved = np.ones(len(now), bool) if self.last is None else np.abs(now - self.last).max(axis=1) > _SAME
        self.last = now if self.last is None else np.where(moved[:, None], now, self.last)
        where = [tuple(p) for p in positions.tolist()]
        turned = [tuple(q) for q in turns.tolist()]
        if recording is not None and self._written is not None:
            used = np.concatenate(self.joints)
            time = recording._time
            messages: list[tuple[float, Any]] = recording._messages
            for k in np.flatnonzero(moved[used]).tolist():
                turn, place = self._written[k]
                messages.append((time, Raw(encode({**turn, "wxyz": turned[used[k]]}))))
                messages.append((time, Raw(encode({**place, "position": where[used[k]]}))))
            return
        for part, used in zip(self.parts, self.joints, strict=True):
            name, queue = part.name, part._impl.api._queue_scene_message
            for k in np.flatnonzero(moved[used]).tolist():
                joint = int(used[k])
                queue(_messages.SetBoneOrientationMessage(name, k, turned[joint]))
                queue(_messages.SetBonePositionMessage(name, k, where[joint]))

    def pose_joints(self, T: Array) -> None:
        """Place joints at transforms (J, 4, 4) in the world."""
        self.pose(T[:, :3, 3], from_matrix(T[:, :3, :3]))

    def show(self, visible: bool) -> None:
        """Show or hide all parts."""
        for part in self.parts:
            if part.visible != visible:
                part.visible = visible


def add_skin(scene: viser.SceneApi, name: str, skin: Skin, T_first: Array, **look: Any) -> SkinNode:
    """Add a skin below a name, one node for each of its colours; `look` goes to each node.

    `T_first` (J, 4, 4) is a pose in which skins are bound anew that a player without scales cannot show.
    """
    vertices, T_bind_joint = rigid_bind(skin, T_first)
    parts, joints = [], []
    for number, part in enumerate(color_parts(skin)):
        used = np.unique(skin.joints[part.vertices][skin.weights[part.vertices] > 0])
        given: dict[str, Any] = {"color": part.color, "side": "double"} | look
        # weights (V, B) over the used joints alone
        dense = np.zeros((len(part.vertices), len(used)))
        rows = np.arange(len(part.vertices))
        for k in range(skin.joints.shape[1]):
            weights = skin.weights[part.vertices, k]
            columns = np.searchsorted(used, skin.joints[part.vertices, k]).clip(0, len(used) - 1)
            np.add.at(dense, (rows, columns), weights)
        parts.append(
            scene.add_mesh_skinned(
                f"{name}/{number}",
                vertices[part.vertices],
                part.faces,
                bone_wxyzs=from_matrix(T_bind_joint[used, :3, :3]),
                bone_positions=T_bind_joint[used, :3, 3],
                skin_weights=dense,
                **given,
            )
        )
        joints.append(used)
    return SkinNode(tuple(parts), tuple(joints))


def add_mesh(scene: viser.SceneApi, name: str, mesh: Mesh, **look: Any) -> list[viser.MeshHandle | viser.GlbHandle]:
    """Add a mesh below a name, one node for each of its colours, sharp where it has creases; or with its textures."""
    if mesh.paint is not None and any(m.texture for m in mesh.paint.materials) and "color" not in look:
        shadows = {key: look[key] for key in ("cast_shadow", "receive_shadow", "visible") if key in look}
        # a mesh with its materials as a file of its own, in our axes: viser turns none
        file = GlbBuilder()
        surface = file.surface("mesh", mesh.vertices, mesh.faces, Look(mesh.color, mesh.colors, mesh.paint))
        file.add("scenes", {"nodes": [file.add("nodes", {"mesh": surface})]})
        return [scene.add_glb(f"{name}/0", file.glb({}), **shadows)]
    shown, _ = split_at_creases(mesh)
    out: list[viser.MeshHandle | viser.GlbHandle] = []
    for number, part in enumerate(color_parts(shown) if len(shown.faces) else []):
        given: dict[str, Any] = {"color": part.color, "side": "double"} | look
        out.append(scene.add_mesh_simple(f"{name}/{number}", shown.vertices[part.vertices], part.faces, **given))
    return out


def rigid_bind(skin: Skin, T_world_joint: Array) -> tuple[Array, Array]:
    """Vertices (V, 3) and rigid bind transforms (J, 4, 4) of the same skin, for players that take no scale.

    One scale shared by all bind matrices goes into the vertices. Where they differ, the skin is bound anew in
    the pose given by joint transforms (J, 4, 4).
    """
    scales = np.linalg.norm(skin.inverse_bind[:, :3, :3], axis=1)
    used = np.unique(skin.joints[skin.weights > 0])
    scale = float(np.mean(scales[used]))
    if np.ptp(scales[used]) > 1e-4 * scale:
        return skin.posed(T_world_joint), T_world_joint
    rigid = skin.inverse_bind.copy()
    rigid[:, :3, :3] /= np.where(scales > 0, scales, 1.0)[:, None, :]
    return scale * skin.vertices, inverse(rigid)


@dataclass(frozen=True, eq=False)
class ColorPart:
    """Triangles of one colour: which vertices of a skin or mesh, faces over them, and sRGB bytes."""

    vertices: NDArray[np.intp]
    faces: NDArray[np.int32]
    color: NDArray[np.uint8]


def color_parts(skin: Skin | Mesh) -> list[ColorPart]:
    """A skin or mesh in parts of one colour each, of its most common colours."""
    everything = np.arange(len(skin.vertices))
    if skin.colors is None:
        return [ColorPart(everything, skin.faces, srgb8(skin.color))]
    of_face = srgb8(skin.colors[skin.faces].mean(axis=1)).astype(int)
    coarse, counts = np.unique(of_face // 12, axis=0, return_counts=True)
    palette = coarse[np.argsort(-counts, kind="stable")[:_COLORS]] * 12 + 6
    nearest = np.argmin(np.linalg.norm(of_face[:, None, :] - palette[None], axis=-1), axis=1)
    parts = []
    for k in np.unique(nearest):
        faces = skin.faces[nearest == k]
        vertices, index = np.unique(faces, return_inverse=True)
        color = of_face[nearest == k].mean(axis=0).round().astype(np.uint8)
        parts.append(ColorPart(vertices, index.reshape(-1, 3).astype(np.int32), color))
    return parts
