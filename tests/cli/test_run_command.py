"""`elbowroom run`: what is planned is written, all of it or none; what is not is told with what to change."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from pressing import interrupted
from test_check import CONTRACT, STAGES
from typer.testing import CliRunner

from elbowroom.cli import app, main
from elbowroom.errors import BadFile
from elbowroom.files import save
from elbowroom.plan.state.result import Plan
from elbowroom.plan.variants import difference
from elbowroom.storyboard import plan as storyboard_plan
from elbowroom.storyboard.storyboard import Storyboard, parse_storyboard
from elbowroom.world.certificate import certify
from elbowroom.world.edit import Edit

BOARD = """elbowroom: 1
fps: 30
scene: {floor: 0, meshes: [{box: [0.1, 0.1, 2], name: post, at: [2, 0, 1]}]}
characters:
  ann: {body: {human: {}}, clip: {idle: {seconds: 1}}}
"""
TASK = "tasks:\n  - reach: {who: ann, hand: right, to: [-0.3, -0.4, 1.2]}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the present one, with a storyboard in the folder above."""
    (tmp_path / "still.yaml").write_text(BOARD)
    (tmp_path / "room.yaml").write_text(BOARD + TASK)
    where = tmp_path / "out"
    where.mkdir()
    monkeypatch.chdir(where)
    return where


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["run", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def planner(monkeypatch: pytest.MonkeyPatch, by_seed) -> list[str]:
    """Stands in for the planner of tasks: a world by seed, or a status. Gives the tiers that are asked for."""
    tiers = []

    def plan(board: Storyboard, *, seed: int = 0, tier: str = "auto", **_: object) -> Plan:
        tiers.append(tier)
        found = by_seed(board, seed)
        if isinstance(found, str):
            return Plan(found, board.world, (), "the target is 0.3 m too far", seconds={"plan": 0.1})
        done = Edit("ann", "right_arm", "reach", (0.2, 0.9), "plan", 0.002, 0.003, 123, 45)
        return Plan("found", found, (done,), certificate=certify(found, board.fps), seconds={"certify": 0.0})

    monkeypatch.setattr(storyboard_plan, "plan_storyboard", plan)
    return tiers


def shifted(board: Storyboard, by: float):
    """The same motion some way aside."""
    clip = board.world.motion("ann")
    return board.world.with_character("ann", clip.with_(root=clip.root + [by, 0.0, 0.0]))


def test_a_storyboard_without_tasks_is_proven_and_written(folder: Path):
    code, text = run("../still.yaml", "-o", "a.npz", "-o", "a.bvh", "--json")
    facts = json.loads(text)
    assert code == 0 and facts["status"] == "found" and facts["plans"] == []
    assert set(facts) >= CONTRACT | {"quality", "written"} and set(facts["seconds"]) >= STAGES
    assert facts["frames"] == 31 and facts["fps"] == 30 and facts["certificate"]["free"]
    assert facts["written"] == ["a.npz", "a.bvh"] and names(folder) == ["a.bvh", "a.npz"]
    assert np.load("a.npz")["fps"] == 30


def test_a_storyboard_without_tasks_that_collides_is_written_and_exits_with_1(folder: Path):
    Path("../still.yaml").write_text(BOARD.replace("[2, 0, 1]", "[0.1, 0, 1]"))
    code, text = run("../still.yaml", "-o", "a.npz", "--json")
    facts = json.loads(text)
    assert code == 1 and facts["status"] == "base-in-collision" and facts["collisions"] and names(folder) == ["a.npz"]
    code, text = run("../still.yaml", "-o", "a.npz")
    assert code == 1 and "collisions remain: base-in-collision" in text and "post collide" in text.replace("\n", " ")


def test_plans_are_told_and_written(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "200")
    planner(monkeypatch, lambda board, seed: shifted(board, 0.1))
    code, text = run("../room.yaml", "-o", "a.npz", "--seed", 7)
    assert code == 0 and names(folder) == ["a.npz"]
    for word in ("ann", "right", "reach", "0.20–0.90 s", "123", "seed 7", "free", "clearance", "wrote a.npz"):
        assert word in text, word
    facts = json.loads(run("../room.yaml", "-o", "a.npz", "--seed", 7, "--json")[1])
    assert facts["seed"] == 7 and facts["plans"][0]["who"] == ["ann"] and facts["plans"][0]["first_solution_s"] == 0.002
    assert set(facts) >= CONTRACT


def test_a_budget_that_is_spent_ends_with_1_and_nothing_is_written(folder: Path):
    code, text = run("../room.yaml", "-o", "a.npz", "--budget", 0.001)
    assert code == 1 and names(folder) == [] and "out of time: budget-spent" in text
    assert "the budget of 0.001 s is spent" in text and "--budget SECONDS" in " ".join(text.split())
    code, text = run("../still.yaml", "-o", "a.npz", "--budget", 1e-9, "--json")
    assert code == 1 and json.loads(text)["status"] == "budget-spent" and not json.loads(text)["certificate"]["free"]


def test_names_of_the_gallery_are_storyboards_where_there_is_no_such_file(folder: Path):
    code, text = run("umbrella", "-o", "a.npz", "--budget", 0.001, "--json")
    assert code == 1 and json.loads(text)["status"] == "budget-spent"
    with pytest.raises(BadFile, match=r"does not exist; give a file or a gallery name: .*umbrella"):
        run("umbrelle", "-o", "a.npz")
    Path("umbrella").write_text("no storyboard")
    with pytest.raises(BadFile, match="umbrella"):
        run("umbrella", "-o", "a.npz")


@pytest.mark.parametrize("command", ["check", "report", "render", "convert", "info"])
def test_other_commands_take_names_of_the_gallery(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str):
    read = []

    def spy(path: Path) -> Storyboard:
        read.append(Path(path))
        raise BadFile(path, "is read")

    monkeypatch.setattr("elbowroom.storyboard.storyboard.read_storyboard", spy)
    more = {"report": ["--json"], "render": ["-o", "a.png"], "convert": ["a.npz"]}.get(command, [])
    result = CliRunner().invoke(app, [command, "umbrella", *more])
    assert isinstance(result.exception, BadFile) and [p.name for p in read] == ["umbrella.yaml"]


def test_where_no_motion_is_found_nothing_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch):
    planner(monkeypatch, lambda board, seed: "target-out-of-reach")
    code, text = run("../room.yaml", "-o", "a.npz")
    assert code == 1 and names(folder) == []
    assert "no motion found: target-out-of-reach" in text
    assert "why: the target is 0.3 m too far." in text and "what would help: stand nearer" in text
    facts = json.loads(run("../room.yaml", "-o", "a.npz", "--json")[1])
    assert facts["status"] == "target-out-of-reach" and facts["why"] and "stand nearer" in facts["advice"]
    assert set(facts) >= CONTRACT and facts["written"] == [] and names(folder) == []
    assert facts["certificate"]["free"] is False and facts["plans"] == []


def test_variants_that_look_alike_are_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch):
    steps = {3: 0.0, 4: 0.01, 5: "no-path", 6: 0.2, 7: 0.5}
    tiers = planner(monkeypatch, lambda b, s: steps[s] if isinstance(steps[s], str) else shifted(b, steps[s]))
    code, text = run("../room.yaml", "-o", "a.npz", "-o", "a.bvh", "--seed", 3, "--variants", 3, "--json")
    facts = json.loads(text)
    assert code == 0 and names(folder) == [f"a-{k}.{s}" for k in (1, 2, 3) for s in ("bvh", "npz")]
    assert [v["seed"] for v in facts["variants"]] == [3, 6, 7]
    assert [v["differs_m"] for v in facts["variants"]] == [None, pytest.approx(0.2), pytest.approx(0.3)]
    assert [v["written"] for v in facts["variants"]][1] == ["a-2.npz", "a-2.bvh"]
    assert [v["seed"] for v in facts["alike"]] == [4] and [v["seed"] for v in facts["failed"]] == [5]
    assert facts["seed"] == 3 and facts["status"] == "found"
    assert tiers == ["auto", "auto", "plan", "plan", "plan"], "straight ways are alike for all seeds"
    roots = [np.load(f"a-{k}.npz")["char/ann/root"][0, 0] for k in (1, 2, 3)]
    assert np.allclose(np.diff(roots), [0.2, 0.3])


def test_too_few_variants_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "200")
    planner(monkeypatch, lambda board, seed: shifted(board, 0.0))
    code, text = run("../room.yaml", "-o", "a.npz", "--variants", 2)
    assert code == 0 and names(folder) == ["a-1.npz"]
    assert "only 1 of 2 variants found; of the other seeds 5 differed by less than 5 cm." in text
    planner(monkeypatch, lambda board, seed: "no-path")
    code, text = run("../room.yaml", "-o", "b.npz", "--variants", 2)
    assert code == 1 and names(folder) == ["a-1.npz"] and "no motion found: no-path" in text


def test_difference_is_that_of_ways_and_not_of_timing():
    world = parse_storyboard(BOARD.replace("{idle: {seconds: 1}}", "{walk: {seconds: 1, speed: 1}}")).world
    clip = world.motion("ann")
    slow = world.with_character("ann", clip.with_(fps=clip.fps / 2))
    aside = world.with_character("ann", clip.with_(root=clip.root + [0.07, 0, 0]))
    assert difference(world, world) == 0.0
    assert difference(world, slow) < 0.02
    assert difference(world, aside) == pytest.approx(0.07, abs=0.005) == difference(aside, world)


BAD = {
    "no output": (["../room.yaml"], "output"),
    "output suffix": (["../room.yaml", "-o", "a.fbx"], ".glb"),
    "output folder": (["../room.yaml", "-o", "no/a.glb"], "does not exist"),
    "output that cannot hold it": (["../two.yaml", "-o", "a.npz", "-o", "a.bvh"], "BVH stores one character, not 2"),
    "missing storyboard": (["nothing.yaml", "-o", "a.npz"], "nothing.yaml: does not exist"),
    "no storyboard": (["../walk.bvh", "-o", "a.npz"], "walk.bvh"),
    "fault in it": (["../typo.yaml", "-o", "a.npz"], "line 7: tasks[0].reech: is not a verb; did you mean 'reach'?"),
    "tier": (["../room.yaml", "-o", "a.npz", "--tier", "best"], "available: ik, avoid, plan, auto"),
    "budget": (["../room.yaml", "-o", "a.npz", "--budget", "-1"], "positive number of seconds"),
    "budget that is none": (["../room.yaml", "-o", "a.npz", "--budget", "nan"], "positive number of seconds"),
    "seed": (["../room.yaml", "-o", "a.npz", "--seed", "-1"], "seed"),
    "no variants": (["../room.yaml", "-o", "a.npz", "--variants", "0"], "between 1 and 1000"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_exit_code_2(case: str, folder: Path, monkeypatch, capsys):
    words, told = BAD[case]
    Path("../walk.bvh").write_text("HIERARCHY")
    second = "  bob: {body: {human: {}}, at: [9, 0]}\n"
    Path("../two.yaml").write_text(BOARD + second + TASK)
    Path("../typo.yaml").write_text(BOARD + TASK.replace("reach", "reech"))
    monkeypatch.setattr(sys, "argv", ["elbowroom", "run", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 2 and said.out == "" and names(folder) == []
    assert told in said.err.replace("\n", " ").replace("  ", " ")


@pytest.mark.parametrize("stage", ["plan", "write"])
def test_interrupted_leaves_nothing_and_exits_with_130(stage: str, folder: Path, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    planner(monkeypatch, lambda board, seed: shifted(board, 0.1))
    if stage == "plan":
        monkeypatch.setattr(storyboard_plan, "plan_storyboard", interrupted)
    else:  # the second of two files
        monkeypatch.setitem(save._WRITERS, ".bvh", interrupted)
    monkeypatch.setattr(sys, "argv", ["elbowroom", "run", "../room.yaml", "-o", "a.npz", "-o", "a.bvh"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130 and names(folder) == []
    assert capsys.readouterr().err.strip() == "elbowroom: interrupted; no partial files were left behind."


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
def test_control_c_at_any_time_leaves_nothing(folder: Path):
    """A long motion, written to two files, interrupted while it is made, proven or written."""
    Path("../long.yaml").write_text(BOARD.replace("seconds: 1", "seconds: 120"))
    for delay in (0.3, 1.5):
        code, told = interrupted(["run", "../long.yaml", "-o", "a.npz", "-o", "a.glb"], delay, folder)
        assert code == 130 and "Traceback" not in told, told
        assert names(folder) == []
