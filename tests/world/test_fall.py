"""What a hand lets go falls, and the proof of a motion follows it."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import preset
from elbowroom.errors import BadValue
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import still_clip
from elbowroom.world.certificate import certify
from elbowroom.world.paths import Fall, Still
from elbowroom.world.things import Hold
from elbowroom.world.world import World

BRICK = box([0.1, 0.1, 0.1])
FALL = Fall(np.array([1.0, 1.2, 1.4]), np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -0.2], [0.1, 0.0, -0.8]]))


def dropped(*, slab: float | None = None) -> World:
    """Somebody with arms stretched out lets a brick fall that hangs before the hand; a slab may lie below."""
    clip = still_clip(preset("woman", skin=False))
    clip = clip.with_(
        root=np.repeat(clip.root, 121, axis=0), rotations=np.repeat(clip.rotations, 121, axis=0), fps=60.0
    )
    world = World(floor=None).with_character("ann", clip).with_object("brick", BRICK, Still(np.eye(4)))
    hand = world.hand("ann", "left", 0.0)[:3, 3]
    if slab is not None:
        world = world.with_static("slab", box([0.5, 0.5, 0.02]), hand + [0.4, 0.0, slab])
    grip = np.linalg.inv(world.hand("ann", "left", 0.0)) @ transform(hand + [0.3, 0.0, 0.0])
    return world.with_(holds=(Hold("brick", "ann", "left", (0.0, 1.0), grip, FALL),))


def test_a_thing_goes_on_from_where_the_hand_left_it() -> None:
    world = dropped()
    at = {t: world.frame("brick", t)[:3, 3] for t in (0.5, 1.0, 1.1, 1.2, 1.3, 2.0)}
    assert np.allclose(at[0.5], at[1.0])
    assert np.allclose(at[1.1] - at[1.0], [0.0, 0.0, -0.1]) and np.allclose(at[1.3] - at[1.0], [0.05, 0.0, -0.5])
    assert np.allclose(at[2.0] - at[1.0], [0.1, 0.0, -0.8]), "it stays where it has landed"
    assert np.allclose(world.record([1.1]).things["brick"][0, :3, 3], at[1.1])


def test_a_hold_after_the_fall_begins_where_the_thing_lies() -> None:
    world = dropped()
    again = world.with_hold("brick", "ann", "left", (1.6, 2.0))
    assert np.allclose(again.frame("brick", 1.8), world.frame("brick", 1.5))


def test_the_proof_follows_the_fall_between_its_keys() -> None:
    assert certify(dropped()).free and certify(dropped()).continuous
    (hit,) = certify(dropped(slab=-0.4)).collisions
    assert hit.pair == ("brick", "slab")
    # lower face at -0.05, upper face of the slab at -0.39; the second part of the fall goes 3 m a second
    assert hit.during[0] == pytest.approx(1.2 + (0.39 - 0.25) / 3.0, abs=1 / 240)


def test_falls_that_make_no_sense_are_refused() -> None:
    with pytest.raises(BadValue, match="increasing"):
        Fall(np.array([1.0, 1.0]), np.zeros((2, 3)))
    with pytest.raises(BadValue, match="begins where"):
        Fall(np.array([1.0, 2.0]), np.ones((2, 3)))
