"""Make src/elbowroom/character/mannequin_base.json from MakeHuman's public-domain (CC0 1.0) base mesh.

    python tools/mannequin_base.py FOLDER

FOLDER is the data folder of MPFB2, the current home of the MakeHuman assets (it holds 3dobjs/base.obj, targets/
and rigs/standard/). The mannequin is MakeHuman's tight-suit layer, with head and hands of its body mesh sewn on:
neck, wrists and mouth are closed, so that the result is one watertight surface. Only the left half is kept.
"""

from __future__ import annotations

import base64
import collections
import gzip
import json
import sys
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

OUT = Path(__file__).parents[1] / "src/elbowroom/character/mannequin_base.json"

# One name per stored shape; the heavy and strong ones are stored like the others, as whole bodies.
SHAPES = {
    "woman": [("female", "young", "averagemuscle", "averageweight")],
    "man": [("male", "young", "averagemuscle", "averageweight")],
    "child": [(s, "child", "averagemuscle", "averageweight") for s in ("female", "male")],
    "heavy_woman": [("female", "young", "averagemuscle", "maxweight")],
    "heavy_man": [("male", "young", "averagemuscle", "maxweight")],
    "heavy_child": [(s, "child", "averagemuscle", "maxweight") for s in ("female", "male")],
    "strong_man": [("male", "young", "maxmuscle", "averageweight")],
}
PEOPLES = ("african", "asian", "caucasian")

# Vertices of the base mesh that lie on the edge loops where parts are cut: first vertex, next vertex on +x.
COLLAR_OF_SUIT = 17912
NECK_OF_BODY = 815
CUFF_OF_SUIT = (17170, 17176)
WRIST_OF_BODY = (10548, 10561)
LIPS = 474
# Loops where the colour changes: waist, top of the shoe.
WAIST = 17968
SHOE = (16632, 16683)
SOLE = 16768  # a vertex of the shoe
THIN = 0.06  # share of a face at a colour border that takes the change, so that the border looks sharp

HEM = 0.25  # how far the edge of the clothes turns towards the skin
LIP_CLOSING = 0.9
LIP_REACH = 0.010  # metres

ZONES = ("skin", "top", "trousers", "shoes")
TRUNK = ("pelvis", "spine1", "spine2", "chest")

SHAPE_UNIT = 5e-5  # metres; places are stored as whole multiples of it

Quads = list[tuple[int, ...]]


class Source:
    """MakeHuman's files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        points: list[list[float]] = []
        self.groups: dict[str, Quads] = collections.defaultdict(list)
        group = ""
        for line in (folder / "3dobjs/base.obj").read_text().splitlines():
            word = line.split()
            if word[:1] == ["v"]:
                points.append([float(x) for x in word[1:4]])
            elif word[:1] == ["g"]:
                group = word[1]
            elif word[:1] == ["f"]:
                self.groups[group].append(tuple(int(x.split("/")[0]) - 1 for x in word[1:]))
        self.base = np.array(points)
        self.rig = json.loads((folder / "rigs/standard/weights.default.json").read_text())["weights"]

    def target(self, name: str) -> np.ndarray:
        out = np.zeros_like(self.base)
        for line in gzip.open(self.folder / f"targets/{name}.target.gz", "rt"):
            if line.strip() and not line.startswith("#"):
                i, *xyz = line.split()
                out[int(i)] = [float(x) for x in xyz]
        return out

    def shape(self, mix: list[tuple[str, str, str, str]]) -> np.ndarray:
        """All vertices of the base mesh, metres, +Z up, facing -Y."""
        out = self.base.copy()
        for sex, age, muscle, weight in mix:
            out += self.target(f"macrodetails/universal-{sex}-{age}-{muscle}-{weight}") / len(mix)
            for people in PEOPLES:
                out += self.target(f"macrodetails/{people}-{sex}-{age}") / (len(mix) * len(PEOPLES))
        return out[:, [0, 2, 1]] * [0.1, -0.1, 0.1]

    def joint(self, shape: np.ndarray, name: str) -> np.ndarray:
        return shape[np.unique(self.groups[f"joint-{name}"])].mean(axis=0)


# --- topology -------------------------------------------------------------------------------------------------


class Faces:
    """Quads with the neighbourhoods that tracing needs."""

    def __init__(self, quads: Quads) -> None:
        self.quads = quads
        self.of_edge: dict[frozenset[int], list[int]] = collections.defaultdict(list)
        self.of_vertex: dict[int, list[int]] = collections.defaultdict(list)
        for k, q in enumerate(quads):
            for a, b in zip(q, q[1:] + q[:1], strict=True):
                self.of_edge[frozenset((a, b))].append(k)
                self.of_vertex[a].append(k)

    def neighbours(self, v: int, faces: list[int] | None = None) -> set[int]:
        out = set()
        for k in self.of_vertex[v] if faces is None else faces:
            q = self.quads[k]
            i = q.index(v)
            out |= {q[i - 1], q[(i + 1) % len(q)]}
        return out

    def loop(self, a: int, b: int) -> list[int]:
        """The closed edge loop that starts with a, b: straight on at every vertex."""
        out = [a, b]
        while True:
            last = self.of_edge[frozenset(out[-2:])]
            onward = self.neighbours(out[-1]) - self.neighbours(out[-1], last)
            border = len(last) == 1
            if border:  # along the rim the next vertex is the other one with a single face
                onward = {
                    w
                    for w in self.neighbours(out[-1]) - {out[-2]}
                    if len(self.of_edge[frozenset((out[-1], w))]) == 1
                }
            (c,) = onward
            if c == a:
                return out
            out.append(c)

    def region(self, seed: int, walls: set[frozenset[int]]) -> Quads:
        """Faces reached from a vertex without crossing walls."""
        todo = [self.of_vertex[seed][0]]
        seen = set(todo)
        while todo:
            q = self.quads[todo.pop()]
            for edge in map(frozenset, zip(q, q[1:] + q[:1], strict=True)):
                if edge not in walls:
                    new = [k for k in self.of_edge[edge] if k not in seen]
                    seen.update(new)
                    todo += new
        return [self.quads[k] for k in sorted(seen)]


def walls(loop: list[int]) -> set[frozenset[int]]:
    return {frozenset(e) for e in zip(loop, loop[1:] + loop[:1], strict=True)}


def to_the_left(faces: Faces, v: int, x: np.ndarray) -> int:
    """The neighbour of a vertex of the middle on the +x side."""
    (w,) = [w for w in faces.neighbours(v) if x[w, 0] > 1e-6]
    return w


def bridge(a: list[int], b: list[int], x: np.ndarray, quads: Quads) -> Quads:
    """Triangles between two paths that run side by side, wound like the faces that they join."""
    out: Quads = []
    i = j = 0
    while i < len(a) - 1 or j < len(b) - 1:
        step_a = i < len(a) - 1 and (
            j == len(b) - 1 or np.linalg.norm(x[a[i + 1]] - x[b[j]]) < np.linalg.norm(x[a[i]] - x[b[j + 1]])
        )
        if step_a:
            out.append((a[i], a[i + 1], b[j]))
            i += 1
        else:
            out.append((a[i], b[j + 1], b[j]))
            j += 1
    edges = {e for q in quads for e in zip(q, q[1:] + q[:1], strict=True)}
    return [t[::-1] for t in out] if (a[0], a[1]) in edges else out


class Cut:
    """The left half under construction: faces, zones, and new vertices as mixtures of those of the base mesh."""

    def __init__(self, src: Source) -> None:
        self.src = src
        self.side = src.base[:, 0]  # which half a vertex belongs to: shapes may fold over the middle
        self.faces: Quads = []
        self.zone: dict[int, str] = {}
        self.mixtures: list[dict[int, float]] = []

    def mixed(self, a: int, b: int, share: float) -> int:
        """A new vertex on the way from a to b."""
        self.mixtures.append({a: 1.0 - share, b: share})
        return len(self.side) + len(self.mixtures) - 1

    def extended(self, values: np.ndarray) -> np.ndarray:
        """Values per vertex (N, ...) of the base mesh with those of the new vertices appended."""
        new = [sum(share * values[v] for v, share in m.items()) for m in self.mixtures]
        return np.concatenate([values, np.array(new)])

    def half(self, quads: Quads) -> Quads:
        return [q for q in quads if all(self.side[v] > -1e-6 for v in q)]

    def left_path(self, loop: list[int]) -> list[int]:
        """The part of a loop around the body on x >= 0, from its first to its last vertex of the middle."""
        at = next(k for k, v in enumerate(loop) if k and abs(self.side[v]) < 1e-6)
        return loop[: at + 1]

    def sharpen(self, loop: list[int], zone: str) -> None:
        """A thin strip along a loop on the side of `zone`, so that the colour changes within it alone."""
        edges = walls(loop)
        inner = [q for q in self.faces if any(self.zone.get(v) == zone for v in q)]
        near = [q for q in inner if any(frozenset(e) in edges for e in zip(q, q[1:] + q[:1], strict=True))]
        on, thin = set(loop), {}
        for q in near:
            for a, b in (*zip(q, q[1:] + q[:1], strict=True), *zip(q[1:] + q[:1], q, strict=True)):
                if a in on and b not in on and a not in thin:
                    thin[a] = self.mixed(a, b, THIN)
                    self.zone[thin[a]] = zone
        for q in near:
            self.faces.remove(q)
            self.faces.append(tuple(thin.get(v, v) for v in q))
            k = next(k for k in range(4) if q[k] in on and q[(k + 1) % 4] in on)
            a, b = q[k], q[(k + 1) % 4]
            self.faces.append((a, b, thin[b], thin[a]))

    def hem(self, loop: list[int], inner: list[int], x: np.ndarray) -> list[int]:
        """A thin strip from the edge of the clothes towards the skin under it; returns its far side."""
        out = []
        for v in loop:
            near = inner[int(np.argmin(np.linalg.norm(x[inner] - x[v], axis=1)))]
            if abs(self.side[v]) < 1e-6:
                near = min(
                    (w for w in inner if abs(self.side[w]) < 1e-6), key=lambda w: np.linalg.norm(x[w] - x[v])
                )
            out.append(self.mixed(v, near, HEM))
            self.zone[out[-1]] = "skin"
        return out


def cut(src: Source, x: np.ndarray) -> tuple[Cut, tuple[list[int], list[int]]]:
    """The left half, sewn together, and the two lip paths that are sewn."""
    made = Cut(src)
    suit = Faces(src.groups["helper-tights"])
    body = Faces(src.groups["body"])
    collar = suit.loop(COLLAR_OF_SUIT, to_the_left(suit, COLLAR_OF_SUIT, src.base))
    neck = body.loop(NECK_OF_BODY, to_the_left(body, NECK_OF_BODY, src.base))
    cuff, wrist = suit.loop(*CUFF_OF_SUIT), body.loop(*WRIST_OF_BODY)
    lips = body.loop(LIPS, to_the_left(body, LIPS, src.base))
    waist = suit.loop(WAIST, to_the_left(suit, WAIST, src.base))
    shoe = suit.loop(*SHOE)

    clothes = made.half(suit.region(WAIST, walls(collar) | walls(cuff)))
    size = 1 + max(v for q in body.quads for v in q)
    head = made.half(body.region(int(np.argmax(x[:size, 2])), walls(neck) | walls(lips)))
    tip = np.argmin(np.linalg.norm(x[:size] - src.joint(x, "l-finger-3-4"), axis=1))
    hand = body.region(int(tip), walls(wrist))
    below_waist = {v for q in suit.region(SHOE[0], walls(waist)) for v in q} - set(waist)
    in_shoe = {v for q in suit.region(SOLE, walls(shoe)) for v in q} - set(shoe)
    made.faces = clothes + head + hand
    for v in {v for q in clothes for v in q}:
        made.zone[v] = "shoes" if v in in_shoe else "trousers" if v in below_waist else "top"
    made.sharpen(waist, "trousers")
    made.sharpen(shoe, "shoes")

    for edge, inner in ((made.left_path(collar), made.left_path(neck)), (cuff, wrist)):
        far = made.hem(edge, inner, x)
        x_now = made.extended(x)
        if edge is cuff:  # closed rings: start both at the same place, run both the same way
            start = int(np.argmin(np.linalg.norm(x[inner] - x[edge[0]], axis=1)))
            inner = inner[start:] + inner[:start]
            if np.linalg.norm(x[inner[1]] - x[edge[1]]) > np.linalg.norm(x[inner[-1]] - x[edge[1]]):
                inner = inner[:1] + inner[:0:-1]
            edge, far, inner = edge + edge[:1], far + far[:1], inner + inner[:1]
        strip = [(edge[i], far[i], far[i + 1], edge[i + 1]) for i in range(len(edge) - 1)]
        taken = {e for q in made.faces for e in zip(q, q[1:] + q[:1], strict=True)}
        made.faces += [q[::-1] for q in strip] if (edge[1], edge[0]) in taken else strip
        made.faces += bridge(far, inner, x_now, made.faces)
    path = made.left_path(lips)
    n = len(path) // 2
    upper, lower = path[:n], path[: n - 1 : -1]
    made.faces += bridge(upper, lower, x, made.faces)
    return made, (upper, lower)


# --- shape ----------------------------------------------------------------------------------------------------


def averaging(quads: Quads, n: int) -> sp.csr_matrix:
    """Matrix that replaces each vertex by the mean of its neighbours."""
    e = np.array([e for q in quads for e in zip(q, q[1:] + q[:1], strict=True)])
    a = sp.coo_matrix((np.ones(len(e)), (e[:, 0], e[:, 1])), (n, n)).tocsr()
    a = ((a + a.T) > 0).astype(float)
    return sp.diags(1.0 / np.maximum(np.asarray(a.sum(axis=1)).ravel(), 1.0)) @ a


def close_lips(x: np.ndarray, quads: Quads, upper: list[int], lower: list[int]) -> np.ndarray:
    """Lips brought together; the skin around them follows, less with distance."""
    e = np.array([e for q in quads for e in zip(q, q[1:] + q[:1], strict=True)])
    graph = sp.coo_matrix(
        (np.linalg.norm(x[e[:, 0]] - x[e[:, 1]], axis=1), (e[:, 0], e[:, 1])), (len(x),) * 2
    )
    mean = 0.5 * (x[upper] + x[lower])
    reach = []
    for path in (upper, lower):
        d, _, source = dijkstra(
            graph.tocsr(), False, path, return_predecessors=True, min_only=True, limit=0.04
        )
        reach.append((d, source))
    out = x.copy()
    for (d, source), (other, _), path in ((reach[0], reach[1], upper), (reach[1], reach[0], lower)):
        mine = np.flatnonzero((d < 0.04) & (d <= other))
        place = {v: k for k, v in enumerate(path)}
        k = np.array([place[int(s)] for s in source[mine]])
        fade = np.exp(-((d[mine] / LIP_REACH) ** 2))
        out[mine] += fade[:, None] * (LIP_CLOSING * (mean[k] - x[np.array(path)[k]]))
    return out


def smooth_where(x: np.ndarray, quads: Quads, mask: np.ndarray, times: int) -> np.ndarray:
    """Vertices moved towards the mean of their neighbours `times` times, by the share in mask (N,)."""
    mean = averaging(quads, len(x))
    used = np.asarray(mean.sum(axis=1)).ravel() > 0
    share = np.where(used, mask, 0.0)[:, None]
    for _ in range(times):
        x = x + share * (mean @ x - x)
    return x


def bump(distance: np.ndarray, radius: float) -> np.ndarray:
    """1 at 0, 0 from `radius` on, smooth."""
    return np.clip(1.0 - (distance / radius) ** 2, 0.0, 1.0) ** 2


def tidy(src: Source, x: np.ndarray, toes: np.ndarray) -> np.ndarray:
    """Cloth lies over what skin would show: seat and crotch are rounded, the toe of the shoe is one piece."""
    suit = src.groups["helper-tights"]
    hip = src.joint(x, "l-upper-leg")
    size = hip[2] - x[:, 2].min()
    seat = bump(np.abs(x[:, 0]), 0.075 * size) * bump(x[:, 2] - hip[2] + 0.01 * size, 0.19 * size)
    x = smooth_where(x, suit, np.where(x[:, 1] > hip[1], seat, 0.4 * seat), 14)
    return smooth_where(x, suit, 0.6 * np.clip(toes, 0.0, 1.0), 6)


# --- joints and weights ---------------------------------------------------------------------------------------

FINGERS = ("thumb", "index", "middle", "ring", "little")
# Share of the way from hip centres to the neck's root at which the spine's joints lie.
SPINE_LEVELS = {"spine1": 0.163, "spine2": 0.370, "chest": 0.589}
SPINE_BLEND = 0.12  # half width of the blend between the trunk's joints, in the same measure
THUMB_BONE = 1.28  # the thumb's metacarpal against its first phalanx (Buchholz et al. 1992)


def joints(src: Source, x: np.ndarray) -> dict[str, np.ndarray]:
    """Joints of the middle and the left side, and a few landmarks, in a shape."""
    at = {name: src.joint(x, name) for name in ("neck", "head")}
    hip = src.joint(x, "l-upper-leg")
    at["pelvis"] = hip * [0.0, 1.0, 1.0]
    for name, share in SPINE_LEVELS.items():
        at[name] = at["pelvis"] + share * (at["neck"] - at["pelvis"])
    names = {
        "eye": "eye",
        "clavicle": "clavicle",
        "upper_arm": "shoulder",
        "forearm": "elbow",
        "hand": "hand",
    }
    names |= {"thigh": "upper-leg", "shin": "knee", "foot": "ankle", "toes": "foot-1"}
    names |= {f"{f}{k}": f"finger-{i + 1}-{k}" for i, f in enumerate(FINGERS) for k in (1, 2, 3)}
    at |= {f"left_{ours}": src.joint(x, f"l-{theirs}") for ours, theirs in names.items()}
    thumb = at["left_thumb1"] - at["left_thumb2"]
    length = THUMB_BONE * np.linalg.norm(at["left_thumb3"] - at["left_thumb2"])
    at["left_thumb1"] = at["left_thumb2"] + length * thumb / np.linalg.norm(thumb)
    return at


def weights(src: Source, mean: np.ndarray, names: list[str]) -> np.ndarray:
    """Weights (N, J) of all vertices of the base mesh: the painted ones, brought to our joints."""
    out = np.zeros((len(mean), len(names)))
    trunk = np.zeros(len(mean))
    for bone, pairs in src.rig.items():
        index, value = np.array([p[0] for p in pairs], dtype=int), np.array([p[1] for p in pairs])
        ours = our_joint(bone)
        if ours == "trunk":
            np.add.at(trunk, index, value)
        else:
            np.add.at(out[:, names.index(ours)], index, value)
    hip, neck = src.joint(mean, "l-upper-leg")[2], src.joint(mean, "neck")[2]
    level = (mean[:, 2] - hip) / (neck - hip)
    above = [np.ones(len(mean))]
    for share in SPINE_LEVELS.values():
        s = np.clip((level - share + SPINE_BLEND) / (2 * SPINE_BLEND), 0.0, 1.0)
        above.append(s * s * (3 - 2 * s))
    above.append(np.zeros(len(mean)))
    for k, joint in enumerate(TRUNK):
        out[:, names.index(joint)] += trunk * (above[k] - above[k + 1])
    return out / out.sum(axis=1, keepdims=True)


def our_joint(bone: str) -> str:
    """Which of our joints moves what a bone of MakeHuman's default rig moves; 'trunk' is shared out by height."""
    stem, side = (
        (bone[:-2], "left_" if bone.endswith(".L") else "right_") if bone[-2:] in (".L", ".R") else (bone, "")
    )
    if stem.startswith(("spine", "root", "pelvis", "breast")):
        return "trunk"
    if stem.startswith("neck"):
        return "neck"
    if stem.startswith("finger"):
        return f"{side}{FINGERS[int(stem[6]) - 1]}{stem[8]}"
    table = {"clavicle": "clavicle", "shoulder": "clavicle", "upperarm": "upper_arm", "lowerarm": "forearm"}
    table |= {"wrist": "hand", "metacarpal": "hand", "upperleg": "thigh", "lowerleg": "shin", "foot": "foot"}
    table |= {"toe": "toes"}
    for start, joint in table.items():
        if stem.startswith(start):
            return side + joint
    return "head"


# --- the file -------------------------------------------------------------------------------------------------


def packed(array: np.ndarray) -> dict[str, object]:
    data = base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def main(folder: str) -> None:
    src = Source(Path(folder))
    raw = {name: src.shape(mix) for name, mix in SHAPES.items()}
    mean = 0.5 * (raw["woman"] + raw["man"])
    made, (upper, lower) = cut(src, raw["man"])
    places = {name: joints(src, x) for name, x in raw.items()}
    half = list(places["man"])
    names = half + [name.replace("left_", "right_") for name in half if name.startswith("left_")]
    w = weights(src, mean, names)
    toes = w[:, names.index("left_toes")] + w[:, names.index("right_toes")]

    shapes = {}
    for name, x in raw.items():
        x = close_lips(tidy(src, x, toes), src.groups["body"], upper, lower)
        x = made.extended(x)
        side = made.extended(made.side)
        x[:, 0] = np.where(np.abs(side) < 1e-6, 0.0, np.maximum(x[:, 0], 0.0005))
        shapes[name] = x
    w = made.extended(w)

    used = np.unique([v for q in made.faces for v in q])
    middle = np.abs(made.extended(made.side)[used]) < 1e-6
    order = np.concatenate([used[middle], used[~middle]])
    place = {int(v): k for k, v in enumerate(order)}
    x = shapes["man"]
    triangles = []
    for q in made.faces:
        if len(q) == 4:  # the shorter diagonal
            k = int(np.linalg.norm(x[q[0]] - x[q[2]]) > np.linalg.norm(x[q[1]] - x[q[3]]))
            q = q[k:] + q[:k]
            triangles += [(q[0], q[1], q[2]), (q[0], q[2], q[3])]
        else:
            triangles.append(q)

    w = w[order]
    mirrored = [names.index(swap(name)) for name in names]
    n = int(middle.sum())
    w[:n] = 0.5 * (w[:n] + w[:n, mirrored])
    best = np.argsort(-w, axis=1, kind="stable")[:, :4]
    top = np.take_along_axis(w, best, axis=1)
    top /= top.sum(axis=1, keepdims=True)
    eye = np.unique(src.groups["helper-l-eye"])
    radius = {name: float(np.ptp(x[eye], axis=0).mean() / 2) for name, x in raw.items()}

    document = {
        "about": "Left half of a person in several shapes, made by tools/mannequin_base.py from the base mesh, the "
        "macro targets and the default rig's weights of MakeHuman (makehumancommunity.org, MPFB2).",
        "licence": "CC0 1.0 Universal (public domain), as the MakeHuman assets it is made from.",
        "unit": SHAPE_UNIT,
        "shapes": list(SHAPES),
        "zones": list(ZONES),
        "joints": half,
        "middle": n,
        "eye_radius": [round(radius[name], 5) for name in SHAPES],
        "joint_places": np.round([[places[s][j] for j in half] for s in SHAPES], 5).tolist(),
        "arrays": {
            "vertices": packed(
                np.round(np.stack([shapes[s][order] for s in SHAPES]) / SHAPE_UNIT).astype("<i2")
            ),
            "triangles": packed(np.array([[place[v] for v in t] for t in triangles]).astype("<u2")),
            "zone": packed(
                np.array([ZONES.index(made.zone.get(int(v), "skin")) for v in order]).astype("u1")
            ),
            "joint_of": packed(best.astype("u1")),
            "weights": packed(np.round(top * 60000).astype("<u2")),
        },
        "joint_names": names,
    }
    OUT.write_text(json.dumps(document, indent=1) + "\n")
    print(f"{OUT}: {len(order)} vertices, {len(triangles)} triangles, {OUT.stat().st_size / 1024:.0f} KB")


def swap(name: str) -> str:
    if name.startswith("left_"):
        return "right_" + name[5:]
    return "left_" + name[6:] if name.startswith("right_") else name


if __name__ == "__main__":
    main(sys.argv[1])
