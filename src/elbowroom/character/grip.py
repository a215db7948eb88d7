"""Grip frame of a hand: the middle of a closed hand, and the direction of a rod in it."""

from __future__ import annotations

import numpy as np

from elbowroom.character.body import Body, Character
from elbowroom.character.hands import BONES
from elbowroom.geometry.rotations import Array, conjugate, normalize, rotate
from elbowroom.geometry.transforms import inverse

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
