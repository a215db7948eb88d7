"""Documents, edits, undo, and unsaved work that outlives a crash."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbowroom.errors import BadValue, ElbowroomError
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.transforms import transform
from elbowroom.studio import edits
from elbowroom.studio.autosave import Autosave
from elbowroom.studio.document import Document, from_json, named_files, new_document, read_document
from elbowroom.studio.places import moved_world, places_of, target_name, with_place
from elbowroom.studio.session import Session
from elbowroom.tasks.storyboard_things import quaternion


def gallery(name: str) -> Document:
    return read_document(scenario(name).path, given=True)


@pytest.mark.parametrize("name", ["umbrella", "drawer", "jar"])
def test_a_document_says_the_same_as_its_file(name: str) -> None:
    document, board = gallery(name), scenario(name).board()
    again = document.board()
    assert again.tasks == board.tasks
    assert again.world.static.keys() == board.world.static.keys()
    t = 0.5 * sum(board.world.span)
    ours, theirs = again.world.record([t]), board.world.record([t])
    assert all(np.array_equal(ours.joints[n], theirs.joints[n]) for n in theirs.joints)
    assert all(np.array_equal(ours.things[n], theirs.things[n]) for n in theirs.things)


def test_tasks_are_added_changed_moved_and_deleted() -> None:
    one = edits.add_task(gallery("jar"), "touch", {"who": "ann", "target": [0.1, 0.0, 1.0]})
    verbs = lambda d: [verb for verb, _ in edits.tasks_of(d)]  # noqa: E731
    assert verbs(one) == ["grab", "put", "rest", "touch"]
    assert verbs(edits.move_task(one, 3, -1)) == ["grab", "put", "touch", "rest"]
    assert verbs(edits.delete_task(one, 0)) == ["put", "rest", "touch"]
    changed = edits.change_task(one, 3, "touch", {"who": "ann", "target": "jar", "hand": None})
    assert edits.tasks_of(changed)[3] == ("touch", {"who": "ann", "target": "jar"})
    assert verbs(gallery("jar")) == ["grab", "put", "rest"]
    with pytest.raises(BadValue, match="no task 9"):
        edits.delete_task(one, 8)


def test_what_is_deleted_takes_along_what_speaks_of_it() -> None:
    document = edits.delete(gallery("umbrella"), "umbrella")
    assert "objects" not in document.values and document.values["holds"] == []
    assert document.board().tasks
    alone = edits.delete(gallery("jar"), "ann")
    assert alone.values["tasks"] == [] and not alone.board().world.characters


def test_what_is_renamed_is_renamed_everywhere() -> None:
    document = edits.rename(gallery("jar"), "jar", "pot")
    assert "pot" in document.board().world.objects
    assert [told["object"] for _, told in edits.tasks_of(document)[:2]] == ["pot", "pot"]
    with pytest.raises(BadValue, match="something else"):
        edits.rename(document, "pot", "ann")
    assert edits.free_name(document, "pot") == "pot_2"


@pytest.mark.parametrize(
    ("scene", "name"), [("umbrella", "post"), ("jar", "jar"), ("jar", "bowl"), ("drawer", "chest")]
)
def test_a_thing_moved_in_the_world_is_where_the_document_has_it(scene: str, name: str) -> None:
    document = gallery(scene)
    board = document.board()
    if name not in places_of(document, board):
        pytest.fail(f"there is no {name} in {scene}")
    T = places_of(document, board)[name].T @ transform([0.1234, -0.05, 0.02], quaternion([10.0, -20.0, 35.0]))
    after = with_place(document, board, name, T)
    rebuilt = after.board()
    fast = moved_world(document, board, name, T)
    t = board.world.span[0]
    if name in fast.static:
        assert np.abs(fast.static[name].vertices - rebuilt.world.static[name].vertices).max() < 5e-4
    else:
        assert np.abs(fast.things[name].path(t) - rebuilt.world.things[name].path(t)).max() < 5e-4
    assert np.abs(places_of(after, rebuilt)[name].T - T).max() < 5e-4


def test_people_and_targets_are_moved() -> None:
    document = edits.add_task(gallery("umbrella"), "touch", {"who": "ann", "target": [0.1, 0.2, 1.0]})
    board = document.board()
    after = with_place(document, board, "ann", transform([1.0, 0.5, 0.0], quaternion(90.0)))
    assert after.values["characters"]["ann"]["at"] == [1.0, 0.5] and after.values["characters"]["ann"]["turn"] == 90.0
    moved = with_place(document, board, target_name(1), transform([0.3, 0.2, 1.1]))
    assert edits.tasks_of(moved)[1][1]["target"] == [0.3, 0.2, 1.1]
    with pytest.raises(ElbowroomError, match="umbrella"):  # it is held, and has no place of its own
        with_place(document, board, "umbrella", np.eye(4))
    with pytest.raises(BadValue, match="finite"):
        with_place(document, board, "post", np.full((4, 4), np.nan))


def test_undo_and_redo() -> None:
    first = gallery("umbrella")
    session = Session(first)
    second = first.with_(seed=4)
    session.do("seed 4", second)
    session.do("nothing", second)
    assert session.unsaved and session.can_undo == "seed 4"
    assert session.undo() == "seed 4" and session.document is first and not session.unsaved
    assert session.redo() == "seed 4" and session.document is second
    session.undo()
    session.do("seed 5", first.with_(seed=5))
    assert session.can_redo == "" and session.redo() == "" and session.document.seed == 5


def test_unsaved_work_is_found_by_the_next_studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    autosave = Autosave(tmp_path)
    session = Session(gallery("umbrella"), autosave)
    session.do("seed 9", session.document.with_(seed=9))
    monkeypatch.setattr("elbowroom.studio.autosave._runs", lambda told: False)  # as after a crash
    (kept,) = Autosave(tmp_path).found()
    assert kept.document.same(session.document)
    session.undo()  # nothing is unsaved any more
    assert Autosave(tmp_path).found() == []
    session.redo()
    (tmp_path / "1-2.autosave").write_text("{")  # a file that is none of ours is passed over
    assert [k.document.seed for k in Autosave(tmp_path).found()] == [9]


def test_opening_another_document_sets_unsaved_work_aside(tmp_path: Path) -> None:
    autosave = Autosave(tmp_path)
    session = Session(gallery("umbrella"), autosave)
    session.do("seed 3", session.document.with_(seed=3))
    session.open(new_document(tmp_path))
    assert not session.unsaved
    assert [k.document.seed for k in autosave.found()] == [3]
    autosave.discard(autosave.found()[0])
    assert autosave.found() == []


def test_documents_are_kept_as_text() -> None:
    document = gallery("drawer").with_(seed=7, tier="plan")
    again = from_json(document.kept_text())
    assert again.same(document) and again.source == document.source != ""
    for text in ("", "[]", '{"path": 1}', document.kept_text().replace('\\"plan\\"', '\\"other\\"')):
        with pytest.raises(BadValue, match="kept document"):
            from_json(text)


def test_files_that_a_storyboard_names(tmp_path: Path) -> None:
    values = {
        "scene": {"meshes": [{"file": "a/hall.glb"}, {"maker": "table"}]},
        "objects": {"cup": {"mesh": "cup.obj"}},
        "characters": {"ann": {"body": "ann.glb", "clip": {"file": "walk.glb", "clip": "Walk"}}},
    }
    assert named_files(values) == ["a/hall.glb", "cup.obj", "ann.glb", "walk.glb"]
    moved = Document(values, tmp_path / "one.yaml").moved_to(tmp_path / "deep" / "two.yaml")
    assert named_files(moved.values) == ["../a/hall.glb", "../cup.obj", "../ann.glb", "../walk.glb"]
    assert moved.values["characters"]["ann"]["clip"]["clip"] == "Walk"
