"""When a leg may be moved: a foot that stands keeps standing, where it is or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts, runs
from elbowroom.tasks.repair_find import Trouble


@dataclass(frozen=True)
class FeetFree:
    """Frames from `low` to `high` that may be changed. Of a leg, `knee` says that its foot stays where it is and the
    knee goes aside; `stands` are first and last frame in which its foot stands, so that it can only be put elsewhere.
    """

    low: int
    high: int
    leg: bool = False
    knee: bool = False
    stands: tuple[int, int] | None = None


def feet_free(clip: Clip, trouble: Trouble) -> list[FeetFree]:
    """What may be changed to get a limb out of trouble, the least first.

    Of a leg whose foot is free, its knee at any time; of one that swings, the swing; of one that stands, and where the
    swing alone will not do, the whole time that the foot stands, with the swings before and after.
    """
    low, high = clip.source.lead, len(clip) - 1
    side = trouble.limb.partition("_")[0]
    if not trouble.limb.endswith("_leg") or not {"left_foot", "right_foot"} <= set(clip.character.roles):
        return [FeetFree(low, high)]
    on = foot_contacts(clip).foot(side)
    begin, end = (int(k) for k in np.clip(np.searchsorted(clip.times, trouble.during), low, high))
    stands = [(first, last) for first, last in runs(on) if first <= end and last >= begin]
    body = clip.character
    foot = body.subtree(body.role(f"{side}_foot"))
    options = [] if trouble.joints & set(foot) else [FeetFree(low, high, leg=True, knee=True)]
    off = begin + np.flatnonzero(~on[begin : end + 1])
    if len(off):
        middle = int(off[len(off) // 2])
        swing = FeetFree(_before(on, middle, low), _after(on, middle, high), leg=True)
        options.append(swing)
        if not stands:
            stands = [run for run in runs(on) if run[1] == swing.low or run[0] == swing.high]
            return options + [_elsewhere(on, run, low, high) for run in stands]
    return [*options, _elsewhere(on, (stands[0][0], stands[-1][1]), low, high)]


def _elsewhere(on: NDArray[np.bool_], stands: tuple[int, int], low: int, high: int) -> FeetFree:
    """The time that a foot stands, with the swings about it, if any: a clip may begin and end with it."""
    first, last = max(stands[0], low), stands[1]
    before = low if first <= low else _before(on, first, low)
    after = high if last >= high else _after(on, last, high)
    return FeetFree(before, after, leg=True, stands=(first, last))


def _before(on: NDArray[np.bool_], frame: int, low: int) -> int:
    """The last frame before another in which the foot stands."""
    found = np.flatnonzero(on[:frame])
    return max(low, int(found[-1])) if len(found) else low


def _after(on: NDArray[np.bool_], frame: int, high: int) -> int:
    """The first frame after another in which the foot stands."""
    found = np.flatnonzero(on[frame + 1 :])
    return min(high, frame + 1 + int(found[0])) if len(found) else high
