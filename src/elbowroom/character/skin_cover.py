"""Skin that leaves the rigid collision shapes of a body in a pose.

A skin bends with several joints, a collision shape turns with one. Shapes that enclose the skin at rest, arms out to
the sides, are left by up to 50 mm at armpits, hips and neck of people who stand, sit and reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Skin
from elbowroom.character.limits import JointLimit
from elbowroom.character.range_of_motion import MIRROR, used_range
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape, shape_mesh, stored_hull
from elbowroom.geometry.transforms import apply
from elbowroom.kernels import skin_cover as kernels

# Distance from a shape at which a vertex counts as held by it, metres: what arcs between frames add to it stays below
# the 5 mm of a certificate.
HELD_M = 0.004
# Postures over which shapes are fitted, half of them mirror images. With 60, 0.12 % of the skin of an imported worker
# in recorded motion is outside by more than 5 mm, with 120 0.04 %.
_POSTURES = 120
# Joints go beyond the ranges that are known from recorded people by so much, degrees, where clips were moved onto other
# skeletons: rigs share the turn of a head, a palm or a shoulder between their joints unlike each other. With 10 degrees
# more of all others, what is held at arm's length of a walk is in the thighs.
_FURTHER_DEG = {"head": 25.0, "forearm": 30.0, "neck": 10.0, "clavicle": 20.0, "foot": 20.0}
# Those of the trunk share the turns of the ones that a rig lacks.
_TRUNK = ("spine1", "spine2", "chest")
_FURTHER_TRUNK_DEG = 20.0
# Poses of a clip that are added for its own rig.
_SAMPLES = 16
# Depth below which a point counts as being on a plane, metres.
_ROUNDING_M = 1e-9
# Segments from a vertex's own to those that may hold it: past a clavicle the chest holds what an upper arm moves.
_KIN = 2
# Weight from which a joint says which shapes may hold a vertex.
_COUNTS = 0.02


def cover_of(skeleton: Skeleton, shapes: Sequence[Shape], skin: Skin) -> kernels.Cover:
    """Shapes and those vertices of a skin that may leave them, as the kernels take them."""
    planes, faces = [np.zeros((0, 4))] * len(shapes), [np.zeros((0, 3, 3))] * len(shapes)
    axis, radius = np.zeros((len(shapes), 2, 3)), np.zeros(len(shapes))
    for k, shape in enumerate(shapes):
        if shape.kind in ("capsule", "sphere"):
            half = float(shape.size[1]) if shape.kind == "capsule" else 0.0
            axis[k] = apply(shape.T_joint_shape, np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]))
            radius[k] = shape.size[0]
            continue
        planes[k], faces[k] = _facets(shape_mesh(shape))
    joint = np.array([s.joint for s in shapes], np.int64)
    near = _candidates(skeleton, joint, skin)
    held = _always_held(skeleton, near, joint, skin, planes)
    rows = np.flatnonzero(~held)
    order = np.argsort(-skin.weights[rows], axis=1, kind="stable")  # kernels stop at the first weight of 0
    weights = np.take_along_axis(skin.weights[rows], order, axis=1)
    joints = np.take_along_axis(skin.joints[rows], order, axis=1).astype(np.int64)
    movers = np.column_stack([near[rows, 0], np.sort(np.where(weights > 0.0, joints, -1), axis=1)])
    _, group = np.unique(movers, axis=0, return_inverse=True)
    together = np.argsort(group.ravel(), kind="stable")
    rows, weights, joints = rows[together], weights[together], joints[together]
    bind = skin.inverse_bind[joints]
    placed = np.einsum("vkij,vj->vki", bind[..., :3, :3], skin.vertices[rows])
    return kernels.Cover(
        joint,
        np.concatenate(planes),
        np.cumsum([0, *map(len, planes)]),
        np.concatenate(faces),
        axis,
        radius,
        joints,
        weights,
        placed + bind[..., :3, 3],
        near[rows],
        np.cumsum([0, *np.bincount(group.ravel())]).astype(np.int64),
        skeleton.parents.astype(np.int64),
    )


class Levers(NamedTuple):
    """Joints that move skin against the first shape that may hold it: P pairs of a shape's joint and another.

    path (P, J): 1 for joints that turn between the two; reach (P,): longest lever of their turns, metres; pull (P,):
    the longest times the weight of the joint.
    """

    path: Array
    reach: Array
    pull: Array

    def rise(self, turn: Array) -> Array:
        """Bound (N,) of the height of arcs above their chords, metres, where joints turn by angles (N, J), radians.

        A lever of length r on turns that add up to w accelerates by at most r w² per squared interval. The weights of
        the at most three other joints of a vertex add up to no more than 1.
        """
        squared = (turn @ self.path.T) ** 2
        whole, parts = squared * self.reach, 3.0 * squared * self.pull
        return np.asarray(np.minimum(whole.max(axis=1, initial=0.0), parts.max(axis=1, initial=0.0)) / 8.0)


def levers(cover: kernels.Cover, length: Array) -> Levers:
    """Levers of a body with bones of length (J,) that end in its joints, metres."""
    vertex, column = np.nonzero(cover.weights > 0.0)
    own, other = cover.joint[cover.near[vertex, 0]], cover.joints[vertex, column]
    pairs, of = np.unique(np.stack([own, other], axis=1), axis=0, return_inverse=True)
    path = np.zeros((len(pairs), len(length)))
    for row, (a, b) in zip(path, pairs.tolist(), strict=True):
        while a != b:  # parents come first
            row[max(a, b)] = 1.0
            a, b = min(a, b), int(cover.parents[max(a, b)])
    lever = np.linalg.norm(cover.bound[vertex, column], axis=1) + (path @ length)[of.ravel()]
    reach, pull = np.zeros(len(pairs)), np.zeros(len(pairs))
    np.maximum.at(reach, of.ravel(), lever)
    np.maximum.at(pull, of.ravel(), lever * cover.weights[vertex, column])
    return Levers(path, reach, pull)


def outliers(cover: kernels.Cover, T: Array) -> tuple[NDArray[np.int64], Array]:
    """Nearest shapes (n,) of the vertices that no shape holds in a pose T (J, 4, 4), and points (n, 3) that it lacks.

    A point lies on the way from the vertex to the shape, `HELD_M` from the vertex, in the frame of the shape's joint.
    """
    count = len(cover.joints)
    which, place, way = np.zeros(count, np.int64), np.zeros((count, 3)), np.zeros((count, 3))
    n = kernels.outliers(cover, np.ascontiguousarray(T), HELD_M, which, place, way)
    far = np.linalg.norm(way[:n], axis=1, keepdims=True)
    return which[:n], place[:n] - HELD_M * way[:n] / far


def postures(
    skeleton: Skeleton, roles: Mapping[str, int], limits: Sequence[JointLimit | None], samples: Array | None = None
) -> Iterator[Array]:
    """Joint transforms (J, 4, 4) of postures over which shapes are fitted.

    They are spread over the ranges that recorded people use, in mirrored pairs, and a few of the `samples` (N, J, 4),
    local rotations of a clip: joints without a role, such as a second one in the neck, have no known range.
    """
    if samples is not None and len(samples):
        for n in np.unique(np.linspace(0, len(samples) - 1, _SAMPLES).astype(int)):
            yield skeleton.forward(skeleton.offsets[0], samples[n])
    rng = np.random.default_rng(0)
    spans: dict[str, Array] = {}
    for role in sorted(roles):
        span = used_range(role)
        if span is not None:
            part = role.removeprefix("left_").removeprefix("right_")
            further = _FURTHER_DEG.get(part, 0.0)
            if role in _TRUNK and not set(_TRUNK) <= set(roles):
                further = _FURTHER_TRUNK_DEG
            spans[role] = span + np.radians(further) * np.array([[-1.0], [1.0]])
    for _ in range(_POSTURES // 2):
        drawn = {role: np.asarray(rng.uniform(span[0], span[1])) for role, span in spans.items()}
        for mirrored in (False, True):
            q = np.array(skeleton.rest)
            for role in drawn:
                limit = limits[roles[role]]
                side, _, part = role.partition("_")
                sided = side in ("left", "right")
                other = f"{'right' if side == 'left' else 'left'}_{part}" if sided else role
                angles = drawn.get(other, drawn[role]) if mirrored else drawn[role]
                if side == "right" or (mirrored and not sided):
                    angles = angles * np.array(MIRROR)
                if limit is not None:
                    q[roles[role]] = limit.rotation(angles)
            yield skeleton.forward(skeleton.offsets[0], q)


def _facets(mesh: Mesh) -> tuple[Array, Array]:
    """Planes (P, 4), outwards, and triangles (P, 3, 3) of the hull of a mesh; none where it is flat.

    Fitted shapes are hulls already, and need none to be worked out.
    """
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normals, axis=1)
    corners, normals = corners[size > 0.0], normals[size > 0.0] / size[size > 0.0, None]
    planes = np.column_stack([normals, -(normals * corners[:, 0]).sum(axis=1)])
    over = mesh.vertices @ planes[:, :3].T + planes[:, 3]
    if len(planes) and over.max() <= _ROUNDING_M and over.min() < -_ROUNDING_M:
        return planes, corners
    hull = stored_hull(mesh.vertices)
    return (np.zeros((0, 4)), np.zeros((0, 3, 3))) if hull is None else (hull.planes, mesh.vertices[hull.faces])


def _candidates(skeleton: Skeleton, joint: NDArray[np.int64], skin: Skin) -> NDArray[np.int64]:
    """Shapes (V, C) that may hold each vertex: of the joints that move it, the heaviest first, then of their kin."""
    of: dict[int, list[int]] = {}
    for k, j in enumerate(joint.tolist()):
        of.setdefault(j, []).append(k)
    carrier = np.arange(len(skeleton))  # the nearest joint above with a shape, or itself
    for j, parent in enumerate(skeleton.parents.tolist()):
        if j not in of:
            carrier[j] = carrier[parent] if parent >= 0 else -1
    kin: dict[int, list[int]] = {j: [] for j in of}
    for j in of:
        above = j
        for _ in range(_KIN):
            parent = int(skeleton.parents[above]) if above >= 0 else -1
            above = int(carrier[parent]) if parent >= 0 else -1
            if above in kin:
                kin[j].append(above)
                kin[above].append(j)
    first = min(of, default=0)
    order = np.argsort(-skin.weights, axis=1, kind="stable")
    heavy = np.take_along_axis(skin.weights, order, axis=1) > _COUNTS
    movers = np.where(heavy, carrier[np.take_along_axis(skin.joints, order, axis=1)], -2)
    kinds, inverse = np.unique(movers, axis=0, return_inverse=True)
    rows = []
    for row in kinds.tolist():
        own = list(dict.fromkeys(first if j == -1 else j for j in row if j != -2))
        row_joints = dict.fromkeys([*own, *(k for j in own for k in kin[j])])
        rows.append([k for j in row_joints for k in of[j]])
    wide = max(map(len, rows), default=0)
    table = np.array([row + [-1] * (wide - len(row)) for row in rows], np.int64).reshape(-1, wide)
    return table[inverse.ravel()]


def _always_held(
    skeleton: Skeleton, near: NDArray[np.int64], joint: NDArray[np.int64], skin: Skin, planes: Sequence[Array]
) -> NDArray[np.bool_]:
    """Mask (V,) of vertices that turn with one joint, inside the hull of its shape."""
    held = np.zeros(len(skin.vertices), dtype=bool)
    rigid = np.flatnonzero(skin.weights.max(axis=1) >= 1.0 - 1e-9)
    mover = skin.owner[rigid]
    bind = skin.inverse_bind[mover]
    place = np.einsum("vij,vj->vi", bind[:, :3, :3], skin.vertices[rigid]) + bind[:, :3, 3]
    for k in np.unique(near[rigid, 0]).tolist():
        rows = (near[rigid, 0] == k) & (mover == joint[k])
        if len(planes[k]) and rows.any():
            outside = place[rows] @ planes[k][:, :3].T + planes[k][:, 3]
            held[rigid[rows]] = outside.max(axis=1) <= 0.0
    return held
