"""Preview of a move while its start or its goal is dragged: the whole body follows the object, without planning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import IDENTITY, Array, conjugate, from_matrix, multiply, slerp
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.motion.clip import Clip
from elbowroom.plan.result import Plan
from elbowroom.posing.trunk_bend import unfolding
from elbowroom.posing.whole_body import WholeBody, WholeBodySolution, support_of
from elbowroom.studio.task_targets import TaskTarget
from elbowroom.world.things import Hold
from elbowroom.world.world import World

# Postures that are solved along a motion; frames between them go along.
_KEYS = 20
# Seconds after an object was let go in which hands that leave it begin to.
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
        """Motion of one who holds the object with it at a place (4, 4) at its time; and why not, if so."""
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
        """A share of the object's displacement to a place (4, 4), (4, 4) in the world, about where it was."""
        by = inverse(self._T_at) @ T_there
        part = transform(share * by[:3, 3], slerp(IDENTITY, from_matrix(by[:3, :3]), np.array(share)))
        return np.asarray(self._T_at @ part @ inverse(self._T_at))

    def _solved(self, solver: WholeBody, clip: Clip, k: int, holds: list[Hold], D: Array) -> WholeBodySolution:
        """Posture of a frame with hands displaced by `D` (4, 4), feet as they are, in balance where it was so."""
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
