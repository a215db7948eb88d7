"""Long takes are repaired in pieces, and are as they were everywhere else."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import preset
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk_along
from elbowroom.plan.repair import repair as repairs
from elbowroom.plan.repair.pieces import is_long, piece_of, pieces
from elbowroom.world.certificate import certify
from elbowroom.world.world import World


@pytest.fixture(scope="module")
def long_walk() -> World:
    walk = walk_along(preset("woman"), np.array([(0.0, 0.0), (0.0, -46.0)]), 1.4, fps=30)
    world = World(floor=0.0).with_character("ann", walk)
    return world.with_static("rail", box((0.05, 0.8, 0.3), (0.31, -18.0, 0.85)))


def test_a_long_take_is_repaired_around_its_collisions(long_walk: World):
    told: list[str] = []
    plan = repairs.repair(long_walk, progress=told.append)
    assert plan.status == "found" and plan.certificate is not None and plan.certificate.free
    assert any("piece 1 of 1" in doing for doing in told)
    old, new = long_walk.motion("ann"), plan.world.motion("ann")
    changed = np.flatnonzero((old.rotations != new.rotations).any(axis=(1, 2)))
    assert 0 < len(changed) < 0.2 * len(old)
    assert plan.base["ann"] is old and plan.edits[0].layer.during[0] > 8.0


def test_pieces_hold_the_collisions_and_keep_their_times(long_walk: World):
    assert is_long(long_walk)
    proof = certify(long_walk, contacts="never", clearance=False)
    (found,) = pieces(long_walk, proof.collisions)
    (begin, end), hit = found.during, proof.collisions[0].during
    assert found.since < hit[0] and hit[1] < found.until
    assert begin < hit[0] - 3.0 and hit[1] + 3.0 < end
    piece = piece_of(long_walk, (begin, end))
    t = hit[0]
    assert piece.at(t).joints["ann"] == pytest.approx(long_walk.at(t).joints["ann"], abs=1e-9)
    assert len(piece.motion("ann")) < 0.5 * len(long_walk.motion("ann"))


def test_what_was_put_down_before_a_piece_lies_where_it_was_put(long_walk: World):
    world = long_walk.with_static("cup", box((0.08, 0.08, 0.1), (0.4, -1.0, 1.0)))
    world = world.with_hold("cup", "ann", "left", (1.0, 3.0)).with_hold("cup", "ann", "left", (9.0, 12.0))
    for begin, end in ((5.0, 15.0), (10.0, 15.0), (14.0, 20.0)):
        piece = piece_of(world, (begin, end))
        for t in np.linspace(begin, end, 5):
            np.testing.assert_allclose(piece.frame("cup", t), world.frame("cup", t), atol=1e-9)
