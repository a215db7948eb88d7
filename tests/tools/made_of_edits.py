"""A plan's motion is its base and its edits, looked at bit by bit."""

from __future__ import annotations

import numpy as np

from elbowroom.motion.clip import Clip
from elbowroom.plan.state.result import Plan
from elbowroom.world.edit import motions


def assert_made_of_edits(plan: Plan) -> None:
    """Whether base and edits make the motions of a plan, and each edit says something."""
    made = motions(plan.base, plan.edits)
    assert set(made) == set(plan.world.characters)
    for who, motion in plan.world.characters.items():
        edited = made[who]
        if edited is motion:
            continue
        assert isinstance(edited, Clip) and isinstance(motion, Clip) and edited.start == motion.start
        assert np.array_equal(edited.root, motion.root), who
        assert np.array_equal(edited.rotations, motion.rotations), who
    for edit in plan.edits:
        assert edit.layer.joints or edit.layer.root is not None
        assert len(edit.layer) and edit.strength == 1.0 and not edit.muted
