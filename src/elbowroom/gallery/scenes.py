"""The gallery's scenes by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from elbowroom.errors import UnknownName
from elbowroom.gallery.stroll import stroll
from elbowroom.world.world import World


@dataclass(frozen=True)
class Scene:
    """A built-in world: what it shows in a sentence, and what makes it from a seed."""

    shows: str
    make: Callable[[int], World]


SCENES: dict[str, Scene] = {"stroll": Scene("a person walks a curved path past furniture", stroll)}


def scene(name: str, seed: int = 0) -> World:
    """A built-in world by name."""
    if name not in SCENES:
        raise UnknownName("scene of the gallery", name, SCENES)
    return SCENES[name].make(seed)
