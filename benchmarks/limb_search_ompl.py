"""OMPL's RRT-Connect on problems of `limb_search`, with Pinocchio and Coal in its callback.

It searches the same seven terms within the same ranges. A callback takes one compiled call for the rotations and one of
Pinocchio's for all collisions, by a broad phase or pair by pair, whichever is quicker here. Contact alone counts: no
clearance is asked of it, which ours keeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import coal
import numba as nb
import numpy as np
import pinocchio as pin

from elbowroom.geometry.rotations import Array
from elbowroom.kernels.limb_terms import put, swung_past
from elbowroom.spaces.limb import LimbSearchSpace
from elbowroom.world.fast import LimbCheck

# Joint and term of each number of a state: shoulder's swing and twist, elbow's bend and twist, wrist's swing.
SEARCHED = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))


@nb.njit(nogil=True)
def _posture(joints: Any, terms: Array, out: Array) -> bool:
    """Rotations x, y, z, w (12,) of seven terms; whether the swings are within their ranges."""
    put(joints, 0, terms[0], terms[1], terms[2])
    put(joints, 1, terms[3], 0.0, terms[4])
    put(joints, 2, terms[5], terms[6], 0.0)
    for j in range(3):
        for i in range(3):
            out[4 * j + i] = joints.q[j, i + 1]
        out[4 * j + 3] = joints.q[j, 0]
    shoulder = swung_past(joints, 0, terms[0], terms[1], terms[2])
    return max(shoulder, swung_past(joints, 2, terms[5], terms[6], 0.0)) <= 1e-9


def moved(check: LimbCheck) -> dict[int, tuple[int, Array]]:
    """Joint of the limb that carries a part of the exact test, and its place there (4, 4), by the part's number."""
    return {i: (part.carrier, part.T) for i, part in check._parts.limb.items()}


def _hitting(space: LimbSearchSpace) -> tuple[Callable[[Array], bool], str, Any]:
    """Whether rotations x, y, z, w (12,) collide, by Pinocchio and Coal, how that is asked, and what has to be kept."""
    check = space.check
    exact, limb = check.exact, moved(check)
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
            forms = [coal.Halfspace(np.array([0, 0, 1.0]), float(check.world.floor or 0.0))]
        else:
            placed = exact.placed.forms[i]
            forms = [placed.chunk(c) for c in range(len(placed.boxes))]
        carrier, T = limb.get(i, (-1, exact.placed.T[i]))
        T = np.vstack([T, [0, 0, 0, 1.0]]) if len(T) == 3 else T
        numbers[i] = [
            shapes.addGeometryObject(pin.GeometryObject(f"{i}-{c}", carrier + 1, pin.SE3(T), g))
            for c, g in enumerate(forms)
        ]
    # the hand before the upper arm, the scene before the body: what is hit most comes first
    pairs = [(int(a), int(b)) for a, b in exact.index if (a in limb) or (b in limb)]
    still = {i for i, part in enumerate(exact.parts) if part.kind == "static"}
    pairs.sort(key=lambda p: (-max(limb.get(i, (-1,))[0] for i in p), not still.intersection(p)))
    for a, b in pairs:
        for x in numbers[a]:
            for y in numbers[b]:
                shapes.addCollisionPair(pin.CollisionPair(x, y))
    data, geometry = model.createData(), shapes.createData()
    broad = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(model, shapes, geometry)
    ways: dict[str, Callable[[Array], bool]] = {
        "broad phase": lambda q: pin.computeCollisions(model, data, broad, q, True),
        "pair by pair": lambda q: pin.computeCollisions(model, data, shapes, geometry, q, True),
    }
    rng = np.random.default_rng(0)
    tried = [np.roll(x.rotation(np.zeros(3)), -1) for x in space.limits]
    looks = [np.concatenate([_turned(q, rng) for q in tried]) for _ in range(200)]
    spent = {}
    for name, way in ways.items():
        way(looks[0])
        t0 = time.process_time()
        for q in looks:
            way(q)
        spent[name] = time.process_time() - t0
    best = min(spent, key=lambda name: spent[name])
    return ways[best], best, (model, shapes, data, geometry, broad)  # Pinocchio keeps no references of its own


def _turned(q: Array, rng: np.random.Generator) -> Array:
    out = q + rng.normal(0.0, 0.4, 4)
    return out / np.linalg.norm(out)


def seven(space: LimbSearchSpace, q: Array) -> Array:
    """The searched terms of a posture (n, 4)."""
    terms = space.coordinates(space.state(q))
    return np.array([terms[j, i] for j, i in SEARCHED])


def plan_all(
    space: LimbSearchSpace, pairs: list[tuple[Array, Array]], looks: list[int], seconds: float
) -> dict[str, Any]:
    """Times (s) and looks of problems, None where not solved.

    looks: how many our search takes on the straight way of each problem; OMPL's look as far apart in the median.
    """
    from ompl import base as ob
    from ompl import geometric as og
    from ompl import util as ou

    ou.setLogLevel(ou.LOG_ERROR)
    ou.RNG.setSeed(1)
    hits, how, _kept = _hitting(space)
    joints = space._here().joints
    low = [float(joints.low[j, i]) for j, i in SEARCHED]
    high = [float(joints.high[j, i]) for j, i in SEARCHED]
    ends = [[np.clip(seven(space, q), low, high) for q in pair] for pair in pairs]
    fine = float(np.median([np.linalg.norm(b - a) / n for (a, b), n in zip(ends, looks, strict=True)]))
    terms, q = np.zeros(7), np.zeros(12)
    euclid = ob.RealVectorStateSpace(7)
    bounds = ob.RealVectorBounds(7)
    for k in range(7):
        bounds.setLow(k, low[k])
        bounds.setHigh(k, high[k])
    euclid.setBounds(bounds)
    _posture(joints, terms, q)
    times: list[float | None] = []
    checks: list[int] = []
    for a, b in ends:
        setup = og.SimpleSetup(euclid)
        count = [0]

        def valid(state: Any, count: list[int] = count) -> bool:
            count[0] += 1
            for k in range(7):
                terms[k] = state[k]
            return _posture(joints, terms, q) and not hits(q)

        setup.setStateValidityChecker(valid)
        setup.getSpaceInformation().setStateValidityCheckingResolution(fine / euclid.getMaximumExtent())
        states = []
        for terms_of_end in (a, b):
            state = euclid.allocState()
            for k in range(7):
                state[k] = float(terms_of_end[k])
            states.append(state)
        setup.setStartAndGoalStates(*states)
        setup.setPlanner(og.RRTConnect(setup.getSpaceInformation()))
        t0 = time.process_time()
        done = setup.solve(seconds)
        spent = time.process_time() - t0
        times.append(spent if done and setup.haveExactSolutionPath() else None)
        checks.append(count[0])
    return {"times": times, "checks": checks, "how": how}
