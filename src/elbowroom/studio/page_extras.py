"""What can be shown besides: paths of hands, trees of searches, the tightest place."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser

from elbowroom.geometry.rotations import Array
from elbowroom.studio.studio import Studio
from elbowroom.studio.words import millimetres
from elbowroom.tasks.plan import Planned
from elbowroom.world.world import World

_PATH, _NEAR = (74, 143, 181), (200, 68, 60)
_TREES = ((61, 138, 95), (201, 138, 27))  # from the start, from the goal
_STEPS = 60  # points of a path


class Extras:
    """Lines and labels over the scene."""

    def __init__(self, server: viser.ViserServer, studio: Studio) -> None:
        self._server, self._studio = server, studio
        self._nodes: list[Any] = []
        self.paths = self.trees = self.clearance = False

    def show(self, *, paths: bool, trees: bool, clearance: bool) -> None:
        """Switch things on and off."""
        self.paths, self.trees, self.clearance = paths, trees, clearance

    @property
    def shown(self) -> list[str]:
        """Names of what is drawn."""
        return [node.name for node in self._nodes]

    def show_motion(self) -> None:
        """Another motion, or other switches."""
        for node in self._nodes:
            node.remove()
        self._nodes = []
        plan, scene = self._studio.plan, self._server.scene
        if plan is None:
            return
        for k, planned in enumerate(plan.plans):
            points = path_of(plan.world, planned) if self.paths else None
            if points is not None:
                self._draw(f"path{k}", np.stack([points[:-1], points[1:]], axis=1), _PATH, 3.0)
            for end, lines in enumerate(planned.trees if self.trees else ()):
                if len(lines):  # the other end was seen at once
                    self._draw(f"tree{k}_{end}", lines, _TREES[end], 1.5)
        proof = plan.certificate
        if self.clearance and not self._studio.live and proof is not None and proof.points is not None:
            pieces = np.asarray(proof.points, dtype=float).reshape(1, 2, 3)
            self._draw("nearest", pieces, _NEAR, 5.0)
            if proof.clearance_m is not None:
                text = f"{millimetres(proof.clearance_m)} at {proof.at_s:.2f} s"
                self._nodes.append(scene.add_label("/extras/nearest_label", text, position=pieces[0].mean(axis=0)))

    def _draw(self, name: str, pieces: Array, color: tuple[int, int, int], width: float) -> None:
        """Lines (N, 2, 3), so many pixels wide."""
        add = self._server.scene.add_line_segments
        self._nodes.append(add(f"/extras/{name}", pieces, color, thickness=width, thickness_units="screen"))


def path_of(world: World, planned: Planned) -> Array | None:
    """Where the end of a planned limb goes, (N, 3); None for what is no limb."""
    body = world.body(planned.who)
    chain = body.chains.get(planned.limb.split(" ")[0].rstrip(","))
    if chain is None or not len(chain.joints):
        return None
    motion = world.motion(planned.who)
    times = np.linspace(*planned.during, _STEPS)
    return np.asarray(body.transforms(*motion.sample(times))[:, chain.joints[-1], :3, 3])
