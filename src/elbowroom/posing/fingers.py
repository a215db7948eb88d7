"""Closing of fingers around an object, joint by joint, until they touch its mesh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Body
from elbowroom.character.hand_shapes import HandShape
from elbowroom.character.hands import grip_frame
from elbowroom.geometry.mesh import Mesh, frozen
from elbowroom.geometry.rotations import Array
from elbowroom.posing.fingers_model import Finger, HandAtThing, HandModel, hand_model

# Distance within which a finger touches, metres; closing stops at the last position that keeps the margin.
TOUCH = 0.002
_MARGIN = 0.0004

# Thumb or palm and a finger hold an object between them if the cosine of their forces is less than this.
OPPOSED = -0.35

# Travel of a fingertip between two checks, metres, less than a finger's thickness, and bisections that refine the
# contact.
_STEP = 0.006
_HALVINGS = 5

# Flexing a thumb's outer joints can lift it off again: then its joints are closed again, this often at most, unless
# they moved less than this, radians.
_PASSES = 4
_STILL = 1e-3

# A finger that starts inside the object opens by up to this much at its first joint, in such steps, but not extended
# beyond this; radians.
_BACK = np.radians([8.0, 16.0, 24.0, 32.0, 40.0])
_FARTHEST_BACK = np.radians(-20.0)


@dataclass(frozen=True, eq=False)
class Closed:
    """A hand whose fingers have closed.

    rotations (n, 4) are for `finger_joints`; `gaps` by finger are distances to the mesh in metres, negative by the
    depth where a finger is inside; `shape` has the coordinates of all joints. `across` is the least cosine of a push
    of the thumb or the palm with one of another finger: -1 where they press against each other.
    """

    rotations: Array
    gaps: Mapping[str, float]
    shape: HandShape
    across: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotations", frozen(self.rotations).reshape(-1, 4))

    @property
    def touching(self) -> tuple[str, ...]:
        """Fingers that touch."""
        return tuple(finger for finger, gap in self.gaps.items() if gap <= TOUCH)

    @property
    def holds(self) -> bool:
        """Return whether the thumb touches, and a finger opposite to thumb or palm."""
        return "thumb" in self.touching and self.across < OPPOSED


def close_fingers(
    body: Body, hand: str, T_hand_thing: ArrayLike, mesh: Mesh, open: HandShape, shape: HandShape
) -> Closed:
    """Flex the fingers of a hand from one shape towards another until they touch a mesh at `T_hand_thing` (4, 4).

    Each finger flexes at its knuckle until any part of it touches, then at its middle joint, then at its last one. One
    that touches nothing ends in `shape`. The thumb comes last and does not pass through the other fingers. In the shape
    'tips' all joints flex together, so that tips stay on their plane.
    """
    model = hand_model(body, hand)
    scene = HandAtThing(model, mesh)
    scene.put_thing(T_hand_thing)
    scene.put_hand(model.places(open))
    coordinates = np.array(open.coordinates)
    fingers = sorted(model.fingers, key=lambda f: f.number == 0)
    for finger in fingers:
        coordinates[finger.number] = _Closing(scene, finger).closed(
            open.coordinates[finger.number], shape.coordinates[finger.number], together=shape.name == "tips"
        )
    done = HandShape(shape.name, coordinates)
    scene.put_hand(model.places(done))
    gaps = {f.name: scene.gap(f.beyond[0]) for f in model.fingers}
    rotations = np.array([j.rotations(coordinates[j.finger]) for j in model.bending]).reshape(-1, 4)
    return Closed(rotations, gaps, done, _across(scene, grip_frame(body, hand)[:3, 0]))


def _across(scene: HandAtThing, palm: Array) -> float:
    """Smallest cosine between a force of the thumb, or of the palm along `palm` (3,), and one of another finger."""
    fingers = scene.model.fingers
    pushes = {f.number: [p for row in f.beyond[0] if (p := scene.push(row, TOUCH)) is not None] for f in fingers}
    against = pushes.pop(0, [])
    if any(scene.within(row, TOUCH) for row in scene.model.palm):
        against = [*against, palm]
    others = [p for found in pushes.values() for p in found]
    return float((np.array(against) @ np.array(others).T).min()) if against and others else 1.0


class _Closing:
    """One finger that closes on an object."""

    def __init__(self, scene: HandAtThing, finger: Finger) -> None:
        self.scene, self.finger = scene, finger
        self.rows: NDArray[np.int64] = np.array(finger.beyond[0], dtype=np.int64)
        self.others = _in_the_way(scene.model, finger)

    def closed(self, start: Array, end: Array, together: bool) -> Array:
        """Coordinates (3, 3) of the finger after closing from `start` towards `end`, both (3, 3)."""
        coordinates = self._freed(start)
        if together:
            return self._advanced(coordinates, end, list(range(len(self.rows))))
        ends = [joint.place for joint in self.finger.joints]
        for _ in range(_PASSES):
            before = coordinates
            for k, place in enumerate(ends):
                aim = coordinates.copy()
                # the only or last joint of a finger stands for those that the rig lacks
                last = 3 if k == len(ends) - 1 else ends[k + 1]
                aim[place:last] = end[place:last]
                moving = self.finger.beyond[k]
                coordinates = self._advanced(
                    coordinates, aim, [n for n in range(len(self.rows)) if self.rows[n] in moving]
                )
            if self._rests(coordinates) or np.abs(coordinates - before).sum() < _STILL:
                break
        return coordinates

    def _rests(self, coordinates: Array) -> bool:
        """Return whether the finger touches the object."""
        self.scene.put(self.rows, self.scene.model.finger_places(self.finger, coordinates[None])[0])
        return any(self.scene.within(int(row), 0.5 * TOUCH) for row in self.rows)

    def _freed(self, start: Array) -> Array:
        """Start posture with the first joint extended until it is clear of the object."""
        every = list(range(len(self.rows)))
        tried = np.array([start] * (len(_BACK) + 1))
        first = tried[1:, self.finger.joints[0].place, 0]
        first[:] = np.maximum(first - _BACK, min(_FARTHEST_BACK, float(first[0])))
        places = self.scene.model.finger_places(self.finger, tried)
        for coordinates, at in zip(tried, places, strict=True):
            if not self._touches(at, every):
                return coordinates
        return start

    def _advanced(self, start: Array, end: Array, moving: list[int]) -> Array:
        """Last coordinates (3, 3) between start and end at which the finger is clear."""
        turn = float(np.abs(end - start).sum())
        if turn < 1e-6 or not moving:
            return end
        looks = int(np.ceil(turn * self.finger.reach / _STEP))
        low, high = 0.0, 1.0
        shares = np.linspace(0.0, 1.0, looks + 1)[1:]
        hit = self._first(shares, start, end, moving)
        if hit == looks:
            return end
        low, high = (shares[hit - 1] if hit else 0.0), shares[hit]
        fine = low + (high - low) * np.arange(1, 2**_HALVINGS) / 2**_HALVINGS
        places = self.scene.model.finger_places(self.finger, _between(start, end, fine))
        first, last = -1, len(fine)  # `first` is free, `last` touches
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (first, middle) if self._touches(places[middle], moving) else (middle, last)
        share = low if first < 0 else float(fine[first])
        return _between(start, end, np.array([share]))[0]

    def _first(self, shares: Array, start: Array, end: Array, moving: list[int]) -> int:
        """Index of the first of shares (N,) at which the finger touches; N if none."""
        places = self.scene.model.finger_places(self.finger, _between(start, end, shares))
        for n in range(len(shares)):
            if self._touches(places[n], moving):
                return n
        return len(shares)

    def _touches(self, places: Array, moving: list[int]) -> bool:
        """Return whether one of the finger's shapes, placed at (K, 4, 4), touches the object or a blocking finger."""
        self.scene.put(self.rows, places)
        if any(self.scene.within(int(self.rows[n]), _MARGIN) for n in reversed(moving)):
            return True
        return any(self.scene.placed.hit(int(self.rows[n]), o) for n in moving for o in self.others)


def _between(start: Array, end: Array, shares: Array) -> Array:
    """Coordinates (N, 3, 3) interpolated at shares (N,)."""
    return start + shares[:, None, None] * (end - start)


def _in_the_way(model: HandModel, finger: Finger) -> list[int]:
    """Shapes of other fingers that a thumb might pass through: those beyond their knuckles."""
    if finger.number != 0:
        return []
    return [n for other in model.fingers if other.number for n in other.beyond[0] if n not in other.shapes[0]]
