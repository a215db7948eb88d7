"""Whole-body tasks that cannot be, and recordings that do not suit, are told by `elbowroom run` in one sentence."""

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
    - {box: [1.2, 0.5, 0.04], name: board, at: [0, -1.5, 0.72]}
    - {box: [1.2, 0.5, 0.04], name: lid, at: [0, -1.5, 0.79]}
characters:
  ann: {body: {preset: woman}, clip: {idle: {seconds: 1}}}
tasks:
  - reach: {who: ann, hand: right, to: [-0.2, -0.95, 0.1], feet: stay, planner: whole-body}
"""

# A recording of a trunk, frames to follow.
TRUNK = """HIERARCHY
ROOT Hips
{
 OFFSET 0 0 0
 CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
 JOINT Spine
 {
  OFFSET 0 10 0
  CHANNELS 3 Zrotation Yrotation Xrotation
  End Site
  {
   OFFSET 0 20 0
  }
 }
}
MOTION
Frames: 30
Frame Time: 0.033333
"""

# Change of the storyboard, the status, and words of the sentence.
REFUSED = {
    "balance impossible": ("0.1]", "0.1]", "out-of-balance", "would fall over"),
    "gap closed": ("-0.95, 0.1]", "-0.45, 0.755]", "target-in-collision", "ann.right_hand would collide with"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_place_that_no_body_gets_to_is_one_sentence_with_its_status(case: str, tmp_path: Path) -> None:
    old, new, status, said = REFUSED[case]
    path, out = tmp_path / "room.yaml", tmp_path / "room.npz"
    text = BOARD.replace(old, new)
    path.write_text(text.replace("-1.5", "-0.5") if case == "gap closed" else text)
    result = CliRunner().invoke(app, ["run", str(path), "-o", str(out), "--json"])
    found = json.loads(result.stdout)
    assert (found["status"], result.exit_code) == (status, 1)
    assert said in found["why"] and "\n" not in found["advice"]
    assert not out.exists()


def test_recordings_that_do_not_suit_are_refused_with_their_line(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crate.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (tmp_path / "empty.bvh").write_text("")
    (tmp_path / "trunk.bvh").write_text(TRUNK + "0 90 0 0 0 0 0 0 0\n" * 30)
    (tmp_path / "nan.bvh").write_text(TRUNK + "0 90 0 0 0 0 nan 0 0\n" * 30)
    lines = (data / "mocap" / "cmu_bvh" / "02_01.bvh").read_text().splitlines()
    frames = next(k for k, line in enumerate(lines) if line.startswith("Frames:"))
    (tmp_path / "still.bvh").write_text("\n".join([*lines[:frames], "Frames: 1", *lines[frames + 1 : frames + 3], ""]))
    path, out = tmp_path / "room.yaml", tmp_path / "room.npz"
    for given, said in (
        ("trunk.bvh", "no left upper arm"),
        ("nan.bvh", "'nan' is not a usable number"),
        ("still.bvh", "lasts 0 s"),
        ("missing.bvh", "missing.bvh: does not exist"),
        ("crate.obj", "crate.obj"),
        ("empty.bvh", "empty"),
        ("[]", "text"),
    ):
        path.write_text(f"{BOARD}capture:\n  - {given}\n")
        monkeypatch.setattr(sys, "argv", ["elbowroom", "run", str(path), "-o", str(out)])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr().err
        assert ended.value.code == 2 and said in told, told
        assert "line 13" in told, told
        assert "Traceback" not in told and not out.exists()


@pytest.mark.parametrize(("support", "said"), [
    ("{hand: left, on: bord, at: [0, -1.5, 0.74]}", "did you mean 'board'"),
    ("{hand: right, on: board, at: [0, -1.5, 0.74]}", "give the other one"),
    ("{hand: left, on: board}", "at"),
])  # fmt: skip
def test_supports_that_cannot_be_are_refused_with_their_line(
    support: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "room.yaml"
    path.write_text(BOARD.replace("planner: whole-body}", f"planner: whole-body, support: {support}}}"))
    monkeypatch.setattr(sys, "argv", ["elbowroom", "run", str(path), "-o", str(tmp_path / "room.npz")])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr().err
    assert ended.value.code == 2 and said in told and "line 11" in told, told
