"""The benchmark's own test of what can be done says yes and no where that is plain, and its tasks can be repeated."""

import json
from typing import Any

import pytest

from conftest import benchmark_module
from elbowroom.storyboard.storyboard import Storyboard, parse_storyboard

make = benchmark_module("random_tasks_make")
judge = benchmark_module("random_tasks_feasible")


def board(at: list[float], meshes: list[dict[str, Any]]) -> Storyboard:
    """A woman before a table who is to take a mug that is at a place."""
    values = {
        "elbowroom": 1,
        "scene": {"floor": 0.0, "meshes": [{"maker": "table", "name": "table"}, *meshes]},
        "objects": {"mug": {"mesh": {"maker": "mug"}, "at": at}},
        "characters": {
            "ann": {
                "body": {"preset": "woman"},
                "clip": {"idle": {"seconds": 0.5}},
                "at": [0.1, -0.7],
                "turn": 180,
            }
        },
        "tasks": [{"grab": {"who": "ann", "object": "mug"}}],
    }
    return parse_storyboard(json.dumps(values))


def test_mug_on_an_open_table_is_feasible() -> None:
    verdict = judge.feasible(board([0.1, -0.2, 0.7403], []))
    assert verdict.feasible


def test_mug_three_metres_away_is_out_of_reach() -> None:
    verdict = judge.feasible(board([0.1, 2.3, 0.7403], []))
    assert not verdict.feasible and verdict.why == "out of reach"


def test_mug_in_a_closed_box_is_not_feasible() -> None:
    walls = [
        {"box": [0.16, 0.01, 0.14], "name": "front", "at": [0.1, -0.28, 0.811]},
        {"box": [0.16, 0.01, 0.14], "name": "back", "at": [0.1, -0.12, 0.811]},
        {"box": [0.01, 0.16, 0.14], "name": "left", "at": [0.02, -0.2, 0.811]},
        {"box": [0.01, 0.16, 0.14], "name": "right", "at": [0.18, -0.2, 0.811]},
        {"box": [0.16, 0.16, 0.01], "name": "lid", "at": [0.1, -0.2, 0.88]},
    ]
    verdict = judge.feasible(board([0.1, -0.2, 0.7403], walls))
    assert not verdict.feasible


def test_a_task_is_the_same_each_time_and_others_differ() -> None:
    assert make.values(17) == make.values(17)
    assert make.values(17) != make.values(17 + 63)


def test_what_leaves_no_room_beside_somebody_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "BACK_TIMES", 2)
    values = make.values(7)  # a woman
    at = values["characters"]["ann"]["at"]
    values["scene"]["meshes"] += [{"box": [0.3, 3.0, 2.0], "name": "beside_wall", "at": [*at, 1.0]}]
    found = make.board_of(values)
    assert "beside_wall" not in found.world.static and make._free_at_start(found, 0.0)
