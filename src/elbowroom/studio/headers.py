"""Access to the studio: tokens, origins and host names of requests, and the headers of responses.

The page is viser's: one file with one script, which unpacks a style sheet and a second script. These, and our own
scripts below, are allowed by their hashes and no others; inline styles are allowed, since viser and the panel use them.
No text is evaluated as a script: viser's sorting of splats, which needs that, fails when the page is loaded, and the
studio shows none.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import hmac
import http
import ipaddress
import os
import re
import secrets
import socket
import tempfile
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from elbowroom.errors import BadValue
from elbowroom.files.viser_server import refused
from elbowroom.studio.viser_page import page

if TYPE_CHECKING:
    from websockets.http11 import Request, Response

# Milliseconds between checks of the page.
_CHECK_EVERY_MS = 1000
# Milliseconds between several files that are dropped at once.
_BETWEEN_FILES_MS = 1500

# viser's page breaks and stays empty when the server has ended and another one answers in its place.
_COME_BACK = (
    "window.comesBack = window.comesBack || setInterval(() => "
    "{ if (!document.getElementById('root').childElementCount) location.reload() }, "
    f"{_CHECK_EVERY_MS})"
)
_COPY = "navigator.clipboard.writeText(this.parentElement.nextElementSibling.innerText); this.innerText = 'copied'"
# File types of the hidden upload button that takes dropped files; it is found by this.
DROPPED = ".dropped"
# Dropped files are uploaded one after another, skeletons before the motions that need them.
_TAKE_FILES = (
    "window.takesFiles = window.takesFiles || (() => { "
    "const give = file => { const one = new DataTransfer(); one.items.add(file); "
    f"const to = document.querySelector('input[accept=\"{DROPPED}\"]'); "
    "to.files = one.files; to.dispatchEvent(new Event('change', {bubbles: true})) }; "
    "const first = file => file.name.toLowerCase().endsWith('.asf') ? 0 : 1; "
    "window.addEventListener('dragover', event => event.preventDefault()); "
    "window.addEventListener('drop', event => { event.preventDefault(); "
    "[...event.dataTransfer.files].sort((a, b) => first(a) - first(b))"
    f".forEach((file, k) => setTimeout(() => give(file), {_BETWEEN_FILES_MS} * k)) }}); return true }})()"
)
HANDLERS = (_COME_BACK, _COPY, _TAKE_FILES)

_NO_PICTURE = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
TAKES_FILES = (
    f'<style>div:has(> input[accept="{DROPPED}"]){{display:none}}</style>'
    f'<img alt="" style="display:none" src="{_NO_PICTURE}" onload="{escape(_TAKE_FILES)}">'
)
COMES_BACK = f'<img alt="" style="display:none" src="{_NO_PICTURE}" onload="{escape(_COME_BACK)}">'


def with_copy_button(title: str, text: str) -> str:
    """HTML of a text with a title and a copy button."""
    return (
        '<div style="padding:2px 4px"><div style="display:flex;justify-content:space-between">'
        f'<b>{escape(title)}</b><button onclick="{escape(_COPY)}" style="font-size:12px">copy</button></div>'
        '<pre style="white-space:pre-wrap;font-size:12px;background:rgba(128,128,128,.12);padding:8px">'
        f"{escape(text)}</pre></div>"
    )


if TYPE_CHECKING:
    from websockets.http11 import Request, Response

_FIXED = {"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_HOST = re.compile(r"[A-Za-z0-9.-]+(:\d+)?|\[[0-9A-Fa-f:.]+\](:\d+)?")


def add_headers(request: Request, response: Response) -> None:
    """Add the headers to a response; the patched page is sent instead of viser's."""
    if response.headers.get("Content-Type", "").startswith("text/html") and response.status_code == http.HTTPStatus.OK:
        response.body = _compressed() if response.headers.get("Content-Encoding") == "gzip" else page().html
        del response.headers["Content-Length"]
        response.headers["Content-Length"] = str(len(response.body))
    for name, value in _FIXED.items():
        response.headers[name] = value
    response.headers["Content-Security-Policy"] = policy(request.headers.get("Host") or "")


def policy(host: str) -> str:
    """Content security policy of a host's page; the host is named because not all browsers count websockets to it as
    the page's own origin."""
    here = f"ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""
    rules = {
        "default-src": "'none'",
        "script-src": f"{_scripts()} 'wasm-unsafe-eval'",
        "worker-src": "blob:",  # the connection
        "connect-src": f"'self' {here} data: blob:".replace("  ", " "),
        "img-src": "'self' data: blob:",
        "style-src": "'unsafe-inline'",
        "font-src": "data:",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


@cache
def _scripts() -> str:
    """Hashes of the page's scripts and handlers; any inline script if a future viser packs them differently."""
    scripts = page().scripts
    if scripts is None:
        return "'unsafe-inline'"
    ours = [handler.encode() for handler in HANDLERS]
    return " ".join(["'unsafe-hashes'", *(_hash(code) for code in (*scripts, *ours))])


def _hash(code: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(code).digest()).decode()}'"


@cache
def _compressed() -> bytes:
    return gzip.compress(page().html)


# Domains that are not in the public DNS, so that no other site can resolve to them.
_LOCAL_NAMES = (".local", ".lan", ".internal", ".home.arpa", ".localhost")
# Characters that need no escaping in a URL or cookie; fewer than eight can be guessed.
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
            return refused("Not a page of the studio, or not an address of this machine.")
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
    with contextlib.suppress(OSError):  # usable for this session at least
        folder.mkdir(parents=True, exist_ok=True)
        handle, stand_in = tempfile.mkstemp(dir=folder)  # readable by this user only
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
