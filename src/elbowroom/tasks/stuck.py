"""Why a task cannot be done, on its way to the plan's status."""

from __future__ import annotations

from elbowroom.tasks.arm_ways import NoWay
from elbowroom.tasks.plan import Status
from elbowroom.world.pairs import Pair


class Stuck(Exception):
    """A task cannot be done: its status, why in a sentence without its end, and whose task it is, where known."""

    def __init__(self, status: Status, why: str) -> None:
        super().__init__(why)
        self.status: Status = status
        self.why = why
        self.who = ""


def blamed(pair: Pair | None) -> str:
    """A pair in words."""
    return "" if pair is None else f"{pair.a} would meet {pair.b}"


def why_not(way: NoWay) -> str:
    words = {
        "start-in-collision": "the hand is in collision where it starts",
        "target-in-collision": "the hand would collide at its target",
        "target-out-of-reach": "the way leads out of the arm's reach",
        "no-path": "no free way was found",
    }
    meets = blamed(way.pair)
    return words.get(way.status, way.status) + (f" ({meets})" if meets else "")
