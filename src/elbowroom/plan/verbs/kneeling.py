"""A knee that bears weight during a task (P2): one foot steps back, its knee comes down to the floor, and up again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.finish.settle import interpolate, rounded
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import UP, Array, about, continuous
from elbowroom.geometry.transforms import apply
from elbowroom.plan.checks.freeing import clear_free_arm
from elbowroom.plan.checks.hands import front_of, joints_of
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.steps.director import Director
from elbowroom.plan.steps.give_way import require_free
from elbowroom.plan.tasks import Hand, Knee, Rest, Task
from elbowroom.plan.verbs.carry import rest
from elbowroom.posing.balance import contact_points, feet_of, margin_inside
from elbowroom.posing.kneeling import HEEL_RAD, Kneeling, StepBack, kneeling_pose
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.posing.stand import shrunk
from elbowroom.posing.whole_body import WholeBody
from elbowroom.world.contacts import Contact, ContactKind
from elbowroom.world.pairs import FLOOR
from elbowroom.world.things import FOREVER

# Seconds from standing to kneeling, shares of them at which the foot lifts and lands, and the height of its step.
_DOWN_S = 2.6
_LIFTS, _LANDS = 0.28, 0.62
_STEP_M = 0.04
# Half-width over which turns between postures on the way are rounded, share of the time.
_ROUNDED = 0.12
# Seconds in which a knee touches the floor before and after it bears, and how deep it may be, metres.
_TOUCHES_S, _DEEPEST_M = 0.4, 0.004
# Distance of the centre of mass from the edge of the one foot that stands meanwhile, metres.
_ONE_FOOT_M = 0.015
# Lean of the pelvis when the foot lands behind, radians.
_LEAN_RAD = 0.5
# Clearance of arms while kneeling, metres.
_ARMS_M = 0.03
_WHY = "kneels on it"
_OTHER: dict[str, Hand] = {"left": "right", "right": "left"}


def kneel(d: Director, task: Task) -> None:
    """Kneel down where a task asks for it, or get up where it does not; raises `PlanningFailure`."""
    actor, given = d.actor(task.who), task.support
    wanted = given.knee if isinstance(given, Knee) else None
    if actor.knee is not None and actor.knee.side != wanted:
        _get_up(d, actor)
    if wanted is not None and actor.knee is None:
        _kneel_down(d, actor, wanted)


def _kneel_down(d: Director, actor: Actor, side: Hand) -> None:
    """Step back with one foot and bring its knee to the floor."""
    what, floor = f"kneel on the {side} knee", d.world.floor
    if floor is None or not actor.stands or len(feet_of(actor.body)) < 2 or actor.body.masses is None:
        raise PlanningFailure("no-path", f"{what}: only a person standing on a floor can kneel")
    if actor.away:
        rest(d, Rest(who=actor.who))
    stand, front = actor.pose, front_of(actor, actor.body.skeleton.at(actor.pose))
    found = kneeling_pose(actor.body, stand, front, side, floor)
    frames = None if found is None else _down(actor, side, floor, _arms_clear(d, actor, side, found[0]), found[1])
    if frames is None:
        raise PlanningFailure("out-of-balance", f"{what}: {actor.who} cannot get down to it in balance")
    begin = actor.now
    d.take = d.take.folding(actor.who)
    _walk(d, actor, frames)
    d.allow(_contacts(actor, side, (actor.now - _TOUCHES_S, actor.now), "touch"))
    d.allow(_contacts(actor, side, (actor.now, FOREVER), "support"))
    require_free(d, (begin, actor.now), what)
    actor.change(knee=Kneeling(actor.body, actor.pose, side, floor), descent=frames)


def _arms_clear(d: Director, actor: Actor, side: Hand, pose: Pose) -> Pose:
    """A posture on the knee with hanging arms moved clear of the thigh that comes up."""
    touching = _contacts(actor, side, (actor.now, FOREVER), "support")
    postures = Postures(d.world.with_(contacts=(*d.world.contacts, *touching)), actor.who, actor.now)
    for hand in ("left", "right"):
        if f"{hand}_arm" in actor.body.chains and not set(joints_of(actor, hand)) & set(actor.kept):
            pose = clear_free_arm(postures, actor.body, pose, f"{hand}_arm", _ARMS_M) or pose
    return pose


def _get_up(d: Director, actor: Actor) -> None:
    """Return the hands to the body, then go back the way the knee came down."""
    rest(d, Rest(who=actor.who))
    knee, frames, begin = actor.knee, actor.descent, actor.now
    assert knee is not None and frames is not None
    actor.change(knee=None, descent=None)
    _walk(d, actor, (frames[0][::-1], frames[1][::-1]))
    own = {c.who for c in _contacts(actor, knee.side, (begin, begin), "support")}
    ended = [replace(c, during=(min(c.during[0], begin), min(c.during[1], begin))) if c.why == _WHY and c.who in own
             else c for c in d.world.contacts]  # fmt: skip
    d.world = d.world.with_(contacts=tuple(ended))
    d.allow(_contacts(actor, knee.side, (begin, begin + _TOUCHES_S), "touch"))
    require_free(d, (begin, actor.now), "get up")


def _walk(d: Director, actor: Actor, frames: tuple[Array, Array]) -> None:
    """Append frames as a walk: legs and trunk belong to the base from then on."""
    actor.walk(actor.base.with_(root=frames[0], rotations=frames[1]), 0)
    d.world = actor.placed(d.world)


def _contacts(actor: Actor, side: Hand, during: tuple[float, float], kind: ContactKind) -> list[Contact]:
    """Contacts of a knee with the floor."""
    joints = [actor.body.role(f"{side}_{part}") for part in ("thigh", "shin")]
    names = dict.fromkeys(f"{actor.who}.{shape.name}" for shape in actor.body.shapes if shape.joint in joints)
    return [Contact(name, FLOOR, during, kind, _DEEPEST_M, _WHY) for name in names]


@dataclass(frozen=True, eq=False)
class _Key:
    """A posture on the way down, the share of the time at which it is taken, and where the stepping foot is then.

    Its ball has moved by (3,) and its heel is lifted by radians.
    """

    when: float
    moved: Array
    heel: float
    pose: Pose


def _down(actor: Actor, side: Hand, floor: float, goal: Pose, moved: Array) -> tuple[Array, Array] | None:
    """Roots (N, 3) and rotations (N, J, 4) down to a posture on one knee, the ball of whose foot moved by (3,).

    The weight is over the other foot while that foot is in the air; None where it is not, or legs are too short.
    """
    body, front = actor.body, front_of(actor, actor.body.skeleton.at(actor.pose))
    step = StepBack(body, actor.pose, front, side)
    keys = _keys(step, actor.pose, goal, moved)
    frames = None if keys is None else _between_keys(step, keys, actor.frames(_DOWN_S))
    if frames is None:
        return None
    T = body.transforms(*frames)
    inside = margin_inside(contact_points(body, T, floor), center_of_mass(body, T)[:, :2])
    return frames if float(inside[:-1].min()) >= 0.0 else None


def _keys(step: StepBack, stand: Pose, goal: Pose, moved: Array) -> list[_Key] | None:
    """Postures from standing to kneeling: the foot lifts, passes, and lands, the weight over the other one."""
    body, side = step.body, step.side
    other, lift = _OTHER[side], _STEP_M * step.body.height / 1.7 * UP
    T = body.skeleton.at(stand)
    ground = shrunk(_sole(body, stand, other), _ONE_FOOT_M)
    over = np.append(ground.mean(axis=0) - center_of_mass(body, T)[:2], 0.0)
    down = (T - body.skeleton.at(goal))[body.pelvis, 2, 3]
    keys = [_Key(0.0, np.zeros(3), 0.0, stand)]
    for when, at, heel in ((_LIFTS, 0.0, 0.3), (0.5 * (_LIFTS + _LANDS), 0.5, 0.8), (_LANDS, 1.0, HEEL_RAD)):
        place = at * moved + (lift if at == 0.5 else 0.0)
        T_foot, toes = step.foot(place, heel)
        root = stand.root + over - (0.1 + 0.4 * at) * down * UP
        lean = about(np.cross(UP, step.front), _LEAN_RAD * at)
        leaning = body.turned_by(lean, Pose.of(root, stand.rotations))
        q = np.array(leaning.rotations)
        if toes is not None:
            q[step.sole.toes] = toes
        targets = {f"{side}_foot": T_foot, f"{other}_foot": T[body.role(f"{other}_foot")]}
        found = WholeBody(body).solve(Pose.of(leaning.root, q), targets, support=ground)
        if not found.found:
            return None
        keys.append(_Key(when, place, heel, found.pose))
    return [*keys, _Key(1.0, moved, HEEL_RAD, goal)]


def _between_keys(step: StepBack, keys: list[_Key], count: int) -> tuple[Array, Array] | None:
    """Frames along key postures, roots (N, 3) and rotations (N, J, 4), feet on their paths; None out of reach."""
    body, poses, times = step.body, [key.pose for key in keys], np.array([key.when for key in keys])
    stand, goal = poses[0], poses[-1]
    share = smootherstep(np.linspace(0.0, 1.0, count + 1))

    def curve(rows: ArrayLike) -> Array:
        return np.asarray(scipy.interpolate.PchipInterpolator(times, np.array(rows))(share))

    root = curve([pose.root for pose in poses])
    window = np.full(len(share), _ROUNDED * len(share))
    q = rounded(interpolate(times, continuous(np.array([pose.rotations for pose in poses])), share), window)
    steps = zip(curve([key.moved for key in keys]), curve([key.heel for key in keys]), strict=True)
    feet = [step.foot(*row) for row in steps]
    if step.sole.toes >= 0:
        q[:, step.sole.toes] = continuous(np.array([toes for _, toes in feet]))
    T, other = body.transforms(root, q), _OTHER[step.side]
    stays = body.skeleton.at(stand)[body.role(f"{other}_foot")]
    for leg, T_foot in ((step.side, np.array([T_foot for T_foot, _ in feet])), (other, stays)):
        ik = LimbIK(body, f"{leg}_leg", stand)
        orbit = curve(np.unwrap([ik.orbit_of(pose) for pose in poses]))
        solved = ik.solve(T[:, ik.parent], T_foot, orbit, ik.keep_of(goal))
        if not solved.reached.all():
            return None
        q[:, list(ik.joints)] = solved.rotations
    root[[0, -1]], q[[0, -1]] = [stand.root, goal.root], [stand.rotations, goal.rotations]
    return root, continuous(q)


def _sole(body: Character, pose: Pose, side: str) -> Array:
    """Corners (K, 2) of what touches the ground under one foot."""
    sole, T = next(sole for sole in feet_of(body) if sole.side == side), body.skeleton.at(pose)
    toes = sole.toes if sole.toes >= 0 else sole.foot
    return np.concatenate([apply(T[sole.foot], sole.outline), apply(T[toes], sole.toe_outline)])[:, :2]
