"""Retargeting of poses: segments rotate from rest as those of the same role do.

Turns are compared in the world, from the rest poses. Where the rest poses differ (a T pose, an A pose), limbs
are first brought to the same directions; the trunk, head, shoulders and feet are taken to rest alike in both,
because there the directions between joints depend more on the rig than on the pose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from elbowroom.character.anatomy_rest import angle_about
from elbowroom.character.body import Character
from elbowroom.character.hands import FINGERS, relaxed_bend
from elbowroom.character.rig_geometry import between
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import UP, Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.soles import SIDES, Sole, soles


def is_finger(role: str) -> bool:
    """Return whether a role is that of a finger's joint, e.g. 'left_index2'."""
    return role[:-1].partition("_")[2] in FINGERS


def has_fingers(character: Character) -> bool:
    """Return whether the hands have fingers of their own, not a thumb and a mitten as many recordings do."""
    return len({role[:-1] for role in character.roles if is_finger(role)}) >= 6


def relaxed(character: Character, role: str) -> Array:
    """Local rotation (4,) of a finger's joint in a hand that hangs at ease; at rest where its range is unknown."""
    j = character.role(role)
    return relaxed_bend(role, character.skeleton.rest[j], character.limits[j] if j < len(character.limits) else None)


# Runs of joints over which a bend is shared out where the other rig has fewer of them.
_RUNS = (("pelvis", "spine1", "spine2", "chest"), ("chest", "neck", "head"))


class RetargetedMotion(NamedTuple):
    """A motion on another body before its feet are planted: root (T, 3), local rotations (T, J, 4), notes."""

    root: Array
    rotations: Array
    scale: float
    notes: tuple[str, ...]


def carry_over(clip: Clip, character: Character, floor: float) -> RetargetedMotion:
    """Turns by role, and the hips at the height and stride of the other body's legs.

    `floor` is the height of the clip's ground, metres. The way is scaled about where the clip begins.
    """
    source = clip.character
    if has_fingers(character) and not has_fingers(source):
        # A mitten would leave one finger stretched among the others.
        roles = {role: j for role, j in source.roles.items() if not is_finger(role)}
        source = source.with_(roles=roles)
    turns = source.skeleton.orientations(clip.rotations)
    turns = rot.multiply(turns, rot.conjugate(source.skeleton.orientations(source.skeleton.rest)))
    facing = rot.about(UP, _heading(source.front) - _heading(character.front))
    corrections = _rest_corrections(source, character, facing)
    # Joints without a role that go by the same name in both rigs (helpers, twist bones) move alike.
    playing = set(source.roles.values())
    named = {n: turns[:, j] for j, n in enumerate(source.skeleton.names) if j not in playing}
    skeleton = character.skeleton
    W_rest = skeleton.orientations(skeleton.rest)
    role_of = {j: role for role, j in character.roles.items()}
    W = np.zeros((len(clip), len(skeleton), 4))
    for j, parent in enumerate(skeleton.parents):
        role = role_of.get(j, "")
        if j in character.stem:
            turn = _turn_of("pelvis", source.roles, turns)
        else:
            turn = _turn_of(role, source.roles, turns) if role else named.get(skeleton.names[j])
        if role.endswith("_forearm") and turn is not None:
            turn = _with_the_palm(role, source, character, turns, turn)
        if turn is not None:
            W[:, j] = rot.multiply(turn, rot.multiply(corrections.get(role, facing), W_rest[j]))
        elif is_finger(role):
            W[:, j] = rot.multiply(W[:, parent], relaxed(character, role))
        elif parent < 0:
            W[:, j] = skeleton.rest[j]
        else:
            W[:, j] = rot.multiply(W[:, parent], skeleton.rest[j])
    q = skeleton.local(W)
    scale = leg_length(character) / leg_length(source)
    there = skeleton.forward(np.zeros((len(clip), 3)), q)[..., :3, 3]
    hips = _hip_centre(source, clip.positions())
    start = hips[min(clip.source.lead, len(clip) - 1)] * [1.0, 1.0, 0.0]
    start[2] = floor + ankle_height(source)
    end = np.array([start[0], start[1], floor + ankle_height(character)])
    root = end + scale * (hips - start) - _hip_centre(character, there)
    return RetargetedMotion(root, q, scale, _notes(source, character))


def leg_length(character: Character) -> float:
    """Thigh and shin together, the mean of both sides, metres; half the height where legs were not found."""
    p = character.skeleton.T_rest[:, :3, 3]
    lengths = []
    for side in SIDES:
        leg = [character.roles.get(f"{side}_{part}") for part in ("thigh", "shin", "foot")]
        if None not in leg:
            hip, knee, ankle = (p[j] for j in leg)
            lengths.append(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))
    return float(np.mean(lengths)) if lengths else 0.5 * max(float(np.ptp(p[:, 2])), 1e-3)


def ankle_height(character: Character) -> float:
    """Height of the ankles over the soles at rest, metres; 0 where feet were not found."""
    if not has_feet(character):
        return 0.0
    return float(np.mean([-rot.rotate(sole.flat, sole.heel)[2] for sole in soles(character)]))


def has_feet(character: Character) -> bool:
    """Return whether both legs were found down to the feet."""
    return all(f"{s}_{part}" in character.roles for s in SIDES for part in ("thigh", "shin", "foot"))


def _hip_centre(character: Character, positions: Array) -> Array:
    """Middle between the hips (T, 3), or the pelvis or root where they were not found."""
    hips = [character.roles[f"{s}_thigh"] for s in SIDES if f"{s}_thigh" in character.roles]
    if len(hips) < 2:
        hips = [character.pelvis]
    return positions[:, hips].mean(axis=1)


def _turn_of(role: str, roles: Mapping[str, int], turns: Array) -> Array | None:
    """Turn from rest (T, 4) of a part, shared out along the spine where the source has no such joint."""
    if role in roles:
        return turns[:, roles[role]]
    for run in _RUNS:
        if role in run:
            k = run.index(role)
            above = [i for i in range(k) if run[i] in roles]
            below = [i for i in range(k + 1, len(run)) if run[i] in roles]
            if above and below:
                a, b = above[-1], below[0]
                return rot.slerp(turns[:, roles[run[a]]], turns[:, roles[run[b]]], (k - a) / (b - a))
    return None


def _with_the_palm(role: str, source: Character, target: Character, turns: Array, turn: Array) -> Array:
    """Turn (T, 4) of a forearm that has to turn the palm itself, where the source has a joint of its own for that."""
    hand = role.replace("forearm", "hand")
    turning = between(source.skeleton, source.roles, role, hand)
    if not turning or between(target.skeleton, target.roles, role, hand):
        return turn
    return turns[:, turning[-1]]


def _rest_corrections(source: Character, target: Character, facing: Array) -> dict[str, Array]:
    """Turn (4,) by role that brings the target's segment at rest to where the source's rests."""
    out = dict.fromkeys(target.roles, facing)
    for side in SIDES:
        limbs = [("upper_arm", "forearm", "clavicle"), ("forearm", "hand", "upper_arm")]
        limbs += [("hand", "middle1", "forearm")]
        for finger in FINGERS:
            limbs += [(f"{finger}1", f"{finger}2", "hand"), (f"{finger}2", f"{finger}3", f"{finger}1")]
            limbs += [(f"{finger}3", "", f"{finger}2")]
        limbs += [("thigh", "shin", ""), ("shin", "foot", "thigh")]
        for part, tip, before in ((f"{side}_{a}", f"{side}_{b}", f"{side}_{c}") for a, b, c in limbs):
            if part not in target.roles:
                continue
            if all(r in c.roles for r in (part, tip) for c in (source, target)):
                there = rot.rotate(facing, _direction(target, part, tip))
                out[part] = rot.multiply(rot.arc(there, _direction(source, part, tip)), facing)
            else:
                out[part] = out.get(before, facing)
    for side in SIDES:
        for upper, hinge in ((f"{side}_upper_arm", f"{side}_forearm"), (f"{side}_thigh", f"{side}_shin")):
            axes = _hinge_axis(source, hinge), _hinge_axis(target, hinge)
            if upper in source.roles and upper in target.roles and axes[0] is not None and axes[1] is not None:
                # Elbows and knees bend about their own axes, however the rigs' bones are turned at rest.
                along = _direction(source, upper, hinge)
                now = rot.rotate(out[upper], axes[1])
                out[upper] = rot.multiply(rot.about(along, angle_about(along, now, axes[0])), out[upper])
    if has_feet(source) and has_feet(target):
        for mine, other in zip(soles(target), soles(source), strict=True):
            turn = rot.about(UP, _heading(other.ahead) - _heading(mine.ahead))
            # A sole that is flat on one body is flat on the other, however the rigs rest.
            turn = rot.multiply(turn, _off_level(target, mine))
            turn = rot.multiply(rot.conjugate(_off_level(source, other)), turn)
            out[f"{mine.side}_foot"] = out[f"{mine.side}_toes"] = turn
    return out


def _hinge_axis(character: Character, part: str) -> Array | None:
    """Axis (3,) in the world about which an elbow or knee flexes at rest; None where that is not known."""
    j = character.roles.get(part)
    limit = character.limits[j] if j is not None and j < len(character.limits) else None
    if j is None or limit is None or limit.kind != "hinge":
        return None
    carrier = rot.from_matrix(character.skeleton.T_rest[character.skeleton.parents[j], :3, :3])
    return rot.rotate(carrier, rot.rotate(limit.pre, np.array([1.0, 0.0, 0.0])))


def _off_level(character: Character, sole: Sole) -> Array:
    """Turn (4,) from how a foot rests to how it lies flat."""
    rest = rot.from_matrix(character.skeleton.T_rest[sole.foot, :3, :3])
    return rot.multiply(sole.flat, rot.conjugate(rest))


def _direction(character: Character, part: str, tip: str) -> Array:
    p = character.skeleton.T_rest[:, :3, 3]
    return rot.normalize(p[character.roles[tip]] - p[character.roles[part]])


def _heading(direction: Array) -> float:
    return float(np.arctan2(direction[1], direction[0]))


def _notes(source: Character, target: Character) -> tuple[str, ...]:
    lacking = [role for role in target.roles if role not in source.roles and "eye" not in role]
    fingers = [role for role in lacking if is_finger(role)]
    others = [role for role in lacking if role not in fingers]
    notes = []
    if others:
        notes.append(f"'{source.name}' has no {', '.join(others)}: on '{target.name}' they follow their parents")
    if fingers:
        notes.append(f"'{source.name}' has no data for {len(fingers)} finger joints: they hang relaxed")
    return tuple(notes)
