"""Bones of the hand: where finger joints are and how long each phalanx is.

Buchholz, Armstrong & Goldstein 1992, Ergonomics 35(3), 'Anthropometric data for describing the kinematics
of the human hand': joint centres and phalanx lengths as shares of hand length (HL) and hand breadth (HB).
"""

from __future__ import annotations

import numpy as np

from elbowroom.character.body import Body, Character
from elbowroom.character.limits import JointLimit
from elbowroom.geometry.rotations import Array, conjugate, normalize, rotate
from elbowroom.geometry.transforms import inverse

FINGERS = ("thumb", "index", "middle", "ring", "little")

# First joint seen from the wrist: share of HL along the hand, share of HB towards the thumb.
# It is the carpometacarpal joint for the thumb, the knuckle for the others.
FIRST_JOINT = {
    "thumb": (0.073, 0.196),
    "index": (0.447, 0.251),
    "middle": (0.446, 0.000),
    "ring": (0.409, -0.206),
    "little": (0.368, -0.402),
}

# Lengths of the three bones behind each joint, shares of HL. The thumb's first is its metacarpal.
BONES = {
    "thumb": (0.251, 0.196, 0.158),
    "index": (0.245, 0.143, 0.097),
    "middle": (0.266, 0.170, 0.108),
    "ring": (0.244, 0.165, 0.107),
    "little": (0.204, 0.117, 0.093),
}

# Thickness of each finger against the index finger's.
THICKNESS = {"thumb": 1.15, "index": 1.0, "middle": 1.0, "ring": 0.95, "little": 0.85}

# How the thumb stands off in the rest pose, palm down: to the front, and down from the palm, degrees.
THUMB_FORWARD = 42.0
THUMB_DOWN = 22.0
THUMB_ROOT_DROP = 0.045  # its first joint lies below the palm's plane, share of HL


def finger_names(side: str) -> tuple[str, ...]:
    """Joint names of a hand's fingers, from the thumb to the little finger, knuckle first."""
    return tuple(f"{side}_{finger}{k}" for finger in FINGERS for k in (1, 2, 3))


def finger_direction(finger: str, outwards: float) -> Array:
    """Unit vector along a finger in the rest pose; `outwards` is +1 for the left hand, -1 for the right."""
    if finger != "thumb":
        return np.array([outwards, 0.0, 0.0])
    forward, down = np.deg2rad(THUMB_FORWARD), np.deg2rad(THUMB_DOWN)
    level = np.cos(down)
    return np.array([outwards * level * np.cos(forward), -level * np.sin(forward), -np.sin(down)])


def finger_offsets(hand_length: float, hand_breadth: float, outwards: float) -> Array:
    """Offsets (15, 3) of the joints of `finger_names` in their parents' frames, palm down, thumb to -Y."""
    out = np.zeros((len(FINGERS), 3, 3))
    for i, finger in enumerate(FINGERS):
        along, aside = FIRST_JOINT[finger]
        drop = THUMB_ROOT_DROP if finger == "thumb" else 0.0
        out[i, 0] = outwards * along * hand_length, -aside * hand_breadth, -drop * hand_length
        for k in (1, 2):
            out[i, k] = finger_direction(finger, outwards) * BONES[finger][k - 1] * hand_length
    return out.reshape(-1, 3)


# Bend of the joints of a hand at rest from the knuckle outwards, radians.
FINGER_AT_EASE_RAD = np.radians([22.0, 28.0, 18.0])
THUMB_AT_EASE_RAD = np.radians([4.0, 10.0, 12.0])


def relaxed_bend(role: str, rest: Array, limit: JointLimit | None) -> Array:
    """Local rotation (4,) of a finger's joint in a hand that hangs at ease; `rest` (4,) where its range is unknown."""
    if limit is None:
        return rest
    coordinates = limit.coordinates(rest)
    bends = THUMB_AT_EASE_RAD if "thumb" in role else FINGER_AT_EASE_RAD
    coordinates[0] = max(coordinates[0], bends[min(int(role[-1]), 3) - 1])
    return limit.rotation(limit.clamp_coordinates(coordinates))


# Length of the hand (wrist to the tip of the middle finger) for which widths of grasps are meant, metres.
HAND_LENGTH = 0.185

# From the wrist to the middle of the grip along the hand, and from there out of the palm, metres, for such a hand.
_MIDDLE = (0.0765, 0.0306)


def grip_frame(body: Body, hand: str) -> Array:
    """`T_hand_grip` (4, 4) in the frame of the hand's joint: z along a held rod, out by the thumb; x out of the palm.

    The frame of a robot's gripper is its own; so is that of any other part that carries things.
    """
    if not (isinstance(body, Character) and hand in ("left", "right")):
        return np.eye(4)
    joint = body.role(f"{hand}_hand")
    along, palm = _directions(body, hand, joint)
    thumb = np.cross(palm, along) if hand == "left" else np.cross(along, palm)
    T = np.eye(4)
    T[:3, :3] = np.stack([palm, np.cross(thumb, palm), thumb], axis=1)
    T[:3, 3] = hand_size(body, hand) * (_MIDDLE[0] * along + _MIDDLE[1] * palm)
    return T


def grip_depth(body: Body, hand: str) -> float:
    """Metres from the palm to the middle of the grip."""
    return hand_size(body, hand) * _MIDDLE[1]


def hand_size(body: Body, hand: str) -> float:
    """Size of a hand relative to `HAND_LENGTH`, from its longest finger; 1.7 m is assumed for such a person."""
    if not isinstance(body, Character):
        return 1.0
    names = [f"{hand}_hand", *(f"{hand}_middle{k}" for k in (1, 2, 3))]
    if all(name in body.roles for name in names):
        at = body.T_rest[[body.roles[name] for name in names], :3, 3]
        return float(np.linalg.norm(np.diff(at, axis=0), axis=1).sum() / _BONES_TO_LAST / HAND_LENGTH)
    return body.height / 1.7


# From the wrist to the last joint of the middle finger, share of hand length.
_BONES_TO_LAST = 0.446 + sum(BONES["middle"][:2])


def _directions(body: Character, hand: str, joint: int) -> tuple[Array, Array]:
    """Unit vectors along the hand and out of its palm, in the frame of its joint."""
    limit = body.limits[joint] if joint < len(body.limits) else None
    if limit is not None:  # z along the bone; it bends about x towards the palm, which takes z to -y
        post = conjugate(limit.post)
        return rotate(post, [0.0, 0.0, 1.0]), rotate(post, [0.0, -1.0, 0.0])
    T = body.T_rest
    forearm = T[joint, :3, 3] - T[body.parents[joint], :3, 3]
    out = inverse(T[joint])[:3, :3]
    along = normalize(out @ forearm)
    down = out @ [0.0, 0.0, -1.0]
    palm = down - (down @ along) * along
    if np.linalg.norm(palm) < 0.1:  # the arm hangs: palms look at each other
        palm = out @ [1.0 if hand == "right" else -1.0, 0.0, 0.0]
        palm = palm - (palm @ along) * along
    return along, normalize(palm)
