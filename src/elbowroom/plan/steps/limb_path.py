"""Free paths of a limb over frames of its body, with as much clearance as their ends have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.limits import clamp_pose
from elbowroom.character.skeleton import Pose
from elbowroom.finish.settle import rounded
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import UP, Array, arc, continuous, slerp, to_matrix
from elbowroom.plan.checks.accept import rougher
from elbowroom.plan.checks.hands import held_by
from elbowroom.plan.checks.margins import ladder
from elbowroom.plan.repair.arm_paths import ArmPaths, LimbTrajectory
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import Blocked, PlanningFailure, why_not
from elbowroom.plan.steps.director import Director
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.posing.stance import between
from elbowroom.world.fast import LimbCheck
from elbowroom.world.world import World

# Searches for a path on which an object stays level.
_SEARCHES = 4


def find_limb_path(
    d: Director,
    actor: Actor,
    limb: str,
    root: Array,
    q: Array,
    what: str,
    *,
    margin: float | None = None,
    straight: bool = False,
) -> LimbTrajectory:
    """Find a free path of a limb between the first and last of some frames; raises `PlanningFailure`.

    `root` (N, 3) and `q` (N, J, 4) are those frames; `straight` allows only a straight path.
    """
    joints = list(actor.body.chain(limb).joints)
    times = actor.times(len(root) - 1)
    world = actor.placed(d.world, root, q)
    during = (float(times[0]), float(times[-1]))
    T = actor.body.transforms(root, q)
    trajectory: LimbTrajectory | Blocked = Blocked("no-path")
    thing = level_thing(d.world, actor.who, limb, during[0])
    clearances = ladder(d.settings.margin if margin is None else margin)
    check = LimbCheck(world, actor.who, limb, during, margin=clearances[0])
    for clearance in clearances:
        paths = ArmPaths(actor.body, limb, actor.pose, times, T, check.with_margin(clearance), d.settings)
        trajectory = paths.find(q[0, joints], q[-1, joints], d.seed(), straight=straight)
        if isinstance(trajectory, LimbTrajectory) and trajectory.tier == "plan" and thing is not None:
            trajectory = _level(d, actor, thing, what, paths, trajectory, Levelling(actor, limb, root, q, paths.free))
        # Ends with less clearance than the margin are left and entered with a smaller one.
        if isinstance(trajectory, LimbTrajectory) or trajectory.status == "no-path" or clearance == 0.0:
            break
    if isinstance(trajectory, Blocked):
        raise PlanningFailure(trajectory.status, f"{what}: {why_not(trajectory)}")
    return trajectory


def _level(
    d: Director, actor: Actor, thing: str, what: str, paths: ArmPaths, trajectory: LimbTrajectory, levelling: Levelling
) -> LimbTrajectory:
    """A searched path that keeps an object level, or the most level of a few; deviations are noted in the world."""
    best, least = trajectory, np.inf
    for attempt in range(_SEARCHES):
        if attempt > 0:
            other = paths.searched(trajectory.rotations[0], trajectory.rotations[-1], d.seed())
            trajectory = other if isinstance(other, LimbTrajectory) else trajectory
        arm = levelling.levelled(trajectory.rotations)
        tilt = levelling.tilt(arm)
        if tilt < least:
            best, least = replace(trajectory, rotations=arm), tilt
        if least <= LEVEL:
            return best
    note = f"{what}: {thing} is tilted by up to {np.degrees(least):.0f} degrees along its path: no level path was found"
    d.world = d.world.with_(notes=(*d.world.notes, note))
    return best


# Roles of joints that gaze; they arrive after this share of a step, because eyes and head lead.
GAZE_ROLES = ("neck", "head", "left_eye", "right_eye")
GAZE_ARRIVES = 0.55


def body_frames(
    actor: Actor, goal: Pose, count: int, fingers: Mapping[str, Array | None] | None = None
) -> tuple[Array, Array]:
    """Frames from the last one to a posture, feet in place, head first.

    `fingers` are (n, 4) by hand, None for hands that keep their shape.
    """
    h = np.linspace(0.0, 1.0, count + 1)
    s = smoothstep(h)
    q_a = actor.q[-1:]
    if actor.stands:
        root, q = between(actor.body, actor.pose, goal, s)
    else:
        root, q_a = actor.ahead(count)
        q = slerp(q_a, goal.rotations, np.where(actor.upper, s[:, None], 0.0))
    gaze = [actor.body.roles[r] for r in GAZE_ROLES if r in actor.body.roles]
    q[:, gaze] = slerp(q_a[:, gaze], goal.rotations[gaze], smoothstep(h / GAZE_ARRIVES)[:, None])
    for hand, turned in (fingers or {}).items():
        joints = list(finger_joints(actor.body, hand))
        if joints:
            q[:, joints] = q_a[:, joints] if turned is None else slerp(q_a[:, joints], turned, s[:, None])
    return root, q


# Largest tilt of a level object, radians: spills nothing from a cup that is not full.
LEVEL = float(np.radians(15.0))

# Fractions of the levelling rotation that are tried; the first free one counts.
_SHARES = (1.0, 0.8, 0.6, 0.4)

# Half-width, in frames, of the blend into the wrist's limit, and the largest increase in joint roughness.
_SOFTLY, _ROUGHER = 8, 1.3


def level_thing(world: World, who: str, limb: str, t: float) -> str | None:
    """The object in a limb's hand at a time, if it must stay level."""
    hold = held_by(world, who, limb.removesuffix("_arm"), t) if limb.endswith("_arm") else None
    return hold.object if hold is not None and world.objects[hold.object].freedom == "level" else None


class Levelling:
    """Levels a held object on paths of an arm over frames of a body, roots (N, 3) and rotations (N, J, 4)."""

    def __init__(self, actor: Actor, limb: str, root: Array, q: Array, free: Callable[[Array], bool]) -> None:
        self._actor, self._root, self._q, self._free = actor, root, q, free
        self._ik = LimbIK(actor.body, limb, Pose.of(root[0], q[0]))

    def tilt(self, arm: Array) -> float:
        """Largest tilt of the object against the first frame over frames (N, 3, 4) of the arm, radians."""
        return float(np.arccos(np.clip(self._ups(self._placed(arm))[:, 2], -1.0, 1.0)).max())

    def levelled(self, arm: Array) -> Array:
        """Frames (N, 3, 4) of the arm with the hand rotated so that the object is level, the wrist in place.

        Unchanged where that is not free.
        """
        T, fps = self._placed(arm), self._actor.base.fps
        ups = self._ups(T)
        # the last frame is fixed, level or not
        share = np.linspace(0.0, 1.0, len(arm))[:, None]
        wanted = slerp(np.array([1.0, 0.0, 0.0, 0.0]), arc(UP, ups[-1]), share[:, 0])
        goals = to_matrix(wanted) @ UP
        hands = T[:, self._ik.joints[2]].copy()
        hands[:, :3, :3] = np.stack([to_matrix(arc(a, b)) for a, b in zip(ups, goals, strict=True)]) @ hands[:, :3, :3]
        parents = T[:, self._ik.parent]
        solved = self._ik.solve(parents, hands, *self._ik.describe(parents, arm))
        limits = [self._actor.body.limits[j] for j in self._ik.joints]
        turned, own = continuous(np.concatenate([arm[:1], solved.rotations]))[1:], continuous(arm)
        within = clamp_pose(limits, rounded(clamp_pose(limits, turned), _SOFTLY, turned))
        for part in _SHARES:
            q = continuous(slerp(own, within, part))
            q[0], q[-1] = arm[0], arm[-1]
            smooth = rougher(continuous(q)[None], own, fps, _ROUGHER)[0] <= 1.0
            if smooth and self._free(q) and self.tilt(q) < self.tilt(arm):
                return q
        return arm

    def _placed(self, arm: Array) -> Array:
        q = self._q.copy()
        q[:, list(self._ik.joints)] = arm
        return self._actor.body.transforms(self._root, q)

    def _ups(self, T: Array) -> Array:
        """Direction in each frame of the axis that is vertical in the first, (N, 3), for joints at T (N, J, 4, 4)."""
        hands = T[:, self._ik.joints[2], :3, :3]
        return np.asarray(hands @ (hands[0].T @ UP))
