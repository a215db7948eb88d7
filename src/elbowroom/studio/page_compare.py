"""Two motions side by side: solutions kept by the user, one of them shown beside the current one, in step with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import viser

from elbowroom.character.visual import visible
from elbowroom.errors import BadValue
from elbowroom.files.text import accepted_names
from elbowroom.files.viser_nodes import SkinNode, add_mesh
from elbowroom.geometry.rotations import Array, from_matrix
from elbowroom.geometry.transforms import transform
from elbowroom.studio.page_camera import seen
from elbowroom.studio.page_looks import asked, offer, put
from elbowroom.studio.page_scene import Skins
from elbowroom.studio.studio import Studio, Topic
from elbowroom.world.extent import FURNITURE, action
from elbowroom.world.world import World

NOTHING = "nothing"
ORIGINAL = "before planning"
# Metres between the two actions by default, and moments at which their width is measured.
_GAP_M = 0.6
_SAMPLES = 8
# Solutions that can be kept.
_MOST = 6


class ShiftedScene:
    """Characters, moving objects and furniture of a world, drawn at a distance from where they are."""

    def __init__(self, server: viser.ViserServer, *, shadows: bool = True) -> None:
        self._server, self._skins = server, Skins(server, lambda name: None, "/beside/skins")
        self._look: dict[str, Any] = {} if shadows else {"cast_shadow": False, "receive_shadow": False}
        self._people: dict[str, SkinNode] = {}
        self._things: dict[str, viser.FrameHandle] = {}
        self._still: list[viser.FrameHandle] = []
        self.world: World | None = None

    def show(self, world: World | None) -> None:
        """Show another world; None shows none."""
        if world is not self.world:
            with self._server.atomic():
                self._replace(world)

    def pose(self, t: float, shift: Array) -> None:
        """Pose everything at a time in seconds, at a distance (3,) in metres; motions that have ended stay there."""
        if self.world is None:
            return
        record = self.world.record([min(t, self.world.span[1])])
        with self._server.atomic():
            for name, node in self._people.items():
                node.pose_joints(transform(shift) @ record.joints[name][0])
            for name, frame in self._things.items():
                T = record.things[name][0]
                frame.position, frame.wxyz = T[:3, 3] + shift, from_matrix(T[:3, :3])
            for frame in self._still:
                frame.position = shift

    def _replace(self, world: World | None) -> None:
        for node in self._people.values():
            self._skins.give_back(node)
        for frame in (*self._things.values(), *self._still):
            frame.remove()
        self._people, self._things, self._still, self.world = {}, {}, [], world
        if world is None:
            return
        scene, record = self._server.scene, world.record([world.span[0]])
        small = {n: m for n, m in world.static.items() if np.linalg.norm(np.ptp(m.bounds, axis=0)) < FURNITURE}
        for name, mesh in zip(accepted_names(small), small.values(), strict=True):
            self._still.append(scene.add_frame(f"/beside/scene/{name}", show_axes=False))
            add_mesh(scene, f"/beside/scene/{name}", mesh, **self._look)
        for name, label in zip(world.things, accepted_names(world.things), strict=True):
            self._things[name] = scene.add_frame(f"/beside/things/{label}", show_axes=False)
            add_mesh(scene, f"/beside/things/{label}", world.things[name].mesh, **self._look)
        for name in world.characters:
            person = self._skins.take("person", visible(world.body(name)), record.joints[name][0], **self._look)
            person.show(True)
            self._people[name] = person


class Compare:
    """Fields of the View tab: solutions that were kept, and the one that is shown beside the current motion.

    `framed` is called with the distance (3,) to the other motion when one is chosen.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        studio: Studio,
        tab: Any,
        framed: Callable[[Array], None],
        *,
        shadows: bool = True,
    ) -> None:
        self._studio, self._framed, self.beside = studio, framed, ShiftedScene(server, shadows=shadows)
        self.kept: dict[str, World] = {}
        self._made, self._of, self._right = 0, studio.document.path, np.array([1.0, 0.0, 0.0])
        gui = server.gui
        with tab, gui.add_folder("Side by side", expand_by_default=False):
            self._with = gui.add_dropdown("Compare with", (NOTHING, ORIGINAL))
            self._apart = gui.add_number("Distance (m)", 1.5, min=0.0, max=50.0, step=0.1)
            keep = gui.add_button("Keep this motion", color="gray", hint="Keep it to compare with later motions.")
        keep.on_click(asked(studio, self._keep))
        self._with.on_update(asked(studio, self._chosen))
        self._apart.on_update(asked(studio, self._show))

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        if topic == "document" and self._studio.document.path != self._of:  # solutions of another storyboard
            self._of, self.kept, self._made = self._studio.document.path, {}, 0
            offer(self._with, choices(self.kept))
            put(self._with, NOTHING)
            self._framed(np.zeros(3))
        if topic in ("scene", "motion", "document"):
            self._show()
        elif topic == "time":
            self.beside.pose(self._studio.player.time, self.shift)

    def _keep(self) -> None:
        studio = self._studio
        if studio.plan is None or studio.live:
            raise BadValue("this motion is not planned yet; keep it once planning has ended.")
        if len(self.kept) >= _MOST:
            del self.kept[next(iter(self.kept))]
        self._made += 1
        name = f"{self._made}: seed {studio.document.seed}"
        self.kept[name] = studio.world
        offer(self._with, choices(self.kept))
        studio.say(f"Kept as '{name}': change something, then compare with it under View.")

    def _chosen(self) -> None:
        """Set a distance at which the two are seen beside each other, and show the choice."""
        if self._with.value != NOTHING:
            world = self._studio.world
            self._right = seen(world).axes[0]
            times = np.linspace(*world.span, _SAMPLES)  # both move in step: the width at one time is what counts
            width = max(float(np.ptp(action(world, t) @ self._right)) for t in times)
            put(self._apart, round(width + _GAP_M, 1))
        self._show()
        self._framed(self.shift)

    @property
    def shift(self) -> Array:
        """Distance (3,) at which the other motion is shown, metres; 0 without one."""
        return float(self._apart.value) * self._right if self.beside.world is not None else np.zeros(3)

    def _show(self) -> None:
        world = {ORIGINAL: self._studio.original, **self.kept}.get(self._with.value)
        if world is None and self.beside.world is None:
            return
        self.beside.show(world)
        self.beside.pose(self._studio.player.time, self.shift)


def choices(kept: Mapping[str, World]) -> tuple[str, ...]:
    """Motions that the current one can be compared with."""
    return (NOTHING, ORIGINAL, *kept)
