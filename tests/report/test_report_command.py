"""`elbowroom report` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from report_makers import person
from typer.testing import CliRunner

from elbowroom.cli import app
from elbowroom.errors import BadFile, BadValue, ElbowroomError, UnknownName
from elbowroom.files.bvh import write_bvh
from elbowroom.files.npz import write_npz
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.edit import place
from elbowroom.world.world import World

BOARD = """
elbowroom: 1
fps: 30
scene: {meshes: [{box: [0.1, 0.1, 2.0], name: post, at: [0.45, -1.3, 1.0]}], floor: 0.0}
characters:
  ann: {body: {human: {height: 1.70}}, clip: {walk: {speed: 1.0, seconds: 2.5}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A walk along -Y as BVH and NPZ, posts in its way and aside."""
    where = tmp_path_factory.mktemp("report")
    clip = walk(person(), 1.0, 0.0, 2.0, 30.0)
    write_bvh(where / "walk.bvh", clip)
    write_npz(where / "moved.npz", World().with_character("ann", place(clip, (1.0, 2.0), 0.5)))
    for name, at in (("post", [0.0, -1.2, 1.0]), ("aside", [3.0, 0.0, 1.0])):
        mesh = box([0.1, 0.1, 2.0], at=at)
        lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in mesh.vertices]
        lines += [f"f {a} {b} {c}" for a, b, c in (mesh.faces + 1).tolist()]
        (where / f"{name}.obj").write_text("\n".join(lines) + "\n")
    (where / "board.yaml").write_text(BOARD)
    return where


def run(*told: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["report", *map(str, told)])
    if isinstance(result.exception, ElbowroomError):
        raise result.exception
    return result.exit_code, result.stdout


def test_a_clip_in_a_scene_on_a_page(folder: Path, tmp_path: Path):
    page = tmp_path / "walk.html"
    code, text = run(folder / "walk.bvh", folder / "aside.obj", "-o", page, "--pictures", 1)
    assert code == 0 and "No collisions" in text and str(page) in text.replace("\n", "")
    assert "Ready" in page.read_text() or "look" in page.read_text()


def test_a_clip_that_collides_ends_with_1_and_is_reported(folder: Path, tmp_path: Path):
    code, text = run(folder / "walk.bvh", folder / "post.obj", "-o", tmp_path / "a.html", "--pictures", 0, "--json")
    facts = json.loads(text)
    assert code == 1 and facts["light"] == "bad" and facts["clearance"]["free"] is False
    assert facts["written"] == [str(tmp_path / "a.html")] and (tmp_path / "a.html").exists()


def test_json_alone_writes_nothing(folder: Path):
    code, text = run(folder / "walk.bvh", "--json")
    (person_,) = json.loads(text)["characters"].values()
    assert code == 0 and person_["feet"]["foot_slide_m"] < 0.015 and "curves" not in person_["feet"]
    _, text = run(folder / "walk.bvh", "--json", "--curves")
    (person_,) = json.loads(text)["characters"].values()
    assert len(person_["speed"]["curves"]["times_s"]) == person_["frames"]


def test_a_result_is_compared_with_its_original_wherever_that_lies(folder: Path):
    _, text = run(folder / "moved.npz", "--original", folder / "walk.bvh", "--json")
    difference = json.loads(text)["characters"]["ann"]["difference"]
    assert difference["similarity"] > 0.99 and difference["largest_m"] < 0.05
    assert any("moved" in note for note in difference["notes"])


def test_a_storyboard_is_reported(folder: Path):
    code, text = run(folder / "board.yaml", "--json", "--curves")
    facts = json.loads(text)
    assert code == 0 and "difference" not in facts["characters"]["ann"]
    near = {name for pair in facts["clearance"]["curves"]["pairs"] if pair for name in pair}
    assert "post" in near and "floor" not in near


@pytest.mark.parametrize(
    ("told", "error", "says"),
    [
        ((), BadValue, "-o NAME.html"),
        (("-o", "a.pdf"), BadFile, ".html"),
        (("--json", "--mass", "book"), BadValue, "NAME=KG"),
        (("--json", "--mass", "book=1"), UnknownName, "book"),
        (("--json", "--original", "post.obj"), BadFile, "holds no clip"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, told: tuple, error: type, says: str):
    told = tuple(folder / t if t == "post.obj" else t for t in told)
    with pytest.raises(error, match=says):
        run(folder / "walk.bvh", *told)


def test_a_storyboard_brings_its_own_scene(folder: Path):
    with pytest.raises(BadValue, match="omit SCENE"):
        run(folder / "board.yaml", folder / "post.obj", "--json")


def test_a_plan_that_is_not_found_is_told_as_json(folder: Path, tmp_path: Path):
    board = tmp_path / "far.yaml"
    things = "objects: {far: {mesh: {maker: cube}, mass: 0.1, at: [9, 9, 1]}}\n"
    board.write_text(BOARD + things + "tasks: [{grab: {who: ann, object: far, hand: right, at: 1.5}}]\n")
    code, text = run(board, "--json")
    facts = json.loads(text)
    assert code == 1 and facts["status"] == "target-out-of-reach" and facts["light"] == "none" and facts["advice"]
    code, text = run(board, "-o", tmp_path / "far.html")
    assert code == 1 and "no motion found" in text and not (tmp_path / "far.html").exists()


def test_where_a_page_cannot_be_is_told_before_anything_is_measured(folder: Path, tmp_path: Path, monkeypatch):
    (tmp_path / "a.html").mkdir()
    monkeypatch.setattr("elbowroom.report.report", lambda *_, **__: pytest.fail("measured in vain"))
    for page in (tmp_path / "a.html", tmp_path / "none" / "a.html", tmp_path / "a.pdf"):
        with pytest.raises(BadFile):
            run(folder / "walk.bvh", "-o", page)


def test_a_page_that_is_there_is_replaced_whole(folder: Path, tmp_path: Path):
    page = tmp_path / "a.html"
    page.write_text("old")
    assert run(folder / "walk.bvh", "-o", page, "--pictures", 0)[0] == 0
    assert page.read_text().startswith("<!DOCTYPE html>") and [p.name for p in tmp_path.iterdir()] == ["a.html"]
