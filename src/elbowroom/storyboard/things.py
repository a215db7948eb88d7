"""Construction of a storyboard's meshes, objects and fixtures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from elbowroom.character.robot import Robot
from elbowroom.errors import BadValue, UnknownName
from elbowroom.files.open import LARGEST
from elbowroom.files.text import check_regular
from elbowroom.geometry import rotations as rot
from elbowroom.geometry import solids
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import placing, transform
from elbowroom.plan.checks.places import jammed_by, onto_support, out_of_wall, resting, shut_and_far
from elbowroom.props.makers import FITTING, fitted, made
from elbowroom.storyboard.model import FixturePart, Object, SceneMesh, StateKey
from elbowroom.storyboard.values import Frame, GraspPart, Handle, MeshPiece, MeshSource
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Keyed, KeyedState, Riding, Still
from elbowroom.world.paths import PlacementPath as ThingPath
from elbowroom.world.things import Fixture, GraspMark, Joint
from elbowroom.world.world import World

# Sine of the angle between two directions below which they are taken for one.
_PARALLEL = 1e-3
# A handle farther than this from the box around its mesh is given in other axes or for another mesh, metres.
_OFF_MESH_M = 0.03
# A fixture that slides no farther is a button, pressed on its face if it has no handle, metres.
_BUTTON_M = 0.03
# Depth to which a fixture may touch the frame that it is shut against, metres.
_FRAMED_M = 5e-4

_NO_MESH = "give a .glb, .gltf, .fbx, .obj, .stl or .ply"


def quaternion(turn: float | list[float]) -> Array:
    """Quaternion from degrees about z, or about x, y and z in turn, each about the world's axis."""
    degrees = turn if isinstance(turn, list) else [0.0, 0.0, turn]
    x, y, z = (rot.about(axis, np.radians(d)) for axis, d in zip(np.eye(3), degrees, strict=True))
    return rot.multiply(z, rot.multiply(y, x))


def existing(path: Path, would_do: str) -> Path:
    """Path of an existing regular file."""
    check_regular(path, LARGEST, would_do)
    return path


def frame(part: Frame) -> Array:
    """Transform `T_object_frame` (4, 4)."""
    return transform(part.at, quaternion(part.turn))


def frames_of(part: Object | FixturePart) -> dict[str, Array]:
    """Frames of an object or a fixture by name, that of its handle among them."""
    frames = {name: frame(f) for name, f in part.frames.items()}
    return frames if part.handle is None else {**frames, "handle": handle_frame(part.handle)}


def handle_frame(part: Handle) -> Array:
    """Transform `T_object_handle` (4, 4): z along the bar, x out."""
    if part.along is None or part.out is None:
        return frame(part)
    side = np.cross(part.along, part.out)
    if np.linalg.norm(side) < _PARALLEL * np.linalg.norm(part.along) * np.linalg.norm(part.out):
        raise BadValue("the handle's 'along' and 'out' are parallel; 'out' points away from the object.")
    z, y = rot.normalize(part.along), rot.normalize(side)
    T = transform(part.at)
    T[:3, :3] = np.stack([np.cross(y, z), y, z], axis=1)
    return T


def mark(part: GraspPart) -> GraspMark:
    """Grasp as stored on an object."""
    T = transform(part.at, quaternion(part.turn))
    approach = None if part.approach is None else np.array(part.approach)
    return GraspMark(hand=part.hand, T_thing_grip=T, shape=part.shape, width=part.width, approach=approach)


def meshes_of(source: MeshSource, folder: Path) -> tuple[dict[str, Mesh], tuple[str, ...]]:
    """Meshes by name in their own axes, scaled and coloured, and notes on their file."""
    notes: tuple[str, ...] = ()
    if source.file is not None:
        from elbowroom.files.meshes import read_meshes  # a fifth of a second, for files alone

        found = read_meshes(existing(folder / source.file, _NO_MESH), units=source.units, up=source.up)
        meshes, notes = dict(found.meshes), tuple(f"{source.file}: {note}" for note in found.notes)
    elif source.box is not None:
        meshes = {"box": solids.box(source.box)}
    elif source.sphere is not None:
        meshes = {"sphere": solids.sphere(source.sphere)}
    elif source.cylinder is not None:
        meshes = {"cylinder": solids.cylinder(source.cylinder.radius, source.cylinder.height)}
    else:
        assert source.maker is not None
        meshes = made(source.maker, source.options)
    if source.part is not None:
        if source.part not in meshes:
            raise UnknownName(f"mesh of {source.file or source.maker or 'this'}", source.part, meshes)
        meshes = {source.part: meshes[source.part]}
    scaled = {name: mesh.moved(placing(scale=source.scale)) for name, mesh in meshes.items()}
    if source.color is not None:
        r, g, b = source.color
        scaled = {name: Mesh(mesh.vertices, mesh.faces, (r, g, b)) for name, mesh in scaled.items()}
    return scaled, notes


def mesh_of(source: str | MeshSource | list[MeshPiece], folder: Path) -> tuple[Mesh, tuple[str, ...]]:
    """One mesh of all that a source, or a list of them, has."""
    if isinstance(source, list):
        pieces = [(piece, *mesh_of(piece, folder)) for piece in source]
        meshes = [mesh.moved(placing(piece.at, quaternion(piece.turn))) for piece, mesh, _ in pieces]
        return solids.assembled(meshes), tuple(note for *_, notes in pieces for note in notes)
    found, notes = meshes_of(MeshSource(file=source) if isinstance(source, str) else source, folder)
    return solids.assembled(found.values()) if len(found) > 1 else next(iter(found.values())), notes


def static_of(source: SceneMesh, folder: Path) -> tuple[dict[str, Mesh], tuple[str, ...]]:
    """Meshes of the scene in place; an entry's name is a prefix of the names in its file."""
    found, notes = meshes_of(source, folder)
    for name in (*source.without, *source.moved):
        if name not in found:
            raise UnknownName(f"mesh of {source.file or source.maker or 'this'}", name, found)
    found = {name: mesh for name, mesh in found.items() if name not in source.without}
    found |= {name: found[name].moved(frame(part)) for name, part in source.moved.items() if name in found}
    T = placing(source.at, quaternion(source.turn))
    if source.name is not None:
        found = {source.name if len(found) == 1 else f"{source.name}.{name}": mesh for name, mesh in found.items()}
    return {name: mesh.moved(T) for name, mesh in found.items()}, notes


def path_of(part: Object, fixtures: dict[str, Fixture]) -> ThingPath:
    """Path of an object that nobody holds."""
    if part.path is not None:
        turns: list[Array] = []
        for key in part.path:
            turns.append((turns[-1] if turns else rot.IDENTITY) if key.turn is None else quaternion(key.turn))
        keyed = Keyed(np.array([k.t for k in part.path]), np.array([k.at for k in part.path]), np.array(turns))
        return keyed.smoothed() if part.smooth else keyed
    T = transform(part.at or np.zeros(3), quaternion(part.turn or 0.0))
    if part.on is None:
        return Still(T)
    if part.on not in fixtures:
        raise UnknownName("fixture", part.on, fixtures)
    return Riding(fixtures[part.on].path, T)


def place_of(part: FixturePart, meshes: Sequence[SceneMesh]) -> Array:
    """Axes (4, 4) of a fixture's position: of its place in the mesh that it belongs to, or the world's."""
    if part.of is None:
        return np.eye(4)
    host = next((m for m in meshes if part.of == (m.name or m.maker)), None)
    if host is None:
        raise UnknownName("mesh of the scene", part.of, [name for m in meshes if (name := m.name or m.maker)])
    maker = part.mesh.maker if isinstance(part.mesh, MeshSource) else None
    fit = fitted(maker, host.maker, host.options)
    if fit is None:
        raise BadValue(f"its mesh does not fit into {part.of}; {FITTING}; give its position by 'at' and 'turn' instead")
    return placing(host.at, quaternion(host.turn)) @ transform(fit[1])


def fixture_of(part: FixturePart, mesh: Mesh, T_place: Array) -> Fixture:
    """A drawer, door, lid or switch in the axes (4, 4) of its place."""
    if part.slides is not None:
        joint, unit = Joint("slides", np.array(part.slides.axis), _pair(part.slides.range)), 1.0
    else:
        assert part.turns is not None
        unit = np.pi / 180.0
        low, high = _pair(part.turns.range)
        joint = Joint("turns", np.array(part.turns.axis), (low * unit, high * unit), np.array(part.turns.origin))
    keys = part.state if isinstance(part.state, list) else [StateKey(t=0.0, value=part.state)]
    state = KeyedState(np.array([k.t for k in keys]), unit * np.array([k.value for k in keys]))
    grasps = {name: mark(g) for name, g in part.grasps.items()}
    frames = frames_of(part)
    if joint.kind == "slides" and "handle" not in frames and joint.range[1] - joint.range[0] <= _BUTTON_M:
        # frame (4, 4) in the middle of the face of a button that looks against its slide: x out of it, z upwards
        out = -rot.normalize(joint.axis)
        middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
        at = middle + out * float(((mesh.vertices - middle) @ out).max())
        along = [0.0, 0.0, 1.0] if abs(out[2]) < 0.9 else [0.0, 1.0, 0.0]
        frames["handle"] = handle_frame(Handle(at=at.tolist(), along=along, out=out.tolist()))
    _near_its_mesh(frames, mesh)
    T = T_place @ transform(part.at, quaternion(part.turn))
    return Fixture.at(mesh, joint, T, state, frames, part.mass, grasps)


def settled(world: World, taken: Iterable[str], pressed: Iterable[str]) -> World:
    """World in which objects that tasks take stand on what they were placed a little inside or above, and buttons
    that they press on their walls, with notes."""
    for name in taken:
        if (up := onto_support(world, name, world.span[0])) != 0.0:
            T = transform([0.0, 0.0, up]) @ world.frame(name, world.span[0])
            where = "higher than given, where it is free of" if up > 0.0 else "lower than given, on"
            note = f"{name} starts {1000.0 * abs(up):.1f} mm {where} its support"
            world = world.with_(objects={**world.objects, name: replace(world.objects[name], path=Still(T))})
            world = world.with_(notes=(*world.notes, note))
    for name in dict.fromkeys(pressed):
        thing = world.objects.get(name)
        if not isinstance(thing, Fixture) or not (out := out_of_wall(world, name, world.span[0])).any():
            continue
        T = transform(out) @ thing.T_world_closed
        moved = Fixture.at(thing.mesh, thing.joint, T, thing.state, thing.frames, thing.mass, thing.grasps)
        by = 100.0 * float(np.linalg.norm(out))
        note = f"{name} starts {by:.1f} cm farther out than given, on the surface of the wall it was inside"
        world = world.with_(objects={**world.objects, name: moved}, notes=(*world.notes, note))
    return world


def hung(world: World, opened: Iterable[str]) -> World:
    """World in which fixtures that tasks open or close may touch the walls that they touch when they are shut; one that
    would move into a wall, but not the other way, moves the other way, with a note."""
    for name in dict.fromkeys(opened):
        thing = world.objects.get(name)
        if not isinstance(thing, Fixture):
            continue
        ends, t = shut_and_far(thing.joint), world.span[0]
        T_shut = thing.T_world_closed @ thing.joint.moved(ends[0])
        for wall in resting(world, name, t, T_shut, within=0.0):
            if wall in world.static:
                always = (-np.inf, np.inf)
                world = world.with_contact(Contact(name, wall, always, depth=_FRAMED_M, why="touches it when shut"))
        met = jammed_by(world, name, thing.joint, ends, world.static, t)
        back = replace(thing.joint, axis=-thing.joint.axis)
        if met is None or jammed_by(world, name, back, ends, world.static, t) is not None:
            continue
        moved = Fixture.at(thing.mesh, back, thing.T_world_closed, thing.state, thing.frames, thing.mass, thing.grasps)
        note = f"{name} {thing.joint.kind} in the opposite direction, because it would move into {met}"
        world = world.with_fixture_as(name, moved).with_(notes=(*world.notes, note))
    return world


def _near_its_mesh(frames: Mapping[str, Array], mesh: Mesh) -> None:
    """Raise `BadValue` where a handle is nowhere near what it is to be a handle of."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    for name, T in frames.items():
        off = float(np.linalg.norm(np.maximum(np.maximum(low - T[:3, 3], T[:3, 3] - high), 0.0)))
        if name.startswith("handle") and off > _OFF_MESH_M:
            spans = " × ".join(f"{a:.3f} to {b:.3f}" for a, b in zip(low, high, strict=True))
            raise BadValue(
                f"its {name} is {off:.2f} m away from its mesh, which spans {spans} m in its own axes; "
                "give the middle of the bar in these axes"
            )


def _pair(numbers: list[float]) -> tuple[float, float]:
    low, high = numbers
    return low, high


def on_base(world: World, name: str) -> World:
    """World in which a robot's base may touch the floor that it stands or rolls on."""
    body = world.body(name)
    bases = {shape.name for shape in body.shapes if shape.joint == 0}
    if not isinstance(body, Robot) or body.base == "free" or world.floor is None:
        return world
    for link in sorted(bases):
        always = (-np.inf, np.inf)
        contact = Contact(f"{name}.{link}", "floor", always, "support", why="a robot stands on its base")
        world = world.with_contact(contact)
    return world
