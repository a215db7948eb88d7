"""Searches for any limb: legs, both arms, an arm with the spine, hands that hold things; solved, and proven free."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from limb_scenes import HANGING, MARGIN, PERSON, WALL, assert_free, wall

from elbowroom.character.limits import sample_pose
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSpace, Style
from elbowroom.spaces.limb_plan import plan_limb
from elbowroom.spaces.limb_proof import prove
from elbowroom.world.fast import FREE, LimbCheck
from elbowroom.world.paths import Still
from elbowroom.world.world import World


def drawn(space: LimbSpace, wanted: Callable[[Array], bool], count: int, seed: int, spread: float = 1.0) -> list[Array]:
    """States that are free and whose marks (K, 3) are as wanted; terms within a share of their ranges."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(40):
        q = sample_pose(space.limits, rng, 5000)
        if spread < 1.0:
            terms = [spread * x.coordinates(q[:, j]) for j, x in enumerate(space.limits)]
            q = np.stack([x.rotation(t) for x, t in zip(space.limits, terms, strict=True)], axis=1)
        for k in np.flatnonzero(space.check.batch(q, 0.0) == FREE):
            row = space.state(q[k])
            if wanted(space.marks(row)):
                found.append(row)
                if len(found) == count:
                    return found
    raise AssertionError("no such postures")


def solve(space: LimbSpace, starts: list[Array], goals: list[Array]) -> int:
    """Plan, smooth, prove and look closely; how many paths were not straight."""
    bent = 0
    for seed, (a, b) in enumerate(zip(starts, goals, strict=True)):
        path = plan_limb(space, a, b, seed)
        assert path.found
        again = plan_limb(space, a, b, seed)
        assert np.array_equal(path.states, again.states)
        bent += len(path.states) > 2
        short = smooth(space, path, seed)
        told = prove(space, short)
        assert told.free and told.checks > 0
        assert_free(space, short)
    return bent


def over(world: World, limb: object, style: Style | None = None) -> LimbSpace:
    return LimbSpace.over(LimbCheck(world, "ann", limb, margin=MARGIN), style=style)  # type: ignore[arg-type]


def test_a_leg_steps_over_a_beam() -> None:
    beam = {"beam": box((1.5, 0.06, 0.3), (0.0, -0.25, 0.15))}
    space = over(World(static=beam, floor=0.0).with_character("ann", PERSON), "left_leg")
    here = drawn(space, lambda m: m[-2, 1] > -0.2 and m[-2, 2] < 0.25, 4, 1, 0.6)
    there = drawn(space, lambda m: m[-2, 1] < -0.35 and m[-2, 2] < 0.35, 4, 2, 0.8)
    assert solve(space, here, there)


def test_two_arms_at_once() -> None:
    post = {"post": box((0.08, 0.08, 2.0), (0.0, -0.33, 1.0)), "board": box((1.2, 0.3, 0.03), (0.0, -0.45, 1.1))}
    space = over(World(static=post, floor=0.0).with_character("ann", PERSON), ["left_arm", "right_arm"])
    low = drawn(space, lambda m: max(m[0, 2], m[1, 2], m[-2, 2]) < 1.05, 3, 1)
    high = drawn(space, lambda m: min(m[-2, 2], m[1, 2]) > 1.2 and max(m[-2, 1], m[1, 1]) < -0.2, 3, 2)
    assert solve(space, low, high)


def test_an_arm_with_the_spine() -> None:
    """Style intervals keep the spine near where it is: it gives the motion a little, and costs the search nothing."""
    world = World(static={"wall": wall(-0.25, 1.25, 0.3, 0.3)}, floor=0.0).with_character("ann", PERSON)
    names = list(PERSON.joint_names)
    chain = [names.index("spine2"), *PERSON.chain("right_arm").joints]
    little = {"spine2": {"swing_x": (-0.06, 0.06), "swing_y": (-0.06, 0.06), "twist": (-0.06, 0.06)}}
    space = over(world, chain, little)
    rest = space.state(np.concatenate([[[1.0, 0, 0, 0]], HANGING]))
    goals = []
    arm = over(world, "right_arm")
    for row in drawn(arm, lambda m: m[-2, 1] < WALL - 0.12, 3, 4):
        goals.append(space.state(np.concatenate([[[1.0, 0, 0, 0]], arm.rotations(row)])))
    assert solve(space, [rest] * 3, goals)
    path = plan_limb(space, rest, goals[0], 0)
    assert np.abs(space.terms(path.states)[:, 0]).max() < 0.061


@pytest.mark.parametrize("limb", ["right_arm"])
def test_what_a_hand_holds_comes_through(limb: str) -> None:
    """A stick across the palm: the way through the hole is free for it, too."""
    hole = {"wall": wall(-0.25, 1.25, 0.34, 0.34)}
    stick = box((0.03, 0.26, 0.03))
    world = World(static=hole, floor=0.0).with_character("ann", PERSON)
    world = world.with_object("stick", stick, Still(np.eye(4)))
    world = world.with_hold("stick", "ann", "right", None, transform([-0.09, 0.0, -0.055]))
    space = over(world, limb)
    assert space.check.free(HANGING)
    goals = drawn(space, lambda m: m[1, 1] < WALL - 0.02, 3, 5)
    assert solve(space, [space.state(HANGING)] * 3, goals)
