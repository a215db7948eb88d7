"""Processor time of planning scenarios of the gallery, certificate included, and counts that no load changes.

Each scenario is planned twice in one process: the first plan loads compiled code, the second has it. Counted are
postures of limbs checked by compiled code, called from Python or within compiled searches, exact tests of pairs by
Coal, distances of pairs, and reaches of whole bodies.

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
from elbowroom.kernels import birrt as kernels
from elbowroom.kernels import edges
from elbowroom.kernels.space import CHECKS
from elbowroom.plan.steps import director
from elbowroom.search import shortcut
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world.exact_placed import Placed

SCENARIOS = ("jar", "bookshelf", "cheese-and-hat")
COUNTS = ("postures", "searched", "exact tests", "distances", "reaches")


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Numbers of postures looked at, alone and in compiled searches, exact tests, distances and reaches meanwhile."""
    counts: Counter[str] = Counter()

    def calls(what: str, number: Callable[..., int]) -> Callable[..., Any]:
        def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
            def counting(*a: Any, **k: Any) -> Any:
                counts[what] += number(*a)
                return function(*a, **k)

            return counting

        return wrapped

    def tallied(function: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*a: Any) -> Any:  # the tally, last, grows over the calls of one search
            before = int(a[-1][CHECKS])
            out = function(*a)
            counts["searched"] += int(a[-1][CHECKS]) - before
            return out

        return counting

    places: list[tuple[Any, str, Callable[..., Any]]] = [
        (edges, "check_batch", calls("postures", lambda *a: len(a[2]))),
        (kernels, "connect", tallied),
        (shortcut, "shorten", tallied),
        (Placed, "surfaces_meet", calls("exact tests", lambda *a: 1)),
        (Placed, "_between_surfaces", calls("distances", lambda *a: 1)),
        (director, "reach", calls("reaches", lambda *a: 1)),
    ]
    plain = [getattr(owner, name) for owner, name, _ in places]
    for (owner, name, wrapped), function in zip(places, plain, strict=True):
        setattr(owner, name, wrapped(function))
    try:
        yield counts
    finally:
        for (owner, name, _), function in zip(places, plain, strict=True):
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
        print("| scenario | status | first s | second s | " + " | ".join(COUNTS) + " |\n|" + "---|" * (4 + len(COUNTS)))
    for name in told.names:
        facts = found[name] = measured(name, told.seed)
        if not told.json:
            numbers = " | ".join(f"{facts.get(k, 0):,}" for k in COUNTS)
            proven = f"{facts['status']}{', proven' if facts['certified'] else ''}"
            print(f"| {name} | {proven} | {facts['first_s']:.2f} | {facts['second_s']:.2f} | {numbers} |", flush=True)
    if told.json:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
