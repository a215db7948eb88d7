"""Pictures of the most important moments: rendered, or line drawings if rendering is unavailable."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from elbowroom.character.body import Character
from elbowroom.errors import MissingExtra, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.pictures.direction import Camera
from elbowroom.pictures.images import still
from elbowroom.pictures.surfaces import Cloud
from elbowroom.report.measure import Report
from elbowroom.report.parts import Light, Moment
from elbowroom.world.extent import body_points, box_corners, facing, joint_transforms
from elbowroom.world.viewpoint import axes_towards
from elbowroom.world.world import World

_DRAWN = (560.0, 400.0)
# Where it is seen from: to the side of the front, a little from above, radians.
_ASIDE, _TILT = np.radians(50.0), np.radians(12.0)
# How thick the segment that ends at a joint is drawn, metres for an adult, by the joint's role without its side.
_THICK = {
    "spine1": 0.22,
    "spine2": 0.23,
    "chest": 0.24,
    "neck": 0.11,
    "head": 0.11,
    "clavicle": 0.13,
    "upper_arm": 0.12,
    "forearm": 0.09,
    "hand": 0.075,
    "thigh": 0.17,
    "shin": 0.13,
    "foot": 0.10,
    "toes": 0.08,
}
_FINGER, _BONE, _HEAD = 0.022, 0.05, 0.19
_HIDDEN = ("eye",)


@dataclass(frozen=True, eq=False)
class _Line:
    """Projected segment: both ends (2,), metres, thickness, and depth."""

    begin: Array
    end: Array
    thick: float
    near: float


def figure(world: World, t: float) -> str:
    """SVG of all characters at a time in seconds: segments as thick lines, near ones over far ones."""
    times = np.array([t])
    people = [(m.body, m) for m in world.characters.values() if isinstance(m.body, Character)]
    if not people:
        return ""
    axes = axes_towards(facing(people[0][1], times), _ASIDE, _TILT)
    lines = [line for body, m in people for line in _lines(body, joint_transforms(m, times)[0], axes)]
    ends = np.array([end for line in lines for end in (line.begin, line.end)])
    low, high = ends.min(axis=0) - 0.15, ends.max(axis=0) + 0.15
    scale = float(np.min(np.array(_DRAWN) / (high - low)))
    middle = 0.5 * (low + high)

    def page(p: Array) -> Array:
        return 0.5 * np.array(_DRAWN) + (p - middle) * [scale, -scale]

    drawn = []
    for line in sorted(lines, key=lambda line: line.near):
        (x1, y1), (x2, y2) = page(line.begin), page(line.end)
        ends_at = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        thick = max(line.thick * scale, 1.5)
        drawn.append(f'<line stroke="#e2e4e6" stroke-width="{thick + 2.5:.1f}" {ends_at}/>')
        drawn.append(f'<line stroke="#5b7a94" stroke-width="{thick:.1f}" {ends_at}/>')
    return (
        f'<svg class="drawn" viewBox="0 0 {_DRAWN[0]:.0f} {_DRAWN[1]:.0f}" role="img" aria-label="motion at {t:.2f} s">'
        f'<g stroke-linecap="round">{"".join(drawn)}</g></svg>'
    )


def _lines(body: Character, T: Array, axes: Array) -> list[_Line]:
    """Segments of a body as seen along axes (3, 3)."""
    seen = T[:, :3, 3] @ axes.T
    size = max(float(np.ptp(body.skeleton.T_rest[:, 2, 3])) / 1.6, 1e-3)
    roles = {j: role.removeprefix("left_").removeprefix("right_") for role, j in body.roles.items()}
    out = []
    for j, parent in enumerate(body.parents.tolist()):
        part = roles.get(j, "")
        if parent >= 0 and part not in _HIDDEN:
            thick = _THICK.get(part, _FINGER if part else _BONE) * size
            out.append(_Line(seen[parent, :2], seen[j, :2], thick, float(0.5 * (seen[parent, 2] + seen[j, 2]))))
        if part == "head":
            top = seen[j] + axes @ T[j, :3, :3] @ body.skeleton.T_rest[j, :3, :3].T @ np.array([0.0, 0.0, 0.09 * size])
            out.append(_Line(seen[j, :2], top[:2], _HEAD * size, float(top[2])))
    return out or [_Line(seen[0, :2], seen[0, :2] + 1e-6, _BONE * size, 0.0)]


_SIZE = (560, 400)
# JPEG quality in percent: a fifth of the size of PNG, without a visible difference.
_QUALITY = 88
# Moments of one measure that are shown at most, and how far two of them are apart in time, seconds.
_EACH, _APART = 2, 0.15
# Pictures where all is good.
_ROW = 3
# Where what is drawn on the ground is seen from: aside of the person and from above, radians.
_ABOVE = (float(np.radians(65.0)), float(np.radians(38.0)))
# How bad a moment of a measure that is only worth a look can be.
_RED = 3.0


@dataclass(frozen=True, eq=False)
class Shot:
    """Moment with its picture as HTML, and the anchor and light of its measure."""

    moment: Moment
    anchor: str
    light: Light
    picture: str


def anchor(who: str, measure: str) -> str:
    """Anchor of a measure on the page: a name without spaces."""
    safe = "".join(c if c.isalnum() else "-" for c in who)
    return f"{safe}-{measure}" if who else measure


def worst_moments(report: Report, most: int = 6) -> list[tuple[Moment, str, Light]]:
    """Most important moments in order of time, with the anchors and lights of their measures."""
    found: list[tuple[Moment, str, Light]] = []
    for who, key, measure in report.measures:
        # no moment is worse than the measure that it belongs to
        most_bad = {"good": 1.0, "look": _RED, "bad": np.inf, "none": 0.0}[measure.light]
        for m in measure.moments:
            if m.badness > 0.0:
                found.append((replace(m, badness=min(m.badness, most_bad)), anchor(who, key), measure.light))
    if any(f[2] in ("look", "bad") for f in found):  # with faults to show, good moments are left out
        found = [f for f in found if f[2] != "good" and f[0].badness > 1.0]
    kept = found[: min(1, most)] if found and found[0][1] == "clearance" else []  # the tightest place is of interest
    rest = sorted(found[len(kept) :], key=lambda f: -f[0].badness)
    # each red measure is shown before any is shown twice
    reds = {where: item for item in reversed(rest) for where in item[1:2] if item[2] == "bad"}
    for item in sorted(rest, key=lambda f: reds.get(f[1]) is not f):
        same = [k for k in kept if k[1] == item[1]]
        near = any(abs(k[0].time - item[0].time) < _APART for k in same)
        # what is good is shown only where little else is
        full = len(kept) >= (most if item[0].badness > 1.0 else min(most, _ROW))
        if len(same) < _EACH and not near and not full:
            kept.append(item)
    kept.sort(key=lambda k: k[0].time)
    return [(m, where, "good" if m.badness <= 1.0 else light) for m, where, light in kept]


def shots(report: Report, most: int = 6, progress: Callable[[int, int], None] | None = None) -> tuple[list[Shot], str]:
    """Pictures of the most important moments, and a note if they are line drawings."""
    out, note = [], ""
    found = worst_moments(report, most)
    for k, (moment, where, light) in enumerate(found):
        if progress is not None:
            progress(k, len(found))
        picture = ""
        if not note:
            try:
                picture = _rendered(report.world, moment)
            except MissingExtra as missing:
                note = f"Pictures are line drawings because rendering is unavailable: {missing}"
        out.append(Shot(moment, where, light, picture or figure(report.world, moment.time)))
    return out, note


def _rendered(world: World, moment: Moment) -> str:
    clouds = [_cloud(trail, moment.span) for trail in moment.trails]
    if moment.part:
        try:
            return _taken(world, moment, Camera(target=moment.part, span=moment.span or None), clouds)
        except UnknownName:
            pass  # a part that only collision knows by name; the whole will do
    return _taken(world, moment, _whole(world, moment), clouds)


def _whole(world: World, moment: Moment) -> Camera | None:
    """Camera that frames a character, the objects in its hands, and the trails; None if no character is given."""
    if moment.who not in world.characters:
        return None
    body = body_points(world.characters[moment.who], [moment.time])[0]
    room = 0.35 * np.ptp(body, axis=0).max()  # long trails may leave the picture
    near = [np.clip(trail, body.min(axis=0) - room, body.max(axis=0) + room) for trail in moment.trails]
    points = [body, *near]
    for hold in world.holds:
        if hold.by == moment.who and hold.during[0] <= moment.time <= hold.during[1]:
            thing = world.things[hold.object]
            points.append(apply(thing.path(moment.time), box_corners(thing.mesh.bounds)))
    every = np.concatenate(points)
    low, high = every.min(axis=0), every.max(axis=0)
    x, y, z = (float(v) for v in 0.5 * (low + high))
    # what is wide is seen askew, and the picture is wider than high
    span = 1.12 * max(float(high[2] - low[2]), 0.8 * float(np.linalg.norm((high - low)[:2])))
    azimuth, elevation = _ABOVE if moment.above else (None, None)
    return Camera(target=(x, y, z), span=span, follow="", azimuth=azimuth, elevation=elevation)


def _cloud(trail: Array, span: float) -> Cloud:
    """A line of dots, or one larger dot."""
    steps = np.arange(len(trail) - 1, dtype=np.int32)
    return Cloud(
        trail[None], radius=(0.032 if len(trail) == 1 else 0.012) * span, lines=np.stack([steps, steps + 1], axis=-1)
    )


def _taken(world: World, moment: Moment, camera: Camera | None, clouds: list[Cloud]) -> str:
    return _embedded(still(world, moment.time, size=_SIZE, camera=camera, clouds=clouds), moment)


def _embedded(picture: np.ndarray, moment: Moment) -> str:
    """A picture (H, W, 3) inside the page."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=_QUALITY, subsampling=0)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<img src="data:image/jpeg;base64,{data}" alt="the moment at {moment.time:.2f} s" width="560" height="400">'
