"""Studios without a page, for tests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elbowroom.gallery.scenes import FOLDER, scenario
from elbowroom.plan.state.result import Plan
from elbowroom.studio.document import Document, read_document
from elbowroom.studio.folders import Folders
from elbowroom.studio.studio import Studio


def umbrella() -> Document:
    """The gallery's umbrella, not planned yet."""
    return read_document(scenario("umbrella").path, given=True)


@contextmanager
def studio_of(document: Document, folder: Path) -> Iterator[Studio]:
    """A studio whose files are in the folder `work`, which is there, in another."""
    (folder / "work").mkdir(exist_ok=True)
    made = Studio(document, Folders(folder / "work", [FOLDER]), folder / "state")
    try:
        yield made
    finally:
        made.close()


def settled(studio: Studio, seconds: float = 60.0) -> None:
    """Wait until nothing is left to do."""
    end = time.monotonic() + seconds
    while studio.job is not None:
        assert time.monotonic() < end, "the studio did not come to rest"
        time.sleep(0.005)


@contextmanager
def planned_studio(document: Document, folder: Path) -> Iterator[tuple[Studio, Plan]]:
    """A studio with a document that is planned and certified, and its plan."""
    with studio_of(document, folder) as studio:
        studio.replan()
        settled(studio)
        assert studio.certified and studio.plan is not None, studio.said
        yield studio, studio.plan


def restore(studio: Studio, plan: Plan) -> None:
    """Bring a studio back to its first document and a plan of it."""
    studio.drags.forget()
    studio.cancel()
    settled(studio)
    while studio.session.undo():
        pass
    studio.show(studio.document.board())
    studio.set_plan(plan)
