"""Input of commands: a file of any supported format, or a storyboard, planned if it has tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elbowroom.cli.console import Clock

if TYPE_CHECKING:
    from elbowroom.files.open import ImportHints, Opened
    from elbowroom.storyboard.storyboard import Storyboard
    from elbowroom.world.world import World

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


def open_source(path: Path, hints: ImportHints, clock: Clock) -> Opened:
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
