"""A verb of another package, in one file: `wave: {who: ann, times: 3}`.

To use it in storyboards, the studio and Python, install a package with this file and the entry point

    [project.entry-points."elbowroom.verbs"]
    wave = "wave:Wave"
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Le

from elbowroom.geometry.rotations import UP
from elbowroom.plan.checks.hands import arm_length, front_of, shoulder_of
from elbowroom.plan.tasks import Reach, Task
from elbowroom.plan.tasks.task import about

if TYPE_CHECKING:
    from elbowroom.plan.steps.director import Director

# Middle of the waving hand from the shoulder, ahead and up, and how far it sways to either side, arm's lengths.
AHEAD = 0.45
ABOVE = 0.45
SWAY = 0.2


@dataclass(frozen=True, kw_only=True)
class Wave(Task):
    """Wave with a raised hand."""

    verb: ClassVar = "wave"
    in_place: ClassVar = True

    times: Annotated[int, Ge(1), Le(20)] = field(default=2, metadata=about("Number of waves."))

    def perform(self, d: Director) -> None:
        """Bring the hand from side to side in front of the shoulder."""
        actor, hand = d.actor(self.who), self.hand or "right"
        pose = actor.pose
        front = front_of(actor, actor.body.skeleton.at(pose))
        raised = shoulder_of(actor, hand, pose) + arm_length(actor, hand) * (AHEAD * front + ABOVE * UP)
        sway = SWAY * arm_length(actor, hand) * np.cross(UP, front)
        for side in (1.0, -1.0) * self.times:
            x, y, z = (raised + side * sway).tolist()
            Reach(who=self.who, hand=hand, to=(x, y, z), shape="flat").perform(d)
