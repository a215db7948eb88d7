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
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import IDENTITY, Array
from elbowroom.kernels import limb_terms
from elbowroom.kernels import limits as kernels

LimitKind = Literal["ball", "swing", "hinge"]

_KINDS = {"ball": limb_terms.BALL, "swing": limb_terms.SWING, "hinge": limb_terms.HINGE}

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

    kind: LimitKind
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
            p = np.asarray(self.polygon, dtype=float)
            object.__setattr__(self, "polygon", frozen(p[np.argsort(np.arctan2(p[:, 1], p[:, 0]))]))

    @cached_property
    def bounds(self) -> tuple[bool, Array, Array, Array]:
        """The range as the kernels take it: whether it is a hinge, low and high (3,), and the polygon (K, 2)."""
        if self.kind == "hinge":
            low = (self.flexion[0], -self.off_axis, self.twist[0])
            high = (self.flexion[1], self.off_axis, self.twist[1])
        else:
            low = (-self.swing[0], -self.swing[2], self.twist[0])
            high = (self.swing[1], self.swing[3], self.twist[1])
        polygon = np.zeros((0, 2)) if self.polygon is None else self.polygon
        return self.kind == "hinge", frozen(low), frozen(high), frozen(polygon)

    def coordinates(self, q: ArrayLike) -> Array:
        """Local rotations (..., 4) in this joint's terms, (..., 3)."""
        rows = np.array(q, dtype=float, order="C")
        out = np.zeros((*rows.shape[:-1], 3))
        kernels.to_terms(self.kind == "hinge", self.pre, self.post, rows.reshape(-1, 4), out.reshape(-1, 3))
        return out

    def rotation(self, coordinates: ArrayLike) -> Array:
        """Local rotations (..., 4) from coordinates (..., 3)."""
        rows = np.array(coordinates, dtype=float, order="C")
        out = np.zeros((*rows.shape[:-1], 4))
        kernels.from_terms(self.kind == "hinge", self.pre, self.post, rows.reshape(-1, 3), out.reshape(-1, 4))
        return out

    def excess(self, q: ArrayLike) -> Array:
        """Excess of local rotations (..., 4) over the range, in radians; 0 inside. Shape (...)."""
        c = self.coordinates(q)
        return np.linalg.norm(c - self.clamp_coordinates(c), axis=-1)

    def contains(self, q: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
        """Return whether local rotations (..., 4) are within the range, give or take `tolerance` radians."""
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
        out = np.array(c, dtype=float, order="C")
        kernels.clamp_terms(*self.bounds, out.reshape(-1, 3))
        return out

    def moved(self, c: ArrayLike, by: ArrayLike) -> Array:
        """Rotations (..., 4) of coordinates (..., 3) moved by radians (..., 3), within the range; recorded ones that
        are out of it stay so by as much."""
        own = np.asarray(c, dtype=float)
        return self.rotation(self.clamp_coordinates(own + by) + (own - self.clamp_coordinates(own)))

    def swing_radius(self, direction: float) -> float:
        """Largest swing (radians) towards a direction in the swing plane (radians from +x)."""
        _, low, high, polygon = self.bounds
        return float(kernels.swing_radius(low, high, polygon, np.cos(direction), np.sin(direction)))

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """`n` local rotations within the range, (n, 4): uniform over the swing area and the twist range."""
        _, low, high, polygon = self.bounds
        c = rng.uniform(low, high, (n, 3))
        if self.kind == "hinge":
            return self.rotation(c)
        # Rejection from the bounding rectangle keeps the density even where the quadrants differ.
        if self.polygon is not None:
            low, high = polygon.min(axis=0), polygon.max(axis=0)
        todo = np.arange(n)
        while len(todo):
            c[todo, :2] = rng.uniform(low[:2], high[:2], (len(todo), 2))
            drawn = c[todo]
            todo = todo[np.any(self.clamp_coordinates(drawn) != drawn, axis=1)]
        return self.rotation(c)


def stacked(limits: Sequence[JointLimit]) -> limb_terms.Joints:
    """Ranges of n joints as the kernels take them, with room for a posture of its own."""
    bounds = [limit.bounds for limit in limits]
    return limb_terms.Joints(
        kind=np.array([_KINDS[limit.kind] for limit in limits], np.int64),
        pre=np.array([limit.pre for limit in limits]),
        post=np.array([limit.post for limit in limits]),
        low=np.array([b[1] for b in bounds]),
        high=np.array([b[2] for b in bounds]),
        corners=np.concatenate([b[3] for b in bounds]),
        corner=np.concatenate([[0], np.cumsum([len(b[3]) for b in bounds])]).astype(np.int64),
        q=np.zeros((len(limits), 4)),
    )


def clamp_pose(limits: Sequence[JointLimit | None], rotations: ArrayLike) -> Array:
    """Local rotations (..., J, 4) with every limited joint moved into its range."""
    out = np.array(rotations, dtype=float)
    for j, limit in enumerate(limits):
        if limit is not None:
            out[..., j, :] = limit.clamp(out[..., j, :])
    return out


def pose_excess(limits: Sequence[JointLimit | None], rotations: ArrayLike) -> Array:
    """Excess of each joint of poses (..., J, 4) over its range, radians, (..., J); 0 where unlimited."""
    q = np.asarray(rotations, dtype=float)
    out = np.zeros(q.shape[:-1])
    for j, limit in enumerate(limits):
        if limit is not None:
            out[..., j] = limit.excess(q[..., j, :])
    return out


def sample_pose(limits: Sequence[JointLimit | None], rng: np.random.Generator, n: int) -> Array:
    """`n` random poses (n, J, 4) within limits; joints without limits keep the identity."""
    out = np.tile(IDENTITY, (n, len(limits), 1))
    for j, limit in enumerate(limits):
        if limit is not None:
            out[:, j] = limit.sample(rng, n)
    return out
