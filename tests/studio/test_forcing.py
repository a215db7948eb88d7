"""Exceptions that are raised in other threads, and taken back."""

from __future__ import annotations

import subprocess
import sys

TAKEN_BACK = """
import sys, threading
from elbowroom.studio.forcing import raise_in
ends = threading.Event()
idle = threading.Thread(target=ends.wait)
idle.start()
raise_in(idle)
raise_in(idle, None)
sys.settrace(lambda *_: None)
def called(): return "went on"
print(called())
sys.settrace(None)
ends.set()
idle.join()
"""


def test_what_was_taken_back_does_not_hold_up_anybody():
    """With a trace function, calls of other threads would wait for ever for an exception that never comes."""
    told = subprocess.run([sys.executable, "-c", TAKEN_BACK], capture_output=True, text=True, timeout=60)
    assert told.stdout == "went on\n" and told.stderr == ""
