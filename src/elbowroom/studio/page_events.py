"""Callbacks of fields and buttons: user actions whose errors are shown in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from elbowroom.studio.studio import Studio


def asked(studio: Studio, act: Callable[[], Any]) -> Callable[[Any], None]:
    """Callback for a user action; changes made by the page itself are ignored."""

    def called(event: Any) -> None:
        if event.client is not None:
            studio.trying(act)

    return called


def put(field: Any, value: Any) -> None:
    """Show a value in a field."""
    if field.value != value:
        field.value = value


def offer(field: Any, options: tuple[str, ...]) -> None:
    """Set a field's choices; the current choice stays if it is still available."""
    if tuple(field.options) != options:
        before = field.value
        field.options = options
        if before in options:
            put(field, before)
