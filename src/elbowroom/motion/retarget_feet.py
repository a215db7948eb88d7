"""Feet planted: what touches the floor stays where it is, and the hips give way so that the legs reach."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import convolve1d, maximum_filter1d, uniform_filter1d

from elbowroom.character.body import Character
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import Contacts, Flags
from elbowroom.motion.edit import without_lead
from elbowroom.motion.foot_tracks import HEADING, PLACE, feet_of, pinned, track_of
from elbowroom.motion.legs import place_feet
from elbowroom.motion.soles import Sole, soles

_UP = np.array([0.0, 0.0, 1.0])
# Share of its length to which a leg may be stretched: near full stretch a knee snaps.
_STRETCH = 0.998
# Over how long the hips give way, and toes settle on the floor, seconds.
_HIPS, _TOES = 0.25, 0.08


def plant_feet(clip: Clip, contacts: Contacts) -> Clip:
    """The clip with its planted heels and balls held in place on the contacts' floor, metres high.

    `contacts` tell by frame which points are planted; they may come from another body's clip of the same
    frames.
    """
    lead = clip.source.lead
    if lead:
        real = plant_feet(without_lead(clip), contacts.after(lead))
        root = np.concatenate([clip.root[:lead], real.root])
        return clip.with_(root=root, rotations=np.concatenate([clip.rotations[:lead], real.rotations]))
    character = clip.character
    T = clip.world()
    root, q = np.array(clip.root), np.array(clip.rotations)
    lowered, planted, feet = [], [], {}
    for sole, column in zip(soles(character), (0, 2), strict=True):
        heel, ball = contacts.on[:, column], contacts.on[:, column + 1]
        track = track_of(sole, T[:, sole.foot])
        held = pinned(sole, track, heel, ball, contacts.floor, clip.fps)
        held[:, PLACE][:, 2] += _under_floor(sole, held, contacts.floor, ~(heel | ball))
        feet[sole.side] = feet_of(sole, held)
        lowered.append(held[:, 5] - track[:, 5])
        planted.append(_soft(heel | ball, _HIPS, clip.fps) + 1e-3)
        if sole.toes >= 0:
            q[:, sole.toes] = _toes_on_floor(clip, sole, feet[sole.side], held, ball)
    share = np.sum(np.stack(lowered) * np.stack(planted), axis=0) / np.sum(planted, axis=0)
    root[:, 2] += uniform_filter1d(share, _width(_HIPS, clip.fps), mode="nearest")
    root[:, 2] -= _covering(_lack_of_leg(character, T, root - clip.root, feet), _width(_HIPS, clip.fps))
    q = place_feet(character, root, q, feet)
    return clip.with_(root=root, rotations=q)


def _under_floor(sole: Sole, track: Array, floor: float, swinging: Flags) -> Array:
    """How much a swinging foot must rise to clear the floor, (T,) metres."""
    T_foot = feet_of(sole, track)
    lowest = apply(T_foot, np.stack([sole.heel, sole.ball]))[..., 2].min(axis=1)
    return np.where(swinging, np.maximum(floor - lowest, 0.0), 0.0)


def _toes_on_floor(clip: Clip, sole: Sole, T_foot: Array, track: Array, ball: Flags) -> Array:
    """Local rotations of the toes (T, 4): flat on the floor while the ball is planted, else as they were."""
    flat = rot.multiply(rot.about(_UP, track[:, HEADING]), sole.toes_flat)
    on_floor = rot.multiply(rot.conjugate(rot.from_matrix(T_foot[:, :3, :3])), flat)
    return rot.slerp(clip.rotations[:, sole.toes], on_floor, _soft(ball, _TOES, clip.fps))


def _lack_of_leg(character: Character, T: Array, moved: Array, feet: dict[str, Array]) -> Array:
    """How far the hips must come down so that both feet are within reach, (T,) metres."""
    lack = np.zeros(len(T))
    for side, T_foot in feet.items():
        hip, knee, ankle = (
            T[:, character.role(f"{side}_{part}"), :3, 3] for part in ("thigh", "shin", "foot")
        )
        length = np.linalg.norm(knee - hip, axis=-1) + np.linalg.norm(ankle - knee, axis=-1)
        reach = _STRETCH * length
        to_foot = T_foot[:, :3, 3] - (hip + moved)
        aside = np.sum(to_foot[:, :2] ** 2, axis=-1)
        # with the foot too far aside for any height the hips come down until the leg lies level at most
        drop = -to_foot[:, 2] - np.sqrt(np.maximum(reach**2 - aside, 0.0))
        lack = np.maximum(lack, np.minimum(drop, 0.3 * length))
    return np.maximum(lack, 0.0)


def _covering(need: Array, width: int) -> Array:
    """A smooth curve nowhere below `need` (T,), made over `width` frames."""
    window = np.hanning(width + 2)[1:-1]
    return convolve1d(maximum_filter1d(need, width, mode="nearest"), window / window.sum(), mode="nearest")


def _soft(on: Flags, seconds: float, fps: float) -> Array:
    """Flags (T,) as weights that rise and fall over some time."""
    return uniform_filter1d(on.astype(float), _width(seconds, fps), mode="nearest")


def _width(seconds: float, fps: float) -> int:
    """An odd number of frames."""
    return 2 * round(0.5 * seconds * fps) + 1
