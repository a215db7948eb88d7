"""Ways that were found once, as turns of joints over the motion below: taken later or sooner, more or less."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.plan.repair.allowed import OwnTouches, at_work
from elbowroom.plan.result import Plan, Planned
from elbowroom.world.fast import LimbCheck
from elbowroom.world.world import World

# A known way is taken by so much more or less than last time, shares of it, in turn; and that much at most.
_STEPS = (0.0, 0.12, 0.3, 0.6, 1.0)
_MOST = 2.2
# Less is tried every so many times.
_LESS = 3
# Seconds before and after it in which episode may come up instead.
_ASIDE = 0.35
_SAME = 1e-7


@dataclass(eq=False)
class KnownWay:
    """How a stretch of frames of some joints differs from the motion below it.

    `frames` (F, n, 4) are what was planned from frame `first` on, `turns` (F, n, 3) what that adds to terms of the
    joints; `middle` is the time of the episode that it gets out of. `share` is how much of it was needed last, `tight`
    how often that was taken since less was tried, `check` what it was looked at with, `margin` the clearance it keeps,
    `anyway` which of the frames about it below are not that free, whatever is moved. Ways of legs keep the time of
    their `steps`: feet that lift sooner or later would slide; so do those of hands that are at work before or after.
    `touches` are those of a recorded motion about it.
    """

    planned: Planned
    joints: tuple[int, ...]
    first: int
    frames: Array
    turns: Array
    middle: float
    steps: bool = False
    share: float = 1.0
    check: LimbCheck | None = None
    tight: int = 0
    margin: float = 0.0
    anyway: NDArray[np.bool_] | None = None
    touches: OwnTouches | None = None

    def about(self, clip: Clip) -> tuple[int, int]:
        """The first and the last frame of a clip at which it may be taken, sooner or later."""
        reach = round(_ASIDE * clip.fps)
        return max(self.first - reach, 0), min(self.first + len(self.turns) - 1 + reach, len(clip) - 1)

    def shares(self) -> list[float]:
        """How much of it is tried: as much as last time, now and then a little less, then more and more."""
        self.tight = (self.tight + 1) % _LESS
        less = [max(0.85 * self.share, 0.05)] if self.tight == 0 else []
        return [*less, *(min(self.share + step, _MOST) for step in _STEPS)]

    def leaned(self, clip: Clip, later: int, share: float, rows: NDArray[np.int64]) -> Array:
        """Rotations (R, n, 4) at some frames with a share of it, so many frames later."""
        out = np.array(clip.rotations[rows][:, list(self.joints)])
        at = rows - self.first - later
        inside = (at >= 0) & (at < len(self.turns))
        for n, joint in enumerate(self.joints):
            limit = clip.character.limits[joint]
            assert limit is not None
            own = _terms(clip.character, clip, joint, rows[inside])
            beyond = own - limit.clamp_coordinates(own)
            wanted = own + share * self.turns[at[inside], n]
            out[inside, n] = limit.rotation(limit.clamp_coordinates(wanted) + beyond)
        return out

    def as_planned(self, clip: Clip) -> tuple[Clip, Planned]:
        """A clip with it as it was planned."""
        rows = np.arange(self.first, self.first + len(self.turns))
        rotations = clip.rotations.copy()
        rotations[np.ix_(rows, np.array(self.joints))] = self.frames
        return clip.with_(rotations=rotations), self.planned

    def taken(
        self, clip: Clip, rows: NDArray[np.int64], frames: Array, later: int, share: float
    ) -> tuple[Clip, Planned]:
        """A clip with frames (R, n, 4) that `leaned` gave; the share is remembered."""
        self.share = share
        rotations = clip.rotations.copy()
        rotations[np.ix_(rows, np.array(self.joints))] = rot.continuous(frames)
        begin, end = (
            float(np.clip(t + later / clip.fps, clip.times[rows[0]], clip.times[rows[-1]])) for t in self.planned.during
        )
        return clip.with_(rotations=rotations), replace(self.planned, during=(begin, end), checks=0, nodes=0, trees=())


def way_of(base: World, plan: Plan, planned: Planned) -> KnownWay | None:
    """What a plan has changed in its interval, None where that is more than turns of joints."""
    if planned.who not in base.characters:
        return None
    clip, changed = clip_of(base, planned.who), clip_of(plan.world, planned.who)
    if len(clip) != len(changed) or not np.array_equal(clip.root, changed.root):
        return None
    first, last = (int(k) for k in np.clip(np.searchsorted(clip.times, planned.during), 0, len(clip) - 1))
    rows = slice(first, last + 1)
    differ = np.abs(clip.rotations[rows] - changed.rotations[rows]).max(axis=(0, 2)) > _SAME
    joints = tuple(int(j) for j in np.flatnonzero(differ))
    limits = clip.character.limits
    if not joints or any(limits[j] is None for j in joints):
        return None
    turns = np.stack(
        [_terms(clip.character, changed, j, rows) - _terms(clip.character, clip, j, rows) for j in joints], 1
    )
    hits = [c.during for c in plan.collisions if c.during[0] <= planned.during[1] and planned.during[0] <= c.during[1]]
    middle = 0.5 * (min(h[0] for h in hits) + max(h[1] for h in hits)) if hits else 0.5 * sum(planned.during)
    legs = {j for name, chain in clip.character.chains.items() if name.endswith("_leg") for j in chain.joints}
    about = (planned.during[0] - _ASIDE, planned.during[1] + _ASIDE)
    steps = not legs.isdisjoint(joints) or at_work(base, planned.who, about, joints)
    return KnownWay(planned, joints, first, changed.rotations[rows][:, list(joints)], turns, middle, steps)


def clip_of(world: World, who: str) -> Clip:
    """Someone's frames."""
    motion = world.motion(who)
    if not isinstance(motion, Clip):
        raise BadValue(f"the motion of '{who}' is not made of frames: only clips are repaired.")
    return motion


def _terms(body: Character, clip: Clip, joint: int, rows: slice | NDArray[np.int64]) -> Array:
    limit = body.limits[joint]
    assert limit is not None
    return limit.coordinates(clip.rotations[rows, joint])
