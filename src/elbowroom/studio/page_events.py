"""What fields and buttons of the page call: acts of the user, whose errors are said in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from elbowroom.studio.studio import Studio


def asked(studio: Studio, act: Callable[[], Any]) -> Callable[[Any], None]:
    """A callback for something that the user did; what the page did to its own fields is no such thing."""

    def called(event: Any) -> None:
        if event.client is not None:
            studio.trying(act)

    return called


def put(field: Any, value: Any) -> None:
    """Show a value in a field."""
    if field.value != value:
        field.value = value


def offer(field: Any, options: tuple[str, ...]) -> None:
    """Give a field its choices; what was chosen stays if it still can be."""
    if tuple(field.options) != options:
        before = field.value
        field.options = options
        if before in options:
            put(field, before)
