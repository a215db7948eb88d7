"""What the studio says of a motion is true at any moment, and what was undone is what was there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from studio_makers import settled, studio_of, umbrella

from elbowroom.geometry.transforms import transform
from elbowroom.studio import filing
from elbowroom.studio.studio import Studio


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    with studio_of(umbrella(), tmp_path) as made:
        yield made


def test_what_was_proven_before_a_thing_was_moved_is_no_proof_after_it(studio: Studio) -> None:
    studio.replan()
    settled(studio)
    assert studio.certified
    claims: list[bool] = []
    studio.listen(lambda topic: claims.append(studio.certified) if topic == "document" else None)
    with studio.lock:
        studio.place("post", studio.places["post"].T @ transform([0.05, 0.1, 0.0]))
        assert claims and not any(claims) and not studio.certified
        studio.cancel()
    settled(studio)
    assert not studio.certified, "it is claimed for where the post is no longer"
    studio.undo()
    settled(studio)
    assert studio.certified


def test_undo_after_save_as_stays_in_the_file(studio: Studio) -> None:
    first = studio.document
    studio.edit("seed 1", first.with_(seed=1), replan=False)
    filing.save(studio, "mine.yaml")
    studio.edit("seed 2", studio.document.with_(seed=2), replan=False)
    for seed in (1, 0):
        studio.undo()
        assert (studio.document.name, studio.document.seed, studio.document.given) == ("mine", seed, False)
        assert studio.session.unsaved == (seed != 1)
    assert studio.document.values == first.values
    studio.redo()
    assert not studio.session.unsaved and studio.document.seed == 1
    studio.redo()
    assert studio.document.seed == 2
    studio.cancel()
