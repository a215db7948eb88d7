"""Known repairs, stored as joint offsets over the base motion, which can be shifted in time and scaled."""

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

# Factors relative to the last one that are tried in turn for a known repair, and the largest.
_STEPS = (0.0, 0.12, 0.3, 0.6, 1.0)
_MOST = 2.2
# A smaller factor is tried once in so many times.
_LESS = 3
# Seconds by which a known repair may be shifted either way.
_ASIDE = 0.35


@dataclass(eq=False)
class KnownRepair:
    """Difference of an edit's frames from the motion below it, for re-use while objects move.

    `edit` has the joints and their planned frames from `first` on, `turns` (F, n, 3) the offset of their coordinates;
    `middle` is the time of the episode. `share` is the factor needed last, `tight` how often it was used since a
    smaller one was tried, `check` the last collision check, `margin` its clearance, `unavoidable` the frames that lack
    it whatever is moved. Repairs of legs keep the timing of their `steps`, since feet would slide otherwise; so do
    those of hands at work before or after. `touches` are the recorded contacts around it.
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
    unavoidable: NDArray[np.bool_] | None = None
    touches: OwnTouches | None = None

    @property
    def joints(self) -> tuple[int, ...]:
        """The joints that it changes."""
        return self.edit.layer.joints

    def about(self, clip: Clip) -> tuple[int, int]:
        """First and last frame of a clip at which it may be applied, shifts included."""
        reach = round(_ASIDE * clip.fps)
        return max(self.first - reach, 0), min(self.first + len(self.turns) - 1 + reach, len(clip) - 1)

    def shares(self) -> list[float]:
        """Factors to try: the last one, now and then a smaller one, then larger ones."""
        self.tight = (self.tight + 1) % _LESS
        less = [max(0.85 * self.share, 0.05)] if self.tight == 0 else []
        return [*less, *(min(self.share + step, _MOST) for step in _STEPS)]

    def scaled(self, clip: Clip, later: int, share: float, rows: NDArray[np.int64]) -> Array:
        """Rotations (R, n, 4) at some frames with the offset scaled by `share`, `later` frames later."""
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
        """A clip with the repair as planned."""
        return composed(clip, [self.edit.layer]), self.edit

    def applied(
        self, clip: Clip, rows: NDArray[np.int64], frames: Array, later: int, share: float
    ) -> tuple[Clip, Edit]:
        """A clip with frames (R, n, 4) from `scaled`; stores the factor."""
        self.share = share
        rotations = clip.rotations.copy()
        rotations[np.ix_(rows, np.array(self.joints))] = rot.continuous(frames)
        begin, end = (
            float(np.clip(t + later / clip.fps, clip.times[rows[0]], clip.times[rows[-1]])) for t in self.edit.during
        )
        new = clip.with_(rotations=rotations)
        return new, cut(clip, new, [replace(self.edit, during=(begin, end), checks=0, nodes=0, trees=())])[0]


def known_repair(base: World, edit: Edit, collisions: Sequence[Collision]) -> KnownRepair | None:
    """Known repair from an edit that resolved `collisions`; None where it does more than rotate joints within their
    limits.
    """
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
    return KnownRepair(edit, first, turns, middle, steps)
