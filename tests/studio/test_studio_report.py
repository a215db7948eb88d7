"""The report of the studio: the motion that is shown, measured, as a page in the folder to work in."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from elbowroom.errors import BadValue
from elbowroom.gallery.scenes import FOLDER, scenario
from elbowroom.studio.document import read_document
from elbowroom.studio.exporting import report_on
from elbowroom.studio.folders import Folders
from elbowroom.studio.studio import Studio


def test_the_motion_that_is_shown_is_reported_or_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    work = tmp_path / "work"
    work.mkdir()
    studio = Studio(read_document(scenario("umbrella").path, given=True), Folders(work, [FOLDER]), tmp_path / "state")
    try:
        studio.replan()
        job = report_on(studio, "rain")  # waits for the motion that is being planned
        assert job.finished.wait(120.0) and job.state == "done", studio.said
        text = (work / "rain-report.html").read_text()
        assert text.rstrip().endswith("</html>") and 'id="ann-difference"' in text and studio.certified
        assert studio.said[1].startswith("Wrote rain-report.html. Ready to use") and studio.said[0] == "good"

        begun, go_on = threading.Event(), threading.Event()

        def held_up(*_: object, **__: object) -> None:
            begun.set()
            go_on.wait(20.0)

        monkeypatch.setattr("elbowroom.report.report", held_up)
        job = report_on(studio, "never")
        assert begun.wait(20.0)
        studio.cancel()
        go_on.set()
        assert job.finished.wait(20.0) and job.state == "cancelled"
        assert [p.name for p in work.iterdir()] == ["rain-report.html"]
        for stem in (" ", "../x"):
            with pytest.raises(BadValue):
                report_on(studio, stem)
    finally:
        studio.close()
