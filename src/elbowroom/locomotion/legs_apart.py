"""Legs that come too close to each other while they pass, seen by their collision shapes."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.figure import SIDES, Figure
from elbowroom.locomotion.room import gap, part

# metres between the legs, walking, and running, when they go further between two looks
MARGIN, MARGIN_RUNNING = 0.004, 0.009
_RATE = 60.0  # looks a second
_ENOUGH = 0.4  # share of the margin that may be missing
_AROUND = 0.6  # seconds: the steps before and after a close pass are taken wider
_SOFT = 0.15  # seconds
_SEGMENTS = (("thigh",), ("shin",), ("foot", "toes"))


def too_close(figure: Figure, turns: dict[str, Array], root: Array, rate: float, margin: float) -> Array:
    """Shortfall of the margin between the legs, metres (N,), around frames that have one.

    turns: (N, 4) or (4,) by role, root (N, 3), at `rate` frames a second.
    """
    step = max(1, round(rate / _RATE))
    looks = np.arange(0, len(root), step)
    seen = {role: q[looks] if q.ndim == 2 else q for role, q in turns.items()}
    where, local = figure.assemble(seen, root[looks])
    character = figure.character
    T = character.skeleton.forward(where, local)
    missing = np.zeros(len(looks))
    parts = {joints: part(character, joints, T) for joints in {j for pair in _pairs(character) for j in pair}}
    for one, other in _pairs(character):
        a, b = parts[one], parts[other]
        if a is not None and b is not None:
            missing = np.maximum(missing, margin - gap(a, b, margin)[0])
    if missing.max(initial=0.0) < _ENOUGH * margin:
        return np.zeros(len(root))
    fps = rate / step
    missing = maximum_filter1d(missing, 2 * round(_AROUND * fps) + 1)
    return np.interp(np.arange(len(root)), looks, gaussian_filter1d(missing, _SOFT * fps, mode="nearest"))


@lru_cache(maxsize=32)
def _pairs(character: Character) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Joints of segments of both legs that can meet; thighs that overlap at rest are not among them."""
    rest = character.skeleton.T_rest[None]
    legs = [[tuple(character.roles.get(f"{side}_{p}", -1) for p in names) for names in _SEGMENTS] for side in SIDES]
    found = []
    for (i, one), (k, other) in product(enumerate(legs[0]), enumerate(legs[1])):
        a, b = part(character, one, rest), part(character, other, rest)
        if abs(i - k) < 2 and a is not None and b is not None and gap(a, b, MARGIN)[0][0] > 0.0:
            found.append((one, other))
    return found
