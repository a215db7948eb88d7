"""`elbowroom check` as a user runs it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from elbowroom.character.human import human
from elbowroom.cli import app, main
from elbowroom.files.bvh import write_bvh
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk

# Keys of the contract for --json.
CONTRACT = {"status", "seed", "frames", "fps", "triangles", "seconds", "plans", "collisions", "certificate"}
STAGES = {"load", "prepare", "plan", "smooth", "certify", "write", "total"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip that walks 2 m along -Y, a post in its way and a post aside."""
    where = tmp_path_factory.mktemp("check")
    write_bvh(where / "walk.bvh", walk(human(skin=False), 1.0, 0.0, 2.0, 30.0))
    for name, at in (("post", [0.0, -1.2, 1.0]), ("aside", [3.0, 0.0, 1.0])):
        mesh = box([0.1, 0.1, 2.0], at=at)
        lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in mesh.vertices]
        lines += [f"f {a} {b} {c}" for a, b, c in (mesh.faces + 1).tolist()]
        (where / f"{name}.obj").write_text("\n".join(lines) + "\n")
    return where


def run(*told: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["check", *map(str, told)])
    return result.exit_code, result.stdout


def test_a_walk_into_a_post_is_told_and_exits_with_1(folder: Path) -> None:
    code, text = run(folder / "walk.bvh", folder / "post.obj", "--scene-up", "Z", "--json")
    facts = json.loads(text)
    assert code == 1 and facts["status"] == "base-in-collision"
    assert set(facts) >= CONTRACT and set(facts["seconds"]) == STAGES
    assert facts["triangles"] == 12 and facts["frames"] == 61 and facts["fps"] == 30.0
    assert facts["certificate"]["free"] is False
    hits = facts["collisions"]
    assert hits and all(set(h) >= {"during", "who", "limb", "pair", "depth_m"} for h in hits)
    assert {h["pair"][1] for h in hits} == {"post"}
    assert all(0.5 < h["during"][0] <= h["during"][1] <= 2.0 for h in hits)
    assert any(h["limb"].endswith(("_arm", "_leg", "spine")) for h in hits)


def test_the_same_walk_past_a_post_is_certified_and_exits_with_0(folder: Path) -> None:
    code, text = run(folder / "walk.bvh", folder / "aside.obj", "--scene-up", "Z", "--json")
    facts = json.loads(text)
    assert code == 0 and facts["status"] == "found" and facts["collisions"] == []
    certificate = facts["certificate"]
    assert certificate["free"] and certificate["continuous"]
    assert {a["why"] for a in certificate["allowed"]} == {"in the clip"}
    assert all({"pair", "depth_m", "during"} <= set(a) for a in certificate["allowed"])


def test_placing_moves_the_clip_into_the_post(folder: Path) -> None:
    told = (folder / "walk.bvh", folder / "aside.obj", "--scene-up", "Z")
    assert run(*told, "--at", "3,0.8")[0] == 1
    assert run(*told, "--at", "2,0", "--turn", "90", "--json")[0] == 1, "turned to the left it walks along +X"
    assert run(*told, "--at", "2,0", "--turn", "-90", "--json")[0] == 0


def test_the_table_names_limbs_and_pairs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code, text = run(folder / "walk.bvh", folder / "post.obj", "--scene-up", "Z")
    assert code == 1
    assert "collisions" in text and "post" in text and "mm" in text
    free = run(folder / "walk.bvh", folder / "aside.obj", "--scene-up", "Z")
    assert free[0] == 0 and "free: proven in continuous time" in free[1]


def test_a_picture_is_the_only_thing_written(folder: Path, tmp_path: Path) -> None:
    before = sorted(folder.iterdir())
    picture = tmp_path / "times.png"
    told = (folder / "walk.bvh", folder / "post.obj", "--scene-up", "Z", "--picture", picture)
    assert run(*told)[0] == 1
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert sorted(folder.iterdir()) == before and list(tmp_path.iterdir()) == [picture]


def test_fix_self_counts_what_the_clip_does_to_itself(folder: Path) -> None:
    told = (folder / "walk.bvh", folder / "aside.obj", "--scene-up", "Z", "--floor", "0.05", "--json")
    facts = json.loads(run(*told)[1])
    assert facts["floor_m"] == 0.05 and facts["certificate"]["free"], "the clip is put on the floor"
    strict = json.loads(run(*told, "--fix-self")[1])
    assert "in the clip" not in {a["why"] for a in strict["certificate"]["allowed"]}


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (["nothing.bvh", "post.obj"], "does not exist"),
        (["walk.bvh", "nothing.obj"], "nothing.obj"),
        (["post.obj", "post.obj"], "no clip"),
        (["walk.bvh", "post.obj", "--at", "here"], "X,Y"),
        (["walk.bvh", "post.obj", "--floor", "deep"], "auto"),
        (["walk.bvh", "post.obj", "--turn", "nan"], "turn"),
        (["walk.bvh", "post.obj", "--picture", "times.txt"], ".png"),
        (["board.yaml", "post.obj"], "storyboard"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    folder: Path, told: list[str], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["elbowroom", "check", *told])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert words in said.err.replace("\n", " ") and said.out == ""
    assert not (folder / "times.txt").exists()


def test_a_storyboard_is_checked_as_it_stands(folder: Path) -> None:
    board = folder / "board.yaml"
    board.write_text(
        "elbowroom: 1\nfps: 30\nscene: {meshes: [{file: aside.obj, up: Z}], floor: 0.0}\n"
        "characters:\n  ann: {body: {human: {height: 1.7}}, clip: {walk: {speed: 1.0, seconds: 1}}}\n"
    )
    code, text = run(board, "--json")
    facts = json.loads(text)
    assert code == 0 and facts["status"] == "found"
    assert facts["fps"] == 30 and facts["frames"] == 31 and facts["triangles"] == 12
