"""Which parts of a body enter each other, by the exact shapes (Coal), over the frames of a clip."""

from __future__ import annotations

import coal
import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.shapes import Shape
from elbowroom.motion.clip import Clip

_TRUNK = ("pelvis", "spine1", "spine2", "chest", "head")
_LEG = ("thigh", "shin", "foot", "toes")


def pairs() -> list[tuple[str, str]]:
    """Forearm, hand and fingers against trunk, legs and the other arm; legs against each other."""
    found = []
    for side, other in (("left", "right"), ("right", "left")):
        legs = [f"{s}_{p}" for s in ("left", "right") for p in ("thigh", "shin")]
        for part in ("forearm", "hand"):
            found += [(f"{side}_{part}", b) for b in (*_TRUNK, *legs, f"{other}_forearm", f"{other}_hand")]
        for part in ("thumb3", "index2", "middle2", "little2"):
            found += [(f"{side}_{part}", b) for b in ("pelvis", f"{side}_thigh")]
    # thighs touch each other in any body: they are joined in the same pelvis
    found += [(f"left_{a}", f"right_{b}") for a in _LEG for b in _LEG if (a, b) != ("thigh", "thigh")]
    return found


def _geometry(shape: Shape) -> coal.ShapeBase:
    if shape.kind == "mesh":
        points = coal.StdVec_Vec3s()
        for p in shape.mesh.vertices:
            points.append(p)
        return coal.Convex.convexHull(points, False, None)
    if shape.kind == "capsule":
        return coal.Capsule(float(shape.size[0]), 2 * float(shape.size[1]))
    if shape.kind == "sphere":
        return coal.Sphere(float(shape.size[0]))
    return coal.Box(*(2 * shape.size))


def _placed(T: np.ndarray) -> coal.Transform3s:
    return coal.Transform3s(T[:3, :3], T[:3, 3])


def entering(clip: Clip, step: int = 1, depth: float = 0.0) -> dict[tuple[str, str], float]:
    """Pairs that are deeper in each other than `depth` (m) at some frame, with the deepest (m)."""
    body: Character = clip.character
    shapes: dict[str, list[tuple[coal.ShapeBase, Shape]]] = {}
    for shape in (s.own or s for s in body.shapes):
        shapes.setdefault(shape.name, []).append((_geometry(shape), shape))
    T = clip.world()[::step]
    request, worst = coal.DistanceRequest(), {}
    for a, b in pairs():
        for ga, sa in shapes.get(a, []):
            for gb, sb in shapes.get(b, []):
                Ta, Tb = T[:, sa.joint] @ sa.T_joint_shape, T[:, sb.joint] @ sb.T_joint_shape
                for x, y in zip(Ta, Tb, strict=True):
                    d = coal.distance(ga, _placed(x), gb, _placed(y), request, coal.DistanceResult())
                    if d < min(worst.get((a, b), 0.0), -depth):
                        worst[a, b] = d
    return worst


def separation(clip: Clip, a: str, b: str) -> np.ndarray:
    """Exact distance (T,) of two parts that have one shape each, metres."""
    (one,), (other,) = ([s.own or s for s in clip.character.shapes if s.name == name] for name in (a, b))
    T = clip.world()
    Ta, Tb = T[:, one.joint] @ one.T_joint_shape, T[:, other.joint] @ other.T_joint_shape
    request, shapes = coal.DistanceRequest(), (_geometry(one), _geometry(other))
    return np.array(
        [
            coal.distance(shapes[0], _placed(x), shapes[1], _placed(y), request, coal.DistanceResult())
            for x, y in zip(Ta, Tb, strict=True)
        ]
    )
