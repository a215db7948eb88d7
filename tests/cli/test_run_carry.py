"""A carry that cannot be is told by `elbowroom run` in one sentence, and nothing is written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from elbowroom.cli import main

BOARD = """elbowroom: 1
fps: 30
scene: {floor: 0, meshes: [{box: [0.2, 0.2, 0.62], name: stand, at: [0, 0, 0.31]}]}
objects:
  board: {mesh: {box: [0.36, 1.2, 0.05]}, at: [0, 0, 0.6455], mass: 4}
characters:
  ann: {body: {preset: woman}, clip: {idle: {seconds: 0.5}}, at: [0, 0.93]}
  rob: {body: {robot: {}}, at: [0, -1.3], turn: 90}
tasks:
  - carry: {who: [ann, rob], object: board, to: [1.2, -0.6, 0.6455], turn: 0}
"""

CART = """<robot name="cart"><link name="foot"><collision><origin xyz="0 0 0.1"/><geometry><box size="0.4 0.4 0.2"/>
</geometry></collision></link></robot>"""

# What is changed in the storyboard, the exit code, and what is said.
CASES = {
    "a robot without an arm": ("{robot: {}}", "{robot: {file: cart.urdf, base: wheels}}", 2, "no arm of 6 joints"),
    "out of the robot's reach": ("[0, -1.3]", "[0, -2.6]", 1, "the arm of rob does not reach it from where it stands"),
    "too heavy": ("mass: 4", "mass: 400", 1, "200 kg for each is too heavy"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_carried_is_told_in_one_sentence(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, code, text = CASES[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cart.urdf").write_text(CART)
    (tmp_path / "carry.yaml").write_text(BOARD.replace(old, new))
    monkeypatch.setattr(sys, "argv", ["elbowroom", "run", "carry.yaml", "-o", "out.npz"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == code and text in " ".join((said.out + said.err).split())
    assert not (tmp_path / "out.npz").exists()
