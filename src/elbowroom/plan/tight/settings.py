"""All parameters of planning in tight places: the paper gives hardly any, so ours stand in one place."""

from __future__ import annotations

from dataclasses import dataclass, field

from elbowroom.errors import BadValue
from elbowroom.search.birrt import Budget

Decomposition = tuple[tuple[str, ...], ...]

# Components in their order, those that are planned at once in brackets of their own. The paper's five first; then with
# trunk, then with both arms planned at once, where the path of one component blocks the next. Flat planning is there
# to be compared with.
FIVE: Decomposition = (("pelvis",), ("spine",), ("head",), ("right_arm",), ("left_arm",))
TRUNK: Decomposition = (("pelvis", "spine", "head"), ("right_arm",), ("left_arm",))
ARMS: Decomposition = (("pelvis", "spine"), ("head", "right_arm", "left_arm"))
FLAT: Decomposition = (("pelvis", "spine", "head", "right_arm", "left_arm"),)


@dataclass(frozen=True)
class TightSettings:
    """Parameters of a whole-body plan. Lengths in metres, angles in radians; searches are limited by counts.

    `decompositions` are tried in turn, each with the path as it is found and then `perturbed`. `component` limits the
    search of one component, `smoothing` its shortcuts; `shortcuts` are those of the whole body at the end.
    `margin` is the clearance of searched postures, `balance` the distance of the centre of mass from the border of its
    support. `postures` is how many starts are tried for a posture at a target. Where recordings refine a path,
    `open_above`, `natural_above` and `torque_below` are T1, T2 and T3; `parent_rad`, `own_rad` and `near_rad` the three
    epsilons; `smooth_weight` is lambda, `follow` p_follow.
    """

    decompositions: tuple[Decomposition, ...] = (FIVE, TRUNK, ARMS)
    component: Budget = field(default_factory=lambda: Budget(checks=1500, nodes=1500))
    smoothing: Budget = field(default_factory=lambda: Budget(checks=300))
    shortcuts: int = 40
    margin: float = 0.006
    balance: float = 0.015
    postures: int = 60
    # capture meets plan: nodes of a path that are judged, metres within which recorded poses match, samples of a
    # clearance and their size in radians, the paper's T1 to T3, sigma, epsilons, lambda and p_follow
    nodes: int = 32
    match_m: float = 0.25
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
    follow: float = 0.5

    def __post_init__(self) -> None:
        if not self.decompositions or min(self.shortcuts, self.postures) < 0:
            raise BadValue("a whole-body plan needs a decomposition, and counts of 0 or more.")
        if not (self.margin >= 0.0 and self.balance >= 0.0):
            raise BadValue("margin and balance of a whole-body plan are lengths of 0 or more.")


USUAL = TightSettings()
