"""Stops and deadlines: when work ends by the clock, and that nothing else depends on it."""

from __future__ import annotations

from importlib import import_module

import numba as nb
import pytest

from elbowroom import stopping
from elbowroom.errors import BadValue
from elbowroom.stopping import OutOfTime, deadline, may_stop_here, overtime, stoppable


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock's seconds, to be set."""
    seconds = [100.0]
    monkeypatch.setattr(stopping, "now", lambda: seconds[0])
    return seconds


def test_work_ends_where_it_looks_up_after_its_budget(clock: list[float]) -> None:
    with deadline(5.0):
        clock[0] = 104.9
        may_stop_here()
        clock[0] = 105.0
        with pytest.raises(OutOfTime, match="the budget of 5 s is spent"):
            may_stop_here()
    may_stop_here()


def test_the_earliest_deadline_counts(clock: list[float]) -> None:
    with deadline(5.0), deadline(50.0), deadline(None):
        clock[0] = 106.0
        with pytest.raises(OutOfTime) as spent:
            may_stop_here()
        assert spent.value.budget_s == 5.0
    with deadline(50.0):
        with deadline(5.0):
            clock[0] = 112.0
            with pytest.raises(OutOfTime):
                may_stop_here()
        may_stop_here()


def test_overtime_is_a_share_of_the_budget(clock: list[float]) -> None:
    with deadline(10.0):
        clock[0] = 111.0
        with overtime(0.1):
            clock[0] = 111.9
            may_stop_here()
            clock[0] = 112.1
            with pytest.raises(OutOfTime):
                may_stop_here()
    with overtime(0.1):
        clock[0] = 1e9
        may_stop_here()


def test_who_stops_work_is_asked_beside_the_clock(clock: list[float]) -> None:
    asked = []
    with stoppable(lambda: asked.append(1)), deadline(1.0):
        may_stop_here()
        clock[0] += 2.0
        with pytest.raises(OutOfTime):
            may_stop_here()
    assert len(asked) == 2


def test_compiling_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    import_module("elbowroom.kernels")  # it listens to the compiler
    monkeypatch.setattr(stopping, "_left_out", list(stopping._left_out))
    before = sum(seconds() for seconds in stopping._left_out)
    assert nb.njit(lambda x: x + 1)(2) == 3
    compiling = sum(seconds() for seconds in stopping._left_out) - before
    assert compiling > 0.0
    begin = stopping.now()
    stopping.leave_out(lambda: 1000.0)
    assert stopping.now() - begin < -900.0


@pytest.mark.parametrize("budget", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_budgets(budget: float) -> None:
    with pytest.raises(BadValue, match="positive number of seconds"), deadline(budget):
        pass
