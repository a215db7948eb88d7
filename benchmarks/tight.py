"""Whole bodies in random tight places: found and certified, flat planning beside it, recordings before and after.

    python benchmarks/tight.py --scenes 30 --seeds 5            # success, seconds, checks
    python benchmarks/tight.py --scenes 9 --flat                # beside flat planning by OMPL, equal processor time
    python benchmarks/tight.py --gaps [--flat]                  # success by the width of a gap
    python benchmarks/tight.py --scenes 10 --capture FOLDER     # posture similarity and torque variation (Fig. 7)
    python benchmarks/tight.py --stages --capture FOLDER        # stages of the paper's three scenes (Table 2)

A scene is a board at table height before a woman, a wall behind her, a ceiling, and a post to each side, at random
places. She begins with her right hand under the board and ends with it above, or the other way round; both postures
are drawn at random, free and in balance.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import elbowroom as er
from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.rotations import about, exp, multiply, slerp, to_matrix
from elbowroom.geometry.solids import box
from elbowroom.motion.clip import Clip
from elbowroom.motion.pace import Timing
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps import whole_body as travel
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tight.capture import refined
from elbowroom.plan.tight.chain import BodyProblem, body_path, shortened
from elbowroom.plan.tight.criteria import component_joints, similarities, variations
from elbowroom.plan.tight.dynamic_balance import slowed, zmp_margin
from elbowroom.plan.tight.frames import Planned, planned_frames
from elbowroom.plan.tight.recordings import Capture
from elbowroom.plan.tight.settings import TightSettings
from elbowroom.posing.balance import balance_margin
from elbowroom.posing.stand import Balancer
from elbowroom.posing.whole_body import FEET
from elbowroom.search.birrt import Budget
from elbowroom.spaces.component import PosePath
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world.allowances import supports
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.fast_body import BodyCheck
from elbowroom.world.own_pairs import tissue_contacts
from elbowroom.world.world import World

AXES = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


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
    problem = BodyProblem(body, stand, stand, check, Balancer(body, 0.0, 0.015), AXES)
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


def certified(
    given: Scene, frames: tuple[np.ndarray, np.ndarray], *, clearance: bool = False
) -> tuple[World, Certificate]:
    """The world with the frames, and whether they are proven free, between them too."""
    motion, body = given.world.motion("ann"), given.problem.body
    assert isinstance(motion, Clip)
    clip = motion.with_(root=frames[0], rotations=frames[1])
    soft = tissue_contacts(body, "ann", clip.span, given.world.caps.tissue, body.transforms(*frames))
    world = given.world.with_character("ann", clip)
    return world, certify(world.with_(contacts=(*world.contacts, *soft)), clearance=clearance, contacts="never")


def planned(given: Scene, seed: int, settings: TightSettings) -> tuple[Planned, Planned]:
    """Frames between the two postures as tasks make them: before and after they are slowed down for balance."""
    motion, seeds = given.world.motion("ann"), itertools.count(seed, 1_000_003)
    usual = Director(given.world, Settings(), motion.fps, 0)
    quick = planned_frames(given.problem, lambda: next(seeds),
                           lambda path: round(motion.fps * usual.seconds_for(path.length_m)), settings)  # fmt: skip
    return quick, quick if quick.frames is None else slowed(given.problem, quick, motion.fps)


def run(given: Scene, seed: int, settings: TightSettings) -> dict:
    """One plan, as tasks make it: found, certified, processor seconds, checks, least balance margin between frames.

    The zero moment point is that of the frames before and after they are slowed down for it.
    """
    begun, fps = time.process_time(), given.world.motion("ann").fps
    quick, done = planned(given, seed, settings)
    searched = time.process_time() - begun
    proven = done.frames is not None and certified(given, done.frames)[1].free
    return {"found": done.frames is not None, "certified": proven, "plan_s": searched,
            "total_s": time.process_time() - begun, "checks": done.stats.checks, "blocked": done.blocked,
            "balance_m": between_frames(given, done.frames) if done.frames is not None else None,
            "zmp_m": None if quick.frames is None else 
            (zmp_margin(given.problem, quick.frames, fps), done.zmp_m)}  # fmt: skip


def all_runs(made: dict[int, Scene], seeds: int, settings: TightSettings) -> list[dict]:
    """All scenes with all seeds, each printed as it ends; a run that breaks off counts as not found."""
    rows = []
    for number, one in made.items():
        for seed in range(seeds):
            begun = time.process_time()
            try:
                row = run(one, seed, settings)
            except Exception as error:
                spent = time.process_time() - begun
                row = {"found": False, "certified": False, "plan_s": spent, "total_s": spent, "checks": 0,
                       "blocked": f"broke off: {error!r}", "balance_m": None, "zmp_m": None}  # fmt: skip
            rows.append({"scene": number, "seed": seed, **row})
            print(f"scene {number}, seed {seed}: {'certified' if row['certified'] else 'FAILED ' + row['blocked']}, "
                  f"{row['plan_s']:.2f} s, {row['checks']} checks", flush=True)  # fmt: skip
    return rows


def between_frames(given: Scene, frames: tuple[np.ndarray, np.ndarray]) -> float:
    """Least distance of the centre of mass inside of the support, at frames and half-way between them, metres."""
    body, q = given.problem.body, frames[1]
    middle = slerp(q[:-1], q[1:], np.full(q.shape[0] - 1, 0.5)[:, None])
    poses = [*zip(*frames, strict=True), *zip(0.5 * (frames[0][:-1] + frames[0][1:]), middle, strict=True)]
    return min(balance_margin(body, Pose.of(*pose)) for pose in poses)


def summary(name: str, rows: list[dict]) -> str:
    """One line of a table."""
    good = [r for r in rows if r["certified"]]
    plan = np.array([r["plan_s"] for r in rows]) if rows else np.zeros(1)
    points = np.array([r["zmp_m"] for r in good]).reshape(-1, 2)
    return (f"{name:24s} {len(rows):4d} plans, found {sum(r['found'] for r in rows):4d}, certified {len(good):4d}, "
            f"plan s median {np.median(plan):.2f} p90 {np.quantile(plan, 0.9):.2f}, "
            f"total s median {np.median([r['total_s'] for r in rows] or [0]):.2f}, "
            f"least balance {1000 * min([r['balance_m'] for r in good], default=0):.0f} mm, zero moment point "
            f"outside in {(points[:, 0] < 0.0).sum()}, slowed down in {(points[:, 1] < 0.0).sum()}, least "
            f"{1000 * min(points[:, 1], default=0.0):.0f} mm")  # fmt: skip


# Recordings of bends, crouches, lifts and reaches: those that are followed, and other takes to judge by. All are BVH:
# AMC and markers divide the turn of a head between its joints in another way, which would count as other postures.
FOLLOWED = ("Male1_A5_PickUpBox.bvh", "115_01.bvh", "26_09.bvh", "62_20.bvh", "69_73.bvh", "79_25.bvh", "81_06.bvh",
            "113_15.bvh", "131_05.bvh")  # fmt: skip
JUDGES = ("Male1_A6_LiftBox.bvh", "115_06.bvh", "26_10.bvh", "69_70.bvh", "80_07.bvh")


def clips_of(folder: Path, names: Sequence[str], body: Character) -> list[Clip]:
    """Recordings of some names in a folder and those below it, as motions of the body."""
    files = {p.name: p for p in sorted(folder.rglob("*.bvh"))}
    return [er.retarget(er.resample(er.read_bvh(files[name]), 30.0), body) for name in names if name in files]


def main() -> None:
    """Run what is asked for and print a table."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--scenes", type=int, default=6)
    ask.add_argument("--first", type=int, default=100, help="number of the first scene; settings were tuned on 0 to 9")
    ask.add_argument("--seeds", type=int, default=1)
    ask.add_argument("--checks", type=int, default=TightSettings().component.checks)
    ask.add_argument("--flat", action="store_true", help="needs ompl")
    ask.add_argument("--seconds", type=float, default=5.0, help="processor seconds of a flat plan")
    ask.add_argument("--gaps", action="store_true")
    ask.add_argument("--capture", type=Path)
    ask.add_argument("--stages", action="store_true", help="needs --capture")
    ask.add_argument("--few", type=int, default=len(FOLLOWED), help="only so many of the recordings are followed")
    ask.add_argument("-o", type=Path)
    given = ask.parse_args()
    if given.stages:
        return stages(given.capture)
    usual = replace(TightSettings(), component=Budget(checks=given.checks, nodes=1500))
    out: dict[str, list[dict]] = {}
    numbers = range(given.first, given.first + given.scenes)
    if given.gaps:
        for gap in (0.08, 0.12, 0.16, 0.2, 0.3):
            made = [s for k in numbers if (s := scene(k, gap)) is not None]
            rows = out[f"gap {gap}"] = [run(s, k, usual) for s in made for k in range(given.seeds)]
            print(
                summary(f"gap {100 * gap:.0f} cm", rows) + f", {len(made)} of {given.scenes} scenes possible",
                flush=True,
            )
            if given.flat and made:
                rivals(made, given.seconds)
    else:
        made = {k: s for k in numbers if (s := scene(k)) is not None}
        print(f"{len(made)} of {given.scenes} scenes have postures at both ends", flush=True)
        out["components"] = all_runs(made, given.seeds, usual)
        print(summary("components", out["components"]), flush=True)
        if given.flat:
            rivals([*made.values()], given.seconds)
        if given.capture:
            captured([*made.values()], given.capture, given.few, usual)
    if given.o:
        given.o.write_text(json.dumps(out))


# Scenes of the paper's Table 2, and its seconds by stage: planning, search and mapping, similarity, torque, clearance,
# blend, replanning.
PAPER = {"object-retrieval": 35.3, "object-placement": 44.0, "walking-and-bending": 80.0}
STAGES = ("planning", "search&mapping", "PS", "TV", "CLR", "blend", "replanning")


def stages(folder: Path) -> None:
    """Stages of all whole-body motions in the scenarios named after the paper's scenes, with recordings to follow."""
    files = {p.name: p for p in sorted(folder.rglob("*.bvh"))}
    recordings = tuple(er.read_bvh(files[name]) for name in FOLLOWED if name in files)
    print(
        "| scenario | motions | " + " | ".join(STAGES) + " | sum | paper / 20 |\n|" + "---|" * (len(STAGES) + 4),
        flush=True,
    )
    for name, paper in PAPER.items():
        spent, motions = dict.fromkeys(STAGES, 0.0), 0

        def planned(*args, spent=spent):
            begun = time.process_time()
            done = planned_frames(*args)
            spent["planning"] += time.process_time() - begun
            return done

        def followed(*args, spent=spent):
            nonlocal motions
            done, motions = refined(*args), motions + 1
            for stage, seconds in done.seconds.items():
                spent[stage] += seconds
            return done

        try:
            travel.planned_frames, travel.refined = planned, followed
            plan = plan_storyboard(replace(scenario(name).board(), capture=recordings))
            status = "" if plan.found else f" ({plan.status})"
        except Exception as error:  # one broken scenario must not end the list
            status = f" (broke off: {error!r})"
        finally:
            travel.planned_frames, travel.refined = planned_frames, refined
        total = sum(spent.values())
        print(f"| `{name}`{status} | {motions} | " + " | ".join(f"{s:.2f}" for s in spent.values())
              + f" | {total:.2f} | {total / max(motions, 1):.2f} | {paper / 20:.2f} |", flush=True)  # fmt: skip


def rivals(made: list[Scene], seconds: float) -> None:
    """Flat planning of the same scenes by OMPL, with legs closed and with 38 numbers."""
    from tight_rivals import flat_plan

    for name, legs in (("flat, legs closed", False), ("flat, 38 numbers", True)):
        rows = [flat_plan(s.problem, seconds, legs=legs) for s in made]
        spent = [spent for _, spent, _ in rows]
        print(f"{name:24s} {len(rows):4d} plans, paths {sum(found for found, _, _ in rows):4d}, "
              f"plan s median {np.median(spent):.2f} p90 {np.quantile(spent, 0.9):.2f}, "
              f"states looked at, median {np.median([n for _, _, n in rows]):.0f}", flush=True)  # fmt: skip


def smooth_random(body: Character, start: Pose, goal: Pose, rng: np.random.Generator, count: int) -> PosePath:
    """A smooth random motion between two postures, the baseline of measures of naturalness."""
    u = np.linspace(0.0, 1.0, count)
    poses = []
    waves = [(j, rng.normal(size=3) * 0.35) for some in component_joints(body).values() for j in some]
    for s in u:
        q = np.array(slerp(start.rotations, goal.rotations, np.array(s)))
        for j, axis in waves:
            q[j] = multiply(q[j], exp(np.sin(np.pi * s) * axis))
        poses.append(Pose.of((1.0 - s) * start.root + s * goal.root, q))
    return PosePath(body, poses)


def captured(made: list[Scene], folder: Path, few: int, settings: TightSettings) -> None:
    """Posture similarity and torque variation before and after recordings refine a path, judged on other recordings.

    The planned path as it was found (the paper's HMP), smoothed, and refined; captured clips are the ceiling, smooth
    random motions the floor.
    """
    body = made[0].problem.body
    followed, judging = clips_of(folder, FOLLOWED[:few], body), clips_of(folder, JUDGES, body)
    mine, judge = Capture.of(body, followed), Capture.of(body, judging)
    print(f"{len(followed)} recordings, {len(mine.database)} postures to follow; "
          f"{len(judging)} recordings, {len(judge.database)} postures to judge by", flush=True)  # fmt: skip

    def measured(path: PosePath, timing: Timing, by: Capture) -> tuple[float, float, float]:
        literal, robust = variations(body, path, timing, by.database)
        return (
            float(similarities(by.database, path, settings)[0].mean()),
            float(np.median(literal)),
            float(robust.mean()),
        )

    def evenly(path: PosePath) -> PosePath:
        return PosePath(body, [path.at(s) for s in np.linspace(0.0, 1.0, settings.nodes)])

    ceiling = []
    for clip in judging:
        path = PosePath(body, [Pose.of(clip.root[k], clip.rotations[k]) for k in range(0, len(clip), 6)])
        ceiling.append(measured(path, Timing(clip.duration * np.linspace(0.0, 1.0, len(path)), path.along), mine))
    seconds: dict[str, list[float]] = {}
    rows, sums = [], []
    for number, one in enumerate(made):
        begun = time.process_time()
        found = body_path(one.problem, number, settings)
        if found.path is None:
            continue
        short = shortened(one.problem, found.path, number, settings)
        seconds.setdefault("planning", []).append(time.process_time() - begun)
        done = refined(one.problem, found.path, short, mine, seed=number, settings=settings)
        for stage, spent in done.seconds.items():
            seconds.setdefault(stage, []).append(spent)
        sums.append(seconds["planning"][-1] + sum(done.seconds.values()))
        floor = smooth_random(body, one.problem.start, one.problem.goal, np.random.default_rng(number), settings.nodes)
        nodes = evenly(found.path)
        row = [measured(p, done.timing, judge) for p in (nodes, evenly(done.planned), evenly(done.path), floor)]
        rows.append(row)
        print(f"scene {number}: " + " | ".join(f"{r[0]:.3f} {r[1]:.2f} {r[2]:.3f}" for r in row)
              + f", inferred {done.inferred.mean():.0%}, recordings {done.weights.max(axis=0).round(2)}, "
              f"{done.timing.duration:.1f} s, "
              f"matched {done.match is not None}", flush=True)  # fmt: skip
    table = np.array(rows)
    for name, k in (("planned", 0), ("smoothed", 1), ("refined", 2), ("random", 3)):
        print(f"{name:10s} similarity {table[:, k, 0].mean():.3f}, torque variation: literal, median "
              f"{np.median(table[:, k, 1]):.2f}, over strength {table[:, k, 2].mean():.3f}")  # fmt: skip
    top = np.array(ceiling)
    print(f"{'captured':10s} similarity {top[:, 0].mean():.3f}, literal {np.median(top[:, 1]):.2f}, over strength "
          f"{top[:, 2].mean():.3f}")  # fmt: skip
    for name, k in (("planned", 0), ("smoothed", 1)):
        better = [int((sign * (table[:, 2, c] - table[:, k, c]) > 0).sum()) for c, sign in ((0, 1), (1, -1), (2, -1))]
        print(f"refined better than {name}: similarity, literal, robust {better} of {len(table)}")
    print("stages, median s: " + ", ".join(f"{k} {np.median(v):.2f}" for k, v in seconds.items()))
    print(f"sum, median s: {np.median(sums):.2f}, largest {max(sums):.2f}")


if __name__ == "__main__":
    main()
