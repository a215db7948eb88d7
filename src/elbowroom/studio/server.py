"""Web server of the studio: viser's, restricted.

It answers only requests with its token, and only pages that it has sent itself (otherwise any page in the same browser
could talk to a server on this machine), has no link to share, and drops uploads that are too large before they fill
the memory. Errors are logged in one line each instead of viser's tracebacks; port scans, pages that disconnect and
refused requests are not logged (logger `elbowroom.studio`, level DEBUG, has details).
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import time
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import viser
from viser import _messages
from viser import _threadpool_exceptions as viser_errors

from elbowroom.errors import BadValue
from elbowroom.files.viser_server import answering, quiet
from elbowroom.studio.folders import LARGEST
from elbowroom.studio.headers import Access, add_headers

if TYPE_CHECKING:
    from websockets.http11 import Request, Response

_LOGGER = logging.getLogger("elbowroom.studio")
# Characters of an error that are shown.
_LONGEST = 160
# viser's warnings about malformed messages, and about closed pages.
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
    if isinstance(error, ConnectionError):  # the page was closed
        _LOGGER.debug("%s", context.get("message"), exc_info=error)
    elif error is not None:
        _tell("dropped a message of a page", error)


def _in_callback(kind: type[BaseException], error: BaseException, *rest: Any) -> None:
    _tell("internal error", error)


def _tell(what: str, error: BaseException) -> None:
    why = " ".join(f"{type(error).__name__}: {error}".split())
    _LOGGER.warning("studio: %s (%s).", what, why if len(why) <= _LONGEST else f"{why[:_LONGEST]}…")
    _LOGGER.debug("%s", what, exc_info=error)


LOOPBACK = "127.0.0.1"
# Seconds between removals of obsolete messages.
_TIDY_EVERY_S = 20.0
# Ports that are tried, from the requested one.
_PORTS = 100


class StudioServer(viser.ViserServer):
    """Restricted viser server. `refused` is called with a sentence on a rejected upload."""

    def __init__(self, host: str, port: int, token: str) -> None:
        self.access = Access(token, host)
        self.refused: Callable[[str], None] = lambda text: None
        self._tidied = 0.0
        with quiet(), answering(self.access.admit, self._dress, web_logger()):
            super().__init__(host=host, port=free_port(host, port), label="elbowroom", verbose=False)
        handlers = self._websock_server
        assert handlers._background_event_loop is not None
        hush(handlers._background_event_loop)
        handlers.register_handler(_messages.FileTransferStartUpload, self._check_upload)
        handlers.register_handler(_messages.FileTransferPart, self._check_part)

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Return None: there is no link to share."""
        return None

    def tidy(self) -> None:
        """Drop messages about removed nodes now and then; viser does so only when a page is loaded."""
        now = time.monotonic()
        if now - self._tidied > _TIDY_EVERY_S:
            self._tidied = now
            self._run_garbage_collector()

    def stop(self) -> None:
        """Stop serving."""
        with quiet():
            super().stop()

    def _dress(self, request: Request, response: Response) -> None:
        self.access.remember(request, response)
        add_headers(request, response)

    def _check_upload(self, client_id: Any, message: Any) -> None:
        """Limit the total size of all current uploads to that of a single one."""
        uploads = self.gui._current_file_upload_states
        if sum(state["total_bytes"] for state in uploads.values()) > LARGEST:
            self._drop(message)

    def _check_part(self, client_id: Any, message: Any) -> None:
        state = self.gui._current_file_upload_states.get(message.transfer_uuid)
        if state is not None and state["transferred_bytes"] > state["total_bytes"]:
            self._drop(message)

    def _drop(self, message: Any) -> None:
        """Abort an upload; the page is notified, or its button would wait forever."""
        state = self.gui._current_file_upload_states.pop(message.transfer_uuid, None)
        if state is None:
            return
        size = state["total_bytes"]
        source, upload = message.source_component_uuid, message.transfer_uuid
        self._websock_server.queue_message(_messages.FileTransferPartAck(source, upload, size, size))
        self.refused(f"'{state['filename'][:80]}' was rejected: uploads are limited to {LARGEST // 1024**2} MB.")


def check_host(host: str) -> str:
    """Return an address to listen on; raises `BadValue` if it is not one."""
    if host == "localhost":
        return LOOPBACK
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        raise BadValue(f"--host takes an address such as 127.0.0.1 or 0.0.0.0, not '{host}'.") from None


def free_port(host: str, port: int) -> int:
    """Return the port, or the next free one; 0 takes any. Raises if there is none at that address.

    viser would wait forever.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    why = ""
    for tried in range(port, min(port + _PORTS, 65536)):
        with socket.socket(family) as probe:
            try:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, tried))
                probe.listen()
                return tried
            except OSError as error:
                why = error.strerror or str(error)
    raise BadValue(f"the studio cannot listen on {host}, port {port} ({why.lower()}): give another --host or --port.")
