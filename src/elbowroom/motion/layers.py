"""Layers of motion over a base: some joints, for some time, with some weight.

The recorded motion and the planned one stay apart, m = (m^m, m^p): a plan for an arm is a layer over the
clip.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Body, Character
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip, Motion, frames_in


@dataclass(frozen=True, eq=False)
class Layer:
    """Motion of `joints` taken from `motion` during an interval of seconds.

    `weight` is the share of the layer at its height (0..1); it rises over `fade_in` seconds after the
    interval's begin and falls over `fade_out` seconds before its end. `root` takes the root's position, too.
    """

    joints: tuple[int, ...]
    motion: Motion
    during: tuple[float, float]
    weight: float = 1.0
    fade_in: float = 0.0
    fade_out: float = 0.0
    root: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(int(j) for j in self.joints))
        begin, end = self.during
        if not begin <= end:
            raise BadValue(f"a layer lasts from an earlier to a later time, not from {begin} s to {end} s.")
        if not 0.0 <= self.weight <= 1.0:
            raise BadValue(f"a layer's weight is between 0 and 1, not {self.weight}.")
        if self.fade_in < 0.0 or self.fade_out < 0.0:
            raise BadValue(f"fades take zero or more seconds, not {self.fade_in} and {self.fade_out}.")

    @staticmethod
    def of(
        limbs: str | Iterable[str],
        motion: Motion,
        during: tuple[float, float] | None = None,
        *,
        weight: float = 1.0,
        fade_in: float = 0.0,
        fade_out: float = 0.0,
    ) -> Layer:
        """Layer for chains by name, e.g. 'right_arm', and their descendants; by default all the time."""
        body = motion.body
        if not isinstance(body, Character):
            raise BadValue(f"'{body.name}' has no limbs to make a layer of.")
        names = [limbs] if isinstance(limbs, str) else list(limbs)
        joints = {j for name in names for first in body.chain(name).joints for j in body.skeleton.subtree(first)}
        return Layer(tuple(sorted(joints)), motion, during or motion.span, weight, fade_in, fade_out)

    def weights(self, times: ArrayLike) -> Array:
        """Share of the layer at times (N,), 0 outside of its interval."""
        t = np.asarray(times, dtype=float)
        begin, end = self.during
        rise = smoothstep((t - begin) / self.fade_in) if self.fade_in > 0.0 else (t >= begin).astype(float)
        fall = smoothstep((end - t) / self.fade_out) if self.fade_out > 0.0 else (t <= end).astype(float)
        return self.weight * np.minimum(rise, fall)


@dataclass(frozen=True, eq=False)
class Layered:
    """A base motion with layers over it, the last one on top. It lasts as long as its base."""

    base: Motion
    layers: tuple[Layer, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        count = self.base.sample([self.base.span[0]])[1].shape[1]
        for layer in self.layers:
            if layer.motion.sample([layer.during[0]])[1].shape[1] != count:
                raise BadValue(f"a layer's motion must move the same joints as its base, '{self.body.name}'.")
            if any(not 0 <= j < count for j in layer.joints):
                raise BadValue(f"a layer refers to joints that '{self.body.name}' with {count} joints does not have.")

    @property
    def body(self) -> Body:
        """Body of the motion."""
        return self.base.body

    @property
    def span(self) -> tuple[float, float]:
        """First and last time in seconds."""
        return self.base.span

    def with_layer(self, layer: Layer) -> Layered:
        """One more layer on top."""
        return Layered(self.base, (*self.layers, layer))

    def __call__(self, t: float) -> Pose:
        root, q = self.sample([t])
        return Pose.of(root[0], q[0])

    def sample(self, times: ArrayLike) -> tuple[Array, Array]:
        """Roots (N, 3) and rotations (N, J, 4) at times (N,)."""
        t = np.clip(np.asarray(times, dtype=float), *self.span)
        root, q = (np.array(a) for a in self.base.sample(t))
        for layer in self.layers:
            weight = layer.weights(t)
            active = np.flatnonzero(weight > 0.0)
            if not len(active):
                continue
            w = weight[active]
            over_root, over = layer.motion.sample(t[active])
            block = np.ix_(active, np.array(layer.joints, dtype=int))
            mixed = rot.slerp(q[block], over[:, layer.joints], w[:, None])
            q[block] = np.where((w == 1.0)[:, None, None], over[:, layer.joints], mixed)
            if layer.root:
                root[active] += w[:, None] * (over_root - root[active])
        return root, q


def to_clip(motion: Motion, fps: float | None = None, *, name: str | None = None) -> Clip:
    """Frames of any character's motion over its span; the rate defaults to that of the clip at its base."""
    base: Motion = motion
    while isinstance(base, Layered):
        base = base.base
    clip = base if isinstance(base, Clip) else None
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
