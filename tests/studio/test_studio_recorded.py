"""Drags about recorded people, who touch themselves as they did."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.studio.document import read_document
from elbowroom.studio.live import Drag
from elbowroom.studio.places import places_of

BOARD = """
elbowroom: 1
fps: 120
scene:
  floor: 0.0
  meshes:
    - {maker: lamp_post, name: post, at: [0.28, -0.2, 0]}
characters:
  ann: {clip: 02_01.bvh}
tasks:
  - repair: {who: ann}
"""


@pytest.mark.parametrize("by", [(0.0, 0.0), (-0.03, 0.1)])
def test_a_recorded_walk_follows_a_post_and_is_proven_at_once(
    data: Path, tmp_path: Path, by: tuple[float, float]
) -> None:
    shutil.copy(data / "mocap" / "cmu_bvh" / "02_01.bvh", tmp_path)
    (tmp_path / "walk.yaml").write_text(BOARD)
    document = read_document(tmp_path / "walk.yaml")
    board = document.board()
    plan = plan_storyboard(board)
    assert plan.found and any(planned.limb.startswith("right_arm") for planned in plan.edits)
    drag = Drag("post", document, board, plan)
    T = places_of(document, board)["post"].T.copy()
    T[:2, 3] += by
    shown = drag.follow(T, sure=True)
    assert shown.found and shown.edits
    assert drag.prove(shown, T).found
    measured = drag.prove(shown, T, clearance=True)
    assert measured.found and measured.certificate is not None and (measured.certificate.clearance_m or 0.0) > 0.0
