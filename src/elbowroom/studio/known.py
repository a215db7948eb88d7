"""Motions that were proven already, for undo and redo: the last few, of files as they were then."""

from __future__ import annotations

from elbowroom.plan.result import Plan
from elbowroom.studio.document import Document, named_files
from elbowroom.studio.folders import Folders

# Motions that are kept.
_MOST = 5


class Known:
    """Motions by what decides on them: the document, and the files that it names as they were when it was built."""

    def __init__(self, document: Document) -> None:
        self._plans: dict[str, Plan] = {}
        self._stamps, self._looks = "", ""
        self.built(document)

    def built(self, document: Document) -> bool:
        """A document was built just now; whether it looks as the one before, which files decide on, too."""
        before = self._looks, self._stamps
        self._stamps = Folders.stamps(named_files(document.values), document.path.parent)
        self._looks = document.looks
        return before == (self._looks, self._stamps)

    def of(self, document: Document) -> Plan | None:
        """The motion of a document, where it is known."""
        return self._plans.get(self._stamps + document.as_json())

    def keep(self, document: Document, plan: Plan) -> None:
        """Remember the motion of a document, and forget that which was made longest ago."""
        self._plans[self._stamps + document.as_json()] = plan
        while len(self._plans) > _MOST:
            del self._plans[next(iter(self._plans))]

    def forget(self) -> None:
        """All is to be planned anew."""
        self._plans.clear()
