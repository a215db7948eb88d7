"""Walks of 10 to 200 m, and of 1 to 20 people in one hall: how the time of planning and proving grows.

    python benchmarks/go_growth.py [--lengths 10 20 50 100 200] [--legs 1 5 20] [--people 1 5 10 20]

A hall with pillars every 2.5 m that is as long as the walk; one of 10 m that is walked to and fro; and one in which
people walk across, each to 1.2 m beside where they stand.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from elbowroom.character.human import preset
from elbowroom.geometry.solids import box
from elbowroom.plan.checks.ground import standing_at
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Go
from elbowroom.world.world import World

FPS = 30.0
# Metres between pillars and between people, and of the walk of each of several people.
PILLARS_M, BESIDE_M, ACROSS_M = 2.5, 1.2, 8.0


def hall(length: float, width: float) -> World:
    """A hall from the origin along -Y, with pillars."""
    static = {
        "west": box((0.1, length + 4.0, 2.5), (-0.5 * width - 1.0, -0.5 * length, 1.25)),
        "east": box((0.1, length + 4.0, 2.5), (0.5 * width + 1.0, -0.5 * length, 1.25)),
    }
    for k, y in enumerate(np.arange(-1.5, -length, -PILLARS_M)):
        for x in np.arange(-0.5 * width + (k % 2) * 0.5 * PILLARS_M, 0.5 * width + 0.1, PILLARS_M):
            static[f"pillar {len(static)}"] = box((0.3, 0.3, 2.5), (float(x), float(y), 1.25))
    return World(static=static)


def timed(world: World, tasks: list[Go], what: str) -> None:
    """Plan tasks and print how long that takes."""
    begun = time.process_time()
    plan = plan_tasks(world, tasks, Settings(probes=0), fps=FPS)
    seconds = time.process_time() - begun
    print(f"{what:12} {plan.status:12} {seconds:7.1f} s {plan.why}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lengths", type=float, nargs="*", default=[10.0, 20.0, 50.0, 100.0, 200.0])
    parser.add_argument("--legs", type=int, nargs="*", default=[1, 5, 20])
    parser.add_argument("--people", type=int, nargs="*", default=[1, 5, 10, 20])
    args = parser.parse_args()
    body = preset("woman")
    for length in args.lengths:
        world = standing_at(hall(length, 4.0), "ann", body, (0.0, 0.0), 0.0, FPS)
        timed(world, [Go(who="ann", to=(0.0, -length))], f"{length:g} m")
    for legs in args.legs:  # the same hall, to and fro
        world = standing_at(hall(10.0, 4.0), "ann", body, (0.0, 0.0), 0.0, FPS)
        goals = [(0.0, -10.0) if k % 2 == 0 else (0.0, 0.0) for k in range(legs)]
        timed(world, [Go(who="ann", to=goal) for goal in goals], f"{legs} x 10 m")
    for count in args.people:
        wide = BESIDE_M * count
        world, tasks = hall(ACROSS_M, wide + 2.0 * BESIDE_M), []
        for k in range(count):
            x = BESIDE_M * (k - 0.5 * count)
            world = standing_at(world, f"p{k}", body, (x, 0.0), 0.0, FPS)
            tasks.append(Go(who=f"p{k}", to=(x + BESIDE_M, -ACROSS_M)))
        timed(world, tasks, f"{count} people")


if __name__ == "__main__":
    main()
