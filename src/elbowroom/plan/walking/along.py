"""Manner of walking along a path: sideways, crouched, and with arms that hang still in narrow places."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from elbowroom.character.body import Character
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.locomotion.course import WalkingManner
from elbowroom.locomotion.envelope import envelope
from elbowroom.locomotion.modes import DUCK
from elbowroom.plan.walking.paths import BAND_M, WalkPath

# Metres before and after a low place in crouch, those of the transition, and between samples.
_CROUCHED_M, _CROUCHES_M, _LOOKS_M = 0.35, 0.7, 0.05
# Metres before and after a narrow place that are walked sideways already.
_TURNED_M = 0.35
# Room beside arms up to which they hang still, from which they swing, and distance before and after that, metres: in
# turns recorded hands swing out by up to 0.18 m more than in a straight walk.
_SWINGS_M, _STILL_M = (0.08, 0.2), 0.5


def manners_along(path: WalkPath) -> list[WalkingManner]:
    """Manner of walking at each point of a path: a sideways walker has turned before the gap."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path.points, axis=0), axis=1))])
    turned = [k for k, mode in enumerate(path.modes) if mode.manner != "forward"]
    out: list[WalkingManner] = ["forward"] * len(along)
    for j, s in enumerate(along):
        near = min(turned, key=lambda k: abs(along[k] - s), default=None)
        if near is not None and abs(along[near] - s) < _TURNED_M:
            out[j] = path.modes[near].manner
    return out


def trodden(path: WalkPath, character: Character) -> Array:
    """Points (N, 2) that a body goes along on a way: beside its middle where it goes sideways."""
    middles = np.array([envelope(character, manner).middle for manner in manners_along(path)])
    if not middles.any():
        return path.points
    ahead = normalize(np.gradient(path.points, axis=0))
    ends = np.concatenate([[0.0], np.ones(len(middles) - 2), [0.0]])
    return np.asarray(path.points - (ends * middles)[:, None] * np.stack([-ahead[:, 1], ahead[:, 0]], axis=-1))


def crouching_along(path: WalkPath) -> Callable[[Array], Array] | None:
    """Share of crouching over ways (N,), up to the end of one, from before each low place until after it.

    It is 2 where a person stoops.
    """
    crouched = np.array([mode.high < 1.0 for mode in path.modes])
    if not crouched.any():
        return None
    deepest = 2.0 if any(mode.high < DUCK.high for mode in path.modes) else 1.0
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path.points, axis=0), axis=1))])
    even = np.linspace(0.0, along[-1], max(int(along[-1] / _LOOKS_M), 2) + 1)
    here = np.min(np.abs(even[:, None] - along[crouched]), axis=1)
    share = deepest * smootherstep(1.0 - (here - _CROUCHED_M) / _CROUCHES_M)
    return lambda s: np.interp(s / max(float(s[-1]), 1e-9) * along[-1], even, share)


def still_arms_along(path: WalkPath) -> Callable[[Array], Array] | None:
    """Share (N,) of arms that hang still at places (N, 2) near a path: from before to after narrow places."""
    if not len(path.beside):
        return None
    points, room = path.beside[:, :2], path.beside[:, 2]
    share = smootherstep((_SWINGS_M[1] - room) / (_SWINGS_M[1] - _SWINGS_M[0]))
    if not share.any():
        return None
    reach = round(_STILL_M / BAND_M)
    share = scipy.ndimage.maximum_filter1d(share, 2 * reach + 1, mode="nearest")
    share = scipy.ndimage.gaussian_filter1d(share, 0.5 * reach, mode="nearest")
    near = scipy.spatial.cKDTree(points)
    return lambda places: scipy.ndimage.gaussian_filter1d(share[near.query(places)[1]], 3.0, mode="nearest")
