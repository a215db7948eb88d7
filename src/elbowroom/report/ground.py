"""Ground under the feet: the floor, surfaces to stand on, and the floor of a recording, which may lean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.motion.contacts import Contacts, Flags, Step, steps
from elbowroom.motion.soles import SIDES, Sole
from elbowroom.posing.balance import feet_of
from elbowroom.report.people import Subject
from elbowroom.world.world import World

# Surfaces up to this far above a foot that carries the body are what it stands on and has sunk into, metres.
_ABOVE = 0.08
# Floors of recordings are planes that lean and lie off 0 by up to this, radians and metres, while steps are off the
# plane by less than the last, metres: 64 of 65 recorded clips, of which most lean by 0.2 to 1.2 degrees.
_LEANS, _FLOOR_OFF_M, _OFF_PLANE_M = float(np.radians(2.5)), 0.060, 0.035
# Distance at which a slope is as stiff as a step, metres.
_STIFF_M = 0.3


@dataclass(frozen=True, eq=False)
class Gaps:
    """Height of the lowest point of each sole (T, 2) over the ground, metres, left and right; negative in it.

    The ground of a supporting foot is the surface below it; that of a foot in the air is the floor. NaN if there is
    none. `stance` (T, 2) marks supporting feet, `over` (S,) is the median height of the foot over its ground in each
    step. `leaning` (T, 2) is the height of the recorded floor under the feet over the level one, 0 where it is not
    known to lean or lie elsewhere, and `lean` its slope, radians. `firm` (T, 2) is `gap` without the toes, which give
    way.
    """

    gap: Array
    firm: Array
    stance: Flags
    steps: tuple[Step, ...]
    over: Array
    leaning: Array
    lean: float = 0.0


def gaps_of(subject: Subject, world: World) -> Gaps:
    """Compute the heights of a character's soles above the ground."""
    contacts = subject.contacts
    assert contacts is not None
    parts = np.stack([_lowest(subject.T, sole) for sole in feet_of(subject.character)], axis=1)
    low = parts.min(axis=-1)
    stance = np.stack([contacts.foot(side) for side in SIDES], axis=1)
    ground = np.full(low.shape, np.nan if world.floor is None else world.floor)
    found = steps(contacts)
    over = np.full(len(found), np.nan)
    for k, step in enumerate(found):
        inside, side = slice(step.first, step.last + 1), SIDES.index(step.side)
        at = _stands_at(contacts, step)
        # meshes that can be stood on at a time: static ones, and objects near a point (3,)
        time = 0.5 * (step.strike + step.off)
        out = list(world.static.values())
        for thing in world.things.values():
            T = np.asarray(thing.path(time))
            reach = float(np.linalg.norm(thing.mesh.vertices, axis=-1).max(initial=0.0))
            if np.linalg.norm(T[:3, 3] - at) <= reach + _ABOVE:
                out.append(thing.mesh.moved(T))
        ground[inside, side] = ground_under(at, world.floor, out)
        over[k] = np.median(low[inside, side] - ground[inside, side])
    leaning, lean = np.zeros(low.shape), 0.0
    if subject.clip.source.format and not (world.static or world.things) and len(found):
        leaning, lean = _recorded_floor(subject, contacts, found, over)
    return Gaps(low - ground, parts[..., 0] - ground, stance, found, over, leaning, lean)


def _recorded_floor(subject: Subject, contacts: Contacts, found: tuple[Step, ...], over: Array) -> tuple[Array, float]:
    """Height (T, 2) under the feet of the plane that all steps stand on, over the level floor, and its slope, radians;
    0 where no plane fits them."""
    places = np.array([_stands_at(contacts, step)[:2] for step in found])
    weight = np.sqrt([step.last - step.first + 1 for step in found])[:, None]
    middle = np.average(places, axis=0, weights=weight[:, 0] ** 2)
    rows = np.column_stack([np.ones(len(places)), places - middle])
    # a little stiffness, because steps in a row say nothing of the slope to the side
    stiff = np.diag([0.0, *2 * (_STIFF_M * float(weight.mean()),)])
    known = np.linalg.lstsq(np.vstack([rows * weight, stiff]), np.append(over * weight[:, 0], np.zeros(3)), rcond=None)[
        0
    ]
    slope, off = float(np.hypot(*known[1:])), np.abs(over - rows @ known)
    size = subject.size
    if not (abs(known[0]) <= _FLOOR_OFF_M * size and slope <= _LEANS and off.max() <= _OFF_PLANE_M * size):
        return np.zeros((len(contacts.on), 2)), 0.0
    feet = contacts.points[..., :2].reshape(len(contacts.on), 2, 2, 2).mean(axis=2)
    return known[0] + (feet - middle) @ known[1:], slope


def ground_under(at: Array, floor: float | None, meshes: list[Mesh]) -> float:
    """Height of the floor, or of the highest surface of meshes under a place (3,) and at most a little above it; NaN
    where there is neither."""
    highest = -np.inf if floor is None else floor
    for mesh in meshes:
        low, high = mesh.bounds
        if np.all(at[:2] >= low[:2]) and np.all(at[:2] <= high[:2]) and low[2] <= at[2] + _ABOVE:
            corners = mesh.vertices[mesh.faces]
            a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
            area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
            flat = np.abs(area) > 1e-12  # what stands upright has no height at a place
            to = at[:2] - a[flat, :2]
            s = (to[:, 0] * v[flat, 1] - to[:, 1] * v[flat, 0]) / area[flat]
            t = (to[:, 1] * u[flat, 0] - to[:, 0] * u[flat, 1]) / area[flat]
            z = (a[flat, 2] + s * u[flat, 2] + t * v[flat, 2])[(s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)]
            highest = max(highest, float(z[z <= at[2] + _ABOVE].max(initial=highest)))
    return highest if np.isfinite(highest) else float("nan")


def bearing_height(contacts: Contacts) -> Array:
    """Height (T,) of the ground under the feet, metres: constant in each step, interpolated in the air."""
    total, count = np.zeros(len(contacts.on)), np.zeros(len(contacts.on))
    for step in steps(contacts):
        total[step.first : step.last + 1] += _stands_at(contacts, step)[2]
        count[step.first : step.last + 1] += 1
    known = np.flatnonzero(count)
    if not len(known):
        return np.full(len(count), contacts.floor)
    return np.interp(np.arange(len(count)), known, total[known] / count[known])


def _stands_at(contacts: Contacts, step: Step) -> Array:
    """Centre (3,) of the bearing points of a step."""
    columns = [0, 1] if step.side == "left" else [2, 3]
    inside = slice(step.first, step.last + 1)
    return np.asarray(np.median(contacts.points[inside][:, columns][contacts.on[inside][:, columns]], axis=0))


def _lowest(T: Array, sole: Sole) -> Array:
    """Heights of the lowest points of a sole behind and before the ball (T, 2) for joints at T (T, J, 4, 4), metres."""
    toes = sole.toes if sole.toes >= 0 else sole.foot
    parts = apply(T[:, sole.foot], sole.outline), apply(T[:, toes], sole.toe_outline)
    return np.stack([points[..., 2].min(axis=1, initial=np.inf) for points in parts], axis=-1)
