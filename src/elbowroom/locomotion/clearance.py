"""Limbs kept clear by their collision shapes: arms abducted from the body, feet lifted off the floor, as needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import scipy

from elbowroom.character.body import Character
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion import upper
from elbowroom.locomotion.figure import SIDES, figure
from elbowroom.locomotion.room import gap, lowest, part
from elbowroom.locomotion.steps import Steps
from elbowroom.motion.clip import Clip
from elbowroom.motion.legs import place_feet
from elbowroom.motion.soles import soles

MARGIN = 0.008  # metres between arms and body
_RATE = 30.0  # samples per second
_ROUNDS = 4
_LEAST_GAIN = 0.4  # share of the lever
_ENOUGH = 0.2 * MARGIN  # tolerated shortfall of the margin
_MOST = np.radians(35.0)
# Seconds of the smooth opening of an arm, and before and after it is needed.
_SOFT = 0.22
# Compliance of soles, metres; runners' feet dip deeper between frames while they roll off, without being lifted.
_SOLES_GIVE = 0.001
_SHINS_CLEAR = 0.001  # metres that shins stay above the floor
_SAMPLES_PER_FRAME = 4  # samples per frame
_BESIDE = {
    "upper_arm": ("pelvis", "spine1"),
    "forearm": ("pelvis", "spine1", "spine2", "chest", "thigh"),
    "hand": ("pelvis", "spine1", "spine2", "thigh", "shin"),
}
_LEGS = ("thigh", "shin")
# Abduction of arms that are held out, radians: with more, they would no longer seem to hang.
_HELD_OUT = np.radians(30.0)
# metres that a foot moves along the floor next to its stance, and height over the floor below which that counts
_SLIDES_M, _BEARS_M = 0.0006, 0.004
# seconds before landing and after leaving in which it brakes for that
_BRAKES_S = 0.1


def arms_clear(clip: Clip) -> Clip:
    """The clip with its arms abducted as little as keeps them `MARGIN` off trunk and legs, smoothly in time."""
    character = clip.character
    needed = ("upper_arm", "forearm", "hand")
    if not all(f"{side}_{p}" in character.roles for side in SIDES for p in needed):
        return clip
    step = max(1, round(clip.fps / _RATE))
    samples = np.append(np.arange(0, len(clip) - 1, step), len(clip) - 1)
    spread = {side: np.zeros(len(samples)) for side in SIDES}
    opened = clip
    for _ in range(_ROUNDS):
        seen = Clip(character, clip.fps, opened.root[samples], opened.rotations[samples])
        T = seen.world()
        need = {side: _missing(character, T, side) for side in SIDES}
        if all(n.max() <= 0.0 for n in need.values()):
            break
        for side in SIDES:
            spread[side] = np.minimum(spread[side] + need[side], _MOST)
        opened = _opened(clip, {side: _soft(samples, spread[side], clip) for side in SIDES})
    return opened


def feet_clear(clip: Clip) -> Clip:
    """The clip with its feet lifted as little as keeps them out of the floor (z = 0), also between frames."""
    character = clip.character
    count = (len(clip) - 1) * _SAMPLES_PER_FRAME + 1
    root, q = clip.sample(clip.start + np.arange(count) / (clip.fps * _SAMPLES_PER_FRAME))
    T_between, T = character.skeleton.forward(root, q), clip.world()
    feet = {}
    for side in SIDES:
        joint = character.role(f"{side}_foot")
        # heels and boots of some rigs belong to the shin
        parts = ((character.skeleton.subtree(joint), _SOLES_GIVE), ((character.role(f"{side}_shin"),), -_SHINS_CLEAR))
        seen = [(lowest(character, joints, T_between), give) for joints, give in parts]
        depths = [np.maximum(-low - give, 0.0) for low, give in seen if low is not None]
        depth = np.max(depths, axis=0) if depths else np.zeros(count)
        if depth.any():
            # as deep as between a frame and its neighbours, smoothed
            need = scipy.ndimage.maximum_filter1d(depth, 4 * _SAMPLES_PER_FRAME + 1, mode="nearest")[
                ::_SAMPLES_PER_FRAME
            ]
            lifted = T[:, joint].copy()
            lifted[:, 2, 3] += np.convolve(np.pad(need, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
            feet[side] = lifted
    return clip.with_(rotations=place_feet(character, clip.root, clip.rotations, feet)) if feet else clip


def landing_still(clip: Clip, steps: Steps, begin: float) -> Clip:
    """The clip, from `begin` seconds on, with feet that move little along the floor in the frames before they land and
    after they leave it.

    Between these and their neighbours they are as good as down: what is left would be seen as sliding.
    """
    character, T = clip.character, clip.world()
    count = max(1, round(_BRAKES_S * clip.fps))
    shares = 1.0 - smootherstep(np.arange(count) / count)
    rows: set[int] = set()
    for side, sole in zip(SIDES, soles(character), strict=True):
        foot, hip = (T[:, character.role(f"{side}_{part}"), :3, 3] for part in ("foot", "thigh"))
        points = np.concatenate([sole.points(T), sole.tips(T)[:, None]], axis=1)
        stances = [tuple(round((t - begin) * clip.fps) for t in (s.begin, s.end)) for s in steps.of(side)]
        for k, other, swing in _ends(stances, len(clip)):
            lowest = int(points[k, :, 2].argmin())
            by = _steeper(points[k, lowest] - points[other, lowest], foot[other] - hip[other])
            if by.any():
                # braked over some frames, not in one
                soon = other + np.sign(other - k) * np.arange(min(count, max(1, swing // 2)))
                foot[soon] += shares[: len(soon), None] * by
                rows.update(soon.tolist())
    some = sorted(rows)
    if not some:
        return clip
    q = np.array(clip.rotations)
    feet = {side: T[some, character.role(f"{side}_foot")] for side in SIDES}
    q[some] = place_feet(character, clip.root[some], q[some], feet)
    for j in (character.role(f"{side}_foot") for side in SIDES):  # a turned leg may bend an ankle beyond its range
        limit = character.limits[j]
        if limit is not None:
            q[some, j] = limit.clamp(q[some, j])
    return clip.with_(rotations=q)


def _ends(stances: Sequence[tuple[int, ...]], count: int) -> Iterator[tuple[int, int, int]]:
    """Frames in which feet land and leave in a clip of some frames, the frames next to them in the air, and the number
    of frames in the air.
    """
    for (_, leaves), (lands, _) in pairwise(stances):
        if leaves >= 0 and lands < count and lands - leaves > 1:
            yield lands, lands - 1, lands - leaves - 1
            yield leaves, leaves + 1, lands - leaves - 1


def _steeper(way: Array, leg: Array) -> Array:
    """Displacement (3,) of a foot, metres, after which it goes little along the floor on its way (3,) to its stance.

    It turns the leg (3,), from hip to ankle, about the hip: moved along the floor alone, knees would snap straight.
    """
    far, high, ratio = float(np.linalg.norm(way[:2])), max(-float(way[2]), 0.0), _SLIDES_M / _BEARS_M
    if far <= max(_SLIDES_M, ratio * high):
        return np.zeros(3)
    along = np.append(way[:2] / far, 0.0)
    rise = max(float(along @ leg) / max(-float(leg[2]), 0.1), 0.0)
    by = min((far - ratio * high) / (1.0 + ratio * rise), far - _SLIDES_M)
    return by * (along + np.array([0.0, 0.0, rise]))


def _missing(character: Character, T: Array, side: str) -> Array:
    """Abduction (N,) that an arm needs, radians, for T (N, J, 4, 4); 0 where it is clear."""
    shoulder, axis = T[:, character.role(f"{side}_upper_arm"), :3, 3], _axis(character, T, side)
    need = np.zeros(len(T))
    for joints, others in _kept_apart(character, side):
        mine = part(character, joints, T)
        assert mine is not None
        way = np.cross(axis, mine.middle - shoulder)
        lever = np.linalg.norm(way, axis=1)
        for other in others:
            its = part(character, (other,), T)
            assert its is not None
            distance, towards = gap(mine, its, MARGIN)
            # metres of clearance per radian: little where the arm is in front of or behind what it is near
            gain = np.maximum(-np.sum(way * towards, axis=1), _LEAST_GAIN * lever)
            short = MARGIN - distance
            need = np.maximum(need, np.where(short > _ENOUGH, short / gain, 0.0))
    return need


def _kept_apart(character: Character, side: str) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Joints of each part of an arm, and those beside it that abduction keeps it off."""
    for name, other in _separable(character):
        joint = character.role(f"{side}_{name}")
        yield (
            character.subtree(joint) if name == "hand" else (joint,),
            [character.role(f"{side}_{o}" if o in _LEGS else o) for o in other],
        )


@lru_cache(maxsize=32)
def _separable(character: Character) -> list[tuple[str, list[str]]]:
    """Parts of arms with those beside them that are apart when both arms are held out.

    What overlaps even then is one flesh, such as an upper arm and a trunk whose armpits share their skin.
    """
    body = figure(character)
    turns: dict[str, Array] = {}
    out = replace(upper.hanging(1), abduction=np.array([_HELD_OUT]))
    for side in SIDES:
        turns |= upper.arm(body, side, out, rot.IDENTITY[None], rot.IDENTITY[None])
    T = character.skeleton.forward(*body.assemble(turns, np.zeros((1, 3))))

    def apart(side: str, name: str, other: str) -> bool:
        roles = f"{side}_{name}", f"{side}_{other}" if other in _LEGS else other
        if roles[1] not in character.roles:
            return False
        mine, its = (part(character, (character.role(role),), T) for role in roles)
        return mine is not None and its is not None and float(gap(mine, its, MARGIN)[0][0]) > 0.0

    return [
        (name, [o for o in beside if all(apart(side, name, o) for side in SIDES)]) for name, beside in _BESIDE.items()
    ]


def _axis(character: Character, T: Array, side: str) -> Array:
    """Unit axis (N, 3) of abduction of an arm."""
    at = {s: T[:, character.role(f"{s}_upper_arm"), :3, 3] for s in SIDES}
    outwards = at[side] - at["right" if side == "left" else "left"]
    return rot.normalize(np.cross(T[:, character.role(f"{side}_forearm"), :3, 3] - at[side], outwards))


def _soft(samples: Array, need: Array, clip: Clip) -> Array:
    """A smooth angle (T,) over all frames that is nowhere below the need (N,) at the sampled frames."""
    every = np.interp(np.arange(len(clip)), samples, need)
    reach = int(np.ceil(3.0 * _SOFT * clip.fps))
    wide = scipy.ndimage.maximum_filter1d(np.pad(every, 2 * reach, mode="edge"), 2 * reach + 1)
    soft = scipy.ndimage.gaussian_filter1d(wide, _SOFT * clip.fps, truncate=3.0)
    return np.asarray(soft[2 * reach : 2 * reach + len(every)])


def _opened(clip: Clip, spread: dict[str, Array]) -> Clip:
    """The clip with each upper arm rotated away from the body by angles (T,)."""
    character = clip.character
    T, q = clip.world(), clip.rotations.copy()
    for side in SIDES:
        j = character.role(f"{side}_upper_arm")
        axis = _axis(character, T, side)
        parent = rot.from_matrix(T[:, character.skeleton.parents[j], :3, :3])
        half = 0.5 * spread[side][:, None]
        turn = np.concatenate([np.cos(half), np.sin(half) * axis], axis=-1)
        own = rot.multiply(rot.multiply(rot.conjugate(parent), turn), parent)
        q[:, j] = rot.multiply(own, q[:, j])
        limit = character.limits[j] if j < len(character.limits) else None
        if limit is not None:
            q[:, j] = limit.clamp(q[:, j])
    return clip.with_(rotations=q)
