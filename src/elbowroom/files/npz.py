"""NPZ: a world as plain arrays that `numpy.load` reads without pickle, to train on and to check."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.rig import as_character
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadFile, BadValue, ElbowroomError
from elbowroom.files.atomic import writing
from elbowroom.files.glb_nodes import distinct
from elbowroom.files.regular import check_regular
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip, Motion, Source
from elbowroom.world.contacts import Contact
from elbowroom.world.extent import frame_times
from elbowroom.world.paths import Keyed, places
from elbowroom.world.robots import robots_as_things
from elbowroom.world.things import Thing
from elbowroom.world.world import World

_KINDS = ("capsule", "sphere", "box", "mesh")
# Bytes of all arrays together.
_LARGEST = 2 * 1024**3
# Bytes of all compressed arrays: a few megabytes of a file can claim as many gigabytes. `write_npz` compresses nothing.
_LARGEST_COMPRESSED = 256 * 1024**2
# Arrays in a file; a world of a hundred people has 2,000 to 10,000.
_MOST_ARRAYS = 100_000
# Characters in a file.
_MOST_CHARACTERS = 200


def write_npz(path: str | Path, world: World, fps: float = 30.0) -> None:
    """Write a world sampled at `fps`. `floor` is NaN where there is none; '/' in names becomes '_'."""
    if not (np.isfinite(fps) and fps > 0):
        raise BadValue(f"a frame rate must be a positive number, not {fps}.")
    times = frame_times(world.span, fps)
    world = robots_as_things(world)
    contacts = world.contacts
    arrays: dict[str, NDArray] = {
        "times": times,
        "fps": np.array(float(fps)),
        "floor": np.array(np.nan if world.floor is None else float(world.floor)),
        "allowed_pair": np.array([_pair(c.who, c.on) for c in contacts], np.str_).reshape(-1, 2),
        "allowed_depth": np.array([c.depth for c in contacts], float),
        "allowed_during": np.array([c.during for c in contacts], float).reshape(-1, 2),
        "ignored_pair": np.zeros((0, 2), "<U1"),
    }
    for i, hold in enumerate(world.holds):
        object_and_by = _pair(hold.object, hold.by)
        arrays |= {f"hold/{i}/object": np.array(object_and_by[0]), f"hold/{i}/by": np.array(object_and_by[1])}
        arrays |= {f"hold/{i}/hand": np.array(hold.hand), f"hold/{i}/during": np.array(hold.during, float)}
    for name, motion in _plain(world.characters):
        arrays |= {f"char/{name}/{key}": value for key, value in _character(name, motion, times).items()}
    for name, mesh in _plain(world.static):
        arrays |= {f"static/{name}/vertices": mesh.vertices, f"static/{name}/faces": mesh.faces}
    for name, thing in _plain(world.things):
        arrays |= {f"object/{name}/vertices": thing.mesh.vertices, f"object/{name}/faces": thing.mesh.faces}
        arrays[f"object/{name}/T_world_object"] = places(thing.path, times)
    with writing(path) as (stand_in,), open(stand_in, "wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _pair(a: str, b: str) -> tuple[str, str]:
    """Two names as they are in the file."""
    return a.replace("/", "_"), b.replace("/", "_")


def _plain(named: Any) -> list[tuple[str, Any]]:
    """Names without '/', still different from each other."""
    return list(zip(distinct(name.replace("/", "_") for name in named), named.values(), strict=True))


def _character(name: str, motion: Motion, times: Array) -> dict[str, NDArray]:
    body = motion.body
    if not isinstance(body, Character):
        raise BadValue(f"'{name}' is no character and cannot be written to NPZ.")
    skeleton, shapes = body.skeleton, body.shapes
    root, q = motion.sample(times)
    out: dict[str, NDArray] = {
        "joint_names": np.array(skeleton.names, dtype=np.str_),
        "parents": skeleton.parents,
        "offsets": skeleton.offsets,
        "rest": skeleton.rest,
        "rotations": q,
        "root": root,
        "T_world_joint": skeleton.forward(root, q),
        "shape_names": np.array([s.name for s in shapes], dtype=np.str_),
        "shape_joint": np.array([s.joint for s in shapes], dtype=np.int32),
        "shape_kind": np.array([s.kind for s in shapes], dtype=np.str_),
        "shape_size": np.array([s.size for s in shapes]).reshape(-1, 3),
        "T_joint_shape": np.array([s.T_joint_shape for s in shapes]).reshape(-1, 4, 4),
    }
    for i, shape in enumerate(shapes):
        if shape.mesh is not None:
            out[f"mesh/{i}/vertices"], out[f"mesh/{i}/faces"] = shape.mesh.vertices, shape.mesh.faces
    return out


def read_npz(path: str | Path) -> World:
    """Read what `write_npz` wrote: characters with clips, static meshes, objects moved between frames."""
    with _Arrays(Path(path)) as file:
        return _world(file)


def _world(file: _Arrays) -> World:
    times = file.get("times", 1)
    fps = float(file.get("fps", 0))
    floor = float(file.get("floor", 0))
    if not len(times) or not (0 < fps < np.inf) or np.any(np.diff(times) <= 0):
        raise BadFile(file.path, "needs rising times and a positive fps", where="times, fps")
    if len(file.names("char")) > _MOST_CHARACTERS:
        raise BadFile(file.path, f"holds more than {_MOST_CHARACTERS} characters")
    characters = {name: _clip(file, name, fps, times) for name in file.names("char")}
    static = {name: file.mesh(f"static/{name}") for name in file.names("static")}
    objects = {}
    for name in file.names("object"):
        T = file.get(f"object/{name}/T_world_object", 3, (len(times), 4, 4))
        turn = T[:, :3, :3]
        if np.abs(turn @ turn.swapaxes(1, 2) - np.eye(3)).max() > 1e-3 or np.linalg.det(turn).min() < 0:
            raise BadFile(file.path, "holds transforms that are not rigid", where=f"object '{name}'")
        path = Keyed(times, T[:, :3, 3], rot.from_matrix(turn))
        objects[name] = Thing(mesh=file.mesh(f"object/{name}"), path=path)
    world = World(characters, static, objects, None if np.isnan(floor) else floor)
    return _with_holds(file, _with_contacts(file, world), times)


def _with_contacts(file: _Arrays, world: World) -> World:
    if "allowed_pair" not in file:
        return world
    pairs = file.get("allowed_pair", 2, kind="U")
    depths = file.get("allowed_depth", 1, (len(pairs),))
    during = file.get("allowed_during", 2, (len(pairs), 2))
    if pairs.shape[1] != 2 or np.any(depths < 0) or np.any(during[:, 0] > during[:, 1]):
        raise BadFile(file.path, "needs pairs, depths of zero or more, and intervals", where="allowed_pair")
    for (who, on), depth, (begin, end) in zip(pairs, depths, during, strict=True):
        contact = Contact(str(who), str(on), (float(begin), float(end)), depth=float(depth))
        world = world.with_contact(contact)
    return world


def _with_holds(file: _Arrays, world: World, times: Array) -> World:
    """Holds as they were told, with the grip of the first frame in them."""
    for i in file.names("hold"):
        object, by, hand = (str(file.get(f"hold/{i}/{key}", 0, kind="U")) for key in ("object", "by", "hand"))
        begin, end = file.get(f"hold/{i}/during", 1, (2,))
        try:
            held = world.with_hold(object, by, hand, (float(begin), float(end)))
            inside = times[(times >= begin) & (times <= end)]
            if len(inside):
                grip = inverse(world.hand(by, hand, inside[0])) @ world.objects[object].path(inside[0])
                held = world.with_hold(object, by, hand, (float(begin), float(end)), grip)
            world = held
        except ElbowroomError as error:
            raise BadFile(file.path, str(error).rstrip("."), where=f"hold {i}") from None
    return world


class _Arrays:
    """Arrays of an NPZ file, each checked before memory is taken for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        check_regular(path, _LARGEST)
        try:
            self._zip = zipfile.ZipFile(path)
            members = self._zip.infolist()
        except OSError as error:
            raise BadFile(path, f"cannot be read ({error.strerror or error})") from None
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            raise BadFile(
                path, "is no NPZ", would_do="a file of named arrays as numpy.savez writes it would do"
            ) from None
        if len(members) > _MOST_ARRAYS:
            raise BadFile(path, f"holds {len(members)} arrays", would_do=f"at most {_MOST_ARRAYS} are read")
        packed = sum(i.file_size for i in members if i.compress_type != zipfile.ZIP_STORED)
        if packed > _LARGEST_COMPRESSED or sum(i.file_size for i in members) > _LARGEST:
            size = sum(i.compress_size for i in members)
            raise BadFile(
                path,
                f"claims {sum(i.file_size for i in members) / 2**20:,.0f} MB of arrays in {size / 2**20:,.1f} MB",
                would_do=f"at most {_LARGEST_COMPRESSED // 2**20} MB are unpacked",
            )
        self._infos = {i.filename.removesuffix(".npy"): i for i in members}

    def __enter__(self) -> _Arrays:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def names(self, group: str) -> list[str]:
        """Names of the characters, static meshes or objects in the order of the file."""
        found = [key.split("/")[1] for key in self._infos if key.startswith(f"{group}/") and key.count("/") >= 2]
        return list(dict.fromkeys(found))

    def __contains__(self, key: str) -> bool:
        return key in self._infos

    def get(self, key: str, dims: int, shape: tuple[int, ...] | None = None, kind: str = "iuf") -> NDArray:
        """One array of so many dimensions and, if given, a shape; `kind` are numpy's letters for its type."""
        if key not in self._infos:
            raise BadFile(self.path, "is missing", where=f"array '{key}'")
        info = self._infos[key]
        try:
            with self._zip.open(info) as file:
                version = npy.read_magic(file)
                read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                claimed, _, dtype = read_header(file)
                need = int(np.prod([int(n) for n in claimed], dtype=object)) * dtype.itemsize
                if dtype.hasobject or need > info.file_size or dtype.kind not in kind:
                    raise BadFile(
                        self.path,
                        f"claims {claimed} of type {dtype} in {info.file_size} bytes",
                        where=f"array '{key}'",
                    )
            with self._zip.open(info) as file:
                array = npy.read_array(file, allow_pickle=False)
        except (
            ValueError,
            zipfile.BadZipFile,
            EOFError,
            NotImplementedError,
            RuntimeError,
            OSError,
            zlib.error,
        ) as error:
            text = str(error).split("\n")[0][:80]
            raise BadFile(self.path, f"cannot be read ({text})", where=f"array '{key}'") from None
        if array.ndim != dims or (shape is not None and array.shape != shape):
            want = shape if shape is not None else f"{dims} dimensions"
            raise BadFile(self.path, f"has the shape {array.shape}", f"array '{key}'", f"{want} would do")
        if array.dtype.kind == "f" and key != "floor" and not np.all(np.isfinite(array)):
            raise BadFile(self.path, "holds numbers that are not finite", where=f"array '{key}'")
        return array

    def mesh(self, key: str) -> Mesh:
        """Vertices and faces below a key."""
        vertices, faces = self.get(f"{key}/vertices", 2), self.get(f"{key}/faces", 2, kind="iu")
        if vertices.shape[1] != 3 or faces.shape[1] != 3:
            raise BadFile(self.path, "needs vertices (V, 3) and faces (F, 3)", where=f"mesh '{key}'")
        if len(faces) and (int(faces.min()) < 0 or int(faces.max()) >= len(vertices)):
            raise BadFile(self.path, f"uses vertex {faces.max()} of {len(vertices)}", where=f"mesh '{key}'")
        return Mesh(vertices, faces)


def _clip(file: _Arrays, name: str, fps: float, times: Array) -> Clip:
    at = f"char/{name}"
    names = [str(n) for n in file.get(f"{at}/joint_names", 1, kind="U")]
    count = len(names)
    rest = file.get(f"{at}/rest", 2, (count, 4)) if f"{at}/rest" in file else None
    rotations = file.get(f"{at}/rotations", 3, (len(times), count, 4))
    parents, offsets = file.get(f"{at}/parents", 1, (count,), "iu"), file.get(f"{at}/offsets", 2, (count, 3))
    try:
        skeleton = Skeleton(tuple(names), parents, offsets, rest)  # type: ignore[arg-type]
    except ElbowroomError as error:
        raise BadFile(file.path, str(error).rstrip("."), where=f"character '{name}'") from None
    character = as_character(skeleton, name=name)
    shapes = _shapes(file, at, count)
    # roles and limits are found anew, but the skeleton and the shapes are the file's own
    character = character.with_(skeleton=skeleton, shapes=shapes)
    root = file.get(f"{at}/root", 2, (len(times), 3))
    source = Source(path=str(file.path), format="NPZ")
    return Clip(character, fps, root, rotations, float(times[0]), name, source)


def _shapes(file: _Arrays, at: str, joints: int) -> tuple[Shape, ...]:
    names = file.get(f"{at}/shape_names", 1, kind="U")
    count = len(names)
    joint = file.get(f"{at}/shape_joint", 1, (count,), "iu")
    kinds = [str(k) for k in file.get(f"{at}/shape_kind", 1, (count,), "U")]
    size, T = file.get(f"{at}/shape_size", 2, (count, 3)), file.get(f"{at}/T_joint_shape", 3, (count, 4, 4))
    if not set(kinds) <= set(_KINDS) or (count and not 0 <= int(joint.min()) <= int(joint.max()) < joints):
        raise BadFile(file.path, "names unknown kinds or joints", where=f"{at}/shape_kind, shape_joint")
    return tuple(
        Shape(
            str(names[i]),
            int(joint[i]),
            kinds[i],  # type: ignore[arg-type]
            size[i],
            T[i],
            file.mesh(f"{at}/mesh/{i}") if kinds[i] == "mesh" else None,
        )
        for i in range(count)
    )
