"""How the body goes from one posture to another while an arm is planned on it."""

from __future__ import annotations

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.ease import ease
from elbowroom.geometry.rotations import Array, slerp
from elbowroom.posing.stance import between
from elbowroom.tasks.actor import Actor

# Joints that look, by role; they are there in this share of the time of a step: eyes and head go first.
_LOOKS = ("neck", "head", "left_eye", "right_eye")
_LOOKS_BY = 0.55


def body_way(
    actor: Actor, goal: Pose, count: int, *, fingers: Array | None = None, hand: str = "right"
) -> tuple[Array, Array]:
    """Frames from the last one to a posture, feet where they stand, head first; fingers as told."""
    h = np.linspace(0.0, 1.0, count + 1)
    s = ease(h)
    q_a = actor.q[-1:]
    if actor.stands:
        root, q = between(actor.body, actor.pose, goal, s)
    else:
        root, q_a = actor.ahead(count)
        q = slerp(q_a, goal.rotations, np.where(actor.upper, s[:, None], 0.0))
    looks = [actor.body.roles[r] for r in _LOOKS if r in actor.body.roles]
    q[:, looks] = slerp(q_a[:, looks], goal.rotations[looks], ease(h / _LOOKS_BY)[:, None])
    joints = list(finger_joints(actor.body, hand))
    if joints and fingers is not None:
        q[:, joints] = slerp(q_a[:, joints], fingers, s[:, None])
    elif joints:
        q[:, joints] = q_a[:, joints]
    return root, q
