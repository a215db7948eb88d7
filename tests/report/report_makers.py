"""People and motions whose measures can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.geometry import rotations as rot
from elbowroom.motion.clip import Clip
from elbowroom.report.people import Subject

FPS = 60.0


@lru_cache
def person() -> Character:
    """The built-in person without skin: quick to make."""
    return human(1.70, skin=False)


def still(character: Character | None = None, seconds: float = 2.0, fps: float = FPS) -> Clip:
    """The rest pose, a T pose, held."""
    character = character or person()
    frames = round(seconds * fps) + 1
    skeleton = character.skeleton
    return Clip(character, fps, np.tile(skeleton.offsets[0], (frames, 1)), np.tile(skeleton.rest, (frames, 1, 1)))


def moved(way: Callable[[np.ndarray], np.ndarray], axis: int = 0, seconds: float = 3.0, fps: float = FPS) -> Clip:
    """A stiff person whose root goes a way (T,) in metres along an axis, by times (T,)."""
    clip = still(seconds=seconds, fps=fps)
    root = np.array(clip.root)
    root[:, axis] += way(clip.times)
    return clip.with_(root=root)


def turned(clip: Clip, role: str, axis: list[float], angles: np.ndarray) -> Clip:
    """A clip in which one joint is turned about an axis of its parent's frame by angles (T,)."""
    q = np.array(clip.rotations)
    j = clip.character.role(role)
    q[:, j] = rot.multiply(rot.about(axis, angles), q[:, j])
    return clip.with_(rotations=q)


def subject(clip: Clip, name: str = "ann") -> Subject:
    """A clip under report."""
    return Subject(name, clip)
