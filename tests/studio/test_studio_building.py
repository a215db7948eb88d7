"""Storyboards that take long to build, for undo, restore and edits: it is told meanwhile, and can be cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from studio_makers import settled, studio_of, umbrella

from elbowroom.errors import BadFile
from elbowroom.stopping import may_stop_here
from elbowroom.studio import filing
from elbowroom.studio.document import Document
from elbowroom.studio.session import Autosave, Session
from elbowroom.studio.studio import Studio


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    """One edit was made, and another studio has left unsaved work."""
    other = Autosave(tmp_path / "state")
    Session(umbrella(), other).do("seed 9", umbrella().with_(seed=9))
    other.close()
    with studio_of(umbrella(), tmp_path) as made:
        made.edit("seed 3", made.document.with_(seed=3), replan=False)
        yield made


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Storyboards are built as soon as it is set."""
    opened, build = threading.Event(), Document.board

    def slow(document: Document) -> object:
        while not opened.is_set():
            may_stop_here()
            time.sleep(0.001)
        return build(document)

    monkeypatch.setattr(Document, "board", slow)
    return opened


def begun(studio: Studio, act: Callable[[], None]) -> threading.Thread:
    """Something that the user does, once a storyboard is being built for it."""
    thread = threading.Thread(target=studio.trying, args=[act])
    thread.start()
    while studio.job is None or studio.job.state != "running":
        assert thread.is_alive()
        time.sleep(0.001)
    return thread


ACTS: dict[str, tuple[Callable[[Studio], None], str, int]] = {
    "undo": (lambda studio: studio.undo(), "undo seed 3", 0),
    "restore": (lambda studio: filing.restore(studio, studio.kept[0]), "restore umbrella", 9),
    "edit": (lambda studio: studio.edit("seed 4", studio.document.with_(seed=4)), "seed 4", 4),
}


@pytest.mark.parametrize("act", ACTS)
def test_it_is_told_while_it_takes_long(studio: Studio, gate: threading.Event, act: str) -> None:
    do, what, seed = ACTS[act]
    told: list[str | None] = []
    studio.listen(lambda topic: told.append(studio.job.what if studio.job else None) if topic == "job" else None)
    thread = begun(studio, lambda: do(studio))
    assert told == [what] and studio.job is not None and studio.job.seconds > 0.0
    gate.set()
    thread.join(20.0)
    assert studio.document.seed == seed and studio.builder.current is None
    studio.cancel()
    settled(studio)


@pytest.mark.parametrize("act", ACTS)
def test_cancelled_it_leaves_all_as_it_was(studio: Studio, gate: threading.Event, act: str) -> None:
    before, board, kept = studio.document, studio.board, len(studio.kept)
    thread = begun(studio, lambda: ACTS[act][0](studio))
    studio.cancel()  # without waiting for the studio, which is busy
    thread.join(20.0)
    assert not thread.is_alive() and studio.said == ("plain", "Cancelled.")
    assert studio.document is before and studio.board is board and studio.job is None
    assert studio.session.can_undo == "seed 3" and studio.session.can_redo == "" and len(studio.kept) == kept == 1
    gate.set()
    studio.undo()
    assert studio.document.seed == 0
    studio.cancel()


def test_an_undo_whose_files_are_gone_undoes_nothing(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(document: Document) -> object:
        raise BadFile("post.obj", "does not exist")

    monkeypatch.setattr(Document, "board", gone)
    assert not studio.trying(studio.undo)
    assert "does not exist" in studio.said[1] and studio.document.seed == 3 and studio.session.can_undo == "seed 3"
