"""Thread for long work: jobs in sequence, each can be cancelled; of live jobs only the latest counts.

A cancelled job ends at its next stopping point (`stopping`).
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from elbowroom.stopping import Cancelled, Progressing, stoppable, watched
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.document import Document


def give_back() -> None:
    """Return freed memory to the system; does nothing where the C library does so automatically."""
    if _TRIM is not None:
        _TRIM(0)


def _found() -> Callable[[int], int] | None:
    """Function `malloc_trim` of the GNU C library, None elsewhere."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return trim


_TRIM = _found()


# Seconds without a job before tidying up.
_REST = 2.0

State = Literal["waiting", "running", "done", "failed", "cancelled"]


@dataclass(eq=False)
class StudioJob:
    """Unit of work. `work` gets the job, to report its `progress`, 0 to 1, or None if unknown.

    `progress_line` shows both with the time left. `lengthy` marks a job known to take long. `done` is called
    with the result, `failed` with the error, both in the worker's thread.
    """

    what: str
    work: Callable[[StudioJob], Any]
    done: Callable[[Any], None] = lambda result: None
    failed: Callable[[BaseException], None] = lambda error: None
    state: State = "waiting"
    progress: float | None = None
    step: str = ""
    line: Progressing = field(default_factory=lambda: Progressing(""))
    progress_line: str = ""
    lengthy: bool = False
    begun: float = 0.0
    ended: float = 0.0
    finished: threading.Event = field(default_factory=threading.Event)

    @property
    def seconds(self) -> float:
        """Duration so far, or in total."""
        return 0.0 if not self.begun else (self.ended or time.perf_counter()) - self.begun

    def tell(self, progress: float | None, step: str = "") -> None:
        """Report progress; a cancelled job ends here at the latest."""
        self.look()
        self.progress, self.step = progress, step or self.step
        self.line.doing = self.what
        self.progress_line = self.line.text(self.step, progress, time.perf_counter())

    def watching(self) -> AbstractContextManager[None]:
        """Show what work in this context reports."""
        return watched(lambda doing, share: self.tell(share, doing))

    def look(self) -> None:
        """End a cancelled job."""
        if self.state == "cancelled" and not self.finished.is_set():
            raise Cancelled

    def begin(self) -> None:
        """Mark the job as running."""
        self.state, self.begun = "running", time.perf_counter()

    def end(self, state: State) -> None:
        """Mark the job as ended."""
        self.state, self.ended = state, time.perf_counter() if self.begun else 0.0
        self.finished.set()

    def here(self) -> Any:
        """Run the job at once in this thread and return its result; raises `Cancelled` if it was cancelled."""
        self.begin()
        try:
            with stoppable(self.look), self.watching():
                result = self.work(self)
            self.look()
        except BaseException as error:
            self.end("cancelled" if isinstance(error, Cancelled) else "failed")
            raise
        self.end("done")
        return result


class Worker:
    """Runner of jobs in one thread. `changed` is called whenever a job begins or ends, in any thread."""

    def __init__(self, changed: Callable[[], None] = lambda: None, name: str = "studio-worker") -> None:
        self._changed = changed
        self._wake = threading.Condition()
        self._waiting: deque[StudioJob] = deque()
        self._live: StudioJob | None = None
        self._idle: StudioJob | None = None  # the last one that yields to others
        self._now: StudioJob | None = None
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Return whether its thread runs."""
        return self._thread.is_alive()

    @property
    def current(self) -> StudioJob | None:
        """Running job, or the next one."""
        with self._wake:
            return self._now or self._live or (self._waiting[0] if self._waiting else None)

    @property
    def busy(self) -> bool:
        """Return whether any job runs or waits."""
        return self.current is not None

    def submit(self, job: StudioJob) -> StudioJob:
        """Queue a job."""
        with self._wake:
            self._waiting.append(job)
            if self._now is not None and self._now is self._idle:
                self._stop_now()
            self._wake.notify()
        return job

    def submit_live(self, job: StudioJob) -> StudioJob:
        """Run a job as soon as the thread is free, replacing a live job that has not begun yet, or an idle one."""
        with self._wake:
            if self._live is not None:
                self._live.end("cancelled")
            self._live = job
            if self._now is not None and self._now is self._idle:
                self._stop_now()
            self._wake.notify()
        return job

    def submit_idle(self, job: StudioJob) -> bool:
        """Run a job that yields to any other, if nothing else waits; returns whether it was accepted."""
        with self._wake:
            if self._waiting or self._live is not None:
                return False
            self._live = self._idle = job
            self._wake.notify()
        return True

    def cancel(self, *, waiting: bool = True) -> bool:
        """Stop the running job and drop those that wait; returns whether there was any."""
        with self._wake:
            any_left = self._now is not None or bool(self._waiting) or self._live is not None
            for job in (*self._waiting, *([self._live] if self._live else [])) if waiting else ():
                job.end("cancelled")
            if waiting:
                self._waiting.clear()
                self._live = None
            self._stop_now()
        return any_left

    def stop(self, timeout: float = 5.0) -> None:
        """Cancel everything and end the thread; one inside compiled code ends when that returns."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self.cancel()
        self._thread.join(timeout)

    def _stop_now(self) -> None:
        if self._now is not None and self._now.state == "running":
            self._now.state = "cancelled"

    def _run(self) -> None:
        while True:
            # wait for a job; after a while without one, return freed memory to the system
            with self._wake:
                asked = self._wake.wait_for(lambda: self._waiting or self._live or self._stopping, _REST)
            if not asked:
                give_back()
            if not self._step():
                return

    def _step(self) -> bool:
        """Run the next job; returns False when the worker is to end."""
        with self._wake:
            while not (self._waiting or self._live or self._stopping):
                self._wake.wait()
            if self._stopping:
                return False
            # a waiting job was requested on purpose; a live one goes before it only if it came alone
            job = self._waiting.popleft() if self._waiting else self._live
            assert job is not None
            if job is self._live:
                self._live = None
            job.begin()
            self._now = job
        self._changed()
        try:
            with stoppable(job.look), job.watching():
                result = job.work(job)
            self._settle(job, "done")
            if job.state == "done":
                job.done(result)
        except Cancelled:
            self._settle(job, "cancelled")
        except BaseException as error:
            self._settle(job, "failed")
            if job.state != "cancelled":  # otherwise its result is irrelevant
                job.state = "failed"
                job.failed(error)
        finally:
            with self._wake:
                self._now = None
                job.end(job.state)
            self._changed()
        return True

    def _settle(self, job: StudioJob, state: State) -> None:
        """Set the final state of a job; one cancelled at the last moment stays so, and its result is dropped."""
        with self._wake:
            job.state = state if job.state == "running" else job.state


class BoardBuilder:
    """Builder of storyboards: `current` is the build under way; `changed` is called when one begins and ends."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.current: StudioJob | None = None

    def board(self, what: str, document: Document) -> Storyboard:
        """Storyboard of a document, for a named edit; raises `Cancelled` if it was cancelled."""
        job = self.current = StudioJob(what, lambda job: document.board())
        self._changed()
        try:
            return cast(Storyboard, job.here())
        finally:
            self.current = None
            self._changed()

    def cancel(self) -> bool:
        """Stop the current build; returns whether there was one."""
        job = self.current
        if job is not None:
            job.state = "cancelled"
        return job is not None
