"""Something is dropped while the person walks: let go above a place on the way, from where it falls."""

from __future__ import annotations

from elbowroom.tasks import dropping as standing
from elbowroom.tasks.carrying import holding_hand, usual_grip
from elbowroom.tasks.director import Director
from elbowroom.tasks.timed_put import put_in_motion
from elbowroom.tasks.timed_when import in_motion
from elbowroom.tasks.verbs import Drop, Put


def drop(d: Director, task: Drop) -> None:
    """Let what a hand holds fall: standing, or over a motion above a place that is told."""
    actor = d.actor(task.who)
    if task.over is None or not in_motion(d, actor, None, task.at):
        return standing.drop(d, task)
    hand = holding_hand(d, task, task.object)
    grip = d.grips.get(task.object) or usual_grip(d, actor, hand, task.object)
    x, y, z = standing.above(d, task, grip.T_world_taken[:3, :3], actor.now)[:3, 3].tolist()
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
