"""Options that several commands share, and what turns them into worlds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from elbowroom.errors import BadFile, BadValue, UnknownName

if TYPE_CHECKING:
    from elbowroom.character.body import Character
    from elbowroom.files.open import Opened
    from elbowroom.plan.edit import EditChange
    from elbowroom.plan.settings import Tier
    from elbowroom.world.world import World

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Seed = Annotated[int, typer.Option(min=0, help="Same seed, same motion.")]
TierName = Annotated[
    str, typer.Option("--tier", help="ik (looks at nothing), avoid, plan (a search), or auto: the first that is free.")
]
StyleName = Annotated[
    str | None,
    typer.Option("--style", metavar="NAME", help="How it is to look: close, natural, low-arms, high-arms, bent-arms."),
]
BudgetSeconds = Annotated[
    float | None,
    typer.Option(
        "--budget",
        metavar="SECONDS",
        help="End after this time, from the start of planning to the end of the proof; reading and writing come on "
        "top. It never changes a motion that is found.",
    ),
]
AcceptUnproven = Annotated[
    bool,
    typer.Option("--accept-unproven", help="End with 0, not 3, where something is too near to be proven."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="NAME=MM",
        help="How deep parts may overlap at most: feet (of a recorded clip, in the floor) 50, body (other parts in the "
        "floor) 10, own (a recorded clip in itself) 100, generated (feet and own parts of a made motion) 10, contact "
        "(all else that may touch) 5. May be repeated.",
    ),
]
Strength = Annotated[
    list[str] | None,
    typer.Option(
        "--strength",
        metavar="EDIT=SHARE",
        help="Make an edit weaker, 0 to 1, by its number in the table or its reason, such as 2=0.5; the motion is "
        "proven anew. May be repeated.",
    ),
]
Mute = Annotated[
    list[str] | None,
    typer.Option("--mute", metavar="EDIT", help="Leave an edit out, by its number or reason. May be repeated."),
]
Outputs = Annotated[list[Path], typer.Option("-o", "--output", help="File to write; may be repeated.")]
Units = Annotated[float | None, typer.Option(help="Metres per unit of the file, instead of a guess.")]
Up = Annotated[str | None, typer.Option(help="Up axis of the file, Y or Z, instead of a guess.")]
Fps = Annotated[float | None, typer.Option(help="Frames a second of the file, instead of what it says.")]
Asf = Annotated[Path | None, typer.Option(help="Skeleton of an AMC file, if it is not beside it.")]
FixRig = Annotated[bool, typer.Option("--fix-rig", help="Mend known faults of the rig; info tells of them.")]
ClipName = Annotated[str | None, typer.Option("--clip", help="Which clip of a file that has several.")]
Onto = Annotated[
    str | None, typer.Option(help="Retarget onto woman, man, child, clown, gorilla, or the rig of a file.")
]
Scenes = Annotated[list[Path] | None, typer.Option("--scene", help="Scene mesh to put around it; may be repeated.")]


def with_allowances(world: World, told: list[str] | None) -> World:
    """A world with the caps that --allow gives, NAME=MM."""
    caps: dict[str, float] = {}
    for entry in told or []:
        name, _, text = entry.partition("=")
        try:
            caps[name.strip()] = 0.001 * float(text)
        except ValueError:
            raise BadValue(f"--allow takes a name and millimetres, such as feet=60, not '{entry}'.") from None
    return world.with_(caps=world.caps.with_told(caps)) if caps else world


def edit_changes(strength: list[str] | None, mute: list[str] | None, variants: int | None) -> list[EditChange]:
    """What --strength and --mute ask of edits."""
    from elbowroom.plan.edit import EditChange

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
        raise BadValue("--strength and --mute are for one motion: its edits have numbers; leave --variants out.")
    return changes


def character_named(name: str) -> Character:
    """A preset by its name, or the first character in a file."""
    from elbowroom.character.presets import PRESETS, preset
    from elbowroom.files.open import open_file

    if name in PRESETS or not Path(name).suffix:
        return preset(name)
    characters = open_file(name).characters
    if not characters:
        raise BadFile(name, "holds no character to retarget onto")
    return next(iter(characters.values()))


def world_of(opened: Opened, clip: str | None, onto: str | None, scenes: list[Path] | None) -> World:
    """What a file holds as a world: on another character if wanted, with scene meshes around it."""
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
            raise BadFile(path, "holds no mesh to use as a scene", would_do="give a .glb, .obj, .stl or .ply")
        taken = {"floor", *world.static, *world.objects, *world.characters}
        for name, mesh in found.meshes.items():
            world = world.with_static(f"{path.stem}.{name}" if name in taken else name, mesh)
        for name, thing in found.objects.items():
            world = world.with_object(f"{path.stem}.{name}" if name in taken else name, thing.mesh, thing.path)
    return world


def tier_named(name: str) -> Tier:
    """A tier of planning by its name."""
    from elbowroom.plan.settings import Tier

    found: Tier | None = next((tier for tier in get_args(Tier) if tier == name), None)
    if found is None:
        raise UnknownName("tier", name, get_args(Tier))
    return found


def style_named(name: str | None) -> str | None:
    """The name of a style, if there is one of that name."""
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
        raise BadValue(f"a place on the floor is two numbers, X,Y in metres, not '{text}'.") from None
    if not (math.isfinite(x) and math.isfinite(y)):
        raise BadValue(f"a place on the floor needs finite numbers, not '{text}'.")
    return x, y


def pixels(text: str) -> tuple[int, int]:
    """'WxH' in pixels."""
    try:
        width, height = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise BadValue(f"a size is WIDTHxHEIGHT in pixels, such as 960x640, not '{text}'.") from None
    if not (16 <= width <= 8192 and 16 <= height <= 8192):
        raise BadValue(f"a picture is 16 to 8192 pixels wide and high, not {width}x{height}.")
    return width, height
