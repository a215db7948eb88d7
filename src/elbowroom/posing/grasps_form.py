"""Form of a mesh for grasping: a ball, a round object, a box, or the bounding box of something irregular."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import Mesh, frozen
from elbowroom.geometry.mesh_cleanup import cleaned, components, has_area
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import convex_hull
from elbowroom.geometry.transforms import apply, inverse

FormKind = Literal["ball", "round", "box", "irregular"]

# Sample points on a surface.
_SAMPLES = 4000

# Tolerances: of a ball's vertices in their distance from the middle; of a round object's faces in their slant, averaged
# over area; of a box in the share of area off its sides, within a share of its size.
_BALL = 0.04
_ROUND = 0.12
_BOX_AREA, _BOX_OFF = 0.15, 0.03

# A box along the object's own axes is preferred to one that is smaller by no more than this share.
_OWN_AXES = 1.05


@dataclass(frozen=True, eq=False)
class GraspForm:
    """Grasp-relevant form of a mesh: `T_thing_form` (4, 4) is at the middle of its bounding box, of full `size` (3,).

    A round object's axis is z. points (N, 3) are spread evenly over the surface, in the form's frame; normals (N, 3)
    are those of their triangles.
    """

    kind: FormKind
    T_thing_form: Array
    size: Array
    points: Array
    normals: Array

    def __post_init__(self) -> None:
        for name in ("T_thing_form", "size", "points", "normals"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def around(self, center: Array, axes: Array, half: Array) -> Array:
        """Surface points (M, 3) within a box: its middle (3,), its axes as columns (3, 3), half its size (3,).

        They are given in the box's axes, from its middle.
        """
        local = (self.points - center) @ axes
        return local[np.all(np.abs(local) <= half, axis=1)]


def form_of(mesh: Mesh) -> GraspForm | None:
    """Form of a mesh, cached; None if it has no triangle with an area."""
    return kept(mesh, "form in a hand", lambda: _recognised(mesh))


def _recognised(mesh: Mesh) -> GraspForm | None:
    faces = mesh.faces[has_area(mesh.vertices, mesh.faces)]
    if not len(faces):
        return None
    corners = mesh.vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = 0.5 * np.linalg.norm(normal, axis=1)
    normal /= 2.0 * area[:, None]
    points, of = spread_over(corners, area)
    hull, T, size = _box(mesh.vertices[np.unique(faces)])
    local, normals = apply(inverse(T), points), normal[of] @ T[:3, :3]
    far = np.linalg.norm(apply(inverse(T), hull), axis=1)
    if len(hull) > 16 and np.ptp(size) < 0.1 * size.max() and np.ptp(far) < 2.0 * _BALL * far.mean():
        return GraspForm("ball", T, size, local, normals)
    axis = _round_axis(local, normals, size)
    if axis is not None:
        turn = np.eye(4)
        turn[:3, :3] = np.roll(np.eye(3), 2 - axis, axis=1)
        R = turn[:3, :3]
        return GraspForm("round", T @ turn, size[np.argmax(R, axis=0)], local @ R, normals @ R)
    off = np.min(np.abs(0.5 * size - np.abs(local)), axis=1)
    box = float(np.mean(off > _BOX_OFF * size.max())) < _BOX_AREA
    return GraspForm("box" if box else "irregular", T, size, local, normals)


def part_near(mesh: Mesh, point: Array, reach: float) -> Mesh | None:
    """The connected part nearest to a point (3,), of those triangles that are wholly within `reach` of it, metres."""
    whole = cleaned(mesh, "thing")
    near = np.linalg.norm(whole.vertices - point, axis=1) <= reach
    faces = whole.faces[near[whole.faces].all(axis=1) & has_area(whole.vertices, whole.faces)]
    if not len(faces):
        return None
    label = components(faces)
    corners = whole.vertices[faces]
    away = np.linalg.norm(corners - point, axis=2).min(axis=1)
    away = np.minimum(away, np.linalg.norm(corners.mean(axis=1) - point, axis=1))
    return Mesh(whole.vertices, faces[label == label[int(np.argmin(away))]])


def spread_over(corners: Array, area: Array) -> tuple[Array, NDArray[np.int64]]:
    """Points (N, 3) spread evenly over triangles (F, 3, 3), deterministic, and the triangle of each."""
    rng = np.random.default_rng(0)
    of = rng.choice(len(area), _SAMPLES, p=area / area.sum())
    u, v = rng.random((2, _SAMPLES, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    a, b, c = np.moveaxis(corners[of], 1, 0)
    return a + u * (b - a) + v * (c - a), of


def _box(points: Array) -> tuple[Array, Array, Array]:
    """Points on the hull, and `T_thing_box` (4, 4) and full size (3,) of its bounding box.

    Along the object's own axes where those fit as well as any.
    """
    T = np.eye(4)
    low, high = points.min(axis=0), points.max(axis=0)
    T[:3, 3] = 0.5 * (low + high)
    found = convex_hull(points)
    if found is None:  # all in a plane
        _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
        axes[2] = np.cross(axes[0], axes[1])
        along = points @ axes.T
        T[:3, :3], T[:3, 3] = axes.T, 0.5 * (along.min(axis=0) + along.max(axis=0)) @ axes
        return points, T, np.ptp(along, axis=0)
    from trimesh.bounds import oriented_bounds  # slow to import, and seldom needed: grasps are cached on disk

    hull = points[found.corners]
    to_box, extents = oriented_bounds(hull)
    if np.prod(high - low) <= _OWN_AXES * np.prod(extents):
        return hull, T, high - low
    return hull, inverse(to_box), np.asarray(extents)


def _round_axis(points: Array, normals: Array, size: Array) -> int | None:
    """Axis (0, 1, 2) about which an object is round: no part of its surface slants sideways. None: no axis."""
    best, least = None, _ROUND
    for axis in range(3):
        a, b = np.delete(size, axis)
        if abs(a - b) > 0.1 * max(a, b):
            continue
        around = np.zeros_like(points)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        radius = np.maximum(np.hypot(points[:, i], points[:, j]), 1e-9)
        around[:, i], around[:, j] = -points[:, j] / radius, points[:, i] / radius
        leaning = float(np.mean(np.abs(np.einsum("ij,ij->i", around, normals))))
        level = float(np.mean(np.abs(normals[:, axis])))
        if leaning < least * max(1.0 - level, 0.1) * 1.5:
            best, least = axis, leaning
    return best
