"""Reading of scenes and objects: OBJ, STL, PLY and glTF as named meshes in metres, Z up."""

from __future__ import annotations

import io
import logging
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from trimesh.exchange.stl import HeaderError
from trimesh.resolvers import Resolver

from elbowroom.errors import BadFile
from elbowroom.files.conventions import LARGEST_IN_METRES, checked_units, checked_up
from elbowroom.files.fbx import RIGGED, read_rigged
from elbowroom.files.glb_nodes import check_sizes, distinct, sane
from elbowroom.files.glb_read import Y_UP_TO_Z_UP
from elbowroom.files.text import read_bytes, resolved_beneath, shown
from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.mesh_cleanup import cleaned_solids
from elbowroom.geometry.paint import MOST_PIXELS, Material, Paint, linear
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import assembled

# Largest object or scene, in its own unit: larger files are in millimetres.
_LARGEST_IN_CENTIMETRES = 5000.0

# trimesh logs tracebacks of damaged files, which Python would print: our one sentence says it.
logging.getLogger("trimesh").addHandler(logging.NullHandler())

# Exceptions of trimesh's text and binary parsers on damaged numbers, indices and headers.
_PARSE_ERRORS = (
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    AttributeError,
    UnboundLocalError,  # a PLY header whose faces have no list
    OverflowError,
    struct.error,
    HeaderError,
)

# Bytes of the materials of an OBJ; a page of text in all files that were seen.
_MOST_MATERIALS = 4 * 2**20
# Textures that are read, and bytes of one.
_TEXTURES = (".png", ".jpg", ".jpeg")
_MOST_TEXTURE = 64 * 2**20


@dataclass(frozen=True, eq=False)
class MeshFile:
    """Meshes of a file by name, and notes on assumptions."""

    meshes: Mapping[str, Mesh] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_meshes(path: str | Path, *, units: float | None = None, up: str | None = None) -> MeshFile:
    """Read the meshes of a scene or an object.

    `units` is metres per unit of the file, `up` is 'Y' or 'Z'; by default they are guessed, with a note. glTF
    defines both; characters in it are used in their rest pose.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind in RIGGED:
        return _from_rigged(path, units, up)
    check = {".obj": _check_obj, ".stl": _check_stl, ".ply": _check_ply}.get(kind)
    if check is None:
        raise BadFile(
            path, f"has the suffix '{path.suffix}'", would_do="expected .glb, .gltf, .fbx, .obj, .stl or .ply"
        )
    data = read_bytes(path)
    if not data.strip():
        raise BadFile(path, "is empty")
    check(path, data)
    named = _parsed(path, data, kind[1:])
    if not named:
        raise BadFile(path, "contains no triangles")
    every = np.concatenate([m.vertices for m in named.values()])
    low, high = every.min(axis=0), every.max(axis=0)
    scale, unit_note = (checked_units(units), "") if units is not None else _guess_units(high - low)
    axis, up_note = (checked_up(up), "") if up is not None else _guess_up(low, high, kind)
    T = Y_UP_TO_Z_UP.copy() if axis == "Y" else np.eye(4)
    T[:3] *= scale
    meshes = {n: m.moved(T) for n, m in named.items()}
    check_sizes(path, meshes)
    return MeshFile(meshes, tuple(n for n in (unit_note, up_note, _open_note(meshes)) if n))


def _open_note(meshes: Mapping[str, Mesh]) -> str:
    """A note on meshes with holes, '' without any."""
    holes = [name for name, mesh in meshes.items() if not cleaned_solids(mesh, name)[1].all()]
    if not holes:
        return ""
    named = f"'{holes[0]}' is" if len(holes) == 1 else f"{len(holes)} of {len(meshes)} meshes are"
    return f"{named} not closed: the surface is an obstacle, the inside is not."


def _from_rigged(path: Path, units: float | None, up: str | None) -> MeshFile:
    found = read_rigged(path, units=units, up=up)
    meshes = dict(found.meshes)
    notes = list(found.notes)
    for name, character in found.characters.items():
        if character.skin is not None:
            skin = character.skin
            free = distinct([*meshes, name])[-1]
            at_rest = skin.posed(character.skeleton.T_rest)
            meshes[free] = Mesh(at_rest, skin.faces, skin.color, skin.colors, skin.paint)
            notes.append(f"The character '{name}' was used as a mesh in its rest pose.")
    if found.objects:
        notes.append(f"Animated in the file, but used at rest: {', '.join(list(found.objects)[:5])}.")
    if not meshes:
        raise BadFile(path, "contains no triangles")
    return MeshFile(meshes, tuple(notes))


def _check_obj(path: Path, data: bytes) -> None:
    lines = b"\n" + data
    if b"\0" in data or b"\nv" not in lines or b"\nf" not in lines:
        raise BadFile(path, "is not an OBJ", would_do="expected text with lines of v and f")


def _check_stl(path: Path, data: bytes) -> None:
    """Check that a binary file has the size that its header claims, and a text file a valid start."""
    claimed = int.from_bytes(data[80:84], "little") if len(data) >= 84 else 0
    if len(data) >= 84 and len(data) == 84 + 50 * claimed:
        return
    if data.lstrip()[:5].lower() == b"solid" and b"vertex" in data:
        return
    what = f"claims {claimed} triangles, which take {84 + 50 * claimed} bytes, but has {len(data)}"
    raise BadFile(
        path,
        what if len(data) >= 84 else f"ends after {len(data)} bytes",
        would_do="expected a complete STL",
    )


def _check_ply(path: Path, data: bytes) -> None:
    """No element may claim more rows than bytes that follow."""
    head, end, body = data.partition(b"end_header")
    if data[:3] != b"ply" or not end or len(head) > 100_000:
        raise BadFile(path, "has no complete PLY header")
    for number, line in enumerate(head.split(b"\n"), start=1):
        words = line.split()
        if words[:1] == [b"element"]:
            count = int(words[2]) if len(words) == 3 and words[2].isdigit() and len(words[2]) < 16 else -1
            if not 0 <= count <= len(body):
                raise BadFile(
                    path,
                    f"claims '{shown(line.decode('latin-1').strip(), 60)}' with {len(body)} bytes of data",
                    where=f"line {number}",
                    would_do="expected a count that fits the file",
                )


class _MaterialFiles(Resolver):
    """Gives trimesh the material file of an OBJ and its textures, from the OBJ's own folder and those below.

    trimesh swallows every exception of a resolver: `fault` keeps the one that the user has to see.
    """

    def __init__(self, path: Path) -> None:
        self.file_name = path.name
        self.fault: BadFile | None = None
        self._folder = path.parent
        self._wants_materials = path.suffix.lower() == ".obj"

    def get(self, key: str) -> bytes:
        """Content of the first file that is asked for, which is that of the materials, or of a texture."""
        materials, self._wants_materials = self._wants_materials, False
        texture = Path(key).suffix.lower() in _TEXTURES
        found = resolved_beneath(self._folder, key) if (materials or texture) and "://" not in key else None
        if found is None or not found.exists():
            raise FileNotFoundError(key)
        try:
            return read_bytes(found, _MOST_TEXTURE if texture else _MOST_MATERIALS)
        except BadFile as error:
            self.fault = error
            raise FileNotFoundError(key) from None

    def keys(self) -> list[str]:
        """No names: what there is cannot be listed."""
        return []

    def namespaced(self, namespace: str) -> _MaterialFiles:
        """Itself: files have no namespaces."""
        return self

    def write(self, name: str, data: object) -> None:
        """Refuse: nothing is written while reading."""
        raise NotImplementedError


def _parsed(path: Path, data: bytes, kind: str) -> dict[str, Mesh]:
    """Meshes in the file's own axes and units."""
    options: dict[str, Any] = (
        {"split_objects": True, "split_groups": True, "group_material": True} if kind == "obj" else {}
    )
    beside = _MaterialFiles(path)
    try:
        with np.errstate(all="ignore"):
            scene = trimesh.load_scene(
                io.BytesIO(data), file_type=kind, resolver=beside, process=kind == "stl", **options
            )
            pieces = [(name, g) for name, g in scene.geometry.items() if isinstance(g, trimesh.Trimesh)]
    except _PARSE_ERRORS as error:
        text = str(error).split("\n")[0][:80]
        raise BadFile(path, f"is damaged or not {kind.upper()} ({text or type(error).__name__})") from None
    if beside.fault is not None:
        raise beside.fault
    found: dict[str, list[Mesh]] = {}
    for name, piece in ((_tidy(_without_material(n, g), path), g) for n, g in pieces):
        vertices, faces = np.asarray(piece.vertices, dtype=float), np.asarray(piece.faces)
        if not len(faces):
            continue
        if vertices.shape[1:] != (3,) or faces.shape[1:] != (3,):
            raise BadFile(path, "needs three numbers for every vertex and corner", where=name)
        if faces.min() < 0 or faces.max() >= len(vertices):
            raise BadFile(path, f"a face uses vertex {faces.max()}", where=name, would_do=f"there are {len(vertices)}")
        sane(vertices, path, f"vertices of '{name}'")
        color = _color(piece)
        mesh = Mesh(vertices, faces, color) if color else Mesh(vertices, faces)
        paint = _paint(piece, mesh.color)
        found.setdefault(name, []).append(mesh if paint is None else replace(mesh, colors=paint.colors, paint=paint))
    return {name: assembled(parts) if len(parts) > 1 else parts[0] for name, parts in found.items()}


def _without_material(name: str, piece: trimesh.Trimesh) -> str:
    """The name of an OBJ's object, to which trimesh adds that of the material where a file has several."""
    material = getattr(getattr(piece.visual, "material", None), "name", None)
    return "" if name == material else name.removesuffix(f"_{material}")


def _paint(piece: trimesh.Trimesh, color: Color) -> Paint | None:
    """The material of an OBJ's part under its name, with its texture; None where it has none."""
    visual: Any = piece.visual
    if visual.kind != "texture" or visual.material is None:
        return None
    image, uv = getattr(visual.material, "image", None), visual.uv
    texture = b""
    if image is not None and uv is not None and len(uv) == len(piece.vertices) and np.isfinite(uv).all():
        file = io.BytesIO()
        image.convert("RGB").save(file, "PNG")
        texture = file.getvalue() if image.width * image.height <= MOST_PIXELS else b""
    named = str(getattr(visual.material, "name", None) or "")
    if not (texture or named):
        return None
    # a diffuse colour is an alternative to the texture in most files: grey 0.588 would darken it
    material = Material(named, (1.0, 1.0, 1.0) if texture else color, texture)
    top_left = np.asarray(uv, dtype=float) * [1.0, -1.0] + [0.0, 1.0] if texture else np.zeros((len(piece.vertices), 2))
    return Paint((material,), np.zeros(len(piece.vertices), np.int32), top_left)


def _tidy(name: str, path: Path) -> str:
    """The name in the file; trimesh's stand-ins for none become the file's own."""
    name = name.strip()
    return path.stem if not name or name == path.name or name.startswith("geometry_") else name


def _color(piece: trimesh.Trimesh) -> Color | None:
    """Material or mean vertex colour, linear RGB, or None where the file has none."""
    visual: Any = piece.visual  # trimesh has two unrelated classes here
    if visual.kind == "texture" and getattr(visual.material, "diffuse", None) is not None:
        shade = np.asarray(visual.material.diffuse, dtype=float)[:3]
    elif visual.kind in ("vertex", "face"):
        shade = np.mean(np.asarray(visual.vertex_colors, dtype=float)[:, :3], axis=0)
    else:
        return None
    r, g, b = linear(shade / 255.0)
    return float(r), float(g), float(b)


def _guess_units(size: Array) -> tuple[float, str]:
    """Metres per unit, from plausible sizes of objects and rooms, and a note on it."""
    largest = float(size.max())
    if largest <= LARGEST_IN_METRES:
        scale, name = 1.0, "metres"
    elif largest <= _LARGEST_IN_CENTIMETRES:
        scale, name = 0.01, "centimetres"
    else:
        scale, name = 0.001, "millimetres"
    shown = " x ".join(f"{s:.3g}" for s in size * scale)
    return scale, f"Units assumed: {name}, which makes it {shown} m (option: units)."


def _guess_up(low: Array, high: Array, kind: str) -> tuple[str, str]:
    """The up axis: Y only where the file stands on y = 0 and not on z = 0, else Z."""
    size = np.maximum(high - low, 1e-12)
    stands = np.abs(low) < 0.03 * size
    axis = "Y" if stands[1] and not stands[2] else "Z"
    why = f"it stands on {axis.lower()} = 0" if stands["XYZ".index(axis)] else f"as usual for {kind[1:].upper()}"
    return axis, f"Up axis assumed: {axis} ({why}) (option: up)."
