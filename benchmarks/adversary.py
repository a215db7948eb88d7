"""Random small worlds that try to get a wrong 'free', each written and checked by tools/verify_npz.py.

    python benchmarks/adversary.py --count 20000 --boards 40 --changes 2000 --processes 2 [--first 0] [--kind bullet]
                                   [--minutes 10]

With --boards, so many storyboards are run by the command line, too; with --changes, so many written files are changed
at random, and 'free' means that a change was not noticed. Prints, by kind: cases, how many were called free,
how many of those wrongly; how many that are clear were not called free; and the seeds of all wrong ones. Exit code 1
where a 'free' is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from adversary.boards import judge_board
from adversary.tampering import judge_change
from adversary.verdicts import Verdict, judge
from adversary.worlds import case
from elbowroom.geometry import kept as on_disk

CHUNK = 20  # cases that a process takes at a time


def judged(seeds: list[int], kind: str = "") -> list[Verdict]:
    """Verdicts on the cases of some seeds, of one kind where one is named."""
    on_disk._store = lambda path, arrays: None  # no world comes twice: their fields would only fill the cache
    with TemporaryDirectory() as folder:
        return [judge(case(seed, kind), Path(folder)) for seed in seeds]


def changes_judged(seeds: list[int]) -> list[Verdict]:
    """Verdicts on changed files of some seeds; 'free' means that a change was not noticed."""
    on_disk._store = lambda path, arrays: None
    with TemporaryDirectory() as folder:
        return [judge_change(case(seed), Path(folder)) for seed in seeds]


def boards_judged(seeds: list[int]) -> list[Verdict]:
    """Verdicts on the storyboards of some seeds."""
    with TemporaryDirectory() as folder:
        return [judge_board(seed, Path(folder)) for seed in seeds]


def all_judged(told: argparse.Namespace) -> Iterator[list[Verdict]]:
    """Verdicts in chunks, as they come."""
    seeds = range(told.first, told.first + told.count)
    chunks = [list(seeds[k : k + CHUNK]) for k in range(0, told.count, CHUNK)]
    boards = [[told.first + k] for k in range(told.boards)]
    changed = range(told.first, told.first + told.changes)
    changes = [list(changed[k : k + CHUNK]) for k in range(0, told.changes, CHUNK)]
    if told.processes == 1:
        yield from (judged(chunk, told.kind) for chunk in chunks)
        yield from map(changes_judged, changes)
        yield from map(boards_judged, boards)
        return
    pool = ProcessPoolExecutor(told.processes)
    try:
        yield from pool.map(judged, chunks, [told.kind] * len(chunks))
        yield from pool.map(changes_judged, changes)
        yield from pool.map(boards_judged, boards)
    finally:
        pool.shutdown(cancel_futures=True)


def main() -> int:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--boards", type=int, default=0)
    parser.add_argument("--changes", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many minutes")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind", default="")
    parser.add_argument("--progress", action="store_true")
    told = parser.parse_args()
    began, table, refused = time.perf_counter(), Counter(), Counter()
    wrong: list[Verdict] = []
    strict: list[Verdict] = []
    try:
        for v in (v for verdicts in all_judged(told) for v in verdicts):
            for kind in (v.kind, "all"):
                table[kind, "cases"] += 1
                table[kind, "refused"] += bool(v.refused)
                table[kind, "free"] += v.free
                table[kind, "wrong"] += v.wrong
                table[kind, "strict"] += v.too_strict
            if v.wrong:
                wrong.append(v)
                print(f"wrong free: seed {v.seed} ({v.kind}): {v.found[0]}", flush=True)
            strict += [v] if v.too_strict else []
            refused[v.refused.partition(", ")[2]] += bool(v.refused)
            if time.perf_counter() - began > 60.0 * told.minutes:
                print(f"stopped after {told.minutes:g} minutes")
                break
            if told.progress and table["all", "cases"] % 100 == 0:
                done = f"{table['all', 'cases']} cases, {len(wrong)} wrong"
                print(f"{done}, {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("stopped; so far:")
    print(f"{'kind':16} {'cases':>7} {'refused':>7} {'free':>7} {'wrong free':>10} {'clear, not free':>15}")
    for kind in sorted({k for k, _ in table}, key=lambda k: (k == "all", k)):
        row = [table[kind, key] for key in ("cases", "refused", "free", "wrong", "strict")]
        print(f"{kind:16} {row[0]:7} {row[1]:7} {row[2]:7} {row[3]:10} {row[4]:15}")
    if strict:
        print("clear, not free: seeds", " ".join(f"{v.seed}" for v in strict[:40]))
    for text, number in refused.most_common(6):
        if number:
            print(f"refused {number} times: {text}")
    print(f"{time.perf_counter() - began:.0f} s.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
