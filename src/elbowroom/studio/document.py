"""What is edited: a storyboard as plain values, where it comes from, and how it is to be planned."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.atomic import said_of, writing
from elbowroom.plan.settings import Tier
from elbowroom.storyboard.storyboard import Storyboard, parse_storyboard
from elbowroom.storyboard.yaml_lines import parse_yaml, read_yaml
from elbowroom.studio.rewriting import dumped, rewritten

EMPTY: Mapping[str, Any] = {"elbowroom": 1, "fps": 60, "scene": {"floor": 0.0}}


_THINGS = ("objects", "fixtures")
_PLACES = ("at", "turn", "path", "on", "state", "mass", "freedom", "frames", "grasps")


@dataclass(frozen=True, eq=False)
class Document:
    """A storyboard that is being edited. `with_…()` gives a changed copy; values are never changed in place.

    Names of files in it are read from the folder of `path`. `seed` and `tier` are how it is planned; `given` says that
    it is new or from the gallery, and has no file of its own yet. `source` is the text that it was read from, with
    comments.
    """

    values: Mapping[str, Any]
    path: Path
    seed: int = 0
    tier: Tier = "auto"
    given: bool = False
    source: str = ""

    @property
    def name(self) -> str:
        """What it is called on the page."""
        return self.path.stem

    @property
    def text(self) -> str:
        """The storyboard as YAML, without comments."""
        return dumped(dict(self.values))

    def board(self) -> Storyboard:
        """The storyboard with its world; raises `BadFile` where it cannot be meant."""
        try:
            return parse_storyboard(self.text, self.path)
        except BadFile:
            if self.source and parse_yaml(self.path, self.source).values == self.values:
                return parse_storyboard(self.source, self.path)  # tells lines of the file as it stands
            raise

    def edited(self) -> dict[str, Any]:
        """A copy of the values that may be changed and given to `with_values`."""
        return deepcopy(dict(self.values))

    def with_values(self, values: Mapping[str, Any]) -> Document:
        """The same document with other values."""
        return replace(self, values=values)

    def with_(self, **changes: Any) -> Document:
        """A copy with some fields replaced."""
        return replace(self, **changes)

    def moved_to(self, path: Path) -> Document:
        """The document as one of another file; names of files in it stay those of the same files."""

        def moved(name: str) -> str:
            if Path(name).is_absolute():
                return name
            return Path(os.path.relpath(self.path.parent / name, path.parent)).as_posix()

        return replace(self, path=path, given=False, values=_each_file(self.values, moved))

    def written(self) -> tuple[Document, bool]:
        """Write the storyboard to its path: the document as it is saved, and whether all comments are still there."""
        kept = rewritten(self.source, self.values) if self.source else None
        text = self.text if kept is None else kept
        with said_of(self.path), writing(self.path) as (stand_in,):
            stand_in.write_bytes(text.encode())
        return replace(self, source=text), kept is not None or "#" not in self.source

    def same(self, other: Document) -> bool:
        """Whether both would be saved and planned alike."""
        alike = (self.seed, self.tier, self.path) == (other.seed, other.tier, other.path)
        return alike and self.values == other.values

    @property
    def looks(self) -> str:
        """What decides which people and things are to be seen, but not where they are; equal texts look the same."""
        values = self.values
        meshes = [_without(mesh, "at", "turn", "moved") for mesh in values.get("scene", {}).get("meshes", [])]
        things = {key: {n: _without(o, *_PLACES) for n, o in values.get(key, {}).items()} for key in _THINGS}
        people = {n: c.get("body", c.get("clip")) for n, c in values.get("characters", {}).items()}
        floor = values.get("scene", {}).get("floor")
        return json.dumps([str(self.path.parent), floor, meshes, things, people])

    def as_json(self) -> str:
        """Everything that decides on its motion, as text."""
        told = {"path": str(self.path), "seed": self.seed, "tier": self.tier, "given": self.given}
        return json.dumps(told | {"values": self.values}, allow_nan=False)

    def kept_text(self) -> str:
        """Everything of it as text, for keeping; `from_json` reads it."""
        return json.dumps({"source": self.source, "document": self.as_json()})


def _without(entry: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {k: v for k, v in entry.items() if k not in keys}


def from_json(text: str) -> Document:
    """A document that `kept_text` gave; raises `BadValue` where the text is none."""
    try:
        whole = json.loads(text)
        source, told = whole["source"], json.loads(whole["document"])
        path, seed, tier, given, values = (told[k] for k in ("path", "seed", "tier", "given", "values"))
    except (ValueError, KeyError, TypeError):
        raise BadValue("this is no kept document of the studio.") from None
    texts = isinstance(path, str) and isinstance(source, str)
    if not (isinstance(values, dict) and texts and isinstance(seed, int) and tier in get_args(Tier)):
        raise BadValue("this is no kept document of the studio.")
    return Document(values, Path(path), seed, tier, bool(given), source)


def read_document(path: Path, *, given: bool = False) -> Document:
    """Read a storyboard file for editing."""
    values = read_yaml(path).values
    if not isinstance(values, dict):
        what = "is empty" if values is None else "is no storyboard"
        raise BadFile(path, what, would_do="a storyboard begins with the line 'elbowroom: 1'")
    return Document(values, path, given=given, source=path.read_bytes().decode())


def new_document(folder: Path) -> Document:
    """An empty storyboard that is to be saved in a folder."""
    return Document(deepcopy(dict(EMPTY)), folder / "untitled.yaml", given=True)


_FILE_KEYS = ("file", "asf", "mesh", "clip", "body", "packages")


def named_files(values: Any) -> list[str]:
    """Names of all files and folders that a storyboard refers to, as they stand in it."""
    found: list[str] = []

    def note(name: str) -> str:
        found.append(name)
        return name

    _each_file(values, note)
    return found


def _each_file(values: Any, change: Callable[[str], str], key: str = "") -> Any:
    """Values in which each name of a file is changed."""
    if isinstance(values, dict):
        # beside a file, 'clip' is the name of one of its clips
        named = {k: "" if k == "clip" and "file" in values else k for k in values}
        return {k: _each_file(v, change, named[k]) for k, v in values.items()}
    if isinstance(values, list):
        return [_each_file(v, change, key if key == "packages" else "") for v in values]
    return change(values) if isinstance(values, str) and key in _FILE_KEYS else values


def speaks_of(values: Any, name: str) -> bool:
    """Whether a part of a storyboard names something, or a part of it."""
    if isinstance(values, dict):
        return any(speaks_of(v, name) for v in values.values())
    if isinstance(values, list):
        return any(speaks_of(v, name) for v in values)
    return isinstance(values, str) and (values == name or values.startswith(f"{name}."))
