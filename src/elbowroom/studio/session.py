"""History of a document: undo and redo, saved state, the last few proven motions, and autosave of unsaved work.

Autosave survives a crash of the server: one file for each running studio.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.atomic import writing
from elbowroom.plan.state.result import Plan
from elbowroom.studio.document import Document, from_json, named_files
from elbowroom.studio.folders import Folders

# Steps that can be undone.
MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class EditStep:
    """Name of an edit, and the document before and after it."""

    what: str
    before: Document
    after: Document


class Session:
    """Current document and its history. Not thread-safe."""

    def __init__(self, document: Document, autosave: Autosave | None = None) -> None:
        self._document = self._saved = document
        self._autosave = autosave
        self._done: list[EditStep] = []
        self._undone: list[EditStep] = []

    @property
    def document(self) -> Document:
        """Current document."""
        return self._document

    @property
    def unsaved(self) -> bool:
        """Return whether there are changes since it was opened or saved."""
        return not self._document.same(self._saved)

    @property
    def can_undo(self) -> str:
        """Name of the edit that undo would revert, empty if none."""
        return self._done[-1].what if self._done else ""

    @property
    def can_redo(self) -> str:
        """Name of the edit that redo would repeat, empty if none."""
        return self._undone[-1].what if self._undone else ""

    def do(self, what: str, after: Document) -> None:
        """Make an edit; an unchanged document is not one."""
        if after.same(self._document):
            return
        self._done = [*self._done, EditStep(what, self._document, after)][-MOST_STEPS:]
        self._undone = []
        self._set(after)

    def undo(self) -> str:
        """Undo the last edit; returns its name, empty if there is none."""
        if not self._done:
            return ""
        step = self._done.pop()
        self._undone.append(step)
        self._set(step.before)
        return step.what

    def redo(self) -> str:
        """Redo the last undone edit; returns its name, empty if there is none."""
        if not self._undone:
            return ""
        step = self._undone.pop()
        self._done.append(step)
        self._set(step.after)
        return step.what

    def open(self, document: Document) -> None:
        """Start over with another document, which counts as saved. Unsaved work on this one stays autosaved."""
        if self.unsaved and self._autosave is not None:
            self._autosave.set_aside()
        self._done, self._undone, self._saved = [], [], document
        self._set(document)

    def take_up(self, document: Document) -> None:
        """Start over with unsaved work of another session; that on this document stays autosaved."""
        if self.unsaved and self._autosave is not None:
            self._autosave.set_aside()
        self._done, self._undone = [], []
        self._saved = document.with_(values={})
        self._set(document)

    def saved(self, document: Document) -> None:
        """Register a save, perhaps under another name: earlier edits belong to the new file, too."""

        def moved(step: EditStep) -> EditStep:
            return replace(step, before=_as_of(document, step.before), after=_as_of(document, step.after))

        self._done, self._undone = [moved(step) for step in self._done], [moved(step) for step in self._undone]
        self._saved = document
        self._set(document)

    def _set(self, document: Document) -> None:
        self._document = document
        if self._autosave is None:
            return
        if self.unsaved:
            self._autosave.keep(document)
        else:
            self._autosave.forget()


def _as_of(saved: Document, other: Document) -> Document:
    """Earlier or later state of a document, moved to the file that it was saved to."""
    same = (other.path, other.given) == (saved.path, saved.given)
    return (other if same else other.moved_to(saved.path)).with_(source=saved.source)


# Motions that are cached.
_MOST = 5


class PlanCache:
    """Plans by document and by the state of the files that it referred to when it was built."""

    def __init__(self, document: Document) -> None:
        self._plans: dict[str, Plan] = {}
        self._stamps, self._looks = "", ""
        self.built(document)

    def built(self, document: Document) -> bool:
        """Register a document that was just built; returns whether it looks like the previous one, files included."""
        before = self._looks, self._stamps
        self._stamps = Folders.stamps(named_files(document.values), document.path.parent)
        self._looks = document.looks
        return before == (self._looks, self._stamps)

    def of(self, document: Document) -> Plan | None:
        """Plan of a document, None if unknown."""
        return self._plans.get(self._stamps + document.as_json())

    def keep(self, document: Document, plan: Plan) -> None:
        """Store the plan of a document and drop the oldest one."""
        self._plans[self._stamps + document.as_json()] = plan
        while len(self._plans) > _MOST:
            del self._plans[next(iter(self._plans))]

    def forget(self) -> None:
        """Clear the cache."""
        self._plans.clear()


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
class UnsavedWork:
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

    def found(self) -> list[UnsavedWork]:
        """Unsaved work of studios that no longer run, the latest first."""
        out = []
        for file in self._folder.glob(f"*{_SUFFIX}"):
            if _claimed(file):
                continue
            with contextlib.suppress(OSError, BadValue, UnicodeDecodeError):
                out.append(UnsavedWork(file, from_json(file.read_text(encoding="utf-8")), file.stat().st_mtime))
        for lock in self._folder.glob("*.lock"):
            file = lock.with_suffix(_SUFFIX)
            with contextlib.suppress(OSError):
                if not file.exists() and time.time() - lock.stat().st_mtime > _YOUNG and not _claimed(file):
                    lock.unlink()
        return sorted(out, key=lambda kept: -kept.when)

    @staticmethod
    def discard(kept: UnsavedWork) -> None:
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
