"""Arms that carry an object upright before the shoulder while the body moves."""

from __future__ import annotations

import numpy as np

from elbowroom.character.hand_shapes import finger_joints, finger_rotations, power
from elbowroom.character.hands import grip_frame
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip
from elbowroom.posing.limb_ik import LimbIK

# Position of the hand's middle relative to the shoulder, shares of the arm's reach: forwards, inwards, down.
_FORWARDS, _INWARDS, _DOWN = 0.52, 0.04, 0.22
# Radians: the palm faces inwards and back by the first; the object leans forwards by the second.
_BACK, _LEANS = 0.5, 0.06
# Diameter that the hand closes around, metres.
_WIDTH = 0.024
# A body lies down where less than this share of its front is horizontal: 78° from upright.
_LEVEL = 0.2


def facing_of(clip: Clip) -> Array:
    """Horizontal unit vectors (N, 3) in which a body faces by frame."""
    body = clip.character
    front = body.turned(clip.world()) @ body.front
    if (np.linalg.norm(front[:, :2], axis=1) < _LEVEL).any():
        raise BadValue(f"nothing can be carried upright while {body.name} lies down.")
    return np.asarray(rot.normalize(front * [1.0, 1.0, 0.0]))


def carried_upright(clip: Clip, hand: str) -> Clip:
    """The clip with one arm carrying something upright: the hand stays before the shoulder and does not turn.

    It follows the shoulder's position and the heading of the hips; the elbow hangs. Fingers are closed.
    """
    body = clip.character
    ik = LimbIK(body, f"{hand}_arm")
    side = 1.0 if hand == "left" else -1.0
    T = clip.world()
    front = facing_of(clip)
    up = np.broadcast_to([0.0, 0.0, 1.0], front.shape)
    left = np.cross(up, front)
    reach = ik.reach[1]
    inwards = -side * left
    place = T[:, ik.joints[0], :3, 3] + reach * (_FORWARDS * front + _INWARDS * inwards - _DOWN * up)
    rod = rot.normalize(np.cos(_LEANS) * up + np.sin(_LEANS) * front)
    palm = np.cos(_BACK) * inwards - np.sin(_BACK) * front
    palm = rot.normalize(palm - np.sum(palm * rod, axis=1, keepdims=True) * rod)
    T_world_grip = np.tile(np.eye(4), (len(clip), 1, 1))
    T_world_grip[:, :3, :3] = np.stack([palm, np.cross(rod, palm), rod], axis=2)
    T_world_grip[:, :3, 3] = place
    found = ik.solve(T[:, ik.parent], T_world_grip @ inverse(grip_frame(body, hand)))
    q = np.array(clip.rotations)
    q[:, list(ik.joints)] = found.rotations
    fingers = finger_joints(body, hand)
    if fingers:
        q[:, list(fingers)] = finger_rotations(body, hand, power(_WIDTH))
    return clip.with_(rotations=q)
