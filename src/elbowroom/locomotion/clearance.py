"""Limbs kept clear by their collision shapes: arms spread off the body, feet lifted off the floor, as need be."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from elbowroom.character.body import Character
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.figure import SIDES
from elbowroom.locomotion.room import gap, part
from elbowroom.motion.clip import Clip
from elbowroom.motion.legs import place_feet

MARGIN = 0.008  # metres between arms and body
_RATE = 30.0  # looks a second
_ROUNDS = 4
_LEAST_GAIN = 0.4  # share of the lever
_ENOUGH = 0.2 * MARGIN  # what may be missing of the margin
_MOST = np.radians(35.0)
# Seconds: the arm is opened softly, and long enough before and after it needs to be.
_SOFT = 0.22
# Metres that soles give way; feet of who runs dip deeper between frames while they roll off, without being lifted.
_SOLES_GIVE = 0.001
_SHINS_CLEAR = 0.001  # metres that shins stay above the floor
_LOOKS_BETWEEN = 4  # a frame
_BESIDE = {
    "upper_arm": ("pelvis", "spine1"),
    "forearm": ("pelvis", "spine1", "spine2", "chest", "thigh"),
    "hand": ("pelvis", "spine1", "spine2", "thigh", "shin"),
}


def arms_clear(clip: Clip) -> Clip:
    """The clip with its arms spread as little as keeps them `MARGIN` off trunk and legs, softly in time."""
    character = clip.character
    needed = ("upper_arm", "forearm", "hand")
    if not all(f"{side}_{p}" in character.roles for side in SIDES for p in needed):
        return clip
    step = max(1, round(clip.fps / _RATE))
    looks = np.append(np.arange(0, len(clip) - 1, step), len(clip) - 1)
    spread = {side: np.zeros(len(looks)) for side in SIDES}
    opened = clip
    for _ in range(_ROUNDS):
        seen = Clip(character, clip.fps, opened.root[looks], opened.rotations[looks])
        T = seen.world()
        need = {side: _missing(character, T, side) for side in SIDES}
        if all(n.max() <= 0.0 for n in need.values()):
            break
        for side in SIDES:
            spread[side] = np.minimum(spread[side] + need[side], _MOST)
        opened = _opened(clip, {side: _soft(looks, spread[side], clip) for side in SIDES})
    return opened


def feet_clear(clip: Clip) -> Clip:
    """The clip with its feet lifted as little as keeps them out of the floor (z = 0), between frames, too."""
    character = clip.character
    count = (len(clip) - 1) * _LOOKS_BETWEEN + 1
    root, q = clip.sample(clip.start + np.arange(count) / (clip.fps * _LOOKS_BETWEEN))
    T_between, T = character.skeleton.forward(root, q), clip.world()
    feet = {}
    for side in SIDES:
        joint = character.role(f"{side}_foot")
        # heels and boots of some rigs belong to the shin
        parts = ((character.skeleton.subtree(joint), _SOLES_GIVE), ((character.role(f"{side}_shin"),), -_SHINS_CLEAR))
        seen = [(part(character, tuple(joints), T_between), give) for joints, give in parts]
        down = np.array([[[0.0, 0.0, -1.0]]])
        depths = [np.maximum(one.extent(down)[:, 0] - give, 0.0) for one, give in seen if one is not None]
        depth = np.max(depths, axis=0) if depths else np.zeros(count)
        if depth.any():
            # as deep as between a frame and those beside it, and softly so
            need = maximum_filter1d(depth, 4 * _LOOKS_BETWEEN + 1, mode="nearest")[::_LOOKS_BETWEEN]
            lifted = T[:, joint].copy()
            lifted[:, 2, 3] += np.convolve(np.pad(need, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
            feet[side] = lifted
    return clip.with_(rotations=place_feet(character, clip.root, clip.rotations, feet)) if feet else clip


def _missing(character: Character, T: Array, side: str) -> Array:
    """By which angle (N,) an arm has to go out, radians, for T (N, J, 4, 4); 0 where it is clear."""
    shoulder, axis = T[:, character.role(f"{side}_upper_arm"), :3, 3], _axis(character, T, side)
    need = np.zeros(len(T))
    for name, others in _BESIDE.items():
        joint = character.role(f"{side}_{name}")
        mine = part(character, tuple(character.skeleton.subtree(joint)) if name == "hand" else (joint,), T)
        if mine is None:
            continue
        way = np.cross(axis, mine.middle - shoulder)
        lever = np.linalg.norm(way, axis=1)
        for other in others:
            role = f"{side}_{other}" if other in ("thigh", "shin") else other
            its = part(character, (character.roles[role],), T) if role in character.roles else None
            if its is not None:
                distance, towards = gap(mine, its, MARGIN)
                # metres of room for each radian: little where the arm is before or behind what it comes close to
                gain = np.maximum(-np.sum(way * towards, axis=1), _LEAST_GAIN * lever)
                short = MARGIN - distance
                need = np.maximum(need, np.where(short > _ENOUGH, short / gain, 0.0))
    return need


def _axis(character: Character, T: Array, side: str) -> Array:
    """Unit axis (N, 3) about which an arm goes out to its side."""
    at = {s: T[:, character.role(f"{s}_upper_arm"), :3, 3] for s in SIDES}
    outwards = at[side] - at["right" if side == "left" else "left"]
    return rot.normalize(np.cross(T[:, character.role(f"{side}_forearm"), :3, 3] - at[side], outwards))


def _soft(looks: Array, need: Array, clip: Clip) -> Array:
    """A smooth angle (T,) over all frames that is nowhere less than the need (N,) at the frames looked at."""
    every = np.interp(np.arange(len(clip)), looks, need)
    reach = int(np.ceil(3.0 * _SOFT * clip.fps))
    wide = maximum_filter1d(np.pad(every, 2 * reach, mode="edge"), 2 * reach + 1)
    soft = gaussian_filter1d(wide, _SOFT * clip.fps, truncate=3.0)
    return np.asarray(soft[2 * reach : 2 * reach + len(every)])


def _opened(clip: Clip, spread: dict[str, Array]) -> Clip:
    """The clip with each upper arm turned away from the body by angles (T,)."""
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
