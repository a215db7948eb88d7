"""Ways that were found once, as turns of joints over the motion below: taken later or sooner, more or less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.layers import composed
from elbowroom.plan.edit import cut
from elbowroom.plan.repair.allowed import OwnTouches, at_work
from elbowroom.plan.repair.find import clip_of
from elbowroom.world.certificate_findings import Collision
from elbowroom.world.edit import Edit
from elbowroom.world.fast import LimbCheck
from elbowroom.world.world import World

# A known way is taken by so much more or less than last time, shares of it, in turn; and that much at most.
_STEPS = (0.0, 0.12, 0.3, 0.6, 1.0)
_MOST = 2.2
# Less is tried every so many times.
_LESS = 3
# Seconds before and after it in which episode may come up instead.
_ASIDE = 0.35


@dataclass(eq=False)
class KnownWay:
    """Difference of a stretch of frames of some joints from the motion below it.

    `edit` has the joints and what was planned for them, from frame `first` on, `turns` (F, n, 3) what that adds to
    their coordinates; `middle` is the time of the episode that it gets out of. `share` is how much of it was needed
    last, `tight` how often that was taken since less was tried, `check` what it was looked at with, `margin` the
    clearance it keeps, `anyway` which of the frames about it below are not that free, whatever is moved. Ways of legs
    keep the time of their `steps`: feet that lift sooner or later would slide; so do those of hands that are at work
    before or after. `touches` are those of a recorded motion about it.
    """

    edit: Edit
    first: int
    turns: Array
    middle: float
    steps: bool = False
    share: float = 1.0
    check: LimbCheck | None = None
    tight: int = 0
    margin: float = 0.0
    anyway: NDArray[np.bool_] | None = None
    touches: OwnTouches | None = None

    @property
    def joints(self) -> tuple[int, ...]:
        """The joints that it turns."""
        return self.edit.layer.joints

    def about(self, clip: Clip) -> tuple[int, int]:
        """The first and the last frame of a clip at which it may be taken, sooner or later."""
        reach = round(_ASIDE * clip.fps)
        return max(self.first - reach, 0), min(self.first + len(self.turns) - 1 + reach, len(clip) - 1)

    def shares(self) -> list[float]:
        """Return how much of it is tried: as much as last time, now and then a little less, then more and more."""
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
            own = limit.coordinates(clip.rotations[rows[inside], joint])
            out[inside, n] = limit.moved(own, share * self.turns[at[inside], n])
        return out

    def as_planned(self, clip: Clip) -> tuple[Clip, Edit]:
        """A clip with it as it was planned."""
        return composed(clip, [self.edit.layer]), self.edit

    def taken(self, clip: Clip, rows: NDArray[np.int64], frames: Array, later: int, share: float) -> tuple[Clip, Edit]:
        """A clip with frames (R, n, 4) that `leaned` gave; the share is remembered."""
        self.share = share
        rotations = clip.rotations.copy()
        rotations[np.ix_(rows, np.array(self.joints))] = rot.continuous(frames)
        begin, end = (
            float(np.clip(t + later / clip.fps, clip.times[rows[0]], clip.times[rows[-1]])) for t in self.edit.during
        )
        new = clip.with_(rotations=rotations)
        return new, cut(clip, new, [replace(self.edit, during=(begin, end), checks=0, nodes=0, trees=())])[0]


def way_of(base: World, edit: Edit, collisions: Sequence[Collision]) -> KnownWay | None:
    """Return how an edit that got out of `collisions` differs from the motion below; None where it does more than turn
    joints within their ranges."""
    layer = edit.layer
    if edit.who not in base.characters or layer.root is not None or not layer.joints:
        return None
    clip = clip_of(base, edit.who)
    limits = [clip.character.limits[j] for j in layer.joints]
    if layer.during[1] > clip.span[1] + 0.5 / clip.fps or any(limit is None for limit in limits):
        return None
    first = layer.first_frame(clip)
    rows = slice(first, first + len(layer))
    turns = np.stack(
        [
            limit.coordinates(layer.rotations[:, n]) - limit.coordinates(clip.rotations[rows, j])
            for n, (j, limit) in enumerate(zip(layer.joints, limits, strict=True))
            if limit is not None
        ],
        axis=1,
    )
    hits = [c.during for c in collisions if c.during[0] <= edit.during[1] and edit.during[0] <= c.during[1]]
    middle = 0.5 * (min(h[0] for h in hits) + max(h[1] for h in hits)) if hits else 0.5 * sum(edit.during)
    legs = {j for name, chain in clip.character.chains.items() if name.endswith("_leg") for j in chain.joints}
    about = (edit.during[0] - _ASIDE, edit.during[1] + _ASIDE)
    steps = not legs.isdisjoint(layer.joints) or at_work(base, edit.who, about, layer.joints)
    return KnownWay(edit, first, turns, middle, steps)
