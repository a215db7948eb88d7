"""Rigid-body dynamics of a character, by Pinocchio: mass, centre of mass, its Jacobian, inverse dynamics.

The Pinocchio model has the same tree and the same joint frames: a free-flyer for the root, a spherical
joint for every other one. Its velocities (nv,) are: linear and angular velocity of the root in the root's
frame, then three numbers per joint, the angular velocity against the parent in the joint's own frame.
Torques are ordered alike.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, MissingExtra
from elbowroom.geometry.rotations import Array, normalize

if TYPE_CHECKING:
    import pinocchio

GRAVITY = 9.80665  # m/s²


class SampledMotion(Protocol):
    """Interface of a clip: frames at a fixed rate."""

    @property
    def fps(self) -> float: ...

    @property
    def root(self) -> Array: ...  # (T, 3)

    @property
    def rotations(self) -> Array: ...  # (T, J, 4)


def _pinocchio() -> Any:
    """Pinocchio, imported when first needed: it takes a while to load."""
    try:
        import pinocchio
    except ImportError:
        raise MissingExtra("dynamics", "pip install pin") from None
    return pinocchio


class Dynamics:
    """Dynamics of one character. Not safe to share between threads: Pinocchio writes into one data block."""

    def __init__(self, character: Character) -> None:
        if character.masses is None:
            raise BadValue(f"character '{character.name}' has no masses; masses_for() estimates them.")
        pin = _pinocchio()
        self.character = character
        self.model, self.joint = _model(pin, character)
        self.data = self.model.createData()
        self._pin = pin
        spherical = self.joint[1:]
        first_q = np.array([self.model.joints[int(k)].idx_q for k in spherical], dtype=int).reshape(-1, 1)
        self._q_columns = first_q + np.arange(4)  # of the joints after the root, as xyzw
        first_v = np.array([self.model.joints[int(k)].idx_v for k in spherical], dtype=int).reshape(-1, 1)
        self.velocity_columns: NDArray[np.int64] = first_v + np.arange(3)  # (J - 1, 3), root left out

    @property
    def nv(self) -> int:
        """Number of velocities: 6 for the root, 3 for every other joint."""
        return int(self.model.nv)

    @property
    def mass(self) -> float:
        """Mass of the whole body, kg."""
        return float(self._pin.computeTotalMass(self.model))

    def to_q(self, root: ArrayLike, rotations: ArrayLike) -> Array:
        """Pinocchio's configurations (..., nq) from roots (..., 3) and local rotations (..., J, 4)."""
        p, q = np.asarray(root, dtype=float), normalize(rotations)
        out = np.zeros((*p.shape[:-1], self.model.nq))
        out[..., :3] = p
        xyzw = q[..., [1, 2, 3, 0]]
        out[..., 3:7] = xyzw[..., 0, :]
        out[..., self._q_columns] = xyzw[..., 1:, :]
        return out

    def from_q(self, q: ArrayLike) -> Pose:
        """Pose from one Pinocchio configuration (nq,)."""
        q = np.asarray(q, dtype=float)
        xyzw = np.concatenate([q[None, 3:7], q[self._q_columns]])
        return Pose.of(q[:3], xyzw[:, [3, 0, 1, 2]])

    def joint_transforms(self, pose: Pose) -> Array:
        """World transforms (J, 4, 4) of the skeleton's joints as Pinocchio computes them."""
        self._pin.forwardKinematics(self.model, self.data, self._q(pose))
        return np.array([self.data.oMi[int(k)].homogeneous for k in self.joint])

    def com(self, pose: Pose) -> Array:
        """Centre of mass (3,) in the world, metres."""
        return np.array(self._pin.centerOfMass(self.model, self.data, self._q(pose)))

    def com_jacobian(self, pose: Pose) -> Array:
        """Jacobian (3, nv) of the centre of mass: its velocity in the world is this times the velocities."""
        return np.array(self._pin.jacobianCenterOfMass(self.model, self.data, self._q(pose)))

    def inverse_dynamics(self, pose: Pose, velocity: ArrayLike, acceleration: ArrayLike) -> Array:
        """Generalised forces (nv,) that give the acceleration (nv,) at the velocity (nv,), gravity included.

        The first six are what the world must supply at the root (N, then Nm, in the root's frame); the
        others are torques of the joints (Nm) in the joints' frames.
        """
        v, a = (np.asarray(x, dtype=float) for x in (velocity, acceleration))
        if v.shape != (self.nv,) or a.shape != (self.nv,):
            raise BadValue(f"velocity and acceleration need shape ({self.nv},), not {v.shape} and {a.shape}.")
        return np.array(self._pin.rnea(self.model, self.data, self._q(pose), v, a))

    def derivatives(self, clip: SampledMotion) -> tuple[Array, Array]:
        """Velocities and accelerations (T, nv) of a clip's frames.

        Central differences in the tangent space, one-sided at both ends; needs three frames.
        """
        q = self.to_q(clip.root, clip.rotations)
        if len(q) < 3:
            raise BadValue(f"velocities need a clip of at least 3 frames, not {len(q)}.")
        step = np.array([self._pin.difference(self.model, a, b) for a, b in pairwise(q)])
        between = step * clip.fps  # velocities half way between frames
        velocity = np.concatenate([between[:1], 0.5 * (between[:-1] + between[1:]), between[-1:]])
        inner = (between[1:] - between[:-1]) * clip.fps
        return velocity, np.concatenate([inner[:1], inner, inner[-1:]])

    def torques(self, clip: SampledMotion, pushes: Mapping[int, Array] | None = None) -> Array:
        """Generalised forces (T, nv) at every frame of a clip: see `inverse_dynamics`.

        `pushes` are what the world does to joints of the skeleton: (T, 6), a force (N) and its moment about the joint
        (Nm), both along the world's axes.
        """
        velocity, acceleration = self.derivatives(clip)
        q = self.to_q(clip.root, clip.rotations)
        if not pushes:
            rows = zip(q, velocity, acceleration, strict=True)
            return np.array([self._pin.rnea(self.model, self.data, *row) for row in rows])
        outside = self._pin.StdVec_Force([self._pin.Force.Zero() for _ in range(self.model.njoints)])
        out = np.zeros((len(q), self.nv))
        for k in range(len(q)):
            self._pin.forwardKinematics(self.model, self.data, q[k])
            for joint, wrench in pushes.items():
                place = int(self.joint[joint])
                turn = self.data.oMi[place].rotation.T
                outside[place] = self._pin.Force(turn @ wrench[k, :3], turn @ wrench[k, 3:])
            out[k] = self._pin.rnea(self.model, self.data, q[k], velocity[k], acceleration[k], outside)
        return out

    def _q(self, pose: Pose) -> Array:
        return self.to_q(pose.root, pose.rotations)


def _model(pin: Any, character: Character) -> tuple[pinocchio.Model, NDArray[np.int64]]:
    """The Pinocchio model, and the model's joint for each joint of the skeleton, (J,)."""
    skeleton, masses = character.skeleton, character.masses
    assert masses is not None
    model = pin.Model()
    model.name = character.name
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    joint = np.zeros(len(skeleton), dtype=np.int64)
    for j, name in enumerate(skeleton.names):
        parent = int(skeleton.parents[j])
        # The root's place is in its configuration, so its joint sits at the world's origin.
        place = pin.SE3.Identity() if parent < 0 else pin.SE3(np.eye(3), skeleton.offsets[j])
        kind = pin.JointModelFreeFlyer() if parent < 0 else pin.JointModelSpherical()
        joint[j] = model.addJoint(0 if parent < 0 else int(joint[parent]), kind, place, name)
        if masses.mass[j] > 0.0:
            inertia = pin.Inertia(float(masses.mass[j]), masses.center[j], masses.inertia[j])
            model.appendBodyToJoint(int(joint[j]), inertia, pin.SE3.Identity())
    return model, joint


# Torque that an adult can give for a moment, Nm for each kg of body mass, the stronger direction of a joint. The knee's
# is from 411 studies (Sarabon, Kozinc and Perman 2021: 2.1 to 3.5 in mid-range, women and men); the others are usual
# values, rounded, entered from memory.
STRENGTH = {
    "neck": 0.4,
    "spine1": 3.0,
    "left_upper_arm": 0.9,
    "right_upper_arm": 0.9,
    "left_forearm": 0.9,
    "right_forearm": 0.9,
    "left_hand": 0.2,
    "right_hand": 0.2,
    "left_thigh": 3.0,
    "right_thigh": 3.0,
    "left_shin": 2.8,
    "right_shin": 2.8,
    "left_foot": 2.6,
    "right_foot": 2.6,
}
# Mass that one hand lifts by the kind of its grasp, kg for each kg of body mass: pinches of 60 to 90 N with a friction
# of 0.6 on both sides, fists of 300 to 450 N; usual values, rounded, entered from memory.
GRIP_STRENGTH = {"tips": 0.1, "pinch": 0.12, "power": 0.5, "hook": 0.5, "flat": 0.1}
# Height of an adult's joints that the values are for, metres: longer levers pull on longer muscles.
_JOINTS_M = 1.6
_GRAVITY = 9.81
# Joints that a load in the hands is carried by; legs carry it through the bones.
_CARRY = ("spine1", "left_upper_arm", "right_upper_arm", "left_forearm", "right_forearm")


def strength_of(body: Character, role: str) -> float:
    """Torque in Nm that the joint of a role can give; the character has masses."""
    assert body.masses is not None
    size = max(float(np.ptp(body.skeleton.T_rest[:, 2, 3])) / _JOINTS_M, 1e-3)
    return STRENGTH[role] * body.masses.total * size


def load_effort(
    body: Character, T: Array, mass: float, center: ArrayLike, hands: Collection[str]
) -> tuple[str, float, float]:
    """Joint, torque in Nm and share of its strength that holding a load still asks for most.

    T (J, 4, 4): the joints; mass in kg with its centre (3,) in the world, shared evenly by the hands ('left', 'right').
    """
    if body.masses is None:
        return "", 0.0, 0.0
    own = body.masses.mass
    at = T[:, :3, 3] + np.einsum("jab,jb->ja", T[:, :3, :3], body.masses.center)
    found = ("", 0.0, 0.0)
    for role in _CARRY:
        if role not in body.roles:
            continue
        joint = body.roles[role]
        borne = [hand for hand in hands if body.roles[f"{hand}_hand"] in body.subtree(joint)]
        mine = list(body.subtree(joint))
        share = mass * len(borne) / max(len(hands), 1)
        arm = own[mine] @ (at[mine] - T[joint, :3, 3]) + share * (np.asarray(center) - T[joint, :3, 3])
        torque = _GRAVITY * float(np.hypot(arm[0], arm[1]))
        effort = torque / strength_of(body, role)
        if effort > found[2]:
            found = (role, torque, effort)
    return found


def too_heavy(body: Character, T: Array, mass: float, center: ArrayLike, hands: Collection[str]) -> str:
    """Sentence on the joint that a load asks for more torque than it can give, '' where none; see `load_effort`."""
    role, torque, share = load_effort(body, T, mass, center, hands)
    if share <= 1.0:
        return ""
    joint = role.replace("_", " ").replace("spine1", "lower back").replace("upper arm", "shoulder")
    joint = joint.replace("forearm", "elbow")
    return f"{mass:g} kg needs {torque:.0f} Nm at the {joint}, {100 * share:.0f} % of its strength"


def slips(body: Character, mass: float, style: str) -> str:
    """Sentence on a grasp of a kind that cannot hold a mass in kg in one hand, '' where it can."""
    if body.masses is None or style not in GRIP_STRENGTH:
        return ""
    most = GRIP_STRENGTH[style] * body.masses.total
    return f"{mass:g} kg slips out of one hand, which lifts up to {most:.0f} kg with this grasp" if mass > most else ""
