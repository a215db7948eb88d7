"""Teams of two, three, four and six people carry a table top past a pillar: time and success.

python benchmarks/carry_teams.py --seeds 3 --plot carry_teams.png
"""

from __future__ import annotations

import argparse
import time

import matplotlib as mpl
import numpy as np

import elbowroom as er
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.edit import place
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Carry
from elbowroom.world.paths import Still
from elbowroom.world.world import World

mpl.use("Agg")
import matplotlib.pyplot as plt

# Table top, metres; where it lies at first and at last; seconds after which a plan is given up.
_TOP_M = (2.2, 0.9, 0.04)
_HEIGHT_M = 0.7205
_GOAL_M = (3.8, -1.0, _HEIGHT_M)
_BUDGET_S = 900.0
COUNTS = (2, 3, 4, 6)
_NAMES = ("ann", "bob", "eve", "tom", "kim", "max")


def scene(count: int) -> World:
    """A table top on a stand, and people in a ring around it."""
    world = World(floor=0.0).with_static("pillar", box((0.3, 0.3, 2.4), (2.7, 1.0, 1.2)))
    for name, (x, y) in (("stand", (0.0, 0.0)), ("other", _GOAL_M[:2])):
        world = world.with_static(name, box((0.6, 0.3, 0.7), (x, y, 0.35)))
    for k, name in enumerate(_NAMES[:count]):
        angle = 2.0 * np.pi * (k + 0.5) / count
        clip = er.idle(er.preset("woman" if k % 2 == 0 else "man"), seconds=0.5, fps=30.0)
        at = (2.1 * np.cos(angle), 1.7 * np.sin(angle))
        world = world.with_character(name, place(clip, at, angle - 0.5 * np.pi))
    top = Still(transform([0.0, 0.0, _HEIGHT_M]))
    return world.with_object("table", box(_TOP_M), top, mass=6.0 * count)


def carry(count: int) -> Carry:
    """The task of all of them to carry the table top to the other stand."""
    return Carry(who="ann", helpers=_NAMES[1:count], object="table", to=_GOAL_M, turn=0.0)


def main() -> None:
    """Plan all of them and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--counts", type=int, nargs="*", default=list(COUNTS))
    parser.add_argument("--plot")
    asked = parser.parse_args()
    rows: dict[int, list[tuple[bool, float]]] = {}
    for count in asked.counts:
        for seed in range(asked.seeds):
            task = carry(count)
            begun = time.process_time()
            try:
                plan = plan_tasks(scene(count), [task], Settings(seed=seed, probes=0), fps=30.0, budget=_BUDGET_S)
                good, status = plan.found, f"{plan.status} {plan.why}"
            except Exception as error:  # one failure must not end the others
                good, status = False, f"crash: {error!r}"
            seconds = time.process_time() - begun
            rows.setdefault(count, []).append((good, seconds))
            print(f"{count} carriers, seed {seed}: {status}, {seconds:.1f} s of processor time", flush=True)
            if asked.plot:
                draw(rows, asked.plot)
        found = [seconds for good, seconds in rows[count] if good]
        print(
            f"| {count} | {len(found)} of {len(rows[count])} | {np.median(found) if found else np.nan:.1f} |",
            flush=True,
        )


def draw(rows: dict[int, list[tuple[bool, float]]], path: str) -> None:
    """Plot all plans so far."""
    figure, axes = plt.subplots(figsize=(5, 3.2))
    for count, runs in rows.items():
        for good, seconds in runs:
            axes.plot(count, seconds, "o" if good else "x", color="tab:blue" if good else "tab:red")
    title = "found (dots) and not (crosses)"
    axes.set(xlabel="carriers", ylabel="processor time, s", title=title, ylim=(0.0, None), xticks=COUNTS)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
