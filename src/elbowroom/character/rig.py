"""Any humanoid rig becomes a character: which joint plays which part, by names and by geometry.

Roles carry the built-in person's joint names. Names are tried first, limb by limb along the tree; a limb
whose names say nothing ('arm_joint_L_3') is found from the shape of the tree and the rest positions. The
trunk is always read from the tree: the pelvis is the joint that carries both legs and the spine, whatever
its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character import rig_geometry
from elbowroom.character.anatomy import limits_for
from elbowroom.character.anatomy_rest import facing, meaningful_rest
from elbowroom.character.anthropometry import proportions
from elbowroom.character.body import Chain, ChainKind, Character, Marker, Skin
from elbowroom.character.fit_shapes import fit_shapes, stature
from elbowroom.character.markers import markers_for
from elbowroom.character.masses import masses_for
from elbowroom.character.rig_geometry import ancestors, common_ancestor
from elbowroom.character.rig_names import FINGERS, NamedPart, finger_of, part_of, wrist_after
from elbowroom.character.skeleton import Skeleton
from elbowroom.character.visual import fitted_skin
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array

SIDES = ("left", "right")
Roles = dict[str, int]


def as_character(
    skeleton: Skeleton,
    *,
    name: str,
    skin: Skin | None = None,
    poses: ArrayLike | None = None,
    notes: Iterable[str] = (),
) -> Character:
    """The character that a rig is.

    `poses` (N, J, 4) are sample local rotations from a clip: they give a rest pose to rigs whose zero pose
    is none (ACCAD) and show the true axes of elbows and knees. Joint positions are in metres, +Z up.
    """
    all_notes = list(notes)
    samples = None if poses is None else np.asarray(poses, dtype=float).reshape(-1, len(skeleton), 4)
    roles, found = find_roles(skeleton, samples)
    all_notes += found
    skeleton, made = meaningful_rest(skeleton, roles, samples)
    all_notes += made
    front, faced = facing(skeleton, roles)
    all_notes += faced
    height = stature(skeleton, roles)
    if not np.any(np.ptp(skeleton.T_rest[:, :3, 3], axis=0) > 1e-6):
        all_notes.append("The bones have zero length.")
    if skin is not None and len(skin.vertices):
        height = float(np.ptp(skin.posed(skeleton.T_rest)[:, 2]))
    masses = None
    markers: Mapping[str, Marker] = {}
    if {"left_thigh", "right_thigh", "chest"} <= set(roles):
        try:
            masses = masses_for(skeleton, roles, height)
            markers = markers_for(skeleton, roles, front, proportions(height), skin)
        except BadValue as why:
            all_notes.append(f"Masses are unknown: {why}")
    limits = limits_for(skeleton, roles, front, recorded=True, poses=samples)
    bare = Character(
        name=name,
        skeleton=skeleton,
        roles=roles,
        limits=limits,
        chains=chains_for(skeleton, roles),
        masses=masses,
        markers=markers,
        skin=skin,
        front=front,
        notes=tuple(dict.fromkeys(all_notes)),
    )
    seen = skin if skin is not None and len(skin.vertices) else fitted_skin(bare)
    return bare.with_(shapes=fit_shapes(skeleton, roles, seen, height, limits, samples))


def find_roles(skeleton: Skeleton, poses: Array | None = None) -> tuple[Roles, list[str]]:
    """Joint of each body part that was found, and notes on doubtful or missing ones."""
    notes: list[str] = []
    by_name = _by_names(skeleton)
    upright = rig_geometry.upright_positions(skeleton, poses)
    roles = by_name
    if any(f"{side}_{part}" not in by_name for side in SIDES for part in ("thigh", "upper_arm")):
        by_shape = rig_geometry.limbs_by_shape(skeleton, upright)
        other = {v: k for k, v in by_name.items()}
        roles = by_shape if any(other.get(j, part) != part for part, j in by_shape.items()) else {**by_shape, **by_name}
        if any(part not in by_name for part in by_shape):
            notes.append("The joint names do not identify all limbs; they were found from the shape of the skeleton.")
            if not any(p.endswith("_toes") for p in by_shape) and not any(part_of(n).side for n in skeleton.names):
                notes.append("Left and right cannot be distinguished; -Y was assumed to be the front.")
    _trunk(skeleton, roles, upright)
    # each joint in one part only, should names claim more: the pelvis first, then limbs before the trunk
    order = sorted(roles, key=lambda part: (part != "pelvis", not part.startswith(SIDES)))
    first = {roles[part]: part for part in reversed(order)}
    roles = {part: j for part, j in roles.items() if first[j] == part}
    notes += rig_geometry.doubts(skeleton, roles, upright)
    notes += _lacks(skeleton, roles)
    return {k: roles[k] for k in sorted(roles, key=lambda k: (roles[k], k))}, notes


def _by_names(skeleton: Skeleton) -> Roles:
    """Limbs, head and eyes identified by names."""
    named = [part_of(n) for n in skeleton.names]
    roles: Roles = {}
    for side in SIDES:
        mine = [p if p.side == side and not p.helper else NamedPart("", "", "", True) for p in named]
        _leg(skeleton, mine, side, roles)
        _arm(skeleton, mine, side, roles)
        eyes = [j for j, p in enumerate(mine) if p.part == "eye"]
        if eyes:
            roles[f"{side}_eye"] = eyes[0]
    heads = [j for j, p in enumerate(named) if p.part == "head" and not p.helper and not p.side]
    if heads:
        roles["head"] = heads[0]
    return roles


def _first(named: Sequence[NamedPart], among: Sequence[int], *parts: str) -> int | None:
    """First joint of `among` (parents first) whose name is one of the parts."""
    return next((j for j in among if named[j].part in parts), None)


def _leg(skeleton: Skeleton, named: Sequence[NamedPart], side: str, roles: Roles) -> None:
    everywhere = range(len(skeleton))
    if _numbered_alike(skeleton, named, "leg"):
        return
    thigh = _first(named, everywhere, "thigh")
    if thigh is None:
        thigh = _first(named, everywhere, "hip")
    if thigh is None and _first(named, everywhere, "shin") is not None:
        thigh = _first(named, everywhere, "leg")
    if thigh is None:
        return
    below = skeleton.subtree(thigh)[1:]
    shin = _first(named, below, "shin")
    shin = _first(named, below, "leg") if shin is None else shin
    if shin is None:
        return
    roles[f"{side}_thigh"], roles[f"{side}_shin"] = thigh, shin
    foot = _first(named, skeleton.subtree(shin)[1:], "foot")
    if foot is None:
        return
    roles[f"{side}_foot"] = foot
    # SMPL has 'L_Ankle' and then 'L_Foot', which is where the toes bend.
    toes = _first(named, skeleton.subtree(foot)[1:], "toes", "foot")
    if toes is not None:
        roles[f"{side}_toes"] = toes


def _arm(skeleton: Skeleton, named: Sequence[NamedPart], side: str, roles: Roles) -> None:
    everywhere = range(len(skeleton))
    if _numbered_alike(skeleton, named, "arm"):
        return
    upper = next((j for p in ("upper_arm", "arm", "shoulder") if (j := _first(named, everywhere, p)) is not None), None)
    if upper is None:
        return
    fore = _first(named, skeleton.subtree(upper)[1:], "forearm")
    if fore is None:
        return
    roles[f"{side}_upper_arm"], roles[f"{side}_forearm"] = upper, fore
    above = ancestors(skeleton, upper)
    for part in ("clavicle", "shoulder"):
        clavicle = next((j for j in above if named[j].part == part), None)
        if clavicle is not None:
            roles[f"{side}_clavicle"] = clavicle
            break
    below = skeleton.subtree(fore)[1:]
    hand = _first(named, below, "hand")
    if hand is not None:
        wrist = wrist_after(skeleton.names[fore], skeleton.names[hand])
        after = (j for j in skeleton.children[hand] if skeleton.names[j].lower() == wrist)
        roles[f"{side}_hand"] = next(after, hand)
    from_one = any(p.part == "finger" and p.digits[:1] == "5" for p in named)
    for finger in FINGERS:
        bones = [j for j in below if finger_of(named[j], from_one) == finger]
        for k, j in enumerate(bones[:3]):
            roles[f"{side}_{finger}{k + 1}"] = j


def _numbered_alike(skeleton: Skeleton, named: Sequence[NamedPart], word: str) -> bool:
    """Return whether joints of one limb differ by number only ('leg_joint_L_1' to 5)."""
    hits = [j for j, p in enumerate(named) if p.part == word]
    return any(a in ancestors(skeleton, b) for a in hits for b in hits)


def _trunk(skeleton: Skeleton, roles: Roles, positions: Array) -> None:
    """Pelvis, spine, chest, neck and head from the tree, once the limbs are known."""
    legs = [roles[f"{s}_thigh"] for s in SIDES if f"{s}_thigh" in roles]
    if not legs:
        roles.setdefault("pelvis", 0)
    else:
        roles["pelvis"] = common_ancestor(skeleton, legs) if len(legs) == 2 else int(skeleton.parents[legs[0]])
    pelvis = max(roles["pelvis"], 0)
    roles["pelvis"] = pelvis
    named = [part_of(n) for n in skeleton.names]
    arms = [roles[k] for s in SIDES for k in (f"{s}_clavicle", f"{s}_upper_arm") if k in roles]
    carrier = common_ancestor(skeleton, arms) if len(arms) > 1 else pelvis
    if carrier in arms:
        carrier = max(int(skeleton.parents[carrier]), 0)
    if "head" not in roles and arms:
        in_arms = {j for arm in arms for j in skeleton.subtree(arm)}
        head = rig_geometry.head_by_shape(skeleton, positions, carrier, in_arms)
        if head is not None:
            roles["head"] = head
    top = roles.get("head", next((j for j, p in enumerate(named) if p.part == "neck" and not p.helper), carrier))
    up = ancestors(skeleton, top)[::-1] + (() if "head" in roles else (top,))
    line = [j for j in up if pelvis in ancestors(skeleton, j) and j not in arms]
    necks = [j for j in line if named[j].part == "neck"]
    if not necks and carrier in line:
        necks = line[line.index(carrier) + 1 :]
    if necks:
        roles["neck"] = necks[0]
        line = line[: line.index(necks[0])]
    if line:
        roles["chest"] = line[-1]
        lower = line[:-1]
        if lower:
            roles["spine1"] = lower[0]
        if len(lower) > 1:
            roles["spine2"] = lower[len(lower) // 2] if len(lower) > 2 else lower[1]


def _lacks(skeleton: Skeleton, roles: Mapping[str, int]) -> list[str]:
    """Sentences on parts that were not found."""
    out = []
    named = [part_of(n) for n in skeleton.names]
    single = {"thigh": "leg", "upper_arm": "arm"}
    for side in SIDES:
        for part, limb in single.items():
            if f"{side}_{part}" not in roles:
                out.append(f"No {side} {limb} found.")
        for part, below in (("foot", "thigh"), ("hand", "upper_arm")):
            if f"{side}_{below}" in roles and f"{side}_{part}" not in roles:
                stray = [skeleton.names[j] for j, p in enumerate(named) if p.part == part and p.side == side]
                why = f" ('{stray[0]}' is not connected to the limb)" if stray else ""
                out.append(f"No {side} {part} found{why}.")
    for part in ("head", "neck", "chest"):
        if part not in roles:
            out.append(f"No {part} found.")
    for what in ("clavicle", "toes", "eye"):
        gone = [s for s in SIDES if f"{s}_{what}" not in roles]
        if gone:
            plural = what if what == "toes" else what + "s"
            out.append(f"No {plural} found." if len(gone) == 2 else f"No {gone[0]} {what} found.")
    fingers = {f for f in FINGERS for s in SIDES if f"{s}_{f}1" in roles}
    if not fingers:
        out.append("No fingers found.")
    elif len(fingers - {"thumb"}) == 1:
        out.append(f"The four fingers move as one ({(fingers - {'thumb'}).pop()}).")
    elif len(fingers) < 5:
        out.append(f"No {', '.join(f for f in FINGERS if f not in fingers)} finger found.")
    return out


def chains_for(skeleton: Skeleton, roles: Mapping[str, int]) -> dict[str, Chain]:
    """Arms, legs, spine, neck, fingers and eyes of a rig, as far as its parts were found."""
    chains: dict[str, Chain] = {}

    def add(name: str, kind: ChainKind, parts: Sequence[str], lead: Sequence[str] = ()) -> None:
        joints = tuple(roles[p] for p in parts if p in roles)
        if joints:
            chains[name] = Chain(name, kind, joints, tuple(roles[p] for p in lead if p in roles))

    for side in SIDES:
        arm = [f"{side}_{p}" for p in ("upper_arm", "forearm", "hand")]
        if all(p in roles for p in arm):
            add(f"{side}_arm", "arm", arm, [f"{side}_clavicle"])
        leg = [f"{side}_{p}" for p in ("thigh", "shin", "foot")]
        if all(p in roles for p in leg):
            add(f"{side}_leg", "leg", leg)
        add(f"{side}_fingers", "fingers", [f"{side}_{f}{k}" for f in FINGERS for k in (1, 2, 3)])
    add("spine", "spine", ["spine1", "spine2", "chest"])
    add("neck", "neck", ["neck", "head"])
    add("eyes", "eyes", ["left_eye", "right_eye"])
    return chains
