"""Text of foreign files: any line ends, any encoding, a limited size; and names that a format accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from elbowroom.errors import BadFile
from elbowroom.files.regular import read_bytes
from elbowroom.geometry.rotations import Array

# Numbers beyond this are damage, not measurements, in every unit that motion capture uses.
MOST = 1e7

# Control characters have no business in names and words, and would end up on the user's terminal.
_CONTROLS = {c: "?" for c in (*range(32), *range(127, 160)) if chr(c) not in "\t\n\r\v\f"}


def shown(word: str, most: int = 40) -> str:
    """A word from a file, fit to be put into a sentence: at most so many letters."""
    return "".join(c if c.isprintable() else "?" for c in word[:most])


def read_lines(path: str | Path, kind: str) -> list[str]:
    """Lines of a text file without their ends, which may be mixed; `kind` names the format in errors."""
    raw = read_bytes(path)
    if not raw.strip():
        raise BadFile(path, "is empty", would_do=f"{kind} is text")
    if b"\0" in raw:
        line = 1 + raw.count(b"\n", 0, raw.index(b"\0"))
        raise BadFile(path, "contains binary data", f"line {line}", f"{kind} is plain text")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS).split("\n")


def numbers(path: str | Path, words: Sequence[str], where: str) -> Array:
    """Words as finite numbers of a sane size, (N,)."""
    try:
        values = np.array(list(map(float, words)), dtype=float)
    except ValueError:
        raise BadFile(path, f"'{shown(_first_bad(words))}' is not a number", where) from None
    if not np.all(np.abs(values) <= MOST):  # also catches nan, which compares false
        k = int(np.flatnonzero(~(np.abs(values) <= MOST))[0])
        raise BadFile(path, f"'{shown(words[k])}' is not a usable number", where, f"numbers up to {MOST:.0e} are")
    return values


def _first_bad(words: Sequence[str]) -> str:
    for word in words:
        try:
            float(word)
        except ValueError:
            return word
    return ""


def accepted_names(names: Iterable[str], *, plain: bool = False) -> list[str]:
    """One name for each given one, without '/' and control characters, never empty, never twice.

    `plain` keeps ASCII letters, digits and underscores alone, with no digit first, as USD wants it.
    """
    out: list[str] = []
    taken: set[str] = set()
    for name in names:
        clean = re.sub(r"[^A-Za-z0-9_]", "_", name) if plain else re.sub(r"[/\x00-\x1f\x7f]", "_", name).strip()
        if not clean or (plain and clean[0].isdigit()):
            clean = f"_{clean}"
        unique, number = clean, 2
        while unique in taken:
            unique, number = f"{clean}_{number}", number + 1
        taken.add(unique)
        out.append(unique)
    return out
