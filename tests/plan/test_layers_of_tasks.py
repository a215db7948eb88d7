"""One person's limbs that are busy at one time: later ones are planned on top of earlier ones."""

from __future__ import annotations

import numpy as np
from test_manipulate import room

from elbowroom.geometry.solids import cylinder
from elbowroom.geometry.transforms import transform
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.order import layers
from elbowroom.plan.tasks import Grab, Put, Reach, Touch
from elbowroom.world.paths import Still
from elbowroom.world.world import World

RIGHT = Grab(who="ann", object="can", hand="right", at=2.0)
LEFT = Grab(who="ann", object="cup", hand="left", at=2.0)
FOOT = Reach(who="ann", to=(-0.2, -0.35, 0.2), foot="right", at=2.5)


def desk() -> World:
    """The woman before her table, with a cup at her left."""
    return room().with_object("cup", cylinder(0.035, 0.12), Still(transform([0.25, -0.52, 0.9602])))


def test_what_can_be_done_one_after_another_is() -> None:
    late = Grab(who="ann", object="cup", hand="left", at=4.0)
    assert layers(desk(), [RIGHT, late]) == [[RIGHT, late]]
    chosen = Touch(who="ann", target="cup", at=2.0)
    assert layers(desk(), [RIGHT, chosen]) == [[RIGHT, chosen]], "nobody knows which hand"


def test_hands_that_are_busy_at_one_time_are_layered_with_all_they_do() -> None:
    put = Put(who="ann", object="cup", to=(0.3, -0.48, 0.9602), at=4.5)
    assert layers(desk(), [RIGHT, LEFT, put]) == [[RIGHT], [LEFT, put]]
    assert layers(desk(), [LEFT, FOOT]) == [[FOOT], [LEFT]], "the weight is shifted below a hand's motion"


def test_two_things_are_taken_at_once() -> None:
    plan = plan_tasks(desk(), [RIGHT, LEFT])
    assert plan.found, plan.advice
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    holds = {hold.hand: hold for hold in plan.world.holds}
    assert holds["right"].object == "can" and holds["left"].object == "cup"
    for hold in holds.values():
        assert 1.9 < hold.during[0] < 2.4
        for t in np.linspace(hold.during[0], plan.world.span[1], 9):
            grip = np.linalg.inv(plan.world.hand("ann", hold.hand, t)) @ plan.world.frame(hold.object, t)
            assert np.allclose(grip, hold.T_hand_object, atol=1e-3)


def test_a_hand_reaches_while_a_foot_is_up() -> None:
    hand = Reach(who="ann", to=(0.3, -0.4, 1.3), hand="left", at=2.5)
    plan = plan_tasks(desk(), [hand, FOOT])
    assert plan.found, plan.advice
    assert {p.limb for p in plan.edits} == {"right_leg", "left_arm"}
    at = plan.world.hand("ann", "left", 2.5)[:3, 3]
    assert np.linalg.norm(at - [0.3, -0.4, 1.3]) < 0.15 and plan.world.frame("ann.right_toes", 2.5)[2, 3] > 0.1
