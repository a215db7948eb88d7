"""Cooperative cancelling of long work, at points where nothing is half done, and reports of how far it is.

A caller sets by `stoppable` the function called at those points, and by `deadline` when the wall clock ends the work.
Without either a point costs 0.1 µs. No planner may read the clock for any other purpose than ending: a clock that
chose between two motions would choose differently on another machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from elbowroom.errors import BadValue


class OutOfTime(Exception):
    """The wall-clock budget of the work under way is spent."""

    def __init__(self, budget_s: float) -> None:
        super().__init__(f"the budget of {budget_s:g} s is spent")
        self.budget_s = budget_s


class Cancelled(BaseException):
    """Raised by a `look` where work was cancelled; no `except Exception` holds it up."""


@dataclass(frozen=True)
class _Deadline:
    """Time `at_s` of `now` at which a budget of `budget_s` seconds is spent."""

    budget_s: float
    at_s: float


_look: ContextVar[Callable[[], None] | None] = ContextVar("_look", default=None)
_deadline: ContextVar[_Deadline | None] = ContextVar("_deadline", default=None)
_watch: ContextVar[Callable[[str, float | None], None] | None] = ContextVar("_watch", default=None)
# Seconds of work before the time left is estimated, and the least time left that is shown.
_TELLING_S = 2.0
_left_out: list[Callable[[], float]] = []


def leave_out(seconds: Callable[[], float]) -> None:
    """Exclude time that no planner controls from all budgets: `seconds` returns how much there was so far."""
    _left_out.append(seconds)


def now() -> float:
    """Time in seconds by which budgets are measured: the wall clock without excluded time."""
    return time.monotonic() - sum(seconds() for seconds in _left_out)


def checked_budget(budget_s: float | None) -> float | None:
    """Return a budget in seconds, None for no limit; raises `BadValue` for anything else."""
    if budget_s is not None and not 0.0 < budget_s < math.inf:
        raise BadValue(f"a budget must be a positive number of seconds, not {budget_s}.")
    return budget_s


@contextmanager
def stoppable(look: Callable[[], None]) -> Iterator[None]:
    """Call `look` wherever work of this thread may stop; to stop it, `look` raises."""
    token = _look.set(look)
    try:
        yield
    finally:
        _look.reset(token)


@contextmanager
def deadline(budget_s: float | None) -> Iterator[None]:
    """Raise `OutOfTime` in this thread at the first stopping point after `budget_s` seconds; None sets no limit.

    Of nested deadlines the earliest counts.
    """
    outer, ends = _deadline.get(), None
    if checked_budget(budget_s) is not None and budget_s is not None:
        ends = _Deadline(budget_s, now() + budget_s)
    token = _deadline.set(min((d for d in (outer, ends) if d is not None), key=lambda d: d.at_s, default=None))
    try:
        yield
    finally:
        _deadline.reset(token)


@contextmanager
def overtime(share: float) -> Iterator[None]:
    """Extend a spent budget by a share of it, from now on, so that work can report its result."""
    spent = _deadline.get()
    token = _deadline.set(None if spent is None else _Deadline(spent.budget_s, now() + share * spent.budget_s))
    try:
        yield
    finally:
        _deadline.reset(token)


def may_stop_here() -> None:
    """Mark a point where work may stop: an exception raised here leaves nothing half done."""
    look = _look.get()
    if look is not None:
        look()
    ends = _deadline.get()
    if ends is not None and now() >= ends.at_s:
        raise OutOfTime(ends.budget_s)


@contextmanager
def watched(watch: Callable[[str, float | None], None]) -> Iterator[None]:
    """Call `watch` with what work of this thread does, and the share of it that is done, in 0..1, None if unknown."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def report(doing: str, share: float | None = None) -> None:
    """Report the current stage and its progress in 0..1 to the listener."""
    watch = _watch.get()
    if watch is not None:
        watch(doing, share)


class Progressing:
    """Text on work under way: the stage, its part, how much of that is done and about how long the rest takes."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self._part, self._begun_s, self._share = "", 0.0, 0.0

    def text(self, part: str, share: float | None, now_s: float) -> str:
        """The line for a part of which a share in 0..1 is done at a time of the clock, seconds."""
        if share is None:
            return f"{self.doing}: {part}" if part else self.doing
        if part != self._part or share < self._share:
            self._part, self._begun_s = part, now_s
        self._share = share
        spent = now_s - self._begun_s
        rest = spent * (1.0 - share) / share if share > 0.0 else 0.0
        left = f", about {rest:.0f} s left" if spent > _TELLING_S and rest > _TELLING_S else ""
        return f"{self.doing}{': ' + part if part else ''}, {100.0 * share:.0f} %{left}"
