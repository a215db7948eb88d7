"""When a leg may be moved: a foot that stands keeps standing, where it is or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.tasks.repair_find import Trouble


@dataclass(frozen=True)
class FeetFree:
    """Frames from `low` to `high` that may be changed; `stands` are first and last frame in which the foot of a leg in
    trouble stands, so that it can only be put elsewhere."""

    low: int
    high: int
    leg: bool = False
    stands: tuple[int, int] | None = None


def feet_free(clip: Clip, trouble: Trouble) -> FeetFree | str:
    """What may be changed to get a limb out of trouble, or why nothing may."""
    low, high = clip.source.lead, len(clip) - 1
    side = trouble.limb.partition("_")[0]
    if not trouble.limb.endswith("_leg") or not {"left_foot", "right_foot"} <= set(clip.character.roles):
        return FeetFree(low, high)
    on = foot_contacts(clip).foot(side)
    begin, end = (int(k) for k in np.clip(np.searchsorted(clip.times, trouble.during), low, high))
    if not on[begin : end + 1].any():
        return FeetFree(_before(on, begin, low), _after(on, end, high), leg=True)
    # the whole time that it stands, and the swings before and after
    first, last = (begin + int(k) for k in np.flatnonzero(on[begin : end + 1])[[0, -1]])
    off = np.flatnonzero(~on)
    first = int(off[off < first][-1]) + 1 if (off < first).any() else low
    last = int(off[off > last][0]) - 1 if (off > last).any() else high
    if first <= low or last >= high:
        return f"the {side} foot stands there as the clip {'begins' if first <= low else 'ends'}"
    return FeetFree(_before(on, first, low), _after(on, last, high), leg=True, stands=(first, last))


def _before(on: np.ndarray, frame: int, low: int) -> int:
    """The last frame before another in which the foot stands."""
    found = np.flatnonzero(on[:frame])
    return max(low, int(found[-1])) if len(found) else low


def _after(on: np.ndarray, frame: int, high: int) -> int:
    """The first frame after another in which the foot stands."""
    found = np.flatnonzero(on[frame + 1 :])
    return min(high, frame + 1 + int(found[0])) if len(found) else high
