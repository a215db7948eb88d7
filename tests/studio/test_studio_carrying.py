"""Drags of the start and of the goal of a move: the object and the whole body that holds it follow the mouse."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from studio_makers import planned_studio, restore, settled

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.plan.state.result import Plan
from elbowroom.studio.document import Document
from elbowroom.studio.places import target_name
from elbowroom.studio.studio import Studio
from elbowroom.world.world import World

GOAL = target_name(0)
SCENE = {
    "elbowroom": 1,
    "fps": 30,
    "scene": {"floor": 0.0, "meshes": [{"box": [1.4, 0.5, 0.03], "name": "table", "at": [0.0, -0.68, 0.7345]}]},
    "objects": {"crate": {"mesh": {"box": [0.36, 0.26, 0.22]}, "at": [-0.15, -0.6, 0.8605], "mass": 4}},
    "characters": {"ann": {"body": {"preset": "woman"}, "clip": {"idle": {"seconds": 1}}}},
    "tasks": [{"move": {"who": "ann", "object": "crate", "to": [0.2, -0.62, 0.8605]}}],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Studio, Plan]]:
    folder = tmp_path_factory.mktemp("studio")
    with planned_studio(Document(SCENE, folder / "work" / "scene.yaml"), folder) as (studio, plan):
        yield studio, plan


@pytest.fixture
def studio(made: tuple[Studio, Plan], monkeypatch: pytest.MonkeyPatch) -> Iterator[Studio]:
    """The room as it was planned; what is let go is not planned."""
    studio, plan = made
    monkeypatch.setattr(
        "elbowroom.studio.studio.plan_storyboard", lambda board, **told: Plan("no-path", board.world, why="barred")
    )
    yield studio
    monkeypatch.undo()
    restore(studio, plan)


def dragged(studio: Studio, name: str, by: Array) -> World:
    """The world that is shown after something is dragged by a vector."""
    studio.drags.move(name, transform(by) @ studio.places[name].T)
    settled(studio)
    return studio.world


def grips(world: World, t: float) -> Array:
    """Where both hands are on the crate, (2, 4, 4)."""
    return np.stack([inverse(world.frame("crate", t)) @ world.hand("ann", hand, t) for hand in ("left", "right")])


def test_the_goal_of_a_move_takes_crate_and_body_along(studio: Studio) -> None:
    before, by = studio.world, np.array([0.1, 0.05, 0.12])
    begin, end = before.holds[0].during
    after = dragged(studio, GOAL, by)
    assert studio.live and not studio.drags.short and studio.player.time == pytest.approx(end)
    np.testing.assert_allclose(after.frame("crate", end)[:3, 3], np.array([0.2, -0.62, 0.8605]) + by, atol=0.003)
    np.testing.assert_allclose(grips(after, end), grips(before, end), atol=0.003)
    half = 0.5 * (begin + end)
    np.testing.assert_allclose(grips(after, half), grips(before, half), atol=0.01)
    body = after.body("ann")
    was, now = (np.stack([w.at(t).joints["ann"][:, :3, 3] for t in (0.0, half, end)]) for w in (before, after))
    feet = [body.role(f"{side}_foot") for side in ("left", "right")]
    assert np.abs(now[:, feet] - was[:, feet]).max() < 0.002
    assert np.abs(now[0] - was[0]).max() < 1e-9 and np.abs(now[2] - was[2]).max() > 0.05
    document = studio.document
    studio.drags.let_go()
    settled(studio)
    assert studio.document is not document and "barred" in studio.said[1]


def test_the_crate_that_is_to_be_taken_takes_the_hands_along(studio: Studio) -> None:
    before, by = studio.world, np.array([-0.08, 0.02, 0.0])
    begin, end = before.holds[0].during
    after = dragged(studio, "crate", by)
    assert not studio.drags.short
    np.testing.assert_allclose(after.frame("crate", begin)[:3, 3], before.frame("crate", begin)[:3, 3] + by, atol=0.003)
    np.testing.assert_allclose(grips(after, begin), grips(before, begin), atol=0.003)
    np.testing.assert_allclose(after.frame("crate", end)[:3, 3], before.frame("crate", end)[:3, 3], atol=0.003)


def test_a_goal_out_of_reach_is_told_at_once(studio: Studio) -> None:
    dragged(studio, GOAL, np.array([0.0, -1.0, 0.0]))
    assert "ann cannot put crate there" in studio.drags.short
