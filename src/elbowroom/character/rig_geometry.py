"""Rig detection by shape: limbs where names are silent, doubts where the two disagree."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np

from elbowroom.character.rig_names import FINGERS, part_of
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.rotations import Array, normalize

UP = np.array([0.0, 0.0, 1.0])


def ancestors(skeleton: Skeleton, joint: int) -> tuple[int, ...]:
    """Joints above one, nearest first."""
    out = []
    j = int(skeleton.parents[joint])
    while j >= 0:
        out.append(j)
        j = int(skeleton.parents[j])
    return tuple(out)


def between(skeleton: Skeleton, roles: Mapping[str, int], upper: str, lower: str) -> tuple[int, ...]:
    """Joints between those of two parts on one limb, from the upper one down; none where a part is missing."""
    if upper not in roles or lower not in roles:
        return ()
    above = ancestors(skeleton, roles[lower])
    return above[: above.index(roles[upper])][::-1] if roles[upper] in above else ()


def common_ancestor(skeleton: Skeleton, joints: Sequence[int]) -> int:
    """Deepest joint that is above, or is, each of the given ones."""
    lines = [{j, *ancestors(skeleton, j)} for j in joints]
    return max(set.intersection(*lines))  # parents come first, so on one line the largest index is the deepest


def upright_positions(skeleton: Skeleton, poses: Array | None = None) -> Array:
    """Joint positions (J, 3) in the tallest pose: the rest pose or one of the samples (N, J, 4)."""
    at_rest = skeleton.T_rest[:, :3, 3]
    if poses is None or not len(poses):
        return at_rest
    moved = skeleton.forward(np.zeros((len(poses), 3)), poses)[:, :, :3, 3]
    tall = np.ptp(moved[:, :, 2], axis=1)
    best = int(np.argmax(tall))
    # The rest pose is preferred unless a sample is clearly taller: a raised arm is no reason to leave it.
    return moved[best] if tall[best] > 1.25 * np.ptp(at_rest[:, 2]) else at_rest


def limbs_by_shape(skeleton: Skeleton, positions: Array) -> dict[str, int]:
    """Legs, arms and head from the tree and the joint positions (J, 3), +Z up; empty where it looks like no
    person.

    Legs: the pair of low tips that are farthest apart along the tree; they part at the pelvis. Arms: among
    the tips above, the pair that mirrors each other best and lies farthest to the sides. Head: the highest
    tip that is left. Left and right follow from the feet, which point forwards from the ankles.
    """
    tips = [j for j in range(len(skeleton)) if not skeleton.children[j]]
    legs = _legs(skeleton, positions, tips)
    if legs is None:
        return {}
    pelvis = common_ancestor(skeleton, legs)
    lines = [_line(skeleton, pelvis, tip) for tip in legs]
    bones = [_two_longest(positions, line) for line in lines]
    if any(b is None for b in bones):
        return {}
    (a_leg, b_leg) = bones
    assert a_leg is not None and b_leg is not None
    side = normalize((positions[a_leg[0]] - positions[b_leg[0]]) * [1, 1, 0])
    ahead = np.zeros(3)
    for triple, line in zip((a_leg, b_leg), lines, strict=True):
        ahead += (positions[line[-1]] - positions[triple[2]]) * [1, 1, 0]
    if np.linalg.norm(ahead) > 0.02 * np.ptp(positions[:, 2]):
        left_is_a = bool(np.dot(np.cross(UP, ahead), side) >= 0)
    else:  # no toes: by the names, else as if facing -Y
        named = part_of(skeleton.names[a_leg[0]]).side
        left_is_a = named == "left" if named else bool(side[0] >= 0)
    left = side if left_is_a else -side
    roles: dict[str, int] = {}
    for triple, line, name in zip(
        (a_leg, b_leg), lines, ("left", "right") if left_is_a else ("right", "left"), strict=True
    ):
        for part, j in zip(("thigh", "shin", "foot"), triple, strict=True):
            roles[f"{name}_{part}"] = j
        after = line[line.index(triple[2]) + 1 :]
        if after:
            roles[f"{name}_toes"] = after[0]
    in_legs = {j for line in lines for j in skeleton.subtree(line[0])}
    upper = [t for t in tips if t not in in_legs and pelvis in ancestors(skeleton, t)]
    roles.update(_arms_and_head(skeleton, positions, upper, left, positions[pelvis]))
    return roles


def _legs(skeleton: Skeleton, positions: Array, tips: Sequence[int]) -> tuple[int, int] | None:
    low = positions[:, 2].min() + 0.15 * np.ptp(positions[:, 2])
    feet = [t for t in tips if positions[t, 2] <= low]
    best, pair = 0.0, None
    for i, a in enumerate(feet):
        for b in feet[i + 1 :]:
            top = common_ancestor(skeleton, (a, b))
            drop = min(positions[top, 2] - positions[a, 2], positions[top, 2] - positions[b, 2])
            apart = np.linalg.norm((positions[a] - positions[b])[:2])
            if drop > 0.25 * np.ptp(positions[:, 2]) and drop + apart > best:
                best, pair = drop + apart, (a, b)
    return pair


def _arms_and_head(
    skeleton: Skeleton, positions: Array, tips: Sequence[int], left: Array, pelvis: Array
) -> dict[str, int]:
    roles: dict[str, int] = {}
    sideways = {t: float(np.dot(positions[t] - pelvis, left)) for t in tips}
    best, pair = -np.inf, None
    for a in (t for t in tips if sideways[t] > 0):
        for b in (t for t in tips if sideways[t] < 0):
            mirrored = positions[b] - 2 * np.dot(positions[b] - pelvis, left) * left
            score = min(sideways[a], -sideways[b]) - float(np.linalg.norm(positions[a] - mirrored))
            if score > best:
                best, pair = score, (a, b)
    if pair is None:
        return roles
    chest = common_ancestor(skeleton, pair)
    taken: set[int] = set()
    for name, tip in zip(("left", "right"), pair, strict=True):
        line = _line(skeleton, chest, tip)
        taken |= set(skeleton.subtree(line[0]))
        triple = _two_longest(positions, line)
        if triple is None:
            return {}
        for part, j in zip(("upper_arm", "forearm", "hand"), triple, strict=True):
            roles[f"{name}_{part}"] = j
        before = line[: line.index(triple[0])]
        if before:
            roles[f"{name}_clavicle"] = before[-1]
        roles.update(_fingers(skeleton, positions, triple[2], name))
    head = head_by_shape(skeleton, positions, chest, taken)
    if head is not None:
        roles["head"] = head
    return roles


def head_by_shape(skeleton: Skeleton, positions: Array, chest: int, arms: Collection[int]) -> int | None:
    """Head: on the path from the parent of the arms up to the highest tip outside them."""
    tips = [j for j in skeleton.subtree(chest)[1:] if not skeleton.children[j] and j not in arms]
    if not tips:
        return None
    top = max(tips, key=lambda t: positions[t, 2])
    if positions[top, 2] <= positions[chest, 2]:
        return None
    line = [j for j in _line(skeleton, chest, top) if not part_of(skeleton.names[j]).helper]
    forks = [j for j in line if len(skeleton.children[j]) > 1]
    if forks:  # eyes, jaw, hair: what they hang on is the head
        return forks[0]
    if len(line) < 2:
        return line[0] if line and part_of(skeleton.names[line[0]]).part != "neck" else None
    # A last bone as long as a head is the way to an end joint at the crown.
    crown = np.linalg.norm(positions[line[-1]] - positions[line[-2]]) > 0.06 * np.ptp(positions[:, 2])
    return line[-2] if crown and len(line) > 2 else line[-1]


def _fingers(skeleton: Skeleton, positions: Array, hand: int, side: str) -> dict[str, int]:
    """Fingers of a hand with four or five branches: the thumb points away from the others, which lie side by side."""
    chains = []
    for j in skeleton.children[hand]:
        chain = [j]
        while len(skeleton.children[chain[-1]]) == 1:
            chain.append(skeleton.children[chain[-1]][0])
        if len(chain) > 1:
            chains.append(chain)
    if len(chains) not in (4, 5):
        return {}
    way = normalize(np.array([positions[c[1]] - positions[c[0]] for c in chains]))
    thumb = int(np.argmin(way @ way.sum(axis=0)))
    others = [k for k in range(len(chains)) if k != thumb]
    knuckles = np.array([positions[chains[k][0]] for k in others])
    along = normalize(way[others].sum(axis=0))
    across = knuckles - knuckles.mean(axis=0)
    across -= (across @ along)[:, None] * along
    row = np.linalg.svd(across)[2][0]  # from the little finger to the index finger, or back
    if np.dot(row, positions[chains[thumb][0]] - knuckles.mean(axis=0)) < 0:
        row = -row
    others = [others[k] for k in np.argsort(-(across @ row))]
    out = {}
    for finger, k in zip(FINGERS, (thumb, *others), strict=False):
        for segment, j in enumerate(chains[k][:3]):
            out[f"{side}_{finger}{segment + 1}"] = j
    return out


def _line(skeleton: Skeleton, top: int, tip: int) -> list[int]:
    """Joints from below `top` down to `tip`."""
    line = [tip, *ancestors(skeleton, tip)]
    return line[: line.index(top)][::-1] if top in line else line[::-1]


def _two_longest(positions: Array, line: Sequence[int]) -> tuple[int, int, int] | None:
    """Three joints in a row whose two bones are both long: hip, knee, ankle or shoulder, elbow, wrist."""
    length = [float(np.linalg.norm(positions[b] - positions[a])) for a, b in pairwise(line)]
    if len(length) < 2:
        return None
    k = int(np.argmax([min(a, b) for a, b in pairwise(length)]))
    return line[k], line[k + 1], line[k + 2]


def doubts(skeleton: Skeleton, roles: Mapping[str, int], positions: Array) -> list[str]:
    """Conflicts of names and shape: sides swapped, a knee above its hip, a head below the chest."""
    out = []
    names = skeleton.names
    for parent, child in (("thigh", "shin"), ("shin", "foot")):
        for side in ("left", "right"):
            a, b = roles.get(f"{side}_{parent}"), roles.get(f"{side}_{child}")
            if a is not None and b is not None and positions[b, 2] > positions[a, 2] + 1e-6:
                out.append(f"'{names[b]}' is above '{names[a]}' although it is the {side} {child}.")
    for low, high in (("pelvis", "head"), ("chest", "head"), ("pelvis", "chest")):
        a, b = roles.get(low), roles.get(high)
        if a is not None and b is not None and positions[b, 2] < positions[a, 2] - 1e-6:
            out.append(f"'{names[b]}' is below '{names[a]}' although it is the {high}.")
    across = []
    for part in ("thigh", "upper_arm"):
        a, b = roles.get(f"left_{part}"), roles.get(f"right_{part}")
        if a is not None and b is not None:
            across.append((part, normalize((positions[a] - positions[b]) * [1, 1, 0])))
    if len(across) == 2 and np.dot(across[0][1], across[1][1]) < -0.5:
        out.append("Left and right of the arms and of the legs are on opposite sides.")
    for part, left in across:
        ahead = forward_of_feet(roles, positions)
        if ahead is not None and np.dot(np.cross(UP, ahead), left) < -0.3:
            out.append(f"The feet point backwards if '{names[roles['left_' + part]]}' is on the left.")
            break
    return out


def forward_of_feet(roles: Mapping[str, int], positions: Array) -> Array | None:
    """Horizontal unit direction from ankles to toes, None where there are no toes."""
    total = np.zeros(3)
    for side in ("left", "right"):
        a, b = roles.get(f"{side}_foot"), roles.get(f"{side}_toes")
        if a is not None and b is not None:
            total += (positions[b] - positions[a]) * [1, 1, 0]
    size = float(np.linalg.norm(total))
    return total / size if size > 1e-3 else None
