"""Points of a body that can press on something: soles, other parts on the floor, and parts in declared supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.transforms import apply
from elbowroom.motion.contacts import Contacts, steps
from elbowroom.motion.smooth import derivative, smoothed
from elbowroom.motion.soles import SIDES
from elbowroom.motion.stance import slide_ways
from elbowroom.posing.balance import TOUCHING, feet_of
from elbowroom.report.people import Subject
from elbowroom.world.contacts import Contact

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


_Part = tuple[Array, NDArray[np.bool_], int, Array]


def _soles(subject: Subject) -> list[_Part]:
    """Points of both soles, left before right: on tiptoe only those before the ball bear."""
    contacts, T = subject.contacts, subject.T_smooth
    if contacts is None:
        return []
    out: list[_Part] = []
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


def _others(subject: Subject, floor: float | None, contacts: Sequence[Contact]) -> list[_Part]:
    """Lowest points of parts other than feet, where they are on the floor or in a declared support."""
    body, T = subject.character, subject.T_smooth
    roles = {j: role for role, j in body.roles.items()}
    level = -np.inf if floor is None else floor + _PRESSES_M * subject.size
    out: list[_Part] = []
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
