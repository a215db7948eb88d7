"""Rigs without a skin are shown in the built-in person's, fitted to their bones."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.character.rig import as_character
from elbowroom.character.visual import fitted_skin, visible
from elbowroom.geometry import rotations as rot


def bare(**sizes: float) -> Character:
    """The built-in person's joints as a rig that brings neither skin nor known limits."""
    body = human(1.8, skin=False, **sizes)
    return as_character(body.skeleton, name="rig")


@pytest.mark.parametrize("sizes", [{}, {"leg_scale": 1.2, "arm_scale": 0.8}])
def test_the_skin_of_a_person_without_skin_is_that_of_a_person_with_skin(sizes: dict[str, float]) -> None:
    worn = fitted_skin(bare(**sizes))
    own = human(1.8, **sizes).skin
    assert worn is not None and own is not None
    apart = np.linalg.norm(worn.posed(bare(**sizes).T_rest) - own.posed(human(1.8).T_rest), axis=1)
    if not sizes:
        assert apart.max() < 0.003
    assert np.allclose(worn.weights.sum(axis=1), 1.0)


def test_the_skin_follows_turned_frames_and_another_facing() -> None:
    """Each joint's frame is turned at random and the rig looks along +X: the skin at rest is the same, turned."""
    plain = bare()
    generator = np.random.default_rng(5)
    frames = rot.normalize(generator.normal(size=(len(plain.skeleton), 4)))
    heading = rot.about([0.0, 0.0, 1.0], 0.5 * np.pi)
    world = rot.multiply(heading, frames)
    at = rot.rotate(heading, plain.T_rest[:, :3, 3])
    parents = plain.skeleton.parents
    offsets = np.array(at)
    offsets[1:] = rot.rotate(rot.conjugate(world[parents[1:]]), at[1:] - at[parents[1:]])
    skeleton = type(plain.skeleton)(plain.skeleton.names, parents, offsets, plain.skeleton.local(world))
    turned = as_character(skeleton, name="turned")
    worn, same = fitted_skin(turned), fitted_skin(plain)
    assert worn is not None and same is not None
    expected = rot.rotate(heading, same.posed(plain.T_rest))
    assert np.abs(worn.posed(turned.T_rest) - expected).max() < 1e-6


def test_limbs_end_where_the_rig_has_its_joints() -> None:
    """Skin around elbows and wrists of a rig with short arms is around its joints, whatever pose it takes."""
    rig = bare(arm_scale=0.7)
    worn = fitted_skin(rig)
    assert worn is not None
    rotations = np.array(rig.skeleton.rest)
    rotations[rig.role("left_forearm")] = rot.about([0.0, 0.0, 1.0], -1.2)
    T = rig.skeleton.forward(rig.skeleton.offsets[0], rotations)
    skin = worn.posed(T)
    for role in ("left_forearm", "left_hand", "left_shin", "left_foot"):
        joint = rig.role(role)
        both = [np.sum(worn.weights * (worn.joints == j), axis=1) for j in (joint, rig.skeleton.parents[joint])]
        around = skin[np.min(both, axis=0) > 0.35]
        assert np.linalg.norm(around.mean(axis=0) - T[rig.role(role), :3, 3]) < 0.04


def test_fingers_without_joints_hang_at_ease_and_every_joint_is_named_once_per_vertex() -> None:
    body = human(1.8, skin=False)
    few = [j for j, n in enumerate(body.skeleton.names) if n[-1] not in "123" or "spine" in n]
    index = {j: k for k, j in enumerate(few)}
    parents = np.array([index.get(int(body.skeleton.parents[j]), -1) for j in few])
    names = tuple(body.skeleton.names[j] for j in few)
    rig = as_character(type(body.skeleton)(names, parents, body.skeleton.offsets[few]), name="mitten")
    worn = fitted_skin(rig)
    assert worn is not None
    used = np.where(worn.weights > 0.0, worn.joints, -1 - np.arange(worn.joints.shape[1]))
    assert all(len(set(row)) == len(row) for row in used[::50])
    hand = worn.posed(rig.T_rest)[worn.owner == rig.role("left_hand")]
    wrist = rig.T_rest[rig.role("left_hand"), :3, 3]
    tips = hand[hand[:, 0] > wrist[0] + 0.13]
    assert len(tips) and tips[:, 2].mean() < wrist[2] - 0.02  # palms down: bent fingers point below the wrist


def test_who_is_no_person_shows_shapes() -> None:
    long_legs = bare(leg_scale=4.0, trunk_scale=0.25)
    assert fitted_skin(long_legs) is None
    assert len(visible(long_legs).faces) and visible(long_legs).colors is None
    assert visible(bare(), "shapes").colors is None
