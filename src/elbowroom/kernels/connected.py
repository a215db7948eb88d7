"""Connected parts of graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import njit_nogil


def connected(count: int, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Label (count,) of the part that each node belongs to: its smallest node; edges join `one` and `other` (E,)."""
    label = np.arange(count)
    _join(label, one, other)
    return label


@njit_nogil()
def _join(label: NDArray[np.int64], one: NDArray[np.int64], other: NDArray[np.int64]) -> None:
    for k in range(len(one)):
        a, b = one[k], other[k]
        while label[a] != a:
            label[a] = label[label[a]]
            a = label[a]
        while label[b] != b:
            label[b] = label[label[b]]
            b = label[b]
        label[max(a, b)] = min(a, b)
    for k in range(len(label)):  # a node's parent is smaller than it, and done before
        label[k] = label[label[k]]
