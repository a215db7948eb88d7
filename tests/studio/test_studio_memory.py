"""A studio at rest gives memory back that it no longer needs."""

from __future__ import annotations

import threading
import time

import pytest

from elbowroom.studio import worker as workers
from elbowroom.studio.worker import StudioJob, Worker, give_back


def test_a_worker_at_rest_gives_memory_back_once_after_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    given, enough = list[str](), threading.Event()

    def noted() -> None:
        give_back()
        given.append(threading.current_thread().name)
        enough.set()

    monkeypatch.setattr(workers, "give_back", noted)
    monkeypatch.setattr(workers, "_REST", 0.05)
    worker = Worker(name="tidy")
    try:
        job = worker.submit(StudioJob("first", lambda job: len(given)))
        assert job.finished.wait(10.0)
        assert enough.wait(10.0) and set(given) == {"tidy"}
        time.sleep(0.3)
        count = len(given)
        assert count <= 2  # at rest since it began, and since the job
        enough.clear()
        worker.submit(StudioJob("second", lambda job: None))
        assert enough.wait(10.0) and len(given) == count + 1
    finally:
        worker.stop()
