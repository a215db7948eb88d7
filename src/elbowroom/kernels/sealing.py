"""Cache files that end with a digest of their content: truncated or overwritten files count as absent.

Compiled code is found by the content of its sources alone, so that every copy of the package shares it.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numba.core import caching
from numba.core.runtime import rtsys

# Bytes of the digest at the end of a file.
_DIGEST = 16


def seal(content: bytes) -> bytes:
    """Content with its digest behind it."""
    return content + hashlib.blake2b(content, digest_size=_DIGEST).digest()


def unseal(path: str | Path) -> bytes | None:
    """Content of a sealed file, or None where there is none or it is not what was written."""
    try:
        whole = Path(path).read_bytes()
    except OSError:
        return None
    content = whole[:-_DIGEST]
    return content if len(whole) > _DIGEST and seal(content) == whole else None


class _SealedFiles(caching.IndexDataCacheFile):
    """Numba's files of compiled code, sealed. Numba loads what it finds: damaged machine code would run, or not load.

    Its own loaders do not mind what stands behind a pickle, so the digest stays where it is while they read.
    """

    def _load_index(self) -> dict[Any, str]:
        return super()._load_index() if unseal(self._index_path) is not None else {}

    def _load_data(self, name: str) -> Any:
        if unseal(self._data_path(name)) is None:
            raise FileNotFoundError(name)  # what numba takes for a miss: it compiles and stores anew
        return super()._load_data(name)

    def save(self, key: Any, data: Any) -> None:
        """Store compiled code; a disk that is full or read-only is no reason to fail."""
        with suppress(OSError):
            super().save(key, data)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        with super()._open_for_write(filepath) as file:
            content = io.BytesIO()
            yield content
            file.write(seal(content.getvalue()))


def _load_overload(cache: Any, signature: Any, target: Any) -> Any:
    """Load compiled code; tables of types and functions, which numba fills first, are left to the first compilation.

    They take 0.3 s in each process, and compiling fills them by itself.
    """
    rtsys.initialize(target)
    return cache._load_overload(signature, target)


def _share_between_copies(folder: Path) -> None:
    """Have numba store the code of sources in `folder` in its cache folder itself, not in one per path of the sources.

    The cache folder is named after the content of all sources; a new clone or virtual environment finds the code of
    another one.
    """
    impl: Any = getattr(caching, "CacheImpl", None) or getattr(caching, "_CacheImpl")  # noqa: B009
    located = impl._locator_classes[0]  # by NUMBA_CACHE_DIR
    by_path, stamp = located.get_suitable_cache_subpath, located.get_source_stamp

    def subpath(cls: type, py_file: str) -> str:
        return "" if Path(py_file).parent == folder else by_path(py_file)

    def source_stamp(self: Any) -> Any:  # older versions of numba stamp code with the time of its source
        return None if Path(self._py_file).parent == folder else stamp(self)

    located.get_suitable_cache_subpath = classmethod(subpath)
    located.get_source_stamp = source_stamp


def seal_compiled_code() -> None:
    """Have numba seal all compiled code that it stores from now on, and load only what is sealed."""
    _share_between_copies(Path(__file__).parent)
    setattr(caching, "IndexDataCacheFile", _SealedFiles)  # noqa: B010  (a type cannot be assigned to, says mypy)
    setattr(caching.Cache, "load_overload", _load_overload)  # noqa: B010
