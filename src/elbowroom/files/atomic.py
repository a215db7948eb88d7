"""Writing files all or nothing: a failed or interrupted command leaves no half-written file behind."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elbowroom.errors import BadFile

# Bits of a file's mode that allow writing.
_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
# Bytes that are written to see whether the disk is full.
_TRIED = 4096


def check_writable(path: str | Path) -> Path:
    """The path, if a file can be put there: it is tried with a file that has no name. Call before long work."""
    target = Path(path)
    try:
        found = target.stat()
    except (FileNotFoundError, NotADirectoryError):
        found = None
    except (OSError, ValueError) as error:
        raise BadFile(target, f"cannot be written ({getattr(error, 'strerror', None) or error})") from None
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise BadFile(target, "is a folder", would_do="give a file name")
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise BadFile(target, "is not a regular file", would_do="give another name")
    if found is not None and not (found.st_mode & _WRITE and os.access(target, os.W_OK)):
        raise BadFile(target, "is read-only", would_do="give another name, or allow writing to it")
    if not target.parent.is_dir():
        raise BadFile(target, "is in a folder that does not exist", would_do=f"create {target.parent} first")
    try:
        with tempfile.TemporaryFile(dir=target.parent) as file:
            file.write(bytes(_TRIED))
    except OSError as error:
        raise BadFile(target, f"cannot be written ({(error.strerror or str(error)).lower()})") from None
    return target


@contextmanager
def writing(*paths: str | Path) -> Iterator[list[Path]]:
    """Temporary stand-ins for `paths`, moved into place together when the block ends well, deleted when it does not.

    Each stand-in has the suffix of its path, so that writers that look at the suffix are content.
    """
    targets = [Path(p) for p in paths]
    made: list[Path] = []
    try:
        for target in targets:
            if target.is_dir():
                raise BadFile(target, "is a folder", would_do="give a file name")
            try:
                handle, name = tempfile.mkstemp(suffix=target.suffix, prefix=f".{target.stem}-", dir=target.parent)
            except OSError as error:
                raise BadFile(target, f"cannot be written ({error.strerror})") from None
            os.close(handle)
            made.append(Path(name))
        yield made
        mask = os.umask(0)
        os.umask(mask)
        for stand_in, target in zip(made, targets, strict=True):
            os.chmod(stand_in, 0o666 & ~mask)  # mkstemp makes files private; the user's own mask decides
            os.replace(stand_in, target)
    finally:
        for stand_in in made:
            stand_in.unlink(missing_ok=True)


@contextmanager
def said_of(path: str | Path) -> Iterator[None]:
    """Report errors of the system while a file is written, such as a full disk, in one sentence about that file."""
    try:
        yield
    except OSError as error:
        why = (error.strerror or str(error)).splitlines() or [type(error).__name__]
        raise BadFile(path, f"cannot be written ({why[0][:100].lower()})") from None
