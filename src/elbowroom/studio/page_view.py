"""View tab (overlays, followed character, light or dark), its overlays, keyboard shortcuts and the command palette."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import viser

from elbowroom.errors import BadValue
from elbowroom.studio import filing
from elbowroom.studio.page_compare import Compare
from elbowroom.studio.page_looks import asked, offer
from elbowroom.studio.places import deleted
from elbowroom.studio.studio import Studio, Topic

if TYPE_CHECKING:
    from elbowroom.studio.page import Page

import threading
from dataclasses import dataclass

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.plan.state.result import Plan
from elbowroom.studio.messages import millimetres, part, seconds
from elbowroom.world.certificate_findings import Interval
from elbowroom.world.edit import Edit
from elbowroom.world.world import World

_NO_TREES = "No search was needed for this motion, so there are no trees."
_NOBODY = "nobody"


class ViewTab:
    """Switches of the view."""

    def __init__(self, server: viser.ViserServer, studio: Studio, page: Page, tab: Any) -> None:
        self._studio, self._page, gui = studio, page, server.gui
        with tab:
            self._ghost = gui.add_checkbox("Ghost", True, hint="Previous motion, where it differs.")
            self._paths = gui.add_checkbox("Hand paths", False, hint="Paths of the hands in planned motion.")
            self._trees = gui.add_checkbox(
                "Search trees", False, hint="Search trees: green from the start, amber from the goal."
            )
            self._clearance = gui.add_checkbox("Minimum clearance", False, hint="Shortest distance at any time.")
            self._shapes = gui.add_checkbox("Collision geometry", False, hint="Shapes used for collision checks.")
            self._dark = gui.add_checkbox("Dark", False)
            self._follow = gui.add_dropdown("Follow", (_NOBODY,))
            frame = gui.add_button("Frame the action", icon=viser.Icon.MAXIMIZE, color="gray")
            tight = gui.add_button("Go to minimum clearance", icon=viser.Icon.RULER_MEASURE, color="gray")
        self.compare = Compare(server, studio, tab, page.camera.frame, shadows=page.shadows)
        with tab, gui.add_folder("Keys", expand_by_default=False):
            gui.add_html(page.keys.html)
        for box in (self._ghost, self._paths, self._trees, self._clearance, self._shapes):
            box.on_update(asked(studio, self._changed))
        self._dark.on_update(asked(studio, self._darkened))
        self._follow.on_update(asked(studio, self._followed))
        frame.on_click(asked(studio, page.look))
        tight.on_click(asked(studio, self._tightest))

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        self.compare.notify(topic)
        if topic in ("document", "scene"):
            offer(self._follow, (_NOBODY, *self._studio.original.characters))

    def _changed(self) -> None:
        page, studio = self._page, self._studio
        page.scene.ghost = self._ghost.value
        if self._trees.value and not page.extras.trees:
            # explain why there are no trees, if there are none
            plan = self._studio.plan
            if plan is not None and not any(planned.trees for planned in plan.edits):
                self._studio.say(_NO_TREES)
        elif not self._trees.value and studio.said[1] == _NO_TREES:
            studio.say("")
        page.extras.show(paths=self._paths.value, trees=self._trees.value, clearance=self._clearance.value)
        if self._shapes.value != page.scene.shapes:
            page.scene.show_shapes(self._shapes.value, studio.world, studio.player.time)
        studio.tell("motion")

    def _tightest(self) -> None:
        plan = self._studio.plan
        proof = None if plan is None else plan.certificate
        if proof is None or proof.at_s is None:
            raise BadValue("the minimum clearance is not known until the motion is certified.")
        self._studio.player.pause()
        self._studio.player.seek(proof.at_s)

    def _darkened(self) -> None:
        self._page.set_dark(self._dark.value)

    def _followed(self) -> None:
        name = self._follow.value
        self._page.camera.follow(None if name == _NOBODY else name)


_CTRL = "cmd/ctrl"
_WORDS = {"escape": "Esc", "delete": "Del", "space": "Space", "home": "Home", "end": "End"}


class KeyCommands:
    """Commands by key: those of players and of editors."""

    def __init__(self, server: viser.ViserServer, studio: Studio, page: Page) -> None:
        self._server, self._studio, self.shortcuts = server, studio, list[tuple[str, str]]()
        player = studio.player
        self._add("Play or pause", "space", lambda: player.pause() if player.playing else player.play())
        self._add("Previous frame", "J", lambda: self._step(-1))
        self._add("Next frame", "L", lambda: self._step(1))
        self._add("Start", "home", lambda: player.seek(player.range[0]))
        self._add("End", "end", lambda: player.seek(player.range[1]))
        self._add("Set or clear the in point", "I", lambda: player.mark("in"))
        self._add("Set or clear the out point", "O", lambda: player.mark("out"))
        self._add("Frame the action", "F", page.look)
        self._add("Clear selection", "escape", lambda: studio.select(None))
        self._add("Delete selection", "delete", self._delete)
        self._add("Undo", "Z", studio.undo, _CTRL)
        self._add("Redo", "Z", studio.redo, f"{_CTRL}+shift")
        self._add("Save", "S", lambda: filing.save(studio, page.panel.files.name), _CTRL)
        self.shortcuts.append(("Ctrl K", "All commands"))

    def _add(self, what: str, key: Any, act: Callable[[], Any], modifier: Any = None) -> None:
        command = self._server.gui.add_command(what, hotkey=key, modifier=modifier)
        command.on_trigger(asked(self._studio, act))
        held = {None: "", _CTRL: "Ctrl "}.get(modifier, "Ctrl Shift ")
        self.shortcuts.append((held + _WORDS.get(key, key), what))

    def _step(self, frames: int) -> None:
        """Go to a frame before or after the one shown, exactly."""
        player, fps = self._studio.player, self._studio.board.fps
        player.pause()
        player.seek(player.span[0] + (round((player.time - player.span[0]) * fps) + frames) / fps)

    def _delete(self) -> None:
        studio, name = self._studio, self._studio.selected
        if name is not None and studio.places[name].kind != "target":
            studio.edit(f"delete {name}", deleted(studio.document, studio.board, name))

    @property
    def html(self) -> str:
        """HTML table of all keys, for the panel."""
        cell = '<td style="padding:1px 12px 1px 0;white-space:nowrap">'
        rows = "".join(
            f"<tr>{cell}<b>{escape(key)}</b></td><td>{escape(what)}</td></tr>" for key, what in self.shortcuts
        )
        return f'<table style="margin:2px 10px 6px 10px;font-size:12.5px">{rows}</table>'


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
