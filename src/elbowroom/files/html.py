"""One HTML file that plays a world in any browser, offline: viser's recording with its player inside."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.visual import visible
from elbowroom.errors import BadValue
from elbowroom.files.atomic import writing
from elbowroom.files.far import near_origin, origin_of
from elbowroom.files.text import accepted_names
from elbowroom.files.viser_nodes import SkinNode, add_mesh, add_skin
from elbowroom.files.viser_server import answering, compressing, quiet, refused
from elbowroom.geometry.rotations import Array, from_matrix
from elbowroom.stopping import may_stop_here
from elbowroom.world.extent import action, facing, joint_transforms, stage
from elbowroom.world.paths import places
from elbowroom.world.played import played
from elbowroom.world.robots import robots_as_things
from elbowroom.world.viewpoint import axes_towards, nearest_eye, open_side
from elbowroom.world.world import World

if TYPE_CHECKING:
    import viser

    _Step = Callable[[int, viser.infra.StateSerializer], None]

# Frames a second that a page shows at most: a browser draws no more.
_FASTEST = 60.0
# Level of compression: a third of the time of viser's own 12, for pages that are 4 % larger.
_LEVEL = 6
_FIELD_OF_VIEW = np.radians(35.0)
# Elevations to look from, the usual one first, and from how far away walls are looked for, metres.
_RISES, _FARTHEST = tuple(np.radians([18.0, 32.0, 48.0]).tolist()), 12.0


def write_html(path: str | Path, world: World, fps: float = 30.0) -> None:
    """Write a page that plays the world in a loop: bodies, moving and static objects, a floor grid.

    The page shows frames as they are and nothing in between; above 60 a second, it leaves out all but every second,
    third and so on, so that whatever it shows is a frame of the world at `fps`. A far scene is shown near the origin.
    """
    on = played(world, fps)
    every = int(np.ceil(on.fps / _FASTEST))
    times = on.times[::every]
    whole = robots_as_things(on)
    world = near_origin(whole, on.times, origin_of(whole, on.times))
    with writing(path) as (stand_in,), quiet():
        server = _server()
        try:
            with server.atomic():  # nobody listens: spares waking the server up for every bone of every frame
                page = _recorded(server, world, times, every / on.fps)
        finally:
            server.stop()
        stand_in.write_text(page.replace("<title>Viser</title>", "<title>elbowroom</title>"), encoding="utf-8")


def _server() -> viser.ViserServer:
    """Server that admits no clients: viser records scenes through one."""
    import viser

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with answering(lambda request: refused("Nothing is served here.")):
        return viser.ViserServer(host="127.0.0.1", port=port, verbose=False)


def _recorded(server: viser.ViserServer, world: World, times: Array, pause: float) -> str:
    scene = server.scene
    scene.set_up_direction("+z")
    # viser's own surroundings wash colours out, and others would be loaded anew at every turn of the loop
    scene.configure_environment_map(None)
    scene.add_light_hemisphere("/light/sky", ground_color=(178, 170, 162), intensity=2.4)
    scene.add_light_directional("/light/fill", intensity=0.9, position=(-3.0, -4.0, 5.0))
    _set_camera(server, world, times)
    if world.floor is not None:
        scene.add_grid(
            "/floor",
            infinite_grid=True,
            fade_distance=40.0,
            cell_size=0.5,
            section_size=1.0,
            position=(0.0, 0.0, world.floor - 0.002),
            cell_color=(216, 218, 221),
            section_color=(190, 193, 197),
            plane_color=(226, 228, 230),
            plane_opacity=1.0,
            shadow_opacity=0.3,
        )
    for name, mesh in zip(accepted_names(world.static), world.static.values(), strict=True):
        _require_finite(name, mesh.vertices)
        add_mesh(scene, f"/static/{name}", mesh)
    steps = _characters(scene, world, times) + _objects(scene, world, times)
    serializer = server.get_scene_serializer()
    for k in range(len(times)):
        may_stop_here()
        for step in steps:
            step(k, serializer)
        if len(times) > 1:  # a single pose is shown without a player
            serializer.insert_sleep(pause)
    with compressing(_LEVEL):
        return serializer.as_html()


def _set_camera(server: viser.ViserServer, world: World, times: Array) -> None:
    """A first view that holds the whole action, from a side from which it is seen."""
    some = times[np.linspace(0, len(times) - 1, min(len(times), 32)).astype(int)]
    points = stage(world, action(world, some))
    first = next(iter(world.characters.values()), None)
    front = np.array([0.0, -1.0, 0.0]) if first is None else facing(first, some)
    slope = 0.85 * np.tan(0.5 * _FIELD_OF_VIEW)
    far = min(0.5 * float(np.linalg.norm(np.ptp(points, axis=0))) / slope, _FARTHEST)
    axes = axes_towards(front, *open_side(world, front, _RISES, some, far))
    eye = nearest_eye(points, axes, np.array([1.4 * slope, slope]))
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    camera = server.initial_camera
    camera.position = tuple(eye)
    camera.look_at = tuple(eye - axes[2] * float((eye - middle) @ axes[2]))
    camera.fov = _FIELD_OF_VIEW
    camera.near = 0.02


def _characters(scene: viser.SceneApi, world: World, times: Array) -> list[_Step]:
    """Add bodies as skinned meshes; each of the returned calls poses one at a frame in a recording."""
    steps: list[_Step] = []
    for name, motion in zip(accepted_names(world.characters), world.characters.values(), strict=True):
        T = joint_transforms(motion, times)
        _require_finite(name, T)
        node = add_skin(scene, f"/{name}", visible(motion.body), T[0])  # type: ignore[arg-type]
        # float32 is what the player works with, and its zeros at the end compress well
        positions = T[..., :3, 3].astype(np.float32)
        turns = from_matrix(T[..., :3, :3]).astype(np.float32)

        steps.append(partial(_pose, node, positions, turns))
    return steps


def _pose(node: SkinNode, positions: NDArray, turns: NDArray, k: int, recording: viser.infra.StateSerializer) -> None:
    node.pose(positions[k], turns[k], recording)


def _place(name: str, positions: NDArray, turns: NDArray, k: int, recording: viser.infra.StateSerializer) -> None:
    """Place a node at a frame of a recording, by what changed since the frame before: setters take five times as
    long."""
    from viser import _messages

    if k and not np.array_equal(turns[k], turns[k - 1]):
        recording._insert_message(_messages.SetOrientationMessage(name, tuple(turns[k].tolist())))
    if k and not np.array_equal(positions[k], positions[k - 1]):
        recording._insert_message(_messages.SetPositionMessage(name, tuple(positions[k].tolist())))


def _objects(scene: viser.SceneApi, world: World, times: Array) -> list[_Step]:
    """Add moving objects; each of the returned calls places one of them at a frame of a recording."""
    steps: list[_Step] = []
    for name, thing in zip(accepted_names(world.things), world.things.values(), strict=True):
        _require_finite(name, thing.mesh.vertices)
        if not len(thing.mesh.faces):
            continue
        T = places(thing.path, times)
        _require_finite(name, T)
        positions, turns = T[:, :3, 3].astype(np.float32), from_matrix(T[:, :3, :3]).astype(np.float32)
        handle = scene.add_frame(f"/objects/{name}", show_axes=False, position=positions[0], wxyz=turns[0])
        add_mesh(scene, f"/objects/{name}", thing.mesh)

        steps.append(partial(_place, handle.name, positions, turns))
    return steps


def _require_finite(name: str, values: Array) -> None:
    if not np.all(np.isfinite(values)):
        raise BadValue(f"'{name}' has values that are not finite.")
