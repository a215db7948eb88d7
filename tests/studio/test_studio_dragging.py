"""Drags of what tasks are about, and of people: hands and people go along at once; planned when they are let go."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from studio_makers import planned_studio, restore, settled

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.plan.state.result import Plan
from elbowroom.stopping import may_stop_here
from elbowroom.studio.document import Document
from elbowroom.studio.edits import rename
from elbowroom.studio.page import opened
from elbowroom.studio.places import target_name
from elbowroom.studio.reaching import Reaching
from elbowroom.studio.studio import Studio
from elbowroom.studio.task_targets import targets_about, targets_in
from elbowroom.world.certificate import certify
from elbowroom.world.world import World

SCENE = {
    "elbowroom": 1,
    "fps": 30,
    "scene": {"floor": 0.0, "meshes": [{"maker": "counter", "name": "counter", "at": [0.0, 0.05, 0.0]}]},
    "objects": {"jar": {"mesh": {"maker": "jar"}, "at": [0.15, -0.06, 0.9003]}},
    "fixtures": {
        "button": {
            "mesh": {"maker": "switch_button"},
            "at": [-0.3, -0.02, 1.12],
            "slides": {"axis": [0, 1, 0], "range": [0, 0.006]},
            "handle": {"at": [0, -0.012, 0], "turn": -90},
        }
    },
    "characters": {
        "ann": {"body": {"preset": "woman"}, "clip": {"idle": {"seconds": 8}}, "at": [0.03, -0.5], "turn": 180}
    },
    "tasks": [
        {"grab": {"who": "ann", "object": "jar", "hand": "right"}},
        {"put": {"who": "ann", "object": "jar", "to": [0.25, -0.15, 0.9003]}},
        {"rest": {"who": "ann"}},
        {"press": {"who": "ann", "fixture": "button", "hand": "left"}},
        {"rest": {"who": "ann"}},
    ],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Studio, Plan]]:
    folder = tmp_path_factory.mktemp("studio")
    with planned_studio(Document(SCENE, folder / "work" / "scene.yaml"), folder) as (studio, plan):
        yield studio, plan


@pytest.fixture
def studio(made: tuple[Studio, Plan], monkeypatch: pytest.MonkeyPatch) -> Iterator[Studio]:
    """The kitchen as it was planned."""
    studio, plan = made
    yield studio
    monkeypatch.undo()
    restore(studio, plan)


@pytest.fixture
def barred(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Plans are waited for until this is set, and then are none."""
    opened = threading.Event()

    def plan_storyboard(board: object, **told: object) -> Plan:
        while not opened.wait(0.01):
            may_stop_here()
        return Plan("no-path", board.world, why="the way is barred")  # type: ignore[attr-defined]

    monkeypatch.setattr("elbowroom.studio.studio.plan_storyboard", plan_storyboard)
    return opened


@pytest.fixture
def gate(barred: threading.Event, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The same, and no motion that followed the drag is kept."""
    monkeypatch.setattr(Reaching, "kept", lambda drag, T, shown: None)
    return barred


def hand_at(world: World, hand: str, t: float) -> Array:
    return world.hand("ann", hand, t)


def moved(studio: Studio, name: str, by: Array) -> Array:
    """Drag something by a vector of the world; where it is then."""
    T = transform(by) @ studio.places[name].T
    studio.drags.move(name, T)
    settled(studio)
    return T


def test_times_of_tasks_are_found_in_the_motion(studio: Studio) -> None:
    plan = studio.plan
    assert plan is not None
    grab, put, press = targets_in(studio.document, plan)
    (hold,) = plan.world.holds
    assert (grab.hand, grab.at) == ("right", hold.during[0]) and (put.hand, put.at) == ("right", hold.during[1])
    assert press.hand == "left" and press.at is not None and put.at is not None and press.at > put.at
    for target in (grab, put, press):
        assert target.at is not None and target.during[0] < target.at <= target.stays < target.during[1]
    # where the jar stands matters up to when it is taken away, the counter to nobody
    about = {n: [e.verb for e in targets_about(studio.document, plan, n)] for n in ("jar", "counter", "ann", "button")}
    assert about == {"jar": ["grab"], "counter": [], "ann": ["grab", "put", "press"], "button": ["press"]}
    bare = targets_in(studio.document, None)
    assert [e.hand for e in bare] == [None] * 3 and bare[0].at is None


def test_a_hand_follows_what_it_takes(studio: Studio, gate: threading.Event) -> None:
    before = studio.world
    t = before.holds[0].during[0]
    grip = np.linalg.inv(before.frame("jar", t)) @ hand_at(before, "right", t)
    studio.player.play()
    T = moved(studio, "jar", np.array([0.08, 0.03, 0.0]))
    assert studio.player.time == t and not studio.player.playing  # it is seen when it is done
    assert studio.live and not studio.certified and studio.said[1] == ""
    np.testing.assert_allclose(hand_at(studio.world, "right", t), T @ grip, atol=1e-6)
    np.testing.assert_allclose(studio.world.frame("jar", t), T, atol=1e-9)
    far = studio.world.motion("ann")(7.5).rotations
    assert np.array_equal(far, before.motion("ann")(7.5).rotations)  # what comes later stays
    # feet stay on the ground
    feet = [before.body("ann").roles[f"{side}_foot"] for side in ("left", "right")]
    apart = studio.world.at(t).joints["ann"][feet, :3, 3] - before.at(t).joints["ann"][feet, :3, 3]
    assert np.abs(apart).max() < 0.01
    # let go, it stays so while it is planned
    shown = studio.world
    studio.drags.let_go()
    job = studio.worker.current
    assert job is not None and job.what == "planning" and studio.live and not studio.certified
    assert np.allclose(studio.world.motion("ann")(t).rotations, shown.motion("ann")(t).rotations, atol=1e-9)
    assert studio.document.values["objects"]["jar"]["at"] == pytest.approx([0.23, -0.03, 0.9003])
    gate.set()
    settled(studio)
    assert studio.said == ("bad", "the way is barred: move the obstacle, or use the other hand.")


def test_a_motion_that_went_along_is_proven_and_kept(studio: Studio, barred: threading.Event) -> None:
    before, t = studio.world, studio.world.holds[0].during[0]
    moved(studio, "jar", np.array([0.01, -0.01, 0.0]))
    studio.drags.let_go()
    settled(studio)  # nothing is planned, or this would wait for ever
    assert studio.certified and not studio.live and certify(studio.world).free
    assert "followed the drag" in studio.said[1]
    again = studio.document.board().world
    assert np.allclose(studio.world.objects["jar"].path(0.0), again.objects["jar"].path(0.0), atol=1e-12)
    assert np.allclose(studio.world.frame("jar", t), again.frame("jar", t), atol=1e-9)
    end = before.holds[0].during[1]  # and it is put where it was to be put
    assert np.allclose(studio.world.frame("jar", end + 1.0)[:3, 3], [0.25, -0.15, 0.9003], atol=1e-6)
    studio.undo()
    assert studio.certified and studio.world is before
    # turned, it is planned: it would be put down otherwise
    T = studio.places["jar"].T @ transform([0.0, 0.0, 0.0], [0.9962, 0.0, 0.0, 0.0872])
    studio.drags.move("jar", T)
    studio.drags.let_go()
    time.sleep(0.3)
    assert studio.worker.busy and not studio.certified


def test_out_of_reach_is_told_at_once(studio: Studio, gate: threading.Event) -> None:
    moved(studio, "jar", np.array([0.0, 1.5, 0.0]))
    assert studio.said == ("bad", "ann cannot reach jar there: too far.")
    t = studio.player.time
    assert np.linalg.norm(hand_at(studio.world, "right", t)[:3, 3] - [0.15, 1.44, 0.95]) > 0.3
    np.testing.assert_allclose(studio.world.frame("jar", t)[:3, 3], [0.15, 1.44, 0.9003], atol=1e-9)
    moved(studio, "jar", np.array([0.02, 0.0, 0.0]))
    assert studio.said[1] == ""
    # dropped out of reach and taken again, the hand is brought to it anew
    moved(studio, "jar", np.array([0.0, 1.5, 0.0]))
    studio.drags.let_go()
    T = moved(studio, "jar", np.array([0.0, -1.48, 0.0]))
    assert studio.said[1] == "" and studio.live
    assert np.linalg.norm(hand_at(studio.world, "right", t)[:3, 3] - T[:3, 3]) < 0.2


def test_fixtures_and_targets_are_followed(studio: Studio, gate: threading.Event) -> None:
    before = studio.world
    _, put, press = targets_in(studio.document, studio.plan)
    by = np.array([0.05, -0.04, 0.1])
    for name, target in (("button", press), (target_name(1), put)):
        hand, t = str(target.hand), target.at
        assert t is not None
        T = moved(studio, name, by)
        wanted = transform(by) @ hand_at(before, hand, t)
        np.testing.assert_allclose(hand_at(studio.world, hand, t), wanted, atol=1e-6)
        assert studio.player.time == pytest.approx(t)
        if name == "button":
            np.testing.assert_allclose(studio.world.frame("button", 0.0), T, atol=1e-9)
        studio.drags.move(name, studio.places[name].T)  # back where it was: no edit, and what was there is there again
        studio.drags.let_go()
        settled(studio)
        assert studio.certified and not studio.session.can_undo and studio.world is before


def test_a_person_goes_along_with_all_that_she_does(studio: Studio, gate: threading.Event) -> None:
    before, t = studio.world, studio.world.holds[0].during[0]
    studio.player.seek(0.5)
    place = studio.places["ann"].T
    studio.drags.move("ann", transform([-0.1, 0.0, 0.0]) @ place @ transform([0, 0, 0], [0.9962, 0.0, 0.0, 0.0872]))
    settled(studio)
    assert studio.live and studio.player.time == 0.5
    was, now = (w.at(0.0).joints["ann"] for w in (before, studio.world))
    D = now[0] @ np.linalg.inv(was[0])
    np.testing.assert_allclose(now, D @ was, atol=1e-6)  # as a whole
    assert abs(np.arctan2(D[1, 0], D[0, 0]) - np.radians(10.0)) < 1e-3
    # and still takes the jar from where it stands
    np.testing.assert_allclose(hand_at(studio.world, "right", t), hand_at(before, "right", t), atol=1e-6)
    moved(studio, "ann", np.array([0.0, 0.6, 0.0]))
    assert studio.said == ("bad", "ann would collide with counter at 0.00 s.")


def test_a_cancelled_plan_leaves_what_was_shown(studio: Studio, gate: threading.Event) -> None:
    moved(studio, "jar", np.array([0.05, 0.0, 0.0]))
    studio.drags.let_go()
    shown = studio.world
    studio.cancel()
    settled(studio)
    assert studio.live and not studio.certified and studio.world is shown and "not planned yet" in studio.said[1]
    assert studio.document.values["objects"]["jar"]["at"][0] == pytest.approx(0.2)
    # what is merely in the way cannot be proven round a motion that is not planned: all of it is planned then
    studio.drags.move("counter", transform([0.0, 0.01, 0.0]) @ studio.places["counter"].T)
    settled(studio)
    assert studio.live
    studio.drags.let_go()
    job = studio.worker.current
    assert job is not None and job.what == "planning"


def test_drags_in_quick_succession_lose_nothing(studio: Studio, gate: threading.Event) -> None:
    first = studio.plan
    moved(studio, "jar", np.array([0.05, 0.0, 0.0]))
    t = studio.player.time
    # the next thing is dragged although the first was never let go
    moved(studio, "button", np.array([0.0, 0.0, 0.1]))
    studio.drags.let_go()
    assert [studio.session.can_undo, studio.drags.current] == ["move button", None]
    np.testing.assert_allclose(studio.world.frame("jar", t)[:3, 3], [0.2, -0.06, 0.9003], atol=1e-6)
    np.testing.assert_allclose(studio.world.frame("button", 0.0)[:3, 3], [-0.3, -0.02, 1.22], atol=1e-6)
    studio.undo()
    assert studio.session.can_undo == "move jar" and studio.session.can_redo == "move button"
    studio.undo()
    settled(studio)
    assert studio.plan is first and studio.certified and not studio.session.can_undo
    studio.redo()
    assert studio.document.values["objects"]["jar"]["at"][0] == pytest.approx(0.2)


def test_other_edits_amid_a_drag(studio: Studio, gate: threading.Event) -> None:
    moved(studio, "jar", np.array([0.05, 0.0, 0.0]))
    studio.drags.let_go()
    moved(studio, "jar", np.array([0.05, 0.0, 0.0]))
    studio.undo()  # while it is held: the drag is no more
    assert studio.drags.current is None and studio.document.values["objects"]["jar"]["at"][0] == 0.15
    studio.drags.let_go()
    assert not studio.session.can_undo
    moved(studio, "jar", np.array([0.05, 0.0, 0.0]))
    studio.select("button")  # nothing tells the end of a drag whose handle is gone
    assert studio.drags.current is None and studio.session.can_undo == "move jar"
    with pytest.raises(BadValue, match="finite"):
        studio.drags.move("jar", np.full((4, 4), np.nan))
    assert studio.drags.current is None


def test_a_moment_is_shown_while_somebody_goes_from_the_scene(tmp_path: Path) -> None:
    page = opened("umbrella", port=0, folder=tmp_path, state=tmp_path)
    try:
        studio = page.studio
        studio.worker.cancel()
        # another thread plays on between an edit and the scene that is built for it
        studio.plan, studio.board = None, rename(studio.document, "ann", "eve").board()
        studio.player.seek(0.5)
        assert studio.player.time == 0.5 and "eve" in studio.world.characters
    finally:
        page.close()
