"""Components of a body as search spaces, each along the path of those before it (P1), in balance (P2).

A body of 38 degrees of freedom has five components: pelvis with legs (6 + 12, the legs closed by inverse kinematics
over standing feet), spine (3), head (3) and two arms (7 each). A state of component k is its position along the path of
the components before it, 0 to 1, back and forth, and offsets of its own degrees of freedom from that path: 1 + |A_k|
numbers. Every state determines one posture: offsets are clamped to the joint limits, feet are put where they stand, and
the centre of mass is brought over them by the whole-body solver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.limits import stacked
from elbowroom.character.skeleton import Pose
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.kernels import component as kernels
from elbowroom.kernels.space import CHECKS
from elbowroom.posing.stand import Balancer
from elbowroom.posing.whole_body import FEET
from elbowroom.posing.whole_body_model import CLAVICLES, HEAD, SPINE, range_of
from elbowroom.world.fast_body import BodyCheck

# Numbers of a pelvis: metres ahead, left and up, radians about those axes; their ranges, and the metres that a radian
# counts for. Tuned on the gallery's tight places.
_PELVIS_RANGE = ((-0.35, 0.35), (-0.35, 0.35), (-0.6, 0.06), (-0.5, 0.5), (-0.4, 1.3), (-0.8, 0.8))
_PELVIS_LEVER_M = (1.0, 1.0, 1.0, 0.5, 0.6, 0.3)
# The same for swings and twist of spine and head, shared by their joints, and of shoulder, elbow and wrist.
_SPINE_RANGE, _SPINE_LEVER_M = (0.9, 0.6, 0.7), (0.45, 0.45, 0.25)
_HEAD_RANGE, _HEAD_LEVER_M = (0.6, 0.5, 0.8), (0.2, 0.2, 0.1)
_ARM_RANGE = ((2.2, 2.2, 1.5), (2.3, 0.0, 1.3), (0.7, 0.7, 0.0))
_ARM_LEVER_M = ((0.5, 0.5, 0.3), (0.3, 0.0, 0.1), (0.1, 0.1, 0.0))
# Share of samples near the path, and their deviation, a share of the ranges. Tuned with the step below on scenes 1, 2,
# 4, 7 and 9 of benchmarks/tight.py.
_NEAR_SHARE = 0.4
_NEAR = 0.22
# Length of one step of a tree, and between two checks of the body, metres.
_STEP_M = 0.2
_LOOK_M = 0.04
# Feet whose transforms differ by less stand: between two postures of a path they are slightly off.
_STANDS = 0.005
# Bisections from a colliding sample towards a free one (retraction to the border of free space).
_RETRACTIONS = 4
# Pushes of the pelvis that are tried where a path blocks a later component: metres ahead, left, up, and a turn to the
# left, radians; and the share of a push that is kept between checks where less of it suffices.
_PUSHES = ((-0.03, 0, 0, 0), (0.03, 0, 0, 0), (0, 0.03, 0, 0), (0, -0.03, 0, 0), (0, 0, -0.03, 0), (0, 0, 0.02, 0),
           (0, 0, 0, 0.08), (0, 0, 0, -0.08))  # fmt: skip
_KEPT, _MOST_PUSH = 0.6, 0.12
UNPUSHED: Array = np.zeros(4)


@dataclass(frozen=True)
class SharedCoordinate:
    """One degree of freedom: a joint coordinate shared by some joints; its range about 0, metres that 1 counts for."""

    joints: tuple[int, ...]
    coordinate: int
    range: tuple[float, float]
    lever_m: float


@dataclass(frozen=True, eq=False)
class Component:
    """Part of a body that is planned at once.

    `parts` are joints whose shapes it adds, `pelvis` whether it moves the root, whose six numbers come before those of
    its `freedoms`.
    """

    name: str
    body: Character
    parts: tuple[int, ...]
    freedoms: tuple[SharedCoordinate, ...] = ()
    pelvis: bool = False

    @property
    def width(self) -> int:
        """Searched numbers, without the position along the path."""
        return 6 * self.pelvis + len(self.freedoms)

    @cached_property
    def ranges(self) -> Array:
        """Ranges (W, 2) of its numbers about 0."""
        own = [freedom.range for freedom in self.freedoms]
        return np.array([*(_PELVIS_RANGE if self.pelvis else ()), *own]).reshape(-1, 2)

    @cached_property
    def levers(self) -> Array:
        """Metres (W,) that one unit of each of its numbers counts for."""
        own = [freedom.lever_m for freedom in self.freedoms]
        return np.array([*(_PELVIS_LEVER_M if self.pelvis else ()), *own])

    @cached_property
    def table(self) -> kernels.Offsets:
        """Joints, their limits, and how numbers move them, as compiled code takes it."""
        moved = list(dict.fromkeys(j for freedom in self.freedoms for j in freedom.joints))
        spread = np.zeros((len(moved), 3, self.width))
        for w, freedom in enumerate(self.freedoms, 6 * self.pelvis):
            for j in freedom.joints:
                spread[moved.index(j), freedom.coordinate, w] = 1.0 / len(freedom.joints)
        limits = stacked([range_of(self.body, j) for j in (moved or [0])])
        return kernels.Offsets(np.array(moved, np.int64), limits, spread, self.pelvis)

    def moved(
        self, path: PosePath, share: float, numbers: Array, axes: Array, push: Array | None = None
    ) -> tuple[Array, Array]:
        """Roots (N, 3) and rotations (N, J, 4) at a share of a path with offsets (N, W) added.

        `axes` (3, 3) are the directions ahead, left and up, in columns, `push` (4,) an additional pelvis offset: metres
        along them and radians to the left.
        """
        k, s = path.span(share)
        count = len(numbers)
        root, q = np.empty((count, 3)), np.empty((count, path.rotations.shape[1], 4))
        ends = path.root[k : k + 2], path.rotations[k : k + 2]
        kernels.offset_postures(self.table, axes, *ends, s, numbers, UNPUSHED if push is None else push, root, q)
        return root, q


@lru_cache(maxsize=16)
def components(body: Character) -> Mapping[str, Component]:
    """The five components of a body by name: 'pelvis', 'spine', 'head', 'right_arm', 'left_arm', those that it has."""
    roles = body.roles

    def shared(names: Sequence[str], spans: Sequence[float], levers: Sequence[float]) -> tuple[SharedCoordinate, ...]:
        joints = tuple(roles[name] for name in names if name in roles)
        terms = zip(range(3), spans, levers, strict=True)
        return tuple(SharedCoordinate(joints, i, (-span, span), lever) for i, span, lever in terms if joints)

    legs = [j for name, chain in body.chains.items() if name.endswith("_leg") for j in body.subtree(chain.joints[0])]
    trunk = [roles[name] for name in (*SPINE, *CLAVICLES) if name in roles]
    head = [j for name in HEAD if name in roles for j in body.subtree(roles[name])]
    found = [
        Component("pelvis", body, (0, *legs), (), True),
        Component("spine", body, tuple(trunk), shared(SPINE, _SPINE_RANGE, _SPINE_LEVER_M)),
        Component("head", body, tuple(dict.fromkeys(head)), shared(HEAD, _HEAD_RANGE, _HEAD_LEVER_M)),
    ]
    for name in ("right_arm", "left_arm"):
        if name not in body.chains:
            continue
        joints = body.chain(name).joints
        own = [
            SharedCoordinate((joint,), i, (-spans[i], spans[i]), levers[i])
            for joint, spans, levers in zip(joints, _ARM_RANGE, _ARM_LEVER_M, strict=False)
            for i in range(3)
            if spans[i] > 0.0
        ]
        found.append(Component(name, body, tuple(body.subtree(joints[0])), tuple(own)))
    return {component.name: component for component in found if component.width}


def joined(some: Sequence[Component]) -> Component:
    """Several components as one, the pelvis first."""
    return Component(
        "+".join(c.name for c in some),
        some[0].body,
        tuple(j for c in some for j in c.parts),
        tuple(freedom for c in some for freedom in c.freedoms),
        any(c.pelvis for c in some),
    )


class PosePath:
    """Postures along a path: roots (N, 3) and rotations (N, J, 4), feet in place."""

    def __init__(self, body: Character, poses: Sequence[Pose]) -> None:
        self.body, self.root = body, np.array([pose.root for pose in poses])
        self.rotations = rot.continuous(np.array([pose.rotations for pose in poses]))
        self.T = body.transforms(self.root, self.rotations)
        step = np.linalg.norm(np.diff(self.T[..., :3, 3], axis=0), axis=-1).max(axis=-1)
        way = np.concatenate([[0.0], np.cumsum(step)])
        self.length_m = float(way[-1])
        self.along = way / way[-1] if way[-1] > 0.0 else np.linspace(0.0, 1.0, len(poses))
        self._feet = {foot: self.T[:, body.roles[foot]] for foot in FEET if foot in body.roles}
        self._standing = all(np.ptp(T, axis=0).max() < _STANDS for T in self._feet.values())

    def __len__(self) -> int:
        return len(self.root)

    def pose(self, k: int) -> Pose:
        """Posture number k."""
        return Pose.of(self.root[k], self.rotations[k])

    @property
    def poses(self) -> list[Pose]:
        """All postures."""
        return [self.pose(k) for k in range(len(self))]

    def span(self, share: float) -> tuple[int, float]:
        """Index of the posture before a share of the path, and the share of the way from it to the next."""
        k = min(max(int(self.along.searchsorted(share, side="right")) - 1, 0), len(self) - 2)
        before, after = self.along[k : k + 2].tolist()
        return k, min(max((share - before) / (after - before), 0.0), 1.0) if after > before else 0.0

    def at(self, share: float) -> Pose:
        """Posture at a share of the path; between two postures feet may be slightly off."""
        k, s = self.span(share)
        if s in (0.0, 1.0):
            return self.pose(k + int(s))
        q = rot.slerp(self.rotations[k], self.rotations[k + 1], np.array(s))
        return Pose.of((1.0 - s) * self.root[k] + s * self.root[k + 1], q)

    def feet(self, share: float) -> dict[str, Array]:
        """Transforms (4, 4) of the feet at a share of the path."""
        if self._standing:
            return {foot: T[0] for foot, T in self._feet.items()}
        k, s = self.span(share)
        out = {}
        for foot, T in self._feet.items():
            a, b = rot.from_matrix(T[[k, k + 1], :3, :3])
            out[foot] = transform((1.0 - s) * T[k, :3, 3] + s * T[k + 1, :3, 3], rot.slerp(a, b, np.array(s)))
        return out


# Postures along one edge of a tree, its node's last, and the pelvis push there, (4,).
Edge = tuple[tuple[Pose, ...], Array]


class ComponentSpace:
    """Space of one component along the path of those before it; a payload is the postures along an edge.

    `check` tests the parts of this component and of those before it only. With `perturbed`, the pelvis is pushed a
    little where the path blocks this component. `follow` is the share of samples on the path itself.
    """

    def __init__(
        self,
        component: Component,
        path: PosePath,
        check: BodyCheck,
        balance: Balancer,
        axes: Array,
        *,
        perturbed: bool = False,
        follow: float = 0.0,
    ) -> None:
        self.component, self.path, self.check, self.balance, self.axes = component, path, check, balance, axes
        self.perturbed, self.follow = perturbed and not component.pelvis, follow
        self._weights = np.concatenate([[max(path.length_m, _LOOK_M)], component.levers])
        self._trunk = component.pelvis or any(len(f.joints) > 1 for f in component.freedoms)
        self._free: Array | None = None

    @property
    def width(self) -> int:
        """Numbers in a state."""
        return 1 + self.component.width

    @property
    def ends(self) -> tuple[Array, Array]:
        """States of the path's first and last posture."""
        start, goal = np.zeros(self.width), np.zeros(self.width)
        goal[0] = 1.0
        return start, goal

    def payload(self, k: int) -> Edge:
        """Payload of the path's first (0) or last (-1) posture."""
        return (self.path.pose(k),), UNPUSHED

    def pose(self, state: Array, push: Array = UNPUSHED) -> Pose | None:
        """Posture of a state, the pelvis pushed by metres ahead, left, up and radians to the left; None without one."""
        if state[0] in (0.0, 1.0) and not state[1:].any() and not push.any():
            return self.path.pose(-int(state[0]))
        share = float(state[0])
        root, q = self.component.moved(self.path, share, state[None, 1:], self.axes, push)
        pose, near = Pose.of(root[0], q[0]), self.path.pose(self.path.span(share)[0])
        feet = self.path.feet(share)
        kept = not self._trunk and not push.any()
        if kept and self.balance.margin(pose, self.balance.support(near, feet)) >= 0.0:
            return pose
        return self.balance.closed(pose, feet, near)

    def sample(self, rng: np.random.Generator) -> Array:
        """Sample a state from everywhere or near the path; a colliding one is retracted towards a free one."""
        if rng.random() < self.follow:
            return np.concatenate([[rng.random()], np.zeros(self.width - 1)])
        low, high = self.component.ranges.T
        state = np.concatenate([[rng.random()], low + rng.random(self.width - 1) * (high - low)])
        if rng.random() < _NEAR_SHARE:
            state = self.near(rng, float(state[0]), _NEAR)
        pose = self.pose(state)
        if pose is not None and self.check.free(pose, exact=False):
            self._free = state
        elif self._free is not None:
            inside, outside = self._free, state
            for _ in range(_RETRACTIONS):
                middle = 0.5 * (inside + outside)
                pose = self.pose(middle)
                free = pose is not None and self.check.free(pose, exact=False)
                inside, outside = (middle, outside) if free else (inside, middle)
            state = inside
        return state

    def near(self, rng: np.random.Generator, share: float, spread: float) -> Array:
        """Sample a state at a share of the path, offsets deviating by `spread` of their ranges."""
        low, high = self.component.ranges.T
        return np.concatenate([[share], np.clip(spread * (high - low) * rng.normal(size=self.width - 1), low, high)])

    def distances(self, states: Array, state: Array) -> Array:
        """Distances (N,) of states (N, W) to a state, metres."""
        return np.asarray(np.linalg.norm((states - state) * self._weights, axis=1))

    def steer(self, start: Array, target: Array) -> Array:
        """State one step from `start` towards `target`."""
        far = float(self.distances(start[None], target)[0])
        return target if far <= _STEP_M * (1.0 + 1e-9) else start + _STEP_M / far * (target - start)

    def advance(self, start: Array, payload: Edge, end: Array, tally: NDArray[np.int64]) -> tuple[Array, Edge] | None:
        """Postures from one state towards another, one step away, as far as they are free and balanced.

        In tight places a part of a step is often all that is free.
        """
        looks = max(int(np.ceil(float(self.distances(start[None], end)[0]) / _LOOK_M)), 1)
        poses, push, reached = [], payload[1], start
        for k in range(1, looks + 1):
            state = end if k == looks else start + k / looks * (end - start)
            found = self._free_pose(state, push, tally)
            if found is None:
                break
            poses.append(found[0])
            push, reached = found[1], state
        return (reached, (tuple(poses), push)) if poses else None

    def _free_pose(self, state: Array, push: Array, tally: NDArray[np.int64]) -> tuple[Pose, Array] | None:
        """Free posture of a state, with its push."""
        at_goal = state[0] == 1.0 and not state[1:].any()
        for one in self._pushes(push) if not at_goal else (UNPUSHED,):
            tally[CHECKS] += 1
            pose = self.pose(state, one)
            if pose is not None and self.check.free(pose):
                return pose, one
        return None

    def _pushes(self, push: Array) -> list[Array]:
        """Pushes to try after one: less of it, the same, and a little more to each side."""
        if not self.perturbed:
            return [UNPUSHED]
        less = _KEPT * push if np.abs(push).max() > 0.01 else UNPUSHED
        tried = [less, push, *(push + np.array(more) for more in _PUSHES)]
        return [one for one in tried if np.abs(one).max() <= _MOST_PUSH]

    def alike(self, a: Edge, b: Edge) -> bool:
        """Return whether two payloads at one state are the same: they differ only by pushes."""
        return bool(np.array_equal(a[1], b[1]))
