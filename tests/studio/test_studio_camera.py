"""The camera of the studio sees who it is to show."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.geometry.mesh import Mesh, cut_open
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box, merge
from elbowroom.geometry.transforms import transform
from elbowroom.studio.page_camera import seen
from elbowroom.world.extent import action
from elbowroom.world.world import World


def room(x: float, y: float, height: float = 3.0) -> Mesh:
    """Four walls round the origin."""
    sides = [box([x, 0.1, height]).moved(transform([0.0, s * 0.5 * y, 0.5 * height])) for s in (-1.0, 1.0)]
    return merge([*sides, *(box([0.1, y, height]).moved(transform([s * 0.5 * x, 0.0, 1.5])) for s in (-1.0, 1.0))])


def hidden(mesh: Mesh, eye: Array, points: Array) -> float:
    """Share of points (N, 3) that a mesh hides from an eye (3,)."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    way = points - eye
    n = np.cross(b - a, c - a)
    t = np.einsum("fi,fi->f", n, a - eye) / (way @ n.T)
    at = eye + t[..., None] * way[:, None, :]
    inside = np.ones(t.shape, dtype=bool)
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("fi,nfi->nf", n, np.cross(q - p, at - p)) >= 0.0
    return float((inside & (t > 0.0) & (t < 1.0)).any(axis=1).mean())


@pytest.mark.parametrize(("x", "y"), [(6.0, 5.0), (3.0, 12.0)])
def test_who_is_in_a_room_is_seen_from_outside(x: float, y: float) -> None:
    world = World().with_character("ann", human(skin=False)).with_static("walls", room(x, y))
    view, points = seen(world).view(), action(world, [0.0])
    walls = cut_open(world.static["walls"], view.normal, view.limit)
    assert hidden(world.static["walls"], view.eye, points) > 0.5  # as they are
    assert hidden(walls, view.eye, points) == 0.0
    assert len(walls.faces) > 0  # those behind her are there
