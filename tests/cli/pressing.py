"""Ctrl-C pressed, or another signal sent, while a command runs in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def interrupted(words: Sequence[str], delay: float, folder: Path) -> tuple[int, str]:
    """Exit code and standard error of a command that is interrupted so many seconds after it was loaded."""
    code = "from elbowroom.cli import main; print('on', flush=True); main()"
    started = subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdout is not None and started.stdout.readline() == "on\n"
    time.sleep(delay)
    started.send_signal(signal.SIGINT)
    _, told = started.communicate(timeout=120)
    return started.returncode, told
