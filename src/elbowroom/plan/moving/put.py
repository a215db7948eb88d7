"""Putting down what is held while the person walks, the place moves, or both; or putting it on a head."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array, about, normalize
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import FOREVER, Director
from elbowroom.plan.hands import hand_of, holder_of, released
from elbowroom.plan.moving.passage import Passage
from elbowroom.plan.moving.timing import (
    ContactTiming,
    at_speed,
    beside,
    far_away,
    frames_for,
    frames_of,
    helpful,
    in_motion,
    lingers,
    moments,
    moves,
    named,
    speed_past,
)
from elbowroom.plan.moving.touch import begin_layer
from elbowroom.plan.places import CLEAR_ABOVE, place_for, resting, supported, under_cover, worn_place
from elbowroom.plan.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Drop, Put
from elbowroom.plan.verbs import drop as standing_drop
from elbowroom.plan.verbs import put as standing
from elbowroom.plan.verbs.drop import let_fall
from elbowroom.plan.verbs.grasp_choice import discomfort, failure
from elbowroom.plan.verbs.put import holding_hand, usual_grip

# Seconds about the moment of letting go, tried in turn: fingers begin to open before it. Of what is passed by, and of
# what is gone along with.
_PASSING = (
    ContactTiming(0.03, 0.3, 0.1, 0.067, 0.0, quick=True),
    ContactTiming(0.03, 0.25, 0.03, 0.12, 0.0, quick=True),
)
_ALONG = (ContactTiming(0.1, 0.35, 0.03, 0.16, 0.0), ContactTiming(0.2, 0.45, 0.0, 0.2, 0.0))

# Fingers that let something fall need not be quick.
_FALLING = (ContactTiming(0.03, 0.3, 0.15, 0.067, 0.0, quick=True), *_PASSING)

# A thing comes from above by so much, or from before its place where it is covered; the hand goes off so far, metres.
_OVER, _BEFORE, _OFF = 0.08, 0.2, 0.14

# A hat is over the head before it is lowered, tried in turn.
_WEARS = (ContactTiming(0.4, 0.45, 0.0, 0.16), ContactTiming(0.55, 0.6, 0.0, 0.2), ContactTiming(0.3, 0.35, 0.0, 0.12))

# Seconds for which a hand that has let go stays with the place and goes straight off, before it goes with the body.
_KEEPS = (0.0, 0.35, 0.5)

# Turns about the vertical, radians, of what may be put down as it comes.
_TURNS = np.radians([0.0, 30.0, -30.0, 60.0, -60.0, 90.0, -90.0, 180.0])

# The same of what is put on somebody: the right way round, or back to front.
_WORN_TURNS = (0.0, np.pi)

_UP = np.array([0.0, 0.0, 1.0])


def put(d: Director, task: Put) -> None:
    """Put down what a hand holds, or on somebody: standing before the place, over a motion, or on what moves."""
    actor = d.actor(task.who)
    wearer = _wearer(d, task)
    _require_rest(d, actor, task)
    if wearer is None and not in_motion(d, actor, None, task.at):
        return standing.put(d, task)
    put_in_motion(d, task, f"put {task.object}")


def put_in_motion(d: Director, task: Put, what: str, *, falls: bool = False) -> None:
    """Put something somewhere over a motion; what `falls` is let go there and lands on what is below."""
    actor, wearer = d.actor(task.who), _wearer(d, task)
    hand = holding_hand(d, task, task.object)
    begin_layer(d, actor, task)

    def do(option: tuple[int, Pose, Array]) -> None:
        k, _, T_goal = option
        speed = speed_past(actor, hand, T_goal[:, :3, 3], k)
        paces = _WEARS if wearer is not None else at_speed(speed, _ALONG, _FALLING if falls else _PASSING)
        d.first(paces, lambda pace: _let_go(d, actor, task, hand, *option, pace, what, falls))

    d.first(_options(d, actor, task, hand, what), do)
    actor.layered = not actor.stands


def _require_rest(d: Director, actor: Actor, task: Put) -> None:
    """Raise where something is to be put on a thing that goes on moving: nothing would carry it along."""
    owner = "" if task.onto is None else d.world.split(task.onto)[0]
    if owner not in d.world.objects:
        return
    begin = actor.now if task.at is None else task.at
    if moves(d.world, owner, np.linspace(begin, max(d.world.span[1], begin + 1.0), 33)):
        raise BadValue(
            f"put {task.object}: '{owner}' moves from {begin:g} s on and would leave it behind; "
            "put it on what stands still, or on a person."
        )


def _wearer(d: Director, task: Put) -> tuple[str, str] | None:
    """Whom a thing is put on, and on which part."""
    if task.onto is None or task.onto in d.world.objects or task.onto in d.world.static:
        return None
    owner, part = d.world.split(task.onto)
    return (owner, part) if owner in d.world.characters and part else None


def _options(d: Director, actor: Actor, task: Put, hand: str, what: str) -> Iterator[tuple[int, Pose, Array]]:
    """Frames, postures with the thing at its place, and its places (N, 4, 4) by frame, those most at ease first."""
    failed: list[tuple[float, PlanningFailure]] = []
    ways: list[tuple[float, int, Pose, Array]] = []
    times = actor.base.times
    grip = d.grips.get(task.object) or usual_grip(d, actor, hand, task.object)
    for T_goal in _goals(d, task, grip.T_world_taken, times):
        points = T_goal[:, :3, 3]
        for _, k in frames_for(d, actor, task, points, what, only=hand):
            wearer = _wearer(d, task)
            # the trunk would carry one's own head away
            actor.trunk = helpful(actor, hand, k, task.onto)
            contacts = supported(task.object, resting(d.world, task.object, actor.time(k), T_goal[k]), (-1e9, FOREVER))
            if wearer is not None:
                contacts += hand_contacts(d.world, *wearer, task.object, (-1e9, FOREVER), PRESS, "put on")
            world = d.world.with_(contacts=(*d.world.contacts, *contacts))
            postures = Postures(world, actor.who, actor.time(k))
            T_target = T_goal[k] @ inverse(_grip(d, actor, task.object, hand))
            found = d.reach(actor, hand, T_target, k, postures)
            if found.found:
                ways.append((discomfort(actor, hand, found.pose), k, found.pose, T_goal))
            else:
                cost, stuck = failure(found, postures, what)
                if found.status == "out-of-reach":
                    stuck = far_away(actor, hand, points, k, stuck.why)
                failed.append((cost, stuck))
    if failed and not ways:
        raise min(failed, key=lambda f: f[0])[1]
    yield from ((k, pose, T_goal) for _, k, pose, T_goal in sorted(ways, key=lambda way: way[0]))


def next_put(d: Director, actor: Actor, hand: str, thing: str, taken: Array, k: int) -> tuple[list[Array], int] | None:
    """Return where a thing that is taken from a place (4, 4) in frame k may be put next by the same hand, (4, 4), and
    when."""
    task = next((t for t in d.coming if isinstance(t, Put) and t.object == thing), None)
    if task is None or task.at is None or task.who != actor.who or task.hand not in (None, hand):
        return None
    at = actor.frame(task.at)
    if not k < at < len(actor.base):
        return None
    return [places[0] for places in _goals(d, task, taken, actor.base.times[at : at + 1])], at


def _goals(d: Director, task: Put, taken: Array, times: Array) -> Iterator[Array]:
    """Places of the thing (N, 4, 4) over times (N,), the best first; it was taken from a place (4, 4)."""
    wearer = _wearer(d, task)
    if wearer is not None:
        body = d.world.body(wearer[0])
        assert isinstance(body, Character)
        T = worn_place(body, wearer[1], d.world.objects[task.object], task.object)
        for turn in _WORN_TURNS if task.turn is None else (task.turn,):
            about_it = transform(np.zeros(3), about(_UP, turn))
            yield frames_of(d.world, f"{wearer[0]}.{wearer[1]}", times) @ T @ about_it
        return
    at = float(times[0]) if task.at is None else task.at
    T_goal = place_for(d.world, task, taken, at)
    ground = np.tile(np.eye(4), (len(times), 1, 1))
    for turn in _TURNS if task.turn is None else _TURNS[:1]:
        turned = T_goal.copy()
        turned[:3, :3] = transform(np.zeros(3), about(_UP, turn))[:3, :3] @ T_goal[:3, :3]
        yield ground @ turned


def _grip(d: Director, actor: Actor, thing: str, hand: str) -> Array:
    """`T_hand_object` (4, 4) of what a hand holds."""
    hold = holder_of(d.world, thing, actor.now)
    if hold is not None and hold.T_hand_object is not None:
        return hold.T_hand_object
    return np.asarray(inverse(hand_of(actor, hand, actor.pose)) @ d.world.frame(thing, actor.now))


def _let_go(
    d: Director,
    actor: Actor,
    task: Put,
    hand: str,
    k: int,
    pose: Pose,
    T_goal: Array,
    pace: ContactTiming,
    what: str,
    falls: bool,
) -> None:
    """Come, open the fingers, and go back to what the person does anyway."""
    thing, wearer = task.object, _wearer(d, task)
    T_hand = T_goal @ inverse(_grip(d, actor, thing, hand))
    grip = d.grips.get(thing) or usual_grip(d, actor, hand, thing)
    m = moments(d, actor, hand, task, k, T_hand[k], actor.frames(pace.work), pace.early)
    passage = Passage(d, actor, hand, m, pose, named(actor, task, what, k), quick=pace.quick)
    passage.help(None if wearer is not None and wearer[0] == actor.who else T_goal[:, :3, 3])
    there, slow = actor.time(m.there), actor.frames(pace.slow)
    near = actor.time(max(m.there - slow, m.leaves))
    under = resting(d.world, thing, there, T_goal[k])
    covered = under_cover(d.world, thing, there, T_goal[k])
    d.allow(supported(thing, under, (near, FOREVER)))
    d.allow(hand_contacts(d.world, actor.who, hand, thing, (there, actor.time(m.done) + 0.6), PRESS))
    d.world = (
        let_fall(d.world, thing, there, T_goal[k], actor.base.fps)
        if falls
        else released(d.world, thing, there, on=under)
    )
    if wearer is not None:
        d.allow(hand_contacts(d.world, *wearer, thing, (near, there + 0.1), PRESS, "put on"))
        joint = frames_of(d.world, f"{wearer[0]}.{wearer[1]}", actor.base.times[k : k + 1])[0]
        d.world = d.world.with_hold(thing, *wearer, (there, FOREVER), inverse(joint) @ T_goal[k])
    out = normalize(T_hand[k, :3, :3] @ grip.out)
    rows = np.arange(m.leaves, m.done + 1)
    left = 1.0 - smootherstep((rows - m.there + slow) / slow)
    held = actor.base.rotations[m.leaves, list(finger_joints(actor.body, hand))]

    def come(by: Array) -> None:
        way = T_goal[k, :3, :3].T @ by
        passage.come(beside(T_goal[rows], T_hand[rows], way, left), held, grip.open, pace)

    level = out * [1.0, 1.0, 0.0]
    before = _BEFORE * level + 0.015 * _UP
    over = _OVER * _UP
    worn = [CLEAR_ABOVE * T_goal[k, :3, 2]]
    d.first(worn if wearer is not None else [before, over] if covered else [over, before, 0.4 * over], come)
    off = np.arange(m.done, m.back + 1)
    own = actor.original.rotations[m.done :]
    fingers = np.array(own[:, list(finger_joints(actor.body, hand))])

    def leave(option: tuple[Array, float]) -> None:
        by, seconds = option
        way, keeps = T_goal[k, :3, :3].T @ by, round(seconds * actor.base.fps)
        places = beside(T_goal[off], T_hand[off], way, passage.away(keeps))
        passage.leave(places, np.array(own[:, passage.arm]), fingers, f"leave {thing}", keeps)

    ways = [_OFF * out, _OFF * normalize(out + 0.7 * _UP), _OFF * _UP]
    speed = speed_past(actor, hand, T_goal[:, :3, 3], k)
    keeps = dict.fromkeys((lingers(speed), lingers(np.inf), 0.0)) if pace.quick else _KEEPS
    d.first([(way, seconds) for seconds in keeps for way in ways], leave)
    passage.finish()


def drop(d: Director, task: Drop) -> None:
    """Let what a hand holds fall: standing, or over a motion above a place that is told."""
    actor = d.actor(task.who)
    if task.over is None or not in_motion(d, actor, None, task.at):
        return standing_drop.drop(d, task)
    hand = holding_hand(d, task, task.object)
    grip = d.grips.get(task.object) or usual_grip(d, actor, hand, task.object)
    x, y, z = standing_drop.above(d, task, grip.T_world_taken[:3, :3], actor.now)[:3, 3].tolist()
    asked = Put(
        who=task.who,
        hand=task.hand,
        at=task.at,
        begin=task.begin,
        back=task.back,
        priority=task.priority,
        object=task.object,
        to=(x, y, z),
    )
    put_in_motion(d, asked, f"drop {task.object}", falls=True)
    d.grips.pop(task.object, None)
