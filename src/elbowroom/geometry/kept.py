"""Caches of derived data: in memory as long as its source lives, and on disk by content, up to a number of bytes."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from elbowroom import kernels
from elbowroom.kernels import cache_folder
from elbowroom.kernels.sealing import seal, unseal

Value = TypeVar("Value")

_PLACE = "_kept"


class _Memory(dict[Hashable, Any]):
    """Cached data of an object. Copies and pickles of the object begin with none."""

    def __reduce__(self) -> tuple[type[_Memory], tuple[()]]:
        return _Memory, ()


def kept(owner: object, key: Hashable, make: Callable[[], Value]) -> Value:
    """Return the result of `make`, computed once for an immutable object and a key, and freed with the object.

    The value may refer to its owner. Threads that ask at the same time may both make it; all get the same one.
    """
    memory: _Memory = owner.__dict__.setdefault(_PLACE, _Memory())
    try:
        return memory[key]  # type: ignore[no-any-return]
    except KeyError:
        return memory.setdefault(key, make())  # type: ignore[no-any-return]


def is_kept(owner: object, key: Hashable) -> bool:
    """Return whether data of an object was computed before."""
    return key in owner.__dict__.get(_PLACE, ())


class KeptTogether(Generic[Value]):
    """Values made once of several immutable objects together: the last few, and none beyond the life of its objects.

    Values must not refer to the objects.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, tuple[tuple[ref[Any], ...], Value]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._made)

    def of(self, owners: Sequence[object], key: Hashable, make: Callable[[], Value]) -> Value:
        """Result of `make` for these objects and a key."""
        whole = (tuple(map(id, owners)), key)
        found = self._made.get(whole)
        if found is not None and all(r() is owner for r, owner in zip(found[0], owners, strict=True)):
            with suppress(KeyError):  # another thread has dropped it
                self._made.move_to_end(whole)
            return found[1]
        value = make()
        made = self._made
        refs = tuple(ref(owner, lambda _: made.pop(whole, None)) for owner in owners)
        made[whole] = refs, value
        with suppress(KeyError):
            while len(made) > self._most:
                made.popitem(last=False)
        return value


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


def contents(value: Any) -> Iterator[Any]:
    """Arrays and plain values of which dataclasses, mappings and sequences consist, for `remembered`."""
    parts: Any = value
    if is_dataclass(value):
        parts = [getattr(value, f.name) for f in fields(value)]
    elif isinstance(value, Mapping):
        parts = [part for item in value.items() for part in item]
    elif not isinstance(value, (tuple, list)):
        yield value
        return
    yield f"{type(value).__name__} {len(parts)}"
    for part in parts:
        yield from contents(part)


@lru_cache(maxsize=1)
def package_sources() -> bytes:
    """Digest of all sources of the package: part of the key of what many of them make together."""
    found = sorted(Path(kernels.__file__).parents[1].rglob("*.py"))
    return hashlib.blake2b(b"".join(path.read_bytes() for path in found)).digest()


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


def _store(path: Path, arrays: Arrays) -> None:
    """Keep arrays; a cache that cannot be written is no reason to fail."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        content = io.BytesIO()
        np.savez(content, **arrays)  # type: ignore[arg-type]
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(seal(content.getvalue()))
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
        _make_room(path.parent)


def _load(path: Path) -> Arrays | None:
    """Kept arrays, or None where there are none or the file is not as it was written."""
    content = unseal(path)
    if content is None:
        return None
    with suppress(OSError):
        os.utime(path)
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


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
