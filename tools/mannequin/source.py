"""MakeHuman's files: the base mesh, its shapes, its joints and its painted weights, brought to our joints."""

from __future__ import annotations

import collections
import gzip
import json
from pathlib import Path

import numpy as np
from form import bump, smooth_where
from mesh import Polygons

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

TRUNK = ("pelvis", "spine1", "spine2", "chest")
FINGERS = ("thumb", "index", "middle", "ring", "little")
# Share of the way from hip centres to the neck's root at which the spine's joints lie.
SPINE_LEVELS = {"spine1": 0.163, "spine2": 0.370, "chest": 0.589}
SPINE_BLEND = 0.12  # half width of the blend between the trunk's joints, in the same measure
# Where weights are spread, and how far from the joint (m); how many times.
SOFT = {"upper-leg": 0.27, "shoulder": 0.16}
SOFTENING = 24
THUMB_BONE = 1.28  # the thumb's metacarpal against its first phalanx (Buchholz et al. 1992)


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
