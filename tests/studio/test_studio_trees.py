"""Search trees are kept from planning and drawn on request; ghosts show what moved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from studio_makers import settled

from elbowroom.geometry.rotations import about, to_matrix
from elbowroom.studio.page import opened
from elbowroom.studio.page_view import path_of


def test_trees_of_searches_are_drawn_from_both_ends(tmp_path: Path) -> None:
    page = opened("jar", port=0, folder=tmp_path, state=tmp_path)
    try:
        studio = page.studio
        settled(studio, 240.0)  # kernels of hands may have to be compiled first
        plan = studio.plan
        assert plan is not None and plan.found
        grown = [(k, planned) for k, planned in enumerate(plan.edits) if planned.nodes]
        assert grown and not any(planned.trees for planned in plan.edits if not planned.nodes)
        for _, planned in grown:  # every edge begins at the root or where another ends; what was cut off is not there
            for lines in planned.trees:
                known = np.concatenate([lines[:1, 0], lines[:, 1]])
                assert all(np.linalg.norm(known - begin, axis=1).min() < 1e-9 for begin in lines[:, 0])
        edges = [sum(len(lines) for lines in planned.trees) for _, planned in grown]
        nodes = [planned.nodes - 2 for _, planned in grown]
        assert all(0 < e <= n for e, n in zip(edges, nodes, strict=True))
        assert any(e == n for e, n in zip(edges, nodes, strict=True))  # where nothing was cut off all are there
        # the first tree begins where the hand is first, the other one where it is last, or just beside what it takes
        first = grown[0][1]
        path = path_of(plan.world, first)
        assert path is not None and np.linalg.norm(path[0] - path[-1]) > 0.2
        for lines, point in zip(first.trees, (path[0], path[-1]), strict=True):
            assert np.linalg.norm(lines[0, 0] - point) < 0.02
        assert page.extras.shown == []
        page.extras.show(paths=False, trees=True, clearance=False)
        page.notify("motion")
        wanted = [f"/extras/tree{k}_{e}" for k, p in grown for e, lines in enumerate(p.trees) if len(lines)]
        assert page.extras.shown == wanted
        page.extras.show(paths=False, trees=False, clearance=False)
        page.notify("motion")
        assert page.extras.shown == []
    finally:
        page.close()


def test_ghost_of_an_object_that_only_tilts_is_shown(tmp_path: Path) -> None:
    page = opened("umbrella", port=0, folder=tmp_path, state=tmp_path)
    try:
        settled(page.studio, 240.0)
        ghost, now = page.scene._thing_ghosts["umbrella"], np.eye(4)
        page.scene._pose_ghost("umbrella", now, now)
        assert not ghost.visible
        tilted = np.eye(4)
        tilted[:3, :3] = to_matrix(about([1.0, 0.0, 0.0], 0.1))  # about the handle: it stays where it was
        page.scene._pose_ghost("umbrella", now, tilted)
        assert ghost.visible
    finally:
        page.close()
