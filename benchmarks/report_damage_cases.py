"""Clips with one known defect of known size, and what a report should say of each.

Each damage is done to a clean clip (a built-in walk or stand, or a recorded walk) by formula, so its size is known
without the report: metres of skating are speed times the time that a foot of the clean clip lies still, depths and
heights are what the clip was moved by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import apply, transform
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts, steps
from elbowroom.motion.legs import place_feet
from elbowroom.report import Report
from elbowroom.world.world import World
from report_independent import center_of_mass, corners_of, inside_by, sole_points, zero_moment_point

UP = np.array([0.0, 0.0, 1.0])
# Of a wall, metres: so thick that the way out is always the way in.
_THICK = 1.0


@dataclass(frozen=True)
class Damage:
    """A world with one defect, its true size, and what to read off a report: measure, size, in a unit."""

    name: str
    measure: str
    world: World
    true: float
    read: Callable[[Report], float]
    unit: str = "mm"

    @property
    def shown(self) -> float:
        """Factor from metres or radians to the unit."""
        return {"mm": 1000.0, "cm": 100.0, "°": 180.0 / np.pi, "m/s³": 1.0}[self.unit]


def alone(clip: Clip) -> World:
    """Somebody on a floor at height 0, and nothing else."""
    return World().with_character("ann", clip)


def moved(clip: Clip, way: Array) -> Clip:
    """A clip moved by a way (T, 3) or (3,), metres."""
    return clip.with_(root=clip.root + way)


def levelled(clip: Clip) -> Clip:
    """A recorded clip on a floor that does not lean: each step is brought to height 0, and what is between follows."""
    contacts, low = foot_contacts(clip), sole_points(clip)[..., 2]
    feet = np.split(low, 2, axis=1)
    frames, heights = [], []
    for step in steps(contacts):
        mine = feet[("left", "right").index(step.side)][step.first : step.last + 1].min(axis=1)
        frames.append(0.5 * (step.first + step.last))
        heights.append(float(np.median(mine)))
    return moved(clip, -np.interp(np.arange(len(clip)), frames, heights)[:, None] * UP)


def across(clip: Clip) -> Array:
    """Unit vector (3,) across the way of a walk, along the floor."""
    way = (clip.root[-1] - clip.root[0]) * [1.0, 1.0, 0.0]
    return np.asarray(np.cross(UP, way / np.linalg.norm(way)))


def _longest(clip: Clip) -> float:
    """Longest time that a foot of a clean clip lies still, seconds."""
    return max((s.last - s.first) / clip.fps for s in steps(foot_contacts(clip)))


def skate_sideways(clip: Clip, speed: float = 0.4) -> Damage:
    """The whole body drifts aside evenly while it walks."""
    made = moved(clip, np.outer(clip.times - clip.times[0], speed * across(clip)))
    return Damage(f"drifts sideways, {speed:g} m/s", "feet", alone(made), speed * _longest(clip), _slide)


def walk_on_the_spot(clip: Clip) -> Damage:
    """A walk without its way: feet slide back under the body."""
    way = (clip.root[-1] - clip.root[0]) * [1.0, 1.0, 0.0]
    seconds = clip.times[-1] - clip.times[0]
    made = moved(clip, -np.outer((clip.times - clip.times[0]) / seconds, way))
    true = float(np.linalg.norm(way)) / seconds * _longest(clip)
    return Damage("forward travel removed", "feet", alone(made), true, _slide)


def travel_scaled(clip: Clip, factor: float = 1.4) -> Damage:
    """A walk that gets further than its steps."""
    way = (clip.root - clip.root[0]) * [1.0, 1.0, 0.0]
    slid = [float(np.linalg.norm(way[s.last] - way[s.first])) for s in steps(foot_contacts(clip))]
    made = moved(clip, (factor - 1.0) * way)
    return Damage(f"travel times {factor:g}", "feet", alone(made), (factor - 1.0) * max(slid), _slide)


def _with_left_foot(clip: Clip, off: Array) -> Clip:
    """A clip whose left foot is moved by (T, 3), metres, and the leg with it; the right one stays."""
    T = clip.world()[:, clip.character.role("left_foot")].copy()
    T[:, :3, 3] += off
    return clip.with_(rotations=place_feet(clip.character, clip.root, clip.rotations, {"left": T}))


def one_foot_drags(clip: Clip, far: float = 0.20) -> Damage:
    """The left foot slides evenly in the middle of its step, and is back where it was at the next."""
    contacts = foot_contacts(clip)
    mine = [s for s in steps(contacts, "left") if s.whole]
    frames = [s.first + share * (s.last - s.first) for s in mine for share in (0.15, 0.85)]
    values = [v for _ in mine for v in (0.0, far)]
    off = np.outer(np.interp(np.arange(len(clip)), frames, values), across(clip))
    return Damage("left foot drags in each step", "feet", alone(_with_left_foot(clip, off)), far, _slide)


def floats(clip: Clip, height: float = 0.12) -> Damage:
    """The whole clip is too high."""
    return Damage("floats", "floating", alone(moved(clip, height * UP)), height, lambda r: r.people[0].floating.most)


def one_foot_floats(clip: Clip, height: float = 0.09) -> Damage:
    """The left foot never comes down."""
    made = _with_left_foot(clip, np.tile(height * UP, (len(clip), 1)))
    return Damage("left foot floats", "floating", alone(made), height, lambda r: r.people[0].floating.most)


def sinks(clip: Clip, depth: float = 0.12) -> Damage:
    """The whole clip is too low."""
    return Damage("sinks", "sinking", alone(moved(clip, -depth * UP)), depth, lambda r: r.people[0].sinking.most)


def one_foot_sinks(clip: Clip, depth: float = 0.09) -> Damage:
    """The body is too low, and only the right foot is where it should be: the left one goes into the floor."""
    feet = {"right": clip.world()[:, clip.character.role("right_foot")]}
    low = moved(clip, -depth * UP)
    made = low.with_(rotations=place_feet(clip.character, low.root, low.rotations, feet))
    return Damage("left foot sinks", "sinking", alone(made), depth, lambda r: r.people[0].sinking.most)


def pops(clip: Clip, leap: float = 0.12) -> Damage:
    """One frame is elsewhere."""
    way = np.zeros((len(clip), 3))
    way[len(clip) // 2] = leap * across(clip)

    def read(report: Report) -> float:
        return max(p.leap for p in report.people[0].speed.pops)

    return Damage("one frame leaps", "speed", alone(moved(clip, way)), leap, read)


def elbow_past_its_range(clip: Clip, past: float = float(np.radians(25.0))) -> Damage:
    """The right elbow is overbent for a third of the clip."""
    body = clip.character
    j = body.role("right_forearm")
    limit = body.limits[j]
    q = np.array(clip.rotations)
    q[len(q) // 3 : 2 * len(q) // 3, j] = limit.rotation([limit.flexion[1] + past, 0.0, 0.5 * sum(limit.twist)])

    def read(report: Report) -> float:
        found = report.people[0].limits
        return float(found.excess[:, found.joints.index("right elbow")].max())

    return Damage("elbow overbent", "limits", alone(clip.with_(rotations=q)), past, read, "°")


def through_a_wall(clip: Clip, depth: float = 0.06) -> Damage:
    """A wall beside the way is as far in as the body gets furthest aside, less a depth."""
    aside = across(clip)
    T = clip.world()
    far = -np.inf
    for shape in clip.character.shapes:
        corners, rounding = corners_of(shape)
        at = apply(T[:, shape.joint] @ shape.T_joint_shape, corners)
        far = max(far, float((at @ aside).max()) + rounding)
    ahead = np.cross(aside, UP)
    middle = (far - depth + 0.5 * _THICK) * aside + (clip.root.mean(axis=0) @ ahead) * ahead + 2.0 * UP
    wall = box([_THICK, 30.0, 6.0]).moved(transform(middle, rot.about(UP, float(np.arctan2(aside[1], aside[0])))))

    def read(report: Report) -> float:
        return max(c.depth_m for c in report.clearance.certificate.collisions)

    return Damage("passes through a wall", "clearance", alone(clip).with_static("wall", wall), depth, read)


def leans_out(clip: Clip, aside: float = 0.30) -> Damage:
    """Somebody who stands has the hips too far to the left, over feet that stay."""
    feet = {side: clip.world()[:, clip.character.role(f"{side}_foot")] for side in ("left", "right")}
    root = clip.root + aside * np.cross(UP, clip.character.front)
    made = clip.with_(root=root, rotations=place_feet(clip.character, root, clip.rotations, feet))
    k = len(clip) // 2
    true = -inside_by(sole_points(made)[k, :, :2], center_of_mass(made)[k, :2])

    def read(report: Report) -> float:
        return -float(report.people[0].balance.com_margin[k])

    return Damage("hips pushed sideways, standing", "balance", alone(made), true, read, "cm")


def sways(clip: Clip, far: float = 0.10, hertz: float = 1.2) -> Damage:
    """Somebody who stands sways quickly from left to right over feet that stay: the ground would have to push beside
    the feet."""
    feet = {side: clip.world()[:, clip.character.role(f"{side}_foot")] for side in ("left", "right")}
    aside = np.cross(UP, clip.character.front)
    root = clip.root + np.outer(far * np.sin(2.0 * np.pi * hertz * clip.times), aside)
    made = clip.with_(root=root, rotations=place_feet(clip.character, root, clip.rotations, feet))
    soles, zmp = sole_points(made), zero_moment_point(made, 0.0)
    inner = slice(round(0.5 * clip.fps), -round(0.5 * clip.fps))
    true = -min(inside_by(p[:, :2], z) for p, z in zip(soles[inner], zmp[inner], strict=True))

    def read(report: Report) -> float:
        return -float(np.nanmin(report.people[0].balance.zmp_margin[inner]))

    return Damage("sways to and fro, standing", "balance", alone(made), true, read, "cm")


def shakes(clip: Clip, far: float = 0.25, hertz: float = 2.0) -> Damage:
    """Somebody who stands is shaken to and fro, feet and all."""
    made = moved(clip, np.outer(far * np.sin(2.0 * np.pi * hertz * clip.times), [1.0, 0.0, 0.0]))

    def read(report: Report) -> float:
        found = report.people[0].speed
        return float(found.jerk[found.counts, found.parts.index("hips")].max())

    return Damage("shaken as a whole", "speed", alone(made), far * (2.0 * np.pi * hertz) ** 3, read, "m/s³")


WALKING = (
    skate_sideways,
    walk_on_the_spot,
    travel_scaled,
    one_foot_drags,
    floats,
    one_foot_floats,
    sinks,
    one_foot_sinks,
    pops,
    elbow_past_its_range,
    through_a_wall,
)
STANDING = (leans_out, sways, shakes, floats, sinks)


def _slide(report: Report) -> float:
    return float(report.people[0].feet.slides.max())
