"""The line at the top: how near a motion comes to things, told apart from the own body."""

from __future__ import annotations

import pytest

from elbowroom.geometry.solids import box
from elbowroom.plan.state.result import Plan
from elbowroom.studio.messages import nearest
from elbowroom.world.certificate import Certificate
from elbowroom.world.certificate_clearance import Clearance
from elbowroom.world.pairs import Pair
from elbowroom.world.world import World
from tools.simple_bodies import swinging

OWN, POST, BOB, FLOOR = (
    Pair("ann.a", "ann.c"),
    Pair("umbrella", "post"),
    Pair("bob.a", "ann.a"),
    Pair("ann.a", "floor"),
)
BETWEEN = "minimum clearance between characters"


def told(value: float | None, pair: Pair | None, others: Clearance | None = None) -> str:
    world = World().with_static("post", box([0.1, 0.1, 2.0]))
    for name in ("ann", "bob"):
        world = world.with_character(name, swinging([0.0, 0.4, 0.0]))
    proof = Certificate(True, True, value, value, None if value is None else 0.683, pair, None, others=others)
    return nearest(Plan("found", world, certificate=proof))


@pytest.mark.parametrize(
    ("value", "pair", "others", "line"),
    [
        (0.006, POST, None, "minimum clearance 6.0 mm at 0.68 s"),
        (0.006, BOB, None, f"{BETWEEN} 6.0 mm at 0.68 s"),
        (0.0028, OWN, Clearance(0.006, 0.006, 1.88, POST), "minimum clearance 6.0 mm at 1.88 s, own body 2.8 mm"),
        (0.0028, OWN, Clearance(0.006, 0.006, 1.88, BOB), f"{BETWEEN} 6.0 mm at 1.88 s, own body 2.8 mm"),
        (0.0028, OWN, Clearance(None, 0.03), "clearance at least 3 cm, own body 2.8 mm"),
        (0.004, FLOOR, Clearance(0.006, 0.006, 1.88, POST), "minimum clearance 6.0 mm at 1.88 s"),
        (0.004, FLOOR, Clearance(None, 0.03), "clearance at least 3 cm"),
        (None, None, None, ""),
    ],
)
def test_things_come_before_the_own_body(
    value: float | None, pair: Pair | None, others: Clearance | None, line: str
) -> None:
    assert told(value, pair, others) == line
