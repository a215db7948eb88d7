"""A flat object is drawn by flat fingers over the edge of its support, where a hand has room to take it (K9)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from elbowroom.geometry.mesh import Mesh, highest
from elbowroom.geometry.rotations import UP, Array, normalize
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import FOREVER, Director
from elbowroom.plan.hands import hand_of, joints_of, released, shifted
from elbowroom.plan.places import resting, supported
from elbowroom.plan.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Grab
from elbowroom.plan.verbs.grasp_choice import Failed, ReachableGrasp, first_reachable, ranked, reach_grasp
from elbowroom.plan.verbs.leave import depart, let_go
from elbowroom.plan.verbs.next_places import Place
from elbowroom.plan.verbs.take import take
from elbowroom.posing.grasps import press_target

# Smallest ratio of width to height of objects that are slid, which do not tip over; largest height of what a hand takes
# over the edge, and how far in from there it may not be higher, metres: the brim of a hat is as flat as a plate.
_WIDER = 2.0
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
_LOOKS, _TRIES = 24, 8


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
    d.first(_pressed(d, actor, task, mesh, way, what), partial(_slide, d, actor, thing, under, way, what), _TRIES)
    return way


def _way_to_edge(d: Director, actor: Actor, mesh: Mesh, under: list[str]) -> Array | None:
    """Displacement (3,) of a flat object until it overhangs an edge of its support; None where there is none."""
    low, high = mesh.bounds
    size = high - low
    if _WIDER * size[2] > size[:2].min() or "floor" in under:
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
        order = ranked(actor, hand, grasps, T_thing, actor.k)[:_LOOKS]
        suited = first_reachable((reach_grasp(d, actor, hand, grasp, place) for grasp in order), _TRIES, failed)
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
