"""Limit of folding before a body's trunk meets its thighs, from its own shapes: stout bodies fold less."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.posing.reach_help import ASIDE, CROUCH, FORWARDS, TERMS, TURN, direction_to, within
from elbowroom.posing.reach_parts import parts_of, start_of
from elbowroom.posing.reach_posture import postures
from elbowroom.posing.reach_style import ReachStyle
from elbowroom.world.exact import ExactWorld
from elbowroom.world.own_pairs import folds, tissue_depth
from elbowroom.world.world import Snapshot, World

# Crouches (share of the leg's length) and leans that are sampled.
_DEEP = np.linspace(0.0, 0.64, 6)
_LEANS = np.radians(np.arange(28.0, 117.0, 4.0))
# A reach to the floor also turns and leans sideways.
_TURNED, _ASIDE = float(np.radians(22.0)), float(np.radians(-8.0))
# Shapes that meet on straight legs before this lean are too stout for the test, radians.
_TELLING = float(np.radians(50.0))
# Reserve of a free lean before the first that collides, radians.
_SPARE = float(np.radians(6.0))
_TRUNK = ("spine1", "spine2", "chest")


@lru_cache(maxsize=64)
def fold_of(body: Character, crouch: float, soft: bool = False) -> tuple[Array, Array]:
    """Crouches (K,), share of the leg's length, and the largest free forward lean (K,) at each, radians.

    `crouch` is the deepest that a style has; with `soft`, belly and chest give way to thighs. The lean is infinite
    where the body has no legs, or no suitable shapes.
    """
    hand = next((side for side in ("right", "left") if f"{side}_arm" in body.chains), "")
    free = _DEEP, np.full(len(_DEEP), np.inf)
    pose = body.skeleton.rest_pose
    if not hand or not body.shapes or not parts_of(body, hand, pose).legs:
        return free
    start = start_of(parts_of(body, hand, pose), pose, float(_lowest(body)))
    style = ReachStyle(fold=np.pi, fold_less=0.0, crouch=crouch, limits=False)
    ahead = start.shoulder + start.length * (start.frame[0] - start.frame[2])
    helps = np.zeros((len(_DEEP), len(_LEANS), TERMS))
    side = -1.0 if start.parts.left else 1.0
    helps[..., FORWARDS], helps[..., CROUCH] = _LEANS, _DEEP[:, None] * start.leg
    helps[..., TURN], helps[..., ASIDE] = side * _TURNED, side * _ASIDE
    rows = within(start, helps.reshape(-1, TERMS), style)
    T = postures(start, direction_to(start, ahead, style), ahead, rows, style, rounds=2, free_arm=False).T
    exact = ExactWorld(World({"body": Clip(body, 30.0, pose.root[None], pose.rotations[None])}, floor=None))
    thighs = {f"body.{part}" for part in ("left_thigh", "right_thigh")}
    trunk = {f"body.{part}" for part in _TRUNK}
    numbers = [k for k, pair in enumerate(exact.pairs) if len({*pair} & thighs) == 1 and {*pair} & trunk]
    sides = {k: "left" if "body.left_thigh" in exact.pairs[k] else "right" for k in numbers}
    most = np.full(len(_DEEP), _LEANS[-1])
    for i, row in enumerate(T.reshape(len(_DEEP), len(_LEANS), *T.shape[1:])):
        for lean, joints in zip(_LEANS, row, strict=True):
            exact.place_snapshot(Snapshot(0.0, {"body": joints}, {}))
            gives = {side: tissue_depth(float(a)) if soft else 0.0 for side, a in folds(body, joints).items()}
            if any(exact.hit(k) and _too_deep(exact.overlap(k), gives[sides[k]]) for k in numbers):
                most[i] = lean - _SPARE
                break
    return (_DEEP, most) if most[0] > _TELLING else free


def _lowest(body: Character) -> float:
    """Height of the soles at rest."""
    parts = parts_of(body, "right" if "right_arm" in body.chains else "left", body.skeleton.rest_pose)
    T = body.T_rest
    return float(min((T[sole.foot, :3, :3] @ sole.heel + T[sole.foot, :3, 3])[2] for sole in parts.soles))


def _too_deep(overlap: float | None, gives: float) -> bool:
    """Return whether a pair with an overlap (minus its depth; None where unknown) is deeper than flesh gives way."""
    return overlap is None or -overlap > gives
