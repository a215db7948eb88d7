"""A course of an arm over a motion made free: as it is, or by the rungs of the ladder of repairs that limbs have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.finish.settle import first_hit
from elbowroom.plan.actor import Actor
from elbowroom.plan.arm_paths import LimbTrajectory
from elbowroom.plan.director import Director
from elbowroom.plan.repair.allowed import FeetFree
from elbowroom.plan.repair.find import CollisionEpisode, clip_of
from elbowroom.plan.repair.ladder import replanned
from elbowroom.plan.repair.limb import searched, spliced
from elbowroom.plan.repair.options import TIGHT, RepairOptions
from elbowroom.plan.repair.stretch import Job, stretches
from elbowroom.plan.result import PlanningFailure, blamed
from elbowroom.spaces.styles import CLOSE, style_of
from elbowroom.world.fast import LimbCheck

# Numbers of frames, (N,).
Frames = NDArray[np.int64]


def freed(
    d: Director,
    actor: Actor,
    limb: str,
    rows: Frames,
    exact: NDArray[np.bool_],
    what: str,
    checks: dict[bytes, LimbCheck],
) -> LimbTrajectory:
    """The course of an arm that the base has in frames (N,), or the least change of it that is free.

    Frames in which the hand has to be at its target, `exact` (N,), stay as they are. `checks` has those of earlier
    courses of this arm in a world that is otherwise the same, by the frames of everything but the arm. Raises
    `PlanningFailure`.
    """
    arm, who, tier = actor.body.chain(limb).joints, actor.who, d.settings.tier
    course, times = actor.base.rotations[rows][:, list(arm)], actor.base.start + rows / actor.base.fps
    plain = LimbTrajectory(course, "ik", checks=len(course))
    if tier == "ik":
        return plain
    span = (float(times[0]), float(times[-1]))
    key = rows[[0, -1]].tobytes() + np.delete(actor.base.rotations[rows], list(arm), axis=1).tobytes()
    widest = checks.get(key)
    if widest is None:
        widest = checks[key] = LimbCheck(d.world, who, limb, span, margin=d.settings.margin)
    check = widest.with_margin(0.0)
    bad = np.flatnonzero(~check.free_batch(course, times))
    hit = float(times[bad[0]]) if len(bad) else first_hit(check, course, times)
    if hit is None and tier != "plan":
        return plain
    pair = None if not len(bad) else check.blame(course[bad[0]], float(times[bad[0]]))
    if exact[bad].any():
        raise PlanningFailure(
            "target-in-collision", f"{what}: {blamed(pair) or 'something is in the way'} at the target"
        )
    moves = np.flatnonzero(~exact)
    low, high = max(int(moves[0]) - 1, 0), min(int(moves[-1]) + 1, len(rows) - 1)
    once = 0.5 * float(times[low] + times[high]) if hit is None else hit
    during = (float(times[bad[0]]), float(times[bad[-1]])) if len(bad) else (once, once)
    episode = CollisionEpisode(who, limb, during, () if pair is None else (pair,))
    # ends that are nearer to something than the margin are left and entered with less
    ends, at = course[[low, high]], times[[low, high]]
    margins = (d.settings.margin, min(TIGHT, d.settings.margin))
    margin = next((m for m in margins if widest.with_margin(m).free_batch(ends, at).all()), 0.0)
    style, budget = style_of(d.settings.style, CLOSE), d.settings.search_budget
    options = RepairOptions({who: actor.clip()}, 0, style, budget, False, 0.0, margin=margin)
    job = Job(d.world, episode, options, arm, (), int(rows[low]), int(rows[high]))
    if tier == "plan":
        done = next((found for s in stretches(job) if (found := searched(job, s, d.seed())) is not None), None)
    else:
        done = replanned(job, FeetFree(job.low, job.high), limb, d.seed(), tier != "avoid")
    if done is None:
        raise PlanningFailure("no-path", f"{what}: {blamed(pair) or 'the straight way is not free'}")
    return replace(done.way, rotations=clip_of(spliced(job, done), who).rotations[rows][:, list(arm)])
