"""Depth to which recorded people's bellies and chests enter their thighs, against how far the hip is folded.

    python benchmarks/soft_tissue.py

Shapes are rigid; people are not. The clips are lifts from low places on their own rigs. `world/own_pairs.py` has the
rule that was read off the table: no depth above the fold at which the first percent of the frames touches, then growing
in a straight line, cut at 30 mm by default.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from elbowroom.world.exact import ExactWorld
from elbowroom.world.own_pairs import BELLY, THIGHS, folds
from elbowroom.world.world import World
from repair_clips import read

_CLIPS = ("115_06", "115_01", "69_70", "69_73", "26_10", "62_20", "26_09", "79_25")
_EVERY_S = 0.05
_BINS = np.arange(30.0, 181.0, 10.0)


def main() -> None:
    """Print depths by fold."""
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
