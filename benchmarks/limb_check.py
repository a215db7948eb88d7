"""How long it takes to make the check of a limb, and to certify an interval.

An arm of someone who walks along a bookcase of 35,000 triangles. The first check of a process makes covers, pairs and
the scene's distance field, or reads them from disk; later ones find them in memory. Times are those of the processor.

    python benchmarks/limb_check.py [--repeats 20] [--quick]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from elbowroom.geometry import kept as on_disk
from elbowroom.world.certificate import certify
from elbowroom.world.fast import LimbCheck
from moving_world import MARGIN, bases

SPANS = (0.0, 0.5, 1.5, 3.0)
CERTIFIED = (0.5, 1.0, 2.0, 4.0)


def median_ms(do: Callable[[], object], repeats: int) -> float:
    """Median time of doing something."""
    took = []
    for _ in range(repeats):
        begun = time.process_time()
        do()
        took.append(1e3 * (time.process_time() - begun))
    return float(np.median(took))


def first_ms(cold: bool) -> float:
    """The first check of this process; `cold`: nothing that was kept on disk is used."""
    if cold:
        on_disk._load = lambda path: None
    world = bases()["walk"]
    begun = time.process_time()
    LimbCheck(world, "ann", "right_arm", (1.0, 2.5), margin=MARGIN)
    return 1e3 * (time.process_time() - begun)


def in_a_process_of_its_own(how: str) -> float:
    """The first check of a new process."""
    out = subprocess.run([sys.executable, __file__, "--first", how], capture_output=True, text=True, check=True)
    return float(out.stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="3 repeats")
    parser.add_argument("--first", choices=("cold", "kept"), help="only the first check of this process, in ms")
    given = parser.parse_args()
    if given.first is not None:
        print(first_ms(given.first == "cold"))
        return
    repeats = 3 if given.quick else given.repeats
    first_ms(False)
    print("| | ms |\n|---|---|")
    print(f"| first check of a process over 1.5 s, nothing kept on disk | {in_a_process_of_its_own('cold'):.0f} |")
    print(f"| the same, all kept on disk | {in_a_process_of_its_own('kept'):.0f} |")
    world = bases()["walk"]
    certify(world, during=(1.0, 1.5), clearance=False)
    for span in SPANS:
        during = (1.0, 1.0 + span)
        ms = median_ms(lambda d=during: LimbCheck(world, "ann", "right_arm", d, margin=MARGIN), repeats)  # type: ignore[misc]
        print(f"| a later one over {span:g} s | {ms:.1f} |")
    for span in CERTIFIED:
        during = (0.5, 0.5 + span)
        ms = median_ms(lambda d=during: certify(world, during=d, clearance=False), repeats)  # type: ignore[misc]
        print(f"| certificate of {span:g} s of the whole body, 35K triangles | {ms:.0f} |")


if __name__ == "__main__":
    main()
