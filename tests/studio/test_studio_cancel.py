"""Cancels: work stops where it looks up, and nothing is half done then."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from studio_makers import studio_of, umbrella

from elbowroom.geometry import fields
from elbowroom.geometry.solids import box
from elbowroom.stopping import Cancelled, may_stop_here, stoppable
from elbowroom.studio.worker import StudioJob, Worker


def test_work_stops_where_it_looks_up_and_the_next_job_is_done() -> None:
    worker, looked = Worker(), threading.Event()

    def endless(job: StudioJob) -> None:
        while True:
            may_stop_here()
            time.sleep(0.001)

    def stubborn(job: StudioJob) -> None:
        looked.wait()  # nobody is stopped amid something
        may_stop_here()

    try:
        for work in (endless, stubborn, endless):
            job = worker.submit(StudioJob("endless", work))
            while job.state != "running":
                time.sleep(0.001)
            worker.cancel()
            if work is stubborn:
                assert not job.finished.wait(0.2) and job.state == "cancelled"
                looked.set()
            assert job.finished.wait(10.0) and job.state == "cancelled"
        assert worker.alive
    finally:
        worker.stop()
    may_stop_here()  # nobody asks here


def test_a_plan_stops_by_itself_whenever_it_is_cancelled(tmp_path: Path) -> None:
    with studio_of(umbrella(), tmp_path) as studio:
        for after in (0.0, 0.05, 0.15, 0.3, 0.45, 0.6):
            studio.plan_from_scratch()
            job = studio.worker.current
            assert job is not None
            while job.state == "waiting":
                time.sleep(0.001)
            time.sleep(after)
            studio.cancel()
            assert job.finished.wait(60.0)
            assert job.state == "cancelled" or after > 0.3  # a quick machine may be done by then


def test_a_studio_that_is_busy_ends_at_once(tmp_path: Path) -> None:
    with studio_of(umbrella(), tmp_path) as studio:
        studio.replan()
        while studio.worker.current is None or studio.worker.current.state != "running":
            time.sleep(0.001)
        time.sleep(0.1)
        job = studio.worker.current
        studio.close()
        assert not studio.worker.alive and not studio.filer.alive and not studio.player.alive
        assert job is not None and job.state in ("cancelled", "done")


def test_distance_fields_stop_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices are measured by other threads, which nobody asks to stop: who waits for them does."""
    monkeypatch.setattr(fields, "FEW_BRICKS", 1)
    monkeypatch.setattr(fields, "_SLICE", 10)
    looks: list[int] = []

    def look() -> None:
        looks.append(1)
        if len(looks) == 3:
            raise Cancelled

    mesh = box([1.0, 1.3, 0.7])
    with pytest.raises(Cancelled), stoppable(look):
        fields.distance_field(mesh, keep=False)
    assert len(looks) == 3
    assert fields.distance_field(mesh, keep=False).arrays.start.shape  # what was given up is made anew
