"""Reading of a scene file as a world: static meshes, moving objects, and the floor height."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.fbx import RIGGED, read_rigged
from elbowroom.files.glb_nodes import distinct
from elbowroom.files.glb_read import GlbFile
from elbowroom.geometry.mesh import Mesh
from elbowroom.world.scene_floor import foot_places, scene_floor
from elbowroom.world.world import World

Floor = float | None | Literal["auto"]


def read_scene(path: str | Path, *, units: float | None = None, up: str | None = None, floor: Floor = "auto") -> World:
    """Read a scene from .glb, .gltf, .fbx, .obj, .stl or .ply as a world.

    `units` is metres per unit of the file, `up` is 'Y' or 'Z'; where not given they are guessed. `floor` is the height
    of the floor in metres, None for no floor, or 'auto' to find it as `scene_floor` does. Animated meshes of a glTF or
    FBX file move in the world as objects, rigged characters with their first clip. `world.notes` lists assumptions.
    """
    path = Path(path)
    if path.suffix.lower() in RIGGED:
        world = _from_rigged(path, read_rigged(path, units=units, up=up))
    else:
        from elbowroom.files.meshes import read_meshes  # a fifth of a second, for files alone

        found = read_meshes(path, units=units, up=up)
        world = World(static=found.meshes, notes=found.notes)
    return on_floor(world, floor)


def on_floor(world: World, floor: Floor) -> World:
    """The world with a floor of that height; with 'auto' it is found from static meshes and feet, and noted."""
    if floor == "auto":
        found = scene_floor(world.static, foot_places(world.characters.values()))
        return world.with_(floor=found.height, notes=(*world.notes, *([found.note] if found.note else [])))
    if floor is not None and not (isinstance(floor, int | float) and np.isfinite(floor)):
        raise BadValue(f"the floor is a height in metres, None, or 'auto', not {floor!r}.")
    return world.with_(floor=None if floor is None else float(floor))


def _from_rigged(path: Path, found: GlbFile) -> World:
    static = {name: mesh for name, mesh in found.meshes.items() if name not in found.objects}
    notes = [*found.notes]
    motions = {}
    for name, character in found.characters.items():
        clip = next((c for c in found.clips.values() if c.character is character), None)
        free = distinct([*found.meshes, name])[-1]
        if clip is not None:
            motions[free] = clip
            notes += character.notes
        elif character.skin is not None:
            skin = character.skin
            static[free] = Mesh(skin.posed(character.T_rest), skin.faces, skin.color, skin.colors, skin.paint)
            notes.append(f"The character '{name}' does not move and was used as a mesh in its rest pose.")
    if not (static or motions or found.objects):
        raise BadFile(path, "contains no triangles")
    return World(characters=motions, static=static, objects=dict(found.objects), notes=tuple(dict.fromkeys(notes)))
