"""Settings of planning: effort, clearance, speed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from elbowroom.errors import BadValue
from elbowroom.locomotion.library import ClipLibrary
from elbowroom.locomotion.library_arrays import recorded_cycles
from elbowroom.locomotion.modes import check_mode_costs
from elbowroom.motion.clip import Clip
from elbowroom.posing.reach import ReachStyle
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import NATURAL, StyleLike, style_of

# ik: straight hand paths without collision checks; avoid: straight, with a free elbow; plan: a search; auto: the first
# of them that is free.
Tier = Literal["ik", "avoid", "plan", "auto"]


@dataclass(frozen=True)
class Settings:
    """Choices for all tasks of a plan. Lengths in metres, times in seconds.

    `margin` is the clearance of planned paths, `speed` the mean speed of a hand in the open, `approach` the distance
    before a grasp at which the slow part begins and `slow` its speed, `close` the time in which fingers close or open.
    `slower_per_kg` is the share by which each kilogram of an object that leads the body prolongs its way.
    `search_budget` limits one search, counted in checks. `style`, a `Style` or its name, is how motion should look;
    None is 'natural' for reaches and 'close' for repairs. `variety` is how many of the best options to take or touch
    something come last, for another motion. `probes` is how many changes are tried after a failure, to recommend one.
    `gaits` is the clip library for walking, None the built-in one. `mode_costs` are costs of a metre of walking by
    mode, in place of walk 1, sidle 3, duck 3, stoop 6, step over 6, step high over 12. `capture` are recordings that
    whole-body motions are blended with.
    """

    tier: Tier = "auto"
    seed: int = 0
    search_budget: Budget = field(default_factory=lambda: Budget(checks=30_000))
    reach: ReachStyle = field(default_factory=ReachStyle)
    margin: float = 0.005
    speed: float = 0.65
    approach: float = 0.10
    slow: float = 0.22
    close: float = 0.3
    slower_per_kg: float = 0.04  # chosen: no recording at hand names the mass of what is carried
    gaze: bool = True
    style: StyleLike = None
    variety: int = 0
    probes: int = 3
    gaits: ClipLibrary | None = None
    mode_costs: Mapping[str, float] = field(default_factory=dict, hash=False)
    capture: tuple[Clip, ...] = ()

    def __post_init__(self) -> None:
        if self.tier not in ("ik", "avoid", "plan", "auto"):
            raise BadValue(f"a tier must be ik, avoid, plan or auto, not '{self.tier}'.")
        lengths = (self.margin, self.speed, self.approach, self.slow, self.close)
        if not all(0.0 < x < float("inf") for x in lengths):
            raise BadValue("margin, speeds, lengths and times of a plan must be above 0.")
        if not 0.0 <= self.slower_per_kg < float("inf"):
            raise BadValue("slower_per_kg of a plan must be 0 or more.")
        for name in ("variety", "probes"):
            if getattr(self, name) < 0:
                raise BadValue(f"the {name} of a plan must be a whole number, 0 or more, not {getattr(self, name)}.")
        if self.mode_costs:
            check_mode_costs(self.mode_costs)
        style_of(self.style, NATURAL)

    @property
    def library(self) -> ClipLibrary:
        """The clip library for walking."""
        return recorded_cycles() if self.gaits is None else self.gaits


USUAL = Settings()
