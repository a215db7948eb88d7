"""Flat planning of a whole body by OMPL's RRTConnect, for comparison with components (benchmarks/tight.py --flat).

    pip install ompl

A state is the place along the straight line between both postures and offsets from it, as in `spaces/component.py`:
26 numbers with legs closed over the feet by inverse kinematics and projected into balance as our planner does, or 38
with those of the legs drawn as well, where feet have to be within 1 cm of their places. Collision and balance are
tested as ours are; distances, steps and ranges are the same. Limited by processor time.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from ompl import base as ob
from ompl import geometric as og
from ompl import util

from elbowroom.character.skeleton import Pose
from elbowroom.plan.tight.chain import BodyProblem
from elbowroom.posing.whole_body import FEET
from elbowroom.spaces.component import Component, PosePath, SharedCoordinate, components, joined

util.RNG.setSeed(1)
util.setLogLevel(util.LogLevel.LOG_ERROR)

RANGE_M, LOOK_M = 0.2, 0.04
FEET_M = 0.01
# Ranges about the straight line of hip, knee and ankle, radians, and metres that a radian counts for.
LEG = (((1.2, 0.6, 0.5), 0.6), ((1.8, 0.0, 0.3), 0.4), ((0.6, 0.4, 0.0), 0.2))


def flat_component(problem: BodyProblem, *, legs: bool) -> Component:
    """All of a body as one component, with the numbers of its legs or without."""
    body = problem.body
    whole = joined(list(components(body).values()))
    if not legs:
        return whole
    own = [
        SharedCoordinate((joint,), i, (-spans[i], spans[i]), lever)
        for chain in (body.chain("left_leg"), body.chain("right_leg"))
        for joint, (spans, lever) in zip(chain.joints, LEG, strict=False)
        for i in range(3)
        if spans[i] > 0.0
    ]
    return Component("flat", body, whole.parts, (*whole.freedoms, *own), True)


def flat_plan(problem: BodyProblem, seconds: float, *, legs: bool) -> tuple[bool, float, int]:
    """Return whether RRTConnect finds a path, its processor seconds, and the states that it looked at."""
    component = flat_component(problem, legs=legs)
    path = PosePath(problem.body, [problem.start, problem.goal])
    feet, body = path.feet(0.0), problem.body
    weights = np.concatenate([[max(path.length_m, LOOK_M)], component.levers])
    low, high = np.concatenate([[[0.0, 1.0]], component.ranges]).T * weights
    checks = [0]

    def valid(state: Any) -> bool:
        checks[0] += 1
        row = np.array([state[i] for i in range(len(weights))]) / weights
        root, q = component.moved(path, float(np.clip(row[0], 0.0, 1.0)), row[None, 1:], problem.axes)
        pose: Pose | None = Pose.of(root[0], q[0])
        if legs:
            T = body.skeleton.at(pose)
            off = max(float(np.linalg.norm((T[body.role(foot)] - feet[foot])[:3, 3])) for foot in FEET)
            if off > FEET_M or problem.balance.margin(pose, problem.balance.support(problem.start, feet)) < 0.0:
                return False
        else:
            pose = problem.balance.closed(pose, feet, problem.start)
        return pose is not None and problem.check.free(pose)

    space = ob.RealVectorStateSpace(len(weights))
    bounds = ob.RealVectorBounds(len(weights))
    for k in range(len(weights)):
        bounds.setLow(k, float(low[k]))
        bounds.setHigh(k, float(high[k]))
    space.setBounds(bounds)
    space.setLongestValidSegmentFraction(LOOK_M / space.getMaximumExtent())
    setup = og.SimpleSetup(space)
    setup.setStateValidityChecker(valid)
    ends = []
    for share in (0.0, 1.0):
        state = space.allocState()
        for k in range(len(weights)):
            state[k] = float(weights[0] * share) if k == 0 else 0.0
        ends.append(state)
    setup.setStartAndGoalStates(*ends)
    planner = og.RRTConnect(setup.getSpaceInformation())
    planner.setRange(RANGE_M)
    setup.setPlanner(planner)
    begun = time.process_time()
    ending = ob.PlannerTerminationCondition(lambda: time.process_time() - begun > seconds)
    setup.solve(ending)
    return setup.haveExactSolutionPath(), time.process_time() - begun, checks[0]
