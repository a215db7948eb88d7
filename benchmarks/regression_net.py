"""What planning gives today against what it gave before: every scenario of the gallery and the first random tasks.

Of each: status, smallest clearance, worst joint jerk, foot slide, how far things end from where they were to be, how
far the nearest finger is from what is held, and seconds of the processor (compiled code warm). Seed 0.

    python benchmarks/regression_net.py --record benchmarks/baseline.json
    python benchmarks/regression_net.py --against benchmarks/baseline.json [--only jar random-17] [--progress]

Exit code 1 where something that was found is not found any more.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from elbowroom.gallery.scenes import scenarios
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import Storyboard
from gallery import measures
from random_tasks_make import task

RANDOM = 40
# Planned first and not counted, so that all compiled code is loaded: repair, grab, walking and running, handover, feet.
WARM = ("umbrella", "jar", "ring-run", "handover", "step-over", "door")

# What may become worse by how much, absolute and as a share of what it was; clearance is better the larger it is.
WORSE = {
    "clearance_mm": (1.0, 0.0),
    "jerk": (0.0, 0.15),
    "slide_mm": (2.0, 0.0),
    "grip_mm": (1.0, 0.0),
    "off_mm": (1.0, 0.0),
    "cpu_s": (0.2, 0.30),
}


def boards(only: list[str] | None) -> Iterator[tuple[str, Callable[[], Storyboard | None]]]:
    """Names of all storyboards, and what makes each."""
    for name, scenario in scenarios().items():
        if only is None or name in only:
            yield name, scenario.board
    for index in range(RANDOM):
        if only is None or f"random-{index}" in only:
            yield f"random-{index}", lambda index=index: task(index)


def row(board: Storyboard) -> dict[str, Any]:
    """Plan a storyboard; numbers rounded to what matters. An error is a status of its own: the rest goes on."""
    begun = time.process_time()
    try:
        plan = plan_storyboard(board, seed=0)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        return {"status": "crashed", "why": why, "cpu_s": round(time.process_time() - begun, 2)}
    seconds = round(time.process_time() - begun, 2)
    if not plan.found:
        return {"status": plan.status, "why": plan.why, "cpu_s": seconds}
    found = measures(board, plan)
    clearance, gap = found["clearance_m"], found["hand_gap_m"]
    return {
        "status": plan.status,
        "clearance_mm": None if clearance is None else round(1000 * clearance, 2),
        "jerk": round(found["peak_jerk"]),
        "slide_mm": round(1000 * found["foot_slide_m"], 1),
        "grip_mm": None if gap is None else round(1000 * abs(gap), 1),
        "off_mm": round(1000 * found["off"], 1),
        "cpu_s": seconds,
    }


def compared(name: str, before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Lines of a table on what became worse."""
    if before["status"] == "found" and now["status"] != "found":
        return [f"| {name} | status | found | {now['status']}: {now['why']} |"]
    lines = []
    for key, (more, share) in WORSE.items():
        old, new = before.get(key), now.get(key)
        if old is None or new is None or (key == "cpu_s" and before["status"] != now["status"]):
            continue
        by = old - new if key == "clearance_mm" else new - old
        if by > more and by > share * abs(old):
            lines.append(f"| {name} | {key} | {old:g} | {new:g} |")
    return lines


def summed(rows: dict[str, dict[str, Any]]) -> str:
    """A line on all of it."""
    found = [r for r in rows.values() if r["status"] == "found"]
    return f"{len(found)}/{len(rows)} found, {sum(r['cpu_s'] for r in rows.values()):.0f} s of the processor"


def main() -> None:
    """Record, compare, or both."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--record", type=Path, metavar="FILE")
    ask.add_argument("--against", type=Path, metavar="FILE")
    ask.add_argument("--only", nargs="*", default=None, metavar="NAME")
    ask.add_argument("--progress", action="store_true", help="each row on standard error when it is done")
    told = ask.parse_args()
    before = json.loads(told.against.read_text()) if told.against else {}
    for name in WARM:
        plan_storyboard(scenarios()[name].board(), seed=0)
    rows: dict[str, dict[str, Any]] = {}
    for name, make in boards(told.only):
        board = make()
        if board is not None:
            rows[name] = row(board)
            if told.progress:
                print(name, json.dumps(rows[name]), file=sys.stderr, flush=True)
        if told.record and rows:
            lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
            told.record.write_text(f"{{\n{lines}\n}}\n")
    worse = [line for name, now in rows.items() if name in before for line in compared(name, before[name], now)]
    print(summed(rows))
    if told.against:
        old = {name: before[name] for name in rows if name in before}
        print(f"before: {summed(old)}")
        print(
            "\n".join(["| | worse | before | now |", "|---|---|---|---|", *worse]) if worse else "nothing became worse"
        )
    sys.exit(1 if any("| status |" in line for line in worse) else 0)


if __name__ == "__main__":
    main()
