"""Registry of verbs: those of this package can be planned, and one file adds another."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import elbowroom.plan.tasks as registry
from conftest import ROOT
from elbowroom.errors import BadValue
from elbowroom.plan.tasks import Grab, Put, Rest, Task, only, verbs

BOARD = """elbowroom: 1
fps: 30
scene: {floor: 0}
characters: {ann: {body: {human: {height: 1.70}}, clip: {idle: {seconds: 2}}}}
tasks: [{wave: {who: ann, times: 2}}, {rest: {who: ann}}]
"""
_SAY = """
import json, sys
import numpy as np
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import read_storyboard, storyboard_schema
from elbowroom.studio.task_forms import VERBS
plan = plan_storyboard(read_storyboard(sys.argv[1]))
clip = plan.world.motion("ann")
hand = clip.world()[:, clip.character.hand("right")[0], :3, 3]
turns = int((np.diff(np.sign(np.diff(hand[:, 0][np.abs(np.diff(hand[:, 0], prepend=0)) > 1e-4]))) != 0).sum())
known = "WavePart" in storyboard_schema()["$defs"] and VERBS["wave"].hand == "hand"
print(json.dumps([plan.status, plan.why, float(hand[:, 2].max() - hand[0, 2]), turns, known]))
"""


def run(code: str, board: Path, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run code on a storyboard in a process that imports from some more folders."""
    path = os.pathsep.join(map(str, [ROOT / "src", *paths]))
    words = [sys.executable, "-c", code, str(board)]
    return subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=300)


def installed(folder: Path, text: str) -> Path:
    """A storyboard in a folder of imports in which the example's package is installed."""
    info = folder / "wave-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wave\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[elbowroom.verbs]\nwave = wave:Wave\n")
    board = folder / "board.yaml"
    board.write_text(text)
    return board


def test_a_verb_of_another_package_is_planned_from_a_storyboard(tmp_path: Path) -> None:
    done = run(_SAY, installed(tmp_path, BOARD), tmp_path, ROOT / "examples")
    assert done.returncode == 0, done.stderr
    status, why, rises_m, turns, known = json.loads(done.stdout.splitlines()[-1])
    assert status == "found" and known, why
    assert rises_m > 0.5 and turns >= 3, "the right hand goes up, and from side to side twice"


def test_a_wrong_argument_of_such_a_verb_is_told_with_its_line(tmp_path: Path) -> None:
    board = installed(tmp_path, BOARD.replace("times: 2", "times: 0"))
    done = run(_SAY, board, tmp_path, ROOT / "examples")
    assert done.returncode != 0 and "line 5: tasks[0].wave.times: " in done.stderr


def test_without_its_package_a_verb_is_unknown(tmp_path: Path) -> None:
    board = tmp_path / "board.yaml"
    board.write_text(BOARD)
    done = run(_SAY, board)
    assert done.returncode != 0 and "tasks[0].wave: is not a verb" in done.stderr


def test_no_other_file_names_the_verb_of_the_example() -> None:
    rooms = ("plan", "storyboard", "studio", "cli")
    files = [path for room in rooms for path in (ROOT / "src" / "elbowroom" / room).rglob("*.py")]
    assert files and not [path for path in files if re.search(r"\bwave\b|\bWave\b", path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("kind", verbs().values(), ids=lambda kind: kind.verb)
def test_functions_of_verbs_exist(kind: type[Task]) -> None:
    for named in filter(None, (kind.by_hand, kind.by_foot)):
        module, _, name = named.partition(":")
        assert callable(getattr(import_module(f"elbowroom.plan.{module}"), name))
    assert kind.by_hand or kind.repairs or kind.steps is not Task.steps, "it says how it is planned"
    assert bool(kind.by_foot) == ("foot" in kind.__dataclass_fields__)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("no_such_module:Wave", "cannot be loaded"),
        ("json:dumps", "must name a subclass"),
        ("elbowroom.plan.tasks:Task", "lower-case letters"),
        ("elbowroom.plan.tasks:Grab", "a second verb 'grab'"),
    ],
)
def test_entry_points_that_are_no_verbs_are_told(value: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: [EntryPoint("other", value, group)])
    with pytest.raises(BadValue, match=f"entry point 'other = {value}'.*{says}"):
        verbs.__wrapped__()


def test_only_keeps_tasks_of_one_verb() -> None:
    grab, put = Grab(who="ann", object="cup"), Put(who="ann", object="cup", onto="table")
    assert only([grab, put, Rest(who="ann")], Put) == [put]


@pytest.mark.parametrize("folder", ["plan", "storyboard"])
def test_types_of_tasks_are_asked_for_in_the_registry_alone(folder: str) -> None:
    names = "|".join(kind.__name__ for kind in verbs().values())
    asks = re.compile(rf"isinstance\([^()]*\b(?:task|args|part), [^()]*\b(?:{names})(?:Part)?\b")
    files = (ROOT / "src" / "elbowroom" / folder).rglob("*.py")
    assert not [path for path in files if asks.search(path.read_text(encoding="utf-8"))]
    assert asks.search("if isinstance(task, Open | Close):") and asks.search("isinstance(self.task, Carry)")
