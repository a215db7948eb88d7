"""Whole bodies in random tight places: found and certified, flat planning beside it, recordings before and after.

    python benchmarks/tight.py --scenes 30 --seeds 5            # success, seconds, checks
    python benchmarks/tight.py --scenes 10 --flat               # the same without components, equal processor time
    python benchmarks/tight.py --gaps                           # success by the width of a gap
    python benchmarks/tight.py --scenes 10 --capture FOLDER     # posture similarity and torque variation (Fig. 7)

A scene is a board at table height before a woman, a wall behind her, a ceiling, and a post to each side, at random
places. She begins with her right hand under the board and ends with it above, or the other way round; both postures
are drawn at random, free and in balance.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import elbowroom as er
from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import about, exp, multiply, to_matrix
from elbowroom.geometry.solids import box
from elbowroom.motion.clip import Clip
from elbowroom.plan.tight.capture import BLENDED, Capture, refined, smooth_random
from elbowroom.plan.tight.chain import BodyProblem, body_path, shortened
from elbowroom.plan.tight.frames import frames_of
from elbowroom.plan.tight.settings import FLAT, TightSettings
from elbowroom.posing.stand import Balance
from elbowroom.posing.whole_body import FEET
from elbowroom.search.birrt import Budget
from elbowroom.spaces.component import PosePath
from elbowroom.world.allowances import supports
from elbowroom.world.certificate import certify
from elbowroom.world.fast_body import BodyCheck
from elbowroom.world.own_pairs import tissue_contacts
from elbowroom.world.world import World

AXES = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
FRAMES = 120


@dataclass(frozen=True, eq=False)
class Scene:
    """A world with one woman, and the postures between which she goes."""

    world: World
    problem: BodyProblem


def tight_world(rng: np.random.Generator, gap: float | None = None) -> World:
    """A random tight place; with a gap, a second board that far above the first."""
    world = er.World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=2.0))
    edge, top = -rng.uniform(0.24, 0.3), rng.uniform(0.62, 0.8)
    world = world.with_static("board", box((1.4, 0.5, 0.04), (0.0, edge - 0.25, top)))
    world = world.with_static("wall", box((1.6, 0.05, 1.5), (0.0, rng.uniform(0.34, 0.46), 0.75)))
    world = world.with_static("ceiling", box((1.6, 1.4, 0.05), (0.0, -0.2, rng.uniform(1.72, 1.9))))
    for side in (-1.0, 1.0):
        at = (side * rng.uniform(0.38, 0.55), rng.uniform(-0.3, 0.1), 0.6)
        world = world.with_static("left_post" if side > 0 else "right_post", box((0.06, 0.06, 1.2), at))
    if gap is not None:
        world = world.with_static("lid", box((1.4, 0.5, 0.04), (0.0, edge - 0.25, top + 0.04 + gap)))
    return world.with_(contacts=(*world.contacts, *supports(world)))


def posture(problem: BodyProblem, stand: Pose, place: np.ndarray, low: float, high: float, rng) -> Pose | None:
    """A random free posture in balance with the right hand at a place, the pelvis lowered within two bounds."""
    body = problem.body
    T = body.skeleton.at(stand)
    feet = {foot: T[body.role(foot)] for foot in FEET}
    for _ in range(120):
        q, T_hand = np.array(stand.rotations), T[body.role("right_hand")].copy()
        q[0] = multiply(about((1.0, 0.0, 0.0), rng.uniform(0.0, 1.2)), q[0])
        T_hand[:3, :3], T_hand[:3, 3] = to_matrix(exp(0.8 * rng.normal(size=3))) @ T_hand[:3, :3], place
        start = Pose.of(stand.root + [rng.uniform(-0.1, 0.1), rng.uniform(0.0, 0.25), -rng.uniform(low, high)], q)
        balance = problem.balance
        found = balance.solver.solve(start, {"right_hand": T_hand, **feet}, support=balance.support(stand, feet))
        if found.found and problem.check.free(found.pose):
            return found.pose
    return None


def scene(number: int, gap: float | None = None) -> Scene | None:
    """Random scene of a number; None where one of its postures is not to be had."""
    rng = np.random.default_rng([7, number])
    world = tight_world(rng, gap)
    motion = world.motion("ann")
    root, q = motion.sample(np.zeros(1))
    stand, body = Pose.of(root[0], q[0]), motion.body
    assert isinstance(body, Character)
    check = BodyCheck(world, "ann", 0.0, margin=0.006)
    problem = BodyProblem(body, stand, stand, check, Balance(body, 0.0, 0.015), AXES)
    if not check.free(stand):
        return None
    board = world.static["board"].bounds
    x, y, top = rng.uniform(-0.3, 0.0), board[1, 1] - rng.uniform(0.08, 0.18), board[1, 2]
    above = top + (rng.uniform(0.1, 0.25) if gap is None else 0.5 * gap)
    low = posture(problem, stand, np.array([x, y, board[0, 2] - rng.uniform(0.12, 0.25)]), 0.1, 0.6, rng)
    high = None if low is None else posture(problem, stand, np.array([x, y, above]), 0.0, 0.15, rng)
    if low is None or high is None:
        return None
    ends = (low, high) if number % 2 else (high, low)
    return Scene(world, replace(problem, start=ends[0], goal=ends[1]))


def certified(given: Scene, path: PosePath, seed: int) -> bool:
    """Return whether frames of a path are proven free, between them too."""
    frames = frames_of(given.problem, path, FRAMES)
    if frames is None:
        return False
    motion, body = given.world.motion("ann"), given.problem.body
    assert isinstance(motion, Clip)
    clip = motion.with_(root=frames[0], rotations=frames[1])
    soft = tissue_contacts(body, "ann", clip.span, given.world.caps.tissue, body.transforms(*frames))
    world = given.world.with_character("ann", clip)
    return certify(world.with_(contacts=(*world.contacts, *soft)), clearance=False, contacts="never").free


def run(given: Scene, seed: int, settings: TightSettings) -> dict:
    """One plan: found, certified, processor seconds, checks."""
    begun = time.process_time()
    found = body_path(given.problem, seed, settings)
    searched = time.process_time() - begun
    proven = False
    if found.path is not None:
        proven = certified(given, shortened(given.problem, found.path, seed, settings), seed)
    return {"found": found.path is not None, "certified": proven, "plan_s": searched,
            "total_s": time.process_time() - begun, "checks": found.stats.checks, "blocked": found.blocked}  # fmt: skip


def summary(name: str, rows: list[dict]) -> str:
    """One line of a table."""
    good = [r for r in rows if r["certified"]]
    plan = np.array([r["plan_s"] for r in rows]) if rows else np.zeros(1)
    return (f"{name:24s} {len(rows):4d} plans, found {sum(r['found'] for r in rows):4d}, certified {len(good):4d}, "
            f"plan s median {np.median(plan):.2f} p90 {np.quantile(plan, 0.9):.2f}, "
            f"total s median {np.median([r['total_s'] for r in rows] or [0]):.2f}")  # fmt: skip


def clips_of(folder: Path, body: Character) -> list[tuple[str, Clip]]:
    """Recordings of bends, crouches and lifts in a folder, as motions of the body."""
    names = ("PickUp", "Lift", "115_0", "26_09", "26_10", "02_06", "14_07", "62_20", "69_70", "69_73", "80_07")
    files = sorted(p for p in folder.rglob("*.bvh") if any(name in p.name for name in names))
    return [(p.stem, er.retarget(er.resample(er.read_bvh(p), 30.0), body)) for p in files]


def main() -> None:
    """Run what is asked for and print a table."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--scenes", type=int, default=6)
    ask.add_argument("--seeds", type=int, default=1)
    ask.add_argument("--checks", type=int, default=1500)
    ask.add_argument("--flat", action="store_true")
    ask.add_argument("--gaps", action="store_true")
    ask.add_argument("--capture", type=Path)
    ask.add_argument("-o", type=Path)
    given = ask.parse_args()
    usual = TightSettings(component=Budget(checks=given.checks, nodes=1500))
    flat = TightSettings(decompositions=(FLAT,), component=Budget(checks=10 * given.checks, nodes=5000))
    out: dict[str, list[dict]] = {}
    if given.gaps:
        for gap in (0.08, 0.12, 0.16, 0.2, 0.3):
            made = [s for k in range(given.scenes) if (s := scene(k, gap)) is not None]
            rows = out[f"gap {gap}"] = [run(s, k, usual) for s in made for k in range(given.seeds)]
            print(
                summary(f"gap {100 * gap:.0f} cm", rows) + f", {len(made)} of {given.scenes} scenes possible",
                flush=True,
            )
    else:
        made = [s for k in range(given.scenes) if (s := scene(k)) is not None]
        print(f"{len(made)} of {given.scenes} scenes have postures at both ends", flush=True)
        out["components"] = [run(s, k, usual) for s in made for k in range(given.seeds)]
        print(summary("components", out["components"]), flush=True)
        if given.flat:
            out["flat"] = [run(s, k, flat) for s in made for k in range(given.seeds)]
            print(summary("flat, legs closed", out["flat"]), flush=True)
        if given.capture:
            captured(made, given.capture, usual)
    if given.o:
        given.o.write_text(json.dumps(out))


def captured(made: list[Scene], folder: Path, settings: TightSettings) -> None:
    """Posture similarity and torque variation before and after recordings refine a path, judged on other recordings."""
    body = made[0].problem.body
    clips = clips_of(folder, body)
    mine, judge = Capture.of(body, [c for _, c in clips[::2]]), Capture.of(body, [c for _, c in clips[1::2]])
    print(f"{len(clips)} recordings; {len(mine.database)} postures to follow, {len(judge.database)} to judge by")
    how = {"sigma": settings.sigma, "parent_rad": settings.parent_rad, "own_rad": settings.own_rad,
           "near_rad": settings.near_rad}  # fmt: skip

    def natural(path: PosePath) -> float:
        rows = [path.at(s).rotations for s in np.linspace(0.0, 1.0, settings.nodes)]
        return float(np.mean([judge.database.similarity(q, name, **how) for q in rows for name in BLENDED]))

    seconds: dict[str, list[float]] = {}
    better, total, values = np.zeros(2, int), 0, []
    for number, one in enumerate(made):
        begun = time.perf_counter()
        found = body_path(one.problem, number, settings)
        if found.path is None:
            continue
        seconds.setdefault("planning", []).append(time.perf_counter() - begun)
        done = refined(one.problem, found.path, mine, number, settings)
        for stage, spent in done.seconds.items():
            seconds.setdefault(stage, []).append(spent)
        floor = smooth_random(body, one.problem.start, one.problem.goal, np.random.default_rng(number), settings.nodes)
        row = natural(found.path), natural(done.path), natural(floor)
        variation = float(done.before.robust.mean()), float(done.after.robust.mean())
        values.append((*row, *variation))
        better += [row[1] >= row[0], variation[1] <= variation[0]]
        total += 1
        print(f"scene {number}: similarity {row[0]:.3f} -> {row[1]:.3f} (random {row[2]:.3f}), torque variation "
              f"{variation[0]:.3f} -> {variation[1]:.3f}, inferred {done.inferred.mean():.0%}, "
              f"matched {done.match is not None}, followed {done.followed}", flush=True)  # fmt: skip
    if total:
        mean = np.mean(values, axis=0)
        print(f"better in {better[0]} and {better[1]} of {total}; means {np.round(mean, 3).tolist()}")
        print("stages, median s: " + ", ".join(f"{k} {np.median(v):.2f}" for k, v in seconds.items()))


if __name__ == "__main__":
    main()
