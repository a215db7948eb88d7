"""Long work tells how far it is."""

from __future__ import annotations

from elbowroom.character.human import human
from elbowroom.locomotion.standing import idle
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.tasks import Reach
from elbowroom.stopping import Progressing, watched
from elbowroom.world.certificate import certify
from elbowroom.world.world import World


def test_a_proof_reports_its_parts_and_shares_that_grow() -> None:
    heard: list[tuple[str, float | None]] = []
    world = World().with_character("ann", idle(human(1.7, skin=False), seconds=6.0))
    with watched(lambda doing, share: heard.append((doing, share))):
        certify(world)
    first = [share for doing, share in heard if share is not None and doing == "distances between frames"]
    assert len(first) > 1 and first == sorted(first) and first[0] >= 0.0 and first[-1] < 1.0
    before = len(heard)
    certify(world)
    assert len(heard) == before  # nobody watches any more


def test_planning_reports_its_tasks_and_the_proof() -> None:
    heard: list[tuple[str, float | None]] = []
    world = World().with_character("ann", idle(human(1.7), seconds=1.0))
    with watched(lambda doing, share: heard.append((doing, share))):
        assert plan_tasks(world, [Reach(who="ann", hand="right", to=(-0.2, -0.4, 1.2))], fps=30.0).found
    assert heard[0] == ("ann, reach", 0.0) and ("the proof", None) in heard


def test_the_line_estimates_the_rest_once_it_can() -> None:
    line = Progressing("proving")
    assert line.text("exact distances", 0.0, 10.0) == "proving: exact distances, 0 %"
    assert line.text("exact distances", 0.25, 20.0) == "proving: exact distances, 25 %, about 30 s left"
    assert line.text("ann, grab jar", None, 20.5) == "proving: ann, grab jar"  # nobody knows how much is left
    assert line.text("exact distances", 0.1, 21.0) == "proving: exact distances, 10 %"  # another round of it begins
