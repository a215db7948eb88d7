"""Hands that move fixtures: drawers and doors by their handles, buttons by a fingertip (K9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array, about, angle
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.plan.checks.hands import hand_of, joints_of, shifted
from elbowroom.plan.checks.places import shut_and_far
from elbowroom.plan.checks.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.repair.arm_paths import LimbTrajectory
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director, varied
from elbowroom.plan.steps.give_way import require_free
from elbowroom.plan.tasks import FixtureTask, Grab, HandleTask, Press
from elbowroom.plan.verbs.grasp_choice import ReachableGrasp, failure, reachable_grasps
from elbowroom.plan.verbs.leave import let_go, take
from elbowroom.posing.grasps import handles_of, press_target
from elbowroom.posing.grasps_settle import Grasp
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.posing.orbit import search_orbits
from elbowroom.posing.stance import between
from elbowroom.world.paths import KeyedState
from elbowroom.world.things import Fixture
from elbowroom.world.world import World

# Hand transform (4, 4) for a state of a fixture and a rotation about the bar.
Place = Callable[[float, float], Array]
# Moves a fixture with a hand that holds it; the text describes the task.
Lead = Callable[[ReachableGrasp, str], None]

# States on the way at which the whole posture is solved.
_STOPS = 9

# Largest rotation of a hand about the bar it holds, between two stops and in all, radians.
_PIVOT_STEP, _PIVOT = np.radians(7.5), np.radians(75.0)

# Distances from a bar at which an open hand that comes off it is checked, metres.
_OFF_M = (0.0, 0.02, 0.04, 0.06)

# Cost of such a rotation per radian: on a straight pull the hand need not rotate about the bar.
_STIFF = {"slides": 4.0, "turns": 0.0}
# Rotations that are tried in the last state before a fixture is taken, radians, and how many of them, the easiest.
_END_TURNS = {"slides": np.radians([0.0, -15.0, 15.0]), "turns": np.radians([-60.0, -30.0, 0.0, 30.0, 60.0])}
_END_TRIES = 3

# Excess of a joint over its limits between two states, radians.
_EXCESS_RAD = np.radians(0.5)
# If limits are exceeded by no more than this, postures twice as dense may keep to them, radians.
_NEARLY = np.radians(5.0)

# Mean speed of a moved fixture, m/s, and the shortest time, seconds.
_PULL, _LEAST = 0.32, 0.6

# Grasps of each hand with which a fixture is moved on a walk without success, before another walk is tried: its steps
# decide, and grasps of one hand are alike.
_LED = 2

# Cost of pressing with stretched fingers rather than with the index finger alone.
_FLAT = 0.5


def open_fixture(d: Director, task: HandleTask, lead: Lead | None = None) -> None:
    """Open or close a fixture by its handle, and let go; on fixed feet, unless `lead` moves it otherwise."""
    actor, to = d.actor(task.who), state_asked(d, task)
    what = f"{task.verb} {task.fixture}"

    def do(taking: ReachableGrasp) -> None:
        if lead is None:
            _require_end(d, actor, taking, task.fixture, to, what)
        take(d, actor, taking, task.fixture, what, task.at)
        actor.keep(joints_of(actor, taking.hand))
        if lead is None:
            follow(d, actor, taking.hand, task.fixture, to, what, taking)
        else:
            lead(taking, what)
        _leave(d, actor, taking, task)

    asked = Grab(who=task.who, hand=task.hand, at=task.at, object=task.fixture)
    options = varied(d, reachable_grasps(d, actor, task.fixture, asked, what))
    d.first(options if lead is None else _few_of_each_hand(options), do)


def _few_of_each_hand(options: Iterable[ReachableGrasp]) -> Iterator[ReachableGrasp]:
    """The first grasps of each hand, in order."""
    seen: Counter[str] = Counter()
    for option in options:
        seen[option.hand] += 1
        if seen[option.hand] <= _LED:
            yield option


def press(d: Director, task: Press) -> None:
    """Press a button and release it."""
    actor = d.actor(task.who)
    now = float(fixture_of(d, task.fixture).state(actor.now))
    to = goal_of(d, task, now)
    what = f"press {task.fixture}"

    def do(taking: ReachableGrasp) -> None:
        take(d, actor, taking, task.fixture, what, task.at, close=False)
        actor.keep(joints_of(actor, taking.hand))
        follow(d, actor, taking.hand, task.fixture, to, what)
        follow(d, actor, taking.hand, task.fixture, now, what)
        _leave(d, actor, taking, task)

    def fingers(hand: str) -> list[Grasp]:
        spot = d.world.objects[task.fixture].frame("handle")
        flat = [replace(g, cost=g.cost + _FLAT) for g in press_target(actor.body, hand, spot, "flat")]
        return press_target(actor.body, hand, spot) + flat

    asked = Grab(who=task.who, hand=task.hand, at=task.at, object=task.fixture)
    d.first(varied(d, reachable_grasps(d, actor, task.fixture, asked, what, proposed=fingers)), do)


def state_asked(d: Director, task: HandleTask) -> float:
    """The state in which opening or closing a fixture ends."""
    shut, _ = shut_and_far(fixture_of(d, task.fixture).joint)
    return shut if task.shuts and task.to is None else goal_of(d, task, shut)


def goal_of(d: Director, task: FixtureTask, now: float) -> float:
    """The state that a task asks for, by default the end of its range that is farther from `now`."""
    low, high = fixture_of(d, task.fixture).joint.range
    to = (high if abs(high - now) >= abs(low - now) else low) if task.to is None else task.to
    if not low - 1e-9 <= to <= high + 1e-9:
        raise BadValue(f"'{task.fixture}' moves from {low:g} to {high:g}, not to {to:g}.")
    return to


def fixture_of(d: Director, name: str) -> Fixture:
    """A fixture by name."""
    fixtures = {n: o for n, o in d.world.objects.items() if isinstance(o, Fixture)}
    if name not in fixtures:
        raise UnknownName("fixture", name, fixtures)
    if not handles_of(fixtures[name].frames) and not fixtures[name].grasps:
        needs = "'handle: {at, along, out}' (middle of its bar, direction of the bar, direction towards the hand)"
        raise BadValue(f"'{name}' has no handle; give it {needs}, in its own axes.")
    return fixtures[name]


def follow(
    d: Director, actor: Actor, hand: str, name: str, to: float, what: str, taking: ReachableGrasp | None = None
) -> None:
    """Move a fixture along its joint with the hand on it; a hand that took it by `taking` may rotate about its bar."""
    fixture = fixture_of(d, name)
    begin, place = float(fixture.state(actor.now)), hand_on(d, actor, hand, name)
    states = np.linspace(begin, to, 17)
    radius = float(np.linalg.norm(np.diff([place(s, 0.0)[:3, 3] for s in states], axis=0), axis=1).sum())
    if radius < 1e-6:
        return
    count = actor.frames(_LEAST + radius / _PULL)
    s = smoothstep(np.linspace(0.0, 1.0, count + 1))
    states = begin + s * (to - begin)
    ik = LimbIK(actor.body, f"{hand}_arm", actor.pose)
    within = (0.0, 0.0) if taking is None else free_turns(d, actor, taking, name, place)
    for stops in (_STOPS, 2 * _STOPS - 1):
        poses, angles = _stops(d, actor, hand, name, np.linspace(begin, to, stops), place, what, within)
        root, q = _through(actor, poses, s)
        at = np.linspace(0.0, 1.0, stops)
        targets = np.stack([place(x, a) for x, a in zip(states, np.interp(s, at, angles), strict=True)])
        orbits = np.interp(s, at, np.unwrap([ik.orbit_of(pose) for pose in poses]))
        parents = actor.body.transforms(root, q)[:, ik.parent]
        out = ik.solve(parents, targets, orbits, ik.keep_of(actor.pose))
        if not out.reached.all():
            short = f"{what}: the hand falls short by {out.missing.max():.2f} m along the path"
            raise PlanningFailure("target-out-of-reach", short)
        beyond = float(out.excess.max())
        if not _EXCESS_RAD < beyond < _NEARLY:
            break
    if beyond > _EXCESS_RAD:
        raise PlanningFailure("target-out-of-reach", f"{what}: joint limits are exceeded along the path")
    q[:, list(ik.joints)] = out.rotations
    times = actor.times(count)
    d.world = moved_along(d.world, name, times, states)
    d.allow(hand_contacts(d.world, actor.who, hand, name, (float(times[0]), float(times[-1])), PRESS))
    acting.add(d, actor, root, q)
    actor.keep(joints_of(actor, hand))
    d.note(actor, f"{hand}_arm", what, (float(times[0]), float(times[-1])), LimbTrajectory(out.rotations, "ik"))
    require_free(d, (float(times[0]), float(times[-1])), what)


def _require_end(d: Director, actor: Actor, taking: ReachableGrasp, name: str, to: float, what: str) -> None:
    """Raise `PlanningFailure` where no posture has the hand on a fixture in its last state: most that fail fail there,
    and the way there takes much longer to look at."""
    place, hand = _place(d, name, taking.grasp.T_thing_hand), taking.hand
    fixture = fixture_of(d, name)
    postures = _postures_at(d, actor, hand, name, to)
    postures.fingers = dict(zip(finger_joints(actor.body, hand), taking.open, strict=True))
    near = _END_TURNS[fixture.joint.kind]
    turns = _easiest(actor, hand, taking.target, near, partial(place, to), _STIFF[fixture.joint.kind] * np.abs(near))
    failed = []
    for turn in turns[:_END_TRIES]:
        found = d.reach(actor, hand, place(to, turn), actor.k, postures)
        if found.found:
            return
        failed.append(failure(found, postures, what))
    raise min(failed, key=lambda one: one[0])[1]


def hand_on(d: Director, actor: Actor, hand: str, name: str) -> Place:
    """Transform of the hand with its present grip, for any state of the fixture and rotation about its bar."""
    fixture = fixture_of(d, name)
    return _place(d, name, inverse(np.asarray(fixture.path(actor.now))) @ hand_of(actor, hand, actor.pose))


def _place(d: Director, name: str, T_fixture_hand: Array) -> Place:
    """Transform of a hand at `T_fixture_hand` (4, 4), for any state of the fixture and rotation about its bar."""
    fixture = fixture_of(d, name)
    # the bar that is in the hand
    bars = [*handles_of(fixture.frames).values(), T_fixture_hand][: max(len(handles_of(fixture.frames)), 1)]
    T_bar = min(bars, key=lambda T: float(np.linalg.norm(T[:3, 3] - T_fixture_hand[:3, 3])))

    def place(state: float, turn: float) -> Array:
        T_turn = T_bar @ transform(np.zeros(3), about([0.0, 0.0, 1.0], turn)) @ inverse(T_bar)
        return np.asarray(fixture.T_world_closed @ fixture.joint.moved(state) @ T_turn @ T_fixture_hand)

    return place


def _stops(
    d: Director, actor: Actor, hand: str, name: str, states: Array, place: Place, what: str, within: tuple[float, float]
) -> tuple[list[Pose], Array]:
    """Postures at some states of a fixture, and the rotation of the hand about its bar at each, `within` two."""
    poses, angles = [actor.pose], [0.0]
    stiff = _STIFF[fixture_of(d, name).joint.kind]
    for state in states[1:]:
        postures = _postures_at(d, actor, hand, name, float(state))
        reason: tuple[float, PlanningFailure] | None = None
        for turn in pivots(actor, hand, poses[-1], angles[-1], partial(place, float(state)), within, stiff):
            found = d.reach(actor, hand, place(float(state), turn), actor.k, postures)
            if found.found:
                focus = place(float(state), turn)[:3, 3]
                poses.append(_same_fingers(actor, hand, d.looking(actor, found.pose, focus)))
                angles.append(turn)
                break
            worse = failure(found, postures, what)
            reason = worse if reason is None or worse[0] < reason[0] else reason
        else:
            assert reason is not None
            raise reason[1]
    return poses, softened(angles)


def _postures_at(d: Director, actor: Actor, hand: str, name: str, state: float) -> Postures:
    """Posture check with a fixture in a state and a hand on it."""
    fixture = fixture_of(d, name)
    still = Fixture.at(fixture.mesh, fixture.joint, fixture.T_world_closed, state, fixture.frames)
    return Postures(d.world.with_fixture_as(name, still), actor.who, actor.now, hand=hand, taking=name)


def free_turns(
    d: Director, actor: Actor, taking: ReachableGrasp, name: str, place: Place, *, straight_off: bool = True
) -> tuple[float, float]:
    """Smallest and largest rotation of a hand about the bar it holds, radians, up to which it is free of the fixture:
    the same in every state, whatever the body does.

    With `straight_off`, up to which it also comes straight off with open fingers, where it does so as it took it.
    """
    fixture, motion, hand = fixture_of(d, name), d.world.characters[actor.who], taking.hand
    alone = World(floor=None).with_character(actor.who, motion).with_(objects={name: fixture})
    closed, opened = (Postures(alone, actor.who, actor.now, hand=hand, taking=name) for _ in range(2))
    opened.fingers = dict(zip(finger_joints(actor.body, hand), taking.open, strict=True))
    state, ends = float(fixture.state(actor.now)), []
    off = taking.grasp.T_thing_hand[:3, :3].T @ -taking.grasp.approach

    def comes_off(turn: float) -> bool:
        T = place(state, turn)
        ways = [shifted(T, by * T[:3, :3] @ off) for by in _OFF_M]
        return all(opened.hand_blame(actor.pose, way, hand) is None for way in ways)

    releases = straight_off and comes_off(0.0)
    for sign in (-1.0, 1.0):
        turn = 0.0
        while turn < _PIVOT:
            more = sign * (turn + _PIVOT_STEP)
            if closed.hand_blame(actor.pose, place(state, more), hand) is not None or (
                releases and not comes_off(more)
            ):
                break
            turn += _PIVOT_STEP
        ends.append(sign * turn)
    return ends[0], ends[1]


def softened(angles: Sequence[float]) -> Array:
    """Rotations about a bar (N,) without corners, the first of them 0."""
    smooth = np.convolve(np.pad(np.asarray(angles), 1, mode="edge"), [0.25, 0.5, 0.25], "valid")
    smooth[0] = 0.0
    return smooth


def pivots(
    actor: Actor,
    hand: str,
    pose: Pose,
    last: float,
    place: Callable[[float], Array],
    within: tuple[float, float],
    stiff: float,
) -> list[float]:
    """Rotations about a bar near the last one and `within` two, those with an easy wrist first; `stiff` ones last."""
    near = last + _PIVOT_STEP * np.arange(-4, 5)
    near = near[(near >= within[0] - 1e-9) & (near <= within[1] + 1e-9)]
    return _easiest(actor, hand, pose, near, place, 0.5 * np.abs(near - last) + stiff * np.abs(near))


def _easiest(
    actor: Actor, hand: str, pose: Pose, turns: Array, place: Callable[[float], Array], cost: Array
) -> list[float]:
    """Rotations (N,) about a bar, those with an easy wrist and a low `cost` (N,) first."""
    ik = LimbIK(actor.body, f"{hand}_arm", pose)
    ends = np.stack([place(float(x)) for x in turns])
    out = search_orbits(ik, ik.T_world_parent(pose), ends, start=ik.orbit_of(pose))
    cost = cost + 3.0 * out.solution.excess.sum(axis=1) + angle(out.solution.rotations[:, 2]) ** 2
    return [float(turns[i]) for i in np.argsort(cost, kind="stable")]


def _same_fingers(actor: Actor, hand: str, pose: Pose) -> Pose:
    """A posture with the hand's fingers as they are now."""
    fingers = list(finger_joints(actor.body, hand))
    q = pose.rotations.copy()
    q[fingers] = actor.q[-1, fingers]
    return Pose.of(pose.root, q)


def _through(actor: Actor, poses: list[Pose], s: Array) -> tuple[Array, Array]:
    """Frames through postures that are evenly spaced, at shares s (N,) from 0 to 1."""
    place = s * (len(poses) - 1)
    piece = np.minimum(place.astype(int), len(poses) - 2)
    roots, turns = np.zeros((len(s), 3)), np.zeros((len(s), *poses[0].rotations.shape))
    for k in range(len(poses) - 1):
        mine = np.flatnonzero(piece == k)
        if len(mine):
            roots[mine], turns[mine] = between(actor.body, poses[k], poses[k + 1], place[mine] - k)
    return roots, turns


def moved_along(world: World, name: str, times: Array, states: Array) -> World:
    """A world in which a fixture has states (N,) at times (N,), and its former ones before."""
    fixture = world.objects[name]
    assert isinstance(fixture, Fixture)
    state = _keyed(fixture, times, states)
    moved = Fixture.at(fixture.mesh, fixture.joint, fixture.T_world_closed, state, fixture.frames, fixture.mass)
    return world.with_fixture_as(name, replace(moved, grasps=fixture.grasps))


def _keyed(fixture: Fixture, times: Array, values: Array) -> KeyedState:
    """The former state up to the first time, then the given values."""
    old = fixture.state
    if isinstance(old, KeyedState):
        before = old.times < times[0] - 1e-9
        return KeyedState(np.concatenate([old.times[before], times]), np.concatenate([old.values[before], values]))
    return KeyedState(times, values)


def _leave(d: Director, actor: Actor, taking: ReachableGrasp, task: FixtureTask) -> None:
    """Release the way that the hand came: as seen from the hand, from the fixture, between the two, or all the way."""
    came = -taking.approach / np.linalg.norm(taking.approach)
    before, then, now = (hand_of(actor, taking.hand, pose) for pose in (taking.before, taking.target, actor.pose))
    by_hand = now[:3, :3] @ then[:3, :3].T @ came
    T_fixture = np.asarray(d.world.objects[task.fixture].path(actor.now))
    T_then = then @ inverse(taking.grasp.T_thing_hand)
    by_fixture = T_fixture[:3, :3] @ -taking.grasp.approach
    outs = [by_hand, by_fixture, by_hand + by_fixture]
    back = T_fixture @ inverse(T_then) @ before
    let_go(d, actor, taking.hand, task.fixture, taking.open, outs, f"leave {task.fixture}", back)
