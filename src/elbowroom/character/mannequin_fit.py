"""Fit a stored shape to a skeleton: where every vertex goes; and the stored shapes.

The shapes are one surface and several bodies, all with the same triangles. `mannequin_base.json` is made by
tools/mannequin/make.py from the base mesh of MakeHuman, which is in the public domain (CC0 1.0). It holds the left half
in an A pose, metres, +Z up, facing -Y.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.anthropometry import Proportions
from elbowroom.character.hands import FINGERS
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array, about, arc, conjugate, from_matrix, multiply, rotate

SIDES = ("left", "right")
Places = Mapping[str, Array]  # joint name to (3,)


def rest_places(skeleton: Skeleton) -> dict[str, Array]:
    """Position of each joint in the rest pose, by name."""
    return dict(zip(skeleton.names, skeleton.T_rest[:, :3, 3], strict=True))


def bind_rotations(skeleton: Skeleton, shape: Places) -> Array:
    """Local rotations (J, 4) that lay the limbs as in the shape; trunk, head and feet stay upright."""
    rest = rest_places(skeleton)
    world = {name: np.array([1.0, 0.0, 0.0, 0.0]) for name in skeleton.names}

    def swung(joint: str, end: str, start: Array) -> Array:
        """`start` turned the shortest way until the bone lies as in the shape."""
        now = rotate(start, rest[end] - rest[joint])
        return multiply(arc(now, shape[end] - shape[joint]), start)

    for side in SIDES:
        arm, fore, hand, thigh, shin, foot = (
            f"{side}_{part}" for part in ("upper_arm", "forearm", "hand", "thigh", "shin", "foot")
        )
        world[arm] = swung(arm, fore, world[arm])
        world[fore] = swung(fore, hand, world[arm])
        world[hand] = from_matrix(palm_axes(shape, side) @ palm_axes(rest, side).T)
        # A wrist does not twist: the forearm takes the turn of the hand about it.
        bone = rest[hand] - rest[fore]
        turn = multiply(conjugate(world[fore]), world[hand])
        twist = 2.0 * np.arctan2(turn[1:] @ bone / np.linalg.norm(bone), turn[0])
        world[fore] = multiply(world[fore], about(bone, twist))
        for finger in FINGERS:
            first, second, third = (f"{side}_{finger}{k}" for k in (1, 2, 3))
            world[first] = swung(first, second, world[hand])
            world[second] = swung(second, third, world[first])
            world[third] = world[second]
        world[thigh] = swung(thigh, shin, world[thigh])
        world[shin] = swung(shin, foot, world[thigh])
    return skeleton.local(np.stack([world[name] for name in skeleton.names]))


def palm_axes(at: Places, side: str) -> Array:
    """Axes of a hand as columns (3, 3): towards the knuckles, across them, and through the palm."""
    knuckles = np.stack([at[f"{side}_{finger}1"] for finger in FINGERS[1:]])
    along = knuckles.mean(axis=0) - at[f"{side}_hand"]
    through = np.cross(along, knuckles[0] - knuckles[-1])
    along, through = along / np.linalg.norm(along), through / np.linalg.norm(through)
    return np.stack([along, np.cross(through, along), through], axis=1)


TRUNK = ("pelvis", "spine1", "spine2", "chest")
# How far each trunk joint's breadth follows the shoulders; the rest follows the hips.
TOWARDS_SHOULDERS = (0.0, 0.15, 0.5, 1.0)

# How far the shape's shoulder joint gives way to the skeleton's; the surface gives way for the rest.
SHOULDER_SHARE = 0.7

# Share of the body's depth at the hips that lies in front of the hip joints. MakeHuman's woman has 0.48, its man 0.58,
# so that his belly and thighs overlapped by 80 mm where he stoops. Measured on five recorded people: 0.23 to 0.37
# (`benchmarks/soft_tissue.py --hips`); the end of that range that is nearest to the stored shapes is taken.
HIP_DEPTH_SHARE = 0.37
# Shapes with shares up to the first keep their own, and lift from the floor with it: moved hips would bring a gorilla's
# heels into its thighs where it runs. Shapes from the second on, men, have theirs moved.
HIP_KEPT_MOVED = (0.54, 0.575)
# Metres above, below and beside a hip joint at which that depth is taken.
HIP_NEAR_M = (0.02, 0.06)

# Fingers side by side, as in the skeleton's rest pose, have less room than the spread ones of the shapes.
FINGERS_APART = 0.92

# The bone of a joint ends at this one; the others end nowhere in particular.
BONE_END = {"pelvis": "spine1", "spine1": "spine2", "spine2": "chest", "chest": "neck", "neck": "head"} | {
    f"{side}_{a}": f"{side}_{b}"
    for side in SIDES
    for a, b in [
        ("clavicle", "upper_arm"),
        ("upper_arm", "forearm"),
        ("forearm", "hand"),
        ("thigh", "shin"),
        ("shin", "foot"),
        *((f"{finger}{k}", f"{finger}{k + 1}") for finger in FINGERS for k in (1, 2)),
    ]
}


@dataclass(frozen=True)
class Girths:
    """Thickness against the shape at the same size."""

    trunk: float = 1.0
    chest: float = 1.0  # depth of the rib cage, on top of the trunk's
    arm: float = 1.0
    leg: float = 1.0


@dataclass(frozen=True, eq=False)
class Fit:
    """The left half of the surface (V, 3) in the bind pose, and the bind pose's joint transforms (J, 4, 4)."""

    vertices: Array
    T_bind: Array
    left_eye: Array  # (3,), centre of the eyeball
    eye_radius: float


class Fitter:
    """Fits one shape to a skeleton of proportions `p`; `size` is the scale of everything else."""

    def __init__(self, shape: BodyShape, skeleton: Skeleton, p: Proportions, girths: Girths, size: float) -> None:
        self.shape, self.skeleton, self.p, self.girths, self.size = shape, skeleton, p, girths, size
        self.rest = rest_places(skeleton)
        self.at = dict(shape.joints)
        self.breadth = size * girths.trunk
        self.hips = size * 0.5 * (girths.trunk + p.scales.hip)
        self.shoulders = size * 0.5 * (girths.trunk + p.scales.shoulder)
        # scale of the head along x, y, z: eyes and vertex go where the skeleton has them
        eye = self.at["left_eye"]
        across = self.p.spacing["eye"] / eye[0]
        crown = self.shape.vertices[:, 2].max() - self.shape.hair
        up = self.p.length["eye_to_vertex"] / (crown - eye[2])
        self.head = np.array([0.5 * (across + up), 0.5 * (across + up), up])
        self.foot = self._foot()
        self._match_joints()

    def _foot(self) -> Array:
        """Scale of the foot along x, y, z: its length is the table's, its sole as far below the ankle."""
        v = self.shape.vertices
        sole = v[:, 2].min()
        ankle = self.at["left_foot"][2]
        length = np.ptp(v[v[:, 2] < 0.5 * (sole + ankle), 1])
        along = self.p.length["foot"] / length
        return np.array([self.size * self.p.scales.foot, along, self.p.length["ankle_height"] / (ankle - sole)])

    def _match_joints(self) -> None:
        """Put the shape's joints where the skeleton's would be in it, where tables and shape disagree."""
        at, rest = self.at, self.rest
        eyes, goal = (0.5 * (m["left_eye"] + m["right_eye"]) for m in (at, rest))
        at["head"] = eyes + (rest["head"] - goal) / self.head
        at["left_thigh"] = self._hip()
        low, high = at["pelvis"][2], at["head"][2]
        share = (high - low) / (rest["head"][2] - rest["pelvis"][2])
        self.trunk = 1.0 / share
        # The trunk leans evenly from the hips to the shoulders; the spine lies in it as the skeleton says.
        lean = [rest[j][1] - self.breadth * at[j][1] for j in ("left_thigh", "left_upper_arm")]
        top = rest["neck"][2] - rest["pelvis"][2]
        for name in (*TRUNK[1:], "neck", "left_clavicle"):
            rise = rest[name][2] - rest["pelvis"][2]
            back = rest[name][1] - np.interp(rise / top, [0.0, 1.0], lean)
            at[name] = np.array([rest[name][0] / self.shoulders, back / self.breadth, low + share * rise])
        at["pelvis"] = np.array([0.0, at["left_thigh"][1], low])
        at["left_thigh"] = at["left_thigh"] * [0.0, 1.0, 1.0] + [rest["left_thigh"][0] / self.hips, 0.0, 0.0]
        arm = at["left_upper_arm"]
        rise = rest["left_upper_arm"][2] - rest["pelvis"][2]
        wanted = np.array([rest["left_upper_arm"][0] / self.shoulders, arm[1], low + share * rise])
        at["left_upper_arm"] = arm + SHOULDER_SHARE * (wanted - arm)
        at["left_toes"] = at["left_foot"] + (rest["left_toes"] - rest["left_foot"]) / self.foot
        for part in ("clavicle", "thigh", "upper_arm", "toes"):
            at[f"right_{part}"] = at[f"left_{part}"] * MIRROR

    def _hip(self) -> Array:
        """Place (3,) of the left hip joint in the shape: its own, or as far behind the skin as people have it."""
        v, hip = self.shape.vertices, self.at["left_thigh"]
        up_m, aside_m = HIP_NEAR_M
        y = v[(np.abs(v[:, 2] - hip[2]) < up_m) & (np.abs(v[:, 0] - hip[0]) < aside_m), 1]
        own = (hip[1] - y.min()) / np.ptp(y)
        share = np.interp(own, HIP_KEPT_MOVED, (own, HIP_DEPTH_SHARE))
        return np.array([hip[0], y.min() + share * np.ptp(y), hip[2]])

    def scales(self) -> dict[str, Array]:
        """Growth of each joint's part, (3, 3), before its bone is stretched."""
        out: dict[str, Array] = {}
        for name, share in zip(TRUNK, TOWARDS_SHOULDERS, strict=True):
            width = self.hips + share * (self.shoulders - self.hips)
            depth = self.breadth * self.girths.chest ** (share**2)
            out[name] = np.diag([width, depth, self.trunk])
        out["head"] = np.diag(self.head)
        out["neck"] = np.diag(0.5 * (self.head + [self.breadth, self.breadth, self.trunk]))
        thick = {"upper_arm": self.girths.arm, "forearm": self.girths.arm}
        thick |= {"thigh": self.girths.leg, "shin": self.girths.leg}
        hand = self.size * self.p.scales.hand
        thin = hand * FINGERS_APART
        for side in SIDES:
            out[f"{side}_eye"] = np.eye(3) * self.head.mean()
            out[f"{side}_clavicle"] = out["chest"]
            out |= {f"{side}_{part}": np.eye(3) * self.size * girth for part, girth in thick.items()}
            out[f"{side}_hand"] = self._hand(side, hand)
            for finger in FINGERS:
                first, second, third = (f"{side}_{finger}{k}" for k in (1, 2, 3))
                out[first] = out[second] = np.eye(3) * thin
                # The last bone has no end in the skeleton: it grows like the one before.
                bone = self.at[third] - self.at[second]
                length = np.linalg.norm(bone)
                stretch = np.linalg.norm(self.rest[third] - self.rest[second]) / length
                out[third] = np.eye(3) * thin + (stretch - thin) * np.outer(bone, bone) / length**2
            out[f"{side}_foot"] = out[f"{side}_toes"] = np.diag(self.foot)
        return out

    def _hand(self, side: str, thick: float) -> Array:
        """Scale of the palm, (3, 3): along and across by its knuckles."""
        axes = palm_axes(self.at, side)
        sizes = np.ones((2, 3))
        for size, m in zip(sizes, (self.rest, self.at), strict=True):
            knuckles = np.stack([m[f"{side}_{finger}1"] for finger in FINGERS[1:]])
            size[0] = np.linalg.norm(knuckles.mean(axis=0) - m[f"{side}_hand"])
            size[1] = np.linalg.norm(knuckles[0] - knuckles[-1])
        return axes @ np.diag(sizes[0] / sizes[1] * [1.0, 1.0, thick]) @ axes.T

    def fit(self, shapes: HalfSurface) -> Fit:
        """The surface in the bind pose."""
        local = bind_rotations(self.skeleton, self.at)
        T_bind = self.skeleton.forward(self.skeleton.offsets[0], local)
        goal = dict(zip(self.skeleton.names, T_bind[:, :3, 3], strict=True))
        scale = self.scales()
        A = np.stack([self._map(name, scale[name], goal) for name in shapes.joint_names])
        at = np.stack([self.at[name] for name in shapes.joint_names])
        shift = np.stack([goal[name] for name in shapes.joint_names]) - np.einsum("jab,jb->ja", A, at)
        each = np.einsum("vkab,vb->vka", A[shapes.joint_of], self.shape.vertices) + shift[shapes.joint_of]
        vertices = np.einsum("vk,vka->va", shapes.weights, each)
        vertices[: shapes.middle, 0] = 0.0
        eye = goal["head"] + scale["head"] @ (self.at["left_eye"] - self.at["head"])
        return Fit(vertices, T_bind, eye, self.shape.eye_radius * float(self.head.mean()))

    def _map(self, name: str, scale: Array, goal: dict[str, Array]) -> Array:
        """Linear part (3, 3) of a joint's map: its scale, sheared so that the bone ends where it must."""
        end = BONE_END.get(name)
        if end is None:
            return scale
        bone = self.at[end] - self.at[name]
        miss = goal[end] - goal[name] - scale @ bone
        return scale + np.outer(miss, bone) / (bone @ bone)


Int32s = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class BodyShape:
    """One body: left half of the surface and joints of both sides in its own A pose, metres."""

    vertices: Array  # (V, 3)
    joints: Mapping[str, Array]  # (3,) each
    eye_radius: float
    hair: float  # height of the hair above the crown


@dataclass(frozen=True, eq=False)
class HalfSurface:
    """The left half of the surface: first the `middle` vertices with x = 0, then those of the left side.

    Columns of `joint_of` are indices into `joint_names`; weights (V, 4) sum to one.
    """

    names: tuple[str, ...]
    vertices: Array  # (S, V, 3)
    joints: Array  # (S, H, 3): middle and left side, the first H of joint_names
    eye_radii: Array  # (S,)
    hair: Array  # (S,)
    joint_names: tuple[str, ...]
    triangles: Int32s  # (F, 3)
    joint_of: Int32s  # (V, 4)
    weights: Array  # (V, 4)
    zone: Int32s  # (V,), index into zones
    zones: tuple[str, ...]
    middle: int

    def mixed(self, shares: Mapping[str, float]) -> BodyShape:
        """A body as a sum of stored ones, by name; shares that sum to one keep the size."""
        share = np.array([shares.get(name, 0.0) for name in self.names])
        at = np.tensordot(share, self.joints, 1)
        joints = dict(zip(self.joint_names, at, strict=False))
        for name in self.joint_names[len(at) :]:
            joints[name] = joints[mirrored_name(name)] * MIRROR
        vertices = np.tensordot(share, self.vertices, 1)
        return BodyShape(vertices, joints, float(share @ self.eye_radii), float(share @ self.hair))

    def whole(self, half: Array) -> Array:
        """Vertices of both sides (2 V - middle, 3) from those of the left half (V, 3)."""
        return np.concatenate([half, half[self.middle :] * MIRROR])

    @property
    def whole_triangles(self) -> Int32s:
        """Triangles of both sides, (2 F, 3)."""
        n, m = self.vertices.shape[1], self.middle
        other = np.where(self.triangles < m, self.triangles, self.triangles + n - m)
        return np.concatenate([self.triangles, other[:, ::-1]]).astype(np.int32)

    @property
    def whole_joint_of(self) -> Int32s:
        """Joints of both sides' vertices, (2 V - middle, 4), indices into `joint_names`."""
        swap = np.array([self.joint_names.index(mirrored_name(name)) for name in self.joint_names])
        return np.concatenate([self.joint_of, swap[self.joint_of[self.middle :]]]).astype(np.int32)


MIRROR = np.array([-1.0, 1.0, 1.0])


def mirrored_name(name: str) -> str:
    """The joint on the other side; joints of the middle are their own."""
    if name.startswith("left_"):
        return "right_" + name.removeprefix("left_")
    return "left_" + name.removeprefix("right_") if name.startswith("right_") else name


@lru_cache(maxsize=1)
def shapes() -> HalfSurface:
    """The stored shapes."""
    file = resources.files("elbowroom.character") / "mannequin_base.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    arrays = {name: _unpacked(packed) for name, packed in document["arrays"].items()}
    weights = arrays["weights"].astype(float)
    return HalfSurface(
        names=tuple(document["shapes"]),
        vertices=frozen(arrays["vertices"] * document["unit"]),
        joints=frozen(document["joint_places"]),
        eye_radii=frozen(document["eye_radius"]),
        hair=frozen(document["hair"]),
        joint_names=tuple(document["joint_names"]),
        triangles=frozen(arrays["triangles"], np.int32),
        joint_of=frozen(arrays["joint_of"], np.int32),
        weights=frozen(weights / weights.sum(axis=1, keepdims=True)),
        zone=frozen(arrays["zone"], np.int32),
        zones=tuple(document["zones"]),
        middle=int(document["middle"]),
    )


def _unpacked(packed: dict[str, Any]) -> NDArray:
    raw = zlib.decompress(base64.b64decode(packed["data"]))
    return np.frombuffer(raw, dtype=packed["dtype"]).reshape(packed["shape"])
