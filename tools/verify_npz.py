"""Re-check a written NPZ for collisions from its contents alone, by dense sampling with Coal.

    python tools/verify_npz.py FILE.npz [--rate 1000] [--slack 0.0001] [--json]

Nothing of elbowroom is imported, and it is one file that can be handed on alone: a second opinion on what certificates
claim. Exit code 0: nothing found;
1: a violation, printed with the pair, the time and the depth, the deepest first; 2: not a file that can be checked.
Between frames joints are slerped the shorter way and the root is lerped; objects are lerped and slerped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import zipfile
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import coal
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

RATE_HZ = 1000.0
SLACK_M = 1e-4  # overlaps up to this are rounding
FLOOR = "floor"
CHANGED = "changed since it was certified: "

# Hard limits in metres of what a file may allow, whatever it says.
FEET_IN_FLOOR_M = 0.05
OTHERS_IN_FLOOR_M = 0.011
SELF_M = 0.10  # of a recorded body
CONTACT_M = 0.005

DROPPED_ABOVE_FLOOR_M = 0.005  # a face that counts as the floor ends no higher above it
ROUNDED_M = 2e-5  # 32-bit numbers of a GLB leave a face that is level with the floor so much above it
DROPPED_SLOPE_RAD = np.radians(10.0)  # and is no steeper, unless it lies below the floor
SWEEP_STEPS = 9  # places looked at from an object to where its allowed shift takes it
GHOST_STEP_M = 2e-4  # less than anything is thick: see `changes_sides`
NEIGHBOURS_APART = 6  # joints between two parts of one body that a file may ignore, at most
TIME_SLACK_S = 1e-6
WELD_M = 1e-7
SURE = 0.9  # share of a measured distance that is relied upon
SLIP_M = 0.012  # a hand that moves farther on an object does not hold it
HAND_M = 0.1  # how far from its joint a turn of a hand shows
RIGID = 1e-3  # a transform's rotation may differ so much from one

FEET = re.compile(r"foot|feet|toe|ankle|heel", re.IGNORECASE)
HAND = re.compile(r"hand|wrist|palm|finger|thumb|index|middle|ring|little|pinky", re.IGNORECASE)
CAPS = {"feet": FEET_IN_FLOOR_M, "body": OTHERS_IN_FLOOR_M, "own": SELF_M, "contact": CONTACT_M}


class BadFile(Exception):
    """A file that cannot be checked; its text is one sentence."""


@dataclass(frozen=True)
class Violation:
    """Something that is not free, or an allowance that no file may make. `depth` in metres, NaN where unknown."""

    pair: tuple[str, str]
    at: float
    depth: float
    why: str

    def text(self) -> str:
        """One line for people."""
        when = "" if np.isnan(self.at) else f" at {self.at:.4f} s"
        deep = "" if np.isnan(self.depth) else f", {1000.0 * self.depth:.2f} mm"
        names = " and ".join(n for n in self.pair if n)
        return f"{names}{when}{deep}: {self.why}" if names else self.why


@dataclass
class Report:
    """What was found in a file; `samples` times of `pairs` pairs were looked at."""

    violations: list[Violation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    samples: int = 0
    pairs: int = 0

    def add(self, pair: tuple[str, str], why: str, at: float = np.nan, depth: float = np.nan) -> None:
        """Take a violation down."""
        self.violations.append(Violation(pair, float(at), float(depth), why))


# ---------------------------------------------------------------- meshes


def welded(vertices: Array, faces: NDArray) -> tuple[Array, NDArray]:
    """Vertices, each place once, and faces, each once, without those that are a line or a point."""
    _, first, same = np.unique(np.round(vertices / WELD_M), axis=0, return_index=True, return_inverse=True)
    f = same.reshape(-1)[faces]
    f = f[(f[:, 0] != f[:, 1]) & (f[:, 1] != f[:, 2]) & (f[:, 2] != f[:, 0])]
    _, once = np.unique(np.sort(f, axis=1), axis=0, return_index=True)
    return vertices[first], f[np.sort(once)]


def edges_of(faces: NDArray) -> tuple[NDArray, NDArray]:
    """Number of each face's three edges (F, 3), and how many faces use each edge."""
    ends = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1), axis=-1).reshape(-1, 2)
    _, edge, uses = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
    return edge.reshape(-1, 3), uses


def joined(faces: int, edge: NDArray, through: NDArray) -> NDArray:
    """Label (F,) of the parts that faces fall into when they are joined across some edges (E,)."""
    face = np.repeat(np.arange(faces), 3)
    flat = edge.reshape(-1)
    ok = through[flat]
    size = faces + len(through)
    graph = coo_matrix((np.ones(int(ok.sum()), np.int8), (face[ok], faces + flat[ok])), shape=(size, size))
    return np.unique(connected_components(graph, directed=False)[1][:faces], return_inverse=True)[1]


class Shell:
    """A closed surface, triangles (N, 3, 3): whether points are inside, by the parity of what rays cross."""

    def __init__(self, triangles: Array, weight: int) -> None:
        self.low, self.high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
        self.weight = weight  # 1 outward, -1 inward, 0 where a surface has no sides: then its inside always counts
        self._turns = Rotation.random(3, rng=np.random.default_rng(20)).as_matrix()
        self._triangles = triangles
        self._bins: dict[int, tuple[Any, ...]] = {}

    def inside(self, points: Array) -> NDArray[np.bool_]:
        """Which points (N, 3) are inside."""
        out = np.zeros(len(points), dtype=bool)
        near = np.flatnonzero(np.all((points >= self.low) & (points <= self.high), axis=1))
        if len(near):
            votes = [self._odd(points[near], k) for k in (0, 1)]
            split = votes[0] != votes[1]
            out[near] = votes[0]
            if split.any():
                out[near[split]] = self._odd(points[near[split]], 2)
        return out

    def _binned(self, k: int) -> tuple[Any, ...]:
        """Triangles turned so that rays go up, sorted into the cells of a grid seen from above."""
        if k not in self._bins:
            tri = self._triangles @ self._turns[k].T
            low = tri[..., :2].min(axis=(0, 1))
            count = int(np.clip(np.sqrt(len(tri)), 1, 96))
            step = np.maximum((tri[..., :2].max(axis=(0, 1)) - low) / count, 1e-12)
            first = np.clip(((tri[..., :2].min(axis=1) - low) / step).astype(int), 0, count - 1)
            last = np.clip(((tri[..., :2].max(axis=1) - low) / step).astype(int), 0, count - 1)
            wide = last - first + 1
            owner = np.repeat(np.arange(len(tri)), wide.prod(axis=1))
            place = np.arange(len(owner)) - np.repeat(
                np.cumsum(wide.prod(axis=1)) - wide.prod(axis=1), wide.prod(axis=1)
            )
            x, y = first[owner, 0] + place // wide[owner, 1], first[owner, 1] + place % wide[owner, 1]
            cell = x * count + y
            order = np.argsort(cell, kind="stable")
            starts = np.searchsorted(cell[order], np.arange(count * count + 1))
            self._bins[k] = (tri, low, step, count, owner[order], starts)
        return self._bins[k]

    def _odd(self, points: Array, k: int) -> NDArray[np.bool_]:
        tri, low, step, count, owner, starts = self._binned(k)
        p = points @ self._turns[k].T
        at = np.floor((p[:, :2] - low) / step).astype(int)
        ok = np.all((at >= 0) & (at < count), axis=1)
        cell = np.where(ok, at[:, 0] * count + at[:, 1], 0)
        many = np.where(ok, starts[cell + 1] - starts[cell], 0)
        who = np.repeat(np.arange(len(p)), many)
        which = np.arange(len(who)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(starts[cell], many)
        t, q = tri[owner[which]], p[who]
        a, b, c = (t[:, i] - q for i in range(3))
        u, v, w = (m[:, 0] * n[:, 1] - m[:, 1] * n[:, 0] for m, n in ((b, c), (c, a), (a, b)))
        total = u + v + w
        hit = ((u > 0) & (v > 0) & (w > 0)) | ((u < 0) & (v < 0) & (w < 0))
        height = np.where(hit, u * a[:, 2] + v * b[:, 2] + w * c[:, 2], 0.0) / np.where(total == 0.0, 1.0, total)
        return np.bincount(who[hit & (height > 0.0)], minlength=len(p)) % 2 == 1


def shells_of(vertices: Array, faces: NDArray) -> list[Shell]:
    """Closed surfaces of a mesh: those of every chamber where inner walls part a closed block into several.

    Faces with a free edge close nothing and are peeled off. The rest falls into sheets between edges of three and more
    faces; sets of sheets that meet each such edge evenly (the kernel of a matrix over two elements) are closed.
    """
    v, f = welded(vertices, faces)
    while len(f):
        edge, uses = edges_of(f)
        free = (uses[edge] == 1).any(axis=1)
        if not free.any():
            break
        f = f[~free]
    if not len(f):
        return []
    edge, uses = edges_of(f)
    part, sheet = joined(len(f), edge, uses >= 2), joined(len(f), edge, uses == 2)
    out = []
    order = np.argsort(part, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        names, local = np.unique(sheet[rows], return_inverse=True)
        odd = uses[edge[rows]] != 2
        meets: dict[int, int] = {}
        for e, s in zip(edge[rows][odd].tolist(), np.repeat(local, 3).reshape(-1, 3)[odd].tolist(), strict=True):
            meets[e] = meets.get(e, 0) ^ (1 << s)
        for cycle in kernel(set(meets.values()), len(names)):
            mine = rows[[bool(cycle >> s & 1) for s in local.tolist()]]
            out.append(Shell(v[f[mine]], _sides(v, f[mine]) if not odd.any() else 0))
    return out


def kernel(rows: set[int], width: int) -> list[int]:
    """Basis of the sets of `width` things that meet every row evenly, all as bits of whole numbers."""
    pivots: dict[int, int] = {}
    for row in rows:
        for bit, other in pivots.items():
            if row >> bit & 1:
                row ^= other
        if row:
            bit = row.bit_length() - 1
            pivots = {b: o ^ row if o >> bit & 1 else o for b, o in pivots.items()} | {bit: row}
    loose = [i for i in range(width) if i not in pivots]
    return [(1 << i) | sum(1 << b for b, o in pivots.items() if o >> i & 1) for i in loose]


def _sides(v: Array, f: NDArray) -> int:
    """1 where all faces look out of the solid, -1 where all look in, 0 where they do not agree."""
    directed = f.astype(np.int64) * len(v) + np.roll(f, -1, axis=1)
    if len(np.unique(directed)) < directed.size:
        return 0
    a, b, c = (v[f[:, i]] - v[f[0, 0]] for i in range(3))
    return 1 if float(np.sum(a * np.cross(b, c))) >= 0.0 else -1


# ---------------------------------------------------------------- parts


@dataclass(eq=False)
class Part:
    """A rigid piece: a convex shape of a body, or the mesh of an object or of something static.

    `T` (N, 4, 4) at the samples, or (1, 4, 4) where it never moves; `points` (K, 3) with `radius` span its hull;
    `seeds` (S, 3): a point of each connected piece; `shells`: closed surfaces of meshes.
    """

    name: str
    kind: str
    owner: str
    geometry: Any
    points: Array
    radius: float
    seeds: Array
    T: Array
    joint: int = -1
    joint_name: str = ""
    shells: list[Shell] = field(default_factory=list)
    own: bool = True  # whether it counts against its own body
    others: bool = True  # and against everything else
    sunk: float = -np.inf  # below this height insides do not count: the floor stands for them

    @property
    def moves(self) -> bool:
        """Whether it is somewhere else at another time."""
        return self.kind == "body" or len(self.T) > 1

    @cached_property
    def boxes(self) -> Array:
        """Boxes around it at all samples, (N, 2, 3)."""
        low, high = [], []
        for T in np.array_split(self.T, max(len(self.T) * len(self.points) // 500_000, 1)):
            at = np.einsum("nij,kj->nki", T[:, :3, :3], self.points) + T[:, None, :3, 3]
            low.append(at.min(axis=1) - self.radius)
            high.append(at.max(axis=1) + self.radius)
        return np.stack([np.concatenate(low), np.concatenate(high)], axis=1)

    @cached_property
    def core(self) -> float:
        """Radius of a ball that lies inside of it, metres; 0 for meshes, which may be hollow."""
        if self.kind != "body":
            return 0.0
        hull = hull_of(self.points)
        middle = self.points.mean(axis=0)
        return self.radius + (0.0 if hull is None else float(-(hull.equations @ [*middle, 1.0]).max()))

    @cached_property
    def travel(self) -> Array:
        """How far any of its points has come at most since the first sample, (N,), metres; (1,) if it never moves."""
        if len(self.T) == 1:
            return np.zeros(1)
        way = np.diff(self.T, axis=0)
        steps = [
            np.linalg.norm(np.einsum("nij,kj->nki", w[:, :3, :3], self.points) + w[:, None, :3, 3], axis=-1).max(axis=1)
            + self.radius * np.linalg.norm(w[:, :3, :3], axis=(1, 2))
            for w in np.array_split(way, max(len(way) * len(self.points) // 500_000, 1))
        ]
        return np.concatenate([[0.0], np.cumsum(np.concatenate(steps))])

    def at(self, i: int) -> Array:
        """Its transform (4, 4) at sample i."""
        return self.T[i if len(self.T) > 1 else 0]

    def enclosed(self, points: Array, T: Array) -> NDArray[np.bool_]:
        """Which points (N, 3) of the world are inside of it when it is at T (N, 4, 4)."""
        local = np.einsum("nji,nj->ni", T[:, :3, :3], points - T[:, :3, 3])
        wound, always = np.zeros(len(points), dtype=int), np.zeros(len(points), dtype=bool)
        for shell in self.shells:
            inside = shell.inside(local)
            wound += shell.weight * inside
            always |= inside & (shell.weight == 0)
        return (always | (wound != 0)) & (points[:, 2] > self.sunk)


def hull_of(points: Array) -> ConvexHull | None:
    """Hull of points (N, 3), None where they lie in a plane."""
    try:
        return ConvexHull(points)
    except (QhullError, ValueError):
        return None


def convex_geometry(hull: ConvexHull) -> tuple[Any, Array]:
    """Coal's convex body of a hull, and its corners."""
    corners, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points = hull.points[hull.vertices]
    number = np.zeros(len(hull.points), dtype=int)
    number[hull.vertices] = np.arange(len(points))
    for p in points:
        corners.append(p)
    for simplex, plane in zip(hull.simplices, hull.equations, strict=True):
        a, b, c = hull.points[simplex]
        turn = 1 if np.dot(np.cross(b - a, c - a), plane[:3]) > 0 else -1
        triangles.append(coal.Triangle(*(int(n) for n in number[simplex][::turn])))
    return coal.Convex(corners, triangles), points


def triangles_geometry(vertices: Array, faces: NDArray) -> Any:
    """Coal's tree over triangles; those without an area are left out, they have neighbours."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    longest = np.maximum(np.sum((b - a) ** 2, axis=1), np.sum((c - a) ** 2, axis=1))
    faces = faces[np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-9 * longest]
    if not len(faces):
        return None
    used, faces = np.unique(faces, return_inverse=True)
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(faces.reshape(-1, 3)), len(used))
    model.addVertices(np.ascontiguousarray(vertices[used], dtype=float))
    model.addTriangles(np.ascontiguousarray(faces.reshape(-1, 3), dtype=np.int64))
    model.endModel()
    return model


def mesh_part(name: str, kind: str, vertices: Array, faces: NDArray, T: Array, dropped: NDArray) -> Part | None:
    """A part made of triangles; `dropped` (F,) faces are no surface, but still close solids."""
    geometry = triangles_geometry(vertices, faces[~dropped])
    if geometry is None:
        return None
    v, f = welded(vertices, faces[~dropped])
    edge, uses = edges_of(f)
    label = joined(len(f), edge, uses > 0)
    _, first = np.unique(label, return_index=True)
    used = v[np.unique(f)]
    hull = hull_of(used)
    points = used if hull is None else used[hull.vertices]
    part = Part(name, kind, name, geometry, points, 0.0, v[f[first, 0]], T)
    part.shells = shells_of(vertices, faces)
    return part


# ---------------------------------------------------------------- the file


class Arrays:
    """The arrays of a file by name."""

    def __init__(self, path: Path) -> None:
        try:
            with np.load(path, allow_pickle=False) as file:
                self.all = {key: file[key] for key in file}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise BadFile(
                f"{path} cannot be read as NPZ: {str(error).splitlines()[0] if str(error) else error!r}"
            ) from None
        self.path = path

    def get(self, key: str, shape: tuple[int | None, ...], kind: str = "fiu") -> NDArray:
        """One array of a shape, None for any length."""
        if key not in self.all:
            raise BadFile(f"{self.path} has no array '{key}'.")
        array = self.all[key]
        fits = len(array.shape) == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
        if not fits or array.dtype.kind not in kind:
            raise BadFile(f"{self.path} has '{key}' as {array.shape} of {array.dtype}, not {shape}.")
        return array.astype(float) if array.dtype.kind == "f" else array

    def table(self, key: str, width: int | None, kind: str = "fiu") -> NDArray:
        """Rows of an array that may be missing or empty."""
        if key not in self.all or not self.all[key].size:
            return np.zeros((0,) if width is None else (0, width), "<U1" if kind == "U" else float)
        return self.get(key, (None,) if width is None else (None, width), kind)

    def names(self, group: str) -> list[str]:
        """Names in a group, in the order of the file."""
        keys = [key for key in self.all if key.startswith(group + "/")]
        return list(dict.fromkeys(key.removeprefix(group + "/").split("/")[0] for key in keys))

    def text(self, key: str) -> str:
        """A string that may be missing."""
        return str(self.all[key]) if key in self.all else ""

    def mesh(self, key: str) -> tuple[Array, NDArray]:
        """Vertices and faces."""
        vertices = np.asarray(self.get(f"{key}/vertices", (None, 3)), dtype=float)
        faces = self.get(f"{key}/faces", (None, 3), "iu").astype(np.int64)
        if len(faces) and (faces.min() < 0 or faces.max() >= len(vertices)):
            raise BadFile(f"{self.path} has faces in '{key}' whose vertices do not exist.")
        return vertices, faces


def sample_times(file: Arrays, rate: float) -> tuple[Array, Array]:
    """Times of frames, and those that are looked at: `rate` a second, all frames, and the ends of all intervals."""
    frames = np.asarray(file.get("times", (None,)), dtype=float)
    if not len(frames) or not np.all(np.isfinite(frames)) or np.any(np.diff(frames) <= 0):
        raise BadFile(f"{file.path} needs rising times.")
    count = int(np.ceil((frames[-1] - frames[0]) * rate)) + 1
    ends = [file.table(key, 2).ravel() for key in ("allowed_during", "excused_during")]
    marks = np.concatenate([frames, *ends])
    marks = marks[(marks >= frames[0]) & (marks <= frames[-1])]
    return frames, np.unique(np.concatenate([np.linspace(frames[0], frames[-1], count), marks]))


def between(frames: Array, times: Array) -> tuple[NDArray, Array]:
    """Frame before each time, and how far it is on to the next, 0 to 1."""
    if len(frames) == 1:
        return np.zeros(len(times), dtype=int), np.zeros(len(times))
    k = np.clip(np.searchsorted(frames, times, side="right") - 1, 0, len(frames) - 2)
    return k, np.clip((times - frames[k]) / (frames[k + 1] - frames[k]), 0.0, 1.0)


def slerp(q: Array, k: NDArray, s: Array) -> Array:
    """Quaternions (T, ..., 4) between frames k and k + 1, the shorter way."""
    after = np.minimum(k + 1, len(q) - 1)
    a, b = q[k], q[after]
    s = s.reshape(-1, *[1] * (q.ndim - 1))
    dot = np.sum(a * b, axis=-1, keepdims=True)
    b = np.where(dot < 0.0, -b, b)
    # twice the angle by its half tangent keeps small angles exact
    angle = 2.0 * np.arctan2(
        np.linalg.norm(a - b, axis=-1, keepdims=True), np.linalg.norm(a + b, axis=-1, keepdims=True)
    )
    sine = np.sin(angle)
    small = sine < 1e-9
    safe = np.where(small, 1.0, sine)
    w0 = np.where(small, 1.0 - s, np.sin((1.0 - s) * angle) / safe)
    w1 = np.where(small, s, np.sin(s * angle) / safe)
    out = w0 * a + w1 * b
    return out / np.linalg.norm(out, axis=-1, keepdims=True)


def matrices(q: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4), wxyz."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def forward(parents: NDArray, offsets: Array, root: Array, q: Array) -> Array:
    """World transforms of joints (N, J, 4, 4)."""
    T = np.tile(np.eye(4), (len(root), len(parents), 1, 1))
    R = matrices(q)
    for j, p in enumerate(parents.tolist()):
        if p < 0:
            T[:, j, :3, :3], T[:, j, :3, 3] = R[:, j], root
        else:
            T[:, j, :3, :3] = T[:, p, :3, :3] @ R[:, j]
            T[:, j, :3, 3] = T[:, p, :3, 3] + np.einsum("nij,j->ni", T[:, p, :3, :3], offsets[j])
    return T


class Scene:
    """All parts of a file at the times that are looked at."""

    def __init__(self, file: Arrays, rate: float, report: Report) -> None:
        self.file, self.report = file, report
        self.frames, self.times = sample_times(file, rate)
        self.k, self.s = between(self.frames, self.times)
        self.frame_s = 1.0 / float(file.get("fps", ())) if "fps" in file.all else 0.0
        if not np.isfinite(self.frame_s):
            raise BadFile(f"{file.path} needs a positive fps.")
        floor = float(file.get("floor", ()))
        self.floor = None if np.isnan(floor) else floor
        self.parents: dict[str, NDArray] = {}
        self.joint_names: dict[str, list[str]] = {}
        self.parts: list[Part] = []
        for name in file.names("char"):
            self._character(name)
        for name in file.names("object"):
            self._object(name)
        for name in file.names("static"):
            self._static(name)

    def _finite(self, who: str, *arrays: Array) -> bool:
        if all(np.all(np.isfinite(a)) for a in arrays):
            return True
        self.report.add((who, ""), "numbers that are not finite")
        return False

    def _character(self, name: str) -> None:
        file, key, T = self.file, f"char/{name}", len(self.frames)
        parents = file.get(f"{key}/parents", (None,), "iu").astype(int)
        J = len(parents)
        if not J or np.any(parents >= np.arange(J)):
            raise BadFile(f"{file.path} needs parents before their children in '{name}'.")
        offsets, root = file.get(f"{key}/offsets", (J, 3)), file.get(f"{key}/root", (T, 3))
        q = np.asarray(file.get(f"{key}/rotations", (T, J, 4)), dtype=float)
        self.parents[name] = parents
        self.joint_names[name] = [str(n) for n in file.get(f"{key}/joint_names", (J,), "U")]
        names, kinds = file.table(f"{key}/shape_names", None, "U"), file.table(f"{key}/shape_kind", None, "U")
        S = len(names)
        joint = file.table(f"{key}/shape_joint", None, "iu").astype(int)
        if len(kinds) != S or len(joint) != S or np.any((joint < 0) | (joint >= J)):
            raise BadFile(f"{file.path} needs a kind and a joint for each shape of '{name}'.")
        size = file.get(f"{key}/shape_size", (S, 3)) if S else np.zeros((0, 3))
        local = file.get(f"{key}/T_joint_shape", (S, 4, 4)) if S else np.zeros((0, 4, 4))
        own = file.table(f"{key}/shape_own", None, "iu").astype(int)  # the row of a slimmer shape for own pairs, or -1
        own = own if len(own) else np.full(S, -1)
        slim = own[own != -1] if len(own) == S else own
        fits = len(own) == S and np.all((slim >= 0) & (slim < S)) and len(set(slim.tolist())) == len(slim)
        if not fits or np.any(own[slim] != -1) or np.any(joint[slim] != joint[own != -1]):
            raise BadFile(f"{file.path} needs slimmer shapes of '{name}' on the joints of those that they stand for.")
        if not self._finite(name, offsets, root, q, size, local):
            return
        length = np.linalg.norm(q, axis=-1, keepdims=True)
        if np.any(np.abs(length - 1.0) > RIGID):
            self.report.add((name, ""), "rotations that are no unit quaternions")
        q = q / np.where(length > 0.0, length, 1.0)
        if f"{key}/T_world_joint" in file.all:
            given = file.get(f"{key}/T_world_joint", (T, J, 4, 4))
            off = np.abs(given - forward(parents, offsets, root, q)).max()
            if not off <= SLACK_M:
                self.report.add((name, ""), "joint transforms that differ from forward kinematics", depth=off)
        after = np.minimum(self.k + 1, T - 1)
        roots = root[self.k] + self.s[:, None] * (root[after] - root[self.k])
        world = forward(parents, offsets, roots, slerp(q, self.k, self.s))
        for i in range(S):
            geometry, points, radius = self._shape(f"{key}/mesh/{i}", str(kinds[i]), size[i])
            if geometry is None:
                self.report.notes.append(f"{name}.{names[i]} has no volume and no area.")
                continue
            seeds = points.mean(axis=0)[None]
            T_shape = world[:, joint[i]] @ local[i]
            j = int(joint[i])
            part = Part(f"{name}.{names[i]}", "body", name, geometry, points, radius, seeds, T_shape, j)
            part.joint_name = self.joint_names[name][j]
            part.own, part.others = bool(own[i] < 0), i not in slim
            self.parts.append(part)

    def _shape(self, key: str, kind: str, size: Array) -> tuple[Any, Array, float]:
        """Geometry of a shape, the points that span it and the radius about them."""
        radius, half = float(size[0]), float(size[1])
        if kind == "sphere":
            return coal.Sphere(radius), np.zeros((1, 3)), radius
        if kind == "capsule":
            return coal.Capsule(radius, 2.0 * half), np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]), radius
        if kind == "box":
            signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
            return coal.Box(*(2.0 * size)), signs * size, 0.0
        if kind != "mesh":
            raise BadFile(f"{self.file.path} has a shape of the kind '{kind}'.")
        vertices, faces = self.file.mesh(key)
        used = vertices[np.unique(faces)]
        hull = hull_of(used)
        if hull is None:
            return triangles_geometry(vertices, faces), used, 0.0
        return *convex_geometry(hull), 0.0

    def _object(self, name: str) -> None:
        vertices, faces = self.file.mesh(f"object/{name}")
        T = np.asarray(self.file.get(f"object/{name}/T_world_object", (len(self.frames), 4, 4)), dtype=float)
        if not self._finite(name, vertices[np.unique(faces)], T):
            return
        R = T[:, :3, :3]
        if np.abs(R @ R.swapaxes(1, 2) - np.eye(3)).max() > RIGID or np.linalg.det(R).min() < 0.0:
            raise BadFile(f"{self.file.path} has transforms of '{name}' that are not rigid.")
        placed = T[:1]
        if np.ptp(T, axis=0).max() > 1e-12:
            q = Rotation.from_matrix(R).as_quat(scalar_first=True)
            placed = np.tile(np.eye(4), (len(self.times), 1, 1))
            after = np.minimum(self.k + 1, len(T) - 1)
            placed[:, :3, 3] = T[self.k, :3, 3] + self.s[:, None] * (T[after, :3, 3] - T[self.k, :3, 3])
            placed[:, :3, :3] = matrices(slerp(q, self.k, self.s))
        part = mesh_part(name, "object", vertices, faces, placed, np.zeros(len(faces), dtype=bool))
        if part is not None:
            self.parts.append(part)

    def _static(self, name: str) -> None:
        key = f"static/{name}"
        vertices, faces = self.file.mesh(key)
        if not self._finite(name, vertices[np.unique(faces)]):
            return
        dropped = np.zeros(len(faces), dtype=bool)
        if f"{key}/dropped" in self.file.all:
            dropped = self.file.get(f"{key}/dropped", (len(faces),), "b").astype(bool)
            self._check_dropped(name, vertices[faces[dropped]])
        part = mesh_part(name, "static", vertices, faces, np.eye(4)[None], dropped)
        if part is not None:
            if dropped.any() and self.floor is not None:
                part.sunk = self.floor + DROPPED_ABOVE_FLOOR_M
            self.parts.append(part)

    def _check_dropped(self, name: str, corners: Array) -> None:
        """Faces (F, 3, 3) that are left out must be the floor, or below it."""
        if not len(corners):
            return
        if self.floor is None:
            self.report.add((name, FLOOR), "faces are left out as floor, and there is none")
            return
        top = corners[..., 2].max(axis=1) - self.floor
        if top.max() > DROPPED_ABOVE_FLOOR_M + 1e-9:
            self.report.add((name, FLOOR), "a face is left out as floor and reaches above it", depth=top.max())
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.linalg.norm(normal, axis=1)
        steep = np.abs(normal[:, 2]) < np.cos(DROPPED_SLOPE_RAD) * area
        if np.any(steep & (top > ROUNDED_M) & (area > 1e-12)):
            rise = np.ptp(corners[..., 2], axis=1)[steep & (top > ROUNDED_M)].max()
            self.report.add((name, FLOOR), "a face is left out as floor and is steep", depth=rise)


# ---------------------------------------------------------------- two parts


def sphere_directions(count: int) -> Array:
    """Directions (N, 3) spread over a sphere."""
    k = np.arange(count) + 0.5
    up, turn = 1.0 - 2.0 * k / count, np.pi * (1.0 + 5.0**0.5) * k
    flat = np.sqrt(1.0 - up * up)
    return np.stack([flat * np.cos(turn), flat * np.sin(turn), up], axis=1)


DIRECTIONS = np.concatenate([np.eye(3), -np.eye(3), sphere_directions(20), sphere_directions(70)])


class Meeting:
    """Two parts at the samples: whether they meet, and how far one has to be moved until they do not."""

    def __init__(self, a: Part, b: Part) -> None:
        self.a, self.b = a, b
        self._ask, self._look = coal.CollisionRequest(), coal.CollisionRequest()
        self._ask.num_max_contacts = 1
        self._look.num_max_contacts = 128
        self._look.enable_contact = True
        self._result = coal.CollisionResult()
        self._measure, self._measured = coal.DistanceRequest(), coal.DistanceResult()

    def hits(self, samples: NDArray) -> NDArray[np.bool_]:
        """At which samples (M,), rising, the two touch, overlap, or one is inside of the other.

        From a sample at which they are some way apart, those are skipped until which they have not moved so far: they
        are as far apart there, and neither can have got inside of the other.
        """
        out = np.zeros(len(samples), dtype=bool)
        travel = self.a.travel + self.b.travel
        inside = np.zeros(len(samples), dtype=bool)
        for inner, outer in ((self.a, self.b), (self.b, self.a)):
            if outer.shells:
                inside |= self._swallowed(inner, outer, samples)
        n = 0
        while n < len(samples):
            i = int(samples[n])
            out[n] = inside[n] or self._collide(i, None, self._ask)
            if out[n] or len(travel) == 1:
                n += 1
                continue
            apart = SURE * self._distance(i)
            n = max(n + 1, int(np.searchsorted(samples, np.searchsorted(travel, travel[i] + apart))))
        return out

    def clear(self, i: int, shift: Array) -> bool:
        """Whether the two are apart at a sample when the first is moved by a vector (3,)."""
        if self._collide(i, shift, self._ask):
            return False
        one = np.array([i])
        inside = self._swallowed(self.a, self.b, one, shift) if self.b.shells else np.zeros(1)
        around = self._swallowed(self.b, self.a, one, -shift) if self.a.shells else np.zeros(1)
        return not (inside.any() or around.any())

    def parted(self, i: int, limit: float) -> bool:
        """Whether a move of the first part no longer than a limit, metres, is found that parts the two at a sample."""
        if limit <= 0.0:
            return self.clear(i, np.zeros(3))
        shift, normals = np.zeros(3), []
        for _ in range(12):  # out along the deepest contact's normal, again and again
            if not self._collide(i, shift, self._look):
                break
            contacts = [(-float(c.penetration_depth), -np.array(c.normal)) for c in self._result.getContacts()]
            contacts = [c for c in contacts if np.all(np.isfinite(c[1])) and np.isfinite(c[0])]
            if not contacts:
                break
            normals += [n for _, n in contacts]
            deep, normal = max(contacts, key=lambda c: c[0])
            shift = shift + normal * (max(deep, 0.0) + 1e-6)
            if np.linalg.norm(shift) > limit:
                break
        if np.linalg.norm(shift) <= limit and self.clear(i, shift):
            return True
        ways = DIRECTIONS if not normals else np.concatenate([np.unique(np.round(normals, 6), axis=0)[:64], DIRECTIONS])
        lengths = np.linalg.norm(ways, axis=1)
        ways = ways[lengths > 0.5] / lengths[lengths > 0.5, None]
        return any(self.clear(i, limit * way) for way in ways)

    def changes_sides(self, run: NDArray, limits: Array, apart: bool) -> bool:
        """Whether the two pass through each other in a run of hits, though a short move parts them at every sample.

        A ghost of the first part is led along beside it, always clear of the second and no farther away than the limits
        (M,). It moves a little at a time, so that it cannot change sides as a shift found anew at each sample could.
        `apart` says that the two were apart just before the run.
        """
        shift = np.zeros(3)
        for n, i in enumerate(run.tolist()):
            limit = float(limits[n])
            if n == 0 and not apart:
                found = [w * self._shortened(i, w, limit) for w in DIRECTIONS if self.clear(i, limit * w)]
                if not found:
                    return True
                shift = min(found, key=np.linalg.norm)
                continue
            nearer = 0.95 * shift
            if self.clear(i, nearer):
                shift = nearer
                continue
            moved = shift if self.clear(i, shift) else self._moved_out(i, shift)
            if moved is not None and np.linalg.norm(moved) > limit:
                ways = (limit * w for w in DIRECTIONS)
                moved = next((w for w in ways if self.clear(i, w) and self.way_clear(i, moved, w)), None)
            if moved is None:
                return True
            shift = moved
        after = int(run[-1]) + 1
        back = after >= len(self.a.T) and after >= len(self.b.T)
        return not (back or self.way_clear(after, shift, np.zeros(3)))

    def way_clear(self, i: int, begin: Array, end: Array) -> bool:
        """Whether the first part is clear at a sample on the way from one shift (3,) to another."""
        shares = np.linspace(0.0, 1.0, SWEEP_STEPS + 1)
        return all(self.clear(i, begin + share * (end - begin)) for share in shares)

    def _moved_out(self, i: int, shift: Array) -> Array | None:
        """The nearest shift to one that no longer is clear that is, not much farther away than the two have moved."""
        travel = self._travel(i)
        for step in (*(travel * np.array([0.25, 0.5, 1.0, 1.5, 2.5, 4.0]) + 1e-6), GHOST_STEP_M):
            for way in DIRECTIONS:
                if self.clear(i, shift + step * way):
                    return np.asarray(shift + step * way)
        return None

    def _travel(self, i: int) -> float:
        """How far the corners of the two move against each other from the sample before to this one, metres."""
        moved = 0.0
        for part in (self.a, self.b):
            if i and len(part.T) > 1:
                way = part.T[i] - part.T[i - 1]
                moved += float(np.linalg.norm(part.points @ way[:3, :3].T + way[:3, 3], axis=1).max())
        return moved

    def measured(self, i: int) -> float:
        """Roughly the depth at a sample, whatever it is; inf beyond a metre."""
        for limit in (1e-3, 1e-2, 0.1, 1.0):
            found = [self._shortened(i, way, limit) for way in DIRECTIONS[:26] if self.clear(i, limit * way)]
            if found:
                return min(found)
        return np.inf

    def _shortened(self, i: int, way: Array, length: float) -> float:
        low, high = 0.0, length
        for _ in range(8):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.clear(i, middle * way) else (middle, high)
        return high

    def _collide(self, i: int, shift: Array | None, request: Any) -> bool:
        A, B = self.a.at(i), self.b.at(i)
        at = A[:3, 3] if shift is None else A[:3, 3] + shift
        self._result.clear()
        one, other = coal.Transform3s(A[:3, :3], at), coal.Transform3s(B[:3, :3], B[:3, 3])
        coal.collide(self.a.geometry, one, self.b.geometry, other, request, self._result)
        return bool(self._result.isCollision())

    def _distance(self, i: int) -> float:
        """How far apart the surfaces of the two are at a sample, metres; 0 where that is not known."""
        A, B = self.a.at(i), self.b.at(i)
        self._measured.clear()
        one, other = coal.Transform3s(A[:3, :3], A[:3, 3]), coal.Transform3s(B[:3, :3], B[:3, 3])
        coal.distance(self.a.geometry, one, self.b.geometry, other, self._measure, self._measured)
        found = float(self._measured.min_distance)
        return found if np.isfinite(found) and found > 0.0 else 0.0

    def _swallowed(self, inner: Part, outer: Part, samples: NDArray, shift: Array | None = None) -> NDArray[np.bool_]:
        """At which samples a piece of one is inside of a closed surface of the other."""
        Ti = inner.T[samples] if len(inner.T) > 1 else np.repeat(inner.T, len(samples), axis=0)
        To = outer.T[samples] if len(outer.T) > 1 else np.repeat(outer.T, len(samples), axis=0)
        box = outer.boxes[samples] if len(outer.T) > 1 else outer.boxes
        out = np.zeros(len(samples), dtype=bool)
        for seed in inner.seeds:
            points = Ti[:, :3, :3] @ seed + Ti[:, :3, 3] + (0.0 if shift is None else shift)
            near = np.flatnonzero(np.all((points >= box[:, 0]) & (points <= box[:, 1]), axis=1) & ~out)
            if len(near):
                out[near] = outer.enclosed(points[near], To[near])
        return out


# ---------------------------------------------------------------- the rules


@dataclass(frozen=True, eq=False)
class Allowance:
    """A pair that may overlap to a depth during an interval; `shift` (3,) finite where an object is to be moved so."""

    pair: tuple[str, str]
    depth: float
    during: tuple[float, float]
    shift: Array


class Rules:
    """What a file allows, ignores and excuses, each looked at for sense."""

    def __init__(self, scene: Scene, report: Report) -> None:
        self.scene, self.report, file = scene, report, scene.file
        self.kind = {p.name: p.kind for p in scene.parts} | {FLOOR: FLOOR}
        self.by_name: dict[str, list[Part]] = {}
        for part in scene.parts:
            self.by_name.setdefault(part.name, []).append(part)
        for name, parts in self.by_name.items():
            if name == FLOOR or len({(p.kind, p.owner) for p in parts}) > 1:
                self.report.add((name, ""), "two different things of one name, so that nothing said of it is clear")
        self.caps = self._caps()
        pairs, depths = file.table("allowed_pair", 2, "U"), file.table("allowed_depth", None)
        during, shifts = file.table("allowed_during", 2), file.table("allowed_shift", 3)
        if not len(shifts):
            shifts = np.full((len(pairs), 3), np.nan)
        if not len(pairs) == len(depths) == len(during) == len(shifts):
            raise BadFile(f"{file.path} needs a depth and an interval for each allowed pair.")
        self.allowed = [
            Allowance((str(a), str(b)), float(d), (float(x), float(y)), s)
            for (a, b), d, (x, y), s in zip(pairs, depths, during, shifts, strict=True)
        ]
        for allowance in self.allowed:
            self._check_allowed(allowance)
        ignored = {(str(a), str(b)) for a, b in file.table("ignored_pair", 2, "U")}
        self.ignored = {frozenset(pair) for pair in ignored if self._may_ignore(*pair)}
        self.excused: dict[frozenset[str], list[tuple[float, float]]] = {}
        names, spans = file.table("excused_pair", 2, "U"), file.table("excused_during", 2)
        if len(names) != len(spans):
            raise BadFile(f"{file.path} needs an interval for each excused pair.")
        self._linked()
        holds = self._holds()
        for (a, b), (x, y) in zip(names, spans, strict=True):
            if self._may_excuse(str(a), str(b), (float(x), float(y)), holds):
                self.excused.setdefault(frozenset((str(a), str(b))), []).append((float(x), float(y)))

    def _caps(self) -> dict[str, float]:
        """Hard limits, higher where the file's evidence says that the user raised them."""
        caps = dict(CAPS)
        try:
            evidence = json.loads(self.scene.file.text("evidence") or "{}")
        except json.JSONDecodeError:
            raise BadFile(f"{self.scene.file.path} has an evidence that is no JSON.") from None
        told = evidence.get("caps", evidence.get("caps_m")) if isinstance(evidence, dict) else None
        for key, value in (told if isinstance(told, dict) else {}).items():
            if key in caps and isinstance(value, (int, float)) and value > caps[key]:
                caps[key] = float(value)
                self.report.notes.append(f"the limit '{key}' was raised to {1000.0 * value:g} mm by the user.")
        return caps

    def _limit(self, a: str, b: str) -> tuple[float, str]:
        """How deep a pair may be allowed to be, and what that limit is called."""
        if FLOOR in (a, b):
            other = b if a == FLOOR else a
            joints = {p.joint_name for p in self.by_name.get(other, [])}
            foot = self.kind.get(other) == "body" and (
                FEET.search(other.partition(".")[2]) or any(map(FEET.search, joints))
            )
            return (self.caps["feet"], "feet in the floor") if foot else (self.caps["body"], "others in the floor")
        owners = [self._owner(name) for name in (a, b)]
        if owners[0] == owners[1] and owners[0] in self.scene.parents:
            return self.caps["own"], "a body's own contact"
        return self.caps["contact"], "contact"

    def _owner(self, name: str) -> str:
        parts = self.by_name.get(name)
        if parts:
            return parts[0].owner
        return next((c for c in self.scene.parents if name == c or name.startswith(c + ".")), name)

    def _check_allowed(self, rule: Allowance) -> None:
        if not (np.isfinite(rule.depth) and rule.depth >= 0.0) or not rule.during[0] <= rule.during[1]:
            raise BadFile(f"{self.scene.file.path} allows {rule.pair} a depth or an interval that is none.")
        limit, name = self._limit(*rule.pair)
        if rule.depth > limit + 1e-9:
            self.report.add(rule.pair, f"allowed deeper than {1000.0 * limit:g} mm ({name})", depth=rule.depth)
        if np.all(np.isfinite(rule.shift)):
            if float(np.linalg.norm(rule.shift)) > rule.depth + 1e-9:
                self.report.add(rule.pair, "a shift longer than the allowed depth", depth=np.linalg.norm(rule.shift))
            if self.kind.get(rule.pair[0]) != "object":
                self.report.add(rule.pair, "a shift of something that is no object")

    def _may_ignore(self, a: str, b: str) -> bool:
        """Whether a pair may be left out for good: neighbours in one body, or links of one robot."""
        kinds = {self.kind.get(a, ""), self.kind.get(b, "")}
        if "" in kinds:
            return False  # nothing of that name is there
        if kinds == {"object"}:
            if _robot(a) and _robot(a) == _robot(b):
                return True
            self.report.add((a, b), "ignored, and no links of one robot")
            return False
        one, other = self.by_name.get(a, []), self.by_name.get(b, [])
        if kinds != {"body"} or one[0].owner != other[0].owner:
            self.report.add((a, b), "ignored, and not of one body")
            return False
        apart = min(self._apart(p, q) for p in one for q in other)
        hands = [HAND.search(p.joint_name) or HAND.search(p.name.partition(".")[2]) for p in (one[0], other[0])]
        if apart > NEIGHBOURS_APART and not all(hands):
            self.report.add((a, b), f"ignored, and {apart} joints apart")
            return False
        return True

    def _apart(self, p: Part, q: Part) -> int:
        """Joints from one part of a body to another."""
        parents = self.scene.parents[p.owner]
        ways = []
        for j in (p.joint, q.joint):
            way = [j]
            while parents[way[-1]] >= 0:
                way.append(int(parents[way[-1]]))
            ways.append(way)
        shared = next((j for j in ways[0] if j in ways[1]), None)
        return len(parents) if shared is None else ways[0].index(shared) + ways[1].index(shared)

    def _linked(self) -> None:
        """Objects that are joined: links of one robot."""
        file = self.scene.file
        pairs, spans = file.table("linked_pair", 2, "U"), file.table("linked_during", 2)
        if len(pairs) != len(spans):
            raise BadFile(f"{file.path} needs an interval for each pair of linked objects.")
        for a, b in ((str(a), str(b)) for a, b in pairs):
            if not self.kind.get(a, "object") == self.kind.get(b, "object") == "object":
                self.report.add((a, b), "linked, and not two objects")
                continue
            if _robot(a) and _robot(a) == _robot(b):
                self.ignored.add(frozenset((a, b)))
            else:
                self.report.add((a, b), "linked, and no links of one robot")

    def _holds(self) -> list[tuple[str, str, str, tuple[float, float]]]:
        file = self.scene.file
        out = []
        for i in file.names("hold"):
            begin, end = file.get(f"hold/{i}/during", (2,))
            out.append(
                (*(file.text(f"hold/{i}/{key}") for key in ("object", "by", "hand")), (float(begin), float(end)))
            )
        return out

    def _may_excuse(self, a: str, b: str, during: tuple[float, float], holds: list[tuple[Any, ...]]) -> bool:
        """Whether a pair is a held object and the segment that holds it, or a finger of the hand, during the hold."""
        if self.kind.get(b) == "body":
            a, b = b, a
        parts = self.by_name.get(a, [])
        if not parts or self.kind[a] != "body" or self.kind.get(b) != "object":
            self.report.add((a, b), "excused, and no part of a body with an object")
            return False
        part = parts[0]
        for object, by, hand, (begin, end) in holds:
            if object != b or by != part.owner:
                continue
            frame = self.scene.frame_s + TIME_SLACK_S  # it is on its way into the hand, and out of it
            if not (begin - frame <= during[0] and during[1] <= end + frame):
                continue
            if self._holding(part, str(hand), holds):
                slip = self._slip(part.owner, str(hand), b, (begin, end), holds)
                if slip > SLIP_M:
                    why = f"excused as held, and the hand moves by {1000.0 * slip:.0f} mm on it"
                    self.report.add((a, b), why, at=max(during[0], self.scene.times[0]))
                return slip <= SLIP_M
        self.report.add(
            (a, b), "excused, and neither what holds it nor a finger of it", at=max(during[0], self.scene.times[0])
        )
        return False

    def _holding(self, part: Part, hand: str, holds: list[tuple[Any, ...]]) -> bool:
        """Whether a part is the segment that a hold names, or for a hand one of its fingers."""
        own, joint = part.name.removeprefix(part.owner + "."), part.joint_name
        if hand in ("left", "right"):
            side = re.compile(rf"{hand}|(^|[^a-z]){hand[0]}|^{hand[0]}[A-Z_]?", re.IGNORECASE)
            other = "right" if hand == "left" else "left"
            named = [n for n in (own, joint) if HAND.search(n) and other not in n.lower() and side.search(n)]
            return bool(named) or self._below_hand(part, hand)
        if hand in (own, joint):
            return True
        if hand in {p.name.removeprefix(p.owner + ".") for p in self.scene.parts if p.owner == part.owner}:
            return False
        return hand not in self.scene.joint_names[part.owner]  # a role that the file does not name: nothing is known

    def _slip(
        self, owner: str, hand: str, thing: str, during: tuple[float, float], holds: list[tuple[Any, ...]]
    ) -> float:
        """How far what holds an object moves on it over the frames of a hold, metres: the part that moves least, since
        fingers may close meanwhile."""
        parts = [p for p in self.scene.parts if p.owner == owner and self._holding(p, hand, holds)]
        held = self.by_name.get(thing, [])
        frames = self.scene.frames
        inside = frames[(frames >= during[0] - TIME_SLACK_S) & (frames < during[1] - TIME_SLACK_S)]
        samples = np.searchsorted(self.scene.times, inside - TIME_SLACK_S)
        slips = []
        for part in parts if held else ():
            apart = np.array([np.linalg.inv(held[0].at(int(i))) @ part.at(int(i)) for i in samples])
            if len(apart):
                shift = np.linalg.norm(apart[:, :3, 3] - apart[0, :3, 3], axis=1)
                cosine = 0.5 * (np.einsum("nij,ij->n", apart[:, :3, :3], apart[0, :3, :3]) - 1.0)
                slips.append(float((shift + HAND_M * np.arccos(np.clip(cosine, -1.0, 1.0))).max()))
        return min(slips, default=0.0)

    def _below_hand(self, part: Part, hand: str) -> bool:
        parents, names = self.scene.parents[part.owner], self.scene.joint_names[part.owner]
        j = part.joint
        while j >= 0:
            if re.search(r"hand|wrist|palm", names[j], re.IGNORECASE) and hand[0] in names[j].lower():
                return True
            j = int(parents[j])
        return False

    def covering(self, a: str, b: str) -> list[Allowance]:
        """Allowances that speak of a pair, in either order; the name of a character means all of its parts."""
        return [
            r
            for r in self.allowed
            if any(self._means(r.pair[0], x) and self._means(r.pair[1], y) for x, y in ((a, b), (b, a)))
        ]

    def _means(self, said: str, name: str) -> bool:
        return said == name or (
            said in self.scene.parents and self.kind.get(name) == "body" and self._owner(name) == said
        )

    def off(self, a: str, b: str, times: Array) -> NDArray[np.bool_]:
        """At which times a pair is excused."""
        out = np.zeros(len(times), dtype=bool)
        for begin, end in self.excused.get(frozenset((a, b)), ()):
            out |= (times >= begin - TIME_SLACK_S) & (times <= end + TIME_SLACK_S)
        return out

    def counts(self, a: Part, b: Part) -> bool:
        """Whether a pair is looked at."""
        if not (a.moves or b.moves) or (a.owner == b.owner and a.joint == b.joint):
            return False
        same = a.kind == b.kind == "body" and a.owner == b.owner
        if not ((a.own and b.own) if same else (a.others and b.others)):
            return False
        return frozenset((a.name, b.name)) not in self.ignored


def _robot(name: str) -> str:
    """The robot that an object named 'ROBOT.link' is a link of; '' for other objects."""
    return name.partition(".")[0] if "." in name else ""


# ---------------------------------------------------------------- what was certified

GROUPS = {"char": "character", "object": "object", "static": "static mesh"}
ARRAYS = {
    "times": "the frames",
    "fps": "the frames",
    "floor": "the floor",
    "allowed": "the allowed overlaps",
    "excused": "the excused pairs",
    "ignored": "the ignored pairs",
    "linked": "the linked objects",
    "hold": "the holds",
    "base": "the edits",
    "edit": "the edits",
}


def content_of(file: Arrays, evidence: dict[str, Any]) -> dict[str, str]:
    """Digest of each part of a file: SHA-256 over keys, types, shapes and numbers of its arrays, 32 digits."""
    shas: dict[str, Any] = {}

    def sha(part: str) -> Any:
        return shas.setdefault(part, hashlib.sha256())

    for key in sorted(file.all):
        if key != "evidence":
            group, _, rest = key.partition("/")
            part = ARRAYS.get(group if rest else group.partition("_")[0], f"array '{key}'")
            part = f"{GROUPS[group]} '{rest.partition('/')[0]}'" if group in GROUPS else part
            array = np.ascontiguousarray(file.all[key], file.all[key].dtype.newbyteorder("<"))
            sha(part).update(f"{key} {array.dtype.str} {array.shape}\n".encode())
            sha(part).update(array.tobytes())
    for key in sorted(evidence):
        if key != "content":
            text = json.dumps(floats(evidence[key]), sort_keys=True)
            sha("the caps" if key == "caps_m" else "the evidence").update(f"{key} {text}\n".encode())
    return {part: found.hexdigest()[:32] for part, found in shas.items()}


def floats(value: Any) -> Any:
    """Plain data with all numbers as floats."""
    if isinstance(value, dict):
        return {key: floats(v) for key, v in value.items()}
    if isinstance(value, list):
        return [floats(v) for v in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def check_content(file: Arrays, report: Report) -> None:
    """Compare a file that says it is proven with the digests of what was certified."""
    try:
        evidence = json.loads(file.text("evidence") or "{}")
    except json.JSONDecodeError:
        raise BadFile(f"{file.path} has an evidence that is no JSON.") from None
    if not isinstance(evidence, dict) or evidence.get("status") != "proven":
        report.notes.append("the file does not say that it is proven.")
        return
    stored, now = evidence.get("content"), content_of(file, evidence)
    if not isinstance(stored, dict) or not stored:
        report.add(("", ""), CHANGED + "everything (the file does not store what was certified)")
        return
    for part in sorted({*stored, *now}):
        if stored.get(part) != now.get(part):
            how = "added" if part not in stored else "changed" if part in now else "removed"
            report.add(("", ""), f"{CHANGED}{part} ({how})")


# ---------------------------------------------------------------- the check


def verify(path: str | Path, rate: float = RATE_HZ, slack: float = SLACK_M, *, first: bool = False) -> Report:
    """Look for violations in a file at `rate` samples a second; overlaps up to `slack` metres are rounding.

    With `first`, the first violation ends the search.
    """
    report = Report()
    file = Arrays(Path(path))
    scene = Scene(file, rate, report)
    rules = Rules(scene, report)
    check_content(file, report)
    report.samples = len(scene.times)
    for a, b in combinations(scene.parts, 2):
        if first and report.violations:
            return report
        if rules.counts(a, b):
            report.pairs += 1
            _check_pair(scene, rules, a, b, slack, report, first)
    if scene.floor is not None:
        for part in scene.parts:
            if part.moves and part.others:
                report.pairs += 1
                _check_floor(scene, rules, part, slack, report)
    report.violations.sort(key=lambda v: -v.depth if np.isfinite(v.depth) else -np.inf)
    return report


def _check_pair(scene: Scene, rules: Rules, a: Part, b: Part, slack: float, report: Report, quick: bool) -> None:
    times = scene.times
    covering = rules.covering(a.name, b.name)
    shifts = [r for r in covering if np.all(np.isfinite(r.shift))]
    meet = np.all((a.boxes[:, 0] <= b.boxes[:, 1]) & (b.boxes[:, 0] <= a.boxes[:, 1]), axis=1)
    meet = np.broadcast_to(meet, len(times)) & ~rules.off(a.name, b.name, times)
    if not meet.any() and not shifts:
        return
    meeting = Meeting(a, b)
    for rule in shifts:
        _check_shift(scene, meeting if a.name == rule.pair[0] else Meeting(b, a), rule, shifts, report)
    near = np.flatnonzero(meet)
    hit = near[meeting.hits(near)]
    bound = np.zeros(len(times))
    for rule in covering:
        inside = _in(rule, times)
        bound[inside] = np.inf if rule in shifts else np.maximum(bound[inside], rule.depth)
    hit = hit[np.isfinite(bound[hit])]
    # a ball this large in the middle of a part of a body stays clear of what parts it by less: it cannot slip through
    core = np.inf if a.kind == b.kind == "body" else max(a.core, b.core)
    worst = (0.0, -1)
    for run in np.split(hit, np.flatnonzero(np.diff(hit) > 1) + 1) if len(hit) else ():
        if _too_deep(meeting, run, bound[run], slack, core):
            looked = run[:1] if quick else run[[0, len(run) // 2, -1]]
            worst = max(worst, *((np.inf if quick else meeting.measured(int(i)), int(i)) for i in looked))
    if worst[1] >= 0:
        why = "overlap" if not bound[worst[1]] else f"deeper than the {1000.0 * bound[worst[1]]:g} mm allowed"
        report.add((a.name, b.name), why, times[worst[1]], worst[0])


def _too_deep(meeting: Meeting, run: NDArray, bound: Array, slack: float, core: float) -> bool:
    """Whether two parts overlap deeper than bounds (M,) at a run of samples (M,), or pass through each other.

    `core` is the radius of a ball inside of one of them, metres.
    """
    order = np.argsort(np.arange(len(run)) % 8, kind="stable")  # a few from all over the run come first
    if any(not meeting.parted(int(run[n]), bound[n] + slack) for n in order):
        return True
    if not bound.any() or bound.max() + slack < core:
        return False
    apart = bool(run[0]) and meeting.clear(int(run[0]) - 1, np.zeros(3))
    return meeting.changes_sides(run, bound + slack, apart)


def _check_shift(scene: Scene, meeting: Meeting, rule: Allowance, others: list[Allowance], report: Report) -> None:
    """Look whether an object moved by its allowed shift is clear at all times, and on the way there at the ends."""
    times, pair = scene.times, rule.pair
    inside = np.flatnonzero(_in(rule, times))
    bad = next((int(i) for i in inside if not meeting.clear(int(i), rule.shift)), None)
    if bad is not None:
        report.add(pair, "overlap that the shift of the allowance does not end", times[bad], meeting.measured(bad))
        return
    ends = [int(i[0]) for i in (inside[:1], inside[-1:]) if len(i) and 0 < i[0] < len(times) - 1]
    for i in ends:
        # it comes from its own place or, where that overlaps, from where another allowance has it
        begins = (
            [np.zeros(3)]
            if meeting.clear(i, np.zeros(3))
            else [o.shift for o in others if o is not rule and _in(o, times[i])]
        )
        if not all(meeting.way_clear(i, begin, rule.shift) for begin in begins):
            report.add(pair, "something is between an object and where its shift takes it", times[i])
            return


def _in(rule: Allowance, times: Any) -> Any:
    """Whether times are in the interval of an allowance."""
    return (times >= rule.during[0] - TIME_SLACK_S) & (times <= rule.during[1] + TIME_SLACK_S)


def _check_floor(scene: Scene, rules: Rules, part: Part, slack: float, report: Report) -> None:
    assert scene.floor is not None
    times = scene.times
    deep = scene.floor - part.boxes[:, 0, 2]
    bound = np.zeros(len(times))
    for rule in rules.covering(part.name, FLOOR):
        inside = _in(rule, times)
        bound[inside] = np.maximum(bound[inside], rule.depth)
    over = np.where(deep > bound + slack, deep, -np.inf)
    i = int(np.argmax(over))
    if np.isfinite(over[i]):
        why = "below the floor" if not bound[i] else f"deeper than the {1000.0 * bound[i]:g} mm allowed"
        report.add((part.name, FLOOR), why, times[i], over[i])


def main(arguments: list[str] | None = None) -> int:
    """Check one file and print what is found; returns the exit code."""
    parser = argparse.ArgumentParser(description="Re-check a written NPZ for collisions from its contents alone.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--rate", type=float, default=RATE_HZ, help="samples a second")
    parser.add_argument("--slack", type=float, default=SLACK_M, help="metres of overlap that count as rounding")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    told = parser.parse_args(arguments)
    try:
        if not (np.isfinite(told.rate) and told.rate > 0.0 and told.slack >= 0.0):
            raise BadFile("the rate must be positive, and the slack zero or more.")
        report = verify(told.file, told.rate, told.slack)
    except BadFile as error:
        print(error, file=sys.stderr)
        return 2
    if told.json:
        found = [{"pair": v.pair, "at_s": v.at, "depth_m": v.depth, "why": v.why} for v in report.violations]
        plain = {"violations": found, "notes": report.notes, "samples": report.samples, "pairs": report.pairs}
        print(json.dumps(plain, indent=1).replace("NaN", "null").replace("Infinity", "null"))
    else:
        for line in [v.text() for v in report.violations] + [f"note: {n}" for n in report.notes]:
            print(line)
        print(f"{len(report.violations)} violations; {report.pairs} pairs at {report.samples} times.")
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
