"""Measures of a person who moves an object over feet that stay, at four times the frame rate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from elbowroom.character.limits import pose_excess
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import angle_between
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip
from elbowroom.posing.whole_body import support_of
from elbowroom.world.world import World

FINER = 4


class Measures(NamedTuple):
    """Largest way and turn of a hand on what it holds; largest way of a foot; least distance of the centre of mass with
    the load inside of the feet; how far a joint is out of its range; how fast one turns, radians a second."""

    grip_m: float
    grip_deg: float
    slide_m: float
    balance_m: float
    beyond_rad: float
    turn_rad_s: float


def measured(world: World, who: str, thing: str) -> Measures:
    """Measure the whole motion of a person."""
    motion = world.motion(who)
    assert isinstance(motion, Clip)
    body = motion.character
    times = np.linspace(*world.span, FINER * round((world.span[1] - world.span[0]) * motion.fps) + 1)
    T = np.stack([world.at(t).joints[who] for t in times])
    feet = T[..., :3, 3][:, [body.role(f"{side}_foot") for side in ("left", "right")]]
    support = support_of(body, Pose.of(motion.root[0], motion.rotations[0]))
    held = [any(hold.during[0] <= t < hold.during[1] for hold in world.holds) for t in times]
    load = world.objects[thing].mass or 0.0
    balance = []
    for t, joints, holds in zip(times, T, held, strict=True):
        own, mass = body.masses.total, load if holds else 0.0
        com = (own * center_of_mass(body, joints) + mass * world.frame(thing, t)[:3, 3]) / (own + mass)
        balance.append(_inside(support, com[:2]))
    q = motion.sample(times)[1]
    return Measures(
        *grip_errors(world),
        float(np.linalg.norm(feet - feet[0], axis=-1).max()),
        min(balance),
        float(pose_excess(body.limits, q).max()),
        float(angle_between(q[1:], q[:-1]).max() * FINER * motion.fps),
    )


def grip_errors(world: World) -> tuple[float, float]:
    """Largest way, metres, and turn, degrees, of a hand on what it holds."""
    far, turned = 0.0, 0.0
    for hold in world.holds:
        motion = world.motion(hold.by)
        assert isinstance(motion, Clip)
        begin, end = hold.during
        times = np.linspace(begin, end - 1e-6, FINER * round(motion.fps * (end - begin)) + 1)
        seen = np.stack([inverse(world.frame(hold.object, t)) @ world.hand(hold.by, hold.hand, t) for t in times])
        far = max(far, float(np.linalg.norm(seen[:, :3, 3] - seen[0, :3, 3], axis=1).max()))
        cosine = (np.trace(seen[:, :3, :3] @ seen[0, :3, :3].T, axis1=1, axis2=2) - 1.0) / 2.0
        turned = max(turned, float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).max()))
    return far, turned


def _inside(corners: np.ndarray, point: np.ndarray) -> float:
    """Distance of a point inside of a polygon, negative outside."""
    edge = np.roll(corners, -1, axis=0) - corners
    cross = edge[:, 0] * (point[1] - corners[:, 1]) - edge[:, 1] * (point[0] - corners[:, 0])
    return float((cross / np.linalg.norm(edge, axis=1)).min())
