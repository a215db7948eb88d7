"""Depth to which recorded people's bellies and chests enter their thighs, against how far the hip is folded.

    python benchmarks/soft_tissue.py
    python benchmarks/soft_tissue.py --hips     # where hip joints lie between belly and back

Shapes are rigid; people are not. The clips are lifts from low places on their own rigs. `world/own_pairs.py` has the
rule that was read off the table: no depth above the fold at which the first percent of the frames touches, then growing
in a straight line, cut at 30 mm by default.

With --hips: the centre of the spheres on which the markers of knee and thigh turn about the pelvis of recorded people,
as a share of the depth between the markers at the front and the back of the waist.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from itertools import pairwise

import numpy as np
from scipy.optimize import least_squares

from elbowroom.files.c3d import read_c3d
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.world.exact import ExactWorld
from elbowroom.world.own_pairs import BELLY, THIGHS, folds
from elbowroom.world.world import World
from repair_clips import DATA, read

_CLIPS = ("115_06", "115_01", "69_70", "69_73", "26_10", "62_20", "26_09", "79_25")
_EVERY_S = 0.05
_BINS = np.arange(30.0, 181.0, 10.0)


def hips() -> None:
    """Print where the hip joints of recorded people lie between the front and the back of the waist."""
    files = defaultdict(list)
    for folder in ("accad_c3d", "cmu_c3d"):
        for file in sorted((DATA / "mocap" / folder).glob("*.c3d")):
            files[file.stem.partition("_")[0]].append(read_c3d(file))
    for who, takes in files.items():
        for side in "LR":
            turning: list[Array] = []
            depths: list[Array] = []
            for take in takes:
                points = dict(zip(take.labels, take.points[::4].transpose(1, 0, 2), strict=True))
                front, back = (0.5 * (points[f"L{end}WT"] + points[f"R{end}WT"]) for end in "FB")
                across = normalize(points["LFWT"] - points["RFWT"])
                ahead = front - back - ((front - back) * across).sum(axis=1, keepdims=True) * across
                depths.append(np.linalg.norm(ahead, axis=1))
                ahead = normalize(ahead)
                axes = np.stack([across, ahead, np.cross(across, ahead)], axis=1)
                both = [points[f"{side}{part}"] - front for part in ("KNE", "THI")]
                turning.append(np.stack([np.einsum("tij,tj->ti", axes, way) for way in both]))
            seen = np.concatenate(turning, axis=1)
            seen = seen[:, np.isfinite(seen).all(axis=(0, 2))]
            first = [0.09 if side == "L" else -0.09, -0.05, np.sign(np.median(seen[..., 2])) * 0.09, 0.42, 0.25]
            solved = least_squares(
                lambda x, at=seen: (np.linalg.norm(at - x[:3], axis=2) - x[3:, None]).ravel(),
                first, loss="soft_l1", f_scale=0.01,
            )  # fmt: skip
            depth = float(np.nanmedian(np.concatenate(depths)))
            share, off = -solved.x[1] / depth, 1000 * np.median(np.abs(solved.fun))
            print(f"{who:8} {side}: hip {-1000 * solved.x[1]:.0f} mm behind the front markers, {1000 * depth:.0f} mm "
                  f"deep, share {share:.2f}, residual {off:.1f} mm")  # fmt: skip


def main() -> None:
    """Print depths by fold, or where hips are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hips", action="store_true")
    if parser.parse_args().hips:
        hips()
        return
    rows: list[tuple[float, float]] = []
    for name in _CLIPS:
        motion = read(f"cmu_bvh/{name}.bvh")
        world = World().with_character("a", motion)
        exact = ExactWorld(world)
        wanted = {tuple(sorted((f"a.{b}", f"a.{t}"))) for b in BELLY for t in THIGHS}
        pairs = [k for k, pair in enumerate(exact.pairs) if tuple(sorted(pair)) in wanted]
        deepest = 0.0
        for t in np.arange(*world.span, _EVERY_S):
            exact.place_snapshot(world.at(float(t)))
            fold = folds(motion.character, world.at(float(t)).joints["a"])
            for side in ("left", "right"):
                depth = 0.0
                for k in pairs:
                    if f"{side}_thigh" in "".join(exact.pairs[k]):
                        value = exact.distance(k).value
                        depth = max(depth, -(value if value is not None else -0.05))
                rows.append((np.degrees(fold[side]), depth))
                deepest = max(deepest, depth)
        print(f"{name}: {1000 * deepest:.0f} mm")
    fold, depth = np.array(rows).T
    for low, high in pairwise(_BINS):
        here = depth[(fold >= low) & (fold < high)]
        if len(here):
            median, p90 = 1000 * np.percentile(here, [50, 90])
            print(f"{low:3.0f} to {high:3.0f} deg: {len(here):5} frames, median {median:4.0f}, p90 {p90:4.0f} mm")


if __name__ == "__main__":
    main()
