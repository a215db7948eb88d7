"""Foot planting: feet in contact stay in place, and the hips move so that the legs reach."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter1d

from elbowroom.character.body import Character
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import covering
from elbowroom.geometry.rotations import UP, Array
from elbowroom.geometry.transforms import apply
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import Contacts, Flags
from elbowroom.motion.edit import without_lead
from elbowroom.motion.foot_tracks import HEADING, PLACE, feet_of, pinned, track_of
from elbowroom.motion.legs import place_feet
from elbowroom.motion.soles import Sole, soles

# Share of its length to which a leg may be stretched: near full stretch a knee angular_accelerations.
_STRETCH = 0.9965
# Over how long the hips give way, and toes settle on the floor, seconds.
_HIPS, _TOES = 0.25, 0.08
# What comes and goes in less than this is a jolt of the recording, seconds.
_JOLT = 0.12


def plant_feet(clip: Clip, contacts: Contacts, *, follow: bool = False) -> Clip:
    """The clip with its planted heels and balls held in place on the contacts' floor, metres high.

    `contacts` tell by frame which points are planted; they may come from another body's clip of the same
    frames. With `follow` the hips go along the floor with planted feet, so that legs change less.
    """
    lead = clip.source.lead
    if lead:
        real = plant_feet(without_lead(clip), contacts.after(lead), follow=follow)
        root = np.concatenate([clip.root[:lead], real.root])
        return clip.with_(root=root, rotations=np.concatenate([clip.rotations[:lead], real.rotations]))
    character = clip.character
    T = clip.world()
    held = held_feet(clip, contacts, T)
    root, q = np.array(clip.root), np.array(clip.rotations)
    for joint, turns in held.toes.items():
        q[:, joint] = turns
    root[:, 2] += _hips_follow(held.raised, held.planted, clip.fps)
    for axis in (0, 1) if follow else ():
        was = {side: T[:, character.role(f"{side}_foot"), axis, 3] for side in held.feet}
        moved = np.stack([T_foot[:, axis, 3] - was[side] for side, T_foot in held.feet.items()])
        root[:, axis] += _hips_follow(moved, held.planted, clip.fps)
    root[:, 2] -= hips_drop(character, T, root - clip.root, held.feet, clip.fps)
    q = place_feet(character, root, q, held.feet)
    return clip.with_(root=root, rotations=q)


class HeldFeet(NamedTuple):
    """Feet with their planted points in place: transforms (T, 4, 4) by side, local rotations (T, 4) of toes by joint.

    raised (2, T): metres that each foot was raised; planted (2, T).
    """

    feet: dict[str, Array]
    toes: dict[int, Array]
    raised: Array
    planted: Flags


def held_feet(clip: Clip, contacts: Contacts, T: Array) -> HeldFeet:
    """Feet of a clip, whose joints are at T (T, J, 4, 4), with planted heels and balls held in place on the floor."""
    raised, planted, feet, toes = [], [], {}, {}
    for sole, column in zip(soles(clip.character), (0, 2), strict=True):
        heel, ball = contacts.on[:, column], contacts.on[:, column + 1]
        track = track_of(sole, T[:, sole.foot])
        held = pinned(sole, track, heel, ball, contacts.floor, clip.fps)
        held[:, PLACE][:, 2] += _under_floor(sole, held, contacts.floor, ~(heel | ball))
        feet[sole.side] = feet_of(sole, held)
        raised.append(held[:, 5] - track[:, 5])
        planted.append(heel | ball)
        if sole.toes >= 0:
            toes[sole.toes] = _toes_on_floor(clip, sole, feet[sole.side], held, ball)
    return HeldFeet(feet, toes, np.stack(raised), np.stack(planted))


def _hips_follow(raised: Array, planted: Flags, fps: float) -> Array:
    """Rise of the hips (T,) when planted feet (2, T) are raised (2, T), metres, so that legs keep their bend.

    Slowly they go with both feet; a jolt that a recording gave to hips and feet alike is taken from the hips
    too.
    """
    slow = uniform_filter1d(raised, _width(_HIPS, fps), axis=1, mode="nearest")
    weight = uniform_filter1d(planted.astype(float), _width(_HIPS, fps), axis=1, mode="nearest") + 1e-3
    quick = raised - uniform_filter1d(raised, _width(_JOLT, fps), axis=1, mode="nearest")
    # only what has been down for a while tells a jolt from a foot's own motion
    firm = uniform_filter1d(planted.astype(float), _width(_JOLT, fps), axis=1, mode="nearest") ** 4
    jolt = np.sum(quick * firm, axis=0) / np.maximum(firm.sum(axis=0), 1.0)
    return np.sum(slow * weight, axis=0) / weight.sum(axis=0) + jolt


def _under_floor(sole: Sole, track: Array, floor: float, swinging: Flags) -> Array:
    """Rise of a swinging foot needed to clear the floor, (T,) metres."""
    T_foot = feet_of(sole, track)
    lowest = apply(T_foot, np.stack([sole.heel, sole.ball]))[..., 2].min(axis=1)
    return np.where(swinging, np.maximum(floor - lowest, 0.0), 0.0)


def _toes_on_floor(clip: Clip, sole: Sole, T_foot: Array, track: Array, ball: Flags) -> Array:
    """Local rotations of the toes (T, 4): flat on the floor while the ball is planted, else as they were."""
    flat = rot.multiply(rot.about(UP, track[:, HEADING]), sole.toes_flat)
    on_floor = rot.multiply(rot.conjugate(rot.from_matrix(T_foot[:, :3, :3])), flat)
    return rot.slerp(clip.rotations[:, sole.toes], on_floor, _soft(ball, _TOES, clip.fps))


def hips_drop(character: Character, T: Array, moved: Array, feet: dict[str, Array], fps: float) -> Array:
    """Smooth drop of hips (T,) metres, moved by (T, 3) from joints at T (T, J, 4, 4), by which legs reach the feet."""
    return covering(_lack_of_leg(character, T, moved, feet), _width(_HIPS, fps))


def _lack_of_leg(character: Character, T: Array, moved: Array, feet: dict[str, Array]) -> Array:
    """Drop of the hips needed to bring both feet within reach, (T,) metres."""
    lack = np.zeros(len(T))
    for side, T_foot in feet.items():
        hip, knee, ankle = (T[:, character.role(f"{side}_{part}"), :3, 3] for part in ("thigh", "shin", "foot"))
        length = np.linalg.norm(knee - hip, axis=-1) + np.linalg.norm(ankle - knee, axis=-1)
        reach = _STRETCH * length
        to_foot = T_foot[:, :3, 3] - (hip + moved)
        aside = np.sum(to_foot[:, :2] ** 2, axis=-1)
        # with the foot too far aside for any height the hips come down until the leg lies level at most
        drop = -to_foot[:, 2] - np.sqrt(np.maximum(reach**2 - aside, 0.0))
        lack = np.maximum(lack, np.minimum(drop, 0.3 * length))
    return np.maximum(lack, 0.0)


def _soft(on: Flags, seconds: float, fps: float) -> Array:
    """Flags (T,) as weights that rise and fall over some time."""
    return uniform_filter1d(on.astype(float), _width(seconds, fps), mode="nearest")


def _width(seconds: float, fps: float) -> int:
    """An odd number of frames."""
    return 2 * round(0.5 * seconds * fps) + 1
