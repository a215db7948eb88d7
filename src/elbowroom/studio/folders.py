"""Where the studio may read and write: inside of the folders that it was given, and nowhere else."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.atomic import said_of, writing
from elbowroom.files.naming import files_named_in

# Files that can be uploaded, by what they are for; bytes that one may have.
KINDS = {
    "clip": (".bvh", ".amc", ".glb", ".npz"),
    "rig": (".glb", ".bvh", ".asf", ".npz"),
    "scene": (".glb", ".obj", ".stl", ".ply"),
    "storyboard": (".yaml", ".yml"),
}
LARGEST = 200 * 1024**2
# Entries of folders that are looked at for files to open.
_MOST_LOOKED_AT = 5000
UPLOADS = "uploads"


class Folders:
    """A folder to work in, which may be written to, and others that may be read."""

    def __init__(self, work: Path, read: Sequence[Path] = ()) -> None:
        self.work = work.resolve()
        self._read = [self.work, *(p.resolve() for p in read)]
        for asked, folder in zip((work, *read), self._read, strict=True):
            if not folder.is_dir():
                raise BadFile(asked, "is no folder", would_do="make it first")
        self._known: dict[Path, object] = {}
        self._asked: dict[Path, object] = {}

    def to_read(self, path: str | Path) -> Path:
        """The path of something that may be read, whole; names are looked up in the folder to work in."""
        return self._inside(path, self._read, "read")

    def to_write(self, path: str | Path) -> Path:
        """The path of a file that may be written, whole."""
        found = self._inside(path, [self.work], "write")
        if not found.parent.is_dir():
            raise BadFile(found, "cannot be written: its folder does not exist", would_do=f"make {found.parent} first")
        return found

    def check_replacing(self, paths: Iterable[Path], button: str, why: str = "") -> bool:
        """Raise where files are there that this studio has not written, or that others have changed since.

        Whoever presses the button again, with the same files there, means it: True then. `why` says better what is
        with them.
        """
        there = {path: stamp for path in paths if (stamp := _stamp(path)) is not None}
        others = {path: stamp for path, stamp in there.items() if stamp != self._known.get(path)}
        meant, self._asked = others == self._asked, others
        if others and not meant:
            names, (verb, it) = ", ".join(p.name for p in others), ("is", "it") if len(others) == 1 else ("are", "them")
            changed = f"{verb} there already" if not any(p in self._known for p in others) else f"{verb} not as it was"
            raise BadValue(f"{names} {why or changed}: press {button} again to replace {it}, or give another name.")
        return bool(others)

    def know(self, *paths: Path) -> None:
        """Files as they are now may be replaced: they were read or written here."""
        self._asked = {}
        self._known.update({path: stamp for path in paths if (stamp := _stamp(path)) is not None})

    def check_named(self, names: Iterable[str], folder: Path) -> None:
        """Raise where files that a storyboard in a folder names lie outside, or name others that do."""
        found = [self.to_read(folder / name) for name in names]
        packages = [path for path in found if path.is_dir()]
        for path in found:
            for other in files_named_in(path, packages) if path.is_file() else ():
                self.to_read(other)

    @staticmethod
    def stamps(names: Iterable[str], folder: Path) -> str:
        """What changes when one of the files does that a storyboard in a folder names."""
        return repr([_stamp(folder / name) for name in names])

    def files(self, kind: str, most: int = 500) -> list[str]:
        """Files of a kind in the folder to work in, as paths relative to it, in the order of the alphabet.

        A folder may be somebody's whole home: folders are looked at from the top down, and not without end.
        """
        out: list[str] = []
        folders, looked = deque([self.work]), 0
        while folders and looked < _MOST_LOOKED_AT and len(out) < most:
            for path in _entries(folders.popleft(), _MOST_LOOKED_AT - looked):
                looked += 1
                if path.name.startswith("."):
                    continue
                with contextlib.suppress(OSError):  # links that lead to themselves
                    if path.is_dir() and not path.is_symlink():
                        folders.append(path)
                    elif path.suffix.lower() in KINDS[kind] and path.is_file() and self._holds(path, self._read):
                        out.append(path.relative_to(self.work).as_posix())
        return sorted(out)[:most]

    def uploads(self) -> set[Path]:
        """Files that were uploaded."""
        folder = self.work / UPLOADS
        return set(folder.iterdir()) if folder.is_dir() else set()

    def take(self, name: str, content: bytes, kind: str) -> Path:
        """Store an uploaded file under its name, made harmless, in a folder of its own; never over another."""
        check_upload(name, len(content), kind)
        plain = Path(name.replace("\\", "/")).name
        stem = re.sub(r"[^\w\-. ]", "_", Path(plain).stem).strip(". ")[:80] or "upload"
        suffix = Path(plain).suffix.lower()
        folder = self.to_write(UPLOADS)  # it may be a link that leads elsewhere
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise BadFile(folder, f"cannot be made ({error.strerror or error})") from None
        target, number = folder / f"{stem}{suffix}", 2
        while target.exists():
            if target.is_file() and target.stat().st_size == len(content) and target.read_bytes() == content:
                return target
            target, number = folder / f"{stem}-{number}{suffix}", number + 1
        with said_of(target), writing(target) as (stand_in,):
            stand_in.write_bytes(content)
        return target

    def _inside(self, path: str | Path, roots: list[Path], what: str) -> Path:
        try:
            whole = (self.work / Path(path).expanduser()).resolve()
            whole.exists()
            if any(ord(letter) < 32 for letter in str(path)):
                raise ValueError
        except (OSError, RuntimeError, ValueError):  # too long, no such user, bytes that no name has
            raise BadValue(f"{str(path)[:80]!a} is no name that a file can have.") from None
        if not self._holds(whole, roots):
            known = " or ".join(str(root) for root in roots)
            raise BadValue(f"the studio may not {what} {whole}: it lies outside of {known}.")
        return whole

    @staticmethod
    def _holds(path: Path, roots: list[Path]) -> bool:
        whole = path.resolve()
        return any(whole == root or root in whole.parents for root in roots)


def _entries(folder: Path, most: int) -> list[Path]:
    """What is in a folder, nothing where it cannot be looked into."""
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in itertools.islice(entries, most)]
    except OSError:
        return []


def _stamp(path: Path) -> object:
    """What changes when a file does; None where there is none."""
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_mtime_ns, told.st_size, told.st_ino


def check_upload(name: str, size: int, kind: str) -> None:
    """Raise where a file is too large or of a type that is of no use."""
    suffix = Path(name.replace("\\", "/")).suffix.lower()
    if suffix not in KINDS[kind]:
        raise BadValue(f"'{name[:80]}' is no {kind} that can be used: give {', '.join(KINDS[kind])}.")
    if size > LARGEST:
        raise BadValue(f"'{name[:80]}' is larger than {LARGEST // 1024**2} MB.")
    if size == 0:
        raise BadValue(f"'{name[:80]}' is empty.")
