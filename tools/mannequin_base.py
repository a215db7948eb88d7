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
from mannequin_mesh import Faces, Half, Polygons, edges, refined_path, same_way, walls
from scipy.interpolate import PchipInterpolator
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
# A calm face: lids a little lower, brows relaxed, the corners of the mouth up.
EXPRESSION = {"mouth-corner-puller": 0.22} | {
    f"{part}-{side}-{what}": share
    for side in ("left", "right")
    for part, what, share in [("eye", "closure", 0.16), ("eyebrows", "inner-up", 0.2)]
}

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

SAGITTA = 0.0012  # metres that an edge may stand off from the smooth surface
HEM = 0.25  # how far the edge of the clothes turns towards the skin
LIP_CLOSING = 0.85  # share of the gap
LIP_REACH = 0.010  # metres
BUST_ROUNDS = 3  # how often the bust is smoothed
SEAT_ROUNDS = 30  # how often the seat is smoothed
SHOE_CAP = 0.4  # how much higher a shoe is over the toes than they are
SHOE_SOLE = 0.014  # metres; what is lower than this goes down to the ground

# Hairline seen from the side: (behind the eye, above the eye), both in heights of the head above the eyes.
HAIRLINE = [(-0.4, 0.57), (0.1, 0.57), (0.35, 0.50), (0.55, 0.28), (0.64, 0.0), (0.72, 0.12)]
HAIRLINE += [(0.98, 0.15), (1.08, -0.08), (1.25, -0.52), (1.5, -0.64), (2.2, -0.64)]
TEMPLE = 0.08  # how much higher it is beside the forehead's middle
NAPE = 0.25  # how it rises from the nape's middle to the sides
HAIR = 0.011  # metres of hair on top
HAIR_SIDES = 0.5  # share of it at the sides and the back
HAIR_EDGE = 0.0015  # metres of it at the hairline

ZONES = ("skin", "top", "trousers", "shoes", "hair")
TRUNK = ("pelvis", "spine1", "spine2", "chest")

SHAPE_UNIT = 5e-5  # metres; places are stored as whole multiples of it


class Source:
    """MakeHuman's files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        points: list[list[float]] = []
        self.groups: dict[str, Polygons] = collections.defaultdict(list)
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
        for line in gzip.decompress((self.folder / f"targets/{name}.target.gz").read_bytes()).decode().splitlines():
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
        for unit, share in EXPRESSION.items():
            out += share * self.target(f"expression/units/caucasian/{unit}")
        return out[:, [0, 2, 1]] * [0.1, -0.1, 0.1]

    def joint(self, shape: np.ndarray, name: str) -> np.ndarray:
        return shape[np.unique(self.groups[f"joint-{name}"])].mean(axis=0)


# --- surface --------------------------------------------------------------------------------------------------


def to_the_left(faces: Faces, v: int, side: np.ndarray) -> int:
    """The neighbour of a vertex of the middle on the +x side."""
    (w,) = [w for w in faces.neighbours(v) if side[w] > 1e-6]
    return w


def cut(src: Source, x: np.ndarray) -> tuple[Half, tuple[list[int], list[int]]]:
    """The left half, refined and sewn together, and the two lip paths that are sewn; x is a typical shape."""
    side = src.base[:, 0]
    half = Half(side)
    suit = Faces(src.groups["helper-tights"])
    body = Faces(src.groups["body"])
    collar = suit.loop(COLLAR_OF_SUIT, to_the_left(suit, COLLAR_OF_SUIT, side))
    neck = body.loop(NECK_OF_BODY, to_the_left(body, NECK_OF_BODY, side))
    cuff, wrist = suit.loop(*CUFF_OF_SUIT), body.loop(*WRIST_OF_BODY)
    lips = half.left_path(body.loop(LIPS, to_the_left(body, LIPS, side)))
    waist = suit.loop(WAIST, to_the_left(suit, WAIST, side))
    shoe = suit.loop(*SHOE)

    clothes = half.left(suit.region(WAIST, walls(collar) | walls(cuff)))
    size = 1 + max(v for q in body.polygons for v in q)
    head = half.left(body.polygons)
    head = Faces(head).region(int(np.argmax(x[:size, 2])), walls(neck) | walls(lips, closed=False))
    tip = np.argmin(np.linalg.norm(x[:size] - src.joint(x, "l-finger-3-4"), axis=1))
    hand = body.region(int(tip), walls(wrist))
    below_waist = {v for q in suit.region(SHOE[0], walls(waist)) for v in q} - set(waist)
    in_shoe = {v for q in suit.region(SOLE, walls(shoe)) for v in q} - set(shoe)
    half.faces = clothes + head + hand
    for v in {v for q in clothes for v in q}:
        half.zone[v] = "shoes" if v in in_shoe else "trousers" if v in below_waist else "top"

    split = half.refine(x, SAGITTA)
    collar, neck, waist = (refined_path(half.left_path(p), split, False) for p in (collar, neck, waist))
    cuff, wrist, shoe = (refined_path(p, split, True) for p in (cuff, wrist, shoe))
    lips = refined_path(lips, split, False)
    for v in waist:
        half.zone[v] = "top"
    for v in shoe:
        half.zone[v] = "trousers"
    half.sharpen(walls(waist, closed=False), "trousers", THIN)
    half.sharpen(walls(shoe), "shoes", THIN)
    border = half.divide(hairline(src, half, x), "hair")
    half.sharpen(border, "hair", THIN)
    now = half.extended(x)
    half.sew_edge(collar, neck, now, HEM)
    now = half.extended(x)
    wrist = same_way(cuff, wrist, now)
    half.sew_edge(cuff + cuff[:1], wrist + wrist[:1], now, HEM)
    n = len(lips) // 2
    upper, lower = lips[:n], lips[: n - 1 : -1]
    half.sew(upper, lower, half.extended(x))
    return half, (upper, lower)


def hairline(src: Source, half: Half, x: np.ndarray) -> np.ndarray:
    """Height above the hairline of every vertex so far, in heights of the head above the eyes; NaN off the head."""
    x = half.extended(x)
    eye = src.joint(x, "l-eye")
    top = x[np.unique([v for q in half.faces for v in q]), 2].max() - eye[2]
    back, up = (x[:, 1] - eye[1]) / top, (x[:, 2] - eye[2]) / top
    aside = np.abs(x[:, 0]) / top
    line = PchipInterpolator(*np.array(HAIRLINE).T)(np.clip(back, HAIRLINE[0][0], HAIRLINE[-1][0]))
    line += TEMPLE * bump(aside - 0.40, 0.26) * np.clip((0.5 - back) / 0.3, 0.0, 1.0)
    line += NAPE * aside * np.clip((back - 1.1) / 0.2, 0.0, 1.0)
    above = up - line
    return np.where(up > -1.0, above, np.nan)


# --- shape ----------------------------------------------------------------------------------------------------


def averaging(quads: Polygons, n: int) -> sp.csr_matrix:
    """Matrix that replaces each vertex by the mean of its neighbours."""
    e = np.array([e for q in quads for e in edges(q)])
    a = sp.coo_matrix((np.ones(len(e)), (e[:, 0], e[:, 1])), (n, n)).tocsr()
    a = ((a + a.T) > 0).astype(float)
    return sp.diags(1.0 / np.maximum(np.asarray(a.sum(axis=1)).ravel(), 1.0)) @ a


def close_lips(x: np.ndarray, quads: Polygons, upper: list[int], lower: list[int]) -> np.ndarray:
    """Lips brought together; the skin around them follows, less with distance."""
    e = np.array([e for q in quads for e in edges(q)])
    graph = sp.coo_matrix((np.linalg.norm(x[e[:, 0]] - x[e[:, 1]], axis=1), (e[:, 0], e[:, 1])), (len(x),) * 2)
    moves = []
    for path, other in ((upper, lower), (lower, upper)):  # half way to the other lip, straight across
        order = np.array(other)[np.argsort(x[other, 0])]
        across = [np.interp(x[path, 0], x[order, 0], x[order, axis]) for axis in (1, 2)]
        moves.append(0.5 * (np.stack([x[path, 0], *across], axis=1) - x[path]))
    reach = []
    for path in (upper, lower):
        d, _, source = dijkstra(graph.tocsr(), False, path, return_predecessors=True, min_only=True, limit=0.04)
        reach.append((d, source))
    out = x.copy()
    for (d, source), (other, _), path, move in zip(reach, reach[::-1], (upper, lower), moves, strict=True):
        mine = np.flatnonzero((d < 0.04) & (d <= other))
        place = {v: k for k, v in enumerate(path)}
        k = np.array([place[int(s)] for s in source[mine]])
        fade = np.exp(-((d[mine] / LIP_REACH) ** 2))
        out[mine] += LIP_CLOSING * fade[:, None] * move[k]
    return out


def smooth_where(x: np.ndarray, quads: Polygons, mask: np.ndarray, times: int) -> np.ndarray:
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


def tidy(src: Source, x: np.ndarray, child: np.ndarray, foot: np.ndarray) -> np.ndarray:
    """Cloth lies over what skin would show: seat and crotch are rounded, and feet wear shoes.

    `foot` (N,) is the weight of foot and toes together.
    """
    hip = src.joint(x, "l-upper-leg")
    size = hip[2] - x[:, 2].min()
    ours = np.unique(src.groups["helper-tights"])
    crotch = x[ours[np.abs(src.base[ours, 0]) < 1e-6], 2].min()
    seat = bump(np.abs(x[:, 0]), 0.07 * size) * bump(x[:, 2] - hip[2] + 0.03 * size, 0.2 * size)
    seat *= np.clip((x[:, 2] - crotch + 0.02 * size) / (0.04 * size), 0.0, 1.0)
    x = smooth_where(x, src.groups["helper-tights"], seat, SEAT_ROUNDS)
    bust = np.zeros(len(x))
    for bone in ("breast.L", "breast.R"):
        for v, share in src.rig[bone]:
            bust[v] += share
    x = smooth_where(x, src.groups["helper-tights"], np.clip(2.0 * bust, 0.0, 0.7), BUST_ROUNDS)
    return shod(src, x, child, foot)


def shod(src: Source, x: np.ndarray, child: np.ndarray, foot: np.ndarray) -> np.ndarray:
    """Feet as shoes: all take the child's, whose toes are in one piece, at their own size, with a flat sole."""
    ours = np.unique(src.groups["helper-tights"])
    own = ours[foot[ours] > 0.5]
    out = x.copy()
    for side, letter in ((1.0, "l"), (-1.0, "r")):
        here = own[side * src.base[own, 0] > 0]
        grow = np.ptp(x[here], axis=0) / np.ptp(child[here], axis=0)
        ankle, other = src.joint(x, f"{letter}-ankle"), src.joint(child, f"{letter}-ankle")
        sole = x[here, 2].min()
        ball = src.joint(x, f"{letter}-foot-1")[1]
        part = ours[side * src.base[ours, 0] > 0]
        share = np.clip((foot[part] - 0.2) / 0.6, 0.0, 1.0)[:, None]
        new = ankle + grow * (child[part] - other)
        rise = new[:, 2] - new[:, 2].min()
        front = np.clip((ball - new[:, 1]) / (ball - new[:, 1].min()), 0.0, 1.0)
        rise = rise * (1.0 + SHOE_CAP * front)
        s = np.clip(rise / SHOE_SOLE, 0.0, 1.0)
        new[:, 2] = sole + rise * s * s * (3 - 2 * s)
        out[part] = x[part] + share * (new - x[part])
    return out


def with_hair(made: Half, x: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Vertices of the hair raised off the scalp, more with distance from the hairline."""
    normal = np.zeros_like(x)
    for q in made.faces:
        for k in range(1, len(q) - 1):
            n = np.cross(x[q[k]] - x[q[0]], x[q[k + 1]] - x[q[0]])
            normal[[q[0], q[k], q[k + 1]]] += n
    normal[np.abs(made.side) < 1e-6, 0] = 0.0
    hair = np.array([v for v, zone in made.zone.items() if zone == "hair"])
    n = normal[hair] / np.linalg.norm(normal[hair], axis=1, keepdims=True)
    s = np.clip(above[hair] / 0.3, 0.0, 1.0)
    full = HAIR * (HAIR_SIDES + (1.0 - HAIR_SIDES) * np.clip(n[:, 2], 0.0, 1.0))
    height = HAIR_EDGE + (full - HAIR_EDGE) * s * s * (3 - 2 * s)
    out = x.copy()
    out[hair] += height[:, None] * n
    return out


# --- joints and weights ---------------------------------------------------------------------------------------

FINGERS = ("thumb", "index", "middle", "ring", "little")
# Share of the way from hip centres to the neck's root at which the spine's joints lie.
SPINE_LEVELS = {"spine1": 0.163, "spine2": 0.370, "chest": 0.589}
SPINE_BLEND = 0.12  # half width of the blend between the trunk's joints, in the same measure
# Where weights are spread, and how far from the joint (m); how many times.
SOFT = {"upper-leg": 0.27, "shoulder": 0.16}
SOFTENING = 24
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


def softened(src: Source, mean: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Weights spread out around hips and shoulders, where the painted ones are narrow for wide swings."""
    mask = np.zeros(len(mean))
    for joint, radius in SOFT.items():
        for side in "lr":
            mask = np.maximum(mask, bump(np.linalg.norm(mean - src.joint(mean, f"{side}-{joint}"), axis=1), radius))
    return smooth_where(w, src.groups["helper-tights"], mask, SOFTENING)


def our_joint(bone: str) -> str:
    """Which of our joints moves what a bone of MakeHuman's default rig moves; 'trunk' is shared out by height."""
    stem, side = (bone[:-2], "left_" if bone.endswith(".L") else "right_") if bone[-2:] in (".L", ".R") else (bone, "")
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
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def triangulated(q: tuple[int, ...], x: np.ndarray) -> Polygons:
    """Triangles of a polygon: the fan with the shortest diagonals."""

    def reach(k: int) -> float:
        return max(np.linalg.norm(x[q[k]] - x[v]) for v in q)

    k = min(range(len(q)), key=reach) if len(q) > 3 else 0
    q = q[k:] + q[:k]
    return [(q[0], q[i], q[i + 1]) for i in range(1, len(q) - 1)]


def main(folder: str) -> None:
    src = Source(Path(folder))
    raw = {name: src.shape(mix) for name, mix in SHAPES.items()}
    mean = 0.5 * (raw["woman"] + raw["man"])
    made, (upper, lower) = cut(src, mean)
    places = {name: joints(src, x) for name, x in raw.items()}
    half = list(places["man"])
    names = half + [name.replace("left_", "right_") for name in half if name.startswith("left_")]
    w = softened(src, mean, weights(src, mean, names))
    foot = sum(w[:, names.index(f"{side}_{part}")] for side in ("left", "right") for part in ("foot", "toes"))

    middle = np.abs(made.side) < 1e-6
    above = hairline(src, made, mean)
    shapes, hair = {}, []
    used = np.unique([v for q in made.faces for v in q])
    for name, x in raw.items():
        x = close_lips(tidy(src, x, raw["child"], foot), src.groups["body"], upper, lower)
        bald = made.extended(x)
        x = with_hair(made, bald, above)
        hair.append(round(float(x[used, 2].max() - bald[used, 2].max()), 5))
        x[:, 0] = np.where(middle, 0.0, np.maximum(x[:, 0], 0.0005))
        shapes[name] = x
    w = made.extended_weights(w)

    order = np.concatenate([used[middle[used]], used[~middle[used]]])
    place = {int(v): k for k, v in enumerate(order)}
    x = shapes["man"]
    triangles = [t for q in made.faces for t in triangulated(q, x)]

    w = w[order]
    mirrored = [names.index(swap(name)) for name in names]
    n = int(middle[used].sum())
    w[:n] = 0.5 * (w[:n] + w[:n, mirrored])
    best = np.argsort(-w, axis=1, kind="stable")[:, :4]
    top = np.take_along_axis(w, best, axis=1)
    partner = np.array(mirrored)[best[:n]]
    top[:n][~np.any(partner[:, :, None] == best[:n, None, :], axis=2)] = 0.0  # both sides of the middle or none
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
        "hair": hair,
        "joint_places": np.round([[places[s][j] for j in half] for s in SHAPES], 5).tolist(),
        "arrays": {
            "vertices": packed(np.round(np.stack([shapes[s][order] for s in SHAPES]) / SHAPE_UNIT).astype("<i2")),
            "triangles": packed(np.array([[place[v] for v in t] for t in triangles]).astype("<u2")),
            "zone": packed(np.array([ZONES.index(made.zone.get(int(v), "skin")) for v in order]).astype("u1")),
            "joint_of": packed(best.astype("u1")),
            "weights": packed(np.round(top * 60000).astype("<u2")),
        },
        "joint_names": names,
    }
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in document.items())
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{OUT}: {len(order)} vertices, {len(triangles)} triangles, {OUT.stat().st_size / 1024:.0f} KB")


def swap(name: str) -> str:
    if name.startswith("left_"):
        return "right_" + name[5:]
    return "left_" + name[6:] if name.startswith("right_") else name


if __name__ == "__main__":
    main(sys.argv[1])
