"""Hours of clicking and dragging in a few minutes: does the studio grow, lose a thread, or lose work?

    python benchmarks/studio_stress.py [--seconds 60] [--seed 0]

Random acts of a user on the real server, with a client connected: drags and drops, tasks added, changed, moved and
deleted, undo and redo, other seeds, scrubbing, playing, exports, saving, opening, cancelling, reconnecting, and
nonsense that has to be refused. After each act the document has to be one that can be read again, and unsaved work has
to be on disk. Prints JSON.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from elbowroom.geometry.transforms import transform
from elbowroom.studio import edits, filing
from elbowroom.studio.document import from_json
from elbowroom.studio.exporting import export
from elbowroom.studio.page import Page
from elbowroom.studio.serve import opened
from studio_client import Client

THREADS = {"studio-worker", "studio-player", "studio-handle", "studio-status"}


class User:
    """Somebody who does anything at all."""

    def __init__(self, page: Page, folder: Path, seed: int) -> None:
        self.page, self.studio, self.folder = page, page.studio, folder
        self.dice = np.random.default_rng(seed)
        self.client = Client(page.server.get_port())
        self.did: Counter[str] = Counter()

    def act(self) -> None:
        """Do one thing, and look whether all is well after it."""
        acts: list[tuple[float, Callable[[], object]]] = [
            (6.0, self.drag),
            (2.0, self.scrub),
            (1.0, self.play),
            (2.0, self.add_task),
            (2.0, self.change_tasks),
            (3.0, self.undo),
            (1.0, self.seed),
            (0.3, self.export),
            (0.7, self.save),
            (0.3, self.open),
            (1.0, self.cancel),
            (1.0, self.nonsense),
            (0.3, self.reconnect),
        ]
        weights = np.array([w for w, _ in acts])
        _, act = acts[int(self.dice.choice(len(acts), p=weights / weights.sum()))]
        self.did[act.__name__] += 1
        self.studio.trying(act)
        self.check()

    def check(self) -> None:
        """Nothing is lost: the document can be read, and what is unsaved is on disk."""
        studio = self.studio
        with studio.lock:
            document, unsaved = studio.document, studio.session.unsaved
            assert from_json(document.as_json()).same(document)
            kept = list((self.folder / "state" / "studio").glob("*.autosave"))
            newest = [f for f in kept if from_json(f.read_text()).same(document)]
            assert bool(newest) or not unsaved, "unsaved work is not on disk"
        names = {t.name for t in threading.enumerate() if t.is_alive()}
        assert names >= THREADS, f"threads are dead: {THREADS - names}"

    def drag(self) -> None:
        names = [n for n, p in self.studio.places.items() if p.kind != "character"] or [None]
        name = names[int(self.dice.integers(len(names)))]
        self.studio.select(name)
        if name is None:
            return
        home = self.studio.places[name].T[:3, 3]
        self.client.drag("Start")
        for _ in range(int(self.dice.integers(1, 8))):
            self.client.drag("Update", home + self.dice.uniform(-0.1, 0.1, 3) * [1, 1, 0])
            time.sleep(0.03)
        self.client.drag("End")

    def scrub(self) -> None:
        for t in self.dice.uniform(*self.studio.player.span, 5):
            self.studio.player.seek(float(t))

    def play(self) -> None:
        self.studio.player.play()
        time.sleep(0.1)
        self.studio.player.pause()

    def add_task(self) -> None:
        people = list(self.studio.original.characters)
        if not people or len(self.studio.document.values.get("tasks", [])) > 5:
            return
        point = [round(float(x), 3) for x in self.dice.uniform([-0.5, -2.5, 0.8], [0.5, -0.5, 1.5])]
        told = {"who": people[0], "hand": "left", "to": point, "at": round(float(self.dice.uniform(0.8, 3.0)), 2)}
        self.studio.edit("add task", edits.add_task(self.studio.document, "reach", told))

    def change_tasks(self) -> None:
        count = len(self.studio.document.values.get("tasks", []))
        if count < 2:
            return
        k = int(self.dice.integers(1, count))
        change = edits.delete_task if self.dice.random() < 0.7 else (lambda d, k: edits.move_task(d, k, -1))
        self.studio.edit("change tasks", change(self.studio.document, k))

    def undo(self) -> None:
        (self.studio.undo if self.dice.random() < 0.6 else self.studio.redo)()

    def seed(self) -> None:
        self.studio.edit("seed", self.studio.document.with_(seed=int(self.dice.integers(5))))

    def export(self) -> None:
        export(self.studio, ["NPZ"], "stress")

    def save(self) -> None:
        filing.save(self.studio, f"stress_{int(self.dice.integers(3))}.yaml")

    def open(self) -> None:
        choices = ["gallery: umbrella", "gallery: stroll", *self.studio.folders.files("storyboard")]
        filing.open_choice(self.studio, choices[int(self.dice.integers(len(choices)))])
        for kept in self.studio.kept:
            filing.drop(self.studio, kept)

    def cancel(self) -> None:
        self.studio.cancel()

    def nonsense(self) -> None:
        """What must be refused."""
        bad: list[Callable[[], object]] = [
            lambda: self.studio.edit("x", edits.add_task(self.studio.document, "grab", {"who": "nobody"})),
            lambda: filing.save(self.studio, "../../elsewhere.yaml"),
            lambda: self.studio.place("post", transform([np.nan, 0.0, 0.0])),
            lambda: edits.delete_task(self.studio.document, 99),
            lambda: filing.open_choice(self.studio, "/etc/passwd"),
        ]
        before = self.studio.document
        assert not self.studio.trying(bad[int(self.dice.integers(len(bad)))]), "nonsense was taken"
        assert self.studio.document is before

    def reconnect(self) -> None:
        self.client.close()
        self.client = Client(self.page.server.get_port())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        page = opened("umbrella", port=0, folder=folder / "work", state=folder / "state")
        user = User(page, folder, told.seed)
        try:
            settle(page)
            begun, memory = time.perf_counter(), []
            while time.perf_counter() - begun < told.seconds:
                user.act()
                memory.append(megabytes())
            settle(page)
            gc.collect()
            warm = memory[len(memory) // 4]  # compiled code and fields are loaded in the first acts
            course = [round(memory[len(memory) * k // 8]) for k in range(8)]
            facts = {
                "acts": sum(user.did.values()),
                "of": dict(user.did),
                "megabytes": {
                    "warm": round(warm),
                    "course": course,
                    "end": round(megabytes()),
                    "growth": round(megabytes() - warm),
                },
                "threads": sorted(t.name for t in threading.enumerate() if t.name.startswith("studio-")),
                "worker_alive": page.studio.worker.alive,
                "heard": sum(user.client.heard.values()),
            }
            print(json.dumps(facts, indent=2))
            assert facts["worker_alive"] and megabytes() - warm < 100.0, "it grew"
        finally:
            user.client.close()
            page.close()


def settle(page: Page) -> None:
    while page.studio.worker.busy:
        time.sleep(0.02)


def megabytes() -> float:
    """Memory in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1024**2


if __name__ == "__main__":
    main()
