"""Commands that take files take storyboards as well: what they ask for is done first."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from test_run_command import BOARD, TASK, planner, shifted
from typer.testing import CliRunner

from elbowroom.cli import app, main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "still.yaml").write_text(BOARD)
    (tmp_path / "room.yaml").write_text(BOARD + TASK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def test_info_says_what_is_asked_for_and_plans_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("elbowroom.storyboard.plan.plan_storyboard", None)
    code, text = run("info", "room.yaml")
    assert code == 0 and "task 'reach': who ann, hand right, to" in text and "1 meshes" in text
    facts = json.loads(run("info", "room.yaml", "--json")[1])
    assert facts["format"] == "storyboard" and facts["fps"] == 30 and set(facts["characters"]) == {"ann"}
    assert facts["tasks"][0] == {
        "verb": "reach",
        "who": "ann",
        "hand": "right",
        "to": [-0.3, -0.4, 1.2],
        "shape": "rest",
    }


def test_convert_and_render_write_what_was_planned(folder: Path, monkeypatch: pytest.MonkeyPatch):
    planner(monkeypatch, lambda board, seed: shifted(board, 0.5))
    assert run("convert", "room.yaml", "a.npz")[0] == 0
    assert run("convert", "still.yaml", "b.npz", "--rate", "60")[0] == 0
    a, b = np.load("a.npz"), np.load("b.npz")
    assert a["char/ann/root"][0, 0] - b["char/ann/root"][0, 0] == pytest.approx(0.5, abs=1e-6)
    assert (a["fps"], b["fps"]) == (30, 60) and "static/post/vertices" in a
    done = CliRunner().invoke(app, ["render", "room.yaml", "-o", "a.png", "--size", "64x64"])
    if done.exception is not None and "EGL" in str(done.exception):
        pytest.skip(str(done.exception))
    assert done.exit_code == 0 and Path("a.png").stat().st_size > 200


def test_check_plans_first_and_writes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    planner(monkeypatch, lambda board, seed: shifted(board, 0.01 * seed))
    code, text = run("check", "room.yaml", "--seed", 4)
    assert code == 0 and "right" in text and "collision-free: proven" in text and "seed 4" in text
    facts = json.loads(run("check", "room.yaml", "--seed", 4, "--json")[1])
    assert facts["status"] == "found" and facts["seed"] == 4 and len(facts["plans"]) == 1
    planner(monkeypatch, lambda board, seed: "no-path")
    code, text = run("check", "room.yaml")
    assert code == 1 and "no motion found: no-path" in text and "what would help: move the obstacle" in text
    assert sorted(p.name for p in folder.iterdir()) == ["room.yaml", "still.yaml"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["convert", "room.yaml", "a.npz"], 1, "no motion was found (no-path)"),
        (["render", "room.yaml", "-o", "a.png"], 1, "no motion was found (no-path)"),
        (["convert", "room.yaml", "a.npz", "--mirror"], 2, "do not apply to a storyboard"),
        (["info", "typo.yaml"], 2, "typo.yaml, line 6: "),
        (["check", "room.yaml", "room.yaml"], 2, "omit SCENE"),
    ],
)
def test_failures_end_with_a_sentence(folder: Path, words: list[str], code: int, told: str, monkeypatch, capsys):
    planner(monkeypatch, lambda board, seed: "no-path")
    Path("typo.yaml").write_text(BOARD + "takss: []\n")
    monkeypatch.setattr(sys, "argv", ["elbowroom", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code and told in capsys.readouterr().err.replace("\n", " ")
    assert not list(folder.glob("a.*"))
