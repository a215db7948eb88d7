"""The web server of the studio: viser's, without what a page on a desk does not need.

It answers only those who know its token, and only pages that it has sent itself (a page of somebody else in the same
browser could talk to a server on this machine otherwise), has no link to share, and drops uploads that are too large
before they fill the memory.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import viser
from viser import _messages

from elbowroom.errors import BadValue
from elbowroom.files.viser_server import answering, quiet
from elbowroom.studio.access import Access
from elbowroom.studio.folders import LARGEST
from elbowroom.studio.headers import add_headers
from elbowroom.studio.noise import hush, web_logger

if TYPE_CHECKING:
    from websockets.http11 import Request, Response

LOOPBACK = "127.0.0.1"
# Seconds between two looks at messages that are of no use any more.
_TIDY_EVERY_S = 20.0
# Ports that are tried, from the one that was asked for.
_PORTS = 100


class StudioServer(viser.ViserServer):
    """viser's server, closed to strangers. `refused` is called with a sentence on an upload that was not taken."""

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
        """There is no link to share, whoever asks for it."""
        return None

    def tidy(self) -> None:
        """Drop messages on what is gone, now and then; viser does so only when a page is loaded."""
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
        """All uploads that are under way may have as many bytes together as one alone."""
        uploads = self.gui._current_file_upload_states
        if sum(state["total_bytes"] for state in uploads.values()) > LARGEST:
            self._drop(message)

    def _check_part(self, client_id: Any, message: Any) -> None:
        state = self.gui._current_file_upload_states.get(message.transfer_uuid)
        if state is not None and state["transferred_bytes"] > state["total_bytes"]:
            self._drop(message)

    def _drop(self, message: Any) -> None:
        """Take no more of an upload; the page is told that it is over, or its button would wait for ever."""
        state = self.gui._current_file_upload_states.pop(message.transfer_uuid, None)
        if state is None:
            return
        size = state["total_bytes"]
        source, upload = message.source_component_uuid, message.transfer_uuid
        self._websock_server.queue_message(_messages.FileTransferPartAck(source, upload, size, size))
        self.refused(f"'{state['filename'][:80]}' was not taken: uploads have at most {LARGEST // 1024**2} MB.")


def check_host(host: str) -> str:
    """An address to listen on."""
    if host == "localhost":
        return LOOPBACK
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        raise BadValue(f"the studio listens on an address such as 127.0.0.1 or 0.0.0.0, not on '{host}'.") from None


def free_port(host: str, port: int) -> int:
    """The port, or the next one that is free; 0 takes any. Raises where none can be had at that address.

    viser waits for ever where it finds none.
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
