"""One distance field of all that never moves; it is the same for all worlds with the same static meshes and floor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.fields import DistanceField, distance_field
from elbowroom.geometry.kept import KeptTogether, kept
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.mesh_cleanup import has_area
from elbowroom.world.exact_forms import Surface

# Scenes whose fields stay in memory.
MOST = 8

SCENES: KeptTogether[DistanceField] = KeptTogether(MOST)


def with_area(form: Surface) -> tuple[Mesh, NDArray]:
    """The triangles of a surface that have an area or close a solid, and which of them bound solids."""

    def found() -> tuple[Mesh, NDArray]:
        keep = form.closed | has_area(form.mesh.vertices, form.mesh.faces)
        return (form.mesh if keep.all() else Mesh(form.mesh.vertices, form.mesh.faces[keep])), form.closed[keep]

    return kept(form, "with area", found)


def scene_field(forms: Sequence[Surface]) -> DistanceField | None:
    """One field of all these surfaces; None where they have no triangles."""
    meshes = [found for found in map(with_area, forms) if len(found[0].faces)]
    return SCENES.of([mesh for mesh, _ in meshes], (), lambda: _merged(meshes)) if meshes else None


def _merged(meshes: Sequence[tuple[Mesh, NDArray]]) -> DistanceField:
    # solids are numbered: those of different meshes may overlap and be turned differently
    closed = np.concatenate([np.where(shut, i, -1) for i, (_, shut) in enumerate(meshes)])
    first = np.cumsum([0, *(len(mesh.vertices) for mesh, _ in meshes)])
    faces = np.concatenate([mesh.faces + o for (mesh, _), o in zip(meshes, first[:-1], strict=True)])
    whole = Mesh(np.concatenate([mesh.vertices for mesh, _ in meshes]), faces)
    return DistanceField(distance_field(whole, closed=closed).arrays)
