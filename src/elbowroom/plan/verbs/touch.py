"""A hand goes to a place and stays, or touches it and goes away again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from elbowroom.character.grip import grip_frame
from elbowroom.character.hand_shapes import finger_rotations, hand_shape
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array, about, normalize
from elbowroom.geometry.solids import merge
from elbowroom.geometry.tessellate import shape_mesh
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.plan import acting
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director, varied
from elbowroom.plan.hands import beyond_reach, hand_of, joints_of, shoulder_of
from elbowroom.plan.postures import Postures
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Point, Reach, Touch
from elbowroom.plan.verbs.grab import take
from elbowroom.plan.verbs.grasp_choice import Place, Taking, failure, fitting, free_hands, look
from elbowroom.plan.verbs.leave import let_go
from elbowroom.posing.grasps import press_target
from elbowroom.posing.grasps_form import spread_over

# Turns of the hand about its own length that are tried at a place that does not say how it is to be held, radians.
_ROLLS = np.radians([0.0, 30.0, -30.0, 60.0, 90.0, -60.0, 120.0, 180.0])

# Spots beside the first that are tried where something is touched; how far they are from it at most, metres: on an
# object as a whole, and about a place on it; and ways to touch them that have room for the hand.
_SPOTS = 8
_AROUND_M = 0.3
_BESIDE_M = 0.03
_LOOKS = 60

# Ways to touch something that are tried to which no path leads.
_TRIES = 8


def reach_to(d: Director, task: Reach) -> None:
    """Bring the middle of the grip to a place; the hand points there from the shoulder."""
    actor = d.actor(task.who)
    what = "reach"
    shape = hand_shape(task.shape)
    failed: list[tuple[float, PlanningFailure]] = []

    def goals() -> Iterator[tuple[str, Pose]]:
        for hand in free_hands(d, actor, place_of(d, task.to, actor.now), task.hand, what):
            point = place_of(d, task.to, actor.now if task.at is None else task.at)
            far = beyond_reach(actor, hand, point)
            k = actor.k + d.frames_until(actor, _way(actor, hand, point), task.at, 0, what, far)
            postures = Postures(d.world, actor.who, actor.time(k))
            for T in pointing(actor, hand, point, shoulder_of(actor, hand, actor.pose)):
                found = d.reach(actor, hand, T, k, postures)
                if found.found:
                    yield hand, d.looking(actor, found.pose, point)
                else:
                    failed.append(failure(found, postures, what))
        if failed:
            raise min(failed, key=lambda f: f[0])[1]

    def do(option: tuple[str, Pose]) -> None:
        hand, goal = option
        way = _way(actor, hand, hand_of(actor, hand, goal)[:3, 3])
        count = acting.set_out(d, actor, way, d.frames_until(actor, way, task.at, 0, what))
        acting.travel(d, actor, hand, goal, count, what, fingers=finger_rotations(actor.body, hand, shape))
        actor.keep(joints_of(actor, hand))
        actor.pin(hand)

    d.first(varied(d, goals()), do)


def touch(d: Director, task: Touch) -> None:
    """Touch a surface with the fingertips and go away again."""
    actor = d.actor(task.who)
    what = f"touch {task.target}" if isinstance(task.target, str) else "touch"
    t = actor.now if task.at is None else task.at
    thing, mesh = surface_of(d, task.target, t)

    def options() -> Iterator[Taking]:
        failed: list[tuple[float, PlanningFailure]] = []
        for hand in free_hands(d, actor, place_of(d, task.target, t), task.hand, what):
            spots = spots_on(d, task.target, mesh, shoulder_of(actor, hand, actor.pose), t)
            spot = spots[0]
            far = beyond_reach(actor, hand, spot[:3, 3])
            k = actor.k + d.frames_until(actor, _way(actor, hand, spot[:3, 3]), task.at, 0, what, far)
            postures = Postures(d.world, actor.who, actor.time(k), hand=hand, taking=thing or None)
            ways = [way for spot in spots for way in press_target(actor.body, hand, spot, task.shape)]
            fit = fitting(d, ways, actor.neutral(k), [Place(np.eye(4), postures, what)], failed, back=False)
            for grasp in islice(fit, _LOOKS):
                found = look(d, actor, hand, grasp, np.eye(4), k, postures, what)
                if isinstance(found, Taking):
                    yield found
                else:
                    failed.append(found)
        if failed:
            raise min(failed, key=lambda f: f[0])[1]

    def do(taking: Taking) -> None:
        focus = hand_of(actor, taking.hand, taking.target)[:3, 3]
        take(d, actor, taking, thing, what, task.at, close=False, focus=focus)
        out = -taking.approach
        let_go(d, actor, taking.hand, thing, taking.open, [out], f"leave {thing or 'it'}")

    d.first(varied(d, options()), do, _TRIES)


def place_of(d: Director, to: Point | str, t: float) -> Array:
    """A place in the world, (3,), that a task names."""
    if isinstance(to, str):
        return np.asarray(
            d.world.frame(to, t)[:3, 3] if to not in d.world.static else d.world.static[to].bounds.mean(0)
        )
    point = np.asarray(to, dtype=float)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise BadValue(f"a place is three finite numbers, not {to}.")
    return point


def _way(actor: Actor, hand: str, point: Array) -> float:
    return float(np.linalg.norm(point - hand_of(actor, hand, actor.pose)[:3, 3]))


def pointing(actor: Actor, hand: str, point: Array, shoulder: Array) -> Iterator[Array]:
    """Places of a hand's joint (4, 4) whose grip is at a point, the hand along the line from a shoulder (3,)."""
    along = normalize(point - shoulder)
    up = np.array([0.0, 0.0, 1.0]) if abs(along[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    thumb = normalize(up - (up @ along) * along)
    grip = grip_frame(actor.body, hand)
    # the grip's z is towards the thumb, its x out of the palm, and fingers lie across both
    palm = np.cross(along, thumb) if hand == "left" else np.cross(thumb, along)
    frame = np.eye(4)
    frame[:3, :3] = np.stack([palm, np.cross(thumb, palm), thumb], axis=1)
    frame[:3, 3] = point
    for roll in _ROLLS if hand == "left" else -_ROLLS:
        turn = transform(np.zeros(3), about(along, roll))
        rolled = frame.copy()
        rolled[:3, :3] = turn[:3, :3] @ frame[:3, :3]
        yield np.asarray(rolled @ inverse(grip))


def surface_of(d: Director, target: Point | str, t: float) -> tuple[str, Mesh | None]:
    """Name of what is touched, as in collision pairs, and its mesh in the world; a bare point touches nothing."""
    if not isinstance(target, str):
        return "", None
    owner, part = d.world.split(target)
    if owner in d.world.static:
        return owner, d.world.static[owner]
    if owner in d.world.objects:
        return owner, d.world.objects[owner].mesh.moved(d.world.frame(owner, t))
    body = d.world.body(owner)
    joint = body.frame(part)[0] if part else 0
    T = d.world.at(t).joints[owner]
    shapes = [s for s in body.shapes if s.joint == joint]
    if not shapes:
        raise BadValue(f"'{target}' has no surface to touch.")
    meshes = [shape_mesh(s).moved(T[joint] @ s.T_joint_shape) for s in shapes]
    return f"{owner}.{shapes[0].name}", merge(meshes)


def spots_on(d: Director, target: Point | str, mesh: Mesh | None, shoulder: Array, t: float) -> list[Array]:
    """Return where to touch, (4, 4) each: x out of the surface, towards the shoulder (3,) where there is none.

    The first is on the line from the shoulder to the target; the others are spread over what is seen from there, near
    the first one where the target is a place on an object.
    """
    point = place_of(d, target, t)
    if mesh is None:
        return [_spot(point, shoulder - point)]
    first = first_hit(mesh, shoulder, point)
    corners = mesh.vertices[mesh.faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    points = spread_over(corners, area)[0] if area.any() else np.zeros((0, 3))
    whole = isinstance(target, str) and not d.world.split(target)[1]
    away = np.linalg.norm(points - first[0], axis=1)
    points = points[away < (_AROUND_M if whole else _BESIDE_M)]
    spots, taken = [_spot(*first)], [first[0]]
    for _ in range(_SPOTS if len(points) else 0):
        apart = np.linalg.norm(points[:, None] - np.array(taken), axis=2).min(axis=1)
        at, normal = first_hit(mesh, shoulder, points[int(np.argmax(apart))])
        taken += [points[int(np.argmax(apart))], at]
        spots.append(_spot(at, normal))
    return spots


def _spot(point: Array, normal: Array) -> Array:
    """A frame (4, 4) at a point (3,), x along a normal (3,)."""
    x = normalize(normal)
    side = normalize(np.cross([0.0, 0.0, 1.0], x)) if abs(x[2]) < 0.95 else np.array([1.0, 0.0, 0.0])
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.stack([x, side, np.cross(x, side)], axis=1), point
    return T


def first_hit(mesh: Mesh, eye: Array, point: Array) -> tuple[Array, Array]:
    """Return where a ray from an eye (3,) to a point (3,) first meets a mesh, and the normal there, towards the eye.

    Where it misses, the nearest corner and the way from there to the eye.
    """
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    ray = point - eye
    u, v = b - a, c - a
    normal = np.cross(u, v)
    det = -(normal @ ray)
    safe = np.where(np.abs(det) > 1e-15, det, np.inf)
    ao = eye - a
    dao = np.cross(ao, ray)
    s, r, at = np.sum(v * dao, axis=1) / safe, -np.sum(u * dao, axis=1) / safe, np.sum(ao * normal, axis=1) / safe
    hit = (s >= 0.0) & (r >= 0.0) & (s + r <= 1.0) & (at > 0.0)
    if not hit.any():
        corner = mesh.vertices[np.argmin(np.linalg.norm(mesh.vertices - point, axis=1))]
        return corner, eye - corner
    k = int(np.flatnonzero(hit)[np.argmin(at[hit])])
    out = normalize(normal[k])
    return eye + at[k] * ray, out if out @ ray < 0.0 else -out
