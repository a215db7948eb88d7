"""Strength of an edit: an entry of the document, and a proof, without re-planning."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from elbowroom.plan.edit import EditChange
from elbowroom.plan.prove import prove
from elbowroom.plan.result import Plan
from elbowroom.studio.document import Document
from elbowroom.studio.studio import Studio
from elbowroom.studio.worker import Job


def set_strength(studio: Studio, number: int, strength: float, muted: bool) -> Job | None:
    """Set the strength of an edit, by its number from 0, and prove the motion; None if nothing changes."""
    with studio.lock:
        plan = studio.plan
        if plan is None or studio.live or number >= len(plan.edits):
            return None
        before = plan.edits[number]
        if (before.strength, before.muted) == (strength, muted):
            return None
        document = with_edit_entry(studio.document, number, strength, muted)
        changes = [c for c in studio.board.edits if c.which != number + 1]
        changes.append(EditChange(number + 1, strength, muted))
        made = plan.with_edits({number + 1: strength}).muted(number + 1, muted=muted)
        board = replace(studio.board, edits=tuple(changes))
        studio.session.do(f"strength of edit {number + 1}", document)
        studio.show(board, keep=True)
        studio.set_plan(made, live=True)

    def work(job: Job) -> Plan:
        return prove(made, board.fps)

    def done(proven: Plan) -> None:
        with studio.lock:
            if studio.board is board:
                studio.set_plan(proven)

    studio.worker.cancel()
    return studio.run(Job("proving", work, done))


def with_edit_entry(document: Document, number: int, strength: float, muted: bool) -> Document:
    """Document with the settings of an edit, by its number from 0; an unchanged edit needs no entry."""
    values = document.edited()
    entries = [entry for entry in values.get("edits", []) if entry.get("number") != number + 1]
    entry: dict[str, Any] = {"number": number + 1, "strength": strength} | ({"mute": True} if muted else {})
    if muted or strength < 1.0:
        entries.append(entry)
    values.pop("edits", None)
    if entries:
        values["edits"] = entries
    return document.with_values(values)
