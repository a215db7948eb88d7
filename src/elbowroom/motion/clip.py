"""Motion as a function of time, and its recorded form, the clip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Body, Character
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array

# Frames of one motion: ten times the longest recordings of motion capture. Each takes 2 to 7 kB of a person.
MOST_FRAMES = 200_000
# Squared lengths of quaternions this near to 1 are 1 but for rounding.
_UNIT = 1e-14


def frames_in(seconds: float, fps: float) -> int:
    """Frames at a rate from the start of a motion of so many seconds up to its end; `BadValue` for too many."""
    if not (np.isfinite(fps) and fps > 0.0):
        raise BadValue(f"a frame rate must be a positive number of frames per second, not {fps}.")
    if not seconds * fps < MOST_FRAMES:
        raise BadValue(
            f"{seconds:g} s at {fps:g} frames per second is more than {MOST_FRAMES:,} frames; "
            "use a lower rate or a shorter motion."
        )
    return int(np.floor(seconds * fps + 1e-6)) + 1


@runtime_checkable
class Motion(Protocol):
    """Anything that places a body at any time within a span of seconds; outside it the ends are held."""

    @property
    def body(self) -> Body: ...

    @property
    def span(self) -> tuple[float, float]: ...

    def __call__(self, t: float) -> Pose: ...

    def sample(self, times: ArrayLike) -> tuple[Array, Array]:
        """Roots (N, 3) and joint values at times (N,): rotations (N, J, 4) of a person."""
        ...


@dataclass(frozen=True)
class Source:
    """Source of a clip, and the data needed to write it back unchanged.

    `lead` counts artificial frames at the start (the T pose of CMU's BVH files): they stay in the clip, in
    place, but are no motion. `euler` names a joint's rotation order in the file. `notes` are sentences on
    what was assumed. `extra` are further arrays of the file by name.
    """

    path: str = ""
    format: str = ""
    units: float = 1.0  # metres per file unit
    up: str = "Z"
    lead: int = 0
    euler: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    extra: Mapping[str, NDArray] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Clip:
    """Frames at a fixed rate; frame k is at `start + k / fps` seconds.

    Between frames joints are slerped locally and the root is lerped, as glTF LINEAR does.
    """

    character: Character
    fps: float
    root: Array  # (T, 3), metres
    rotations: Array  # (T, J, 4), local, wxyz
    start: float = 0.0
    name: str = "clip"
    source: Source = field(default_factory=Source)

    def __post_init__(self) -> None:
        root = frozen(self.root).reshape(-1, 3)
        q = np.asarray(self.rotations, dtype=float)
        if q.shape != (len(root), len(self.character.skeleton), 4) or not len(root):
            raise BadValue(
                f"clip '{self.name}' needs roots (T, 3) and rotations (T, {len(self.character.skeleton)}, 4) "
                f"with at least one frame, not {root.shape} and {q.shape}."
            )
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise BadValue(f"clip '{self.name}' needs a positive frame rate, not {self.fps}.")
        # unit quaternions stay as they are, bit by bit, however often clips are made of them
        unit = np.abs(np.einsum("tji,tji->tj", q, q) - 1.0) < _UNIT
        if not (np.all(np.isfinite(root)) and (unit.all() or np.all(np.isfinite(q)))):
            raise BadValue(f"clip '{self.name}' has values that are not finite.")
        object.__setattr__(self, "root", root)
        if not unit.all():
            q = np.where(unit[..., None], q, rot.normalize(q))
        q = rot.continuous(q)
        q.setflags(write=False)
        object.__setattr__(self, "rotations", q)

    def __len__(self) -> int:
        return len(self.root)

    @property
    def body(self) -> Character:
        """Body of the motion."""
        return self.character

    @property
    def span(self) -> tuple[float, float]:
        """First and last time in seconds."""
        return self.start, self.start + (len(self) - 1) / self.fps

    @property
    def duration(self) -> float:
        """Seconds from the first to the last frame."""
        return (len(self) - 1) / self.fps

    @property
    def times(self) -> Array:
        """Times of the frames, (T,)."""
        return self.start + np.arange(len(self)) / self.fps

    def __call__(self, t: float) -> Pose:
        root, q = self.sample(np.array([t]))
        return Pose.of(root[0], q[0])

    def sample(self, times: ArrayLike) -> tuple[Array, Array]:
        """Roots (N, 3) and rotations (N, J, 4) at times (N,); the ends are held outside the span."""
        at = (np.asarray(times, dtype=float) - self.start) * self.fps
        # a time that is a frame's but for rounding gives the frame itself
        near = np.round(at)
        at = np.clip(np.where(np.abs(at - near) < 1e-6, near, at), 0.0, len(self) - 1.0)
        k = at.astype(int)
        s = at - k
        after = np.minimum(k + 1, len(self) - 1)
        if not s.any():
            return self.root[k], self.rotations[k]
        root = self.root[k] + s[:, None] * (self.root[after] - self.root[k])
        q = rot.slerp(self.rotations[k], self.rotations[after], s[:, None])
        exact = (s == 0.0)[:, None, None]
        return root, np.where(exact, self.rotations[k], q)

    def world(self, times: ArrayLike | None = None) -> Array:
        """World transforms of all joints, (N, J, 4, 4), at given times or at every frame."""
        root, q = (self.root, self.rotations) if times is None else self.sample(times)
        return self.character.skeleton.forward(root, q)

    def positions(self, times: ArrayLike | None = None) -> Array:
        """World positions of all joints, (N, J, 3), at given times or at every frame."""
        return self.world(times)[..., :3, 3]

    def with_(self, **changes: object) -> Clip:
        """A copy with some fields replaced."""
        return replace(self, **changes)  # type: ignore[arg-type]


def still_clip(character: Character) -> Clip:
    """The rest pose as a clip of one frame."""
    skeleton = character.skeleton
    return Clip(character, 30.0, skeleton.offsets[:1], skeleton.rest[None], name="rest")
