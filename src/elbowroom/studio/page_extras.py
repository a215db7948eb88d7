"""Overlays: hand paths, search trees, minimum clearance."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import viser

from elbowroom.geometry.rotations import Array
from elbowroom.plan.result import Plan
from elbowroom.studio.messages import millimetres, part, seconds
from elbowroom.studio.studio import Studio
from elbowroom.world.certificate_findings import Interval
from elbowroom.world.edit import Edit
from elbowroom.world.world import World

_PATH, _NEAR = (74, 143, 181), (200, 68, 60)
_TREES = ((61, 138, 95), (201, 138, 27))  # from the start, from the goal
_STEPS = 60  # points of a path
_LATER = (0.4, 2.0, 6.0)  # seconds: browsers that render in software are slow
_KNOT, _SPOT = 0.004, 0.012  # metres: balls at states of a tree, and at the minimum clearance


@dataclass(frozen=True, eq=False)
class Drawing:
    """Lines (N, 2, 3) of a colour and width in pixels; `balls` is the radius of balls at their far ends, or none.

    If `during` is given, the drawing belongs to that interval, seconds.
    """

    lines: Array
    color: tuple[int, int, int]
    width: float
    balls: float = 0.0
    during: Interval | None = None


class Extras:
    """Lines and labels over the scene. Unchanged ones are not sent again."""

    def __init__(self, server: viser.ViserServer, studio: Studio) -> None:
        self._server, self._studio = server, studio
        self._drawn: dict[str, Drawing] = {}
        self._nodes: dict[str, list[Any]] = {}
        self._label: viser.LabelHandle | None = None
        self.paths = self.trees = self.clearance = False

    def show(self, *, paths: bool, trees: bool, clearance: bool) -> None:
        """Switch overlays on and off."""
        self.paths, self.trees, self.clearance = paths, trees, clearance

    @property
    def shown(self) -> list[str]:
        """Names of the overlays drawn."""
        return [f"/extras/{name}" for name in self._drawn]

    def show_motion(self) -> None:
        """Update to another motion, or other switches."""
        plan = self._studio.plan
        wanted = {} if plan is None else self._wanted(plan)
        for name in [n for n in self._drawn if n not in wanted]:
            for node in self._nodes.pop(name):
                node.remove()
            del self._drawn[name]
        for name, drawing in wanted.items():
            if name not in self._drawn or not np.array_equal(self._drawn[name].lines, drawing.lines):
                self._draw(name, drawing)
        self._drawn = wanted
        self._show_label(plan)
        self.show_time()

    def show_time(self) -> None:
        """Update to the time shown; during an action with search trees only those are shown."""
        t = self._studio.player.time
        trees = {name: d.during for name, d in self._drawn.items() if d.during is not None}
        now = {name for name, during in trees.items() if during is not None and during[0] <= t <= during[1]}
        for name in trees:
            for node in self._nodes[name]:
                if node.visible != (name in now or not now):
                    node.visible = name in now or not now

    def _wanted(self, plan: Plan) -> dict[str, Drawing]:
        out: dict[str, Drawing] = {}
        for k, planned in enumerate(plan.edits):
            points = path_of(plan.world, planned) if self.paths else None
            if points is not None:
                out[f"path{k}"] = Drawing(np.stack([points[:-1], points[1:]], axis=1), _PATH, 4.0)
            for end, lines in enumerate(planned.trees if self.trees else ()):
                if len(lines):  # the other end was visible at once
                    out[f"tree{k}_{end}"] = Drawing(lines, _TREES[end], 1.2, _KNOT, planned.during)
        proof = plan.certificate
        spots = None if proof is None else proof.nearest.points
        if self.clearance and not self._studio.live and spots is not None:
            out["nearest"] = Drawing(np.asarray(spots, dtype=float).reshape(1, 2, 3), _NEAR, 5.0, _SPOT)
        return out

    def _draw(self, name: str, drawing: Drawing) -> None:
        scene, lines = self._server.scene, drawing.lines
        look: dict[str, Any] = {"thickness": drawing.width, "thickness_units": "screen"}
        nodes: list[Any] = [scene.add_line_segments(f"/extras/{name}", lines, drawing.color, **look)]
        if drawing.balls:
            ends = np.concatenate([lines[:1, 0], lines[:, 1]])
            dots: dict[str, Any] = {"point_size": 2.0 * drawing.balls, "point_shape": "circle", "precision": "float32"}
            nodes.append(scene.add_point_cloud(f"/extras/{name}_ends", ends, drawing.color, **dots))
        self._nodes[name] = nodes

    def _show_label(self, plan: Plan | None) -> None:
        """Show the distance at the minimum clearance."""
        near, proof = self._drawn.get("nearest"), None if plan is None else plan.certificate
        least = None if proof is None else proof.nearest
        shown = near is not None and least is not None and least.value is not None and least.at is not None
        if self._label is None:
            if not shown:
                return
            self._label = self._server.scene.add_label("/extras/nearest_label", "", anchor="bottom-center")
        if shown:
            assert near is not None and least is not None and least.value is not None and least.at is not None
            pair = "" if least.pair is None else f"{part(least.pair.a)}, {part(least.pair.b)}: "
            text = f"{pair}{millimetres(least.value)} at {seconds(least.at)}"
            self._label.position = near.lines[0].mean(axis=0)
            if self._label.text != text or not self._label.visible:
                self._label.text = text

                # force a redraw: viser's page draws labels a frame late, and no frame when nothing moves
                def nudge() -> None:
                    if self._label is not None:
                        self._label.position = np.asarray(self._label.position) + [0.0, 0.0, 1e-5]

                for later in _LATER:
                    again = threading.Timer(later, nudge)
                    again.daemon = True
                    again.start()
        if self._label.visible != shown:
            self._label.visible = shown


def path_of(world: World, planned: Edit) -> Array | None:
    """Path (N, 3) of the end of a planned limb; None for other plans."""
    body = world.body(planned.who)
    chain = body.chains.get(planned.limb.split(" ")[0].rstrip(","))
    if chain is None or not len(chain.joints):
        return None
    motion = world.motion(planned.who)
    times = np.linspace(*planned.during, _STEPS)
    return np.asarray(body.transforms(*motion.sample(times))[:, chain.joints[-1], :3, 3])
