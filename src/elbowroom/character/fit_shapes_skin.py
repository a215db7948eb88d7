"""Shapes that enclose a skin, segment by segment, as tightly as a few simple convex shapes can.

A segment owns the vertices whose largest weight is its joint's (joints that only help, such as twist bones,
lips and eyes, count to the joint that carries them), and its half of every triangle that it shares with a
neighbour, so that the union of all shapes covers the whole surface in the rest pose. Skin that foot and toes share
is the toes' alone: a foot turns about its ball, and what it had in front of that would go into the floor
whenever the heel rises. Skin that upper arm and chest share is the chest's: flesh before and behind an armpit does not
turn with the arm, and would be in the neck whenever the arm goes forward. Soles of boots that are skinned to the
shins are the feet's. Each segment gets the capsule of least
volume around its points where that stays near to the skin (fingers, slim limbs), else their convex hull with at
most 64 corners, of feet and toes 128: a capsule around a trunk, a foot or a tapering thigh would be 2 to 3 times as
large as the hull.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.character.anatomy_rest import FINGERS
from elbowroom.character.body import Skin
from elbowroom.character.limits import JointLimit
from elbowroom.character.skeleton import Skeleton
from elbowroom.character.skin_cover import cover_of, outliers, postures
from elbowroom.geometry.kept import Arrays, contents, package_sources, remembered
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.shapes import Hull, Shape, capsule, convex_hull, folded, unfolded
from elbowroom.kernels.capsules import capsule_around, least_line

# A capsule is taken if the skin is on average this near below its surface, as a share of the body's height
# (5 mm for an adult); beyond, the hull is worth its corners.
_NEAR = 0.003
# Before it is fitted well a capsule has about this many times the gap.
_FITTING_GAINS = 2.5
_MOST_CORNERS = 64
# Feet roll over the floor on their edges, which fewer corners would let stand off the skin by up to 3 mm.
_MOST_CORNERS_OF_FEET = 128

# Points that span less than this in some direction are flat: a capsule holds them, and no shape is thinner.
_THIN = 0.002

# Share of the height of the ankles below which a boot that is skinned to the shin stands on the floor all the same.
_SOLE = 0.8

# Segments that keep their shapes around the skin at rest: soles must not float, and hands close on things.
_STILL = ("_foot", "_toes", "_hand", *(f"_{finger}" for finger in FINGERS))


# Segments, and those that get what they share; see above.
_YIELDING = (("foot", "{}_toes"), ("upper_arm", "chest"))

# Added to every radius and plane, in metres, so that rounding leaves no point outside.
_SKIN_OF_ROUNDING = 1e-6


def shapes_from_skin(
    skeleton: Skeleton,
    roles: Mapping[str, int],
    skin: Skin,
    limits: Sequence[JointLimit | None],
    samples: Array | None = None,
) -> tuple[Shape, ...]:
    """One enclosing shape for each joint that owns a piece of the skin, from the disk where it was fitted before."""
    surface = (skin.vertices, skin.faces, skin.joints, skin.weights, skin.inverse_bind)
    about = (package_sources(), *contents((skeleton, roles, limits, surface, samples)))
    held = remembered("shapes", about, lambda: _as_arrays(_fitted(skeleton, roles, skin, limits, samples)))
    corners = np.split(held["vertices"], np.cumsum(held["corners"])[:-1])
    faces = np.split(held["faces"], np.cumsum(held["triangles"])[:-1])
    rows = [
        Shape(str(name), int(j), "mesh" if len(f) else "capsule", size, T, Mesh(v, f) if len(f) else None)
        for name, j, size, T, v, f in zip(
            held["names"], held["joints"], held["sizes"], held["T"], corners, faces, strict=True
        )
    ]
    return folded(rows, held["own"])


def _as_arrays(fitted: Sequence[Shape]) -> Arrays:
    """Capsules and convex meshes as arrays by name; corners and triangles of all meshes in a row."""
    shapes, own = unfolded(fitted)
    meshes = [s.mesh or Mesh(np.zeros((0, 3)), np.zeros((0, 3), np.int32)) for s in shapes]
    return {
        "own": own,
        "names": np.array([s.name for s in shapes], str),
        "joints": np.array([s.joint for s in shapes]),
        "sizes": np.array([s.size for s in shapes]),
        "T": np.array([s.T_joint_shape for s in shapes]),
        "corners": np.array([len(m.vertices) for m in meshes]),
        "triangles": np.array([len(m.faces) for m in meshes]),
        "vertices": np.concatenate([m.vertices for m in meshes]),
        "faces": np.concatenate([m.faces for m in meshes]),
    }


def _fitted(
    skeleton: Skeleton,
    roles: Mapping[str, int],
    skin: Skin,
    limits: Sequence[JointLimit | None] = (),
    samples: Array | None = None,
) -> list[Shape]:
    """One shape for each joint that owns a piece of the skin, around it at rest and nearly so in common postures."""
    names = {j: part for part, j in roles.items()}
    at_rest = skin.posed(skeleton.T_rest)
    pieces = owned_points(at_rest, skin.faces, owners(skeleton, roles, skin), yielding(roles))
    near = _NEAR * float(np.ptp(at_rest[:, 2]))

    def around(j: int) -> Shape:
        name = names.get(j, skeleton.names[j])
        most = _MOST_CORNERS_OF_FEET if name.endswith(("_foot", "_toes")) else _MOST_CORNERS
        return enclosing_shape(name, j, pieces[j], near, most)

    for j in pieces:
        T = skeleton.T_rest[j]
        pieces[j] = (pieces[j] - T[:3, 3]) @ T[:3, :3]
    shapes = [around(j) for j in sorted(pieces)]
    lacking: dict[int, list[Array]] = {}
    cover = cover_of(skeleton, shapes, skin)
    for T in postures(skeleton, roles, limits, samples) if any(limits) else ():
        which, points = outliers(cover, T)
        for k in np.unique(which).tolist():
            lacking.setdefault(k, []).append(points[which == k])
    for k, gained in lacking.items():
        j = shapes[k].joint
        if names.get(j, skeleton.names[j]).rstrip("123").endswith(_STILL):
            continue
        pieces[j] = np.concatenate([pieces[j], *gained])
        shapes[k] = replace(around(j), own=shapes[k])
    return shapes


def owners(skeleton: Skeleton, roles: Mapping[str, int], skin: Skin) -> NDArray[np.int64]:
    """Joint (V,) whose segment owns each vertex: vertices of shins at the height of the soles are the feet's."""
    owner, height = carriers(skeleton, roles)[skin.owner], skin.posed(skeleton.T_rest)[:, 2]
    low = float(height.min())
    for side in ("left", "right"):
        if f"{side}_shin" in roles and f"{side}_foot" in roles:
            foot = roles[f"{side}_foot"]
            sole = low + _SOLE * (skeleton.T_rest[foot, 2, 3] - low)
            owner[(owner == roles[f"{side}_shin"]) & (height < sole)] = foot
    return owner


def yielding(roles: Mapping[str, int]) -> dict[int, int]:
    """Joints by those that leave shared triangles to them: toes by foot, chest by upper arm."""
    pairs = [(f"{side}_{a}", b.format(side)) for side in ("left", "right") for a, b in _YIELDING]
    return {roles[a]: roles[b] for a, b in pairs if a in roles and b in roles}


def carriers(skeleton: Skeleton, roles: Mapping[str, int]) -> NDArray[np.int64]:
    """For each joint the joint whose segment it belongs to, (J,).

    A joint with a part, or with one below it, carries itself. A joint below a part without being one (twist
    bones, lips), and the eyes, is carried by that part; what hangs elsewhere (the free feet of a control
    rig) alone.
    """
    own = np.zeros(len(skeleton), dtype=bool)
    parts = {j for part, j in roles.items() if not part.endswith("_eye")}
    for joint in parts:
        j = joint
        while j >= 0 and not own[j]:
            own[j] = True
            j = int(skeleton.parents[j])
    out = np.arange(len(skeleton))
    for j, parent in enumerate(skeleton.parents):
        if not own[j] and int(out[parent]) in parts:
            out[j] = out[parent]
    return out


def owned_points(
    vertices: Array, faces: NDArray[np.int32], owner: NDArray[np.int64], yields: Mapping[int, int]
) -> dict[int, Array]:
    """Vertices of each owner, and the middles of triangle edges that it shares, (N, 3) each.

    A triangle that an owner shares with nobody but the one it `yields` to is the other's as a whole.
    """
    gathered: dict[int, list[Array]] = {int(j): [vertices[owner == j]] for j in np.unique(owner)}
    mixed = faces[np.any(owner[faces] != owner[faces[:, :1]], axis=1)]
    for a, b in yields.items():
        between = np.all((owner[mixed] == a) | (owner[mixed] == b), axis=1)
        if between.any():
            gathered[b].append(vertices[np.unique(mixed[between])])
        mixed = mixed[~between]
    corners = owner[mixed]
    for a, b in ((0, 1), (1, 2), (2, 0)):
        middle = 0.5 * (vertices[mixed[:, a]] + vertices[mixed[:, b]])
        three = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
        for k in range(3):
            # where three segments meet, each takes the triangle of the three middles
            takes = (three | (corners[:, a] != corners[:, b])) & ((k in (a, b)) | three)
            for j in np.unique(corners[takes, k]):
                gathered[int(j)].append(middle[takes & (corners[:, k] == j)])
    return {j: np.concatenate(parts) for j, parts in gathered.items()}


def enclosing_shape(name: str, joint: int, points: Array, near: float, most: int = _MOST_CORNERS) -> Shape:
    """A capsule or a convex mesh of at most so many corners around points (N, 3) in the joint's frame.

    The capsule if the points are on average at most `near` metres below its surface, or if they span no
    volume.
    """
    hull = convex_hull(points)
    if hull is None or min(np.ptp(points, axis=0)) < _THIN:
        a, b, radius = least_capsule(points)
        return capsule(name, joint, a, b, max(radius + _SKIN_OF_ROUNDING, 0.5 * _THIN))
    outline = points[hull.corners]
    for steps, allowed in ((0, _FITTING_GAINS * near), (260, near)):
        a, b, radius = least_capsule(outline, steps)
        fitted = capsule(name, joint, a, b, radius + _SKIN_OF_ROUNDING)
        if -float(fitted.signed_distance(points).mean()) > allowed:
            break
    else:
        return fitted
    mesh = convex_mesh(outline)
    if len(outline) > most:
        # a sliver too thin to be cut out of space by planes keeps all of its corners
        with suppress(scipy.spatial.QhullError):
            mesh = simpler_hull(points, hull, most)
    return Shape(name, joint, "mesh", np.zeros(3), np.eye(4), mesh)


def least_capsule(points: Array, steps: int = 260) -> tuple[Array, Array, float]:
    """Ends (3,), (3,) and radius of a capsule of least volume around points (N, 3).

    It starts from the best of the three main axes of the points and is refined by up to `steps` evaluations.
    """
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    scale = max(float(np.abs(points - center).max()), 1e-6)
    p = (points - center) / scale
    middle = p - p.mean(axis=0)
    axes = np.linalg.eigh(middle.T @ middle)[1].T
    starts = []
    for k in range(3):
        frame = np.stack([axes[(k + 1) % 3], axes[(k + 2) % 3], axes[k]])
        turned = np.ascontiguousarray(p @ frame.T)
        x = np.zeros(5)
        x[2:4] = 0.5 * (turned[:, :2].min(axis=0) + turned[:, :2].max(axis=0))
        starts.append((capsule_around(turned, x)[0], k, frame, turned, x))
    _, _, frame, turned, x = min(starts, key=lambda s: s[:2])
    if steps:
        x = least_line(turned, x, steps, 1e-3, 1e-5)
    _, radius, low, high = capsule_around(turned, x)
    axis = normalize(np.array([x[0], x[1], 1.0]))
    ends = np.array([x[2], x[3], 0.0]) + np.outer([low, high], axis)
    a, b = ends @ frame * scale + center
    return a, b, radius * scale


def convex_mesh(points: Array) -> Mesh:
    """Convex hull of points (N, 3) as triangles that face outwards."""
    hull = convex_hull(points)
    if hull is None:
        raise scipy.spatial.QhullError("points in a plane have no hull")
    return hull.mesh(points)


def simpler_hull(points: Array, hull: Hull, most: int) -> Mesh:
    """A convex mesh of at most so many corners that still holds every point.

    It is the body between a few of the hull's own planes: those that differ most, larger facets first.
    Planes have two corners less than twice their number, which bounds the corners.
    """
    normals = hull.planes[:, :3]
    corners = points[hull.faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    chosen = list(np.concatenate([np.eye(3), -np.eye(3)]))
    # How much a facet is missed: its area times how far its normal is from the nearest plane already chosen.
    nearest = np.max(normals @ np.array(chosen).T, axis=1)
    while len(chosen) < most // 2:
        k = int(np.argmax(np.sqrt(area) * (1.0 - nearest)))
        chosen.append(normals[k])
        nearest = np.maximum(nearest, normals @ normals[k])
    planes = normalize(np.array(chosen))
    offset = np.max(planes @ points[hull.corners].T, axis=1) + _SKIN_OF_ROUNDING
    inside = points[hull.corners].mean(axis=0)
    body = scipy.spatial.HalfspaceIntersection(np.column_stack([planes, -offset]), inside)
    found = body.intersections[np.all(np.isfinite(body.intersections), axis=1)]
    return convex_mesh(found)
