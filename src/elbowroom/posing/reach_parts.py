"""Parts of a character that a reach uses, and its stance before it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.limits import JointLimit
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import IDENTITY, Array, conjugate, from_matrix, normalize, rotate
from elbowroom.geometry.transforms import apply
from elbowroom.motion.soles import Sole
from elbowroom.posing.balance import AROUND, contact_points, edges, feet_of
from elbowroom.posing.fingers_model import outline
from elbowroom.posing.limb_ik import LimbIK

_UP = np.array([0.0, 0.0, 1.0])
_SPINE = ("spine1", "spine2", "chest")

# Cosines between which an upper arm counts as partly hanging: below the first not at all, above the second fully.
_HANGS = 0.4, 0.75

# Abduction of an arm beside the trunk, radians.
_BESIDE = float(np.radians(12.0))

# Share of a leg's length to which a reach stretches it.
_STRAIGHT_KNEE = 0.998


@dataclass(frozen=True, eq=False)
class ReachParts:
    """Joints of a character that help one hand."""

    body: Character
    arm: LimbIK
    arm_reach: tuple[float, float]  # nearest and farthest from shoulder to wrist, metres
    legs: tuple[LimbIK, ...]  # left and right, or none
    leg_lengths: tuple[float, ...]
    soles: tuple[Sole, ...]
    # joint, points (K, 3) in its frame, and the radius of balls around them: shapes below the knees
    shins: tuple[tuple[int, Array, float], ...]
    spine: tuple[int, ...]
    clavicle: int  # -1 where there is none
    free_arm: int  # upper arm of the other side, -1 where there is none
    above_free_arm: tuple[int, ...]  # joints between root and free arm, both excluded
    shares: Array  # (S, 3) of each spine joint in forward lean, side lean and turn
    left: bool
    # all joints but those of the arm, their mass fractions and centres, and the arm's fraction
    weights: tuple[NDArray[np.int64], Array, Array, float]

    @property
    def toes(self) -> bool:
        """Return whether feet bend at the ball, so that heels can lift."""
        return bool(self.soles) and all(sole.toes >= 0 for sole in self.soles)

    def limit(self, joint: int) -> JointLimit | None:
        """Range of a joint."""
        return self.body.limits[joint] if self.body.limits else None


def parts_of(body: Character, hand: str, pose: Pose) -> ReachParts:
    """Parts that serve a hand; `UnknownName` for a hand that the rig lacks."""
    if hand not in ("left", "right") or f"{hand}_arm" not in body.chains:
        sides = [side for side in ("left", "right") if f"{side}_arm" in body.chains]
        raise UnknownName(f"hand of {body.name}", hand, sides)
    parts = _parts(body, hand)
    held = _between(body)
    if len(held) and not np.allclose(pose.rotations[held], body.skeleton.rest[held], atol=1e-9):
        return _measure(body, hand, pose)
    return parts


@lru_cache(maxsize=64)
def _parts(body: Character, hand: str) -> ReachParts:
    return _measure(body, hand, None)


@lru_cache(maxsize=64)
def _between(body: Character) -> NDArray[np.int64]:
    """Joints inside arms and legs that IK does not move, such as twist bones."""
    found: set[int] = set()
    for name in ("left_arm", "right_arm", "left_leg", "right_leg"):
        if name in body.chains:
            joints = body.chain(name).joints
            above = int(body.parents[joints[-1]])
            while above > joints[0]:
                found |= {above} - set(joints)
                above = int(body.parents[above])
    return np.array(sorted(found), dtype=np.int64)


def _measure(body: Character, hand: str, pose: Pose | None) -> ReachParts:
    arm = LimbIK(body, f"{hand}_arm", pose)
    soles = feet_of(body)
    names = [f"{side}_leg" for side in ("left", "right") if f"{side}_leg" in body.chains]
    legs = tuple(LimbIK(body, name, pose) for name in names) if len(names) == 2 and soles else ()
    under = {j for leg in legs for j in _ancestors(body, leg.joints[0])}
    over = _ancestors(body, arm.joints[0])
    # a joint that also carries the legs is part of the pelvis
    spine = tuple(body.roles[r] for r in _SPINE if r in body.roles and body.roles[r] in over - under - {0})
    other = "right" if hand == "left" else "left"
    free_arm = body.roles.get(f"{other}_upper_arm", -1)
    clavicle = body.roles.get(f"{hand}_clavicle", -1)
    if clavicle not in over or not body.limits or body.limits[clavicle] is None:
        clavicle = -1
    found = [(shape, *outline(shape)) for leg in legs for shape in body.shapes if shape.joint == leg.joints[1]]
    return ReachParts(
        body=body,
        arm=arm,
        arm_reach=arm.reach,
        legs=legs,
        leg_lengths=tuple(leg.reach[1] for leg in legs),
        soles=soles,
        shins=tuple((shape.joint, apply(shape.T_joint_shape, points), radius) for shape, points, radius in found),
        spine=spine,
        clavicle=clavicle,
        free_arm=free_arm,
        above_free_arm=tuple(sorted(_ancestors(body, free_arm) - {0})),
        shares=_shares(body, spine),
        left=hand == "left",
        weights=_weights(body, arm.joints[0]),
    )


def below_floor(parts: ReachParts, T: Array, floor: float) -> Array:
    """Depth of the lowest point of the shins below the floor, metres, (N,) for joints at T (N, J, 4, 4); 0 above it."""
    deep = np.zeros(len(T))
    for joint, points, radius in parts.shins:
        lowest = (T[:, joint, 2, :3] @ points.T).min(axis=1) + T[:, joint, 2, 3] - radius
        deep = np.maximum(deep, floor - lowest)
    return deep


def _weights(body: Character, upper_arm: int) -> tuple[NDArray[np.int64], Array, Array, float]:
    if body.masses is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 3)), 0.0
    share = body.masses.mass / body.masses.total
    arm = list(body.subtree(upper_arm))
    rest = np.setdiff1d(np.flatnonzero(share > 0.0), arm)
    return rest, share[rest], body.masses.center[rest], float(share[arm].sum())


def _ancestors(body: Character, joint: int) -> set[int]:
    found = set()
    while joint > 0:
        joint = int(body.parents[joint])
        found.add(joint)
    return found


def _shares(body: Character, spine: tuple[int, ...]) -> Array:
    """Shares of each spine joint in forward lean, side lean and turn, (S, 3), from their limits."""
    rows = []
    for joint in spine:
        limit = body.limits[joint] if body.limits else None
        rows.append((1.0, 1.0, 1.0) if limit is None else (limit.swing[1], limit.swing[3], limit.twist[1]))
    shares = np.array(rows, dtype=float).reshape(-1, 3)
    return shares / np.maximum(shares.sum(axis=0), 1e-9)


@dataclass(frozen=True, eq=False)
class ReachStart:
    """Stance of a body before it reaches, in world coordinates."""

    parts: ReachParts
    pose: Pose
    T: Array  # (J, 4, 4)
    frame: Array  # (3, 3), rows: front, left, up
    spine_axes: (
        Array  # (S, 3, 3), rows: axes of leaning forwards, aside and turning, as each joint of the spine has them
    )
    hips: Array  # (3,), middle of the hip joints, or the root
    shoulder: Array  # (3,)
    axis: Array  # (2,), position of the trunk on the floor plan
    nearest: float  # shoulder to wrist
    length: float  # of the arm: the farthest
    leg: float  # length
    stretch: tuple[float, ...]  # hip to ankle, longest that a reach uses, for each leg
    orbits: tuple[float, ...]
    held: tuple[tuple[Array, Array, NDArray[np.bool_]], ...]  # what each leg keeps, as the kernels take it
    excess: tuple[Array, ...]  # present excess of each leg over its limits
    hangs: float  # how much the free arm hangs, 0 to 1
    spare: float  # angle by which it may approach the trunk, radians
    free_arm: Array  # (4,), world rotations of it and of its parent
    free_parent: Array
    heels: tuple[tuple[Array, Array], ...]  # axis about which each heel lifts, and world rotation of the foot
    floor: float
    sunk: float  # depth of the shins below it, metres
    com: Array | None  # (3,); None where balance is unknown
    edge: Array  # of the support, as `balance.edges` has it
    margin: float  # of the centre of mass to it
    forefoot: Array  # (2,), middle of the ground under the toes


@lru_cache(maxsize=16)
def start_of(parts: ReachParts, pose: Pose, floor: float) -> ReachStart:
    """Measure a posture. Cached for the last few: several targets are tried from one posture."""
    body = parts.body
    if pose.q.shape != (4 * len(body.skeleton),) or not (np.isfinite(pose.q).all() and np.isfinite(pose.root).all()):
        raise BadValue(f"a pose of {body.name} is {len(body.skeleton)} finite quaternions and a position.")
    T = body.skeleton.at(pose)
    orbits, held, stretch, excess = [], [], [], []
    for leg, length in zip(parts.legs, parts.leg_lengths, strict=True):
        orbit, keep = leg.describe(T[leg.parent], pose.rotations[list(leg.joints)])
        orbits.append(float(orbit))
        # knees bend forwards, whatever a straight leg shows
        held.append((np.array([keep.off_axis]), np.array([keep.twist]), np.zeros(1, dtype=bool)))
        now = float(np.linalg.norm(T[leg.joints[2], :3, 3] - T[leg.joints[0], :3, 3]))
        stretch.append(max(now, _STRAIGHT_KNEE * length))
        excess.append(leg.solve(T[leg.parent], T[leg.joints[2]], orbit, keep).excess)
    frame = _facing(body, T)
    hangs, spare, free_arm, free_parent = _hanging(parts, T, frame)
    thighs = [leg.joints[0] for leg in parts.legs]
    hips = T[thighs, :3, 3].mean(axis=0) if thighs else T[0, :3, 3]
    com, margin, forefoot, edge = None, -np.inf, hips[:2], np.zeros(0)
    if parts.soles and body.masses is not None:
        edge = edges(contact_points(body, T, floor))
        here = center_of_mass(body, T)
        margin = float((edge - here[:2] @ AROUND).min())
        com = here if np.isfinite(margin) else None
        forefoot = np.mean([_forefoot(T, sole) for sole in parts.soles], axis=0)
    trunk = T[parts.spine[-1] if parts.spine else 0, :2, 3]
    return ReachStart(
        parts=parts,
        pose=pose,
        T=T,
        frame=frame,
        spine_axes=np.stack([frame[1], -frame[0], frame[2]]) @ T[body.parents[list(parts.spine)], :3, :3],
        hips=hips,
        shoulder=T[parts.arm.joints[0], :3, 3],
        axis=trunk,
        nearest=parts.arm_reach[0],
        length=parts.arm_reach[1],
        leg=float(np.mean(parts.leg_lengths)) if parts.legs else 0.0,
        stretch=tuple(stretch),
        orbits=tuple(orbits),
        held=tuple(held),
        excess=tuple(excess),
        hangs=hangs,
        spare=spare,
        free_arm=free_arm,
        free_parent=free_parent,
        heels=tuple(_heel(T, sole) for sole in parts.soles),
        floor=floor,
        sunk=float(below_floor(parts, T[None], floor)[0]),
        com=com,
        edge=edge,
        margin=margin,
        forefoot=forefoot,
    )


def _hanging(parts: ReachParts, T: Array, frame: Array) -> tuple[float, float, Array, Array]:
    """Hanging distance of the free arm and its allowed approach, and world rotations (4,) of it and of its parent."""
    joint = parts.free_arm
    ends = (
        [j for j in parts.body.skeleton.children[joint] if np.any(parts.body.skeleton.offsets[j])] if joint > 0 else []
    )
    if not ends:
        return 0.0, 0.0, IDENTITY, IDENTITY
    bone = normalize(T[ends[0], :3, 3] - T[joint, :3, 3])
    low, high = _HANGS
    hangs = float(smoothstep((-bone[2] - low) / (high - low)))
    out = float(bone @ frame[1]) * (-1.0 if parts.left else 1.0)
    spare = max(float(np.arctan2(out, -bone[2])) - _BESIDE, 0.0)
    own, above = from_matrix(T[[joint, int(parts.body.parents[joint])], :3, :3])
    return hangs, spare, own, above


def _heel(T: Array, sole: Sole) -> tuple[Array, Array]:
    """Horizontal axis (3,) across a foot, and its world rotation (4,)."""
    foot = from_matrix(T[sole.foot, :3, :3])
    ahead = rotate(foot, rotate(conjugate(sole.flat), sole.ahead)) * [1.0, 1.0, 0.0]
    return np.cross(_UP, normalize(ahead)), foot


def _forefoot(T: Array, sole: Sole) -> Array:
    outline, place = sole.toe_outline, T[sole.toes if sole.toes >= 0 else sole.foot]
    middle = 0.5 * (outline.min(axis=0) + outline.max(axis=0))
    return place[:2, :3] @ middle + place[:2, 3]


def _facing(body: Character, T: Array) -> Array:
    """Front, left and up (3, 3) of a standing body with joints at (J, 4, 4), by its pelvis."""
    front = body.facing(T)
    front = front if front.any() else normalize(body.front * [1.0, 1.0, 0.0])
    return np.stack([front, np.cross(_UP, front), _UP])
