"""Files that are read: regular ones of a bounded size, never devices, pipes or folders."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from elbowroom.errors import BadFile

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
