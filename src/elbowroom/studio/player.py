"""Player of the time shown: play, pause, scrub, speed, loop, in and out points. A thread ticks while it plays."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Literal

from elbowroom.errors import BadValue

# Frames that are shown in a second, and speeds that can be chosen.
RATE = 30.0
SPEEDS = (1.0, 0.5, 0.25, 0.1, 2.0)


class Player:
    """Current time within a span of seconds. `shown` is called with it whenever it changes."""

    def __init__(self, shown: Callable[[float], None]) -> None:
        self._shown = shown
        self._lock = threading.RLock()
        self._time, self._span = 0.0, (0.0, 0.0)
        self._in: float | None = None
        self._out: float | None = None
        self._speed, self.loop = 1.0, True
        self._go = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="studio-player", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Return whether its thread runs."""
        return self._thread.is_alive()

    @property
    def time(self) -> float:
        """Time shown, seconds."""
        return self._time

    @property
    def span(self) -> tuple[float, float]:
        """Start and end, seconds."""
        return self._span

    @property
    def range(self) -> tuple[float, float]:
        """Span that is played: from the in point to the out point where they are set, else all, seconds."""
        begin = self._span[0] if self._in is None else self._in
        return begin, self._span[1] if self._out is None else self._out

    @property
    def points(self) -> tuple[float | None, float | None]:
        """In and out points, seconds; None where not set."""
        return self._in, self._out

    def mark(self, which: Literal["in", "out"]) -> None:
        """Set the in or out point to the time shown, or clear it if it is there; one that lies beyond it is cleared."""
        with self._lock:
            t = self._time
            if which == "in":
                self._in = None if self._in == t else t
                self._out = None if self._out is not None and self._out <= t else self._out
            else:
                self._out = None if self._out == t else t
                self._in = None if self._in is not None and self._in >= t else self._in
        self._shown(self._time)

    @property
    def playing(self) -> bool:
        """Return whether it is playing."""
        return self._go.is_set()

    @property
    def speed(self) -> float:
        """Playback speed, 1 for real time."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        if not 0.01 <= speed <= 10.0:
            raise BadValue(f"a motion is played at 0.01 to 10 times its speed, not {speed}.")
        self._speed = float(speed)

    def set_span(self, span: tuple[float, float]) -> None:
        """Set the span of another motion; the time stays if it is inside."""
        with self._lock:
            self._span = span
            inside = [p if p is not None and span[0] < p < span[1] else None for p in self.points]
            self._in, self._out = inside
            self._time = min(max(self._time, span[0]), span[1])

    def seek(self, t: float) -> None:
        """Go to a time."""
        with self._lock:
            self._time = min(max(float(t), self._span[0]), self._span[1])
        self._shown(self._time)

    def play(self) -> None:
        """Start playing, from the start if at the end."""
        with self._lock:
            begin, end = self.range
            if not begin <= self._time < end - 1e-6:
                self._time = begin
        self._go.set()

    def pause(self) -> None:
        """Stop playing."""
        self._go.clear()

    def stop(self) -> None:
        """End the thread."""
        self._stopping = True
        self._go.set()
        self._thread.join(2.0)

    def _run(self) -> None:
        before = time.perf_counter()
        while not self._stopping:
            if not self._go.is_set():
                self._go.wait()
                before = time.perf_counter()
            now = time.perf_counter()
            passed, before = now - before, now
            if not self._stopping:
                self._tick(passed)
                spent = time.perf_counter() - now
                time.sleep(max(1.0 / RATE - spent, 0.002))

    def _tick(self, passed: float) -> None:
        with self._lock:
            if not self._go.is_set():  # paused just now, and perhaps moved
                return
            begin, end = self.range
            t = self._time + passed * self._speed
            if t > end:
                if self.loop and end > begin:
                    t = begin + (t - end) % (end - begin)
                else:
                    t = end
                    self._go.clear()
            self._time = t
        self._shown(self._time)
