"""Contact points of feet with the ground: heel, ball and toe tip of each sole, found from the rest pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from elbowroom.character.body import Character
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import UP, Array
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.motion.clip import Clip

SIDES = ("left", "right")
POINTS = ("left_heel", "left_ball", "right_heel", "right_ball")

# A sole is round at its ends: what bears weight lies this share of its length inside them.
_HEEL_INSIDE, _TIP_INSIDE = 0.12, 0.06
# The heel lies at least this far behind the ankle, as a share of the way from the ankle to the ball.
_HEEL_BEHIND = 0.25
# Points this near to the ground, as a share of the foot's length, bear weight; directions in which corners are sought.
_TOUCHES, _DIRECTIONS = 0.03, 24


@dataclass(frozen=True, eq=False)
class Sole:
    """One foot's points of contact: `heel`, `ball` (3,) in the foot joint's frame, `tip` in the toes' frame.

    `toes` is -1 where the rig has no such joint: then the foot is one stiff piece, `ball` lies at its tip,
    and `tip` is in the foot's frame. `flat` (4,) is the world rotation of the foot joint when the sole is
    flat on the ground and the body faces the way it does at rest; `toes_flat` that of the toes; `ahead` (3,)
    where the foot points then. `outline` (K, 3) and `toe_outline` (M, 3) are corners of what touches flat ground,
    behind the ball in the foot's frame and before it in that of the toes (or of the foot, without toes).
    """

    side: str
    foot: int
    toes: int
    heel: Array
    ball: Array
    tip: Array
    flat: Array
    toes_flat: Array
    ahead: Array
    outline: Array
    toe_outline: Array

    def __post_init__(self) -> None:
        for name in ("heel", "ball", "tip", "flat", "toes_flat", "ahead", "outline", "toe_outline"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def points(self, T: Array) -> Array:
        """Heel and ball in the world for joint transforms (N, J, 4, 4), (N, 2, 3)."""
        return apply(T[:, self.foot], np.stack([self.heel, self.ball]))

    def tips(self, T: Array) -> Array:
        """Toe tip in the world for joint transforms (N, J, 4, 4), (N, 3)."""
        return apply(T[:, self.toes if self.toes >= 0 else self.foot], self.tip[None])[:, 0]


def sole_points(character: Character, T: Array) -> Array:
    """Heels and balls in the order of `POINTS` for joint transforms (N, J, 4, 4), (N, 4, 3)."""
    return np.concatenate([sole.points(T) for sole in soles(character)], axis=1)


def soles(character: Character) -> tuple[Sole, Sole]:
    """Both soles; raises `UnknownName` where a foot was not found."""

    def made() -> tuple[Sole, Sole]:
        left, right = (_sole(character, side) for side in SIDES)
        return left, right

    return kept(character, "soles", made)


def _sole(character: Character, side: str) -> Sole:
    skeleton = character.skeleton
    foot = character.role(f"{side}_foot")
    toes = character.roles.get(f"{side}_toes", -1)
    ankle = skeleton.T_rest[foot, :3, 3]
    level = np.eye(4)
    level[:3, :3] = rot.to_matrix(_levelling(character, side))
    level[:3, 3] = ankle - level[:3, :3] @ ankle
    T_foot = level @ skeleton.T_rest[foot]
    T_toes = level @ skeleton.T_rest[toes] if toes >= 0 else T_foot
    cloud = apply(level, _foot_surface(character, foot))
    ahead = (T_toes[:3, 3] if toes >= 0 else cloud.mean(axis=0)) - ankle
    ahead = rot.normalize(ahead * [1.0, 1.0, 0.0])
    # A foot that seems to point away from where the body faces has no direction of its own.
    if ahead @ character.front < 0.5:
        ahead = np.asarray(character.front, dtype=float)
    along = (cloud - ankle) @ ahead
    ground = float(cloud[:, 2].min())
    length = float(np.ptp(along))

    def below(distance: float) -> Array:
        point = ankle + distance * ahead
        return np.array([point[0], point[1], ground])

    to_tip = float(along.max()) - _TIP_INSIDE * length
    to_ball = float((T_toes[:3, 3] - ankle) @ ahead) if toes >= 0 else to_tip
    # Without a skin nothing may be drawn behind the ankle, yet there is a heel.
    to_heel = min(float(along.min()) + _HEEL_INSIDE * length, -_HEEL_BEHIND * to_ball)
    heel, ball, tip = below(to_heel), below(to_ball), below(to_tip)
    in_foot = apply(inverse(T_foot), np.stack([heel, ball]))
    touching = cloud[cloud[:, 2] < ground + _TOUCHES * length] * [1.0, 1.0, 0.0] + [0.0, 0.0, ground]
    touching = np.concatenate([touching, [heel, ball, tip]])
    before = (touching - ankle) @ ahead >= to_ball - 1e-9
    return Sole(
        side=side,
        foot=foot,
        toes=toes,
        heel=in_foot[0],
        ball=in_foot[1],
        tip=apply(inverse(T_toes), tip[None])[0],
        flat=rot.from_matrix(T_foot[:3, :3]),
        toes_flat=rot.from_matrix(T_toes[:3, :3]),
        ahead=ahead,
        outline=apply(inverse(T_foot), _corners(touching[~before])),
        toe_outline=apply(inverse(T_toes), _corners(touching[before])),
    )


def _corners(points: Array) -> Array:
    """The outermost of points (N, 3) on a level in some directions, (K, 3)."""
    towards = np.arange(_DIRECTIONS) * 2.0 * np.pi / _DIRECTIONS
    far = points[:, :2] @ np.stack([np.cos(towards), np.sin(towards)])
    return points[np.unique(far.argmax(axis=0))]


def _levelling(character: Character, side: str) -> Array:
    """Turn (4,) that lays the sole flat where legs are spread at rest and there is no skin."""
    shin = character.roles.get(f"{side}_shin")
    if character.skin is not None or shin is None:
        return rot.IDENTITY
    p = character.skeleton.T_rest[:, :3, 3]
    down = p[character.role(f"{side}_foot")] - p[shin]
    front = np.asarray(character.front, dtype=float)
    return rot.arc(down - (down @ front) * front, -UP)


def _foot_surface(character: Character, foot: int) -> Array:
    """Points of the foot at rest (N, 3): of the skin, else of the collision shapes, else of the joints."""
    skeleton = character.skeleton
    below = skeleton.subtree(foot)
    if character.skin is not None:
        mine = np.isin(character.skin.owner, below)
        if mine.sum() >= 8:
            return character.skin.posed(skeleton.T_rest)[mine]
    shapes = [s for s in character.shapes if s.joint in below]
    if shapes:
        return np.concatenate([apply(skeleton.T_rest[s.joint], shape_mesh(s).vertices) for s in shapes])
    joints = skeleton.T_rest[list(below), :3, 3]
    reach = np.linalg.norm((joints - joints[0])[:, :2], axis=-1).max()
    # Joints alone say nothing of the heel: it is about a third as far behind the ankle as the toes are before
    # it.
    heel = joints[0] - 0.33 * max(reach, 0.05) * np.asarray(character.front)
    front = joints[0] + max(reach, 0.05) * np.asarray(character.front)
    ground = joints[:, 2].min()
    return np.concatenate([joints, [[*heel[:2], ground], [*front[:2], ground]]])


# Largest angle between toes that are bent up and the sole, radians, and seconds before and after over which they are.
_MOST_BENT, _SOFT_S = 1.0, 0.033


def toes_above(clip: Clip, floor: float) -> Clip:
    """The clip with toes bent up at the ball wherever they would be below the floor, as those of people are."""
    T, q = clip.world(), np.array(clip.rotations)
    for sole in (sole for sole in soles(clip.character) if sole.toes >= 0):
        T_toes = T[:, sole.toes]
        turn = rot.multiply(rot.from_matrix(T_toes[:, :3, :3]), rot.conjugate(sole.toes_flat))
        ahead, across = rot.rotate(turn, sole.ahead), rot.rotate(turn, np.cross(sole.ahead, UP))
        up = np.cross(across, ahead)
        points = apply(T_toes, sole.toe_outline) - T_toes[:, None, :3, 3]
        a, b, c = (np.einsum("tki,ti->tk", points, axis) for axis in (ahead, up, across))
        # height of a point, once bent by an angle: lift sin(angle + phase) + beside
        level, rise = (a * ahead[:, None, 2] + b * up[:, None, 2], a * up[:, None, 2] - b * ahead[:, None, 2])
        lift, phase, beside = np.hypot(level, rise), np.arctan2(level, rise), c * across[:, None, 2]
        wanted = (floor - T_toes[:, None, 2, 3] - beside) / np.maximum(lift, 1e-9)
        foot = rot.rotate(rot.multiply(rot.from_matrix(T[:, sole.foot, :3, :3]), rot.conjugate(sole.flat)), sole.ahead)
        bent = np.arctan2(np.einsum("ti,ti->t", np.cross(foot, ahead), across), np.einsum("ti,ti->t", foot, ahead))
        left = np.where(np.arange(len(T)) < clip.source.lead, 0.0, np.maximum(_MOST_BENT - bent, 0.0))
        angle = (np.arcsin(np.clip(wanted, -1.0, 1.0)) - phase).max(axis=1).clip(0.0, left)
        if angle.any():
            soft = np.minimum(softened(angle, clip.fps), left)
            parent = rot.from_matrix(T[:, clip.character.parents[sole.toes], :3, :3])
            turned = rot.multiply(rot.about(across, soft), rot.from_matrix(T_toes[:, :3, :3]))
            q[:, sole.toes] = np.where(
                soft[:, None] > 0.0, rot.multiply(rot.conjugate(parent), turned), q[:, sole.toes]
            )
    return clip.with_(rotations=rot.continuous(q))


def soft_frames(fps: float) -> int:
    """Frames before and after over which feet and toes give way to the floor."""
    return max(round(_SOFT_S * fps), 1)


def softened(needed: Array, fps: float) -> Array:
    """Amounts (T,) that change softly in time and are nowhere less than those that are needed."""
    soft = soft_frames(fps)
    most = scipy.ndimage.maximum_filter1d(needed, 2 * soft + 1)
    return np.asarray(scipy.ndimage.gaussian_filter1d(most, 0.5 * soft, radius=soft, mode="nearest"))
