"""The gallery's scenarios by name: the storyboards in this folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elbowroom.errors import BadFile, UnknownName
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import Storyboard, about_storyboard, read_storyboard
from elbowroom.world.world import World

FOLDER = Path(__file__).parent / "storyboards"


@dataclass(frozen=True)
class Scenario:
    """A built-in storyboard: what it shows in a sentence, and the features that it shows by their ids."""

    name: str
    path: Path
    shows: str
    features: tuple[str, ...] = ()

    def board(self) -> Storyboard:
        """The storyboard with its world; what it asks for is not planned yet."""
        return read_storyboard(self.path)


@cache
def scenarios() -> dict[str, Scenario]:
    """All scenarios by name, in the order of the alphabet."""
    return {path.stem: Scenario(path.stem, path, *about_storyboard(path)) for path in sorted(FOLDER.glob("*.yaml"))}


def scenario(name: str) -> Scenario:
    """A scenario by name."""
    if name not in scenarios():
        raise UnknownName("scenario of the gallery", name, scenarios())
    return scenarios()[name]


def storyboard_path(name: str) -> Path:
    """A storyboard by what a user calls it: a file, or where there is none of that name, a scenario of the gallery."""
    path = Path(name)
    if path.is_file() or path.suffix:
        return path
    if name in scenarios():
        return scenarios()[name].path
    if not path.exists():
        known = ", ".join(scenarios())
        raise BadFile(name, "does not exist", would_do=f"give a file, or one of the gallery: {known}")
    return path


def scene(name: str, seed: int = 0) -> World:
    """The world of a scenario in which everything is done that it asks for; raises `NoMotion` where that fails."""
    return plan_storyboard(scenario(name).board(), seed=seed).require().world
