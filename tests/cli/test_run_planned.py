"""`elbowroom run` with the planner itself: the hand is where it was asked to be, in a file that is proven free."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from elbowroom.cli import app
from elbowroom.files.npz import read_npz
from elbowroom.world.certificate import certify

BOARD = """elbowroom: 1
fps: 30
scene: {floor: 0, meshes: [{box: [0.6, 0.4, 1.0], name: table, at: [-0.25, -0.6, 0.5]}]}
characters:
  ann: {body: {human: {}}, clip: {idle: {seconds: 4}}}
tasks:
  - reach: {who: ann, hand: right, to: [-0.3, -0.4, 1.5], at: 2}
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    folder = tmp_path_factory.mktemp("planned")
    (folder / "high.yaml").write_text(BOARD)
    result = CliRunner().invoke(app, ["run", str(folder / "high.yaml"), "-o", str(folder / "high.npz"), "--json"])
    assert result.exit_code == 0, result.stdout
    return folder, json.loads(result.stdout)


def test_what_was_planned_is_told(done: tuple[Path, dict]):
    _, facts = done
    assert facts["status"] == "found" and facts["certificate"]["free"] and facts["certificate"]["continuous"]
    reach = facts["plans"][0]
    assert (
        reach["who"] == ["ann"] and reach["limb"] == "right_arm" and reach["during"][1] == pytest.approx(2.0, abs=0.05)
    )
    assert facts["seconds"]["plan"] > 0 and facts["seconds"]["certify"] > 0
    assert facts["fps"] == 30 and facts["quality"]["limit_violations"] == 0


def test_the_file_holds_it(done: tuple[Path, dict]):
    folder, facts = done
    world = read_npz(folder / "high.npz")
    again = certify(world, own_contacts=False)
    assert again.free, again.collisions
    hand = world.motion("ann")
    joints = hand.body.transforms(*hand.sample([2.0]))[0]
    names = list(hand.body.joint_names)
    ends = [joints[names.index(name), :3, 3] for name in ("right_hand", "right_middle1", "right_middle3")]
    assert min(np.linalg.norm(end - [-0.3, -0.4, 1.5]) for end in ends) < 0.08
    assert facts["frames"] == len(hand)


def test_the_same_seed_gives_the_same_file(done: tuple[Path, dict]):
    folder, _ = done
    result = CliRunner().invoke(app, ["run", str(folder / "high.yaml"), "-o", str(folder / "again.npz")])
    assert result.exit_code == 0, result.stdout
    a, b = np.load(folder / "high.npz"), np.load(folder / "again.npz")
    assert all(np.array_equal(a[key], b[key], equal_nan=a[key].dtype.kind == "f") for key in a.files)


def test_out_of_reach_is_told_by_how_much(done: tuple[Path, dict]):
    folder, _ = done
    (folder / "far.yaml").write_text(BOARD.replace("[-0.3, -0.4, 1.5], at: 2", "[-3, -0.4, 1.5], feet: stay"))
    result = CliRunner().invoke(app, ["run", str(folder / "far.yaml"), "-o", str(folder / "far.npz"), "--json"])
    facts = json.loads(result.stdout)
    assert result.exit_code == 1 and facts["status"] == "target-out-of-reach" and " m" in facts["why"]
    assert not (folder / "far.npz").exists()


def test_edits_are_made_weaker_and_proven_again(done: tuple[Path, dict]) -> None:
    folder, facts = done
    board, half = folder / "weaker.yaml", folder / "half.npz"
    reason = facts["plans"][0]["what"]
    free = BOARD.replace(BOARD.split("\n")[2], "scene: {floor: 0}")  # half way the table would be near
    board.write_text(free + f"edits:\n  - {{reason: {reason}, strength: 0.5}}\n")
    result = CliRunner().invoke(app, ["run", str(board), "-o", str(half), "--json", "--strength", "2=0.8"])
    told = json.loads(result.stdout)
    assert result.exit_code == 0 and told["certificate"]["free"], told["why"]
    weaker = [(plan["strength"], plan["muted"]) for plan in told["plans"]]
    assert weaker[0] == (0.5, False) and weaker[1] == (0.8, False)
    whole, less = (read_npz(folder / name).motion("ann") for name in ("high.npz", "half.npz"))
    joint = list(whole.body.joint_names).index("right_hand")
    rise = [np.ptp(m.body.transforms(*m.sample([0.0, 2.0]))[:, joint, 2, 3]) for m in (whole, less)]
    assert 0.2 * rise[0] < rise[1] < 0.8 * rise[0]
    listed = CliRunner().invoke(app, ["info", str(half)]).stdout
    assert f"edit 1: ann, right arm, {told['plans'][0]['during'][0]:.2f}" in listed and "(strength 0.5)" in listed
    assert CliRunner().invoke(app, ["verify", str(half)]).exit_code == 0


@pytest.mark.parametrize(
    ("more", "options", "told"),
    [
        ("edits: [{number: 9, mute: true}]\n", [], "weak.yaml, line 8: unknown edit '9': available: 1 ("),
        ("", ["--strength", "1=2"], "--strength takes an edit and a share from 0 to 1, such as 2=0.5, not '1=2'"),
        ("", ["--mute", "1", "--variants", "2"], "omit --variants"),
    ],
)
def test_edits_that_cannot_be_meant(tmp_path: Path, more: str, options: list[str], told: str) -> None:
    board = tmp_path / "weak.yaml"
    board.write_text(BOARD + more)
    result = CliRunner().invoke(app, ["run", str(board), "-o", str(tmp_path / "a.npz"), *options])
    assert result.exit_code != 0 and told in " ".join(str(result.exception or result.output).split())
    assert not (tmp_path / "a.npz").exists()
