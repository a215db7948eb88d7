"""Damaged files of every format that is read: each is read or told in one sentence, in bounded time and memory.

    python benchmarks/mutations.py [--count 100000] [--workers 2] [--data DIR] [--kind NAME] [--keep DIR] [--json]

Small whole files of every format are damaged: cut off, bits turned over, lines left out, doubled or moved, numbers made
huge, negative or none, the structure of JSON, XML and NPZ changed. Each is read in a process that may take 2 GB beyond
what the package itself takes. A case fails where anything but the package's own error escapes, its text is more than a
sentence, reading takes more than 10 s of work, or the process dies. The number of a case says its damage: --keep
stores what failed. With --data real files of a folder are damaged as well. Exit code 1 where a case fails.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing as mp
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from tools.mutation_seeds import Seed, made_seeds, real_seeds  # noqa: E402

# Work that one file may take, seconds; and memory beyond what the package takes by itself, bytes.
MOST_SECONDS = 10.0
MOST_BYTES = 2 * 1024**3
# Seconds by the clock after which a worker that says nothing is ended: others use the machine, too.
_SILENCE = 120.0
# Cases between two reports of a worker, and before it is replaced, so that what leaks is seen per case.
_REPORT, _LIFE = 50, 20_000


@dataclass
class Tally:
    """What came of the cases of one file."""

    read: int = 0
    told: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)


def numbered(seeds: list[Seed], count: int) -> list[tuple[int, int]]:
    """Which seed and which damage of it each case is; cases are shared out by weight, at least one for each."""
    whole = sum(seed.weight for seed in seeds)
    shares = [max(1, round(count * seed.weight / whole)) for seed in seeds]
    return sorted(((k, n) for k, share in enumerate(shares) for n in range(share)), key=lambda case: (case[1], case[0]))


def worker(seeds: list[Seed], cases: list[tuple[int, int]], pipe: Connection, folder: Path) -> None:
    """Read damaged files and report; the parent knows which case is under way."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 2)  # libraries below print what they do not like
    folders = [seed.prepared(folder) for seed in seeds]
    for seed, own in zip(seeds, folders, strict=True):  # what is compiled and loaded once is no file's memory or time
        path = own / f"whole_01{seed.suffix}"
        path.write_bytes(seed.data)
        seed.read(path)
        path.unlink()
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MOST_BYTES,) * 2)
    done: list[tuple[int, str, float]] = []
    for at, (k, number) in enumerate(cases):
        if at % _REPORT == 0:
            pipe.send((done, at))
            done = []
        said, spent = seeds[k].attempt(number, folders[k])
        done.append((at, said if spent <= MOST_SECONDS else f"took {spent:.1f} s", spent))
    pipe.send((done, len(cases)))
    pipe.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


@dataclass
class Crew:
    """A worker with its cases; one that dies or hangs is replaced, and its case counts as failed."""

    seeds: list[Seed]
    cases: list[tuple[int, int]]
    folder: Path

    def start(self) -> None:
        """Start a process for the cases that are left, or as many as one process does."""
        context = mp.get_context("fork")
        self.pipe, far = context.Pipe(duplex=False)
        self.part = self.cases[:_LIFE]
        self.process = context.Process(target=worker, args=(self.seeds, self.part, far, self.folder), daemon=True)
        self.process.start()
        far.close()
        self.begun, self.heard = 0, time.monotonic()


def run(seeds: list[Seed], count: int, workers: int, keep: Path | None) -> dict[str, Any]:
    """All cases over some processes; what came of them."""
    cases = numbered(seeds, count)
    tallies = [Tally() for _ in seeds]
    started, largest = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as name:
        crews = []
        for k in range(workers):
            folder = Path(name) / str(k)
            folder.mkdir()
            crew = Crew(seeds, cases[k::workers], folder)
            crew.start()
            crews.append(crew)
        while crews:
            ready = wait([crew.pipe for crew in crews], timeout=1.0)
            for crew in list(crews):
                if crew.pipe in ready:
                    largest = max(largest, _heard(crew, tallies, keep))
                elif time.monotonic() - crew.heard > _SILENCE:
                    crew.process.kill()
                    _lost(crew, tallies, keep, f"no answer for {_SILENCE:.0f} s")
                if not crew.cases:
                    crew.process.join()
                    crews.remove(crew)
                elif not crew.part:
                    crew.process.join()
                    crew.start()
    return _facts(seeds, tallies, time.monotonic() - started, largest)


def _heard(crew: Crew, tallies: list[Tally], keep: Path | None) -> int:
    """Take a worker's report; gives the bytes that its process took, where it is done."""
    try:
        message = crew.pipe.recv()
    except (EOFError, OSError):
        crew.process.join()
        _lost(crew, tallies, keep, f"the process died with code {crew.process.exitcode}")
        return 0
    crew.heard = time.monotonic()
    if isinstance(message, int):
        crew.cases, crew.part = crew.cases[len(crew.part) :], []
        return message
    done, crew.begun = message
    for at, said, spent in done:
        _note(crew, crew.part[at], said, spent, tallies, keep)
    return 0


def _lost(crew: Crew, tallies: list[Tally], keep: Path | None, why: str) -> None:
    """Go on after a process that was lost: its last cases one by one, until the one to blame is known."""
    block = crew.part[crew.begun : crew.begun + _REPORT]
    crew.cases = crew.cases[crew.begun + len(block) :]
    for case in block:
        context = mp.get_context("fork")
        pipe, far = context.Pipe(duplex=False)
        only = ([crew.seeds[case[0]]], [(0, case[1])], far, crew.folder)
        alone = context.Process(target=worker, args=only, daemon=True)
        alone.start()
        far.close()
        alone.join(_SILENCE)
        said, spent = why, 0.0
        if alone.is_alive():
            alone.kill()
        with contextlib.suppress(EOFError):
            while alone.exitcode == 0 and pipe.poll():
                message = pipe.recv()
                if isinstance(message, tuple) and message[0]:
                    _, said, spent = message[0][0]
        _note(crew, case, said, spent, tallies, keep)
    crew.part = []


def _note(crew: Crew, case: tuple[int, int], said: str, spent: float, tallies: list[Tally], keep: Path | None) -> None:
    seed, tally = crew.seeds[case[0]], tallies[case[0]]
    tally.seconds += spent
    tally.slowest = max(tally.slowest, spent)
    if said in ("read", "told"):
        setattr(tally, said, getattr(tally, said) + 1)
        return
    tally.failures.append(f"case {case[1]}: {said}")
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{seed.name.replace(' ', '_')}-{case[1]}{seed.suffix}").write_bytes(seed.damaged(case[1]))


def _facts(seeds: list[Seed], tallies: list[Tally], clock: float, largest: int) -> dict[str, Any]:
    every = [f for t in tallies for f in t.failures]
    return {
        "files": sum(t.read + t.told + len(t.failures) for t in tallies),
        "read": sum(t.read for t in tallies),
        "told": sum(t.told for t in tallies),
        "failed": len(every),
        "slowest_s": round(max(t.slowest for t in tallies), 3),
        "largest_process_mb": round(largest / 2**20),
        "seconds": round(clock, 1),
        "by_file": {
            seed.name: {
                "read": t.read,
                "told": t.told,
                "failed": len(t.failures),
                "mean_ms": round(1000 * t.seconds / max(t.read + t.told + len(t.failures), 1), 2),
                "slowest_s": round(t.slowest, 3),
                "failures": t.failures[:20],
            }
            for seed, t in zip(seeds, tallies, strict=True)
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="damaged files in all")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--data", type=Path, help="folder with real files")
    parser.add_argument("--kind", help="only files whose name begins so, as 'glb'")
    parser.add_argument("--keep", type=Path, help="folder for files that failed")
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    seeds = made_seeds() + (real_seeds(told.data) if told.data else [])
    seeds = [seed for seed in seeds if told.kind is None or seed.name.startswith(told.kind)]
    facts = run(seeds, told.count, told.workers, told.keep)
    if told.json:
        print(json.dumps(facts, indent=1))
    else:
        for name, f in facts["by_file"].items():
            print(f"{name:24} read {f['read']:6}  told {f['told']:6}  failed {f['failed']:4}", end="")
            print(f"  mean {f['mean_ms']:7.2f} ms  slowest {f['slowest_s']:6.3f} s")
            for failure, times in Counter(x.partition(": ")[2] for x in f["failures"]).most_common():
                first = next(x for x in f["failures"] if x.endswith(failure)).partition(":")[0]
                print(f"    {times} x {failure} ({first})")
        print({k: v for k, v in facts.items() if k != "by_file"})
    return 1 if facts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
