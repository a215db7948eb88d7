"""A sample of the random worlds of `benchmarks/adversary.py`: nothing that is not free is called free."""

from __future__ import annotations

from pathlib import Path

import pytest

from adversary.boards import judge_board
from adversary.tampering import judge_change
from adversary.verdicts import Verdict, judge
from adversary.worlds import KINDS, case

# The built-in person has a thousand pairs, which takes seconds: the benchmark has it.
SAMPLED = [kind for kind in KINDS if kind != "built-in person"]
CASES = 3


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    folder = tmp_path_factory.mktemp("adversary")
    return [judge(case(seed, kind), folder) for kind in SAMPLED for seed in range(CASES)]


def test_nothing_is_called_free_that_is_not(verdicts: list[Verdict]) -> None:
    assert [(v.seed, v.kind, v.found[0]) for v in verdicts if v.wrong] == []


def test_the_sample_asks_something(verdicts: list[Verdict]) -> None:
    """A fair share of the cases is free and a fair share is not, and hardly any is refused."""
    assert sum(v.free for v in verdicts) >= len(verdicts) // 5
    assert sum(bool(v.found) for v in verdicts) >= len(verdicts) // 5
    assert sum(bool(v.refused) for v in verdicts) <= len(verdicts) // 10


def test_hardly_anything_clear_is_called_not_free(verdicts: list[Verdict]) -> None:
    assert sum(v.too_strict for v in verdicts) <= len(verdicts) // 10


def test_the_same_seed_makes_the_same_world(tmp_path: Path) -> None:
    one, other = case(7), case(7)
    assert one.kind == other.kind and one.world.span == other.world.span


def test_what_the_command_writes_as_proven_is_clear(tmp_path: Path) -> None:
    walked, still = judge_board(1, tmp_path), judge_board(3, tmp_path)
    assert walked.free and not walked.found
    assert not still.wrong and not still.refused


def test_no_change_of_a_file_goes_unnoticed(tmp_path: Path) -> None:
    judged = [judge_change(case(seed), tmp_path) for seed in range(12)]
    assert [(v.seed, v.found[0]) for v in judged if v.wrong] == []
    assert sum(not v.refused for v in judged) > 6
