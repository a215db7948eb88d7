"""Which motion of the studio answers which event of a drag, and when its pose has arrived at the client.

The server numbers its motions by a hidden node that it moves after each pose: what is sent arrives in that order, so a
client that has heard number n has all poses up to it. Nothing is taken from the server's clock in their place: a pose
that was sent and did not arrive is an error.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.plan.state.result import Plan
from elbowroom.studio.page import Page
from studio_client import Client

# Events of a drag in a second.
RATE = 30.0
_MARK = "/benchmark/motion"
_BONES = ("SetBoneOrientationMessage", "SetBonePositionMessage")


@dataclass(frozen=True)
class Answer:
    """A motion for a thing at `y` (m), whether it `moves` anybody at the time that is shown, and why it falls short."""

    y: float
    moves: bool
    plan: Plan
    short: str


class Answers:
    """Motions that a studio makes for a drag, numbered on their way to the client."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._mark = page.server.scene.add_frame(_MARK, show_axes=False, visible=False)
        self._last = self._pose()
        self._open = True
        self.made: list[Answer] = []
        page.studio.listen(self._told)  # called after the page has been told

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes that show people, without ghosts and collision shapes."""
        return [part.name for node in self._page.scene._people.values() for part in node.parts]

    def close(self) -> None:
        """Take no more notice."""
        self._open = False

    def _told(self, topic: str) -> None:
        studio, drags = self._page.studio, self._page.studio.drags
        if not (self._open and topic == "motion" and studio.live and drags.current and drags.followed is not None):
            return
        pose, plan = self._pose(), studio.plan
        assert plan is not None
        moves = not np.array_equal(pose, self._last)
        self._last = pose
        self._mark.position = (float(len(self.made)), 0.0, 0.0)
        self.made.append(Answer(float(drags.followed[1, 3]), moves, plan, drags.short))
        self._page.server.flush()

    def _pose(self) -> np.ndarray:
        """All joints (J, 7) as they were sent last."""
        return np.concatenate([node.last for node in self._page.scene._people.values() if node.last is not None])

    def latencies(self, sent: list[tuple[float, float]], heard: list[tuple[int, float, float | None]]) -> list[float]:
        """Milliseconds from each event until the pose of the first motion arrived that was made for it or a later one.

        `sent` are y and time of the events, `heard` what `Listener` notes. Events after the last that was answered
        are left out. A motion that leaves the pose as it is has arrived when its number has.
        """
        assert heard, "no motion arrived at the client"
        ys, before, arrived = np.array([y for y, _ in sent]), -1, []
        for number, marked, posed in heard:
            moved = any(answer.moves for answer in self.made[before + 1 : number + 1])
            assert not moved or posed is not None, f"motion {number} moves somebody, and its pose did not arrive"
            event = int(np.argmin(np.abs(ys - self.made[number].y)))
            arrived.append((event, posed if moved and posed is not None else marked))
            before = number
        assert before == len(self.made) - 1, f"of {len(self.made)} motions the last that arrived is {before}"
        return [
            1000.0 * (min(when for event, when in arrived if event >= number) - at)
            for number, (_, at) in enumerate(sent)
            if number <= arrived[-1][0]
        ]


class Listener:
    """What a client hears: numbers of motions, each with when it and the last part of its pose came (None: no part)."""

    def __init__(self, nodes: list[str]) -> None:
        self._nodes, self._posed = set(nodes), None
        self.heard: list[tuple[int, float, float | None]] = []
        self._posed: float | None

    def __call__(self, now: float, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            if message["type"] in _BONES and message["name"] in self._nodes:
                self._posed = now
            elif message["type"] == "SetPositionMessage" and message["name"] == _MARK:
                self.heard.append((round(message["position"][0]), now, self._posed))
                self._posed = None


def drive(url: str, nodes: list[str], way: list[list[float]], wxyz: list[float], pipe: Any) -> None:
    """Lead a handle along a way, turned as it is, in a process of its own, as a browser would.

    Sends through the pipe y and time of the events with the time of the release; then, when it is asked, what it heard.
    """
    listener = Listener(nodes)
    client = Client(url, listener)
    time.sleep(1.0)
    client.drag("Start")
    sent, begin = [], time.perf_counter()
    for k, place in enumerate(way):
        while time.perf_counter() < begin + k / RATE:
            time.sleep(0.0005)
        sent.append((place[1], time.perf_counter()))
        client.drag("Update", place, wxyz)
    time.sleep(1.0 / RATE)
    released = time.perf_counter()
    client.drag("End")
    pipe.send((sent, released))
    pipe.recv()
    time.sleep(1.0)  # what is on its way arrives
    pipe.send(listener.heard)
    client.close()


def way_of(
    home: list[float], seconds: float, reach: float, to: list[float] | None, there: bool = False
) -> list[list[float]]:
    """Where the thing is at each event; no two have the same y."""
    s = np.arange(int(seconds * RATE)) / RATE / seconds
    if to is None:
        way = np.array(home) + reach * np.sin(2.0 * np.pi * s)[:, None] * [0.0, 1.0, 0.0]
    else:
        way = np.array(home) + np.sin((0.5 if there else 1.0) * np.pi * s)[:, None] * (np.array(to) - home)
    way[:, 1] += 1e-6 * np.arange(len(way))
    return way.tolist()


def quantiles(values: list[float]) -> dict[str, float]:
    """Median, 95th percentile and largest of some values."""
    if not values:
        return {}
    return {name: round(float(np.percentile(values, q)), 1) for name, q in (("median", 50), ("p95", 95), ("max", 100))}
