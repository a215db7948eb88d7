"""Cache of the last few proven motions, for undo and redo, keyed also by the state of files."""

from __future__ import annotations

from elbowroom.plan.result import Plan
from elbowroom.studio.document import Document, named_files
from elbowroom.studio.folders import Folders

# Motions that are kept.
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
