"""Postures of a whole body with a hand at its target, where the usual reach finds none: other places of the pelvis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, about, multiply
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.actor import Actor
from elbowroom.plan.free_arm import set_aside
from elbowroom.plan.freeing import freed
from elbowroom.plan.hands import front_of
from elbowroom.plan.postures import Postures
from elbowroom.plan.tight.settings import USUAL, TightSettings
from elbowroom.posing.trunk_bend import unfolding
from elbowroom.posing.whole_body import FEET, WholeBody, support_of
from elbowroom.spaces.component import shrunk

# Where the pelvis starts from when a posture is solved: back, to the left and down, shares of the body's height, tilted
# ahead and turned to the left, radians. Least changes first; random ones follow, within the last row's bounds.
_STARTS = (
    (0.0, 0.0, 0.0, 0.0, 0.0),
    (0.06, 0.0, 0.08, 0.2, 0.0),
    (0.12, 0.0, 0.04, 0.6, 0.0),
    (0.12, 0.0, 0.02, 1.1, 0.0),
    (0.08, 0.0, 0.28, 0.2, 0.0),
    (0.14, 0.0, 0.2, 0.5, 0.0),
)
_LEAST, _MOST = np.array([-0.08, -0.12, 0.0, -0.1, -0.7]), np.array([0.2, 0.12, 0.34, 1.4, 0.7])
# Starts after which a target that none of them reached is given up.
_TRIES = 12
# Radians that an elbow may be turned so that a posture is free.
_FREED_RAD = 1.1


def whole_body_reach(
    actor: Actor,
    hand: str,
    T_world_hand: Array,
    pose: Pose,
    postures: Postures,
    other: str | None,
    floor: float,
    settings: TightSettings = USUAL,
) -> Pose | None:
    """A free posture in balance with a hand at its place (4, 4), feet as in `pose`; None where no start leads to one.

    `other` is the arm that may get out of the way.
    """
    body = actor.body
    T_joint_hand = body.hand(hand)[1]
    if postures.hand_blame(pose, T_world_hand, hand) is not None or body.masses is None:
        return None
    postures = postures.with_soft_tissue()
    solver = WholeBody(unfolding(body))
    ground = support_of(body, pose, floor)
    support = shrunk(ground, settings.balance) if len(ground) else None
    reached = False
    T = body.skeleton.at(pose)
    targets = {f"{hand}_hand": T_world_hand @ inverse(T_joint_hand), **{foot: T[body.role(foot)] for foot in FEET}}
    for number, start in enumerate(_starts(actor, pose, settings.postures)):
        found = solver.solve(start, targets, support=support)
        reached |= found.found
        if not reached and number >= _TRIES:
            return None
        if not found.found:
            continue
        free = freed(body, lambda p: postures.blame(p, but=other or ""), found.pose, _FREED_RAD)
        if not isinstance(free, Pose):
            continue
        aside = free if other is None else set_aside(postures, body, free, other, settings.margin)
        if aside is not None and postures.valid(aside):
            return aside
    return None


def _starts(actor: Actor, pose: Pose, count: int) -> Iterator[Pose]:
    """Postures that the solver starts from: fixed ones, then random ones, always the same."""
    front, up = front_of(actor, actor.body.skeleton.at(pose)), np.array([0.0, 0.0, 1.0])
    left = np.cross(up, front)
    rng = np.random.default_rng(0)
    drawn = _LEAST + rng.random((max(count - len(_STARTS), 0), 5)) * (_MOST - _LEAST)
    drawn = drawn[np.argsort((drawn**2).sum(axis=1))]
    for back, aside, down, tilt, turn in (*_STARTS, *drawn):
        root = pose.root + actor.body.height * (-back * front + aside * left - down * up)
        rotations = np.array(pose.rotations)
        rotations[0] = multiply(multiply(about(up, turn), about(np.cross(up, front), tilt)), rotations[0])
        yield Pose.of(root, rotations)
