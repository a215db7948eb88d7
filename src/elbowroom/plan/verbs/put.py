"""Putting a held object down, or on a character: standing before the place, over a motion, or on a moving support."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elbowroom.character.hand_shapes import FLAT, finger_joints, finger_rotations
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import UP, Array, normalize, slerp
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.checks.falling import let_fall
from elbowroom.plan.checks.hands import beyond_reach, discomfort, hand_of, holder_of, joints_of, released, shifted
from elbowroom.plan.checks.places import (
    CLEAR_ABOVE,
    frames_of,
    goals_of,
    moves,
    on_oneself,
    place_for,
    resting,
    supported,
    turned,
    under_cover,
    wearer_of,
)
from elbowroom.plan.checks.postures import PRESS, Postures, at_rest, hand_contacts
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, blamed
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Put
from elbowroom.plan.verbs.carry import carry_to, grip_of, holding_hand, on_top
from elbowroom.plan.verbs.encounters import (
    ContactTiming,
    at_speed,
    far_away,
    frames_for,
    helpful,
    in_motion,
    lingers,
    speed_past,
)
from elbowroom.plan.verbs.grasp_choice import Failed, failure
from elbowroom.plan.verbs.leave import let_go, relax
from elbowroom.plan.verbs.next_places import easiest_turns
from elbowroom.plan.verbs.passage import Encounter, Passage
from elbowroom.world.pairs import Pair
from elbowroom.world.things import FOREVER
from elbowroom.world.world import World

# Starting points of the final descent: up and towards the body, metres.
_OVER = (0.06, 0.03, 0.015)
_BEFORE = (0.2, 0.28, 0.12, 0.36)

# Placements before a goal that are tried without a path to them.
_TRIES = 3

# Shares of the opening of a hand at which its fingers are checked.
_OPENING = (0.4, 0.7, 1.0)

# Timings around the release, tried in turn: fingers begin to open before it. In passing, and with little relative
# motion.
_PASSING = (
    ContactTiming(0.03, 0.3, 0.1, 0.067, 0.0, quick=True),
    ContactTiming(0.03, 0.25, 0.03, 0.12, 0.0, quick=True),
)
_ALONG = (ContactTiming(0.1, 0.35, 0.03, 0.16, 0.0), ContactTiming(0.2, 0.45, 0.0, 0.2, 0.0))

# Fingers that drop something need not be quick.
_FALLING = (ContactTiming(0.03, 0.3, 0.15, 0.067, 0.0, quick=True), *_PASSING)

# Heights of a hat above the head before it is lowered, tried in turn.
_WEARS = (ContactTiming(0.4, 0.45, 0.0, 0.16), ContactTiming(0.55, 0.6, 0.0, 0.2), ContactTiming(0.3, 0.35, 0.0, 0.12))

# Retreat of a hand while the body goes on, metres, and seconds for which it stays with the place and goes straight off.
_OFF = 0.14
_KEEPS = (0.0, 0.35, 0.5)


def put(d: Director, task: Put) -> None:
    """Put down a held object, or on a character."""
    actor, what = d.actor(task.who), f"put {task.object}"
    onto = task.onto if task.onto in d.world.objects else None
    _require_free(d, actor, task, onto)
    over_motion = in_motion(d, actor, onto, task.at)
    if wearer_of(d.world, task.onto) is not None and actor.stands:  # a trunk that helps would carry its own head away
        until = max(d.world.span[1], actor.now + 1.0)
        over_motion = on_oneself(d.world, task) or moves(d.world, str(task.onto), np.linspace(actor.now, until, 65))
    if over_motion:
        put_in_motion(d, task, what)
    else:
        _put_standing(d, actor, task, what)


def _require_free(d: Director, actor: Actor, task: Put, onto: str | None) -> None:
    """Raise where the support is carried about by a person: nothing would take the object along."""
    begin = actor.now if task.at is None else task.at
    if onto is None or holder_of(d.world, onto, begin) is None:
        return
    if moves(d.world, onto, np.linspace(begin, max(d.world.span[1], begin + 1.0), 33)):
        raise BadValue(
            f"put {task.object}: '{onto}' is carried from {begin:g} s on and would leave it behind; "
            "put it on a static object, on one with its own path, or on a person."
        )


def _put_standing(d: Director, actor: Actor, task: Put, what: str) -> None:
    """Carry an object before its place, or over somebody who stands still, set it down, and release it."""
    hand = holding_hand(d, task, task.object)
    T_hand_object = inverse(hand_of(actor, hand, actor.pose)) @ d.world.frame(task.object, actor.now)
    goals = _goals(d, actor, task, hand, T_hand_object)
    d.first(goals, lambda T_goal: _put_at(d, actor, task, hand, T_goal, T_goal @ inverse(T_hand_object), what))


def posture_to_put(d: Director, task: Put, stands: Actor) -> Pose | None:
    """Posture in which a person who stands somewhere has a held object at its goal; its path is left open."""
    hand, t = holding_hand(d, task, task.object), stands.now
    T_hand_object = _grip(d, d.actor(task.who), task.object, hand)
    for T_goal in _goals(d, stands, task, hand, T_hand_object):
        postures = _there(d, task, t, T_goal)
        found = d.reach(stands, hand, T_goal @ inverse(T_hand_object), stands.k, postures)
        if found.found and _opening(d, d.actor(task.who), hand, task.object, found.pose, postures) is None:
            return found.pose
    return None


def _there(d: Director, task: Put, t: float, T_goal: Array) -> Postures:
    """Check of postures in which an object at its goal (4, 4) touches its support, or whoever wears it."""
    wearer, always = wearer_of(d.world, task.onto), (-FOREVER, FOREVER)
    contacts = supported(task.object, resting(d.world, task.object, t, T_goal), always)
    if wearer is not None:
        contacts += hand_contacts(d.world, *wearer, task.object, always, PRESS, "put on")
    return Postures(d.world.with_(contacts=(*d.world.contacts, *contacts)), task.who, t)


def hangs_free(d: Director, task: Put, stands: Actor) -> bool:
    """Return whether the arm of a person who stands somewhere hangs free there after it has put down an object.

    Its own thighs do not count: it gives way to them.
    """
    actor, hold = d.actor(task.who), holder_of(d.world, task.object, stands.now)
    if hold is None:
        return True
    joints = list(joints_of(stands, hold.hand))
    rotations = np.array(stands.pose.rotations)
    rotations[joints] = actor.neutral(actor.k, joints).rotations[joints]
    T_goal = _goals(d, stands, task, hold.hand, _grip(d, actor, task.object, hold.hand))[0]
    others = d.world.with_(holds=tuple(other for other in d.world.holds if other.object != task.object))
    postures = Postures(at_rest(others, task.object, T_goal), stands.who, stands.now)
    met = postures.blame(Pose.of(stands.pose.root, rotations), of=f"{hold.hand}_arm")
    return met is None or all(name.startswith(f"{task.who}.") for name in met)


def _opening(d: Director, actor: Actor, hand: str, thing: str, pose: Pose, postures: Postures) -> Pair | None:
    """The pair that collides while a hand opens its fingers beside an object; None where it can open them."""
    joints, blames = list(finger_joints(actor.body, hand)), []
    for shape in (grip_of(d, actor, hand, thing).open, finger_rotations(actor.body, hand, FLAT)):
        turns = [slerp(pose.rotations[joints], shape, np.array(share)) for share in _OPENING]
        opened = (postures.with_fingers(dict(zip(joints, turn, strict=True))) for turn in turns)
        pairs = (some.blame(pose, of=f"{hand}_arm") for some in opened)
        # fingers leave the object itself as they came
        blames.append(next((pair for pair in pairs if pair is not None and thing not in pair), None))
        if blames[-1] is None:
            return None
    return blames[0]


def _goals(d: Director, actor: Actor, task: Put, hand: str, T_hand_object: Array) -> list[Array]:
    """Placements (4, 4) of an object: oriented as it was taken, or at the easiest rotation if none was given."""
    taken = grip_of(d, actor, hand, task.object).T_world_taken
    if wearer_of(d.world, task.onto) is not None:
        return [T_goal[0] for T_goal in goals_of(d.world, task, taken, np.array([actor.now]))]
    T_goal = place_for(d.world, task, taken, actor.now)
    if task.turn is not None:
        return [T_goal]
    return easiest_turns(actor, hand, T_goal, inverse(T_hand_object))


def _put_at(d: Director, actor: Actor, task: Put, hand: str, T_goal: Array, T_target: Array, what: str) -> None:
    """Set down a held object at T_goal (4, 4), the hand then at T_target (4, 4), and release it."""
    grip = grip_of(d, actor, hand, task.object)
    under = resting(d.world, task.object, actor.now, T_goal)
    distance = float(np.linalg.norm(T_target[:3, 3] - hand_of(actor, hand, actor.pose)[:3, 3]))
    slow = actor.frames(d.settings.approach / d.settings.slow)
    count = d.frames_until(actor, distance, task.at, slow, what, beyond_reach(actor, hand, T_target[:3, 3]))
    k = actor.k + count + slow
    d.allow(supported(task.object, under, (actor.time(k - slow), FOREVER)))
    wearer = wearer_of(d.world, task.onto)
    postures = _there(d, task, actor.time(k), T_goal)
    there = d.reach(actor, hand, T_target, k, postures)
    if not there.found:
        raise failure(there, postures, what)[1]
    stuck = _opening(d, actor, hand, task.object, there.pose, postures) if d.settings.tier != "ik" else None
    if stuck is not None:
        raise PlanningFailure("target-in-collision", f"{what}: {blamed(stuck)} as the fingers open")
    out = T_target[:3, :3] @ grip.out
    goal = d.looking(actor, there.pose, T_goal[:3, 3])

    def do(entry: Array) -> None:
        above = d.near(actor, hand, goal, shifted(T_target, entry), k, postures)
        if not isinstance(above, Pose):
            reason = blamed(above) or "the arm cannot get there"
            raise PlanningFailure("target-in-collision", f"{what}: there is no room in front of its goal ({reason})")
        carry_to(d, actor, hand, above, acting.set_out(d, actor, distance, count), what, direct=task.at is not None)
        if wearer is not None:
            during = (actor.now, actor.time(actor.k + slow) + 0.1)
            d.allow(hand_contacts(d.world, *wearer, task.object, during, PRESS, "put on"))
        acting.travel(d, actor, {hand: None}, goal, slow, what, "contact")
        acting.join(d, actor, hand, actor.k - slow, actor.k - slow - actor.frames(0.4))
        d.world = released(d.world, task.object, actor.now, on=under)
        if wearer is not None:
            d.world = _worn(d.world, task.object, wearer, actor.now, T_goal)
        let_go(d, actor, hand, task.object, grip.open, [out], f"leave {task.object}")

    above = [CLEAR_ABOVE * T_goal[:3, 2]] if wearer is not None else []
    d.first([*above, *_entries(out, under_cover(d.world, task.object, actor.now, T_goal))], do, _TRIES)


def _worn(world: World, thing: str, wearer: tuple[str, str], t: float, T_goal: Array) -> World:
    """A world in which a character wears an object from a time on, which is at T_goal (4, 4) then."""
    joint = frames_of(world, f"{wearer[0]}.{wearer[1]}", np.array([t]))[0]
    return world.with_hold(thing, *wearer, (t, FOREVER), inverse(joint) @ T_goal)


def _entries(out: Array, covered: bool) -> list[Array]:
    """Offsets of an object before it is set down; `out` (3,) is the retreat of the hand.

    Under cover it comes from the front, otherwise from above.
    """
    level = out * [1.0, 1.0, 0.0]
    size = float(np.linalg.norm(level))
    above = [z * UP for z in _OVER]
    if size < 0.3:
        return above
    before = [far * level / size + z * UP for far in _BEFORE for z in (0.015, 0.004)]
    return [*before, *above] if covered else [*above, *before]


def put_in_motion(d: Director, task: Put, what: str, *, falls: bool = False) -> None:
    """Put an object somewhere over a motion; one that `falls` is released there and lands below."""
    actor, worn = d.actor(task.who), wearer_of(d.world, task.onto) is not None
    hand = holding_hand(d, task, task.object)

    def do(at: Encounter) -> None:
        speed = speed_past(actor, hand, at.T_target[:, :3, 3], at.k)
        paces = _WEARS if worn else at_speed(speed, _ALONG, _FALLING if falls else _PASSING)
        d.first(paces, lambda pace: _let_go(d, actor, task, at, pace, what, falls))

    with on_top(d, actor, task):
        d.first(_meetings(d, actor, task, hand, what, falls), do)


def _meetings(d: Director, actor: Actor, task: Put, hand: str, what: str, falls: bool) -> Iterator[Encounter]:
    """Candidate contacts of an object with its place, the easiest first; raises `PlanningFailure` without any.

    A falling object may have another rotation than when it was taken.
    """
    failed: list[Failed] = []
    found_at: list[tuple[float, Encounter]] = []
    T_hand_thing = _grip(d, actor, task.object, hand)
    taken = grip_of(d, actor, hand, task.object).T_world_taken
    goals = list(goals_of(d.world, task, taken, actor.base.times))
    if falls:
        goals = [np.tile(T, (len(actor.base), 1, 1)) for T in turned(goals[0][0], goals[0][0, :3, 3])]
    for T_goal in goals:
        points = T_goal[:, :3, 3]
        k = frames_for(d, actor, task, points, what, only=hand)[0][1]
        # a helping trunk would carry its own head away
        actor.change(trunk=helpful(actor, hand, k, task.onto))
        postures = _there(d, task, actor.time(k), T_goal[k])
        T_hand = T_goal @ inverse(T_hand_thing)
        found = d.reach(actor, hand, T_hand[k], k, postures)
        if found.found:
            found_at.append((discomfort(actor, hand, found.pose), Encounter(hand, k, found.pose, T_goal, T_hand)))
        else:
            cost, failed_reach = failure(found, postures, what)
            far = found.status == "out-of-reach"
            failed.append((cost, far_away(actor, hand, points, k, failed_reach.why) if far else failed_reach))
    if failed and not found_at:
        raise min(failed, key=lambda f: f[0])[1]
    yield from (at for _, at in sorted(found_at, key=lambda pair: pair[0]))


def _grip(d: Director, actor: Actor, thing: str, hand: str) -> Array:
    """`T_hand_object` (4, 4) of what a hand holds."""
    hold = holder_of(d.world, thing, actor.now)
    if hold is not None and hold.T_hand_object is not None:
        return hold.T_hand_object
    return np.asarray(inverse(hand_of(actor, hand, actor.pose)) @ d.world.frame(thing, actor.now))


def _let_go(d: Director, actor: Actor, task: Put, at: Encounter, pace: ContactTiming, what: str, falls: bool) -> None:
    """Approach, open the fingers, and return to the base motion."""
    thing, hand, T_goal, wearer = task.object, at.hand, at.T_target[at.k], wearer_of(d.world, task.onto)
    grip = grip_of(d, actor, hand, thing)
    relax(d.world, actor, hand, thing, at.k + 1)
    passage = Passage(d, actor, task, at, pace, what)
    passage.help(None if wearer is not None and wearer[0] == actor.who else at.T_target[:, :3, 3])
    there = actor.time(at.k)
    under, covered = resting(d.world, thing, there, T_goal), under_cover(d.world, thing, there, T_goal)
    d.allow(supported(thing, under, (passage.near, FOREVER)))
    d.allow(hand_contacts(d.world, actor.who, hand, thing, (there, actor.time(passage.m.done) + 0.6), PRESS))
    if falls:
        d.world = let_fall(d.world, thing, there, T_goal, actor.base.fps)
    else:
        d.world = released(d.world, thing, there, on=under, T_world_thing=T_goal)
    if wearer is not None:
        d.allow(hand_contacts(d.world, *wearer, thing, (passage.near, there + 0.1), PRESS, "put on"))
        d.world = _worn(d.world, thing, wearer, there, T_goal)
    out = normalize(at.T_hand[at.k, :3, :3] @ grip.out)
    held = actor.base.rotations[passage.m.leaves, list(finger_joints(actor.body, hand))]
    entries = [CLEAR_ABOVE * T_goal[:3, 2]] if wearer is not None else _entries(out, covered)
    d.first(entries, lambda by: passage.come(by, held, grip.open), _TRIES)
    retreats = [_OFF * out, _OFF * normalize(out + 0.7 * UP), _OFF * UP]
    speed = speed_past(actor, hand, at.T_target[:, :3, 3], at.k)
    keeps = dict.fromkeys((lingers(speed), lingers(np.inf), 0.0)) if pace.quick else _KEEPS
    options = [(retreat, seconds) for seconds in keeps for retreat in retreats]
    d.first(options, lambda option: passage.leave(option[0], f"leave {thing}", seconds=option[1]))
    passage.finish()
