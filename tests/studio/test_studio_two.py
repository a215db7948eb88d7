"""Two studios with one file, each of which works on its own: nothing that either has made is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from elbowroom.errors import BadValue
from elbowroom.studio import filing
from elbowroom.studio.document import read_document
from elbowroom.studio.folders import Folders
from elbowroom.studio.studio import Studio

KITCHEN = "elbowroom: 1\nfps: 30\nobjects:\n  jar: {mesh: {maker: jar}, at: [0, 1, 0.75]}  # full\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "kitchen.yaml").write_text(KITCHEN)
    return tmp_path / "kitchen.yaml"


def opened(path: Path) -> Studio:
    return Studio(read_document(path), Folders(path.parent), path.parent / "state")


def at_rate(studio: Studio, fps: int) -> None:
    studio.edit(f"{fps} fps", studio.document.with_values({**studio.document.values, "fps": fps}), replan=False)


def test_who_saves_last_is_warned_and_replaces_nothing_that_is_lost(path: Path) -> None:
    ann, bob = opened(path), opened(path)
    try:
        at_rate(ann, 40)
        at_rate(bob, 50)
        filing.save(ann, path.name)
        filing.save(ann, path.name)  # her own may be replaced
        with pytest.raises(BadValue, match=r"kitchen\.yaml was changed by another program since .*: press Save again"):
            filing.save(bob, path.name)
        assert read_document(path).values["fps"] == 40 and bob.session.unsaved
        filing.save(bob, path.name)
        assert read_document(path).values["fps"] == 50 and "# full" in path.read_text()
        assert "the previous version is in kitchen.yaml.bak" in bob.said[1]
        assert read_document(path.with_name("kitchen.yaml.bak")).values["fps"] == 40
        at_rate(ann, 60)
        with pytest.raises(BadValue, match="was changed by another program"):
            filing.save(ann, path.name)
        filing.save(ann, path.name)
        kept = [read_document(path.with_name(f"kitchen.yaml.bak{n}")).values["fps"] for n in ("", 2)]
        assert read_document(path).values["fps"] == 60 and kept == [40, 50]
    finally:
        ann.close()
        bob.close()


def test_what_changes_between_the_warning_and_the_answer_is_warned_of_again(path: Path) -> None:
    bob = opened(path)
    try:
        at_rate(bob, 50)
        for fps in (40, 41, 42):
            path.write_text(KITCHEN.replace("30", str(fps)))
            with pytest.raises(BadValue, match="was changed by another program"):
                filing.save(bob, path.name)
        assert read_document(path).values["fps"] == 42
    finally:
        bob.close()


def test_unsaved_work_of_both_is_kept_apart_and_offered_when_they_have_ended(path: Path) -> None:
    ann, bob = opened(path), opened(path)
    try:
        at_rate(ann, 40)
        at_rate(bob, 50)
        filing.save(ann, path.name)  # what is kept of bob's is not hers to forget
        at_rate(ann, 45)
        for other in (ann, bob):
            assert other.autosave.found() == []  # nothing is offered that somebody is still at
    finally:
        ann.close()
        bob.close()
    later = opened(path)
    try:
        assert sorted(kept.document.values["fps"] for kept in later.kept) == [45, 50]
        theirs = next(kept for kept in later.kept if kept.document.values["fps"] == 50)
        filing.restore(later, theirs)
        assert later.document.values["fps"] == 50 and [k.document.values["fps"] for k in later.kept] == [45]
        with pytest.raises(BadValue, match="was changed by another program"):  # by ann, after bob had opened it
            filing.save(later, path.name)
    finally:
        later.close()
