"""Settling of grasps, proposed or marked: the hand approaches until it touches the object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import HandShape, hand_shape
from elbowroom.geometry.mesh import Mesh, frozen
from elbowroom.geometry.rotations import Array, angle_between, from_matrix, normalize
from elbowroom.geometry.transforms import inverse
from elbowroom.posing.fingers_model import HandAtThing
from elbowroom.posing.grasps_form import GraspForm, form_of
from elbowroom.posing.grasps_make import Candidate
from elbowroom.posing.grasps_seats import Seat, Seats, hand_seats
from elbowroom.world.things import GraspMark

# Most grasps that are returned, and candidates that are examined for them.
MOST, _LOOKS = 48, 400

# Fingers besides the thumb that must touch the object.
_CLOSING_FINGERS = 2

# Cost of a grasp that equals another, and the distance, radians or metres, beyond which two are unlike.
_ALIKE = 0.8
_OTHER_TURN, _OTHER_PLACE = np.radians(40.0), 0.15

# Approach distance of a hand, and its gap to the mesh, metres.
BACK, MARGIN = 0.10, 0.0005

# A hand that comes down by at least this share of its approach is retreated from the support.
_DOWNWARDS = 0.3

# Cost of a wrist that must bend to keep the forearm out of the object, and of a hand that stays short of its goal, up
# to so many times the tolerance.
_FOREARM, _SHORT = 0.7, 1.0
_NEAR = 2.5


@dataclass(frozen=True, eq=False)
class Grasp:
    """Grasp of one hand on an object.

    `T_thing_hand` (4, 4) places the hand's joint on the object. The hand comes in the shape `open` along `approach`
    (3,), a unit vector in the object's frame, and closes towards `shape`. `cost`: lower is better.
    `frame` names the place on the object for which it was made, '' for the object as a whole.
    """

    name: str
    hand: str
    T_thing_hand: Array
    open: HandShape
    shape: HandShape
    approach: Array
    cost: float = 0.0
    frame: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "T_thing_hand", frozen(self.T_thing_hand))
        object.__setattr__(self, "approach", frozen(normalize(self.approach)))


@dataclass(frozen=True, eq=False)
class RestPlane:
    """Plane that an object lies on, in its frame: vertical direction (3,), and height along it, metres."""

    up: Array
    height: float

    def back(self, scene: HandAtThing, T_thing_hand: Array, shape: HandShape, approach: Array) -> float:
        """Distance that a shaped hand at (4, 4) must retreat along its approach (3,) to be above it, metres."""
        low = scene.model.lowest(shape, T_thing_hand[:3, :3].T @ self.up) + float(T_thing_hand[:3, 3] @ self.up)
        if low >= self.height:
            return 0.0
        down = -float(approach @ self.up)
        return (self.height - low) / down if down > _DOWNWARDS else np.inf


def settled(
    hand: str,
    candidates: list[Candidate],
    form: GraspForm,
    scene: HandAtThing,
    forearm: bool = False,
    ground: RestPlane | None = None,
    most: int = MOST,
) -> list[Grasp]:
    """Candidates whose open hand reaches its goal without earlier contact, moved to where it stops.

    They differ as much as possible in orientation and position, the cheaper ones among them. At something large, such
    as a door by its handle, a `forearm` must be clear as well. The open hand stays above the `ground`, if there is one.
    Where no candidate arrives, those that come near count. At most `most` are returned.
    """
    if ground is not None:
        candidates = [c for c in candidates if ground.back(scene, *_placed(c, form)) <= _NEAR * c.seat.short]
    for nearly in (1.0, _NEAR):
        order, found = _Spread(candidates), []
        for n in order:
            c = candidates[n]
            T, _, approach = _placed(c, form)
            back = 0.0 if ground is None else ground.back(scene, T, c.seat.open, approach)
            if back > nearly * c.seat.short:
                continue
            scene.put_hand(scene.model.places(c.seat.open))
            # most never arrive, which shows at the end of the approach
            if not scene.free_at(T, -nearly * c.seat.short * approach) or (forearm and not scene.forearm_free):
                continue
            way = min(scene.slid(T, approach, BACK, c.seat.ahead, MARGIN), -back if back else np.inf)
            if way < -nearly * c.seat.short:
                continue
            T[:3, 3] += way * approach
            scene.put_thing(inverse(T))
            if not _closes(scene, c.seat):
                continue
            cost = c.cost + (0.0 if scene.forearm_free else _FOREARM) + (_SHORT if way < -c.seat.short else 0.0)
            found.append(Grasp(c.seat.style, hand, T, c.seat.open, c.seat.shape, approach, cost))
            order.took(n)
            if len(found) == most:
                break
        if found:
            break
    return sorted(found, key=lambda g: g.cost)


def _placed(c: Candidate, form: GraspForm) -> tuple[Array, HandShape, Array]:
    """`T_thing_hand` (4, 4) of a candidate, the shape of the open hand, and its approach (3,) in the object's frame."""
    T = form.T_thing_form @ c.T_form_seat @ inverse(c.seat.T_hand_seat)
    return T, c.seat.open, form.T_thing_form[:3, :3] @ c.approach


def _closes(scene: HandAtThing, seat: Seat) -> bool:
    """Return whether thumb and other fingers touch the object, checked at a few shapes up to the closed one."""
    missing = [f for f in scene.model.fingers if f.number or seat.opposed]
    spare = sum(f.number > 0 for f in missing) - _CLOSING_FINGERS
    for shape in seat.closing:
        scene.put_hand(scene.model.places(shape))
        missing = [f for f in missing if not any(scene.within(n, 0.0) for n in f.beyond[0])]
        # without the index finger on the object the thumb would end on the finger
        if len(missing) <= max(spare, 0) and not (seat.opposed and any(f.number < 2 for f in missing)):
            return True
    return seat.style == "flat"


class _Spread:
    """Indices of candidates in an order in which they differ: cheap, and unlike those taken so far."""

    def __init__(self, candidates: list[Candidate]) -> None:
        T = np.array([c.T_form_seat @ inverse(c.seat.T_hand_seat) for c in candidates]).reshape(-1, 4, 4)
        self._turns, self._places = from_matrix(T[:, :3, :3]), T[:, :3, 3]
        self._cost = np.array([c.cost for c in candidates])
        self._like = np.zeros(len(candidates))

    def __iter__(self) -> Iterator[int]:
        for _ in range(min(len(self._cost), _LOOKS)):
            n = int(np.argmin(self._cost + _ALIKE * self._like))
            self._cost[n] = np.inf
            yield n

    def took(self, n: int) -> None:
        """Defer candidates like this one."""
        away = angle_between(self._turns, self._turns[n]) / _OTHER_TURN
        away += np.linalg.norm(self._places - self._places[n], axis=1) / _OTHER_PLACE
        self._like = np.maximum(self._like, 1.0 - away)


def marked(body: Character, name: str, mark: GraspMark, mesh: Mesh) -> Grasp:
    """Grasp marked on an object, for a body.

    A hand that would be inside the object is placed so that the object at the mark lies in it as in proposed grasps;
    otherwise, or with an approach of its own, it stops before the object.
    """
    seats = hand_seats(body, mark.hand)
    width = _width_at(mesh, mark.T_thing_grip, seats) if mark.width is None else mark.width
    seat = _marked_seat(seats, mark.shape, width)
    opened, closed = (hand_shape(mark.shape),) * 2 if seat is None else (seat.open, seat.shape)
    T = mark.T_thing_grip @ inverse(seats.grip)
    approach = T[:3, :3] @ seats.palm if mark.approach is None else mark.approach
    scene = HandAtThing(seats.model, mesh)
    scene.put_hand(seats.model.places(opened))
    way = 0.0 if scene.empty else scene.slid(T, approach, 2.0 * BACK, 0.0, MARGIN)
    if way < 0.0 and seat is not None and seat.style != "pinch" and mark.approach is None:
        T_lies = mark.T_thing_grip @ inverse(seat.T_hand_seat)
        comes = T_lies[:3, :3] @ seat.approach
        gets = scene.slid(T_lies, comes, BACK, seat.ahead, MARGIN)
        if gets >= -seat.short:
            T, approach, way = T_lies, comes, gets
    if np.isfinite(way):
        T[:3, 3] += way * approach
    return Grasp(name, mark.hand, T, opened, closed, approach)


def _marked_seat(seats: Seats, shape: str, width: float) -> Seat | None:
    """Seat of a hand in a shape that closes on objects; None for other shapes."""
    if shape == "power":
        return seats.power(width)
    if shape == "pinch":
        return seats.pinch(width, wide=False)
    return seats.hooks(width)[0] if shape == "hook" else None


def _width_at(mesh: Mesh, T_thing_grip: Array, seats: Seats) -> float:
    """Width of a mesh between fingers and thumb at a grip frame, at most the hand's span, metres."""
    form = form_of(mesh)
    if form is None:
        return 0.0
    T = inverse(form.T_thing_form) @ T_thing_grip
    near = form.around(T[:3, 3], T[:3, :3], seats.scale * np.array([0.08, 0.08, 0.04]))
    return min(float(np.ptp(near[:, 1])), seats.widest_power) if len(near) else 0.05 * seats.scale
