"""What planning relies upon between its steps: states come back whole, and nothing that collides passes for free."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import elbowroom as er
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.plan import manipulate
from elbowroom.plan.repair.arm_paths import ArmPaths, LimbTrajectory
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.state.take import Grip
from elbowroom.plan.steps.acting import wait
from elbowroom.plan.steps.director import Director
from elbowroom.plan.steps.give_way import require_free
from elbowroom.plan.tasks import Grab, Put, Task
from elbowroom.world.paths import Still
from elbowroom.world.world import World


@cache
def room() -> World:
    """A woman who stands in the open, and a can."""
    world = World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0, fps=30.0))
    return world.with_object("can", box((0.06, 0.06, 0.12)), Still(transform([0.0, -2.0, 1.0])))


def director(world: World) -> Director:
    d = Director(world, Settings(), 30.0, 0)
    d.actor("ann")
    return d


def grip(grasp: str) -> Grip:
    return Grip(np.zeros((0, 4)), np.array([0.0, 0.0, 1.0]), np.eye(4), ("right", grasp))


def test_what_collides_is_not_free() -> None:
    require_free(director(room()), (0.0, 1.0), "stand")
    spine = room().motion("ann").positions()[0, room().body("ann").role("spine2")]
    pierced = room().with_static("pole", box((0.05, 3.0, 0.05), spine))
    with pytest.raises(PlanningFailure, match=r"stand: .*pole.* along the path"):
        require_free(director(pierced), (0.0, 1.0), "stand")


def test_a_held_thing_that_collides_is_not_led_around() -> None:
    d = director(room().with_hold("can", "ann", "right", (0.2, 0.8), np.eye(4)))
    d.world = d.world.with_static("block", box((0.3, 0.3, 0.3), d.world.frame("can", 0.5)[:3, 3]))
    before = d.world
    with pytest.raises(PlanningFailure, match="carry"):
        require_free(d, (0.3, 0.7), "carry", "can")
    assert d.world is before


def test_a_failed_attempt_leaves_nothing_behind() -> None:
    """World, frames, edits, grips, contacts, and what a body does differently from then on."""
    d = director(room())
    ann, before = d.actor("ann"), d.take

    def attempt() -> None:
        wait(d, ann, 5)
        ann.keep((3, 4))
        ann.change(q=np.roll(ann.q, 1, axis=1), support=None, away=True)
        d.take = d.take.with_grip("can", grip("top")).folding("ann")
        d.note(ann, "right_arm", "try", (0.0, 0.1), LimbTrajectory(np.zeros((1, 3, 4)), "ik"))
        d.actor("bob")
        d.world = d.world.with_(notes=("a note",))
        raise PlanningFailure("no-path", "nothing goes")

    d.world = d.world.with_character("bob", d.world.motion("ann"))
    before = d.take
    failure = d.attempt(attempt)
    assert failure is not None and failure.why == "nothing goes"
    assert d.take is before and ann.k == 0 and not ann.kept and "bob" not in d.actors
    assert d.attempt(lambda: wait(d, ann, 5)) is None and ann.k == 5


def test_frames_of_a_take_cannot_be_written_to() -> None:
    ann = director(room()).actor("ann")
    with pytest.raises(ValueError, match="read-only"):
        ann.q[0, 3] = 0.0
    with pytest.raises(AttributeError):
        ann.track.q = ann.q  # type: ignore[misc]


def test_the_most_natural_of_the_searched_paths_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    strange = iter([3.0, 1.0, 2.0, 5.0, 4.0, 6.0, 7.0, 8.0])
    monkeypatch.setattr(ArmPaths, "searched", lambda *_: SimpleNamespace(rotations=next(strange)))
    monkeypatch.setattr(ArmPaths, "shape", lambda *_: SimpleNamespace(human=False))
    monkeypatch.setattr(ArmPaths, "_by_offset", lambda *_: None)
    monkeypatch.setattr(ArmPaths, "_strange", lambda _, q: q)
    paths = object.__new__(ArmPaths)
    assert paths.planned(np.zeros((3, 4)), np.zeros((3, 4)), 0).rotations == 1.0  # type: ignore[union-attr]


@pytest.mark.parametrize(("works", "left"), [(0, 1), (2, 3), (9, None)])
def test_what_cannot_be_put_down_is_grasped_otherwise(
    monkeypatch: pytest.MonkeyPatch, works: int, left: int | None
) -> None:
    """Four other grasps are tried after the first, each from the state before the object was taken."""
    tried: list[int] = []

    def do(d: Director, task: Task, earlier: object, done: object) -> None:
        if isinstance(task, Grab):
            assert "can" not in d.take.grips, "as before it was taken"
            number = next(n for n in range(9) if ("right", str(n)) not in d.spent.refused.get("can", set()))
            tried.append(number)
            d.take = d.take.with_grip("can", grip(str(number)))
        elif d.take.grips["can"].grasp[1] != str(works):
            raise PlanningFailure("no-path", "it cannot be put there")

    monkeypatch.setattr(manipulate, "_do", do)
    d = director(room())
    tasks = [Grab(who="ann", object="can"), Put(who="ann", object="can", to=(0.0, -2.0, 1.0))]
    d.spent.choosy.add("can")
    if left is None:
        with pytest.raises(PlanningFailure, match="cannot be put"):
            manipulate._do_all(d, tasks)
        assert tried[:5] == [0, 1, 2, 3, 4]
    else:
        manipulate._do_all(d, tasks)
        assert tried == list(range(left)) and d.take.grips["can"].grasp == ("right", str(works))
