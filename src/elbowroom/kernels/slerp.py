"""Compiled interpolation of rotations: sampling a clip at one time is asked for a million times."""

from __future__ import annotations

import math

import numba as nb


@nb.njit(cache=True, nogil=True)
def slerp(a, b, s, out):
    """Interpolate from unit quaternions a (N, 4) the shorter way to b (N, 4), by shares s (N,), into out (N, 4)."""
    for i in range(len(out)):
        dot = a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1] + a[i, 2] * b[i, 2] + a[i, 3] * b[i, 3]
        sign = 1.0 if dot >= 0.0 else -1.0
        square = 0.0
        for c in range(4):
            out[i, c] = sign * b[i, c] - sign * dot * a[i, c]  # the part of b that is square to a
            square += out[i, c] * out[i, c]
        sine = math.sqrt(square)
        angle = math.atan2(sine, sign * dot)
        along = math.cos(s[i] * angle)
        across = math.sin(s[i] * angle) / sine if sine > 1e-150 else s[i]
        for c in range(4):
            out[i, c] = along * a[i, c] + across * out[i, c]
