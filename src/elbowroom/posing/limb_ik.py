"""Closed-form inverse kinematics of arms and legs of any character (Tolani and Badler 1996, Kallmann 2005).

A target is the position and orientation of the end joint (hand, foot). Seven angles are determined by six numbers: the
free one is the orbit angle of the middle joint (elbow, knee) about the line from the first joint to the end.

- Arms: 0 is the elbow at its lowest, and it grows outwards, away from the body: to the side for targets in front, to
the back for targets at the side. Where the line is vertical no position is lowest; 0 is then behind the line for a
hanging arm, in front of it for a raised one.

- Legs: 0 is the knee at its foremost, as seen from the pelvis, and it grows outwards, to the leg's own side. Where the
leg points straight ahead, 0 is up.

The elbow's direction is perpendicular to the line and the hinge's axis, on the side to which the elbow moves when it
bends; so a straight arm has an orbit angle too, even on rigs whose bones lie beside their hinge.

The middle joint bends as a hinge, and twists about its bone so that the end joint only swings, if its limits say so.
Rigs that twist the hand at the wrist (the wider range) keep the twist there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Character
from elbowroom.character.limits import EPS, JointLimit
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import IDENTITY, Array, about, angle_between, conjugate, multiply, rotate
from elbowroom.kernels import limb_ik as kernels
from elbowroom.kernels.hinge import straight
from elbowroom.kernels.turns import Turn, Vector, unfit
from elbowroom.stopping import may_stop_here

# Initial angle of the orbit search (Kallmann 2005).
EASY_ORBIT = float(np.radians(20.0))

# Smaller rotations are rounding errors: a straight joint may be bent by as much.
_STRAIGHT_RAD = 0.002

# Bones this close to their axis of rotation, metres, count as lying on it.
_ON_LINE = 1e-9


class Keep(NamedTuple):
    """Secondary coordinates that a limb may keep from a posture, radians, each a number or an array.

    off_axis: the middle joint out of its hinge's plane, as in recorded rigs; twist: of the end joint, or of the middle
    one where the end joint takes up the roll; backwards: the middle joint is bent past straight.
    """

    off_axis: ArrayLike = 0.0
    twist: ArrayLike = 0.0
    backwards: ArrayLike = False


NOTHING = Keep()


@dataclass(frozen=True, eq=False)
class Solution:
    """Postures of a limb. The leading shape (...) is that of the targets, () for one."""

    rotations: Array  # (..., 3, 4) local, of the limb's three joints
    gap: Array  # (...) metres: + too far, - too near, 0 reached; the end's orientation is right in any case
    excess: Array  # (..., 3) radians beyond the limits

    @property
    def missing(self) -> Array:
        """Distance of the end from its target, metres, (...)."""
        return np.abs(self.gap)

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Return whether the end is at its target, (...)."""
        return self.missing <= kernels.REACHED

    @property
    def within_limits(self) -> NDArray[np.bool_]:
        """Return whether all joints are within their limits, (...)."""
        return np.all(self.excess <= EPS, axis=-1)


class LimbIK:
    """Inverse kinematics of one arm or leg of a character.

    `pose` gives the fixed rotations of joints between the three, such as forearm twist joints; the rest pose by
    default.
    """

    def __init__(self, character: Character, limb: str, pose: Pose | None = None) -> None:
        chain = character.chain(limb)
        if chain.kind not in ("arm", "leg") or len(chain.joints) != 3:
            raise BadValue(
                f"'{limb}' of {character.name} is not an arm or leg of three joints; expected an arm or a leg."
            )
        self.character, self.limb = character, limb
        self.joints: tuple[int, int, int] = (chain.joints[0], chain.joints[1], chain.joints[2])
        self.parent = int(character.parents[self.joints[0]])
        if self.parent < 0:
            raise BadValue(f"'{limb}' of {character.name} starts at the root; it needs a parent joint.")
        # limits of the three joints: ball, hinge, ball or swing
        found = []
        for joint, hinge in zip(self.joints, (False, True, False), strict=True):
            limit = character.limits[joint] if character.limits else None
            if limit is None or (limit.kind == "hinge") != hinge:
                kind = "hinge" if hinge else "ball or swing"
                raise BadValue(f"'{character.joint_names[joint]}' of {character.name} needs a range of kind {kind}.")
            found.append(limit)
        self.geometry = _geometry(character, limb, (found[0], found[1], found[2]), pose)

    @property
    def reach(self) -> tuple[float, float]:
        """Nearest and farthest distance from first joint to end, metres, with the middle joint within its limits."""
        g = self.geometry
        low, high = g.low[1][0], g.high[1][0]
        stretched = straight(g.upper, g.lower)
        # beyond its stretch the end only gets nearer, up to a complete fold
        turning = [stretched + k * np.pi for k in (-1, 0, 1) if low < stretched + k * np.pi < high]
        bent = rotate(about([1.0, 0.0, 0.0], np.array([low, high, *turning])), g.lower)
        distance = np.linalg.norm(np.asarray(g.upper) + bent, axis=-1)
        return float(distance.min()), float(distance.max())

    def solve(
        self, T_world_parent: ArrayLike, T_world_end: ArrayLike, orbit: ArrayLike = EASY_ORBIT, keep: Keep = NOTHING
    ) -> Solution:
        """Posture with the end joint at T_world_end (..., 4, 4), at an orbit angle (...), radians.

        T_world_parent (..., 4, 4) is the joint that carries the limb, see `parent`. Leading shapes broadcast, those of
        `keep` too: targets (N, 1, 4, 4) and angles (M,) give all N x M postures. Targets out of reach are approached
        along the line to them.
        """
        parents, ends = checked("T_world_parent", T_world_parent), checked("T_world_end", T_world_end)
        angles = numbers("orbit", orbit)
        off_axis, held = numbers("keep.off_axis", keep.off_axis), numbers("keep.twist", keep.twist)
        backwards = np.asarray(keep.backwards, dtype=bool)
        shapes = {parents.shape[:-2], ends.shape[:-2], *(a.shape for a in (angles, off_axis, held, backwards))}
        lead = np.broadcast_shapes(*shapes) if len(shapes) > 1 else ends.shape[:-2]
        may_stop_here()
        out = empty(lead)
        kernels.solve_batch(
            self.geometry,
            rows(parents, lead, (4, 4)),
            rows(ends, lead, (4, 4)),
            rows(angles, lead, ()),
            rows(off_axis, lead, ()),
            rows(held, lead, ()),
            rows(backwards, lead, ()),
            out.rotations.reshape(-1, 3, 4),
            out.gap.reshape(-1),
            out.excess.reshape(-1, 3),
        )
        return out

    def describe(self, T_world_parent: ArrayLike, rotations: ArrayLike) -> tuple[Array, Keep]:
        """Orbit angles (...) of postures (..., 3, 4) of the three joints, and the `keep` that reproduces them in
        `solve`.
        """
        parents, q = checked("T_world_parent", T_world_parent), numbers("rotations", rotations)
        if q.shape[-2:] != (3, 4):
            raise BadValue(f"rotations of a limb are (..., 3, 4), one for each joint, not {q.shape}.")
        lead = np.broadcast_shapes(parents.shape[:-2], q.shape[:-2])
        out = np.zeros((*lead, 4))
        kernels.describe(self.geometry, rows(parents, lead, (4, 4)), rows(q, lead, (3, 4), True), out.reshape(-1, 4))
        return out[..., 0], Keep(out[..., 1], out[..., 2], out[..., 3] > 0.5)

    def describe_for(self, T_world_parent: Array, T_world_end: Array, rotations: Array) -> tuple[Array, Keep]:
        """`describe` for ends that come nearer.

        A middle joint bent backwards by rounding alone counts as straight and is not bent further that way. Clips have
        straight knees at -0.0 degrees.
        """
        orbit, keep = self.describe(T_world_parent, rotations)
        forwards = self.solve(T_world_parent, T_world_end, orbit, keep._replace(backwards=False))
        bent = angle_between(forwards.rotations, rotations).max(axis=-1) > _STRAIGHT_RAD
        return orbit, keep._replace(backwards=keep.backwards & bent)

    def orbit_of(self, pose: Pose) -> float:
        """Orbit angle of a posture of the whole body, radians in (-pi, pi]."""
        return float(self.describe(self.T_world_parent(pose), pose.rotations[list(self.joints)])[0])

    def keep_of(self, pose: Pose) -> Keep:
        """Inputs of `solve` besides the orbit angle that reproduce the same posture."""
        return self.describe(self.T_world_parent(pose), pose.rotations[list(self.joints)])[1]

    def T_world_parent(self, pose: Pose) -> Array:
        """Transform (4, 4) of the limb's parent joint."""
        return self.character.skeleton.at(pose)[self.parent]

    def posed(self, pose: Pose, solution: Solution) -> Pose:
        """A posture of the whole body with the limb as solved."""
        rotations = np.array(pose.rotations)
        rotations[list(self.joints)] = solution.rotations
        return Pose.of(pose.root, rotations)


def empty(lead: tuple[int, ...]) -> Solution:
    """Memory for solutions of a leading shape."""
    return Solution(np.zeros((*lead, 3, 4)), np.zeros(lead), np.zeros((*lead, 3)))


def rows(a: NDArray, lead: tuple[int, ...], tail: tuple[int, ...], whole: bool = False) -> NDArray:
    """An array as the kernels take it: one row for all, or (always with `whole`) one for each of a leading shape."""
    if whole or a.size != math.prod(tail):
        a = np.broadcast_to(a, (*lead, *tail))
    a = a.reshape(-1, *tail)
    # One memory layout: the kernels are compiled once for each.
    return a if a.flags.c_contiguous and a.flags.writeable else np.array(a, order="C")


def numbers(name: str, values: ArrayLike) -> Array:
    """An array of finite numbers, or `BadValue`."""
    out = np.asarray(values, dtype=float)
    if not np.isfinite(out).all():
        raise BadValue(f"{name} has a number that is not finite; expected finite numbers.")
    return out


def checked(name: str, T: ArrayLike) -> Array:
    """Rigid transforms (..., 4, 4), or `BadValue`."""
    out = np.asarray(T, dtype=float)
    if out.shape[-2:] != (4, 4):
        raise BadValue(f"{name} must be a transform of shape (..., 4, 4), not {out.shape}.")
    bad = unfit(rows(out, out.shape[:-2], (4, 4)))
    if bad >= 0:
        which = f" number {bad}" if out.ndim > 2 else ""
        raise BadValue(f"{name}{which} is not a rigid transform: expected finite numbers and a rotation without scale.")
    return out


def _geometry(
    character: Character, limb: str, limits: tuple[JointLimit, JointLimit, JointLimit], pose: Pose | None
) -> kernels.Geometry:
    skeleton = character.skeleton
    chain = character.chain(limb)
    rotations = skeleton.rest if pose is None else pose.rotations
    ball, hinge, end = limits
    turn_upper, upper = _down_to(character, rotations, chain.joints[0], chain.joints[1])
    turn_lower, lower = _down_to(character, rotations, chain.joints[1], chain.joints[2])
    to_hinge = multiply(turn_upper, hinge.pre)
    lower = rotate(hinge.post, lower)
    ranges = [limit.bounds for limit in limits]
    # Front and up of the parent, from the rest pose.
    parent = skeleton.T_rest[skeleton.parents[chain.joints[0]], :3, :3]
    front, up = character.front @ parent, np.array([0.0, 0.0, 1.0]) @ parent
    arm = chain.kind == "arm"
    joint = chain.joints[0]
    right = any(j == joint and role.startswith("right_") for role, j in character.roles.items())
    span = [float(np.ptp(limit.twist)) for limit in limits]
    return kernels.Geometry(
        offset=_triple(skeleton.offsets[chain.joints[0]]),
        upper=_triple(rotate(conjugate(to_hinge), upper)),
        lower=_triple(lower),
        hinge=_four(to_hinge),
        pre=(_four(ball.pre), _four(hinge.pre), _four(end.pre)),
        post=(_four(ball.post), _four(hinge.post), _four(end.post)),
        between=_four(multiply(multiply(hinge.post, turn_lower), end.pre)),
        zero=(0.0, 0.0, -1.0) if arm else _triple(front),
        zero_in_world=arm,
        spare=_triple(-front if arm else up),
        sense=-1.0 if right == arm else 1.0,
        end_turns=span[2] > span[1],
        coupled=bool(np.hypot(lower[0], lower[1]) > _ON_LINE),
        low=(_triple(ranges[0][1]), _triple(ranges[1][1]), _triple(ranges[2][1])),
        high=(_triple(ranges[0][2]), _triple(ranges[1][2]), _triple(ranges[2][2])),
        polygon=ranges[0][3],
        end_polygon=ranges[2][3],
    )


def _triple(v: Array) -> Vector:
    return float(v[0]), float(v[1]), float(v[2])


def _four(q: Array) -> Turn:
    return float(q[0]), float(q[1]), float(q[2]), float(q[3])


def _down_to(character: Character, rotations: Array, start: int, joint: int) -> tuple[Array, Array]:
    """Rotation (4,) and position (3,) of a joint's frame before it moves, in the frame of one above it."""
    parents, offsets = character.parents, character.skeleton.offsets
    turn, place = IDENTITY, offsets[joint]
    above = int(parents[joint])
    while above != start:
        turn = multiply(rotations[above], turn)
        place = offsets[above] + rotate(rotations[above], place)
        above = int(parents[above])
    return turn, place
