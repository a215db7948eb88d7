"""Placing the camera at every moment of a motion: framed once for the whole span, fixed or travelling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from elbowroom.character.hands import grip_frame
from elbowroom.errors import UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.motion.clip import Clip, Motion
from elbowroom.pictures.camera import Camera, View, distance_of, framed
from elbowroom.pictures.clouds import Cloud
from elbowroom.world.extent import action, body_points, box_corners, facing, joint_transforms, stage
from elbowroom.world.paths import places
from elbowroom.world.viewpoint import USUAL, axes_towards, best_azimuth
from elbowroom.world.visibility import REACH
from elbowroom.world.world import World

# Who travels further than this alone (metres) is followed, unless the camera says otherwise.
FAR = 4.0
# Moments that are looked at, and seconds over which a camera's way is smoothed; of close-ups.
_SAMPLES, _SAMPLES_NEAR = 48, 240
_SMOOTH, _SMOOTH_NEAR = 0.5, 0.12
_CURTAIN = 0.35
_OVER_PEOPLE, _OVER_SCENES = np.radians(16.0), np.radians(36.0)


def whole_span(world: World, clouds: Sequence[Cloud] = ()) -> tuple[float, float]:
    """Seconds from the first start to the last end of everything that is shown."""
    spans = [_moving_span(motion) for motion in world.characters.values()] + [cloud.span for cloud in clouds]
    return (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else (0.0, 0.0)


def _moving_span(motion: Motion) -> tuple[float, float]:
    """The span of a motion without the artificial pose that some files begin with."""
    start, end = motion.span
    if isinstance(motion, Clip):
        start = min(start + motion.source.lead / motion.fps, end)
    return start, end


class Direction:
    """Which view to take at which time."""

    def __init__(
        self,
        world: World,
        camera: Camera,
        aspect: float,
        clouds: Sequence[Cloud] = (),
        span: tuple[float, float] | None = None,
        far: float = FAR,
    ) -> None:
        start, end = span or whole_span(world, clouds)
        near = isinstance(camera.target, str)
        times = np.linspace(start, end, _SAMPLES_NEAR if near else _SAMPLES) if end > start else np.array([start])
        self._times, self._track = times, np.zeros((len(times), 3))
        middle = None
        if isinstance(camera.target, str):
            middle, span_shown = subject(world, camera.target, times)
            self._track, cast = _smooth(middle, times, _SMOOTH_NEAR), np.zeros((1, 3))
            camera = replace(camera, target=(0.0, 0.0, 0.0), span=camera.span or span_shown)
        else:
            cast = self._cast(world, camera, clouds, far)
        axes = _axes(world, camera, times, bool(clouds), middle, distance_of(camera, aspect))
        self._view = framed(cast, axes, camera, aspect)
        self._forward = axes[2] * [1.0, 1.0, 0.0]
        self._nearest = float(np.max(cast @ self._forward))

    def _cast(self, world: World, camera: Camera, clouds: Sequence[Cloud], far: float) -> Array:
        """Points (N, 3) that must be in the picture, relative to the track of a travelling character."""
        times = self._times
        who = _followed(world, camera, times, far)
        if who is not None:
            motion = world.characters[who]
            self._track = _smooth(joint_transforms(motion, times)[:, 0, :3, 3] * [1.0, 1.0, 0.0], times)
            body = (body_points(motion, times) - self._track[:, None, :]).reshape(-1, 3)
            return np.concatenate([body, *self._taken_along(world, who)])
        if camera.follow is None and not world.characters and len(clouds) == 1:
            self._track, cast = _along_cloud(clouds[0], times, far)
            return cast
        moving = world.characters or world.things or not clouds
        points = [stage(world, action(world, times))] if moving else []
        for cloud in clouds:
            points.append(_usual(np.concatenate([cloud.at(t) for t in times])))
        return np.concatenate(points)

    def _taken_along(self, world: World, who: str) -> Iterator[Array]:
        """Corners (N, 3) of held or worn objects during the hold, relative to the track."""
        for hold in world.holds:
            held = (self._times >= hold.during[0]) & (self._times <= hold.during[1])
            if hold.by == who and held.any():
                thing = world.things[hold.object]
                corners = apply(places(thing.path, self._times[held]), box_corners(thing.mesh.bounds))
                yield (corners - self._track[held][:, None, :]).reshape(-1, 3)

    def curtain(self, t: float) -> tuple[Array, float]:
        """An upright plane before the action, n·p = d: walls on the camera's side of it would hide it."""
        return self._forward, self._nearest + float(self._along(t) @ self._forward) + _CURTAIN

    def view(self, t: float) -> View:
        """The view at a time in seconds."""
        return self._view.moved(self._along(t))

    def _along(self, t: float) -> Array:
        return np.array([np.interp(t, self._times, self._track[:, k]) for k in range(3)])


def _axes(
    world: World, camera: Camera, times: Array, clouded: bool, middle: Array | None, distance: float | None
) -> Array:
    """Right, up and back (rows, (3, 3)) of the eye; the side where most is seen, of a close-up's `middle` (T, 3)."""
    front = np.array([0.0, -1.0, 0.0])
    if world.characters:
        front = facing(next(iter(world.characters.values())), times)
    usual = _OVER_PEOPLE if world.characters or clouded else _OVER_SCENES
    elevation = usual if camera.elevation is None else camera.elevation
    if camera.azimuth is not None:
        return axes_towards(front, camera.azimuth, elevation)
    if not world.characters and middle is None:
        return axes_towards(front, USUAL, elevation)
    reach = REACH if distance is None else min(distance, REACH)
    return axes_towards(front, best_azimuth(world, front, elevation, times, only=middle, reach=reach), elevation)


def _followed(world: World, camera: Camera, times: Array, far: float) -> str | None:
    if camera.follow:
        if camera.follow not in world.characters:
            raise UnknownName("character", camera.follow, world.characters)
        return camera.follow
    if camera.follow is None and camera.target is None and len(world.characters) == 1:
        (name, motion), *_ = world.characters.items()
        roots = joint_transforms(motion, times)[:, 0, :2, 3]
        if float(np.linalg.norm(np.ptp(roots, axis=0))) > far:
            return name
    return None


def _usual(points: Array) -> Array:
    """The points (N, 3) that were seen, without the few that a recording throws far away."""
    seen = points[np.isfinite(points).all(axis=-1)]
    if not len(seen):
        return seen
    low, high = np.percentile(seen, [1.0, 99.0], axis=0)
    slack = 0.15 * (high - low).max()
    return seen[np.all((seen >= low - slack) & (seen <= high + slack), axis=-1)]


def _along_cloud(cloud: Cloud, times: Array, far: float) -> tuple[Array, Array]:
    """Track to follow a cloud that travels (T, 3), and its points relative to the track."""
    seen = [cloud.at(t) for t in times]
    known = np.array([bool(np.isfinite(p).all(axis=-1).any()) for p in seen])
    middles = np.zeros((len(times), 3))
    for k in np.flatnonzero(known):
        middles[k, :2] = np.nanmedian(seen[k], axis=0)[:2]
    if not known.any():
        return np.zeros((len(times), 3)), action(World(), times)
    middles = np.stack([np.interp(times, times[known], middles[known, k]) for k in range(3)], axis=-1)
    track = _smooth(middles, times)
    if float(np.linalg.norm(np.ptp(track, axis=0))) <= far:
        track = np.zeros_like(track)
    moved = np.concatenate([points - by for points, by in zip(seen, track, strict=True)])
    return track, _usual(moved)


def _smooth(track: Array, times: Array, seconds: float = _SMOOTH) -> Array:
    rate = (len(times) - 1) / max(float(times[-1] - times[0]), 1e-9)
    return gaussian_filter1d(track, max(seconds * rate, 1e-3), axis=0, mode="nearest")


# Metres shown around a part of a body or a named place, at least around a thing; and how many times as much as its
# own size is shown of a thing.
_PART, _LEAST, _ROOM = 0.5, 0.3, 1.6
_HANDS = {"left_hand": "left", "right_hand": "right"}


def subject(world: World, name: str, times: Array) -> tuple[Array, float]:
    """Centre (T, 3) of an 'object', 'object.frame', 'character' or 'character.part', and the extent to show, metres."""
    owner, part = world.split(name)
    if owner in world.characters:
        motion = world.characters[owner]
        if not part:
            points = body_points(motion, times)
            return 0.5 * (points.min(axis=1) + points.max(axis=1)), _room(points[0])
        joint, T = motion.body.frame(part)
        if part in _HANDS and part in motion.body.roles:
            T = grip_frame(motion.body, _HANDS[part])
        return (joint_transforms(motion, times)[:, joint] @ T)[:, :3, 3], _PART
    if owner in world.things:
        thing = world.things[owner]
        T_world_thing = places(thing.path, times)
        if part:
            return (T_world_thing @ thing.frame(part))[:, :3, 3], _PART
        return apply(T_world_thing, thing.mesh.bounds.mean(axis=0)[None])[:, 0], _room(thing.mesh.bounds)
    if name in world.static:
        bounds = world.static[name].bounds
        return np.tile(bounds.mean(axis=0), (len(times), 1)), _room(bounds)
    raise UnknownName("object or character", owner, [*world.characters, *world.things, *world.static])


def _room(points: Array) -> float:
    return max(_LEAST, _ROOM * float(np.ptp(points, axis=0).max()))
