"""Hours of clicking and dragging: does the studio grow, lose a thread, lose work, or claim too much?

    python benchmarks/studio_stress.py [--seconds 360] [--seed 0] [--crashes 4] [--every 60]

A user who does anything at all, many times a second, on the real server in a process of its own, by the messages that
the page sends: what cannot be seen on the page cannot be done. After each act nothing has gone wrong in any thread,
none is missing, and unsaved work is on disk. Every now and then the document is read again, all is undone, the claim
that the motion is free is proven anew against the document, and memory is measured (resident, at rest). In the end the
server is killed, and started again: what it offers is the work as it was. Prints JSON; fails where anything does not
hold.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter, deque
from pathlib import Path
from shutil import copy
from typing import Any

import studio_acts  # noqa: F401  (what can be done is noted there)
from elbowroom.studio.exporting import FORMATS
from studio_client import Client
from studio_user import ACTS, User
from studio_watched import Watched

# Memory may grow by so much after the first acts, megabytes.
MOST = 100.0
# Acts after which the document is read again, the claim is looked at, all is undone.
_READ, _CLAIM, _BACK = 25, 20, 150

# A person before a counter with a jar, as in the test in a real browser.
COUNTER = Path(__file__).parents[1] / "tests" / "studio" / "counter.yaml"


class Stress:
    """A server, a user, and what was seen."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.server = self._start()
        self.user = User(Client(self.server.url), seed, self.server.url)
        self.did: Counter[str] = Counter()
        self.last: deque[str] = deque(maxlen=25)
        self.seen: Counter[str] = Counter()
        self.threads: list[int] = []
        self._document = ""
        self.faults: list[str] = []

    def _start(self) -> Watched:
        return Watched("umbrella", self.folder / "work", self.folder / "state")

    def act(self, name: str | None = None) -> None:
        """Do one thing, and look whether all is well after it."""
        facts = self.facts()
        name = name or self.user.pick()
        if not ACTS[name](self.user, facts):
            return
        self.did[name] += 1
        self.last.append(f"{name}: {self.user.told}")
        count = sum(self.did.values())
        if count % _READ == 0:
            assert self.server.ask("readable"), "the document cannot be read again"
        if count % _CLAIM == 0:
            self.rest(5.0)
            self.claim()
        if count % _BACK == 0:
            self.undo_all()

    def warm_up(self) -> None:
        """Do everything once: libraries for files and reports are loaded then, and kernels are compiled."""
        client = self.user.client
        for choice in ("gallery: stroll", "counter.yaml", "gallery: umbrella"):
            self.rest(300.0)
            client.put("Open", choice, "Dropdown", within="Storyboard")
            client.press("Open", within="Storyboard")
            if choice == "counter.yaml":
                self._grab_something()
        for name in FORMATS:
            self.rest(300.0)
            for other in FORMATS:
                client.put(other, other == name, within="Export")
            client.press("Export", within="Export")
        self.rest(300.0)
        client.press("Report")
        self.rest(300.0)
        for name in ACTS:
            self.act(name)

    def _grab_something(self) -> None:
        """Hands have kernels of their own."""
        client = self.user.client
        self.rest(300.0)
        for label, value in (("Action", "grab"), ("Object", "jar")):
            client.put(label, value, "Dropdown", within="New task")
            time.sleep(0.5)
        client.press("Add", within="New task")
        time.sleep(0.5)

    def facts(self) -> dict[str, Any]:
        """The state of the server; raises where something is wrong with it."""
        facts: dict[str, Any] = self.server.ask("facts")
        self.threads.append(len(facts["threads"]))
        self.seen["changes of the document"] += facts["document"] != self._document
        self.seen["times that it was said to be certified"] += facts["certified"]
        self._document = facts["document"]
        for error in facts["errors"]:
            self.wrong(error)
        if facts["unsaved"] and not facts["on disk"]:
            self.wrong("unsaved work is not on disk")
        assert not facts["dead"], f"threads are dead: {facts['dead']} after {list(self.last)}"
        return facts

    def wrong(self, what: str) -> None:
        """Note what is wrong, with the acts before it, and go on."""
        self.faults.append("\n".join([what, "after", *list(self.last)[-6:]]))
        print(self.faults[-1], file=sys.stderr)

    def rest(self, seconds: float = 60.0) -> bool:
        """Wait until nothing is left to do; whether that came in time."""
        end = time.monotonic() + seconds
        while self.facts()["job"] is not None:
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def memory(self) -> float:
        """Megabytes that the server needs when it has come to rest and tidied up."""
        self.user.client.press("Cancel")
        self.rest()
        time.sleep(2.5)
        return float(self.server.ask("memory"))

    def sample(self, passed: float) -> dict[str, Any]:
        """Memory and counts after so many seconds; told at once, in case that the run is ended early."""
        acts = sum(self.did.values())
        found = {"seconds": round(passed), "acts": acts, "megabytes": self.memory(), **self.server.ask("counts")}
        print(json.dumps(found), file=sys.stderr, flush=True)
        return found

    def claim(self) -> None:
        """A motion that is said to be free is free."""
        wrong = self.server.ask("claim")
        self.seen["claims proven anew"] += wrong == ""
        if wrong not in ("", "nothing is claimed"):
            self.wrong(f"a false claim: {wrong}")

    def undo_all(self) -> None:
        """Go back to the first document, and to the last one again."""
        self.user.client.press("Cancel")
        self.rest()
        last, first = self.facts()["document"], self.server.ask("first")
        self._step_to(first, "Undo …", "undo does not lead to the first document")
        self._step_to(last, "Redo …", "redo does not lead to the last document")
        self.seen["undone to the first"] += 1

    def _step_to(self, document: str, button: str, what: str) -> None:
        """Press a button, each time when the last has done something, until the document is that."""
        end = time.monotonic() + 120.0
        while (now := self.facts()["document"]) != document:
            assert time.monotonic() < end, "\n".join([what, "after", *self.last])
            pressed, soon = self.user.client.press(button), time.monotonic() + 5.0
            while pressed and self.facts()["document"] == now and time.monotonic() < soon:
                time.sleep(0.01)

    def crash(self) -> None:
        """Kill the server; the next one offers what was not saved."""
        for _ in range(400):
            facts = self.facts()
            if facts["unsaved"] and not facts["dragging"]:
                break
            self.act()
        lost = self.facts()["document"]
        self.server.kill()
        self.user.client.close()
        self.server = self._start()
        self.user.sit_down(Client(self.server.url), self.server.url)
        assert self.facts()["kept"] >= 1, "unsaved work is not offered"
        end = time.monotonic() + 30.0
        while not self.user.client.press("Restore"):
            assert time.monotonic() < end, "unsaved work is not offered on the page"
            time.sleep(0.05)
        while self.facts()["document"] != lost:
            assert time.monotonic() < end, f"work was lost: {lost} became {self.facts()['document']}"
            time.sleep(0.05)
        self.seen["recovered after kill -9"] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=360.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--crashes", type=int, default=4)
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two looks at the memory")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        copy(COUNTER, folder / "work")
        stress = Stress(folder, told.seed)
        try:
            print(json.dumps(run(stress, told.seconds, told.crashes, told.every), indent=2))
            strangers = [p.name for p in folder.iterdir() if p.name not in ("work", "state")]
            assert not strangers, f"written outside of the folder to work in: {strangers}"
        finally:
            stress.user.client.close()
            stress.server.stop()


def run(stress: Stress, seconds: float, crashes: int, every: float) -> dict[str, Any]:
    """Figures of a run; the first fifth of it loads code and fields, and is not counted as growth."""
    stress.warm_up()
    begun = time.monotonic()
    course: list[dict[str, Any]] = []
    while (passed := time.monotonic() - begun) < seconds:
        stress.act()
        if passed >= len(course) * every:
            course.append(stress.sample(passed))
    course.append(stress.sample(time.monotonic() - begun))
    acts = sum(stress.did.values())
    threads = stress.threads
    peak = stress.server.ask("peak")
    for _ in range(crashes):
        for _ in range(20):
            stress.act()
        stress.crash()
    warm = [sample["megabytes"] for sample in course if 0.2 * seconds <= sample["seconds"] <= 0.5 * seconds]
    late = [sample["megabytes"] for sample in course if sample["seconds"] >= 0.7 * seconds]
    growth = statistics.median(late) - statistics.median(warm or late)
    facts = {
        "seconds": round(seconds),
        "load average": round(os.getloadavg()[2], 1),
        "acts": acts,
        "acts a second": round(acts / seconds, 1),
        "seen": dict(stress.seen),
        "of": dict(sorted(stress.did.items(), key=lambda item: -item[1])),
        "megabytes": {
            "course": {f"{sample['seconds'] / 60:.0f} min": round(sample["megabytes"]) for sample in course},
            "from a fifth to half of the time": round(statistics.median(warm or late)),
            "last three tenths": round(statistics.median(late)),
            "growth": round(growth),
            "at most": round(peak),
        },
        "counts": {"a fifth in": course[len(course) // 5], "last": course[-1]},
        "threads": {"first": threads[0], "most": max(threads), "last": threads[-1]},
        "messages heard": sum(stress.user.client.heard.values()),
    }
    assert not stress.faults, f"{len(stress.faults)} things went wrong, of {facts}"
    assert growth < MOST, f"it grew by {growth:.0f} MB: {facts}"
    assert stress.seen["recovered after kill -9"] == crashes
    return facts


if __name__ == "__main__":
    main()
