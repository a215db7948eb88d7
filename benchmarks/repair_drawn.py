"""Repairs of placements drawn by a seed: posts, bars, tables, doorways, blocks, other bodies, things in hands.

Each case puts one obstacle into a recorded clip by a drawn depth, as in `repair_made.py`. Cases that collide in their
first or last 0.3 s, or that collide without the obstacle, do not count and are drawn again.

    python benchmarks/repair_drawn.py record now.jsonl [--seed 1] [--each 10] [--kinds table bar-head] [--strips FOLDER]
    python benchmarks/repair_drawn.py compare before.jsonl now.jsonl

`record` continues a file that is there. `compare` takes the cases that both records repaired, and prints medians: how
far joints are moved on average over the clip, changed frames, jerk of the joint that moves most, slide of planted feet,
processor time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import elbowroom as er
from elbowroom.character.hands import grip_frame
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.pictures.direction import Camera
from elbowroom.pictures.images import strip, write_png
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.result import Plan
from elbowroom.world.certificate import certify
from elbowroom.world.paths import Still
from elbowroom.world.world import World
from repair_clips import CLIPS
from repair_made import WHO, clip_of, counts, heading_at, pushed, role_path, turned_towards
from repair_quality import change, measured

Row = dict[str, Any]

# Metres by which obstacles go into the clip, from and to.
DEPTHS = {
    "post-hand": (0.02, 0.10),
    "post-shoulder": (0.02, 0.10),
    "post-middle": (0.08, 0.20),
    "bar-head": (0.03, 0.14),
    "bar-knee": (0.02, 0.08),
    "bar-shin": (0.02, 0.08),
    "table": (0.02, 0.12),
    "doorway": (0.02, 0.06),
    "block": (0.01, 0.06),
    "spot": (0.02, 0.08),
    "body": (0.02, 0.10),
}
_BODIES = ("woman", "man", "child", "clown", "gorilla")
_LEVEL = np.array([1.0, 1.0, 0.0])


def drawn(kind: str, seed: int, each: int) -> Iterator[tuple[str, World]]:
    """Names and worlds of cases of a kind that count."""
    rng = np.random.default_rng([seed, list(DEPTHS).index(kind)])
    wanted = ("reach", "carry") if kind == "spot" else ("walk", "run") if kind.startswith("bar") else None
    paths = [path for path, what in CLIPS.items() if wanted is None or what in wanted]
    found = 0
    for number in range(6 * each):
        path, depth, share = paths[rng.integers(len(paths))], rng.uniform(*DEPTHS[kind]), rng.uniform(0.35, 0.65)
        side, body = float(rng.choice([-1.0, 1.0])), _BODIES[rng.integers(len(_BODIES))]
        clip = clip_of(path, "sit" if kind == "spot" else "walk")
        if kind == "body":
            clip = er.retarget(clip, er.preset(body))
        world = _world(kind, clip, clip.start + share * clip.duration, depth, side)
        if world is not None and counts(world):
            yield f"{kind}/{seed}/{number}/{Path(path).stem}", world
            found += 1
        if found == each:
            return


def _world(kind: str, clip: Clip, t: float, depth: float, side: float) -> World | None:
    world = World(floor=0.0).with_character(WHO, clip)
    ahead = heading_at(clip, t)
    left = side * np.array([-ahead[1], ahead[0], 0.0])
    hand = role_path(clip, "left_hand" if side > 0.0 else "right_hand", np.array([t]))[0]
    pelvis = role_path(clip, "pelvis", np.array([t]))[0] * _LEVEL
    post = box((0.06, 0.06, 2.0), (0.0, 0.0, 1.0))
    if kind in ("post-hand", "post-middle"):
        at = hand * _LEVEL if kind == "post-hand" else pelvis
        out = left if kind == "post-hand" else ahead
        return pushed(world, "post", post, at, -out, depth)
    if kind in ("post-shoulder", "body"):
        return pushed(world, "post", post, pelvis, -left, depth)
    if kind.startswith("bar"):
        if kind == "bar-head":
            head = role_path(clip, "head", np.array([t]))[0]
            bar = turned_towards(box((0.08, 1.6, 0.08)), ahead)
            return pushed(world, "bar", bar, head, np.array([0.0, 0.0, -1.0]), depth)
        height = 0.45 if kind == "bar-knee" else 0.2
        foot = role_path(clip, "left_foot" if side > 0.0 else "right_foot", np.array([t]))[0] * _LEVEL
        bar = turned_towards(box((0.05, 0.5, 0.05), (0.0, 0.0, height)), ahead)
        return pushed(world, "bar", bar, foot + 0.15 * left, -left, depth)
    if kind == "table":
        top = turned_towards(box((1.0, 0.7, 0.04), (0.0, 0.35 * side, float(hand[2]))), ahead)
        return pushed(world, "table", top, pelvis, -left, depth)
    if kind == "doorway":
        for name, sign in (("left wall", 1.0), ("right wall", -1.0)):
            wall = turned_towards(box((0.12, 1.0, 2.2), (0.0, 0.5 * sign, 1.1)), ahead)
            world = pushed(world, name, wall, pelvis, -sign * side * left, depth)
        return world
    if kind == "block":
        foot = role_path(clip, "left_foot" if side > 0.0 else "right_foot", np.array([t]))[0] * _LEVEL
        return pushed(world, "block", box((0.12, 0.12, 0.1)), foot + (0.0, 0.0, 0.2), np.array([0.0, 0.0, 1.0]), depth)
    if kind == "spot":
        out = (hand - pelvis) * _LEVEL
        return pushed(world, "block", box((0.12, 0.12, 0.12)), hand, -out / np.linalg.norm(out), depth)
    assert kind == "held"
    return _holding(world, clip, t, pelvis, left, side, depth)


def _holding(
    world: World, clip: Clip, t: float, pelvis: np.ndarray, left: np.ndarray, side: float, depth: float
) -> World | None:
    """Somebody who holds a stick sideways, which meets a post."""
    name = "left" if side > 0.0 else "right"
    body = clip.character
    grip = clip.world(np.array([clip.start]))[0, body.role(f"{name}_hand")] @ grip_frame(body, name)
    grip = grip @ transform((-0.04, 0.0, 0.0))  # at the back of the hand, clear of the thigh
    world = world.with_object("stick", box((0.016, 0.016, 0.3)), Still(grip))
    world = world.with_hold("stick", WHO, name, clip.span)
    if not certify(world).free:
        return None
    post = box((0.06, 0.06, 2.0), (0.0, 0.0, 1.0))
    return pushed(world, "post", post, pelvis, -left, depth)


def figures(world: World, plan: Plan, cpu: float) -> Row:
    """What a repair gave."""
    old, new = world.characters[WHO], plan.world.characters[WHO]
    assert isinstance(old, Clip) and isinstance(new, Clip)
    moved = np.linalg.norm(new.positions() - old.positions(), axis=-1)
    spans = [c.during for c in plan.collisions]
    colliding = max(sum(b - a for a, b in spans), 1 / 30)
    return {
        "status": plan.status,
        "why": plan.why,
        "cpu_s": round(cpu, 2),
        "clip_s": round(old.duration, 2),
        "colliding_s": round(colliding, 2),
        "moved_mm": round(1000.0 * float(moved.mean()), 2),
        "edits": [[edit.limb, *(round(t, 2) for t in edit.during)] for edit in plan.edits],
        **change(old, new, plan),
        **measured(old, new, plan),
    }


def _strip(world: World, plan: Plan, path: Path) -> None:
    spans = [c.during for c in plan.collisions] or [world.span]
    middle = 0.5 * (min(s[0] for s in spans) + max(s[1] for s in spans))
    times = np.clip(middle + np.linspace(-0.6, 0.6, 7), *world.span)
    look = Camera.looking("front", azimuth=np.radians(40.0), elevation=np.radians(12.0))
    pixels = [strip(w, times, size=(230, 330), camera=look) for w in (world, plan.world)]
    write_png(path, np.concatenate(pixels))


def record(path: Path, kinds: list[str], seed: int, each: int, strips: Path | None) -> None:
    """Repair the cases that a record does not have, and add them."""
    done = read(path)
    for kind in kinds:
        for name, world in drawn(kind, seed, each):
            if name in done:
                continue
            begun = time.process_time()
            plan = repair(world, WHO)
            row = figures(world, plan, time.process_time() - begun)
            with path.open("a") as file:
                file.write(json.dumps({"case": name, **row}) + "\n")
            text = {
                k: row[k]
                for k in ("status", "cpu_s", "moved_mm", "frames", "jerk_of_clip", "feet_slide_more_m", "edits")
            }
            print(name, text, row["why"][:150], flush=True)
            if strips is not None:
                strips.mkdir(parents=True, exist_ok=True)
                _strip(world, plan, strips / f"{name.replace('/', '_')}.png")


def read(path: Path) -> dict[str, Row]:
    """Rows of a record by case."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {row.pop("case"): row for row in map(json.loads, lines)}


MEASURES = ("moved_mm", "frames", "jerk_of_clip", "feet_slide_more_m", "away_m", "cpu_s")


def compare(before: dict[str, Row], now: dict[str, Row]) -> None:
    """Print success by kind, and medians of the cases that both records repaired."""
    shared = [name for name in now if name in before]
    print(f"{len(shared)} cases in both")
    for kind in dict.fromkeys(name.split("/")[0] for name in shared):
        names = [name for name in shared if name.startswith(f"{kind}/")]
        found = [sum(rows[name]["status"] == "found" for name in names) for rows in (before, now)]
        both = [n for n in names if before[n]["status"] == now[n]["status"] == "found"]
        text = "  ".join(_both(before, now, both, measure) for measure in MEASURES) if both else ""
        print(f"{kind:14} {len(names):3}  found {found[0]:3} {found[1]:3}  {text}")
    both = [n for n in shared if before[n]["status"] == now[n]["status"] == "found"]
    print(f"all found by both {len(both)}: " + "  ".join(_both(before, now, both, measure) for measure in MEASURES))
    ratio = [now[n]["moved_mm"] / max(before[n]["moved_mm"], 0.01) for n in both]
    print(
        f"moved, now over before: median {np.median(ratio):.2f}; cpu, sum: {_sum(before, shared)} {_sum(now, shared)}"
    )
    per_s = [now[n]["cpu_s"] / (now[n]["colliding_s"] + 0.15 * now[n]["clip_s"]) for n in shared]
    print(f"cpu over (1 s per colliding second + 0.15 s per second of clip), now: median {np.median(per_s):.2f}")


def _both(before: dict[str, Row], now: dict[str, Row], names: list[str], measure: str) -> str:
    a, b = (float(np.median([rows[n][measure] for n in names])) for rows in (before, now))
    return f"{measure} {a:.3g} → {b:.3g}"


def _sum(rows: dict[str, Row], names: list[str]) -> str:
    return f"{sum(rows[n]['cpu_s'] for n in names):.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = parser.add_subparsers(dest="command", required=True)
    make = sub.add_parser("record")
    make.add_argument("file", type=Path)
    make.add_argument("--seed", type=int, default=1)
    make.add_argument("--each", type=int, default=10)
    make.add_argument("--kinds", nargs="*", default=list(DEPTHS), choices=list(DEPTHS))
    make.add_argument("--strips", type=Path)
    look = sub.add_parser("compare")
    look.add_argument("before", type=Path)
    look.add_argument("now", type=Path)
    args = parser.parse_args()
    if args.command == "record":
        record(args.file, args.kinds, args.seed, args.each, args.strips)
    else:
        compare(read(args.before), read(args.now))


if __name__ == "__main__":
    main()
