"""Rigs in a glTF file: which nodes are joints of one body, and the mesh that is bound to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.character.body import Skin
from elbowroom.character.skeleton import Skeleton, parent_first
from elbowroom.files.glb_container import GltfPart
from elbowroom.files.glb_nodes import Nodes, distinct, rigid
from elbowroom.files.glb_surface import GltfSurface, Surfaces, joined_surfaces
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Color
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply, inverse

SKIN_COLOR: Color = (0.80, 0.66, 0.53)


@dataclass(frozen=True)
class Rig:
    """Joints of one body as node numbers, parent-first, and the skins that use them.

    `carriers` are those nodes that carry what hangs on them: all but a common root that no skin lists, which may have
    the whole scene below it.
    """

    nodes: tuple[int, ...]
    parents: tuple[int, ...]  # along `nodes`, -1 for the root
    skins: tuple[int, ...]
    names: tuple[str, ...]
    carriers: frozenset[int]

    def frames(self, nodes: Nodes, turn: Array) -> Array:
        """Rigid frames of the joints at rest, (J, 4, 4), with `turn` (4, 4) applied in front."""
        T_node = np.concatenate([nodes.T_world, np.eye(4)[None]])  # the last, -1, is a root of our own
        return rigid(turn @ T_node[list(self.nodes)])


def find_rigs(nodes: Nodes) -> list[Rig]:
    """Skins that share joints, or whose joints hang on each other, are one body."""
    skins = nodes.container.json.parts("skins", "skin")
    joints = [s.indices("joints", len(nodes.parts), "node") for s in skins]
    for skin, listed in zip(skins, joints, strict=True):
        if not listed or len(set(listed)) < len(listed):
            skin.fail("has no joints or names one twice")
    used = {j for listed in joints for j in listed}
    tops = [{next((a for a in reversed(nodes.ancestors(j)) if a in used), j) for j in listed} for listed in joints]
    groups: list[tuple[set[int], list[int]]] = []
    for k, own in enumerate(tops):
        joined = [g for g in groups if g[0] & own]
        groups = [g for g in groups if not g[0] & own]
        groups.append((own.union(*(g[0] for g in joined)), [s for g in joined for s in g[1]] + [k]))
    return [_rig(nodes, sorted(ks), {j for k in ks for j in joints[k]}) for _, ks in groups]


def _rig(nodes: Nodes, skins: list[int], joints: set[int]) -> Rig:
    """All joints up to their lowest common node; nodes between joints are joints as well."""
    lines = {j: [j, *nodes.ancestors(j)] for j in joints}
    common = set.intersection(*(set(line) for line in lines.values()))
    first = next(iter(lines.values()))
    root = next((n for n in first if n in common), -1)  # -1: several trees, under a root of our own
    inside = {root} if root >= 0 else set()
    for line in lines.values():
        for n in line:
            if n in inside:
                break
            inside.add(n)
            if root < 0 and nodes.parents[n] < 0:
                break
    listed = sorted(inside) if root >= 0 else [-1, *sorted(inside)]
    at = {n: k for k, n in enumerate(listed)}
    above = [-1 if n == root else at[nodes.parents[n]] for n in listed]
    order = [listed[k] for k in parent_first([str(n) for n in listed], above)]
    at = {n: k for k, n in enumerate(order)}
    parents = tuple(-1 if k == 0 else at[nodes.parents[n]] for k, n in enumerate(order))
    names = distinct("root" if n < 0 else nodes.name(n) for n in order)
    carriers = frozenset(n for n in order if n >= 0 and (n != root or n in joints))
    return Rig(tuple(order), parents, tuple(skins), tuple(names), carriers)


def skeleton_of(rig: Rig, T_joint: Array) -> Skeleton:
    """Skeleton whose rest pose is the given frames (J, 4, 4), metres, Z up, without scales."""
    offsets, q = locals_of(rig, T_joint)
    return Skeleton(rig.names, np.array(rig.parents), offsets, q)


def locals_of(rig: Rig, T_joint: Array) -> tuple[Array, Array]:
    """Positions (..., J, 3) and rotations (..., J, 4) of joints in their parents; the root's in the world."""
    parents = np.array(rig.parents)
    T_parent = T_joint[..., parents, :, :].copy()
    T_parent[..., 0, :, :] = np.eye(4)
    T = inverse(T_parent) @ T_joint
    return T[..., :3, 3], rot.from_matrix(T[..., :3, :3])


@dataclass(frozen=True, eq=False)
class _Bound:
    """A surface with joints of the rig and the transforms that its file gives it at rest."""

    surface: GltfSurface
    joints: Array  # (V, K) along the rig
    weights: Array  # (V, K), summing to one
    T_world_bind: Array  # (J, 4, 4): where each joint alone would put the surface, metres, Z up


def skin_of(rig: Rig, nodes: Nodes, surfaces: Surfaces, turn: Array, notes: list[str]) -> Skin | None:
    """Everything that moves with the rig as one skin: skinned meshes, and meshes that hang on joints.

    `turn` (4, 4) leads from the file's axes and units to ours.
    """
    T_rest = rig.frames(nodes, turn)
    parts = [*_skinned(rig, nodes, surfaces, turn, notes), *_hanging(rig, nodes, surfaces, turn)]
    parts = [p for p in parts if len(p.surface.faces)]
    if not parts:
        return None
    inverse_bind, places = _common_bind(parts, T_rest, turn)
    width = max(p.joints.shape[1] for p in parts)
    starts = np.cumsum([0, *(len(v) for v in places[:-1])])
    colors = np.concatenate([p.surface.colors for p in parts])
    known = any(p.surface.has_color for p in parts)
    plain = bool(np.all(np.ptp(colors, axis=0) < 1e-4)) if len(colors) else True
    r, g, b = colors[0] if known else SKIN_COLOR
    return Skin(
        vertices=np.concatenate(places),
        faces=np.concatenate([p.surface.faces + k for p, k in zip(parts, starts, strict=True)]),
        joints=np.concatenate([np.pad(p.joints, ((0, 0), (0, width - p.joints.shape[1]))) for p in parts]),
        weights=np.concatenate([np.pad(p.weights, ((0, 0), (0, width - p.weights.shape[1]))) for p in parts]),
        inverse_bind=inverse_bind,
        colors=None if plain else colors,
        color=(float(r), float(g), float(b)),
        paint=joined_surfaces([p.surface for p in parts]),
    )


def _skinned(rig: Rig, nodes: Nodes, surfaces: Surfaces, turn: Array, notes: list[str]) -> list[_Bound]:
    skins = nodes.container.json.parts("skins", "skin")
    at = {n: k for k, n in enumerate(rig.nodes)}
    out = []
    for i, part in enumerate(nodes.parts):
        skin = part.index("skin", len(skins), "skin", -1)
        mesh = part.index("mesh", len(surfaces.parts), "mesh", -1)
        if skin not in rig.skins or mesh < 0 or i not in nodes.shown:
            continue
        surface = surfaces[mesh]
        listed = skins[skin].indices("joints", len(nodes.parts), "node")
        if surface.joints.size and int(surface.joints.max()) >= len(listed):
            part.fail(f"is bound to joint {int(surface.joints.max())} of its skin", f"it has {len(listed)}")
        to_rig = np.array([at[n] for n in listed])
        own = turn @ nodes.T_world[listed] @ _inverse_binds(skins[skin], nodes, len(listed))
        T_bind = np.tile(own[0], (len(rig.nodes), 1, 1))
        T_bind[to_rig] = own
        total = surface.weights.sum(axis=1, keepdims=True)
        bare = total[:, 0] <= 1e-9
        if not surface.joints.shape[1]:
            joints, weights = (
                np.full((len(surface.vertices), 1), to_rig[0]),
                np.ones((len(surface.vertices), 1)),
            )
        else:
            joints = to_rig[surface.joints]
            weights = surface.weights / np.where(bare[:, None], 1.0, total)
            weights[bare, 0] = 1.0
        if np.any(bare):
            notes.append(f"{int(bare.sum())} vertices of '{nodes.name(i)}' have no weights; they follow one joint.")
        out.append(_Bound(surface, joints, weights, T_bind))
    return out


def _inverse_binds(skin: GltfPart, nodes: Nodes, count: int) -> Array:
    """Inverse bind matrices in the order of the skin's joint list, (K, 4, 4)."""
    container = nodes.container
    at = skin.index("inverseBindMatrices", len(container.accessors), "accessor", -1)
    if at < 0:
        return np.tile(np.eye(4), (count, 1, 1))
    rows = container.array(at, ("MAT4",), "inverse bind matrices")
    if len(rows) < count:
        skin.fail(f"has {len(rows)} inverse bind matrices for {count} joints")
    out = np.swapaxes(rows[:count].reshape(-1, 4, 4), 1, 2).copy()
    out[:, 3] = [0.0, 0.0, 0.0, 1.0]
    return out


def _hanging(rig: Rig, nodes: Nodes, surfaces: Surfaces, turn: Array) -> list[_Bound]:
    """Meshes without a skin on nodes below a joint: they follow it rigidly."""
    at = {n: k for k, n in enumerate(rig.nodes) if n in rig.carriers}
    out = []
    for i, part in enumerate(nodes.parts):
        mesh = part.index("mesh", len(surfaces.parts), "mesh", -1)
        if mesh < 0 or "skin" in part or i not in nodes.shown:
            continue
        joint = next((at[n] for n in (i, *nodes.ancestors(i)) if n in at), None)
        if joint is None:
            continue
        surface = surfaces[mesh]
        ones = np.ones((len(surface.vertices), 1))
        T = np.tile(turn @ nodes.T_world[i], (len(rig.nodes), 1, 1))
        out.append(_Bound(surface, (ones * joint).astype(np.int64), ones, T))
    return out


def _common_bind(parts: list[_Bound], T_rest: Array, turn: Array) -> tuple[Array, list[Array]]:
    """Inverse binds (J, 4, 4) that serve all parts, and each part's vertices in that one bind space.

    The bind pose is kept where the skinned parts agree on one. Where it lies or is of another size, it is placed so
    that the heaviest joint is where it rests. Where the parts do not agree, or matrices cannot be inverted, the rest
    pose becomes the bind pose; blending then starts from there.
    """
    lead = max(parts, key=lambda p: len(np.unique(p.joints[p.weights > 0])))
    heaviest = int(np.bincount(lead.joints[:, 0], lead.weights[:, 0]).argmax())
    inverse_bind = inverse(T_rest)
    places = []
    base = turn if _upright(lead.T_world_bind, turn) else lead.T_world_bind[heaviest]
    if _invertible(base):
        own = inverse(T_rest) @ lead.T_world_bind @ np.linalg.inv(base)
        for p in parts:
            used = np.unique(p.joints[p.weights > 0])
            home = T_rest @ own
            if not all(_invertible(home[j]) for j in used):
                break
            T = np.linalg.solve(home[used], p.T_world_bind[used])
            if np.abs(T - T[0]).max() > 1e-4 * max(1.0, float(np.abs(T).max())):
                break
            places.append(apply(T[0], p.surface.vertices))
    if len(places) == len(parts):
        return own, places
    at_rest = []
    for p in parts:
        each = apply(p.T_world_bind[p.joints.T], p.surface.vertices[None, :, None, :])[:, :, 0]
        at_rest.append(np.einsum("kv,kvi->vi", p.weights.T, each))
    return inverse_bind, at_rest


def _upright(T_world_bind: Array, turn: Array) -> bool:
    """Return whether the bind pose stands in the file's axes and has its size: on average the joints change neither."""
    change = T_world_bind @ np.linalg.inv(turn)
    size = np.cbrt(np.abs(np.linalg.det(change[:, :3, :3])))
    if not np.all(np.abs(size - 1.0) < 0.02):
        return False
    return float(rot.angle(rot.mean(rot.from_matrix(rigid(change)[:, :3, :3])))) < np.pi / 4


def _invertible(T: Array) -> bool:
    size = float(np.abs(T[:3, :3]).max())
    return size > 1e-12 and abs(float(np.linalg.det(T[:3, :3] / size))) > 1e-9
