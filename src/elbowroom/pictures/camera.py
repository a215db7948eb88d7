"""Cameras of pictures: named views, fixed or following cameras, and framing of the action."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.world.viewpoint import nearest_eye

# Azimuth about +Z from where the first character faces, and elevation above the horizon, degrees; None is the
# three-quarter view, or another side where that is hidden, and looks at people from a little above, at scenes from
# higher up.
LOOKS: dict[str, tuple[float | None, float | None]] = {
    "three-quarter": (None, None),
    "front": (0.0, 8.0),
    "side": (90.0, 8.0),
    "back": (180.0, 8.0),
    "top": (0.0, 89.0),
}


@dataclass(frozen=True)
class Camera:
    """Camera of a picture; fields that are None are chosen so that the action is visible and fills the picture.

    `azimuth` is measured about +Z from the facing direction of the first character (0 faces it, 90° is at its left
    side), `elevation` above the horizon, both in radians; an azimuth of None is three-quarter from the front, or
    another side if faces, hands and objects are hidden from there. `distance` in metres,
    `field_of_view` across the picture's height in radians. `target` (3,) is the point in the middle; the name of a
    body part or object ('ann.right_hand', 'book', 'drawer.handle') makes a close-up that follows it. `span` is
    the extent in metres of the shorter side of the picture. `follow` names a character to follow; ""
    is a fixed camera; None follows a single character that travels far. `margin` is the share of the picture kept
    empty at its edges.
    """

    azimuth: float | None = None
    elevation: float | None = None
    distance: float | None = None
    field_of_view: float = np.radians(30.0)
    target: tuple[float, float, float] | str | None = None
    span: float | None = None
    follow: str | None = None
    margin: float = 0.08

    def __post_init__(self) -> None:
        if not 0.01 < self.field_of_view < 3.0:
            raise BadValue(f"a camera needs a field of view between 0.01 and 3 radians, not {self.field_of_view}.")
        if self.distance is not None and not self.distance > 0.0:
            raise BadValue(f"a camera needs a positive distance, not {self.distance}.")
        if self.span is not None and not self.span > 0.0:
            raise BadValue(f"a camera needs a positive span, not {self.span}.")

    @staticmethod
    def looking(look: str = "three-quarter", **changes: object) -> Camera:
        """Camera of a named view: 'three-quarter', 'front', 'side', 'back', 'top'."""
        if look not in LOOKS:
            raise UnknownName("look", look, LOOKS)
        azimuth, elevation = (None if angle is None else float(np.radians(angle)) for angle in LOOKS[look])
        return replace(Camera(azimuth=azimuth, elevation=elevation), **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class View:
    """Placed camera: its position, and its right, up and back directions (rows of `axes`)."""

    eye: Array  # (3,)
    axes: Array  # (3, 3)
    field_of_view: float  # across the height, radians

    def matrix(self) -> Array:
        """World to camera, (4, 4); the camera looks along its -z."""
        T = np.eye(4)
        T[:3, :3] = self.axes
        T[:3, 3] = -self.axes @ self.eye
        return T

    def projection(self, aspect: float, near: float, far: float) -> Array:
        """Camera to clip space, (4, 4), for a picture `aspect` times as wide as high."""
        f = 1.0 / np.tan(0.5 * self.field_of_view)
        P = np.zeros((4, 4))
        P[0, 0], P[1, 1] = f / aspect, f
        P[2, 2], P[2, 3] = (far + near) / (near - far), 2 * far * near / (near - far)
        P[3, 2] = -1.0
        return P

    def moved(self, by: ArrayLike) -> View:
        """The same view from a place further along."""
        return View(self.eye + np.asarray(by, dtype=float), self.axes, self.field_of_view)


def distance_of(camera: Camera, aspect: float) -> float | None:
    """Distance of the eye in metres, if the camera sets it directly or by its span."""
    if camera.distance is not None or camera.span is None:
        return camera.distance
    return 0.5 * camera.span / (float(np.tan(0.5 * camera.field_of_view)) * min(1.0, aspect))


def framed(points: Array, axes: Array, camera: Camera, aspect: float) -> View:
    """The view along `axes` that holds all `points` (N, 3) as closely as the camera's margin allows."""
    slope_y = np.tan(0.5 * camera.field_of_view) * (1.0 - camera.margin)
    slopes = np.array([slope_y * aspect, slope_y])
    local = points @ axes.T
    depth = local[:, 2]
    eye = axes @ nearest_eye(points, axes, slopes)
    away = distance_of(camera, aspect)
    if camera.target is not None:
        aim = axes @ np.asarray(camera.target, dtype=float)
        distance = float(np.max(np.abs(local[:, :2] - aim[:2]) / slopes + depth[:, None])) - aim[2]
        eye = np.array([aim[0], aim[1], aim[2] + (away or max(distance, 0.1))])
    elif away is not None:
        eye[2] = float(np.median(depth)) + away
    return View(axes.T @ eye, axes, camera.field_of_view)
