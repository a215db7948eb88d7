"""Documents, edits, undo, and unsaved work that outlives a crash."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbowroom.errors import BadFile, BadValue, ElbowroomError
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.transforms import transform
from elbowroom.storyboard.things import quaternion
from elbowroom.storyboard.yaml_lines import parse_yaml
from elbowroom.studio import edits
from elbowroom.studio.document import Document, from_json, named_files, new_document, read_document
from elbowroom.studio.places import deleted, moved_world, places_of, target_name, with_place
from elbowroom.studio.rewriting import rewritten
from elbowroom.studio.session import Autosave, Session


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
    with pytest.raises(BadValue, match="already in use"):
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


def box_as_obj(name: str, low: tuple[float, float, float], size: float, first: int) -> str:
    steps = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    corners = np.array(low) + size * np.array(steps)
    sides = ((1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4))
    rows = [f"o {name}", *(f"v {x} {y} {z}" for x, y, z in corners)]
    return "\n".join(rows + ["f " + " ".join(str(first + k) for k in side) for side in sides]) + "\n"


def scene_file(folder: Path, apart: float) -> Document:
    """A storyboard with a file of two boxes, so many metres apart."""
    text = box_as_obj("chest", (1.0, 2.0, 0.0), 0.5, 0) + box_as_obj("stool", (1.0 + apart, 2.0, 0.0), 0.4, 8)
    (folder / "room.obj").write_text(text)
    mesh = {"file": "room.obj", "name": "room", "units": 1.0, "up": "Z", "at": [0.0, 1.0, 0.0], "turn": 90.0}
    return Document({"elbowroom": 1, "scene": {"floor": 0.0, "meshes": [mesh]}}, folder / "room.yaml")


def test_a_part_of_a_place_is_held_moved_and_taken_away_by_itself(tmp_path: Path) -> None:
    document = scene_file(tmp_path, 6.0)
    board = document.board()
    places = places_of(document, board)
    chest, before = places["room.chest"], board.world.static
    assert next(iter(places)) == "room" and {*places} == {"room", "room.chest", "room.stool"}
    low, high = before["room.chest"].bounds
    assert np.allclose(chest.handle[:3, 3], [*(0.5 * (low + high))[:2], low[2]], atol=1e-3)  # not at the file's origin
    T = chest.held_at(transform([0.0, 0.5, 0.1], quaternion(20.0)) @ chest.handle)
    after = with_place(document, board, "room.chest", T)
    rebuilt, fast = after.board(), moved_world(document, board, "room.chest", T)
    moved = rebuilt.world.static["room.chest"].vertices
    assert np.abs(moved - fast.static["room.chest"].vertices).max() < 2e-3  # written to 0.1 mm and 0.01°
    assert np.abs(moved - before["room.chest"].vertices).max() > 0.4
    assert np.array_equal(rebuilt.world.static["room.stool"].vertices, before["room.stool"].vertices)
    assert np.abs(places_of(after, rebuilt)["room.chest"].T - T).max() < 5e-4 and after.looks == document.looks
    whole = with_place(after, rebuilt, "room", places_of(after, rebuilt)["room"].T @ transform([1.0, 0.0, 0.0])).board()
    for name, mesh in whole.world.static.items():  # all of it goes by (1, 0, 0) of the file, which is turned
        assert np.allclose(mesh.vertices, rebuilt.world.static[name].vertices + [0.0, 1.0, 0.0], atol=1e-6)
    rest = deleted(after, rebuilt, "room.chest")
    assert list(rest.board().world.static) == ["room"]  # a single mesh has the name of its entry
    assert not deleted(document, board, "room").board().world.static


def test_names_of_files_stay_as_they_were_written(tmp_path: Path) -> None:
    document = scene_file(tmp_path, 6.0)
    (tmp_path / "deeper").mkdir()
    assert named_files(document.moved_to(tmp_path / "deeper" / "room.yaml").values) == ["../room.obj"]
    whole = str(tmp_path / "room.obj")
    values = {"elbowroom": 1, "scene": {"meshes": [{"file": whole}]}}
    assert named_files(document.with_values(values).moved_to(tmp_path / "deeper" / "room.yaml").values) == [whole]


def test_parts_of_furniture_go_together(tmp_path: Path) -> None:
    document = scene_file(tmp_path, 0.6)
    board = document.board()
    assert {*places_of(document, board)} == {"room.chest", "room.stool"}
    T = places_of(document, board)["room.chest"].T @ transform([0.3, 0.0, 0.0])
    after = with_place(document, board, "room.chest", T).board().world.static
    assert np.allclose(after["room.stool"].vertices, board.world.static["room.stool"].vertices + [0.0, 0.3, 0.0])
    assert not deleted(document, board, "room.stool").board().world.static


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


def test_unsaved_work_is_found_by_the_next_studio(tmp_path: Path) -> None:
    autosave = Autosave(tmp_path)
    session = Session(gallery("umbrella"), autosave)
    session.do("seed 9", session.document.with_(seed=9))
    other = Autosave(tmp_path)
    assert other.found() == []  # the first one is still at it
    autosave.close()
    (kept,) = other.found()
    assert kept.document.same(session.document) and kept.document.source == session.document.source
    (tmp_path / "1-2.autosave").write_text("{")  # a file that is none of ours is passed over
    assert [k.document.seed for k in other.found()] == [9]
    other.discard(kept)
    assert other.found() == [] and not list(tmp_path.glob(f"{kept.file.stem}*"))


def test_work_outlives_a_studio_that_is_killed(tmp_path: Path) -> None:
    edits_for_ever = (
        "import sys; from pathlib import Path\n"
        "from elbowroom.studio.session import Autosave; from elbowroom.studio.session import Session\n"
        "from elbowroom.studio.document import new_document\n"
        "session = Session(new_document(Path(sys.argv[1])), Autosave(Path(sys.argv[1]) / 'state'))\n"
        "for seed in range(1, 10**9):\n"
        "    session.do('seed', session.document.with_(seed=seed)); print(seed, flush=True)\n"
    )
    command = [sys.executable, "-c", edits_for_ever, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        told = [running.stdout.readline() for _ in range(20)]
        running.kill()
        told += running.stdout.read().splitlines(keepends=True)
    last = int([line for line in told if line.endswith("\n")][-1])
    (kept,) = Autosave(tmp_path / "state").found()
    assert kept.document.seed in (last, last + 1)  # it may have been killed before it could tell of the last one


def test_where_nothing_can_be_kept_work_goes_on_and_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")
    autosave = Autosave(tmp_path / "state" / "studio")
    session = Session(gallery("umbrella"), autosave)
    session.do("seed 9", session.document.with_(seed=9))
    assert session.document.seed == 9 and session.unsaved
    assert "cannot write to" in autosave.warning and "save often" in autosave.warning
    (tmp_path / "state").unlink()
    (tmp_path / "state" / "studio").mkdir(parents=True)
    session.undo()
    session.redo()
    assert autosave.warning == "" and list((tmp_path / "state" / "studio").glob("*.autosave"))


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
        with pytest.raises(BadValue, match="autosaved document"):
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


_KITCHEN = """\
# Ann's kitchen
elbowroom: 1
scene:
  meshes:
    - {maker: table, name: table, at: [0, 1, 0]}   # by the window
objects:
  jar: {mesh: {maker: jar}, at: [0, 1, 0.75]}  # full
characters:
  ann: {body: {preset: woman}}
tasks:
  # first of all
  - grab: {who: ann, object: jar}
  - rest: {who: ann}
"""


def test_what_is_wrong_in_a_file_is_told_with_its_own_line(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.yaml"
    path.write_text(_KITCHEN.replace("object: jar", "object: jug"))
    with pytest.raises(BadFile, match=r"line 12: tasks\[0\]"):
        read_document(path).board()


def test_only_what_was_edited_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.yaml"
    path.write_text(_KITCHEN)
    document = read_document(path)
    document = edits.rename(document, "jar", "pot")
    document = edits.add_task(document, "touch", {"who": "ann", "target": [0.1, 0.2, 1.0]})
    document = edits.delete_task(document, 1)
    document = edits.add_static(document, "box", {"box": [1.0, 1.0, 1.0]})
    saved, whole = document.written()
    text = path.read_text()
    expected = _KITCHEN.replace("  jar:", "  pot:").replace("object: jar", "object: pot")
    expected = expected.replace("by the window\n", "by the window\n    - {box: [1.0, 1.0, 1.0], name: box}\n")
    expected = expected.replace("- rest: {who: ann}", "- touch: {who: ann, target: [0.1, 0.2, 1.0]}")
    assert text == expected == saved.source and whole
    assert read_document(path).same(document)


def test_whatever_is_edited_the_file_says_it() -> None:
    """Random values in random places: what is written anew is read as the same values, or not written so at all."""
    dice = random.Random(1)
    for name in ("umbrella", "drawer"):
        document, kept = gallery(name), 0
        assert rewritten(document.source, document.values) == document.source
        for _ in range(15):
            values = document.edited()
            for _ in range(dice.choice((1, 1, 3))):
                part, key = dice.choice(list(_spots(values)))
                if dice.random() < 0.3:
                    del part[key]
                else:
                    part[key] = dice.choice((1.25, "yes", "a: b # c", None, [1, {"x": "y"}], {"n": {"m": [1]}}))
            text = rewritten(document.source, values)
            kept += text is not None
            assert text is None or parse_yaml(document.path, text).values == values
        assert kept > 10


def _spots(values: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(values) if isinstance(values, dict) else range(len(values)):
        yield values, key
        if isinstance(values[key], (dict, list)):
            yield from _spots(values[key])
