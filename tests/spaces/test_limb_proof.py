"""Proofs of a limb's paths: they hold for what is free, and refuse what is not, however thin it is."""

from __future__ import annotations

import numpy as np
import pytest
from limb_scenes import HANGING, MARGIN, PERSON, arm, posture, through, wall

from conftest import benchmark_module
from elbowroom.errors import BadValue
from elbowroom.geometry.solids import box, sphere
from elbowroom.search.birrt import SearchPath, plan
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSearchSpace, escape, plan_limb
from elbowroom.world.fast import LimbCheck
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World

prove = benchmark_module("limb_proof").prove


ACROSS = posture([[0, 70, 0], [5, 0, 0], [0, 0, 0]])
ASIDE = posture([[0, 10, 0], [5, 0, 0], [0, 0, 0]])


def test_free_paths_are_proven_and_others_not() -> None:
    world = World(static={"wall": wall(-0.25, 1.25, 0.3, 0.3)}, floor=0.0).with_character("ann", PERSON)
    space = LimbSearchSpace.over(arm(world))
    a, b = space.state(HANGING), space.state(through(space))
    path = plan(space, a, b, 1)
    told = prove(space, smooth(space, path, 1))
    assert told.free and told.checks > 50
    straight = prove(space, SearchPath(np.stack([a, b]), "found"))
    assert not straight.free and straight.edge == 0 and 0.0 < straight.share < 1.0


@pytest.mark.parametrize("thick", [0.002, 0.0002])
def test_thin_things_are_not_missed(thick: float) -> None:
    """A wire between two looks of a search is not between two looks of a proof."""
    space = LimbSearchSpace.over(arm(World(floor=0.0).with_character("ann", PERSON)), resolution=0.3)
    a, b = space.state(ASIDE), space.state(ACROSS)
    rows = space.dense(SearchPath(np.stack([a, b]), "found"), 0.01)
    wrist = space.marks(rows)[:, 1]
    world = World(static={"wire": box((thick, thick, 0.4), wrist[len(wrist) // 3])}, floor=0.0)
    wired = LimbSearchSpace.over(arm(world.with_character("ann", PERSON)), resolution=0.3)
    path = SearchPath(np.stack([wired.state(ASIDE), wired.state(ACROSS)]), "found")
    assert not prove(wired, path).free
    assert prove(space, SearchPath(np.stack([a, b]), "found")).free


def test_a_proof_needs_some_room() -> None:
    world = World(floor=0.0).with_character("ann", PERSON)
    space = LimbSearchSpace.over(arm(world, margin=0.0))
    with pytest.raises(BadValue, match="margin"):
        prove(space, SearchPath(np.stack([space.state(ASIDE), space.state(ACROSS)]), "found"))


def passing(speed: float, radius: float = 0.05) -> LimbSearchSpace:
    """A ball that flies through where the hand of the arm held aside is."""
    times = np.array([0.0, 2.0])
    free = LimbSearchSpace.over(arm(World(floor=0.0).with_character("ann", PERSON)))
    wrist = free.marks(free.state(ASIDE))[1]
    way = np.array([0.0, speed, 0.0])
    ball = Keyed(times, np.stack([wrist - way, wrist + way]), np.tile([1.0, 0, 0, 0], (2, 1)))
    world = World(floor=0.0).with_character("ann", PERSON).with_object("ball", sphere(radius), ball)
    return LimbSearchSpace.over(LimbCheck(world, "ann", "right_arm", during=(0.0, 2.0), margin=MARGIN), timed=True)


@pytest.mark.parametrize("speed", [0.5, 5.0])
def test_a_limb_that_stays_where_something_passes_is_hit(speed: float) -> None:
    """Looks follow what moves, not only the limb: waiting is no way out."""
    space = passing(speed)
    a, b = space.state(ASIDE, 0.0), space.state(ASIDE, 2.0)
    assert not prove(space, SearchPath(np.stack([a, b]), "found")).free
    for seed in range(3):
        path = plan_limb(space, a, b, seed)
        assert path.found and len(path.states) > 2
        short = smooth(space, path, seed)
        assert prove(space, short).free
        assert (np.diff(short.states[:, 0]) > 0.0).all() and short.states[-1, 0] == 2.0


def test_smoothing_moves_time() -> None:
    """Corners that are left come at other times than those of the first path, and the hand has a shorter way."""
    space = passing(0.5)
    a, b = space.state(ASIDE, 0.0), space.state(ASIDE, 2.0)
    path = plan_limb(space, a, b, 2)
    short = smooth(space, path, 2)
    assert not np.isin(short.states[1:-1, 0], path.states[:, 0]).all()
    way = [np.linalg.norm(np.diff(space.marks(p.states)[:, -2], axis=0), axis=1).sum() for p in (path, short)]
    assert way[1] <= way[0] + 1e-9


def test_ways_out_take_time() -> None:
    """An end near contact is left a moment later and entered a moment before, while the world goes on."""
    space = passing(0.5)
    check = space.check
    when = np.linspace(0.0, 2.0, 801)
    codes = check.batch(np.tile(ASIDE, (801, 1, 1)), when)
    near = [float(t) for t, c in zip(when, codes, strict=True) if c != 0 and check.free(ASIDE, float(t))]
    assert near  # in doubt for the fast test, free for the exact one
    early, late = near[0], near[-1]
    out = escape(space, space.state(ASIDE, late), 1, forward=True)
    back = escape(space, space.state(ASIDE, early), 1, forward=False)
    assert out is not None and out[0] > late and back is not None and back[0] < early
    path = plan_limb(space, space.state(ASIDE, late), space.state(ACROSS, 2.0), 1)
    assert path.found and prove(space, path).free
    path = plan_limb(space, space.state(ACROSS, 0.0), space.state(ASIDE, early), 1)
    assert path.found and prove(space, path).free


def test_a_walker_s_arm_keeps_clear_of_a_post() -> None:
    """Over a moving base: the arm of a walk goes round a post beside the way, and back into the walk."""
    from elbowroom.locomotion.walk import walk

    clip = walk(PERSON, 1.3, seconds=4.0)
    joints = list(PERSON.chain("right_arm").joints)
    hand = World().with_character("ann", clip).at(2.0).joints["ann"][joints[-1], :3, 3]
    for aside in (-0.02, 0.03):
        post = box((0.05, 0.05, 1.2), (hand[0] + aside, hand[1], 0.6))
        world = World(static={"post": post}, floor=0.0).with_character("ann", clip)
        check = LimbCheck(world, "ann", "right_arm", during=(1.4, 2.8), margin=MARGIN)
        space = LimbSearchSpace.over(check, timed=True)
        a, b = (space.state(clip.rotations[round(t * clip.fps)][joints], t) for t in (1.5, 2.75))
        assert not prove(space, SearchPath(np.stack([a, b]), "found")).free
        for seed in range(3):
            short = smooth(space, plan_limb(space, a, b, seed), seed)
            assert short.found and prove(space, short).free
