"""Arrays of an NPZ file, each checked before memory is taken for it."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from elbowroom.errors import BadFile
from elbowroom.files.text import check_regular
from elbowroom.geometry.mesh import Mesh

# Bytes of all arrays together.
_LARGEST = 2 * 1024**3
# Bytes of all compressed arrays: a few megabytes of a file can claim as many gigabytes. `write_npz` compresses nothing.
_LARGEST_COMPRESSED = 256 * 1024**2
# Arrays in a file; a world of a hundred people has 2,000 to 10,000.
_MOST_ARRAYS = 100_000
# Arrays that may have numbers which are not finite: no floor, intervals without an end, contacts without a shift.
_ENDLESS = ("floor", "allowed_during", "linked_during", "excused_during", "allowed_shift")


# Exceptions of numpy's reader on damaged arrays; headers are text in Python's own syntax.
DAMAGED = (ValueError, EOFError, OSError, SyntaxError, TokenError)


# Types of numbers and text by numpy's letters.
_TYPES = {"i": "integers", "u": "unsigned integers", "f": "floats", "b": "booleans", "U": "text", "S": "bytes"}


class _Objects(BadFile):
    """An array of Python objects, which only unpickling would read."""


class NpzArrays:
    """Arrays of an NPZ file, each checked before memory is taken for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        check_regular(path, _LARGEST)
        try:
            self._zip = zipfile.ZipFile(path)
            members = self._zip.infolist()
        except OSError as error:
            raise BadFile(path, f"cannot be read ({error.strerror or error})") from None
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            raise BadFile(
                path, "is not an NPZ", would_do="expected a file of named arrays as written by numpy.savez"
            ) from None
        if len(members) > _MOST_ARRAYS:
            raise BadFile(path, f"contains {len(members)} arrays", would_do=f"at most {_MOST_ARRAYS} are read")
        packed = sum(i.file_size for i in members if i.compress_type != zipfile.ZIP_STORED)
        if packed > _LARGEST_COMPRESSED or sum(i.file_size for i in members) > _LARGEST:
            size = sum(i.compress_size for i in members)
            raise BadFile(
                path,
                f"claims {sum(i.file_size for i in members) / 2**20:,.0f} MB of arrays in {size / 2**20:,.1f} MB",
                would_do=f"at most {_LARGEST_COMPRESSED // 2**20} MB are unpacked",
            )
        self._infos = {i.filename.removesuffix(".npy"): i for i in members}

    def __enter__(self) -> NpzArrays:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def names(self, group: str) -> list[str]:
        """Names of the characters, static meshes or objects in the order of the file."""
        found = [key.split("/")[1] for key in self._infos if key.startswith(f"{group}/") and key.count("/") >= 2]
        return list(dict.fromkeys(found))

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of all arrays."""
        return tuple(self._infos)

    def any(self, key: str) -> NDArray | None:
        """One array of numbers or text of any shape; None if it holds Python objects, which are not read."""
        try:
            return self._read(key, "iufbUS")
        except _Objects:
            return None

    def __contains__(self, key: str) -> bool:
        return key in self._infos

    def get(self, key: str, dims: int, shape: tuple[int, ...] | None = None, kind: str = "iuf") -> NDArray:
        """One array of so many dimensions and, if given, a shape; `kind` are numpy's letters for its type."""
        array = self._read(key, kind)
        if array.ndim != dims or (shape is not None and array.shape != shape):
            want = shape if shape is not None else f"{dims} dimensions"
            raise BadFile(self.path, f"has the shape {array.shape}", f"array '{key}'", f"expected {want}")
        return array

    def _read(self, key: str, kind: str) -> NDArray:
        """One array of any shape; raises `_Objects` for Python objects, `BadFile` for other contents."""
        if key not in self._infos:
            raise BadFile(self.path, "is missing", where=f"array '{key}'")
        info = self._infos[key]
        try:
            with self._zip.open(info) as file:
                version = npy.read_magic(file)
                read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                claimed, _, dtype = read_header(file)
                need = int(np.prod([int(n) for n in claimed], dtype=object)) * dtype.itemsize
                if dtype.hasobject:
                    raise _Objects(self.path, f"claims {claimed} Python objects, which are not read", f"array '{key}'")
                what = f"claims {claimed} of type {dtype} in {info.file_size} bytes" if need > info.file_size else ""
                if what or dtype.kind not in kind:
                    wanted = "" if what else f"expected {' or '.join(_TYPES[k] for k in kind)}"
                    raise BadFile(self.path, what or f"has the type {dtype}", f"array '{key}'", wanted)
            with self._zip.open(info) as file:
                array = npy.read_array(file, allow_pickle=False)
        except (*DAMAGED, zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error) as error:
            text = str(error).split("\n")[0][:80]
            raise BadFile(self.path, f"cannot be read ({text})", where=f"array '{key}'") from None
        if array.dtype.kind == "f" and key not in _ENDLESS and not np.all(np.isfinite(array)):
            raise BadFile(self.path, "contains numbers that are not finite", where=f"array '{key}'")
        return array

    def mesh(self, key: str) -> Mesh:
        """Vertices and faces below a key."""
        vertices, faces = self.get(f"{key}/vertices", 2), self.get(f"{key}/faces", 2, kind="iu")
        if vertices.shape[1] != 3 or faces.shape[1] != 3:
            raise BadFile(self.path, "needs vertices (V, 3) and faces (F, 3)", where=f"mesh '{key}'")
        if len(faces) and (int(faces.min()) < 0 or int(faces.max()) >= len(vertices)):
            raise BadFile(self.path, f"uses vertex {faces.max()} of {len(vertices)}", where=f"mesh '{key}'")
        return Mesh(vertices, faces)
