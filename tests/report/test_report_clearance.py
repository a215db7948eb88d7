"""Clearance over time against distances by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_makers import person, still

from elbowroom.geometry.solids import box
from elbowroom.report import report
from elbowroom.report.clearance import clearance_of, plain
from elbowroom.world.paths import Still
from elbowroom.world.world import World
from tools.simple_bodies import flying


def passing(gap: float) -> World:
    """A ball of 10 cm that flies along x past a wall, `gap` metres from it at the nearest."""
    t = np.linspace(-1.0, 1.0, 61)
    roots = np.stack([0.0 * t, 0.1 + gap + 0.3 * t**2, 1.0 + 0.0 * t], axis=-1)
    wall = box([4.0, 0.2, 4.0], at=[0.0, -0.1, 1.0])
    return World().with_character("it", flying(roots, fps=30.0)).with_static("wall", wall)


@pytest.mark.parametrize("gap", [0.003, 0.02, 0.13])
def test_distance_of_a_ball_and_a_wall_over_time(gap: float):
    found = clearance_of(passing(gap))
    truth = gap + 0.3 * (found.times - 1.0) ** 2
    near = truth < 0.5
    np.testing.assert_allclose(found.distance[near], truth[near], atol=2e-4)
    assert np.isnan(found.distance[~near]).all()
    assert set(found.pairs) <= {("it.ball", "wall"), None}
    assert found.light == ("look" if gap < 0.005 else "good")
    (pair, distance, at), *_ = found.nearest()
    assert set(pair) == {"it.ball", "wall"} and distance == pytest.approx(gap, abs=2e-4) and at == pytest.approx(1.0)
    assert found.moments[0].time == pytest.approx(1.0, abs=0.05)


def test_a_ball_in_a_wall_collides_by_its_depth():
    found = clearance_of(passing(-0.04))
    assert found.light == "bad" and found.certificate.collisions
    assert np.nanmin(found.distance) == pytest.approx(-0.04, abs=1e-3)
    assert "40 mm deep" in found.says and found.moments[0].badness > 1.0
    assert report(passing(-0.04)).light == "bad"


def test_the_own_body_is_told_apart_from_others():
    world = World().with_character("ann", still()).with_static("far", box([0.1, 0.1, 0.1], at=[2.0, 0.0, 1.0]))
    found = clearance_of(world)
    assert np.isnan(found.distance).all()
    owners = {name.split(".")[0] for pair in found.own_pairs if pair is not None for name in pair}
    assert owners <= {"ann"}


def test_feet_on_the_floor_are_no_near_miss_and_in_it_are():
    on = clearance_of(World().with_character("ann", still()))
    assert on.light == "good" and all(p is None or "floor" not in p for p in on.pairs)
    clip = still()
    sunk = clearance_of(World().with_character("ann", clip.with_(root=clip.root - [0.0, 0.0, 0.03])))
    assert sunk.light == "bad" and np.nanmin(sunk.distance) == pytest.approx(-0.03, abs=0.005)


def test_a_certificate_that_is_given_is_not_made_again(monkeypatch: pytest.MonkeyPatch):
    world = passing(0.02)
    certificate = clearance_of(world).certificate
    monkeypatch.setattr("elbowroom.report.clearance.certify", lambda *_, **__: pytest.fail("proven twice"))
    assert clearance_of(world, certificate).certificate is certificate


def test_parts_in_words():
    assert plain("ann.left_hand") == "ann's left hand"
    assert plain("bob.right_ring3") == "bob's right ring finger" and plain("bob.left_thumb2") == "bob's left thumb"
    assert plain("tin_1") == "tin 1"


def test_what_is_held_belongs_to_the_body_that_holds_it():
    wrist = person().skeleton.T_rest[person().role("right_hand"), :3, 3]
    at = np.eye(4)
    at[:3, 3] = wrist + [0.35, 0.0, 0.12]  # over the forearm
    world = World().with_character("ann", still()).with_object("cube", box([0.1, 0.1, 0.1]), Still(at))
    loose = clearance_of(world)
    assert loose.smallest is not None and "cube" in loose.smallest[1]
    held = clearance_of(world.with_hold("cube", by="ann", hand="right"))
    assert held.smallest is None and held.own.min() <= loose.distance.min()
    late = clearance_of(world.with_hold("cube", by="ann", hand="right", during=(1.5, 2.0)))
    told = [pair is not None and "cube" in pair for pair in late.pairs]
    assert told == (late.times < 1.0 - 1e-9).tolist()  # half a second before it is taken, it is theirs


def test_who_is_alone_cannot_run_into_anything():
    alone = clearance_of(World().with_character("ann", still()))
    assert alone.headline == "no obstacles" and "no self-collision" in alone.says
    clip = still()
    recorded = clip.with_(source=replace(clip.source, format="bvh"))
    assert "as recorded" in clearance_of(World().with_character("ann", recorded)).says
    assert "recorded" not in clearance_of(World().with_character("ann", recorded), own_contacts=False).says


def test_one_collision_is_told_in_the_singular():
    found = clearance_of(passing(-0.04))
    assert found.headline == "1 collision" and "1 pair collides" in found.says
