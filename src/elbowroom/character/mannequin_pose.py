"""The bind pose of the mannequin: the skeleton brought into the A pose of a stored shape."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elbowroom.character.hands import FINGERS
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.rotations import Array, about, arc, conjugate, from_matrix, multiply, rotate

SIDES = ("left", "right")
Places = Mapping[str, Array]  # joint name to (3,)


def rest_places(skeleton: Skeleton) -> dict[str, Array]:
    """Position of each joint in the rest pose, by name."""
    return dict(zip(skeleton.names, skeleton.T_rest[:, :3, 3], strict=True))


def bind_rotations(skeleton: Skeleton, shape: Places) -> Array:
    """Local rotations (J, 4) that lay the limbs as in the shape; trunk, head and feet stay upright."""
    rest = rest_places(skeleton)
    world = {name: np.array([1.0, 0.0, 0.0, 0.0]) for name in skeleton.names}

    def swung(joint: str, end: str, start: Array) -> Array:
        """`start` turned the shortest way until the bone lies as in the shape."""
        now = rotate(start, rest[end] - rest[joint])
        return multiply(arc(now, shape[end] - shape[joint]), start)

    for side in SIDES:
        arm, fore, hand, thigh, shin, foot = (
            f"{side}_{part}" for part in ("upper_arm", "forearm", "hand", "thigh", "shin", "foot")
        )
        world[arm] = swung(arm, fore, world[arm])
        world[fore] = swung(fore, hand, world[arm])
        world[hand] = from_matrix(palm_axes(shape, side) @ palm_axes(rest, side).T)
        # A wrist does not twist: the forearm takes the turn of the hand about it.
        bone = rest[hand] - rest[fore]
        turn = multiply(conjugate(world[fore]), world[hand])
        twist = 2.0 * np.arctan2(turn[1:] @ bone / np.linalg.norm(bone), turn[0])
        world[fore] = multiply(world[fore], about(bone, twist))
        for finger in FINGERS:
            first, second, third = (f"{side}_{finger}{k}" for k in (1, 2, 3))
            world[first] = swung(first, second, world[hand])
            world[second] = swung(second, third, world[first])
            world[third] = world[second]
        world[thigh] = swung(thigh, shin, world[thigh])
        world[shin] = swung(shin, foot, world[thigh])
    return skeleton.local(np.stack([world[name] for name in skeleton.names]))


def palm_axes(at: Places, side: str) -> Array:
    """Axes of a hand as columns (3, 3): towards the knuckles, across them, and through the palm."""
    knuckles = np.stack([at[f"{side}_{finger}1"] for finger in FINGERS[1:]])
    along = knuckles.mean(axis=0) - at[f"{side}_hand"]
    through = np.cross(along, knuckles[0] - knuckles[-1])
    along, through = along / np.linalg.norm(along), through / np.linalg.norm(through)
    return np.stack([along, np.cross(through, along), through], axis=1)
