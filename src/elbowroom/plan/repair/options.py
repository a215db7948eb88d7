"""Options of a repair, and the time that it takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.allowed import Pin
from elbowroom.plan.checks.margins import USUAL_M
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import Style
from elbowroom.stopping import may_stop_here
from elbowroom.world.certificate import Certificate
from elbowroom.world.certificate_findings import Finding


@dataclass
class Clocks:
    """Accumulated seconds by stage.

    `until`, by `time.perf_counter`, is for live repairs without a proof: they begin nothing after it and take what they
    have. All others end by a `stopping.deadline`, so that the clock never chooses a motion.
    """

    seconds: dict[str, float] = field(default_factory=lambda: {"prepare": 0.0, "plan": 0.0, "smooth": 0.0})
    until: float = math.inf

    @property
    def late(self) -> bool:
        """Return whether nothing more may begin; also a point of cancellation."""
        may_stop_here()
        return time.perf_counter() >= self.until

    @property
    def hurried(self) -> bool:
        """Return whether the first motion found is taken as it is."""
        return math.isfinite(self.until)

    def add(self, stage: str, since: float) -> float:
        """Add the time since a moment to a stage, and return it."""
        took = time.perf_counter() - since
        self.seconds[stage] = self.seconds.get(stage, 0.0) + took
        return took


@dataclass(frozen=True, eq=False)
class RepairOptions:
    """Options of a repair.

    `sources` are the imported clips by character; `max_aside` is the largest displacement of a body, metres; `apart`
    are other repairs that these should differ from; `progress` is called with messages; `margin` is the clearance,
    metres. Hands in `pins` stay in place, as do feet of `planted` characters, and trunks unless `trunk` is set; without
    `searches` limbs use offsets only. Collisions that end before `since` or begin after `until`, in seconds, are left
    as they are. Without `partial`, a repair that leaves something is of no use, and ends as soon as that is known.
    Offsets are as `brief` as a clip allows, or else as smooth.
    """

    sources: Mapping[str, Clip]
    seed: int
    style: Style
    budget: Budget
    fix_self: bool
    max_aside: float
    apart: Mapping[str, tuple[Clip, ...]] = field(default_factory=dict)
    progress: Callable[[str], None] | None = None
    margin: float = USUAL_M
    pins: tuple[Pin, ...] = ()
    planted: frozenset[str] = frozenset()
    trunk: bool = True
    searches: bool = True
    since: float = -math.inf
    until: float = math.inf
    partial: bool = True
    brief: bool = True
    clocks: Clocks = field(default_factory=Clocks)

    def pending(self, proof: Certificate) -> list[Finding]:
        """Collisions of a proof that are to be resolved, and pairs too close to be proven apart."""
        return [hit for hit in proof.hits if hit.during[1] >= self.since and hit.during[0] <= self.until]

    def recorded(self, who: str) -> bool:
        """Return whether a character's clip may keep its recorded contacts with itself."""
        return bool(self.sources[who].source.format) and not self.fix_self
