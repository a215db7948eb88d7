"""Arms that have both palms on the sides of a box, elbows out, wrists within what they bend."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion import room, upper
from elbowroom.locomotion.figure import Figure
from elbowroom.locomotion.limbs import Limb, twist_about

_ELBOWS_OUT = 0.85  # tangent of the angle by which elbows leave the vertical
_EASY, _TAPER = 0.93, 0.02  # share of the arm's length, and metres over which the reach tapers off before it
_WRIST_ASIDE = np.radians(20.0)
_WRIST_ROUNDS = 4
_SOFT = 0.004  # metres


def arms_to(
    body: Figure,
    chest: Array,
    root: Array,
    turns: dict[str, Array],
    grips: dict[str, Array],
    fingers_down: Array,
    free: Array,
) -> dict[str, Array]:
    """Turns of both arms whose palms are at `grips[side]` (N, 3), facing each other.

    fingers_down (N,): angle by which the fingers point down from straight ahead, radians; free (N,): 1 where the hands
    need not get there, 0 where they must.
    """
    out: dict[str, Array] = {}
    high = _shrug(body, chest, root, grips)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        drop = upper.collar_turn(body, side, upper.SHOULDER_DROP - high)
        clavicle = rot.multiply(chest, drop)
        base = collar_root(body, turns, root, side)
        shoulder = base + rot.rotate(clavicle, body.at(f"{side}_upper_arm") - body.at(f"{side}_clavicle"))
        along, off = palm(body, side)
        bones = [body.at(f"{side}_{part}") for part in ("upper_arm", "forearm", "hand")]
        limb = Limb(bones[1] - bones[0], bones[2] - bones[1], body.hinge(f"{side}_forearm"))
        # elbows under the line from shoulder to hand, and out to the side of it
        out_of_line = np.cross([1.0, 0.0, 0.0], rot.normalize(grips[side] - shoulder))
        axis = sign * _ELBOWS_OUT * out_of_line - np.array([1.0, 0.0, 0.0])
        down = fingers_down
        for _ in range(_WRIST_ROUNDS):
            hand = hand_turn(side, down)
            wrist = grips[side] - rot.rotate(hand, np.array([sign * along, 0.0, -off])) - shoulder
            # A free hand on its way does not stretch the arm for what it cannot reach yet.
            far = np.linalg.norm(wrist, axis=1)
            over = (far - _EASY * limb.length(0.0)) / _TAPER
            easy = far - _TAPER * np.logaddexp(0.0, over)
            wrist = wrist * (1.0 + free * (easy / far - 1.0))[:, None]
            solved = limb.solve(wrist, axis, least=np.radians(3.0))
            bent = rot.about(limb.axis, solved.bend)
            forearm = rot.multiply(solved.upper, bent)
            # the hand leaves the forearm's line only as far as a wrist goes sideways
            line = rot.rotate(forearm, limb.lower)
            slope = np.arctan2(-line[:, 2], np.hypot(line[:, 0], line[:, 1]))
            down = slope + _WRIST_ASIDE * np.tanh((fingers_down - slope) / _WRIST_ASIDE)
        between = rot.multiply(rot.conjugate(forearm), hand)
        # what turns about the forearm is pronation, the rest is the wrist
        pronation = twist_about(between, limb.lower)
        out[f"{side}_clavicle"] = drop
        out[f"{side}_upper_arm"] = rot.multiply(rot.conjugate(clavicle), solved.upper)
        out[f"{side}_forearm"] = rot.multiply(bent, pronation)
        out[f"{side}_hand"] = rot.multiply(rot.conjugate(rot.multiply(forearm, pronation)), hand)
    return out


def hand_turn(side: str, fingers_down: Array) -> Array:
    """World turns (N, 4) of a hand whose palm faces the other hand, fingers ahead and down by an angle."""
    x, y, z = np.eye(3)
    # out of the standing figure: fingers to the front, then the palm from down to inwards, then fingers down
    inwards = rot.multiply(rot.about(y, np.pi / 2), rot.about(z, -np.pi / 2))
    q = rot.multiply(rot.about(x, fingers_down), inwards)
    return q if side == "left" else upper.mirrored(q)


@lru_cache(maxsize=32)
def palm(body: Figure, side: str) -> tuple[float, float]:
    """The middle of the palm's skin against the wrist: along the fingers and out of the palm, metres."""
    character, hand = body.character, body.character.role(f"{side}_hand")
    wrist = body.at(f"{side}_hand")
    length = 0.085 * body.scale
    if body.has(f"{side}_middle1"):
        length = abs(float(body.at(f"{side}_middle1")[0] - wrist[0]))
    along = 0.75 * length
    # the ball of the thumb stands out farther than the palm's skin and gives way a little
    ball = _ball_of_thumb(body, side) - _SOFT
    if character.skin is not None:
        # the hand's skin in the axes of the standing figure
        mine = character.skin.posed(character.skeleton.T_rest)[character.skin.owner == hand]
        local = (mine - character.skeleton.T_rest[hand, :3, 3]) @ character.skeleton.T_rest[hand, :3, :3]
        points = rot.rotate(body.rotations[hand], local)
        near = np.abs(np.abs(points[:, 0]) - along) < 0.3 * length
        if near.any():
            return along, max(ball, float(np.clip(-points[near, 2].min(), 0.1 * length, 0.5 * length)))
    return along, max(ball, 0.17 * length)


def _ball_of_thumb(body: Figure, side: str) -> float:
    """Distance that the shapes of hand and thumb stand out of a flat palm, metres."""
    character = body.character
    joints = tuple(character.roles[r] for r in (f"{side}_hand", f"{side}_thumb1") if r in character.roles)
    T = character.skeleton.forward(*body.assemble(upper.flat_fingers(side), np.zeros((1, 3))))
    hand = room.part(character, joints, T)
    if hand is None:
        return 0.0
    return float(hand.extent(np.array([[[0.0, 0.0, -1.0]]]))[0, 0] + T[0, character.role(f"{side}_hand"), 2, 3])


def arm_length(body: Figure) -> float:
    """Distance from the shoulder to the middle of the palm, metres."""
    return float(
        np.linalg.norm(body.at("left_forearm") - body.at("left_upper_arm"))
        + np.linalg.norm(body.at("left_hand") - body.at("left_forearm"))
        + palm(body, "left")[0]
    )


def collar_root(body: Figure, turns: dict[str, Array], root: Array, side: str) -> Array:
    """Positions of the collar bone's root (N, 3), through pelvis and spine."""
    at, turn, last = root, turns["pelvis"], body.at("pelvis")
    for part in (*upper.SPINE, f"{side}_clavicle"):
        if not body.has(part):
            continue
        here = body.at(part)
        at = at + rot.rotate(turn, here - last)
        last = here
        if part in turns and not part.endswith("clavicle"):
            turn = rot.multiply(turn, turns[part])
    return at


def _shrug(body: Figure, chest: Array, root: Array, grips: dict[str, Array]) -> Array:
    """Elevation of the shoulders (N,), radians: with hands above them."""
    level = root[:, 2] + rot.rotate(chest, body.at("left_upper_arm") - body.at("pelvis"))[:, 2]
    above = 0.5 * (grips["left"][:, 2] + grips["right"][:, 2]) - level
    return np.radians(25.0) * np.clip(0.5 + above / (1.2 * arm_length(body)), 0.0, 1.0) ** 2
