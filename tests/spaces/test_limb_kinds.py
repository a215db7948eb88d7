"""Searches for any limb: legs, both arms, an arm with the spine, hands that hold things; solved, and proven free."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from limb_scenes import HANGING, MARGIN, PERSON, WALL, assert_free, wall
from numpy.typing import NDArray

from conftest import benchmark_module
from elbowroom.character.limits import sample_pose
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSearchSpace, plan_limb
from elbowroom.spaces.styles import NATURAL, Style
from elbowroom.world.fast import FREE, LimbCheck
from elbowroom.world.paths import Still
from elbowroom.world.world import World

prove = benchmark_module("limb_proof").prove


# Whether joints (N, n, 3) of a limb, in the world, are as wanted.
Wanted = Callable[[Array], NDArray[np.bool_]]


def drawn(space: LimbSearchSpace, wanted: Wanted, count: int, seed: int) -> list[Array]:
    """Free states of a limb of the resting person whose joints are as wanted."""
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    joints = list(space.check.joints)
    for _ in range(20):
        q = sample_pose(space.limits, rng, 4000)
        body = np.tile([1.0, 0, 0, 0], (len(q), len(PERSON.skeleton), 1))
        body[:, joints] = q
        roots = np.tile(PERSON.skeleton.T_rest[0, :3, 3], (len(q), 1))
        at = PERSON.skeleton.forward(roots, body)[..., :3, 3][:, joints]
        free = wanted(at) & (space.check.batch(q, 0.0) == FREE)
        found += [space.state(x) for x in q[free][: count - len(found)]]
        if len(found) == count:
            return found
    raise AssertionError("no such postures")


def solve(space: LimbSearchSpace, starts: list[Array], goals: list[Array]) -> int:
    """Plan, smooth, prove and look closely; how many paths were not straight."""
    bent = 0
    for seed, (a, b) in enumerate(zip(starts, goals, strict=True)):
        path = plan_limb(space, a, b, seed)
        assert path.found
        assert np.array_equal(path.states, plan_limb(space, a, b, seed).states)
        bent += len(path.states) > 2
        short = smooth(space, path, seed)
        told = prove(space, short)
        assert told.free and told.checks > 0
        assert_free(space, short)
    return bent


def over(world: World, limb: object, style: Style = NATURAL, margin: float = MARGIN) -> LimbSearchSpace:
    return LimbSearchSpace.over(LimbCheck(world, "ann", limb, margin=margin), style=style)  # type: ignore[arg-type]


def test_a_leg_steps_over_a_beam() -> None:
    beam = {"beam": box((1.5, 0.06, 0.3), (0.0, -0.25, 0.15))}
    space = over(World(static=beam, floor=0.0).with_character("ann", PERSON), "left_leg")
    here = drawn(space, lambda p: (p[:, 2, 1] > 0.0) & (p[:, 2, 2] < 0.3), 1, 1)
    there = drawn(space, lambda p: (p[:, 2, 1] < -0.3) & (p[:, 2, 2] < 0.45), 1, 2)
    assert solve(space, here, there)


def test_two_arms_at_once() -> None:
    """From below a board to above it, a post in between."""
    things = {"post": box((0.08, 0.08, 2.0), (0.0, -0.33, 1.0)), "board": box((1.2, 0.3, 0.03), (0.0, -0.45, 1.1))}
    world = World(static=things, floor=0.0).with_character("ann", PERSON)
    space = over(world, ["left_arm", "right_arm"])
    sides = [over(world, "left_arm"), over(world, "right_arm")]

    def both(wanted: Wanted, seed: int) -> list[Array]:
        left, right = (drawn(side, wanted, 6, seed + k) for k, side in enumerate(sides))
        q = [np.concatenate([sides[0].rotations(a), sides[1].rotations(b)]) for a, b in zip(left, right, strict=True)]
        return [space.state(x) for x in q if space.check.free(x, exact=False)][:2]

    low = both(lambda p: p[:, 2, 2] < 1.0, 1)
    high = both(lambda p: (p[:, 2, 2] > 1.2) & (p[:, 2, 1] < -0.2), 5)
    assert len(low) == len(high) == 2
    assert solve(space, low, high)


def test_an_arm_with_the_spine() -> None:
    """Style intervals keep the spine near where it is: it moves a little, and hardly widens the search."""
    world = World(static={"wall": wall(-0.25, 1.25, 0.3, 0.3)}, floor=0.0).with_character("ann", PERSON)
    spine = list(PERSON.joint_names).index("spine2")
    limit, upright = PERSON.limits[spine], np.array([1.0, 0, 0, 0])
    assert limit is not None
    now = limit.coordinates(upright)
    little = {
        "spine2": {name: (x - 0.06, x + 0.06) for name, x in zip(("swing_x", "swing_y", "twist"), now, strict=True)}
    }
    # head and chest, which the spine moves, are less than 5 mm apart
    space = over(world, [spine, *PERSON.chain("right_arm").joints], Style(little), margin=0.001)
    arm = over(world, "right_arm")
    goals = [
        space.state(np.concatenate([upright[None], arm.rotations(row)]))
        for row in drawn(arm, lambda p: p[:, 2, 1] < WALL - 0.05, 2, 4)
    ]
    rest = space.state(np.concatenate([upright[None], HANGING]))
    assert solve(space, [rest] * 2, goals)
    bends = space.coordinates(plan_limb(space, rest, goals[0], 0).states)[:, 0] - now
    assert 1e-4 < np.abs(bends).max() < 0.0601


def test_what_a_hand_holds_comes_through() -> None:
    """A stick across the palm: the way through the hole is free for it, too."""
    world = World(static={"wall": wall(-0.25, 1.25, 0.34, 0.34)}, floor=0.0).with_character("ann", PERSON)
    world = world.with_object("stick", box((0.03, 0.26, 0.03)), Still(np.eye(4)))
    world = world.with_hold("stick", "ann", "right", (-1.0, 1.0), transform([-0.09, 0.0, -0.055]))
    space = over(world, "right_arm")
    assert space.check.free(HANGING)
    goals = drawn(space, lambda p: p[:, 2, 1] < WALL - 0.02, 2, 5)
    assert solve(space, [space.state(HANGING)] * 2, goals)
    empty = over(World(static=world.static, floor=0.0).with_character("ann", PERSON), "right_arm")
    assert len(space.check.limb.joint) > len(empty.check.limb.joint)  # the stick is a piece of the limb
