"""Gripper of a robot's arm where its file names none: a frame at the tip of the tool, found from its shapes (E1)."""

from __future__ import annotations

import numpy as np

from elbowroom.character.body import Chain
from elbowroom.character.robot import Robot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.transforms import apply, inverse

# Link that holds objects, by its name.
GRIP = "grip"
# Joints that an arm needs to reach any pose of its gripper.
LEAST_JOINTS = 6
# Shapes that end this near to the tip belong to it, and most of the tool's length that is under an object, metres.
_TIP_M, _UNDER_M = 0.02, 0.14
# Cosine of the angle to the last joint's axis up to which a tool points along it.
_ALONG = 0.5
# Directions across the tool that are compared, and difference of widths that counts, metres.
_ACROSS, _THINNER_M = 36, 1e-4


def arms_of(robot: Robot) -> list[tuple[int, ...]]:
    """Runs of joints from the base to the end of an arm, the longest first; fingers that slide are no part of it."""
    runs = []
    for chain in robot.chains.values():
        run = _joints(chain)
        while run and robot.joints.kinds[run[-1]] == "slides":
            run = run[:-1]
        if len(run) >= LEAST_JOINTS:
            runs.append(run)
    return sorted(dict.fromkeys(runs), key=len, reverse=True)


def with_grip(robot: Robot) -> Robot:
    """A robot with a link `grip`, if it has an arm: amid the flat side of its tool near the tip, x out of it, z up."""
    arms = arms_of(robot)
    if GRIP in robot.links or not arms:
        return robot
    return robot.with_(links={**robot.links, GRIP: (arms[0][-1], _tip(robot, arms[0][-1]))})


def _joints(chain: Chain) -> tuple[int, ...]:
    return (*chain.lead, *chain.joints)


def _tip(robot: Robot, end: int) -> Array:
    """Frame (4, 4) at the tip of what hangs on a joint, in the joint's frame."""
    T_end = inverse(robot.T_rest[end])
    parts = [
        apply(T_end @ robot.T_rest[shape.joint], shape_mesh(shape).vertices)
        for shape in robot.shapes
        if shape.joint in robot.subtree(end)
    ]
    axis = np.asarray(robot.joints.axes[end])
    if not parts:
        return _frame(axis, np.zeros(3), _across(axis)[0])
    middle = np.mean([0.5 * (points.min(axis=0) + points.max(axis=0)) for points in parts], axis=0)
    far = float(np.linalg.norm(middle))
    along = float(middle @ axis)
    out = np.sign(along) * axis if abs(along) > _ALONG * far else middle / max(far, 1e-9)
    tip = max(float((points @ out).max()) for points in parts)
    points = np.concatenate([points for points in parts if float((points @ out).max()) > tip - _TIP_M])
    # the thinnest side of the tool goes under an object
    u, v = _across(out)
    angles = np.linspace(0.0, np.pi, _ACROSS, endpoint=False)
    tried = np.cos(angles)[:, None] * u + np.sin(angles)[:, None] * v
    widths = np.ptp(points @ tried.T, axis=0)
    up = tried[int(np.flatnonzero(widths < widths.min() + _THINNER_M)[0])]
    side = np.cross(up, out)
    under = min(float(np.ptp(points @ out)), _UNDER_M)
    across = 0.5 * float((points @ side).max() + (points @ side).min())
    at = (tip - 0.5 * under) * out + float((points @ up).max()) * up + across * side
    return _frame(out, at, up)


def _across(direction: Array) -> tuple[Array, Array]:
    """Two unit directions (3,) perpendicular to another and to each other."""
    least = np.eye(3)[int(np.argmin(np.abs(direction)))]
    u = np.cross(direction, least)
    u = u / np.linalg.norm(u)
    return u, np.cross(direction, u)


def _frame(out: Array, at: Array, up: Array) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.stack([out, np.cross(up, out), up], axis=1), at
    return T
