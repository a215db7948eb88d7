"""The web server of the studio: viser's, without what a page on a desk does not need.

It answers only pages that it has sent itself (a page of somebody else in the same browser could talk to a server on
this machine otherwise), has no link to share, and drops uploads that are too large.
"""

from __future__ import annotations

import ipaddress
from typing import Any

import viser
from viser import _messages

from elbowroom.errors import BadValue
from elbowroom.files.viser_nodes import quiet
from elbowroom.studio.folders import LARGEST

LOOPBACK = "127.0.0.1"


class StudioServer(viser.ViserServer):
    """viser's server, closed to strangers."""

    def __init__(self, host: str, port: int) -> None:
        self.asked_host = host
        with quiet():
            super().__init__(host=host, port=port, label="elbowroom", verbose=False)
        self._websock_server.on_client_connect(self._check_origin)
        handlers = self._websock_server
        handlers.register_handler(_messages.FileTransferStartUpload, self._check_upload)
        handlers.register_handler(_messages.FileTransferPart, self._check_part)

    def request_share_url(self, verbose: bool = True) -> str | None:
        """There is no link to share, whoever asks for it."""
        return None

    async def _check_origin(self, client: Any) -> None:
        """Hang up on connections that are not from a page of this server."""
        connection = self._websock_server._live_connections[client.client_id]
        headers = connection.request.headers if connection.request is not None else {}
        if not came_from_here(headers.get("Origin"), headers.get("Host"), self.asked_host):
            await connection.close(1008, "this page is not the studio's")

    def _check_upload(self, client_id: Any, message: Any) -> None:
        if message.size_bytes > LARGEST:
            self.gui._current_file_upload_states.pop(message.transfer_uuid, None)

    def _check_part(self, client_id: Any, message: Any) -> None:
        state = self.gui._current_file_upload_states.get(message.transfer_uuid)
        if state is not None and state["transferred_bytes"] > min(LARGEST, state["total_bytes"]):
            self.gui._current_file_upload_states.pop(message.transfer_uuid, None)


def came_from_here(origin: str | None, host: str | None, bound: str) -> bool:
    """Whether a browser's connection is from a page that this server sent, and was sent to it by an honest name.

    `origin` and `host` are headers; programs that are no browsers send no origin. A name that is neither this machine's
    nor the one that was given could be somebody else's that points here.
    """
    if host is None:
        return False
    name = _without_port(host)
    if is_loopback(bound) and not is_loopback(name):
        return False
    return origin is None or origin.partition("://")[2] == host


def is_loopback(host: str) -> bool:
    """Whether an address is one that only this machine can reach."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_host(host: str) -> str:
    """An address to listen on."""
    if host == "localhost":
        return LOOPBACK
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        raise BadValue(f"the studio listens on an address such as 127.0.0.1 or 0.0.0.0, not on '{host}'.") from None


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
