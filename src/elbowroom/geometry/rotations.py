"""Quaternions (w, x, y, z) as arrays of shape (..., 4); every function works on any leading shape.

Composition reads from the left in the moving frame: `multiply(a, b)` turns by `a`, then by `b` in the frame
that `a` made; `rotate(multiply(a, b), v) == rotate(a, rotate(b, v))`.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from elbowroom.kernels import turns

Array = NDArray[np.float64]

IDENTITY: Array = np.array([1.0, 0.0, 0.0, 0.0])
IDENTITY.setflags(write=False)

# Away from the ground.
UP: Array = np.array([0.0, 0.0, 1.0])
UP.setflags(write=False)

# Below this squared length a vector has no usable direction.
_TINY = 1e-24

# Columns of a matrix this far from orthonormal are made orthonormal before a quaternion is taken.
_SKEWED = 1e-12

_OFF_DIAGONAL = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


def normalize(v: ArrayLike) -> Array:
    """Unit vectors or unit quaternions of the same shape; what has no length stays zero."""
    a = np.asarray(v, dtype=float)
    n2 = np.sum(a * a, axis=-1, keepdims=True)
    return a / np.sqrt(np.where(n2 > _TINY, n2, 1.0))


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Hamilton product, (..., 4)."""
    p, q = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    aw, ax, ay, az = p[..., 0], p[..., 1], p[..., 2], p[..., 3]
    bw, bx, by, bz = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    w = aw * bw - ax * bx - ay * by - az * bz
    out = np.empty((*np.shape(w), 4))
    out[..., 0] = w
    out[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return out


def conjugate(q: ArrayLike) -> Array:
    """The inverse of a unit quaternion."""
    return np.asarray(q, dtype=float) * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """Turn vectors (..., 3) by quaternions (..., 4), broadcasting."""
    q = np.asarray(q, dtype=float)
    v = np.asarray(v, dtype=float)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    a, b, c = v[..., 0], v[..., 1], v[..., 2]
    s, t, u = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    first = a + w * s + (y * u - z * t)
    out = np.empty((*np.shape(first), 3))
    out[..., 0] = first
    out[..., 1] = b + w * t + (z * s - x * u)
    out[..., 2] = c + w * u + (x * t - y * s)
    return out


def to_matrix(q: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions."""
    a = np.asarray(q, dtype=float)
    w, x, y, z = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    out = np.empty((*a.shape[:-1], 3, 3))
    out[..., 0, 0] = 1 - 2 * (y * y + z * z)
    out[..., 0, 1] = 2 * (x * y - w * z)
    out[..., 0, 2] = 2 * (x * z + w * y)
    out[..., 1, 0] = 2 * (x * y + w * z)
    out[..., 1, 1] = 1 - 2 * (x * x + z * z)
    out[..., 1, 2] = 2 * (y * z - w * x)
    out[..., 2, 0] = 2 * (x * z - w * y)
    out[..., 2, 1] = 2 * (y * z + w * x)
    out[..., 2, 2] = 1 - 2 * (x * x + y * y)
    return out


def from_matrix(m: ArrayLike) -> Array:
    """Quaternions of rotation matrices (..., 3, 3); slightly skewed ones give the nearest rotation's.

    Written out, since scipy's takes a third of a second to import, in commands that need nothing else of scipy.
    """
    a = np.asarray(m, dtype=float)
    flat = a.reshape(-1, 3, 3)
    if np.any(np.linalg.det(flat) <= 0.0):
        raise ValueError("a matrix that mirrors or flattens has no rotation")
    skewed = np.abs(np.swapaxes(flat, 1, 2) @ flat - np.eye(3)).max(axis=(1, 2), initial=0.0) > _SKEWED
    if skewed.any():
        u, _, v = np.linalg.svd(flat[skewed])
        flat = flat.copy()
        flat[skewed] = u @ v
    x, y, z = flat[:, 0, 0], flat[:, 1, 1], flat[:, 2, 2]
    # Rows are multiples of the quaternion by 4w, 4x, 4y and 4z; the longest loses no digits to cancellation.
    rows = np.empty((len(flat), 4, 4))
    for k, square in enumerate((1 + x + y + z, 1 + x - y - z, 1 - x + y - z, 1 - x - y + z)):
        rows[:, k, k] = square
    for (j, k), product in zip(_OFF_DIAGONAL, _products(flat), strict=True):
        rows[:, j, k] = rows[:, k, j] = product
    longest = np.argmax(rows[:, range(4), range(4)], axis=1)
    return normalize(rows[np.arange(len(flat)), longest]).reshape(*a.shape[:-2], 4)


def _products(m: Array) -> tuple[Array, ...]:
    """Products 4wx, 4wy, 4wz, 4xy, 4xz and 4yz of the quaternions of rotation matrices (n, 3, 3)."""
    (a, b), (c, d), (e, f) = ((m[:, i, j], m[:, j, i]) for i, j in ((2, 1), (0, 2), (1, 0)))
    return a - b, c - d, e - f, e + f, c + d, a + b


def exp(rotvec: ArrayLike) -> Array:
    """Quaternion of a rotation vector (axis times angle in radians), (..., 3) -> (..., 4)."""
    v = np.asarray(rotvec, dtype=float)
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    half = 0.5 * angle
    # sin(x/2)/x, whose limit at 0 is 1/2; np.sinc carries a pi
    scale = 0.5 * np.sinc(half / np.pi)
    return np.concatenate([np.cos(half), scale * v], axis=-1)


def log(q: ArrayLike) -> Array:
    """Rotation vector of the shorter way round, (..., 4) -> (..., 3), length in [0, pi]."""
    q = np.asarray(q, dtype=float)
    q = np.where(q[..., :1] < 0.0, -q, q)
    s = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(s, q[..., :1])
    return q[..., 1:] * np.where(s > 1e-12, angle / np.where(s > 1e-12, s, 1.0), 2.0)


def about(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Quaternion that turns by `angle` (radians, any shape) about `axis` (..., 3)."""
    half = 0.5 * np.asarray(angle, dtype=float)[..., None]
    xyz = np.sin(half) * normalize(axis)
    return np.concatenate([np.broadcast_to(np.cos(half), (*xyz.shape[:-1], 1)), xyz], axis=-1)


def angle(q: ArrayLike) -> Array:
    """Angle of rotation in [0, pi]."""
    q = np.asarray(q, dtype=float)
    return 2.0 * np.arctan2(np.linalg.norm(q[..., 1:], axis=-1), np.abs(q[..., 0]))


def angle_between(a: ArrayLike, b: ArrayLike) -> Array:
    """Angle in [0, pi] that leads from rotation `a` to rotation `b`."""
    return angle(multiply(conjugate(a), b))


def arc(u: ArrayLike, v: ArrayLike) -> Array:
    """The shortest rotation that takes direction `u` to direction `v`, (..., 3) each.

    Opposite directions have no shortest rotation: a half turn about some axis across `u` is returned.
    """
    u, v = np.broadcast_arrays(normalize(u), normalize(v))
    w = 1.0 + np.sum(u * v, axis=-1, keepdims=True)
    across = np.cross(u, v)
    helper = np.where(np.abs(u[..., :1]) < 0.9, np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    half_turn = np.concatenate([np.zeros_like(w), normalize(np.cross(u, helper))], axis=-1)
    return normalize(np.where(w > 1e-14, np.concatenate([w, across], axis=-1), half_turn))


def slerp(a: ArrayLike, b: ArrayLike, s: ArrayLike) -> Array:
    """Spherical interpolation the shorter way; `s` broadcasts against the leading shape, 0 gives `a`."""
    a, b, s = np.asarray(a, dtype=float), np.asarray(b, dtype=float), np.asarray(s, dtype=float)
    lead = np.broadcast_shapes(a.shape[:-1], b.shape[:-1], s.shape)
    out = np.empty((*lead, 4))
    start, end, share = _filling(a, out.shape), _filling(b, out.shape), _filling(s, lead)
    turns.slerp(start.reshape(-1, 4), end.reshape(-1, 4), share.reshape(-1), out.reshape(-1, 4))
    return out


def _filling(a: Array, shape: tuple[int, ...]) -> Array:
    """An array of a shape that it broadcasts to, in one piece of memory."""
    return np.ascontiguousarray(a if a.shape == shape else np.broadcast_to(a, shape))


def continuous(q: ArrayLike) -> Array:
    """Same rotations (T, ..., 4) with signs chosen so that each frame is nearest to the one before."""
    a = np.array(q, dtype=float)
    if len(a) > 1:
        flips = np.einsum("...i,...i->...", a[1:], a[:-1]) < 0.0
        if flips.any():
            a[1:] *= np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)[..., None]
    return a


def nearest(q: ArrayLike, like: ArrayLike) -> Array:
    """Same rotations (..., 4) with signs chosen so that each quaternion is nearest to that in `like` (..., 4)."""
    a = np.asarray(q, dtype=float)
    return np.where(np.sum(a * np.asarray(like), axis=-1, keepdims=True) < 0.0, -a, a)


def mean(q: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """Weighted mean rotation over the first axis (Markley: largest eigenvector), (N, 4) -> (4,)."""
    q = np.asarray(q, dtype=float)
    w = np.ones(len(q)) if weights is None else np.asarray(weights, dtype=float)
    _, vectors = np.linalg.eigh((q * w[:, None]).T @ q)
    m = vectors[:, -1]
    return m if m[0] >= 0 else -m


def from_euler(order: str, angles: ArrayLike) -> Array:
    """Intrinsic Euler angles in radians, e.g. order 'ZYX' = Rz Ry Rx on column vectors, (..., n) -> (..., 4)."""
    a = np.asarray(angles, dtype=float)
    flat = scipy.spatial.transform.Rotation.from_euler(order.upper(), a.reshape(-1, len(order))).as_quat(
        scalar_first=True
    )
    return flat.reshape(*a.shape[:-1], 4)


def to_euler(order: str, q: ArrayLike) -> Array:
    """Intrinsic Euler angles in radians, the inverse of `from_euler` up to the usual ambiguity."""
    a = np.asarray(q, dtype=float)
    flat = scipy.spatial.transform.Rotation.from_quat(a.reshape(-1, 4), scalar_first=True).as_euler(
        order.upper(), suppress_warnings=True
    )
    return flat.reshape(*a.shape[:-1], 3)


def heading(q: ArrayLike) -> Array:
    """Turn about +Z (radians) of a rotation: its twist about the vertical, (..., 4) -> (...)."""
    q = np.asarray(q, dtype=float)
    return 2.0 * np.arctan2(np.where(q[..., 0] < 0, -q[..., 3], q[..., 3]), np.abs(q[..., 0]))
