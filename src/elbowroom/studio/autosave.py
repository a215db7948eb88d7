"""Autosave of unsaved work, which survives a crash of the server: one file for each running studio."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.atomic import writing
from elbowroom.studio.document import Document, from_json

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_SUFFIX = ".autosave"
_YOUNG = 60.0  # seconds


def state_folder() -> Path:
    """Folder of unsaved work; `ELBOWROOM_STATE` overrides it."""
    override = os.environ.get("ELBOWROOM_STATE")
    if override:
        return Path(override)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "elbowroom"


@dataclass(frozen=True, eq=False)
class Kept:
    """Unsaved work found on disk: the document, and when it was last changed, in seconds since 1970."""

    file: Path
    document: Document
    when: float


class Autosave:
    """Autosave of one document while it has unsaved changes.

    If nothing can be written, on a full disk for example, work continues and `warning` has a sentence about it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.warning = ""
        self._claim: _Claim | None = None
        with self._telling():
            folder.mkdir(parents=True, exist_ok=True)
            self._claim = _Claim(folder)

    def set_aside(self) -> None:
        """Leave the current file to be found again, and use another one from now on."""
        with self._telling():
            self.close()
            self._claim = _Claim(self._folder)

    def keep(self, document: Document) -> None:
        """Write the document atomically."""
        with self._telling():
            if self._claim is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._claim = _Claim(self._folder)
            with writing(self._claim.file) as (stand_in,):
                stand_in.write_text(document.kept_text(), encoding="utf-8")

    def forget(self) -> None:
        """Remove the file: everything is saved."""
        with self._telling():
            if self._claim is not None:
                self._claim.file.unlink(missing_ok=True)

    def found(self) -> list[Kept]:
        """Unsaved work of studios that no longer run, the latest first."""
        out = []
        for file in self._folder.glob(f"*{_SUFFIX}"):
            if _claimed(file):
                continue
            with contextlib.suppress(OSError, BadValue, UnicodeDecodeError):
                out.append(Kept(file, from_json(file.read_text(encoding="utf-8")), file.stat().st_mtime))
        for lock in self._folder.glob("*.lock"):
            file = lock.with_suffix(_SUFFIX)
            with contextlib.suppress(OSError):
                if not file.exists() and time.time() - lock.stat().st_mtime > _YOUNG and not _claimed(file):
                    lock.unlink()
        return sorted(out, key=lambda kept: -kept.when)

    @staticmethod
    def discard(kept: Kept) -> None:
        """Discard unsaved work."""
        with contextlib.suppress(OSError):
            kept.file.unlink(missing_ok=True)
            _lock_of(kept.file).unlink(missing_ok=True)

    def close(self) -> None:
        """Release the file as that of a studio that no longer runs."""
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
            self.warning = ""
        except (OSError, BadFile) as error:
            why = error.strerror if isinstance(error, OSError) else str(error).removesuffix(".")
            self.warning = f"Autosave cannot write to {self._folder} ({why}): save often."


class _Claim:
    """Autosave file that no other studio touches while the lock beside it is held.

    The system releases a lock whenever a process ends; a process id could be reused.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / f"{os.getpid()}-{time.time_ns()}{_SUFFIX}"
        self._lock = _lock_of(self.file).open("w")
        if fcntl is not None:
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def release(self) -> None:
        """Let others find the saved work; the lock is removed if there is none."""
        if not self.file.exists():
            with contextlib.suppress(OSError):
                _lock_of(self.file).unlink(missing_ok=True)
        self._lock.close()


def _lock_of(file: Path) -> Path:
    return file.with_suffix(".lock")


def _claimed(file: Path) -> bool:
    """Return whether a running studio uses a file."""
    if fcntl is None:
        return file.name.startswith(f"{os.getpid()}-")
    try:
        with _lock_of(file).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no lock at all
        return False
    return False
