"""Where a hand takes things: the middle of a closed hand, and the way a rod lies in it."""

from __future__ import annotations

import numpy as np

from elbowroom.character.body import Body, Character
from elbowroom.geometry.rotations import Array, conjugate, normalize, rotate
from elbowroom.geometry.transforms import inverse

# From the wrist to the middle of the grip along the hand, and from there towards the palm, shares of body height.
_ALONG = 0.045
_PALMWARDS = 0.018


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
    T[:3, 3] = body.height * (_ALONG * along + _PALMWARDS * palm)
    return T


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
