"""Opening, saving, importing: documents and files of the folders that the studio was given."""

from __future__ import annotations

import os
from pathlib import Path

from elbowroom.errors import BadFile, BadValue
from elbowroom.gallery.scenes import FOLDER, scenarios
from elbowroom.studio.autosave import Kept
from elbowroom.studio.document import Document, new_document, read_document
from elbowroom.studio.edits import add_character, add_object, add_static, change_character
from elbowroom.studio.studio import Studio

NEW = "new storyboard"


def choices(studio: Studio) -> list[str]:
    """Storyboards that can be opened: a new one, those of the folder, those of the gallery."""
    return [NEW, *studio.folders.files("storyboard"), *(f"gallery: {name}" for name in scenarios())]


def open_choice(studio: Studio, choice: str) -> None:
    """Open one of the choices, or a storyboard by its path."""
    if choice == NEW:
        studio.open(new_document(studio.folders.work))
    elif choice.startswith("gallery: "):
        studio.open(document_of(choice.removeprefix("gallery: ")))
    else:
        studio.open(read_document(studio.folders.to_read(choice)))


def document_of(name: str) -> Document:
    """A scenario of the gallery by its name, or a storyboard file."""
    if name in scenarios():
        return read_document(scenarios()[name].path, given=True)
    path = Path(name)
    if path.is_dir():
        raise BadFile(name, "is a folder", would_do="give a .yaml file in it, or the folder as --folder")
    if not path.suffix and not path.exists():
        known = ", ".join(scenarios())
        raise BadFile(name, "does not exist", would_do=f"give a .yaml file, or one of {known}")
    return read_document(path.resolve())


def save(studio: Studio, name: str) -> Path:
    """Write the storyboard to a file in the folder to work in; files that it names stay the same ones."""
    path = studio.folders.to_write(name)
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise BadValue(f"a storyboard is saved as NAME.yaml, not as '{name}'.")
    document = studio.document.moved_to(path)
    studio.check_files(document)
    with studio.lock:
        document.write()
        studio.session.saved(document)
    studio.tell("document")
    studio.say(f"Saved {path.name}.", "good")
    return path


def suggested_name(studio: Studio) -> str:
    """A name to save under: its own, or for one of the gallery the same in the folder to work in."""
    document = studio.document
    if document.given or FOLDER in document.path.parents:
        return f"{document.name}.yaml"
    return os.path.relpath(document.path, studio.folders.work)


def restore(studio: Studio, kept: Kept) -> None:
    """Go on with unsaved work; it is kept by this studio from now on."""
    studio.take_up(kept.document)
    drop(studio, kept)


def drop(studio: Studio, kept: Kept) -> None:
    """Throw unsaved work of another session away."""
    studio.autosave.discard(kept)
    studio.kept = studio.autosave.found()
    studio.tell("document")


def bring_in(studio: Studio, kind: str, file: Path, whom: str | None = None) -> None:
    """Put a file into the storyboard: a scene, an object's mesh, a clip, or a rig.

    A clip or a rig is for the person `whom`; without one a further person comes with it.
    """
    document = studio.document
    name = os.path.relpath(studio.folders.to_read(file), document.path.parent)
    stem = Path(file).stem
    if kind == "scene":
        after = add_static(document, stem, {"file": name})
    elif kind == "object":
        after = add_object(document, stem, {"file": name}, [0.0, -1.0, 0.0])
    elif whom is not None:
        after = change_character(document, whom, {"clip" if kind == "clip" else "body": name})
    else:
        after = add_character(document, stem, {"clip" if kind == "clip" else "body": name})
    studio.edit(f"import {Path(file).name}", after)
