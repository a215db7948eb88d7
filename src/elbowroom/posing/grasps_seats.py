"""Seats of objects in a hand by type: in the fist, between finger pads and thumb, in bent fingers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elbowroom.character.body import Body
from elbowroom.character.hand_shapes import (
    CLASP,
    FLAT,
    OPEN,
    PINCH,
    TIPS_SHUT,
    WIDEST_PINCH,
    WIDEST_POWER,
    WIDEST_TIPS,
    HandShape,
    clasp,
    mixed,
    pinch,
    power,
    tips,
)
from elbowroom.character.hands import grip_frame, hand_size
from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array, about, normalize, rotate
from elbowroom.geometry.transforms import apply
from elbowroom.posing.fingers_model import Finger, HandModel, hand_model, outline

# A rod in the fist, for a hand of `HAND_LENGTH`, metres, found by bringing an open hand to rods until it touches: its
# width, the offset of its middle from that of the grip across the approach, and its shortfall along it.
_RODS = np.array(
    [
        (0.000, -0.012, 0.000),
        (0.020, -0.010, 0.005),
        (0.040, -0.003, 0.014),
        (0.060, 0.000, 0.027),
        (0.080, 0.010, 0.045),
        (0.100, 0.020, 0.062),
    ]
)

# The hand approaches a rod with the palm first and, by this angle, the fingers' side; radians.
_TILT = np.radians(15.0)

# Thinner rods are wholly in the fingers, metres.
_THUMB_OVER = 0.025

# How far fingers may close beyond the grasped width, metres.
_TIGHTER_POWER, _TIGHTER_PINCH = 0.035, 0.04

# Extra opening of finger pads and thumb, smallest and larger ones where that leaves no room, metres; clearance to each
# side; depth of the pads on the object, metres, for a hand of `HAND_LENGTH`.
_WIDER_PINCH = (0.02, 0.03, 0.04, 0.05)
_CLEAR = 0.002
PADS_DEEP = 0.03

# A flat object between the thumb and fingers laid along it: flexion of the knuckles, degrees; distance of the thumb,
# the smallest that works; clearance then; distance of the thumb's pad beyond the object's edge, metres.
_CLASP_BENDS = (6.0, 22.0)
_CLASP_APART = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2)
_CLASP_FREE, _CLASP_DEEP = 0.008, 0.014

# Extra opening of the tips of thumb and fingers, and how much tighter they close, metres.
_WIDER_TIPS, _TIGHTER_TIPS = 0.016, 0.014

# Iterations of a joint's flexion until a tip is on the plane of the others, and smallest lever of a tip, metres per
# radian.
_LEVELLINGS, _LEAST_LEVER_M = 3, 0.012

# A bar in the crook of the fingers: flexion of their joints on the way, degrees, with a thumb as in another shape;
# largest flexion; and clearance beside the bar on the way, metres.
_HOOKS = (((6.0, 72.0, 18.0), OPEN), ((6.0, 72.0, 18.0), FLAT), ((24.0, 72.0, 40.0), FLAT), ((50.0, 40.0, 20.0), OPEN))
_HOOK_SHUT = (60.0, 102.0, 66.0)
_HOOK_CLEAR = 0.003


@dataclass(frozen=True, eq=False)
class Seat:
    """Seat of an object in a hand: `T_hand_seat` (4, 4) is its frame, x into the object, z to the thumb's side.

    `approach` (3,) is in the hand's frame. `open` and `shape` are the hand's shapes. It may stop `short` of its goal or
    go `ahead`, metres. `opposed` where the thumb closes on the object across from the fingers.
    """

    style: str
    T_hand_seat: Array
    approach: Array
    open: HandShape
    shape: HandShape
    short: float
    ahead: float
    opposed: bool = False

    def __post_init__(self) -> None:
        for name in ("T_hand_seat", "approach"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @cached_property
    def closing(self) -> tuple[HandShape, ...]:
        """Shapes between the open and the closed hand, the closed one first."""
        return self.shape, *(mixed(self.open, self.shape, s) for s in (0.75, 0.5, 0.25))


class Seats:
    """The seats of one hand."""

    def __init__(self, body: Body, hand: str) -> None:
        self.model: HandModel = hand_model(body, hand)
        self.scale = hand_size(body, hand)
        self.grip = grip_frame(body, hand)
        self.palm, side, self.thumb = self.grip[:3, :3].T
        self.mirrored = hand == "right"
        self.along = -side if self.mirrored else side
        self._clasps: dict[float, list[tuple[HandShape, Array, float]]] = {}
        self._middle = self.grip[:3, 3]

    @property
    def widest_power(self) -> float:
        """Widest object that the hand closes around, metres."""
        return WIDEST_POWER * self.scale

    @property
    def widest_pinch(self) -> float:
        """Widest object between fingers and thumb, metres."""
        return WIDEST_PINCH * self.scale

    @property
    def widest_tips(self) -> float:
        """Widest object between the tips of fingers and thumb, metres."""
        return WIDEST_TIPS * self.scale

    def power(self, width: float, depth: float | None = None, tilt: float = 0.0) -> Seat:
        """Seat of a rod of a width, and of another depth away from the palm; the seat is at its middle.

        Its end at the thumb's side is tilted towards the wrist, radians: thumb up, the fingers point down by so much.
        """
        turn = about(self.palm, -tilt if self.mirrored else tilt)
        along = rotate(turn, self.along)
        w = width / self.scale
        across, short = (float(np.interp(w, _RODS[:, 0], column)) for column in _RODS[:, 1:].T)
        if depth is not None:
            short += 0.5 * (depth - width) / self.scale
        approach = np.cos(_TILT) * self.palm + np.sin(_TILT) * along
        aside = np.cos(_TILT) * along - np.sin(_TILT) * self.palm
        across *= self.scale
        if tilt <= 0.0:  # no nearer to the wrist than the thumb lets it pass; else the thumb is beyond the rod's end
            passing = self._edge(OPEN, aside, 1.0, thumb=True) - float(self._middle @ aside) + 0.5 * width
            across = max(across, passing + _CLEAR)
        T = np.eye(4)
        T[:3, :3] = np.stack([self.palm, *rotate(turn, self.grip[:3, 1:3].T)], axis=1)
        T[:3, 3] = self._middle + across * aside + self.scale * short * approach
        closed = power(max(w - _TIGHTER_POWER, 0.015))
        # around thin rods the thumb lies over the fingers
        thick, reach = w > _THUMB_OVER, 0.005 * self.scale
        return Seat(
            "power", T, approach, OPEN, closed, (7.0 if tilt > 0.0 else 5.0) * reach, 4.0 * reach, opposed=thick
        )

    def pinch(self, width: float, wide: bool) -> Seat:
        """Seat of an object of a width between the pads of thumb and fingers, half way between the open ones.

        Amid all fingers if the object is `wide` enough for them, else amid the two next to the thumb.
        """
        w = width / self.scale
        for wider in _WIDER_PINCH:
            opened = pinch(w + wider)
            # the seat (4, 4) between thumb and fingers in a shape, and the room between them there, metres
            thumb, fingers = self._pads(opened)
            # the line of the finger pads lies flat on the object; the thumb is across from it
            z = self.thumb if len(fingers) < 2 else normalize(fingers[0] - fingers[-1])
            away = fingers.mean(axis=0) - thumb
            across = normalize(away - (away @ z) * z)
            y = -across if self.mirrored else across
            axes = np.stack([np.cross(y, z), y, z], axis=1)
            near = fingers[: None if wide else 2].mean(axis=0)
            edge = float(0.5 * (near + thumb) @ axes[:, 0]) - PADS_DEEP * self.scale
            T, room = self._between(opened, axes, edge, float(near @ z))
            if room >= width + 2.0 * _CLEAR:
                break
        closed = pinch(max(w - _TIGHTER_PINCH, 0.0)) if w > _TIGHTER_PINCH else PINCH
        return Seat("pinch", T, T[:3, 0], opened, closed, short=0.016 * self.scale, ahead=0.0, opposed=True)

    def tips(self, width: float) -> Seat:
        """Seat of an object of a width between the tips of the thumb and two fingers, which close on one plane.

        It is where the tips end, half way between them: x out of their plane, away from the hand.
        """
        w = width / self.scale
        T = self._tips_frame(tips(w), np.zeros(3))
        T = self._tips_frame(tips(w), T[:3, 0])
        opened, closed = (self._levelled(tips(v), T) for v in (w + _WIDER_TIPS, max(w - _TIGHTER_TIPS, TIPS_SHUT)))
        return Seat("tips", T, T[:3, 0], opened, closed, short=0.006 * self.scale, ahead=0.0, opposed=True)

    def _tips_frame(self, shape: HandShape, down: Array) -> Array:
        """Frame (4, 4) half way between the ends of thumb and two fingers, as far as these reach along `down` (3,)."""
        ends = {f.number: self._end(f, shape) for f in self.model.fingers if f.number < 3}
        low = {n: at + radius * down for n, (at, radius) in ends.items()}
        fingers = [at for n, at in low.items() if n]
        middle = np.mean(fingers, axis=0)
        side = self.thumb if len(fingers) < 2 else normalize(fingers[0] - fingers[-1])
        away = middle - low[0]
        across = normalize(away - (away @ side) * side)
        y = -across if self.mirrored else across
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = np.stack([np.cross(y, side), y, side], axis=1), 0.5 * (middle + low[0])
        return T

    def _levelled(self, shape: HandShape, T_hand_seat: Array) -> HandShape:
        """The shape with the middle joints of thumb and two fingers bent so that all three end on the seat's plane."""
        x, plane = T_hand_seat[:3, 0], float(T_hand_seat[:3, 3] @ T_hand_seat[:3, 0])
        coordinates = np.array(shape.coordinates)

        def past(finger: Finger, bend: float) -> float:
            coordinates[finger.number, 1, 0] = bend
            at, radius = self._end(finger, HandShape(shape.name, coordinates))
            return float(at @ x) + radius - plane

        for finger in (f for f in self.model.fingers if f.number < 3):
            bend = float(coordinates[finger.number, 1, 0])
            for _ in range(_LEVELLINGS):
                off = past(finger, bend)
                lever = (past(finger, bend + 0.01) - off) / 0.01
                if abs(lever) > _LEAST_LEVER_M * self.scale:
                    bend -= off / lever
            coordinates[finger.number, 1, 0] = bend
        return HandShape(shape.name, coordinates)

    def _end(self, finger: Finger, shape: HandShape) -> tuple[Array, float]:
        """Centre (3,) and radius of the ball at a finger's end, metres."""
        last = self.model.joints(shape)[finger.rows[-1], :3, 3]
        places, found = self.model.places(shape), []
        for n in finger.shapes[-1]:
            points, radius = outline(self.model.shapes[n])
            at = apply(places[n], points)
            found.append((at[int(np.argmax(np.linalg.norm(at - last, axis=1)))], radius))
        return max(found, key=lambda end: float(np.linalg.norm(end[0] - last))) if found else (last, 0.0)

    def clasps(self, width: float) -> list[Seat]:
        """Seats of a flat object of a width between the thumb and fingers laid along it, from straight to half bent."""
        made = []
        for bend in _CLASP_BENDS:
            if bend not in self._clasps:
                shapes = [clasp(bend, apart) for apart in _CLASP_APART]
                self._clasps[bend] = [(shape, *self._along_face(shape)) for shape in shapes]
            for opened, T, room in self._clasps[bend]:
                if room >= width + _CLASP_FREE * self.scale:
                    reach = 0.004 * self.scale
                    seat = Seat("pinch", T, T[:3, 0], opened, CLASP, 2.0 * reach, 3.0 * reach, opposed=True)
                    made.append(seat)
                    break
        return made

    def _along_face(self, shape: HandShape) -> tuple[Array, float]:
        """The seat (4, 4) between the thumb and fingers in a shape, x along the fingers, and the room there, metres.

        It is `PADS_DEEP` beyond the object's edge.
        """
        places = self.model.joints(shape)
        longs = [f for f in self.model.fingers if f.number]
        ways = [self.model.tip(f, shape) - places[f.rows[min(1, len(f.rows) - 1)], :3, 3] for f in longs]
        x = normalize(np.mean(ways, axis=0)) if ways else self.along
        z = normalize(self.thumb - (self.thumb @ x) * x)
        y = np.cross(z, x)
        thumb, fingers = self._pads(shape)
        edge = float(thumb @ x) - _CLASP_DEEP * self.scale
        return self._between(shape, np.stack([x, y, z], axis=1), edge, float(fingers[:2].mean(axis=0) @ z))

    def _between(self, shape: HandShape, axes: Array, edge: float, height: float) -> tuple[Array, float]:
        """The seat (4, 4) half way between thumb and fingers, and the room there, of what is beyond the object's edge.

        axes (3, 3) as columns are the seat's, the edge is so far along x and the seat `PADS_DEEP` farther; height is
        along z, metres.
        """
        across = -axes[:, 1] if self.mirrored else axes[:, 1]
        inner = (axes[:, 0], edge)
        low = self._edge(shape, across, 1.0, thumb=True, beyond=inner)
        high = self._edge(shape, across, -1.0, thumb=False, beyond=inner)
        middle = 0.5 * (low + high) * (-1.0 if self.mirrored else 1.0)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = axes, axes @ np.array([edge + PADS_DEEP * self.scale, middle, height])
        return T, high - low

    def _edge(
        self, shape: HandShape, way: Array, sign: float, thumb: bool, beyond: tuple[Array, float] | None = None
    ) -> float:
        """Extent of the thumb, or the other fingers, along `way` (3,): maximum (sign 1) or minimum (-1), metres.

        Only what lies farther than a distance along a direction counts, if `beyond` gives them.
        """
        places = self.model.places(shape)
        reach = []
        for finger in self.model.fingers:
            for n in (n for n in finger.beyond[0] if (finger.number == 0) == thumb):
                points, radius = outline(self.model.shapes[n])
                at = apply(places[n], points)
                if beyond is not None:
                    at = at[at @ beyond[0] > beyond[1]]
                reach += (at @ (sign * way) + radius).tolist()
        return sign * max(reach) if reach else -sign * 0.03 * self.scale

    def hooks(self, width: float) -> list[Seat]:
        """Seats of a bar of a width in the crook of the fingers, which approach bent and need little room behind it."""
        return [self._hook(width, _bent(*way), _bent(_HOOK_SHUT, power(0.025))) for way in _HOOKS]

    def _hook(self, width: float, opened: HandShape, closed: HandShape) -> Seat:
        places = self.model.joints(opened)
        longs = [f for f in self.model.fingers if f.number] or list(self.model.fingers)
        crook = np.mean([places[f.rows[min(1, len(f.rows) - 1)], :3, 3] for f in longs], axis=0)
        thick = max((float(self.model.shapes[n].size[0]) for f in longs for n in f.shapes[0]), default=0.01)
        # before the bent ends of all fingers, the shortest of which are nearest to the palm
        behind = (self.palm, float(crook @ self.palm) + 0.3 * thick)
        ends = self._edge(opened, self.along, -1.0, thumb=False, beyond=behind)
        room = 0.5 * width + _HOOK_CLEAR * self.scale
        T = self.grip.copy()
        T[:3, 3] = crook + (ends - room - float(crook @ self.along)) * self.along + (room + thick) * self.palm
        return Seat("hook", T, self.palm, opened, closed, short=0.032 * self.scale, ahead=0.02 * self.scale)

    def flat(self) -> Seat:
        """Seat of a surface before the flat hand, at the middle of the palm."""
        reach = 0.03 * self.scale
        T = self.grip.copy()
        T[:3, 3] = self._middle
        return Seat("flat", T, self.palm, FLAT, mixed(FLAT, PINCH, 0.25), short=reach, ahead=reach)

    def _pads(self, shape: HandShape) -> tuple[Array, Array]:
        """The middles of the thumb's last bone, (3,), and of the other fingers', (n, 3), from the thumb's side."""
        ends = {f.number: self._pad(f, shape) for f in self.model.fingers}
        thumb = ends.pop(0, None)
        middle = self._middle + 0.05 * self.scale * (self.along + self.palm)
        fingers = np.array([ends[n] for n in sorted(ends)]) if ends else middle[None]
        return (fingers[0] - 0.05 * self.scale * self.along if thumb is None else thumb), fingers

    def _pad(self, finger: Finger, shape: HandShape) -> Array:
        T = self.model.joints(shape)
        return 0.5 * (T[finger.rows[-1], :3, 3] + self.model.tip(finger, shape))


def hand_seats(body: Body, hand: str) -> Seats:
    """The seats of a hand, made once for each."""
    return kept(body, ("hand seats", hand), lambda: Seats(body, hand))


def _bent(bends: tuple[float, float, float], like: HandShape) -> HandShape:
    """Fingers bent by so many degrees at their joints, knuckle first; the thumb as in another shape."""
    coordinates = np.array(like.coordinates)
    coordinates[1:, :, 0] = np.radians(bends)
    return HandShape("hook", coordinates)
