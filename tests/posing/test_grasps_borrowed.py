"""Rigs whose hands cannot close: they take things as a person would, with a stiff hand."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import finger_roles
from elbowroom.character.human import preset
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.solids import cylinder
from elbowroom.geometry.transforms import inverse
from elbowroom.posing.fingers_model import HandAtThing, hand_model
from elbowroom.posing.grasps import propose_grasps


def without(*fingers: str) -> Character:
    """The person, some of whose fingers are parts of a stiff hand."""
    roles = {r: j for r, j in preset("woman", skin=False).roles.items() if not any(finger in r for finger in fingers)}
    return preset("woman", skin=False).with_(roles=roles)


@pytest.mark.parametrize("hand", ("left", "right"))
def test_hands_that_cannot_close_borrow_the_grasps_of_a_person(hand: str) -> None:
    mesh = cylinder(0.033, 0.12)
    for body in (without("thumb"), without("thumb", "index", "middle", "ring", "little")):
        grasps = propose_grasps(body, hand, mesh)
        assert len(grasps) > 5
        scene = HandAtThing(hand_model(body, hand), mesh)
        for grasp in grasps:
            scene.put_hand(scene.model.places(grasp.open))
            scene.put_thing(inverse(grasp.T_thing_hand))
            # in touch, or a short way off where a curled hand would touch
            assert 0.0 < scene.gap(range(len(scene.model.shapes))) < 0.05


def test_a_thumb_on_the_forearm_is_no_finger_of_the_hand() -> None:
    body = preset("woman", skin=False)
    thumb, forearm = body.role("left_thumb1"), body.role("left_forearm")
    parents = np.array(body.parents)
    parents[thumb] = forearm
    skeleton = Skeleton(body.joint_names, parents, body.skeleton.offsets, body.skeleton.rest)
    moved = body.with_(skeleton=skeleton)
    assert not any("thumb" in role for role in finger_roles(moved, "left"))
    assert any("thumb" in role for role in finger_roles(moved, "right"))
    assert hand_model(moved, "left").fingers  # can be made
