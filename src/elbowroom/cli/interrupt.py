"""Ctrl-C that is heard at any time, also inside libraries that would swallow it."""

from __future__ import annotations

import gc
import signal
import threading
from types import FrameType

from elbowroom.studio.forcing import deaf

# What a command ends with; what typer makes of Ctrl-C, too.
INTERRUPTED = 130
# Seconds after which an interrupt that came at a bad time is tried again.
_AGAIN = 0.05
# Seconds after which an interrupt that nobody answered is raised again: a library caught it.
_UNHEARD = 2.0


def heed_interrupts() -> None:
    """From now on Ctrl-C raises `KeyboardInterrupt`, as soon as code runs that lets it through; then call `heard`."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _asked)
        signal.signal(signal.SIGALRM, _asked)


def heard() -> None:
    """The interrupt has arrived where it is answered: it is not raised again."""
    if threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def ending() -> None:
    """The command is over, by itself or by an interrupt: only the exit code is left, which no Ctrl-C may change.

    While Python takes itself down it gives signals back to the system, where a late Ctrl-C would end the process as if
    nothing had been written; one that is ignored stays so. It also looks for garbage among all that there is, though
    the system takes everything back at once: what is left out of that saves up to a second.
    """
    gc.freeze()
    heard()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _asked(number: int, frame: FrameType | None) -> None:
    if deaf(frame):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        return
    signal.setitimer(signal.ITIMER_REAL, _UNHEARD)
    raise KeyboardInterrupt
