"""The nearest of different bodies and things, told apart from the own body, which is nearer in every walk."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import still_clip
from elbowroom.world.certificate import certify
from elbowroom.world.exact import ExactWorld
from elbowroom.world.own_pairs import of_one_body
from elbowroom.world.paths import Still
from elbowroom.world.world import World


@pytest.fixture(scope="module")
def alone() -> World:
    return World().with_character("ann", still_clip(human(skin=False)))


@pytest.fixture(scope="module")
def tip(alone: World) -> float:
    """How far her fingers reach, metres: she stands with her arms stretched out to the sides."""
    return 2.0 - brute_force(crated(alone, 2.0))


def crated(world: World, x: float) -> World:
    """With a crate whose side is at x metres."""
    return world.with_static("crate", box([0.2, 0.6, 0.4], at=[x + 0.1, 0.0, 1.4]))


def brute_force(world: World) -> float:
    """The smallest distance of ann and anything else, by looking at all pairs."""
    exact = ExactWorld(world).place(0.0)
    owners = [[exact.parts[int(i)].owner for i in pair] for pair in exact.index]
    others = [k for k, (a, b) in enumerate(owners) if a != b and "floor" not in (a, b)]
    return min(float(exact.distance(k).value or 0.0) for k in others)


def test_things_are_looked_for_behind_the_own_body(alone: World, tip: float) -> None:
    own = certify(alone).clearance_m
    assert own is not None and own < 0.015
    near, far = (certify(crated(alone, tip + gap)) for gap in (0.02, 0.2))
    for proof in (near, far):
        assert proof.free and proof.clearance_m == own and proof.others is not None
        assert proof.pair is not None and all(name.startswith("ann.") for name in proof.pair)
    assert near.others is not None and near.others.value == pytest.approx(0.02, abs=1e-6)
    assert near.nearest is near.others and near.others.pair is not None and "crate" in near.others.pair
    # where the own body is near, nothing is looked for that is farther than 3 cm
    assert far.others is not None and far.others.value is None and far.others.at_least == 0.03
    assert far.nearest.pair == far.pair


def test_where_a_thing_is_nearest_of_all_nothing_else_is_looked_for(alone: World, tip: float) -> None:
    proof = certify(crated(alone, tip + 0.001))
    assert proof.others is None and proof.pair is not None and "crate" in proof.pair
    assert proof.nearest.value == proof.clearance_m == pytest.approx(0.001, abs=1e-6)
    assert proof.unmeasured().nearest.value is None


def test_what_is_taken_and_held_belongs_to_a_body_for_that_time(alone: World) -> None:
    world = alone.with_object("cup", box([0.05, 0.05, 0.05]), Still(transform([0.5, 0.5, 1.0])))
    world = world.with_hold("cup", "ann", "right", (2.0, 3.0), T_hand_object=np.eye(4))
    told = {t: of_one_body(world, "ann.head", "cup", t) for t in (1.4, 1.6, 2.5, 3.4, 3.6)}
    assert told == {1.4: False, 1.6: True, 2.5: True, 3.4: True, 3.6: False}
    assert of_one_body(world, "ann.head", "ann.chest", 0.0)
