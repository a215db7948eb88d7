"""Many postures at once."""

from __future__ import annotations

from elbowroom.kernels.compiled import njit_nogil
from elbowroom.kernels.fields import UNCERTAIN
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
