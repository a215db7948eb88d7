"""Criteria of a whole-body path by component (P4): posture similarity, torque variation and clearance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.dynamics import STRENGTH, Dynamics, strength_of
from elbowroom.finish.settle import interpolate
from elbowroom.geometry.rotations import Array, continuous, normalize
from elbowroom.motion.pace import Timing
from elbowroom.motion.posture_angles import AngleDatabase
from elbowroom.motion.smooth import smoothed
from elbowroom.plan.tight.chain import BodyProblem
from elbowroom.plan.tight.settings import TightSettings
from elbowroom.spaces.component import PosePath, components
from elbowroom.stopping import may_stop_here

# Components that recordings may change: legs and pelvis follow the feet.
BLENDED = ("spine", "head", "right_arm", "left_arm")
# Frame rate at which torques are computed, and the most frames: three for each node of a path.
_RATE, _MOST_FRAMES = 30.0, 96


@dataclass(frozen=True, eq=False)
class Criteria:
    """Criteria (N, C) of nodes by component in `BLENDED`.

    Posture similarity, torque variation as in the paper and relative to joint strength, and clearance, empty unless
    requested. `folds` (F,) are mean similarities to parts of the recordings: what is like one recording alone will not
    be like others.
    """

    similarity: Array
    variation: Array
    robust: Array
    clearance: Array
    folds: Array

    @property
    def means(self) -> tuple[float, float]:
        """Mean posture similarity, and mean torque variation relative to joint strength."""
        return float(self.similarity.mean()), float(self.robust.mean())


def component_joints(body: Character) -> dict[str, tuple[int, ...]]:
    """Joints of each component's posture; of the pelvis those of the legs."""
    found = {name: tuple(sorted({j for f in one.freedoms for j in f.joints})) for name, one in components(body).items()}
    found["pelvis"] = tuple(j for name in ("left_leg", "right_leg") if name in body.chains
                            for j in body.chain(name).joints[:2])  # fmt: skip
    return {name: joints for name, joints in found.items() if joints}


def blended_components(database: AngleDatabase) -> tuple[str, ...]:
    """Components that recordings may change and a database knows."""
    return tuple(name for name in BLENDED if name in database.joints)


def similarities(database: AngleDatabase, nodes: PosePath, settings: TightSettings) -> tuple[Array, Array]:
    """Posture similarities (N, C) of nodes by component in `BLENDED`, and mean ones (F,) to each fold of recordings."""
    found = database.similarity(nodes.rotations, sigma=settings.sigma, parent_rad=settings.parent_rad,
                                own_rad=settings.own_rad, near_rad=settings.near_rad)  # fmt: skip
    names = blended_components(database)
    return np.stack([found[name][0] for name in names], axis=1), np.mean(
        [found[n][1].mean(axis=1) for n in names], axis=0
    )


def variations(body: Character, nodes: PosePath, timing: Timing, database: AngleDatabase) -> tuple[Array, Array]:
    """Torque variation (N, C) of nodes: as in the paper, and relative to joint strength."""
    names = blended_components(database)
    count = int(np.clip(np.ceil(timing.duration * _RATE), 8, _MOST_FRAMES))
    along = timing.even(count)
    root = np.stack([np.interp(along, nodes.along, nodes.root[:, k]) for k in range(3)], axis=1)
    dynamics, rate = _dynamics(body), count / timing.duration
    q = normalize(smoothed(continuous(interpolate(nodes.along, nodes.rotations, along)), rate))
    torque = dynamics.torques(_Frames(rate, smoothed(root, rate), q))
    share = np.linspace(0.0, 1.0, count + 1)[:, None]
    literal, robust = np.zeros((len(nodes), len(names))), np.zeros((len(nodes), len(names)))
    roles = {j: role for role, j in body.roles.items() if role in STRENGTH}
    for c, name in enumerate(names):
        for joint in database.joints[name]:
            own = torque[:, dynamics.velocity_columns[joint - 1]]
            size, line = np.linalg.norm(own, axis=1), np.linalg.norm(own[:1] + share * (own[-1:] - own[:1]), axis=1)
            off = np.abs(size - line)
            literal[:, c] = np.maximum(literal[:, c], np.interp(nodes.along, along, off / np.maximum(line, 1e-9)))
            if joint in roles:
                strong = strength_of(body, roles[joint])
                robust[:, c] = np.maximum(robust[:, c], np.interp(nodes.along, along, off / strong))
    return literal, robust


@lru_cache(maxsize=8)
def _dynamics(body: Character) -> Dynamics:
    return Dynamics(body)


@dataclass(frozen=True, eq=False)
class _Frames:
    """Frames at a fixed rate, as dynamics take them."""

    fps: float
    root: Array
    rotations: Array


def clearances(
    problem: BodyProblem, nodes: PosePath, names: Sequence[str], seed: int, settings: TightSettings
) -> Array:
    """Clearances (N, C) of nodes: shares of random neighbours of a component's posture that are free."""
    rng, own = np.random.default_rng(np.random.SeedSequence(seed)), components(problem.body)
    out = np.zeros((len(nodes), len(names)))
    for k, share in enumerate(nodes.along):
        for c, name in enumerate(names):
            may_stop_here()
            spans = 1.0 - 2.0 * rng.random((settings.clearance_samples, own[name].width))
            root, near = own[name].moved(nodes, float(share), settings.clearance_rad * spans, problem.axes)
            out[k, c] = problem.check.free_share(root[0], near)
    return out
