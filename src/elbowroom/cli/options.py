"""Options and input files that several commands share, and functions that turn them into worlds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from elbowroom.cli.console import StageTimer
from elbowroom.errors import BadFile, BadValue, UnknownName

if TYPE_CHECKING:
    from elbowroom.character.body import Character
    from elbowroom.files.open import ImportHints, Opened
    from elbowroom.plan.state.edit import EditChange
    from elbowroom.plan.state.settings import Tier
    from elbowroom.storyboard.storyboard import Storyboard
    from elbowroom.world.world import World

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object only.")]
ShapesOption = Annotated[
    bool,
    typer.Option("--shapes", help="Show the collision geometry that is proven instead of skins."),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed; the same seed gives the same motion.")]
TierName = Annotated[
    str,
    typer.Option(
        "--tier", help="ik (no collision checks), avoid, plan (search), or auto: the first collision-free result."
    ),
]
StyleName = Annotated[
    str | None,
    typer.Option("--style", metavar="NAME", help="Motion style: close, natural, low-arms, high-arms, bent-arms."),
]
BudgetSeconds = Annotated[
    float | None,
    typer.Option(
        "--budget",
        metavar="SECONDS",
        help="Stop after this time, counted from the start of planning to the end of the proof, without reading and "
        "writing. A budget never changes a motion that is found.",
    ),
]
AcceptUnproven = Annotated[
    bool,
    typer.Option(
        "--accept-unproven",
        help="Exit with 0 instead of 3 if no collision is found but something is too close to be proven.",
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="NAME=MM",
        help="Maximum allowed overlap. Defaults: feet (of a recorded clip, in the floor) 50, body (other parts in the "
        "floor) 10, own (self-collision of a recorded clip) 100, generated (feet and self-collision of a generated "
        "motion) 10, contact (any other allowed contact) 5. May be repeated.",
    ),
]
Strength = Annotated[
    list[str] | None,
    typer.Option(
        "--strength",
        metavar="EDIT=SHARE",
        help="Scale an edit by 0 to 1, by its number in the table or its reason, such as 2=0.5; the motion is "
        "certified again. May be repeated.",
    ),
]
Mute = Annotated[
    list[str] | None,
    typer.Option("--mute", metavar="EDIT", help="Mute an edit by its number or reason. May be repeated."),
]
Outputs = Annotated[list[Path], typer.Option("-o", "--output", help="Output file; may be repeated.")]
UnitsOption = Annotated[float | None, typer.Option(help="Metres per unit of the file; default: detected.")]
Up = Annotated[str | None, typer.Option(help="Up axis of the file, Y or Z; default: detected.")]
Fps = Annotated[float | None, typer.Option(help="Frame rate of the file, overriding the stored one.")]
Asf = Annotated[Path | None, typer.Option(help="Skeleton of an AMC file, if not in the same folder.")]
BodyModelFile = Annotated[
    Path | None, typer.Option("--body-model", help="Body model (.npz) for motion of the SMPL family (.npz).")
]
FixRig = Annotated[bool, typer.Option("--fix-rig", help="Fix known faults of the rig; 'elbowroom info' lists them.")]
ClipName = Annotated[str | None, typer.Option("--clip", help="Clip to use from a file with several.")]
Onto = Annotated[
    str | None, typer.Option(help="Retarget onto woman, man, child, clown, gorilla, or the rig in a file.")
]
Scenes = Annotated[list[Path] | None, typer.Option("--scene", help="Scene mesh to add; may be repeated.")]


def with_allowances(world: World, given: list[str] | None) -> World:
    """World with the caps given by --allow, NAME=MM."""
    caps: dict[str, float] = {}
    for entry in given or []:
        name, _, text = entry.partition("=")
        try:
            caps[name.strip()] = 0.001 * float(text)
        except ValueError:
            raise BadValue(f"--allow takes a name and millimetres, such as feet=60, not '{entry}'.") from None
    return world.with_(caps=world.caps.with_changes(caps)) if caps else world


def edit_changes(strength: list[str] | None, mute: list[str] | None, variants: int | None) -> list[EditChange]:
    """Changes of edits requested by --strength and --mute."""
    from elbowroom.plan.state.edit import EditChange

    changes = []
    for entry in strength or []:
        which, _, text = entry.rpartition("=")
        try:
            share = float(text)
        except ValueError:
            share = math.nan
        if not (which and 0.0 <= share <= 1.0):
            raise BadValue(f"--strength takes an edit and a share from 0 to 1, such as 2=0.5, not '{entry}'.")
        changes.append(EditChange(which.strip(), share))
    changes += [EditChange(which.strip(), muted=True) for which in mute or []]
    if changes and variants is not None:
        raise BadValue("--strength and --mute need a single motion, whose edits are numbered: omit --variants.")
    return changes


def limb_kept(text: str) -> tuple[str, tuple[float, float]]:
    """Limb and seconds of one --keep: 'right_arm', or 'left_arm=1.2-2.5'."""
    limb, given, times = text.partition("=")
    begin, _, end = times.partition("-")
    try:
        during = (float(begin), float(end)) if given else (-math.inf, math.inf)
    except ValueError:
        during = (math.nan, math.nan)
    if not (limb and during[0] <= during[1]):
        raise BadValue(f"--keep takes a limb, or a limb and its seconds, such as left_arm=1.2-2.5, not '{text}'.")
    return limb, during


def character_named(name: str) -> Character:
    """A preset by its name, or the first character in a file."""
    from elbowroom.character.human import PRESETS, preset
    from elbowroom.files.open import open_file

    if name in PRESETS or not Path(name).suffix:
        return preset(name)
    characters = open_file(name).characters
    if not characters:
        raise BadFile(name, "holds no character to retarget onto")
    return next(iter(characters.values()))


def world_of(opened: Opened, clip: str | None, onto: str | None, scenes: list[Path] | None) -> World:
    """World of a file's contents, optionally retargeted, with scene meshes added."""
    from elbowroom.files.open import open_file
    from elbowroom.motion.retarget import retarget
    from elbowroom.world.world import World

    if onto is None:
        world = opened.world(clip)
    else:
        character = character_named(onto)
        world = World().with_character(character.name, retarget(opened.clip(clip), character))
    for path in scenes or []:
        found = open_file(path)
        if not found.meshes and not found.objects:
            raise BadFile(path, "holds no mesh to use as a scene", would_do="give a .glb, .fbx, .obj, .stl or .ply")
        taken = {"floor", *world.static, *world.objects, *world.characters}
        for name, mesh in found.meshes.items():
            world = world.with_static(f"{path.stem}.{name}" if name in taken else name, mesh)
        for name, thing in found.objects.items():
            world = world.with_object(f"{path.stem}.{name}" if name in taken else name, thing.mesh, thing.path)
    return world


def tier_named(name: str) -> Tier:
    """A tier of planning by its name."""
    from elbowroom.plan.state.settings import Tier

    found: Tier | None = next((tier for tier in get_args(Tier) if tier == name), None)
    if found is None:
        raise UnknownName("tier", name, get_args(Tier))
    return found


def style_named(name: str | None) -> str | None:
    """Return the name of a style; raises `UnknownName` if there is none."""
    from elbowroom.spaces.styles import CLOSE, style_of

    style_of(name, CLOSE)
    return name


def point(text: str | None) -> tuple[float, float]:
    """'X,Y' in metres."""
    if text is None:
        return 0.0, 0.0
    try:
        x, y = (float(part) for part in text.split(","))
    except ValueError:
        raise BadValue(f"a position on the floor must be two numbers X,Y in metres, not '{text}'.") from None
    if not (math.isfinite(x) and math.isfinite(y)):
        raise BadValue(f"a position on the floor needs finite numbers, not '{text}'.")
    return x, y


def pixels(text: str) -> tuple[int, int]:
    """'WxH' in pixels."""
    try:
        width, height = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise BadValue(f"a size must be WIDTHxHEIGHT in pixels, such as 960x640, not '{text}'.") from None
    if not (16 <= width <= 8192 and 16 <= height <= 8192):
        raise BadValue(f"a picture must be 16 to 8192 pixels wide and high, not {width}x{height}.")
    return width, height


_STORYBOARDS = (".yaml", ".yml")


def is_storyboard(path: Path) -> bool:
    """Return whether a file name is that of a storyboard."""
    return path.suffix.lower() in _STORYBOARDS


def named(source: Path) -> Path:
    """Path of an input file; if there is no such file, the gallery storyboard of that name."""
    if source.suffix or source.is_file():
        return source
    from elbowroom.gallery.scenes import storyboard_path

    return storyboard_path(str(source))


def open_source(path: Path, hints: ImportHints, clock: StageTimer) -> Opened:
    """Open a file. A storyboard becomes one world with its tasks planned; raises `NoMotion` if that fails."""
    from elbowroom.files.open import open_file

    if not is_storyboard(path):
        with clock("load", f"reading {path.name}"):
            return open_file(path, hints)
    from elbowroom.storyboard.plan import plan_storyboard
    from elbowroom.storyboard.storyboard import read_storyboard

    with clock("load", f"reading {path.name}"):
        board = read_storyboard(path)
    if not board.tasks:
        return board_as_opened(board, board.world)
    with clock("plan", f"planning {path.name}"):
        return board_as_opened(board, plan_storyboard(board).require().world)


def board_as_opened(board: Storyboard, world: World) -> Opened:
    """A storyboard's world in the form of a file that was read."""
    from elbowroom.files.open import Opened
    from elbowroom.motion.clip import Clip

    clips = {name: motion for name, motion in world.characters.items() if isinstance(motion, Clip)}
    characters = {name: clip.character for name, clip in clips.items()}
    kind, still, things = "storyboard", world.static, world.objects
    return Opened(board.path, kind, characters, clips, still, things, notes=world.notes, whole=world, floor=world.floor)


At = Annotated[str | None, typer.Option(metavar="X,Y", help="Position of the clip's origin in the scene.")]
TurnOption = Annotated[float, typer.Option(metavar="DEG", help="Counter-clockwise rotation of the clip.")]
FloorOption = Annotated[
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
class Surroundings:
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


def clip_in_scene(clip: Path, hints: ImportHints, around: Surroundings, onto: str | None, name: str | None) -> World:
    """The characters of a clip in a scene, placed and put on the floor.

    The floor is the one that is given; else the one that the clip's file stores (NPZ, GLB of elbowroom); else it is
    found as `scene_floor` does, from the scene and from where the clip's feet go in it.
    """
    from elbowroom.files.open import CLIP_FORMATS, on_floor, open_file, read_scene

    at, floor = point(around.at), floor_height(around.floor)
    opened = open_file(clip, hints).with_solved_markers()
    if not opened.clips:
        raise BadFile(clip, "holds no clip", would_do=CLIP_FORMATS)
    if floor == "auto" and opened.floor != "auto":
        floor = opened.floor
    own = _placed(world_of(opened, name, onto, None), at, around.turn)
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
        raise BadValue(f"the floor must be 'auto' or a height in metres, not '{text}'.") from None
    if not math.isfinite(height):
        raise BadValue(f"the floor must be 'auto' or a finite height in metres, not '{text}'.")
    return height
