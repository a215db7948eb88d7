"""Compiled code that does not count references.

A check of a posture takes a microsecond and sees a hundred arrays; counting who uses each, up and down, takes three.
Functions made so must not make arrays, and whoever calls them keeps those that they are given.
"""

from __future__ import annotations

from functools import partial

import numba as nb

lean = partial(nb.njit, cache=True, nogil=True, _nrt=False)
