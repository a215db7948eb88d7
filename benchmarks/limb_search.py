"""Reaching into a bookshelf of 35,000 triangles with the right arm: how long until a path, and a smooth, proven one.

Problems are drawn before any timing: postures that are free by the exact test, the hand among the shelves, and paths
asked for from the hanging arm and from one such posture to another, where there is one. In the same run, OMPL's
RRT-Connect with Pinocchio and Coal in a callback and roboplan's plan the same problems, with looks as far apart as ours
in the median. Times are those of the processor. `--natural` tells what paths look like instead.

    python benchmarks/limb_search.py [--problems 100] [--rivals 100] [--exact] [--json]
    python benchmarks/limb_search.py --natural [--problems 100]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import SearchPath as File
from typing import Any

import numpy as np

import limb_search_ompl
import limb_search_roboplan
from elbowroom.character.human import human
from elbowroom.character.limits import sample_pose
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.kernels import limb_space
from elbowroom.kernels.compiled import njit_nogil
from elbowroom.kernels.limb_state import travel
from elbowroom.props.furniture import bookshelf
from elbowroom.search.birrt import Budget, SearchPath
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSearchSpace, plan_limb
from elbowroom.spaces.styles import NATURAL, Style
from elbowroom.world.fast import FREE, HIT, LimbCheck
from elbowroom.world.world import World
from limb_proof import prove
from limb_search_natural import looks_like

MARGIN, RESOLUTION = 0.005, 0.01

looks_along = njit_nogil()(limb_space.looks_along)

Problem = tuple[Array, Array]


def finer(mesh: Mesh, times: int) -> Mesh:
    """The same surface in four triangles for each, so many times."""
    for _ in range(times):
        t = mesh.vertices[mesh.faces]
        m = 0.5 * (t + np.roll(t, -1, axis=1))  # middles of edges 01, 12, 20
        parts = [
            np.stack([t[:, 0], m[:, 0], m[:, 2]], axis=1),
            np.stack([t[:, 1], m[:, 1], m[:, 0]], axis=1),
            np.stack([t[:, 2], m[:, 2], m[:, 1]], axis=1),
            m,
        ]
        corners, index = np.unique(np.concatenate(parts).reshape(-1, 3).round(9), axis=0, return_inverse=True)
        mesh = Mesh(corners, index.reshape(-1, 3).astype(np.int32))
    return mesh


def scene() -> World:
    """A person before a bookshelf."""
    boards, books = bookshelf(width=1.3, height=1.9, shelves=6, seed=3)
    T = transform([-0.2, -0.62, 0.0], rot.about([0, 0, 1.0], np.pi))
    meshes = {"shelf": finer(boards, 2).moved(T), "books": finer(books, 2).moved(T)}
    return World(static=meshes, floor=0.0).with_character("ann", human(skin=False))


def hanging(check: LimbCheck) -> Array:
    """The arm down at the side, the elbow a little bent."""
    body = check.world.body(check.who)
    limits = [body.limits[j] for j in check.joints]  # type: ignore[attr-defined]
    terms = np.radians([[75.0, 0.0, 0.0], [20.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    return np.stack([limit.rotation(c) for limit, c in zip(limits, terms, strict=True)])


def problems(space: LimbSearchSpace, count: int, seed: int = 0) -> tuple[list[Problem], dict[str, int]]:
    """Pairs of postures (n, 4), free by the exact test and with a path between them, and what became of those drawn."""
    check = space.check
    meshes = list(check.world.static.values())
    low, high = np.min([m.bounds[0] for m in meshes], axis=0), np.max([m.bounds[1] for m in meshes], axis=0)
    rng = np.random.default_rng(seed)
    rest = hanging(check)
    assert check.free(rest)
    pairs: list[Problem] = []
    waiting: list[Array] = []
    told = {"among the shelves": 0, "free": 0, "in doubt at first": 0, "problems": 0, "without a path": 0}
    while len(pairs) < count:
        q = sample_pose(space.limits, rng, 20_000)
        verdicts = check.batch(q, 0.0)
        for k in np.flatnonzero(verdicts != HIT):
            end = space.marks(space.state(q[k]))[-2]
            if len(pairs) == count or not ((end > low) & (end < high)).all():
                continue
            told["among the shelves"] += 1
            # free as it is, and with the wrist as the URDF's two hinges turn it
            if not (
                check.free(q[k])
                and check.free(limb_search_roboplan.postures(space, limb_search_roboplan.seven(space, q[k])))
            ):
                continue
            told["free"] += 1
            told["in doubt at first"] += int(verdicts[k] != FREE)
            waiting.append(q[k])
            pair = (rest, waiting[0]) if len(pairs) % 2 else tuple(waiting)
            if len(pair) < 2:
                continue
            waiting = []
            told["problems"] += 1
            path = plan_limb(space, space.state(pair[0]), space.state(pair[1]), 12345, Budget(10_000_000, 100_000))
            if path.found:
                pairs.append((pair[0], pair[1]))
            else:
                told["without a path"] += 1
    return pairs, told


def straight_looks(space: LimbSearchSpace, pairs: list[Problem]) -> list[int]:
    """How many looks our search takes on the straight way of each problem."""
    here = space._here()
    out = []
    for a, b in pairs:
        x, y = space.state(a), space.state(b)
        out.append(int(looks_along(here, x, y, 1.0, travel(here, x, y)[0])))
    return out


def own(space: LimbSearchSpace, pairs: list[Problem], repeats: int) -> tuple[dict[str, Any], list[SearchPath]]:
    """Our times in ms, the median of repeated runs for each problem, and counts."""
    states = [(space.state(a), space.state(b)) for a, b in pairs]
    prove(space, smooth(space, plan_limb(space, *states[0])))  # load compiled code
    rows, paths, proven = [], [], 0
    for seed, (a, b) in enumerate(states):
        spent = []
        for _ in range(repeats):
            t = [time.process_time()]
            first = plan_limb(space, a, b, seed)
            t.append(time.process_time())
            path = smooth(space, first, seed)
            t.append(time.process_time())
            free = first.found and prove(space, path).free
            t.append(time.process_time())
            spent.append(1e3 * (np.array(t[1:]) - t[0]))
        proven += free
        if first.found:
            rows.append((*np.median(spent, axis=0), first.stats.checks, first.stats.nodes))
            paths.append(path)
    r = np.array(rows)
    return {
        "solved": len(rows),
        "proven": proven,
        "of": len(pairs),
        "first ms": _spread(r[:, 0]),
        "smooth ms": _spread(r[:, 1]),
        "smooth and proven ms": _spread(r[:, 2]),
        "checks": _spread(r[:, 3]),
        "nodes": _spread(r[:, 4]),
        "us per check": round(float(1e3 * r[:, 0].sum() / r[:, 3].sum()), 2),
    }, paths


def _spread(x: Array) -> dict[str, float]:
    return {"median": round(float(np.median(x)), 3), "p95": round(float(np.percentile(x, 95)), 3)}


def _rival(told: dict[str, Any]) -> dict[str, Any]:
    """What became of a rival's runs; a problem that it did not solve counts as its whole time."""
    solved = [t is not None for t in told["times"]]
    ms = 1e3 * np.array([np.inf if t is None else t for t in told.pop("times")])
    told |= {"solved": sum(solved), "of": len(ms), "first ms": _spread(ms)}
    if "checks" in told:
        checks = np.array(told["checks"])
        told["us per check"] = round(float(1e3 * ms[solved].sum() / max(checks[solved].sum(), 1)), 1)
        told["checks"] = _spread(checks)
    return told


def looked_at(space: LimbSearchSpace, paths: list[SearchPath]) -> int:
    """How many paths the exact test finds free of contact at five times the resolution."""
    check = LimbCheck(space.check.world, space.check.who, list(space.check.joints), exact=space.check.exact)
    return sum(not any(check.hits(q) for q in space.rotations(space.dense(p, RESOLUTION / 5))) for p in paths)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--rivals", type=int, default=100, help="problems for OMPL and roboplan, 0 for none")
    parser.add_argument("--seconds", type=float, default=60.0, help="for rivals, each")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--natural", action="store_true")
    parser.add_argument("--exact", action="store_true", help="look at every path with the exact test, closely")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    world = scene()
    check = LimbCheck(world, "ann", "right_arm", margin=MARGIN)
    space = LimbSearchSpace.over(check, resolution=RESOLUTION)
    pairs, told = problems(space, given.problems)
    report: dict[str, Any] = {"triangles": world.triangles, "postures": told}
    for name, style in {"bent first": NATURAL, "even": Style(flexion=0.0, wrist=1.0, close=False)}.items():
        biased = LimbSearchSpace.over(check, resolution=RESOLUTION, style=style)
        if given.natural:
            report[name] = looks_like(biased, pairs)
            continue
        report[name], paths = own(biased, pairs, given.repeats)
        if given.exact:
            report[name]["free by the exact test"] = looked_at(space, paths)
    if given.rivals and not given.natural:
        some = pairs[: given.rivals]
        looks = straight_looks(space, some)
        report["ompl"] = _rival(limb_search_ompl.plan_all(space, some, looks, given.seconds))
        with tempfile.TemporaryDirectory() as folder:
            report["roboplan"] = _rival(limb_search_roboplan.plan_all(space, some, looks, given.seconds, File(folder)))
        ours = report["bent first"]["first ms"]
        report["times ahead"] = {
            name: {k: round(report[name]["first ms"][k] / ours[k], 1) for k in ours} for name in ("ompl", "roboplan")
        }
    if given.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name}: {value}" if not isinstance(value, dict) else f"{name}:")
            for key, x in value.items() if isinstance(value, dict) else ():
                print(f"    {key}: {x}")


if __name__ == "__main__":
    main()
