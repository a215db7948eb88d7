"""Topology: trace edge loops, cut parts out, refine them and sew them together.

Faces are tuples of vertex numbers of MakeHuman's base mesh; new vertices are mixtures of those. Only the left half
is built: vertices of the middle plane have their mirrored neighbours on the other side.
"""

from __future__ import annotations

import collections

import numpy as np

Polygons = list[tuple[int, ...]]
Mixture = dict[tuple[int, bool], float]  # (vertex, mirrored): share
EPS = 1e-6
MIRROR = np.array([-1.0, 1.0, 1.0])
ACCELERATION = 0.2  # share of an edge


def edges(polygon: tuple[int, ...]) -> list[tuple[int, int]]:
    """Directed edges of a polygon."""
    return list(zip(polygon, polygon[1:] + polygon[:1], strict=True))


def walls(loop: list[int], closed: bool = True) -> set[frozenset[int]]:
    """Edges of a loop or of an open path."""
    return {frozenset(e) for e in edges(tuple(loop))[: None if closed else -1]}


class Faces:
    """Polygons with the neighbourhoods that tracing needs."""

    def __init__(self, polygons: Polygons) -> None:
        self.polygons = polygons
        self.of_edge: dict[frozenset[int], list[int]] = collections.defaultdict(list)
        self.of_vertex: dict[int, list[int]] = collections.defaultdict(list)
        for k, q in enumerate(polygons):
            for a, b in edges(q):
                self.of_edge[frozenset((a, b))].append(k)
                self.of_vertex[a].append(k)

    def neighbours(self, v: int, faces: list[int] | None = None) -> set[int]:
        """Vertices joined to v by an edge, of all its faces or of some."""
        out = set()
        for k in self.of_vertex[v] if faces is None else faces:
            q = self.polygons[k]
            i = q.index(v)
            out |= {q[i - 1], q[(i + 1) % len(q)]}
        return out

    def rim(self, v: int) -> set[int]:
        """Neighbours along the rim of an open surface."""
        return {w for w in self.neighbours(v) if len(self.of_edge[frozenset((v, w))]) == 1}

    def onward(self, a: int, b: int) -> int | None:
        """The vertex straight on after a, b; None where the mesh is not regular."""
        near = self.of_edge[frozenset((a, b))]
        ways = self.rim(b) - {a} if len(near) == 1 else self.neighbours(b) - self.neighbours(b, near)
        return ways.pop() if len(ways) == 1 else None

    def loop(self, a: int, b: int) -> list[int]:
        """The closed edge loop that starts with a, b."""
        out = [a, b]
        while (c := self.onward(out[-2], out[-1])) != a:
            assert c is not None and len(out) < 500, f"no closed loop through {a}, {b}"
            out.append(c)
        return out

    def region(self, seed: int, barrier: set[frozenset[int]]) -> Polygons:
        """Faces reached from a vertex without crossing a barrier."""
        todo = [self.of_vertex[seed][0]]
        seen = set(todo)
        while todo:
            for edge in map(frozenset, edges(self.polygons[todo.pop()])):
                if edge not in barrier:
                    new = [k for k in self.of_edge[edge] if k not in seen]
                    seen.update(new)
                    todo += new
        return [self.polygons[k] for k in sorted(seen)]


class Half:
    """The left half under construction."""

    def __init__(self, side: np.ndarray) -> None:
        self.side = list(side)  # x in the base mesh: shapes may fold over the middle
        self.base_size = len(side)
        self.faces: Polygons = []
        self.zone: dict[int, str] = {}
        self.mixtures: list[tuple[Mixture, Mixture]] = []  # for places, and for weights

    def middle(self, v: int) -> bool:
        """Whether a vertex lies on the middle plane."""
        return abs(self.side[v]) < EPS

    def left(self, polygons: Polygons) -> Polygons:
        """Those of the polygons that lie on the left."""
        return [q for q in polygons if all(self.side[v] > -EPS for v in q)]

    def mixed(self, places: Mixture, weights: Mixture | None = None, zone: str | None = None) -> int:
        """A new vertex."""
        self.mixtures.append((places, weights or places))
        self.side.append(sum(s * self.side[v] * (-1 if m else 1) for (v, m), s in places.items()))
        new = len(self.side) - 1
        if zone is not None:
            self.zone[new] = zone
        return new

    def extended(self, places: np.ndarray) -> np.ndarray:
        """Places (N, 3) of the base mesh with those of the new vertices appended."""
        out = list(places)
        for mixture, _ in self.mixtures:
            out.append(sum(s * out[v] * (MIRROR if m else 1.0) for (v, m), s in mixture.items()))
        return np.array(out)

    def extended_weights(self, weights: np.ndarray) -> np.ndarray:
        """Weights (N, J) of the base mesh with those of the new vertices appended."""
        out = list(weights)
        for _, mixture in self.mixtures:
            out.append(sum(s * out[v] for (v, _), s in mixture.items()))
        return np.array(out)

    def left_path(self, loop: list[int]) -> list[int]:
        """The part of a loop around the body on the left, from one vertex of the middle to the other."""
        at = next(k for k, v in enumerate(loop) if k and self.middle(v))
        return loop[: at + 1]

    # --- refinement

    def refine(self, x: np.ndarray, sagitta: float) -> dict[frozenset[int], int]:
        """Split edges whose curve stands off by more than `sagitta` (m) from the straight line.

        New vertices lie on the cubic through four vertices along the edge (the four-point scheme of Dyn, Levin and
        Gregory 1987), so the old ones stay. Returns the new vertex of each split edge.
        """
        mesh = Faces(self.faces)
        split: dict[frozenset[int], int] = {}
        for edge in sorted(mesh.of_edge, key=sorted):
            a, b = sorted(edge)
            zone = self.zone.get(a) if self.zone.get(a) == self.zone.get(b) else None
            mixture = self._curve(mesh, a, b)
            new = sum(s * x[v] * (MIRROR if m else 1.0) for (v, m), s in mixture.items())
            if np.linalg.norm(new - 0.5 * (x[a] + x[b])) > sagitta:
                split[edge] = self.mixed(mixture, {(a, False): 0.5, (b, False): 0.5}, zone or self._outer(a, b))
        self.faces = [t for q in self.faces for t in self._split_face(q, split)]
        return split

    def _outer(self, a: int, b: int) -> str | None:
        """Zone of a vertex between two zones: the one whose border loop it must not cross."""
        order = ("top", "trousers", "shoes")
        zones = [z for z in (self.zone.get(a), self.zone.get(b)) if z is not None]
        return max(zones, key=order.index) if zones else None

    def _curve(self, mesh: Faces, a: int, b: int) -> Mixture:
        out: Mixture = collections.defaultdict(float)
        out[a, False] += 9 / 16
        out[b, False] += 9 / 16
        for start, end in ((a, b), (b, a)):
            if self.middle(end) and not self.middle(start):
                beyond: tuple[int, bool] | None = (start, True)
            else:
                c = mesh.onward(start, end)
                if c is not None and not self.middle(end) and len(mesh.neighbours(end)) != 4:
                    c = None
                if c is not None and self.middle(end) and not self.middle(c):
                    c = None  # the rim leaves the middle here
                beyond = None if c is None else (c, False)
            if beyond is None:  # straight on
                out[end, False] -= 2 / 16
                out[start, False] += 1 / 16
            else:
                out[beyond] -= 1 / 16
        return dict(out)

    def _split_face(self, q: tuple[int, ...], split: dict[frozenset[int], int]) -> Polygons:
        mids = [split.get(frozenset(e)) for e in edges(q)]
        count = sum(m is not None for m in mids)
        if count == 0:
            return [q]
        if len(q) == 4 and count == 4:
            zone = next((self.zone[v] for v in mids if v in self.zone), None)  # type: ignore[index]
            # Centre of a Coons patch: mid-points of the sides carry the curvature.
            share = {(m, False): 0.5 for m in mids} | {(v, False): -0.25 for v in q}
            even = {(v, False): 0.25 for v in q}
            c = self.mixed(share, even, zone)  # type: ignore[arg-type]
            return [(q[k], mids[k], c, mids[k - 1]) for k in range(4)]  # type: ignore[misc]
        if len(q) == 4 and count == 2 and (mids[0] is None) == (mids[2] is None):
            k = 0 if mids[0] is not None else 1
            a, b, c, d = q[k:] + q[:k]
            m, n = mids[k], mids[k + 2]
            return [(a, m, n, d), (m, b, c, n)]  # type: ignore[list-item]
        ring = tuple(v for a, m in zip(q, mids, strict=True) for v in ((a,) if m is None else (a, m)))
        return self._fan(ring, {m for m in mids if m is not None})

    def _fan(self, ring: tuple[int, ...], mids: set[int]) -> Polygons:
        """Cut corners between two new vertices off, then fan the rest from a new vertex."""
        out: Polygons = []
        k = 0
        while k < len(ring) and len(ring) > 4:
            before, at, after = ring[k - 1], ring[k], ring[(k + 1) % len(ring)]
            if at not in mids and before in mids and after in mids:
                out.append((before, at, after))
                ring = ring[:k] + ring[k + 1 :]
                k = 0
            else:
                k += 1
        if len(ring) <= 4 and not (len(ring) == 4 and sum(v in mids for v in ring) == 1):
            return [*out, ring]
        start = next(k for k, v in enumerate(ring) if v in mids)
        ring = ring[start:] + ring[:start]
        return out + [(ring[0], ring[k], ring[k + 1]) for k in range(1, len(ring) - 1)]

    # --- seams

    def divide(self, field: np.ndarray, zone: str) -> set[frozenset[int]]:
        """Cut faces where a field over all vertices changes sign; what is positive becomes `zone`.

        Returns the edges of the cut. NaN keeps a vertex and its faces out of it.
        """
        value = list(field)
        crossed = {
            tuple(sorted(e)) for q in self.faces for e in edges(q) if value[e[0]] * value[e[1]] < 0
        }  # edges with a NaN compare as false
        for a, b in sorted(crossed):  # a crossing close to a vertex is moved there: no slivers
            share = value[a] / (value[a] - value[b]) if value[a] * value[b] < 0 else 0.5
            if share < ACCELERATION:
                value[a] = 0.0
            elif share > 1.0 - ACCELERATION:
                value[b] = 0.0
        new: dict[frozenset[int], int] = {}
        for a, b in sorted(crossed):
            if value[a] * value[b] < 0:
                share = value[a] / (value[a] - value[b])
                new[frozenset((a, b))] = self.mixed({(a, False): 1.0 - share, (b, False): share})
                value.append(0.0)
        border: set[frozenset[int]] = set()
        faces: Polygons = []
        for q in self.faces:
            ring = tuple(v for a, b in edges(q) for v in (a, new.get(frozenset((a, b)))) if v is not None)
            on = [k for k, v in enumerate(ring) if value[v] == 0.0]
            signs = {np.sign(value[v]) for v in ring} - {0.0}
            if len(on) == 2 and signs == {-1.0, 1.0}:
                i, j = on
                faces += [ring[i : j + 1], ring[j:] + ring[: i + 1]]
                border.add(frozenset((ring[i], ring[j])))
            else:
                assert len(signs) < 2 or any(np.isnan(value[v]) for v in ring), f"face {q} is cut twice"
                faces.append(ring)
        self.faces = faces
        inside = {v for q in faces if any(value[v] > 0 for v in q) for v in q}
        outside = {v for q in faces if any(value[v] < 0 for v in q) for v in q}
        for q in faces:
            for a, b in edges(q):
                if value[a] == 0.0 == value[b] and {a, b} <= inside & outside:
                    border.add(frozenset((a, b)))
        for v in inside:
            if value[v] > 0:
                self.zone[v] = zone
        return border

    def sharpen(self, border: set[frozenset[int]], zone: str, share: float) -> None:
        """A thin strip along a border on the side of `zone`, so that the colour changes within it alone."""
        on = {v for edge in border for v in edge}
        near = [q for q in self.faces if on & set(q) and any(self.zone.get(v) == zone for v in q)]
        inner: dict[int, set[int]] = collections.defaultdict(set)
        for q in near:
            for a, b in edges(q):
                for u, v in ((a, b), (b, a)):
                    if u in on and v not in on:
                        inner[u].add(v)
        thin = {}
        for v in sorted({v for q in near for v in q} & on):
            # A corner without an edge of its own goes towards the middle of its face.
            ways = inner[v] or {w for q in near if v in q for w in q if w not in on}
            mean: Mixture = {(v, False): 1.0 - share}
            mean |= {(w, False): share / len(ways) for w in sorted(ways)}
            thin[v] = self.mixed(mean, zone=zone)
        strip = []
        for q in near:
            self.faces.remove(q)
            self.faces.append(tuple(thin.get(v, v) for v in q))
            strip += [(a, b, thin[b], thin[a]) for a, b in edges(q) if frozenset((a, b)) in border]
        self.faces += strip

    def hem(self, loop: list[int], inner: list[int], x: np.ndarray, share: float) -> list[int]:
        """The far side of a thin strip from the edge of the clothes towards the skin under it."""
        out = []
        for v in loop:
            ways = [w for w in inner if self.middle(w)] if self.middle(v) else inner
            near = min(ways, key=lambda w: float(np.linalg.norm(x[w] - x[v])))
            out.append(self.mixed({(v, False): 1.0 - share, (near, False): share}, zone="skin"))
        return out

    def sew(self, a: list[int], b: list[int], x: np.ndarray) -> None:
        """Triangles between two open paths that run side by side, wound like the faces that they join."""
        out: Polygons = []
        i = j = 0
        while i < len(a) - 1 or j < len(b) - 1:
            if i < len(a) - 1 and (j == len(b) - 1 or _gap(x, a[i + 1], b[j]) < _gap(x, a[i], b[j + 1])):
                out.append((a[i], a[i + 1], b[j]))
                i += 1
            else:
                out.append((a[i], b[j + 1], b[j]))
                j += 1
        taken = {e for q in self.faces for e in edges(q)}
        self.faces += [t[::-1] for t in out] if (a[0], a[1]) in taken else out

    def sew_edge(self, edge: list[int], inner: list[int], x: np.ndarray, share: float) -> None:
        """Join the edge of the clothes to the skin's, both open paths, by a hem."""
        far = self.hem(edge, inner, x, share)
        strip = [(edge[i], far[i], far[i + 1], edge[i + 1]) for i in range(len(edge) - 1)]
        if edge[0] == edge[-1]:  # a ring: its ends are one vertex
            strip[-1] = (edge[-2], far[-2], far[0], edge[0])
            far[-1] = far[0]
        taken = {e for q in self.faces for e in edges(q)}
        self.faces += [q[::-1] for q in strip] if (edge[1], edge[0]) in taken else strip
        self.sew(far, inner, self.extended(x[: self.base_size]))


def _gap(x: np.ndarray, a: int, b: int) -> float:
    return float(np.linalg.norm(x[a] - x[b]))


def refined_path(path: list[int], split: dict[frozenset[int], int], closed: bool) -> list[int]:
    """A path or loop with the new vertices of its split edges put in."""
    out = []
    for k, v in enumerate(path):
        out.append(v)
        if (closed or k + 1 < len(path)) and (m := split.get(frozenset((v, path[(k + 1) % len(path)])))) is not None:
            out.append(m)
    return out


def same_way(ring: list[int], other: list[int], x: np.ndarray) -> list[int]:
    """A closed ring started and run so that it goes alongside another; both come back to their start."""
    start = int(np.argmin(np.linalg.norm(x[other] - x[ring[0]], axis=1)))
    other = other[start:] + other[:start]
    if _gap(x, other[1], ring[1]) > _gap(x, other[-1], ring[1]):
        other = other[:1] + other[:0:-1]
    return other
