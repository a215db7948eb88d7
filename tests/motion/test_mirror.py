"""Left for right."""

from __future__ import annotations

import numpy as np
import pytest
from motion_makers import odd_rig, person, stepping, wild

from elbowroom.character.human import preset
from elbowroom.geometry import rotations as rot
from elbowroom.motion.edit import counterparts, mirror


@pytest.mark.parametrize("character", [person(), odd_rig(), preset("gorilla")], ids=lambda c: c.name)
def test_positions_are_those_seen_in_a_mirror(character):
    clip = wild(character)
    partner = counterparts(character)
    expected = clip.positions()[:, partner] * [-1, 1, 1]
    np.testing.assert_allclose(mirror(clip).positions(), expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_mirror_twice_is_the_same(seed):
    clip = wild(odd_rig(seed), seed=seed)
    again = mirror(mirror(clip))
    np.testing.assert_allclose(again.root, clip.root, atol=1e-12)
    assert rot.angle_between(again.rotations, clip.rotations).max() < 1e-7


def test_counterparts_pair_the_sides():
    character = odd_rig()
    partner = counterparts(character)
    names = character.skeleton.names
    np.testing.assert_array_equal(partner[partner], np.arange(len(names)))
    for j, k in enumerate(partner):
        swapped = names[j].replace("left", "#").replace("right", "left").replace("#", "right")
        assert names[k] == swapped


def test_joints_without_roles_are_paired_by_name_or_place():
    plain = person()
    roles = {r: j for r, j in plain.roles.items() if "index" not in r and "thumb" not in r}
    np.testing.assert_array_equal(counterparts(plain.with_(roles=roles)), counterparts(plain))
    renamed = plain.skeleton.__class__(
        tuple(f"j{k}" for k in range(len(plain.skeleton))), plain.skeleton.parents, plain.skeleton.offsets
    )
    nameless = plain.with_(roles=roles, skeleton=renamed)
    np.testing.assert_array_equal(counterparts(nameless), counterparts(plain))


def test_a_left_step_becomes_a_right_step():
    walk = stepping(person())
    mirrored = mirror(walk)
    left, right = person().role("left_foot"), person().role("right_foot")
    np.testing.assert_allclose(mirrored.positions()[:, right, 1:], walk.positions()[:, left, 1:], atol=1e-9)


def test_a_recorded_walk_mirrors(data):
    from elbowroom.files.bvh import read_bvh

    clip = read_bvh(data / "mocap/cmu_bvh/07_01.bvh")
    other = mirror(clip)
    roles = clip.character.roles
    a = clip.positions()[:, roles["left_foot"]] * [-1, 1, 1]
    b = other.positions()[:, roles["right_foot"]]
    # the two legs of a recorded person differ in length by some millimetres
    assert np.linalg.norm(a - b, axis=-1).max() < 0.03
