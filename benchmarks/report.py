"""How long a report takes and how large its page is: a walk of ten seconds at 60 frames a second through a house of
146K triangles, the longest scenario of the gallery, and a walk of five minutes.

Measuring without the certificate (which planning has made already), the certificate, the page, and each of its
pictures. Seconds of the processor, medians of some repeats after one that compiles and fills the caches.

    python benchmarks/report.py [--repeats 3] [--only house cheese-and-hat long] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.character.human import human
from elbowroom.files.open import read_scene
from elbowroom.gallery.scenes import scenario
from elbowroom.locomotion.walk import walk
from elbowroom.motion.edit import place
from elbowroom.report import page, report
from elbowroom.report.clearance import sampled
from elbowroom.report.shots import shots
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world.certificate import certify
from elbowroom.world.world import World

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ELBOWROOM_DATA") or ROOT.parent / "shared" / "data")
# A way through the house that is free: where it starts, metres, and which way, radians.
FREE_WAY = ((3.094, 2.605), 0.690)


def house() -> tuple[World, World]:
    """A walk through the small house, or through nothing where the file is not present."""
    clip = place(walk(human(), 0.8, 0.0, 10.0, 60.0), *FREE_WAY)
    path = DATA / "scenes" / "small_house.glb"
    world = (read_scene(path) if path.exists() else World()).with_character("ann", clip)
    return world, world


def cheese_and_hat() -> tuple[World, World]:
    """The scenario as it is planned, and what it started from."""
    board = scenario("cheese-and-hat").board()
    return plan_storyboard(board).require().world, board.world


def long() -> tuple[World, World]:
    """Five minutes of walking, at 60 frames a second."""
    world = World().with_character("ann", walk(human(), 1.0, 0.05, 300.0, 60.0))
    return world, world


CASES: dict[str, Callable[[], tuple[World, World]]] = {
    "house": house,
    "cheese-and-hat": cheese_and_hat,
    "long": long,
}


def median(do: Callable[[], Any], repeats: int) -> float:
    """Seconds of the processor, the median of some repeats after a first one."""
    do()
    took = []
    for _ in range(repeats):
        start = time.process_time()
        do()
        took.append(time.process_time() - start)
    return float(np.median(took))


def measured(world: World, original: World, repeats: int) -> dict[str, Any]:
    """Seconds of the parts of a report."""
    proven = certify(world)
    found = report(world, original, certificate=proven)
    facts: dict[str, Any] = {
        "frames": sum(p.frames for p in found.people),
        "triangles": world.triangles,
        "light": found.light,
        "certificate_s": median(lambda: certify(world), repeats),
        "clearance_over_time_s": median(lambda: sampled(world), repeats),
        "all_measures_s": median(lambda: report(world, original, certificate=proven), repeats),
        "page_s": median(lambda: page(found, pictures=0), repeats),
        "page_kb": len(page(found).encode()) / 1000.0,
    }
    taken, note = shots(found, 3)
    if note:
        return facts | {"note": note}
    return facts | {"picture_s": median(lambda: shots(found, 3), repeats) / max(len(taken), 1)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    facts = {name: measured(*CASES[name](), told.repeats) for name in told.only}
    if told.json:
        print(json.dumps(facts, indent=2))
        return
    for name, numbers in facts.items():
        print(name)
        for key, value in numbers.items():
            print(f"  {key:24} {value:.3f}" if isinstance(value, float) else f"  {key:24} {value}")


if __name__ == "__main__":
    main()
