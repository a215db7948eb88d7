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

WALLS = """{box: [0.2, 0.2, 0.62], name: stand, at: [0, 0, 0.31]},
    {box: [0.1, 6, 2], name: wall_1, at: [2.5, 3.2, 1]}, {box: [0.1, 6, 2], name: wall_2, at: [2.5, -3.2, 1]},
    {box: [8, 0.1, 2], name: wall_3, at: [6.5, 6, 1]}, {box: [8, 0.1, 2], name: wall_4, at: [6.5, -6, 1]},
    {box: [0.1, 12, 2], name: wall_5, at: [10.5, 0, 1]}"""

# What is changed in the storyboard, and what is said; exit code 2 each.
CASES = {
    "a robot without an arm": ("{robot: {}}", "{robot: {file: cart.urdf, base: wheels}}", "no arm of 6 or more joints"),
    "out of the robot's reach": ("[0, -1.3]", "[0, -2.9]", "is 2.30 m from rob, out of reach of its arm of"),
    "out of a person's reach": ("0.6455], mass", "2.6455], mass", "out of reach of ann, who reaches 2.0"),
    "too heavy": ("mass: 4", "mass: 400", "for 2 carriers is 200 kg each, and ann holds"),
    "too narrow": (
        "{box: [0.2, 0.2, 0.62], name: stand, at: [0, 0, 0.31]}", WALLS,
        "the widest path of ann to (5, 0) is 0.40 m wide at its narrowest, and walking needs 0.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_carried_is_told_in_one_sentence(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, text = CASES[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cart.urdf").write_text(CART)
    (tmp_path / "carry.yaml").write_text(BOARD.replace(old, new).replace("[1.2, -0.6, 0.6455]", "[5, 0, 0.6455]"))
    monkeypatch.setattr(sys, "argv", ["elbowroom", "run", "carry.yaml", "-o", "out.npz"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 2 and text in " ".join((said.out + said.err).split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["carry.yaml", "cart.urdf"]
