"""Idle limbs, and elbows of hands at work, that give way to a planned motion; hands at work stay where they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import continuous
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.accept import hits, limb_meets
from elbowroom.plan.checks.episodes import CollisionEpisode, collision_episodes
from elbowroom.plan.checks.freeing import free_arm
from elbowroom.plan.checks.margins import TIGHT_M
from elbowroom.plan.checks.obstructions import collision_text
from elbowroom.plan.repair.arm_paths import ArmPaths
from elbowroom.plan.repair.ladder import RepairResult, cleared
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.repair.repair import repair_planned
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.edit import changed_by
from elbowroom.plan.state.result import Plan, PlanningFailure, blamed
from elbowroom.plan.steps.director import Director
from elbowroom.spaces.styles import CLOSE
from elbowroom.world.certificate import certify
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast import LimbCheck
from elbowroom.world.world import World

# Hand travel in a step below which the free arm is not checked, metres.
_MOVES_M = 0.002


def give_way(d: Director, actor: Actor, hand: str, count: int, what: str) -> None:
    """Move the free arm of a standing character where it collides in the last `count` frames.

    Earlier frames may change as well: an arm is raised before the trunk leans. Raises `PlanningFailure` where the arm
    cannot.
    """
    arm = free_arm(d.world, actor, hand, actor.k)
    if arm is None or d.settings.tier == "ik" or not actor.stands:
        return
    joints = list(actor.body.chain(arm).joints)
    rows = np.arange(actor.k - count, actor.k + 1)
    ends = actor.body.transforms(actor.root[rows], actor.q[rows])[..., :3, 3][:, joints]
    if np.ptp(ends, axis=0).max() < _MOVES_M:
        return
    times = actor.base.start + rows / actor.base.fps
    check = LimbCheck(d.world, actor.who, arm, (float(times[0]), float(times[-1])))
    episode = limb_meets(check, arm, actor.q[rows][:, joints], times)
    if episode is not None and not _gave_way(d, [episode]):
        meets = blamed(next(iter(episode.pairs), None)) or "the free arm would collide with something"
        raise PlanningFailure("no-path", f"{what}: {meets}, and the free arm cannot avoid it")


def require_free(d: Director, during: tuple[float, float], what: str, thing: str = "") -> None:
    """Move idle limbs where the whole motion collides during an interval of seconds.

    Raises `PlanningFailure` where that fails, and at once where the held `thing` collides.
    """
    if d.settings.tier == "ik":
        return
    found, before = hits(d.world, during), d.world
    if found and not any(thing in hit.pair for hit in found):
        exact = ExactWorld(d.world)
        _gave_way(d, [e for who in d.actors for e in collision_episodes(exact, who, found)])
    # an episode without a solution may have been resolved together with one before it
    if found and (d.world is before or hits(d.world, during)):
        raise PlanningFailure("no-path", f"{what}: {blamed(found[0].pair)} along the path")


def proven(d: Director, world: World, people: Sequence[str]) -> Plan:
    """Prove a finished motion; limbs still in collision give way first, with the trunk where the hands allow it."""
    base, edits = d.take.layers(world)
    changed = changed_by(edits)
    certificate = certify(world, changed=changed)
    plan = Plan("found", world, edits, certificate=certificate, base=base)
    if certificate.free:
        return plan
    if d.settings.tier == "ik":
        left = certificate.collisions
        why = collision_text(left[0]) if left else "something is too close to decide"
        return plan.with_(status="not-certified", why=why)
    planted = [actor.who for actor in d.actors.values() if actor.stands]
    return plan.then(
        repair_planned(world, people, certificate, seed=d.seed(), changed=changed, pins=d.pins, planted=planted)
    )


def _gave_way(d: Director, episodes: Iterable[CollisionEpisode]) -> bool:
    """Resolve all episodes in the director's motion by moving their limbs; return whether that succeeded."""
    for episode in episodes:
        actor = d.actor(episode.who)
        sources = {episode.who: actor.clip()}
        planted = frozenset([actor.who] if actor.stands else [])
        limits = (d.settings.search_budget, False, 0.0)
        options = RepairOptions(sources, d.seed(), CLOSE, *limits, pins=d.pins, planted=planted, trunk=False)
        if planted and episode.limb.endswith("_leg"):  # thighs of some bodies are always nearer to each other
            options = replace(options, margin=TIGHT_M)
        done = cleared(d.world, [episode], options, pads_s=())
        if done is None:
            return False
        _take_over(d, actor, done)
    return True


def _take_over(d: Director, actor: Actor, done: RepairResult) -> None:
    """Copy a repaired motion into an actor: final frames, and those of the base that follow."""
    new = done.world.motion(actor.who)
    assert isinstance(new, Clip)
    base = np.array(actor.base.rotations)
    for edit in done.edits:
        first, last = actor.frame(edit.during[0]), min(actor.frame(edit.during[1]), len(new) - 1)
        rows = np.arange(max(first, actor.k + 1) if actor.stands else first, min(last, len(base) - 1) + 1)
        for joint in edit.replanned:
            base[rows, joint] = new.rotations[rows, joint]
    actor.change(base=actor.base.with_(rotations=base), q=new.rotations[: actor.k + 1])
    d.world = actor.placed(d.world)
    d.take = d.take.with_edits(*done.edits)
    d.allow([contact for edit in done.edits for contact in edit.contacts])


def clear_elbow(d: Director, actor: Actor, hand: str, first: int, what: str) -> None:
    """Move the elbow of a hand at work out of the way from frame `first` on, the hand in place.

    Raises `PlanningFailure` where it stays in the trunk, which does not give way.
    """
    limb, body, q = f"{hand}_arm", actor.body, actor.q[first:]
    arm, times = list(body.chain(limb).joints), actor.base.start + np.arange(first, actor.k + 1) / actor.base.fps
    check = LimbCheck(d.world, actor.who, limb, (float(times[0]), actor.now))
    met = limb_meets(check, limb, q[:, arm], times)
    if met is None:
        return
    T = body.transforms(actor.root[first:], q)
    around = ArmPaths(body, limb, Pose.of(actor.root[first], q[0]), times, T, check, d.settings).around(q[:, arm])
    if around is not None:
        frames = np.array(actor.q)
        frames[first:, arm] = around
        actor.change(q=continuous(frames))
        actor.keep(tuple(arm))
        d.world = actor.placed(d.world)
        return
    limbs = {j for chain in body.chains.values() for j in body.subtree(chain.joints[0])}
    trunk = {f"{actor.who}.{shape.name}" for shape in body.shapes if shape.joint not in limbs}
    if any(not trunk.isdisjoint(pair) for pair in met.pairs):
        raise PlanningFailure("no-path", f"{what}: {blamed(met.pairs[0])} along the path")
