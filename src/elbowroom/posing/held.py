"""Hands closed on objects from the start, and arms that hang with them, or carry them upright before the shoulder."""

from __future__ import annotations

from itertools import chain

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip
from elbowroom.posing.grasps import closed_on
from elbowroom.posing.grasps_settle import Grasp
from elbowroom.posing.upright import carried_upright, facing_of
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import holding_joints
from elbowroom.world.things import Thing
from elbowroom.world.world import World

# Seconds in which arm and fingers come into position before a hold, and return after it.
_EASED_S = 0.5
# An object stands on its own up to this many times the width of its footprint, which is what is this near to its lowest
# point, metres.
_STANDS, _FOOT_M = 5.0, 0.002
# Angles by which an arm hangs farther out with something in the hand, tried in turn, radians.
_OUT = tuple(np.radians([0.0, 4.0, 8.0, 12.0, 16.0]))
# Seconds between two times of a hold at which hand and object are compared with the body; largest number of them.
_EVERY_S, _MOST_LOOKS = 0.1, 100


def holding_clip(clip: Clip, thing: Thing, grasp: Grasp, during: tuple[float, float], *, released: bool) -> Clip:
    """The clip with a hand that holds an object by a grasp during an interval of seconds, eased in and out.

    Fingers are closed on it. The arm hangs as it did, or farther out if hand or object were in the person's own body.
    Where it cannot hang it carries the object upright, and so it does with one that stands on its own and has no
    handle, unless that is `released` by a task: the arm returns to this clip then.
    """
    hanging = (_farther_out(clip, grasp.hand, a) for a in _OUT)
    upright = (carried_upright(clip, grasp.hand) for _ in range(1))
    steady = not released and not grasp.frame and _stands(thing)
    arms = chain(upright, hanging) if steady else chain(hanging, upright)
    held = (_closed_during(clip, arm, thing, grasp, during) for arm in arms)
    free = next((arm for arm in held if not _in_own_body(arm, thing, grasp, during)), None)
    return _closed_during(clip, clip, thing, grasp, during) if free is None else free


def _stands(thing: Thing) -> bool:
    """Return whether an object stands on its own: it is not much higher than its footprint is wide."""
    points = thing.mesh.vertices
    foot = points[points[:, 2] < points[:, 2].min() + _FOOT_M]
    return bool(np.ptp(points[:, 2]) < _STANDS * np.ptp(foot[:, :2], axis=0).min())


def _farther_out(clip: Clip, hand: str, angle: float) -> Clip:
    """The clip with an upper arm turned away from the body by an angle, radians, about the direction that it faces."""
    body = clip.character
    joint = body.chain(f"{hand}_arm").joints[0]
    parent = rot.from_matrix(clip.world()[:, body.parents[joint], :3, :3])
    out = rot.about(facing_of(clip), angle if hand == "left" else -angle)
    q = np.array(clip.rotations)
    q[:, joint] = rot.multiply(rot.conjugate(parent), rot.multiply(out, rot.multiply(parent, q[:, joint])))
    return clip.with_(rotations=q)


def _closed_during(clip: Clip, arm: Clip, thing: Thing, grasp: Grasp, during: tuple[float, float]) -> Clip:
    """The clip with the arm of another during an interval, and fingers closed on an object."""
    body, (begin, end) = clip.character, during
    fingers = finger_joints(body, grasp.hand)
    q, there = np.array(clip.rotations), np.array(arm.rotations)
    if fingers:
        there[:, list(fingers)] = closed_on(body, thing.mesh, grasp).rotations
    outside = np.maximum(np.maximum(begin - clip.times, clip.times - end), 0.0)
    share = smoothstep(np.clip(1.0 - outside / _EASED_S, 0.0, 1.0))
    joints = [*body.chain(f"{grasp.hand}_arm").joints, *fingers]
    q[:, joints] = rot.slerp(q[:, joints], there[:, joints], share[:, None])
    return clip.with_(rotations=q)


def _in_own_body(clip: Clip, thing: Thing, grasp: Grasp, during: tuple[float, float]) -> bool:
    """Return whether the hand, or an object in it, meets the rest of the body at one of a few times of a hold."""
    body = clip.character
    held = {"thing", *(f"own.{s.name}" for s in body.shapes if s.joint in holding_joints(body, grasp.hand))}
    alone = World(floor=None).with_character("own", clip).with_object("thing", thing.mesh, thing.path)
    exact = ExactWorld(alone.with_hold("thing", "own", grasp.hand, during, inverse(grasp.T_thing_hand)))
    begin, end = max(clip.span[0], during[0]), min(clip.span[1], during[1])
    times = np.linspace(begin, end, int(min((end - begin) / _EVERY_S, _MOST_LOOKS)) + 1)
    return any(held.intersection(hit.pair) for t in times for hit in exact.collisions(t))
