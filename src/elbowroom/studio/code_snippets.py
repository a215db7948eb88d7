"""Command line and Python code that do the same as the studio, for copying."""

from __future__ import annotations

import shlex
from pathlib import Path

from elbowroom.studio.document import Document


def as_command(document: Document, stem: str) -> str:
    """Command that plans the same motion."""
    tier = "" if document.tier == "auto" else f" --tier {document.tier}"
    return f"elbowroom run {shlex.quote(_name(document))} -o {shlex.quote(stem + '.glb')} --seed {document.seed}{tier}"


def as_python(document: Document, stem: str) -> str:
    """Python code that plans the same motion."""
    tier = "" if document.tier == "auto" else f', tier="{document.tier}"'
    return "\n".join(
        (
            "import elbowroom as er",
            "",
            f"board = er.read_storyboard({_name(document)!r})",
            f"plan = er.plan_storyboard(board, seed={document.seed}{tier})",
            f"er.save([{stem + '.glb'!r}], plan.require().world, board.fps)",
        )
    )


def _name(document: Document) -> str:
    """File name of the storyboard; for an unsaved one the suggested name."""
    return f"{document.name}.yaml" if document.given else Path(document.path).as_posix()
