"""Who is planned first, who gets out of whose way, and what happens when that fails."""

from __future__ import annotations

from functools import cache

import numpy as np
from test_giving import shop

from elbowroom.gallery.scenes import scenario
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.order import ordered, tightness
from elbowroom.plan.state.result import Plan
from elbowroom.plan.tasks import Grab, Handover, Put, Reach, Task, Touch
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world.certificate import certify
from elbowroom.world.world import World


def who(tasks: list[Task]) -> list[str]:
    return [task.who for task in tasks]


def test_earlier_tasks_come_first_then_those_that_leave_less_choice() -> None:
    near = Reach(who="ann", to=(-0.2, -0.3, 1.2), at=2.0)
    far = Reach(who="bob", to=(-0.2, -0.3, 1.2), at=2.0)
    assert tightness(shop(), far) > tightness(shop(), near)
    assert who(ordered(shop(), [near, far])) == ["bob", "ann"]
    early = Reach(who="ann", to=(-0.2, -0.3, 1.2), at=1.0)
    assert who(ordered(shop(), [far, early])) == ["ann", "bob"]


def test_priorities_come_before_times() -> None:
    first = Reach(who="ann", to=(0.0, -0.3, 1.2), at=1.0)
    given = Reach(who="bob", to=(0.0, -0.8, 1.2), at=2.0, priority=3)
    assert who(ordered(shop(), [first, given])) == ["bob", "ann"]
    assert who(ordered(shop(), [first, given], leading=["ann"])) == ["ann", "bob"]


def test_the_story_is_never_turned_round() -> None:
    grab, give = Grab(who="ann", object="bottle"), Handover(who="ann", object="bottle", to="bob")
    put = Put(who="bob", object="bottle", to=(-0.6, -0.85, 1.04), priority=1)
    assert ordered(shop(), [grab, give, put], leading=["bob"]) == [grab, give, put]
    late, early = Touch(who="ann", target="bottle", at=3.0, priority=1), Touch(who="ann", target="bottle", at=1.0)
    assert ordered(shop(), [late, early]) == [early, late], "one person does one thing after another"


def test_who_finds_no_way_is_planned_before_the_others_and_that_is_told() -> None:
    tasks = [
        Reach(who="ann", hand="right", to=(-0.15, -0.6, 1.2), at=1.5),
        Reach(who="bob", hand="left", to=(-0.17, -0.35, 1.27), at=1.5),
    ]
    assert who(ordered(shop(1.1), tasks)) == ["bob", "ann"], "she would be planned last, and find her place taken"
    plan = plan_tasks(shop(1.1), tasks)
    assert plan.found, plan.advice
    assert any("ann was planned before the others" in note for note in plan.world.notes)
    assert plan.edits[0].who == "ann"


def test_things_that_others_still_hold_are_waited_for() -> None:
    tasks = [
        Grab(who="ann", object="bottle"),
        Put(who="ann", object="bottle", to=(-0.4, -0.38, 1.0402)),
        Grab(who="bob", object="bottle"),
    ]
    plan = plan_tasks(shop(0.95), tasks)
    assert plan.found, plan.advice
    first, second = plan.world.holds
    assert (first.by, second.by) == ("ann", "bob") and second.during[0] > first.during[1]


@cache
def alone(name: str) -> Plan:
    """Somebody of the twins, planned as if there was nobody else."""
    board = scenario("twin-grasp").board()
    world = board.world.with_(characters={name: board.world.motion(name)})
    return plan_tasks(world, [task for task in board.tasks if task.who == name])


def test_twins_that_do_not_know_of_each_other_collide() -> None:
    plans = [alone("ann"), alone("bob")]
    assert all(plan.found for plan in plans)
    world: World = scenario("twin-grasp").board().world
    for name, plan in zip(("ann", "bob"), plans, strict=True):
        world = world.with_character(name, plan.world.motion(name)).with_(
            holds=(*world.holds, *plan.world.holds), contacts=(*world.contacts, *plan.world.contacts)
        )
    blind = certify(world)
    assert not blind.free
    assert any({p.partition(".")[0] for p in c.pair} == {"ann", "bob"} for c in blind.collisions)


def test_twins_that_do_take_their_things_at_the_same_time() -> None:
    plan = plan_storyboard(scenario("twin-grasp").board(), seed=1)
    assert plan.found, plan.advice
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    begins = [hold.during[0] for hold in plan.world.holds]
    assert {hold.by for hold in plan.world.holds} == {"ann", "bob"} and np.ptp(begins) < 1e-6
    hands = [plan.world.hand(hold.by, hold.hand, 2.0)[:3, 3] for hold in plan.world.holds]
    assert np.linalg.norm(hands[0] - hands[1]) < 0.4, "hands near one another"
