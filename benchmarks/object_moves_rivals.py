"""Other ways to plan the moves of `object_moves.py`: OMPL on the manifold of the constraints, and flat sampling.

    pip install ompl
    python benchmarks/object_moves_rivals.py --seconds 60

Same character, grips, start and goal postures, and the same test of postures. A state of OMPL is the root and 17
joints, 57 numbers; 20 equations keep the hands on the box, the box level, and the feet in place. RRT-Connect in OMPL's
projected space and in its atlas; the Jacobian is by differences of all columns at once. Flat sampling draws joints
within their ranges and counts what meets the constraints.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from ompl import base as ob
from ompl import geometric as og

import object_moves
from elbowroom.character.limits import pose_excess, sample_pose
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, conjugate, exp, from_matrix, log, multiply
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.verbs import move as verb
from elbowroom.plan.verbs.carry_path import Team
from elbowroom.plan.verbs.holding import Grips, Holding

_PAIRS = ((4, 5), (4, 1), (1, 7))
_PARTS = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot")
_STEP = 1e-6
# What may be missing: metres and radians, in one number.
_TOLERANCE = 1e-3
_FLAT = 4000
# Longest step of RRT-Connect in the 57 numbers, and how far they go to each side, metres and radians: with OMPL's own
# range of 4.8 its projections fail and two states are looked at in 15 s.
_RANGE = 0.4
_BOUND = 1.6


class _Taken(Exception):
    """The problem was caught before it was solved."""


class Carrying:
    """A posture as OMPL's state, with what it has to keep."""

    def __init__(self, holding: Holding, grips: Grips, start: Pose) -> None:
        self.holding, self.grips, self.start = holding, grips, start
        body = self.body = holding.actor.body
        roles = ["spine1", "spine2", "chest", *(f"{side}_{part}" for side in ("left", "right") for part in _PARTS)]
        self.joints = [body.role(role) for role in roles]
        self.width = 6 + 3 * len(self.joints)
        T = body.skeleton.at(start)
        self.hands = [body.role(f"{side}_hand") for side in ("left", "right")]
        self.feet = [body.role(f"{side}_foot") for side in ("left", "right")]
        self.T_hands = inverse(T[self.hands[0]]) @ T[self.hands[1]]
        self.T_feet = [T[j] for j in self.feet]
        self.T_hand_box = inverse(T[self.hands[0]]) @ holding.T_start

    def posed(self, x: Array) -> tuple[Array, Array]:
        """Roots (N, 3) and rotations (N, J, 4) of states (N, W)."""
        q = np.repeat(self.start.rotations[None], len(x), axis=0)
        q[:, 0] = multiply(exp(x[:, 3:6]), q[:, 0])
        turns = exp(x[:, 6:].reshape(len(x), -1, 3))
        q[:, self.joints] = multiply(q[:, self.joints], turns)
        return self.start.root + x[:, :3], q

    def state(self, pose: Pose) -> Array:
        """State (W,) of a posture."""
        root = log(multiply(pose.rotations[0], conjugate(self.start.rotations[0])))
        mine = multiply(conjugate(self.start.rotations[self.joints]), pose.rotations[self.joints])
        return np.concatenate([pose.root - self.start.root, root, log(mine).ravel()])

    def missing(self, x: Array) -> Array:
        """What states (N, W) miss of the constraints, (N, 20)."""
        T = self.body.transforms(*self.posed(x))
        between = inverse(self.T_hands) @ (inverse(T[:, self.hands[0]]) @ T[:, self.hands[1]])
        parts = [_error(between)]
        parts += [_error(inverse(T_foot) @ T[:, j]) for j, T_foot in zip(self.feet, self.T_feet, strict=True)]
        level = (T[:, self.hands[0]] @ self.T_hand_box)[:, :2, 2]
        return np.concatenate([*parts, level], axis=1)

    def free(self, x: Array) -> bool:
        """Return whether a state is within joint ranges and free of collision."""
        root, q = self.posed(x[None])
        if pose_excess(self.body.limits, q[0]).max() > 0.02:
            return False
        pose = Pose.of(root[0], q[0])
        T_box = self.body.skeleton.at(pose)[self.hands[0]] @ self.T_hand_box
        return self.holding.postures(self.grips).blame(pose, {self.holding.thing: T_box}) is None


def _error(T: Array) -> Array:
    """Position and rotation vector (N, 6) of transforms (N, 4, 4)."""
    return np.concatenate([T[:, :3, 3], log(from_matrix(T[:, :3, :3]))], axis=1)


class Kept(ob.Constraint):
    """The constraints for OMPL."""

    def __init__(self, carrying: Carrying) -> None:
        super().__init__(carrying.width, 20, _TOLERANCE)
        self.carrying = carrying

    def function(self, x: Any, out: Any) -> None:
        out[:] = self.carrying.missing(np.array(x)[None])[0]

    def jacobian(self, x: Any, out: Any) -> None:
        at = np.array(x)
        rows = self.carrying.missing(np.concatenate([at[None], at + _STEP * np.eye(len(at))]))
        out[:] = ((rows[1:] - rows[0]) / _STEP).T


def caught(who: str, start: int, goal: int) -> tuple[Carrying, Pose]:
    """Start and goal postures of a move, as `move` has them."""
    found: list[tuple[Carrying, Pose]] = []

    def catch(team: Team, ends: Sequence[tuple[Pose, Pose]], **how: object) -> Any:
        (holding, grips), (pose, _) = team[0], ends[0]
        found.append((Carrying(holding, grips, pose), holding.held_at(grips, holding.T_goal, pose)))
        raise _Taken

    original, verb.carried = verb.carried, catch
    try:
        object_moves.one(who, start, goal, 0)
    except _Taken:
        pass
    finally:
        verb.carried = original
    return found[0]


def planned(carrying: Carrying, goal: Pose, kind: str, seconds: float) -> str:
    """Plan with OMPL; one sentence."""
    ambient = ob.RealVectorStateSpace(carrying.width)
    bounds = ob.RealVectorBounds(carrying.width)
    bounds.setLow(-_BOUND)
    bounds.setHigh(_BOUND)
    ambient.setBounds(bounds)
    constraint = Kept(carrying)
    space = (ob.ProjectedStateSpace if kind == "projected" else ob.AtlasStateSpace)(ambient, constraint)
    information = ob.ConstrainedSpaceInformation(space)
    checks = [0]

    def valid(state: Any) -> bool:
        checks[0] += 1
        return carrying.free(np.array([state[i] for i in range(carrying.width)]))

    setup = og.SimpleSetup(information)
    setup.setStateValidityChecker(valid)
    ends = []
    for x in (np.zeros(carrying.width), carrying.state(goal)):
        state = space.allocState()
        state.copy([float(value) for value in x])
        ends.append(state)
        if kind != "projected":
            space.anchorChart(state)
    setup.setStartAndGoalStates(*ends)
    planner = og.RRTConnect(information)
    planner.setRange(_RANGE)
    setup.setPlanner(planner)
    begun = time.process_time()
    solved = setup.solve(seconds)
    return f"{solved}, {time.process_time() - begun:.1f} s, {checks[0]} states checked"


def flat(carrying: Carrying) -> str:
    """Share of random postures that meet the constraints within 1 cm and about a degree."""
    rng = np.random.default_rng(0)
    q = sample_pose(carrying.body.limits, rng, _FLAT)
    states = np.zeros((_FLAT, carrying.width))
    states[:, :3] = rng.uniform(-0.3, 0.3, (_FLAT, 3))
    for k in range(_FLAT):
        states[k, 6:] = carrying.state(Pose.of(carrying.start.root, q[k]))[6:]
    met = (np.abs(carrying.missing(states)).max(axis=1) < 0.01).sum()
    return f"{met} of {_FLAT} random postures meet the constraints within 1 cm"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    for start, goal in _PAIRS:
        plan, seconds = object_moves.one("woman", start, goal, 0)
        print(f"{start} -> {goal}: ours {plan.status}, {seconds:.1f} s of processor time, certificate included")
        carrying, last = caught("woman", start, goal)
        for kind in ("projected", "atlas"):
            print(f"  OMPL {kind}: {planned(carrying, last, kind, asked.seconds)}", flush=True)
        print(f"  flat: {flat(carrying)}")


if __name__ == "__main__":
    main()
