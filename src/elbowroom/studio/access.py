"""Access control: requests need the token, an origin of the studio's own, and a trustworthy host name."""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import os
import re
import secrets
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from elbowroom.errors import BadValue
from elbowroom.files.viser_server import refused

if TYPE_CHECKING:
    from websockets.http11 import Request, Response

# Names that no name server of the internet gives out: a stranger cannot have one that leads here.
_LOCAL_NAMES = (".local", ".lan", ".internal", ".home.arpa", ".localhost")
# Letters that need no escapes in an address and a cookie; fewer than eight are guessed.
_TOKEN = re.compile(r"[A-Za-z0-9_.~-]{8,200}")
# Random bytes of a new token.
_BYTES = 24
_FILE = "token"


class Access:
    """Check of requests. `token` is the secret, `bound` the address that is listened on."""

    def __init__(self, token: str, bound: str) -> None:
        self.token, self._bound = token, bound

    def admit(self, request: Request) -> Response | None:
        """Response to a rejected request, None if it is admitted."""
        headers = request.headers
        if not came_from_here(headers.get("Origin"), headers.get("Host"), self._bound):
            return refused("Not a page of the studio, or not an address of its machine.")
        if not any(hmac.compare_digest(given.encode(), self.token.encode()) for given in _tokens(request)):
            return refused(
                "The studio needs its token: open the full address that 'elbowroom studio' printed on the terminal, "
                "including ?token=… at the end."
            )
        return None

    def remember(self, request: Request, response: Response) -> None:
        """Store the token in a cookie: the page's websocket comes without the query of its address.

        No script can read it, no other site can have it sent, and it ends with the browser.
        """
        if response.status_code == 200:
            cookie = f"{_cookie_name(request)}={self.token}; Path=/; HttpOnly; SameSite=Strict"
            response.headers["Set-Cookie"] = cookie


def _tokens(request: Request) -> list[str]:
    """Tokens that came with a request, in its address or as cookies."""
    given = parse_qs(request.path.partition("?")[2]).get("token", [])
    name = _cookie_name(request)
    for line in request.headers.get_all("Cookie"):
        pairs = (pair.strip().partition("=") for pair in line.split(";"))
        given += [value for key, _, value in pairs if key == name]
    return given


def _cookie_name(request: Request) -> str:
    """Cookie name with the port in it, since all ports of a machine share their cookies."""
    port = (request.headers.get("Host") or "").rpartition(":")[2]
    return f"elbowroom-{port if port.isdecimal() else 80}"


def check_token(token: str) -> str:
    """Return a token chosen by the user; raises `BadValue` if it is not usable."""
    if not _TOKEN.fullmatch(token):
        raise BadValue("a token has 8 to 200 letters, digits, '-', '_', '.' or '~'.")
    return token


def kept_token(folder: Path) -> str:
    """Token of this user's last studio, so that an open page reconnects after a restart.

    A new one if there is none in the folder, or if others could have read it.
    """
    file = folder / _FILE
    with contextlib.suppress(OSError, UnicodeDecodeError):
        kept = file.read_text(encoding="ascii").strip()
        if _TOKEN.fullmatch(kept) and not file.stat().st_mode & 0o077:
            return kept
    token = secrets.token_urlsafe(_BYTES)
    with contextlib.suppress(OSError):  # it is good for this time at least
        folder.mkdir(parents=True, exist_ok=True)
        handle, stand_in = tempfile.mkstemp(dir=folder)  # nobody else can read it
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(token)
        os.replace(stand_in, file)
    return token


def came_from_here(origin: str | None, host: str | None, bound: str) -> bool:
    """Return whether a connection is from a page of this server, addressed by a trustworthy host name.

    `origin` and `host` are headers; programs other than browsers send no origin. A public domain name could be another
    site's, made to resolve to this machine; addresses and names of the local network could not.
    """
    if host is None:
        return False
    name = _without_port(host)
    if not (is_loopback(name) if is_loopback(bound) else _is_local(name)):
        return False
    return origin is None or origin.partition("://")[2] == host


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_local(name: str) -> bool:
    """Return whether a host is an address, or a name known only in the local network."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        plain = name.lower().rstrip(".")
        return "." not in plain or plain.endswith(_LOCAL_NAMES) or plain == socket.getfqdn().lower()
    return True


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
