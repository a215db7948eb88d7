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
from elbowroom.files.fbx import RIGGED, read_rigged
from elbowroom.files.meshes import read_meshes
from elbowroom.geometry.mesh import Mesh, highest
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.document import DETECTED, Document, ImportChoice, Imported
from elbowroom.studio.edits import add_character, add_object, add_static, change_character
from elbowroom.studio.folders import check_upload
from elbowroom.studio.messages import seconds
from elbowroom.studio.studio import Studio
from elbowroom.studio.worker import StudioJob
from elbowroom.world.scene_floor import foot_places, scene_floor
from elbowroom.world.world import World

# New objects snap to multiples of this, metres, beside others; heights are exact.
_SNAP_M = 0.05
# Tolerance of standing on a surface, or at the height of its middle; metres.
_ON_TOP_M = 0.02
# Metres between the boxes of objects on the same surface.
_BESIDE_M = 0.02


def landing(studio: Studio, bounds: Array) -> list[float]:
    """Position (3,) for a new object, metres, so that it stands on top of what is selected, as near to its middle as
    there is room beside other objects. `bounds` (2, 3) is its box at the origin."""
    surface = _selected(studio)
    if surface is None:
        x, y, top = free_spot(studio)
        return [x, y, round(top - float(bounds[0, 2]), _DIGITS)]
    low, high = surface.bounds
    middle = 0.5 * (low + high)
    triangles = surface.vertices[surface.faces]
    top = max(highest(triangles, middle[None, :2]), float(low[2]))
    steps = [np.arange(-(n := int(0.5 * length / _SNAP_M)), n + 1) * _SNAP_M for length in (high - low)[:2]]
    spots = middle[:2] + np.stack(np.meshgrid(*steps), axis=-1).reshape(-1, 2)
    spots = spots[np.argsort(np.linalg.norm(spots - middle[:2], axis=1), kind="stable")]
    own = bounds[:, :2] + np.array([[-_BESIDE_M], [_BESIDE_M]])
    boxes = [box[:, :2] for box in _boxes(studio) if abs(box[0, 2] - top) < _ON_TOP_M]
    free = (p for p in spots if not any(np.all((own + p)[0] < b[1]) and np.all((own + p)[1] > b[0]) for b in boxes))
    level = (p for p in free if abs(highest(triangles, p[None]) - top) < _ON_TOP_M)
    spot = next(level, middle[:2])
    return [round(float(v), _DIGITS) + 0.0 for v in (*spot, top - bounds[0, 2])]


def _boxes(studio: Studio) -> list[Array]:
    """Boxes (2, 3) of all objects where they are at the start."""
    world = studio.original
    return [thing.mesh.moved(thing.path(world.span[0])).bounds for thing in world.objects.values()]


def free_spot(studio: Studio) -> list[float]:
    """Free position (3,) on the floor beside everything else, metres."""
    places = [p.T[:3, 3] for p in studio.places.values()]
    x = max((float(p[0]) for p in places), default=0.0) + 1.0 if places else 0.0
    y = float(np.mean([p[1] for p in places])) if places else 0.0
    snapped = [round(round(v / _SNAP_M) * _SNAP_M, 2) for v in (x, y)]
    return [*snapped, round(studio.original.floor or 0.0, _DIGITS)]


def _selected(studio: Studio) -> Mesh | None:
    """Mesh of the selected obstacle or object where it is at the start, in the world; None for anything else."""
    name, world = studio.selected, studio.original
    if name is None:
        return None
    if name in world.static:
        return world.static[name]
    if name in world.objects:
        return world.objects[name].mesh.moved(world.objects[name].path(world.span[0]))
    return None


# As the file states or as its content suggests.
GUESSED = "from the file"
AS = (DETECTED, "scene", "object", "clip", "rig")
UP = {GUESSED: None, "Y up": "Y", "Z up": "Z"}
FLOORS = {"detected": None, "at 0 of the file": "zero", "its lowest point": "lowest"}
# Metres per unit of a file.
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

# Files with at most this extent, metres, are objects where nothing else decides.
_LARGEST_OBJECT_M = 1.2

ImportedDocument = tuple[Document, Document, Storyboard]


def bring_in(studio: Studio, file: str | Path, choice: ImportChoice) -> StudioJob:
    """Import a file: a scene, an object's mesh, a clip, or a rig."""
    if not str(file).strip(". "):
        raise BadValue("give the path of a file to import.")
    path = studio.folders.to_read(file)
    check_upload(path.name, 1, kind_of(choice.kind))
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise BadFile(file, what, would_do=f"give a file in {studio.folders.work}")
    return _submitted(studio, f"importing {path.name}", lambda: path, choice)


def upload(studio: Studio, name: str, content: bytes, choice: ImportChoice) -> StudioJob:
    """Store an uploaded file in the working folder and import it; an unusable file is removed."""
    kind = kind_of(choice.kind)
    check_upload(name, len(content), kind)
    return _submitted(studio, f"importing {Path(name).name}", lambda: studio.folders.take(name, content, kind), choice)


def again(studio: Studio, choice: ImportChoice) -> StudioJob | None:
    """Import the last file once more, read otherwise, in place of what it was; None if it was edited since."""
    last = studio.imported
    if last is None or studio.document is not last.after or choice == last.choice:
        return None
    studio.undo()
    return bring_in(studio, last.path, choice)


def kind_of(kind: str) -> str:
    """Kind of file that an import takes."""
    return "scene" if kind == "object" else kind


def detected(path: Path, choice: ImportChoice) -> ImportChoice:
    """The choice with the kind that a file's content suggests."""
    suffix = path.suffix.lower()
    if choice.kind != DETECTED:
        return choice
    if suffix in (".bvh", ".amc", ".c3d", ".npy", ".npz"):
        return replace(choice, kind="clip")
    if suffix == ".asf":
        return replace(choice, kind="rig")
    if suffix in RIGGED:
        found = read_rigged(path, units=choice.units, up=choice.up)
        if found.characters:
            return replace(choice, kind="clip" if found.clips else "rig")
        meshes = found.meshes
    else:
        meshes = read_meshes(path, units=choice.units, up=choice.up).meshes
    ends = np.concatenate([mesh.bounds for mesh in meshes.values()])
    return replace(choice, kind="object" if np.ptp(ends, axis=0).max() <= _LARGEST_OBJECT_M else "scene")


def _submitted(studio: Studio, what: str, get: Callable[[], Path], asked: ImportChoice) -> StudioJob:
    file: list[Path] = []
    chosen: list[ImportChoice] = []
    notes: list[str] = []

    def work(job: StudioJob) -> ImportedDocument:
        before = studio.folders.uploads()
        path = get()
        file[:] = [path]
        try:
            job.tell(None, "reading")
            choice = detected(path, asked)
            chosen[:] = [choice]
            with studio.lock:
                document, before_it = studio.document, studio.original
            job.tell(None, f"as {choice.kind}")
            after = _added(document, path, choice)
            studio.check_files(after)
            board = after.board()
            if choice.kind == "scene":
                after, board, notes[:] = _onto_floor(before_it, after, board, choice.floor)
            if choice.kind == "object":
                after, board = _standing(studio, after, board)
            if choice.kind == "clip" and not document.values.get("characters"):
                after, board = _at_its_rate(after, board)
            return document, after, board
        except BaseException as error:
            if path in studio.folders.uploads() - before:
                path.unlink(missing_ok=True)
            if isinstance(error, ElbowroomError):
                raise BadValue(_about(error, path)) from None
            raise

    def done(brought: ImportedDocument) -> None:
        document, after, board = brought
        with studio.lock:
            if studio.document is not document:  # edited meanwhile: repeat with the new document
                studio.run_files(StudioJob(what, work, done))
                return
            text = "".join([_summary(file[0], studio.original, board, chosen[0]), *notes])
            studio.imported = Imported(file[0], chosen[0], after, text)
            studio.edit(f"import {file[0].name}", after, board=board)
        studio.say(text, "good")

    return studio.run_files(StudioJob(what, work, done))


def _added(document: Document, path: Path, choice: ImportChoice) -> Document:
    """Document with the file added; an object at the origin."""
    name, stem = os.path.relpath(path, document.path.parent), path.stem[:_LONGEST_NAME]
    source: dict[str, Any] = {"file": name}
    source |= {key: value for key, value in (("units", choice.units), ("up", choice.up)) if value is not None}
    if choice.kind == "scene":
        return add_static(document, stem, source)
    if choice.kind == "object":
        return add_object(document, stem, source, [0.0, 0.0, 0.0])
    entry = {"clip" if choice.kind == "clip" else "body": source if len(source) > 1 else name}
    return (
        add_character(document, stem, entry) if choice.whom is None else change_character(document, choice.whom, entry)
    )


def _standing(studio: Studio, after: Document, board: Storyboard) -> tuple[Document, Storyboard]:
    """Document with the object added last where it lands."""
    values = after.edited()
    name = next(reversed(values["objects"]))
    bounds = board.world.objects[name].mesh.bounds
    with studio.lock:
        at = landing(studio, bounds)
    if np.allclose(at, values["objects"][name]["at"], rtol=0.0, atol=10.0**-_DIGITS):
        return after, board
    values["objects"][name]["at"] = at
    after = after.with_values(values)
    return after, after.board()


def _onto_floor(
    before: World, after: Document, board: Storyboard, floor: str | None
) -> tuple[Document, Storyboard, list[str]]:
    """Document with the scene added last raised to the previous floor height, and notes on that.

    The scene's floor is detected as on the command line, which puts a clip onto it: here characters and objects already
    have their positions, and the scene is put below their feet. `floor` is a choice of another height of the scene.
    """
    if before.floor is None:
        return after, board, []
    static = {name: mesh for name, mesh in board.world.static.items() if name not in before.static}
    what, height = "floor", 0.0
    if floor is None:
        scenes = scene_floor(static, foot_places(before.characters.values()))
        if not scenes.found:
            return after, board, [f" {scenes.note.partition(';')[0]}."] if scenes.note else []
        height = scenes.height
    elif floor == "lowest":
        what, height = "lowest point", min(float(mesh.bounds[0, 2]) for mesh in static.values())
    lift = round(before.floor - height, _DIGITS) + 0.0
    if lift == 0.0:
        return after, board, [f" Its {what} is at {height:.3f} m."]
    values = after.edited()
    values["scene"]["meshes"][-1]["at"] = [0.0, 0.0, lift]
    after = after.with_values(values)
    note = f" Its {what}, at {height:.3f} m, was aligned with the floor of the storyboard, at {before.floor:.3f} m."
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


def _summary(path: Path, before: World, board: Storyboard, choice: ImportChoice) -> str:
    """Summary of an import: figures that reveal a wrong unit, and assumptions."""
    world, facts = board.world, ""
    meshes = [mesh for name, mesh in world.static.items() if name not in before.static]
    meshes += [thing.mesh for name, thing in world.objects.items() if name not in before.objects]
    people = [
        motion for name, motion in world.characters.items() if name not in before.characters or name == choice.whom
    ]
    if meshes:
        every = np.concatenate([mesh.vertices for mesh in meshes])
        facts = " x ".join(f"{length:.2f}" for length in np.ptp(every, axis=0)) + " m"
    elif people and people[0].span[1] > people[0].span[0]:
        facts = seconds(people[0].span[1] - people[0].span[0])
    notes = [n.partition(": ")[2] for n in world.notes if n not in before.notes and "ssumed" in n and ": " in n]
    plain = [re.sub(r"( \(option: [^)]*\))?\.?$", "", re.sub(r", which makes it [^(]* m", "", n)) for n in notes]
    # units and up axis that were chosen, or that the format or the file states
    chosen = [name for name, units in UNITS.items() if units is not None and units == choice.units]
    chosen += [name for name, up in UP.items() if up is not None and up == choice.up]
    said = [f"{' and '.join(chosen).capitalize()}, as chosen"] if chosen else []
    if not chosen and path.suffix.lower() in (".glb", ".gltf"):
        said.append("Metres and Y up, as in all glTF files")
    if not chosen and path.suffix.lower() == ".fbx":
        said.append("Units and up axis as the file states them")
    kept = dict.fromkeys([*plain, *said])  # a retargeted clip has them twice
    summary = f"Imported {path.name} as {choice.kind}{', ' + facts if facts else ''}."
    return summary + "".join(f" {note}." for note in kept)
