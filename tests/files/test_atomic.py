"""Outputs that cannot be written are refused before anything is planned, and nothing is left of the attempt."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elbowroom.cli import main
from elbowroom.errors import BadFile
from elbowroom.files.atomic import check_writable, tidy, writing
from elbowroom.files.save import check_outputs
from elbowroom.report.page import check_page


def refused(folder: Path) -> dict[Path, str]:
    """Names of files that cannot be written, also not by root, and what is said of them."""
    (folder / "plain").write_text("a file")
    (folder / "folder.html").mkdir()
    (folder / "locked.html").write_text("keep")
    (folder / "locked.html").chmod(0o444)
    os.mkfifo(folder / "pipe.html")
    return {
        folder / "plain" / "a.html": "is in a folder that does not exist",
        folder / "none" / "a.html": "is in a folder that does not exist",
        folder / "folder.html": "is a folder",
        folder / "locked.html": "is read-only",
        folder / "pipe.html": "is not a regular file",
        Path("/proc/a.html"): "cannot be written",
        folder / ("x" * 300 + ".html"): "cannot be written",
    }


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    for path, said in refused(tmp_path).items():
        for check in (check_writable, check_page, lambda p: check_outputs([p])):
            with pytest.raises(BadFile, match=said):
                check(path)
    assert (tmp_path / "locked.html").read_text() == "keep"


def test_what_can_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "old.html").write_text("old")
    for name in ("old.html", "new.html"):
        assert check_writable(tmp_path / name) == tmp_path / name
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"old.html": "old"}


@pytest.mark.parametrize("words", [["run", "x.yaml", "-o"], ["convert", "x.yaml"], ["render", "x.yaml", "-o"]])
def test_commands_look_at_outputs_first(tmp_path: Path, monkeypatch, capsys, words: list[str]) -> None:
    """The storyboard is no storyboard: it was not even read."""
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_text("nothing")
    suffix = ".png" if words[0] == "render" else ".glb"
    monkeypatch.setattr(sys, "argv", ["elbowroom", *words, f"/proc/out{suffix}"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and "cannot be written" in capsys.readouterr().err


KILLED = """
import os, signal, sys
from elbowroom.files.atomic import writing
with writing(sys.argv[1]) as (stand_in,):
    stand_in.write_text("half")
    print(stand_in, flush=True)
    os.kill(os.getpid(), signal.SIGKILL) if sys.argv[2] == "killed" else sys.stdin.readline()
"""


def started(target: Path, how: str) -> tuple[subprocess.Popen[str], Path]:
    """A process that has begun to write a file, and the stand-in of that."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(target), how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """Another process that is still writing keeps its stand-in, and so does everything that is not ours."""
    running, alive = started(tmp_path / "c.glb", "running")
    killed, left = started(tmp_path / "a-b.glb", "killed")
    killed.wait()
    other = tmp_path / ".c-elbowroom-zzzzzzzz-1-x.glb"
    elsewhere = tmp_path / ".c-elbowroom-00000000-1-x.glb"
    forgotten = tmp_path / ".d-elbowroom-00000000-1-x.glb"
    for path in (other, elsewhere, forgotten, tmp_path / ".hidden-abc.glb"):
        path.write_text("keep")
    week = time.time() - 8 * 24 * 3600.0
    os.utime(forgotten, (week, week))
    assert left.exists() and alive.exists() and left.suffix == ".glb"
    tidy(tmp_path)
    assert not left.exists() and not forgotten.exists()
    assert all(path.exists() for path in (alive, other, elsewhere, tmp_path / ".hidden-abc.glb"))
    running.communicate("done\n")
    assert (tmp_path / "c.glb").read_text() == "half" and not alive.exists()


def test_the_next_file_in_a_folder_is_written_without_leftovers(tmp_path: Path) -> None:
    killed, left = started(tmp_path / "a.txt", "killed")
    killed.wait()
    with writing(tmp_path / "b.txt") as (stand_in,):
        assert not left.exists()
        stand_in.write_text("whole")
    assert {path.name for path in tmp_path.iterdir()} == {"b.txt"}


def test_names_as_long_as_a_system_takes_are_written(tmp_path: Path) -> None:
    name = "ä" * 120 + ".glb"
    with writing(tmp_path / name) as (stand_in,):
        stand_in.write_text("whole")
    assert (tmp_path / name).read_text() == "whole"
