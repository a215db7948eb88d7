"""Ranges of joint angles that people use, from recorded clips: prints the table of `character/range_of_motion.py`.

    python tools/posture_ranges.py MOCAP_FOLDER

Reads every BVH and AMC file below the folder; each clip counts for the same. Angles are those of the anatomical joint
frames (docs/conventions.md), the right side mirrored onto the left, and the trunk counted mirrored as well. Only
percentiles are kept, no motion.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from elbowroom.files.asf_amc import read_amc
from elbowroom.files.bvh import read_bvh
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import without_lead

# Parts of the table, without their sides.
PARTS = (
    *("spine1", "spine2", "chest", "neck", "head", "clavicle", "upper_arm", "forearm", "hand"),
    *("thigh", "shin", "foot"),
)
# Percentiles of each angle that are kept, and frames that are looked at in each clip.
LOW, HIGH, FRAMES = 1.0, 99.0, 200
# Degrees to each side of the median that a range has at least: angles from markers are off by up to 5, and some rigs do
# not record turns of some joints at all.
LEAST = 10.0
# Mirrored from right to left: bends stay, sideways and twist change their sign.
MIRROR = np.array([1.0, -1.0, -1.0])


def angles(clip: Clip, part: str) -> list[np.ndarray]:
    """Angles (N, 3) of a part, both sides of it, in radians; none where the rig has no such joint."""
    rows = np.unique(np.linspace(0, len(clip) - 1, FRAMES).astype(int))
    out = []
    for role, sign in ((part, 1.0), (f"left_{part}", 1.0), (f"right_{part}", MIRROR)):
        joint = clip.character.roles.get(role)
        limit = None if joint is None else clip.character.limits[joint]
        if joint is not None and limit is not None:
            found = limit.coordinates(clip.rotations[rows, joint])
            out += [found * sign] if role != part else [found, found * MIRROR]
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mocap", type=Path)
    found: dict[str, list[np.ndarray]] = {part: [] for part in PARTS}
    files = sorted(p for p in parser.parse_args().mocap.rglob("*") if p.suffix in (".bvh", ".amc"))
    for path in files:
        clip = without_lead(read_bvh(path) if path.suffix == ".bvh" else read_amc(path))
        for part in PARTS:
            found[part] += angles(clip, part)
    print(f"# {len(files)} clips")
    for part, rows in found.items():
        low, middle, high = np.degrees(np.percentile(np.concatenate(rows), (LOW, 50.0, HIGH), axis=0))
        low, high = (
            np.minimum(low, middle - LEAST).round().astype(int),
            np.maximum(high, middle + LEAST).round().astype(int),
        )
        print(f'    "{part}": ({", ".join(f"({a}, {b})" for a, b in zip(low, high, strict=True))}),')


if __name__ == "__main__":
    main()
