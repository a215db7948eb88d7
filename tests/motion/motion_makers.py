"""Characters and clips with known properties, for tests of motions."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip, Source
from elbowroom.motion.legs import place_feet


@lru_cache
def person(height: float = 1.70) -> Character:
    return human(height)


@lru_cache
def odd_rig(seed: int = 1) -> Character:
    """The same person in a rig whose joint frames are turned at random: nothing mirrors, nothing is along axes."""
    plain = person()
    skeleton = plain.skeleton
    frames = rot.normalize(np.random.default_rng(seed).normal(size=(len(skeleton), 4)))
    offsets = np.array(skeleton.offsets)
    offsets[1:] = rot.rotate(rot.conjugate(frames[skeleton.parents[1:]]), offsets[1:])
    turned = Skeleton(skeleton.names, skeleton.parents, offsets)
    turned = Skeleton(skeleton.names, skeleton.parents, offsets, turned.local(frames))
    return Character(name="odd", skeleton=turned, roles=plain.roles, front=plain.front)


def wild(character: Character, frames: int = 40, fps: float = 30.0, seed: int = 0, lead: int = 0) -> Clip:
    """A smooth clip in which every joint turns and the root wanders."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, frames)[:, None, None]
    n = len(character.skeleton)
    waves = 0.3 * rng.normal(size=(1, n, 3)) + 0.4 * np.sin(5.0 * t + rng.uniform(0, 6, (1, n, 3)))
    q = rot.multiply(character.skeleton.rest, rot.exp(waves))
    root = character.skeleton.offsets[0] + np.cumsum(0.02 * rng.normal(size=(frames, 3)), axis=0)
    if lead:
        q[:lead] = character.skeleton.rest
        root[:lead] = 0.0
    return Clip(character, fps, root, q, name="wild", source=Source(lead=lead))


def standing(character: Character, frames: int = 60, fps: float = 60.0) -> Clip:
    """The rest pose, held."""
    skeleton = character.skeleton
    q = np.tile(skeleton.rest, (frames, 1, 1))
    return Clip(character, fps, np.tile(skeleton.offsets[0], (frames, 1)), q, name="standing")


def stepping(
    character: Character, steps: int = 6, seconds: float = 0.6, stride: float = 0.4, fps: float = 120.0
) -> Clip:
    """Walking on flat feet: each foot is still for one step's time, then is carried over the other's.

    Foot k (0 left, 1 right) is planted exactly in the frames where `planted(clip)[:, k]` holds.
    """
    t = np.arange(round(steps * seconds * fps) + 1) / fps
    skeleton = character.skeleton
    root = np.tile(skeleton.offsets[0], (len(t), 1))
    root += (stride / seconds / 2 * t)[:, None] * character.front
    root[:, 2] -= 0.08 * skeleton.offsets[0, 2]
    feet = {}
    for k, side in enumerate(("left", "right")):
        T = skeleton.T_rest[character.role(f"{side}_foot")]
        phase = t / seconds / 2 + 0.5 * k
        s = np.clip(2.0 * (phase % 1.0) - 1.0, 0.0, 1.0)
        way = stride * (np.floor(phase) + smoothstep(s) - 0.5 * k - 0.25)
        at = T[:3, 3] + way[:, None] * character.front
        at[:, 2] += 0.12 * np.sin(np.pi * s) ** 2
        feet[side] = transform(at, rot.from_matrix(T[:3, :3]))
    q = place_feet(character, root, np.tile(skeleton.rest, (len(t), 1, 1)), feet)
    return Clip(character, fps, root, q, name="stepping")


def planted(clip: Clip, steps: int = 6, seconds: float = 0.6) -> np.ndarray:
    """Which feet (T, 2) of a `stepping` clip are still."""
    phase = clip.times[:, None] / seconds / 2 + np.array([0.0, 0.5])
    return phase % 1.0 <= 0.5
