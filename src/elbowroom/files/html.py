"""One HTML file that plays a world in any browser, offline: viser's recording with its player inside."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import rich
from numpy.typing import NDArray

from elbowroom.character.skin import Skin
from elbowroom.character.visual import visible
from elbowroom.errors import BadValue
from elbowroom.files.atomic import writing
from elbowroom.files.names import accepted_names
from elbowroom.geometry.color import srgb8
from elbowroom.geometry.framing import axes_towards, nearest_eye
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.normals import split_at_creases
from elbowroom.geometry.rotations import Array, from_matrix
from elbowroom.geometry.transforms import inverse
from elbowroom.world.extent import action, facing, frame_times, joint_transforms, stage
from elbowroom.world.paths import places
from elbowroom.world.robots import robots_as_things
from elbowroom.world.viewpoint import best_azimuth
from elbowroom.world.world import World

if TYPE_CHECKING:
    import viser

_FIELD_OF_VIEW = np.radians(35.0)
_COLORS = 12  # parts of a skin that are told apart by colour; each is a mesh of its own in the player


def write_html(path: str | Path, world: World, fps: float = 30.0) -> None:
    """Write a page that plays the world in a loop: bodies, moving and static things, a floor grid."""
    if not (np.isfinite(fps) and 0.0 < fps <= 240.0):
        raise BadValue(f"an HTML playback needs a rate between 0 and 240 frames per second, not {fps}.")
    times = frame_times(world.span, fps)
    world = robots_as_things(world)
    with writing(path) as (stand_in,), _quiet():
        server = _server()
        try:
            with server.atomic():  # nobody listens: spares waking the server up for every bone of every frame
                page = _recorded(server, world, times, 1.0 / fps)
        finally:
            server.stop()
        stand_in.write_text(page.replace("<title>Viser</title>", "<title>elbowroom</title>"), encoding="utf-8")


@contextmanager
def _quiet() -> Iterator[None]:
    """viser greets and takes leave on standard output, which belongs to the command that called us."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _server() -> viser.ViserServer:
    """A server that nobody connects to: viser records scenes through one."""
    import viser

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
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
        shown, _ = split_at_creases(mesh)
        for number, part in enumerate(color_parts(shown) if len(shown.faces) else []):
            scene.add_mesh_simple(
                f"/static/{name}/{number}", shown.vertices[part.vertices], part.faces, color=part.color, side="double"
            )
    steps = [*_characters(scene, world, times), *_objects(scene, world, times)]
    serializer = server.get_scene_serializer()
    for k in range(len(times)):
        for step in steps:
            step(k)
        if len(times) > 1:  # a single pose is shown without a player
            serializer.insert_sleep(pause)
    return serializer.as_html()


def _set_camera(server: viser.ViserServer, world: World, times: Array) -> None:
    """A first view that holds the whole action, from a side from which it is seen."""
    some = times[np.linspace(0, len(times) - 1, min(len(times), 32)).astype(int)]
    points = stage(world, action(world, some))
    first = next(iter(world.characters.values()), None)
    front = np.array([0.0, -1.0, 0.0]) if first is None else facing(first, some)
    rise = np.radians(18.0)
    axes = axes_towards(front, best_azimuth(world, front, rise, some), rise)
    slope = 0.85 * np.tan(0.5 * _FIELD_OF_VIEW)
    eye = nearest_eye(points, axes, np.array([1.4 * slope, slope]))
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    camera = server.initial_camera
    camera.position = tuple(eye)
    camera.look_at = tuple(eye - axes[2] * float((eye - middle) @ axes[2]))
    camera.fov = _FIELD_OF_VIEW
    camera.near = 0.02


def _characters(scene: viser.SceneApi, world: World, times: Array) -> list[Callable[[int], None]]:
    """Add bodies as skinned meshes; each of the returned calls poses one part at a frame."""
    steps: list[Callable[[int], None]] = []
    for name, motion in zip(accepted_names(world.characters), world.characters.values(), strict=True):
        skin = visible(motion.body)  # type: ignore[arg-type]
        T = joint_transforms(motion, times)
        _require_finite(name, T)
        vertices, T_bind_joint = rigid_bind(skin, T[0])
        # float32 is what the player works with, and its zeros at the end compress well
        positions = T[..., :3, 3].astype(np.float32)
        turns = from_matrix(T[..., :3, :3]).astype(np.float32)
        for number, part in enumerate(color_parts(skin)):
            used = np.unique(skin.joints[part.vertices][skin.weights[part.vertices] > 0])
            handle = scene.add_mesh_skinned(
                f"/{name}/{number}",
                vertices[part.vertices],
                part.faces,
                bone_wxyzs=from_matrix(T_bind_joint[used, :3, :3]),
                bone_positions=T_bind_joint[used, :3, 3],
                skin_weights=_dense_weights(skin, part.vertices, used),
                color=part.color,
                side="double",
            )

            def pose(
                k: int,
                bones: tuple = handle.bones,
                used: NDArray = used,
                turns: NDArray = turns,
                positions: NDArray = positions,
            ) -> None:
                for bone, joint in zip(bones, used, strict=True):
                    bone.wxyz = turns[k, joint]
                    bone.position = positions[k, joint]

            steps.append(pose)
    return steps


def _objects(scene: viser.SceneApi, world: World, times: Array) -> list[Callable[[int], None]]:
    """Add moving things; each of the returned calls places one of them at a frame."""
    steps: list[Callable[[int], None]] = []
    for name, thing in zip(accepted_names(world.things), world.things.values(), strict=True):
        _require_finite(name, thing.mesh.vertices)
        shown, _ = split_at_creases(thing.mesh)
        if not len(shown.faces):
            continue
        T = places(thing.path, times)
        _require_finite(name, T)
        positions, turns = T[:, :3, 3].astype(np.float32), from_matrix(T[:, :3, :3]).astype(np.float32)
        handle = scene.add_frame(f"/objects/{name}", show_axes=False, position=positions[0], wxyz=turns[0])
        for number, part in enumerate(color_parts(shown)):
            scene.add_mesh_simple(
                f"/objects/{name}/{number}", shown.vertices[part.vertices], part.faces, color=part.color, side="double"
            )

        def place(
            k: int,
            handle: viser.FrameHandle = handle,
            turns: NDArray = turns,
            positions: NDArray = positions,
        ) -> None:
            handle.wxyz, handle.position = turns[k], positions[k]

        steps.append(place)
    return steps


def _require_finite(name: str, values: Array) -> None:
    if not np.all(np.isfinite(values)):
        raise BadValue(f"'{name}' has values that are not finite.")


def rigid_bind(skin: Skin, T_world_joint: Array) -> tuple[Array, Array]:
    """Vertices (V, 3) and rigid bind transforms (J, 4, 4) of the same skin, for players that take no scale.

    One scale shared by all bind matrices goes into the vertices. Where they differ, the skin is bound anew in
    the pose given by joint transforms (J, 4, 4).
    """
    scales = np.linalg.norm(skin.inverse_bind[:, :3, :3], axis=1)
    used = np.unique(skin.joints[skin.weights > 0])
    scale = float(np.mean(scales[used]))
    if np.ptp(scales[used]) > 1e-4 * scale:
        return skin.posed(T_world_joint), T_world_joint
    rigid = skin.inverse_bind.copy()
    rigid[:, :3, :3] /= np.where(scales > 0, scales, 1.0)[:, None, :]
    return scale * skin.vertices, inverse(rigid)


@dataclass(frozen=True, eq=False)
class Part:
    """Triangles of one colour: which vertices of a skin or mesh, faces over them, and sRGB bytes."""

    vertices: NDArray[np.intp]
    faces: NDArray[np.int32]
    color: NDArray[np.uint8]


def color_parts(skin: Skin | Mesh) -> list[Part]:
    """A skin or mesh in parts of one colour each, of its most common colours."""
    everything = np.arange(len(skin.vertices))
    if skin.colors is None:
        return [Part(everything, skin.faces, srgb8(skin.color))]
    of_face = srgb8(skin.colors[skin.faces].mean(axis=1)).astype(int)
    coarse, counts = np.unique(of_face // 12, axis=0, return_counts=True)
    palette = coarse[np.argsort(-counts, kind="stable")[:_COLORS]] * 12 + 6
    nearest = np.argmin(np.linalg.norm(of_face[:, None, :] - palette[None], axis=-1), axis=1)
    parts = []
    for k in np.unique(nearest):
        faces = skin.faces[nearest == k]
        vertices, index = np.unique(faces, return_inverse=True)
        color = of_face[nearest == k].mean(axis=0).round().astype(np.uint8)
        parts.append(Part(vertices, index.reshape(-1, 3).astype(np.int32), color))
    return parts


def _dense_weights(skin: Skin, vertices: NDArray[np.intp], used: NDArray) -> Array:
    """Weights (V, B) over the used joints alone."""
    out = np.zeros((len(vertices), len(used)))
    rows = np.arange(len(vertices))
    for k in range(skin.joints.shape[1]):
        weights = skin.weights[vertices, k]
        columns = np.searchsorted(used, skin.joints[vertices, k]).clip(0, len(used) - 1)
        np.add.at(out, (rows, columns), weights)
    return out
