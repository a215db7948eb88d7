"""Drags of the goal of a walk and of an obstacle on it: the walk follows, and is planned with a proof on release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from studio_makers import settled

from elbowroom.gallery.scenes import FOLDER
from elbowroom.geometry.rotations import UP, about, multiply
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.standing import at_ease
from elbowroom.plan.state.result import Plan
from elbowroom.studio.document import Document
from elbowroom.studio.folders import Folders
from elbowroom.studio.places import target_name
from elbowroom.studio.studio import Studio
from elbowroom.studio.task_forms import point_for
from elbowroom.world.world import World
from tools.rooted import rooted

GOAL = target_name(0)
SCENE = {
    "elbowroom": 1,
    "fps": 30,
    "scene": {"floor": 0.0, "meshes": [{"box": [0.5, 0.5, 1.0], "name": "post", "at": [1.5, -1.0, 0.5]}]},
    "characters": {"ann": {"body": {"preset": "woman"}, "clip": {"idle": {"seconds": 0.3}}}},
    "tasks": [{"go": {"who": "ann", "to": [0.0, -2.0]}}],
}


@pytest.fixture
def studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Studio]:
    """A room in which nothing is planned with a proof, only what follows the mouse."""
    planned = lambda board, **told: Plan("no-path", board.world, why="barred")  # noqa: E731
    monkeypatch.setattr("elbowroom.studio.studio.plan_storyboard", planned)
    studio = Studio(Document(SCENE, tmp_path / "go.yaml"), Folders(tmp_path, [FOLDER]), tmp_path / "state")
    yield studio
    studio.close()


def test_a_walk_follows_its_goal_and_is_planned_on_release(studio: Studio) -> None:
    studio.drags.move(GOAL, transform([0.6, -1.6, 0.0]))
    settled(studio)
    assert studio.live and studio.plan is not None and studio.plan.certificate is None
    assert np.linalg.norm(studio.world.motion("ann").root[-1, :2] - [0.6, -1.6]) < 0.1
    studio.drags.let_go()
    settled(studio)
    assert studio.document.values["tasks"][0]["go"]["to"] == [0.6, -1.6]
    assert studio.plan is None or "barred" in studio.plan.why  # planned anew


def test_a_walk_goes_round_an_obstacle_that_is_dragged_into_it(studio: Studio) -> None:
    studio.drags.move("post", transform([0.0, -1.0, 0.5]))
    settled(studio)
    path = studio.world.motion("ann").root[:, :2]
    assert np.linalg.norm(path[-1] - [0.0, -2.0]) < 0.1
    assert np.abs(path - [0.0, -1.0]).max(axis=1).min() > 0.25  # out of the post
    studio.drags.move("post", transform([0.0, -2.0, 0.5]))
    settled(studio)
    assert "no room to stand" in studio.said[1]


def test_a_walk_is_proposed_ahead_of_a_rig_whose_root_is_not_its_pelvis() -> None:
    body = rooted("ground")
    still = at_ease(body)
    q = np.array(still.rotations)
    q[:, 1] = multiply(about(UP, np.pi), q[:, 1])  # a recording that turns the pelvis and leaves the root
    world = World(floor=0.0).with_character("ann", still.with_(rotations=q))
    at = point_for(SimpleNamespace(world=world, player=SimpleNamespace(time=0.0)), "go", {"who": "ann"})
    stands = still.with_(rotations=q).world()[0, body.role("pelvis"), :2, 3]
    np.testing.assert_allclose(np.array(at[:2]) - stands, [0.0, 1.0], atol=0.05)
