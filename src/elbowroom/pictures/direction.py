"""Cameras: named views, framing of the action, and their place at every moment, fixed or travelling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from elbowroom.character.hands import grip_frame
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.motion.clip import Clip, Motion
from elbowroom.pictures.surfaces import Cloud
from elbowroom.world.extent import action, body_points, box_corners, facing, joint_transforms, stage
from elbowroom.world.paths import places
from elbowroom.world.viewpoint import USUAL, axes_towards, best_azimuth, nearest_eye
from elbowroom.world.visibility import REACH
from elbowroom.world.world import World

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


# A lone character that travels further than this (metres) is followed, unless the camera says otherwise.
FAR = 4.0
# Moments sampled, and seconds over which a camera path is smoothed; for close-ups.
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


class ViewChoice:
    """Choice of the view at each time."""

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
            hips = joint_transforms(motion, times)[:, motion.body.pelvis, :3, 3]
            self._track = _smooth(hips * [1.0, 1.0, 0.0], times)
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
    return scipy.ndimage.gaussian_filter1d(track, max(seconds * rate, 1e-3), axis=0, mode="nearest")


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
