"""A clip in a scene: the options that say where, for all commands that put one there."""

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

At = Annotated[str | None, typer.Option(metavar="X,Y", help="Where the clip's origin is in the scene.")]
Turn = Annotated[float, typer.Option(metavar="DEG", help="Turn of the clip, to the left.")]
Floor = Annotated[
    str,
    typer.Option(
        metavar="auto|Z", help="Height of the floor, metres; auto: as the file stores it, or as the scene has it."
    ),
]
SceneUnits = Annotated[float | None, typer.Option(help="Metres per unit of the scene.")]
SceneUp = Annotated[str | None, typer.Option(help="Up axis of the scene, Y or Z.")]
FixSelf = Annotated[bool, typer.Option("--fix-self", help="Contacts of the clip with itself and the floor count, too.")]


@dataclass(frozen=True)
class Around:
    """A scene, how its file is to be read, and where in it a clip's origin is: as the options have it."""

    scene: Path | None
    units: float | None
    up: str | None
    floor: str
    at: str | None
    turn: float


def no_scene_beside_storyboard(scene: Path | None) -> None:
    """Refuse a scene that is given to a storyboard."""
    if scene is not None:
        raise BadValue("a storyboard names its own scene: give it alone.")


def clip_in_scene(clip: Path, hints: ImportHints, around: Around, onto: str | None, name: str | None) -> World:
    """The characters of a clip in a scene, placed and put on the floor.

    The floor is the one that is given; else the one that the clip's file stores (NPZ, GLB of elbowroom); else it is
    found as `scene_floor` does, from the scene and from where the clip's feet go in it.
    """
    from elbowroom.files.open import CLIP_FORMATS, open_file
    from elbowroom.files.scene import on_floor, read_scene

    at, floor = options.point(around.at), _height(around.floor)
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
        notes.append(f"Meshes of {clip.name} are left out beside a scene: {', '.join(left)}.")
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
    notes = [f"With --onto only one character is taken; left out: {', '.join(left)}."] if left else []
    return world.with_(static=static, objects=objects), notes


def _placed(world: World, at: tuple[float, float], turn: float) -> World:
    """All clips moved and turned on the floor."""
    from elbowroom.motion.clip import Clip
    from elbowroom.motion.edit import place

    if not math.isfinite(turn):
        raise BadValue(f"a turn is a finite number of degrees, not {turn}.")
    for name, motion in world.characters.items():
        if isinstance(motion, Clip):
            world = world.with_character(name, place(motion, at, math.radians(turn)))
    return world


def _lifted(world: World, clips_floor: float) -> World:
    """All clips raised from their own floor, metres, to that of the world."""
    from elbowroom.motion.clip import Clip
    from elbowroom.motion.edit import place

    lift = 0.0 if world.floor is None else world.floor - clips_floor
    for name, motion in world.characters.items():
        if isinstance(motion, Clip) and lift != 0.0:
            world = world.with_character(name, place(motion, lift=lift))
    return world


def _height(text: str) -> float | Literal["auto"] | None:
    if text == "auto":
        return "auto"
    try:
        height = float(text)
    except ValueError:
        raise BadValue(f"the floor is 'auto' or a height in metres, not '{text}'.") from None
    if not math.isfinite(height):
        raise BadValue(f"the floor is 'auto' or a finite height in metres, not '{text}'.")
    return height
