"""Where the studio may read and write: inside of the folders that it was given, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.atomic import writing
from elbowroom.files.naming import files_named_in

# Files that can be uploaded, by what they are for; bytes that one may have.
KINDS = {
    "clip": (".bvh", ".amc", ".glb", ".npz"),
    "rig": (".glb", ".bvh", ".asf", ".npz"),
    "scene": (".glb", ".obj", ".stl", ".ply"),
    "storyboard": (".yaml", ".yml"),
}
LARGEST = 200 * 1024**2
UPLOADS = "uploads"


class Folders:
    """A folder to work in, which may be written to, and others that may be read."""

    def __init__(self, work: Path, read: Sequence[Path] = ()) -> None:
        self.work = work.resolve()
        self._read = [self.work, *(p.resolve() for p in read)]
        for asked, folder in zip((work, *read), self._read, strict=True):
            if not folder.is_dir():
                raise BadFile(asked, "is no folder", would_do="make it first")

    def to_read(self, path: str | Path) -> Path:
        """The path of something that may be read, whole; names are looked up in the folder to work in."""
        return self._inside(path, self._read, "read")

    def to_write(self, path: str | Path) -> Path:
        """The path of a file that may be written, whole."""
        found = self._inside(path, [self.work], "write")
        if not found.parent.is_dir():
            raise BadFile(path, "cannot be written: its folder does not exist", would_do=f"make {found.parent} first")
        return found

    def check_named(self, names: Iterable[str], folder: Path) -> None:
        """Raise where files that a storyboard in a folder names lie outside, or name others that do."""
        found = [self.to_read(folder / name) for name in names]
        packages = [path for path in found if path.is_dir()]
        for path in found:
            for other in files_named_in(path, packages) if path.is_file() else ():
                self.to_read(other)

    def files(self, kind: str, most: int = 500) -> list[str]:
        """Files of a kind in the folder to work in, as paths relative to it, in the order of the alphabet."""
        out: list[str] = []
        for path in sorted(self.work.rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(self.work).parts)
            if not hidden and path.suffix.lower() in KINDS[kind] and path.is_file() and self._holds(path, self._read):
                out.append(path.relative_to(self.work).as_posix())
            if len(out) >= most:
                break
        return out

    def take(self, name: str, content: bytes, kind: str) -> Path:
        """Store an uploaded file under its name, made harmless, in a folder of its own; never over another."""
        check_upload(name, len(content), kind)
        plain = Path(name.replace("\\", "/")).name
        stem = re.sub(r"[^\w\-. ]", "_", Path(plain).stem).strip(". ")[:80] or "upload"
        suffix = Path(plain).suffix.lower()
        folder = self.work / UPLOADS
        folder.mkdir(exist_ok=True)
        target, number = folder / f"{stem}{suffix}", 2
        while target.exists():
            if target.read_bytes() == content:
                return target
            target, number = folder / f"{stem}-{number}{suffix}", number + 1
        with writing(target) as (stand_in,):
            stand_in.write_bytes(content)
        return target

    def _inside(self, path: str | Path, roots: list[Path], what: str) -> Path:
        if "\x00" in str(path):
            raise BadValue("the name of a file has no zero bytes.")
        whole = (self.work / Path(path).expanduser()).resolve()
        if not self._holds(whole, roots):
            known = " or ".join(str(root) for root in roots)
            raise BadValue(f"the studio may not {what} {whole}: it lies outside of {known}.")
        return whole

    @staticmethod
    def _holds(path: Path, roots: list[Path]) -> bool:
        whole = path.resolve()
        return any(whole == root or root in whole.parents for root in roots)


def check_upload(name: str, size: int, kind: str) -> None:
    """Raise where a file is too large or of a type that is of no use."""
    suffix = Path(name.replace("\\", "/")).suffix.lower()
    if suffix not in KINDS[kind]:
        raise BadValue(f"'{name[:80]}' is no {kind} that can be used: give {', '.join(KINDS[kind])}.")
    if size > LARGEST:
        raise BadValue(f"'{name[:80]}' is larger than {LARGEST // 1024**2} MB.")
    if size == 0:
        raise BadValue(f"'{name[:80]}' is empty.")
