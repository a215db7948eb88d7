"""Previews without collision checks: a reach while its target is dragged, a move while its object or goal is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import finger_joints, finger_rotations
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import IDENTITY, Array, conjugate, from_matrix, multiply, slerp
from elbowroom.geometry.transforms import apply, inverse, transform
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.hands import arms_of, joints_of, shoulder_of
from elbowroom.plan.state.actor import Actor, Track
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Point
from elbowroom.plan.verbs.grasp_choice import ranked
from elbowroom.plan.verbs.passage import with_posture
from elbowroom.plan.verbs.touch import place_of, pointing
from elbowroom.posing.grasps import Grasp, grasps_of, press_target
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.posing.orbit import search_orbit
from elbowroom.posing.reach import Reached, ReachStyle
from elbowroom.posing.trunk_bend import unfolding
from elbowroom.posing.whole_body import WholeBody, WholeBodySolution, support_of
from elbowroom.studio.task_targets import TaskTarget
from elbowroom.world.things import Hold
from elbowroom.world.world import World

# Other grasps that are tried where joint limits prevent that of the motion.
_GRASPS = 3
# Missing distance up to which more help is searched, metres.
_NEARLY = 0.25
# Distance to the last unreachable goal up to which a stretched body stays as it is, metres.
_SAME = 0.06
# Seconds before and after a reach without a motion over which it fades in and out.
_COMES = 0.6


@dataclass(frozen=True, eq=False)
class Goal:
    """Goal of a hand, `T` (4, 4) in the world, and its fingers (n, 4); None keeps those of the motion."""

    hand: str
    T: Array
    fingers: Array | None = None


class Reacher:
    """Character that reaches for a target at the time of its task.

    `world` has the motion before the drag, `before` the characters' motions without tasks.
    """

    def __init__(self, world: World, before: World, task: TaskTarget, t: float) -> None:
        self.task, self.t = task, t
        self._world = world
        self._actor = Actor.alone(task.who, Track.of(before, task.who, 60.0))
        self._k = min(max(self._actor.frame(t), 0), len(self._actor.base) - 1)
        styles = (ReachStyle(thorough=False), ReachStyle())
        self._quick, self._thorough = (Director(before, Settings(tier="ik", reach=style), 60.0, 0) for style in styles)
        self._far: tuple[Goal, Reached] | None = None  # last unreachable goal, after a full search
        self._grasps: dict[str, list[Grasp]] = {}

    def planned(self, T_world_hand: Array) -> Goal:
        """Goal of a hand that the motion already has at its target, at another position."""
        assert self.task.hand is not None
        return Goal(self.task.hand, T_world_hand)

    def goals(self, world: World, to: Point | str, seen: Array) -> Iterator[Goal]:
        """Goals of a hand at a target in a world, the easiest first; all moved by `seen` (4, 4)."""
        actor, k = self._actor, self._k
        pose, verb = actor.neutral(k), self.task.verb
        point = apply(seen, place_of(Director(world, self._quick.settings, 60.0, 0), to, self.t)[None])[0]
        hands = [self.task.hand] if self.task.hand is not None else arms_of(actor, self.task.args.get("hand"))
        hand = min(hands, key=lambda h: float(np.linalg.norm(point - shoulder_of(actor, h, pose))))
        if verb not in ("grab", "open", "close", "press") or not isinstance(to, str):
            yield from (Goal(hand, T) for T in pointing(actor, hand, point, shoulder_of(actor, hand, pose)))
            return
        if hand not in self._grasps:  # in the object's own frame: they are the same wherever it is dragged
            spot = self._world.objects[to].frames.get("handle") if verb == "press" else None
            self._grasps[hand] = (
                grasps_of(self._world, actor.who, hand, to, self.t)
                if spot is None
                else press_target(actor.body, hand, spot)
            )
        T_thing = seen @ np.asarray(world.objects[to].path(self.t))
        for grasp in ranked(actor, hand, self._grasps[hand], T_thing, k)[:_GRASPS]:
            yield Goal(hand, T_thing @ grasp.T_thing_hand, finger_rotations(actor.body, hand, grasp.shape))

    def over(self, world: World, goal: Goal, others: Iterable[Goal]) -> tuple[World, str]:
        """World with the reach for a goal, or for an alternative if joint limits prevent it; and why it fails, if so.

        A hand that does not reach its goal comes as close as possible.
        """
        actor = self._actor
        found = self._reached(self._quick, goal)
        if not found.found and found.missing < _NEARLY:
            found = self._still_short(goal) or self._reached(self._thorough, goal)
            if found.status == "out-of-reach" and self._far is None:
                self._far = goal, found
        for other in others if found.status == "limits" else ():
            again = self._reached(self._quick, other)
            if again.found:
                goal, found = other, again
                break
        world = world.with_character(actor.who, self._laid(world, goal, found.pose))
        lies = self.task.verb == "grab"  # it is taken from its present place, however near the hand gets
        holds = tuple(replace(h, T_hand_object=None) if lies and self._begins(h) else h for h in world.holds)
        return world.with_(holds=holds), "" if found.found else self._why(actor, found)

    def _still_short(self, goal: Goal) -> Reached | None:
        """Body stretched for a nearby unreachable goal, with the arm towards this one; else None.

        A goal closer to the unreachable one than the hand's missing distance is unreachable, too.
        """
        if self._far is None:
            return None
        last, found = self._far
        if np.linalg.norm(goal.T[:3, 3] - last.T[:3, 3]) > min(found.missing, _SAME):
            self._far = None
            return None
        ik = LimbIK(self._actor.body, f"{goal.hand}_arm", found.pose)
        arm = search_orbit(ik, ik.T_world_parent(found.pose), goal.T, start=found.orbit)
        return replace(found, pose=ik.posed(found.pose, arm.solution), missing=float(arm.solution.missing))

    def _why(self, actor: Actor, found: Reached) -> str:
        """Sentence on why a hand does not reach its target."""
        begin = f"{actor.who} cannot reach {self.task.what} there"
        if found.status == "out-of-reach":
            far = f"{found.missing:.2f} m too far" if found.missing < _NEARLY else "too far"
            return f"{begin}: {far}."
        why = {"limits": "joint limits", "out-of-balance": "the body would lose its balance"}
        return f"{begin}: {why[found.status]}."

    def _begins(self, hold: Hold) -> bool:
        """Return whether a hold is the one that the task begins."""
        mine = (hold.object, hold.by, hold.hand) == (self.task.place, self.task.who, self.task.hand)
        return mine and abs(hold.during[0] - self.t) < 1e-6

    def _reached(self, d: Director, goal: Goal) -> Reached:
        """Posture with the hand at a goal, and the elbow as in the motion if possible."""
        actor, orbit = self._actor, None
        if goal.hand == self.task.hand:
            pose = self._world.motion(actor.who)(self.t)
            orbit = LimbIK(actor.body, f"{goal.hand}_arm", pose).orbit_of(pose)
        return d.reach(actor, goal.hand, goal.T, self._k, None, orbit)

    def _laid(self, world: World, goal: Goal, pose: Pose) -> Clip:
        """Motion with a posture at its time, faded in and out around it."""
        actor = self._actor
        clip = world.motion(actor.who)
        clip = clip if isinstance(clip, Clip) else Track.of(world, actor.who, 60.0).base
        task, t = self.task, self.t
        begin, back = task.during if task.hand is not None else (t - _COMES, t + _COMES)
        near, stays = (task.near, task.stays) if task.hand is not None else (t, t)
        times = clip.times
        rows = slice(int(np.searchsorted(times, begin)), int(np.searchsorted(times, back)) + 1)
        rows = slice(max(rows.start - 1, 0), min(rows.stop, len(clip)))
        s = times[rows]
        share = smootherstep((s - begin) / max(near - begin, 1e-3)) * smootherstep((back - s) / max(back - stays, 1e-3))
        k = int(np.clip(round((t - clip.start) * clip.fps), rows.start, rows.stop - 1))
        looked = self._quick.looking(actor, pose, goal.T[:3, 3])
        q = looked.rotations.copy()
        others = [j for hand in arms_of(actor, None) if hand != goal.hand for j in joints_of(actor, hand)]
        q[others] = clip.rotations[k, others]
        fingers = list(finger_joints(actor.body, goal.hand))
        q[fingers] = clip.rotations[k, fingers] if goal.fingers is None else goal.fingers
        body = actor.body
        assert isinstance(body, Character)
        everything = np.ones(q.shape[0], dtype=bool)
        turned, _ = with_posture(body, clip.rotations[rows], k - rows.start, Pose.of(pose.root, q), everything, share)
        root, rotations = clip.root.copy(), clip.rotations.copy()
        root[rows] += share[:, None] * (pose.root - clip.root[k])
        rotations[rows] = turned
        return clip.with_(root=root, rotations=rotations)


# Postures that are solved along a motion; frames between them are interpolated.
_KEYS = 20
# Seconds after release in which retreating hands begin to move.
_LEAVES_S = 0.1


@dataclass(frozen=True)
class Fade:
    """Share of a displacement over time, seconds: none at `begin`, all from `at` until `stays`, none at `back`."""

    begin: float
    at: float
    stays: float
    back: float

    def __call__(self, times: Array) -> Array:
        """Shares (N,) at times (N,)."""
        comes = smootherstep((times - self.begin) / max(self.at - self.begin, 1e-3))
        return np.asarray(comes * smootherstep((self.back - times) / max(self.back - self.stays, 1e-3)))


class Carrying:
    """Move whose start (`taking`) or goal is dragged, in the motion of a plan before the drag."""

    def __init__(self, plan: Plan, task: TaskTarget) -> None:
        self.task, self._world, self._edits = task, plan.world, plan.edits
        self._thing = str(task.args["object"])
        assert task.at is not None
        self._at = float(task.at)
        end = 0 if task.taking else 1
        holds = [h for h in plan.world.holds if h.object == self._thing and abs(h.during[end] - self._at) < 1e-6]
        self._hands: dict[str, list[Hold]] = {}
        for hold in holds:
            self._hands.setdefault(hold.by, []).append(hold)
        self._T_at = plan.world.frame(self._thing, self._at)

    def over(self, world: World, D: Array) -> tuple[World, str]:
        """World with the object displaced by `D` (4, 4) at its start or goal and the bodies following it; and why one
        does not get there, if so."""
        why = ""
        for who, holds in self._hands.items():
            followed, short = self._followed(who, holds, np.asarray(D @ self._T_at))
            world = world.with_character(who, followed)
            why = why or short
        return world, why

    def _fade(self, who: str, hold: Hold) -> Fade:
        (begin, end), what = hold.during, self._thing
        mine = [edit for edit in self._edits if edit.who == who]
        if self.task.taking:
            reach = [e.during[0] for e in mine if e.reason == f"reach {what}" and e.during[1] <= begin + 1e-6]
            return Fade(max(reach, default=begin - 1.0), begin, begin, end)
        off = [e.during for e in mine if e.reason == f"leave {what}" and e.during[0] >= end - _LEAVES_S]
        stays, back = min((b for _, b in off), default=end), max((b for _, b in off), default=end + 1.0)
        return Fade(begin, end, stays, back)

    def _followed(self, who: str, holds: list[Hold], T_there: Array) -> tuple[Clip, str]:
        """Motion of a carrier with the object at a placement (4, 4) at its time; and why not, if so."""
        clip = self._world.motion(who)
        assert isinstance(clip, Clip)
        fade = self._fade(who, holds[0])
        rows = np.flatnonzero((clip.times > fade.begin) & (clip.times < fade.back))
        at = int(np.clip(round((fade.at - clip.start) * clip.fps), rows[0], rows[-1]))
        keys = np.unique([*np.linspace(rows[0], rows[-1], _KEYS).astype(int), at])
        body = clip.character
        solver = WholeBody(unfolding(body))
        root, turn = np.zeros((len(keys), 3)), np.tile(IDENTITY, (len(keys), len(body.parents), 1))
        why = ""
        for n, (k, share) in enumerate(zip(keys, fade(clip.times[keys]), strict=True)):
            found = self._solved(solver, clip, int(k), holds, self._displaced(T_there, float(share)))
            root[n] = found.pose.root - clip.root[k]
            turn[n] = multiply(conjugate(clip.rotations[k]), found.pose.rotations)
            if k == at and not found.found:
                place = "take" if self.task.taking else "put"
                why = f"{who} cannot {place} {self._thing} there: {found.reason}"
        return _laid(clip, rows, keys, root, turn), why

    def _displaced(self, T_there: Array, share: float) -> Array:
        """A share of the object's displacement to a placement (4, 4), (4, 4) in the world, about where it was."""
        by = inverse(self._T_at) @ T_there
        part = transform(share * by[:3, 3], slerp(IDENTITY, from_matrix(by[:3, :3]), np.array(share)))
        return np.asarray(self._T_at @ part @ inverse(self._T_at))

    def _solved(self, solver: WholeBody, clip: Clip, k: int, holds: list[Hold], D: Array) -> WholeBodySolution:
        """Posture of a frame with hands displaced by `D` (4, 4), feet in place, in balance where it was so."""
        body: Character = clip.character
        pose = Pose.of(clip.root[k], clip.rotations[k])
        T = body.skeleton.at(pose)
        hands = {f"{hold.hand}_hand": D @ T[body.role(f"{hold.hand}_hand")] for hold in holds}
        support = support_of(body, pose, self._world.floor or 0.0)
        balanced = k == round((self._at - clip.start) * clip.fps) and len(support) > 2
        return solver.solve(pose, hands, support=support if balanced else None)


def _laid(clip: Clip, rows: NDArray[np.intp], keys: NDArray[np.intp], root: Array, turn: Array) -> Clip:
    """Clip with displacements of roots (K, 3) and joints (K, J, 4) at some of its frames, faded out at both ends."""
    still = np.tile(IDENTITY, (1, turn.shape[1], 1))
    at = np.concatenate([[max(rows[0] - 1, 0)], keys, [min(rows[-1] + 1, len(clip) - 1)]])
    root, turn = np.concatenate([[np.zeros(3)], root, [np.zeros(3)]]), np.concatenate([still, turn, still])
    after = np.clip(np.searchsorted(at, rows, side="right"), 1, len(at) - 1)
    share = (rows - at[after - 1]) / np.maximum(at[after] - at[after - 1], 1)
    new_root, new_q = clip.root.copy(), clip.rotations.copy()
    new_root[rows] += root[after - 1] + share[:, None] * (root[after] - root[after - 1])
    new_q[rows] = multiply(clip.rotations[rows], slerp(turn[after - 1], turn[after], share[:, None]))
    return clip.with_(root=new_root, rotations=new_q)
