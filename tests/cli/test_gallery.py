"""`elbowroom gallery` and `demo`: scenarios are listed, made, and put on a page that needs no network."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from elbowroom.cli import app, main
from elbowroom.gallery import page, scenes
from elbowroom.gallery.page import Exhibit, index_page
from elbowroom.storyboard.storyboard import read_storyboard

BOARD = """elbowroom: 1
about: a person stands & waits
tags: [X1, X4]
fps: 10
scene: {floor: 0, meshes: [{box: [0.1, 0.1, 2], name: post, at: AT}]}
characters: {ann: {body: {human: {}}, clip: {idle: {seconds: 1}}}}
"""


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A gallery of two: one is free, in the other a post stands where the person does."""
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "free.yaml").write_text(BOARD.replace("AT", "[2, 0, 1]"))
    (tmp_path / "boards" / "hit.yaml").write_text(BOARD.replace("AT", "[0.1, 0, 1]"))
    monkeypatch.setattr(scenes, "FOLDER", tmp_path / "boards")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


class Links(HTMLParser):
    """All that a page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value for key, value in attributes if key in ("href", "src") and value]


def test_scenarios_are_storyboards_that_say_what_they_show():
    found = scenes.scenarios()
    assert {"stroll", "doorway"} <= set(found)
    for scenario in found.values():
        assert scenario.shows and scenario.features, scenario.name
        assert all(re.fullmatch(r"[A-Z][0-9]+", f) for f in scenario.features), scenario.name


def test_the_list_names_all(few: Path):
    code, text = run("gallery")
    assert code == 0 and "free" in text and "hit" in text and "stands & waits" in text and "X1, X4" in text
    facts = json.loads(run("gallery", "--json")[1])["scenarios"]
    assert [f["name"] for f in facts] == ["free", "hit"] and facts[0]["features"] == ["X1", "X4"]
    assert sorted(p.name for p in few.iterdir()) == ["boards"], "nothing is written"


def test_a_gallery_is_built_with_a_page(few: Path):
    code, text = run("gallery", "-o", "site", "--json")
    facts = json.loads(text)
    assert code == 1, "one of them is not free"
    assert {f["name"]: f["status"] for f in facts["scenarios"]} == {"free": "found", "hit": "base-in-collision"}
    site = few / "site"
    names = {p.name for p in site.iterdir()}
    assert {"index.html", "free.glb", "free.html", "free.yaml", "hit.yaml"} <= names
    assert {str(Path("site") / name) for name in names} == set(facts["written"])
    links = Links()
    page = (site / "index.html").read_text()
    links.feed(page)
    assert links.found and all((site / link).is_file() for link in links.found), links.found
    assert "http" not in page and "prefers-color-scheme: dark" in page and "stands &amp; waits" in page
    assert "minimum clearance" in page and "post collide" in page
    assert read_storyboard(site / "free.yaml").world.characters, "the copy stands by itself"
    assert not list(few.glob(".site*"))


def test_only_some_are_built(few: Path):
    code, text = run("gallery", "-o", "site", "--only", "free")
    assert code == 0 and "free: proven collision-free" in text and "wrote site/index.html" in text
    assert not (few / "site" / "hit.yaml").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["gallery", "--only", "fre"],
            "unknown gallery scenario 'fre': did you mean 'free'? available: free, hit",
        ),
        (["gallery", "-o", "boards/free.yaml"], "is a file"),
        (["gallery", "-o", "no/such/folder"], "cannot be written"),
        (["demo", "hot"], "did you mean 'hit'?"),
        (["demo", "free", "-o", "a.fbx"], ".glb"),
        (["demo", "free", "--tier", "x"], "available: ik, avoid, plan, auto"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(few: Path, words: list[str], told: str, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["elbowroom", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and told in capsys.readouterr().err.replace("\n", " ")
    assert sorted(p.name for p in few.iterdir()) == ["boards"]


def test_interrupted_leaves_no_part_of_a_gallery(few: Path, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(page, "strip", interrupted)  # when the first files are written
    monkeypatch.setattr(sys, "argv", ["elbowroom", "gallery", "-o", "site"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130 and sorted(p.name for p in few.iterdir()) == ["boards"]


def test_demo_makes_any_scenario(few: Path):
    code, text = run("demo", "free", "--seed", 3)
    assert code == 0 and "free: a person stands & waits" in text and "proven in continuous time" in text
    assert sorted(p.name for p in few.iterdir()) == ["boards", "free.glb", "free.html"]
    code, text = run("demo", "hit", "-o", "x.npz", "--json")
    facts = json.loads(text)
    assert code == 1 and facts["status"] == "base-in-collision" and facts["written"] == ["x.npz"]


def test_names_on_the_page_are_text():
    odd = Exhibit("<b>", 'say "x" & <y>', ["K1"], False, "a < b", {"<k>": "<v>"}, {"<go>": 'a"b.html'}, 'p"q.png')
    page = index_page([odd], "1<2")
    body = page.split("<main>")[1]
    assert not re.search(r"<(b|y|k|v|go)>", body) and 'a"b' not in body and "1&lt;2" in body
