"""Moves that cannot be are told by `elbowroom run` in one sentence with their status, and nothing is written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from elbowroom.cli import app, main

BOARD = """elbowroom: 1
fps: 30
scene:
  floor: 0
  meshes:
    - {box: [1.4, 0.5, 0.03], name: table, at: [0, -0.68, 0.7345]}
    - {box: [0.3, 0.02, 0.6], name: screen, at: [0.45, -0.62, 1.05]}
objects:
  crate: {mesh: {box: [0.36, 0.26, 0.22]}, at: [-0.15, -0.6, 0.8605], mass: 4}
characters:
  ann: {body: {preset: woman}, clip: {idle: {seconds: 1}}}
tasks:
  - move: {who: ann, object: crate, to: [0.0, -0.62, 0.8605], feet: stay}
"""

# Change of the storyboard, the status, and words of the sentence and of the advice.
REFUSED = {
    "too heavy": ("mass: 4", "mass: 70", "too-heavy", "70 kg", "works (verified)"),
    "too large for the hands": (
        "[0.36, 0.26, 0.22]", "[1.3, 0.26, 0.22]", "target-out-of-reach", "hands of ann", "make it smaller"
    ),
    "too large for one hand": ("feet: stay", "feet: stay, hands: left", "target-out-of-reach", "hand of ann", "both"),
    "goal inside a wall": ("[0.0, -0.62, 0.8605]", "[0.45, -0.62, 0.8605]", "target-in-collision", "screen", "move"),
    "feet that cannot stay": (
        "[0.0, -0.62, 0.8605]", "[0.2, -1.9, 0.8605]", "target-out-of-reach", "short of", "letting the feet step"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_move_that_cannot_be_is_one_sentence_with_its_status(case: str, tmp_path: Path):
    old, new, status, said, advised = REFUSED[case]
    assert BOARD.count(old) == 1
    path = tmp_path / "room.yaml"
    path.write_text(BOARD.replace(old, new))
    words = ["run", str(path), "-o", str(tmp_path / "room.npz"), "--json"]
    result = CliRunner().invoke(app, words)
    facts = json.loads(result.stdout)
    assert result.exit_code == 1 and facts["status"] == status and said in facts["why"]
    assert advised in facts["advice"] and "other hand" not in facts["advice"]
    assert [p.name for p in tmp_path.iterdir()] == ["room.yaml"]


def test_a_hand_that_the_rig_lacks_is_one_sentence(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("room.yaml").write_text(BOARD.replace("feet: stay", "feet: stay, hands: third"))
    monkeypatch.setattr(sys, "argv", ["elbowroom", "run", "room.yaml", "-o", "room.npz"])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr()
    assert ended.value.code == 2 and told.out == "" and [p.name for p in tmp_path.iterdir()] == ["room.yaml"]
    (only,) = told.err.strip().splitlines()
    assert "room.yaml, line 13" in only and "third" in only and only.endswith(".")
