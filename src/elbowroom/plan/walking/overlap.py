"""Arms that start before a walk ends: reaching begins in the last steps, without a stop between the two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.plan.checks.accept import hits
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.steps.director import Director

# Seconds before the end of a walk at which an arm starts, tried one after another.
_EARLY_S = (0.7, 0.4)
# Share of the arm's motion from which on it is as planned: it arrives with the body.
_AS_PLANNED = 0.6


def set_out_early(d: Director, actor: Actor, arrived: int) -> None:
    """Let the arm motion that follows a walk, which ended at a frame, begin while the body still walks.

    Where the arm would collide so early, everything stays as it was.
    """
    led = [
        n
        for n, edit in enumerate(d.take.edits)
        if edit.who == actor.who and edit.limb.endswith("_arm") and actor.frame(edit.during[0]) >= arrived
    ]
    # held objects are carried as planned
    held = any(h.by == actor.who and h.during[0] < actor.time(arrived) < h.during[1] for h in d.world.holds)
    if not led or held or d.settings.tier == "ik":
        return
    number = min(led, key=lambda n: d.take.edits[n].during[0])
    edit = d.take.edits[number]
    first, last = (actor.frame(t) for t in edit.during)
    join = first + round(_AS_PLANNED * (last - first))
    chain = actor.body.chains[edit.limb]
    joints = sorted({k for j in (*chain.lead, *chain.joints) for k in actor.body.subtree(j)})
    kept = actor.q
    for seconds in _EARLY_S:
        begin = first - actor.frames(seconds)
        if begin < 1 or join - first < 2:
            continue
        frames = np.arange(begin, join + 1)
        u = (frames - begin) / (join - begin)
        # the speed of the plan where it is joined
        slope = (join - begin) / (join - first)
        at = first + (join - first) * (u + u * u * (1.0 - u) + slope * u * u * (u - 1.0))
        k = np.clip(at.astype(int), 0, len(kept) - 2)
        led_on = rot.slerp(kept[k][:, joints], kept[k + 1][:, joints], (at - k)[:, None])
        share = smootherstep((frames - begin) / (first - begin))
        q = kept.copy()
        q[begin : join + 1, joints] = rot.slerp(kept[begin : join + 1, joints], led_on, share[:, None])
        actor.change(q=rot.continuous(q))
        d.world = actor.placed(d.world)
        if not hits(d.world, (actor.time(begin), actor.time(join))):
            d.take = d.take.with_edit_at(number, replace(edit, during=(actor.time(begin), edit.during[1])))
            return
    actor.change(q=kept)
    d.world = actor.placed(d.world)
