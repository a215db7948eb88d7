"""All parameters of planning in tight places. The paper gives hardly any, so ours are in one place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from elbowroom.errors import BadValue
from elbowroom.search.birrt import Budget

Decomposition = tuple[tuple[str, ...], ...]
# Path that the first component keeps to: the straight one, that with later components pushing the pelvis off it, or one
# by way of a random posture of the trunk.
Guide = Literal["straight", "pushed", "via"]

# Components in planning order, those planned at once in brackets. The paper's five first; then, where one component's
# path blocks the next, the trunk at once, the working arm before the head, and both arms at once. Flat planning is for
# comparison.
FIVE: Decomposition = (("pelvis",), ("spine",), ("head",), ("right_arm",), ("left_arm",))
TRUNK: Decomposition = (("pelvis", "spine", "head"), ("right_arm",), ("left_arm",))
ARM_FIRST: Decomposition = (("pelvis", "spine"), ("right_arm",), ("head",), ("left_arm",))
ARMS: Decomposition = (("pelvis", "spine"), ("head", "right_arm", "left_arm"))
FLAT: Decomposition = (("pelvis", "spine", "head", "right_arm", "left_arm"),)


@dataclass(frozen=True)
class TightSettings:
    """Parameters of a whole-body plan. Lengths in metres, angles in radians; searches are limited by counts.

    `decompositions` are tried in turn, again for each of `restarts`: a share of the budget `component`, which
    limits the search of one component, and the path that is kept to, until all had `most_checks`. `smoothing`
    limits checks for shortcuts of a component, `shortcuts` is how many are tried with the whole body at the end;
    `searches` with other samples follow where frames collide. `margin` is the clearance of searched postures,
    `balance` the distance of the centre of mass from the border of its support. `postures` is how many starts are
    tried for a posture at a target. Where recordings refine a path, `open_above`, `natural_above` and
    `torque_below` are T1, T2 and T3; `parent_rad`, `own_rad` and `near_rad` the three epsilons; `smooth_weight` is
    lambda, `follow` p_follow, `strengths` the shares of a blend that are tried.
    """

    decompositions: tuple[Decomposition, ...] = (FIVE, TRUNK, ARM_FIRST, ARMS)
    component: Budget = field(default_factory=lambda: Budget(checks=3000, nodes=1500))
    restarts: tuple[tuple[float, Guide], ...] = ((1.0, "straight"), (0.5, "via"), (0.2, "pushed"), (0.5, "via"))
    most_checks: int = 15_000
    searches: int = 3
    smoothing: int = 300
    shortcuts: int = 40
    margin: float = 0.006
    balance: float = 0.015
    postures: int = 60
    # refinement by recordings: nodes of a path that are judged, distance within which recorded poses match in metres,
    # largest mean speed in m/s that a matching segment gives a path, samples of a clearance and their size in radians,
    # the paper's T1 to T3, sigma, epsilons, lambda and p_follow
    nodes: int = 32
    match_m: float = 0.25
    fastest: float = 0.8
    clearance_samples: int = 24
    clearance_rad: float = 0.15
    open_above: float = 0.5
    natural_above: float = 0.25
    torque_below: float = 0.5
    sigma: float = 0.7
    parent_rad: float = 0.5
    own_rad: float = 0.4
    near_rad: float = 0.5
    smooth_weight: float = 1.0
    strengths: tuple[float, ...] = (1.0, 0.6, 0.35, 0.2, 0.1)
    follow: float = 0.5

    def __post_init__(self) -> None:
        if not self.decompositions or min(self.shortcuts, self.postures) < 0:
            raise BadValue("a whole-body plan needs a decomposition, and counts of 0 or more.")
        if not (self.margin >= 0.0 and self.balance >= 0.0):
            raise BadValue("margin and balance of a whole-body plan must be 0 m or more.")

    def attempts(self) -> Iterator[tuple[Decomposition, Guide, Budget]]:
        """Attempts at a path in turn: decomposition, path that is kept to, and the budget of a component."""
        for share, guide in self.restarts:
            budget = Budget(checks=int(share * self.component.checks), nodes=self.component.nodes)
            for decomposition in self.decompositions:
                if guide != "pushed" or len(decomposition) > 1:
                    yield decomposition, guide, budget


USUAL = TightSettings()
# For postures that are one of many candidates, such as another roll of the hand.
BRIEF = TightSettings(postures=16)
