"""Handle in the scene that moves and rotates the selected object, and marks around what is selected."""

from __future__ import annotations

import queue
import threading
from typing import Any

import numpy as np
import viser

from elbowroom.geometry.rotations import Array, from_matrix
from elbowroom.geometry.transforms import transform
from elbowroom.studio.places import ScenePlace
from elbowroom.studio.studio import Studio
from elbowroom.world.extent import box_corners

_NODE = "/handle"


class Gizmo:
    """At most one handle, at the selected object."""

    def __init__(self, server: viser.ViserServer, studio: Studio) -> None:
        self._server, self._studio = server, studio
        self._handle: viser.TransformControlsHandle | None = None
        self._name: str | None = None
        self._place: ScenePlace | None = None
        self._events: queue.SimpleQueue[tuple[str, Array | None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="studio-handle", daemon=True)
        self._thread.start()
        self._by: int | None = None  # browser that drags
        server.on_client_disconnect(self._gone)

    @property
    def handle(self) -> viser.TransformControlsHandle | None:
        """Handle shown."""
        return self._handle

    def show(self) -> None:
        """Put the handle at the selection."""
        name = self._studio.selected
        place = None if name is None else self._studio.places.get(name)
        if name != self._name or place is None:
            self._remove()
        if name is None or place is None:
            return
        if self._handle is None:
            self._add(place)
            self._name, self._place = name, place
        elif self._studio.drags.current is None:
            self._handle.position, self._handle.wxyz = place.handle[:3, 3], _turn(place.T)
            self._place = place

    def _add(self, place: ScenePlace) -> None:
        turns = any(place.axes)
        handle = self._server.scene.add_transform_controls(
            _NODE,
            scale=0.5,
            line_width=3.0,
            active_axes=(True, True, not place.flat),
            disable_rotations=not turns,
            depth_test=False,
            opacity=0.85,
            position=place.handle[:3, 3],
            wxyz=_turn(place.T),
        )
        handle.on_update(self._moved)
        self._handle = handle

    async def _moved(self, event: viser.TransformControlsEvent) -> None:
        # runs in the server's own thread, which keeps the order of events: only store them here
        if self._name is not None and self._place is not None:
            ended = event.phase == "end"
            self._by = None if ended else event.client_id
            T = self._place.held_at(transform(event.target.position, event.target.wxyz))
            self._events.put((self._name, None if ended else T))

    async def _gone(self, client: viser.ClientHandle) -> None:
        """End the drag of a browser that disconnects."""
        if client.client_id == self._by:
            self._by = None
            self._events.put(("", None))

    def _run(self) -> None:
        """Pass events on; of several waiting events for the same object only the latest counts."""
        event = self._events.get()
        while event is not None:
            name, T = event
            waiting = not self._events.empty()
            later = self._events.get() if waiting else None
            overtaken = T is not None and later is not None and later[1] is not None and later[0] == name
            if not overtaken:
                self._hand_on(name, T)
            event = later if waiting else self._events.get()

    def _hand_on(self, name: str, T: Array | None) -> None:
        studio = self._studio
        try:
            studio.trying(studio.drags.let_go if T is None else lambda: studio.drags.move(name, T))
        except Exception as error:  # the thread survives for the next drag
            studio.failed(error)

    def stop(self) -> None:
        """End the thread."""
        self._events.put(None)
        self._thread.join(2.0)

    def _remove(self) -> None:
        if self._handle is not None:
            self._handle.remove()
        self._handle = self._name = self._place = None


def _turn(T: Array) -> Array:
    return np.asarray(from_matrix(T[:3, :3]))


_COLOR = (74, 143, 181)
_LOOK: dict[str, Any] = {"thickness": 2.5, "thickness_units": "screen"}
_SHARE, _LONGEST = 0.25, 0.12  # share of an edge that is drawn at each of its corners, and its largest length, metres
_ROOM = 0.015  # metres between an object and its box
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
