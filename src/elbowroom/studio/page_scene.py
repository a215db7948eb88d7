"""The scene on the page: floor, things, people, and a ghost of the motion as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import viser

from elbowroom.character.visual import shapes_skin, visible
from elbowroom.files.names import accepted_names
from elbowroom.files.viser_nodes import SkinNode, add_mesh, add_skin
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array, from_matrix
from elbowroom.geometry.transforms import inverse
from elbowroom.studio.places import Place
from elbowroom.world.world import World

GHOST = (88, 120, 150)
SHAPES = (226, 128, 40)
_GHOSTLY: dict[str, Any] = {
    "color": GHOST,
    "opacity": 0.4,
    "side": "front",
    "cast_shadow": False,
    "receive_shadow": False,
}
# The ghost is shown where any joint of the motion is farther than this from where it was, metres.
_DIFFERS = 0.01


class SceneView:
    """Nodes of one world, and of how its people moved before. `clicked` is called with the name of a thing."""

    def __init__(self, server: viser.ViserServer, clicked: Callable[[str], None], *, shadows: bool = True) -> None:
        self._server, self._clicked = server, clicked
        self._look: dict[str, Any] = {} if shadows else {"cast_shadow": False, "receive_shadow": False}
        self._roots: list[Any] = []
        self._people: dict[str, SkinNode] = {}
        self._ghosts: dict[str, SkinNode] = {}
        self._shapes: dict[str, SkinNode] = {}
        self._frames: dict[str, viser.FrameHandle] = {}
        self._thing_ghosts: dict[str, viser.FrameHandle] = {}
        self._static: set[str] = set()
        self.ghost = True
        self.shapes = False

    def build(self, world: World, places: Mapping[str, Place]) -> None:
        """Show another world in place of the one before."""
        scene = self._server.scene
        with self._server.atomic():
            self.clear()
            record = world.record([world.span[0]])
            if world.floor is not None:
                self._roots.append(_floor(scene, world.floor))
            for name, node in zip(world.static, accepted_names(world.static), strict=True):
                T = places[name].T if name in places else np.eye(4)
                self._thing(name, f"/scene/{node}", world.static[name].moved(inverse(T)), T)
            self._static = set(world.static)
            for name, node in zip(world.things, accepted_names(world.things), strict=True):
                self._thing(name, f"/things/{node}", world.things[name].mesh, record.things[name][0])
                ghost = scene.add_frame(f"/ghosts/things/{node}", show_axes=False, visible=False)
                plain = Mesh(world.things[name].mesh.vertices, world.things[name].mesh.faces)
                add_mesh(scene, f"/ghosts/things/{node}", plain, **_GHOSTLY)
                self._thing_ghosts[name] = ghost
                self._roots.append(ghost)
            for name, node in zip(world.characters, accepted_names(world.characters), strict=True):
                self._person(name, node, world, record.joints[name][0])

    def _thing(self, name: str, node: str, mesh: Any, T: Array) -> None:
        scene = self._server.scene
        frame = scene.add_frame(node, show_axes=False, position=T[:3, 3], wxyz=from_matrix(T[:3, :3]))
        self._frames[name] = frame
        self._roots.append(frame)
        for part in add_mesh(scene, node, mesh, **self._look):
            part.on_click(lambda event, name=name: self._clicked(name))  # type: ignore[misc]

    def _person(self, name: str, node: str, world: World, T: Array) -> None:
        scene, body = self._server.scene, world.body(name)
        person = add_skin(scene, f"/people/{node}", visible(body), T, **self._look)
        for part in person.parts:
            part.on_click(lambda event, name=name: self._clicked(name))  # type: ignore[misc]
        self._people[name] = person

        self._ghosts[name] = add_skin(
            scene, f"/ghosts/{node}", replace(visible(body), colors=None), T, visible=False, **_GHOSTLY
        )
        if self.shapes:
            self._add_shapes(name, node, world, T)
        person.pose_joints(T)

    def _add_shapes(self, name: str, node: str, world: World, T: Array) -> None:
        look = {"color": SHAPES, "wireframe": True, "cast_shadow": False}
        self._shapes[name] = add_skin(self._server.scene, f"/shapes/{node}", shapes_skin(world.body(name)), T, **look)

    def show_shapes(self, shown: bool, world: World, t: float) -> None:
        """Show or hide collision shapes."""
        self.shapes = shown
        for shape in self._shapes.values():
            shape.remove()
        self._shapes = {}
        if shown:
            record = world.record([t])
            for name, node in zip(world.characters, accepted_names(world.characters), strict=True):
                self._add_shapes(name, node, world, record.joints[name][0])

    def pose(self, world: World, original: World, t: float) -> None:
        """Show a moment."""
        now, then = world.record([t]), original.record([min(t, original.span[1])])
        with self._server.atomic():
            for name, node in self._people.items():
                T = now.joints[name][0]
                node.pose_joints(T)
                if name in self._shapes:
                    self._shapes[name].pose_joints(T)
                before = then.joints[name][0]
                apart = float(np.max(np.linalg.norm(T[:, :3, 3] - before[:, :3, 3], axis=-1)))
                ghost = self._ghosts[name]
                ghost.show(self.ghost and apart > _DIFFERS)
                if self.ghost and apart > _DIFFERS:
                    ghost.pose_joints(before)
            for name, T_thing in now.things.items():
                self.put(name, T_thing[0])
                self._pose_ghost(name, T_thing[0], then.things[name][0])

    def pose_person(self, name: str, T: Array) -> None:
        """Show somebody in a posture, joints (J, 4, 4), whatever the time is."""
        if name in self._people:
            with self._server.atomic():
                self._people[name].pose_joints(T)

    def _pose_ghost(self, name: str, T: Array, before: Array) -> None:
        """Show where a thing was before, where that is elsewhere."""
        ghost = self._thing_ghosts.get(name)
        shown = self.ghost and float(np.linalg.norm(T[:3, 3] - before[:3, 3])) > _DIFFERS
        if ghost is not None and ghost.visible != shown:
            ghost.visible = shown
        if ghost is not None and shown:
            _place(ghost, before)

    def put(self, name: str, T: Array) -> None:
        """Show a thing somewhere."""
        frame = self._frames.get(name)
        if frame is not None:
            _place(frame, T)

    def put_static(self, places: Mapping[str, Place]) -> None:
        """Show all things of the scene where they stand."""
        for name in self._static:
            if name in places:
                self.put(name, places[name].T)

    def clear(self) -> None:
        """Take everything out."""
        for node in (*self._people.values(), *self._ghosts.values(), *self._shapes.values(), *self._roots):
            node.remove()
        self._people, self._ghosts, self._shapes, self._frames, self._roots = {}, {}, {}, {}, []
        self._thing_ghosts = {}


def _place(frame: viser.FrameHandle, T: Array) -> None:
    frame.position, frame.wxyz = T[:3, 3], from_matrix(T[:3, :3])


def light(scene: viser.SceneApi) -> None:
    """Light for a calm picture; viser's own surroundings wash colours out."""
    scene.set_up_direction("+z")
    scene.configure_environment_map(None)
    scene.add_light_hemisphere("/light/sky", ground_color=(178, 170, 162), intensity=2.4)
    scene.add_light_directional("/light/fill", intensity=0.9, position=(-3.0, -4.0, 5.0))


def _floor(scene: viser.SceneApi, height: float) -> viser.GridHandle:
    return scene.add_grid(
        "/floor",
        infinite_grid=True,
        fade_distance=40.0,
        cell_size=0.5,
        section_size=1.0,
        position=(0.0, 0.0, height - 0.002),
        cell_color=(216, 218, 221),
        section_color=(190, 193, 197),
        plane_color=(226, 228, 230),
        plane_opacity=1.0,
        shadow_opacity=0.3,
    )
