"""Reading glTF: rigged characters, their clips, and meshes; from any program that writes .glb or .gltf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.rig import as_character
from elbowroom.files.conventions import checked_units, checked_up
from elbowroom.files.glb_animation import Sampled, Tracks, read_tracks, sample
from elbowroom.files.glb_container import Container
from elbowroom.files.glb_nodes import Nodes, distinct, sane
from elbowroom.files.glb_rig import Rig, find_rigs, skeleton_of, skin_of
from elbowroom.files.glb_surface import Surfaces
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip, Source

# The most poses of a clip that are shown to the search for elbows and knees.
_POSES_SHOWN = 200

Y_UP_TO_Z_UP = np.array([[1.0, 0, 0, 0], [0, 0, -1.0, 0], [0, 1.0, 0, 0], [0, 0, 0, 1.0]])


@dataclass(frozen=True, eq=False)
class GlbFile:
    """What a glTF file holds. Clips of a file with several characters are named 'character.animation'."""

    characters: Mapping[str, Character] = field(default_factory=dict)
    clips: Mapping[str, Clip] = field(default_factory=dict)
    meshes: Mapping[str, Mesh] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_glb(path: str | Path, *, units: float | None = None, up: str | None = None) -> GlbFile:
    """Read a .glb or .gltf file; metres and Y up, as glTF wants it, unless told otherwise.

    `units` is metres per unit of the file, `up` is 'Y' or 'Z'.
    """
    path = Path(path)
    container = Container(path)
    nodes = Nodes(container)
    surfaces = Surfaces(container)
    turn = _turn(units, up)
    notes: list[str] = []
    with np.errstate(all="ignore"):
        rigs = find_rigs(nodes)
        characters, clips = {}, {}
        animations = _animations(nodes)
        for rig, name in zip(rigs, distinct(_rig_name(nodes, r, path) for r in rigs), strict=True):
            character, own = _character(rig, name, nodes, surfaces, turn, animations, notes)
            characters[name] = character
            clips.update({k if len(rigs) == 1 else f"{name}.{k}": clip for k, clip in own.items()})
        meshes = flat_meshes(nodes, surfaces, rigs, turn)
    if not rigs and animations:
        notes.append("Animations were left out, since no skin says what their joints are.")
    return GlbFile(characters, clips, meshes, (*dict.fromkeys(notes), *surfaces.notes))


def _turn(units: float | None, up: str | None) -> Array:
    """From the file's axes and units to ours, (4, 4)."""
    turn = np.eye(4) if up is not None and checked_up(up) == "Z" else Y_UP_TO_Z_UP.copy()
    turn[:3] *= 1.0 if units is None else checked_units(units)
    return turn


def _animations(nodes: Nodes) -> dict[str, Tracks]:
    parts = nodes.container.json.parts("animations", "animation")
    names = distinct(part.text("name").strip() or f"clip {i}" for i, part in enumerate(parts))
    return {name: read_tracks(nodes, part) for name, part in zip(names, parts, strict=True)}


def _own_extras(nodes: Nodes) -> dict:
    """What elbowroom itself left in a file, or nothing."""
    extras = nodes.container.json.values.get("extras")
    own = extras.get("elbowroom") if isinstance(extras, dict) else None
    return own if isinstance(own, dict) else {}


def _rig_name(nodes: Nodes, rig: Rig, path: Path) -> str:
    """The file's name, or the skin's where there are several or where elbowroom wrote it."""
    skins = nodes.container.json.parts("skins", "skin")
    if len(skins) == len(rig.skins) and not _own_extras(nodes):
        return path.stem
    named = next((s for k in rig.skins if (s := skins[k].text("name").strip())), "")
    return named or path.stem


def _character(
    rig: Rig,
    name: str,
    nodes: Nodes,
    surfaces: Surfaces,
    turn: Array,
    animations: dict[str, Tracks],
    notes: list[str],
) -> tuple[Character, dict[str, Clip]]:
    own = _own_extras(nodes)
    fps = own.get("fps")
    told = float(fps) if isinstance(fps, int | float) and 0.1 < fps < 1000 else None
    T_rest = rig.frames(nodes, turn)
    skeleton = skeleton_of(rig, T_rest)
    skin = skin_of(rig, nodes, surfaces, turn, notes)
    if skin is not None:
        sane(skin.vertices, nodes.container.path, "vertices of a skin")
        sane(skin.inverse_bind, nodes.container.path, "bind matrices")
    if rig.nodes[0] < 0:
        notes.append("The joints have no common root; one was put at the origin.")
    sampled: dict[str, Sampled] = {}
    for key, tracks in animations.items():
        moving = sample(rig, nodes, tracks, skeleton, turn, told)
        if moving is not None:
            sampled[key] = moving
    poses = None
    if sampled and not own:  # what elbowroom wrote rests as it should
        every = np.concatenate([s.rotations for s in sampled.values()])
        poses = every[:: max(1, len(every) // _POSES_SHOWN)]
    character = as_character(skeleton, name=name, skin=skin, poses=poses)
    lead = own.get("lead", {}).get(name, 0) if isinstance(own.get("lead"), dict) else 0
    clips = {}
    for key, moving in sampled.items():
        source = Source(
            path=str(nodes.container.path),
            format="glTF",
            units=float(np.abs(turn[:3, :3]).max()),
            up="Z" if turn[2, 2] else "Y",
            lead=lead if isinstance(lead, int) and 0 <= lead < len(moving.root) else 0,
            notes=moving.notes,
        )
        clips[key] = Clip(character, moving.fps, moving.root, moving.rotations, moving.start, key, source)
    return character, clips


def flat_meshes(nodes: Nodes, surfaces: Surfaces, rigs: list[Rig], turn: Array) -> dict[str, Mesh]:
    """Meshes that no rig carries, where the scene puts them, one for each node that has one."""
    carried = {n for rig in rigs for n in rig.nodes}
    found: list[tuple[str, Mesh]] = []
    for i in nodes.order:
        at = nodes.parts[i].index("mesh", len(surfaces.parts), "mesh", -1)
        if at < 0 or i not in nodes.shown or "skin" in nodes.parts[i]:
            continue
        if carried and not carried.isdisjoint((i, *nodes.ancestors(i))):
            continue
        surface = surfaces[at]
        if not len(surface.faces):
            continue
        name = nodes.parts[i].text("name").strip() or surfaces.parts[at].text("name").strip() or f"node {i}"
        color = {"color": surface.main_color} if surface.has_color else {}
        mesh = Mesh(surface.vertices, surface.faces, **color).moved(turn @ nodes.T_world[i])
        sane(mesh.vertices, nodes.container.path, f"vertices of '{name}'")
        found.append((name, mesh))
    return dict(zip(distinct(n for n, _ in found), (m for _, m in found), strict=True))
