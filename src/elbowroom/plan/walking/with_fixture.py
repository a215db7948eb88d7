"""Walking with a handle in the hand: a door is pulled or pushed open in steps, the arm follows its handle exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, angle_between, continuous
from elbowroom.geometry.transforms import inverse
from elbowroom.locomotion import blend
from elbowroom.locomotion.course import from_rest_to_rest
from elbowroom.locomotion.departure import footprints_of, led_over
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.route import faced_route, ways_along
from elbowroom.locomotion.walk import RATE_WALK, STANDS_S, WalkOptions, inner_rate, landed, walk_course
from elbowroom.motion.clip import Clip
from elbowroom.motion.layers import held
from elbowroom.plan.actor import Actor
from elbowroom.plan.arm_paths import LimbTrajectory
from elbowroom.plan.director import Director
from elbowroom.plan.give_way import require_free
from elbowroom.plan.hands import joints_of
from elbowroom.plan.postures import PRESS, hand_contacts
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.verbs.fixtures import Place, fixture_of, free_turns, hand_on, moved_along, pivots, softened
from elbowroom.plan.verbs.grasp_choice import ReachableGrasp
from elbowroom.posing.whole_body import FEET, WholeBody
from elbowroom.world.things import Joint

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
    clip = led_over(made.with_(root=made.root + np.array([0.0, 0.0, floor])), actor.pose)
    clip = held(clip, landed(clip) + 1)
    share = going.along(np.arange(len(clip)) / fps - STANDS_S) / path.length
    gone = np.interp(share * paths[-1], paths, states)
    gone[0] = states[0]
    place = hand_on(d, actor, hand, name)
    straight = comes_straight_off(fixture_of(d, name).joint, taking.grasp.T_thing_hand)
    within = free_turns(d, actor, taking, name, place, straight_off=straight)
    turns = _turns(actor, hand, clip, gone, place, within)
    root, q = _held_on(actor, hand, clip, [place(float(s), float(x)) for s, x in zip(gone, turns, strict=True)], what)
    first, begin = actor.k, actor.now
    times = begin + np.arange(len(clip)) / fps
    d.world = moved_along(d.world, name, times, gone)
    d.allow(hand_contacts(d.world, actor.who, hand, name, (begin, float(times[-1])), PRESS))
    actor.walk(clip, 0)
    actor.root, actor.q = np.array(actor.root), np.array(actor.q)
    actor.root[first:], actor.q[first:] = root, q
    actor.q, actor.away = continuous(actor.q), True
    actor.keep(joints_of(actor, hand))
    d.world = actor.placed(d.world)
    arm = list(body.chain(f"{hand}_arm").joints)
    d.note(actor, f"{hand}_arm", what, (begin, actor.now), LimbTrajectory(q[:, arm], "ik"))
    d.edits[-1] = replace(d.edits[-1], replanned=tuple(range(len(body.parents))))
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
