"""Cost of a repair: one number for how much it changes a clip; the cheapest of several repairs is taken."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.markers import marker_positions
from elbowroom.character.masses import center_of_mass
from elbowroom.character.range_of_motion import unusual
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.kept import kept
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.posture_constraints import constraints_of
from elbowroom.motion.posture_db import PostureDatabase
from elbowroom.motion.quality import rms_jerk
from elbowroom.motion.recorded import recorded_postures
from elbowroom.world.world import World

# Highest frame rate at which clips are compared.
_RATE_HZ = 60.0
# Weights relative to one joint that is a radian away for a second: squared metres of hands, head or feet; squared
# radians beyond what people use; squared radians of head rotation in the world (people look where they go); seconds
# that are changed at all; and RMS jerk beyond the limit, relative to the clip's. Tuned on strips of
# benchmarks/repair_made.py.
_PER_M2, _PER_UNUSUAL2, _PER_GAZE2, _PER_S, _PER_JERK = 6.0, 6.0, 8.0, 0.2, 0.5
# Weight of a second in a posture as far from recorded ones as these usually are from each other; and samples per
# second. Tuned on strips of benchmarks/repair_made.py.
_PER_UNLIKE2 = 0.25
_POSTURES_HZ = 10.0
# Weight of a metre that the joints of a body are moved on average: leaving one's path by 10 cm counts as much as a
# joint that is a radian away.
_PER_M = 10.0
# Weight of leg joints: foot paths count separately, and knees bend far for a body that sinks a little.
_LEGS = 0.25
# Largest RMS jerk of a repair, relative to the clip's.
JERK_GAIN = 1.2
# Roles of limb ends whose paths count.
_HANDS_AND_FEET = ("left_hand", "right_hand", "left_foot", "right_foot")
_ENDS = (*_HANDS_AND_FEET, "head")
# Cost up to which a repair is accepted without looking for a smaller one: an arm or neck some 40 degrees away for a
# second. A lower value makes ordinary repairs several times slower.
SMALL = 0.8


def cost(source: Clip, new: Clip) -> float:
    """Cost of a change from the imported clip; both have the same frames.

    Squares are summed over joints and time, so that many small rotations cost less than one large one.
    """
    step = max(round(source.fps / _RATE_HZ), 1)
    rows = np.flatnonzero(_differ(source, new))
    if not len(rows):
        return 0.0
    rows = rows[:: min(step, len(rows))]
    seconds = step / source.fps
    old, now = source.rotations[rows], new.rotations[rows]
    turned = rot.angle_between(old, now)
    joints = [int(j) for j in np.flatnonzero(turned.max(axis=0) > 1e-6)]
    body = source.character
    more: Array = unusual(body, joints, now[:, joints]) - unusual(body, joints, old[:, joints])
    ends = [body.roles[role] for role in _ENDS if role in body.roles]
    T_old, T_new = (body.transforms(clip.root[rows], clip.rotations[rows]) for clip in (source, new))
    away = np.linalg.norm((T_new - T_old)[:, ends, :3, 3], axis=-1)
    legs = [j for chain in body.chains.values() if chain.kind == "leg" for j in chain.joints]
    shares = np.ones(turned.shape[1])
    shares[legs] = _LEGS
    moved = np.linalg.norm((T_new - T_old)[..., :3, 3], axis=-1).mean(axis=1)
    total = (
        np.sum(turned**2 * shares)
        + _PER_M * np.sum(moved)
        + _PER_M2 * np.sum(away**2)
        + _PER_UNUSUAL2 * np.sum(np.maximum(more, 0.0) ** 2)
    )
    if "head" in body.roles:
        head = body.roles["head"]
        was, is_now = (rot.from_matrix(T[:, head, :3, :3]) for T in (T_old, T_new))
        total += _PER_GAZE2 * np.sum(rot.angle_between(was, is_now) ** 2)
    every = max(round(source.fps / step / _POSTURES_HZ), 1)
    total += _PER_UNLIKE2 * every * np.sum(unlike_recorded(body, T_old[::every], T_new[::every]))
    changed = _PER_S * len(rows)
    return float((total + changed) * seconds + _PER_JERK * max(jerk_gain(source, new, turned) - JERK_GAIN, 0.0))


def unlike_recorded(body: Character, T_old: Array, T_new: Array) -> Array:
    """Mean squared distance (N,) of markers from recorded postures, relative to the usual error.

    T_old and T_new (N, J, 4, 4) are joints before and after a repair. The posture database is queried with the hands
    and feet of both: the body should change as recorded people do between them, however the rig's own posture differs
    from theirs. The usual error depends on the distance from recorded hands and feet: strides are far from all of them.
    """
    database = kept(body, "recorded postures", lambda: _database(body))
    if database is None:
        return np.zeros(len(T_old))
    out = []
    for both in zip(T_old, T_new, strict=True):
        targets = [{role: T[body.role(role)] for role in _HANDS_AND_FEET} for T in both]
        was, now = (database.posture(constraints_of(body, some)) for some in targets)
        moved = marker_positions(body, both[1]) - marker_positions(body, both[0])
        off = np.sum((moved - (now.markers - was.markers)) ** 2, axis=-1)
        out.append(np.average(off, weights=now.weights) / max(was.expected_error_m, now.expected_error_m) ** 2)
    return np.array(out)


def _database(body: Character) -> PostureDatabase | None:
    """Recorded postures scaled to a body; None for rigs that lack parts."""
    try:
        return recorded_postures().for_character(body)
    except BadValue:
        return None


def jerk_gain(source: Clip, new: Clip, turned: Array) -> float:
    """RMS jerk of the joint rotated most, by angles (T, J), relative to the clip's."""
    joint = int(np.argmax(turned.sum(axis=0)))
    was, now = (float(rms_jerk(clip.rotations[clip.source.lead :, joint], clip.fps)) for clip in (source, new))
    return now / max(was, 1e-9)


def _differ(a: Clip, b: Clip) -> Array:
    return np.asarray(np.any(a.rotations != b.rotations, axis=(1, 2)) | np.any(a.root != b.root, axis=1))


# Shifts of the centre of mass below this are unremarkable, metres.
_NOTED = 0.03


def balance(before: World, after: World, who: Iterable[str]) -> tuple[str, ...]:
    """Sentences on characters whose centre of mass a change moves sideways noticeably."""
    sentences = []
    for name in dict.fromkeys(who):
        old, new = before.motion(name), after.motion(name)
        if not (isinstance(old, Clip) and isinstance(new, Clip)) or new.character.masses is None:
            continue
        at = [center_of_mass(clip.character, clip.world()) for clip in (old, new)]
        shift = np.linalg.norm((at[1] - at[0])[:, :2], axis=1)
        k = int(np.argmax(shift))
        if shift[k] > _NOTED:
            sentences.append(
                f"balance of {name}: the repair moves the centre of mass by up to {100 * shift[k]:.1f} cm "
                f"(at {new.times[k]:.2f} s)."
            )
    return tuple(sentences)
