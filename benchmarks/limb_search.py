"""Reaching into a bookshelf of about 30,000 triangles with the right arm: how long until a path, and a smooth one.

Problems are drawn before any timing: postures that are free by the exact test, the hand among the shelves, and paths
asked for from the hanging arm and from one such posture to another. Where OMPL is installed, its RRT-Connect plans the
same problems with Pinocchio and Coal in a callback, the same clearance and no coarser looks. `--exact` looks at every
path found with the exact test, five times as closely.

    python benchmarks/limb_search.py [--problems 100] [--ompl 20] [--exact] [--json]
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from elbowroom.character.human import human
from elbowroom.character.limits import sample_pose
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.props.furniture import bookshelf
from elbowroom.search.birrt import Budget, Path
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import BENT, EVEN, LimbSpace
from elbowroom.spaces.limb_plan import plan_limb
from elbowroom.world.fast import FREE, HIT, LimbCheck
from elbowroom.world.world import World

MARGIN, RESOLUTION = 0.005, 0.01


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


def problems(check: LimbCheck, space: LimbSpace, count: int, seed: int = 0) -> tuple[list[tuple[Array, Array]], dict]:
    """Pairs of postures (n, 4), and what became of those drawn."""
    low, high = np.min([m.bounds[0] for m in check.world.static.values()], axis=0), None
    high = np.max([m.bounds[1] for m in check.world.static.values()], axis=0)
    rng = np.random.default_rng(seed)
    rest = hanging(check)
    assert check.free(rest)
    found: list[Array] = []
    told = {"among the shelves": 0, "free": 0, "free, in doubt at first": 0}
    while len(found) < 2 * count:
        q = sample_pose(space.limits, rng, 20_000)
        verdicts = check.batch(q, 0.0)
        for k in np.flatnonzero(verdicts != HIT):
            end = space.marks(space.state(q[k]))[-2]
            if not ((end > low) & (end < high)).all():
                continue
            told["among the shelves"] += 1
            if verdicts[k] != FREE:
                if not check.free(q[k]):
                    continue
                told["free, in doubt at first"] += 1
            told["free"] += 1
            found.append(q[k])
            if len(found) == 2 * count:
                break
    pairs = [(rest, found[k]) if k % 2 else (found[count + k], found[k]) for k in range(count)]
    return pairs, told


def own(space: LimbSpace, pairs: list[tuple[Array, Array]], budget: Budget) -> tuple[dict[str, Any], list[Path]]:
    """Our times in ms and counts."""
    states = [(space.state(a), space.state(b)) for a, b in pairs]
    smooth(space, plan_limb(space, *states[0], budget=budget))  # load compiled code
    rows, paths, ends = [], [], 0
    for seed, (a, b) in enumerate(states):
        t0 = time.perf_counter()
        first = plan_limb(space, a, b, seed, budget)
        t1 = time.perf_counter()
        path = smooth(space, first, seed)
        t2 = time.perf_counter()
        ends += first.status in ("start-in-collision", "goal-in-collision")
        if first.found:
            rows.append((1e3 * (t1 - t0), 1e3 * (t2 - t0), first.stats.checks, first.stats.nodes, path.stats.checks))
            paths.append(path)
    r = np.array(rows)
    return {
        "solved": len(rows),
        "ends in doubt": ends,
        "of": len(pairs),
        "first_ms": _spread(r[:, 0]),
        "smooth_ms": _spread(r[:, 1]),
        "checks": _spread(r[:, 2]),
        "nodes": _spread(r[:, 3]),
        "smooth_checks": _spread(r[:, 4]),
        "us_per_check": float(1e3 * r[:, 0].sum() / r[:, 2].sum()),
    }, paths


def _spread(x: Array) -> dict[str, float]:
    return {"median": round(float(np.median(x)), 3), "p95": round(float(np.percentile(x, 95)), 3)}


def looked_at(space: LimbSpace, paths: list[Path]) -> int:
    """How many paths the exact test finds free of contact at five times the resolution."""
    check = LimbCheck(space.check.world, space.check.who, list(space.check.joints), exact=space.check.exact)
    return sum(not any(check.hits(q) for q in space.rotations(space.dense(p, RESOLUTION / 5))) for p in paths)


def ompl(space: LimbSpace, pairs: list[tuple[Array, Array]], seconds: float) -> dict[str, Any]:
    """RRT-Connect of OMPL with Pinocchio and Coal."""
    import coal
    import pinocchio as pin
    from ompl import base as ob
    from ompl import geometric as og
    from ompl import util as ou

    ou.setLogLevel(ou.LOG_ERROR)
    check = space.check
    exact, parts = check.exact, check._parts
    exact.place(0.0)
    model, shapes = pin.Model(), pin.GeometryModel()
    base = pin.SE3(np.vstack([check.around.base[0], [0, 0, 0, 1.0]]))
    joint = 0
    for k, offset in enumerate(check.limb.offset):
        place = base * pin.SE3(np.eye(3), offset) if k == 0 else pin.SE3(np.eye(3), offset)
        joint = model.addJoint(joint, pin.JointModelSpherical(), place, f"joint{k}")
    numbers: dict[int, list[int]] = {}
    for i, part in enumerate(exact.parts):
        if part.kind == "floor":
            form = [coal.Halfspace(np.array([0, 0, 1.0]), float(check.world.floor or 0.0))]
        else:
            placed = exact.placed.forms[i]
            form = [placed.chunk(c) for c in range(len(placed.boxes))]
        carrier, T = parts.limb.get(i, (-1, exact.placed.T[i]))
        T = np.vstack([T, [0, 0, 0, 1.0]]) if len(T) == 3 else T
        numbers[i] = [
            shapes.addGeometryObject(pin.GeometryObject(f"{i}-{c}", carrier + 1, pin.SE3(T), g))
            for c, g in enumerate(form)
        ]
    for a, b in exact.index:
        if (a in parts.limb) or (b in parts.limb):
            for x in numbers[int(a)]:
                for y in numbers[int(b)]:
                    shapes.addCollisionPair(pin.CollisionPair(x, y))
    data, geometry = model.createData(), shapes.createData()
    for request in geometry.collisionRequests:
        request.security_margin = MARGIN
    broad = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(model, shapes, geometry)
    searched = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    joints = space._fixed.joints
    row = np.zeros(space.width)
    here = space._here()
    from elbowroom.kernels.limb_space import fill

    def posture(state: Any) -> Array:
        row[1:10] = 0.0
        for k, (j, i) in enumerate(searched):
            row[1 + 3 * j + i] = state[k]
        fill(here, row)
        return row[10:22].reshape(3, 4)

    def valid(state: Any) -> bool:
        q = posture(state)
        for j in (0, 2):
            x, y = row[1 + 3 * j], row[2 + 3 * j]
            rx = joints.high[j, 0] if x >= 0 else joints.low[j, 0]
            ry = joints.high[j, 1] if y >= 0 else joints.low[j, 1]
            if (x / rx) ** 2 + (y / ry) ** 2 > 1.0:
                return False
        return not pin.computeCollisions(model, data, broad, np.roll(q, -1, axis=1).ravel(), True)

    euclid = ob.RealVectorStateSpace(7)
    bounds = ob.RealVectorBounds(7)
    for k, (j, i) in enumerate(searched):
        bounds.setLow(k, float(joints.low[j, i]))
        bounds.setHigh(k, float(joints.high[j, i]))
    euclid.setBounds(bounds)
    fine = RESOLUTION / np.linalg.norm(space._fixed.lever)
    times, checks, solved = [], [], 0
    for a, b in pairs:
        setup = og.SimpleSetup(euclid)
        count = [0]

        def counted(state: Any, count: list[int] = count) -> bool:
            count[0] += 1
            return valid(state)

        setup.setStateValidityChecker(counted)
        setup.getSpaceInformation().setStateValidityCheckingResolution(fine / euclid.getMaximumExtent())
        ends = []
        for q in (a, b):
            terms = space.terms(space.state(q))
            state = euclid.allocState()
            for k, (j, i) in enumerate(searched):
                state[k] = float(np.clip(terms[j, i], joints.low[j, i], joints.high[j, i]))
            ends.append(state)
        setup.setStartAndGoalStates(*ends)
        setup.setPlanner(og.RRTConnect(setup.getSpaceInformation()))
        t0 = time.perf_counter()
        done = setup.solve(seconds)
        if done and setup.haveExactSolutionPath():
            solved += 1
            times.append(1e3 * (time.perf_counter() - t0))
            checks.append(count[0])
    return {
        "solved": solved,
        "of": len(pairs),
        "first_ms": _spread(np.array(times)),
        "checks": _spread(np.array(checks)),
        "us_per_check": 1e3 * sum(times) / max(sum(checks), 1),
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--ompl", type=int, default=20, help="problems for OMPL, 0 for none")
    parser.add_argument("--seconds", type=float, default=10.0, help="for OMPL, each")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    world = scene()
    check = LimbCheck(world, "ann", "right_arm", margin=MARGIN)
    space = LimbSpace.over(check, resolution=RESOLUTION)
    pairs, told = problems(check, space, given.problems)
    report: dict[str, Any] = {"triangles": world.triangles, "postures": told}
    for name, bias in {"bent first": BENT, "even": EVEN}.items():
        report[name], paths = own(LimbSpace.over(check, resolution=RESOLUTION, bias=bias), pairs, Budget())
        if given.exact:
            report[name]["free by the exact test"] = looked_at(space, paths)
    if given.ompl:
        report["ompl"] = ompl(space, pairs[: given.ompl], given.seconds)
    if given.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name}: {value}" if not isinstance(value, dict) else f"{name}:")
            for key, x in value.items() if isinstance(value, dict) else ():
                print(f"    {key}: {x}")


if __name__ == "__main__":
    main()
