"""Objects that move, fixtures that open, holds that join them to hands, and the path of a held object.

A held object follows its own path at first, then the leading hand, and then stays where it is released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import Mesh, frozen
from elbowroom.geometry.rotations import Array, about, normalize
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.motion.clip import Motion
from elbowroom.world.paths import Fall, KeyedState, PlacementPath, Riding, places, states

Freedom = Literal["free", "level", "joint"]


@dataclass(frozen=True, eq=False, kw_only=True)
class GraspMark:
    """Grasp marked on an object, for any body: position of the middle of the closed hand.

    `T_thing_grip` (4, 4) is a grip frame as `grip_frame` has it (z out by the thumb, x out of the palm), so that
    `T_thing_hand = T_thing_grip @ inverse(grip_frame(body, hand))`. `shape` names a hand shape, `width` in metres is
    what the hand closes round (None: as wide as the thing is there). `approach` (3,) is the way the hand travels at
    last, a unit vector in the thing's frame; None is palm first.
    """

    hand: Literal["left", "right"]
    T_thing_grip: Array
    shape: str = "power"
    width: float | None = None
    approach: Array | None = None

    def __post_init__(self) -> None:
        if self.hand not in ("left", "right"):
            raise BadValue(f"a grasp must be for the 'left' or the 'right' hand, not for '{self.hand}'.")
        object.__setattr__(self, "T_thing_grip", frozen(self.T_thing_grip).reshape(4, 4))
        if self.approach is not None:
            length = float(np.linalg.norm(self.approach))
            if not (np.isfinite(length) and length > 1e-9):
                raise BadValue(
                    f"the approach of a grasp needs a non-zero vector, not {np.asarray(self.approach).tolist()}."
                )
            object.__setattr__(self, "approach", frozen(np.asarray(self.approach, dtype=float) / length))


@dataclass(frozen=True, eq=False, kw_only=True)
class Thing:
    """A rigid mesh whose place is a function of time: `path(t)` gives `T_world_object` (4, 4).

    `mass` in kg, None where it does not matter; `frames` are named places on it, `T_object_frame` (4, 4);
    `freedom` says how it may be turned while it is carried; `grasps` are marked ways to take it, by name.
    """

    mesh: Mesh
    path: PlacementPath
    mass: float | None = None
    frames: Mapping[str, Array] = field(default_factory=dict)
    freedom: Freedom = "free"
    grasps: Mapping[str, GraspMark] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mass is not None and not (np.isfinite(self.mass) and self.mass >= 0.0):
            raise BadValue(f"the mass of an object must be 0 kg or more, not {self.mass}.")
        if self.freedom not in ("free", "level", "joint"):
            raise BadValue(f"the freedom of an object must be 'free', 'level' or 'joint', not '{self.freedom}'.")
        frames = {name: frozen(T).reshape(4, 4) for name, T in self.frames.items()}
        object.__setattr__(self, "frames", frames)

    def frame(self, name: str) -> Array:
        """Named frame on the object, `T_object_frame` (4, 4)."""
        try:
            return self.frames[name]
        except KeyError:
            raise UnknownName("frame", name, self.frames) from None


@dataclass(frozen=True, eq=False)
class Joint:
    """Joint of a fixture: a slide along or a hinge about `axis` (3,) through `origin` (3,).

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
            raise BadValue(f"the axis of a joint needs a non-zero vector, not {np.asarray(self.axis).tolist()}.")
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise BadValue(f"the range of a joint must go from a lower to a higher number, not from {low} to {high}.")
        object.__setattr__(self, "axis", frozen(axis))
        object.__setattr__(self, "origin", frozen(self.origin))

    def moved(self, state: float) -> Array:
        """`T_closed_part` (4, 4): where the part is for a state, as seen from where it is at state 0."""
        return self.moved_many(np.array([state]))[0]

    def moved_many(self, states: Array) -> Array:
        """`moved` for states (N,), (N, 4, 4)."""
        values = np.clip(states, *self.range)
        if self.kind == "slides":
            return transform(values[:, None] * self.axis)
        turn = transform(np.zeros(3), about(self.axis, values))
        turn[:, :3, 3] = self.origin - turn[:, :3, :3] @ self.origin
        return turn


@dataclass(frozen=True, eq=False)
class _OnJoint:
    """Path of a part that a joint guides."""

    T_world_closed: Array
    joint: Joint
    state: Callable[[float], float]

    def __call__(self, t: float) -> Array:
        return self.T_world_closed @ self.joint.moved(self.state(t))

    def sample(self, times: ArrayLike) -> Array:
        """Places at many times, (N, 4, 4)."""
        return self.T_world_closed @ self.joint.moved_many(states(self.state, times))


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
        T_world_closed: ArrayLike,
        state: Callable[[float], float] | float = 0.0,
        frames: Mapping[str, Array] | None = None,
        mass: float | None = None,
        grasps: Mapping[str, GraspMark] | None = None,
    ) -> Fixture:
        """A fixture whose path is made from its joint and its state: a function of time, or a number that stays."""
        if not callable(state):
            state = KeyedState(np.zeros(1), np.array([state]))
        T = frozen(T_world_closed).reshape(4, 4)
        return Fixture(
            mesh=mesh,
            path=_OnJoint(T, joint, state),
            frames=frames or {},
            mass=mass,
            freedom="joint",
            grasps=grasps or {},
            joint=joint,
            T_world_closed=T,
            state=state,
        )


# End, in seconds, of holds and contacts that have no end yet.
FOREVER = 1e6


@dataclass(frozen=True, eq=False)
class Hold:
    """A grip: a hand on an object over an interval of seconds. An object may be in several hands, of anyone.

    `hand` is 'left' or 'right' of a person, or names a robot's gripper (a limb or a link). Of the hands that may lead,
    the one that has held the object longest moves it, and the others go along; when it lets go, the next one leads. A
    hand with `leads=False` never does: without a leading hand the object follows its own path. `T_hand_object` (4, 4)
    is the object in the frame of the hand's joint; None means as it lies when the grip begins. `fall` is how the object
    goes on when the last hand has let go; None means that it stays where it is left. `onto` is its path from then on if
    it is left on something that moves: in a drawer. `at_ease` (T, J, 4) are local rotations by frame of a holder whose
    arm and fingers are as without the object; None where they always are, or that is not known.
    """

    object: str
    by: str
    hand: str
    during: tuple[float, float]
    T_hand_object: Array | None = None
    fall: Fall | None = None
    leads: bool = True
    onto: Riding | None = None
    at_ease: Array | None = None

    def __post_init__(self) -> None:
        begin, end = self.during
        if not begin < end:
            raise BadValue(f"'{self.object}' must be held from earlier to later, not from {begin} s to {end} s.")
        if self.T_hand_object is not None:
            object.__setattr__(self, "T_hand_object", frozen(self.T_hand_object).reshape(4, 4))


@dataclass(frozen=True)
class Linked:
    """Two objects by name that are joined to each other over an interval of seconds."""

    a: str
    b: str
    during: tuple[float, float] = (-np.inf, np.inf)


# Length of a hand, metres: lever of a rotation on the object.
HAND_M = 0.1


@dataclass(frozen=True, eq=False)
class Led:
    """An interval of seconds in which one hand moves the object, and `T_hand_object` (4, 4) meanwhile."""

    hold: Hold
    during: tuple[float, float]
    grip: Array


@dataclass(frozen=True, eq=False)
class Carried:
    """Path of an object in hands of moving bodies; `holds` are in the order in which they begin."""

    own: PlacementPath
    holds: tuple[Hold, ...]
    bodies: Mapping[str, Motion]

    def __call__(self, t: float) -> Array:
        return np.asarray(self.sample([t])[0])

    def sample(self, times: ArrayLike) -> Array:
        """Transforms at many times, (N, 4, 4)."""
        t = np.atleast_1d(np.asarray(times, dtype=float))
        return self._placed(t, lambda hold, rows: hands(self.bodies[hold.by], hold.hand, t[rows]))

    def with_joints(self, times: Array, joints: Mapping[str, Array]) -> Array:
        """Transforms (N, 4, 4) at times (N,) for which the joints (N, J, 4, 4) of all bodies are known."""

        def held(hold: Hold, rows: NDArray[np.int64]) -> Array:
            joint, T = self.bodies[hold.by].body.hand(hold.hand)
            return joints[hold.by][rows, joint] @ T

        return self._placed(times, held)

    def grip(self, hold: Hold) -> Array:
        """`T_hand_object` (4, 4) of one of the holds when it begins."""
        first = next((led.grip for led in self.led if led.hold is hold and led.during[0] == hold.during[0]), None)
        if first is not None:
            return first
        begin = hold.during[:1]
        return np.asarray(inverse(hands(self.bodies[hold.by], hold.hand, begin)[0]) @ self.sample(begin)[0])

    @cached_property
    def led(self) -> tuple[Led, ...]:
        """Holders of the object over time: each from the moment the previous one has released it."""
        out: list[Led] = []
        for hold, during in _leaders([hold for hold in self.holds if hold.leads]):
            if hold.T_hand_object is not None and during[0] == hold.during[0]:
                grip = hold.T_hand_object
            else:
                place = self._left(out[-1], np.array(during[:1])) if out else places(self.own, np.array(during[:1]))
                grip = inverse(hands(self.bodies[hold.by], hold.hand, during[:1])[0]) @ place[0]
            out.append(Led(hold, during, grip))
        return tuple(out)

    def _placed(self, times: Array, held: Callable[[Hold, NDArray[np.int64]], Array]) -> Array:
        begins = np.array([led.during[0] for led in self.led])
        turn = np.searchsorted(begins, times, side="right") - 1  # the hand that led last, -1 before all
        out = np.zeros((len(times), 4, 4))
        before = turn < 0
        if before.any():
            out[before] = places(self.own, times[before])
        for k, led in enumerate(self.led):
            mine = turn == k
            rows = np.flatnonzero(mine & (times < led.during[1]))
            if len(rows):
                out[rows] = held(led.hold, rows) @ led.grip
            left = mine & (times >= led.during[1])
            if left.any():
                out[left] = self._left(led, times[left])
        return out

    def _left(self, led: Led, times: Array) -> Array:
        """Transforms (N, 4, 4) at times (N,) of the object after a hand has released it."""
        if led.hold.onto is not None:
            out = led.hold.onto.sample(times)
        else:
            T_left = hands(self.bodies[led.hold.by], led.hold.hand, led.during[1:])[0] @ led.grip
            out = np.tile(T_left, (len(times), 1, 1))
        if led.hold.fall is not None:
            out[:, :3, 3] += led.hold.fall.sample(times)
        return out


def _leaders(holds: Sequence[Hold]) -> Iterator[tuple[Hold, tuple[float, float]]]:
    """Intervals and holds that lead: the one that began first, until it ends; `holds` are in order of beginnings."""
    now = -np.inf
    while True:
        left = [hold for hold in holds if hold.during[1] > now]
        if not left:
            return
        hold = min(left, key=lambda h: (max(h.during[0], now), h.during[0]))
        begin = max(hold.during[0], now)
        yield hold, (begin, hold.during[1])
        now = hold.during[1]


def hands(motion: Motion, hand: str, times: ArrayLike) -> Array:
    """`T_world_hand` (N, 4, 4) of a body's hand or gripper at times (N,)."""
    joint, T = motion.body.hand(hand)
    t = np.atleast_1d(np.asarray(times, dtype=float))
    return motion.body.transforms(*motion.sample(t))[:, joint] @ T


def slip(T_world_hand: Array, T_world_object: Array) -> float:
    """Largest motion of a hand on an object over frames (N, 4, 4), metres: translation, and rotation at a hand's
    length.
    """
    T = inverse(T_world_object) @ T_world_hand
    shift = np.linalg.norm(T[:, :3, 3] - T[0, :3, 3], axis=1)
    cosine = 0.5 * (np.einsum("nij,ij->n", T[:, :3, :3], T[0, :3, :3]) - 1.0)
    return float((shift + HAND_M * np.arccos(np.clip(cosine, -1.0, 1.0))).max(initial=0.0))
