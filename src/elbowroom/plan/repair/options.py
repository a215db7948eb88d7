"""Options of a repair, and the time that it takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from elbowroom.motion.clip import Clip
from elbowroom.plan.repair.allowed import Pin
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import Style
from elbowroom.stopping import may_stop_here

# Metres that planned motion keeps off everything, and where that cannot be.
MARGIN, TIGHT = 0.005, 0.0015


@dataclass
class Clocks:
    """Seconds that stages took, added up.

    `until`, by `time.perf_counter`, is for repairs that follow a hand and prove nothing: they begin nothing more then,
    and take what they have. All others end by a `stopping.deadline`, so that the clock never picks the motion.
    """

    seconds: dict[str, float] = field(default_factory=lambda: {"prepare": 0.0, "plan": 0.0, "smooth": 0.0})
    until: float = math.inf

    @property
    def late(self) -> bool:
        """Return whether nothing more is to be begun; who asks may be stopped here."""
        may_stop_here()
        return time.perf_counter() >= self.until

    @property
    def hurried(self) -> bool:
        """Return whether the first motion that is found is taken as it is."""
        return math.isfinite(self.until)

    def add(self, stage: str, since: float) -> float:
        """Add the time since a moment to a stage; that time."""
        took = time.perf_counter() - since
        self.seconds[stage] = self.seconds.get(stage, 0.0) + took
        return took


@dataclass(frozen=True, eq=False)
class RepairOptions:
    """Options of a repair.

    `sources` are the clips that came, by who plays them; `max_aside` is how far a body may go aside for a while,
    metres; `apart` are other repairs that these are to differ from where they can; `progress` is told what is done;
    `margin` metres are kept off everything; hands in `pins` stay where they are then, feet of people who are `planted`
    do, and trunks unless the `trunk` may move; without `searches` limbs are only leaned aside.
    """

    sources: Mapping[str, Clip]
    seed: int
    style: Style
    budget: Budget
    fix_self: bool
    max_aside: float
    apart: Mapping[str, tuple[Clip, ...]] = field(default_factory=dict)
    progress: Callable[[str], None] | None = None
    margin: float = MARGIN
    pins: tuple[Pin, ...] = ()
    planted: frozenset[str] = frozenset()
    trunk: bool = True
    searches: bool = True
    clocks: Clocks = field(default_factory=Clocks)

    def recorded(self, who: str) -> bool:
        """Return whether someone's clip may touch itself as it does."""
        return bool(self.sources[who].source.format) and not self.fix_self
