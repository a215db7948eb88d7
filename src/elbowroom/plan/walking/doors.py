"""Doors on a path: where to stand while they are opened, at once or step by step with the handle in the hand, and
walking on through them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import UP, Array, angle_between, continuous
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.locomotion import blend
from elbowroom.locomotion.course import faced_route, from_rest_to_rest, towards, ways_along
from elbowroom.locomotion.departure import footprints_of, led_over, stance_of
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.modes import Gait
from elbowroom.locomotion.walk import RATE_WALK, STANDS_S, WalkOptions, inner_rate, landed, walk_course
from elbowroom.motion.clip import Clip
from elbowroom.motion.layers import held
from elbowroom.plan.checks.hands import arms_of, beyond_reach, held_by, joints_of, may_step
from elbowroom.plan.checks.places import jammed_by
from elbowroom.plan.checks.postures import PRESS, hand_contacts
from elbowroom.plan.repair.arm_paths import LimbTrajectory
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.steps.director import Director
from elbowroom.plan.steps.give_way import clear_elbow, require_free
from elbowroom.plan.tasks import Hand, HandleTask, Open, Rest
from elbowroom.plan.verbs.carry import rest
from elbowroom.plan.verbs.fixtures import (
    Place,
    fixture_of,
    free_turns,
    hand_on,
    moved_along,
    open_fixture,
    pivots,
    softened,
    state_asked,
)
from elbowroom.plan.verbs.grasp_choice import ReachableGrasp
from elbowroom.plan.walking.finding import NoPath, paths_of
from elbowroom.plan.walking.paths import WalkPaths
from elbowroom.plan.walking.walked import Blocked, Effort, Spot, WalkRequest, stepped_back, walk_to
from elbowroom.posing.grasps import handles_of
from elbowroom.posing.whole_body import FEET, WholeBody
from elbowroom.world.things import Fixture, Joint

# Speed of a walker who moves a door, m/s, and number of steps relative to usual ones: people take small ones.
_SPEED_M_S, _STEPS = 0.45, 1.3
# Seconds of standing before and after the path in a course.
_AROUND_S = 2.5
# Radius of doors that people walk through, metres: the body is beside such a door by the time the hand leaves it, which
# need not come straight off.
_WIDE_M = 0.6
# Largest rotation of a joint between frames at 60 fps, radians: more is a jump.
_LEAP_RAD = 0.35


def walk_with(
    d: Director, actor: Actor, taking: ReachableGrasp, name: str, states: Array, places: Array, faces: Array, what: str
) -> None:
    """Move a fixture through states (S,) with the hand of `taking`, which holds it.

    The body goes over positions (S, 2) with headings (S,). Raises `PlanningFailure` where the hand cannot follow, or
    something collides.
    """
    body, fps, hand = actor.body, actor.base.fps, taking.hand
    path = faced_route(places, np.unwrap(faces))
    paths = ways_along(places, np.unwrap(faces))
    library = d.settings.library
    fastest = blend.fastest(figure(body), path, library)
    going = from_rest_to_rest(path, _SPEED_M_S, inner_rate(fps, RATE_WALK), _AROUND_S, fastest)
    feet = footprints_of(body, actor.pose)
    floor = 0.0 if d.world.floor is None else d.world.floor
    options = WalkOptions(fps=fps, seed=d.settings.seed, library=library)
    made = walk_course(body, replace(going, steps=_STEPS), options, feet)
    made = made.with_(root=made.root + np.array([0.0, 0.0, floor]))
    clip = led_over(made, actor.pose)
    clip = held(clip, landed(clip) + 1)
    # the same with what the other hand may hold
    busy = held(led_over(made.with_(rotations=actor.keeping(made.rotations)), actor.pose), len(clip))
    share = going.along(np.arange(len(clip)) / fps - STANDS_S) / path.length
    gone = np.interp(share * paths[-1], paths, states)
    gone[0] = states[0]
    place = hand_on(d, actor, hand, name)
    straight = comes_straight_off(fixture_of(d, name).joint, taking.grasp.T_thing_hand)
    within = free_turns(d, actor, taking, name, place, straight_off=straight)
    turns = _turns(actor, hand, busy, gone, place, within)
    root, q = _held_on(actor, hand, busy, [place(float(s), float(x)) for s, x in zip(gone, turns, strict=True)], what)
    first, begin = actor.k, actor.now
    times = begin + np.arange(len(clip)) / fps
    d.world = moved_along(d.world, name, times, gone)
    d.allow(hand_contacts(d.world, actor.who, hand, name, (begin, float(times[-1])), PRESS))
    actor.walk(clip, 0)
    all_root, all_q = np.array(actor.root), np.array(actor.q)
    all_root[first:], all_q[first:] = root, q
    actor.change(root=all_root, q=continuous(all_q), away=True)
    actor.keep(joints_of(actor, hand))
    d.world = actor.placed(d.world)
    clear_elbow(d, actor, hand, first, what)
    own = actor.q[first:, list(body.chain(f"{hand}_arm").joints)]
    d.note(actor, f"{hand}_arm", what, (begin, actor.now), LimbTrajectory(own, "ik"), whole=True)
    require_free(d, (begin, actor.now), what)


def comes_straight_off(joint: Joint, T_thing_hand: Array) -> bool:
    """Return whether a hand at (4, 4) of a fixture has to come straight off its bar: not from a wide door."""
    radius = float(np.linalg.norm(np.cross(joint.axis, T_thing_hand[:3, 3] - joint.origin)))
    return joint.kind == "slides" or radius < _WIDE_M


def _held_on(actor: Actor, hand: str, walk: Clip, T_hands: Sequence[Array], what: str) -> tuple[Array, Array]:
    """Roots (N, 3) and rotations (N, J, 4) of a walk with the hand at transforms (4, 4), one for each frame."""
    body, solver = actor.body, WholeBody(actor.body)
    mine = list(joints_of(actor, hand))
    T_feet = walk.world()[:, [body.role(foot) for foot in FEET]]
    T_joint_hand = inverse(body.hand(hand)[1])
    root, q = np.array(walk.root), np.array(walk.rotations)
    root[0], q[0] = actor.root[-1], actor.q[-1]
    for k in range(1, len(root)):
        near = np.array(walk.rotations[k])
        near[mine] = q[k - 1, mine]
        targets = {f"{hand}_hand": T_hands[k] @ T_joint_hand}
        found = solver.solve(Pose.of(walk.root[k], near), targets | dict(zip(FEET, T_feet[k], strict=True)))
        if not found.found:
            raise PlanningFailure("target-out-of-reach", f"{what}: {found.reason.rstrip('.')}")
        root[k], q[k] = found.pose.root, found.pose.rotations
        if float(angle_between(q[k], q[k - 1]).max()) > _LEAP_RAD * 60.0 / actor.base.fps:
            raise PlanningFailure("no-path", f"{what}: the arm would jump")
    return root, continuous(q)


def _turns(actor: Actor, hand: str, walk: Clip, states: Array, place: Place, within: tuple[float, float]) -> Array:
    """Rotation of a hand about the bar that it holds (N,), radians and `within` two, the wrist at ease at some frames
    and interpolated between.
    """
    stops = np.unique(np.linspace(0, len(states) - 1, 9).round().astype(int))
    mine = list(joints_of(actor, hand))
    angles, arm = [0.0], actor.q[-1, mine]
    for k in stops[1:]:
        q = np.array(walk.rotations[k])
        q[mine] = arm
        there = Pose.of(walk.root[k], q), angles[-1], partial(place, float(states[k]))
        angles.append(pivots(actor, hand, *there, within, 0.0)[0])
    return np.interp(np.arange(len(states)), stops, softened(angles))


# Horizontal distance of the body's middle from a handle while it is moved: smallest, largest and easiest, shares of the
# height.
_NEAR, _FAR, _EASY = 0.18, 0.4, 0.27
# Sampled states of a door, metres between positions, and largest step from one state to the next.
_STATES, _SPACED_M, _STEP_M = 10, 0.1, 0.32
# Costs of a metre of walking along, of path before and after, and of a narrow place, relative to a share of the height.
_GOING, _WAY, _WAY_ON, _NARROW, _MOST_NARROW = 0.15, 0.02, 0.3, 0.02, 4.0
# Cost in metres where there is no path, and the first state that is wide enough to walk on.
_NO_WAY_M, _STOPS_FROM = 50.0, 3
# States (S,) of a fixture, positions (S, 2) of a body and headings (S,) there.
Stances = tuple[Array, Array, Array]
# Efforts of walks to positions, in turn, and positions to which walks are repaired by all means.
_EFFORTS: tuple[Effort, ...] = ("leans", "all")
_REPAIRED = 2
# Positions that are tried, their distance, and the distance below which a body stands still, metres.
_TRIES, _APART_M, _STAYS_M = 6, 0.15, 0.05
# Detour, in metres of `WalkPath.cost`, that is preferred to opening a door.
_ROUND_M = 6.0
# Cosine of the angle to the vertical up to which a hinge is upright; distance within which a path passes a door,
# metres.
_UPRIGHT, _PAST_M = 0.95, 0.45


def walk_through(d: Director, actor: Actor, spot: Spot, request: WalkRequest) -> None:
    """Walk to a spot as `walk_to`; doors on a path that is much shorter, or the only one, are opened."""
    opened: set[str] = set()
    while (task := _door_before(d, actor, spot, request.gait, opened)) is not None:
        opened.add(task.fixture)
        stuck = d.attempt(partial(step_and_open, d, task, spot.place))
        if stuck is not None:
            try:
                return walk_to(d, actor, spot, request)
            except NoPath as closed:
                raise PlanningFailure(closed.status, f"{closed.why}; {stuck.why}") from stuck
    walk_to(d, actor, spot, request)


def step_and_open(d: Director, task: HandleTask, beyond: Array | None = None) -> None:
    """Open or close a fixture from the present stance, or else from positions to which the actor walks and along with
    it.

    `beyond` (2,) is where the actor goes afterwards, if anywhere.
    """
    actor = d.actor(task.who)
    task = replace(task, to=state_asked(d, task))
    taken_out = _out_of_its_way(d, actor, task)
    saved = d.take
    fixture = fixture_of(d, task.fixture)
    handle = _handles(actor, fixture, np.array([fixture.state(actor.now)]))[0]
    missing = min(beyond_reach(actor, hand, handle) for hand in arms_of(actor, task.hand))
    if missing > 0.0:
        why = f"{task.verb}: {task.fixture} is at least {missing:.2f} m out of reach"
        stuck = PlanningFailure("target-out-of-reach", why, missing=missing)
    else:
        here = d.attempt(lambda: open_fixture(d, task))
        if here is None:
            return
        stuck = here
    if not may_step(actor, task):
        raise stuck
    if taken_out and stepped_back(d, actor):
        saved = d.take
    blocked: list[Stances] = []
    # quick walks first: a long repair of one of them takes as long as all of these
    for effort in _EFFORTS:
        untried: Iterable[Stances] = _stances(d, actor, task, beyond) if effort == "leans" else blocked[:_REPAIRED]
        for stance in untried:
            there = d.attempt(partial(_from_stance, d, actor, task, stance, effort))
            if there is None:
                return
            d.take = saved
            d.spent.walks += 1
            stuck = there if stuck.missing else stuck
            blocked += [stance] * isinstance(there, Blocked)
    raise stuck


def _from_stance(d: Director, actor: Actor, task: HandleTask, stance: Stances, effort: Effort) -> None:
    """Walk to the first position of a stance, and move a fixture from there or along with it."""
    states, places, faces = stance
    request = WalkRequest(f"step up to {task.fixture}", effort=effort)
    walk_to(d, actor, Spot(places[0], float(faces[0])), request)
    stays = float(np.linalg.norm(places - places[0], axis=1).max()) < _STAYS_M
    lead = partial(_led, d, actor, task.fixture, states, places, faces)
    open_fixture(d, replace(task, to=float(states[-1])), None if stays else lead)


def _out_of_its_way(d: Director, actor: Actor, task: HandleTask) -> bool:
    """Carry what a hand holds in the way of a fixture before the body, as over a drawer that it was taken out of;
    return whether there was any such thing."""
    fixture = fixture_of(d, task.fixture)
    assert task.to is not None
    ends = float(fixture.state(actor.now)), task.to
    found = False
    for hand in get_args(Hand):
        hold = held_by(d.world, actor.who, hand, actor.now)
        if hold and jammed_by(d.world, task.fixture, fixture.joint, ends, [hold.object], actor.now):
            found = True
            d.attempt(partial(rest, d, Rest(who=actor.who, hand=hand)))
    return found


def _led(
    d: Director, actor: Actor, name: str, states: Array, places: Array, faces: Array, taking: ReachableGrasp, what: str
) -> None:
    """Move a fixture while the body walks over positions (S, 2), from its present one."""
    place, face = stance_of(actor.body, actor.pose)
    walk_with(d, actor, taking, name, states, np.vstack([place, places[1:]]), np.append(face, faces[1:]), what)


def _stances(d: Director, actor: Actor, task: HandleTask, beyond: Array | None = None) -> Iterator[Stances]:
    """Stances for moving a fixture; the best first, each at another position.

    States (S,) of the fixture on the way to the requested one, positions (S, 2) of the body and headings (S,) from
    which its handle is in easy reach then, out of its way.
    """
    assert task.to is not None
    fixture, tall = fixture_of(d, task.fixture), actor.body.height
    states = np.linspace(float(fixture.state(actor.now)), task.to, _STATES)
    handles = _handles(actor, fixture, states)[:, :2]
    columns = paths_of(d, actor, list(handles), "walk", without=[task.fixture]).columns
    bodies = [WalkPaths(columns.with_mesh(_moved(fixture, s)), actor.body, "walk") for s in states]
    low, high = handles.min(axis=0) - _FAR * tall, handles.max(axis=0) + _FAR * tall
    x, y = (np.arange(a, b, _SPACED_M) for a, b in zip(low, high, strict=True))
    at = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    far = np.linalg.norm(at[:, None] - handles, axis=2) / tall
    narrow = np.stack([paths.comfort(at) for paths in bodies], axis=1)
    near = (far > _NEAR) & (far < _FAR) & _same_side(fixture, states, at, handles)
    cost = np.where(near, np.abs(far - _EASY), np.inf)
    cost = np.where(np.isfinite(narrow), cost + _NARROW * np.minimum(narrow, _MOST_NARROW), np.inf)
    ends = np.full(cost.shape, np.inf)
    ends[:, -1] = 0.0
    if beyond is not None:
        for k in range(_STOPS_FROM, _STATES):
            # an actor who goes on opens it as far as is useful for that
            on = WalkPaths(bodies[k].columns, actor.body).costs_to(beyond, at)
            ends[:, k] = _WAY_ON * np.minimum(on, _NO_WAY_M)
    cost[:, -1] += ends[:, -1]
    apart = np.linalg.norm(at[:, None] - at, axis=2)
    step = np.where(apart < _STEP_M, _GOING * apart, np.inf)
    after = np.zeros((len(at), _STATES), dtype=int)
    for k in range(_STATES - 2, -1, -1):
        onward = step + cost[None, :, k + 1]
        after[:, k] = np.where(onward.min(axis=1) < ends[:, k], np.argmin(onward, axis=1), -1)
        cost[:, k] += np.minimum(onward.min(axis=1), ends[:, k])
    start = stance_of(actor.body, actor.pose)[0]
    first = cost[:, 0] + _WAY * np.linalg.norm(at - start, axis=1)
    for _ in range(_TRIES):
        n = int(np.argmin(first))
        if not np.isfinite(first[n]):
            return
        way = [n]
        while len(way) < _STATES and (then := int(after[way[-1], len(way) - 1])) >= 0:
            way.append(then)
        places, count = at[way], len(way)
        faces = [towards(p, h) for p, h in zip(places, handles[:count], strict=True)]
        yield states[:count], places, np.unwrap(faces)
        first = np.where(np.linalg.norm(at - at[n], axis=1) < _APART_M, np.inf, first)


def _handles(actor: Actor, fixture: Fixture, states: Array) -> Array:
    """Middle of the handle (N, 3) of a fixture that is nearest to an actor, at states (N,); of its mesh without one."""
    owns = [T[:3, 3] for T in handles_of(fixture.frames).values()] or [fixture.mesh.bounds.mean(axis=0)]
    start, T_now = stance_of(actor.body, actor.pose)[0], np.asarray(fixture.path(actor.now))
    own = min(owns, key=lambda point: float(np.linalg.norm(apply(T_now, point[None])[0, :2] - start)))
    return np.stack([apply(fixture.T_world_closed @ T, own[None])[0] for T in fixture.joint.moved_many(states)])


def _same_side(fixture: Fixture, states: Array, at: Array, handles: Array) -> Array:
    """Mask (N, S) of positions (N, 2) on the handle's side (S, 2) of a leaf at states (S,)."""
    if fixture.joint.kind == "slides":
        return np.ones((len(at), len(states)), dtype=bool)
    out = np.cross(fixture.joint.axis, fixture.mesh.bounds.mean(axis=0) - fixture.joint.origin)
    T = fixture.T_world_closed @ fixture.joint.moved_many(states)
    hinges, normals = apply(T, fixture.joint.origin[None])[..., 0, :2], (T[:, :3, :3] @ out)[:, :2]
    side = np.sum((handles - hinges) * normals, axis=-1)
    return np.asarray(np.sum((at[:, None] - hinges) * normals, axis=-1) * side > 0.0)


def _moved(fixture: Fixture, state: float) -> Mesh:
    return fixture.mesh.moved(fixture.T_world_closed @ fixture.joint.moved(float(state)))


def _door_before(d: Director, actor: Actor, spot: Spot, gait: Gait, but: Collection[str]) -> Open | None:
    """The opening task of the first door on the path to a spot; None if there is none or a detour is no longer."""
    doors = {
        name: thing
        for name, thing in d.world.objects.items()
        if isinstance(thing, Fixture) and name not in but and _is_door(thing)
    }
    if not doors:
        return None
    start = stance_of(actor.body, actor.pose)[0]
    paths = paths_of(d, actor, [spot.place], gait, without=list(doors))
    path, as_it_is = paths.find(start, spot.place), paths_of(d, actor, [spot.place], gait).find(start, spot.place)
    if path is None or (as_it_is is not None and as_it_is.cost < path.cost + _ROUND_M):
        return None
    first: dict[str, int] = {}
    for name, door in doors.items():
        leaf = _moved(door, float(door.state(actor.now))).vertices[:, :2]
        near = np.linalg.norm(path.points[:, None] - leaf[None], axis=2).min(axis=1) < _PAST_M
        if near.any():
            first[name] = int(np.argmax(near))
    for name in sorted(first, key=lambda n: first[n]):
        door = doors[name]
        end = max(door.joint.range, key=abs)
        past = WalkPaths(paths.columns.with_mesh(_moved(door, end)), paths.character, gait)
        if np.isfinite(past.costs_to(spot.place, start[None])[0]):
            return Open(who=actor.who, fixture=name, to=end)
    return None


def _is_door(fixture: Fixture) -> bool:
    """Return whether a fixture rotates about an upright hinge and has a handle."""
    axis = fixture.T_world_closed[:3, :3] @ fixture.joint.axis
    return fixture.joint.kind == "turns" and abs(float(axis @ UP)) > _UPRIGHT and bool(handles_of(fixture.frames))
