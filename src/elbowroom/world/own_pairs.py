"""Pairs of parts of one body that may collide, and soft tissue: bellies and chests that give way to thighs.

Shapes of a body are rigid; captured people who lift objects from the floor fold so far that those of belly and thigh
overlap. The allowed depth depends on the fold of the hip, as measured on captured lifts (`benchmarks/soft_tissue.py`),
and is bounded by the cap `tissue`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Body, Character
from elbowroom.geometry.kept import kept
from elbowroom.geometry.rotations import Array
from elbowroom.world.contacts import Contact
from elbowroom.world.pairs import OwnPairs, TestedShape, hand_of, shapes_of
from elbowroom.world.world import World

BELLY = ("spine1", "spine2", "chest")
THIGHS = ("left_thigh", "right_thigh")
# Angle between thigh and trunk below which they press each other, radians, and depth per radian below it, metres: 80
# degrees, and 30 mm at 60 degrees (90th percentile of eight captured lifts).
_FIRST_RAD = float(np.radians(80.0))
_PER_RAD_M = 0.03 / float(np.radians(20.0))
# Reason of such a contact, in certificates and files.
SOFT = "soft tissue"


def folds(body: Character, T: Array) -> Mapping[str, Array]:
    """Angles in radians between thigh and trunk by side, pi where they are in line, of joints at T (..., J, 4, 4)."""
    sides = [[body.role(f"{side}_{part}") for side in ("left", "right")] for part in ("thigh", "shin")]
    places = T[..., :3, 3]
    hip = places[..., sides[0], :]
    lower, upper = places[..., sides[1], :] - hip, places[..., [body.role("chest")], :] - hip
    size = np.sqrt((lower * lower).sum(axis=-1) * (upper * upper).sum(axis=-1))
    cosine = (lower * upper).sum(axis=-1) / np.maximum(size, 1e-12)
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    return {"left": angle[..., 0], "right": angle[..., 1]}


def tissue_depth(fold_rad: float) -> float:
    """Depth to which belly or chest give way to a thigh, metres, from the angle between thigh and trunk."""
    return float(tissue_depths(fold_rad))


def tissue_depths(folds_rad: ArrayLike) -> Array:
    """Depths of `tissue_depth`, metres, of several angles (...)."""
    return np.asarray(np.maximum(_FIRST_RAD - np.asarray(folds_rad), 0.0) * _PER_RAD_M)


def tissue_contacts(
    body: Body, who: str, during: tuple[float, float], most: float, T: Array | None = None
) -> list[Contact]:
    """Contacts of belly and chest with the thighs of a person during an interval, to a depth of `most` metres.

    With joints at T (N, J, 4, 4) of its frames, no deeper than in the most folded of them.
    """
    needed = (*THIGHS, "left_shin", "right_shin", "chest")
    if not isinstance(body, Character) or any(role not in body.roles for role in needed):
        return []
    fold = dict.fromkeys(("left", "right"), 0.0)
    if T is not None:
        fold = {side: float(angles.min()) for side, angles in folds(body, T).items()}
    shapes = {shape.joint: shape.name for shape in body.shapes}
    parts = [shapes[body.roles[role]] for role in BELLY if body.roles.get(role) in shapes]
    out = []
    for side in ("left", "right"):
        depth = min(most, tissue_depth(fold[side]))
        thigh = shapes.get(body.roles[f"{side}_thigh"])
        if depth > 0.0 and thigh is not None:
            out += [Contact(f"{who}.{part}", f"{who}.{thigh}", during, "tissue", depth, SOFT) for part in parts]
    return out


# Two joints apart: an upper arm and the chest always overlap.
_KIN = 2

# Adduction of an arm from sideways in a normal stance, radians of shoulder swing.
_HANGING = np.radians(80.0)

# Flexion of neck and head each of a person who looks at the floor before the feet, radians.
_NODDING = np.radians(20.0)

# Rotation of ankles in a walk, radians, to either side.
_WALKING = np.radians(25.0)

_ONE_TRUNK = ("spine2", "chest", "left_clavicle", "right_clavicle")
_TRUNK = ("pelvis", "spine1", "spine2", "chest", "neck", "head")


def own_pairs(body: Body, overlap: Callable[[list[tuple[int, int]]], set[tuple[int, int]]]) -> OwnPairs:
    """Pairs of one body's parts; `overlap` finds those of some pairs that overlap in an ordinary pose."""
    shapes = shapes_of(body)
    counts = np.zeros((len(shapes), len(shapes)), dtype=bool)
    near: list[tuple[int, int]] = []
    for a, b in combinations(range(len(shapes)), 2):
        (p, one, *_), (q, other, *_) = shapes[a], shapes[b]
        same_hand = hand_of(one) and hand_of(one) == hand_of(other)
        counts[a, b] = shapes[a].own and shapes[b].own and p.joint != q.joint and not same_hand
        if counts[a, b] and close_kin(body, p.joint, q.joint) and not never_ignored(one, other):
            near.append((a, b))
    found = overlap(near)
    ignored = tuple(sorted(found | _beside_hips(body, shapes, found)))
    for a, b in ignored:
        counts[a, b] = False
    return OwnPairs(counts, ignored)


def _beside_hips(body: Body, shapes: Sequence[TestedShape], ignored: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Pairs of the joints that turn as one with the pelvis, with each other and with neighbours of any of them.

    Together they are one segment, whose skin the rig has divided.
    """
    hips = {i for i, s in enumerate(shapes) if s.own and s.shape.joint in body.stem}
    if len({shapes[i].shape.joint for i in hips}) < 2:
        return set()
    beside = {i for pair in ignored if hips & set(pair) for i in pair} | hips
    return {(a, b) for a, b in combinations(sorted(beside), 2) if a in hips or b in hips}


def easy_poses(body: Body) -> Iterator[Array]:
    """Joint transforms (J, 4, 4) of poses that are free whatever the shapes say.

    These are: at rest; a person with hanging arms; one who looks down at the hands; one whose hands are bent as far as
    they go, the base of the thumb on the end of the forearm; one whose ankles are bent as in a walk, where boots of
    some rigs come upon the shins.
    """
    yield body.T_rest
    if not isinstance(body, Character):
        return
    bent = [(("left_upper_arm", "right_upper_arm"), (_HANGING, 0.0)), (("neck", "head"), (_NODDING, 0.0))]
    bent += [(("left_hand", "right_hand"), way) for way in ((np.pi, 0.0), (-np.pi, 0.0), (0.0, np.pi), (0.0, -np.pi))]
    bent += [(("left_foot", "right_foot"), way) for way in ((_WALKING, 0.0), (-_WALKING, 0.0))]
    skeleton = body.skeleton
    for parts, swing in bent:
        q = skeleton.rest.copy()
        for part in parts:
            joint = body.roles.get(part, -1)
            limit = body.limits[joint] if 0 <= joint < len(body.limits) else None
            if limit is not None:
                q[joint] = limit.rotation(limit.clamp_coordinates([*swing, 0.0]))
        yield skeleton.forward(skeleton.offsets[0], q)


def never_ignored(one: str, other: str) -> bool:
    """Return whether two segments, by role, always count: forearm or hand against trunk, head, thigh or other arm."""
    return _guards(one, other) or _guards(other, one)


def _guards(arm: str, other: str) -> bool:
    side = arm.partition("_")[0]
    if not (hand_of(arm) or arm.endswith("_forearm")):
        return False
    other_side, _, what = other.partition("_")
    far = other_side in ("left", "right") and other_side != side
    own = other in _TRUNK or what in ("clavicle", "thigh")
    return own or (far and (bool(hand_of(other)) or what in ("forearm", "upper_arm")))


def limbs_apart(one: str, other: str) -> bool:
    """Return whether an overlap of two segments, by role, is of limbs through each other and no fold of flesh.

    These are a forearm or hand in anything but its own arm, an upper arm in a leg, the head or the other arm, and a leg
    in the other one.
    """
    if never_ignored(one, other):
        return True
    (side, kind), (other_side, other_kind) = _limb(one), _limb(other)
    return (side, kind) != (other_side, other_kind) and "trunk" not in (kind, other_kind)


def _limb(role: str) -> tuple[str, str]:
    """Side and kind of the limb of a role: arm, leg, head, or the trunk with the shoulders."""
    side, _, part = role.partition("_")
    if side not in ("left", "right"):
        return "", "head" if role == "head" else "trunk"
    if part in ("thigh", "shin", "foot", "toes"):
        return side, "leg"
    return side, "trunk" if part in ("clavicle", "eye") else "arm"


def close_kin(body: Body, joint: int, other: int) -> bool:
    """Return whether two joints are so near along the skeleton that their shapes overlap in ordinary poses."""
    return bool(kept(body, "steps apart", lambda: _steps_apart(body))[joint, other] <= _KIN)


def _steps_apart(body: Body) -> NDArray[np.int32]:
    """Distance between joints along the skeleton, in joints, (J, J).

    Joints without a shape do not count, nor do those within the trunk: a hanging arm rests against the ribs however
    many vertebrae a rig has.
    """
    parents = body.parents
    carries = np.zeros(len(parents), dtype=bool)
    carries[[s.joint for s in body.shapes]] = True
    carries[[body.roles[part] for part in _ONE_TRUNK if part in body.roles]] = False
    apart = np.zeros((len(parents), len(parents)), dtype=np.int32)
    for j in range(1, len(parents)):
        apart[j, :j] = apart[parents[j], :j] + int(carries[j])
        apart[:j, j] = apart[j, :j]
    return apart


# Seconds before and after a hold in which an object and its holder are expected to be near.
_TAKES = 0.5


def belonging(world: World, owners: NDArray) -> tuple[NDArray[np.bool_], list[tuple[float, float, NDArray[np.bool_]]]]:
    """Mask (P,) of pairs of owners by name (P, 2) that are always of one body, and from and to some seconds, each
    (P,).
    """
    ordered = np.sort(owners, axis=1)
    held = [
        (h.during[0] - _TAKES, h.during[1] + _TAKES, (ordered == sorted((h.object, h.by))).all(axis=1))
        for h in world.holds
    ]
    return owners[:, 0] == owners[:, 1], held


def of_one_body(world: World, a: str, b: str, t: float) -> bool:
    """Return whether two parts by name belong to one body at a time in seconds."""
    always, held = belonging(world, np.array([[world.split(name)[0] for name in (a, b)]]))
    return bool(always[0]) or any(bool(pairs[0]) and begin <= t <= end for begin, end, pairs in held)
