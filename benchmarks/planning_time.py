"""Processor time of planning scenarios of the gallery, certificate included, and counts that no load changes.

Each scenario is planned twice in one process: the first plan loads compiled code, the second has it. Counted are looks
at postures of limbs by compiled code, exact tests of pairs by Coal, distances of pairs, and reaches of whole bodies.

    python benchmarks/planning_time.py [NAME ...] [--seed 0] [--json]
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from elbowroom.gallery.scenes import scenario
from elbowroom.kernels import edges
from elbowroom.plan import director
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world.exact_placed import Placed

SCENARIOS = ("jar", "bookshelf", "cheese-and-hat")


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Numbers of postures looked at, exact tests, distances and reaches that are made meanwhile."""
    counts: Counter[str] = Counter()
    places: list[tuple[Any, str, str, Callable[..., int]]] = [
        (edges, "check_batch", "postures", lambda *a: len(a[2])),
        (Placed, "surfaces_meet", "exact tests", lambda *a: 1),
        (Placed, "_between_surfaces", "distances", lambda *a: 1),
        (director, "reach", "reaches", lambda *a: 1),
    ]
    plain = [getattr(owner, name) for owner, name, _, _ in places]
    for (owner, name, what, number), function in zip(places, plain, strict=True):

        def counting(*a: Any, what: str = what, number: Any = number, function: Any = function, **k: Any) -> Any:
            counts[what] += number(*a)
            return function(*a, **k)

        setattr(owner, name, counting)
    try:
        yield counts
    finally:
        for (owner, name, _, _), function in zip(places, plain, strict=True):
            setattr(owner, name, function)


def measured(name: str, seed: int) -> dict[str, Any]:
    """Processor seconds of the first and the second plan of a scenario, and counts of the second."""
    seconds, wall = [], 0.0
    with counted() as counts:
        for _ in range(2):
            counts.clear()
            board = scenario(name).board()
            start, begun = time.process_time(), time.perf_counter()
            plan = plan_storyboard(board, seed=seed)
            seconds.append(time.process_time() - start)
            wall = time.perf_counter() - begun
    certified = plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    facts = {"status": plan.status, "certified": certified, "first_s": seconds[0], "second_s": seconds[1]}
    return facts | {"wall_s": wall, **dict(counts)}


def main() -> None:
    """Print a table, or all figures as JSON."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("names", nargs="*", default=SCENARIOS)
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    found = {}
    if not told.json:
        print("| scenario | status | first s | second s | postures | exact tests | distances | reaches |")
        print("|" + "---|" * 8)
    for name in told.names:
        facts = found[name] = measured(name, told.seed)
        if not told.json:
            numbers = " | ".join(f"{facts.get(k, 0):,}" for k in ("postures", "exact tests", "distances", "reaches"))
            proven = f"{facts['status']}{', proven' if facts['certified'] else ''}"
            print(f"| {name} | {proven} | {facts['first_s']:.2f} | {facts['second_s']:.2f} | {numbers} |", flush=True)
    if told.json:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
