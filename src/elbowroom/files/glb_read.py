"""Reading glTF: rigged characters, their clips, and meshes; from any program that writes .glb or .gltf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.rig import as_character
from elbowroom.files.conventions import checked_units, checked_up, size_note
from elbowroom.files.edits import layer_names
from elbowroom.files.glb_animation import Sampled, Tracks, frames, posed, read_tracks, sample, touching
from elbowroom.files.glb_container import Container, own_extras
from elbowroom.files.glb_nodes import Nodes, distinct, rigid, sane
from elbowroom.files.glb_rig import Rig, find_rigs, skeleton_of, skin_of
from elbowroom.files.glb_story import as_certified
from elbowroom.files.glb_surface import GltfSurface, Surfaces
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip, Source
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
    given_fps: float | None,
    notes: list[str],
) -> dict[str, Thing]:
    """Free nodes that an animation moves, as rigid objects; one that changes its size has its largest."""
    names = [name for name, i in free.items() if touching(nodes, tracks, [i])]
    if not names:
        return {}
    chosen = [free[name] for name in names]
    moved = touching(nodes, tracks, chosen)
    times, _, _ = frames(nodes, moved, len(chosen), given_fps)
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
    surface: GltfSurface = surfaces[nodes.parts[i].index("mesh", len(surfaces.parts), "mesh")]
    plain = Mesh(surface.vertices, surface.faces)
    if surface.has_color:
        varied = len(surface.colors) and bool(np.ptp(surface.colors, axis=0).max() > 1e-3)
        colors = surface.colors if varied else None
        plain = replace(plain, color=surface.main_color, colors=colors, paint=surface.paint)
    mesh = plain.moved(T)
    sane(mesh.vertices, nodes.container.path, what)
    return mesh


# The most poses of a clip that are shown to the search for elbows and knees.
_POSES_SHOWN = 200

Y_UP_TO_Z_UP = np.array([[1.0, 0, 0, 0], [0, 0, -1.0, 0], [0, 1.0, 0, 0], [0, 0, 0, 1.0]])


@dataclass(frozen=True, eq=False)
class GlbFile:
    """Contents of a glTF file. Clips of a file with several characters are named 'character.animation'.

    `meshes` are all meshes that no character carries, where they rest. Those that the first animation moves are
    among `objects` as well, under the same names: a player of objects leaves them out of the meshes. `story` is the
    extra data that elbowroom stored in the file: see `with_story`; `layers` are clips of its
    further animations, see `glb_edits`.
    """

    characters: Mapping[str, Character] = field(default_factory=dict)
    clips: Mapping[str, Clip] = field(default_factory=dict)
    meshes: Mapping[str, Mesh] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    objects: Mapping[str, Thing] = field(default_factory=dict)
    story: Mapping[str, Any] = field(default_factory=dict)
    layers: Mapping[str, Clip] = field(default_factory=dict)


def read_glb(path: str | Path, *, units: float | None = None, up: str | None = None) -> GlbFile:
    """Read a .glb or .gltf file; metres and Y up, as glTF specifies, unless overridden.

    `units` is metres per unit of the file, `up` is 'Y' or 'Z'.
    """
    return read_document(Container(Path(path)), units, up)


def read_document(
    container: Container,
    units: float | None,
    up: str | None,
    *,
    format: str = "glTF",
    takes: Mapping[str, Tracks] | None = None,
    fps: float | None = None,
    notes: Iterable[str] = (),
) -> GlbFile:
    """Contents of a glTF document; `takes` and their `fps` replace its animations."""
    nodes = Nodes(container)
    surfaces = Surfaces(container)
    turn = _turn(units, up)
    notes = list(notes)
    rate = _own_rate(nodes) if fps is None else fps
    with np.errstate(all="ignore"):
        rigs = find_rigs(nodes)
        characters, clips, layers = {}, {}, {}
        animations = _animations(nodes) if takes is None else takes
        named = layer_names(own_extras(nodes.container))
        for rig, name in zip(rigs, distinct(_rig_name(nodes, r) for r in rigs), strict=True):
            character, own = _character(rig, name, nodes, surfaces, turn, animations, rate, notes)
            own = {k: clip.with_(source=replace(clip.source, format=format)) for k, clip in own.items()}
            characters[name] = character
            layers.update({k: own.pop(k) for k in list(own) if k in named})
            clips.update({k if len(rigs) == 1 else f"{name}.{k}": clip for k, clip in own.items()})
        free = free_nodes(nodes, surfaces, rigs, notes)
        meshes = resting(nodes, surfaces, free, turn)
        first = next(iter(animations.values()), {})
        things = moving(nodes, surfaces, free, turn, first, rate, notes)
        others = [name for name, tracks in list(animations.items())[1:] if touching(nodes, tracks, list(free.values()))]
        if others:
            notes.append(f"Objects move as in the first animation; left out: {', '.join(others[:5])}.")
    if not rigs and not things and animations:
        notes.append("Animations were left out, since no skin defines their joints.")
    if units is None and (note := _size_note(characters, meshes)):
        notes.append(note)
    return GlbFile(
        characters, clips, meshes, (*dict.fromkeys(notes), *surfaces.notes), things, own_extras(nodes.container), layers
    )


def _size_note(characters: Mapping[str, Character], meshes: Mapping[str, Mesh]) -> str | None:
    """A sentence on units where meshes and rigs, as they rest, take more room than any place."""
    ends = [mesh.bounds for mesh in meshes.values() if len(mesh.vertices)]
    ends += [body.T_rest[:, :3, 3] for body in characters.values()]
    return size_note(np.ptp(np.concatenate(ends), axis=0)) if ends else None


def _turn(units: float | None, up: str | None) -> Array:
    """Transform (4, 4) from the file's axes and units to ours."""
    turn = np.eye(4) if up is not None and checked_up(up) == "Z" else Y_UP_TO_Z_UP.copy()
    turn[:3] *= 1.0 if units is None else checked_units(units)
    return turn


def _animations(nodes: Nodes) -> dict[str, Tracks]:
    parts = nodes.container.json.parts("animations", "animation")
    names = distinct(part.text("name").strip() or f"clip {i}" for i, part in enumerate(parts))
    return {name: read_tracks(nodes, part) for name, part in zip(names, parts, strict=True)}


def _own_rate(nodes: Nodes) -> float | None:
    """The frame rate that elbowroom left in the file."""
    fps = own_extras(nodes.container).get("fps")
    return float(fps) if isinstance(fps, int | float) and 0.1 < fps < 1000 else None


def _rig_name(nodes: Nodes, rig: Rig) -> str:
    """The file's name, or the skin's where there are several or where elbowroom wrote it."""
    skins = nodes.container.json.parts("skins", "skin")
    stem = nodes.container.path.stem
    if len(skins) == len(rig.skins) and not own_extras(nodes.container):
        return stem
    named = next((s for k in rig.skins if (s := skins[k].text("name").strip())), "")
    return named or stem


def _character(
    rig: Rig,
    name: str,
    nodes: Nodes,
    surfaces: Surfaces,
    turn: Array,
    animations: Mapping[str, Tracks],
    stored: float | None,
    notes: list[str],
) -> tuple[Character, dict[str, Clip]]:
    own = own_extras(nodes.container)
    T_rest = rig.frames(nodes, turn)
    skeleton = skeleton_of(rig, T_rest)
    skin = skin_of(rig, nodes, surfaces, turn, notes)
    if skin is not None:
        sane(skin.vertices, nodes.container.path, "vertices of a skin")
        sane(skin.inverse_bind, nodes.container.path, "bind matrices")
    if rig.nodes[0] < 0:
        notes.append("The joints have no common root; one was added at the origin.")
    sampled: dict[str, Sampled] = {}
    for key, tracks in animations.items():
        played = sample(rig, nodes, tracks, skeleton, turn, stored)
        if played is not None:
            sampled[key] = played
    poses = None
    if sampled and not own:  # what elbowroom wrote rests as it should
        every = np.concatenate([s.rotations for s in sampled.values()])
        poses = every[:: max(1, len(every) // _POSES_SHOWN)]
    character = as_character(skeleton, name=name, skin=skin, poses=poses)
    if own and np.allclose(turn, Y_UP_TO_Z_UP):  # read as it was written
        character = as_certified(character, own, name)
    clips = {}
    for key, played in sampled.items():
        source = Source(
            path=str(nodes.container.path),
            format="glTF",
            units=float(np.abs(turn[:3, :3]).max()),
            up="Z" if turn[2, 2] else "Y",
            notes=played.notes,
        )
        clips[key] = Clip(character, played.fps, played.root, played.rotations, played.start, key, source)
    return character, clips
