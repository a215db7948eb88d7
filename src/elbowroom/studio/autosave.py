"""Unsaved work on disk, so that it outlives a crash of the server: one file for each running studio."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elbowroom.errors import BadValue
from elbowroom.files.atomic import writing
from elbowroom.studio.document import Document, from_json

_SUFFIX = ".autosave"


def state_folder() -> Path:
    """Where the studio keeps unsaved work; `ELBOWROOM_STATE` moves it."""
    told = os.environ.get("ELBOWROOM_STATE")
    if told:
        return Path(told)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "elbowroom"


@dataclass(frozen=True, eq=False)
class Kept:
    """Unsaved work that was found: the document, and when it was last changed, in seconds since 1970."""

    file: Path
    document: Document
    when: float


class Autosave:
    """Keeps one document in a folder while it has unsaved changes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._file = self._fresh()

    def _fresh(self) -> Path:
        return self._folder / f"{os.getpid()}-{time.time_ns()}{_SUFFIX}"

    def set_aside(self) -> None:
        """Leave what is kept as it is, to be found again, and keep what comes in another file."""
        self._file = self._fresh()

    def keep(self, document: Document) -> None:
        """Write the document down in one step."""
        with writing(self._file) as (stand_in,):
            stand_in.write_text(document.kept_text(), encoding="utf-8")

    def forget(self) -> None:
        """There is nothing unsaved any more."""
        self._file.unlink(missing_ok=True)

    def found(self) -> list[Kept]:
        """Unsaved work of studios that no longer run, the latest first."""
        out = []
        for file in self._folder.glob(f"*{_SUFFIX}"):
            if file == self._file or _runs(file.name.partition("-")[0]):
                continue
            with contextlib.suppress(OSError, BadValue, UnicodeDecodeError):
                out.append(Kept(file, from_json(file.read_text(encoding="utf-8")), file.stat().st_mtime))
        return sorted(out, key=lambda kept: -kept.when)

    @staticmethod
    def discard(kept: Kept) -> None:
        """Unsaved work is not wanted any more."""
        kept.file.unlink(missing_ok=True)


def _runs(told: Any) -> bool:
    """Whether a process of that number runs; this one's own files from before count as those of another."""
    if not str(told).isdigit() or int(told) == os.getpid():
        return False
    try:
        os.kill(int(told), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
