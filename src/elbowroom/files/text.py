"""Foreign files: regular ones of a bounded size; text with any line ends and encoding; names that a format accepts."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from elbowroom.errors import BadFile
from elbowroom.geometry.rotations import Array

# Bytes of one file at most, where a format has no limit of its own: keeps a wrong path (a disk image) out of memory.
MOST_BYTES = 256 * 2**20

_KINDS = (
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
    (stat.S_ISFIFO, "is a pipe"),
    (stat.S_ISSOCK, "is a socket"),
)


def check_regular(path: str | Path, most: int = MOST_BYTES, would_do: str = "give a regular file") -> int:
    """Size in bytes of a regular file of at most `most` bytes; `BadFile` for anything else. The file is not opened."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise BadFile(path, "does not exist") from None
    except (OSError, ValueError) as error:
        raise BadFile(path, f"cannot be read ({_why(error)})") from None
    return _checked(path, found, most, would_do)


def read_bytes(path: str | Path, most: int = MOST_BYTES, would_do: str = "give a regular file") -> bytes:
    """Content of a regular file of at most `most` bytes; `BadFile` for anything else."""
    check_regular(path, most, would_do)
    try:
        # what is opened may be another file by now: it is asked again, and a pipe may not keep us waiting
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            return file.read(_checked(path, os.fstat(file.fileno()), most, would_do))
    except OSError as error:
        raise BadFile(path, f"cannot be read ({_why(error)})") from None


def resolved_beneath(folder: Path, name: str) -> Path | None:
    """The file `name` in or below a folder, symbolic links resolved; None where it leads elsewhere."""
    try:
        found, root = (folder / name).resolve(), folder.resolve()
    except (OSError, ValueError, RuntimeError):  # names with zeros, links in a circle
        return None
    return found if found.is_relative_to(root) and found != root else None


def _checked(path: str | Path, found: os.stat_result, most: int, would_do: str) -> int:
    kind = next((what for test, what in _KINDS if test(found.st_mode)), None)
    if kind is not None or not stat.S_ISREG(found.st_mode):
        raise BadFile(path, kind or "is not a regular file", would_do=would_do)
    if found.st_size > most:
        raise BadFile(path, f"has {found.st_size / 2**20:,.0f} MB", would_do=f"at most {most // 2**20:,} MB are read")
    return found.st_size


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


# Numbers beyond this are damage, not measurements: places on Earth, whose coordinates reach 1e10 mm, are below it.
MOST = 1e11

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
