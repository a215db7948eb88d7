"""Mass, centre and inertia of each segment, for the built-in person and for any rig.

The body is cut into pieces in the rest pose; a piece goes to the joint that plays its part, or to the nearest part
above it that the rig has. The pieces follow de Leva 1996, 'Adjustments to Zatsiorsky-Seluyanov's segment inertia
parameters', J. Biomechanics 29(9), table 4:

- Trunk: de Leva cuts it at xiphion and omphalion into an upper, middle and lower part. Each part is a slab
  along the line from mid-hip to the root of the neck; every joint of the trunk takes what lies between its
  level and the next joint's. With the person's joints the chest is nearly the upper part, spine2 and
  spine1 the middle part and the top of the lower one, the pelvis the rest. A clavicle with its shoulder
  blade takes 8 % of the upper part.
- Head: de Leva's includes the neck, which takes 17 % of it here (head alone: Clauser et al. 1969); 0.15 %
  per eye.
- Hand: phalanges are solid rods with 36 % of it, by volume, the palm a solid box; the centre of all of
  them is de Leva's within some millimetres.
- Foot: the toes take 12 %.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.anthropometry import BALL_SHARE, HEEL_SHARE, Proportions, Scales, Sex, between, proportions
from elbowroom.character.body import Character, SegmentMasses
from elbowroom.character.hands import BONES, FINGERS, THICKNESS
from elbowroom.character.human_joints import PARENT_ROLE, carrier, rest_positions
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array, about, normalize, rotate
from elbowroom.kernels import pose as pose_kernels

# segment: (female, male) pairs of mass in % of the body's; centre in % of the length from the upper end;
# radii of gyration in % of the length about the sagittal (front-back), transverse and longitudinal axis.
# Ends: vertex and C7 for the head; C7, xiphion, omphalion and mid-hip for the trunk; wrist and knuckle for
# the hand; heel and tip of the toes for the foot; joint centres for the others.
# fmt: off
DE_LEVA = {
    #                mass            centre          sagittal      transverse    longitudinal
    "head":         ((6.68, 6.94),   (48.41, 50.02), (27.1, 30.3), (29.5, 31.5), (26.1, 26.1)),
    "upper_trunk":  ((15.45, 15.96), (50.50, 50.66), (46.6, 50.5), (31.4, 32.0), (44.9, 46.5)),
    "middle_trunk": ((14.65, 16.33), (45.12, 45.02), (43.3, 48.2), (35.4, 38.3), (41.5, 46.8)),
    "lower_trunk":  ((12.47, 11.17), (49.20, 61.15), (43.3, 61.5), (40.2, 55.1), (44.4, 58.7)),
    "upper_arm":    ((2.55, 2.71),   (57.54, 57.72), (27.8, 28.5), (26.0, 26.9), (14.8, 15.8)),
    "forearm":      ((1.38, 1.62),   (45.59, 45.74), (26.1, 27.6), (25.7, 26.5), (9.4, 12.1)),
    "hand":         ((0.56, 0.61),   (74.74, 79.00), (53.1, 62.8), (45.4, 51.3), (33.5, 40.1)),
    "thigh":        ((14.78, 14.16), (36.12, 40.95), (36.9, 32.9), (36.4, 32.9), (16.2, 14.9)),
    "shin":         ((4.81, 4.33),   (44.16, 44.59), (27.1, 25.5), (26.7, 24.9), (9.3, 10.3)),
    "foot":         ((1.29, 1.37),   (40.14, 44.15), (29.9, 25.7), (27.9, 24.5), (13.9, 12.4)),
}
# fmt: on
# Levels of omphalion and xiphion between mid-hip (0) and C7 (1), from de Leva's lengths of the trunk's parts.
OMPHALION = (0.295, 0.2415)
XIPHION = (0.629, 0.5987)
# Vertex to C7 as a share of stature.
HEAD_AND_NECK = (0.1405, 0.1395)

# No limb turns more easily than one of this length, m: rigs have bones without length.
SHORTEST = 0.03

CLAVICLE_SHARE = 0.08
NECK_SHARE = 0.17
EYE_SHARE = 0.0015
FINGERS_SHARE = 0.36
TOES_SHARE = 0.12

# How a segment's mass follows the scales of the body: the product of these.
GROWTH: dict[str, tuple[str, ...]] = {
    "head": ("head",) * 3,
    "upper_trunk": ("trunk", "trunk_girth", "trunk_girth"),
    "middle_trunk": ("trunk", "trunk_girth", "trunk_girth"),
    "lower_trunk": ("trunk", "trunk_girth", "trunk_girth"),
    "upper_arm": ("arm", "arm_girth", "arm_girth"),
    "forearm": ("arm", "arm_girth", "arm_girth"),
    "hand": ("hand",) * 3,
    "thigh": ("leg", "leg_girth", "leg_girth"),
    "shin": ("leg", "leg_girth", "leg_girth"),
    "foot": ("foot",) * 3,
}


@dataclass(frozen=True, eq=False)
class MassPiece:
    """A lump of the body in the rest pose: whose part it is, share of mass, centre (3,), inertia per kg."""

    role: str
    share: float
    center: Array
    inertia: Array  # (3, 3) about the centre, world axes, m²


def body_pieces(at: Mapping[str, Array], front: Array, p: Proportions, roles: Mapping[str, int]) -> list[MassPiece]:
    """All lumps of a body with parts at `at` (3,) in the rest pose; `roles` are those that the rig has."""
    shares = {}
    for name, row in DE_LEVA.items():
        growth = float(np.prod([getattr(p.scales, s) for s in GROWTH[name]]))
        shares[name] = 0.01 * between(row[0], p.sex) * growth
    out = _trunk(at, front, p, roles, shares) + _head(at, front, p, shares["head"])
    for side in ("left", "right"):
        for part, end in (("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot")):
            a, b = at[f"{side}_{part}"], at[f"{side}_{end}"]
            out.append(_rod(f"{side}_{part}", part, shares[part], a, b, front, p.sex))
        out += _hand(side, at, front, p, shares["hand"]) + _foot(side, at, front, p, shares["foot"])
    return out


def _radii(segment: str, sex: Sex) -> Array:
    """Squared radii of gyration about sagittal, transverse, longitudinal axis, shares of length², (3,)."""
    return np.array([(0.01 * between(pair, sex)) ** 2 for pair in DE_LEVA[segment][2:]])


def _tensor(squares: Array, front: Array, along: Array) -> Array:
    """Inertia per kg from squared radii about the axes to the front, across, and along the segment."""
    z = normalize(along)
    if not z.any():  # a bone without length, as recorded rigs have them
        z = np.array([0.0, 0.0, 1.0])
    x = normalize(front - (front @ z) * z)
    if not x.any():  # a segment that points to the front: any axis across will do
        x = normalize(np.cross(z, [0.0, 0.0, 1.0]))
    axes = np.stack([x, np.cross(z, x), z], axis=1)
    k = np.array(squares, dtype=float)
    i = int(np.argmax(k))
    k[i] = min(k[i], 0.999 * (k.sum() - k[i]))  # no solid body has one moment above the sum of the others
    return axes @ np.diag(k) @ axes.T


def _rod(role: str, segment: str, share: float, a: Array, b: Array, front: Array, sex: Sex) -> MassPiece:
    length2 = max(float((b - a) @ (b - a)), SHORTEST**2)
    center = a + 0.01 * between(DE_LEVA[segment][1], sex) * (b - a)
    return MassPiece(role, share, center, _tensor(_radii(segment, sex) * length2, front, b - a))


def _trunk(
    at: Mapping[str, Array],
    front: Array,
    p: Proportions,
    roles: Mapping[str, int],
    shares: Mapping[str, float],
) -> list[MassPiece]:
    low = 0.5 * (at["left_thigh"] + at["right_thigh"])
    axis = at["neck"] - low
    length = float(np.linalg.norm(axis))
    if length < 1e-6:
        raise BadValue("the trunk has zero length.")
    joints = [r for r in ("pelvis", "spine1", "spine2", "chest") if r in roles] or ["pelvis"]
    level = [float((at[r] - low) @ axis) / length**2 for r in joints]
    cuts = np.maximum.accumulate([-1.0, *level[1:], 2.0])
    o, x = between(OMPHALION, p.sex), between(XIPHION, p.sex)
    out: list[MassPiece] = []
    for part, bottom, top in (("lower_trunk", 0.0, o), ("middle_trunk", o, x), ("upper_trunk", x, 1.0)):
        tall = top - bottom
        middle = top - 0.01 * between(DE_LEVA[part][1], p.sex) * tall
        across = _radii(part, p.sex) * (tall * length) ** 2
        share = shares[part] * (1.0 - 2.0 * CLAVICLE_SHARE if part == "upper_trunk" else 1.0)
        for role, below, above in zip(joints, cuts[:-1], cuts[1:], strict=True):
            a, b = max(below, middle - 0.5 * tall), min(above, middle + 0.5 * tall)
            if b > a:
                thinner = ((b - a) ** 2 - tall**2) * length**2 / 12.0
                slab = across + [thinner, thinner, 0.0]
                center = low + 0.5 * (a + b) * axis
                out.append(MassPiece(role, share * (b - a) / tall, center, _tensor(slab, front, axis)))
    for side in ("left", "right"):
        a, b = at[f"{side}_clavicle"], at[f"{side}_upper_arm"]
        ball = 0.1 * max(float((b - a) @ (b - a)), SHORTEST**2) * np.eye(3)
        back = -0.15 * np.linalg.norm(b - a) * front  # the shoulder blade lies behind the line
        out.append(
            MassPiece(f"{side}_clavicle", CLAVICLE_SHARE * shares["upper_trunk"], a + 0.65 * (b - a) + back, ball)
        )
    return out


def _head(at: Mapping[str, Array], front: Array, p: Proportions, share: float) -> list[MassPiece]:
    up = np.array([0.0, 0.0, 1.0])
    vertex = at["head"] + p.length["head"] * up
    tall = between(HEAD_AND_NECK, p.sex) * p.unit * p.scales.head
    whole = vertex - 0.01 * between(DE_LEVA["head"][1], p.sex) * tall * up + 0.006 * p.unit * front
    neck_length2 = float((at["head"] - at["neck"]) @ (at["head"] - at["neck"]))
    rod = _tensor(_cylinder(neck_length2, p.girth["neck"] / (2.0 * np.pi)), front, at["head"] - at["neck"])
    neck = MassPiece("neck", NECK_SHARE * share, 0.5 * (at["neck"] + at["head"]), rod)
    eye_radius = 0.012
    eyes = [
        MassPiece(f"{s}_eye", EYE_SHARE * share, at[f"{s}_eye"], 0.4 * eye_radius**2 * np.eye(3))
        for s in ("left", "right")
    ]
    rest = share - neck.share - sum(e.share for e in eyes)
    center = (share * whole - sum(piece.share * piece.center for piece in (neck, *eyes))) / rest
    skull = _tensor(_radii("head", p.sex) * tall**2, front, up)
    return [neck, *eyes, MassPiece("head", rest, center, skull)]


def _hand(side: str, at: Mapping[str, Array], front: Array, p: Proportions, share: float) -> list[MassPiece]:
    wrist, knuckle = at[f"{side}_hand"], at[f"{side}_middle1"]
    thick = p.breadth["finger"]
    volume = {(f, k): BONES[f][k - 1] * THICKNESS[f] ** 2 for f in FINGERS for k in (1, 2, 3)}
    each = FINGERS_SHARE * share / sum(volume.values())
    out: list[MassPiece] = []
    for (finger, k), bulk in volume.items():
        a = at[f"{side}_{finger}{k}"]
        before = at[f"{side}_{finger}{k - 1}"] if k > 1 else wrist
        b = at[f"{side}_{finger}{k + 1}"] if k < 3 else a + normalize(a - before) * BONES[finger][2] * p.length["hand"]
        rod = _tensor(_cylinder(float((b - a) @ (b - a)), 0.5 * thick * THICKNESS[finger]), front, b - a)
        out.append(MassPiece(f"{side}_{finger}{k}", each * bulk, 0.5 * (a + b), rod))
    along = knuckle - wrist
    # The thumb's side faces the front in every usual rest pose, so that the palm's breadth lies along it.
    palm = _tensor(_box(np.array([p.depth["hand"], p.breadth["hand"], np.linalg.norm(along)])), front, along)
    return [*out, MassPiece(f"{side}_hand", (1.0 - FINGERS_SHARE) * share, 0.5 * (wrist + knuckle), palm)]


def _foot(side: str, at: Mapping[str, Array], front: Array, p: Proportions, share: float) -> list[MassPiece]:
    ankle, ball = at[f"{side}_foot"], at[f"{side}_toes"]
    up = np.array([0.0, 0.0, 1.0])
    length, high = p.length["foot"], p.length["ankle_height"]
    ahead = np.array([*(ball - ankle)[:2], 0.0])
    ahead = normalize(ahead) if np.linalg.norm(ahead) > 1e-6 else front
    heel = ankle - high * up - HEEL_SHARE * length * ahead
    center = heel + 0.01 * between(DE_LEVA["foot"][1], p.sex) * length * ahead + 0.45 * high * up
    toe_high, toe_long = 0.35 * high, (1.0 - BALL_SHARE) * length
    toes = heel + 0.5 * (1.0 + BALL_SHARE) * length * ahead + 0.5 * toe_high * up
    toe_box = np.array([p.breadth["foot"], toe_high, toe_long])  # across, up, along
    rest = (center - TOES_SHARE * toes) / (1.0 - TOES_SHARE)
    # de Leva's sagittal radius of the foot is about the axis across it, the transverse about the vertical.
    squares = _radii("foot", p.sex)[[1, 0, 2]] * length**2
    return [
        MassPiece(f"{side}_toes", TOES_SHARE * share, toes, _tensor(_box(toe_box), up, ahead)),
        MassPiece(f"{side}_foot", (1.0 - TOES_SHARE) * share, rest, _tensor(squares, up, ahead)),
    ]


def _box(size: Array) -> Array:
    """Squared radii of gyration of a solid box with sides (across, front, along), as `_tensor` takes them."""
    y, x, z = size**2
    return np.array([y + z, x + z, x + y]) / 12.0


def _cylinder(length2: float, radius: float) -> Array:
    """Squared radii of gyration of a solid cylinder, across, across and along."""
    return np.array([length2 / 12 + radius**2 / 4] * 2 + [radius**2 / 2])


def masses_for(
    skeleton: Skeleton,
    roles: Mapping[str, int],
    height: float,
    mass: float | None = None,
    sex: Sex = "average",
    scales: Scales | None = None,
) -> SegmentMasses:
    """Masses of any rig whose joints play the parts in `roles`; they sum to `mass`.

    `height` in metres; `mass` in kg, or the usual one for the height. The rest pose must stand upright
    along +Z.
    """
    template = proportions(height, mass, sex=sex, scales=scales)
    at, front = _landmarks(skeleton, roles, template)
    pieces = body_pieces(at, front, template, roles)
    n = len(skeleton)
    share, first = np.zeros(n), np.zeros((n, 3))
    second = np.zeros((n, 3, 3))  # inertia about the world's origin
    for piece in pieces:
        j = carrier(piece.role, roles)
        share[j] += piece.share
        first[j] += piece.share * piece.center
        second[j] += piece.share * (piece.inertia + _shift(piece.center))
    center = np.divide(first, share[:, None], out=skeleton.T_rest[:, :3, 3].copy(), where=share[:, None] > 0)
    turn = skeleton.T_rest[:, :3, :3]
    to_kg = template.mass / share.sum()
    inertia = np.array([second[j] - share[j] * _shift(center[j]) for j in range(n)]) * to_kg
    return SegmentMasses(
        mass=share * to_kg,
        center=np.einsum("jba,jb->ja", turn, center - skeleton.T_rest[:, :3, 3]),
        inertia=np.einsum("jba,jbc,jcd->jad", turn, inertia, turn),
    )


def _shift(d: Array) -> Array:
    """Inertia per kg of a point at `d` (3,) about the origin."""
    return float(d @ d) * np.eye(3) - np.outer(d, d)


def _landmarks(skeleton: Skeleton, roles: Mapping[str, int], template: Proportions) -> tuple[dict[str, Array], Array]:
    """Rest positions of all parts, guessed where the rig lacks them, and the direction faced."""
    ideal = rest_positions(template)
    known = {role: skeleton.T_rest[j, :3, 3] for role, j in roles.items()}
    front = np.array([0.0, -1.0, 0.0])
    for pair in ("thigh", "upper_arm"):
        if f"left_{pair}" in known and f"right_{pair}" in known:
            left = known[f"left_{pair}"] - known[f"right_{pair}"]
            front = normalize(np.array([left[1], -left[0], 0.0]))
            break
    yaw = about([0.0, 0.0, 1.0], np.arctan2(front[0], -front[1]))
    at: dict[str, Array] = {}
    for role, parent in PARENT_ROLE.items():  # parents come first
        grand = PARENT_ROLE.get(parent, "")
        step = ideal[role] - (ideal[parent] if parent else 0.0)
        if role in known:
            at[role] = known[role]
        elif not parent:
            thighs = [known[r] for r in ("left_thigh", "right_thigh") if r in known]
            at[role] = np.mean(thighs, axis=0) if thighs else skeleton.T_rest[0, :3, 3]
        elif role.endswith(("_forearm", "_hand", "_foot", "1", "2", "3")) and "spine" not in role:
            # A limb goes on straight where the rig stops, whatever its rest pose.
            along = normalize(at[parent] - at[grand])
            at[role] = at[parent] + along * np.linalg.norm(step)
        else:
            at[role] = at[parent] + rotate(yaw, step)
    return at, front


def center_of_mass(character: Character, T: Array) -> Array:
    """Centre of mass (..., 3) for joint transforms (..., J, 4, 4), metres."""
    if character.masses is None:
        raise BadValue(f"character '{character.name}' has no masses; masses_for() estimates them.")
    joints = np.asarray(T, dtype=float)
    out = np.zeros((*joints.shape[:-3], 3))
    frames = np.ascontiguousarray(joints).reshape(-1, *joints.shape[-3:])
    pose_kernels.center_of_mass(frames, *heavy_joints(character), out.reshape(-1, 3))
    return out


@lru_cache(maxsize=64)
def heavy_joints(character: Character) -> tuple[NDArray[np.int64], Array, Array]:
    """Joints that weigh something, their shares of the mass and their centres."""
    masses = character.masses
    assert masses is not None
    rows = np.flatnonzero(masses.mass > 0.0)
    return rows, masses.mass[rows] / masses.total, masses.center[rows]
