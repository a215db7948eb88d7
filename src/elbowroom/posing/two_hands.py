"""Grasps of both hands on one object: palms on opposite sides, as people carry boxes (Y1), or under an edge (E6)."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import FLAT, HandShape
from elbowroom.character.hands import grip_depth, grip_frame
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.transforms import inverse
from elbowroom.posing.fingers_model import HandAtThing, hand_model
from elbowroom.posing.grasps_form import form_of
from elbowroom.posing.grasps_settle import Grasp

# Positions of the palms on their sides, from the middle towards the body and down, shares of half the object's size.
_NEARER = (0.0, 0.45, 0.8)
_LOWER = (0.0, 0.5, -0.5, -0.9)
# Angles by which fingers point down and inwards, radians: wrists bend little, and forearms stay clear of the object.
_DOWN_RAD = np.radians([20.0, 45.0, 0.0, 70.0, 85.0])
_INWARDS_RAD = np.radians([12.0, 25.0, 0.0])
# Costs: a palm flat on its side, near the middle, is best. Steep fingers, and palms at the top, serve low objects.
_COST = 0.3
_STEEP_RAD, _AT_TOP = np.radians(60.0), -0.7
# Smallest cosine between a side of the object and that of the body.
_ASIDE = 0.6
# Approach distance of a hand, and its gap to the object, metres.
_COMES_M = 0.12
_STOPS_M = 0.0005
# Widest object between two palms, as a share of the body's height.
_WIDEST = 0.6

# Distances of hands under an edge from the body's middle, shares of its height: the first that fits. Closer together
# forearms hit the trunk: of woman and man at edges 0.62 and 0.75 m high, 0.22 of the height before them, all have free
# postures at the first, guided by recordings, and none at the last.
_APART = (0.185, 0.15, 0.115)
# Angles by which the back of such a hand is tilted towards the ground, radians: fingers bend as much, and stay level.
# In the last one palms are flat under the edge, so far in from it and with fingers that point up so far; forearms then
# come from behind, in the others from above.
_TILTED_RAD = np.radians([45.0, 25.0, 65.0, 0.0])
_IN_M = 0.07
_UPWARDS_RAD = float(np.radians(8.0))
# Metres of knuckles outside the edge above bent fingers, of fingers that must be under it, and half the thickness of
# a finger.
_KNUCKLES_M, _UNDER_M, _FINGER_M = 0.02, 0.04, 0.008
# Distance ahead of the body up to which an edge is searched, and the step, metres.
_EDGE_M = 1.0
_STEP_M = 0.01

# Name of grasps whose fingers point down, or whose palms are at the top.
STEEP = "side from above"

_UP = np.array([0.0, 0.0, 1.0])


def two_hand_grasps(body: Character, mesh: Mesh, T_world_object: Array, ahead: Array) -> list[tuple[Grasp, Grasp]]:
    """Pairs of grasps, left and right, of an object at a placement (4, 4) for a body that faces `ahead` (3,),
    horizontal.

    The cheapest first; none where the object is too wide for the arms or has no surface.
    """
    T, way = np.asarray(T_world_object, dtype=float), np.asarray(ahead, dtype=float)
    return list(_two_hand_grasps(body, mesh, tuple(T.ravel().tolist()), tuple(way.tolist())))


@lru_cache(maxsize=8)  # other stances, and grips on the way, ask for those of the same object again
def _two_hand_grasps(
    body: Character, mesh: Mesh, placement: tuple[float, ...], facing: tuple[float, ...]
) -> list[tuple[Grasp, Grasp]]:
    T_world_object, ahead = np.reshape(placement, (4, 4)), np.array(facing)
    form = form_of(mesh)
    if form is None:
        return []
    T = T_world_object @ form.T_thing_form
    left = np.cross(_UP, ahead)
    axes, half = T[:3, :3], 0.5 * form.size
    scenes = {hand: HandAtThing(hand_model(body, hand), mesh) for hand in ("left", "right")}
    for hand, scene in scenes.items():
        scene.put_hand(hand_model(body, hand).places(FLAT))
    found: list[tuple[Grasp, Grasp]] = []
    for k in range(3):
        aside = float(axes[:, k] @ left)
        if abs(aside) < _ASIDE or 2.0 * half[k] > _WIDEST * body.height:
            continue
        side = np.sign(aside) * axes[:, k]
        extents = [float(np.abs(axes.T @ way) @ half) for way in (ahead, _UP)]
        for nearer, lower, down, inwards in product(_NEARER, _LOWER, _DOWN_RAD, _INWARDS_RAD):
            middle = T[:3, 3] - nearer * extents[0] * ahead - lower * extents[1] * _UP
            cost = _COST * (0.5 * nearer + abs(lower) + down + inwards)
            pair = [
                _placed(body, hand, scenes[hand], T_world_object, middle + sign * half[k] * side, sign * side, ahead,
                        (down, inwards), cost, steep=down > _STEEP_RAD or lower < _AT_TOP)
                for hand, sign in (("left", 1.0), ("right", -1.0))
            ]  # fmt: skip
            if pair[0] is not None and pair[1] is not None:
                found.append((pair[0], pair[1]))
    return sorted(found, key=lambda pair: pair[0].cost + pair[1].cost)


def edge_grasps(
    body: Character, mesh: Mesh, T_world_object: Array, place: Array, ahead: Array
) -> list[tuple[Grasp, Grasp]]:
    """Pairs of grasps, left and right, of an edge before a body that stands at a position (2,) and faces `ahead` (3,).

    Palms up under the edge, or fingers bent under it, as people carry boards and tables; none without an edge.
    """
    left = np.cross(_UP, ahead)
    triangles = mesh.moved(T_world_object).vertices[mesh.faces]
    scenes = {hand: HandAtThing(hand_model(body, hand), mesh) for hand in ("left", "right")}
    found: list[tuple[Grasp, Grasp]] = []
    for n, (tilted, apart) in enumerate(product(_TILTED_RAD, _APART)):
        shape = _bent(float(tilted))
        palm, inside = np.cos(tilted) * _UP + np.sin(tilted) * ahead, _UNDER_M if tilted else _IN_M
        pair = []
        for hand, sign in (("left", 1.0), ("right", -1.0)):
            start = np.asarray(place)[:2] + sign * apart * body.height * left[:2]
            point = under_edge(triangles, start, ahead[:2], inside)
            if point is None:
                break
            if tilted:
                point = point - (_KNUCKLES_M + inside) * ahead - _FINGER_M * _UP
                point = point + grip_depth(body, hand) * palm
            scenes[hand].put_hand(hand_model(body, hand).places(shape))
            angles = (0.0, 0.0 if tilted else _UPWARDS_RAD)
            grasp = _placed(body, hand, scenes[hand], T_world_object, point, -palm, ahead, angles, 0.1 * n, shape)
            if grasp is None:
                break
            pair.append(grasp)
        if len(pair) == 2:
            found.append((pair[0], pair[1]))
    return found


@cache
def _bent(angle: float) -> HandShape:
    """A flat hand whose fingers are bent at the knuckles, radians."""
    if angle == 0.0:
        return FLAT
    coordinates = np.array(FLAT.coordinates)
    coordinates[1:, 0, 0] += angle
    return HandShape(f"bent{np.degrees(angle):.0f}", coordinates)


def under_edge(triangles: Array, start: Array, ahead: Array, inside: float) -> Array | None:
    """Point (3,) under triangles (F, 3, 3), `inside` metres from where a line (2,) on the floor first comes below
    them.
    """
    distances = np.arange(0.0, _EDGE_M, _STEP_M)
    for way in distances:
        if len(_crossings(triangles, start + way * ahead)):
            xy = start + (way + inside) * ahead
            heights = _crossings(triangles, xy)
            # of several layers the uppermost: a top, not the shelf below it
            return None if len(heights) < 2 else np.array([*xy, heights[-2]])
    return None


def _crossings(triangles: Array, xy: Array) -> Array:
    """Heights at which the vertical through a point (2,) meets triangles (F, 3, 3), from low to high."""
    a, b, c = (triangles[:, k, :2] - xy - 1e-7 for k in range(3))
    u, v, w = (p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0] for p, q in ((b, c), (c, a), (a, b)))
    met = ((u > 0) & (v > 0) & (w > 0)) | ((u < 0) & (v < 0) & (w < 0))
    z = triangles[met, :, 2]
    return np.sort((u[met] * z[:, 0] + v[met] * z[:, 1] + w[met] * z[:, 2]) / (u + v + w)[met])


def _placed(
    body: Character, hand: str, scene: HandAtThing, T_world_object: Array, point: Array, out: Array, ahead: Array,
    angles: tuple[float, float], cost: float, shape: HandShape | None = None, *, steep: bool = False,
) -> Grasp | None:  # fmt: skip
    """A hand of a `shape`, flat by default, at a point (3,) of a side that faces `out` (3,), moved until it touches.

    None where it does not.
    """
    down, inwards = angles
    palm = -out
    fingers = normalize(np.cos(down) * (ahead - (ahead @ palm) * palm) - np.sin(down) * _UP)
    along = normalize(np.cos(inwards) * fingers + np.sin(inwards) * palm)
    palm = normalize(palm - (palm @ along) * along)
    thumb = np.cross(palm, along) if hand == "left" else np.cross(along, palm)
    T = np.eye(4)
    T[:3, :3] = np.stack([palm, np.cross(thumb, palm), thumb], axis=1)
    T[:3, 3] = point
    T_thing_hand = inverse(T_world_object) @ T @ inverse(grip_frame(body, hand))
    approach = T_world_object[:3, :3].T @ -out
    ahead_m = scene.slid(T_thing_hand, approach, _COMES_M, _COMES_M, _STOPS_M)
    if not -_COMES_M < ahead_m < _COMES_M:
        return None
    T_thing_hand = np.array(T_thing_hand)
    T_thing_hand[:3, 3] += ahead_m * approach
    name = f"edge {shape.name}" if shape is not None else STEEP if steep else f"side{np.degrees(down):.0f}"
    return Grasp(name, hand, T_thing_hand, shape or FLAT, shape or FLAT, approach, cost)
