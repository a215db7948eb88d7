"""Collision shapes of a rig: fitted to its skin where it has one, else to its bones with published girths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from elbowroom.character.anatomy_rest import FINGERS, SIDES, anatomical_zero, facing
from elbowroom.character.body import Skin
from elbowroom.character.fit_shapes_skin import shapes_from_skin
from elbowroom.character.limits import JointLimit
from elbowroom.character.rig_geometry import UP
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.rotations import Array, from_matrix, normalize
from elbowroom.geometry.shapes import Shape, capsule
from elbowroom.geometry.transforms import apply, inverse, transform


def fit_shapes(
    skeleton: Skeleton,
    roles: Mapping[str, int],
    skin: Skin | None = None,
    height: float | None = None,
    limits: Sequence[JointLimit | None] = (),
    samples: Array | None = None,
) -> tuple[Shape, ...]:
    """Collision shapes per segment, named after its role, else after its joint.

    With a skin they enclose, in the rest pose, every piece of it that the segment owns, and nearly so in other common
    postures where there are `limits` of joints, and in `samples` (N, J, 4) of a clip; those around it at rest are their
    `own` shapes. Without a skin, radii follow from stature:
    `height` in metres, or what the length of the legs says. A part may have several shapes.
    """
    if skin is not None and len(skin.vertices):
        return shapes_from_skin(skeleton, roles, skin, limits, samples)
    return shapes_from_bones(skeleton, roles, height)


# Radii as shares of stature. Circumferences in mm, women / men (stature 1629 / 1756): neck 330 / 398, biceps
# 306 / 358, forearm 266 / 310, thigh 618 / 625, calf 373 / 392.
RADIUS = {
    "neck": 0.034,
    "upper_arm": 0.031,
    "forearm": 0.027,
    "thigh": 0.058,
    "shin": 0.036,
    "clavicle": 0.034,
}

# Limbs that taper get that radius only so far along the bone, and along all of it the radius of the slim
# end: wrist 155 / 176, knee 365 / 390, ankle 215 / 229 mm round.
TAPER = {"forearm": (0.6, 0.017), "thigh": (0.6, 0.038), "shin": (0.6, 0.022)}

# Breadth (left to right) and depth (front to back) as shares of stature: chest 0.165 by 0.147, waist 0.185
# by 0.134, hip 0.205 by 0.142, head 0.089 by 0.115 with 0.131 from chin to crown.
TRUNK = {
    "chest": (0.172, 0.147),
    "spine2": (0.178, 0.138),
    "spine1": (0.185, 0.134),
    "pelvis": (0.205, 0.142),
}
HEAD_RADIUS, HEAD_HEIGHT = 0.051, 0.131
CHIN = 0.038  # below the head's joint

HAND_LENGTH, HAND_BREADTH, HAND_DEPTH, PALM_LENGTH = 0.110, 0.049, 0.018, 0.062
FOOT_LENGTH, FOOT_BREADTH, ANKLE_HEIGHT, HEEL = 0.153, 0.058, 0.039, 0.041
BALL_OF_FOOT = 0.73  # share of the foot's length from heel to the joints of the toes
FINGER_RADIUS, LAST_FINGER_BONE = 0.0055, 0.014

# A trunk of a person's proportions takes at most this many capsules, one above the other.
_MOST_LAYERS = 12

# Thigh and shin together, as a share of stature (Winter).
LEG = 0.491


def stature(skeleton: Skeleton, roles: Mapping[str, int]) -> float:
    """Stature in metres from the leg bones; without legs, the height of the rest pose."""
    lengths = []
    for side in SIDES:
        joints = [roles.get(f"{side}_{p}") for p in ("thigh", "shin", "foot")]
        at = [skeleton.T_rest[j, :3, 3] for j in joints if j is not None]
        if len(at) == 3:
            lengths.append(np.linalg.norm(at[1] - at[0]) + np.linalg.norm(at[2] - at[1]))
    if lengths and np.mean(lengths) > 1e-6:
        return float(np.mean(lengths)) / LEG
    return max(float(np.ptp(skeleton.T_rest[:, 2, 3])), 1e-3) / 0.9


def shapes_from_bones(skeleton: Skeleton, roles: Mapping[str, int], height: float | None) -> tuple[Shape, ...]:
    """Capsules for limbs, neck and head, stacks of lying capsules for the trunk, boxes for hands and feet.

    They are laid out in the anatomical zero pose, where limbs are straight and feet flat, and carried from
    there.
    """
    front, _ = facing(skeleton, roles)
    builder = _ShapeBuilder(skeleton, roles, np.asarray(front), height or stature(skeleton, roles))
    for part in roles:
        builder.add(part)
    return tuple(builder.shapes)


class _ShapeBuilder:
    """Lays shapes out in the world of the zero pose and hangs them on joints."""

    def __init__(self, skeleton: Skeleton, roles: Mapping[str, int], front: Array, height: float) -> None:
        zero = anatomical_zero(skeleton, roles, front, None, False)
        self.T = skeleton.forward(skeleton.offsets[0], skeleton.local(zero.world))
        self.roles, self.front, self.height = roles, front, height
        self.left = np.cross(UP, front)
        self.shapes: list[Shape] = []

    def at(self, part: str) -> Array | None:
        return self.T[self.roles[part], :3, 3] if part in self.roles else None

    def add(self, part: str) -> None:
        side, _, plain = part.partition("_")
        if part in TRUNK:
            self.trunk(part)
        elif part == "head":
            self.head()
        elif part == "neck":
            here = self.T[self.roles[part], :3, 3]
            top = self.at("head")
            self.rod(part, here, here + 0.05 * self.height * UP if top is None else top, RADIUS["neck"])
        elif plain in RADIUS:
            self.limb(part, side, plain)
        elif plain == "hand":
            self.hand(part, side)
        elif plain in ("foot", "toes"):
            self.foot(part, side, plain)
        elif plain[:-1] in FINGERS and f"{side}_{plain[:-1]}2" in self.roles:
            self.finger(part, side, plain)

    def rod(self, part: str, a: Array, b: Array, radius: float) -> None:
        """Capsule between two points in the world."""
        j = self.roles[part]
        ends = apply(inverse(self.T[j]), np.stack([a, b]))
        self.shapes.append(capsule(part, j, ends[0], ends[1], radius * self.height))

    def box(self, part: str, center: Array, axes: Array, half: Array) -> None:
        """Box with its axes (3, 3) as rows, in the world; half extents in metres."""
        j = self.roles[part]
        T = inverse(self.T[j]) @ transform(center, from_matrix(axes.T))
        self.shapes.append(Shape(part, j, "box", half, T))

    def trunk(self, part: str) -> None:
        """Lying capsules, as wide as the trunk is there, one above the other up to the next joint."""
        breadth, depth = TRUNK[part]
        h = self.height
        here = self.T[self.roles[part], :3, 3]
        low, high = here, self.above(part)
        if part == "pelvis":
            hips = [p for p in (self.at("left_thigh"), self.at("right_thigh")) if p is not None]
            low = np.mean(hips, axis=0) if hips else here
            low = low - 0.02 * h * UP
        span = float(np.dot(high - low, UP))
        radius = 0.5 * depth
        inner = max(span - 1.2 * radius * h, 0.0)  # capsules reach a little past the joints, as flesh does
        count = 1 + int(np.ceil(inner / (1.1 * radius * h)))
        across = (0.5 * breadth - radius) * h * self.left
        middle = 0.5 * (low + high)
        if count > _MOST_LAYERS:  # no person's: one box holds what a stack would need any number of capsules for
            half = 0.5 * np.array([depth * h, breadth * h, span])
            self.box(part, middle, np.stack([self.front, self.left, UP]), half)
            return
        for k in range(count):
            z = 0.0 if count == 1 else inner * (k / (count - 1) - 0.5)
            self.rod(part, middle + z * UP - across, middle + z * UP + across, radius)

    def above(self, part: str) -> Array:
        """End of a piece of the trunk: the next joint; for the chest the height of neck or shoulders."""
        order = ("pelvis", "spine1", "spine2", "chest")
        here = self.T[self.roles[part], :3, 3]
        for upper in order[order.index(part) + 1 :]:
            at = self.at(upper)
            if at is not None and np.dot(at - here, UP) > 0.01 * self.height:
                return at
        tops = [p for p in (self.at("neck"), self.at("left_upper_arm"), self.at("right_upper_arm")) if p is not None]
        rise = max([float(np.dot(p - here, UP)) for p in tops], default=0.0)
        return here + max(rise, 0.04 * self.height) * UP

    def head(self) -> None:
        """Capsule from chin to crown; the head's joint is where the skull rests on the spine, level with the ears."""
        h = self.height
        chin = self.T[self.roles["head"], :3, 3] - CHIN * h * UP + 0.008 * h * self.front
        self.rod("head", chin + HEAD_RADIUS * h * UP, chin + (HEAD_HEIGHT - HEAD_RADIUS) * h * UP, HEAD_RADIUS)

    def limb(self, part: str, side: str, plain: str) -> None:
        after = {
            "clavicle": "upper_arm",
            "upper_arm": "forearm",
            "forearm": "hand",
            "thigh": "shin",
            "shin": "foot",
        }
        here = self.T[self.roles[part], :3, 3]
        end = self.at(f"{side}_{after[plain]}")
        if end is None:
            usual = {"shin": -0.246 * UP, "thigh": -0.245 * UP}
            out = self.left if side == "left" else -self.left
            end = here + self.height * usual.get(plain, 0.15 * out)
        if plain in TAPER:
            share, slim = TAPER[plain]
            self.rod(part, here, here + share * (end - here), RADIUS[plain])
            self.rod(part, here, end, slim)
        else:
            self.rod(part, here, end, RADIUS[plain])

    def hand(self, part: str, side: str) -> None:
        """Flat box along the hand: the palm where fingers have their own shapes, else the whole hand."""
        out = self.left if side == "left" else -self.left
        jointed = any(f"{side}_{f}2" in self.roles for f in FINGERS[1:])
        length = (PALM_LENGTH if jointed else HAND_LENGTH) * self.height
        here = self.T[self.roles[part], :3, 3]
        half = 0.5 * np.array([length, HAND_BREADTH * self.height, HAND_DEPTH * self.height])
        axes = np.stack([out, np.cross(UP, out), UP])
        self.box(part, here + 0.5 * length * out, axes, half)

    def foot(self, part: str, side: str, plain: str) -> None:
        """Boxes from heel to ball and from ball to tip, from the sole up to the ankle and to half of that."""
        h = self.height
        ankle = self.at(f"{side}_foot")
        here = self.T[self.roles[part], :3, 3]
        ankle = here if ankle is None else ankle
        ball = self.at(f"{side}_toes")
        tip = (FOOT_LENGTH - HEEL) * h
        bend = (BALL_OF_FOOT * FOOT_LENGTH - HEEL) * h if ball is None else float(np.dot(ball - ankle, self.front))
        sole = ankle - ANKLE_HEIGHT * h * UP
        start, end, tall = (-HEEL * h, bend if ball is not None else tip, ANKLE_HEIGHT * h)
        if plain == "toes":
            start, end, tall = bend, max(tip, bend + 0.03 * h), 0.6 * ANKLE_HEIGHT * h
        axes = np.stack([self.front, self.left, UP])
        middle = sole + 0.5 * (start + end) * self.front + 0.5 * tall * UP
        self.box(part, middle, axes, 0.5 * np.array([end - start, FOOT_BREADTH * h, tall]))

    def finger(self, part: str, side: str, plain: str) -> None:
        here = self.T[self.roles[part], :3, 3]
        end = self.at(f"{side}_{plain[:-1]}{int(plain[-1]) + 1}")
        if end is None:
            before = self.at(f"{side}_{plain[:-1]}{int(plain[-1]) - 1}")
            out = self.left if side == "left" else -self.left
            along = out if before is None else normalize(here - before)
            end = here + LAST_FINGER_BONE * self.height * along
        self.rod(part, here, end, FINGER_RADIUS)
