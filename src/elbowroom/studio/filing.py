"""Opening and saving of documents in the studio's folders."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.atomic import said_of, writing
from elbowroom.gallery.scenes import FOLDER, scenario_names, storyboard_path
from elbowroom.studio.document import Document, new_document, read_document
from elbowroom.studio.session import UnsavedWork
from elbowroom.studio.studio import Studio
from elbowroom.studio.worker import StudioJob

NEW = "new storyboard"


def choices(studio: Studio) -> list[str]:
    """Storyboards to open: a new one, those of the folder, those of the gallery."""
    return [NEW, *studio.folders.files("storyboard"), *(f"gallery: {name}" for name in scenario_names())]


def open_choice(studio: Studio, choice: str) -> StudioJob:
    """Open one of the choices, or a storyboard by its path."""
    if choice == NEW:
        document = new_document(studio.folders.work)
    elif choice.startswith("gallery: "):
        document = document_of(choice.removeprefix("gallery: "))
    else:
        document = read_document(studio.folders.to_read(choice))
    studio.check_files(document)
    what = f"opening {document.name}"
    return studio.run_files(StudioJob(what, lambda job: document.board(), lambda board: studio.open(document, board)))


def document_of(name: str) -> Document:
    """Document of a storyboard file, or of a gallery scenario by name."""
    path = storyboard_path(name)
    if path.is_dir():
        raise BadFile(name, "is a folder", would_do="give a .yaml file in it, or the folder as --folder")
    return read_document(path.resolve(), given=path != Path(name))


def save(studio: Studio, name: str) -> Path:
    """Write the storyboard to a file in the working folder; it keeps referring to the same files.

    A file changed by others is replaced only on a second request, with a backup beside it.
    """
    path = studio.folders.to_write(name)
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise BadValue(f"a storyboard is saved as NAME.yaml, not as '{name}'.")
    with studio.lock:
        document = studio.document.moved_to(path)
        studio.check_files(document)
        also, mine = "", path == studio.document.path and not studio.document.given
        if path.is_file() and not (mine and _as_read(document)):
            why = "was changed by another program since it was opened" if mine else ""
            if studio.folders.check_replacing([path], "Save", why):
                also = f"; the previous version is in {_kept_beside(path, path.read_bytes()).name}"
        saved, whole = document.written()
        studio.folders.know(path)
        studio.session.saved(saved)
    if not whole:
        before = _kept_beside(path, document.source.encode())
        also += f"; comments that could not be preserved are in {before.name}"
    studio.tell("document")
    studio.say(f"Saved {path.name}{also}.", "good")
    return path


def _kept_beside(path: Path, content: bytes) -> Path:
    """Write a backup of a file's content under a new name beside it."""
    names = (f"{path.name}.bak{'' if n == 1 else n}" for n in count(1))
    spare = next(p for p in map(path.with_name, names) if not p.exists() or (p.is_file() and p.read_bytes() == content))
    with said_of(spare), writing(spare) as (stand_in,):
        stand_in.write_bytes(content)
    return spare


def _as_read(document: Document) -> bool:
    """Return whether the file of a document is unchanged since it was read or written."""
    try:
        return document.path.read_bytes() == document.source.encode()
    except OSError:
        return False


def suggested_name(studio: Studio) -> str:
    """File name to save under: its own, or for a gallery scenario the same name in the working folder."""
    document = studio.document
    if document.given or FOLDER in document.path.parents:
        return f"{document.name}.yaml"
    return os.path.relpath(document.path, studio.folders.work)


def restore(studio: Studio, kept: UnsavedWork) -> None:
    """Restore unsaved work; this studio autosaves it from now on."""
    studio.take_up(kept.document)
    drop(studio, kept)


def drop(studio: Studio, kept: UnsavedWork) -> None:
    """Discard unsaved work of another session."""
    studio.autosave.discard(kept)
    studio.kept = studio.autosave.found()
    studio.tell("document")
