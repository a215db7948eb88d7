"""Camera of every browser, which frames the action and follows a character on request; and lights of the scene.

Walls in front of the action are cut open, as in pictures, so that characters inside a house are visible from outside.
Lights are soft ones from all around, and a lamp above the action whose shadows show where things touch: viser's own
cast shadows only within 20 m of the camera, and houses and two motions side by side are seen from farther away.
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
# Share of the window's height that the timeline usually covers, and at most: the action is framed above it.
_COVERED, _MOST_COVERED = 0.26, 0.7
# Share of the rest that the action fills, and the usual shape of a window: its width over its height.
_FILLED, _USUAL_SHAPE = 0.92, 1.2
_NO_SIZE = (0, 0)
# Elevations to look from, radians: usually, and among walls, where things stand before each other.
_RISE, _RISE_INSIDE = float(np.radians(16.0)), float(np.radians(28.0))
# Metres between the action and the cut through walls.
_CURTAIN = 0.35


@dataclass(frozen=True, eq=False)
class BrowserView:
    """Eye, target and direction to the right, (3,) each; walls are cut open in front of normal (3,) · p = limit.

    What is seen lies around `middle` (3,) within `radius`.
    """

    eye: Array
    at: Array
    right: Array
    normal: Array
    limit: float
    middle: Array
    radius: float


class PageCamera:
    """Control of the cameras of all browsers."""

    def __init__(
        self,
        server: viser.ViserServer,
        studio: Studio,
        framed: Callable[[BrowserView], None] = lambda view: None,
    ) -> None:
        self._server, self._studio, self._framed = server, studio, framed
        self._whom: str | None = None
        self._before: Array | None = None
        self._beside = np.zeros(3)
        self._action: Action | None = None
        self._eyes: dict[int, tuple[tuple[int, int], Array]] = {}  # of browsers: size of the window, place of the eye
        self.covered = 0  # pixels of all windows that the timeline covers

    def frame(self, beside: Array | None = None) -> None:
        """Frame the whole action, in current and future browsers; another one at the distance `beside` (3,) as well."""
        self._beside = self._beside if beside is None else beside
        self._action = seen(self._studio.world, self._beside)
        view = self._action.view()
        self._framed(view)
        first = self._server.initial_camera
        first.position, first.look_at, first.fov, first.near = view.eye, view.at, FIELD_OF_VIEW, 0.02
        self._eyes = {}
        for client in self._server.get_clients().values():
            self._turn(client.client_id, client.camera)
        self._before = None

    def fit(self, client_id: int, camera: viser.CameraHandle) -> None:
        """Frame the action for a window of another size, unless the user has moved the camera."""
        first = self._server.initial_camera.position
        size, eye = self._eyes.get(client_id, (_NO_SIZE, np.zeros(3) if first is None else np.asarray(first)))
        if _size(camera) != size and np.allclose(camera.position, eye, atol=1e-3):
            self._turn(client_id, camera)

    def _turn(self, client_id: int, camera: viser.CameraHandle) -> None:
        if self._action is not None:
            width, height = _size(camera)
            view = self._action.view(width / height, min(self.covered / height, _MOST_COVERED))
            self._eyes[client_id] = (width, height), view.eye
            camera.position, camera.look_at = view.eye, view.at

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


def _size(camera: viser.CameraHandle) -> tuple[int, int]:
    """Width and height of a window, pixels."""
    return max(camera.image_width, 1), max(camera.image_height, 1)


@dataclass(frozen=True, eq=False)
class Action:
    """Points (N, 3) to be seen, those that move (M, 3), and axes (3, 3) of the camera: right, up, backwards."""

    points: Array
    moving: Array
    axes: Array

    def view(self, shape: float = _USUAL_SHAPE, covered: float = _COVERED) -> BrowserView:
        """View that shows all of it in a window of a shape, its width over its height, of whose height the timeline
        covers a share."""
        points, axes, slope = self.points, self.axes, float(np.tan(0.5 * FIELD_OF_VIEW))
        eye = nearest_eye(points, axes, _FILLED * slope * np.array([shape, 1.0 - covered]))
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        far = float((eye - middle) @ axes[2])
        eye = eye - axes[1] * far * slope * covered
        normal = axes[2] * [1.0, 1.0, 0.0]
        curtain = float((self.moving @ normal).max()) + _CURTAIN
        radius = float(np.linalg.norm(points - middle, axis=1).max())
        return BrowserView(eye, eye - axes[2] * far, axes[0], normal, curtain, middle, radius)


def seen(world: World, beside: ArrayLike = (0.0, 0.0, 0.0)) -> Action:
    """The whole action of a world, and another like it at a distance `beside` (3,), from where it is seen best."""
    begin, end = world.span
    some = np.linspace(begin, end, 24)
    moving = action(world, some)
    inside = any(np.linalg.norm(np.ptp(mesh.bounds, axis=0)) >= FURNITURE for mesh in world.static.values())
    points = moving if inside and world.characters else stage(world, moving)
    first = next(iter(world.characters.values()), None)
    points = np.concatenate([points, points + np.asarray(beside)])
    front = np.array([0.0, -1.0, 0.0]) if first is None else facing(first, some)
    rise = _RISE_INSIDE if inside else _RISE
    axes = axes_towards(front, best_azimuth(world, front, rise, some), rise)
    return Action(points, moving, axes)


_DARK_BACKGROUND = (78, 81, 85)
# From the action to the lamp, and to the light from the same side that casts no shadows.
_TOWARDS_LAMP = np.array([-0.25, -0.35, 1.0]) / np.linalg.norm([-0.25, -0.35, 1.0])
# Distance of the lamp in radii of the action, and at least, metres.
_FAR, _NEAREST_M = 4.0, 10.0
# Share of the radius that is lit beyond it: the rim of the cone is dim.
_BEYOND = 1.5
# Intensities in light and dark mode; the lamp's is that of what lies in its shadow.
_SKY, _FILL, _SIDE, _LAMP = (2.4, 3.8), (0.9, 1.6), (1.6, 1.4), (1.8, 1.6)


class PageLights:
    """Lights of one page; without `shadows` the lamp casts none."""

    def __init__(self, server: viser.ViserServer, *, shadows: bool = True) -> None:
        self._scene, self._shadows = server.scene, shadows
        self._dark, self._middle, self._radius = False, np.zeros(3), 3.0
        server.scene.set_up_direction("+z")
        server.scene.configure_environment_map(None)  # viser's own washes colours out
        server.scene.configure_default_lights(enabled=False)
        self.set_dark(False)

    def set_dark(self, dark: bool) -> None:
        """Light or dark: there the background is grey as in other programs, and lights are stronger, so that dark
        objects stand out."""
        self._dark = dark
        self._scene.add_light_hemisphere("/light/sky", ground_color=(178, 170, 162), intensity=_SKY[dark])
        self._scene.add_light_directional("/light/fill", intensity=_FILL[dark], position=(-3.0, -4.0, 5.0))
        self._scene.add_light_directional("/light/side", intensity=_SIDE[dark], position=tuple(_TOWARDS_LAMP))
        self._scene.set_background_image(np.full((2, 2, 3), _DARK_BACKGROUND, np.uint8) if dark else None)
        self.aim(self._middle, self._radius)

    def aim(self, middle: Array, radius: float) -> None:
        """Light an action around `middle` (3,) within a radius, metres."""
        self._middle, self._radius = middle, radius
        far = max(_FAR * radius, _NEAREST_M)
        self._scene.add_light_spot(
            "/light/lamp",
            position=tuple(middle + far * _TOWARDS_LAMP),
            direction=tuple(-_TOWARDS_LAMP),
            angle=float(np.arctan(_BEYOND * radius / far)),
            penumbra=0.5,
            decay=0.0,
            intensity=_LAMP[self._dark],
            cast_shadow=self._shadows,
        )
