"""Collision shapes of a rig: fitted to its skin where it has one, else to its bones with published girths."""

from __future__ import annotations

from collections.abc import Mapping

from elbowroom.character.fit_shapes_bones import shapes_from_bones
from elbowroom.character.fit_shapes_skin import shapes_from_skin
from elbowroom.character.skeleton import Skeleton
from elbowroom.character.skin import Skin
from elbowroom.geometry.shapes import Shape


def fit_shapes(
    skeleton: Skeleton, roles: Mapping[str, int], skin: Skin | None = None, height: float | None = None
) -> tuple[Shape, ...]:
    """Collision shapes per segment, named after its role, else after its joint.

    With a skin they enclose, in the rest pose, every piece of it that the segment owns. Without, radii
    follow from stature: `height` in metres, or what the length of the legs says. A part may have several
    shapes.
    """
    if skin is not None and len(skin.vertices):
        return shapes_from_skin(skeleton, roles, skin)
    return shapes_from_bones(skeleton, roles, height)
