"""Positions around an object from which people lift it together, and their walk to them (E1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import facing
from elbowroom.locomotion.course import towards
from elbowroom.locomotion.departure import stance_of
from elbowroom.locomotion.room import gap, part
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.steps.director import Director
from elbowroom.plan.teams.animate import Blocked, held_frames
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.plan.verbs.holding import Grips
from elbowroom.plan.walking.stances import standing_at
from elbowroom.plan.walking.walked import Effort, Spot, WalkRequest, walk_to
from elbowroom.world.world import World

# Farthest steps back that are tried, and metres from one to the next, after some frames in which the body rises; parts
# of the trunk that is to be off the forearms.
MOST_BACK_M, _BACK_STEP_M, _UPRIGHT = (0.24, 0.16, 0.08), 0.02, 8
_TRUNK_PARTS = ("pelvis", "spine1", "spine2")
# Limbs that have to be free where somebody stands; arms give way on the walk there.
_UNDER_ARMS = ("spine", "left_leg", "right_leg")
# Distance of a body's middle from the side that it holds, share of the height: of an object held by its two ends; of
# one longer than a share of the height, with fingers under its edge; and of an object taller than a share of it, which
# is carried in front of the legs, too.
_BEFORE, _BEFORE_EDGE, _BEFORE_TALL = 0.19, 0.22, 0.23
_EDGE, _KNEES = 0.37, 0.32
# Distance and angle within which a person already stands at a side, facing the object, metres, radians.
_NEAR_M, _FACES_RAD = 0.42, np.radians(50.0)
# Positions along a side, shares of half its length.
_ALONG = 0.55


def in_place(world: World, thing: str, actors: Sequence[Actor]) -> bool:
    """Return whether everybody already stands at an object, facing it."""
    for actor in actors:
        place, heading = stance_of(actor.body, actor.pose)
        middle, axes, half = footprint(world, thing, actor.now)
        local = axes.T @ (place - middle)
        near = np.clip(local, -half, half)
        gap = float(np.linalg.norm(local - near))
        turn = towards(place, middle + axes @ near) - heading
        turn = (turn + np.pi) % (2.0 * np.pi) - np.pi
        if not 0.0 < gap < _NEAR_M or abs(turn) > _FACES_RAD:
            return False
    return True


def footprint(world: World, thing: str, t: float) -> tuple[Array, Array, Array]:
    """Rectangle of an object on the floor: its middle (2,), axes as columns (2, 2), the longer first, half its size."""
    T, mesh = np.asarray(world.frame(thing, t)), world.objects[thing].mesh
    flat = mesh.vertices @ T[:3, :3].T + T[:3, 3]
    best: tuple[float, Array, Array, Array] | None = None
    own = np.arctan2(T[1, 0], T[0, 0])
    for angle in (own, *np.linspace(0.0, 0.5 * np.pi, 18, endpoint=False)):
        axes = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        along = flat[:, :2] @ axes
        low, high = along.min(axis=0), along.max(axis=0)
        area = float(np.prod(high - low))
        if best is None or area < 0.95 * best[0]:
            best = area, axes @ (0.5 * (low + high)), axes, 0.5 * (high - low)
    assert best is not None
    _, middle, axes, half = best
    return (middle, axes, half) if half[0] >= half[1] else (middle, axes[:, ::-1] * [1.0, -1.0], half[::-1])


def holds_edge(world: World, thing: str, actor: Actor) -> bool:
    """Return whether the side of an object before an actor is so long that it is held with fingers under its edge."""
    middle, axes, half = footprint(world, thing, actor.now)
    local = axes.T @ (stance_of(actor.body, actor.pose)[0] - middle)
    side = int(np.argmax(np.abs(local) - half))
    return bool(2.0 * half[1 - side] > _EDGE * actor.body.height)


def slots(world: World, thing: str, t: float, actors: Sequence[Actor]) -> list[list[Spot]]:
    """Positions for all of some people, one list for each arrangement around the object, the best first."""
    middle, axes, half = footprint(world, thing, t)
    ends, sides = [(1.0, 0.0), (-1.0, 0.0)], [(0.0, 1.0), (0.0, -1.0)]
    count = len(actors)
    if count == 1:
        ways = [[at] for at in (*sides, *ends)]
    elif count == 2:
        ways = [ends, sides]
    else:
        along = [(a * _ALONG, b) for a in (1.0, -1.0) for b in (1.0, -1.0)]
        corners = [(a, b * _ALONG) for a in (1.0, -1.0) for b in (1.0, -1.0)]
        ways = [[*along, *ends][:count], [*corners, *sides][:count]]
        if count == 3:
            ways = [[ends[0], *along[2:]], [ends[1], *along[:2]], *ways]
    tall = float(np.mean([actor.body.height for actor in actors]))
    mesh = world.objects[thing].mesh
    high = float(np.ptp(mesh.bounds[:, 2])) > _KNEES * tall
    found = []
    for way in ways:
        spots = []
        for a, b in way:
            side = np.array([a, b])
            out = np.where(np.abs(side) >= 1.0, np.sign(side), 0.0)
            edge = 2.0 * float(half @ (out == 0.0)) > _EDGE * tall
            before = _BEFORE_TALL if high else _BEFORE_EDGE if edge else _BEFORE
            place = middle + axes @ (side * half + before * tall * out)
            spots.append(Spot(place, towards(place, place - axes @ out)))
        found.append(_assigned(actors, spots))
    if count == 1:
        start = stance_of(actors[0].body, actors[0].pose)[0]
        found.sort(key=lambda spots: float(np.linalg.norm(spots[0].place - start)))
    return found


def _assigned(actors: Sequence[Actor], spots: Sequence[Spot]) -> list[Spot]:
    """Spots in the order of people, with the smallest total distance."""
    starts = [stance_of(actor.body, actor.pose)[0] for actor in actors]
    far = np.array([[np.linalg.norm(start - spot.place) for spot in spots] for start in starts])
    _, columns = scipy.optimize.linear_sum_assignment(far)
    return [spots[int(k)] for k in columns]


def walk_up(d: Director, actors: Sequence[Actor], spots: Sequence[Spot], what: str) -> None:
    """Let everybody walk to their spot; raises `PlanningFailure`, at once where trunk or legs would be inside of
    something there."""
    effort: Effort = "leans" if d.mode.brief else "all"
    for actor, spot in zip(actors, spots, strict=True):
        stands = standing_at(actor, spot.place, spot.face or 0.0)
        postures = Postures(d.world, actor.who, actor.now)
        met = [] if stands is None else [postures.blame(stands.pose, of=limb) for limb in _UNDER_ARMS]
        if any(pair is not None and not d.world.static.keys().isdisjoint(pair) for pair in met):
            x, y = spot.place
            raise PlanningFailure("target-in-collision", f"{what}: {actor.who} cannot stand at ({x:.2f}, {y:.2f})")
        walk_to(d, actor, spot, WalkRequest(f"{what}: {actor.who} walks up", effort=effort))


def steps_back(carrier: Carrier, grips: Grips, T_thing: Array, sways: float) -> float:
    """Metres by which a person steps back from an object at (4, 4) to walk upright with it: forearms are to be so far
    off the trunk that it can sway between them, by `sways` metres.
    """
    actor, body = carrier.actor, carrier.actor.body
    heading = stance_of(body, actor.pose)[1]
    for most in MOST_BACK_M:
        off = np.concatenate([np.zeros(_UPRIGHT), np.arange(0.0, most + 1e-9, _BACK_STEP_M)])
        root = np.array(np.repeat(actor.base.root[-1:], len(off), axis=0))
        root[:, :2] -= off[:, None] * facing(heading)
        upright = actor.base.with_(root=root, rotations=np.repeat(actor.base.rotations[-1:], len(off), axis=0))
        try:
            places = np.repeat(T_thing[None], len(off), axis=0)
            held = held_frames(carrier, grips, upright, places, in_time=False)
        except Blocked:
            continue
        T = body.transforms(held.root[_UPRIGHT:], held.rotations[_UPRIGHT:])
        trunk = part(body, tuple(body.role(name) for name in _TRUNK_PARTS if name in body.roles), T)
        arms = [part(body, (body.role(f"{hand}_forearm"),), T) for hand in grips.grasps]
        gaps = [gap(trunk, arm, sways)[0] for arm in arms if trunk is not None and arm is not None]
        enough = np.flatnonzero(np.min(gaps, axis=0) >= sways) if gaps else np.zeros(1, int)
        return float(off[_UPRIGHT + enough[0]]) if len(enough) else most
    return 0.0
