"""Import of files into the storyboard, by path or upload, with progress and cancel."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.errors import BadFile, BadValue, ElbowroomError
from elbowroom.motion.clip import Clip
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.document import Document
from elbowroom.studio.edits import add_character, add_object, add_static, change_character
from elbowroom.studio.folders import check_upload
from elbowroom.studio.messages import seconds
from elbowroom.studio.studio import Studio
from elbowroom.studio.worker import Job
from elbowroom.world.scene_floor import foot_places, scene_floor
from elbowroom.world.world import World

AS = ("scene", "object", "clip", "rig")
# Metres per unit of a file; without it as the file states or as its size suggests.
GUESSED = "from the file"
UNITS: Mapping[str, float | None] = {
    GUESSED: None,
    "metres": 1.0,
    "centimetres": 0.01,
    "millimetres": 0.001,
    "inches": 0.0254,
    "feet": 0.3048,
}
# Characters of a file's name that are used for the name of an object.
_LONGEST_NAME = 48
# Decimals of positions in metres.
_DIGITS = 4

Brought = tuple[Document, Document, Storyboard]


def bring_in(studio: Studio, kind: str, file: str | Path, whom: str | None = None, units: float | None = None) -> Job:
    """Import a file: a scene, an object's mesh, a clip, or a rig.

    A clip or a rig is for the character `whom`; without one a new character is added. `units` is metres per unit
    of the file.
    """
    if not str(file).strip(". "):
        raise BadValue("give the path of a file to import.")
    path = studio.folders.to_read(file)
    check_upload(path.name, 1, kind_of(kind))
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise BadFile(file, what, would_do=f"give a file in {studio.folders.work}")
    return _submitted(studio, f"importing {path.name}", lambda: path, kind, whom, units)


def upload(studio: Studio, kind: str, name: str, content: bytes, whom: str | None, units: float | None) -> Job:
    """Store an uploaded file in the working folder and import it; an unusable file is removed."""
    check_upload(name, len(content), kind_of(kind))
    what = f"importing {Path(name).name}"
    return _submitted(studio, what, lambda: studio.folders.take(name, content, kind_of(kind)), kind, whom, units)


def kind_of(kind: str) -> str:
    """Kind of file that an import takes."""
    return "scene" if kind == "object" else kind


def _submitted(
    studio: Studio, what: str, get: Callable[[], Path], kind: str, whom: str | None, units: float | None
) -> Job:
    file: list[Path] = []
    notes: list[str] = []

    def work(job: Job) -> Brought:
        before = studio.folders.uploads()
        path = get()
        file[:] = [path]
        try:
            with studio.lock:
                document, before_it = studio.document, studio.original
            after = _added(document, kind, path, whom, units)
            studio.check_files(after)
            board = after.board()
            if kind == "scene":
                after, board, notes[:] = _onto_floor(before_it, after, board)
            if kind == "clip" and not document.values.get("characters"):
                after, board = _at_its_rate(after, board)
            return document, after, board
        except BaseException as error:
            if path in studio.folders.uploads() - before:
                path.unlink(missing_ok=True)
            if isinstance(error, ElbowroomError):
                raise BadValue(_about(error, path)) from None
            raise

    def done(brought: Brought) -> None:
        document, after, board = brought
        with studio.lock:
            if studio.document is not document:  # edited meanwhile: once more, over that
                studio.run_files(Job(what, work, done))
                return
            text = "".join([_summary(file[0], studio.original, board, whom), *notes])
            studio.edit(f"import {file[0].name}", after, board=board)
        studio.say(text, "good")

    return studio.run_files(Job(what, work, done))


def _added(document: Document, kind: str, path: Path, whom: str | None, units: float | None) -> Document:
    """Document with the file added."""
    name, stem = os.path.relpath(path, document.path.parent), path.stem[:_LONGEST_NAME]
    source: dict[str, Any] = {"file": name} if units is None else {"file": name, "units": units}
    if kind == "scene":
        return add_static(document, stem, source)
    if kind == "object":
        return add_object(document, stem, source, [0.0, -1.0, 0.0])
    entry = {"clip" if kind == "clip" else "body": source if units is not None else name}
    return add_character(document, stem, entry) if whom is None else change_character(document, whom, entry)


def _onto_floor(before: World, after: Document, board: Storyboard) -> tuple[Document, Storyboard, list[str]]:
    """Document with the scene added last raised to the previous floor height, and notes on that.

    The scene's floor is detected as on the command line, which puts a clip onto it: here characters and objects already
    have their positions, and the scene is put below their feet.
    """
    if before.floor is None:
        return after, board, []
    static = {name: mesh for name, mesh in board.world.static.items() if name not in before.static}
    scenes = scene_floor(static, foot_places(before.characters.values()))
    if not scenes.found:
        return after, board, [f" {scenes.note.partition(';')[0]}."] if scenes.note else []
    lift = round(before.floor - scenes.height, _DIGITS) + 0.0
    if lift == 0.0:
        return after, board, []
    values = after.edited()
    values["scene"]["meshes"][-1]["at"] = [0.0, 0.0, lift]
    after = after.with_values(values)
    note = f" Its floor, at {scenes.height:.3f} m, was aligned with that of the storyboard, at {before.floor:.3f} m."
    return after, after.board(), [note]


def _at_its_rate(document: Document, board: Storyboard) -> tuple[Document, Storyboard]:
    """Set the output frame rate to that of the first clip."""
    (motion,) = board.world.characters.values()
    if not isinstance(motion, Clip) or motion.fps == board.fps:
        return document, board
    return document.with_values({**document.values, "fps": motion.fps}), replace(board, fps=motion.fps)


def _about(error: ElbowroomError, path: Path) -> str:
    """Error text about a file, without its location in the storyboard."""
    text = str(error)
    if "no skeleton (.asf) is in its folder" in text:
        text = text.replace("give its skeleton (option: asf)", "import its skeleton as a rig first")
    begin = text.find(str(path))
    return "Not imported: " + (text if begin < 0 else text[begin:].replace(str(path), path.name))


def _summary(path: Path, before: World, board: Storyboard, whom: str | None) -> str:
    """Summary of an import: figures that reveal a wrong unit, and assumptions."""
    world, facts = board.world, ""
    meshes = [mesh for name, mesh in world.static.items() if name not in before.static]
    meshes += [thing.mesh for name, thing in world.objects.items() if name not in before.objects]
    people = [motion for name, motion in world.characters.items() if name not in before.characters or name == whom]
    if meshes:
        every = np.concatenate([mesh.vertices for mesh in meshes])
        facts = " x ".join(f"{length:.2f}" for length in np.ptp(every, axis=0)) + " m"
    elif people and people[0].span[1] > people[0].span[0]:
        facts = seconds(people[0].span[1] - people[0].span[0])
    notes = [n.partition(": ")[2] for n in world.notes if n not in before.notes and "ssumed" in n and ": " in n]
    plain = [re.sub(r"( \(option: [^)]*\))?\.?$", "", re.sub(r", which makes it [^(]* m", "", n)) for n in notes]
    kept = dict.fromkeys(plain)  # a clip that is brought onto another body has them twice
    return f"Imported {path.name}{', ' + facts if facts else ''}." + "".join(f" {note}." for note in kept)
