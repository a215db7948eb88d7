"""Edits of the motion in the studio: weaker, muted, and as they were planned again, without planning."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from studio_makers import settled, studio_of, umbrella

from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.studio.actions import set_strength
from elbowroom.studio.page_edits import angles, drawn_curves, joints_of, rows_of
from elbowroom.studio.page_looks import heed, put
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


def test_a_strength_set_while_the_last_one_is_proven_is_not_lost(tmp_path: Path) -> None:
    with studio_of(umbrella(), tmp_path) as studio:
        studio.replan()
        settled(studio)
        with studio.lock:  # nothing can be proven in between
            set_strength(studio, 0, 0.5, True)
            assert studio.live and studio.has_edits
            set_strength(studio, 0, 0.9, False)
        settled(studio)
        assert studio.plan is not None and not studio.live
        assert [(e.strength, e.muted) for e in studio.plan.edits] == [(0.9, False)]


class _Field:
    """A box of the panel, as viser has it."""

    def __init__(self) -> None:
        self.value, self._impl = True, SimpleNamespace(uuid="box")
        self.heard: list[Callable[[object], Any]] = []
        self.on_update = self.heard.append


def test_a_box_that_the_user_unticks_stays_so_whatever_is_shown_meanwhile(tmp_path: Path) -> None:
    with studio_of(umbrella(), tmp_path) as studio:
        field, seen = _Field(), list[bool]()
        heed(field, studio, lambda: seen.append(field.value))
        note, act = field.heard
        event = SimpleNamespace(client=object())
        field.value = False
        asyncio.run(note(event))
        put(field, True)  # by a thread of the studio that still knows the old value
        act(event)  # by another one, later
        assert seen == [False] and field.value is False
        put(field, True)
        assert field.value is True
