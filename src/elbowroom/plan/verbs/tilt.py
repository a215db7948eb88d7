"""Flat objects (K9): drawn by flat fingers over the edge of the support, where a hand has room to take them, or tilted
up at the near edge by fingers that slip below, and taken there.

What is tilted rolls about what it rests on farthest from the hand, so at any moment it lies on its support and on the
fingers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.mesh import Mesh, highest
from elbowroom.geometry.rotations import UP, Array, about, from_matrix, normalize, rotate
from elbowroom.geometry.transforms import apply, inverse, transform
from elbowroom.plan.checks.hands import arms_of, discomfort, hand_of, joints_of, released, shifted
from elbowroom.plan.checks.places import resting, supported
from elbowroom.plan.checks.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, blamed
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director
from elbowroom.plan.steps.give_way import require_free
from elbowroom.plan.tasks import Grab
from elbowroom.plan.verbs.grasp_choice import (
    Failed,
    ReachableGrasp,
    borne,
    eligible,
    failure,
    first_reachable,
    lies_low,
    opened,
    ranked,
    reach_grasp,
)  # fmt: skip
from elbowroom.plan.verbs.leave import depart, let_go, take
from elbowroom.plan.verbs.next_places import Place
from elbowroom.posing.fingers_model import HandAtThing, hand_model
from elbowroom.posing.grasps import closed_on, edge_grasps, opposed, press_target
from elbowroom.posing.grasps_settle import Grasp
from elbowroom.world.paths import Keyed
from elbowroom.world.things import FOREVER

# Smallest ratio of width to height of objects that are tilted; others have sides that a hand takes.
_WIDER = 2.0

# Tilts at which an object is taken, tried in turn, and edges, as angles from the direction to the actor; combinations
# with room for a hand that are tried, reaches by each hand, and paths.
_TILTS = (30, 45, 60)  # degrees, which are the steps of rolling
_SIDES = tuple(np.radians([0.0, 40.0, -40.0, 80.0, -80.0]))
_TRIES, _LOOKS, _PATHS = 6, 4, 2

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
        return np.asarray(self.places[np.rint(np.asarray(share) * (len(self.places) - 1)).astype(int)])


def tilt_up(d: Director, actor: Actor, task: Grab, what: str, standing: Callable[..., None]) -> None:
    """Tilt a flat object up at an edge and take it there; raises `PlanningFailure` where that is not possible.

    `standing(taking, by)` takes a reachable grasp by `by` and lifts the object.
    """
    thing, k = task.object, actor.k
    T_flat, mesh = d.world.frame(thing, actor.now), d.world.objects[thing].mesh
    low, high = mesh.moved(T_flat).bounds
    under = resting(d.world, thing, actor.now)
    none = PlanningFailure("target-in-collision", f"{what}: there is no room around it for the fingers")
    none.anywhere = True
    held = any(hold.object == thing for hold in d.world.holds)
    if held or not under or _WIDER * (high - low)[2] > (high - low)[:2].min():
        raise none
    hands = arms_of(actor, task.hand)
    lying = {hand: Postures(d.world, actor.who, actor.now, hand=hand, taking=thing) for hand in hands}
    if d.settings.reach.soft:
        lying = {hand: postures.with_soft_tissue() for hand, postures in lying.items()}
    failed: list[Failed] = []
    tries = _TRIES
    to_person = normalize((actor.pose.root - 0.5 * (low + high)) * [1.0, 1.0, 0.0])
    # near the floor another stance is better than another side, which takes more time
    for side in _SIDES[:1] if lies_low(d, actor, T_flat) else _SIDES:
        out, R = rotate(about(UP, side), to_person), T_flat[:3, :3].T
        rolled = _rolled(mesh, T_flat, out, max(_TILTS))
        edges = {h: eligible(d, h, thing, edge_grasps(actor.body, h, mesh, R @ out, R @ UP), None) for h in hands}
        for degrees in _TILTS:
            tilt = _Tilt(rolled[: degrees + 1], out)
            if set(resting(d.world, thing, actor.now, tilt.places[-1])) - set(under):
                break  # it meets something else
            options: list[ReachableGrasp | Failed] = []
            for hand in hands:
                raised = lying[hand].with_object_at(tilt.places[-1])
                both = Place(T_flat, k, lying[hand], what), Place(tilt.places[-1], k, raised, what)
                some = islice(_with_room(d, actor, thing, edges[hand], tilt, both[1]), _LOOKS)
                options += [_reach(d, actor, thing, grasp, T_start, both) for grasp, T_start in some]
            suited = first_reachable(options, len(options), failed)
            by = partial(_tilt, tilt=tilt, under=under)
            if suited:
                reason = d.attempt(partial(d.first, suited, partial(standing, by=by), _PATHS))
                if reason is None:
                    return
                failed.append((0.0, reason))
            tries -= bool(options)
            if tries <= 0:
                break
        if tries <= 0:
            break
    raise min(failed, key=lambda f: f[0])[1] if failed else none


def _with_room(
    d: Director, actor: Actor, thing: str, edge: list[Grasp], tilt: _Tilt, place: Place
) -> Iterator[tuple[Grasp, Array]]:
    """Grasps of a tilted object's near edge with room for a hand that comes from below it, the best first, and the
    hand's transform (4, 4) before the edge.
    """
    what, pose = d.world.objects[thing], actor.neutral(actor.k)
    for grasp in ranked(actor, edge[0].hand, edge, place.T_world_thing, actor.k) if edge else ():
        if place.postures.grasp_blame(pose, grasp, place.T_world_thing) is None and opposed(actor.body, what, grasp):
            found = _fingers_below(actor, what.mesh, grasp, tilt)
            if found is not None:
                yield grasp, found[0]


def _reach(
    d: Director, actor: Actor, thing: str, grasp: Grasp, T_start: Array, places: tuple[Place, Place]
) -> ReachableGrasp | Failed:
    """A grasp of the tilted object, the second of two places, as an option, or the severity and reason of its failure.

    Its `before` is the posture with the hand at T_start (4, 4), the object as it lies.
    """
    lying, raised = places
    fingers, _ = opened(actor, grasp.hand, grasp, lying)
    _, T_end = opened(actor, grasp.hand, grasp, raised)
    # the body folds up for the lower of the two
    there = d.reach(actor, grasp.hand, T_start, actor.k, lying.postures)
    if not there.found:
        return failure(there, lying.postures, lying.what)
    end = d.near(actor, grasp.hand, there.pose, T_end, actor.k, raised.postures)
    if not isinstance(end, Pose):
        why = blamed(end) or "the arm cannot raise its edge"
        return 1.0, PlanningFailure("target-in-collision", f"{raised.what}: {why}")
    way = d.settings.approach * raised.T_world_thing[:3, :3] @ grasp.approach
    cost = grasp.cost + sum(discomfort(actor, grasp.hand, pose) for pose in (there.pose, end))
    taking = ReachableGrasp(grasp.hand, actor.k, grasp, T_end, end, there.pose, fingers, way, cost)
    return borne(d, actor, thing, taking)


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
    d: Director, actor: Actor, taking: ReachableGrasp, thing: str, what: str, at: float | None, *,
    tilt: _Tilt, under: list[str],
) -> None:  # fmt: skip
    """Bring the fingers to the edge of an object, raise it, and close them on it."""
    hand, mesh = taking.hand, d.world.objects[thing].mesh
    found = _fingers_below(actor, mesh, taking.grasp, tilt)
    assert found is not None, "others are no options"
    T_start, first = found
    postures = Postures(d.world, actor.who, actor.now, hand=hand, taking=thing)
    postures = postures.with_soft_tissue() if d.settings.reach.soft else postures
    postures.fingers = dict(zip(finger_joints(actor.body, hand), taking.open, strict=True))
    down = -_DOWN_M * normalize(UP + 0.5 * tilt.out)
    before = d.near(actor, hand, taking.before, shifted(T_start, -down), actor.k, postures)
    if not isinstance(before, Pose):
        why = blamed(before) or "the arm cannot get to its edge"
        raise PlanningFailure("target-in-collision", f"{what}: {why}")
    come = replace(taking, T_world_hand=T_start, target=taking.before, before=before, approach=down)
    take(d, actor, come, thing, what, at, close=False)
    begin, raising = actor.k, actor.frames(_RAISE_S)
    way = float(np.linalg.norm(taking.T_world_hand[:3, 3] - hand_of(actor, hand, actor.pose)[:3, 3]))
    lifting = actor.frames(max(way / d.settings.slow, _LIFT_S))
    shares = np.concatenate([first * _eased(raising), first + (1.0 - first) * _eased(lifting)[1:]])
    times = actor.base.start + (begin + np.arange(len(shares))) / actor.base.fps
    moved = replace(d.world.objects[thing], path=_between(times, shares, tilt))
    d.world = d.world.with_(objects={**d.world.objects, thing: moved})
    end = actor.time(begin + raising + lifting + actor.frames(d.settings.close))
    d.allow(supported(thing, under, (-np.inf, end)))
    d.allow(hand_contacts(d.world, actor.who, hand, thing, (actor.now, end), PRESS))
    acting.move_fingers(d, actor, {hand: taking.open}, _RAISE_S)
    acting.travel(
        d, actor, {hand: None}, d.looking(actor, taking.target, tilt.places[-1][:3, 3]), lifting, what, "contact"
    )
    acting.move_fingers(d, actor, {hand: closed_on(actor.body, mesh, taking.grasp).rotations}, d.settings.close)
    require_free(d, (actor.time(begin), actor.now), what)


def _between(times: Array, shares: Array, tilt: _Tilt) -> Keyed:
    """Path of an object that has some shares (N,) of its tilt at times (N,)."""
    degrees = shares * (len(tilt.places) - 1)
    whole = Keyed(np.arange(float(len(tilt.places))), tilt.places[:, :3, 3], from_matrix(tilt.places[:, :3, :3]))
    T = whole.sample(degrees)
    return Keyed(times, T[:, :3, 3], from_matrix(T[:, :3, :3]))


def _eased(count: int) -> Array:
    return np.asarray(smoothstep(np.linspace(0.0, 1.0, count + 1)))


def _fingers_below(actor: Actor, mesh: Mesh, grasp: Grasp, tilt: _Tilt) -> tuple[Array, float] | None:
    """Transform (4, 4) of the open hand before the edge of the object as it lies, and the share of the tilt by which
    its edge is first raised, so that the hand then goes straight to its grasp without meeting the object.
    """
    T_end, shape = tilt.places[-1] @ grasp.T_thing_hand, grasp.open
    scene = HandAtThing(hand_model(actor.body, grasp.hand), mesh)
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


# Smallest ratio of width to height of objects that are slid, which do not tip over; largest height of what a hand takes
# over the edge, and how far in from there it may not be higher, metres: the brim of a hat is as flat as a plate.
_FLAT = 2.0
_FLAT_M, _LIP_M = 0.045, 0.05

# Overhang of the object then, metres, and its largest share of the length that way.
_OVER_M, _OVER_SHARE = 0.075, 0.42

# Distance and step of the search for an edge, metres, and its angles from the direction to the actor.
_FAR_M, _STEP_M = 0.6, 0.004
_TURNS = tuple(np.radians([0.0, 30.0, -30.0, 60.0, -60.0]))

# A support is no lower than this below an object, metres.
_CARRIES_M = 0.005

# Positions of the fingers on the object, from its middle towards the edge, as shares of half its length; options that
# are examined, and tried.
_SPOTS = (0.0, -0.35, 0.35)
_SLID_LOOKS, _PRESSES = 24, 8


def slide_to_edge(d: Director, actor: Actor, task: Grab) -> Array:
    """Draw a flat object over an edge and release it; return its displacement (3,), metres.

    Raises `PlanningFailure` where that is not possible.
    """
    thing, what = task.object, f"slide {task.object}"
    T_thing = d.world.frame(thing, actor.now)
    mesh = d.world.objects[thing].mesh.moved(T_thing)
    under = resting(d.world, thing, actor.now)
    way = _way_to_edge(d, actor, mesh, under)
    if way is None:
        none = PlanningFailure("target-in-collision", f"{what}: there is no edge nearby, or it is not flat")
        none.anywhere = True
        raise none
    d.first(_pressed(d, actor, task, mesh, way, what), partial(_slide, d, actor, thing, under, way, what), _PRESSES)
    return way


def _way_to_edge(d: Director, actor: Actor, mesh: Mesh, under: list[str]) -> Array | None:
    """Displacement (3,) of a flat object until it overhangs an edge of its support; None where there is none."""
    low, high = mesh.bounds
    size = high - low
    if _FLAT * size[2] > size[:2].min() or "floor" in under:
        return None
    grounds = [d.world.static[n] if n in d.world.static else _placed(d, n, actor.now) for n in under]
    corners = [ground.vertices[ground.faces] for ground in grounds]
    middle = 0.5 * (low + high)
    to_person = normalize((actor.pose.root - middle) * [1.0, 1.0, 0.0])
    ways = []
    for turn in _TURNS:
        c, s = np.cos(turn), np.sin(turn)
        out = np.array([c * to_person[0] - s * to_person[1], s * to_person[0] + c * to_person[1], 0.0])
        along = (mesh.vertices - middle) @ out
        ahead = float(along.max())
        if mesh.vertices[along > ahead - _LIP_M, 2].max() > low[2] + _FLAT_M:
            continue
        for far in np.arange(0.0, _FAR_M, _STEP_M):
            spot = (middle + (ahead + far) * out)[None, :2]
            top = max((highest(c, spot) for c in corners), default=-np.inf)
            if top > low[2] + _CARRIES_M:  # a wall
                break
            if top < low[2] - _CARRIES_M:
                over = min(_OVER_M, _OVER_SHARE * 2.0 * ahead)
                ways.append((far + over) * out)
                break
    return min(ways, key=lambda way: float(np.linalg.norm(way)), default=None)


def _placed(d: Director, name: str, t: float) -> Mesh:
    return d.world.objects[name].mesh.moved(d.world.frame(name, t))


def _pressed(d: Director, actor: Actor, task: Grab, mesh: Mesh, way: Array, what: str) -> Iterator[ReachableGrasp]:
    """Options to lay flat fingers on an object, the best first; raises `PlanningFailure` where there is none."""
    failed: list[Failed] = []
    T_thing, along = d.world.frame(task.object, actor.now), normalize(way)
    middle = mesh.bounds.mean(axis=0)
    half = float(((mesh.vertices - middle) @ along).max())
    given = 0
    for hand in ("left", "right") if task.hand is None else (task.hand,):
        place = Place(T_thing, actor.k, Postures(d.world, actor.who, actor.now, hand=hand, taking=task.object), what)
        grasps = []
        for share in _SPOTS:
            spot = transform(middle + share * half * along)
            spot[2, 3] = highest(mesh.vertices[mesh.faces], spot[None, :2, 3])
            if not np.isfinite(spot[2, 3]):  # a ring has nothing in its middle
                continue
            spot[:3, :3] = np.stack([UP, along, np.cross(UP, along)], axis=1)
            grasps += press_target(actor.body, hand, inverse(T_thing) @ spot, "flat")
        order = ranked(actor, hand, grasps, T_thing, actor.k)[:_SLID_LOOKS]
        suited = first_reachable((reach_grasp(d, actor, hand, grasp, place) for grasp in order), _PRESSES, failed)
        given += len(suited)
        yield from suited
    if not given:
        none = (2.0, PlanningFailure("target-in-collision", f"{what}: there is no place on it for the fingers"))
        raise min(failed, key=lambda f: f[0], default=none)[1]


def _slide(
    d: Director, actor: Actor, thing: str, under: list[str], way: Array, what: str, taking: ReachableGrasp
) -> None:
    """Lay the fingers on an object, draw it along, and leave it."""
    hand = taking.hand
    take(d, actor, taking, thing, what, None, close=False)
    begin, T_hand = actor.now, hand_of(actor, hand, actor.pose)
    T_thing = d.world.frame(thing, begin)
    d.world = d.world.with_hold(thing, actor.who, hand, (begin, FOREVER), inverse(T_hand) @ T_thing)
    actor.keep(joints_of(actor, hand))
    d.allow(supported(thing, under, (-np.inf, FOREVER)))
    d.allow(hand_contacts(d.world, actor.who, hand, thing, (begin, FOREVER), PRESS))
    depart(d, actor, hand, [shifted(T_hand, way)], what)
    d.world = released(d.world, thing, actor.now)
    let_go(d, actor, hand, thing, taking.open, [UP], f"leave {thing}")
