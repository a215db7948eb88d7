"""Long work that can be asked to stop: it looks up at places where nothing is half done.

A caller says by `stoppable` what is looked at there, and by `deadline` when the wall clock ends the work. Everything
else pays for a look that finds nothing, 0.1 µs. No planner may ask what time it is for any other purpose than ending:
a clock that chose between two motions would give another one on another machine.
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
    """A moment `at_s` of `now` at which a budget of `budget_s` seconds is spent."""

    budget_s: float
    at_s: float


_look: ContextVar[Callable[[], None] | None] = ContextVar("_look", default=None)
_deadline: ContextVar[_Deadline | None] = ContextVar("_deadline", default=None)
_left_out: list[Callable[[], float]] = []


def leave_out(seconds: Callable[[], float]) -> None:
    """Leave time out of all budgets that no planner has a say in: `seconds` tells how much there was so far."""
    _left_out.append(seconds)


def now() -> float:
    """Seconds of the clock that budgets are measured by: the wall clock without what is left out."""
    return time.monotonic() - sum(seconds() for seconds in _left_out)


def checked_budget(budget_s: float | None) -> float | None:
    """A budget in seconds, None for no limit; raises `BadValue` where it is neither."""
    if budget_s is not None and not 0.0 < budget_s < math.inf:
        raise BadValue(f"a budget is a positive number of seconds, not {budget_s}.")
    return budget_s


@contextmanager
def stoppable(look: Callable[[], None]) -> Iterator[None]:
    """Work of this thread calls `look` wherever it may stop; to stop it, `look` raises."""
    token = _look.set(look)
    try:
        yield
    finally:
        _look.reset(token)


@contextmanager
def deadline(budget_s: float | None) -> Iterator[None]:
    """End work of this thread by `OutOfTime` where it may stop first after `budget_s` seconds; None sets no limit.

    Of deadlines inside each other the earliest counts.
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
    """Give work a share of a spent budget on top, from now on, to tell what it has come to."""
    spent = _deadline.get()
    token = _deadline.set(None if spent is None else _Deadline(spent.budget_s, now() + share * spent.budget_s))
    try:
        yield
    finally:
        _deadline.reset(token)


def may_stop_here() -> None:
    """A place where work may stop: whatever is raised here leaves nothing half done."""
    look = _look.get()
    if look is not None:
        look()
    ends = _deadline.get()
    if ends is not None and now() >= ends.at_s:
        raise OutOfTime(ends.budget_s)
