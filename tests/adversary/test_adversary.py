"""A sample of the random worlds of `benchmarks/adversary.py`: nothing that is not free is called free."""

from __future__ import annotations

from pathlib import Path

import pytest

from adversary.verdicts import judge
from adversary.worlds import KINDS, case

COUNT = 48


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list:
    folder = tmp_path_factory.mktemp("adversary")
    return [judge(case(seed), folder) for seed in range(COUNT)]


def test_nothing_is_called_free_that_is_not(verdicts: list) -> None:
    assert [(v.seed, v.kind, v.found[0]) for v in verdicts if v.wrong] == []


def test_the_sample_asks_something(verdicts: list) -> None:
    """Cases of most kinds, of which a fair share is free and a fair share is not, and hardly any is refused."""
    assert len({v.kind for v in verdicts}) >= len(KINDS) - 4
    assert sum(v.free for v in verdicts) >= COUNT // 5
    assert sum(bool(v.found) for v in verdicts) >= COUNT // 5
    assert sum(bool(v.refused) for v in verdicts) <= COUNT // 10


def test_hardly_anything_clear_is_called_not_free(verdicts: list) -> None:
    assert [(v.seed, v.kind) for v in verdicts if v.too_strict][COUNT // 10 :] == []


def test_the_same_seed_makes_the_same_world(tmp_path: Path) -> None:
    one, other = case(7), case(7)
    assert one.kind == other.kind and one.world.span == other.world.span
