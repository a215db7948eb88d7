"""Gallery scenarios by name: the storyboards in this folder."""

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
    """A built-in storyboard with a one-sentence description and feature ids."""

    name: str
    path: Path
    shows: str
    features: tuple[str, ...] = ()

    def board(self) -> Storyboard:
        """Storyboard with its world, not planned yet."""
        return read_storyboard(self.path)


def scenario_names() -> tuple[str, ...]:
    """Names of all scenarios, in alphabetical order; no storyboard is read for them."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def scenarios() -> dict[str, Scenario]:
    """All scenarios by name, in alphabetical order."""
    return {name: scenario(name) for name in scenario_names()}


def scenario(name: str) -> Scenario:
    """A scenario by name."""
    if name not in scenario_names():
        raise UnknownName("gallery scenario", name, dict.fromkeys(scenario_names()))
    return _scenario_in(FOLDER / f"{name}.yaml")


@cache
def _scenario_in(path: Path) -> Scenario:
    return Scenario(path.stem, path, *about_storyboard(path))


def storyboard_path(name: str) -> Path:
    """Storyboard path from a user's input: a file, or if there is none of that name, a gallery scenario."""
    path = Path(name)
    if path.is_file() or path.suffix:
        return path
    if name in scenario_names():
        return scenario(name).path
    if not path.exists():
        known = ", ".join(scenario_names())
        raise BadFile(name, "does not exist", would_do=f"give a file or a gallery name: {known}")
    return path


def scene(name: str, seed: int = 0) -> World:
    """Planned world of a scenario; raises `NoMotion` if planning fails."""
    return plan_storyboard(scenario(name).board(), seed=seed).require().world
