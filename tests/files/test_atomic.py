"""Outputs that cannot be written are refused before anything is planned, and nothing is left of the attempt."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from elbowroom.cli import main
from elbowroom.errors import BadFile
from elbowroom.files.atomic import check_writable
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
