"""Robots: links and joints that turn or slide, on a fixed, rolling or flying base; a mobile arm, and the gripper of an
arm whose file names none (E1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Body, Chain, SegmentMasses
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import IDENTITY, Array, about
from elbowroom.geometry.shapes import Shape, shape_mesh
from elbowroom.geometry.transforms import apply, inverse, transform

JointKind = Literal["base", "turns", "slides"]
Drive = Literal["differential", "omnidirectional"]

# Joint values may be off their limits by this much, radians or metres: files are written with few digits.
_SLACK = 1e-4


@dataclass(frozen=True, eq=False)
class RobotJoints:
    """Joints in parent-first order; joint 0 is the base, all others have one value each, radians or metres.

    A joint's frame sits at `T_parent_joint` (J, 4, 4) when its value is 0, and turns about or slides along its unit
    axis (J, 3). Limits (J,) of value and speed are infinite where there are none.
    """

    names: tuple[str, ...]
    parents: NDArray[np.int32]
    kinds: tuple[JointKind, ...]
    T_parent_joint: Array
    axes: Array
    lower: Array
    upper: Array
    speed: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", frozen(self.parents, np.int32))
        for name in ("T_parent_joint", "axes", "lower", "upper", "speed"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False, kw_only=True)
class Robot(Body):
    """A robot. `q` of its poses has the base's quaternion (4), then one value for each joint but the base.

    `links` names places on it: a joint and `T_joint_link` (4, 4). Chains lead from branch to branch. A base on wheels
    with a differential `drive` rolls along its x axis and turns on the spot.
    """

    joints: RobotJoints
    links: Mapping[str, tuple[int, Array]] = field(default_factory=dict)
    drive: Drive = "omnidirectional"

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, the base first, (J,)."""
        return self.joints.names

    @property
    def parents(self) -> NDArray[np.int32]:
        """Parent of each joint, (J,), -1 for the base."""
        return self.joints.parents

    @cached_property
    def rest(self) -> Pose:
        """All joints at 0, or as near to it as their limits allow."""
        values = np.clip(0.0, self.joints.lower[1:], self.joints.upper[1:])
        return Pose(frozen(np.zeros(3)), frozen(np.concatenate([IDENTITY, values])))

    @cached_property
    def _T_rest(self) -> Array:
        return frozen(self.transforms(self.rest.root[None], self.rest.q[None])[0])

    @property
    def T_rest(self) -> Array:
        """World transforms of all joints at rest, (J, 4, 4)."""
        return self._T_rest

    def transforms(self, root: ArrayLike, q: ArrayLike) -> Array:
        """World transforms (N, J, 4, 4) of all joints for base positions (N, 3) and rows (N, 4 + J - 1) of `Pose.q`."""
        root, q = np.atleast_2d(np.asarray(root, dtype=float)), np.atleast_2d(np.asarray(q, dtype=float))
        joints = self.joints
        if q.shape != (len(root), 3 + len(joints)):
            raise BadValue(
                f"a pose of {self.name} has a quaternion and {len(joints) - 1} values, not {q.shape[-1]} numbers."
            )
        T = np.zeros((len(root), len(joints), 4, 4))
        T[:, 0] = transform(root, q[:, :4])
        for j in range(1, len(joints)):
            value = q[:, 3 + j]
            if joints.kinds[j] == "slides":
                own = transform(value[:, None] * joints.axes[j])
            else:
                own = transform(np.zeros(3), about(joints.axes[j], value))
            T[:, j] = T[:, joints.parents[j]] @ joints.T_parent_joint[j] @ own
        return T

    def frame(self, part: str) -> tuple[int, Array]:
        """Joint and `T_joint_frame` (4, 4) of a link, or of a joint by its name."""
        if part in self.links:
            return self.links[part]
        if part in self.joints.names:
            return self.joints.names.index(part), np.eye(4)
        raise UnknownName(f"link of {self.name}", part, self.links)

    def hand(self, hand: str) -> tuple[int, Array]:
        """Joint and `T_joint_hand` (4, 4) of a gripper: a limb's end, or a link."""
        if hand in self.chains and hand not in self.links:
            return self.chains[hand].end, np.eye(4)
        if hand in self.links:
            return self.links[hand]
        raise UnknownName(f"gripper of {self.name}", hand, [*self.chains, *self.links])

    def pose(
        self,
        values: Mapping[str, float] | None = None,
        at: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = IDENTITY,
    ) -> Pose:
        """A pose with joint values by name (radians, metres), the others at rest, the base at `at` (3,), turned."""
        q = np.array(self.rest.q)
        q[:4] = quaternion
        for name, value in (values or {}).items():
            if name not in self.joints.names[1:]:
                raise UnknownName(f"joint of {self.name}", name, self.joints.names[1:])
            q[3 + self.joints.names.index(name)] = value
        self.check(q[None])
        return Pose(frozen(at), frozen(q))

    def check(self, q: Array) -> None:
        """Raise where joint values in rows (N, 3 + J) of `Pose.q` leave their limits."""
        values = q[:, 4:]
        over = np.maximum(self.joints.lower[1:] - values, values - self.joints.upper[1:])
        if not np.all(np.isfinite(q)):
            raise BadValue(f"a pose of {self.name} has values that are not finite.")
        if over.size and over.max() > _SLACK:
            row, j = np.unravel_index(int(over.argmax()), over.shape)
            low, high = self.joints.lower[1 + j], self.joints.upper[1 + j]
            raise BadValue(
                f"joint '{self.joints.names[1 + j]}' of {self.name} goes from {low:g} to {high:g}, "
                f"not to {values[row, j]:g}."
            )

    def with_(self, **changes: object) -> Robot:
        """A copy with some fields replaced."""
        return replace(self, **changes)  # type: ignore[arg-type]


def robot_chains(joints: RobotJoints) -> dict[str, Chain]:
    """Runs of joints between branches, under the names of their last joints; `lead` are the joints before them."""
    count = np.bincount(joints.parents[1:], minlength=len(joints)) if len(joints) > 1 else np.zeros(1)
    chains = {}
    for end in range(1, len(joints)):
        if count[end] == 1:
            continue
        run, above = [end], int(joints.parents[end])
        while above > 0 and count[above] == 1:
            run.insert(0, above)
            above = int(joints.parents[above])
        lead: list[int] = []
        while above > 0:
            lead.insert(0, above)
            above = int(joints.parents[above])
        kind: Literal["6r", "numeric"] = (
            "6r" if len(run) == 6 and all(joints.kinds[j] == "turns" for j in run) else "numeric"
        )
        chains[joints.names[end]] = Chain(joints.names[end], kind, tuple(run), tuple(lead))
    return chains


# Base: length, width, height and clearance above the floor, metres; the size of a small warehouse robot.
_BASE_M = (0.62, 0.5, 0.34)
_CLEARANCE_M = 0.02
# Column on the base up to the shoulder, wrist to the end of the fork; radii of upper arm, forearm and wrist, metres.
_COLUMN_M = 0.26
_TOOL_M = 0.28
_RADII_M = (0.06, 0.05, 0.045)
# Wrist, without its rounded end, metres.
_WRIST_M = 0.07
# Fork on which things lie: length, width and thickness, metres.
_FORK_M = (0.14, 0.1, 0.015)
# Share of the two long links that the upper arm has.
_UPPER = 0.52
# Ranges of the joints, radians, and their fastest turn, radians per second, as of common arms of this size.
_RANGES_RAD = np.radians([(-360, 360), (-130, 130), (-150, 150), (-360, 360), (-125, 125), (-360, 360)])
_SPEED_RAD_S = 3.1
# Angles of the joints from an arm that points straight up to one that is folded over its base, where all values are 0.
_FOLDED_RAD = np.radians([0.0, -40.0, 130.0, 0.0, -90.0, 0.0])
# Masses of base, column, upper arm, forearm, and the three parts of the wrist, kilograms.
_MASSES_KG = (90.0, 8.0, 8.0, 4.0, 2.0, 1.5, 1.5)


def mobile_arm(name: str = "robot", *, reach: float = 0.95, drive: Drive = "differential") -> Robot:
    """An arm of six joints with a spherical wrist and a fork, on a base that rolls.

    `reach` is from shoulder to wrist, metres. A differential base rolls along its heading and turns on the spot, an
    omnidirectional one rolls any way. With all values at 0 the arm is folded. It faces +x; the link `grip` is amid the
    top of the fork, x ahead, z up.
    """
    if not 0.4 <= reach <= 2.0:
        raise BadValue(f"the reach of {name} is {reach:g} m; give 0.4 to 2.")
    upper, fore = _UPPER * reach, (1.0 - _UPPER) * reach
    shoulder = _CLEARANCE_M + _BASE_M[2] + _COLUMN_M
    offsets = np.array([(0, 0, 0), (0, 0, shoulder), (0, 0, 0), (0, 0, upper), (0, 0, fore), (0, 0, 0), (0, 0, 0)])
    axes = np.array([(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1)], dtype=float)
    kinds: tuple[JointKind, ...] = ("base", *("turns",) * 6)
    names = ("base", "column", "shoulder", "elbow", "forearm", "wrist", "flange")
    joints = RobotJoints(
        names=names,
        parents=np.arange(-1, 6, dtype=np.int32),
        kinds=kinds,
        T_parent_joint=np.stack([np.eye(4), *map(transform, offsets[1:], map(about, axes[1:], _FOLDED_RAD))]),
        axes=axes,
        lower=np.array([-np.inf, *(_RANGES_RAD[:, 0] - _FOLDED_RAD)]),
        upper=np.array([np.inf, *(_RANGES_RAD[:, 1] - _FOLDED_RAD)]),
        speed=np.array([np.inf, *np.full(6, _SPEED_RAD_S)]),
    )
    masses = SegmentMasses(np.array(_MASSES_KG), np.zeros((7, 3)), np.stack([0.01 * m * np.eye(3) for m in _MASSES_KG]))
    T = np.eye(4)
    T[:3, :3] = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    T[:3, 3] = (-0.5 * _FORK_M[2], 0.0, _TOOL_M - 0.5 * _FORK_M[0])
    return Robot(
        name=name,
        joints=joints,
        links={"grip": (6, T)},
        chains=robot_chains(joints),
        shapes=_shapes(upper, fore),
        masses=masses,
        base="wheels",
        drive=drive,
    )


def _shapes(upper: float, fore: float) -> tuple[Shape, ...]:
    def capsule(name: str, joint: int, radius: float, start: float, end: float) -> Shape:
        size = np.array([radius, 0.5 * (end - start), 0.0])
        return Shape(name, joint, "capsule", size, transform([0.0, 0.0, 0.5 * (start + end)]))

    return (
        Shape("base", 0, "box", 0.5 * np.array(_BASE_M), transform([0.0, 0.0, _CLEARANCE_M + 0.5 * _BASE_M[2]])),
        capsule("column", 1, 0.08, 0.09 - _COLUMN_M, -0.08),
        capsule("upper_arm", 2, _RADII_M[0], 0.0, upper),
        capsule("forearm", 3, _RADII_M[1], 0.0, fore),
        capsule("wrist", 5, _RADII_M[2], 0.0, _WRIST_M),
        Shape("fork", 6, "box", 0.5 * np.array([_FORK_M[2], _FORK_M[1], _FORK_M[0]]),
              transform([0.0, 0.0, _TOOL_M - 0.5 * _FORK_M[0]])),
    )  # fmt: skip


# Link that holds objects, by its name.
GRIP = "grip"
# Joints that an arm needs to reach any pose of its gripper.
LEAST_JOINTS = 6
# Shapes that end this near to the tip belong to it, and most of the tool's length that is under an object, metres.
_TIP_M, _UNDER_M = 0.02, 0.14
# Cosine of the angle to the last joint's axis up to which a tool points along it.
_ALONG = 0.5
# Directions across the tool that are compared, and difference of widths that counts, metres.
_ACROSS, _THINNER_M = 36, 1e-4


def arms_of(robot: Robot) -> list[tuple[int, ...]]:
    """Runs of joints from the base to the end of an arm, the longest first; fingers that slide are no part of it."""
    runs = []
    for chain in robot.chains.values():
        run = _joints(chain)
        while run and robot.joints.kinds[run[-1]] == "slides":
            run = run[:-1]
        if len(run) >= LEAST_JOINTS:
            runs.append(run)
    return sorted(dict.fromkeys(runs), key=len, reverse=True)


def with_grip(robot: Robot) -> Robot:
    """A robot with a link `grip`, if it has an arm: amid the flat side of its tool near the tip, x out of it, z up."""
    arms = arms_of(robot)
    if GRIP in robot.links or not arms:
        return robot
    return robot.with_(links={**robot.links, GRIP: (arms[0][-1], _tip(robot, arms[0][-1]))})


def _joints(chain: Chain) -> tuple[int, ...]:
    return (*chain.lead, *chain.joints)


def _tip(robot: Robot, end: int) -> Array:
    """Frame (4, 4) at the tip of what hangs on a joint, in the joint's frame."""
    T_end = inverse(robot.T_rest[end])
    parts = [
        apply(T_end @ robot.T_rest[shape.joint], shape_mesh(shape).vertices)
        for shape in robot.shapes
        if shape.joint in robot.subtree(end)
    ]
    axis = np.asarray(robot.joints.axes[end])
    if not parts:
        return _frame(axis, np.zeros(3), _across(axis)[0])
    middle = np.mean([0.5 * (points.min(axis=0) + points.max(axis=0)) for points in parts], axis=0)
    far = float(np.linalg.norm(middle))
    along = float(middle @ axis)
    out = np.sign(along) * axis if abs(along) > _ALONG * far else middle / max(far, 1e-9)
    tip = max(float((points @ out).max()) for points in parts)
    points = np.concatenate([points for points in parts if float((points @ out).max()) > tip - _TIP_M])
    # the thinnest side of the tool goes under an object
    u, v = _across(out)
    angles = np.linspace(0.0, np.pi, _ACROSS, endpoint=False)
    tried = np.cos(angles)[:, None] * u + np.sin(angles)[:, None] * v
    widths = np.ptp(points @ tried.T, axis=0)
    up = tried[int(np.flatnonzero(widths < widths.min() + _THINNER_M)[0])]
    side = np.cross(up, out)
    under = min(float(np.ptp(points @ out)), _UNDER_M)
    across = 0.5 * float((points @ side).max() + (points @ side).min())
    at = (tip - 0.5 * under) * out + float((points @ up).max()) * up + across * side
    return _frame(out, at, up)


def _across(direction: Array) -> tuple[Array, Array]:
    """Two unit directions (3,) perpendicular to another and to each other."""
    least = np.eye(3)[int(np.argmin(np.abs(direction)))]
    u = np.cross(direction, least)
    u = u / np.linalg.norm(u)
    return u, np.cross(direction, u)


def _frame(out: Array, at: Array, up: Array) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.stack([out, np.cross(up, out), up], axis=1), at
    return T
