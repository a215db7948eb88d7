"""Lists of the panel that are too long to be shown whole."""

from __future__ import annotations

from elbowroom.studio.page_looks import few


def test_of_many_rows_the_first_and_the_picked_one_are_shown() -> None:
    words = {f"k{i}": f"row {i}" for i in range(30)}
    assert few(words, None, 30) == words
    some = few(words, "k20", 8)
    assert list(some.values()) == [*(f"row {i}" for i in range(8)), "row 20", "… 21 more"]
    assert list(few(words, "k3", 8).values())[-1] == "… 22 more"
    assert few(words, "k29", 29) == words  # nothing is left to be told of
