"""Walls with holes, postures and close looks that tests of a limb's searches share."""

from __future__ import annotations

import numpy as np

from elbowroom.character.human import human
from elbowroom.character.limits import sample_pose
from elbowroom.finish.settle import between_free
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box, merge
from elbowroom.search.birrt import SearchPath
from elbowroom.spaces.limb import LimbSearchSpace
from elbowroom.world.fast import FREE, LimbCheck
from elbowroom.world.world import World

PERSON = human(skin=False)
MARGIN = 0.005
WALL = -0.36


def wall(x: float, z: float, wide: float, high: float) -> Mesh:
    """A wall before the person with a hole about (x, z)."""
    w, h = wide / 2, high / 2
    return merge(
        [
            box((2.0 + x - w, 0.03, 2.4), ((x - w - 2.0) / 2, WALL, 1.2)),
            box((2.0 - x - w, 0.03, 2.4), ((x + w + 2.0) / 2, WALL, 1.2)),
            box((wide, 0.03, z - h), (x, WALL, (z - h) / 2)),
            box((wide, 0.03, 2.4 - z - h), (x, WALL, (z + h + 2.4) / 2)),
        ]
    )


def arm(world: World, margin: float = MARGIN) -> LimbCheck:
    return LimbCheck(world, "ann", "right_arm", margin=margin)


def posture(terms: object) -> Array:
    """Local rotations (3, 4) of the right arm's terms in degrees."""
    limits = [PERSON.limits[j] for j in PERSON.chain("right_arm").joints]
    return np.stack([limit.rotation(np.radians(c)) for limit, c in zip(limits, terms, strict=True)])  # type: ignore


HANGING = posture([[75, 0, 0], [20, 0, 0], [0, 0, 0]])


def through(space: LimbSearchSpace, seed: int = 0) -> Array:
    """A free posture with the hand well behind the wall."""
    q = np.ascontiguousarray(sample_pose(space.limits, np.random.default_rng(seed), 60_000))
    for k in np.flatnonzero(space.check.batch(q, 0.0) == FREE):
        if space.marks(space.state(q[k]))[-2, 1] < WALL - 0.12:
            return q[k]
    raise AssertionError("no such posture")


def assert_free(space: LimbSearchSpace, path: SearchPath) -> None:
    """Look at a path far more closely than the search did, edge by edge and by the exact test."""
    check = space.check
    rows = space.dense(path, 0.02)
    q, t = space.rotations(rows), rows[:, 0]
    assert between_free(check, q, t, 0.003)
    for k in range(0, len(rows), 4):
        assert not check.hits(q[k], t[k])
    for j, limit in enumerate(space.limits):
        allowed = max(limit.excess(q[0, j]), limit.excess(q[-1, j])) + 1e-5
        assert limit.excess(q[:, j]).max() <= allowed
