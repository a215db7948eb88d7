"""Edited document: a storyboard as plain values, its file, its planning settings; meshes reused when it is rebuilt."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.atomic import said_of, writing
from elbowroom.geometry.mesh import Mesh
from elbowroom.motion.clip import Clip, Motion
from elbowroom.plan.state.settings import Tier
from elbowroom.storyboard.storyboard import Storyboard, parse_storyboard
from elbowroom.storyboard.yaml_lines import parse_yaml, read_yaml
from elbowroom.studio.rewriting import dumped, rewritten
from elbowroom.world.world import World

EMPTY: Mapping[str, Any] = {"elbowroom": 1, "fps": 60, "scene": {"floor": 0.0}}


_THINGS = ("objects", "fixtures")
_PLACES = ("at", "turn", "path", "on", "state", "mass", "freedom", "frames", "grasps")


@dataclass(frozen=True, eq=False)
class Document:
    """Storyboard that is being edited. `with_…()` gives a changed copy; values are never changed in place.

    File names in it are relative to the folder of `path`. `seed` and `tier` are planning settings; `given` marks a
    document that is new or from the gallery and has no file of its own yet. `source` is the text that it was read
    from, with comments.
    """

    values: Mapping[str, Any]
    path: Path
    seed: int = 0
    tier: Tier = "auto"
    given: bool = False
    source: str = ""

    @property
    def name(self) -> str:
        """Name on the page."""
        return self.path.stem

    @property
    def text(self) -> str:
        """YAML of the storyboard, without comments."""
        return dumped(dict(self.values))

    def board(self) -> Storyboard:
        """Storyboard with its world; raises `BadFile` if it is invalid."""
        try:
            return parse_storyboard(self.text, self.path)
        except BadFile:
            if self.source and parse_yaml(self.path, self.source).values == self.values:
                return parse_storyboard(self.source, self.path)  # reports lines of the current file
            raise

    def edited(self) -> dict[str, Any]:
        """Mutable copy of the values, to be passed to `with_values`."""
        return deepcopy(dict(self.values))

    def with_values(self, values: Mapping[str, Any]) -> Document:
        """The same document with other values."""
        return replace(self, values=values)

    def with_(self, **changes: Any) -> Document:
        """A copy with some fields replaced."""
        return replace(self, **changes)

    def moved_to(self, path: Path) -> Document:
        """Copy of the document for another path; file names in it are adjusted to refer to the same files."""

        def moved(name: str) -> str:
            if Path(name).is_absolute():
                return name
            return Path(os.path.relpath(self.path.parent / name, path.parent)).as_posix()

        return replace(self, path=path, given=False, values=_each_file(self.values, moved))

    def written(self) -> tuple[Document, bool]:
        """Write the storyboard to its path; returns the saved document, and whether all comments were preserved."""
        kept = rewritten(self.source, self.values) if self.source else None
        text = self.text if kept is None else kept
        with said_of(self.path), writing(self.path) as (stand_in,):
            stand_in.write_bytes(text.encode())
        return replace(self, source=text), kept is not None or "#" not in self.source

    def same(self, other: Document) -> bool:
        """Return whether both would be saved and planned alike."""
        alike = (self.seed, self.tier, self.path) == (other.seed, other.tier, other.path)
        return alike and self.values == other.values

    @property
    def looks(self) -> str:
        """Text of everything that determines the appearance of characters and objects, without their positions."""
        values = self.values
        meshes = [_without(mesh, "at", "turn", "moved") for mesh in values.get("scene", {}).get("meshes", [])]
        things = {key: {n: _without(o, *_PLACES) for n, o in values.get(key, {}).items()} for key in _THINGS}
        people = {n: c.get("body", c.get("clip")) for n, c in values.get("characters", {}).items()}
        floor = values.get("scene", {}).get("floor")
        return json.dumps([str(self.path.parent), floor, meshes, things, people])

    def as_json(self) -> str:
        """Text of everything that determines its motion."""
        fields = {"path": str(self.path), "seed": self.seed, "tier": self.tier, "given": self.given}
        return json.dumps(fields | {"values": self.values}, allow_nan=False)

    def kept_text(self) -> str:
        """Text of the whole document, for autosave; `from_json` reads it."""
        return json.dumps({"source": self.source, "document": self.as_json()})


def _without(entry: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {k: v for k, v in entry.items() if k not in keys}


def from_json(text: str) -> Document:
    """Document from `kept_text`; raises `BadValue` for any other text."""
    try:
        whole = json.loads(text)
        source, fields = whole["source"], json.loads(whole["document"])
        path, seed, tier, given, values = (fields[k] for k in ("path", "seed", "tier", "given", "values"))
    except (ValueError, KeyError, TypeError):
        raise BadValue("this is not an autosaved document of the studio.") from None
    texts = isinstance(path, str) and isinstance(source, str)
    if not (isinstance(values, dict) and texts and isinstance(seed, int) and tier in get_args(Tier)):
        raise BadValue("this is not an autosaved document of the studio.")
    return Document(values, Path(path), seed, tier, bool(given), source)


def read_document(path: Path, *, given: bool = False) -> Document:
    """Read a storyboard file for editing."""
    values = read_yaml(path).values
    if not isinstance(values, dict):
        what = "is empty" if values is None else "is not a storyboard"
        raise BadFile(path, what, would_do="it must begin with the line 'elbowroom: 1'")
    return Document(values, path, given=given, source=path.read_bytes().decode())


def new_document(folder: Path) -> Document:
    """Empty storyboard for a folder."""
    return Document(deepcopy(dict(EMPTY)), folder / "untitled.yaml", given=True)


_FILE_KEYS = ("file", "asf", "mesh", "clip", "body", "packages")


def named_files(values: Any) -> list[str]:
    """Names of all files and folders that a storyboard refers to, as written in it."""
    found: list[str] = []

    def note(name: str) -> str:
        found.append(name)
        return name

    _each_file(values, note)
    return found


def _each_file(values: Any, change: Callable[[str], str], key: str = "") -> Any:
    """Values with each file name replaced."""
    if isinstance(values, dict):
        # beside a file, 'clip' is the name of one of its clips
        named = {k: "" if k == "clip" and "file" in values else k for k in values}
        return {k: _each_file(v, change, named[k]) for k, v in values.items()}
    if isinstance(values, list):
        return [_each_file(v, change, key if key == "packages" else "") for v in values]
    return change(values) if isinstance(values, str) and key in _FILE_KEYS else values


def speaks_of(values: Any, name: str) -> bool:
    """Return whether a part of a storyboard refers to a name, or to a part of it."""
    if isinstance(values, dict):
        return any(speaks_of(v, name) for v in values.values())
    if isinstance(values, list):
        return any(speaks_of(v, name) for v in values)
    return isinstance(values, str) and (values == name or values.startswith(f"{name}."))


def sharing(board: Storyboard, before: World) -> Storyboard:
    """Storyboard with meshes and clips taken from a world if they are bitwise equal."""
    meshes = {_key(mesh): mesh for mesh in _meshes(before)}
    world = board.world
    static = {name: meshes.get(_key(mesh), mesh) for name, mesh in world.static.items()}
    objects = {
        name: replace(thing, mesh=meshes[_key(thing.mesh)]) if _key(thing.mesh) in meshes else thing
        for name, thing in world.objects.items()
    }
    people = {name: _same(motion, before.characters.get(name)) for name, motion in world.characters.items()}
    return replace(board, world=world.with_(static=static, objects=objects, characters=people))


def _meshes(world: World) -> Iterable[Mesh]:
    yield from world.static.values()
    yield from (thing.mesh for thing in world.objects.values())


def _key(mesh: Mesh) -> bytes:
    digest = hashlib.blake2b(mesh.vertices.tobytes(), digest_size=16)
    digest.update(mesh.faces.tobytes())
    digest.update(repr(mesh.color).encode())
    digest.update(b"" if mesh.colors is None else mesh.colors.tobytes())
    digest.update(b"" if mesh.paint is None else repr(mesh.paint.materials).encode() + mesh.paint.uv.tobytes())
    return digest.digest()


def _same(motion: Motion, before: Motion | None) -> Motion:
    if not (isinstance(motion, Clip) and isinstance(before, Clip) and motion.character is before.character):
        return motion
    alike = (motion.start, motion.fps, motion.source) == (before.start, before.fps, before.source)
    frames = np.array_equal(motion.rotations, before.rotations) and np.array_equal(motion.root, before.root)
    return before if alike and frames else motion


# Kind of an import that is left to the file.
DETECTED = "detected"


@dataclass(frozen=True)
class ImportChoice:
    """Kind of an import, the character that it is for, and how the file is read.

    A clip or a rig is for the character `whom`; without one a new character is added. `units` is metres per unit of
    the file and `up` its axis; None is as the file states or as its content suggests. `floor` is what of a scene comes
    onto the storyboard's floor: 'zero', 'lowest', or its own floor if None.
    """

    kind: str = DETECTED
    whom: str | None = None
    units: float | None = None
    up: str | None = None
    floor: str | None = None


@dataclass(frozen=True, eq=False)
class Imported:
    """The last import: its file, what it was taken for, the document after it, and a text on how it was read."""

    path: Path
    choice: ImportChoice
    after: Document
    text: str
