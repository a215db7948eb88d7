"""Errors between the page and the server, logged in one line each instead of viser's tracebacks.

Port scans, pages that disconnect and refused requests are not logged. Set the level of the logger `elbowroom.studio`
to DEBUG for details.
"""

from __future__ import annotations

import asyncio
import logging
import warnings
from types import SimpleNamespace
from typing import Any

from viser import _threadpool_exceptions as viser_errors

_LOGGER = logging.getLogger("elbowroom.studio")
# Letters of an error that are shown.
_LONGEST = 160
# Warnings of viser's on messages of the wrong form, and on pages that have gone.
_WARNINGS = (r"\[viser\]", r"Queued a \w+ on a closed connection")


def web_logger() -> logging.Logger:
    """Logger for the web server that passes on only errors that end a connection."""
    logger = logging.Logger("elbowroom.studio.web", logging.ERROR)
    logger.addFilter(_heard)
    logger.propagate = False
    return logger


def hush(loop: asyncio.AbstractEventLoop) -> None:
    """Log errors of the server's loop and of viser's callbacks in one line each."""
    loop.call_soon_threadsafe(loop.set_exception_handler, _in_loop)
    for text in _WARNINGS:
        warnings.filterwarnings("ignore", message=text)
    viser_errors.print = lambda *words, **options: None  # type: ignore[attr-defined]
    viser_errors.traceback = SimpleNamespace(print_exception=_in_callback)  # type: ignore[assignment]


def _heard(record: logging.LogRecord) -> bool:
    """Filter of the web server's log that passes on broken messages, which end the connection."""
    error = record.exc_info[1] if record.exc_info else None
    if record.msg == "connection handler failed" and error is not None:
        _tell("closed the connection of a page that sent an unreadable message", error)
    return False


def _in_loop(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if isinstance(error, ConnectionError):  # a page that has gone
        _LOGGER.debug("%s", context.get("message"), exc_info=error)
    elif error is not None:
        _tell("dropped a message of a page", error)


def _in_callback(kind: type[BaseException], error: BaseException, *rest: Any) -> None:
    _tell("internal error", error)


def _tell(what: str, error: BaseException) -> None:
    why = " ".join(f"{type(error).__name__}: {error}".split())
    _LOGGER.warning("studio: %s (%s).", what, why if len(why) <= _LONGEST else f"{why[:_LONGEST]}…")
    _LOGGER.debug("%s", what, exc_info=error)
