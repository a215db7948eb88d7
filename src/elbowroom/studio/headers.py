"""HTTP headers of the studio's server: what the page may load, run and connect to, and who may embed it.

The page is viser's: one file with one script, which unpacks a style sheet and a second script. These, and the scripts
of our own below, are named by their hashes, so that no other is run; styles may stand in the page, as
viser and the panel's lines have them. No text is run as a script: viser's sorting of splats, which would do so, fails
when the page is loaded, and the studio shows none.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import viser
import zstandard

# Milliseconds after which the page is looked at again.
_LOOKS_EVERY_MS = 1000
# Milliseconds between two of several files that are dropped at once.
_BETWEEN_FILES_MS = 1500

# viser's page breaks down and is left empty when the server has ended and another one answers in its place.
_COME_BACK = (
    "window.comesBack = window.comesBack || setInterval(() => "
    "{ if (!document.getElementById('root').childElementCount) location.reload() }, "
    f"{_LOOKS_EVERY_MS})"
)
_COPY = "navigator.clipboard.writeText(this.parentElement.nextElementSibling.innerText); this.innerText = 'copied'"
# What the button accepts that takes dropped files: it is not shown, and found by this.
DROPPED = ".dropped"
# Files that are dropped onto the page are uploaded one after another, skeletons before the motions that need them.
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
# Characters of viser's packed code, 5 for 4 bytes: what can be printed, without what HTML has a meaning for.
_ALPHABET = bytes(c for c in range(0x21, 0x7F) if chr(c) not in "\"&<>'`")
_HOST = re.compile(r"[A-Za-z0-9.-]+(:\d+)?|\[[0-9A-Fa-f:.]+\](:\d+)?")


def add_headers(request: Request, response: Response) -> None:
    """Add the headers to a response."""
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
    page = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
    found = re.findall(r"<script\b([^>]*)>(.*?)</script>", page, re.DOTALL)
    packed = _unpacked(found[0][0]) if len(found) == 1 else None
    if packed is None:
        return "'unsafe-inline'"
    ours = [handler.encode() for handler in HANDLERS]
    return " ".join(["'unsafe-hashes'", *(_hash(code) for code in (found[0][1].encode(), packed, *ours))])


def _hash(code: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(code).digest()).decode()}'"


def _unpacked(attributes: str) -> bytes | None:
    """Code that viser's first script unpacks and runs; None if it is packed differently."""
    attrs = dict(re.findall(r'data-(\w+)="([^"]*)"', attributes))
    if not {"p", "ss", "cs"} <= set(attrs) or not (attrs["ss"] + attrs["cs"]).isdecimal():
        return None
    try:
        whole = zstandard.ZstdDecompressor().decompress(_from_base88(attrs["p"].encode()))
    except (zstandard.ZstdError, ValueError):
        return None
    style = int(attrs["ss"])
    return whole[style:] if len(whole) == style + int(attrs["cs"]) else None


def _from_base88(text: bytes) -> bytes:
    """Decoded bytes: groups of 5 characters are 4 bytes each, a last one of k characters k - 1."""
    digits = np.full(256, -1, np.int64)
    digits[np.frombuffer(_ALPHABET, np.uint8)] = np.arange(len(_ALPHABET))
    values = digits[np.frombuffer(text, np.uint8)]
    if np.any(values < 0):
        raise ValueError("a character that is none of the alphabet")
    whole = len(values) // 5 * 5
    groups = values[:whole].reshape(-1, 5) @ (len(_ALPHABET) ** np.arange(4, -1, -1))
    rest, last = len(values) - whole, 0
    for value in values[whole:].tolist():
        last = last * len(_ALPHABET) + value
    return groups.astype(">u4").tobytes() + (last.to_bytes(rest - 1, "big") if rest > 1 else b"")
