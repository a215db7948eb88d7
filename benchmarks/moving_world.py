"""Arms of people who walk or stand, and things that fly through the room that their arms need.

Each problem has a box, a rod or a ring that moves past someone who walks or stands by a bookcase of some 30,000
triangles: place, speed, turn and time are drawn. It counts when the thing meets an arm of the clip and nothing else of
the body, when the arm is free at both ends of the interval, and when at every moment of it at least one of 300 postures
drawn is free. Problems are drawn before any is solved. The arm is then planned anew, in sync with everything that
moves, smoothed, proven, made into frames and certified by the exact checker. The same problems are planned with all
things where they are at the beginning, as a planner does that knows but a snapshot, and checked against the moving
world. Times are those of the processor, the check of the limb made before.

    python benchmarks/moving_world.py [--problems 100] [--quick] [--picture FILE.png] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from elbowroom.character.human import preset
from elbowroom.character.limits import sample_pose
from elbowroom.finish.settle import own_times, soften
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box, cylinder, lathe
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.props.furniture import bookshelf
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSearchSpace, plan_limb
from elbowroom.world.certificate import certify
from elbowroom.world.fast import HIT, LimbCheck
from elbowroom.world.paths import Keyed, Still
from elbowroom.world.world import World
from limb_proof import prove
from limb_search import finer

matplotlib.use("Agg")

# Seconds of a clip, the least and most before and after contact that an arm has, and metres that planned ways keep.
SECONDS, ASIDE, MARGIN = 5.0, 0.6, 0.005
# Metres that things rise or sink for each metre of their way, at most.
RISE = 0.12
# Moments a second at which postures are drawn to see whether any is free, and how many.
LOOKS, POSTURES = 30.0, 300
KINDS = ("box", "rod", "ring")
STAGES = ("first path", "smooth", "smooth and proven", "frames, certified by the exact checker")
PAPER = "2 s, smooth, 30K triangles"


@dataclass(frozen=True, eq=False)
class Problem:
    """A world with something that flies through an arm, and the frames from and to which the arm is planned anew."""

    name: str
    world: World
    limb: str
    first: int
    last: int
    speed: float

    @property
    def clip(self) -> Clip:
        """The motion with the arm as it was."""
        motion = self.world.motion("ann")
        assert isinstance(motion, Clip)
        return motion

    @property
    def during(self) -> tuple[float, float]:
        """From and to when, seconds."""
        return float(self.clip.times[self.first]), float(self.clip.times[self.last])


def bases() -> dict[str, World]:
    """Someone who walks along a bookcase, and someone who stands beside it."""
    person = preset("woman")
    boards, books = bookshelf(width=1.3, height=1.9, shelves=6, seed=3)
    made = {}
    for name, clip, along in (
        ("walk", walk(person, 1.3, seconds=SECONDS), -3.0),
        ("idle", idle(person, seconds=SECONDS), -0.2),
    ):
        T = transform([-0.95, along, 0.0], rot.about([0, 0, 1.0], 0.5 * np.pi))
        meshes = {"shelf": finer(boards, 2).moved(T), "books": finer(books, 2).moved(T)}
        made[name] = World(static=meshes, floor=0.0).with_character("ann", clip)
    return made


def thing(kind: str, rng: np.random.Generator) -> Mesh:
    """Something to fly: about its middle, of a size that is drawn."""
    if kind == "box":
        return box(rng.uniform(0.06, 0.22, 3))
    if kind == "rod":
        return cylinder(rng.uniform(0.012, 0.035), rng.uniform(0.5, 1.3))
    radius, thick = rng.uniform(0.10, 0.26), rng.uniform(0.015, 0.03)
    return lathe([(radius, -thick), (radius + 2 * thick, -thick), (radius + 2 * thick, thick), (radius, thick),
                  (radius, -thick)])  # fmt: skip


def flying(base: World, joints: Array, rng: np.random.Generator) -> tuple[Keyed, float]:
    """A path past a joint of an arm (some of them at times, drawn), turning as it goes; and its speed, m/s."""
    clip = base.motion("ann")
    meets = rng.uniform(1.2, SECONDS - 1.2)
    joint = joints[rng.integers(1, len(joints))]
    T = clip.body.transforms(*clip.sample(np.array([meets])))[0, :, :3, 3]
    out = np.arctan2(*(T[joint] - T[0])[1::-1])
    at = T[joint] + rng.uniform(-0.06, 0.06, 3) + rng.uniform(0.0, 0.1) * np.array([np.cos(out), np.sin(out), 0.0])
    # more along the body than through it, either way
    heading = out + rng.choice([-1.0, 1.0]) * rng.uniform(0.25 * np.pi, 0.75 * np.pi)
    speed = float(rng.uniform(0.25, 2.0))
    way = np.array([np.cos(heading), np.sin(heading), rng.uniform(-RISE, RISE)])
    times = np.linspace(0.0, SECONDS, 51)
    places = at + speed * (times - meets)[:, None] * way
    turns = rot.multiply(
        rot.about(rot.normalize(rng.normal(size=3)), rng.uniform(0.0, 3.0) * (times - meets)),
        rot.normalize(rng.normal(size=4)),
    )
    return Keyed(times, places, turns), speed


def drawn(base: World, name: str, kind: str, rng: np.random.Generator) -> Problem | str:
    """A problem, or why what was drawn is none."""
    clip = base.motion("ann")
    assert isinstance(clip, Clip)
    body = clip.character
    side = ("left", "right")[rng.integers(2)]
    joints = body.chain(f"{side}_arm").joints
    path, speed = flying(base, np.array(joints), rng)
    world = base.with_object(kind, thing(kind, rng), path)
    # the clip itself is free of the bookcase
    hits = certify(world.with_(static={}), clearance=False).collisions
    arm = set(body.subtree(joints[0]))
    own = {f"ann.{s.name}" for s in body.shapes if s.joint in arm}
    if not hits:
        return "meets nobody"
    if any(kind not in hit.pair or not own & {hit.pair.a, hit.pair.b} for hit in hits):
        return "meets more than that arm"
    begin, end = min(h.during[0] for h in hits) - ASIDE, max(h.during[1] for h in hits) + ASIDE
    if begin < 0.0 or end > clip.span[1]:
        return "too near to an end of the clip"
    first, last = int(np.floor(begin * clip.fps)), int(np.ceil(end * clip.fps))
    problem = Problem(f"{name}, {kind}", world, f"{side}_arm", first, last, speed)
    alone = World(static=world.static).with_object(kind, world.objects[kind].mesh, path)
    if not certify(alone, clip.fps, during=problem.during, clearance=False).free:
        return "meets the bookcase"
    check = LimbCheck(world, "ann", f"{side}_arm", problem.during, margin=MARGIN)
    if not all(check.free(clip.rotations[k, list(joints)], clip.times[k]) for k in (first, last)):
        return "near contact at an end"
    limits = [body.limits[j] for j in joints]
    q = np.ascontiguousarray(sample_pose(limits, rng, POSTURES))
    looks = np.arange(*problem.during, 1.0 / LOOKS)
    if any((check.batch(q, float(t), resolve_uncertain=True) == HIT).all() for t in looks):
        return "no posture is free at some moment"
    return problem


def problems(count: int, seed: int) -> tuple[list[Problem], Counter[str]]:
    """Problems in equal shares of clips and kinds, and what became of all that were drawn."""
    worlds, found, told = bases(), [], Counter[str]()
    names = list(worlds)
    rng = np.random.default_rng(seed)
    while len(found) < count:
        name, kind = names[len(found) % 2], KINDS[(len(found) // 2) % 3]
        one = drawn(worlds[name], name, kind, rng)
        told["problems" if isinstance(one, Problem) else one] += 1
        if isinstance(one, Problem):
            found.append(one)
    return found, told


def solved(problem: Problem, seed: int) -> dict[str, Any]:
    """Milliseconds until each stage, whether it was certified, and what the planner of a snapshot comes to."""
    clip, during = problem.clip, problem.during
    joints = list(clip.character.chain(problem.limb).joints)
    begun = time.process_time()
    check = LimbCheck(problem.world, "ann", problem.limb, during, margin=MARGIN)
    row: dict[str, Any] = {"name": problem.name, "speed": problem.speed, "during": during}
    row["check_ms"] = 1e3 * (time.process_time() - begun)
    rows = slice(problem.first, problem.last + 1)
    base, times = clip.rotations[rows, joints], clip.times[rows]
    space = LimbSearchSpace.over(check, timed=True)
    ends = [space.state(base[k], float(times[k])) for k in (0, -1)]
    at = [time.process_time()]
    path = plan_limb(space, *ends, seed)
    at.append(time.process_time())
    row["found"] = path.found
    short = smooth(space, path, seed)
    at.append(time.process_time())
    row["proven"] = path.found and prove(space, short).free
    at.append(time.process_time())
    if path.found:
        settled = soften(check, own_times(space, short, times), times, base)
        q = np.array(clip.rotations)
        q[rows, joints] = settled.rotations
        done = problem.world.with_character("ann", clip.with_(rotations=q))
        row["certified"] = certify(done, during=during, clearance=False).free
    at.append(time.process_time())
    row["ms"] = dict(zip(STAGES, (1e3 * (np.array(at[1:]) - at[0])).tolist(), strict=True))
    row["snapshot"] = snapshot(problem, space, seed)
    return row


def snapshot(problem: Problem, space: LimbSearchSpace, seed: int) -> str:
    """What becomes of a path that was planned with all things where they are when the arm sets out."""
    world, during = problem.world, problem.during
    still = {name: replace(one, path=Still(world.frame(name, during[0]))) for name, one in world.objects.items()}
    check = LimbCheck(world.with_(objects=still), "ann", problem.limb, during, margin=MARGIN)
    frozen = LimbSearchSpace.over(check, timed=True)
    joints = list(problem.clip.character.chain(problem.limb).joints)
    frames = [(problem.clip.rotations[k, joints], float(problem.clip.times[k])) for k in (problem.first, problem.last)]
    path = smooth(frozen, plan_limb(frozen, *(frozen.state(q, t) for q, t in frames), seed), seed)
    if not path.found:
        return "finds no path"
    return "free" if prove(space, path).free else "collides"


def table(rows: list[dict[str, Any]], told: Counter[str]) -> str:
    """All of it in markdown."""
    count = len(rows)
    certified = sum(row.get("certified", False) for row in rows)
    lines = [f"{count} problems; drawn: " + ", ".join(f"{n} {what}" for what, n in told.most_common()) + ".", ""]
    lines += ["| | |", "|---|---|", f"| solved | {sum(r['found'] for r in rows)} of {count} |"]
    lines += [f"| path proven in continuous time | {sum(r['proven'] for r in rows)} of {count} |"]
    lines += [f"| frames certified by the exact checker | **{certified} of {count}** |"]
    missed = Counter(row["snapshot"] for row in rows)
    lines += [f"| the same with the world frozen at the start: fail | **{count - missed['free']} of {count}** "
              f"({missed['collides']} collide, {missed['finds no path']} find no path) |", ""]  # fmt: skip
    lines += ["| until | median ms | p95 ms | paper |", "|---|---|---|---|"]
    for stage in STAGES:
        ms = [row["ms"][stage] for row in rows if row["found"]]
        paper = PAPER if stage == "smooth" else ""
        lines.append(f"| {stage} | {np.median(ms):.2f} | {np.percentile(ms, 95):.2f} | {paper} |")
    lines.append(f"| check of the limb made (before) | {np.median([r['check_ms'] for r in rows]):.0f} | | |")
    return "\n".join(lines)


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Shares of problems that are done after some time."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.6), dpi=150)
    for stage in STAGES:
        ms = np.sort([row["ms"][stage] for row in rows if row["found"]])
        axes.step(ms, (1 + np.arange(len(ms))) / len(rows), where="post", label=stage)
    axes.axvline(2000.0, color="grey", linestyle="--", label="paper: smooth")
    axes.set_xscale("log")
    axes.set_xlabel("milliseconds of processor time")
    axes.set_ylabel("share of problems")
    axes.set_title("Arms out of the way of moving things")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    """Draw, solve and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="12 problems")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--json", type=Path, help="write what every problem took here")
    given = parser.parse_args()
    found, told = problems(12 if given.quick else given.problems, given.seed)
    solved(found[0], 0)  # compiled
    rows = [solved(problem, seed) for seed, problem in enumerate(found)]
    print(table(rows, told))
    for number, row in enumerate(rows):
        if not row.get("certified", False):
            print(f"not certified: problem {number}, {row['name']}, {row['speed']:.2f} m/s, found: {row['found']}")
    if given.picture is not None:
        plot(rows, given.picture)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
