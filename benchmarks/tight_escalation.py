"""Random tasks that smaller means give up on, and how many of them the whole body solves.

    python benchmarks/tight_escalation.py [--count 60] [--seed 0] [--away 3] [--only 17 ...]

Tasks are those of `random_tasks.py`; with `--away` they are walked up to first, as `fetch` does. Escalation is a second
plan after everything else has failed: a task that is found without it is planned once, so its motion is the same.
Clips that `repair` gives up on are not escalated.
"""

from __future__ import annotations

import argparse
import time
import traceback
from typing import Any

from elbowroom.plan import manipulate
from elbowroom.storyboard.plan import plan_storyboard
from random_tasks_make import task


def one(index: int, seed: int, away: float) -> dict[str, Any] | None:
    """One task: status and reason of the smaller means, whether the whole body was tried, and the final status."""
    board = task(index, seed, away)
    if board is None:
        return None
    before: list[tuple[str, str, bool]] = []
    usual = manipulate._escalates

    def noted(director: Any, plan: Any, failed: Any) -> bool:
        tried = usual(director, plan, failed)
        if not plan.found:
            before.append((plan.status, plan.why, tried))
        return tried

    begun = time.process_time()
    manipulate._escalates = noted  # type: ignore[assignment]
    try:
        plan = plan_storyboard(board, seed=0)
    finally:
        manipulate._escalates = usual
    status, why, tried = before[0] if before else (plan.status, plan.why, False)
    parts = sum(edit.tier == "whole-body" for edit in plan.edits)
    return {"about": board.about, "smaller": status, "why": why, "tried": tried, "status": plan.status,
            "found": plan.found, "parts": parts, "cpu_s": time.process_time() - begun}  # fmt: skip


def main() -> None:
    """Print every task that smaller means gave up on, and a summary."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--count", type=int, default=60)
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--away", type=float, default=0.0, help="metres away from which tasks are begun, at most")
    ask.add_argument("--only", nargs="*", type=int, default=None, help="numbers of tasks")
    given = ask.parse_args()
    rows, broken = [], 0
    print("| task | smaller means | whole body | processor s |\n|---|---|---|---|", flush=True)
    for index in given.only if given.only is not None else range(given.count):
        try:
            row = one(index, given.seed, given.away)
        except Exception:  # one broken task must not end the list
            traceback.print_exc()
            broken += 1
            continue
        if row is None:
            continue
        rows.append(row)
        if row["smaller"] == "found":
            print(f"| {index}: {row['about']} | found | not needed | {row['cpu_s']:.1f} |", flush=True)
        else:
            after = f"{row['status']}, {row['parts']} motions" if row["tried"] else "not tried"
            print(
                f"| {index}: {row['about']} | {row['smaller']}: {row['why']} | {after} | {row['cpu_s']:.1f} |",
                flush=True,
            )
    failed = [r for r in rows if r["smaller"] != "found"]
    tried = [r for r in failed if r["tried"]]
    print(f"{len(rows)} tasks, {len(rows) - len(failed)} found by smaller means; of {len(failed)} given up on "
          f"{len(tried)} escalate, and {sum(r['found'] and r['parts'] > 0 for r in tried)} are solved; "
          f"{broken} broken")  # fmt: skip


if __name__ == "__main__":
    main()
