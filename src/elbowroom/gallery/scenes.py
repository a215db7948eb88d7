"""The gallery's scenes by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import as_file, files

from elbowroom.errors import UnknownName
from elbowroom.gallery.stroll import stroll
from elbowroom.tasks.storyboard import read_storyboard
from elbowroom.world.world import World


@dataclass(frozen=True)
class Scene:
    """A built-in world: what it shows in a sentence, and what makes it from a seed."""

    shows: str
    make: Callable[[int], World]


def _storyboard(name: str) -> Callable[[int], World]:
    """Maker of a world that a storyboard of the gallery describes; a seed changes nothing in it."""

    def make(seed: int) -> World:
        with as_file(files("elbowroom.gallery") / "storyboards" / f"{name}.yaml") as path:
            return read_storyboard(path).world

    return make


SCENES: dict[str, Scene] = {
    "stroll": Scene("a person walks a curved path past furniture", stroll),
    "doorway": Scene("a person walks through an opening door, another crosses behind it", _storyboard("doorway")),
}


def scene(name: str, seed: int = 0) -> World:
    """A built-in world by name."""
    if name not in SCENES:
        raise UnknownName("scene of the gallery", name, SCENES)
    return SCENES[name].make(seed)
