"""What is wrong with a storyboard is told by `elbowroom run` in one line with the file, the line and what would do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from pressing import interrupted

from elbowroom.character.human import human
from elbowroom.cli import main
from elbowroom.files.bvh import write_bvh
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk

BOARD = """elbowroom: 1
fps: 30
scene: {floor: 0, meshes: [{box: [1.2, 0.5, 0.03], name: table, at: [0, -0.6, 0.885]}]}
objects:
  can: {mesh: {cylinder: {radius: 0.033, height: 0.12}}, at: [-0.15, -0.52, 0.9602]}
  pack: {mesh: {box: [0.06, 0.09, 0.14]}, at: [-0.36, -0.52, 0.9702]}
characters:
  ann:
    body: {human: {skin: false}}
    clip: {idle: {seconds: 4}}
tasks:
  - grab: {who: ann, object: can, hand: right, at: 2}
  - put: {who: ann, object: can, to: [0.1, -0.5, 0.9602]}
"""

# What is changed in the storyboard, the line to blame, and what is said of it: the fault, then what would do.
FAULTS = {
    "typo in a verb": ("grab:", "grap:", 12, "is not a verb; did you mean 'grab'?"),
    "typo in a key": ("hand: right", "hnad: right", 12, "is not a key of this part; did you mean 'hand'?"),
    "typo in a section": ("objects:", "objcts:", 4, "is not a key of this part; did you mean 'objects'?"),
    "unknown object": ("object: can, hand", "object: cam, hand", 12, "unknown object 'cam': did you mean 'can'?"),
    "unknown person": ("{who: ann, object: can, to", "{who: anna, object: can, to", 13, "did you mean 'ann'?"),
    "two tasks for one hand": (
        "  - put: {who: ann, object: can, to: [0.1, -0.5, 0.9602]}",
        "  - grab: {who: ann, object: pack, hand: right, at: 2}",
        13,
        "the right hand of ann is busy at 2 s with the task on line 12; give another time or the other hand.",
    ),
    "two tasks that overlap": (
        "  - put: {who: ann, object: can, to: [0.1, -0.5, 0.9602]}",
        "  - touch: {who: ann, target: pack, hand: right, begin: 1.5, at: 2.5, back: 3.5}",
        13,
        "the right hand of ann is busy at 2.5 s with the task on line 12; give another time or the other hand.",
    ),
    "time outside of the clip": (
        "at: 2}",
        "at: 7000}",
        12,
        "7000 s is outside the motion of ann, which lasts from 0 to 600 s; give a time inside it, or a longer motion.",
    ),
    "back before it was there": ("at: 2}", "at: 2, back: 1.5}", 12, "it must come after 'at'"),
    "missing clip": ("{idle: {seconds: 4}}", "walks/stroll.bvh", 10, "stroll.bvh: does not exist"),
    "missing mesh": ("{box: [0.06, 0.09, 0.14]}", "pack.obj", 6, "pack.obj: does not exist"),
    "missing scene": ("{box: [1.2, 0.5, 0.03], name: table", "{file: table.glb, name: table", 3, "table.glb: does not"),
    "put before it is held": ("grab: {who: ann, object: can", "grab: {who: ann, object: pack", 13, "grab it first"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_one_line_names_file_line_and_fix(case: str, tmp_path: Path, monkeypatch, capsys):
    old, new, line, said = FAULTS[case]
    assert BOARD.count(old) == 1
    monkeypatch.chdir(tmp_path)
    Path("room.yaml").write_text(BOARD.replace(old, new))
    monkeypatch.setattr(sys, "argv", ["elbowroom", "run", "room.yaml", "-o", "room.npz"])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr()
    assert ended.value.code == 2 and told.out == "" and sorted(p.name for p in tmp_path.iterdir()) == ["room.yaml"]
    (only,) = told.err.strip().splitlines()
    assert f"room.yaml, line {line}: " in only and said in only and only.endswith(".")


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
@pytest.mark.parametrize("words", [["run", "room.yaml"], ["repair", "walk.bvh", "post.obj", "--floor", "0"]])
def test_control_c_while_it_plans_leaves_nothing(words: list[str], tmp_path: Path):
    """Interrupted while it reads, plans or proves; files appear only at the very end, and all of them."""
    (tmp_path / "room.yaml").write_text(BOARD.replace("skin: false", "") + "  - repair: {who: ann}\n")
    _walk_into_a_post(tmp_path)
    before = sorted(p.name for p in tmp_path.iterdir())
    for delay in (0.4, 2.0):
        code, told = interrupted([*words, "-o", "out.npz", "-o", "out.glb"], delay, tmp_path)
        assert "Traceback" not in told, told
        found = sorted(p.name for p in tmp_path.iterdir())
        if found == before or delay == 0.4:
            assert code == 130 and found == before
        else:  # it was quicker, and all is there; only its last words may have been cut off
            assert code in (0, 1, 130) and found == sorted([*before, "out.npz", "out.glb"])


def _walk_into_a_post(folder: Path) -> None:
    clip = walk(human(), 1.1, 0.0, 6.0, 30.0)
    write_bvh(folder / "walk.bvh", clip)
    hand = clip.positions([1.3])[0, clip.character.role("right_hand")]
    mesh = box((0.3, 0.08, 0.05), (hand[0] - 0.13, hand[1], hand[2]))
    lines = [f"v {x:.6f} {z:.6f} {-y:.6f}" for x, y, z in mesh.vertices]
    lines += [f"f {a} {b} {c}" for a, b, c in (mesh.faces + 1).tolist()]
    (folder / "post.obj").write_text("\n".join(lines) + "\n")
