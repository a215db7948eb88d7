"""Selection marks in the scene: box corners around an object, a ring around a character's feet."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser

from elbowroom.geometry.rotations import Array
from elbowroom.world.extent import box_corners

_COLOR = (74, 143, 181)
_LOOK: dict[str, Any] = {"thickness": 2.5, "thickness_units": "screen"}
_SHARE, _LONGEST = 0.25, 0.12  # of an edge that is drawn at each of its corners, and metres of it at most
_ROOM = 0.015  # metres between a thing and its box
_RING = 0.42  # metres: radius


class Mark:
    """At most one mark."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._scene = server.scene
        self._node: viser.LineSegmentsHandle | None = None

    def about(self, node: str, bounds: Array) -> None:
        """Mark an object by its node and its box (2, 3) in the node's frame; the mark moves with it."""
        self.remove()
        if np.all(np.isfinite(bounds)):
            self._node = self._scene.add_line_segments(f"{node}/mark", corner_lines(bounds), _COLOR, **_LOOK)

    def at_feet(self, place: Array) -> None:
        """Mark a character at `place` (3,)."""
        if self._node is None:
            turn = np.linspace(0.0, 2.0 * np.pi, 49)
            circle = _RING * np.stack([np.cos(turn), np.sin(turn), np.zeros(49)], axis=1)
            lines = np.stack([circle[:-1], circle[1:]], axis=1)
            self._node = self._scene.add_line_segments("/mark", lines, _COLOR, **_LOOK)
        self._node.position = place

    def remove(self) -> None:
        """Remove the mark."""
        if self._node is not None:
            self._node.remove()
        self._node = None


def corner_lines(bounds: Array) -> Array:
    """Lines (24, 2, 3) along the edges of a box (2, 3) at its corners."""
    low, high = bounds[0] - _ROOM, bounds[1] + _ROOM
    corners = box_corners(np.stack([low, high]))
    inwards = np.where(corners == low, 1.0, -1.0) * np.minimum(_SHARE * (high - low), _LONGEST)
    return np.stack([np.stack([c, c + d * axis]) for c, d in zip(corners, inwards, strict=True) for axis in np.eye(3)])
