"""Arrays kept on disk by what they were made of: sound or not there, and never more than so many bytes."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom import kernels
from elbowroom.kernels import cache_folder

Arrays = dict[str, NDArray]

# Bytes that one kind of arrays may take; those that were used longest ago go first.
MOST_BYTES = 1 << 31
# Compiled sources that decide what fields and covers are.
_MAKERS = ("cover", "fields", "triangles")
# How much is left when there was too much, as a share.
_LEFT = 0.8


def remembered(kind: str, about: tuple[Any, ...], make: Callable[[], Arrays]) -> Arrays:
    """Arrays by name: from the disk where they are there and sound, else made and stored.

    `about` are the arrays and plain values that they are made of; with the sources that make them they are the key.
    """
    path = cache_folder() / kind / f"{_key(about)}.npz"
    arrays = _load(path)
    if arrays is None:
        arrays = make()
        _store(path, arrays)
    return arrays


@lru_cache(maxsize=1)
def _sources() -> bytes:
    folder = Path(kernels.__file__).parent
    return hashlib.sha256(b"".join((folder / f"{name}.py").read_bytes() for name in _MAKERS)).digest()


def _key(about: tuple[Any, ...]) -> str:
    h = hashlib.blake2b(_sources(), digest_size=16)
    for a in about:
        if isinstance(a, np.ndarray):
            h.update(f"{a.dtype.str} {a.shape}".encode())
            h.update(np.ascontiguousarray(a).data)
        else:
            h.update(repr(a).encode())
    return h.hexdigest()


def _digest(arrays: Arrays) -> NDArray[np.uint32]:
    """Checks of all arrays, by name."""
    about = [f"{name} {arrays[name].dtype} {arrays[name].shape}".encode() for name in sorted(arrays)]
    checks = [
        zlib.crc32(np.ascontiguousarray(arrays[name]).data, zlib.crc32(a))
        for name, a in zip(sorted(arrays), about, strict=True)
    ]
    return np.array(checks, np.uint32)


def _store(path: Path, arrays: Arrays) -> None:
    """Keep arrays; a cache that cannot be written is no reason to fail."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            np.savez(file, digest=_digest(arrays), **arrays)  # type: ignore[arg-type]
        os.replace(name, path)
        _make_room(path.parent)


def _load(path: Path) -> Arrays | None:
    """Kept arrays, or None where there are none or their content does not match its digest."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        os.utime(path)
    except (OSError, ValueError, EOFError, KeyError, SyntaxError, zipfile.BadZipFile):
        return None
    digest = arrays.pop("digest", None)
    return arrays if digest is not None and np.array_equal(digest, _digest(arrays)) else None


def _make_room(folder: Path) -> None:
    """Remove what was used longest ago where there is too much."""
    with suppress(OSError):
        found = [(entry.stat(), entry.path) for entry in os.scandir(folder)]
        total = sum(stat.st_size for stat, _ in found)
        if total <= MOST_BYTES:
            return
        for stat, path in sorted(found, key=lambda f: f[0].st_mtime):
            os.unlink(path)
            total -= stat.st_size
            if total <= _LEFT * MOST_BYTES:
                return
