"""The least of a lean: numbers that it does not need, size and time are taken away as long as it fits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from elbowroom.finish.least import between, confirmed, fewer, narrower, rounder, shorter, smaller
from elbowroom.finish.nudge import Core
from elbowroom.geometry.rotations import Array

WIDE = Core(0.0, 0.8, 1.6, 2.4)
REACH = np.array([1.0, 1.0, 0.5])
LEAN = np.array([0.9, -0.5, 0.4])


def needed(offset: Array, core: Core) -> bool:
    """A third of a radian of the first number from 1.0 to 1.2 s, coming and going in a quarter of a second."""
    held = core.begin <= 1.0 and core.end >= 1.2
    return bool(offset[0] >= 0.33 and held and core.begin - core.first >= 0.25 and core.last - core.end >= 0.25)


def always(offset: Array, core: Core) -> bool:
    return True


def test_numbers_that_are_not_needed_go() -> None:
    assert np.array_equal(fewer(needed, LEAN, REACH, WIDE), (0.9, 0.0, 0.0))
    assert np.array_equal(fewer(lambda offset, core: np.array_equal(offset, LEAN), LEAN, REACH, WIDE), LEAN)
    assert np.count_nonzero(fewer(always, LEAN, REACH, WIDE)) == 1


def test_the_smallest_share_stays() -> None:
    offset = smaller(needed, LEAN, WIDE)
    assert 0.33 <= offset[0] < 0.33 + 0.9 / 8.0 and np.allclose(offset, LEAN * offset[0] / 0.9)


def test_the_height_becomes_as_short_as_it_may_and_the_ends_stay() -> None:
    core = rounder(needed, LEAN, WIDE, (1.0, 1.2))
    assert (core.first, core.last) == (0.0, 2.4)
    assert 0.9 < core.begin <= 1.0 and 1.2 <= core.end < 1.3


def test_ends_come_as_near_as_they_may_and_the_height_stays() -> None:
    core = shorter(needed, LEAN, WIDE)
    assert (core.begin, core.end) == (0.8, 1.6)
    assert 0.25 <= core.begin - core.first < 0.35 and 0.25 <= core.last - core.end < 0.35


def test_fades_come_as_near_as_they_may_and_stay_as_long() -> None:
    core = narrower(needed, LEAN, WIDE, (1.0, 1.2))
    assert 0.9 < core.begin <= 1.0 and 1.2 <= core.end < 1.3
    np.testing.assert_allclose((core.begin - core.first, core.last - core.end), 0.8)


@pytest.mark.parametrize("ends", [Core(0.0, 0.0, 1.6, 2.4), Core(0.0, 0.8, 2.4, 2.4)])
@pytest.mark.parametrize("nearer", [rounder, narrower])
def test_open_ends_stay_open(ends: Core, nearer: Callable[..., Core]) -> None:
    core = shorter(always, LEAN, nearer(always, LEAN, ends, (1.0, 1.2)))
    assert (core.begin <= core.first) == (ends.begin <= ends.first)
    assert (core.end >= core.last) == (ends.end >= ends.last)
    assert core.last - core.first < 2.4 and (core.first == 0.0 or core.last == 2.4)


def test_what_few_looks_take_for_enough_is_looked_at_closely() -> None:
    narrow = Core(0.5, 1.0, 1.2, 1.7)
    found = confirmed(lambda offset, core: bool(offset[0] >= 0.36), np.array([0.34, 0.0, 0.0]), (narrow, WIDE))
    assert found is not None and 0.36 <= found[0][0] < 0.4 and found[1] == narrow
    found = confirmed(lambda offset, core: core.begin < 0.95, LEAN, (narrow, between(narrow, WIDE), WIDE))
    assert found is not None and found[1] == Core(0.25, 0.9, 1.4, 2.05)
    assert confirmed(lambda offset, core: False, LEAN, (narrow, WIDE)) is None
