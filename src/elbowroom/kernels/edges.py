"""Many postures at once: a batch, or a whole edge in space and time."""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.fields import FREE, UNCERTAIN
from elbowroom.kernels.validity import check


@njit_nogil()
def check_batch(limb, around, q, t, doubts_until, buffers, out):
    """Verdicts out (N,) of postures q (N, searched, 4) at times t (N,), of those that are UNCERTAIN so far.

    Each ends with its first doubt, or with `doubts_until` > 1 with a sure hit. Returns the doubts of the last, in the
    buffers then.
    """
    doubts = 0
    for i in range(q.shape[0]):
        if out[i] == UNCERTAIN:
            out[i], doubts = check(limb, around, q[i], t[i], doubts_until, buffers)
    return doubts


@inner()
def slerp(a, b, s, out):
    """Rotations out (n, 4) between a and b (n, 4), the shorter way each."""
    for j in range(a.shape[0]):
        d = a[j, 0] * b[j, 0] + a[j, 1] * b[j, 1] + a[j, 2] * b[j, 2] + a[j, 3] * b[j, 3]
        sign = -1.0 if d < 0.0 else 1.0
        d = min(abs(d), 1.0)
        u, v = 1.0 - s, s * sign
        if d < 0.9999995:
            angle = np.arccos(d)
            u = np.sin((1.0 - s) * angle) / np.sin(angle)
            v = sign * np.sin(s * angle) / np.sin(angle)
        size = 0.0
        for i in range(4):
            out[j, i] = u * a[j, i] + v * b[j, i]
            size += out[j, i] * out[j, i]
        size = np.sqrt(size)
        for i in range(4):
            out[j, i] /= size


@njit_nogil()
def check_edge(limb, around, qa, ta, qb, tb, steps, buffers, between):
    """(verdict, share) of the way from one posture and time to another, seen at `steps` + 1 even places.

    The places come in bisection order, the ends first, so that what is in the way is met early; `share` tells where.
    A doubt ends the walk like a hit. between (searched, 4) is room to work in.
    """
    for end in range(2):
        v = check(limb, around, qb if end else qa, tb if end else ta, 1, buffers)[0]
        if v != FREE:
            return v, float(end)
    # breadth first: 1/2, 1/4, 3/4, 1/8, ...
    width = 1
    while width < steps:
        width *= 2
    stride = width // 2
    while stride >= 1:
        k = stride
        while k < width:
            # places of the padded count that fall on the same even place are seen once
            place = (k * steps) // width
            if place > 0 and (place * width + steps - 1) // steps == k:
                s = place / steps
                slerp(qa, qb, s, between)
                v = check(limb, around, between, ta + s * (tb - ta), 1, buffers)[0]
                if v != FREE:
                    return v, s
            k += 2 * stride
        stride //= 2
    return FREE, 1.0
