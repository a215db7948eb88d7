"""Retargeting of a clip to other proportions, its feet planted where the original's are."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import covering
from elbowroom.geometry.rotations import UP, Array
from elbowroom.geometry.transforms import apply
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import Contacts, Flags, foot_contacts
from elbowroom.motion.edit import without_lead
from elbowroom.motion.foot_tracks import HEADING, PLACE, feet_of, pinned, track_of
from elbowroom.motion.legs import place_feet, place_hands
from elbowroom.motion.retarget_pose import carry_over, has_feet, leg_length
from elbowroom.motion.soles import softened, soles, toes_above

# Share of its length to which a leg may be stretched: near full stretch a knee angular_accelerations.
_STRETCH = 0.9965
# Over how long the hips give way, and toes settle on the floor, seconds.
_HIPS, _TOES = 0.25, 0.08
# A change that reverts within this time is a jolt of the recording, seconds.
_JOLT = 0.12


def plant_feet(clip: Clip, contacts: Contacts, *, follow: bool = False) -> Clip:
    """The clip with its planted heels and balls held in place on the contacts' floor, metres high.

    `contacts` mark the planted points by frame; they may come from another body's clip of the same
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
        # rise of a swinging foot needed to clear the floor, (T,) metres
        T_foot = feet_of(sole, held)
        lowest = apply(T_foot, np.stack([sole.heel, sole.ball]))[..., 2].min(axis=1)
        held[:, PLACE][:, 2] += np.where(~(heel | ball), np.maximum(contacts.floor - lowest, 0.0), 0.0)
        feet[sole.side] = feet_of(sole, held)
        raised.append(held[:, 5] - track[:, 5])
        planted.append(heel | ball)
        if sole.toes >= 0:
            # local rotations of the toes (T, 4): flat on the floor while the ball is planted, else as they were
            flat = rot.multiply(rot.about(UP, held[:, HEADING]), sole.toes_flat)
            on_floor = rot.multiply(rot.conjugate(rot.from_matrix(feet[sole.side][:, :3, :3])), flat)
            toes[sole.toes] = rot.slerp(clip.rotations[:, sole.toes], on_floor, _soft(ball, _TOES, clip.fps))
    return HeldFeet(feet, toes, np.stack(raised), np.stack(planted))


def _hips_follow(raised: Array, planted: Flags, fps: float) -> Array:
    """Rise of the hips (T,) when planted feet (2, T) are raised (2, T), metres, so that legs keep their bend.

    Slowly they go with both feet; a jolt that a recording gave to hips and feet alike is taken from the hips
    too.
    """
    slow = scipy.ndimage.uniform_filter1d(raised, _width(_HIPS, fps), axis=1, mode="nearest")
    weight = scipy.ndimage.uniform_filter1d(planted.astype(float), _width(_HIPS, fps), axis=1, mode="nearest") + 1e-3
    quick = raised - scipy.ndimage.uniform_filter1d(raised, _width(_JOLT, fps), axis=1, mode="nearest")
    # a point that has been down for a while separates a jolt from the motion of a foot
    firm = scipy.ndimage.uniform_filter1d(planted.astype(float), _width(_JOLT, fps), axis=1, mode="nearest") ** 4
    jolt = np.sum(quick * firm, axis=0) / np.maximum(firm.sum(axis=0), 1.0)
    return np.sum(slow * weight, axis=0) / weight.sum(axis=0) + jolt


def hips_drop(character: Character, T: Array, moved: Array, feet: dict[str, Array], fps: float) -> Array:
    """Smooth drop of hips (T,) metres, moved by (T, 3) from joints at T (T, J, 4, 4), by which legs reach the feet."""
    # drop of the hips needed to bring both feet within reach, (T,) metres
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
    return covering(np.maximum(lack, 0.0), _width(_HIPS, fps))


def _soft(on: Flags, seconds: float, fps: float) -> Array:
    """Flags (T,) as weights that rise and fall over some time."""
    return scipy.ndimage.uniform_filter1d(on.astype(float), _width(seconds, fps), mode="nearest")


def _width(seconds: float, fps: float) -> int:
    """An odd number of frames."""
    return 2 * round(0.5 * seconds * fps) + 1


# Legs shorter than this, in metres, are damage.
_SHORTEST_LEGS = 1e-4


def retarget(clip: Clip, character: Character, *, floor: float | None = None, plant: bool = True) -> Clip:
    """The motion of a clip done by another character.

    Parts of the body are matched by their roles, whatever the rigs' frames and rest poses; the way and the
    height of the hips are scaled by the length of the legs, about where the clip begins. With `plant`, feet
    that bear on the floor in the clip do so without sliding. `floor` is the height of the clip's ground in
    metres, estimated where not given; it stays the same. Assumptions are listed in the result's
    `source.notes`. A character of the same skeleton gets the motion unchanged.
    """
    mine, other = clip.character.skeleton, character.skeleton
    if mine is other or (
        mine.names == other.names
        and np.array_equal(mine.parents, other.parents)
        and np.array_equal(mine.offsets, other.offsets)
        and np.array_equal(mine.rest, other.rest)
    ):
        return clip.with_(character=character)
    for body in (clip.character, character):
        if leg_length(body) < _SHORTEST_LEGS:
            raise BadValue(f"the legs of '{body.name}' have zero length, so motion cannot be scaled by them.")
    contacts = foot_contacts(clip, floor) if has_feet(clip.character) else None
    if contacts is not None:
        ground = contacts.floor
    else:
        ground = float(clip.positions()[clip.source.lead :, :, 2].min()) if floor is None else floor
    notes = clip.source.notes
    if plant:
        clip, leaps = without_jolts(clip)
        if leaps:
            notes = (*notes, f"{leaps} frames in which the body jumped and came back were interpolated")
    carried = carry_over(clip, character, ground)
    notes = (*notes, *carried.notes)
    plantable = plant and contacts is not None and has_feet(character)
    if plant and not plantable:
        notes = (*notes, "feet were not planted because a leg is missing in one of the rigs")
    made = clip.with_(
        character=character,
        root=carried.root,
        rotations=carried.rotations,
        source=replace(clip.source, euler={}, notes=notes),
    )
    if plantable and contacts is not None:
        made = _soles_above(toes_above(plant_feet(made, contacts), ground), contacts)
    return hands_above(made, ground) if plant else made


def _soles_above(clip: Clip, contacts: Contacts) -> Clip:
    """The clip with feet raised where their soles would be below the floor, although toes are bent up.

    Feet that are long for their legs roll over so steep a ball that no toes bend as far. Planted feet are raised less.
    """
    T, feet = clip.world(), {}
    for sole in soles(clip.character):
        outline = apply(T[:, sole.toes if sole.toes >= 0 else sole.foot], sole.toe_outline)
        lowest = np.minimum(outline[..., 2].min(axis=1), apply(T[:, sole.foot], sole.outline)[..., 2].min(axis=1))
        lack = np.maximum(contacts.floor - _SOFT_SOLE_M - lowest, 0.0)
        lack[: clip.source.lead] = 0.0
        if lack.any():
            swung = scipy.ndimage.distance_transform_edt(~contacts.foot(sole.side)) / clip.fps
            feet[sole.side] = T[:, sole.foot].copy()
            feet[sole.side][:, 2, 3] += np.minimum(softened(lack, clip.fps), _PLANTED_M + _RAISED_M_S * swung)
    return clip.with_(rotations=place_feet(clip.character, clip.root, clip.rotations, feet)) if feet else clip


# Depth to which the edge of a sole that rolls may be below the floor, as recorded, metres.
_SOFT_SOLE_M = 0.004
# Height to which a planted foot may be raised, metres, and speed at which it may rise beyond that, metres per second.
_PLANTED_M, _RAISED_M_S = 0.008, 1.0


def hands_above(clip: Clip, floor: float) -> Clip:
    """The clip with hands that would go below the floor, metres high, raised to it by their arms.

    Long arms reach lower than those of the recorded person. Where that person's hand lies on the floor, this one does.
    """
    character, lead = clip.character, clip.source.lead
    T, hands = clip.world(), {}
    for side in ("left", "right"):
        if not {f"{side}_{part}" for part in ("upper_arm", "forearm", "hand")} <= set(character.roles):
            continue
        hand = character.role(f"{side}_hand")
        lowest = T[:, list(character.skeleton.subtree(hand)), 2, 3].min(axis=1) - _FINGER_M * _size(character)
        lack = np.maximum(floor - lowest, 0.0)
        lack[:lead] = 0.0
        if lack.any():
            hands[side] = T[:, hand].copy()
            hands[side][:, 2, 3] += covering(lack, 2 * round(0.5 * _RISE_S * clip.fps) + 1)
    if not hands:
        return clip
    q = np.array(place_hands(character, clip.root, clip.rotations, hands))
    q[:lead] = clip.rotations[:lead]
    return clip.with_(rotations=q)


# Half the thickness of a finger of an adult, metres; time over which a hand is raised, seconds.
_FINGER_M = 0.010
_RISE_S = 0.25


# A frame is a jolt if its trunk is this far (metres) from the middle of its neighbours, and farther than what
# an acceleration of a person (m/s²) makes of it.
_LEAP, _ACCELERATION = 0.006, 40.0
# Parts that show it: the hips and what they carry on both sides.
_PARTS = ("pelvis", "left_thigh", "right_thigh")


def jolts(clip: Clip) -> NDArray[np.intp]:
    """Frames in which hips leap away from where both neighbouring frames have them."""
    parts = [clip.character.roles[r] for r in _PARTS if r in clip.character.roles] or [0]
    # distance (T, P) of points (T, P, 3) from the middle of where they are one frame before and after
    p = clip.positions()[:, parts]
    out = np.zeros(p.shape[:2])
    out[1:-1] = np.linalg.norm(p[1:-1] - 0.5 * (p[:-2] + p[2:]), axis=-1)
    off = out.max(axis=1)
    off[: clip.source.lead + 1] = 0.0
    threshold = max(_LEAP * _size(clip.character), 0.5 * _ACCELERATION / clip.fps**2)
    # The frames beside a leap are off by half of it, too.
    highest = off > 1.5 * np.maximum(np.roll(off, 1), np.roll(off, -1))
    return np.flatnonzero((off > threshold) & highest)


def without_jolts(clip: Clip) -> tuple[Clip, int]:
    """Clip with such frames interpolated between their neighbours, and their number."""
    found = jolts(clip)
    if not len(found):
        return clip, 0
    root, q = np.array(clip.root), np.array(clip.rotations)
    root[found] = 0.5 * (root[found - 1] + root[found + 1])
    q[found] = rot.slerp(q[found - 1], q[found + 1], 0.5)
    return clip.with_(root=root, rotations=q), len(found)


def _size(character: Character) -> float:
    """Height of the joints in the rest pose relative to an adult's."""
    z = character.skeleton.T_rest[:, 2, 3]
    return float(np.ptp(z)) / 1.7
