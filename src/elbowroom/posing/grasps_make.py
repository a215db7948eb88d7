"""Candidate grasps of a form, before collision and reach checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from elbowroom.geometry.rotations import Array, about, normalize, rotate
from elbowroom.posing.grasps_bars import bars, narrow_places
from elbowroom.posing.grasps_form import GraspForm
from elbowroom.posing.grasps_seats import PADS_DEEP, Seat, Seats

# Half the breadth of all fingers, and of two of them, for a hand of `HAND_LENGTH`, metres.
_HALF_HAND, _HALF_PADS = 0.038, 0.016

# Directions around an axis that are tried.
_AROUND, _AROUND_END = 10, 8

# Directions from which the tips come to two opposite sides, and how far beyond their middle they end, metres.
_AROUND_TIPS, _BEYOND_M = 10, (0.012, 0.005)

# Distance of the knuckles from the tips then, and least distance of these from the surface, metres, for a hand of
# `HAND_LENGTH`.
_KNUCKLES_M, _ROOM_M = 0.08, 0.03

# Tilts of a hand about its palm's normal when it wraps something, and about the line from thumb to fingers when it
# pinches something, radians; costs per right angle.
_TILTS = tuple(np.radians([0.0, 25.0, -25.0, 50.0, -50.0]))
_TURNS = tuple(np.radians([0.0, 30.0, -30.0, 60.0, -60.0]))
_SLANTING = 0.1

# Costs by kind of grasp, and of a width as wide as the hand can take.
_STYLE = {"power": 0.0, "pinch": 0.25, "tips": 0.3, "hook": 0.1, "flat": 1.5}
_WIDE = 0.4

# Costs of taking an object 10 cm from its middle, of which the upward part counts by a share, with the thumb down, and
# from below.
_ASIDE, _UPWARDS, _THUMB_DOWN, _BELOW = 0.3, 0.5, 0.4, 0.4

# Cost of closing the fist around next to nothing; thinner objects are better pinched, metres.
_THIN, _THIN_BELOW = 0.6, 0.03

# Smallest depth of objects that fingers are laid along, metres; they would pass smaller ones.
_CLASP_BEYOND = 0.045

# A standing object has its axis within this of vertical, as the cosine.
_STANDING = 0.7

# An edge is grasped beside its farthest point and no deeper than this, metres for hands of `HAND_LENGTH`, from
# directions rotated from that in which it stands out, radians.
_EDGE_ASIDE, _EDGE_DEEP = (0.0, 0.02, -0.02, 0.04, -0.04), 0.06
_EDGE_TURNS = tuple(np.radians([0.0, 25.0, -25.0]))

# A bar is longer than it is thick by this factor.
_BAR = 1.8

# A bar is part of something thicker by this factor; directions from which it is grasped, and its bonus over grasping
# the whole.
_PART, _AROUND_BAR, _HANDLE = 2.0, 12, 0.3


@dataclass(frozen=True, eq=False)
class Candidate:
    """Seat of the hand at `T_form_seat` (4, 4) of a form, and its own cost.

    The hand comes along `approach` (3,) in the form's frame.
    """

    seat: Seat
    T_form_seat: Array
    approach: Array
    cost: float


class GraspMaker:
    """Maker of candidates for one hand and one form; `up` (3,) is the vertical in the form's frame."""

    def __init__(self, seats: Seats, form: GraspForm, up: Array) -> None:
        self.seats, self.form, self.up = seats, form, up
        self.scale = seats.scale
        self._made: dict[tuple[str, float, float, float], list[Seat]] = {}

    def all(self) -> list[Candidate]:
        """Candidates for the kind of form, cheapest first."""
        made = {"ball": self._ball, "round": self._round, "box": self._box, "irregular": self._box}[self.form.kind]()
        found = sorted([*made, *self._handles()], key=lambda c: c.cost)
        return found or sorted([*self._parts(), *self._large()], key=lambda c: c.cost)

    def bar(self, at: Array) -> list[Candidate] | None:
        """Candidates for taking a bar at a point (3,) of the form; None where the form is no bar."""
        size = self.form.size
        long = int(np.argmax(size))
        if size[long] < _BAR * np.sort(size)[1]:
            return None
        axis = np.eye(3)[long]
        middle = axis * np.clip(at[long], -0.5 * size[long], 0.5 * size[long])
        out: list[Candidate] = []
        for x in circle(axis, 12):
            for z in (axis, -axis):
                out += self._wrapped(middle, x, z, half=0.4 * _HALF_HAND, thin=0.0, tilts=(0.0,))
                out += self._hooked(middle, x, z)
        return sorted(out, key=lambda c: c.cost)

    def edge(self, out: Array) -> list[Candidate]:
        """Candidates for grasping what stands out farthest along `out` (3,) between thumb and fingers, cheapest
        first.
        """
        tip = self.form.points[int(np.argmax(self.form.points @ out))]
        side = np.cross(self.up, out)
        found: list[Candidate] = []
        for turn in _EDGE_TURNS:
            x = rotate(about(self.up, turn), -out)
            for aside in _EDGE_ASIDE:
                at = tip + aside * self.scale * side
                for z in (np.cross(self.up, x), np.cross(x, self.up)):
                    found += self._pinched(at, x, z, turns=_TURNS[:3])
        near = [c for c in found if (tip - c.T_form_seat[:3, 3]) @ out < _EDGE_DEEP * self.scale]
        return sorted(near, key=lambda c: c.cost)

    # kinds of forms

    def _ball(self) -> Iterator[Candidate]:
        corners = np.array([[i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)], dtype=float)
        for x in normalize(corners[np.abs(corners).sum(axis=1) % 2 == 1]):
            for z in circle(x, 4):
                yield from self._wrapped(np.zeros(3), x, z, tilts=(0.0,))
                if self.form.size.max() < 0.6 * self.seats.widest_pinch:
                    yield from self._pinched(np.zeros(3), x, z)

    def _round(self) -> Iterator[Candidate]:
        up = np.array([0.0, 0.0, 1.0])
        height = float(self.form.size[2])
        for at, tilts in self._places(up, height):
            for x in circle(up, _AROUND):
                for z in (up, -up):
                    yield from self._wrapped(at, x, z, tilts=tilts)
        for x in (-up, up):
            for z in circle(up, _AROUND_END):
                yield from self._pinched(np.zeros(3), x, z)
        if height <= self.seats.widest_pinch:
            for x in circle(up, _AROUND_END):
                for z in (np.cross(up, x), np.cross(x, up)):
                    yield from self._pinched(np.zeros(3), x, z)

    def _box(self) -> Iterator[Candidate]:
        size, axes = self.form.size, np.eye(3)
        slack = 1.0 if self.form.kind == "box" else 1.4
        for across in range(3):
            if size[across] > slack * self.seats.widest_power:
                continue
            for into in (k for k in range(3) if k != across):
                third = 3 - across - into
                for x in (axes[into], -axes[into]):
                    for z in (axes[third], -axes[third]):
                        for at, tilts in self._places(axes[third], float(size[third])):
                            yield from self._wrapped(at, x, z, tilts=tilts)
                            yield from self._pinched(at, x, z)

    def _handles(self) -> Iterator[Candidate]:
        """The hand around bars that are part of something larger, or these between thumb and fingers."""
        for bar in bars(self.form, self.scale):
            if np.sort(self.form.size)[1] < _PART * bar.thick:
                continue
            seats = [*self._seats("power", bar.thick, bar.thick), self._seats("pinch", bar.thick, 0.0)[0]]
            extra = _HANDLE * (1.0 - 2.0 * bar.free)
            for x in circle(bar.axis, _AROUND_BAR):
                for z in (bar.axis, -bar.axis):
                    for seat in seats:
                        yield self.candidate(seat, frame_of(x, z, bar.middle), bar.thick, extra)

    def _parts(self) -> Iterator[Candidate]:
        """Narrow places of something too wide for a hand, between the tips."""
        tree = scipy.spatial.cKDTree(self.form.points)
        for place in narrow_places(self.form, self.scale, self.seats.widest_tips):
            for found in self.between_tips(place.middle, place.axis, place.thick):
                knuckles = found.T_form_seat[:3, 3] - _KNUCKLES_M * self.scale * found.T_form_seat[:3, 0]
                if tree.query(knuckles)[0] > _ROOM_M * self.scale:
                    yield found

    def between_tips(self, middle: Array, across: Array, width: float) -> Iterator[Candidate]:
        """The tips of thumb and fingers on both sides of a middle (3,), a width apart along `across` (3,)."""
        seat = self._seats("tips", width, 0.0)[0]
        for x in circle(across, _AROUND_TIPS):
            for z in (np.cross(x, across), np.cross(across, x)):
                for beyond in _BEYOND_M:
                    yield self.candidate(seat, frame_of(x, z, middle + beyond * self.scale * x), width)

    def _large(self) -> Iterator[Candidate]:
        """Flat hand at each side, for objects that no hand can span."""
        seat = self.seats.flat()
        for k, x in ((k, s * np.eye(3)[k]) for k in range(3) for s in (-1.0, 1.0)):
            for z in (s * np.eye(3)[j] for j in range(3) if j != k for s in (-1.0, 1.0)):
                yield self.candidate(seat, frame_of(x, z, -0.5 * self.form.size[k] * x), 0.0)

    def _places(self, axis: Array, length: float) -> list[tuple[Array, Sequence[float]]]:
        """Points (3,) along an axis (3,) through the form, and tilts of the hand there, radians.

        A standing object is taken by its upper end with a tilted hand: otherwise wrist or fingers would be below it.
        """
        places = [at * axis for at in _along(length, _HALF_HAND * self.scale)]
        stands = abs(float(axis @ self.up)) > _STANDING
        upper = max(float(at @ self.up) for at in places)
        return [(at, _TILTS if not stands or at @ self.up > upper - 1e-6 else (0.0,)) for at in places]

    # ways to take something at a place

    def _wrapped(
        self,
        at: Array,
        x: Array,
        z: Array,
        half: float = _HALF_HAND,
        thin: float = _THIN,
        tilts: Sequence[float] = _TILTS,
    ) -> Iterator[Candidate]:
        """The hand around what is at a point (3,): palm towards x, thumb towards z except for `tilts`, radians.

        Thin objects cost up to `thin`.
        """
        axes = axes_of(x, z)
        near = self.form.around(at, axes, np.array([np.inf, np.inf, half * self.scale]))
        if not len(near):
            return
        low, high = near.min(axis=0), near.max(axis=0)
        depth, width = float(high[0] - low[0]), float(high[1] - low[1])
        if width > self.seats.widest_power:
            return
        if depth > 1.1 * self.seats.widest_power or high[2] - low[2] < 1.2 * half * self.scale:
            return
        middle = at + axes[:, :2] @ (0.5 * (low + high)[:2])
        extra = thin * max(0.0, 1.0 - max(width, depth) / (_THIN_BELOW * self.scale))
        for tilt in tilts:
            seat = self._seats("power", width, depth, tilt)[0]
            yield self.candidate(seat, frame_of(x, z, middle), width, extra + _slanting(tilt))

    def _hooked(self, at: Array, x: Array, z: Array) -> Iterator[Candidate]:
        """Fingers hooked behind a bar at a point (3,) on its axis: palm towards x, thumb towards z."""
        near = self.form.around(at, axes_of(x, z), np.array([np.inf, np.inf, 0.4 * _HALF_HAND * self.scale]))
        if not len(near):
            return
        low, high = near.min(axis=0), near.max(axis=0)
        for seat in self._seats("hook", 0.0, float(np.max(high - low, initial=0.0, where=[True, True, False]))):
            yield self.candidate(seat, frame_of(x, z, at + axes_of(x, z)[:, :2] @ (0.5 * (low + high)[:2])), 0.0)

    def _pinched(self, at: Array, x: Array, z: Array, turns: Sequence[float] = _TURNS) -> Iterator[Candidate]:
        """Region at a point (3,) between finger pads and thumb, which come along x, the thumb's side towards z."""
        axes = axes_of(x, z)
        wide = self.form.around(at, axes, np.array([np.inf, np.inf, _HALF_HAND * self.scale]))[:, 2]
        near = self.form.around(at, axes, np.array([np.inf, np.inf, _HALF_PADS * self.scale]))
        if not len(near):
            return
        entry, end = float(near[:, 0].min()), float(near[:, 0].max())
        deep = min(PADS_DEEP * self.scale, 0.5 * (end - entry))
        pads = near[near[:, 0] <= entry + deep + 0.01 * self.scale]
        low, high = pads[:, 1].min(), pads[:, 1].max()
        if high - low > self.seats.widest_pinch:
            return
        middle = at + axes @ np.array([entry + deep, 0.5 * (low + high), 0.0])
        seats = self._seats("pinch", float(high - low), float(np.ptp(wide)))
        if end - entry < _CLASP_BEYOND * self.scale:
            seats = seats[:1]
        for seat, turn in ((seat, turn) for turn in turns for seat in seats):
            way, side = rotate(about(axes[:, 1], turn), np.stack([x, z]))
            T = frame_of(way, side, middle)
            yield self.candidate(seat, T, float(high - low), _slanting(turn), approach=x)

    def _seats(self, style: str, width: float, depth: float, tilt: float = 0.0) -> list[Seat]:
        """Seats of the hand for a width and depth (for a pinch: length), to the nearest half millimetre."""
        key = (style, round(2000.0 * width) / 2000.0, round(2000.0 * depth) / 2000.0, tilt)
        if key not in self._made:
            if style == "pinch":
                wide = depth > 1.7 * _HALF_HAND * self.scale
                self._made[key] = [self.seats.pinch(key[1], wide), *self.seats.clasps(key[1])]
            elif style == "tips":
                self._made[key] = [self.seats.tips(key[1])]
            else:
                self._made[key] = [self.seats.power(*key[1:])] if style == "power" else self.seats.hooks(key[2])
        return self._made[key]

    def candidate(
        self, seat: Seat, T: Array, width: float, extra: float = 0.0, approach: Array | None = None
    ) -> Candidate:
        """Candidate of a seat at T (4, 4) of the form; the hand approaches along the seat's direction, or another
        (3,).
        """
        cost = extra + _STYLE[seat.style] + _WIDE * (width / self.seats.widest_power) ** 2
        raised = max(float(T[:3, 3] @ self.up), 0.0) * self.up
        cost += _ASIDE * float(np.linalg.norm(T[:3, 3] - (1.0 - _UPWARDS) * raised)) / 0.1
        cost += _THUMB_DOWN * max(0.0, -float(T[:3, 2] @ self.up)) + _BELOW * max(0.0, float(T[:3, 0] @ self.up))
        own = T[:3, :3] @ seat.T_hand_seat[:3, :3].T @ seat.approach
        return Candidate(seat, T, own if approach is None else approach, cost)


def _slanting(angle: float) -> float:
    return _SLANTING * abs(angle) / (0.5 * np.pi)


def axes_of(x: Array, z: Array) -> Array:
    """Axes (3, 3) as columns."""
    return np.stack([x, np.cross(z, x), z], axis=1)


def frame_of(x: Array, z: Array, at: Array) -> Array:
    """Frame (4, 4) at a point (3,) with two of its axes (3,)."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = axes_of(x, z), at
    return T


def circle(axis: Array, count: int) -> Array:
    """Unit vectors (count, 3) around an axis (3,)."""
    start = normalize(np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))]))
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.cos(angles)[:, None] * start + np.sin(angles)[:, None] * np.cross(axis, start)


def _along(length: float, half: float) -> Iterable[float]:
    """Positions along a length for a hand that takes up `half` to each side, the middle first."""
    room = 0.5 * length - half
    if room < 0.4 * half:
        return (0.0,)
    return (0.0, -room, room) if room < 4.0 * half else (0.0, -room, room, -0.5 * room, 0.5 * room)
