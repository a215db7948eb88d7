"""The web server of the studio: viser's, without what a page on a desk does not need.

It answers only pages that it has sent itself (a page of somebody else in the same browser could talk to a server on
this machine otherwise), has no link to share, and drops uploads that are too large before they fill the memory.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from typing import Any

import viser
from viser import _messages

from elbowroom.errors import BadValue
from elbowroom.files.viser_nodes import quiet
from elbowroom.studio.folders import LARGEST

LOOPBACK = "127.0.0.1"


# Names that no name server of the internet gives out: a stranger cannot have one that leads here.
_LOCAL_NAMES = (".local", ".lan", ".internal", ".home.arpa", ".localhost")
# Ports that are tried, from the one that was asked for.
_PORTS = 100


class StudioServer(viser.ViserServer):
    """viser's server, closed to strangers. `refused` is called with a sentence on an upload that was not taken."""

    def __init__(self, host: str, port: int) -> None:
        self.asked_host = host
        self.refused: Callable[[str], None] = lambda text: None
        with quiet():
            super().__init__(host=host, port=free_port(host, port), label="elbowroom", verbose=False)
        handlers = self._websock_server
        handlers._client_connect_cb.insert(0, self._check_origin)  # before anything is made for the client
        handlers.register_handler(_messages.FileTransferStartUpload, self._check_upload)
        handlers.register_handler(_messages.FileTransferPart, self._check_part)

    def request_share_url(self, verbose: bool = True) -> str | None:
        """There is no link to share, whoever asks for it."""
        return None

    def stop(self) -> None:
        """Stop serving."""
        with quiet():
            super().stop()

    async def _check_origin(self, client: Any) -> None:
        """Hang up on connections that are not from a page of this server, and read nothing of what they have sent."""
        server = self._websock_server
        connection = server._live_connections[client.client_id]
        headers = connection.request.headers if connection.request is not None else {}
        if came_from_here(headers.get("Origin"), headers.get("Host"), self.asked_host):
            return
        server._live_connections.pop(client.client_id)
        server._client_state_from_id.pop(client.client_id)
        await connection.close(1008, "this page is not the studio's")
        raise asyncio.CancelledError  # ends the connection's task, quietly

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


def came_from_here(origin: str | None, host: str | None, bound: str) -> bool:
    """Whether a browser's connection is from a page that this server sent, and was sent to it by an honest name.

    `origin` and `host` are headers; programs that are no browsers send no origin. A name that the internet can give
    out could be somebody else's that was made to point here; addresses and names of the local network could not.
    """
    if host is None:
        return False
    name = _without_port(host)
    if not (is_loopback(name) if is_loopback(bound) else _is_local(name)):
        return False
    return origin is None or origin.partition("://")[2] == host


def _is_local(name: str) -> bool:
    """Whether a host is an address, or a name that only the local network knows."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        plain = name.lower().rstrip(".")
        return "." not in plain or plain.endswith(_LOCAL_NAMES) or plain == socket.getfqdn().lower()
    return True


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


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
