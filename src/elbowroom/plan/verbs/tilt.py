"""A flat object is tilted up at its near edge by fingers that slip below it, and taken there (K9).

It rolls about what it rests on farthest from the hand, so at any moment it lies on its support and on the fingers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import UP, Array, about, from_matrix, normalize, rotate
from elbowroom.geometry.transforms import apply, inverse, transform
from elbowroom.plan import acting
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director
from elbowroom.plan.give_way import require_free
from elbowroom.plan.hands import hand_of, shifted
from elbowroom.plan.places import resting, supported
from elbowroom.plan.postures import PRESS, Postures, at_rest, hand_contacts
from elbowroom.plan.result import PlanningFailure, blamed
from elbowroom.plan.tasks import Grab
from elbowroom.plan.verbs.grasp_choice import ReachableGrasp, reachable_grasps
from elbowroom.plan.verbs.take import take
from elbowroom.posing.fingers_model import HandAtThing, hand_model
from elbowroom.posing.grasps import Grasp, closed_on, edge_grasps
from elbowroom.world.paths import Keyed

# Smallest ratio of width to height of objects that are tilted; others have sides that a hand takes.
_WIDER = 2.0

# Tilts at which an object is taken, tried in turn, and edges, as angles from the direction to the actor; combinations
# with room for a hand that are tried, which take some reaches each, and paths to each.
_TILTS = (30, 45, 60)  # degrees, which are the steps of rolling
_SIDES = tuple(np.radians([0.0, 40.0, -40.0, 80.0, -80.0]))
_TRIES, _PATHS = 4, 2

# Height of fingers above the support when they come to the edge, and steps outwards until they are clear of it, metres.
_ABOVE_M = 0.002
_OUT_M = np.arange(0.0, 0.1, 0.004)

# Shares of a tilt that are tried for its first part, in which the edge alone is raised to above the fingertips, and
# samples of both parts.
_FIRST = np.linspace(0.1, 1.0, 10)
_SAMPLES = np.linspace(0.0, 1.0, 9)

# Seconds of the first part, and of the second at least; way down to the edge, metres.
_RAISE_S, _LIFT_S, _DOWN_M = 0.35, 0.5, 0.05


@dataclass(frozen=True, eq=False)
class _Tilt:
    """An object that rolls up on its support: placements (N, 4, 4) by the degree, `out` (3,) towards its near edge."""

    places: Array
    out: Array

    def at(self, share: Array | float) -> Array:
        """Placements (..., 4, 4) at shares of the tilt, to the nearest degree."""
        return self.places[np.rint(np.asarray(share) * (len(self.places) - 1)).astype(int)]


def tilt_up(d: Director, actor: Actor, task: Grab, what: str, standing: Callable[..., None]) -> None:
    """Tilt a flat object up at an edge and take it there; raises `PlanningFailure` where that is not possible.

    `standing(taking, by)` takes a reachable grasp by `by` and lifts the object.
    """
    thing, begin = task.object, d.save()
    T_flat, mesh = d.world.frame(thing, actor.now), d.world.objects[thing].mesh
    low, high = mesh.moved(T_flat).bounds
    under = resting(d.world, thing, actor.now)
    none = PlanningFailure("target-in-collision", f"{what}: fingers find no room about it")
    none.anywhere = True
    held = any(hold.object == thing for hold in d.world.holds)
    if held or not under or _WIDER * (high - low)[2] > (high - low)[:2].min():
        raise none
    failure: PlanningFailure | None = None
    tries = _TRIES
    to_person = normalize((actor.pose.root - 0.5 * (low + high)) * [1.0, 1.0, 0.0])
    for side in _SIDES:
        out = rotate(about(UP, side), to_person)
        rolled = _rolled(mesh, T_flat, out, max(_TILTS))
        R = T_flat[:3, :3].T

        for degrees in _TILTS:
            tilt = _Tilt(rolled[: degrees + 1], out)
            if set(resting(d.world, thing, actor.now, tilt.places[-1])) - set(under):
                break  # it meets something else
            d.world = at_rest(d.world, thing, tilt.places[-1])

            def grasps(hand: str, tilt: _Tilt = tilt) -> list[Grasp]:
                edge = edge_grasps(actor.body, hand, mesh, R @ tilt.out, R @ UP)
                scene = HandAtThing(hand_model(actor.body, hand), mesh)
                return [g for g in edge if _fingers_below(scene, mesh, g, tilt) is not None]

            def by(d: Director, actor: Actor, taking: ReachableGrasp, *_: object, tilt: _Tilt = tilt) -> None:
                _tilt(d, actor, taking, task, tilt, under, what)

            try:
                options = reachable_grasps(d, actor, thing, task, what, proposed=grasps)
                return d.first(options, partial(standing, by=by), _PATHS)
            except PlanningFailure as reason:
                d.restore(begin)
                if reason.anywhere:
                    continue
                failure, tries = failure or reason, tries - 1
            if tries <= 0:
                raise failure
    raise failure or none


def _rolled(mesh: Mesh, T_flat: Array, out: Array, degrees: int) -> Array:
    """Placements (degrees + 1, 4, 4) of a mesh that is raised on the side of `out` (3,) and rolls on its support."""
    axis, T, places = np.cross(out, UP), T_flat, [T_flat]
    points = mesh.vertices
    ground = float(apply(T, points)[:, 2].min())
    for _ in range(degrees):
        at = apply(T, points)
        lowest = at[at[:, 2] < ground + 1e-5]
        pivot = lowest[int(np.argmin(lowest @ out))]
        T = transform(pivot) @ transform(np.zeros(3), about(axis, np.radians(1.0))) @ transform(-pivot) @ T
        T = shifted(T, (ground - float(apply(T, points)[:, 2].min())) * UP)
        places.append(T)
    return np.stack(places)


def _tilt(
    d: Director, actor: Actor, taking: ReachableGrasp, task: Grab, tilt: _Tilt, under: list[str], what: str
) -> None:
    """Bring the fingers to the edge of an object, raise it, and close them on it."""
    hand, thing = taking.hand, task.object
    d.world = at_rest(d.world, thing, tilt.places[0])
    mesh = d.world.objects[thing].mesh
    found = _fingers_below(HandAtThing(hand_model(actor.body, hand), mesh), mesh, taking.grasp, tilt)
    assert found is not None, "others were not proposed"
    T_start, first = found
    postures = Postures(d.world, actor.who, actor.now, hand=hand, taking=thing)
    postures = postures.with_soft_tissue() if d.settings.reach.soft else postures
    postures.fingers = dict(zip(finger_joints(actor.body, hand), taking.open, strict=True))
    down = -_DOWN_M * normalize(UP + 0.5 * tilt.out)
    start = _near(d, actor, hand, taking.target, T_start, postures, what)
    before = _near(d, actor, hand, start, shifted(T_start, -down), postures, what)
    come = replace(taking, T_world_hand=T_start, target=start, before=before, approach=down)
    take(d, actor, come, thing, what, task.at, close=False)
    begin, raising = actor.k, actor.frames(_RAISE_S)
    way = float(np.linalg.norm(taking.T_world_hand[:3, 3] - hand_of(actor, hand, actor.pose)[:3, 3]))
    lifting = actor.frames(max(way / d.settings.slow, _LIFT_S))
    shares = np.concatenate([first * _eased(raising), first + (1.0 - first) * _eased(lifting)[1:]])
    times = actor.base.start + (begin + np.arange(len(shares))) / actor.base.fps
    T = tilt.at(shares)
    moved = replace(d.world.objects[thing], path=_between(times, shares, tilt))
    d.world = d.world.with_(objects={**d.world.objects, thing: moved})
    end = actor.time(begin + raising + lifting + actor.frames(d.settings.close))
    d.allow(supported(thing, under, (-np.inf, end)))
    d.allow(hand_contacts(d.world, actor.who, hand, thing, (actor.now, end), PRESS))
    acting.move_fingers(d, actor, {hand: taking.open}, _RAISE_S)
    acting.travel(d, actor, {hand: None}, d.looking(actor, taking.target, T[-1][:3, 3]), lifting, what, "contact")
    acting.move_fingers(d, actor, {hand: closed_on(actor.body, mesh, taking.grasp).rotations}, d.settings.close)
    require_free(d, (actor.time(begin), actor.now), what)


def _between(times: Array, shares: Array, tilt: _Tilt) -> Keyed:
    """Path of an object that has some shares (N,) of its tilt at times (N,)."""
    degrees = shares * (len(tilt.places) - 1)
    whole = Keyed(np.arange(len(tilt.places)), tilt.places[:, :3, 3], from_matrix(tilt.places[:, :3, :3]))
    T = whole.sample(degrees)
    return Keyed(times, T[:, :3, 3], from_matrix(T[:, :3, :3]))


def _eased(count: int) -> Array:
    return np.asarray(acting.smoothstep(np.linspace(0.0, 1.0, count + 1)))


def _near(d: Director, actor: Actor, hand: str, pose: Pose, T: Array, postures: Postures, what: str) -> Pose:
    """A posture near another, with a hand at its target (4, 4); raises `PlanningFailure` where there is none."""
    found = d.near(actor, hand, pose, T, actor.k, postures)
    if isinstance(found, Pose):
        return found
    raise PlanningFailure("target-in-collision", f"{what}: {blamed(found) or 'the arm does not get to its edge'}")


def _fingers_below(scene: HandAtThing, mesh: Mesh, grasp: Grasp, tilt: _Tilt) -> tuple[Array, float] | None:
    """Transform (4, 4) of the open hand before the edge of the object as it lies, and the share of the tilt by which
    its edge is first raised, so that the hand then goes straight to its grasp without meeting the object.
    """
    T_end, shape = tilt.places[-1] @ grasp.T_thing_hand, grasp.open
    ground = float(apply(tilt.places[0], mesh.vertices)[:, 2].min())
    low = scene.model.lowest(shape, T_end[:3, :3].T @ UP) + float(T_end[2, 3]) - ground
    scene.put_hand(scene.model.places(shape))

    def free(T_hand: Array, share: float) -> bool:
        return scene.free_at(inverse(tilt.at(share)) @ T_hand, np.zeros(3))

    down = shifted(T_end, min(_ABOVE_M - low, 0.0) * UP)
    for T_start in (shifted(down, by * tilt.out) for by in _OUT_M):
        if not free(T_start, 0.0):
            continue
        way = (T_end - T_start)[:3, 3]
        for first in _FIRST.tolist():
            if not all(free(T_start, first * u) for u in _SAMPLES.tolist()):
                break
            if all(free(shifted(T_start, u * way), first + (1.0 - first) * u) for u in _SAMPLES.tolist()):
                return T_start, first
    return None
