"""Return of freed memory to the system: planning threads leave much of it allocated."""

from __future__ import annotations

import ctypes
from collections.abc import Callable


def give_back() -> None:
    """Return freed memory to the system; does nothing where the C library does so by itself."""
    if _TRIM is not None:
        _TRIM(0)


def _found() -> Callable[[int], int] | None:
    """Function `malloc_trim` of the GNU C library, None elsewhere."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return trim


_TRIM = _found()
