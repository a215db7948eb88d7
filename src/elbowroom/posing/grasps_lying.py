"""Candidate grasps of an object that lies on something: by the tips of thumb and fingers, with the hand above the
support.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elbowroom.geometry.rotations import Array, about, rotate
from elbowroom.posing.grasps_bars import thickness
from elbowroom.posing.grasps_make import Candidate, GraspMaker, axes_of, circle, frame_of
from elbowroom.posing.grasps_seats import Seat

# Height of hands above the support, metres, but no more than a share of the object's own height.
_CLEAR_M, _CLEAR_SHARE = 0.002, 0.4

# Directions across an object that are tried from above, and positions along it, as shares of half its length.
_ACROSS = 8
_ALONG = (0.0, -0.45, 0.45, -0.8, 0.8)

# Depth of the tips beside an object, as a share of its height, and its bounds, metres, for a hand of `HAND_LENGTH`.
_DEEP, _LEAST_DEEP_M, _MOST_DEEP_M = 0.65, 0.013, 0.034

# Half-width around the line between thumb and fingers that must fit between them, metres.
_HALF_TIPS_M = 0.016

# Tilts of a hand from above, about the line from thumb to fingers and about the one across it, radians.
_LEANS = tuple(np.radians([0.0, 25.0, -25.0, 50.0, -50.0]))

# Points of the surface at which a wall, a rim or a handle is looked for, directions from which it is taken, how far it
# may be off the line through it, how well both sides have to face away from each other, as the cosine, and how far
# beyond it the tips end.
_SPOTS, _AROUND = 160, 10
_OFF_M, _FACING, _BEYOND_M = 0.004, 0.85, 0.012

# Cost of a hand that does not come from above.
_NOT_ABOVE = 0.25


class Lying:
    """Maker of candidates for an object that lies on a horizontal plane."""

    def __init__(self, maker: GraspMaker) -> None:
        self.form, self.seats, self.up, self.scale = maker.form, maker.seats, maker.up, maker.scale
        self._maker = maker
        heights = self.form.points @ self.up
        # the plane that hands stay above, metres along the vertical in the form's frame
        self.ground = float(heights.min()) + min(_CLEAR_M, _CLEAR_SHARE * float(np.ptp(heights)))
        self._made: dict[float, Seat] = {}

    def from_above(self) -> Iterator[Candidate]:
        """The object between the tips, the hand above it."""
        x = -self.up
        for z in circle(self.up, _ACROSS):
            axes = axes_of(x, z)
            reach = 0.5 * float(np.ptp(self.form.points @ z))
            middle = 0.5 * float((self.form.points @ z).min() + (self.form.points @ z).max())
            for share in _ALONG if reach > 2.0 * _HALF_TIPS_M * self.scale else _ALONG[:1]:
                yield from self._over((middle + share * reach) * z, axes)

    def _over(self, at: Array, axes: Array) -> Iterator[Candidate]:
        """Tips on both sides of what is around a point (3,), down along the first of the axes (3, 3)."""
        near = self.form.around(at, axes, np.array([np.inf, np.inf, _HALF_TIPS_M * self.scale]))
        if not len(near):
            return
        top, bottom = float(near[:, 0].min()), float(near[:, 0].max())
        least, most = _LEAST_DEEP_M * self.scale, _MOST_DEEP_M * self.scale
        deep = min(float(np.clip(_DEEP * (bottom - top), least, most)), -self.ground - top)
        beside = near[near[:, 0] <= top + deep, 1]
        width = float(np.ptp(beside)) if len(beside) else 0.0
        if deep <= 0.0 or width > self.seats.widest_tips:
            return
        spot = axes @ np.array([top + deep, 0.5 * float(beside.min() + beside.max()), 0.0]) + at
        for lean in _LEANS:
            for about_axis in (axes[:, 1], axes[:, 2])[: 1 if lean == 0.0 else 2]:
                x, z = rotate(about(about_axis, lean), np.stack([axes[:, 0], axes[:, 2]]))
                yield self._candidate(width, frame_of(x, z, spot), abs(lean))

    def walls(self) -> Iterator[Candidate]:
        """Walls, rims and bars between the tips, from all sides, wherever two sides face away from each other."""
        for p, n in zip(self.form.points[:_SPOTS], self.form.normals[:_SPOTS], strict=True):
            width = thickness(self.form, p, n, self.seats.widest_tips, _OFF_M, _FACING)
            if width is None:
                continue
            middle = p - 0.5 * width * n
            for x in circle(n, _AROUND):
                for side in (np.cross(x, n), np.cross(n, x)):
                    yield self._candidate(width, frame_of(x, side, middle + _BEYOND_M * self.scale * x), 0.0)

    def _candidate(self, width: float, T: Array, lean: float) -> Candidate:
        """The tips at T (4, 4) of the form, tilted by some radians."""
        key = round(500.0 * width) / 500.0
        if key not in self._made:
            self._made[key] = self.seats.tips(key)
        extra = _NOT_ABOVE * (1.0 + float(T[:3, 0] @ self.up)) + 0.1 * lean
        return self._maker.candidate(self._made[key], T, width, extra)
