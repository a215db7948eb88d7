"""Placing the camera at every moment of a motion: framed once for the whole span, fixed or travelling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import gaussian_filter1d

from elbowroom.errors import UnknownName
from elbowroom.geometry.framing import axes_towards
from elbowroom.geometry.rotations import Array
from elbowroom.pictures.camera import Camera, View, framed
from elbowroom.pictures.clouds import Cloud
from elbowroom.world.extent import action, body_points, facing, joint_transforms, stage
from elbowroom.world.world import World

# A lone character that travels further than this (metres) is followed, unless the camera says otherwise.
_FAR = 4.0
_SAMPLES = 48
_SMOOTH = 0.5  # seconds


def whole_span(world: World, clouds: Sequence[Cloud] = ()) -> tuple[float, float]:
    """Seconds from the first start to the last end of everything."""
    spans = [motion.span for motion in world.characters.values()] + [cloud.span for cloud in clouds]
    return (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else (0.0, 0.0)


class Direction:
    """Which view to take at which time."""

    def __init__(
        self,
        world: World,
        camera: Camera,
        aspect: float,
        clouds: Sequence[Cloud] = (),
        span: tuple[float, float] | None = None,
    ) -> None:
        start, end = span or whole_span(world, clouds)
        times = np.linspace(start, end, _SAMPLES) if end > start else np.array([start])
        front = np.array([0.0, -1.0, 0.0])
        if world.characters:
            front = facing(next(iter(world.characters.values())), times)
        axes = axes_towards(front, camera.azimuth, camera.elevation)
        self._times, self._track = times, np.zeros((len(times), 3))
        who = _followed(world, camera, times)
        if who is None:
            moving = world.characters or world.objects or not clouds
            points = [stage(world, action(world, times))] if moving else []
            for cloud in clouds:
                points.append(_usual(cloud, start, end))
            cast = np.concatenate(points)
            if not len(cast):
                cast = action(World(), times)
        else:
            motion = world.characters[who]
            rate = (len(times) - 1) / max(end - start, 1e-9)
            self._track = _smooth(joint_transforms(motion, times)[:, 0, :3, 3] * [1.0, 1.0, 0.0], rate)
            cast = (body_points(motion, times) - self._track[:, None, :]).reshape(-1, 3)
        self._view = framed(cast, axes, camera, aspect)

    def view(self, t: float) -> View:
        """The view at a time in seconds."""
        return self._view.moved([np.interp(t, self._times, self._track[:, k]) for k in range(3)])


def _followed(world: World, camera: Camera, times: Array) -> str | None:
    if camera.follow:
        if camera.follow not in world.characters:
            raise UnknownName("character", camera.follow, world.characters)
        return camera.follow
    if camera.follow is None and camera.target is None and len(world.characters) == 1:
        (name, motion), *_ = world.characters.items()
        roots = joint_transforms(motion, times)[:, 0, :2, 3]
        if float(np.linalg.norm(np.ptp(roots, axis=0))) > _FAR:
            return name
    return None


def _usual(cloud: Cloud, start: float, end: float) -> Array:
    """Points of a cloud within a span, without the few that a recording throws far away."""
    seen = np.concatenate([cloud.at(t) for t in np.linspace(start, end, _SAMPLES)])
    seen = seen[np.isfinite(seen).all(axis=-1)]
    if not len(seen):
        return seen
    low, high = np.percentile(seen, [1.0, 99.0], axis=0)
    slack = 0.15 * (high - low).max()
    return seen[np.all((seen >= low - slack) & (seen <= high + slack), axis=-1)]


def _smooth(track: Array, rate: float) -> Array:
    return gaussian_filter1d(track, max(_SMOOTH * rate, 1e-3), axis=0, mode="nearest")
