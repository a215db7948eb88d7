"""Commands that run inside of a test take Ctrl-C over and end for good; after it, pytest has everything back."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGALRM)]
    yield
    gc.unfreeze()
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    for number, handler in before:
        signal.signal(number, handler)
