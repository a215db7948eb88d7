"""Seeds of the optimiser: what people do about something that is in the way. Each decides which way to go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import UP, Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import runs
from elbowroom.plan.checks.episodes import CollisionEpisode, linkages
from elbowroom.plan.optimise.solve import Answer, WindowSeed, optimise
from elbowroom.plan.optimise.window import Window

# Distances of steps to the side that are tried, metres: a hand's, a forearm's and a body's width.
_ASIDE_M = (0.12, 0.28, 0.5)
# Distances by which a body is lowered, metres.
_DUCK_M = (0.06, 0.15)
# What a body that is that far aside may lack of its room, metres: arms are drawn in.
_CLEAR_M = 0.05
# Seconds before and after a collision for which a body stays aside.
_BESIDE_S = 0.2
# Share of a stance beside the ends of a window: one that goes on beyond them cannot be moved.
_STAND_M = 0.01
# A body that is farther aside than this has stepped there, metres.
_STEPS_M = 0.05


def limbs(window: Window, episode: CollisionEpisode) -> list[WindowSeed]:
    """A limb alone, with its girdle, and with the trunk, all else as it is."""
    found = linkages(window.clip.character, episode.limb, episode.joints)
    return [
        WindowSeed(one.name, tuple(j for j in one.joints if j in window.whole), False) for one in found if not one.hang
    ]


def both(window: Window, episodes: Sequence[CollisionEpisode]) -> list[WindowSeed]:
    """Limbs that collide at the same time, alone and with the trunk; nothing for one limb."""
    by_limb = {episode.limb: limbs(window, episode) for episode in episodes}
    if len(by_limb) < 2 or not all(by_limb.values()):
        return []
    out = []
    for some in ([found[0] for found in by_limb.values()], [found[-1] for found in by_limb.values()]):
        name = " and ".join(dict.fromkeys(seed.name for seed in some))
        out.append(WindowSeed(name, tuple(dict.fromkeys(j for seed in some for j in seed.joints)), False))
    return out


def unpushed(window: Window) -> WindowSeed:
    """The whole body, which goes where distances lead."""
    return WindowSeed("whole body", window.whole, True)


# Ways to push: by how much up, to the left and ahead.
WAYS = ((-1, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, -1), (0, 0, 1))


def pushed(window: Window, seed: WindowSeed, ways: Sequence[tuple[int, int, int]] = WAYS) -> Iterator[WindowSeed]:
    """A seed whose parts in collision are pushed in some ways at first."""
    ahead = window.clip.character.facing(window.T[len(window.T) // 2])
    left = np.cross(UP, ahead)
    for up, aside, along in ways:
        way = up * UP + aside * left + along * ahead
        yield replace(seed, way=(float(way[0]), float(way[1]), float(way[2])))


def ducking(window: Window) -> Iterator[WindowSeed]:
    """The whole body lowered over its feet by some distances while something collides."""
    knots = _knots(window, window.times, window.amid[:, None].astype(float))
    for metres in _DUCK_M:
        start = np.zeros((len(knots), 3 * len(window.whole) + 3))
        start[:, -1:] = -metres * knots
        yield replace(unpushed(window), name="whole body, ducking", start=start)


def sidesteps(window: Window, most_m: float) -> Iterator[WindowSeed]:
    """The whole body stepping to either side of what it collides with, as far as that clears it, at most so far."""
    spans = [span for some in window.blame.values() for span in some]
    begin, end = min(a for a, _ in spans) - _BESIDE_S, max(b for _, b in spans) + _BESIDE_S
    times, (first, last) = window.times, (float(window.times[0]), float(window.times[-1]))
    into, out = (times - first) / max(begin - first, 1e-6), (last - times) / max(last - end, 1e-6)
    share = smootherstep(np.clip(np.minimum(into, out), 0.0, 1.0))
    knots, feet = _knots(window, times, share[:, None]), _pinned_feet(window)
    count = len(knots)
    left = np.cross(UP, window.clip.character.facing(window.T[len(window.T) // 2]))
    distances = [metres for metres in _ASIDE_M if metres <= most_m]
    for way in (left, -left):
        for metres in distances:
            start = np.zeros((count, 3 * len(window.whole) + 3))
            start[:, -3:] = metres * knots * way
            seed = WindowSeed("whole body, stepping aside", window.whole, True, stepping=feet, start=start)
            if metres == distances[-1] or optimise(window, seed, 0).lack < _CLEAR_M:
                yield seed
                break


def from_clip(window: Window, name: str, joints: tuple[int, ...], clip: Clip) -> WindowSeed:
    """The changes of joints in a clip, and of the root where it is elsewhere: a motion that is known to go on from."""
    rows, own = slice(window.first, window.last + 1), list(joints)
    away = clip.root[rows] - window.clip.root[rows]
    rooted = bool(np.abs(away).max() > _STAND_M)
    if rooted:
        own = list(window.whole)
    turned = rot.log(rot.multiply(clip.rotations[rows][:, own], rot.conjugate(window.clip.rotations[rows][:, own])))
    change = np.concatenate([turned.reshape(len(away), -1), *([away] if rooted else [])], axis=1)
    aside = rooted and bool(np.linalg.norm(away[:, :2], axis=1).max() > _STEPS_M)
    start = _knots(window, window.clip.times[rows], change)
    return WindowSeed(name, tuple(own), rooted, stepping=_pinned_feet(window) if aside else (), start=start)


def _knots(window: Window, times: Array, change: Array) -> Array:
    """Knots (C, n) whose splines are nearest to changes (N, n) at some times (N,)."""
    knot, value, _, count = window.splines_at(times)
    basis = np.zeros((len(times), count))
    for d in range(4):
        inside = (knot + d >= 0) & (knot + d < count)
        basis[np.flatnonzero(inside), knot[inside] + d] += value[inside, d]
    return np.asarray(np.linalg.lstsq(basis, change, rcond=None)[0])


def footloose(window: Window, seed: WindowSeed) -> WindowSeed:
    """A seed whose feet may leave where they stand."""
    feet = tuple(j for j in window.pinned if j in _feet(window))
    return replace(seed, loose=feet, stepping=(), shifts=None)


def stepped(window: Window, answer: Answer) -> WindowSeed | None:
    """Feet that stand where an answer with loose feet had them on average; None where no stance can be moved."""
    seed = answer.seed
    root, q = window.moved(answer.x, seed.joints, seed.rooted, window.rows)
    T, shifts = window.clip.character.transforms(root, q), {}
    for joint in seed.loose:
        away = T[:, joint, :3, 3] - window.T[:, joint, :3, 3]
        shift = np.zeros_like(away)
        for first, last in runs(window.pinned[joint][window.rows]):
            if first > 0 and last < len(window.rows) - 1:  # what stands beyond the window stays
                shift[first : last + 1, :2] = away[first : last + 1, :2].mean(axis=0)
        if np.linalg.norm(shift, axis=1).max() > _STAND_M:
            shifts[joint] = shift
    if not shifts:
        return None
    return WindowSeed("whole body, in other footholds", seed.joints, seed.rooted, shifts=shifts, start=answer.x)


def _pinned_feet(window: Window) -> tuple[int, ...]:
    return tuple(sorted(_feet(window) & set(window.pinned)))


def _feet(window: Window) -> set[int]:
    roles = window.clip.character.roles
    return {roles[role] for role in ("left_foot", "right_foot") if role in roles}


def at_all_frames(window: Window, shifts: dict[int, Array] | None, rows: NDArray[np.int64]) -> dict[int, Array]:
    """Shifts (N, 3) of joints at frames of the clip, from those at the rows of a window."""
    known = window.clip.times[window.rows]
    out = {}
    for joint, shift in (shifts or {}).items():
        # a stance has one shift: that of the row before
        at = np.clip(np.searchsorted(known, window.clip.times[rows] + 1e-9) - 1, 0, len(known) - 1)
        after = np.minimum(at + 1, len(known) - 1)
        here, there = shift[at], shift[after]
        out[joint] = np.where(np.linalg.norm(here, axis=1, keepdims=True) > 0.0, here, there)
    return out
