"""Reaches with the whole body: how long one takes, and how low and how high wrists come.

Times are those of the processor, for random targets in front of and beside someone who stands: those that are reached,
and those that are too far or want the hand turned as it cannot be. Heights are those of a wrist up to an arm's length
before the body, in steps of 5 cm, for which a posture is found that keeps its balance and does not collide with itself.

    python benchmarks/reach.py [--targets 300] [--quick]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.human import preset
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, about, multiply, to_matrix
from elbowroom.locomotion.standing import idle
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.postures import Postures
from elbowroom.posing.reach import Reached, reach
from elbowroom.world.world import World

PEOPLE = ("woman", "man", "child", "gorilla")
STEP = 0.05
# Degrees that fingers may point down, and rolls of the hand that are tried.
DOWN, ROLLS = (0, 40, 75, -40, -75), (0, -45, 45, -90)
# Places before the shoulder that are tried, in lengths of the arm.
AHEAD = (0.5, 0.75, 1.0)


def standing(name: str) -> tuple[Character, Pose]:
    """Someone at ease."""
    body = preset(name, skin=False)
    clip = idle(body, 0.1, 30.0)
    return body, Pose.of(clip.root[0], clip.rotations[0])


def hand_at(body: Character, place: Array, down: float, roll: float) -> Array:
    """A right hand at a place with its fingers to the front, pointing down and rolled by some degrees."""
    x, y, z = np.eye(3)
    turn = multiply(about(y, -np.pi / 2), about(z, np.pi / 2))
    turn = multiply(about(y, np.radians(roll)), multiply(about(x, np.radians(down)), turn))
    T = np.eye(4)
    T[:3, :3] = to_matrix(turn) @ body.T_rest[body.role("right_hand"), :3, :3]
    T[:3, 3] = place
    return T


def timed(body: Character, pose: Pose, T: Array) -> tuple[float, Reached]:
    """Milliseconds, and what came of it."""
    begun = time.process_time()
    found = reach(body, pose, "right", T)
    return 1e3 * (time.process_time() - begun), found


def times(name: str, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds of reaches that arrive, and of those that do not."""
    body, pose = standing(name)
    T = body.skeleton.at(pose)
    shoulder, arm = T[body.role("right_upper_arm"), :3, 3], _arm(body)
    rng = np.random.default_rng(0)
    there, limit = [], []
    for _ in range(count):
        way = rng.normal(size=3) * (1.0, 1.0, 0.8)
        way[1] = -abs(way[1])
        place = shoulder + way / np.linalg.norm(way) * arm * rng.uniform(0.4, 1.6)
        place[2] = max(place[2], 0.1)
        ms, found = timed(body, pose, hand_at(body, place, float(rng.uniform(-40, 60)), float(rng.uniform(-60, 60))))
        (there if found.found else limit).append(ms)
    return there, limit


def heights(name: str) -> tuple[float, float]:
    """Lowest and highest wrist in front, metres."""
    body, pose = standing(name)
    world = World({"a": Clip(body, 30.0, pose.root[None], pose.rotations[None])}, floor=None)
    valid = Postures(world, "a", 0.0).valid
    shoulder = body.skeleton.at(pose)[body.role("right_upper_arm"), :3, 3]

    def gets_to(z: float) -> bool:
        places = [np.array([shoulder[0], shoulder[1] - share * _arm(body), z]) for share in AHEAD]
        hands = (hand_at(body, place, down, roll) for place in places for down in DOWN for roll in ROLLS)
        return any(reach(body, pose, "right", T, valid=valid).found for T in hands)

    low = high = STEP * round(0.8 * shoulder[2] / STEP)
    while low - STEP > 0.0 and gets_to(low - STEP):
        low -= STEP
    while gets_to(high + STEP):
        high += STEP
    return low, high


def _arm(body: Character) -> float:
    joints = [body.T_rest[body.role(f"right_{part}"), :3, 3] for part in ("upper_arm", "forearm", "hand")]
    return float(np.linalg.norm(joints[1] - joints[0]) + np.linalg.norm(joints[2] - joints[1]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help="60 targets, one character")
    given = parser.parse_args()
    people, count = (PEOPLE[:1], 60) if given.quick else (PEOPLE, given.targets)
    times("woman", 5)  # compiled
    print("| | reached, ms: best / median / p95 | of | not reached, ms: median | of | wrist heights m |")
    print("|---|---|---|---|---|---|")
    for name in people:
        there, limit = times(name, count)
        low, high = heights(name)
        some = f"{np.median(limit):.0f}" if limit else "-"
        print(
            f"| {name} | {min(there):.1f} / {np.median(there):.1f} / {np.percentile(there, 95):.1f} | {len(there)} "
            f"| {some} | {len(limit)} | {low:.2f} to {high:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
