"""The studio without a page: planning, edits, drags, files, exports."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from studio_makers import settled, studio_of, umbrella

from elbowroom.errors import BadValue
from elbowroom.files.open import open_file
from elbowroom.geometry.transforms import transform
from elbowroom.storyboard.verbs import TaskPart
from elbowroom.studio import edits, filing
from elbowroom.studio.actions import repair_all, to_repair
from elbowroom.studio.exporting import as_command, as_python, export
from elbowroom.studio.page_timeline import bars_of, drawn
from elbowroom.studio.places import target_name
from elbowroom.studio.studio import Studio
from elbowroom.studio.task_forms import (
    EITHER,
    POINT,
    POSE,
    VERBS,
    answers,
    in_words,
    kept_from,
    task_from,
    time_from,
    whats,
    wheres,
    with_pins,
)
from elbowroom.world.certificate import certify


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    with studio_of(umbrella(), tmp_path) as made:
        yield made


@pytest.fixture
def planned(studio: Studio) -> Studio:
    studio.replan()
    settled(studio)
    return studio


def test_who_runs_into_something_is_repaired_at_a_press(studio: Studio) -> None:
    studio.edit("delete task 1", edits.delete_task(studio.document, 0))
    settled(studio)
    assert not studio.certified and to_repair(studio) == ("ann",)  # it is her umbrella that hits the post
    assert "press Repair" in studio.said[1] and "ann." not in studio.said[1]
    repair_all(studio)
    assert edits.tasks_of(studio.document) == [("repair", {"who": "ann"})]
    settled(studio)
    assert studio.certified and to_repair(studio) == ()
    with pytest.raises(BadValue, match="nothing to repair"):
        repair_all(studio)


def test_a_post_is_dragged_and_the_motion_follows(planned: Studio) -> None:
    studio = planned
    assert studio.certified and studio.plan is not None and studio.plan.edits
    first = studio.world
    place = studio.places["post"].T
    lives: list[bool] = []
    studio.listen(lambda topic: lives.append(studio.live) if topic == "motion" else None)
    studio.drags.move("post", place @ transform([0.02, 0.05, 0.0]))
    studio.drags.move("post", place @ transform([0.05, 0.15, 0.0]))
    settled(studio)
    assert studio.live and not studio.certified and lives == [True] * len(lives) and lives
    studio.drags.let_go()
    settled(studio)
    assert studio.certified and not studio.live and studio.world is not first
    assert studio.document.values["scene"]["meshes"][0]["at"] == pytest.approx([-0.57, -2.25, 0.0])
    assert certify(studio.world).free
    # what is shown is the world of the document
    rebuilt = studio.document.board().world.static["post"].vertices
    assert np.abs(studio.world.static["post"].vertices - rebuilt).max() < 1e-3
    studio.undo()
    settled(studio)
    assert studio.document.values["scene"]["meshes"][0]["at"] == [-0.62, -2.4, 0]
    assert np.array_equal(studio.world.motion("ann").rotations, first.motion("ann").rotations)  # type: ignore[attr-defined]


def test_a_way_round_is_looked_for_while_a_thing_rests_and_makes_way_for_the_next_move(planned: Studio) -> None:
    studio, place = planned, planned.places["post"].T
    # where her way begins, so that there is no time to go round
    amid = [place @ transform([0.62, 2.1 + 0.1 * k, 0.0]) for k in range(3)]
    studio.drags.move("post", amid[0])
    looking = None
    for _ in range(2000):
        job = studio.worker.current
        if job is not None and job.what == "searching for a detour" and job.state == "running":
            looking = job
            break
        time.sleep(0.005)
    assert looking is not None and studio.live and studio.plan is not None
    assert studio.plan.status == "partial" and "collides with post at" in studio.plan.why
    for T in (*amid[1:], place):
        studio.drags.move("post", T)
    assert looking.finished.wait(20.0) and looking.state == "cancelled"
    settled(studio)
    assert studio.live and studio.plan.found and studio.drags.followed is place  # of what came the last counts


def test_bars_tell_whose_limb_it_is(planned: Studio) -> None:
    bars = bars_of(planned.plan, planned.original, live=False)
    assert {(b.who, b.limb, b.kind) for b in bars} == {("ann", "right_arm", "before"), ("ann", "right_arm", "planned")}
    text = drawn(bars, planned.player.span, dark=False)
    assert "ann right arm" in text and "collided before" in text and "collides now" not in text
    assert "no collisions" in drawn([], (0.0, 1.0), dark=True)


def test_an_edit_that_cannot_be_meant_is_refused_in_one_sentence(studio: Studio) -> None:
    bad = edits.add_task(studio.document, "grab", {"who": "ann", "object": "umbrela"})
    assert not studio.trying(lambda: studio.edit("bad", bad))
    tone, text = studio.said
    assert tone == "bad" and text.startswith("Task 2") and "did you mean 'umbrella'" in text and text.count("\n") == 0
    assert str(studio.document.path) not in text and not studio.session.unsaved


def test_planning_is_cancelled(studio: Studio) -> None:
    studio.replan()
    while studio.worker.current is None or studio.worker.current.state != "running":
        time.sleep(0.001)
    time.sleep(0.1)
    studio.cancel()
    settled(studio, 10.0)
    assert studio.plan is None and studio.said == ("plain", "Cancelled.")
    studio.replan()
    settled(studio)
    assert studio.certified


def test_saved_documents_are_opened_again(planned: Studio) -> None:
    studio = planned
    studio.edit("seed", studio.document.with_(seed=3))
    filing.save(studio, "mine.yaml")
    assert not studio.session.unsaved and studio.folders.files("storyboard") == ["mine.yaml"]
    assert filing.open_choice(studio, filing.NEW).finished.wait(20.0)
    assert not studio.original.characters
    assert filing.open_choice(studio, "mine.yaml").finished.wait(20.0)
    assert studio.document.name == "mine" and "post" in studio.places
    for name in ("mine.txt", "../mine.yaml", "none/mine.yaml"):
        assert not studio.trying(lambda name=name: filing.save(studio, name))
    assert filing.open_choice(studio, "gallery: jar").finished.wait(20.0)
    assert "jar" in studio.places and studio.document.given
    studio.cancel()


def test_a_storyboard_that_names_files_elsewhere_is_refused(studio: Studio) -> None:
    path = studio.folders.work / "bad.yaml"
    path.write_text("elbowroom: 1\nobjects: {a: {mesh: ../../../etc/passwd.obj, at: [0, 0, 0]}}\n")
    assert not studio.trying(lambda: filing.open_choice(studio, "bad.yaml"))
    assert "may not read" in studio.said[1] and studio.document.name == "umbrella"


def test_exports_are_written_together_or_not_at_all(planned: Studio) -> None:
    studio = planned
    job = export(studio, ["GLB", "NPZ", "BVH"], "out")
    assert job.finished.wait(60.0) and job.state == "done" and job.progress == 1.0
    assert sorted(p.name for p in studio.folders.work.iterdir()) == ["out.bvh", "out.glb", "out.npz"]
    assert open_file(studio.folders.work / "out.glb").clips
    assert studio.said[0] == "good" and "out.glb, out.npz, out.bvh" in studio.said[1]
    job = export(studio, ["GLB", "MP4"], "film")
    while job.step != "film.mp4" or not job.progress or job.progress <= 0.5:
        assert job.state in ("waiting", "running"), studio.said
        time.sleep(0.005)
    studio.cancel()
    assert job.finished.wait(20.0) and job.state == "cancelled"
    assert not [p for p in studio.folders.work.iterdir() if "film" in p.name]
    for formats, stem in (([], "x"), (["GLB"], " "), (["GLB"], "../x")):
        with pytest.raises(BadValue):
            export(studio, formats, stem)


def test_forms_give_tasks_that_a_storyboard_can_mean(studio: Studio) -> None:
    assert filing.open_choice(studio, "gallery: drawer").finished.wait(20.0)
    studio.cancel()
    world = studio.original
    (who,) = world.characters
    for verb, asked in VERBS.items():
        what, where = whats(verb, world), wheres(verb, world, who)
        if verb in ("handover", "follow"):
            assert not where  # there is nobody else
            continue
        assert bool(what) == bool(asked.what) and bool(where) == bool(asked.where)
        given = {"who": who, "hand": "left", "what": "".join(what[:1]), "where": "".join(where[:1]), "time": "1.5"}
        told = task_from(studio, verb, given, {})
        TaskPart.model_validate({verb: told})
        again = answers(verb, told)
        assert again["who"] == who and again["what"] == given["what"]
        assert again["where"] == (POINT if where else "") and (not asked.timed or again["time"] == "1.5")
        assert in_words(verb, told).startswith(f"{who}: {verb}")
    told = task_from(studio, "touch", {"who": who, "hand": EITHER, "what": "", "where": POINT, "time": ""}, {})
    assert "hand" not in told and "at" not in told and len(told["target"]) == 3
    with pytest.raises(BadValue, match="number of seconds"):
        time_from("soon")


def test_a_repair_is_asked_to_keep_limbs_and_to_stay_near(studio: Studio) -> None:
    given = {"who": "ann", "hand": EITHER, "what": "", "where": "", "time": ""}
    bound = {**given, "keep": "right_arm, left_arm 1.2-2.5", "aside": "0.2 m"}
    told = task_from(studio, "repair", bound, {})
    assert told == {"who": "ann", "keep": ["right_arm", {"limb": "left_arm", "during": [1.2, 2.5]}], "aside": 0.2}
    TaskPart.model_validate({"repair": told})
    assert answers("repair", told)["keep"] == bound["keep"] and answers("repair", told)["aside"] == "0.2"
    assert task_from(studio, "repair", given, told) == {"who": "ann"}
    with pytest.raises(BadValue, match="has no end"):
        task_from(studio, "repair", {**given, "keep": "left_arm 1.2"}, {})


def test_limbs_and_poses_are_pinned_at_the_time_shown_or_between_in_and_out(studio: Studio) -> None:
    studio.player.seek(1.0)
    assert with_pins("right_arm", "left_arm", studio, "ann") == "right_arm, left_arm 1.00-1.00"
    studio.player.mark("in")
    studio.player.seek(1.5)
    studio.player.mark("out")
    kept = kept_from(with_pins("", POSE, studio, "ann"))
    assert [one["limb"] for one in kept] == list(studio.original.body("ann").chains)
    assert all(one["during"] == [1.0, 1.5] for one in kept)


def test_a_target_is_dragged_and_the_task_follows(studio: Studio) -> None:
    studio.edit(
        "task",
        edits.add_task(studio.document, "reach", {"who": "ann", "hand": "left", "to": [0.3, -2.0, 1.2], "at": 1.5}),
    )
    name = target_name(1)
    studio.select(name)
    studio.drags.move(name, transform([0.35, -1.9, 1.25]))
    studio.drags.let_go()
    assert edits.tasks_of(studio.document)[1][1]["to"] == [0.35, -1.9, 1.25]
    studio.cancel()


def test_the_same_in_words(studio: Studio) -> None:
    assert as_command(studio.document, "a b") == "elbowroom run umbrella.yaml -o 'a b.glb' --seed 0"
    python = as_python(studio.document.with_(seed=2, tier="plan"), "out")
    compile(python, "copied", "exec")
    assert 'plan_storyboard(board, seed=2, tier="plan")' in python


def test_a_move_is_asked_for_and_its_goal_is_dragged(studio: Studio) -> None:
    assert filing.open_choice(studio, "gallery: clown-box").finished.wait(20.0)
    studio.cancel()
    given = {"who": "clown", "hand": EITHER, "what": "box", "where": POINT, "time": "1.5"}
    told = task_from(studio, "move", given, {})
    assert "at" not in told and "hands" not in told and len(told["to"]) == 3
    assert task_from(studio, "move", {**given, "hand": "left"}, {})["hands"] == "left"
    name = target_name(0)
    studio.select(name)
    studio.drags.move(name, transform([0.3, -0.7, 1.62]))
    studio.drags.let_go()
    assert edits.tasks_of(studio.document)[0][1]["to"] == [0.3, -0.7, 1.62]
    studio.cancel()
