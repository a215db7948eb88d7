"""Where things lie in a hand, by how they are taken: in the fist, between finger pads and thumb, in bent fingers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.character.body import Body
from elbowroom.character.grip import grip_frame
from elbowroom.character.hand_shapes import (
    FLAT,
    OPEN,
    PINCH,
    WIDEST_PINCH,
    WIDEST_POWER,
    HandShape,
    hand_size,
    mixed,
    pinch,
    power,
)
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.transforms import apply
from elbowroom.posing.fingers_model import Finger, HandModel, hand_model, outline

# A rod in the fist, for a hand of `HAND_LENGTH`, metres, found by bringing an open hand to rods until it touches: its
# width, how far its middle is from that of the grip across the way in, and how far short of it along the way.
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

# The middle of the grip: along the hand from the wrist and out of the palm, metres, for such a hand.
_MIDDLE = (0.0765, 0.0306)

# The hand comes to a rod with the palm first and, by this angle, the fingers' side; radians.
_TILT = np.radians(15.0)

# What fingers may close to beyond the width that is taken, metres.
_TIGHTER_POWER, _TIGHTER_PINCH = 0.035, 0.04

# How much wider than the thing finger pads and thumb are opened, at least and more where that leaves no room, metres;
# what must be left free to each side; how deep pads go in, metres, for a hand of `HAND_LENGTH`.
_WIDER_PINCH = (0.02, 0.03, 0.04, 0.05)
_CLEAR = 0.002
PADS_DEEP = 0.03

# A bar in the crook of the fingers: bends of their joints on the way, degrees, with a thumb as in another shape; bends
# at most; and what is left free beside the bar on the way, metres.
_HOOKS = (((6.0, 72.0, 18.0), OPEN), ((6.0, 72.0, 18.0), FLAT), ((24.0, 72.0, 40.0), FLAT), ((50.0, 40.0, 20.0), OPEN))
_HOOK_SHUT = (60.0, 102.0, 66.0)
_HOOK_CLEAR = 0.003


@dataclass(frozen=True, eq=False)
class Seat:
    """How a hand takes something: `T_hand_seat` (4, 4) is where it comes to be, x into it, z to the thumb's side.

    `approach` (3,) in the hand's frame is the way there. `open` and `shape` are the hand's shapes. From where it should
    be it may be `short` or go `ahead`, metres.
    """

    style: str
    T_hand_seat: Array
    approach: Array
    open: HandShape
    shape: HandShape
    short: float
    ahead: float

    def __post_init__(self) -> None:
        for name in ("T_hand_seat", "approach"):
            object.__setattr__(self, name, frozen(getattr(self, name)))


class Seats:
    """The seats of one hand."""

    def __init__(self, body: Body, hand: str) -> None:
        self.model: HandModel = hand_model(body, hand)
        self.scale = hand_size(body, hand)
        self.grip = grip_frame(body, hand)
        self.palm, side, self.thumb = self.grip[:3, :3].T
        self.mirrored = hand == "right"
        self.along = -side if self.mirrored else side
        self._middle = self.scale * (_MIDDLE[0] * self.along + _MIDDLE[1] * self.palm)

    @property
    def widest_power(self) -> float:
        """Metres that the hand closes round."""
        return WIDEST_POWER * self.scale

    @property
    def widest_pinch(self) -> float:
        """Metres that fit between fingers and thumb."""
        return WIDEST_PINCH * self.scale

    def power(self, width: float, depth: float | None = None) -> Seat:
        """A rod of that width, and of another depth away from the palm; its middle is the seat's."""
        w = width / self.scale
        across, short = (float(np.interp(w, _RODS[:, 0], column)) for column in _RODS[:, 1:].T)
        if depth is not None:
            short += 0.5 * (depth - width) / self.scale
        approach = np.cos(_TILT) * self.palm + np.sin(_TILT) * self.along
        aside = np.cos(_TILT) * self.along - np.sin(_TILT) * self.palm
        # no nearer to the wrist than the thumb lets it pass
        passing = self._edge(OPEN, aside, 1.0, thumb=True) - float(self._middle @ aside) + 0.5 * width
        T = self.grip.copy()
        T[:3, 3] = self._middle + max(self.scale * across, passing + _CLEAR) * aside + self.scale * short * approach
        closed = power(max(w - _TIGHTER_POWER, 0.015))
        return Seat("power", T, approach, OPEN, closed, short=0.025 * self.scale, ahead=0.02 * self.scale)

    def pinch(self, width: float, wide: bool) -> Seat:
        """Something of that width between the pads of thumb and fingers; the seat is half way between the open ones.

        It is amid all fingers if the thing is `wide` enough for them, else amid the two next to the thumb.
        """
        w = width / self.scale
        for wider in _WIDER_PINCH:
            opened = pinch(min(w + wider, 1.2 * WIDEST_PINCH))
            T, room = self._jaws(opened, wide)
            if room >= width + 2.0 * _CLEAR:
                break
        closed = pinch(max(w - _TIGHTER_PINCH, 0.0)) if w > _TIGHTER_PINCH else PINCH
        return Seat("pinch", T, T[:3, 0], opened, closed, short=0.016 * self.scale, ahead=0.0)

    def _jaws(self, shape: HandShape, wide: bool) -> tuple[Array, float]:
        """The seat (4, 4) between thumb and fingers in a shape, and the room between them there, metres."""
        thumb, fingers = self._pads(shape)
        # the line of the finger pads lies flat on what is taken; the thumb is across from it
        z = self.thumb if len(fingers) < 2 else normalize(fingers[0] - fingers[-1])
        away = fingers.mean(axis=0) - thumb
        across = normalize(away - (away @ z) * z)
        y = -across if self.mirrored else across
        T = np.eye(4)
        T[:3, :3] = np.stack([np.cross(y, z), y, z], axis=1)
        near = fingers[: None if wide else 2].mean(axis=0)
        at = 0.5 * (near + thumb) @ T[:3, :3]
        inner = (T[:3, 0], float(at[0]) - PADS_DEEP * self.scale)
        low = self._edge(shape, across, 1.0, thumb=True, beyond=inner)
        high = self._edge(shape, across, -1.0, thumb=False, beyond=inner)
        at[1], at[2] = 0.5 * (low + high) * (-1.0 if self.mirrored else 1.0), float(near @ z)
        T[:3, 3] = T[:3, :3] @ at
        return T, high - low

    def _edge(
        self, shape: HandShape, way: Array, sign: float, thumb: bool, beyond: tuple[Array, float] | None = None
    ) -> float:
        """How far the thumb, or the other fingers, reach along `way` (3,): at most (sign 1) or at least (-1), metres.

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
        """A bar of that width in the crook of the fingers, which come to it bent and need little room behind it."""
        return [self._hook(width, _bent(*way), _bent(_HOOK_SHUT, power(0.025))) for way in _HOOKS]

    def _hook(self, width: float, opened: HandShape, closed: HandShape) -> Seat:
        places = self.model.joints_at(opened.terms[None])[0]
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
        """A surface before the flat hand; the seat is at the middle of the palm."""
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
        T = self.model.joints_at(shape.terms[None])[0]
        return 0.5 * (T[finger.rows[-1], :3, 3] + self.model.tip(finger, shape))


def _bent(bends: tuple[float, float, float], like: HandShape) -> HandShape:
    """Fingers bent by so many degrees at their joints, knuckle first; the thumb as in another shape."""
    terms = np.array(like.terms)
    terms[1:, :, 0] = np.radians(bends)
    return HandShape("hook", terms)
