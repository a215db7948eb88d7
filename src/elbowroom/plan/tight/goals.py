"""Whole-body postures with a hand at its target where the usual reach fails: other placements of the pelvis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import UP, Array, about, conjugate, from_matrix, multiply, normalize, to_matrix
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.plan.checks.freeing import clear_free_arm, freed
from elbowroom.plan.checks.hands import front_of
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.tight.settings import USUAL, TightSettings
from elbowroom.posing.balance import feet_of
from elbowroom.posing.stand import shrunk
from elbowroom.posing.trunk_bend import unfolding
from elbowroom.posing.whole_body import FEET, WholeBody, support_of

# Initial pelvis placements for the solver: back, left and down, shares of the body's height, tilted ahead and turned to
# the left, radians. Smallest changes first; random ones follow, within the last row's bounds.
_STARTS = (
    (0.0, 0.0, 0.0, 0.0, 0.0),
    (0.06, 0.0, 0.08, 0.2, 0.0),
    (0.12, 0.0, 0.04, 0.6, 0.0),
    (0.12, 0.0, 0.02, 1.1, 0.0),
    (0.08, 0.0, 0.28, 0.2, 0.0),
    (0.14, 0.0, 0.2, 0.5, 0.0),
)
_LEAST, _MOST = np.array([-0.08, -0.12, 0.0, -0.1, -0.7]), np.array([0.2, 0.12, 0.34, 1.4, 0.7])
# Heel lifts for low targets, radians, tried in turn, and the pelvis descent from which on they are used, share of the
# height.
_HEELS_RAD = (0.0, 0.6)
_CROUCHED = 0.15
# Starts after which a target that none of them reached is given up, and those that show whether balance is the reason.
_TRIES = 12
_FALLING = 6
# Elbow swivel that may make a posture free, radians.
_FREED_RAD = 1.1


@dataclass(frozen=True, eq=False)
class BodyReach:
    """A whole-body posture at a target, the first that collides where all do, or none: balance, or not known."""

    status: Literal["found", "blocked", "out-of-balance", "unknown"]
    pose: Pose | None = None


def whole_body_reach(
    actor: Actor,
    hand: str,
    T_world_hand: Array,
    pose: Pose,
    postures: Postures,
    other: str | None,
    floor: float,
    settings: TightSettings = USUAL,
) -> BodyReach:
    """A free and balanced posture with a hand at its target (4, 4), feet as in `pose`, or why there is none.

    `other` is the arm that may move out of the way.
    """
    body = actor.body
    if postures.hand_blame(pose, T_world_hand, hand) is not None or body.masses is None:
        return BodyReach("unknown")
    T_target = T_world_hand @ inverse(body.hand(hand)[1])
    postures, solver = postures.with_soft_tissue(), WholeBody(unfolding(body))
    met: Pose | None = None
    falls = False
    for lift in _HEELS_RAD if feet_of(body) else _HEELS_RAD[:1]:
        stands = heels_lifted(body, pose, lift)
        T, ground, reached = body.skeleton.at(stands), support_of(body, stands, floor), False
        targets = {f"{hand}_hand": T_target, **{foot: T[body.role(foot)] for foot in FEET}}
        if actor.support is not None:
            targets[actor.support.end] = actor.support.T_world_hand
            ground = np.concatenate([ground, actor.support.corners])
        support = shrunk(ground, settings.balance) if len(ground) else None
        for number, start in enumerate(_starts(actor, stands, settings.postures, crouched=lift > 0.0)):
            found = solver.solve(start, targets, support=support)
            reached |= found.found
            if not reached and number < _FALLING and not falls:
                falls = solver.solve(start, targets).found
            if not reached and number >= _TRIES:
                break
            if found.found and (free := _free(body, postures, found.pose, other, settings.margin)) is not None:
                return BodyReach("found", free)
            met = found.pose if found.found and met is None else met
    return BodyReach("out-of-balance" if falls else "unknown") if met is None else BodyReach("blocked", met)


def _free(body: Character, postures: Postures, pose: Pose, other: str | None, margin: float) -> Pose | None:
    """A posture made free by swivelling elbows and knees and moving the other arm; None where that fails."""
    free = freed(body, lambda one: postures.blame(one, but=other or ""), pose, _FREED_RAD)
    if not isinstance(free, Pose) or other is None:
        return free if isinstance(free, Pose) else None
    cleared = clear_free_arm(postures, body, free, other, margin)
    return cleared if cleared is not None and postures.valid(cleared) else None


def heels_lifted(body: Character, pose: Pose, lift: float) -> Pose:
    """A posture with its feet rotated about their balls by `lift` radians, toes flat, and the legs solved again."""
    if lift == 0.0:
        return pose
    T, up = body.skeleton.at(pose), UP
    q, targets = np.array(pose.rotations), {}
    for sole in feet_of(body):
        ball = T[sole.toes, :3, 3] if sole.toes >= 0 else (T[sole.foot] @ np.append(sole.ball, 1.0))[:3]
        ahead = normalize((ball - T[sole.foot, :3, 3]) * [1.0, 1.0, 0.0])
        turn = about(np.cross(up, ahead), lift)
        R = to_matrix(turn)
        targets[sole.foot] = transform(ball + R @ (T[sole.foot, :3, 3] - ball)) @ _turned(R @ T[sole.foot, :3, :3])
        if sole.toes >= 0:
            foot = from_matrix(T[sole.foot, :3, :3])
            q[sole.toes] = multiply(multiply(conjugate(foot), multiply(conjugate(turn), foot)), q[sole.toes])
    places = {foot: targets[body.role(foot)] for foot in FEET}
    return WholeBody(body).solve(Pose.of(pose.root, q), places).pose


def _turned(R: Array) -> Array:
    T = np.eye(4)
    T[:3, :3] = R
    return T


def _starts(actor: Actor, pose: Pose, count: int, *, crouched: bool) -> Iterator[Pose]:
    """Initial postures for the solver: fixed ones, then random ones from a fixed seed; crouched ones or all."""
    front, up = front_of(actor, actor.body.skeleton.at(pose)), UP
    left = np.cross(up, front)
    rng = np.random.default_rng(0)
    drawn = _LEAST + rng.random((max(count - len(_STARTS), 0), 5)) * (_MOST - _LEAST)
    drawn = drawn[np.argsort((drawn**2).sum(axis=1))]
    for back, cleared, down, tilt, turn in (*_STARTS, *drawn):
        if crouched and down < _CROUCHED:
            continue
        root = pose.root + actor.body.height * (-back * front + cleared * left - down * up)
        turned = multiply(about(up, turn), about(np.cross(up, front), tilt))
        yield actor.body.turned_by(turned, Pose.of(root, pose.rotations))
