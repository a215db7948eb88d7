"""Things that are neither people nor walls: objects that move, fixtures that open, and holds that join them to hands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import Mesh, frozen
from elbowroom.geometry.rotations import Array, about, normalize
from elbowroom.geometry.transforms import transform
from elbowroom.world.paths import Path

Freedom = Literal["free", "level", "joint"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Thing:
    """A rigid mesh whose place is a function of time: `path(t)` gives `T_world_object` (4, 4).

    `mass` in kg, None where it does not matter; `frames` are named places on it, `T_object_frame` (4, 4);
    `freedom` says how it may be turned while it is carried.
    """

    mesh: Mesh
    path: Path
    mass: float | None = None
    frames: Mapping[str, Array] = field(default_factory=dict)
    freedom: Freedom = "free"

    def frame(self, name: str) -> Array:
        """A named place on the thing, `T_object_frame` (4, 4)."""
        try:
            return self.frames[name]
        except KeyError:
            raise UnknownName("frame", name, self.frames) from None


@dataclass(frozen=True, eq=False)
class Joint:
    """How the moving part of a fixture moves: a slide along or a hinge about `axis` (3,) through `origin` (3,).

    Both are in the part's own frame at state 0; `range` is in metres or radians.
    """

    kind: Literal["slides", "turns"]
    axis: Array
    range: tuple[float, float]
    origin: Array = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        axis = normalize(self.axis)
        low, high = self.range
        if not np.all(np.isfinite(axis)) or abs(float(np.linalg.norm(axis)) - 1.0) > 1e-6:
            raise BadValue(f"the axis of a joint needs a length, not {np.asarray(self.axis).tolist()}.")
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise BadValue(
                f"the range of a joint goes from a lower to a higher number, not from {low} to {high}."
            )
        object.__setattr__(self, "axis", frozen(axis))
        object.__setattr__(self, "origin", frozen(self.origin))

    def moved(self, state: float) -> Array:
        """`T_closed_part` (4, 4): where the part is for a state, as seen from where it is at state 0."""
        value = float(np.clip(state, *self.range))
        if self.kind == "slides":
            return transform(value * self.axis)
        turn = transform([0.0, 0.0, 0.0], about(self.axis, np.array(value)))
        turn[:3, 3] = self.origin - turn[:3, :3] @ self.origin
        return turn


@dataclass(frozen=True, eq=False, kw_only=True)
class Fixture(Thing):
    """A part that slides or turns on a joint: drawer, door, lid, switch. Its path follows from its state.

    `T_world_closed` (4, 4) is the part's place at state 0; `state(t)` is in metres or radians. The frame 'handle' is
    where a hand takes it.
    """

    joint: Joint
    T_world_closed: Array
    state: Callable[[float], float]

    @staticmethod
    def at(
        mesh: Mesh,
        joint: Joint,
        T_world_closed: Array,
        state: Callable[[float], float],
        frames: Mapping[str, Array] | None = None,
    ) -> Fixture:
        """A fixture whose path is made from its joint and its state."""

        def path(t: float) -> Array:
            return np.asarray(T_world_closed) @ joint.moved(state(t))

        return Fixture(
            mesh=mesh,
            path=path,
            frames=frames or {},
            freedom="joint",
            joint=joint,
            T_world_closed=frozen(T_world_closed),
            state=state,
        )


@dataclass(frozen=True, eq=False)
class Hold:
    """An object fixed to a hand over an interval of seconds.

    `T_hand_object` (4, 4) is the object in the frame of the hand's joint; None means as it lies when the hold begins.
    """

    object: str
    by: str
    hand: Literal["left", "right"]
    during: tuple[float, float]
    T_hand_object: Array | None = None

    def __post_init__(self) -> None:
        begin, end = self.during
        if not begin < end:
            raise BadValue(
                f"'{self.object}' is held from an earlier to a later time, not from {begin} s to {end} s."
            )
        if self.hand not in ("left", "right"):
            raise BadValue(f"a hand is left or right, not '{self.hand}'.")
