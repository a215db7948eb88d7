"""Edits of the motion in the studio: weaker, muted, and as they were planned again, without planning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from studio_makers import settled, studio_of, umbrella

from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.studio.actions import set_strength
from elbowroom.studio.page_edits import rows_of


def test_an_edit_is_muted_proven_again_and_undone(tmp_path: Path) -> None:
    with studio_of(umbrella(), tmp_path) as studio:
        studio.replan()
        settled(studio)
        whole = studio.plan
        assert whole is not None and studio.certified
        assert rows_of(whole) == {"0": "1  ann, right arm: clear of post"}
        assert set_strength(studio, 0, 1.0, False) is None, "it is so already"
        job = set_strength(studio, 0, 0.5, True)
        assert job is not None and job.what == "proving"
        settled(studio)
        assert studio.document.values["edits"] == [{"number": 1, "strength": 0.5, "mute": True}]
        assert studio.plan is not None and studio.verdict == "not free" and "post" in studio.plan.why
        assert rows_of(studio.plan) == {"0": "1  ann, right arm: clear of post (muted)"}
        before, now = studio.original.motion("ann"), studio.world.motion("ann")
        assert np.array_equal(before.sample([1.8])[1], now.sample([1.8])[1])
        # what was saved so is planned so
        again = plan_storyboard(studio.document.board())
        assert [(e.strength, e.muted) for e in again.edits] == [(0.5, True)] and again.why == studio.plan.why
        set_strength(studio, 0, 1.0, False)
        settled(studio)
        assert studio.certified and "edits" not in studio.document.values
        frames = [plan.world.motion("ann").rotations for plan in (whole, studio.plan)]
        assert np.array_equal(*frames)
        studio.undo()
        settled(studio)
        assert studio.verdict == "not free" and studio.plan is not None and studio.plan.edits[0].muted
