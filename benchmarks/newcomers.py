"""Storyboards as new users write them: what works, what is refused with a change that works, what fails.

The storyboards in `newcomers/` were written from README and docs/storyboard.md alone, and are not tuned to the
planner. `DATA/` in them stands for the folder of recordings, rigs and scenes (ELBOWROOM_DATA); those that need it are
left out without it. Each is planned in a process of its own with seed 0.

    python benchmarks/newcomers.py [--only 4 24 ...] [--pictures DIR] [--seconds 300] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elbowroom.errors import ElbowroomError

if TYPE_CHECKING:  # the parent process, which only starts others, loads no planner
    from elbowroom.storyboard.storyboard import Storyboard

BOARDS = Path(__file__).resolve().parent / "newcomers"
DATA = Path(os.environ.get("ELBOWROOM_DATA") or Path(__file__).resolve().parent.parent.parent / "shared" / "data")
# Asked for what nobody could do: to be refused with the reason.
INFEASIBLE = {"20-workshop-heavy-bar": "too-heavy"}


def number(path: Path) -> int:
    """Number of a storyboard, which its name begins with."""
    return int(path.stem.split("-")[0])


def needed(path: Path) -> list[Path]:
    """Files of the data folder that a storyboard names."""
    return [DATA / name for name in re.findall(r"DATA/([\w./-]+)", path.read_text())]


def board(path: Path) -> Storyboard:
    """Read a storyboard in which `DATA/` stands for the data folder."""
    from elbowroom.storyboard.storyboard import read_storyboard

    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / path.name
        copied.write_text(path.read_text().replace("DATA/", f"{DATA}/"))
        return read_storyboard(copied)


def one(path: Path, pictures: Path | None) -> dict[str, Any]:
    """One storyboard, planned as it is: its status, reason, advice and processor seconds."""
    from elbowroom.pictures.images import strip, write_png
    from elbowroom.storyboard.plan import plan_storyboard

    begun = time.process_time()
    row: dict[str, Any] = {"name": path.stem, "why": "", "advice": "", "proven": False}
    try:
        plan = plan_storyboard(board(path))
    except ElbowroomError as error:
        return row | {"status": "bad input", "why": str(error), "seconds": time.process_time() - begun}
    proven = plan.certificate is not None and plan.certificate.free
    row |= {"status": plan.status, "why": plan.why, "advice": plan.advice, "proven": proven}
    row["seconds"] = time.process_time() - begun
    if pictures is not None:
        write_png(pictures / f"{path.stem}.png", strip(plan.world, n=10, size=(420, 420), columns=5))
    return row


def outcome(row: dict[str, Any]) -> str:
    """Works, refused with a checked change, refused as it should be, or fails."""
    wanted = INFEASIBLE.get(row["name"])
    if wanted is not None:
        return "refused as it should be" if row["status"] == wanted else "fails"
    if row["status"] == "found" and row["proven"]:
        return "works"
    return "refused, its advice works" if row["advice"].rstrip(".").endswith("(verified)") else "fails"


def run(path: Path, pictures: Path | None, seconds: int) -> dict[str, Any]:
    """One storyboard in a process of its own."""
    command = [sys.executable, __file__, "--child", str(path)]
    command += ["--pictures", str(pictures)] if pictures else []
    row: dict[str, Any] = {"name": path.stem, "why": "", "advice": "", "proven": False, "seconds": seconds}
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (seconds, seconds + 5))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return row | {"status": "no answer"}
    last = done.stdout.strip().splitlines()
    return (
        json.loads(last[-1]) if done.returncode == 0 and last else row | {"status": "crash", "why": done.stderr[-300:]}
    )


def main() -> None:
    """Print one line for each storyboard and the sums, or all of it as JSON."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--only", nargs="*", type=int, default=None, help="numbers of storyboards")
    ask.add_argument("--pictures", type=Path, default=None, help="folder for strips of frames")
    ask.add_argument("--seconds", type=int, default=300, help="processor seconds for each, proof and advice included")
    ask.add_argument("--json", action="store_true")
    ask.add_argument("--child", type=Path, default=None, help=argparse.SUPPRESS)
    asked = ask.parse_args()
    if asked.pictures is not None:
        asked.pictures.mkdir(parents=True, exist_ok=True)
    if asked.child is not None:
        print(json.dumps(one(asked.child, asked.pictures)))
        return
    rows = []
    for path in sorted(BOARDS.glob("*.yaml"), key=number):
        if asked.only is not None and number(path) not in asked.only:
            continue
        if absent := [p.name for p in needed(path) if not p.exists()]:
            print(f"{path.stem}: left out, without {', '.join(absent)} (set ELBOWROOM_DATA)", file=sys.stderr)
            continue
        row = run(path, asked.pictures, asked.seconds)
        rows.append(row | {"outcome": outcome(row)})
        why = f"{row['status']} {row['why']} {row['advice']}"
        print(f"{row['name']}: {rows[-1]['outcome']}, {row['seconds']:.0f} s: {why}", file=sys.stderr, flush=True)
    counts = Counter(r["outcome"] for r in rows)
    print(json.dumps(rows, indent=1) if asked.json else f"{len(rows)} storyboards: {dict(counts)}")


if __name__ == "__main__":
    main()
