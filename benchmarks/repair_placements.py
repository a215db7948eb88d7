"""Places in a scene where a clip is worth repairing: trunk and standing feet are free, a limb runs into something."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.geometry.rotations import Array, about
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.edit import place, without_lead
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import Snapshot, World

WHO = "ann"
# Parts that may not come nearer than this to anything, metres: what repair by limbs does not move.
TRUNK = ("pelvis", "spine", "chest", "neck", "head", "thigh")
CLEAR = 0.02
# Seconds at both ends in which nothing may hit; looks a second.
ENDS = 0.3
COARSE, FINE = 6.0, 30.0


@dataclass(frozen=True)
class Placement:
    """Where a clip's origin is in a scene, metres, and its turn to the left, radians."""

    at: tuple[float, float]
    turn: float

    def world(self, scene: World, clip: Clip) -> World:
        """The scene with the clip in it."""
        return scene.with_character(WHO, place(clip, self.at, self.turn, lift=scene.floor or 0.0))


def placements(scene: World, clip: Clip, count: int, seed: int, tries: int = 4000) -> list[Placement]:
    """Up to `count` places that count, by a seed; fewer where `tries` draws do not find them."""
    real = without_lead(clip)
    raised = place(real, lift=scene.floor or 0.0)
    exact = ExactWorld(scene.with_character(WHO, raised))
    judge = _Judge(exact, raised)
    low = np.min([m.bounds[0] for m in scene.static.values()], axis=0)[:2]
    high = np.max([m.bounds[1] for m in scene.static.values()], axis=0)[:2]
    middle = raised.root[:, :2].mean(axis=0)
    rng = np.random.default_rng(seed)
    found: list[Placement] = []
    for _ in range(tries):
        turn = float(rng.uniform(0.0, 2.0 * np.pi))
        c, s = np.cos(turn), np.sin(turn)
        at = rng.uniform(low, high) - np.array([c * middle[0] - s * middle[1], s * middle[0] + c * middle[1]])
        one = Placement((float(at[0]), float(at[1])), turn)
        if judge.counts(transform((*one.at, 0.0), about((0.0, 0.0, 1.0), turn))):
            found.append(one)
        if len(found) == count:
            break
    return found


class _Judge:
    """Whether placements count, by looks with the exact test; the clip's postures are worked out once."""

    def __init__(self, exact: ExactWorld, clip: Clip) -> None:
        self._exact = exact
        begin, end = clip.span
        self._coarse = np.arange(begin, end, 1.0 / COARSE)
        self._fine = np.arange(begin, end, 1.0 / FINE)
        self._joints = {
            float(t): T for ts in (self._coarse, self._fine) for t, T in zip(ts, clip.world(ts), strict=True)
        }
        self._span = (begin, end)
        stands = foot_contacts(clip)
        self._stands = {side: (clip.times, stands.foot(side)) for side in ("left", "right")}
        mine = [exact.parts[int(a)] for a, _ in exact.index]
        outside = np.array([exact.parts[int(b)].kind in ("static", "thing") for _, b in exact.index])
        trunk = np.array([any(word in p.role for word in TRUNK) for p in mine])
        self._trunk, self._limbs = outside & trunk, outside & ~trunk
        self._side = np.array([p.role.partition("_")[0] if p.role.endswith(("foot", "toes")) else "" for p in mine])

    def counts(self, T: Array) -> bool:
        order = np.random.default_rng(0).permutation(len(self._coarse))
        if any(self._near(T, float(self._coarse[k]), self._trunk, CLEAR) for k in order):
            return False
        hit = False
        for t in self._fine:
            here = self._near(T, float(t), self._limbs, 0.0)
            if not here:
                continue
            if min(t - self._span[0], self._span[1] - t) < ENDS or any(self._planted(k, float(t)) for k in here):
                return False
            hit = True
        return hit and not any(self._near(T, float(t), self._trunk, CLEAR) for t in self._fine)

    def _near(self, T: Array, t: float, wanted: Array, limit: float) -> list[int]:
        """Numbers of pairs that come nearer than a limit."""
        self._exact.place_snapshot(Snapshot(t, {WHO: T @ self._joints[t]}, {}))
        gaps = self._exact.gaps()
        close = np.flatnonzero(wanted & (gaps <= limit))
        return [int(k) for k in close if self._exact.placed.within(*map(int, self._exact.index[k]), max(limit, 1e-6))]

    def _planted(self, k: int, t: float) -> bool:
        side = self._side[k]
        if not side:
            return False
        times, stands = self._stands[side]
        return bool(stands[int(np.argmin(np.abs(times - t)))])
