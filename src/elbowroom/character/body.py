"""Body, the common base of persons and robots; Character, a body with human-like joints; and its skin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.limits import JointLimit
from elbowroom.character.skeleton import Pose, Skeleton, subtree
from elbowroom.errors import UnknownName
from elbowroom.geometry.mesh import Color, frozen
from elbowroom.geometry.paint import Paint
from elbowroom.geometry.rotations import Array, multiply, normalize, rotate
from elbowroom.geometry.shapes import Shape
from elbowroom.kernels import pose as pose_kernels
from elbowroom.stopping import may_stop_here


@dataclass(frozen=True, eq=False)
class Skin:
    """Triangles in the bind pose, metres; up to K joints per vertex with weights that sum to one.

    `inverse_bind` (J, 4, 4) maps bind space to each joint's frame, so the bind pose may differ from the rest pose.
    `colors` (V, 3), linear RGB in 0..1, one per vertex, or None for `color` all over; `paint` as of meshes.
    """

    vertices: Array  # (V, 3)
    faces: NDArray[np.int32]  # (F, 3)
    joints: NDArray[np.int32]  # (V, K)
    weights: Array  # (V, K)
    inverse_bind: Array  # (J, 4, 4)
    colors: Array | None = None
    color: Color = (0.80, 0.66, 0.53)
    paint: Paint | None = None

    def __post_init__(self) -> None:
        for name, kind in (("vertices", float), ("faces", np.int32), ("joints", np.int32), ("weights", float)):
            object.__setattr__(self, name, frozen(getattr(self, name), kind))
        object.__setattr__(self, "inverse_bind", frozen(self.inverse_bind))
        if self.colors is not None:
            object.__setattr__(self, "colors", frozen(self.colors))

    def posed(self, T_world_joint: Array) -> Array:
        """Vertices (V, 3) in the world for joint transforms (J, 4, 4)."""
        may_stop_here()
        out = np.zeros_like(self.vertices)
        pose_kernels.skin(T_world_joint @ self.inverse_bind, self.vertices, self.joints, self.weights, out)
        return out

    @property
    def owner(self) -> NDArray[np.int32]:
        """The joint with the largest weight for each vertex, (V,)."""
        return self.joints[np.arange(len(self.joints)), np.argmax(self.weights, axis=1)]


ChainKind = Literal["arm", "leg", "spine", "neck", "fingers", "eyes", "6r", "numeric"]
Base = Literal["walks", "wheels", "fixed", "free"]


@dataclass(frozen=True)
class Chain:
    """A run of joints that moves as one: `joints` from the trunk outwards; the last one carries the end.

    An arm is (upper arm, forearm, hand), a leg (thigh, shin, foot); `kind` says which inverse kinematics fits.
    `lead` are joints before it that may help, such as the clavicle.
    """

    name: str
    kind: ChainKind
    joints: tuple[int, ...]
    lead: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """The joint that is brought to a target: hand, foot, head, gripper."""
        return self.joints[-1]


@dataclass(frozen=True, eq=False)
class SegmentMasses:
    """Mass of each joint's segment in kg, its centre in the joint's frame (m), inertia about that centre (kg m²)."""

    mass: Array  # (J,)
    center: Array  # (J, 3)
    inertia: Array  # (J, 3, 3), along the joint's axes

    def __post_init__(self) -> None:
        for name in ("mass", "center", "inertia"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def total(self) -> float:
        """Mass of the whole body, kg."""
        return float(self.mass.sum())


@dataclass(frozen=True, eq=False)
class Marker:
    """A named point fixed to a joint."""

    joint: int
    offset: Array  # (3,), in the joint's frame


@dataclass(frozen=True, eq=False, kw_only=True)
class Body(ABC):
    """Common base of persons and robots: names, chains, collision shapes, masses.

    Its joints are in parent-first order, joint 0 is the root. `transforms` places them, whatever kind they are. `front`
    is the direction faced at rest; robots look along x.
    """

    name: str
    chains: Mapping[str, Chain] = field(default_factory=dict)
    shapes: tuple[Shape, ...] = ()
    masses: SegmentMasses | None = None
    base: Base = "walks"
    roles: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    front: Array = field(default_factory=lambda: frozen([1.0, 0.0, 0.0]))

    def chain(self, name: str) -> Chain:
        """A chain by name, e.g. 'right_arm'."""
        try:
            return self.chains[name]
        except KeyError:
            raise UnknownName(f"limb of {self.name}", name, self.chains) from None

    @property
    @abstractmethod
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, (J,)."""

    @property
    @abstractmethod
    def parents(self) -> NDArray[np.int32]:
        """Parent of each joint, (J,), -1 for the root."""

    @property
    @abstractmethod
    def T_rest(self) -> Array:
        """World transforms of all joints at rest, (J, 4, 4)."""

    @abstractmethod
    def transforms(self, root: ArrayLike, q: ArrayLike) -> Array:
        """World transforms (N, J, 4, 4) of all joints for roots (N, 3) and what `Motion.sample` gives beside them."""

    @abstractmethod
    def frame(self, part: str) -> tuple[int, Array]:
        """Joint and `T_joint_frame` (4, 4) of a named part: a segment's role, a link, a hand."""

    @abstractmethod
    def hand(self, hand: str) -> tuple[int, Array]:
        """Joint and `T_joint_hand` (4, 4) of a hand: 'left' or 'right' of a person, a robot's gripper."""

    @cached_property
    def pelvis(self) -> int:
        """Joint whose frame is the body's: the one that carries legs and spine; the root where none is known."""
        return self.roles.get("pelvis", 0)

    @cached_property
    def stem(self) -> tuple[int, ...]:
        """Joints from the root to the pelvis, both included, which turn as one.

        Many imported rigs have more than one: a root on the ground, or a joint that shares the hips' skin with the
        pelvis. A turn of the pelvis alone would twist that skin.
        """
        chain = [self.pelvis]
        while chain[0] > 0:
            chain.insert(0, int(self.parents[chain[0]]))
        return tuple(chain)

    def turned(self, T: Array) -> Array:
        """Rotation (..., 3, 3) of the body from rest, that of its pelvis, with joints at T (..., J, 4, 4)."""
        return np.asarray(T[..., self.pelvis, :3, :3] @ self.T_rest[self.pelvis, :3, :3].T)

    def facing(self, T: Array) -> Array:
        """Facing direction with joints at T (..., J, 4, 4): horizontal unit vectors (..., 3), 0 if it is vertical."""
        return np.asarray(normalize((self.turned(T) @ self.front) * [1.0, 1.0, 0.0]))

    def subtree(self, joint: int) -> tuple[int, ...]:
        """A joint and everything that hangs on it."""
        return subtree(self.parents, joint)


@dataclass(frozen=True, eq=False, kw_only=True)
class Character(Body):
    """A humanoid: built by `human()` or made from any rig that a file brings.

    `roles` says which joint plays which part of a person ('left_forearm' -> 7), under the names of the built-in
    human; parts that were not found are missing from it. `front` is the direction faced in the rest pose.
    `notes` lists what was assumed or not found, in sentences.
    """

    skeleton: Skeleton
    limits: tuple[JointLimit | None, ...] = ()
    skin: Skin | None = None
    markers: Mapping[str, Marker] = field(default_factory=dict)
    front: Array = field(default_factory=lambda: frozen([0.0, -1.0, 0.0]))

    @property
    def height(self) -> float:
        """Height of the rest pose in metres: of the skin where there is one, else of shapes or joints."""
        T = self.skeleton.T_rest
        z = T[:, 2, 3] if self.skin is None else self.skin.posed(T)[:, 2]
        return float(np.max(z) - np.min(z))

    def role(self, name: str) -> int:
        """Joint that plays a part, e.g. 'left_foot'."""
        try:
            return self.roles[name]
        except KeyError:
            raise UnknownName(f"body part of {self.name}", name, self.roles) from None

    def root_under(self, pelvis: Array, rotations: Array) -> Array:
        """Positions (N, 3) of the root that put the pelvis at (N, 3), with local rotations (N, J, 4)."""
        if self.pelvis == 0:
            return pelvis
        T = self.skeleton.forward(np.zeros((len(rotations), 3)), rotations)
        return np.asarray(pelvis - T[:, self.pelvis, :3, 3])

    def turned_by(self, turn: Array, pose: Pose) -> Pose:
        """The posture turned as a whole about its pelvis by a rotation (4,) of the world."""
        q, root = np.array(pose.rotations), np.array(pose.root)
        q[0] = multiply(turn, q[0])
        if self.pelvis:
            pelvis = self.skeleton.at(pose)[self.pelvis, :3, 3]
            root = pelvis + rotate(turn, root - pelvis)
        return Pose.of(root, q)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, (J,)."""
        return self.skeleton.names

    @property
    def parents(self) -> NDArray[np.int32]:
        """Parent of each joint, (J,), -1 for the root."""
        return self.skeleton.parents

    @property
    def T_rest(self) -> Array:
        """World transforms of all joints in the rest pose, (J, 4, 4)."""
        return self.skeleton.T_rest

    def transforms(self, root: ArrayLike, q: ArrayLike) -> Array:
        """World transforms (N, J, 4, 4) of all joints for roots (N, 3) and local rotations (N, J, 4)."""
        return self.skeleton.forward(root, q)

    def frame(self, part: str) -> tuple[int, Array]:
        """Joint and `T_joint_frame` (4, 4) of a body part by role, 'left_foot', or of a joint by its own name."""
        if part not in self.roles and part in self.skeleton.names:
            return self.skeleton.index(part), np.eye(4)
        return self.role(part), np.eye(4)

    def hand(self, hand: str) -> tuple[int, Array]:
        """Joint and `T_joint_hand` (4, 4) of the 'left' or 'right' hand; other parts carry too: 'head', 'chest'."""
        if hand in ("left", "right"):
            return self.role(f"{hand}_hand"), np.eye(4)
        if hand not in self.roles:
            trunk = [role for role in self.roles if not role.startswith(("left_", "right_"))]
            raise UnknownName(f"hand of {self.name}", hand, ("left", "right", *trunk))
        return self.role(hand), np.eye(4)

    def with_(self, **changes: object) -> Character:
        """A copy with some fields replaced."""
        return replace(self, **changes)  # type: ignore[arg-type]
