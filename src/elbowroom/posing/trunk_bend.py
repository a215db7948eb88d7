"""Limits of a spine within which the shapes of the trunk stay apart.

Spine joints bend farther one by one than the rigid shapes around them can together: a pelvis meets the ribs at about
half of all limits. A whole body that must bend farther tilts its pelvis.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.limits import JointLimit
from elbowroom.geometry.kept import kept
from elbowroom.posing.whole_body_model import SPINE
from elbowroom.world.exact import own_pairs_of
from elbowroom.world.exact_forms import shape_form
from elbowroom.world.exact_placed import Placed
from elbowroom.world.pairs import shapes_of

# Fractions of the limits that are tested, the largest first, and directions of bending, radians.
_SHARES = np.arange(1.0, 0.25, -0.05)
_DIRECTIONS_RAD = np.arange(8) * np.pi / 4.0


def unfolding(body: Character) -> Character:
    """A character whose spine bends no farther than its trunk shapes allow; cached per character."""
    return kept(body, "unfolding", lambda: _narrowed(body))


def _narrowed(body: Character) -> Character:
    spine = [body.roles[role] for role in SPINE if role in body.roles]
    spine = [j for j in spine if j < len(body.limits) and body.limits[j] is not None]
    share = next((float(share) for share in _SHARES if _clear(body, spine, float(share))), float(_SHARES[-1]))
    if not spine or share >= 1.0:
        return body
    limits = list(body.limits)
    for joint in spine:
        limit = limits[joint]
        assert limit is not None
        limits[joint] = _scaled(limit, share)
    return replace(body, limits=tuple(limits))


def _clear(body: Character, spine: list[int], share: float) -> bool:
    """Return whether the trunk's shapes stay apart with all of its joints bent by a share of their limits."""
    shapes = [s.shape for s in shapes_of(body)]
    counts = own_pairs_of(body).counts
    trunk = [k for k, shape in enumerate(shapes) if shape.joint in (0, *spine)]
    pairs = [(a, b) for a, b in combinations(trunk, 2) if counts[a, b]]
    placed = Placed([shape_form(shape) for shape in shapes], None)
    joints, local = [shape.joint for shape in shapes], np.stack([shape.T_joint_shape for shape in shapes])
    skeleton = body.skeleton
    for way in _DIRECTIONS_RAD:
        q = skeleton.rest.copy()
        for joint in spine:
            limit = body.limits[joint]
            assert limit is not None
            swing = share * np.pi * np.array([np.cos(way), np.sin(way)])
            q[joint] = limit.rotation(_scaled(limit, share).clamp_coordinates([*swing, 0.0]))
        placed.T[:] = skeleton.forward(skeleton.offsets[0], q)[joints] @ local
        placed.moved(np.arange(len(shapes)))
        if any(placed.surfaces_meet(a, b) for a, b in pairs):
            return False
    return True


def _scaled(limit: JointLimit, share: float) -> JointLimit:
    """Limits with their swings scaled."""
    a, b, c, d = limit.swing
    polygon = None if limit.polygon is None else share * limit.polygon
    return replace(limit, swing=(share * a, share * b, share * c, share * d), polygon=polygon)
