"""Edits of the motion in the studio: weaker, muted, and as they were planned again, without planning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from studio_makers import settled, studio_of, umbrella

from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.studio.actions import set_strength
from elbowroom.studio.page_edits import angles, drawn_curves, joints_of, rows_of
from elbowroom.studio.studio import Studio


def _check_curves(studio: Studio) -> None:
    """Curves of an edit are those of the clip at its ends and others within; the elbow is named as a hinge."""
    assert studio.plan is not None
    edit, original, world = studio.plan.edits[0], studio.original, studio.world
    joints = joints_of(edit, world)
    assert "right_forearm" in joints and "pelvis" not in joints
    changed = 0.0
    for joint in joints:
        times, before, after = angles(edit, joint, original, world)
        outside = (times < edit.during[0] - 0.02) | (times > edit.during[1] + 0.02)
        assert outside.any() and np.abs(before - after)[outside].max() < 1e-6
        changed = max(changed, float(np.abs(before - after).max()))
    assert changed > 3.0  # degrees
    drawing = drawn_curves(edit, "right_forearm", original, world, 0.5 * sum(edit.during))
    assert "flexion" in drawing and drawing.count("<polyline") == 6 and "<line" in drawing


def test_an_edit_is_muted_proven_again_and_undone(tmp_path: Path) -> None:
    with studio_of(umbrella(), tmp_path) as studio:
        studio.replan()
        settled(studio)
        whole = studio.plan
        assert whole is not None and studio.certified
        assert rows_of(whole) == {"0": "1  ann, right arm: clear of post"}
        _check_curves(studio)
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
