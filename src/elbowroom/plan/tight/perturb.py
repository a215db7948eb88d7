"""Small perturbations of a path by which postures are more like recorded ones and torques vary less (P4, P5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, continuous
from elbowroom.plan.tight.criteria import Criteria
from elbowroom.posing.whole_body_model import range_of
from elbowroom.spaces.component import PosePath, SharedCoordinate, components
from elbowroom.stopping import may_stop_here

# Largest turns of a degree of freedom half-way along a path that are added at a time, radians, in turn.
_TURNS_RAD = (0.12, 0.05)
# Gains of similarity and of torque variation, natural logarithms, beyond which more counts little: similarity to other
# recordings than those of the database is less certain.
_ENOUGH_SIMILAR, _ENOUGH_STEADY = 0.3, 0.1
_BEYOND = 0.1
# Weight of a loss in either.
_LOSS = 4.0
# Similarity that counts as none.
_LEAST = 1e-4

Judge = Callable[[PosePath], Criteria]


@dataclass(frozen=True, eq=False)
class Reference:
    """Similarities, to all recordings and to each part of them, and torque variation that a path is to improve on."""

    similarities: tuple[float, ...]
    torque: float

    @staticmethod
    def of(searched: Criteria, smoothed: Criteria) -> Reference:
        """Similarity of the better of two, torques of the path as it was searched: the paper's comparison."""
        return Reference(tuple(map(max, _similarities(searched), _similarities(smoothed))), searched.means[1])

    def better(self, found: Criteria) -> bool:
        """Return whether postures are more like recorded ones, by parts of them on average, too, and torques vary
        less.
        """
        new, old = _similarities(found), self.similarities
        return new[0] > old[0] and sum(new[1:]) >= sum(old[1:]) and found.means[1] < self.torque

    def score(self, found: Criteria) -> float:
        """Gain in both, neither of which makes up for a loss in the other."""
        pairs = zip(_similarities(found), self.similarities, strict=True)
        similar = min(np.log((new + _LEAST) / (old + _LEAST)) for new, old in pairs)
        steadier = np.log(self.torque / max(found.means[1], 1e-9))
        enough = ((similar, _ENOUGH_SIMILAR), (steadier, _ENOUGH_STEADY))
        return float(sum((min(gain, most) + _BEYOND * max(gain - most, 0.0)) if gain > 0.0 else _LOSS * gain
                         for gain, most in enough))  # fmt: skip


def _similarities(found: Criteria) -> tuple[float, ...]:
    """Mean similarities to all recordings, and to each part of them."""
    return (found.means[0], *found.folds.tolist())


def perturbed(base: PosePath, names: Sequence[str], judge: Judge, reference: Reference) -> Array:
    """Rotations (N, J, 4) of a path with some components turned half-way along it, both ends unchanged.

    Each degree of freedom in turn is turned to the side that improves the score, as long as it does.
    """
    best, score = base, reference.score(judge(base))
    body = base.body
    bump = np.sin(np.pi * np.linspace(0.0, 1.0, len(base))) ** 2
    for turn in _TURNS_RAD:
        for component in [components(body)[name] for name in names]:
            for freedom in component.freedoms:
                for step in (turn, -turn):
                    may_stop_here()
                    q = _turned(best, freedom, step * bump)
                    trial = PosePath(body, [Pose.of(*row) for row in zip(base.root, q, strict=True)])
                    found = reference.score(judge(trial))
                    if found > score:
                        best, score = trial, found
                        break
    return best.rotations


def _turned(path: PosePath, freedom: SharedCoordinate, turns: Array) -> Array:
    """Rotations (N, J, 4) of a path with one degree of freedom turned by (N,), within its limits."""
    q = np.array(path.rotations)
    for joint in freedom.joints:
        limit = range_of(path.body, joint)
        numbers = limit.coordinates(q[:, joint])
        numbers[:, freedom.coordinate] += turns / len(freedom.joints)
        moved = limit.rotation(limit.clamp_coordinates(numbers))
        q[1:-1, joint] = moved[1:-1]
    return continuous(q)
