"""Checks of whole bodies: others beside a check count as well, whatever is changed about it."""

from __future__ import annotations

import elbowroom as er
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.solids import box
from elbowroom.world.fast_body import BodyCheck
from elbowroom.world.world import World


def test_a_body_is_free_only_where_it_is_free_in_all_checks() -> None:
    clip = er.idle(er.preset("woman"), seconds=0.2, fps=30.0)
    pose = Pose.of(clip.root[0], clip.rotations[0])
    empty = World(floor=-0.001).with_character("ann", clip)  # at 0 rounding decides whether soles touch it
    here = BodyCheck(empty, "ann", 0.0)
    later = BodyCheck(empty.with_static("post", box((0.3, 0.3, 2.0), (0.0, -0.1, 1.0))), "ann", 0.0)
    assert here.free(pose) and here.blame(pose) is None and not later.free(pose)
    both = here.with_others([here, later])
    for check in (both, both.with_margin(0.0), both.with_parts([0]), both.with_folds(clip.world())):
        assert not check.free(pose) and check.free_share(pose.root, pose.rotations[None]) == 0.0
        blamed = check.blame(pose)
        assert blamed is not None and "post" in blamed
    assert here.with_others([here]).free(pose) and here.free(pose), "the check itself stays as it was"
