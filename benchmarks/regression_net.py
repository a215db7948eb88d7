"""What planning gives now beside what it gave before, case by case: status, time, checks, and quality of motion.

    python benchmarks/regression_net.py record now.jsonl [--kind gallery random] [--only gallery/jar 'newcomers/4*']
                                        [--part 2/8] [--seconds 500] [--limit 120]
    python benchmarks/regression_net.py compare benchmarks/net/baseline.jsonl now.jsonl [--picture net.png]

`record` appends one line per case (`regression_cases.py` makes them) and skips what the file has, so the same command
continues a run that was ended; `--part 2/8` takes every eighth case from the second, `--seconds` ends between cases.
Each case runs in a child process that is forked after compiled code is loaded, and ends with 'no answer' after
`--limit` seconds of processor time. Checks are postures of limbs checked by compiled code; of repairs, jerk and slide
are those beyond the recorded clip's. `compare` prints sums by kind and what became worse and better, of cases that both
files have; its exit code is 1 where a status became worse.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.gallery.scenes import scenario
from elbowroom.storyboard.plan import plan_storyboard
from regression_cases import KINDS, WARM, Case, Row, chosen, row

Rows = dict[str, Row]

# Measures with what may become worse by how much, absolute and as a share of what it was. Clearance alone is better the
# larger it is. Bounds are above the spread of repeated runs on a busy machine.
WORSE = {
    "cpu_s": (0.2, 0.30),
    "checks": (500.0, 0.30),
    "clearance_mm": (1.0, 0.0),
    "jerk": (0.0, 0.15),
    "slide_mm": (2.0, 0.0),
    "grip_mm": (1.0, 0.0),
    "off_mm": (1.0, 0.0),
    "changed": (5.0, 0.10),
}
# Statuses from good to bad: what was asked for, part of it, a refusal with its reason, no proof, and no answer at all.
_RANKS = {"partial": 1, "not-certified": 3, "bad input": 4, "no answer": 4, "crashed": 4}
# Seconds by the clock for each second of processor time, after which a case that waits for something is ended.
_PATIENCE = 20.0


def rank(row: Row) -> int:
    """How bad a status is, 0 where the case gives what it should."""
    if row["status"] == row.get("wanted", "found"):
        return 0
    return _RANKS.get(row["status"], 2)


def read(path: Path) -> Rows:
    """Rows of a record by case; a last line that a killed run left unfinished does not count."""
    rows: Rows = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            one = json.loads(line)
        except json.JSONDecodeError:
            continue
        rows[one.pop("case")] = one
    return rows


def append(path: Path, name: str, found: Row) -> None:
    """Add a row to a record, after a line break where an unfinished line ends the file."""
    broken = path.exists() and not path.read_text().endswith("\n") and path.stat().st_size > 0
    with path.open("a") as file:
        file.write(("\n" if broken else "") + json.dumps({"case": name, **found}) + "\n")


def limited(case: Case, limit_s: int, work: Callable[[Case], Row] = row) -> Row:
    """The row of a case, made in a forked process that has so many seconds of processor time."""
    fork = multiprocessing.get_context("fork")
    receive, send = fork.Pipe(duplex=False)
    child = fork.Process(target=_child, args=(case, limit_s, work, send))
    child.start()
    send.close()
    try:
        if receive.poll(_PATIENCE * limit_s):
            return receive.recv()
    except EOFError:  # it ended without a row
        pass
    finally:
        child.kill()
        child.join()
    return {"status": "no answer", "why": f"none in {limit_s} s of processor time", "cpu_s": float(limit_s)}


def _child(case: Case, limit_s: int, work: Callable[[Case], Row], send: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 5))
    send.send(work(case))


def record(
    path: Path,
    cases: Sequence[Case],
    limit_s: int,
    seconds: float = np.inf,
    work: Callable[[Case], Row] = row,
    warm: Callable[[], None] = lambda: None,
) -> Rows:
    """Measure the cases that a file does not have yet and append them, for so many seconds by the clock."""
    commit, done = state(), read(path)
    left = [case for case in cases if case.name not in done]
    if left:
        warm()
    begun = time.monotonic()
    for k, case in enumerate(left):
        if time.monotonic() - begun > seconds:
            say(f"{len(left) - k} cases are left; the same command goes on with them")
            break
        done[case.name] = limited(case, limit_s, work) | {"commit": commit}
        append(path, case.name, done[case.name])
        say(f"{case.name} {json.dumps(done[case.name])}")
    if len({found["commit"] for found in done.values()}) > 1:
        say(f"{path} has rows of several states of the code; begin another file to judge one")
    return done


def state() -> str:
    """Last commit that changed the package, marked with a plus where files differ from it; 'unknown' without git."""
    root = Path(__file__).resolve().parent.parent

    def git(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *command], capture_output=True, text=True, cwd=root, check=False)

    commit = git("log", "-1", "--format=%h", "--", "src").stdout.strip()
    return commit + "+" * git("diff", "--quiet", "HEAD", "--", "src").returncode if commit else "unknown"


def say(text: str) -> None:
    """Print progress."""
    print(text, file=sys.stderr, flush=True)


def load() -> None:
    """Plan what loads all compiled code."""
    for name in WARM:
        plan_storyboard(scenario(name).board(), seed=0)


def common(before: Rows, now: Rows) -> list[str]:
    """Names of cases that both records have, without those left out."""
    return [name for name in now if name in before and "left out" not in (before[name]["status"], now[name]["status"])]


def change(key: str, before: Row, now: Row) -> float | None:
    """Change of a measure beyond its bound, above 0 where it became worse; 0 within it, None where either has none."""
    old, new = before.get(key), now.get(key)
    if old is None or new is None or rank(before) or rank(now):
        return None
    by, (more, share) = (old - new if key == "clearance_mm" else new - old), WORSE[key]
    return by if abs(by) > max(more, share * abs(old)) else 0.0


def differences(before: Rows, now: Rows) -> tuple[list[str], list[str]]:
    """Table lines of what became worse and of what became better; statuses come first."""
    worse: list[str] = []
    better: list[str] = []
    names = common(before, now)
    for name in names:
        a, b = rank(before[name]), rank(now[name])
        if a != b:
            why = now[name].get("why", "")
            line = f"| {name} | status | {before[name]['status']} | {now[name]['status']}{': ' if why else ''}{why} |"
            (worse if b > a else better).append(line)
    for key in WORSE:
        for name in names:
            by = change(key, before[name], now[name])
            if by:
                line = f"| {name} | {key} | {before[name][key]:g} | {now[name][key]:g} |"
                (worse if by > 0.0 else better).append(line)
    return worse, better


def sums(before: Rows, now: Rows) -> list[str]:
    """Table lines by kind and of all: cases, those that give what they should, and sums of measures, before → now.

    Time and checks are of all cases, quality of those that gave what they should both times; of clearance the smallest.
    """
    lines = ["| kind | cases | good | " + " | ".join(WORSE) + " |", "|" + "---|" * (3 + len(WORSE))]
    names = common(before, now)
    for kind in (*KINDS, "all"):
        some = [name for name in names if kind in (name.partition("/")[0], "all")]
        if not some:
            continue
        good = [sum(not rank(rows[name]) for name in some) for rows in (before, now)]
        both = [name for name in some if not rank(before[name]) and not rank(now[name])]
        cells = [f"{good[0]} → {good[1]}"]
        for key in WORSE:
            among = some if key in ("cpu_s", "checks") else both
            had = [n for n in among if before[n].get(key) is not None and now[n].get(key) is not None]
            total = min if key == "clearance_mm" else sum
            values = [total(rows[n][key] for n in had) for rows in (before, now)] if had else []
            cells.append(" → ".join(f"{value:,.0f}" if value >= 1000.0 else f"{value:g}" for value in values))
        lines.append(f"| {kind} | {len(some)} | " + " | ".join(cells) + " |")
    told = [name for name in names if "motion" in before[name] and "motion" in now[name]]
    same = sum(before[name]["motion"] == now[name]["motion"] for name in told)
    return lines if not told else [*lines, "", f"{same} of {len(told)} motions are the same bit by bit"]


def draw(before: Rows, now: Rows, path: Path) -> None:
    """Draw each measure of each case, now over before: red points are worse, green ones better, grey within bounds."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(16, 8), dpi=110)
    for ax, key in zip(axes.flat, WORSE, strict=True):
        rows = [(before[n][key], now[n][key], change(key, before[n], now[n])) for n in common(before, now)
                if change(key, before[n], now[n]) is not None]  # fmt: skip
        points = np.array(rows, dtype=float).reshape(-1, 3)
        for color, on in (("0.6", points[:, 2] == 0), ("tab:green", points[:, 2] < 0), ("tab:red", points[:, 2] > 0)):
            ax.scatter(points[on, 0], points[on, 1], s=14, color=color, label=str(int(on.sum())))
        ax.set_xscale("symlog", linthresh=0.1)
        ax.set_yscale("symlog", linthresh=0.1)
        ends = [0.0, max(1.0, points[:, :2].max(initial=0.0))]
        ax.plot(ends, ends, ":", color="black", linewidth=1)
        ax.set(title=key, xlabel="before", ylabel="now")
        ax.legend(fontsize=8, title="same, better, worse", title_fontsize=8)
    good = [sum(not rank(rows[name]) for name in common(before, now)) for rows in (before, now)]
    figure.suptitle(f"{len(common(before, now))} cases, good: {good[0]} → {good[1]}")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def compare(before: Rows, now: Rows) -> tuple[str, bool]:
    """A report in Markdown, and whether a status became worse."""
    worse, better = differences(before, now)
    text = sums(before, now)
    for name, lines in (("worse", worse), ("better", better)):
        text += ["", f"{len(lines)} {name}" + (":" if lines else ""), ""]
        text += [f"| case | {name} | before | now |", "|---|---|---|---|", *lines] if lines else []
    return "\n".join(text), any("| status |" in line for line in worse)


def part(text: str) -> tuple[int, int]:
    """Numbers of '2/8'."""
    number, _, of = text.partition("/")
    if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError(f"a part is '2/8', number and count, not {text!r}")
    return int(number), int(of)


def main(arguments: Iterable[str] | None = None) -> None:
    """Record or compare."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = ask.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record")
    one.add_argument("file", type=Path)
    one.add_argument("--kind", nargs="*", choices=KINDS)
    one.add_argument(
        "--only", nargs="*", metavar="NAME", help="names, with or without their seed, or patterns: gallery/*/0"
    )
    one.add_argument("--part", type=part, default=(1, 1), metavar="K/N")
    one.add_argument("--seconds", type=float, default=np.inf, help="by the clock, after which no case is begun")
    one.add_argument("--limit", type=int, default=120, help="processor seconds for a case")
    two = commands.add_parser("compare")
    two.add_argument("before", type=Path)
    two.add_argument("now", type=Path)
    two.add_argument("--picture", type=Path)
    told: Any = ask.parse_args(None if arguments is None else [*arguments])
    if told.command == "record":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leaves `limited`, which ends the child
        record(told.file, chosen(told.kind, told.only, told.part), told.limit, told.seconds, warm=load)
        return
    for path in (told.before, told.now):
        if not path.is_file():
            ask.error(f"{path} is not there; make it with 'record'")
    before, now = read(told.before), read(told.now)
    text, lost = compare(before, now)
    print(text)
    if told.picture is not None:
        draw(before, now, told.picture)
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
