"""The same work as a command line and as Python, for copying."""

from __future__ import annotations

import shlex
from pathlib import Path

from elbowroom.studio.document import Document


def as_command(document: Document, stem: str) -> str:
    """The command that plans the storyboard into the same motion."""
    tier = "" if document.tier == "auto" else f" --tier {document.tier}"
    return f"elbowroom run {shlex.quote(_name(document))} -o {shlex.quote(stem + '.glb')} --seed {document.seed}{tier}"


def as_python(document: Document, stem: str) -> str:
    """Python that plans the storyboard into the same motion."""
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
    """The file that has to be there: of storyboards that were not saved the one that they would be saved as."""
    return f"{document.name}.yaml" if document.given else Path(document.path).as_posix()
