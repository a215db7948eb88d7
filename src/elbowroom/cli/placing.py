"""Placement of a clip in a scene: the options shared by all commands that do it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from elbowroom.cli import options
from elbowroom.errors import BadFile, BadValue

if TYPE_CHECKING:
    from elbowroom.files.open import ImportHints, Opened
    from elbowroom.world.world import World

At = Annotated[str | None, typer.Option(metavar="X,Y", help="Position of the clip's origin in the scene.")]
Turn = Annotated[float, typer.Option(metavar="DEG", help="Counter-clockwise rotation of the clip.")]
Floor = Annotated[
    str,
    typer.Option(
        metavar="auto|Z", help="Floor height in metres; auto: as stored in the file, else detected from the scene."
    ),
]
SceneUnits = Annotated[float | None, typer.Option(help="Metres per unit of the scene.")]
SceneUp = Annotated[str | None, typer.Option(help="Up axis of the scene, Y or Z.")]
FixSelf = Annotated[
    bool, typer.Option("--fix-self", help="Also count the clip's contacts with itself and the floor as collisions.")
]


@dataclass(frozen=True)
class Around:
    """Scene of a clip: file, import options, and the position of the clip's origin in it."""

    scene: Path | None
    units: float | None
    up: str | None
    floor: str
    at: str | None
    turn: float


def no_scene_beside_storyboard(scene: Path | None) -> None:
    """Reject a scene given together with a storyboard."""
    if scene is not None:
        raise BadValue("a storyboard has its own scene: omit SCENE.")


def clip_in_scene(clip: Path, hints: ImportHints, around: Around, onto: str | None, name: str | None) -> World:
    """The characters of a clip in a scene, placed and put on the floor.

    The floor is the one that is given; else the one that the clip's file stores (NPZ, GLB of elbowroom); else it is
    found as `scene_floor` does, from the scene and from where the clip's feet go in it.
    """
    from elbowroom.files.open import CLIP_FORMATS, on_floor, open_file, read_scene

    at, floor = options.point(around.at), floor_height(around.floor)
    opened = open_file(clip, hints)
    if not opened.clips:
        raise BadFile(clip, "holds no clip", would_do=CLIP_FORMATS)
    if floor == "auto" and opened.floor != "auto":
        floor = opened.floor
    own = _placed(options.world_of(opened, name, onto, None), at, around.turn)
    notes = [*own.notes, *opened.notes]
    if onto is not None:
        own, left = _around_retargeted(own, opened)
        notes += left
    clips_floor = opened.floor if isinstance(opened.floor, float) else 0.0
    if around.scene is None:
        own = own.with_(notes=tuple(dict.fromkeys(notes)))
        return _lifted(on_floor(own, 0.0 if floor == "auto" and not own.static else floor), clips_floor)
    found = read_scene(around.scene, units=around.units, up=around.up, floor=None)
    notes += found.notes
    left = [*own.static, *own.objects]
    if left:
        notes.append(f"Meshes of {clip.name} are ignored because a scene is given: {', '.join(left)}.")
    for who, motion in own.characters.items():
        taken = {*found.static, *found.objects, *found.characters}
        found = found.with_character(f"{who}.clip" if who in taken else who, motion)
    return _lifted(on_floor(found.with_(notes=tuple(dict.fromkeys(notes))), floor), clips_floor)


def _around_retargeted(world: World, opened: Opened) -> tuple[World, list[str]]:
    """A retargeted clip with the meshes and objects of its file around it, and a note on people who are left out."""
    from elbowroom.files.glb_nodes import distinct

    taken = [*world.characters]
    names = distinct([*taken, *opened.meshes, *opened.objects])[len(taken) :]
    static = dict(zip(names, opened.meshes.values(), strict=False))
    objects = dict(zip(names[len(static) :], opened.objects.values(), strict=True))
    left = [*opened.characters][1:]
    notes = [f"--onto retargets one character only; left out: {', '.join(left)}."] if left else []
    return world.with_(static=static, objects=objects), notes


def _placed(world: World, at: tuple[float, float], turn: float) -> World:
    """Move and rotate all clips on the floor."""
    from elbowroom.motion.clip import Clip
    from elbowroom.motion.edit import place

    if not math.isfinite(turn):
        raise BadValue(f"--turn takes a finite number of degrees, not {turn}.")
    for name, motion in world.characters.items():
        if isinstance(motion, Clip):
            world = world.with_character(name, place(motion, at, math.radians(turn)))
    return world


def _lifted(world: World, clips_floor: float) -> World:
    """Raise all clips from their own floor height, metres, to that of the world."""
    from elbowroom.motion.clip import Clip
    from elbowroom.motion.edit import place

    lift = 0.0 if world.floor is None else world.floor - clips_floor
    for name, motion in world.characters.items():
        if isinstance(motion, Clip) and lift != 0.0:
            world = world.with_character(name, place(motion, lift=lift))
    return world


def floor_height(text: str) -> float | Literal["auto"] | None:
    """Height of a floor in metres, or 'auto'."""
    if text == "auto":
        return "auto"
    try:
        height = float(text)
    except ValueError:
        raise BadValue(f"the floor is 'auto' or a height in metres, not '{text}'.") from None
    if not math.isfinite(height):
        raise BadValue(f"the floor is 'auto' or a finite height in metres, not '{text}'.")
    return height
