"""The same thing in another way: the best options are left for last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from elbowroom.tasks.director import Director
from elbowroom.tasks.stuck import Stuck

T = TypeVar("T")


def varied(d: Director, options: Iterable[T]) -> Iterator[T]:
    """The same options, as many of the first as the settings' variety says at the end."""
    aside: list[T] = []
    try:
        for option in options:
            if len(aside) < d.settings.variety:
                aside.append(option)
            else:
                yield option
    except Stuck:  # that there is no option at all
        if not aside:
            raise
    yield from aside
