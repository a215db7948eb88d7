"""File access of the studio, restricted to the folders that it was given."""

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
from elbowroom.files.open import files_named_in
from elbowroom.studio.document import DETECTED

# Uploadable files by purpose; largest size, bytes.
KINDS = {
    "clip": (".bvh", ".amc", ".c3d", ".fbx", ".glb", ".npz", ".npy"),
    "rig": (".glb", ".fbx", ".bvh", ".asf", ".npz"),
    "scene": (".glb", ".fbx", ".obj", ".stl", ".ply"),
    "storyboard": (".yaml", ".yml"),
}
KINDS[DETECTED] = tuple(dict.fromkeys(suffix for kind in ("clip", "rig", "scene") for suffix in KINDS[kind]))
LARGEST = 200 * 1024**2
# Directory entries that are listed when searching for files to open.
_MOST_LOOKED_AT = 5000
UPLOADS = "uploads"


class Folders:
    """Working folder, which is writable, and further readable folders."""

    def __init__(self, work: Path, read: Sequence[Path] = ()) -> None:
        self.work = work.resolve()
        self._read = [self.work, *(p.resolve() for p in read)]
        for asked, folder in zip((work, *read), self._read, strict=True):
            if not folder.is_dir():
                raise BadFile(asked, "is not a folder", would_do="create it first")
        self._known: dict[Path, object] = {}
        self._asked: dict[Path, object] = {}

    def to_read(self, path: str | Path) -> Path:
        """Absolute path of a readable file; relative names are resolved in the working folder."""
        return self._inside(path, self._read, "read")

    def to_write(self, path: str | Path) -> Path:
        """Absolute path of a writable file."""
        found = self._inside(path, [self.work], "write")
        if not found.parent.is_dir():
            raise BadFile(found, "is in a folder that does not exist", would_do=f"create {found.parent} first")
        return found

    def check_replacing(self, paths: Iterable[Path], button: str, why: str = "") -> bool:
        """Raise if files exist that this studio has not written, or that others have changed since.

        A second press of the button with the same files confirms: returns True then. `why` is a better reason, if
        there is one.
        """
        there = {path: stamp for path in paths if (stamp := _stamp(path)) is not None}
        others = {path: stamp for path, stamp in there.items() if stamp != self._known.get(path)}
        meant, self._asked = others == self._asked, others
        if others and not meant:
            names, one = ", ".join(p.name for p in others), len(others) == 1
            exists, verb, it = ("exists", "was", "it") if one else ("exist", "were", "them")
            known = any(p in self._known for p in others)
            changed = f"{verb} changed by another program" if known else f"already {exists}"
            raise BadValue(f"{names} {why or changed}: press {button} again to overwrite {it}, or choose another name.")
        return bool(others)

    def know(self, *paths: Path) -> None:
        """Mark files as read or written here: in their current state they may be overwritten."""
        self._asked = {}
        self._known.update({path: stamp for path in paths if (stamp := _stamp(path)) is not None})

    def check_named(self, names: Iterable[str], folder: Path) -> None:
        """Raise if files that a storyboard in a folder refers to, directly or not, are outside the readable folders."""
        found = [self.to_read(folder / name) for name in names]
        packages = [path for path in found if path.is_dir()]
        for path in found:
            for other in files_named_in(path, packages) if path.is_file() else ():
                self.to_read(other)

    @staticmethod
    def stamps(names: Iterable[str], folder: Path) -> str:
        """Stamp that changes with any file that a storyboard in a folder refers to."""
        return repr([_stamp(folder / name) for name in names])

    def files(self, kind: str, most: int = 500) -> list[str]:
        """Files of a kind in the working folder, as relative paths in alphabetical order.

        The folder may be a whole home directory: folders are listed from the top down, up to a limit.
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
        """Uploaded files."""
        folder = self.work / UPLOADS
        return set(folder.iterdir()) if folder.is_dir() else set()

    def take(self, name: str, content: bytes, kind: str) -> Path:
        """Store an uploaded file under its sanitized name in a folder of its own; never overwrites."""
        check_upload(name, len(content), kind)
        plain = Path(name.replace("\\", "/")).name
        stem = re.sub(r"[^\w\-. ]", "_", Path(plain).stem).strip(". ")[:80] or "upload"
        suffix = Path(plain).suffix.lower()
        folder = self.to_write(UPLOADS)  # it may be a link that leads elsewhere
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise BadFile(folder, f"cannot be created ({error.strerror or error})") from None
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
            raise BadValue(f"{str(path)[:80]!a} is not a valid file name.") from None
        if not self._holds(whole, roots):
            known = " or ".join(str(root) for root in roots)
            raise BadValue(f"the studio may not {what} {whole}: it is outside {known}.")
        return whole

    @staticmethod
    def _holds(path: Path, roots: list[Path]) -> bool:
        whole = path.resolve()
        return any(whole == root or root in whole.parents for root in roots)


def _entries(folder: Path, most: int) -> list[Path]:
    """Contents of a folder, empty if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in itertools.islice(entries, most)]
    except OSError:
        return []


def _stamp(path: Path) -> object:
    """Stamp that changes with a file; None if there is no file."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def check_upload(name: str, size: int, kind: str) -> None:
    """Raise if a file is empty, too large or of an unsupported type."""
    suffix = Path(name.replace("\\", "/")).suffix.lower()
    if suffix not in KINDS[kind]:
        what = "file" if kind == DETECTED else f"{kind} file"
        raise BadValue(f"'{name[:80]}' is not a supported {what}: give {', '.join(KINDS[kind])}.")
    if size > LARGEST:
        raise BadValue(f"'{name[:80]}' is larger than {LARGEST // 1024**2} MB.")
    if size == 0:
        raise BadValue(f"'{name[:80]}' is empty.")
