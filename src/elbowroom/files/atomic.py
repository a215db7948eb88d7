"""Writing files all or nothing: a failed or interrupted command leaves no half-written file behind."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
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


# Stand-ins of processes on other machines, or from before the last start of this one, count as abandoned after this
# time, seconds: a week is longer than any motion takes.
_ABANDONED_S = 7 * 24 * 3600.0
# Characters of a file's name in that of its stand-in.
_STEM = 40
_STAND_IN = re.compile(r"\..*-elbowroom-([0-9a-f]{8})-(\d+)-[^-]*")
# Folders that were looked through by this process.
_tidied: set[Path] = set()


@cache
def _machine() -> str:
    """Eight hexadecimal digits for this machine since its last start; process numbers are compared within it only."""
    known = [platform.node()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        with suppress(OSError):
            known.append(os.readlink(path) if os.path.islink(path) else Path(path).read_text())
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:8]


def _runs(process: int) -> bool:
    """Return whether a process of this machine is still running; True where that cannot be told."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def tidy(folder: Path) -> None:
    """Remove stand-ins that killed processes left in a folder; those of running ones stay."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            named = _STAND_IN.fullmatch(entry.name)
            if named is None:
                continue
            with suppress(OSError):
                here = named[1] == _machine()
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if entry.is_file(follow_symlinks=False) and (not _runs(int(named[2])) if here else age > _ABANDONED_S):
                    os.unlink(entry.path)


@contextmanager
def writing(*paths: str | Path) -> Iterator[list[Path]]:
    """Temporary stand-ins for `paths`, moved into place together when the block ends well, deleted when it does not.

    Each stand-in has the suffix of its path, so that writers that look at the suffix are content. What killed processes
    left in the same folders is removed first.
    """
    targets = [Path(p) for p in paths]
    made: list[Path] = []
    try:
        for target in targets:
            if target.is_dir():
                raise BadFile(target, "is a folder", would_do="give a file name")
            if target.parent not in _tidied:
                _tidied.add(target.parent)
                tidy(target.parent)
            prefix = f".{target.stem[:_STEM]}-elbowroom-{_machine()}-{os.getpid()}-"
            try:
                handle, name = tempfile.mkstemp(suffix=target.suffix, prefix=prefix, dir=target.parent)
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
