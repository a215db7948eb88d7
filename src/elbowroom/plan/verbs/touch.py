"""A hand goes to a target and stays, or touches it and retreats; over a motion it then returns to that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from elbowroom.character.hand_shapes import finger_rotations, hand_shape
from elbowroom.character.hands import grip_frame
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import UP, Array, about, normalize
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.solids import merge
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.plan.checks.hands import hand_of, joints_of, shoulder_of
from elbowroom.plan.checks.places import FACE_M, frames_of, inside_of
from elbowroom.plan.checks.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director, varied
from elbowroom.plan.tasks import Point, Reach, Touch
from elbowroom.plan.verbs.carry import on_top
from elbowroom.plan.verbs.encounters import ContactTiming, frames_for, helpful, in_motion, in_reach, paces
from elbowroom.plan.verbs.grasp_choice import Failed, ReachableGrasp, failure, first_reachable, fitting, reach_grasp
from elbowroom.plan.verbs.leave import let_go, take
from elbowroom.plan.verbs.next_places import Place
from elbowroom.plan.verbs.passage import Encounter, Passage
from elbowroom.posing.grasps import press_target
from elbowroom.posing.grasps_form import spread_over

# Rotations of the hand about its own length that are tried at a target without an orientation, radians.
_ROLLS = np.radians([0.0, 30.0, -30.0, 60.0, 90.0, -60.0, 120.0, 180.0])

# Additional spots that are tried where something is touched; their largest distance from the first, metres, on an
# object as a whole and around a place on it; touches with room for the hand that are examined, and how many feasible
# ones are enough to choose from.
_SPOTS = 8
_AROUND_M = 0.3
_BESIDE_M = 0.03
_LOOKS = 60
_ENOUGH = 10

# Directions from a point to either side of the surface that it is on, (6, 3).
_ASIDE = np.concatenate([np.eye(3), -np.eye(3)])

# Touches that are tried without a path to them.
_TRIES = 8

# Seconds that a hand stays with its target while the body goes on, and its shortest retreat, metres.
_TOUCHES, _OFF = 0.08, 0.12

# Candidate hands, and the frame in which each arrives.
Hands = Sequence[tuple[str, int]]


def reach_to(d: Director, task: Reach) -> None:
    """Bring the middle of the grip to a target; the hand points there from the shoulder."""
    actor, what = d.actor(task.who), "reach"
    if in_motion(d, actor, task.to if isinstance(task.to, str) else None, task.at):
        with on_top(d, actor, task):
            T_target = _over_time(d, actor, task.to)
            points = T_target[:, :3, 3]
            hands = frames_for(d, actor, task, points, what)
            options = in_reach(_pointed(d, actor, task, hands, what), actor, hands, points, what)
            return d.first(varied(d, options), partial(_reach_passing, d, actor, task, what, T_target))
    hands = frames_for(d, actor, task, place_of(d, task.to, actor.now), what)
    d.first(varied(d, _pointed(d, actor, task, hands, what)), partial(_reach_standing, d, actor, task, what))


def _pointed(d: Director, actor: Actor, task: Reach, hands: Hands, what: str) -> Iterator[tuple[str, int, Pose]]:
    """Hands, frames, and postures that point to a target; raises `PlanningFailure` where there is none."""
    failed: list[Failed] = []
    for hand, k in hands:
        actor.change(trunk=helpful(actor, hand, k, task.to if isinstance(task.to, str) else None))
        point = place_of(d, task.to, actor.time(k))
        postures = Postures(d.world, actor.who, actor.time(k))
        for T in pointing(actor, hand, point, shoulder_of(actor, hand, actor.neutral(k))):
            found = d.reach(actor, hand, T, k, postures)
            if found.found:
                yield hand, k, found.pose
            else:
                failed.append(failure(found, postures, what))
    if failed:
        raise min(failed, key=lambda f: f[0])[1]


def _reach_standing(d: Director, actor: Actor, task: Reach, what: str, option: tuple[str, int, Pose]) -> None:
    """Go there and stay."""
    hand, k, pose = option
    distance = float(np.linalg.norm((hand_of(actor, hand, pose) - hand_of(actor, hand, actor.pose))[:3, 3]))
    goal = d.looking(actor, pose, place_of(d, task.to, actor.time(k)))
    count = acting.set_out(d, actor, distance, d.frames_until(actor, distance, task.at, 0, what))
    fingers = finger_rotations(actor.body, hand, hand_shape(task.shape))
    acting.travel(d, actor, {hand: fingers}, goal, count, what)
    actor.keep(joints_of(actor, hand))
    actor.pin(hand)


def _reach_passing(
    d: Director, actor: Actor, task: Reach, what: str, T_target: Array, option: tuple[str, int, Pose]
) -> None:
    """Go there and return to the base motion."""
    hand, k, pose = option
    T_hand = T_target @ inverse(T_target[k]) @ hand_of(actor, hand, pose)
    passage = Passage(d, actor, task, Encounter(hand, k, pose, T_target, T_hand), ContactTiming(work=0.0), what)
    passage.help(T_target[:, :3, 3])
    fingers = finger_rotations(actor.body, hand, hand_shape(task.shape))
    passage.come(np.zeros(3), fingers, fingers)
    passage.leave(np.zeros(3), "reach back")
    passage.finish()


def touch(d: Director, task: Touch) -> None:
    """Touch a surface with the fingertips and retreat."""
    actor = d.actor(task.who)
    what = f"touch {task.target}" if isinstance(task.target, str) else "touch"
    if not isinstance(task.target, str) and (met := inside_of(d.world, place_of(d, task.target, 0.0), FACE_M)):
        note = f"touch: the target is {1000.0 * met[1]:.0f} mm inside {met[0]}; its surface is touched."
        d.world = d.world.with_(notes=(*d.world.notes, note))
    if in_motion(d, actor, task.target if isinstance(task.target, str) else None, task.at):
        with on_top(d, actor, task):
            return _touch_passing(d, actor, task, what)
    t = actor.now if task.at is None else task.at
    thing = surface_of(d, task.target, t)[0]

    def do(taking: ReachableGrasp) -> None:
        focus = hand_of(actor, taking.hand, taking.target)[:3, 3]
        take(d, actor, taking, thing, what, task.at, close=False, focus=focus)
        let_go(d, actor, taking.hand, thing, taking.open, [-taking.approach], f"leave {thing or 'it'}")

    hands = frames_for(d, actor, task, place_of(d, task.target, t), what)
    d.first(varied(d, _touches(d, actor, task, hands, what)), do, _TRIES)


def _touch_passing(d: Director, actor: Actor, task: Touch, what: str) -> None:
    """Touch a surface in the best frame, at the first timing that works, while the motion goes on."""
    T_target = _over_time(d, actor, task.target)
    points = T_target[:, :3, 3]
    hands = frames_for(d, actor, task, points, what)

    def do(taking: ReachableGrasp) -> None:
        d.first(paces(actor, taking.hand, points, taking.k), partial(at_pace, taking))

    def at_pace(taking: ReachableGrasp, pace: ContactTiming) -> None:
        thing = surface_of(d, task.target, actor.time(taking.k))[0]
        passage = Passage(d, actor, task, Encounter.of(taking, T_target), replace(pace, work=_TOUCHES), what)
        passage.help(points)
        if thing:
            near = passage.near, actor.time(passage.m.done) + 0.5
            d.allow(hand_contacts(d.world, actor.who, taking.hand, thing, near, PRESS))
        passage.come(-taking.approach, taking.open, taking.open)
        passage.leave(-_OFF * normalize(taking.approach), f"leave {thing or 'it'}")
        passage.finish()

    options = in_reach(_touches(d, actor, task, hands, what), actor, hands, points, what)
    d.first(varied(d, options), do, _TRIES)


def _touches(d: Director, actor: Actor, task: Touch, hands: Hands, what: str) -> Iterator[ReachableGrasp]:
    """Candidate touches of a target, the easiest first; raises `PlanningFailure` where there is none."""
    failed: list[Failed] = []
    for hand, k in hands:
        actor.change(trunk=helpful(actor, hand, k, task.target if isinstance(task.target, str) else None))
        thing, mesh = surface_of(d, task.target, actor.time(k))
        spots = spots_on(d, task.target, mesh, shoulder_of(actor, hand, actor.neutral(k)), actor.time(k))
        postures = Postures(d.world, actor.who, actor.time(k), hand=hand, taking=thing or None)
        touches = [one for spot in spots for one in press_target(actor.body, hand, spot, task.shape)]
        place = Place(np.eye(4), k, postures, what)
        fit = fitting(d, touches, actor.neutral(k), [place], failed, back=False)
        looks = (reach_grasp(d, actor, hand, grasp, place) for grasp in islice(fit, _LOOKS))
        # the easiest first: a finger that slants down is no good where the elbow must rise for it
        yield from first_reachable(looks, _ENOUGH, failed)
    if failed:
        raise min(failed, key=lambda f: f[0])[1]


def _over_time(d: Director, actor: Actor, target: Point | str) -> Array:
    """Transforms of a target (N, 4, 4) by frame, with the axes of what it is on."""
    times = actor.base.times
    if isinstance(target, str) and d.world.split(target)[0] not in d.world.static:
        return frames_of(d.world, target, times)
    return np.tile(transform(place_of(d, target, float(times[0]))), (len(times), 1, 1))


def place_of(d: Director, to: Point | str, t: float) -> Array:
    """Position (3,) in the world that a task names."""
    if isinstance(to, str):
        return np.asarray(
            d.world.frame(to, t)[:3, 3] if to not in d.world.static else d.world.static[to].bounds.mean(0)
        )
    point = np.asarray(to, dtype=float)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise BadValue(f"a target must be three finite numbers, not {to}.")
    return point


def pointing(actor: Actor, hand: str, point: Array, shoulder: Array) -> Iterator[Array]:
    """Transforms of a hand's joint (4, 4) whose grip is at a point, the hand along the line from a shoulder (3,)."""
    along = normalize(point - shoulder)
    up = UP if abs(along[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
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
    """Name of what is touched, as in collision pairs, and its mesh in the world; none at a point in the open."""
    if not isinstance(target, str):
        point = place_of(d, target, t)
        # one on a surface is on neither side of it
        met = inside_of(d.world, point, 0.0) or inside_of(d.world, point + FACE_M * _ASIDE, 0.0)
        return ("", None) if met is None else (met[0], d.world.static[met[0]])
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
    meshes = [shape_mesh(s).moved(T[joint]) for s in shapes]
    return f"{owner}.{shapes[0].name}", merge(meshes)


def spots_on(d: Director, target: Point | str, mesh: Mesh | None, shoulder: Array, t: float) -> list[Array]:
    """Spots to touch, (4, 4) each: x out of the surface, or towards the shoulder (3,) where there is none.

    The first is on the line from the shoulder to the target; the others are spread over what is visible from there,
    near the first one where the target is a place on an object.
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
    side = normalize(np.cross(UP, x)) if abs(x[2]) < 0.95 else np.array([1.0, 0.0, 0.0])
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.stack([x, side, np.cross(x, side)], axis=1), point
    return T


def first_hit(mesh: Mesh, eye: Array, point: Array) -> tuple[Array, Array]:
    """First hit of a ray from an eye (3,) to a point (3,) with a mesh, and the normal there, towards the eye.

    Where it misses, the nearest vertex and the direction from there to the eye.
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
