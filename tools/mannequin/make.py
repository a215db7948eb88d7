"""Make src/elbowroom/character/mannequin_base.json from MakeHuman's public-domain (CC0 1.0) base mesh.

    python tools/mannequin/make.py FOLDER

FOLDER is the data folder of MPFB2, the current home of the MakeHuman assets (it holds 3dobjs/base.obj, targets/
and rigs/standard/). The mannequin is MakeHuman's tight-suit layer, with head and hands of its body mesh sewn on:
neck, wrists and mouth are closed, so that the result is one watertight surface. Only the left half is kept.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from pathlib import Path

import numpy as np
from form import close_lips, hairline, tidy, with_hair
from mesh import Faces, Half, Polygons, refined_path, same_way, walls
from source import SHAPES, Source, joints, softened, weights

OUT = Path(__file__).parents[2] / "src/elbowroom/character/mannequin_base.json"

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

ZONES = ("skin", "top", "trousers", "shoes", "hair")

SHAPE_UNIT = 5e-5  # metres; places are stored as whole multiples of it


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
        "about": "Left half of a person in several shapes, made by tools/mannequin/make.py from the base mesh, the "
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
