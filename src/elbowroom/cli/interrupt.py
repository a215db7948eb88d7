"""Handling of Ctrl-C and termination signals at any time, even inside libraries that would swallow them."""

from __future__ import annotations

import gc
import signal
import threading
from types import FrameType

# Code in which an interrupt is dropped or does harm: half-done imports, callbacks of a C library, files that are put in
# place together.
_DEAF = ("<frozen importlib", "llvmlite", "elbowroom/files/atomic.py")
# Exit code after Ctrl-C, as typer's.
INTERRUPTED = 130
# Requests to end that are answered as Ctrl-C is, so that nothing half written is left: of `kill`, of a closed terminal.
_REQUESTS = (signal.SIGTERM, signal.SIGHUP)
# Seconds after which an interrupt that came at a bad time is tried again.
_AGAIN = 0.05
# Seconds after which an interrupt that nobody answered is raised again: a library caught it.
_UNHEARD = 2.0


def heed_interrupts() -> None:
    """Raise `KeyboardInterrupt` on Ctrl-C and termination signals from now on, as soon as running code lets it through.

    The code that handles it calls `heard`.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _asked)
        signal.signal(signal.SIGALRM, _asked)
        for number in _REQUESTS:
            if signal.getsignal(number) is signal.SIG_DFL:  # what `nohup` ignores stays so
                signal.signal(number, _asked)


def interrupted_by() -> int:
    """Exit code of an interrupted command: 130 after Ctrl-C, 143 after `kill`."""
    return 128 + _request if _request is not None else INTERRUPTED


def heard() -> None:
    """Mark the interrupt as handled, so that it is not raised again."""
    if threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def ending() -> None:
    """Ignore further signals: the command is over and only its exit code is left, which no Ctrl-C may change.

    During shutdown Python restores the default signal handlers, and a late Ctrl-C would end the process as if nothing
    had been written; an ignored signal stays ignored. Python would also run a full garbage collection, although the
    system frees everything at once: skipping that saves up to a second.
    """
    gc.freeze()
    heard()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, *_REQUESTS):
            signal.signal(number, signal.SIG_IGN)


# The request to end that came first.
_request: int | None = None


def _asked(number: int, frame: FrameType | None) -> None:
    global _request
    if number in _REQUESTS and _request is None:
        _request = number
    if deaf(frame):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        return
    signal.setitimer(signal.ITIMER_REAL, _UNHEARD)
    raise KeyboardInterrupt


def deaf(frame: FrameType | None) -> bool:
    """Return whether a frame or one around it runs code that nothing may be raised in."""
    while frame is not None:
        if any(place in frame.f_code.co_filename for place in _DEAF):
            return True
        frame = frame.f_back
    return False
