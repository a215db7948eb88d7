"""A library of gait cycles: points in speed and turn rate, triangulated; any point between blends three cycles.

Pettré and Laumond (2005), as used by Esteves et al. (2006, 3.2.2): every cycle is a point (v, ω), the Delaunay
triangulation gives the three to blend, barycentric coordinates the weights. Standing is a point, too, so that a walker
that slows down comes to stand, and the line from any point to standing keeps the curvature of its path: courses are
slowed down into the recorded range, and nothing is extrapolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion import upper
from elbowroom.locomotion.cycles import PARTS, PHASES, SHARES, Cycle, FootCycle, reference
from elbowroom.locomotion.figure import SIDES
from elbowroom.locomotion.steps import OVER_RUN, OVER_WALK, TOE_OUT
from elbowroom.locomotion.upper import turned

# Families that are triangulated separately, and the modes of cycles in them.
FAMILIES = {
    "walk": ("walk", "brisk", "turn"),
    "run": ("run",),
    "crouch": ("crouch",),
    "side": ("side",),
    "back": ("back",),
}
PER_RAD_M = 0.7  # metres: weight of a turn rate of 1 rad/s against a speed of 1 m/s
# Cycles nearer to each other than this, m/s and weighted turn rate, are one point.
_SAME = 0.05
# Cycles nearer than this, in the same units, are blended into one.
_ALIKE = 0.1
# A cycle that turns slower than this, rad/s, counts as straight and is averaged with its mirror image.
_STRAIGHT_RAD_S = np.radians(6.0)
_STANDING_KNEE = np.radians(8.0)
_FEWEST = 3  # points of a walk that blending needs


@dataclass(frozen=True, eq=False)
class ClipLibrary:
    """Gait cycles as recorded; mirror images and standing are added to them.

    source: where the recordings are from, with the wording that their licence requires.
    """

    cycles: tuple[Cycle, ...]
    name: str = "library"
    source: str = ""

    def __post_init__(self) -> None:
        points: list[tuple[float, float]] = []
        for p in (point_of(c) for c in self.cycles if c.mode in FAMILIES["walk"]):
            if all(np.hypot(p[0] - q[0], p[1] - q[1]) > _SAME for q in points):
                points.append(p)
        if len(points) < _FEWEST:
            raise BadValue(
                f"a clip library needs walks at {_FEWEST} or more different speeds or turn rates to blend between, and "
                f"'{self.name}' has {len(points)}: add clips that are slower, faster or turn."
            )

    @cached_property
    def nodes(self) -> tuple[Cycle, ...]:
        """Cycles that are blended: standing, the recorded ones, similar ones merged, and mirror images."""
        out: list[Cycle] = []
        for modes in FAMILIES.values():
            lefts = [_to_the_left(c) for c in self.cycles if c.mode in modes]
            for cycle in _merged(lefts):
                if abs(cycle.velocity[2]) < _STRAIGHT_RAD_S and cycle.mode not in ("side", "turn"):
                    even = blend([cycle, cycle.mirrored()], [0.5, 0.5])
                    out.append(replace(even, velocity=cycle.velocity * [1.0, 1.0, 0.0]))
                else:
                    out += [cycle, cycle.mirrored()]
        low = [crouching(c) for c in out if c.mode == "crouch"][:1]
        return _same_signs([standing(out), *low, *out])

    @cached_property
    def fields(self) -> dict[str, Field]:
        """Triangulations by family; families without cycles are absent."""
        out = {}
        for family, modes in FAMILIES.items():
            inside = [k for k, c in enumerate(self.nodes) if c.mode in modes]
            if inside:
                still = 1 if family == "crouch" else 0
                points = np.array([[0.0, 0.0], *(point_of(self.nodes[k]) for k in inside)])
                out[family] = Field(np.array([still, *inside]), points)
        return out

    def field(self, family: str) -> Field:
        """Triangulation of a family, or of walks where that family was not recorded."""
        if family not in FAMILIES:
            raise BadValue(f"a gait must be one of {', '.join(FAMILIES)}, not '{family}'.")
        return self.fields.get(family, self.fields["walk"])

    def weights(self, velocity: Array, family: str = "walk") -> Array:
        """Weights (N, K) of the nodes for velocities (N, 3) of the reference leg: forwards, left, m/s, turn, rad/s."""
        field = self.field(family)
        out = np.zeros((len(velocity), len(self.nodes)))
        out[:, field.nodes] = field.weights(_points(velocity, family))
        return out

    def reach(self, velocity: Array, family: str = "walk") -> Array:
        """Largest factors (N,) on velocities (N, 3) of the reference leg within the recorded range."""
        return self.field(family).reach(_points(velocity, family))

    def without(self, *sources: str) -> ClipLibrary:
        """The library without the cycles of some clips."""
        return replace(self, cycles=tuple(c for c in self.cycles if c.source not in sources))

    @cached_property
    def numbers(self) -> Array:
        """Numbers of the nodes (K, 6): strides per second, duty, strike, push (radians), half the feet's distance, and
        the lead of the pelvis over its planned position (leg lengths).
        """
        rows = []
        for c in self.nodes:
            left, right = c.feet
            each = [0.5 * (getattr(left, k) + getattr(right, k)) for k in ("duty", "strike", "push")]
            ahead = -(0.5 * each[0] - (OVER_RUN if c.mode == "run" else OVER_WALK)) / c.rate * c.velocity[0]
            before = ahead / reference().leg - 0.5 * float(left.place[0] + right.place[0])
            rows.append([c.rate, *each, 0.5 * float(left.place[1] - right.place[1]), before])
        return np.array(rows)

    def sampled(self, weights: Array, phase: Array) -> tuple[Array, Array]:
        """Turns (N, R, 4) and pelvis offsets (N, 3) at phases (N,) with weights (N, K) of the nodes."""
        turns = np.zeros((len(phase), len(PARTS), 4))
        offset = np.zeros((len(phase), 3))
        at = (phase % 1.0) * PHASES
        for k in np.flatnonzero(weights.any(axis=0)):
            frames = np.flatnonzero(weights[:, k])
            share = weights[frames, k]
            cycle = self.nodes[k]
            turns[frames] += share[:, None, None] * _periodic(cycle.turns, at[frames])
            offset[frames] += share[:, None] * _periodic(cycle.offset, at[frames])
        return rot.normalize(turns), offset

    @cached_property
    def _swings(self) -> dict[str, tuple[Array, Array]]:
        """By side: coefficients of the nodes' swings as cubic splines (K, 4, S - 1, 4), and lengths of steps (K,)."""
        out = {}
        for k, side in enumerate(SIDES):
            feet = [node.feet[k] for node in self.nodes]
            spline = scipy.interpolate.CubicSpline(SHARES, np.stack([foot.swing for foot in feet], axis=1))
            out[side] = np.moveaxis(spline.c, 2, 0), np.array([foot.step for foot in feet])
        return out

    def swing(self, weights: Array, side: str) -> tuple[scipy.interpolate.PPoly, float]:
        """Swing of a foot, offsets and angle of the sole over its time (0..1), and the length of the step in leg
        lengths, of the blend with weights (K,) of the nodes.
        """
        some = np.flatnonzero(weights)
        share, (swings, steps) = weights[some] / weights[some].sum(), self._swings[side]
        blended = np.tensordot(share, swings[some], axes=1)
        return scipy.interpolate.PPoly.construct_fast(blended, SHARES), float(share @ steps[some])


@dataclass(frozen=True, eq=False)
class Field:
    """Nodes (n,) of a family and their points (n, 2), the first of them standing at the origin."""

    nodes: Array
    points: Array

    @cached_property
    def triangles(self) -> scipy.spatial.Delaunay | None:
        """The triangulation; None where all points are collinear."""
        spread = np.linalg.svd(self.points - self.points.mean(axis=0), compute_uv=False)
        return scipy.spatial.Delaunay(self.points) if len(self.points) > 2 and spread[-1] > 1e-6 else None

    @cached_property
    def hull(self) -> scipy.spatial.ConvexHull | None:
        """The hull of the points; None where they are collinear."""
        return scipy.spatial.ConvexHull(self.points) if self.triangles is not None else None

    def reach(self, query: Array) -> Array:
        """Largest factors (N,) on points (N, 2) that stay within the hull."""
        if self.hull is None:
            return np.abs(self.points[:, 0]).max() / np.maximum(np.abs(query[:, 0]), 1e-9)
        normal, offset = self.hull.equations[:, :2], -self.hull.equations[:, 2]
        outwards = query @ normal.T
        return np.where(outwards > 1e-9, np.maximum(offset, 0.0) / np.maximum(outwards, 1e-9), np.inf).min(axis=1)

    def weights(self, query: Array) -> Array:
        """Barycentric weights (N, n) at points (N, 2), or at the nearest point of the hull for those outside."""
        asked, back = np.unique(np.round(query, 9), axis=0, return_inverse=True)
        return self._weights(self.within(asked))[back.reshape(-1)]

    def within(self, query: Array) -> Array:
        """The nearest points (N, 2) within the hull."""
        if self.hull is None:
            return query
        a = self.points[self.hull.vertices]
        edge = np.roll(a, -1, axis=0) - a
        along = np.sum((query[:, None] - a) * edge, axis=-1) / np.sum(edge * edge, axis=-1)
        foot = a + np.clip(along, 0.0, 1.0)[..., None] * edge
        nearest = np.linalg.norm(query[:, None] - foot, axis=-1).argmin(axis=1)
        outside = (query @ self.hull.equations[:, :2].T + self.hull.equations[:, 2]).max(axis=1) > 0.0
        return np.where(outside[:, None], foot[np.arange(len(query)), nearest], query)

    def _weights(self, at: Array) -> Array:
        """Barycentric weights (N, n) at points (N, 2) within the hull."""
        out = np.zeros((len(at), len(self.points)))
        rows = np.arange(len(at))
        if self.triangles is None:
            order = np.argsort(self.points[:, 0])
            along = self.points[order, 0]
            k = np.clip(np.searchsorted(along, at[:, 0]) - 1, 0, len(along) - 2)
            s = np.clip((at[:, 0] - along[k]) / np.maximum(along[k + 1] - along[k], 1e-9), 0.0, 1.0)
            out[rows, order[k]], out[rows, order[k + 1]] = 1.0 - s, s
            return out
        # slightly inside, or rounding would leave border points without a triangle
        inner = at + 1e-7 * (self.points.mean(axis=0) - at)
        found = self.triangles.find_simplex(inner, tol=1e-9)
        lost = np.flatnonzero(found < 0)
        if len(lost):
            found[lost] = self.triangles.find_simplex(0.999 * inner[lost], tol=1e-6)
        T = self.triangles.transform[found]
        two = np.einsum("nij,nj->ni", T[:, :2], inner - T[:, 2])
        corners = np.clip(np.concatenate([two, 1.0 - two.sum(axis=1, keepdims=True)], axis=1), 0.0, 1.0)
        np.put_along_axis(out, self.triangles.simplices[found], corners / corners.sum(axis=1, keepdims=True), axis=1)
        return out


def _to_the_left(cycle: Cycle) -> Cycle:
    """The cycle or its mirror image, whichever turns or moves to the left."""
    return cycle.mirrored() if cycle.velocity[1 if cycle.mode == "side" else 2] < 0.0 else cycle


def _merged(cycles: Sequence[Cycle]) -> list[Cycle]:
    """Means of cycles similar in speed and turn rate, so that a slight change of speed does not change the person."""
    if len(cycles) < 2:
        return list(cycles)
    groups = scipy.cluster.hierarchy.fcluster(
        scipy.cluster.hierarchy.linkage([point_of(c) for c in cycles], "complete"), _ALIKE, "distance"
    )
    out = []
    for k in np.unique(groups):
        mine = [c for c, g in zip(cycles, groups, strict=True) if g == k]
        out.append(blend(mine, [1.0 / len(mine)] * len(mine)))
    return out


def thinned(cycles: Iterable[Cycle]) -> tuple[Cycle, ...]:
    """Cycles without those next to a better one of the same clip and family: the best closed ones stay."""
    taken: list[Cycle] = []
    for cycle in sorted(cycles, key=lambda c: c.opening):
        near = (c for c in taken if c.source == cycle.source and c.mode == cycle.mode)
        if all(np.linalg.norm(np.array(point_of(c)) - point_of(cycle)) > _SAME for c in near):
            taken.append(cycle)
    return tuple(sorted(taken, key=lambda c: (c.mode, *point_of(c), c.source)))


def blend(cycles: Sequence[Cycle], weights: Sequence[float]) -> Cycle:
    """The weighted mean of cycles, phase by phase; weights sum to 1."""
    cycles = _same_signs(cycles)
    w = np.asarray(weights, dtype=float)

    def mean(value: Callable[[Cycle], Array | float]) -> Array:
        return np.tensordot(w, np.array([value(c) for c in cycles]), axes=1)

    return Cycle(
        source=cycles[0].source,
        mode=cycles[0].mode,
        velocity=mean(lambda c: c.velocity),
        rate=float(mean(lambda c: c.rate)),
        turns=rot.normalize(mean(lambda c: c.turns)),
        offset=mean(lambda c: c.offset),
        feet=(_mixed_foot([c.feet[0] for c in cycles], w), _mixed_foot([c.feet[1] for c in cycles], w)),
        opening=float(mean(lambda c: c.opening)),
    )


def _mixed_foot(feet: Sequence[FootCycle], weights: Array) -> FootCycle:
    def mean(name: str) -> Array:
        return np.tensordot(weights, np.array([getattr(f, name) for f in feet]), axes=1)

    return FootCycle(
        float(mean("duty")), float(mean("strike")), float(mean("push")), mean("place"), mean("knee"), mean("swing"),
        float(mean("step")),
    )  # fmt: skip


def standing(cycles: Sequence[Cycle]) -> Cycle:
    """Standing at ease as a cycle without motion; its feet step as in the slowest walk."""
    body = reference()
    slowest = min(cycles, key=lambda c: abs(c.velocity[0]) if c.mode == "walk" else np.inf)
    one = np.zeros(1)
    chest, head = turned(one, one, one + np.radians(1.5)), turned(one, one, one + np.radians(4.0))
    turns = {"pelvis": turned(one, one, one + np.radians(1.0)), "chest": chest, "head": head}
    for side in SIDES:
        turns |= upper.arm(body, side, upper.hanging(1), chest, upper.upright(one))
    still = np.stack([np.broadcast_to(turns.get(part, rot.IDENTITY), (PHASES, 4)) for part in PARTS], axis=1)
    hip, ankle = (float(body.at(f"left_{p}")[0]) / body.leg for p in ("thigh", "foot"))
    places = [np.array([-float(body.at("left_foot")[1]) / body.leg, s * max(hip, ankle), s * TOE_OUT]) for s in (1, -1)]
    knee = np.full(len(SHARES), _STANDING_KNEE)
    feet = [replace(f, place=p, knee=knee) for f, p in zip(slowest.feet, places, strict=True)]
    offset = np.tile([0.0, 0.0, float(body.at("pelvis")[2]) / body.leg], (PHASES, 1))
    return Cycle("standing", "stand", np.zeros(3), slowest.rate, still, offset, (feet[0], feet[1]))


def crouching(cycle: Cycle) -> Cycle:
    """A crouched walk held still: its mean posture."""
    turns, offset = cycle.turns.mean(axis=0, keepdims=True), cycle.offset.mean(axis=0, keepdims=True)
    feet = [replace(f, knee=np.full(len(SHARES), float(f.knee.mean()))) for f in cycle.feet]
    still = np.repeat(rot.normalize(turns), PHASES, axis=0)
    return replace(
        cycle, source="crouching", mode="stand", velocity=np.zeros(3), turns=still,
        offset=np.repeat(offset, PHASES, axis=0), feet=(feet[0], feet[1]),
    )  # fmt: skip


def point_of(cycle: Cycle) -> tuple[float, float]:
    """Speed in the direction of the mode, and weighted turn rate."""
    v = cycle.velocity
    along = {"back": -v[0], "side": v[1]}.get(cycle.mode, v[0])
    return (0.0 if cycle.mode == "turn" else float(along)), float(v[2]) * PER_RAD_M


def _points(velocity: Array, family: str) -> Array:
    """Velocities (N, 3) as points (N, 2) of a family."""
    along = velocity[:, 1] if family == "side" else np.abs(velocity[:, 0])
    return np.stack([along, velocity[:, 2] * PER_RAD_M], axis=-1)


def _same_signs(cycles: Sequence[Cycle]) -> tuple[Cycle, ...]:
    """Cycles with each part's quaternions in the half space of the first cycle's, so that they can be averaged."""
    towards = cycles[0].turns.mean(axis=0)
    return tuple(replace(c, turns=rot.nearest(c.turns, towards)) for c in cycles)


def _periodic(values: Array, at: Array) -> Array:
    """Periodic values (P, ...) at fractional samples (N,), by Catmull-Rom splines."""
    n = len(values)
    k = np.floor(at).astype(int)
    s = (at - k).reshape(-1, *(1,) * (values.ndim - 1))
    a, b, c, d = (values[(k + i) % n] for i in (-1, 0, 1, 2))
    return b + 0.5 * s * (c - a + s * (2.0 * a - 5.0 * b + 4.0 * c - d + s * (3.0 * (b - c) + d - a)))
