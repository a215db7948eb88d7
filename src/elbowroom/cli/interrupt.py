"""Ctrl-C that is heard at any time, also while libraries are loaded, some of which swallow it."""

from __future__ import annotations

import signal
from types import FrameType

# Seconds after which an interrupt that came at a bad time is tried again.
_AGAIN = 0.05


def heed_interrupts() -> None:
    """From now on Ctrl-C raises `KeyboardInterrupt`; in the middle of an import it waits for its end, the first time."""
    signal.signal(signal.SIGINT, _asked)
    signal.signal(signal.SIGALRM, _asked)


def _asked(number: int, frame: FrameType | None) -> None:
    waiting = signal.getitimer(signal.ITIMER_REAL)[0] > 0.0
    if _importing(frame) and not waiting:
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    else:
        raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
