"""Standing at ease: both feet planted, the weight shifting from one leg to the other, breathing, small glances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion import upper
from elbowroom.locomotion.clearance import arms_clear
from elbowroom.locomotion.figure import SIDES, Figure, can_walk, check_time, figure
from elbowroom.locomotion.gait import Variation, leg, legs_of
from elbowroom.locomotion.sole import FootMotion
from elbowroom.locomotion.steps import TOE_OUT
from elbowroom.locomotion.upper import height, turned
from elbowroom.motion.clip import Clip, still_clip

BREATHS = 0.25  # per second at rest
_SHIFT_EVERY = (3.0, 6.5)  # seconds between shifts of weight
_LOOK_EVERY = (1.6, 4.5)  # seconds between looks elsewhere
_WIDEST = 1.5  # of the hips' width, between the feet at ease; some rest poses have legs farther apart


def idle(character: Character, seconds: float = 8.0, fps: float = 60.0, *, seed: int = 0) -> Clip:
    """Stand at the origin facing -Y, breathing, shifting weight now and then, arms hanging, gaze wandering a little."""
    check_time(seconds, fps)
    body = figure(character)
    times = np.arange(round(seconds * fps) + 1) / fps
    wave = Variation(times, seed)
    still = np.zeros(len(times))
    lean = holds(times, seed, "weight", _SHIFT_EVERY, 1.3)  # -1 on the right leg, 1 on the left
    breath = np.sin(2 * np.pi * BREATHS * times)
    sway = 0.034 * body.scale * lean + 0.003 * wave.signal("sway")
    place = np.stack([sway, 0.003 * wave.signal("rock", 0.1, 0.4) + 0.004 * np.abs(lean)], axis=-1)
    pelvis = turned(
        np.radians(1.5) * lean + np.radians(0.4) * wave.signal("pelvis turn"),
        np.radians(-3.2) * lean,
        still + np.radians(1.0),
    )
    feet = [
        planted(body, side, len(times), load)
        for side, load in (("left", 0.5 + 0.42 * lean), ("right", 0.5 - 0.42 * lean))
    ]
    knees = [np.radians(10.0) - np.radians(5.5) * sign * lean for sign in (1.0, -1.0)]
    turns, root = stand(body, feet, knees, place, pelvis, fps)
    chest_yaw = np.radians(-1.0) * lean + np.radians(0.8) * wave.signal("chest turn")
    chest = turned(chest_yaw, np.radians(1.2) * lean, np.radians(1.5) - np.radians(0.9) * breath)
    look = holds(times, seed, "look", _LOOK_EVERY, 0.7)
    head = turned(
        chest_yaw + np.radians(13.0) * look + np.radians(0.6) * wave.signal("head turn"),
        np.radians(1.2) * look * lean + np.radians(0.5) * wave.signal("head roll"),
        np.radians(4.0) + np.radians(2.0) * holds(times, seed, "nod", _LOOK_EVERY, 0.8) + np.radians(0.5) * breath,
    )
    turns |= upper.trunk(body, pelvis, chest, head)
    rest = upper.hanging(len(times))
    for side in SIDES:
        drift = wave.signal(f"{side} arm", 0.08, 0.3)
        sign = 1.0 if side == "left" else -1.0
        pose = replace(
            rest,
            flexion=rest.flexion + np.radians(3.0) + np.radians(1.2) * drift,
            abduction=rest.abduction + np.radians(0.7) * breath + np.radians(1.0) * np.maximum(sign * lean, 0.0),
            elbow=rest.elbow + np.radians(1.5) * wave.signal(f"{side} elbow", 0.08, 0.3),
        )
        turns |= upper.arm(body, side, pose, chest, upper.upright(chest_yaw))
        if body.has(f"{side}_clavicle"):
            raised = upper.collar_turn(body, side, np.radians(-0.8) * breath)
            turns[f"{side}_clavicle"] = rot.multiply(turns[f"{side}_clavicle"], raised)
    return arms_clear(body.clip(turns, root, fps, "idle", clamped=body.but_legs))


def at_ease(character: Character) -> Clip:
    """One frame of standing at ease at the origin facing -Y, arms hanging; the rest pose of a rig that cannot walk."""
    if not can_walk(character):
        return still_clip(character)
    clip = idle(character, 0.1)
    return clip.with_(root=clip.root[:1], rotations=clip.rotations[:1], name="standing")


def planted(body: Figure, side: str, n: int, load: Array | float) -> FootMotion:
    """A foot that stands flat for N frames, toes turned out: under its hip, or as far to the side as the rig's rest
    pose.

    A rig whose legs are apart at rest has no room for feet under the hips between its thighs.
    """
    at = body.at(f"{side}_foot")
    sign = 1.0 if side == "left" else -1.0
    hip = sign * body.at(f"{side}_thigh")[0]
    aside = np.clip(sign * at[0], hip, _WIDEST * hip)
    ankle = np.tile([sign * aside, at[1], at[2]], (n, 1))
    still = np.zeros(n)
    return FootMotion(ankle, still, still + sign * TOE_OUT, still, still + load, np.ones(n, dtype=bool), still)


def stand(
    body: Figure, feet: list[FootMotion], knees: list[Array], place: Array, pelvis: Array, fps: float
) -> tuple[dict[str, Array], Array]:
    """Rotations of pelvis and legs, and pelvis positions (N, 3), over planted feet.

    place (N, 2): of the pelvis on the floor; knees: target flexion (N,) of each, radians.
    """
    n = len(place)
    limbs = legs_of(body)
    flat = np.concatenate([place, np.zeros((n, 1))], axis=-1)
    hips = [rot.rotate(pelvis, body.at(f"{side}_thigh") - body.at("pelvis")) + flat for side in SIDES]
    least = np.full(n, np.radians(3.0))
    z = height(feet, limbs, hips, knees, fps, least, float(body.at("pelvis")[2]), np.zeros(n))
    turns = {"pelvis": pelvis}
    for side, limb, foot, hip in zip(SIDES, limbs, feet, hips, strict=True):
        at = hip + z[:, None] * np.array([0.0, 0.0, 1.0])
        turns |= leg(side, limb, foot, at, pelvis, np.zeros(n))
    return turns, flat + z[:, None] * np.array([0.0, 0.0, 1.0])


def holds(times: Array, seed: int, name: str, every: tuple[float, float], takes: float) -> Array:
    """A value in -1..1 (N,) that rests, moves on smoothly within `takes` seconds, and rests again; from a seed."""
    rng = np.random.default_rng([seed, *name.encode()])
    out = np.full(len(times), rng.uniform(-0.5, 0.5))
    t, last = float(rng.uniform(0.4, every[1])), float(out[0])
    while t < times[-1] + takes:
        # away from its present value, so that each move is visible
        new = float(rng.uniform(0.35, 1.0)) * (-1.0 if last > 0 else 1.0) * (0.0 if rng.random() < 0.2 else 1.0)
        out += (new - last) * smootherstep((times - t) / takes)
        last = new
        t += takes + float(rng.uniform(*every))
    return out
