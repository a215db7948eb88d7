"""What carries keep between frames: grips, level, speeds, wheels and feet, in scenarios and in storyboards of `carry/`.

    python benchmarks/carry_checks.py [NAME or FILE.yaml ...] [--seed 0] [--pictures DIR]

Each is planned as it is and looked at at 240 Hz while the object is under way, walks up to it apart. Grips: the largest
motion of a hand or fork against the object. Speed and acceleration: of the object along the floor, at frames, relative
to the limits of the task. Side slip: of bases with wheels, share of their way. Slides: `foot_slide`, the longest.
Joints: the fastest of trunk and arms, at frames. Trunk: from the vertical at the end, the largest of all carriers.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import newcomers
from elbowroom.character.robot import Robot
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.rotations import angle, angle_between, from_matrix
from elbowroom.geometry.transforms import inverse, slips
from elbowroom.motion.clip import Clip
from elbowroom.motion.stance import foot_slide
from elbowroom.pictures.images import strip, write_png
from elbowroom.plan.tasks import Carry
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.world.world import World

_BOARDS = {path.stem: path for path in sorted((Path(__file__).resolve().parent / "carry").glob("*.yaml"))}
NAMES = ("workout", "tree-branch", "pizza", "factory-slab", "columns", "piano", "four-carry-a-table", *_BOARDS)
_RATE = 240.0
# Metres between frames below which the object stands.
_STANDS_M = 1e-5
# Seconds before and after that in which feet are looked at: stances that a clip cuts off are not told well.
_AROUND_S = 1.0
_UPPER = ("pelvis", "spine1", "spine2", "chest", *(f"{side}_{part}" for side in ("left", "right")
                                                   for part in ("upper_arm", "forearm", "hand")))  # fmt: skip


def board(name: str) -> Storyboard:
    """Storyboard of a scenario or a file, whose meshes and bodies may be in the data folder."""
    if name not in _BOARDS and not name.endswith(".yaml"):
        return scenario(name).board()
    return newcomers.board(_BOARDS.get(name, Path(name)))


def under_way(world: World, thing: str, fps: float) -> tuple[float, float]:
    """Seconds between which an object moves along the floor."""
    times = np.arange(*world.span, 1.0 / fps)
    at = np.array([world.frame(thing, t)[:2, 3] for t in times])
    moving = np.flatnonzero(np.linalg.norm(np.diff(at, axis=0), axis=1) > _STANDS_M)
    return float(times[moving[0]]), float(times[moving[-1] + 1])


def slide_mm(clip: Clip) -> float:
    """Longest slide of a foot, millimetres."""
    return 1e3 * float(foot_slide(clip).max(initial=0.0))


def measured(world: World, task: Carry, fps: float) -> str:
    """Row of the table."""
    begin, end = under_way(world, task.object, fps)
    times = np.arange(begin, end, 1.0 / _RATE)
    thing = np.array([world.frame(task.object, t) for t in times])
    frames = np.arange(begin, end, 1.0 / fps)
    moved, turned, slid, before, slip, fastest, bowed = [0.0], [0.0], [0.0], [0.0], [], [0.0], [0.0]
    for who in (task.who, *task.helpers):
        motion = world.motion(who)
        T = motion.body.transforms(*motion.sample(times))
        for hand in {hold.hand for hold in world.holds if hold.by == who and hold.object == task.object}:
            joint, T_hand = motion.body.hand(hand)
            grip = inverse(thing) @ T[:, joint] @ T_hand
            moved.append(1e3 * float(np.linalg.norm(grip[:, :3, 3] - grip[0, :3, 3], axis=1).max()))
            turned.append(float(np.degrees(angle(from_matrix(grip[0, :3, :3].T @ grip[:, :3, :3]))).max()))
        if isinstance(motion.body, Robot):
            if motion.body.drive == "differential":
                root, q = motion.sample(times)
                heading = np.unwrap(2.0 * np.arctan2(q[:, 3], q[:, 0]) + 0.5 * np.pi)
                way = np.linalg.norm(np.diff(root[:, :2], axis=0), axis=1).sum()
                slip.append(100.0 * float(slips(root[:, :2], heading).sum() / max(way, 0.01)))
            continue
        q = motion.sample(frames)[1][:, [motion.body.roles[role] for role in _UPPER if role in motion.body.roles]]
        fastest.append(fps * float(angle_between(q[1:], q[:-1]).max()))
        last = motion.body.transforms(*motion.sample(world.span[1:]))[0]
        trunk = last[motion.body.role("neck"), :3, 3] - last[motion.body.role("pelvis"), :3, 3]
        bowed.append(float(np.degrees(np.arccos(trunk[2] / np.linalg.norm(trunk)))))
        around = np.arange(begin - _AROUND_S, end + _AROUND_S, 1.0 / _RATE)
        slid.append(slide_mm(Clip(motion.body, _RATE, *motion.sample(around))))
        if begin > 1.0:
            early = np.arange(world.span[0], begin, 1.0 / _RATE)
            before.append(slide_mm(Clip(motion.body, _RATE, *motion.sample(early))))
    up = thing[0, :3, :3].T @ [0.0, 0.0, 1.0]
    tilt = np.degrees(np.arccos(np.clip((thing[:, :3, :3] @ up)[:, 2], -1.0, 1.0)))
    at = np.array([world.frame(task.object, t)[:2, 3] for t in frames])
    fast = np.linalg.norm(np.gradient(at, 1.0 / fps, axis=0), axis=1)
    gains = np.abs(np.gradient(fast, 1.0 / fps))[2:-2]
    level = f"{tilt.max():.2f}" if task.level else "free"
    return (f"{end - begin:.1f} | {max(moved):.2f} | {max(turned):.2f} | {level} | {fast.max() / task.speed:.2f} | "
            f"{gains.max() / task.accel:.2f} | {f'{max(slip):.2f}' if slip else ''} | {max(slid):.1f} | "
            f"{max(before):.1f} | {max(fastest):.1f} | {max(bowed):.0f}")  # fmt: skip


def main() -> None:
    """Print a table."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("names", nargs="*", default=list(NAMES))
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--pictures", type=Path)
    asked = ask.parse_args()
    print("| scenario | status | s | on foot, s | grips, mm | grips, ° | level, ° | speed | acceleration | side slip, "
          "% | slides, mm | before, mm | joints, rad/s | trunk, ° |\n" + "|---" * 14 + "|", flush=True)  # fmt: skip
    for name in asked.names:
        begun = time.process_time()
        try:
            story = board(name)
            plan = plan_storyboard(story, seed=asked.seed)
            seconds = time.process_time() - begun
            proven = plan.certificate is not None and plan.certificate.free
            status = "certified" if plan.found and proven else f"{plan.status}: {plan.why}"
            task = next(task for task in story.tasks if isinstance(task, Carry))
            row = measured(plan.world, task, story.fps) if plan.found else ""
            print(f"| `{Path(name).stem}` | {status} | {seconds:.1f} | {row} |", flush=True)
            if asked.pictures is not None:
                asked.pictures.mkdir(parents=True, exist_ok=True)
                write_png(asked.pictures / f"{Path(name).stem}.png",
                          strip(plan.world, n=15, size=(400, 400), columns=5))  # fmt: skip
        except Exception as error:  # one failure must not end the others
            print(f"| `{name}` | crash: {error!r} |", flush=True)


if __name__ == "__main__":
    main()
