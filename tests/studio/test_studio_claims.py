"""What the studio says of a motion is true at any moment, and what was undone is what was there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from studio_makers import planned_studio, restore, settled, studio_of, umbrella

from elbowroom.files.npz import read_played_npz
from elbowroom.geometry.transforms import transform
from elbowroom.plan.state.result import Plan
from elbowroom.studio import filing
from elbowroom.studio.document import new_document
from elbowroom.studio.exporting import export
from elbowroom.studio.page_status import _WAIT, _summary
from elbowroom.studio.studio import Studio
from elbowroom.world.certificate_findings import Unproven
from elbowroom.world.pairs import Pair


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Studio, Plan]]:
    with planned_studio(umbrella(), tmp_path_factory.mktemp("studio")) as (studio, plan):
        yield studio, plan


@pytest.fixture
def studio(made: tuple[Studio, Plan]) -> Iterator[Studio]:
    """The umbrella as it was planned."""
    studio, plan = made
    yield studio
    restore(studio, plan)


def test_what_was_proven_before_a_thing_was_moved_is_no_proof_after_it(studio: Studio) -> None:
    assert studio.certified
    claims: list[bool] = []
    studio.listen(lambda topic: claims.append(studio.certified) if topic == "document" else None)
    with studio.lock:
        studio.place("post", studio.places["post"].T @ transform([0.05, 0.1, 0.0]))
        assert claims and not any(claims) and not studio.certified
        studio.cancel()
    settled(studio)
    assert not studio.certified, "it is claimed for where the post is no longer"
    studio.undo()
    settled(studio)
    assert studio.certified


def test_the_proof_after_a_drag_is_of_the_place_that_is_written(studio: Studio) -> None:
    studio.place("post", studio.places["post"].T @ transform([0.05004, 0.10003, 0.0]))
    settled(studio)
    assert studio.certified
    written = studio.document.board().world.static["post"].vertices
    assert np.abs(studio.world.static["post"].vertices - written).max() < 1e-9


def test_a_motion_that_is_free_but_not_proven_is_told_so_and_never_as_certified(studio: Studio) -> None:
    assert studio.plan is not None and studio.plan.certificate is not None
    line = _summary(studio)
    assert line[1].startswith("Certified collision-free; minimum clearance") and studio.verdict == "certified"
    proof = studio.plan.certificate
    near = (Unproven(Pair("umbrella", "post"), (1.0, 1.1)),)
    for unproven in (replace(proof, free=False, continuous=False, unproven=near), replace(proof, continuous=False)):
        studio.set_plan(studio.plan.with_(certificate=unproven))
        assert studio.verdict == "free" and not studio.certified
    assert _summary(studio) == (_WAIT, line[1].replace("Certified collision-free", "No collision found, not proven"))
    export(studio, ["NPZ"], "out").finished.wait(60.0)
    assert studio.said == ("plain", "Exported out.npz. No collision was found, but the motion is not proven.")
    studio.place("post", studio.places["post"].T @ transform([0.0, 0.05, 0.0]))
    while studio.live:
        time.sleep(0.005)
    studio.cancel()  # measuring, which proves all of it anew
    assert studio.verdict == "free", "what was not proven before a drag is not proven by a difference from it"


def test_files_are_said_to_be_certified_only_where_they_play_what_was_proven(studio: Studio) -> None:
    for number in range(2):
        assert studio.certified
        export(studio, ["NPZ", "GLB"], f"out{number}").finished.wait(60.0)
        assert studio.said == ("good", f"Exported out{number}.npz, out{number}.glb.")
        studio.place("post", studio.places["post"].T @ transform([0.0, 0.05, 0.0]))  # and once more after a drag
        settled(studio)
        proof = read_played_npz(studio.folders.work / f"out{number}.npz")[1]
        assert proof.status == "proven" and proof.facts["seed"] == studio.document.seed
    assert studio.plan is not None and studio.plan.certificate is not None
    studio.set_plan(studio.plan.with_(certificate=replace(studio.plan.certificate, digest="other frames")))
    export(studio, ["NPZ"], "other").finished.wait(60.0)
    assert "The certificate does not cover the frames that were written" in studio.said[1]
    assert read_played_npz(studio.folders.work / "other.npz")[1].status == "unchecked"


def test_nobody_is_never_certified(tmp_path: Path) -> None:
    with studio_of(new_document(tmp_path), tmp_path) as studio:
        studio.replan()
        settled(studio)
        assert _summary(studio)[1] == "No characters: nothing to certify"


def test_undo_after_save_as_stays_in_the_file(tmp_path: Path) -> None:
    with studio_of(umbrella(), tmp_path) as studio:
        _check_undo_after_save_as(studio)


def _check_undo_after_save_as(studio: Studio) -> None:
    first = studio.document
    studio.edit("seed 1", first.with_(seed=1), replan=False)
    filing.save(studio, "mine.yaml")
    studio.edit("seed 2", studio.document.with_(seed=2), replan=False)
    for seed in (1, 0):
        studio.undo()
        assert (studio.document.name, studio.document.seed, studio.document.given) == ("mine", seed, False)
        assert studio.session.unsaved == (seed != 1)
    assert studio.document.values == first.values
    studio.redo()
    assert not studio.session.unsaved and studio.document.seed == 1
    studio.redo()
    assert studio.document.seed == 2
    studio.cancel()


def test_a_motion_is_not_known_of_a_file_that_has_changed(tmp_path: Path) -> None:
    """What was proven of another shape of the same name says nothing of this one, nor is that one to be seen."""

    def write(height: float) -> None:
        corners = [f"v {x} {y} {z}" for x in (2.0, 2.5) for y in (0.0, 0.5) for z in (0.0, height)]
        sides = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
        (tmp_path / "work" / "box.obj").write_text("\n".join([*corners, *(f"f {side}" for side in sides), ""]))

    (tmp_path / "work").mkdir()
    write(0.4)
    document = new_document(tmp_path / "work")
    source = {"file": "box.obj", "units": 1.0, "up": "Z"}
    with studio_of(document.with_values({**document.values, "scene": {"meshes": [source]}}), tmp_path) as studio:
        studio.replan()
        settled(studio)
        studio.edit("seed 1", studio.document.with_(seed=1))
        settled(studio)
        proven, scenes = studio.plan, list[str]()
        studio.listen(lambda topic: scenes.append(topic) if topic == "scene" else None)
        write(0.7)
        studio.undo()
        settled(studio)
        assert np.ptp(studio.world.static["box"].vertices[:, 2]) == pytest.approx(0.7) and scenes == ["scene"]
        studio.redo()
        settled(studio)
        assert studio.plan is not proven and np.ptp(studio.world.static["box"].vertices[:, 2]) == pytest.approx(0.7)
        known = studio.plan
        studio.undo()
        studio.redo()
        assert studio.plan is known and scenes == ["scene"]  # nothing has changed since
