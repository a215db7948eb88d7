"""Memory that is no longer needed goes back to the system: threads that plan leave much of it lying about."""

from __future__ import annotations

import ctypes
from collections.abc import Callable


def give_back() -> None:
    """Give back what was freed; on systems whose C library does so by itself nothing is done."""
    if _TRIM is not None:
        _TRIM(0)


def _found() -> Callable[[int], int] | None:
    """`malloc_trim` of the GNU C library, where that is the one."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return trim


_TRIM = _found()
