"""Things for hands to take, made on the spot, in proportion to a hand of ordinary size."""

from __future__ import annotations

import numpy as np
import trimesh

from elbowroom.character.body import Character
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box, cylinder, merge, sphere
from elbowroom.geometry.transforms import apply, transform
from elbowroom.posing.fingers import Closed
from elbowroom.posing.fingers_model import hand_model

# Half the outline of a jar, radius and height in metres.
JAR = [(0, 0), (0.035, 0), (0.04, 0.05), (0.04, 0.1), (0.03, 0.12), (0.03, 0.14), (0, 0.14)]


def thing(name: str, scale: float = 1.0) -> tuple[Mesh, dict[str, Array]]:
    """A mesh by name and its frames; 'blob7' is irregular, with 7 for its seed."""
    frames: dict[str, Array] = {}
    if name.startswith("blob"):
        mesh = blob(int(name[4:]))
    elif name == "handle":
        # a bar on two posts before a board, as on a drawer
        bar = cylinder(0.007, 0.18).moved(transform([0.0, -0.055, 0.0], [0.5**0.5, 0.0, 0.5**0.5, 0.0]))
        posts = [box([0.01, 0.05, 0.01], [x, -0.03, 0.0]) for x in (-0.08, 0.08)]
        mesh = merge([box([0.4, 0.02, 0.2]), bar, *posts])
        frames["handle"] = transform([0.0, -0.055, 0.0])
    else:
        mesh = {
            "box": box([0.055, 0.09, 0.18]),
            "book": box([0.03, 0.15, 0.22]),
            "cube": box([0.03, 0.03, 0.03]),
            "cylinder": cylinder(0.033, 0.14),
            "ball": sphere(0.036),
            "crate": box([0.4, 0.3, 0.25]),
        }[name]
    stretch = np.diag([scale, scale, scale, 1.0])
    return mesh.moved(stretch), {n: transform(scale * T[:3, 3]) for n, T in frames.items()}


def blob(seed: int) -> Mesh:
    """A closed lump of a few centimetres, bumpy and squeezed at random."""
    rng = np.random.default_rng(seed)
    ball = trimesh.creation.icosphere(subdivisions=3)
    v = np.asarray(ball.vertices)
    bumps = sum(0.08 * np.sin(v @ rng.normal(0.0, 2.5, 3) + rng.uniform(0.0, 6.0)) for _ in range(6))
    half = rng.uniform([0.022, 0.026, 0.03], [0.034, 0.036, 0.06])
    return Mesh(v * (1.0 + np.asarray(bumps)[:, None]) * half, np.asarray(ball.faces))


def measured_gaps(body: Character, hand: str, closed: Closed, T_hand_thing: Array, mesh: Mesh) -> dict[str, float]:
    """Signed distances of all fingers from a closed mesh by trimesh, from many points on the axes of their capsules."""
    model = hand_model(body, hand)
    places = model.places(closed.shape)
    solid = trimesh.Trimesh(apply(T_hand_thing, mesh.vertices), mesh.faces, process=False)
    gaps = {}
    for finger in model.fingers:
        axes, radii = [], []
        for n in finger.beyond[0]:
            shape = model.shapes[n]
            assert shape.kind == "capsule"
            along = np.zeros((41, 3))
            along[:, 2] = np.linspace(-shape.size[1], shape.size[1], 41)
            axes.append(apply(places[n], along))
            radii.append(np.full(41, shape.size[0]))
        inside = trimesh.proximity.signed_distance(solid, np.concatenate(axes))
        gaps[finger.name] = float(np.min(-inside - np.concatenate(radii)))
    return gaps
