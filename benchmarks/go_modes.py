"""Bars of several heights, gaps of several widths and hurdles: who gets past them, how, and upright alone beside it.

    python benchmarks/go_modes.py [--body woman]

Each obstacle spans a room, so that there is no way round it.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from elbowroom.character.human import preset
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import box
from elbowroom.plan.checks.ground import standing_at
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Go
from elbowroom.plan.walking.paths import WalkPaths
from elbowroom.world.columns import columns_of
from elbowroom.world.world import World

FPS, GOAL = 30.0, (0.0, -3.2)
BARS_M, GAPS_M, HURDLES_M = (1.65, 1.45, 1.35, 1.1), (0.9, 0.7, 0.55, 0.45, 0.35), (0.1, 0.2, 0.3, 0.4, 0.5)
# Half the width of the room, metres, and the y of what stands in it.
HALF_M, AT_M = 3.0, -1.6
WALLS = {
    "west": box((0.1, 8.0, 2.4), (-HALF_M, -1.6, 1.2)),
    "east": box((0.1, 8.0, 2.4), (HALF_M, -1.6, 1.2)),
    "north": box((2 * HALF_M, 0.1, 2.4), (0.0, 2.4, 1.2)),
    "south": box((2 * HALF_M, 0.1, 2.4), (0.0, -5.6, 1.2)),
}


def obstacles() -> list[tuple[str, dict[str, Mesh]]]:
    """What is to be got past, by name."""
    found = [(f"bar {z:g} m", {"bar": box((2 * HALF_M, 0.1, 0.1), (0.0, AT_M, z + 0.05))}) for z in BARS_M]
    for gap in GAPS_M:
        wide, middle = HALF_M - 0.5 * gap, 0.5 * HALF_M + 0.25 * gap
        sides = {f"side {k}": box((wide, 0.3, 2.2), (k * middle, AT_M, 1.1)) for k in (-1, 1)}
        found.append((f"gap {gap:g} m", sides))
    return found + [
        (f"hurdle {z:g} m", {"hurdle": box((2 * HALF_M, 0.06, z), (0.0, AT_M, 0.5 * z))}) for z in HURDLES_M
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--body", default="woman")
    parser.add_argument("--only", nargs="*", help="obstacles whose names begin so, such as gap")
    args = parser.parse_args()
    body = preset(args.body)
    for name, meshes in obstacles():
        if args.only and not name.startswith(tuple(args.only)):
            continue
        scene = World(static={**WALLS, **meshes})
        columns = columns_of(scene, 0.0, [np.zeros(2), np.array(GOAL)])
        told = []
        for gait in ("walk", "any"):
            way = WalkPaths(columns, body, gait).find(np.zeros(2), np.array(GOAL))
            begun = time.process_time()
            world = standing_at(scene, "ann", body, (0.0, 0.0), 0.0, FPS)
            plan = plan_tasks(world, [Go(who="ann", to=GOAL, gait=gait)], Settings(probes=0), fps=FPS)
            modes = "" if way is None else ", ".join(sorted({m.name for m in way.modes}))
            told.append(f"{gait}: {plan.status} ({modes}) {time.process_time() - begun:.1f} s {plan.why}")
        print(f"{name:12} | " + " | ".join(told), flush=True)


if __name__ == "__main__":
    main()
