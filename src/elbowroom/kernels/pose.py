"""Forward kinematics, centre of mass and linear blend skinning."""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@nb.njit(cache=True, nogil=True)
def forward(parents: NDArray[np.int32], offsets: Array, root: Array, rotations: Array, out: Array) -> None:
    """World transforms of all joints of a batch of poses.

    parents (J,), parent-first, -1 for the root; offsets (J, 3) in the parent's frame; root (N, 3);
    rotations (N, J, 4) local, wxyz, unit; out (N, J, 4, 4) is overwritten.
    """
    for n in range(rotations.shape[0]):
        for j in range(rotations.shape[1]):
            w = rotations[n, j, 0]
            x = rotations[n, j, 1]
            y = rotations[n, j, 2]
            z = rotations[n, j, 3]
            a00 = 1 - 2 * (y * y + z * z)
            a01 = 2 * (x * y - w * z)
            a02 = 2 * (x * z + w * y)
            a10 = 2 * (x * y + w * z)
            a11 = 1 - 2 * (x * x + z * z)
            a12 = 2 * (y * z - w * x)
            a20 = 2 * (x * z - w * y)
            a21 = 2 * (y * z + w * x)
            a22 = 1 - 2 * (x * x + y * y)
            o = out[n, j]
            p = parents[j]
            if p < 0:
                o[0, 0], o[0, 1], o[0, 2], o[0, 3] = a00, a01, a02, root[n, 0]
                o[1, 0], o[1, 1], o[1, 2], o[1, 3] = a10, a11, a12, root[n, 1]
                o[2, 0], o[2, 1], o[2, 2], o[2, 3] = a20, a21, a22, root[n, 2]
            else:
                b = out[n, p]
                d0, d1, d2 = offsets[j, 0], offsets[j, 1], offsets[j, 2]
                for r in range(3):
                    b0, b1, b2 = b[r, 0], b[r, 1], b[r, 2]
                    o[r, 0] = b0 * a00 + b1 * a10 + b2 * a20
                    o[r, 1] = b0 * a01 + b1 * a11 + b2 * a21
                    o[r, 2] = b0 * a02 + b1 * a12 + b2 * a22
                    o[r, 3] = b0 * d0 + b1 * d1 + b2 * d2 + b[r, 3]
            o[3, 0], o[3, 1], o[3, 2], o[3, 3] = 0.0, 0.0, 0.0, 1.0


@nb.njit(cache=True, nogil=True)
def center_of_mass(T: Array, rows: NDArray[np.int64], shares: Array, centers: Array, out: Array) -> None:
    """Centres of mass (N, 3) of poses T (N, J, 4, 4).

    rows (K,): joints that weigh something; shares (K,): of all the mass; centers (K, 3): in their frames.
    """
    for n in range(T.shape[0]):
        for i in range(3):
            total = 0.0
            for k in range(rows.shape[0]):
                t, c = T[n, rows[k]], centers[k]
                total += shares[k] * (t[i, 0] * c[0] + t[i, 1] * c[1] + t[i, 2] * c[2] + t[i, 3])
            out[n, i] = total


@nb.njit(cache=True, nogil=True)
def skin(T: Array, vertices: Array, joints: NDArray[np.int32], weights: Array, out: Array) -> None:
    """Linear blend skinning: out[v] = sum_k weights[v, k] * T[joints[v, k]] * vertices[v].

    T (J, 4, 4) is world-from-joint times inverse bind; vertices (V, 3); joints, weights (V, K); out (V, 3).
    """
    for v in range(vertices.shape[0]):
        x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
        o0 = 0.0
        o1 = 0.0
        o2 = 0.0
        for k in range(joints.shape[1]):
            w = weights[v, k]
            if w != 0.0:
                m = T[joints[v, k]]
                o0 += w * (m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + m[0, 3])
                o1 += w * (m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + m[1, 3])
                o2 += w * (m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + m[2, 3])
        out[v, 0] = o0
        out[v, 1] = o1
        out[v, 2] = o2
