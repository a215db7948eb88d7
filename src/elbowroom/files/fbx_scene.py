"""Contents of an FBX file as a glTF document and sampled takes: run as a process of its own, see `fbx`.

    python -m elbowroom.files.fbx_scene FILE KEEP_UNITS KEEP_AXES > out.npz

The package `ufbx` is compiled code that reads files of strangers: if it crashes, only this process does. Its objects
must not be freed while others of the same scene are in use, so that all of them are kept until the process ends.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import ufbx
from numpy.typing import NDArray

from elbowroom.files.fbx_arrays import by_vertex, color_of, flat, matrix_of, rows_of, split, triangles
from elbowroom.files.glb_build import GlbBuilder
from elbowroom.files.glb_nodes import compose
from elbowroom.geometry.paint import Material
from elbowroom.geometry.rotations import Array

# Exit code for a file that cannot be read; a sentence on it is in the output.
REFUSED = 3
# Joints times frames, as for glTF.
_MOST_POSES = 3_000_000
# Joints that move one vertex; glTF is read with up to four sets of four.
_MOST_JOINTS = 16
# Bytes of memory that reading may take, 8 GB; a compressed array of a damaged file can claim any size.
_MOST_MEMORY = 8 * 2**30
# Share of a translation, rotation or scale by which a take must differ from the rest pose to count as motion.
_MOVES = 1e-4
# Share of a bone's length by which the bind pose may differ from the pose in the file; else it is of another body.
_SAME_LENGTH = 0.02

_NOT_FBX = "is not FBX; expected a binary or text FBX file"

# All objects of the scene; freeing one while others are used crashes.
_KEPT: list[Any] = []


class Refused(Exception):
    """A file that cannot be read, in a few words."""


@dataclass(frozen=True, eq=False)
class FbxTake:
    """A take sampled at times (T,) seconds: transforms of nodes in their parents as `values` (n, T, 10)."""

    name: str
    nodes: list[int]
    times: Array
    values: Array

    def arrays(self, key: str) -> dict[str, Array]:
        """Arrays under keys such as '0.times'."""
        parts = zip(("move", "turn", "scale"), np.split(self.values, [3, 7], axis=-1), strict=True)
        out = {f"{key}.nodes": np.array(self.nodes), f"{key}.times": self.times}
        return out | {f"{key}.{name}": part for name, part in parts}


class FbxScene:
    """A loaded scene; everything taken out of it is kept."""

    def __init__(self, path: str, keep_units: bool, keep_axes: bool) -> None:
        options: dict[str, Any] = {"inherit_mode_handling": ufbx.InheritModeHandling.COMPENSATE}
        if not keep_units:
            options["target_unit_meters"] = 1.0
        if not keep_axes:
            options["target_axes"] = ufbx.axes_right_handed_y_up
        try:
            self.scene = ufbx.load_file(path, no_format_from_extension=True, **options)
        except ufbx.UfbxError as error:
            raise Refused(_plain(error)) from None
        metadata = self.scene.metadata
        _KEPT.extend([self.scene, metadata])
        if metadata.file_format != ufbx.FileFormat.FBX:
            raise Refused(_NOT_FBX)
        self.nodes = self.entries(self.scene.nodes)
        self.parents = [-1 if p is None else p.typed_id for p in self.entries([n.parent for n in self.nodes])]
        self.notes: list[str] = []
        self.rest = self._rest()
        self.fps, self.takes = self._sampled()

    def entries(self, of: Iterable[Any]) -> list[Any]:
        """Entries of one of the lists of a scene, kept."""
        found = list(of)
        _KEPT.extend([of, *found])
        return found

    def _rest(self) -> Array:
        """Translation, rotation (w, x, y, z) and scale of each node in its parent, (N, 10): bones in their bind pose.

        The transforms in the file are those of some frame; bones without a bind pose keep them.
        """
        bones = {k for k, node in enumerate(self.nodes) if node.bone is not None}
        still = np.array([flat(node.local_transform) for node in self.nodes])
        for node, row in zip(self.nodes, still, strict=True):
            if not np.all(np.isfinite(row)):
                raise Refused(f"'{node.name[:40]}' has a transform with values that are not finite")
        bound = self._bound(bones)
        T_world, out = np.zeros((len(self.nodes), 4, 4)), still.copy()
        for k, parent in enumerate(self.parents):  # parents come first
            if k in bound and parent >= 0:
                try:
                    out[k] = split(np.linalg.solve(T_world[parent], bound[k]))
                except np.linalg.LinAlgError:
                    return still
                out[k, 3:7] *= -1.0 if out[k, 3:7] @ still[k, 3:7] < 0 else 1.0
            T_local = compose(out[k, :3], out[k, 3:7], out[k, 7:])
            T_world[k] = T_local if parent < 0 else T_world[parent] @ T_local
        chained = [k for k in bound if self.parents[k] in bound]
        lengths = np.linalg.norm(out[chained, :3], axis=1), np.linalg.norm(still[chained, :3], axis=1)
        same = np.abs(lengths[0] - lengths[1]) <= _SAME_LENGTH * lengths[1].max(initial=0.0)
        return out if np.all(np.isfinite(out)) and (not chained or np.mean(same) > 0.9) else still

    def _bound(self, bones: set[int]) -> dict[int, Array]:
        """Transforms (4, 4) of bones in the scene when the skins were bound to them."""
        out: dict[int, Array] = {}
        for deformer in self.entries(self.scene.skin_deformers):
            for cluster in self.entries(deformer.clusters):
                if (bone := cluster.bone_node) is not None:
                    _KEPT.append(bone)
                    out.setdefault(bone.typed_id, matrix_of(cluster.bind_to_world))
        for pose in self.entries(self.scene.poses):
            for placed in self.entries(pose.bone_poses) if pose.is_bind_pose else ():
                if (bone := placed.bone_node) is not None and bone.typed_id in bones:
                    _KEPT.append(bone)
                    out.setdefault(bone.typed_id, matrix_of(placed.bone_to_world))
        return {k: out[k] for k in sorted(out)}

    def document(self) -> bytes:
        """Nodes, meshes and skins as a GLB file in memory."""
        builder = GlbBuilder()
        self._skinned: set[int] = set()
        for node, rest in zip(self.nodes, self.rest, strict=True):
            builder.add("nodes", self._node(node, rest))
        for k, node in enumerate(self.nodes):
            mesh = node.mesh
            if mesh is not None:
                _KEPT.append(mesh)
                self._mesh(builder, k, node, mesh)
        bones = {k for k, node in enumerate(self.nodes) if node.bone is not None}
        trees: dict[int, list[int]] = {}
        for bone in sorted(bones):
            top, above = bone, self.parents[bone]
            while above >= 0:
                top = above if above in bones else top
                above = self.parents[above]
            trees.setdefault(top, []).append(bone)
        for top, members in trees.items():
            if not self._skinned or self._skinned & set(members):
                builder.add("skins", {"name": self.nodes[top].name, "joints": members})
        return builder.glb({})

    def _node(self, node: Any, rest: Array) -> dict[str, Any]:
        return {
            "name": node.name,
            "translation": rest[:3].tolist(),
            "rotation": rest[[4, 5, 6, 3]].tolist(),
            "scale": rest[7:].tolist(),
            "children": [child.typed_id for child in self.entries(node.children)],
        }

    def _mesh(self, builder: GlbBuilder, index: int, node: Any, mesh: Any) -> None:
        """A mesh of a node, as one primitive per material; with a skin if it has one."""
        vertices = rows_of(mesh.vertices, 3)
        faces, of_face = triangles(mesh)
        if not len(faces):
            return
        deformers = self.entries(mesh.skin_deformers)
        if len(self.entries(mesh.blend_deformers)):
            self.notes.append("Blend shapes were left out.")
        joints, weights = np.zeros((len(vertices), 0), np.int64), np.zeros((len(vertices), 0))
        skin = None
        if deformers:
            skin, joints, weights = self._skin(builder, node, deformers[0], len(vertices))
        if skin is None:
            to_node = matrix_of(node.geometry_to_node)
            vertices = vertices @ to_node[:3, :3].T + to_node[:3, 3]
        materials = [(m.name, color_of(m)) for m in self.entries(mesh.materials)]
        primitives = []
        for material in np.unique(of_face):
            used, corners = np.unique(faces[of_face == material], return_inverse=True)
            attributes = {"POSITION": builder.array(vertices[used].astype(np.float32), bounds=True)}
            for k in range(0, joints.shape[1], 4):
                attributes[f"JOINTS_{k // 4}"] = builder.array(joints[used, k : k + 4].astype(np.uint16))
                attributes[f"WEIGHTS_{k // 4}"] = builder.array(weights[used, k : k + 4].astype(np.float32))
            primitive = {
                "attributes": attributes,
                "indices": builder.array(corners.reshape(-1, 1).astype(np.uint32)),
            }
            name, color = materials[material] if material < len(materials) else ("", None)
            if color is not None:
                primitive["material"] = builder.material(Material(name, color))
            primitives.append(primitive)
        own = builder.add("meshes", {"name": mesh.name or node.name, "primitives": primitives})
        builder.entry("nodes", index)["mesh"] = own
        if skin is not None:
            builder.entry("nodes", index)["skin"] = skin

    def _skin(self, builder: GlbBuilder, node: Any, deformer: Any, count: int) -> tuple[int | None, NDArray, Array]:
        """Index of the skin, None if nothing is bound; joints (V, K) and weights (V, K), K a multiple of four."""
        clusters = [(c, bone) for c in self.entries(deformer.clusters) if (bone := c.bone_node) is not None]
        _KEPT.extend([bone for _, bone in clusters])
        if not clusters:
            return None, np.zeros((count, 0), np.int64), np.zeros((count, 0))
        listed: dict[int, int] = {}
        binds, rows, at, shares = [], [], [], []
        for cluster, bone in clusters:
            if bone.typed_id in listed:  # a bone may be bound only once
                continue
            listed[bone.typed_id] = len(listed)
            binds.append(matrix_of(cluster.geometry_to_bone))
            vertices, weights = cluster.vertices, cluster.weights
            _KEPT.extend([vertices, weights])
            rows.append(np.array(list(vertices), dtype=np.int64))
            shares.append(np.array(list(weights), dtype=float))
            at.append(np.full(len(rows[-1]), len(listed) - 1))
        self._skinned |= set(listed)
        joints, weights = by_vertex(np.concatenate(rows), np.concatenate(at), np.concatenate(shares), count)
        matrices = np.swapaxes(np.array(binds), 1, 2).reshape(-1, 16).astype(np.float32)
        skin = {"name": node.name, "joints": [*listed], "inverseBindMatrices": builder.array(matrices)}
        return builder.add("skins", skin), joints, weights

    def _sampled(self) -> tuple[float, list[FbxTake]]:
        """Frames per second, and the takes that move anything."""
        settings = self.scene.settings
        _KEPT.append(settings)
        fps = settings.frames_per_second
        fps = fps if 0.1 < fps < 1000.0 else 30.0
        out = []
        for stack in self.entries(self.scene.anim_stacks):
            anim = stack.anim
            _KEPT.append(anim)
            moved = self._moved_by(stack)
            at = [n.typed_id for n in moved]
            begin, end = self._span(stack)
            if not (np.isfinite(begin) and np.isfinite(end)) or end < begin or not moved:
                continue
            count = round((end - begin) * fps) + 1
            if count * len(moved) > _MOST_POSES:
                raise Refused(f"a take lasts {end - begin:.0f} s at {fps:g} frames per second; use shorter takes")
            times = np.arange(count) / fps
            values = np.array([[flat(ufbx.evaluate_transform(anim, n, begin + t)) for t in times] for n in moved])
            change = np.abs(values - self.rest[at][:, None]) / np.maximum(1.0, np.abs(self.rest[at][:, None]))
            if np.any(change > _MOVES):
                out.append(FbxTake(stack.name, at, times, values))
        return fps, out

    def _span(self, stack: Any) -> tuple[float, float]:
        """Start and end of a take, seconds: as stored, or those of all keys where none are stored."""
        if stack.time_end > stack.time_begin:
            return stack.time_begin, stack.time_end
        curves = [c for c in self.entries(self.scene.anim_curves) if len(self.entries(c.keyframes))]
        return min((c.min_time for c in curves), default=0.0), max((c.max_time for c in curves), default=0.0)

    def fit_bones(self) -> None:
        """Give bones the lengths that they have in the takes, where those differ from the bind pose."""
        for k, parent in enumerate(self.parents):
            if parent < 0 or self.nodes[k].bone is None or self.nodes[parent].bone is None:
                continue
            places = [take.values[take.nodes.index(k)][:, :3] for take in self.takes if k in take.nodes]
            if places:
                every = np.concatenate(places)
                if np.ptp(every, axis=0).max() <= _SAME_LENGTH * np.linalg.norm(self.rest[k, :3]):
                    self.rest[k, :3] = np.median(every, axis=0)

    def _moved_by(self, stack: Any) -> list[Any]:
        """Nodes that a take has curves for, helpers that carry scales, and bones that do not rest as in the file."""
        touched = set()
        for layer in self.entries(stack.layers):
            for prop in self.entries(layer.anim_props):
                element = prop.element
                _KEPT.append(element)
                touched.add(element.element_id)
        if not touched:
            return []
        posed = [np.any(flat(n.local_transform) != r) for n, r in zip(self.nodes, self.rest, strict=True)]
        own = zip(self.nodes, posed, strict=True)
        return [n for n, other in own if n.element_id in touched or n.is_scale_helper or other]


def _plain(error: ufbx.UfbxError) -> str:
    """Message of ufbx, without its place in C code."""
    if isinstance(error, ufbx.EmptyFileError | ufbx.TruncatedFileError):
        return "ends too early; it may be truncated"
    if isinstance(error, ufbx.UnrecognizedFileFormatError):
        return _NOT_FBX
    if isinstance(error, ufbx.UnsupportedVersionError):
        return "is FBX of an unsupported version; export it again as FBX 7.4"
    words = str(error).strip().splitlines()
    return f"is damaged ({words[0][:80].rstrip('.')})" if words and words[0] else "is damaged"


def main(path: str, keep_units: str, keep_axes: str) -> int:
    """Write the scene to standard output; returns an exit code."""
    import resource

    if sys.platform == "linux":  # elsewhere the limit is not kept, or refuses to start
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    try:
        scene = FbxScene(path, keep_units == "1", keep_axes == "1")
        scene.fit_bones()
        glb = np.frombuffer(scene.document(), dtype=np.uint8)
    except Refused as refused:
        sys.stdout.write(str(refused))
        return REFUSED
    except MemoryError:
        sys.stdout.write("needs more memory than any real file")
        return REFUSED
    written = io.BytesIO()
    facts = {"fps": scene.fps, "notes": scene.notes, "takes": [take.name for take in scene.takes]}
    arrays: dict[str, NDArray] = {
        key: value for k, take in enumerate(scene.takes) for key, value in take.arrays(str(k)).items()
    }
    arrays |= {"glb": glb, "facts": np.array(json.dumps(facts))}
    np.savez(written, allow_pickle=False, **arrays)
    sys.stdout.buffer.write(written.getvalue())
    return 0


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # freeing what is kept, in any order, could crash
