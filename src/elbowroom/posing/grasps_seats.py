"""Where things lie in a hand, by how they are taken: in the fist, between finger pads and thumb, in bent fingers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elbowroom.character.body import Body
from elbowroom.character.grip import grip_frame
from elbowroom.character.hand_shapes import (
    FLAT,
    HOOK,
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
from elbowroom.posing.fingers_model import Finger, HandModel, hand_model

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

# The hand comes to a rod with the palm first and, by this angle, the fingers' side; radians.
_TILT = np.radians(15.0)

# What fingers may close to beyond the width that is taken, metres.
_TIGHTER_POWER, _TIGHTER_PINCH, _WIDER_PINCH = 0.035, 0.04, 0.028

# A bar hangs in bent fingers behind their first bone's middle, this share of the bone; and is passed at this distance.
_HOOK_AT, _HOOK_CLEAR = 0.8, 0.004


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
        T = self.grip.copy()
        T[:3, 3] += self.scale * (across * aside + short * approach)
        closed = power(max(w - _TIGHTER_POWER, 0.015))
        return Seat("power", T, approach, OPEN, closed, short=0.02 * self.scale, ahead=0.02 * self.scale)

    def pinch(self, width: float) -> Seat:
        """Something of that width between the pads of thumb and fingers; the seat is half way between them."""
        w = width / self.scale
        thumb, fingers = self._pads(pinch(w))
        across = normalize(fingers - thumb) * (-1.0 if self.mirrored else 1.0)
        middle = 0.5 * (thumb + fingers)
        x = middle - self._fork()
        x = normalize(x - (x @ across) * across)
        T = np.eye(4)
        T[:3, :3] = np.stack([x, across, np.cross(x, across)], axis=1)
        T[:3, 3] = middle
        opened = pinch(min(w + _WIDER_PINCH, WIDEST_PINCH + 0.5 * _WIDER_PINCH))
        closed = pinch(max(w - _TIGHTER_PINCH, 0.0)) if w > _TIGHTER_PINCH else PINCH
        return Seat("pinch", T, x, opened, closed, short=0.016 * self.scale, ahead=0.0)

    def hook(self, width: float) -> Seat:
        """A bar of that width before the fingers' first bones, which go past it and bend behind it."""
        places = self.model.joints_at(FLAT.terms[None])[0]
        longs = self._longs()
        first = np.mean([places[f.rows[0], :3, 3] for f in longs], axis=0)
        second = np.mean([places[f.rows[min(1, len(f.rows) - 1)], :3, 3] for f in longs], axis=0)
        thick = max((float(self.model.shapes[n].size[0]) for f in longs for n in f.shapes[0]), default=0.01)
        T = self.grip.copy()
        T[:3, 3] = first + _HOOK_AT * (second - first)
        T[:3, 3] += (thick + 0.5 * width + _HOOK_CLEAR * self.scale) * self.palm
        closed = mixed(HOOK, power(max(width / self.scale, 0.0)), 0.35)
        open_ = replace(mixed(FLAT, HOOK, 0.12), name="hook")
        return Seat("hook", T, self.along, open_, replace(closed, name="hook"), short=0.04 * self.scale, ahead=0.0)

    def flat(self) -> Seat:
        """A surface before the flat hand; the seat is at the middle of the palm."""
        reach = 0.03 * self.scale
        return Seat("flat", self.grip, self.palm, FLAT, mixed(FLAT, PINCH, 0.25), short=reach, ahead=reach)

    def _longs(self) -> list[Finger]:
        """The fingers that are no thumb; all there are where there is none."""
        return [f for f in self.model.fingers if f.number] or list(self.model.fingers)

    def _pads(self, shape: HandShape) -> tuple[Array, Array]:
        """The middles (3,) of the thumb's last bone, and of those of the two fingers next to it."""
        ends = {f.number: self._pad(f, shape) for f in self.model.fingers}
        thumb = ends.pop(0, None)
        near = [ends[n] for n in sorted(ends)[:2]]
        fingers = np.mean(near, axis=0) if near else self.grip[:3, 3] + 0.05 * self.scale * (self.along + self.palm)
        return (fingers - 0.05 * self.scale * self.along if thumb is None else thumb), fingers

    def _pad(self, finger: Finger, shape: HandShape) -> Array:
        T = self.model.joints_at(shape.terms[None])[0]
        return 0.5 * (T[finger.rows[-1], :3, 3] + self.model.tip(finger, shape))

    def _fork(self) -> Array:
        """Half way between the first joints of thumb and index finger, (3,)."""
        places = self.model.joints_at(PINCH.terms[None])[0]
        firsts = [places[f.rows[0], :3, 3] for f in self.model.fingers[:2]]
        return np.mean(firsts, axis=0) if firsts else np.zeros(3)
