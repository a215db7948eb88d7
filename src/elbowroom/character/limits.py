"""Joint limits in anatomical terms: swing and twist, flexion and twist, for any rig.

A joint's local rotation is written as  q = pre * A * post  with A in the joint's anatomical frame: z along
the bone, x the flexion axis, y the rest of a right-handed frame; A = identity is the joint's zero. Two ways
to write A:

- ball, swing:  A = swing(sx, sy) * twist(z).  The swing vector (sx, sy, 0) is axis times angle and lies
  across the bone; the twist turns about the moved bone (Grassia 1998; Kallmann 2005 writes R = R_twist
  R_swing for row vectors). Singular at |swing| = pi, so zero must lie well inside the range: the shoulder's
  is the outstretched arm.
- hinge:  A = Rx(flexion) * Ry(off-axis) * Rz(twist).  A real hinge has no off-axis part; recorded ones have
  some.

Coordinates of a joint are always three numbers in radians: (sx, sy, twist) or (flexion, off-axis, twist).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import IDENTITY as _IDENTITY
from elbowroom.geometry.rotations import Array, about, conjugate, exp, from_euler, log, multiply, to_euler

Kind = Literal["ball", "swing", "hinge"]

# How far past a bound still counts as within: rounding, not tolerance.
EPS = 1e-9


@dataclass(frozen=True, eq=False)
class JointLimit:
    """Range of one joint. Angles in radians.

    `swing` holds the radii of the spherical ellipse towards -x, +x, -y, +y (each quadrant its own ellipse,
    so the range may be lopsided about zero); `polygon` (K, 2), where given, replaces it: a spherical
    polygon in swing coordinates, star-shaped about zero. `flexion`, `off_axis` are for hinges, `twist` is
    for all.
    """

    kind: Kind
    pre: Array
    post: Array
    swing: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    twist: tuple[float, float] = (0.0, 0.0)
    flexion: tuple[float, float] = (0.0, 0.0)
    off_axis: float = 0.0
    polygon: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pre", frozen(self.pre))
        object.__setattr__(self, "post", frozen(self.post))
        if self.polygon is not None:
            p = frozen(self.polygon)
            object.__setattr__(self, "polygon", p[np.argsort(np.arctan2(p[:, 1], p[:, 0]))])

    def coordinates(self, q: ArrayLike) -> Array:
        """Local rotations (..., 4) in this joint's terms, (..., 3)."""
        a = multiply(multiply(conjugate(self.pre), q), conjugate(self.post))
        if self.kind == "hinge":
            return to_euler("XYZ", a)
        twist = 2.0 * np.arctan2(a[..., 3], a[..., 0])
        twist = (twist + np.pi) % (2 * np.pi) - np.pi
        swing = log(multiply(a, about([0.0, 0.0, 1.0], -twist)))
        return np.concatenate([swing[..., :2], twist[..., None]], axis=-1)

    def rotation(self, coordinates: ArrayLike) -> Array:
        """Local rotations (..., 4) from coordinates (..., 3)."""
        c = np.asarray(coordinates, dtype=float)
        if self.kind == "hinge":
            a = from_euler("XYZ", c)
        else:
            swing = exp(np.concatenate([c[..., :2], np.zeros_like(c[..., :1])], axis=-1))
            a = multiply(swing, about([0.0, 0.0, 1.0], c[..., 2]))
        return multiply(multiply(self.pre, a), self.post)

    def excess(self, q: ArrayLike) -> Array:
        """How far local rotations (..., 4) lie outside of the range, in radians; 0 inside. Shape (...)."""
        c = self.coordinates(q)
        return np.linalg.norm(c - self.clamp_coordinates(c), axis=-1)

    def contains(self, q: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
        """Which local rotations (..., 4) are within the range, give or take `tolerance` radians."""
        return self.excess(q) <= tolerance + EPS

    def clamp(self, q: ArrayLike) -> Array:
        """Local rotations moved to the nearest bound along their own direction where they are outside."""
        q = np.asarray(q, dtype=float)
        c = self.coordinates(q)
        inside = self.clamp_coordinates(c)
        moved = np.any(np.abs(c - inside) > EPS, axis=-1, keepdims=True)
        return np.where(moved, self.rotation(inside), q)

    def clamp_coordinates(self, c: ArrayLike) -> Array:
        """Coordinates (..., 3) moved into the range."""
        out = np.array(c, dtype=float)
        out[..., 2] = np.clip(out[..., 2], *self.twist)
        if self.kind == "hinge":
            out[..., 0] = np.clip(out[..., 0], *self.flexion)
            out[..., 1] = np.clip(out[..., 1], -self.off_axis, self.off_axis)
        else:
            size = np.hypot(out[..., 0], out[..., 1])
            most = self.swing_radius(np.arctan2(out[..., 1], out[..., 0]))
            out[..., :2] *= np.where(size > most, most / np.where(size > 0, size, 1.0), 1.0)[..., None]
        return out

    def swing_radius(self, direction: ArrayLike) -> Array:
        """Largest swing (radians) towards a direction in the swing plane (radians from +x)."""
        angle = np.asarray(direction, dtype=float)
        x, y = np.cos(angle), np.sin(angle)
        if self.polygon is not None:
            return _polygon_radius(self.polygon, x, y)
        # an ellipse without width is still a line
        rx = np.maximum(np.where(x < 0, self.swing[0], self.swing[1]), EPS)
        ry = np.maximum(np.where(y < 0, self.swing[2], self.swing[3]), EPS)
        return rx * ry / np.hypot(ry * x, rx * y)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """`n` local rotations within the range, (n, 4): uniform over the swing area and the twist range."""
        twist = rng.uniform(*self.twist, n)
        if self.kind == "hinge":
            off = rng.uniform(-self.off_axis, self.off_axis, n)
            return self.rotation(np.stack([rng.uniform(*self.flexion, n), off, twist], axis=-1))
        # Rejection from the bounding rectangle keeps the density even where the quadrants differ.
        low, high = self._swing_box()
        swing = np.zeros((n, 2))
        todo = np.arange(n)
        while len(todo):
            draw = rng.uniform(low, high, (len(todo), 2))
            ok = np.hypot(draw[:, 0], draw[:, 1]) <= self.swing_radius(np.arctan2(draw[:, 1], draw[:, 0]))
            swing[todo[ok]] = draw[ok]
            todo = todo[~ok]
        return self.rotation(np.concatenate([swing, twist[:, None]], axis=-1))

    def _swing_box(self) -> tuple[Array, Array]:
        if self.polygon is not None:
            return self.polygon.min(axis=0), self.polygon.max(axis=0)
        a, b, c, d = self.swing
        return np.array([-a, -c]), np.array([b, d])


def _polygon_radius(polygon: Array, x: Array, y: Array) -> Array:
    """Distance from the origin to the edge of a polygon, star-shaped about it, along (x, y)."""
    a, b = polygon, np.roll(polygon, -1, axis=0)
    start = np.arctan2(a[:, 1], a[:, 0])
    k = np.searchsorted(start, np.arctan2(y, x), side="right") - 1  # -1 wraps to the last edge
    edge = b[k] - a[k]
    across = a[k, 0] * edge[..., 1] - a[k, 1] * edge[..., 0]
    return across / (x * edge[..., 1] - y * edge[..., 0])


def clamp_pose(limits: Sequence[JointLimit | None], rotations: ArrayLike) -> Array:
    """Local rotations (..., J, 4) with every limited joint moved into its range."""
    out = np.array(rotations, dtype=float)
    for j, limit in enumerate(limits):
        if limit is not None:
            out[..., j, :] = limit.clamp(out[..., j, :])
    return out


def pose_excess(limits: Sequence[JointLimit | None], rotations: ArrayLike) -> Array:
    """How far each joint of poses (..., J, 4) is out of its range, radians, (..., J); 0 where unlimited."""
    q = np.asarray(rotations, dtype=float)
    out = np.zeros(q.shape[:-1])
    for j, limit in enumerate(limits):
        if limit is not None:
            out[..., j] = limit.excess(q[..., j, :])
    return out


def sample_pose(limits: Sequence[JointLimit | None], rng: np.random.Generator, n: int) -> Array:
    """`n` random poses (n, J, 4) within limits; joints without limits keep the identity."""
    out = np.tile(_IDENTITY, (n, len(limits), 1))
    for j, limit in enumerate(limits):
        if limit is not None:
            out[:, j] = limit.sample(rng, n)
    return out
