"""Ctrl-C that is heard at any time, also while libraries are loaded, some of which swallow it."""

from __future__ import annotations

import signal
import threading
from types import FrameType

# Seconds after which an interrupt that came at a bad time is tried again.
_AGAIN = 0.05


def heed_interrupts() -> None:
    """From now on Ctrl-C raises `KeyboardInterrupt`: after the import that is going on, the second time at once."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _asked)
        signal.signal(signal.SIGALRM, _asked)


def _asked(number: int, frame: FrameType | None) -> None:
    waiting = signal.getitimer(signal.ITIMER_REAL)[0] > 0.0
    again = _importing(frame) and not waiting
    signal.setitimer(signal.ITIMER_REAL, _AGAIN if again else 0.0)
    if not again:
        raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
