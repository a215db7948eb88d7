"""Points of a body that can press on something: soles, other parts on the floor, parts in declared supports; and the
ground under the feet: the floor, surfaces to stand on, and the floor of a recording, which may lean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.transforms import apply
from elbowroom.motion.contacts import Contacts, Flags, FootStep, steps
from elbowroom.motion.smooth import derivative, smoothed
from elbowroom.motion.soles import SIDES, Sole
from elbowroom.motion.stance import slide_ways
from elbowroom.posing.balance import TOUCHING, feet_of
from elbowroom.report.people import Subject
from elbowroom.world.contacts import Contact
from elbowroom.world.world import World

# Height up to which a part other than a foot presses on the floor, metres: flesh gives way by as much.
_PRESSES_M = 0.03
# Parts that sit where a contact names the whole body.
_SEAT = ("pelvis", "left_thigh", "right_thigh")
# Lowest points of such a part that can press at once.
_POINTS = 3


@dataclass(frozen=True, eq=False)
class Bearing:
    """Points (T, P, 3) that can press, whether they do (T, P), and their joints (P,).

    `slides` (T, P, 2) are the velocities along the ground of what presses, m/s; the first `of_feet` points are those of
    the soles, the first `of_left` of these on the left foot.
    """

    points: Array
    on: NDArray[np.bool_]
    joints: NDArray[np.int64]
    slides: Array
    of_left: int
    of_feet: int


def bearing_of(subject: Subject, floor: float | None, contacts: Sequence[Contact] = ()) -> Bearing:
    """Find the points of a character that can press on something; `contacts` are those of its world."""
    feet, count = _soles(subject), [len(s.outline) + len(s.toe_outline) for s in feet_of(subject.character)]
    parts = [*feet, *_others(subject, floor, contacts)]
    frames = len(subject.clip)
    empty = (np.zeros((frames, 0, 3)), np.zeros((frames, 0), dtype=bool), 0, np.zeros((frames, 0, 2)))
    rows = parts or [empty]
    return Bearing(
        points=np.concatenate([p for p, *_ in rows], axis=1),
        on=np.concatenate([on for _, on, *_ in rows], axis=1),
        joints=np.concatenate([np.full(p.shape[1], joint) for p, _, joint, _ in rows]),
        slides=np.concatenate([v for *_, v in rows], axis=1),
        of_left=count[0] if feet else 0,
        of_feet=sum(count) if feet else 0,
    )


_PressingPart = tuple[Array, NDArray[np.bool_], int, Array]


def _soles(subject: Subject) -> list[_PressingPart]:
    """Points of both soles, left before right: on tiptoe only those before the ball bear."""
    contacts, T = subject.contacts, subject.T_smooth
    if contacts is None:
        return []
    out: list[_PressingPart] = []
    drift = _foot_velocity(subject, contacts)
    for k, sole in enumerate(feet_of(subject.character)):
        toes = sole.toes if sole.toes >= 0 else sole.foot
        pieces = [(sole.foot, apply(T[:, sole.foot], sole.outline)), (toes, apply(T[:, toes], sole.toe_outline))]
        lowest = np.concatenate([p for _, p in pieces], axis=1)[..., 2].min(axis=1)
        for n, (joint, points) in enumerate(pieces):
            # soles are soft: what is near to the lowest point of a planted foot bears, too
            near = points[..., 2] - lowest[:, None] <= TOUCHING * subject.size
            on = contacts.on[:, 2 * k + n, None] | (contacts.foot(SIDES[k])[:, None] & near)
            out.append((points, on, joint, np.repeat(drift[:, k, None], points.shape[1], axis=1)))
    return out


def _foot_velocity(subject: Subject, contacts: Contacts) -> Array:
    """Velocity (T, 2, 2) at which each planted foot slides along the ground, m/s; 0 in the air."""
    fps = subject.clip.fps
    out = np.zeros((len(contacts.on), 2, 2))
    for step, way in zip(steps(contacts), slide_ways(subject.clip, contacts), strict=True):
        out[step.first : step.last + 1, SIDES.index(step.side)] = derivative(smoothed(way, fps), fps)
    return out


def _others(subject: Subject, floor: float | None, contacts: Sequence[Contact]) -> list[_PressingPart]:
    """Lowest points of parts other than feet, where they are on the floor or in a declared support."""
    body, T = subject.character, subject.T_smooth
    roles = {j: role for role, j in body.roles.items()}
    level = -np.inf if floor is None else floor + _PRESSES_M * subject.size
    out: list[_PressingPart] = []
    for shape in body.shapes:
        role = roles.get(shape.joint, "")
        if role.endswith(("_foot", "_toes")):
            continue
        name = f"{subject.name}.{shape.name}"
        who = (name, subject.name) if role in _SEAT else (name,)
        spans = [c.during for c in contacts if c.kind in ("support", "seat") and c.who in who]
        held = np.zeros(len(T), dtype=bool)
        for begin, end in spans:
            held |= (subject.times >= begin) & (subject.times <= end)
        corners = shape_mesh(shape, segments=8).vertices
        reach = float(np.linalg.norm(corners, axis=-1).max(initial=0.0))
        if not held.any() and T[:, shape.joint, 2, 3].min() - reach > level:
            continue
        every = apply(T[:, shape.joint], corners)
        touches = every[..., 2] <= level
        if not (held.any() or touches.any()):
            continue
        order = np.argpartition(every[..., 2], _POINTS, axis=1)[:, :_POINTS]
        points = np.take_along_axis(every, order[..., None], axis=1)
        velocity = np.take_along_axis(derivative(every[..., :2], subject.clip.fps), order[..., None], axis=1)
        on = np.take_along_axis(touches, order, axis=1) | held[:, None]
        out.append((points, on, shape.joint, velocity))
    return out


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
    steps: tuple[FootStep, ...]
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


def _recorded_floor(
    subject: Subject, contacts: Contacts, found: tuple[FootStep, ...], over: Array
) -> tuple[Array, float]:
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


def _stands_at(contacts: Contacts, step: FootStep) -> Array:
    """Centre (3,) of the bearing points of a step."""
    columns = [0, 1] if step.side == "left" else [2, 3]
    inside = slice(step.first, step.last + 1)
    return np.asarray(np.median(contacts.points[inside][:, columns][contacts.on[inside][:, columns]], axis=0))


def _lowest(T: Array, sole: Sole) -> Array:
    """Heights of the lowest points of a sole behind and before the ball (T, 2) for joints at T (T, J, 4, 4), metres."""
    toes = sole.toes if sole.toes >= 0 else sole.foot
    parts = apply(T[:, sole.foot], sole.outline), apply(T[:, toes], sole.toe_outline)
    return np.stack([points[..., 2].min(axis=1, initial=np.inf) for points in parts], axis=-1)
