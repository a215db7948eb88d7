"""Parts of a mesh that a hand takes it by: bars (handles, stems, grips), wherever a short piece of its surface runs
around an axis, and narrow places with room for fingertips on both sides (rings, rims, knobs).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array, normalize
from elbowroom.posing.grasps_form import GraspForm

# Surface points at which bars are searched, and how many bars are enough.
_SPOTS, _MOST = 240, 6

# Smallest and largest thickness of bars, metres, for a hand of `HAND_LENGTH`.
_THIN_M, _THICK_M = 0.011, 0.045

# Length of a piece, as a share of the thickness, and its bounds, metres, for such a hand.
_LONG, _SHORTEST_M, _LONGEST_M = 1.5, 0.02, 0.06

# Largest slant of a bar's surface towards its axis, as the mean square of the cosine; its normals point all around: the
# smaller of the two other mean squares is at least this, and the mean normal is no longer than this share of it. At the
# edge of a board, which faces one way only, both are the same.
_LEANING, _ROUND, _ONE_SIDED = 0.06, 0.2, 0.6

# Largest relative standard deviation of the surface's distance from the axis.
_UNEVEN = 0.3

# Bars whose middles are nearer than this are one, metres.
_APART_M = 0.025

# Room around a bar in which fingers close without meeting the rest of the object, metres from its surface; half the
# length of bar that a hand takes up, and the distance between two middles along a bent one, for such a hand.
_ROOM_M, _HALF_HAND_M, _STEP_M = 0.03, 0.04, 0.008

# A point is opposite another if it is this near to the line through that, metres, and faces away, as the cosine.
_OFF_M, _FACING = 0.004, 0.8

# Radius of the pad of a fingertip for a hand of `HAND_LENGTH`, its distance from a surface, metres; most narrow places.
_PAD_M, _BESIDE_M, _MOST_NARROW = 0.006, 0.0015, 60
# Places this near to each other are across the same part, metres.
_AROUND_M = 0.008


@dataclass(frozen=True, eq=False)
class Bar:
    """Piece of a bar in a form's frame: its middle (3,), the axis (3,) along it, and its thickness, metres.

    `free` is the room around it, as a share of what fingers need, at most 1.
    """

    middle: Array
    axis: Array
    thick: float
    free: float = 1.0


def bars(form: GraspForm, scale: float) -> list[Bar]:
    """Pieces of bars in the surface of a form for a hand of a scale: those with room for fingers, then nearest to its
    middle."""
    found: list[Bar] = []
    for bar in _pieces(form, scale):
        if all(float(np.linalg.norm(bar.middle - other.middle)) > _APART_M * scale for other in found):
            found.append(replace(bar, free=_room(form, bar, scale)))
    return sorted(found, key=lambda b: (-b.free, float(np.linalg.norm(b.middle))))[:_MOST]


def _room(form: GraspForm, bar: Bar, scale: float) -> float:
    """Distance from a bar, where a hand is around it, to the rest of a form, as a share of what fingers need."""
    inner, outer = [bar.middle], list[Array]()
    for ahead in (bar.axis, -bar.axis):
        at = bar.middle
        for k in range(int((_HALF_HAND_M + _ROOM_M) / _STEP_M) + 2):
            ring = form.points[np.linalg.norm(form.points - at - _STEP_M * scale * ahead, axis=1) < bar.thick]
            if len(ring) < 3:  # its end
                break
            ahead, at = normalize(ring.mean(axis=0) - at), ring.mean(axis=0)
            (inner if k * _STEP_M < _HALF_HAND_M else outer).append(at)
    own = scipy.spatial.cKDTree([*inner, *outer]).query(form.points)[0] < bar.thick
    others = scipy.spatial.cKDTree(inner).query(form.points[~own])[0]
    return float(np.clip((others.min(initial=np.inf) - 0.5 * bar.thick) / (_ROOM_M * scale), 0.0, 1.0))


def _pieces(form: GraspForm, scale: float) -> Iterator[Bar]:
    points, normals = form.points, form.normals
    for p, n in zip(points[:_SPOTS], normals[:_SPOTS], strict=True):
        thick = thickness(form, p, n, _THICK_M * scale, _OFF_M, _FACING)
        if thick is None:
            continue
        middle = p - 0.5 * thick * n
        long = float(np.clip(_LONG * thick, _SHORTEST_M * scale, _LONGEST_M * scale))
        near = np.linalg.norm(points - middle, axis=1) < 0.5 * np.hypot(long, thick)
        if near.sum() < 8:
            continue
        square, axes = np.linalg.eigh(normals[near].T @ normals[near] / near.sum())
        one_sided = float(np.linalg.norm(normals[near].mean(axis=0)))
        if square[0] > _LEANING or square[1] < _ROUND or one_sided > _ONE_SIDED * square[1]:
            continue
        # the piece continues on both sides along its axis, at about the same distance from it
        off = points[near] - middle
        along = off @ axes[:, 0]
        aside = np.linalg.norm(off - along[:, None] * axes[:, 0], axis=1)
        wide = float(2.0 * np.median(aside))
        even = float(aside.std()) < _UNEVEN * float(aside.mean())
        if even and min(along.max(), -along.min()) > 0.3 * long and wide > _THIN_M * scale:
            yield Bar(middle, axes[:, 0], wide)


def thickness(form: GraspForm, p: Array, n: Array, most: float, off: float, facing: float) -> float | None:
    """Thickness of a form at a surface point (3,) against its normal (3,), metres, None beyond `most`.

    The opposite point is within `off` of that line, its normal opposite up to the cosine `facing`.
    """
    away = form.points - p
    deep = -(away @ n)
    aside = np.linalg.norm(away + deep[:, None] * n, axis=1)
    across = (aside < off) & (form.normals @ n < -facing) & (deep > 1e-4) & (deep < most)
    return float(deep[across].min()) if across.any() else None


def narrow_places(form: GraspForm, scale: float, widest: float) -> list[Bar]:
    """Pairs of opposite sides of a form at most `widest` metres apart, with room for a fingertip before both, spread
    over it: as bars, whose axis is the line between the sides.
    """
    points, normals = form.points, form.normals
    tree, pad = scipy.spatial.cKDTree(points), _PAD_M * scale

    def room(at: Array, out: Array) -> NDArray[np.bool_]:
        return np.asarray(tree.query(at + (pad + _BESIDE_M) * out)[0]) > pad

    found: list[Bar] = []
    for k in np.flatnonzero(room(points, normals)):
        p, n = points[k], normals[k]
        thick = thickness(form, p, n, widest, _OFF_M, _FACING)
        if thick is not None and room(p - thick * n, -n):
            found.append(Bar(p - 0.5 * thick * n, n, thick))
    middles, axes = (np.array(rows).reshape(-1, 3) for rows in ([b.middle for b in found], [b.axis for b in found]))
    far, spread = np.full(len(found), np.inf), list[Bar]()
    while len(spread) < min(_MOST_NARROW, len(found)):
        n = int(np.argmax(far))
        away = np.linalg.norm(middles - middles[n], axis=1)
        # across what is around: the facets of a round bar slant to both sides
        near = axes[away < _AROUND_M * scale]
        mean = normalize((near * np.sign(near @ axes[n])[:, None]).mean(axis=0))
        spread.append(Bar(found[n].middle, mean, found[n].thick))
        far = np.minimum(far, away)
    return spread
