"""The 41 named markers of a motion capture suit, on the skin of the person and of any rig with known parts.

Places follow the Plug-in Gait marker set (Vicon, Plug-in Gait Reference Guide) with the variants of the
CMU and ACCAD collections: waist markers FWT and BWT for ASI and PSI, FIN behind the knuckles, MT5 on the
fifth metatarsal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.anthropometry import BALL_SHARE, HEEL_SHARE, Proportions
from elbowroom.character.body import Character, Marker, Skin
from elbowroom.character.hands import FIRST_JOINT
from elbowroom.character.human_joints import carrier
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array, normalize

# Labels in the usual order.
_MIDDLE = ("LFHD", "RFHD", "LBHD", "RBHD", "C7", "T10", "CLAV", "STRN", "RBAC")
_ARM = ("SHO", "UPA", "ELB", "FRM", "WRA", "WRB", "FIN")
_WAIST = ("LFWT", "RFWT", "LBWT", "RBWT")
_LEG = ("THI", "KNE", "SHN", "ANK", "HEE", "TOE", "MT5")
MARKERS: tuple[str, ...] = (
    *_MIDDLE,
    *(side + m for side in "LR" for m in _ARM),
    *_WAIST,
    *(side + m for side in "LR" for m in _LEG),
)

# How far a marker may be moved to lie on the skin, as a share of stature.
ACCELERATION = 0.06


@dataclass(frozen=True)
class MarkerPlace:
    """Position of a marker in the rest pose.

    It starts at part `base` plus `along` times the way to part `end`, then goes `up`, to the `front` and
    `out` from the middle of the body, in metres. With an `end`, `front` and `out` are taken across that
    bone and `up` is unused. `on` is the part that it is stuck to.
    """

    on: str
    base: str
    end: str = ""
    along: float = 0.0
    up: float = 0.0
    front: float = 0.0
    out: float = 0.0


def _radius(girth: float) -> float:
    return girth / (2.0 * np.pi)


def _middle_places(p: Proportions) -> dict[str, MarkerPlace]:
    """Markers of head and trunk; those with a twin are given for the left side, without the letter."""
    u, t, b, d = p.unit, p.length["chest_to_neck"], p.breadth["head"], p.depth["head"]
    up_trunk, waist = p.scales.trunk * u, p.scales.trunk_girth * u
    band = 0.5 * p.length["head"]
    return {
        "FHD": MarkerPlace("head", "head", up=band, front=0.27 * d, out=0.42 * b),
        "BHD": MarkerPlace("head", "head", up=band, front=-0.35 * d, out=0.36 * b),
        "C7": MarkerPlace("chest", "chest", up=1.10 * t, front=-0.035 * u),
        "T10": MarkerPlace("chest", "chest", up=-0.05 * t, front=-0.27 * p.depth["chest"]),
        "CLAV": MarkerPlace("chest", "chest", up=0.80 * t, front=0.45 * p.depth["chest"]),
        "STRN": MarkerPlace("chest", "chest", up=0.15 * t, front=0.66 * p.depth["chest"]),
        "BAC": MarkerPlace(
            "chest", "chest", up=0.45 * t, front=-0.30 * p.depth["chest"], out=0.30 * p.breadth["chest"]
        ),
        "FWT": MarkerPlace("pelvis", "pelvis", up=0.045 * up_trunk, front=0.050 * waist, out=0.070 * waist),
        "BWT": MarkerPlace("pelvis", "pelvis", up=0.055 * up_trunk, front=-0.055 * waist, out=0.028 * waist),
    }


def _limb_places(p: Proportions) -> dict[str, MarkerPlace]:
    """Markers of arm and leg, for the left side, without the letter."""
    g = p.girth
    arm, fore, hand = "upper_arm", "forearm", "hand"
    foot, sole = p.length["foot"], -p.length["ankle_height"]
    mid_thigh = 0.5 * (g["thigh"] + g["lower_thigh"])
    return {
        "SHO": MarkerPlace("clavicle", arm, up=1.1 * _radius(g["armpit"]), out=-0.010 * p.unit),
        "UPA": MarkerPlace(arm, arm, fore, 0.45, out=_radius(g["upper_arm"])),
        "ELB": MarkerPlace(arm, arm, fore, 1.0, out=_radius(g["elbow"])),
        "FRM": MarkerPlace(fore, fore, hand, 0.45, out=_radius(g["forearm"])),
        "WRA": MarkerPlace(fore, fore, hand, 0.98, front=1.2 * _radius(g["wrist"])),
        "WRB": MarkerPlace(fore, fore, hand, 0.98, front=-1.2 * _radius(g["wrist"])),
        "FIN": MarkerPlace(hand, hand, "middle1", 0.90, front=0.12 * p.breadth["hand"], out=0.6 * p.depth["hand"]),
        "THI": MarkerPlace("thigh", "thigh", "shin", 0.50, out=_radius(mid_thigh)),
        "KNE": MarkerPlace("thigh", "thigh", "shin", 1.0, out=_radius(g["knee"])),
        "SHN": MarkerPlace("shin", "shin", "foot", 0.50, out=_radius(g["calf"]) * 0.9),
        "ANK": MarkerPlace("shin", "shin", "foot", 1.0, out=_radius(g["ankle"]) * 1.05),
        "HEE": MarkerPlace("foot", "foot", up=0.6 * sole, front=-HEEL_SHARE * foot),
        "TOE": MarkerPlace("foot", "foot", up=0.4 * sole, front=(BALL_SHARE - HEEL_SHARE) * foot),
        "MT5": MarkerPlace(
            "foot",
            "foot",
            up=0.6 * sole,
            front=(BALL_SHARE - HEEL_SHARE - 0.09) * foot,
            out=0.5 * p.breadth["foot"],
        ),
    }


def markers_for(
    skeleton: Skeleton,
    roles: Mapping[str, int],
    front: ArrayLike,
    sizes: Proportions,
    skin: Skin | None = None,
) -> dict[str, Marker]:
    """The markers of a rig, as many as its parts allow.

    `front` (3,) is the direction faced in the rest pose; `sizes` are those of a person of the rig's
    height; where there is a skin the markers lie on it.
    """
    facing = normalize(np.asarray(front, dtype=float))
    at = {role: skeleton.T_rest[j, :3, 3] for role, j in roles.items()}
    for side in ("left", "right"):
        hand, elbow = at.get(f"{side}_hand"), at.get(f"{side}_forearm")
        if hand is not None and elbow is not None and f"{side}_middle1" not in at:
            # A hand without fingers goes on as the forearm does.
            at[f"{side}_middle1"] = hand + FIRST_JOINT["middle"][0] * sizes.length["hand"] * normalize(hand - elbow)
    surface = None if skin is None else skin.posed(skeleton.T_rest)
    middle, limbs = _middle_places(sizes), _limb_places(sizes)
    out: dict[str, Marker] = {}
    for label in MARKERS:
        side = "left" if label[0] == "L" else "right"
        if label in middle:
            place, prefix = middle[label], ""
        elif label[1:] in middle:
            place, prefix = middle[label[1:]], ""
        else:
            place, prefix = limbs[label[1:]], f"{side}_"
        point = _point(place, prefix, at, facing, 1.0 if side == "left" else -1.0)
        if point is None:
            continue
        if surface is not None:
            squared = ((surface - point) ** 2).sum(axis=1)
            vertex = int(squared.argmin())
            if squared[vertex] < (ACCELERATION * sizes.height) ** 2:
                point = surface[vertex]
        j = carrier(prefix + place.on, roles)
        T = skeleton.T_rest[j]
        out[label] = Marker(j, frozen(T[:3, :3].T @ (point - T[:3, 3])))
    return out


def _point(place: MarkerPlace, prefix: str, at: Mapping[str, Array], front: Array, side: float) -> Array | None:
    """A marker's rest position (3,), or None where the rig lacks the part; `side` is +1 on the left."""
    base, end = at.get(prefix + place.base), at.get(prefix + place.end)
    if base is None:
        return None
    up = np.array([0.0, 0.0, 1.0])
    if not place.end:
        left = np.cross(up, front)
        return base + place.up * up + place.front * front + side * place.out * left
    if end is None:
        return None
    bone = normalize(end - base)
    ahead = normalize(front - (front @ bone) * bone)
    return base + place.along * (end - base) + place.front * ahead + side * place.out * np.cross(ahead, bone)


def marker_positions(character: Character, T_world_joint: ArrayLike) -> Array:
    """World positions (..., M, 3) of a character's markers, in the order of `character.markers`.

    T_world_joint (..., J, 4, 4) are the joints' transforms, as `Skeleton.forward` gives them.
    """
    joints = [m.joint for m in character.markers.values()]
    offsets = np.array([m.offset for m in character.markers.values()]).reshape(-1, 3)
    T = np.asarray(T_world_joint, dtype=float)[..., joints, :, :]
    return np.einsum("...mij,mj->...mi", T[..., :3, :3], offsets) + T[..., :3, 3]
