"""How long a cancel takes in the studio, at random times, and how often a job had to be stopped from outside.

    python benchmarks/studio_cancels.py [--cancels 20] [--only NAME] [--seed 0]

Each kind of work is done once to its end, which says how long it takes (20 s at most), and then begun and cancelled
again and again, at a time drawn evenly from that. Where a cancel takes longer than a quarter of a second, it is told
what was at work then. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from elbowroom.gallery.scenes import FOLDER, scenario
from elbowroom.studio.document import new_document, read_document
from elbowroom.studio.exporting import export, report_on
from elbowroom.studio.folders import Folders
from elbowroom.studio.importing import bring_in
from elbowroom.studio.studio import Studio
from elbowroom.studio.worker import StudioJob, Worker

# Seconds after which it is looked at what holds up a cancel.
_SLOW = 0.25
# Seconds for which work is done at most before it is cancelled.
_LONGEST = 20.0
# Vertices along each side of the large mesh.
_SIDE = 700


def planning(name: str) -> Callable[[Path], tuple[Studio, Callable[[], StudioJob]]]:
    """A scenario of the gallery that is planned."""

    def made(folder: Path) -> tuple[Studio, Callable[[], StudioJob]]:
        studio = opened(name, folder)

        def begin() -> StudioJob:
            studio.plan_from_scratch()
            return current(studio.worker)

        return studio, begin

    return made


def writing(begin: Callable[[Studio], StudioJob]) -> Callable[[Path], tuple[Studio, Callable[[], StudioJob]]]:
    """Files of the umbrella's motion."""

    def made(folder: Path) -> tuple[Studio, Callable[[], StudioJob]]:
        studio = opened("umbrella", folder)
        studio.replan()
        rest(studio)

        def begun() -> StudioJob:
            for path in studio.folders.work.iterdir():
                path.unlink()
            return begin(studio)

        return studio, begun

    return made


def importing(folder: Path) -> tuple[Studio, Callable[[], StudioJob]]:
    """A scan of a million triangles that becomes a scene; then the scene is checked."""
    studio = opened(None, folder)
    hill(studio.folders.work / "scan.ply")
    return studio, lambda: bring_in(studio, "scene", "scan.ply")


def checking(folder: Path) -> tuple[Studio, Callable[[], StudioJob]]:
    """Somebody walks over that scan: the motion is checked, each time with another shape of the ground."""
    studio = opened("stroll", folder)
    number = iter(range(10**6))

    def begin() -> StudioJob:
        hill(studio.folders.work / "scan.ply", next(number))
        studio.cancel()
        rest(studio)
        begun = bring_in(studio, "scene", "scan.ply")
        begun.finished.wait(120.0)
        return current(studio.worker)

    return studio, begin


KINDS: dict[str, Callable[[Path], tuple[Studio, Callable[[], StudioJob]]]] = {
    "repair of umbrella": planning("umbrella"),
    "plan of cheese-and-hat": planning("cheese-and-hat"),
    "film (MP4) of umbrella": writing(lambda studio: export(studio, ["MP4"], "out")),
    "page (HTML), GLB and USD of umbrella": writing(lambda studio: export(studio, ["HTML", "GLB", "USD"], "out")),
    "report on umbrella": writing(lambda studio: report_on(studio, "out")),
    "import of a million triangles": importing,
    "check of a walk over them": checking,
}


def hill(path: Path, number: int = 0) -> None:
    """Write a bumpy ground below the floor, 10 m wide."""
    x = np.linspace(-5.0, 5.0, _SIDE)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    z = -0.3 + 0.05 * np.sin(3.0 * grid[:, 0] + number) * np.cos(2.0 * grid[:, 1])
    k = np.arange(_SIDE * _SIDE).reshape(_SIDE, _SIDE)
    a, b, c, d = k[:-1, :-1].ravel(), k[1:, :-1].ravel(), k[1:, 1:].ravel(), k[:-1, 1:].ravel()
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    trimesh.Trimesh(np.column_stack([grid, z]), faces, process=False).export(path)


def opened(name: str | None, folder: Path) -> Studio:
    """A studio without a page."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    document = new_document(work) if name is None else read_document(scenario(name).path, given=True)
    return Studio(document, Folders(work, [FOLDER]), folder / "state")


def current(worker: Worker) -> StudioJob:
    """The job that a worker does, or is about to do."""
    job = worker.current
    assert job is not None, "nothing is done"
    return job


def rest(studio: Studio) -> None:
    """Wait until nothing is left to do."""
    while studio.job is not None:
        time.sleep(0.005)


def cancelled(studio: Studio, job: StudioJob, worker: Worker) -> tuple[float, str]:
    """Cancel a job: seconds until it has ended, and where it was if that took long."""
    start = time.perf_counter()
    studio.cancel()
    where = ""
    if not job.finished.wait(_SLOW):
        frame = sys._current_frames().get(worker._thread.ident or 0)
        while frame is not None and "elbowroom" not in frame.f_code.co_filename:
            frame = frame.f_back
        where = "" if frame is None else f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        job.finished.wait(60.0)
    return time.perf_counter() - start, where


def measured(kind: str, cancels: int, dice: random.Random) -> dict[str, Any]:
    """Figures for one kind of work."""
    with tempfile.TemporaryDirectory() as folder:
        studio, begin = KINDS[kind](Path(folder))
        try:
            for _ in range(2):  # the first time there is something to compile or to load
                job = begin()
                job.finished.wait(_LONGEST)
                studio.cancel()
                rest(studio)
                studio.undo()
            whole = min(job.seconds, _LONGEST)
            took, places = [], []
            while len(took) < cancels:
                rest(studio)
                studio.undo()
                rest(studio)
                job = begin()
                time.sleep(dice.uniform(0.0, whole))
                if job.finished.is_set():
                    continue
                worker = studio.filer if studio.filer.current is job else studio.worker
                seconds, where = cancelled(studio, job, worker)
                if job.state != "cancelled":
                    continue
                took.append(seconds)
                places += [where] if where else []
        finally:
            studio.close()
    return {
        "whole_s": round(whole, 2),
        "cancels": len(took),
        "median_s": round(statistics.median(took), 4),
        "p95_s": round(sorted(took)[int(0.95 * (len(took) - 1))], 4),
        "largest_s": round(max(took), 4),
        "slow_at": places,
    }


def main() -> None:
    """Measure all kinds, or those asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cancels", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for kind in KINDS:
        if asked.only in kind:
            print(json.dumps({kind: measured(kind, asked.cancels, random.Random(asked.seed))}), flush=True)


if __name__ == "__main__":
    main()
