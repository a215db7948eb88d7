"""What must not be tilted is kept level on a searched way, as far as the wrist can."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elbowroom.character.limits import clamp_pose
from elbowroom.character.skeleton import Pose
from elbowroom.finish.rounding import rounded
from elbowroom.geometry.rotations import Array, arc, continuous, slerp, to_matrix
from elbowroom.motion.quality import joint_jerks
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.tasks.actor import Actor
from elbowroom.tasks.hands import held_by
from elbowroom.tasks.repair_pace import JERK
from elbowroom.world.world import World

# Radians that a thing may be tilted by on its way, which spills nothing from a cup that is not full.
LEVEL = float(np.radians(15.0))

# Shares of a levelled way that are tried: the first that is free.
_SHARES = (1.0, 0.8, 0.6, 0.4)

# Frames to either side over which the wrist comes to the end of its range, and how much rougher joints may become.
_SOFTLY, _ROUGHER = 8, 1.3

_UP = np.array([0.0, 0.0, 1.0])


def level_thing(world: World, who: str, limb: str, t: float) -> str | None:
    """The thing that a limb's hand holds at a time, if it must not be tilted."""
    hold = held_by(world, who, limb.removesuffix("_arm"), t) if limb.endswith("_arm") else None
    return hold.object if hold is not None and world.objects[hold.object].freedom == "level" else None


class Levelling:
    """Ways of an arm over frames of a body, roots (N, 3) and rotations (N, J, 4), that hold something level."""

    def __init__(self, actor: Actor, limb: str, root: Array, q: Array, free: Callable[[Array], bool]) -> None:
        self._actor, self._root, self._q, self._free = actor, root, q, free
        self._ik = LimbIK(actor.body, limb, Pose.of(root[0], q[0]))

    def tilt(self, arm: Array) -> float:
        """How far what is level in the first frame is tilted at most over frames (N, 3, 4) of the arm, radians."""
        return float(np.arccos(np.clip(self._ups(self._placed(arm))[:, 2], -1.0, 1.0)).max())

    def levelled(self, arm: Array) -> Array:
        """Frames (N, 3, 4) of the arm with the hand turned so that what it holds is level, the wrist where it was.

        As they are where that is not free.
        """
        T, fps = self._placed(arm), self._actor.base.fps
        ups = self._ups(T)
        # it ends as it is to end, level or not
        share = np.linspace(0.0, 1.0, len(arm))[:, None]
        wanted = slerp(np.array([1.0, 0.0, 0.0, 0.0]), arc(_UP, ups[-1]), share[:, 0])
        goals = to_matrix(wanted) @ _UP
        hands = T[:, self._ik.joints[2]].copy()
        hands[:, :3, :3] = np.stack([to_matrix(arc(a, b)) for a, b in zip(ups, goals, strict=True)]) @ hands[:, :3, :3]
        parents = T[:, self._ik.parent]
        solved = self._ik.solve(parents, hands, *self._ik.describe(parents, arm))
        limits = [self._actor.body.limits[j] for j in self._ik.joints]
        turned, own = continuous(np.concatenate([arm[:1], solved.rotations]))[1:], continuous(arm)
        within = clamp_pose(limits, rounded(clamp_pose(limits, turned), _SOFTLY, turned))
        allowed = np.maximum(JERK, _ROUGHER * joint_jerks(own, fps))
        for part in _SHARES:
            q = continuous(slerp(own, within, part))
            q[0], q[-1] = arm[0], arm[-1]
            if (joint_jerks(continuous(q), fps) <= allowed).all() and self._free(q) and self.tilt(q) < self.tilt(arm):
                return q
        return arm

    def _placed(self, arm: Array) -> Array:
        q = self._q.copy()
        q[:, list(self._ik.joints)] = arm
        return self._actor.body.transforms(self._root, q)

    def _ups(self, T: Array) -> Array:
        """Where what is up in the first frame points to in each, (N, 3), for joints at T (N, J, 4, 4)."""
        hands = T[:, self._ik.joints[2], :3, :3]
        return np.asarray(hands @ (hands[0].T @ _UP))
