"""Feet brought to places."""

from __future__ import annotations

import numpy as np
import pytest
from motion_makers import odd_rig, person, stepping, wild

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadValue
from elbowroom.geometry.transforms import transform
from elbowroom.motion.legs import place_feet


def with_helpers(character: Character) -> Character:
    """The same rig with a joint of no length between each thigh and shin, and between each shin and foot."""
    old = character.skeleton
    names, parents, offsets = [], [], []
    at: dict[int, int] = {}
    for j, name in enumerate(old.names):
        parent = at[int(old.parents[j])] if j else -1
        if name.endswith(("_shin", "_foot")):
            names.append(f"{name}_helper")
            parents.append(parent)
            offsets.append(old.offsets[j])
            parent = len(names) - 1
        names.append(name)
        parents.append(parent)
        offsets.append(np.zeros(3) if name.endswith(("_shin", "_foot")) else old.offsets[j])
        at[j] = len(names) - 1
    roles = {role: at[j] for role, j in character.roles.items()}
    return Character(name="helped", skeleton=Skeleton(tuple(names), parents, offsets), roles=roles)


@pytest.mark.parametrize("character", [person(), odd_rig(), with_helpers(person())], ids=lambda c: c.name)
def test_feet_come_to_their_places(character):
    clip = wild(character, seed=3)
    T = clip.world()
    feet, skeleton = {}, character.skeleton
    for side, x in (("left", 0.12), ("right", -0.12)):
        hip = T[:, character.role(f"{side}_thigh"), :3, 3]
        turns = np.random.default_rng(1).normal(size=(len(clip), 4))
        turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
        feet[side] = transform(hip + [x, -0.2, -0.6], turns)
    q = place_feet(character, clip.root, clip.rotations, feet)
    new = skeleton.forward(clip.root, q)
    for side, T_foot in feet.items():
        np.testing.assert_allclose(new[:, character.role(f"{side}_foot")], T_foot, atol=1e-9)
    legs = {character.role(f"{s}_{p}") for s in ("left", "right") for p in ("thigh", "shin", "foot")}
    others = [j for j in range(len(skeleton)) if j not in legs]
    np.testing.assert_array_equal(q[:, others], clip.rotations[:, others])


@pytest.mark.parametrize("character", [person(), odd_rig()], ids=lambda c: c.name)
def test_feet_that_are_in_place_change_nothing(character):
    clip = wild(character, seed=5)
    T = clip.world()
    feet = {side: T[:, character.role(f"{side}_foot")] for side in ("left", "right")}
    q = place_feet(character, clip.root, clip.rotations, feet)
    np.testing.assert_allclose(character.skeleton.forward(clip.root, q), T, atol=1e-7)


def test_knees_bend_to_the_front():
    clip = stepping(person())
    p = clip.positions()
    for side in ("left", "right"):
        hip, knee, ankle = (p[:, person().role(f"{side}_{part}")] for part in ("thigh", "shin", "foot"))
        assert np.all((knee - 0.5 * (hip + ankle)) @ person().front > 0.0)


def test_what_is_out_of_reach_is_approached():
    clip = stepping(person())
    T = np.tile(np.eye(4), (len(clip), 1, 1))
    T[:, :3, 3] = clip.positions()[:, person().role("left_thigh")] + [0, 0, -2.0]
    q = place_feet(person(), clip.root, clip.rotations, {"left": T})
    foot = person().skeleton.forward(clip.root, q)[:, person().role("left_foot"), :3, 3]
    p = person().skeleton.T_rest[:, :3, 3]
    hip, knee, ankle = (p[person().role(f"left_{part}")] for part in ("thigh", "shin", "foot"))
    length = np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee)
    np.testing.assert_allclose(foot, T[:, :3, 3] + [0, 0, 2.0 - length], atol=1e-9)
    with pytest.raises(BadValue, match="'left' or 'right'"):
        place_feet(person(), clip.root, clip.rotations, {"middle": T})
