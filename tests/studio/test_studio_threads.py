"""How many threads a studio may have: its own, by name, and viser's, which has one for the server and a pool."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

from elbowroom.stopping import may_stop_here
from elbowroom.studio.document import new_document
from elbowroom.studio.folders import Folders
from elbowroom.studio.page import Page
from elbowroom.studio.server import StudioServer
from elbowroom.studio.studio import Studio
from elbowroom.studio.worker import StudioJob

# Acts of the user that viser does at the same time; what comes besides waits.
_POOL = 32


def endless(job: StudioJob) -> None:
    while True:
        may_stop_here()


def test_however_much_is_done_at_once_threads_are_bounded(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    studio = Studio(new_document(tmp_path), Folders(tmp_path), tmp_path / "state")
    server, gate, done = StudioServer("127.0.0.1", 0, "a-token-of-tests"), threading.Event(), threading.Semaphore(0)
    page = Page(studio, server)

    def act() -> None:
        gate.wait(20.0)
        studio.cancel()
        done.release()

    try:
        for _ in range(100):  # clicks while the studio is busy
            server.gui._thread_executor.submit(studio.trying, act)
            studio.worker.submit_idle(StudioJob("endless", endless))
            studio.worker.cancel()
        new = [t for t in threading.enumerate() if t not in before]
        kinds = Counter(t.name.partition("_")[0].partition("-")[0] for t in new)
        assert kinds["ThreadPoolExecutor"] == _POOL
        own = sorted(t.name for t in new if t.name.startswith("studio-"))
        assert own == ["studio-files", "studio-handle", "studio-player", "studio-status", "studio-worker"]
        assert len(new) <= _POOL + len(own) + 3, kinds  # the server's, and clocks of cancels: one for each worker
        gate.set()
        assert all(done.acquire(timeout=20.0) for _ in range(100))
    finally:
        gate.set()
        page.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("studio-")]
