"""Camera of every browser: it frames the action, and follows a character on request.

Walls in front of the action are cut open, as in pictures, so that characters inside a house are visible from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import viser
from numpy.typing import ArrayLike

from elbowroom.geometry.rotations import Array
from elbowroom.studio.studio import Studio
from elbowroom.world.extent import FURNITURE, action, facing, stage
from elbowroom.world.viewpoint import axes_towards, best_azimuth, nearest_eye
from elbowroom.world.world import World

FIELD_OF_VIEW = float(np.radians(35.0))
# Share of the window's height that the timeline covers: the action is framed above it.
_COVERED = 0.26
# Elevations to look from, radians: usually, and among walls, where things stand before each other.
_RISE, _RISE_INSIDE = float(np.radians(16.0)), float(np.radians(28.0))
# Metres between the action and the cut through walls.
_CURTAIN = 0.35


@dataclass(frozen=True, eq=False)
class View:
    """Eye, target and direction to the right, (3,) each; walls are cut open in front of normal (3,) · p = limit."""

    eye: Array
    at: Array
    right: Array
    normal: Array
    limit: float


class Camera:
    """Control of the cameras of all browsers."""

    def __init__(
        self,
        server: viser.ViserServer,
        studio: Studio,
        cut: Callable[[Array, float], None] = lambda normal, limit: None,
    ) -> None:
        self._server, self._studio, self._cut = server, studio, cut
        self._whom: str | None = None
        self._before: Array | None = None
        self._beside = np.zeros(3)

    def frame(self, beside: Array | None = None) -> None:
        """Frame the whole action, in current and future browsers; another one at the distance `beside` (3,) as well."""
        self._beside = self._beside if beside is None else beside
        view = view_of(self._studio.world, self._beside)
        eye, at = view.eye, view.at
        self._cut(view.normal, view.limit)
        first = self._server.initial_camera
        first.position, first.look_at, first.fov, first.near = eye, at, FIELD_OF_VIEW, 0.02
        for client in self._server.get_clients().values():
            client.camera.position, client.camera.look_at = eye, at
        self._before = None

    def follow(self, whom: str | None) -> None:
        """Follow a character; None stops following."""
        self._whom, self._before = whom, None

    def show_time(self) -> None:
        """Update to the time shown."""
        world = self._studio.world
        if self._whom is None or self._whom not in world.characters:
            return
        root, _ = world.characters[self._whom].sample([self._studio.player.time])
        now = np.array([*np.asarray(root)[0, :2], 0.0])
        if self._before is not None:
            by = now - self._before
            if float(np.linalg.norm(by)) > 1e-4:
                for client in self._server.get_clients().values():
                    at = client.camera.look_at + by
                    client.camera.position = client.camera.position + by
                    client.camera.look_at = at
        self._before = now


def view_of(world: World, beside: ArrayLike = (0.0, 0.0, 0.0)) -> View:
    """View that shows the whole action above the timeline, and another like it at a distance `beside` (3,)."""
    begin, end = world.span
    some = np.linspace(begin, end, 24)
    moving = action(world, some)
    inside = any(np.linalg.norm(np.ptp(mesh.bounds, axis=0)) >= FURNITURE for mesh in world.static.values())
    points = moving if inside and world.characters else stage(world, moving)
    first = next(iter(world.characters.values()), None)
    points = np.concatenate([points, points + np.asarray(beside)])
    front = np.array([0.0, -1.0, 0.0]) if first is None else facing(first, some)
    rise = _RISE_INSIDE if inside else _RISE
    slope = float(np.tan(0.5 * FIELD_OF_VIEW))
    axes = axes_towards(front, best_azimuth(world, front, rise, some), rise)
    eye = nearest_eye(points, axes, np.array([1.1 * slope, 0.92 * (1.0 - _COVERED) * slope]))
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    far = float((eye - middle) @ axes[2])
    eye = eye - axes[1] * far * slope * _COVERED
    normal = axes[2] * [1.0, 1.0, 0.0]
    return View(eye, eye - axes[2] * far, axes[0], normal, float((moving @ normal).max()) + _CURTAIN)
