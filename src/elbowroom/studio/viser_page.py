"""viser's page as the studio serves it: unpacked, with one bug fixed, and packed again.

The page is one file with one script, which unpacks a style sheet and a second script. That one sends changes of all
fields and clicks on all buttons through one valve that opens every 50 ms, or later while the page draws, and of
those that come meanwhile keeps only the last: a box that was unticked just before another click was forgotten.
Here a change that waits is sent when one of another field comes. A page in which this cannot be done is served as it
is, with a warning to the user; pyproject.toml admits only versions of viser in which it was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import viser
import zstandard

_UNKNOWN = (
    f"viser {viser.__version__} has another page than the studio knows, which may lose a change that is followed by "
    "another within 50 ms: install a version that elbowroom asks for (pip install -U elbowroom)."
)
# Alphabet of viser's packed code, 5 characters for 4 bytes: printable characters without those special in HTML.
_ALPHABET = bytes(c for c in range(0x21, 0x7F) if chr(c) not in "\"&<>'`")
_POWERS = len(_ALPHABET) ** np.arange(4, -1, -1)
_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL)
# The valve, whatever its variables are called: `to` sends, `last` is the latest message, `waits` if it is unsent.
_VALVE = re.compile(
    rb"(?P<to>\w+)\.sendMessage!==null&&\((?P<last>\w+)=(?P<new>\w+),"
    rb"\w+\?\((?P=to)\.sendMessage\((?P=new)\),(?P<waits>\w+)=!1"
)


@dataclass(frozen=True)
class ServedPage:
    """HTML of the page, the code of its two scripts, None if they are packed differently, and a warning or nothing."""

    html: bytes
    scripts: tuple[bytes, bytes] | None
    warning: str


@cache
def page() -> ServedPage:
    """The page of the installed viser, with the bug fixed."""
    return served((Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8"))


def served(text: str) -> ServedPage:
    """The page that is served in place of an HTML text."""
    found = list(_SCRIPT.finditer(text))
    parts = unpacked(found[0][1]) if len(found) == 1 else None
    if parts is None:
        return ServedPage(text.encode(), None, _UNKNOWN)
    style, code = parts
    patched = _patched(code)
    if patched != code:
        start, end = found[0].span(1)
        text = text[:start] + _packed(found[0][1], style, patched) + text[end:]
    return ServedPage(text.encode(), (found[0][2].encode(), patched), "" if patched != code else _UNKNOWN)


def _patched(code: bytes) -> bytes:
    """The code with changes of other fields sent before a new one takes their place; as it is without such a valve."""
    found = list(_VALVE.finditer(code))
    if len(found) != 1:
        return code
    to, last, new, waits = (found[0][name] for name in ("to", "last", "new", "waits"))
    send = b"%s&&%s&&%s.uuid!==%s.uuid&&(%s.sendMessage(%s),%s=!1)," % (waits, last, last, new, to, last, waits)
    at = found[0].start("last")
    return code[:at] + send + code[at:]


def unpacked(attributes: str) -> tuple[bytes, bytes] | None:
    """Style sheet and code that viser's first script unpacks; None if they are packed differently."""
    attrs = dict(re.findall(r'data-(\w+)="([^"]*)"', attributes))
    if not {"p", "ss", "cs"} <= set(attrs) or not (attrs["ss"] + attrs["cs"]).isdecimal():
        return None
    try:
        whole = zstandard.ZstdDecompressor().decompress(_from_base88(attrs["p"].encode()))
    except (zstandard.ZstdError, ValueError):
        return None
    style = int(attrs["ss"])
    return (whole[:style], whole[style:]) if len(whole) == style + int(attrs["cs"]) else None


def _packed(attributes: str, style: bytes, code: bytes) -> str:
    """The attributes of viser's first script with another style sheet and code."""
    values = {"p": _to_base88(zstandard.ZstdCompressor(10).compress(style + code)).decode()}
    values |= {"ss": str(len(style)), "cs": str(len(code))}
    return re.sub(r'data-(p|ss|cs)="[^"]*"', lambda m: f'data-{m[1]}="{values[m[1]]}"', attributes)


def _from_base88(text: bytes) -> bytes:
    """Decoded bytes: groups of 5 characters are 4 bytes each, a last one of k characters k - 1."""
    digits = np.full(256, -1, np.int64)
    digits[np.frombuffer(_ALPHABET, np.uint8)] = np.arange(len(_ALPHABET))
    values = digits[np.frombuffer(text, np.uint8)]
    if np.any(values < 0):
        raise ValueError("a character that is none of the alphabet")
    whole = len(values) // 5 * 5
    groups = values[:whole].reshape(-1, 5) @ _POWERS
    rest, last = len(values) - whole, 0
    for value in values[whole:].tolist():
        last = last * len(_ALPHABET) + value
    return groups.astype(">u4").tobytes() + (last.to_bytes(rest - 1, "big") if rest > 1 else b"")


def _to_base88(data: bytes) -> bytes:
    """Encode bytes as `_from_base88` decodes them."""
    whole = len(data) // 4 * 4
    values = np.frombuffer(data[:whole], ">u4").astype(np.int64)
    digits = (values[:, None] // _POWERS % len(_ALPHABET)).reshape(-1).tolist()
    rest = len(data) - whole
    if rest:
        last = int.from_bytes(data[whole:], "big")
        digits += [last // len(_ALPHABET) ** k % len(_ALPHABET) for k in range(rest, -1, -1)]
    return np.frombuffer(_ALPHABET, np.uint8)[digits].tobytes()
