"""Meshes of a glTF file that no rig carries: where they rest, and the paths of those that move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.files.glb_animation import Tracks, frames, posed, touching
from elbowroom.files.glb_nodes import Nodes, distinct, rigid, sane
from elbowroom.files.glb_rig import Rig
from elbowroom.files.glb_surface import Surface, Surfaces
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.world.paths import Keyed
from elbowroom.world.things import Thing

# Share of its size by which a thing may change between frames and still be rigid.
_SAME_SIZE = 1e-3

# Names that a note lists, at most.
_NAMED = 5


def free_nodes(nodes: Nodes, surfaces: Surfaces, rigs: list[Rig], notes: list[str]) -> dict[str, int]:
    """Nodes with triangles that no rig carries, under unique names; `notes` lists those outside the default scene."""
    carried = {n for rig in rigs for n in rig.carriers}
    found: list[tuple[str, int]] = []
    hidden: list[str] = []
    for i in nodes.order:
        at = nodes.parts[i].index("mesh", len(surfaces.parts), "mesh", -1)
        if at >= 0 and i not in nodes.shown:
            hidden.append(nodes.name(i))
        if at < 0 or i not in nodes.shown or "skin" in nodes.parts[i]:
            continue
        if carried and not carried.isdisjoint((i, *nodes.ancestors(i))):
            continue
        if len(surfaces[at].faces):
            name = nodes.parts[i].text("name").strip() or surfaces.parts[at].text("name").strip()
            found.append((name or f"node {i}", i))
    if hidden:
        more = f" and {len(hidden) - _NAMED} more" if len(hidden) > _NAMED else ""
        notes.append(f"Left out, since not in the default scene: {', '.join(hidden[:_NAMED])}{more}.")
    return dict(zip(distinct(n for n, _ in found), (i for _, i in found), strict=True))


def resting(nodes: Nodes, surfaces: Surfaces, free: dict[str, int], turn: Array) -> dict[str, Mesh]:
    """Meshes where the scene puts them; `turn` (4, 4) leads to metres and Z up."""
    return {
        name: _mesh(nodes, surfaces, i, turn @ nodes.T_world[i], f"vertices of '{name}'") for name, i in free.items()
    }


def moving(
    nodes: Nodes,
    surfaces: Surfaces,
    free: dict[str, int],
    turn: Array,
    tracks: Tracks,
    told_fps: float | None,
    notes: list[str],
) -> dict[str, Thing]:
    """Free nodes that an animation moves, as rigid objects; one that changes its size has its largest."""
    names = [name for name, i in free.items() if touching(nodes, tracks, [i])]
    if not names:
        return {}
    chosen = [free[name] for name in names]
    moved = touching(nodes, tracks, chosen)
    times, _, _ = frames(nodes, moved, len(chosen), told_fps)
    T = turn @ np.concatenate(list(posed(nodes, moved, chosen, times)))
    T_rigid = rigid(T @ np.linalg.inv(turn))  # a thing's own axes are turned as well: upright things have upright axes
    out = {}
    for k, name in enumerate(names):
        scaled = inverse(T_rigid[:, k]) @ T[:, k]
        size = np.linalg.norm(scaled[:, :3, :3], axis=(1, 2))
        changes = bool(np.ptp(scaled[:, :3, :3], axis=0).max() > _SAME_SIZE * size.max())
        own = scaled[int(size.argmax()) if changes else 0]
        if changes:
            notes.append(f"'{name}' changes its size or shape; its largest state was used.")
        mesh = _mesh(nodes, surfaces, chosen[k], own, f"vertices of '{name}'")
        path = Keyed(times, T_rigid[:, k, :3, 3], rot.from_matrix(T_rigid[:, k, :3, :3]))
        out[name] = Thing(mesh=mesh, path=path)
    return out


def _mesh(nodes: Nodes, surfaces: Surfaces, i: int, T: Array, what: str) -> Mesh:
    surface: Surface = surfaces[nodes.parts[i].index("mesh", len(surfaces.parts), "mesh")]
    plain = Mesh(surface.vertices, surface.faces)
    if surface.has_color:
        varied = len(surface.colors) and bool(np.ptp(surface.colors, axis=0).max() > 1e-3)
        colors = surface.colors if varied else None
        plain = replace(plain, color=surface.main_color, colors=colors, paint=surface.paint)
    mesh = plain.moved(T)
    sane(mesh.vertices, nodes.container.path, what)
    return mesh
