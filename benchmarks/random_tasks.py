"""Random tasks on desks, tables, counters and shelves: how many of those that can be done are found, and why not.

Each task is a storyboard (`random_tasks_make.py`), planned as users do. What is found and proven can be done. Whether
the others can is judged by another test (`random_tasks_feasible.py`): random postures at the target, seen by the exact
checker. The same seed and index give the same task. With `--away` it is begun from farther off, and walked up to;
whether it can be done is still judged from before the furniture.

    python benchmarks/random_tasks.py [--count 60] [--seed 0] [--away 3] [--only 17 ...] [--json] [--processes 2]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from multiprocessing import get_context
from typing import Any

from elbowroom.storyboard.plan import plan_storyboard
from random_tasks_feasible import Verdict, feasible
from random_tasks_make import BODIES, DATA, RIGS, task


def one(index: int, seed: int, away: float = 0.0, budget: float | None = None) -> dict[str, Any] | None:
    """One task: what it is, whether it can be done, and what became of it; None where its rig is absent."""
    board, near = task(index, seed, away), task(index, seed)
    if board is None or near is None:
        return None
    kind, body, furniture = board.about.split(", ")
    begun = time.process_time()
    try:
        plan = plan_storyboard(board, seed=0, budget=budget)
        status, why = plan.status, plan.why
    except Exception as crash:  # counts as not found, and the others are still measured
        status, why = "crash", repr(crash)
    seconds = time.process_time() - begun
    verdict = Verdict(True, "", 0) if status == "found" else feasible(near, seed)
    return {
        "index": index,
        "kind": kind,
        "body": body,
        "furniture": furniture,
        "status": status,
        "why": why,
        "feasible": verdict.feasible,
        "infeasible_why": verdict.why,
        "postures": verdict.checks,
        "cpu_s": round(seconds, 2),
    }


def results(told: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All tasks that are asked for, as they are done."""
    numbers = told.only if told.only is not None else list(range(told.count))
    work = partial(one, seed=told.seed, away=told.away, budget=told.budget)
    if told.processes > 1:
        with get_context("spawn").Pool(told.processes, maxtasksperchild=10) as pool:
            yield from filter(None, pool.imap(work, numbers))
    else:
        yield from filter(None, map(work, numbers))


def share(rows: list[dict[str, Any]]) -> str:
    """Found of those that can be done, as text."""
    can = [r for r in rows if r["feasible"]]
    found = sum(r["status"] == "found" for r in can)
    return f"{found}/{len(can)}" + (f" ({100 * found / len(can):.0f} %)" if can else "")


def text(rows: list[dict[str, Any]]) -> str:
    """The result as Markdown."""
    lines = [
        f"{len(rows)} tasks, found of the feasible: {share(rows)}",
        "",
        "| status | feasible | not |",
        "|---|---|---|",
    ]
    for status, _ in Counter(r["status"] for r in rows).most_common():
        can = sum(r["feasible"] for r in rows if r["status"] == status)
        lines.append(f"| {status} | {can} | {sum(r['status'] == status for r in rows) - can} |")
    for key in ("kind", "body", "furniture"):
        lines += ["", f"| {key} | found of the feasible |", "|---|---|"]
        lines += [
            f"| {name} | {share([r for r in rows if r[key] == name])} |" for name in sorted({r[key] for r in rows})
        ]
    failed = [r for r in rows if r["feasible"] and r["status"] != "found"]
    lines += ["", f"Feasible, not found ({len(failed)}):"] + [described(r) for r in failed]
    return "\n".join(lines)


def described(row: dict[str, Any]) -> str:
    """One task in a line."""
    what = f"{row['index']:3d} {row['kind']}, {row['body']}, {row['furniture']}: {row['status']}"
    can = "" if row["feasible"] else f" [infeasible: {row['infeasible_why']}]"
    return f"{what} ({row['cpu_s']:.1f} s) {row['why']}{can}"


def main() -> None:
    """Print the tables, or all tasks as JSON."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--count", type=int, default=60)
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--only", nargs="*", type=int, default=None, help="numbers of tasks")
    ask.add_argument("--away", type=float, default=0.0, help="metres away from which tasks are begun, at most")
    ask.add_argument("--budget", type=float, default=None, help="seconds by the clock for a task")
    ask.add_argument("--json", action="store_true")
    ask.add_argument("--processes", type=int, default=1)
    ask.add_argument("--progress", action="store_true", help="each task on standard error when it is done")
    told = ask.parse_args()
    absent = [rig for rig in RIGS if not (DATA / "characters" / rig).is_file()]
    if absent:
        left = len(BODIES) - len(absent)
        print(f"without {', '.join(absent)} (set ELBOWROOM_DATA): {left} of {len(BODIES)} bodies", file=sys.stderr)
    rows = []
    for row in results(told):
        rows.append(row)
        if told.progress:
            print(described(row), file=sys.stderr, flush=True)
    print(json.dumps(rows, indent=1) if told.json else text(rows))


if __name__ == "__main__":
    main()
