"""History of a document: undo and redo, saved state, autosave, and the last few proven motions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from elbowroom.plan.result import Plan
from elbowroom.studio.autosave import Autosave
from elbowroom.studio.document import Document, named_files
from elbowroom.studio.folders import Folders

# Steps that can be undone.
MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class Step:
    """Name of an edit, and the document before and after it."""

    what: str
    before: Document
    after: Document


class Session:
    """Current document and its history. Not thread-safe."""

    def __init__(self, document: Document, autosave: Autosave | None = None) -> None:
        self._document = self._saved = document
        self._autosave = autosave
        self._done: list[Step] = []
        self._undone: list[Step] = []

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
        self._done = [*self._done, Step(what, self._document, after)][-MOST_STEPS:]
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

        def moved(step: Step) -> Step:
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
