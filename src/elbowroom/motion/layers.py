"""Layers of motion over a base: frames of some joints, for some time, with some weight.

The recorded motion and the planned one stay apart, m = (m^m, m^p): a plan for an arm is a layer over the
clip.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip, Motion, frames_in

# Seconds in which the weight of a layer becomes that of the next one.
_FADE_S = 0.3
# Frames: a time that is this near to a frame's is the frame's.
_SAME_FRAMES = 1e-6


@dataclass(frozen=True, eq=False)
class Layer:
    """Frames of some joints, absolute in their parents; frame k is at `start + k / fps` seconds.

    `rotations` (F, n, 4) are those of `joints`, `root` (F, 3) is the root's position if it is layered, too. `weight`
    is the share of the layer (0..1). `ends` are shares at its first and last frame where those differ.
    """

    joints: tuple[int, ...]
    fps: float
    start: float
    rotations: Array
    root: Array | None = None
    weight: float = 1.0
    ends: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(int(j) for j in self.joints))
        object.__setattr__(self, "rotations", frozen(self.rotations))
        if self.root is not None:
            object.__setattr__(self, "root", frozen(self.root))
        frames, places = len(self.rotations), self.root
        if self.rotations.shape != (frames, len(self.joints), 4) or (
            places is not None and places.shape != (frames, 3)
        ):
            raise BadValue(
                f"a layer of {len(self.joints)} joints needs rotations (F, {len(self.joints)}, 4) and roots (F, 3), "
                f"not {self.rotations.shape}{'' if places is None else f' and {places.shape}'}."
            )
        for weight in (self.weight, *(self.ends or ())):
            if not 0.0 <= weight <= 1.0:
                raise BadValue(f"a layer's weight must be between 0 and 1, not {weight}.")

    def __len__(self) -> int:
        return len(self.rotations)

    @property
    def during(self) -> tuple[float, float]:
        """Times of the first and the last frame in seconds."""
        return self.start, self.start + max(len(self) - 1, 0) / self.fps

    @property
    def weights(self) -> Array:
        """Share of the layer at each frame, (F,)."""
        out = np.full(len(self), self.weight)
        if self.ends is None:
            return out
        fade = min(max(round(_FADE_S * self.fps), 1), max(len(self) // 2, 1))
        near = 1.0 - smoothstep(np.arange(len(self)) / fade)
        out += near * (self.ends[0] - self.weight)
        return np.asarray(out + near[::-1] * (self.ends[1] - self.weight))

    def first_frame(self, base: Clip) -> int:
        """Frame of a base at which it begins; `BadValue` where its frames are not those of the base."""
        at = (self.start - base.start) * base.fps
        first = round(at)
        if self.fps != base.fps or abs(at - first) > _SAME_FRAMES or not 0 <= first <= len(base) - len(self):
            raise BadValue(f"a layer needs frames of its base, '{base.name}': {self.start:g} s at {self.fps:g} fps.")
        if any(not 0 <= j < base.rotations.shape[1] for j in self.joints):
            raise BadValue(f"a layer refers to joints that '{base.body.name}' does not have.")
        return first

    def held(self, base: Clip, count: int) -> Layer:
        """The layer over a base that is held, or cut, to so many frames."""
        first = self.first_frame(base)
        last = first + len(self) == len(base) and count > len(base)
        size = count - first if last else min(len(self), max(count - first, 0))
        rows = np.minimum(np.arange(size), len(self) - 1)
        return replace(self, rotations=self.rotations[rows], root=None if self.root is None else self.root[rows])

    def trimmed(self, base: Clip, owned: NDArray[np.bool_] | None = None) -> Layer:
        """The layer without joints, and without frames at its ends, that are the same in a base.

        With a mask `owned` (F, n + 1) of its joints, the root last, only those frames count.
        """
        first = self.first_frame(base)
        same = base.rotations[first : first + len(self), list(self.joints)], base.root[first : first + len(self)]
        # q and -q are the same rotation, except in the first frame, whose sign the others follow
        differs = np.any(self.rotations != same[0], axis=2) & np.any(self.rotations != -same[0], axis=2)
        if first == 0:
            differs[:1] |= np.any(self.rotations[:1] != same[0][:1], axis=2)
        moved = np.zeros(len(self), bool) if self.root is None else np.any(self.root != same[1], axis=1)
        if owned is not None:
            differs, moved = differs & owned[:, :-1], moved & owned[:, -1]
        rows = np.flatnonzero(differs.any(axis=1) | moved)
        if not len(rows):
            return replace(self, joints=(), rotations=self.rotations[:1, :0], root=None)
        span, joints = slice(rows[0], rows[-1] + 1), np.flatnonzero(differs.any(axis=0))
        return replace(
            self,
            joints=tuple(np.array(self.joints)[joints].tolist()),
            start=float(base.times[first + rows[0]]),
            rotations=self.rotations[span][:, joints],
            root=self.root[span] if self.root is not None and moved.any() else None,
        )


def held(clip: Clip, count: int) -> Clip:
    """A clip of so many frames: its last one is held, or those after are cut off."""
    if count == len(clip):
        return clip
    rows = np.minimum(np.arange(count), len(clip) - 1)
    return clip.with_(root=clip.root[rows], rotations=clip.rotations[rows])


def composed(base: Clip, layers: Iterable[Layer]) -> Clip:
    """The frames of a base with layers over it, the last one on top; a layer of weight 1 bit by bit as it is."""
    root, q = np.array(base.root), np.array(base.rotations)
    for layer in (one for one in layers if len(one)):
        first = layer.first_frame(base)
        rows, joints = slice(first, first + len(layer)), list(layer.joints)
        weight = layer.weights
        mixed = rot.slerp(q[rows, joints], layer.rotations, weight[:, None]) if joints else layer.rotations
        q[rows, joints] = np.where((weight == 1.0)[:, None, None], layer.rotations, mixed)
        if layer.root is not None:
            moved = root[rows] + weight[:, None] * (layer.root - root[rows])
            root[rows] = np.where((weight == 1.0)[:, None], layer.root, moved)
    return base.with_(root=root, rotations=q)


def to_clip(motion: Motion, fps: float | None = None, *, name: str | None = None) -> Clip:
    """Frames of any character's motion over its span; the rate of a clip defaults to its own."""
    clip = motion if isinstance(motion, Clip) else None
    if fps is None:
        if clip is None:
            raise BadValue("a motion without frames needs a frame rate to become a clip.")
        fps = clip.fps
    body = motion.body
    if not isinstance(body, Character):
        raise BadValue(f"only a character's motion can become a clip, and '{body.name}' is not a character.")
    start, end = motion.span
    root, q = motion.sample(start + np.arange(frames_in(end - start, fps)) / fps)
    made = Clip(body, fps, root, q, start, name or (clip.name if clip else "clip"))
    if clip is None:
        return made
    same_rate = abs(fps - clip.fps) < 1e-9
    return made.with_(source=clip.source if same_rate else replace(clip.source, lead=_lead_at(clip, fps)))


def _lead_at(clip: Clip, fps: float) -> int:
    """Number of frames at another rate before a clip's first real frame."""
    return int(np.ceil(clip.source.lead / clip.fps * fps - 1e-6))
