"""A short run of the safety benchmark: what the fast check calls free, the exact test finds free."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import DATA, benchmark_module
from elbowroom.world.fast import FREE, HIT, UNCERTAIN, LimbCheck

scenes = benchmark_module("validity_scenes")
MADE = scenes.scenes(DATA if DATA.is_dir() else None, stations=12, seed=3)


@pytest.mark.parametrize("name", MADE)
def test_nothing_free_is_hit(name: str) -> None:
    scene = MADE[name]()
    check = LimbCheck(scene.world, scene.who, scene.limb)
    q, t = scenes.postures(scene, 6000, seed=5)
    quick, resolved = check.batch(q, t), check.batch(q, t, resolve_uncertain=True)
    assert np.mean(resolved == UNCERTAIN) < (0.15 if name == "sheets" else 0.04)
    free = np.flatnonzero((quick == FREE) | (resolved == FREE))[:1200]
    assert len(free) > 300
    assert not check.hits_batch(q[free], t[free]).any()
    hit = np.flatnonzero((quick == HIT) | (resolved == HIT))[:100]
    assert len(hit) == 100
    assert check.hits_batch(q[hit], t[hit]).all()
    # the slack of tables is kept to spare, so that the band may lose free postures but never gains one
    doubt = np.flatnonzero(resolved == UNCERTAIN)[:30]
    settled, true = check.free_batch(q[doubt], t[doubt]), check.hits_batch(q[doubt], t[doubt])
    assert not np.any(settled & true)


def test_a_bound_that_is_wrong_by_millimetres_is_noticed() -> None:
    scene = MADE["fans"]()
    check = LimbCheck(scene.world, scene.who, scene.limb)
    thin = check.limb.capsule.copy()
    thin[thin[:, 6] > 0, 6] -= 0.003
    check.limb = check.limb._replace(capsule=thin)
    q, t = scenes.postures(scene, 6000, seed=6)
    free = np.flatnonzero(check.batch(q, t) == FREE)
    assert check.hits_batch(q[free], t[free]).any()
