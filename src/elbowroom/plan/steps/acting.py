"""Steps that tasks are composed of: move a hand, move it straight, open and close fingers, wait.

Each step adds frames to an actor and leaves the director's world with these frames in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.limits import clamp_pose
from elbowroom.character.skeleton import Pose
from elbowroom.finish.settle import between_free, joined
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array, continuous, slerp
from elbowroom.plan.repair.arm_paths import LimbTrajectory
from elbowroom.plan.state.actor import Actor, HandSupport
from elbowroom.plan.state.result import PlanningFailure, tried
from elbowroom.plan.steps.director import ESCALATES, Director
from elbowroom.plan.steps.give_way import give_way, require_free
from elbowroom.plan.steps.limb_path import body_frames, find_limb_path
from elbowroom.plan.steps.whole_body import whole_body_frames
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.world.fast import LimbCheck
from elbowroom.world.own_pairs import tissue_contacts

# Half-width, in seconds, of the blend between two consecutive trajectories of a hand.
_JOIN = 0.12
# Path of a hand: any that is free, a straight one, or a straight one into or out of contact, without clearance.
Path = Literal["any", "straight", "contact"]


def set_out(d: Director, actor: Actor, metres: float, count: int) -> int:
    """Wait while more time is left than a relaxed motion takes; return the number of frames that remain for it."""
    spare = count - round(1.3 * actor.frames(d.seconds_for(metres)))
    if spare <= 0 or d.at_once:
        return count
    wait(d, actor, spare)
    return count - spare


def travel(
    d: Director,
    actor: Actor,
    hands: Mapping[str, Array | None],
    goal: Pose,
    count: int,
    what: str,
    path: Path = "any",
    *,
    back: bool = False,
) -> None:
    """Move to a posture in `count` frames: the body directly, each arm by the first tier that succeeds.

    Raises `PlanningFailure`. `hands` maps each moving hand to the rotations (n, 4) that its fingers reach on the way,
    or None to leave them as they are. `back` rejoins the base motion. If limbs fail, or at once if the director says
    so, the whole body is planned.
    """
    if path != "any" or (d.whole_body != "at once" and actor.support is None):
        failure = d.attempt(lambda: _by_limbs(d, actor, hands, goal, count, what, path, back))
        if failure is None:
            return
        failure.by_limbs = actor.stands and failure.status in ESCALATES
        if d.whole_body == "never" or path == "straight" or not failure.by_limbs or d.spent.paths_left <= 0:
            raise failure
        d.spent.paths_left -= 1
    _by_whole_body(d, actor, hands, goal, count, what, back)


def _by_whole_body(
    d: Director, actor: Actor, hands: Mapping[str, Array | None], goal: Pose, count: int, what: str, back: bool
) -> None:
    """Move to a posture with the whole body, see `travel`."""
    arm = f"{next(iter(hands), 'right')}_arm"
    ends = np.array(goal.rotations)
    for hand, turned in hands.items():
        actor.unpin(hand)
        joints = list(finger_joints(actor.body, hand))
        ends[joints] = actor.q[-1][joints] if turned is None else turned
    before, failure = d.take, None
    for done in whole_body_frames(d, actor, Pose.of(goal.root, ends), count, arm, what):
        assert done.frames is not None
        root, q = done.frames
        add(d, actor, root, q, away=not back)
        during = (actor.time(actor.k - len(root) + 1), actor.now)
        own = q[:, list(actor.body.chain(arm).joints)]
        stats = done.stats.checks, done.stats.nodes
        way = LimbTrajectory(own, "whole-body", *done.seconds, *stats)
        d.note(actor, arm, what, during, way, whole=True, blend=done.blend, zmp_m=done.zmp_m)
        failure = tried(partial(require_free, d, during, what))
        if failure is None:
            return
        d.take = before
    assert failure is not None, "there is always a motion, or a reason why not"
    raise failure


def _by_limbs(
    d: Director,
    actor: Actor,
    hands: Mapping[str, Array | None],
    goal: Pose,
    count: int,
    what: str,
    path: Path,
    back: bool,
) -> None:
    """Move to a posture, the body directly and limbs by their tiers, see `travel`."""
    root, q = body_frames(actor, goal, count, hands)
    share = smoothstep(np.linspace(0.0, 1.0, count + 1))[:, None]
    arms = {f"{hand}_arm": list(actor.body.chain(f"{hand}_arm").joints) for hand in hands}
    for hand, arm in zip(hands, arms.values(), strict=True):
        actor.unpin(hand)
        q[:, arm] = slerp(q[0, arm], goal.rotations[arm], share)
    found, margin = {}, 0.0 if path == "contact" else None
    for limb, arm in arms.items():
        found[limb] = find_limb_path(d, actor, limb, root, q, what, margin=margin, straight=path != "any")
        q[:, arm] = found[limb].rotations
    add(d, actor, root, q, away=not back)
    during = (actor.time(actor.k - count), actor.now)
    for limb, trajectory in found.items():
        d.note(actor, limb, what, during, trajectory)
    if len(hands) == 1:
        give_way(d, actor, next(iter(hands)), count, what)
    if d.mode.careful or d.whole_body == "at once":  # postures differ by more than the arm
        require_free(d, during, what)


def _leaning(actor: Actor, support: HandSupport, root: Array, q: Array) -> Array:
    """Rotations (N, J, 4) with the arm of a supporting hand solved again; raises `PlanningFailure` out of its reach."""
    arm, q = LimbIK(actor.body, f"{support.given.hand}_arm"), q.copy()
    for k in range(1, len(q)):
        pose = Pose.of(root[k], q[k])
        solved = arm.solve(arm.T_world_parent(pose), support.T_world_hand, arm.orbit_of(pose), arm.keep_of(pose))
        if not solved.reached.all():
            raise PlanningFailure("no-path", f"the {support.given.hand} hand would come off {support.given.on}")
        q[k] = arm.posed(pose, solved).rotations
    return continuous(q)


def move_fingers(d: Director, actor: Actor, turned: Mapping[str, Array], seconds: float) -> None:
    """Rotate the fingers of all given hands at once, to rotations (n, 4) per hand."""
    count = actor.frames(seconds)
    root, q = actor.ahead(count)
    share = smoothstep(np.linspace(0.0, 1.0, count + 1))[:, None]
    for hand, rotations in turned.items():
        joints = list(finger_joints(actor.body, hand))
        if joints:
            q[:, joints] = slerp(q[:1, joints], rotations, share)
    add(d, actor, root, q)


def join(d: Director, actor: Actor, hand: str, at: int, since: int) -> None:
    """Blend the arm's motion through frame `at` without a stop, if free; frames from `since` on may change."""
    arm = list(actor.body.chain(f"{hand}_arm").joints)
    since = max(since, at - 2 * actor.frames(_JOIN))
    smooth = joined(actor.q[since:, arm], at - since, actor.frames(_JOIN))
    limits = actor.body.limits
    within = clamp_pose([limits[j] if j < len(limits) else None for j in arm], smooth)
    during = (actor.time(since), actor.now)
    check = LimbCheck(d.world, actor.who, f"{hand}_arm", during)
    times = actor.base.start + np.arange(since, actor.k + 1) / actor.base.fps
    for frames in (within, smooth):
        if between_free(check, frames, times):
            q = np.array(actor.q)
            q[since:, arm] = frames
            actor.change(q=q)
            d.world = actor.placed(d.world)
            break


def wait(d: Director, actor: Actor, count: int) -> None:
    """Continue with what the actor does without a task for `count` frames."""
    root, q = actor.ahead(count)
    add(d, actor, root, q, away=actor.away)


def add(d: Director, actor: Actor, root: Array, q: Array, *, away: bool = True) -> None:
    """Append frames, the first of which equals the last frame so far; what bears weight stays where it is."""
    if actor.support is not None:
        q = _leaning(actor, actor.support, root, q)
    if actor.knee is not None:
        kneels = [actor.knee.held(Pose.of(*row)) for row in zip(root, q, strict=True)]
        root, q = np.array([pose.root for pose in kneels]), continuous(np.array([pose.rotations for pose in kneels]))
    actor.done(root, q, away=away)
    d.world = actor.placed(d.world)
    if d.whole_body != "never" or actor.who in d.take.folded:
        during = (actor.time(actor.k - len(root) + 1), actor.now)
        d.allow(tissue_contacts(actor.body, actor.who, during, d.world.caps.tissue, actor.body.transforms(root, q)))
