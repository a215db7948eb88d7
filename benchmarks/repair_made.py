"""Recorded clips and one obstacle made for each: head bars, doorways, sitting down and picking up, runs.

An obstacle is pushed towards the clip until it touches it and by a drawn depth more, so that every case collides by a
known amount somewhere amid the clip. Cases whose first or last 0.3 s collide, or whose clip is not free of itself and
the floor alone, do not count.

    python benchmarks/repair_made.py [--kinds bar door] [--numbers 3 7] [--json FILE] [--strips FOLDER] [--sheet FILE]

`--strips` draws each case before and after, in one picture; `--sheet` draws all of them small on a few sheets.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array, about
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import cut, place, without_lead
from elbowroom.pictures.direction import Camera
from elbowroom.pictures.images import strip, write_png
from elbowroom.pictures.renderer import Pixels
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.result import Plan
from elbowroom.world.certificate import certify
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import World
from repair_clips import read
from repair_quality import change, change_summary, inside, measured

WHO = "ann"
Row = dict[str, Any]

_WALKS = [
    "cmu_bvh/07_01.bvh",
    "cmu_bvh/16_17.bvh",
    "cmu_bvh/69_20.bvh",
    "cmu_bvh/132_17.bvh",
    "cmu_bvh/104_35.bvh",
    "cmu_bvh/70_01.bvh",
    "cmu_asf_amc/16/16_22.amc",
    "cmu_asf_amc/02/02_01.amc",
    "cmu_asf_amc/69/69_02.amc",
    "cmu_asf_amc/07/07_04.amc",
]
_RUNS = [
    "cmu_bvh/38_03.bvh",
    "cmu_asf_amc/02/02_03.amc",
    "cmu_asf_amc/09/09_06.amc",
    "cmu_asf_amc/127/127_29.amc",
    "cmu_asf_amc/16/16_35.amc",
    "cmu_asf_amc/16/16_41.amc",
    "cmu_asf_amc/16/16_55.amc",
    "cmu_asf_amc/127/127_04.amc",
]
_SITS = [
    "cmu_bvh/113_15.bvh",
    "cmu_asf_amc/14/14_31.amc",
    "cmu_bvh/26_09.bvh",
    "cmu_bvh/26_10.bvh",
    "cmu_bvh/115_01.bvh",
    "cmu_bvh/115_06.bvh",
    "cmu_bvh/69_70.bvh",
    "accad_bvh/Male1_A5_PickUpBox.bvh",
    "cmu_bvh/131_05.bvh",
]
# Metres by which obstacles go into the clip, from and to.
_DEPTHS = {"bar": (0.03, 0.14), "door": (0.02, 0.06), "sit": (0.02, 0.08), "run": (0.02, 0.08)}
# Seconds that a clip has at most; at both ends in which nothing may hit; looks a second.
_LONGEST, _ENDS, _LOOKS = 6.0, 0.3, 60.0
# Metres between which the first touch is found, and how closely.
_FAR, _CLOSELY = 1.5, 0.001


# Degrees from which pictures are taken, by kind: walls hide who is between them from the side.
_AZIMUTH_DEG = {"bar": 55.0, "door": 8.0, "sit": 55.0, "run": 40.0}
# Pictures on a sheet, and in a row of it.
_A_SHEET, _A_ROW = 12, 3


@dataclass(frozen=True, eq=False)
class Case:
    """A clip among obstacles that go into it by some metres."""

    kind: str
    path: str
    depth: float
    world: World


@dataclass(frozen=True)
class Draw:
    """A clip and how an obstacle is put in its way: number within its kind, metres of depth, share of the clip."""

    kind: str
    number: int
    path: str
    depth: float
    share: float


def draws() -> list[Draw]:
    """All draws in their order, the same ones each time; `made` says which of them count."""
    rng = np.random.default_rng(12)
    sits = [path for path in _SITS for _ in "ab"]
    return [
        Draw(kind, number, path, float(rng.uniform(*_DEPTHS[kind])), float(rng.uniform(0.4, 0.6)))
        for kind, paths in (
            ("bar", _WALKS),
            ("door", _WALKS),
            ("sit", sits),
            ("run", _RUNS),
        )
        for number, path in enumerate(paths)
    ]


def made(draw: Draw) -> Case | None:
    """The case of a draw; None if its clip collides near its ends, with itself or with the floor."""
    clip, side = clip_of(draw.path, draw.kind), (-1.0) ** draw.number
    world = _made(draw.kind, draw.number, clip, draw.share, draw.depth, side)
    return Case(draw.kind, draw.path, draw.depth, world) if counts(world) else None


def cases() -> Iterator[Case]:
    """All cases that count, in their order."""
    return (case for draw in draws() if (case := made(draw)) is not None)


def clip_of(path: str, kind: str) -> Clip:
    """A clip on the floor, without artificial frames, cut to the middle of it or, for who bends, about the lowest."""
    clip = without_lead(read(path))
    begin, end = clip.span
    middle = 0.5 * (begin + end)
    if kind == "sit":
        middle = float(clip.times[int(np.argmin(role_path(clip, "head", clip.times)[:, 2]))])
    low = min(max(begin, middle - 0.5 * _LONGEST), max(end - _LONGEST, begin))
    return place(cut(clip, low, min(low + _LONGEST, end)))


def role_path(clip: Clip, role: str, times: Array) -> Array:
    return np.asarray(clip.positions(times)[:, clip.character.role(role)])


def _made(kind: str, number: int, clip: Clip, share: float, depth: float, side: float) -> World:
    """The clip with what it is to run into about a share of its time; `side` is 1 or -1."""
    t = clip.start + share * clip.duration
    world = World(floor=0.0).with_character(WHO, clip)
    heading = heading_at(clip, t)
    head = role_path(clip, "head", np.array([t]))[0]
    across = np.array([-heading[1], heading[0], 0.0])
    if kind == "bar" or (kind == "run" and number % 2):
        bar = turned_towards(box((0.08, 1.6, 0.08)), heading)
        return pushed(world, "bar", bar, head, np.array([0.0, 0.0, -1.0]), depth)
    if kind == "door":
        for name, sign in (("left wall", 1.0), ("right wall", -1.0)):
            wall = turned_towards(box((0.12, 1.0, 2.2), (0.0, 0.5 * sign, 1.1)), heading)
            at = np.array([*role_path(clip, "pelvis", np.array([t]))[0, :2], 0.0])
            world = pushed(world, name, wall, at, -sign * across, depth)
        return world
    if kind == "run":
        post = box((0.1, 0.1, 1.6), (0.0, 0.0, 0.8))
        at = np.array([*role_path(clip, "pelvis", np.array([t]))[0, :2], 0.0])
        return pushed(world, "post", post, at, -side * across, depth)
    # who bends or sits: a board before the head, or a block beside a hand on its way
    low = float(clip.times[int(np.argmin(role_path(clip, "head", clip.times)[:, 2]))])
    if number % 2:
        role = "left_hand" if side > 0.0 else "right_hand"
        t = max(low - 0.5, clip.start + 0.4)
        hand = role_path(clip, role, np.array([t]))[0]
        out = hand - role_path(clip, "pelvis", np.array([t]))[0]
        out[2] = 0.0
        return pushed(world, "block", box((0.12, 0.12, 0.12)), hand, -out / np.linalg.norm(out), depth)
    head = role_path(clip, "head", np.array([low]))[0]
    up = head - role_path(clip, "pelvis", np.array([low]))[0]
    board = turned_towards(box((0.04, 0.8, 0.3)), up)
    return pushed(world, "board", board, head, -up / np.linalg.norm(up), depth)


def heading_at(clip: Clip, t: float) -> Array:
    """Where somebody goes at a time, level, (3,); where they look who stand."""
    a, b = (role_path(clip, "pelvis", np.array([s]))[0] for s in np.clip([t - 0.3, t + 0.3], *clip.span))
    way = (b - a) * (1.0, 1.0, 0.0)
    if np.linalg.norm(way) < 0.1:
        left, right = (role_path(clip, f"{side}_thigh", np.array([t]))[0] for side in ("left", "right"))
        way = np.cross(left - right, (0.0, 0.0, 1.0)) * (1.0, 1.0, 0.0)
    return way / np.linalg.norm(way)


def turned_towards(mesh: Mesh, towards: Array) -> Mesh:
    """A mesh with its x axis turned towards a direction, about the vertical."""
    return mesh.moved(transform((0.0, 0.0, 0.0), about((0.0, 0.0, 1.0), float(np.arctan2(towards[1], towards[0])))))


def pushed(world: World, name: str, mesh: Mesh, at: Array, direction: Array, depth: float) -> World:
    """The world with a mesh that comes along a direction to a place until it touches, and goes on by a depth."""

    def there(away: float) -> World:
        return world.with_static(name, mesh.moved(transform(at - away * direction, (1.0, 0.0, 0.0, 0.0))))

    low, high = 0.0, _FAR
    while high - low > _CLOSELY:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if len(hit_times(there(middle), name)) else (low, middle)
    return there(high - depth)


def hit_times(world: World, name: str = "") -> Array:
    """Times at which somebody hits the scene, or one mesh of it."""
    exact = ExactWorld(world)
    pairs = [[exact.parts[int(i)] for i in row] for row in exact.index]
    scene = [any(p.kind == "static" and (not name or p.name == name) for p in pair) for pair in pairs]
    among = np.flatnonzero(scene)
    begin, end = world.span
    record = world.record(np.arange(begin, end, 1.0 / _LOOKS))
    return np.array([t for k, t in enumerate(record.times) if _hit(exact.place_snapshot(record[k]), among)])


def _hit(exact: ExactWorld, among: Array) -> bool:
    return any(exact.hit(int(k)) for k in exact.near(0.0, among))


def counts(world: World) -> bool:
    """Whether somebody hits the scene amid the clip alone, and nothing else."""
    times = hit_times(world)
    begin, end = world.span
    amid = bool(len(times)) and bool(times[0] > begin + _ENDS and times[-1] < end - _ENDS)
    return amid and certify(World(floor=world.floor).with_character(WHO, world.characters[WHO])).free


def tried(case: Case, number: int) -> tuple[Row, Plan]:
    """Repair one case and measure it."""
    cpu = time.process_time()
    plan = repair(case.world, WHO)
    cpu = time.process_time() - cpu
    old, new = case.world.characters[WHO], plan.world.characters[WHO]
    assert isinstance(old, Clip) and isinstance(new, Clip)
    changed = np.any(old.rotations != new.rotations, axis=(1, 2)) | np.any(old.root != new.root, axis=1)
    row = {
        "number": number,
        "kind": case.kind,
        "clip": case.path,
        "depth_m": round(case.depth, 3),
        "status": plan.status,
        "why": plan.why,
        "cpu_s": round(cpu, 2),
        "plans": [(p.limb, p.reason, p.tier, [round(t, 2) for t in p.during]) for p in plan.edits],
        "untouched": not bool((changed & ~inside(old, plan)).any()),
        "change": change(old, new, plan),
        "quality": measured(old, new, plan),
    }
    return row, plan


def summary(rows: list[Row]) -> Row:
    """Figures over all cases; change over those that were repaired."""
    done = [r for r in rows if r["status"] == "found"]
    kinds = {k: [r["status"] == "found" for r in rows if r["kind"] == k] for k in sorted({r["kind"] for r in rows})}
    return {
        "cases": len(rows),
        "repaired": len(done),
        "by_kind": {k: f"{sum(v)} of {len(v)}" for k, v in kinds.items()},
        "cpu_s_median": round(float(np.median([r["cpu_s"] for r in rows])), 2),
        "untouched_outside": all(r["untouched"] for r in rows),
        **change_summary([r["change"] for r in done]),
    }


def before_above_after(case: Case, plan: Plan, count: int, size: tuple[int, int]) -> Pixels:
    """Some moments about the collisions, before above after, seen by the same camera."""
    spans = [c.during for c in plan.collisions] or [case.world.span]
    middle = 0.5 * (min(s[0] for s in spans) + max(s[1] for s in spans))
    times = np.clip(middle + np.linspace(-0.6, 0.6, count), *case.world.span)
    look = Camera.looking("front", azimuth=np.radians(_AZIMUTH_DEG[case.kind]), elevation=np.radians(12.0))
    return np.concatenate([strip(w, times, size=size, camera=look) for w in (case.world, plan.world)])


def sheets(pictures: list[Pixels], path: Path) -> None:
    """Pictures side by side, three a row, in files that are numbered from 1; each has at most twelve."""
    for first in range(0, len(pictures), _A_SHEET):
        some = pictures[first : first + _A_SHEET]
        some += [np.full_like(some[0], 255)] * (-len(some) % _A_ROW)
        rows = [np.concatenate(some[k : k + _A_ROW], axis=1) for k in range(0, len(some), _A_ROW)]
        sheet = path.with_name(f"{path.stem}-{first // _A_SHEET + 1}.webp")
        iio.imwrite(sheet, np.concatenate(rows), quality=82)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="*", default=list(_DEPTHS), choices=list(_DEPTHS))
    parser.add_argument("--numbers", nargs="*", type=int)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--strips", type=Path, help="folder for a picture of each case")
    parser.add_argument(
        "--sheet", type=Path, help="PNG with small pictures of all cases; a number is added to its name"
    )
    args = parser.parse_args()
    rows, small, crashed = [], [], 0
    for number, case in enumerate(cases()):
        if case.kind not in args.kinds or (args.numbers is not None and number not in args.numbers):
            continue
        try:
            row, plan = tried(case, number)
        except Exception as error:
            print(f"{number} {case.kind} {case.path}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            crashed += 1
            continue
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
        if args.json:
            args.json.write_text(json.dumps({"rows": rows, "summary": summary(rows)}))
        if args.strips:
            args.strips.mkdir(parents=True, exist_ok=True)
            picture = before_above_after(case, plan, 7, (230, 330))
            write_png(args.strips / f"{number:02}_{case.kind}.png", picture)
        if args.sheet:
            small.append(before_above_after(case, plan, 4, (110, 156)))
    if args.sheet:
        sheets(small, args.sheet)
    print(json.dumps({**summary(rows), "crashed": crashed}, indent=1))


if __name__ == "__main__":
    main()
