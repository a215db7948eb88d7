"""One thread for long work: jobs one after the other, each can be cancelled; of live jobs only the latest counts."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Literal

from elbowroom.studio.memory import give_back

# Seconds without a job after which there is time to tidy up.
_REST = 2.0

State = Literal["waiting", "running", "done", "failed", "cancelled"]


# Code in which an exception out of the blue is dropped or does harm: half-done imports, callbacks of a C library, files
# that are put in place together.
_DEAF = ("<frozen importlib", "llvmlite", "elbowroom/files/atomic.py")
# Code that is of no more use after one, wherever it goes on: the compiler. Compiled code itself has no such frames.
_LASTING = ("/numba/",)


def deaf(frame: FrameType | None, *, ends: bool = True) -> bool:
    """Whether code is at work, in a frame or around it, that nothing may be raised in; if all `ends` then, more may."""
    places = _DEAF if ends else _DEAF + _LASTING
    while frame is not None:
        if any(place in frame.f_code.co_filename for place in places):
            return True
        frame = frame.f_back
    return False


class Cancelled(BaseException):
    """Raised inside of a job that was cancelled; no `except Exception` holds it up."""


@dataclass(eq=False)
class Job:
    """Something to do. `work` is given the job, so that it can tell its `progress`, 0 to 1, or None where unknown.

    Where it turns out that it takes long, `lengthy` says so. `done` is called with the result, `failed` with the
    error, both in the worker's thread.
    """

    what: str
    work: Callable[[Job], Any]
    done: Callable[[Any], None] = lambda result: None
    failed: Callable[[BaseException], None] = lambda error: None
    state: State = "waiting"
    progress: float | None = None
    step: str = ""
    lengthy: bool = False
    begun: float = 0.0
    ended: float = 0.0
    finished: threading.Event = field(default_factory=threading.Event)

    @property
    def seconds(self) -> float:
        """How long it has been running, or took."""
        return 0.0 if not self.begun else (self.ended or time.perf_counter()) - self.begun

    def tell(self, progress: float | None, step: str = "") -> None:
        """Say how far it is; a cancelled job ends here at the latest."""
        if self.state == "cancelled":
            raise Cancelled
        self.progress, self.step = progress, step or self.step


class Worker:
    """Runs jobs in one thread. `changed` is called whenever a job begins or ends, in whichever thread that is."""

    def __init__(self, changed: Callable[[], None] = lambda: None, name: str = "studio-worker") -> None:
        _hear_what_is_dropped()
        _WORKERS.add(self)
        self._changed = changed
        self._wake = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._live: Job | None = None
        self._idle: Job | None = None  # the last one that makes way for others
        self._now: Job | None = None
        self._working = False  # whether a job is at it, and not at its end
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.is_alive()

    @property
    def current(self) -> Job | None:
        """The job that is being done, or the next one."""
        with self._wake:
            return self._now or self._live or (self._waiting[0] if self._waiting else None)

    @property
    def busy(self) -> bool:
        """Whether anything is left to do."""
        return self.current is not None

    def submit(self, job: Job) -> Job:
        """Do a job after those that wait already."""
        with self._wake:
            self._waiting.append(job)
            if self._now is not None and self._now is self._idle:
                self._stop_now()
            self._wake.notify()
        return job

    def submit_live(self, job: Job) -> Job:
        """Do a job as soon as the thread is free, in place of a live job that has not begun yet, or an idle one."""
        with self._wake:
            if self._live is not None:
                self._end(self._live, "cancelled")
            self._live = job
            if self._now is not None and self._now is self._idle:
                self._stop_now()
            self._wake.notify()
        return job

    def submit_idle(self, job: Job) -> bool:
        """Do a job that makes way for any other, if nothing else waits; whether it was taken."""
        with self._wake:
            if self._waiting or self._live is not None:
                return False
            self._live = self._idle = job
            self._wake.notify()
        return True

    def cancel(self, *, waiting: bool = True) -> bool:
        """Stop the job that runs, and forget those that wait; whether there was any."""
        with self._wake:
            any_left = self._now is not None or bool(self._waiting) or self._live is not None
            for job in (*self._waiting, *([self._live] if self._live else [])) if waiting else ():
                self._end(job, "cancelled")
            if waiting:
                self._waiting.clear()
                self._live = None
            self._stop_now()
        return any_left

    def cancel_again(self) -> None:
        """Raise once more in a job that was cancelled and is still at work."""
        with self._wake:
            if self._working and self._now is not None and self._now.state == "cancelled":
                self._raise()

    def stop(self, timeout: float = 5.0) -> None:
        """Cancel everything and end the thread; one that is amid compiled code for longer ends when that does."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self.cancel()
        self._thread.join(timeout)

    def _stop_now(self) -> None:
        if self._now is not None and self._now.state == "running":
            self._now.state = "cancelled"
            self._raise()

    def _raise(self) -> None:
        """Raise in the job that runs, later where that would leave a module half imported."""
        if not self._deaf:
            _raise_in(self._thread)
            if not self._deaf:
                return
            _raise_in(self._thread, None)  # it has gone on meanwhile
        threading.Timer(_AGAIN, self.cancel_again).start()

    @property
    def _deaf(self) -> bool:
        return deaf(sys._current_frames().get(self._thread.ident or 0), ends=False)

    def _run(self) -> None:
        while True:
            try:
                self._rest()
                if not self._step():
                    return
            except Cancelled:  # one that came too late for its job
                continue

    def _rest(self) -> None:
        """Wait for a job; where none comes for a while, what the last ones have left goes back to the system."""
        with self._wake:
            asked = self._wake.wait_for(lambda: self._waiting or self._live or self._stopping, _REST)
        if not asked:
            give_back()

    def _step(self) -> bool:
        """Do the next job; False when the worker is to end."""
        with self._wake:
            while not (self._waiting or self._live or self._stopping):
                self._wake.wait()
            if self._stopping:
                return False
            # a job that waits was asked for on purpose; a live one goes before it only if it came alone
            job = self._waiting.popleft() if self._waiting else self._live
            assert job is not None
            if job is self._live:
                self._live = None
            self._now, job.state, job.begun = job, "running", time.perf_counter()
            self._working = True
        self._changed()
        try:
            result = job.work(job)
            self._settle(job, "done")
            if job.state == "done":
                job.done(result)
        except Cancelled:
            self._settle(job, "cancelled")
        except BaseException as error:
            self._settle(job, "failed")
            if job.state == "failed":
                job.failed(error)
        finally:
            with self._wake:
                self._now = None
                self._end(job, job.state)
            self._changed()
        return True

    def _settle(self, job: Job, state: State) -> None:
        """Give a job its last state; one that was cancelled in its last moment stays so, and its result is dropped."""
        with self._wake:
            job.state = state if job.state == "running" else job.state
            self._working = False
            _raise_in(self._thread, None)

    def _end(self, job: Job, state: State) -> None:
        job.state = state
        job.ended = time.perf_counter() if job.begun else 0.0
        job.finished.set()


def _raise_in(thread: threading.Thread, error: type[BaseException] | None = Cancelled) -> None:
    """Have an exception raised in a thread when it next runs Python; None takes one back that was not raised yet."""
    if thread.ident is not None:
        raised = ctypes.py_object(error) if error is not None else None
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), raised)


_WORKERS: weakref.WeakSet[Worker] = weakref.WeakSet()
# Seconds after which a cancel that was dropped is raised again: callbacks are over by then.
_AGAIN = 0.02


def _hear_what_is_dropped() -> None:
    """From now on a cancel that comes amid a callback of the collector or of C code, which drop it, is raised again."""
    before = sys.unraisablehook
    if getattr(before, "hears_cancelled", False):
        return

    def hook(dropped: sys.UnraisableHookArgs, /) -> None:
        if not issubclass(dropped.exc_type, Cancelled):
            return before(dropped)
        for worker in _WORKERS:
            threading.Timer(_AGAIN, worker.cancel_again).start()

    hook.hears_cancelled = True  # type: ignore[attr-defined]
    sys.unraisablehook = hook
