"""Exceptions out of the blue, for work that does not stop by itself: where none may come, and how one does."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from types import FrameType

# Code in which an exception out of the blue is dropped or does harm: half-done imports, callbacks of a C library, files
# that are put in place together.
_DEAF = ("<frozen importlib", "llvmlite", "elbowroom/files/atomic.py")
# Code that is of no more use after one, wherever it goes on: the compiler. Compiled code itself has no such frames.
_LASTING = ("/numba/",)


def deaf(frame: FrameType | None, *, ends: bool = True) -> bool:
    """Return whether a frame or one around it runs code that nothing may be raised in; if all `ends` then, more may."""
    places = _DEAF if ends else _DEAF + _LASTING
    while frame is not None:
        if any(place in frame.f_code.co_filename for place in places):
            return True
        frame = frame.f_back
    return False


class Cancelled(BaseException):
    """Raised inside of a job that was cancelled; no `except Exception` holds it up."""


def raise_in(thread: threading.Thread, error: type[BaseException] | None = Cancelled) -> None:
    """Have an exception raised in a thread when it next runs Python; None takes one back that was not raised yet."""
    if thread.ident is not None:
        _send(thread.ident, error)
        if error is None:
            _answered()


def _send(ident: int, error: type[BaseException] | None) -> None:
    raised = ctypes.py_object(error) if error is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), raised)


class _Answered(BaseException):
    """Raised and caught at once."""


def _answered() -> None:
    """Let Python know that no exception is on its way any more.

    It does not find out by itself where one was taken back: from then on every call of any thread looks for it, and
    with a trace function (debuggers, coverage) Python 3.11 looks for ever.
    """
    try:
        _send(threading.get_ident(), _Answered)
        while True:
            pass
    except _Answered:
        return


def hear_what_is_dropped(dropped_one: Callable[[], None]) -> None:
    """Call `dropped_one` from now on if a cancel arrives during a callback of the collector or of C code.

    These drop whatever is raised in them. Only the first call of this function counts.
    """
    before = sys.unraisablehook
    if getattr(before, "hears_cancelled", False):
        return

    def hook(dropped: sys.UnraisableHookArgs, /) -> None:
        if not issubclass(dropped.exc_type, Cancelled):
            return before(dropped)
        dropped_one()

    hook.hears_cancelled = True  # type: ignore[attr-defined]
    sys.unraisablehook = hook
