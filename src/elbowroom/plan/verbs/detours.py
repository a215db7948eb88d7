"""Detours of a held object where the straight path is blocked, tried before a search (Y2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.plan.hands import front_of, shifted
from elbowroom.plan.verbs.holding import Holding

# Distances of the object from the body's middle on a detour, shares of the body's height, or of the height that fits
# its arms if that is less.
_NEAR_BODY = (0.27, 0.24, 0.21, 0.18, 0.15)
# Length from shoulder to wrist relative to the height, of the built-in woman.
_ARM = 0.309
_ASIDE = 0.24
# Extra height of the approach to the goal, and heights above what is between; shares of the body's height.
_HIGHER = (0.0, 0.06)
_OVER = (0.0, 0.12, 0.22)


def detours(holding: Holding, T_a: Array, T_b: Array, *, alone: bool) -> Iterator[list[Array]]:
    """Via placements (4, 4) of the object between two: up and over, drawn in to the body, or sideways.

    An object of several carriers goes up and over only.
    """
    body, up = holding.actor.body, np.array([0.0, 0.0, 1.0])
    top = max(T_a[2, 3], T_b[2, 3])
    for over in _OVER:  # lifted, moved across, lowered
        yield [shifted(T, (top - T[2, 3] + over * body.height) * up) for T in (T_a, T_b)]
    if not alone:
        return
    drawn_in = []
    for near in _NEAR_BODY:
        for higher in _HIGHER:
            above = shifted(T_b, higher * body.height * up)
            drawn_in.append([_drawn_in(holding, T_a, near), _drawn_in(holding, above, near), above])
        # half way up or down in front of low placements, where crouched thighs leave no room to draw it in
        half = shifted(min(T_a, T_b, key=_height), 0.5 * abs(_height(T_b) - _height(T_a)) * up)
        high = _drawn_in(holding, max(T_a, T_b, key=_height), near)
        rising = [half, _drawn_in(holding, half, near), high]
        drawn_in.append(rising if T_a[2, 3] < T_b[2, 3] else rising[::-1])
    yield from drawn_in[: len(_HIGHER)]
    left = np.cross(up, front_of(holding.actor, body.skeleton.at(holding.actor.pose)))
    middle = float(left @ (0.5 * (T_a[:3, 3] + T_b[:3, 3]) - holding.actor.pose.root))
    for side in (-1.0, 1.0) if middle > 0.0 else (1.0, -1.0):
        by = side * _ASIDE * _arms_height(holding) * left
        yield [shifted(T_a, by), shifted(T_b, by)]
    yield from drawn_in[len(_HIGHER) :]


def _height(T: Array) -> float:
    """Height of a placement (4, 4), metres."""
    return float(T[2, 3])


def _arms_height(holding: Holding) -> float:
    """Height of a person with such arms, metres, at most the body's own."""
    body = holding.actor.body
    arm = [body.T_rest[j, :3, 3] for j in body.chain("left_arm").joints]
    length = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(arm))
    return min(body.height, length / _ARM)


def _drawn_in(holding: Holding, T: Array, near: float) -> Array:
    """The placement (4, 4) drawn in to a distance from the body's middle, a share of its height, as people carry."""
    pelvis = holding.actor.pose.root
    way = np.array([*(T[:2, 3] - pelvis[:2]), 0.0])
    far = float(np.linalg.norm(way))
    by = max(far - near * _arms_height(holding), 0.0)
    return shifted(T, -by * way / max(far, 1e-9))
