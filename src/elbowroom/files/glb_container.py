"""Container of a glTF file: chunks, buffers, accessors and validated JSON; lengths are checked before allocation."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadFile
from elbowroom.files.text import check_regular, read_bytes, resolved_beneath, shown
from elbowroom.geometry.rotations import Array

# No real file nests or lists so much; beyond it reading would take long before anything useful came out.
MANY = 200_000
# Values in all the JSON of a file; each takes about a hundred bytes of memory.
MOST_VALUES = 5_000_000


class GltfPart:
    """One object of the file's JSON together with its place, such as 'node 7'."""

    __slots__ = ("path", "values", "where")

    def __init__(self, path: Path, values: Any, where: str = "") -> None:
        self.path = path
        self.where = where
        if not isinstance(values, dict):
            self.fail("is not an object")
        self.values: dict[str, Any] = values

    def fail(self, what: str, would_do: str = "") -> NoReturn:
        """Raise the error that this part deserves."""
        raise BadFile(self.path, what, where=self.where, would_do=would_do)

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def text(self, key: str, default: str = "") -> str:
        """A string; anything else counts as absent, since names carry no geometry."""
        value = self.values.get(key)
        return value if isinstance(value, str) else default

    def integer(self, key: str, default: int | None = None, low: int = 0, high: int = 2**53) -> int:
        """A whole number within bounds."""
        value = self.values.get(key, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fail(f"'{key}' is {_shown(value)}", f"expected a whole number from {low} to {high}")
        return value

    def index(self, key: str, count: int, of: str, default: int | None = None) -> int:
        """The number of something that exists, or `default` (which may be -1 for 'none') where absent."""
        if key not in self.values and default is not None:
            return default
        value = self.integer(key)
        if value >= count:
            self.fail(f"points to {of} {value}", f"there are {count}")
        return value

    def indices(self, key: str, count: int, of: str) -> list[int]:
        """List of valid indices; empty if absent."""
        values = self.values.get(key, [])
        if not isinstance(values, list) or len(values) > MANY:
            self.fail(f"'{key}' is not a list of numbers")
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
                self.fail(f"'{key}' points to {of} {_shown(value)}", f"there are {count}")
        return values

    def numbers(self, key: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...] | None:
        """A list of `count` finite numbers, or `default` where absent."""
        if key not in self.values:
            return default
        values = self.values[key]
        good = isinstance(values, list) and len(values) == count
        if not good or not all(_is_number(v) for v in values):
            self.fail(f"'{key}' is {_shown(values)}", f"expected {count} finite numbers")
        return tuple(float(v) for v in values)

    def number(self, key: str, default: float) -> float:
        """A finite number, or `default` where absent."""
        value = self.values.get(key, default)
        if not _is_number(value):
            self.fail(f"'{key}' is {_shown(value)}", "expected a finite number")
        return float(value)

    def part(self, key: str) -> GltfPart | None:
        """An object inside, or None where absent."""
        if key not in self.values:
            return None
        return GltfPart(self.path, self.values[key], f"{self.where} {key}".strip())

    def parts(self, key: str, one: str) -> list[GltfPart]:
        """A list of objects inside; `one` names one of them, e.g. 'node'."""
        values = self.values.get(key, [])
        if not isinstance(values, list) or len(values) > MANY:
            self.fail(f"'{key}' is not a list of at most {MANY} objects")
        prefix = f"{self.where} {one}".strip()
        return [GltfPart(self.path, v, f"{prefix} {i}") for i, v in enumerate(values)]

    def items(self, key: str) -> Iterator[tuple[str, Any]]:
        """Names and values of an object inside."""
        inside = self.part(key)
        return iter(inside.values.items() if inside else ())


def parse(path: Path, text: memoryview) -> GltfPart:
    """The JSON text of a glTF file."""
    raw = bytes(text)
    if sum(raw.count(sign) for sign in b"[{,") > MOST_VALUES:
        raise BadFile(path, f"its JSON has more than {MOST_VALUES:,} values")
    try:
        values = json.loads(raw.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError:
        raise BadFile(path, "its JSON is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise BadFile(path, f"its JSON is invalid ({error.msg})", where=f"JSON line {error.lineno}") from None
    except ValueError as error:  # NaN and Infinity, numbers of thousands of digits
        raise BadFile(path, f"its JSON has an invalid number ({str(error)[:60]})") from None
    except RecursionError:
        raise BadFile(path, "its JSON is nested too deeply") from None
    return GltfPart(path, values)


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) < 1e300


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"


_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_COMPRESSED = {"KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"}

# Bytes of one file; the largest scenes take a tenth of it.
_MOST_BYTES = 2**30
# Bytes of all buffers together.
_MOST_BUFFERS = 2**30
# Bytes of one texture.
_MOST_IMAGE = 64 * 2**20
# Numbers decoded from one file at most: ten times the largest scenes, in time and memory that hurt nobody.
_BUDGET = 60_000_000

# White space before the first brace of a .gltf, bytes.
_MOST_SPACE = 4096

_WANTED = "expected a .glb or .gltf file of version 2"


def buffer_files(path: Path) -> list[Path]:
    """Files of buffers that a glTF file needs besides itself; they are not read."""
    parts = _opened(path)[0].parts("buffers", "buffer")
    uris = [(part, part.text("uri")) for part in parts if "uri" in part]
    return [_beside(path, part, uri) for part, uri in uris if not uri.startswith("data:")]


def _opened(path: Path, content: bytes | None = None) -> tuple[GltfPart, memoryview | None]:
    """The JSON of a file, and its binary chunk."""
    data = memoryview(read_bytes(path, _MOST_BYTES) if content is None else content)
    binary = bytes(data[:4]) == b"glTF"
    if not binary and bytes(data[:_MOST_SPACE]).lstrip()[:1] != b"{":
        raise BadFile(path, "is not glTF", would_do=_WANTED)
    text, blob = _chunks(path, data) if binary else (data, None)
    return parse(path, text), blob


def _beside(path: Path, part: GltfPart, uri: str) -> Path:
    """The file that a buffer's address means: one in or below the folder of the .gltf, symbolic links resolved."""
    name = unquote(uri)
    outside = "://" in name or "\0" in name or Path(name).is_absolute() or not name
    found = None if outside else resolved_beneath(path.parent, name)
    if found is None:
        part.fail(f"refers to '{shown(uri, 60)}'", "expected a file in or below the folder of the .gltf")
    return found


class Container:
    """A glTF file: its JSON and its binary data; `content` in place of what is in the file, if given."""

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self.path = path
        self.json, blob = _opened(path, content)
        asset = self.json.part("asset")
        version = asset.text("version") if asset else ""
        if not version.startswith("2."):
            raise BadFile(self.path, f"is glTF of version '{version[:8]}'", would_do=_WANTED)
        required = self.json.values.get("extensionsRequired", [])
        compressed = [e for e in required if e in _COMPRESSED] if isinstance(required, list) else []
        if compressed:
            raise BadFile(
                self.path,
                f"is compressed with {compressed[0]}",
                would_do="export it again without mesh compression",
            )
        self._buffer_bytes = 0
        self.buffers = [self._buffer(i, b, blob) for i, b in enumerate(self.json.parts("buffers", "buffer"))]
        self.views = self.json.parts("bufferViews", "buffer view")
        self.accessors = self.json.parts("accessors", "accessor")
        self._decoded: dict[int, NDArray] = {}
        self._budget = _BUDGET

    def _buffer(self, i: int, part: GltfPart, blob: memoryview | None) -> memoryview:
        length = part.integer("byteLength")
        if "uri" not in part:
            if i != 0 or blob is None:
                part.fail("has no data")
            data = blob
        else:
            data = memoryview(self._from_uri(part, length))
        self._buffer_bytes += len(data)
        if self._buffer_bytes > _MOST_BUFFERS:
            part.fail("exceeds the limit", f"{_MOST_BUFFERS // 2**20} MB of buffers are read in all")
        if length > len(data):
            part.fail(f"claims {length} bytes", f"the file holds {len(data)}")
        return memoryview(data)[:length]

    def _from_uri(self, part: GltfPart, length: int) -> bytes:
        uri = part.text("uri")
        if uri.startswith("data:"):
            try:
                return base64.b64decode(uri.partition(",")[2], validate=True)
            except (binascii.Error, ValueError):
                part.fail("contains truncated base64 text")
        found = _beside(self.path, part, uri)
        if not found.exists():
            part.fail(f"needs the file '{shown(unquote(uri), 80)}', which is not in its folder")
        size = check_regular(found, _MOST_BUFFERS)
        if size < length:
            part.fail(f"claims {length} bytes", f"the file '{shown(unquote(uri), 80)}' holds {size}")
        return read_bytes(found, _MOST_BUFFERS)

    def image(self, part: GltfPart) -> bytes:
        """Bytes of an image: in a buffer, in the text, or in a file in or below the folder; none if it is missing."""
        if "uri" not in part:
            at = part.index("bufferView", len(self.views), "buffer view", -1)
            return bytes(self._view(self.views[at], part)[0]) if at >= 0 else b""
        uri = part.text("uri")
        if uri.startswith("data:"):
            return self._from_uri(part, 0)
        found = _beside(self.path, part, uri)
        return read_bytes(found, _MOST_IMAGE) if found.exists() else b""

    def _view(self, part: GltfPart, of: GltfPart) -> tuple[memoryview, int]:
        """Bytes of a buffer view and its stride (0 where packed)."""
        buffer = self.buffers[part.index("buffer", len(self.buffers), "buffer")]
        start, length = part.integer("byteOffset", 0), part.integer("byteLength")
        if start + length > len(buffer):
            part.fail(
                f"points outside its buffer (bytes {start} to {start + length})",
                f"it has {len(buffer)} bytes",
            )
        return buffer[start : start + length], part.integer("byteStride", 0, 0, 252)

    def _elements(self, part: GltfPart, view: GltfPart, start: int, count: int, kind: str, width: int) -> NDArray:
        """`count` rows of `width` numbers of one component type, out of a buffer view, (count, width)."""
        data, stride = self._view(view, part)
        row = np.dtype(kind).itemsize * width
        stride = stride or row
        if stride < row:
            view.fail(f"has a stride of {stride} bytes for elements of {row}")
        end = start + (count - 1) * stride + row if count else start
        if end > len(data):
            part.fail(f"claims {count} elements up to byte {end}", f"its buffer view has {len(data)} bytes")
        self._spend(part, count * width)
        out = np.ndarray((count, width), kind, data, start, (stride, np.dtype(kind).itemsize))
        return np.ascontiguousarray(out)

    def _spend(self, part: GltfPart, numbers: int) -> None:
        self._budget -= numbers
        if self._budget < 0:
            part.fail("needs more numbers than any real file", f"{_BUDGET} in all are read")

    def array(self, index: int, kinds: tuple[str, ...], what: str) -> Array:
        """An accessor's numbers as floats, (N, width), finite; normalised integers become fractions.

        `kinds` are the element types that make sense here, e.g. ("VEC3",); `what` names the use for errors.
        """
        raw, normalised = self._raw(index, kinds, what)
        out = raw.astype(float)
        if normalised and raw.dtype.kind in "iu":
            out = np.maximum(out / np.iinfo(raw.dtype).max, -1.0)
        if not np.all(np.isfinite(out)):
            self.accessors[index].fail(f"contains numbers that are not finite ({what})")
        return out

    def whole(self, index: int, kinds: tuple[str, ...], what: str, below: int, of: str) -> NDArray[np.int64]:
        """An accessor's whole numbers, (N, width), each from 0 to `below` - 1."""
        raw, _ = self._raw(index, kinds, what)
        if raw.dtype.kind != "u":
            self.accessors[index].fail(f"is not of an unsigned integer type ({what})")
        if raw.size and int(raw.max()) >= below:
            self.accessors[index].fail(f"points to {of} {int(raw.max())} ({what})", f"there are {below}")
        return raw.astype(np.int64)

    def numbers(self, index: int) -> NDArray:
        """An accessor's numbers of any kind as stored, (N, width)."""
        if not 0 <= index < len(self.accessors):
            raise BadFile(self.path, f"points to accessor {index}", would_do=f"there are {len(self.accessors)}")
        return self._raw(index, tuple(_WIDTHS), "numbers")[0]

    def _raw(self, index: int, kinds: tuple[str, ...], what: str) -> tuple[NDArray, bool]:
        part = self.accessors[index]
        kind = part.text("type")
        if kind not in kinds:
            part.fail(f"is of type '{kind[:12]}' ({what})", f"expected {' or '.join(kinds)}")
        if index not in self._decoded:
            self._decoded[index] = self._decode(part, _WIDTHS[kind])
        return self._decoded[index], part.values.get("normalized") is True

    def _decode(self, part: GltfPart, width: int) -> NDArray:
        component = _COMPONENTS.get(part.integer("componentType"))
        if component is None:
            part.fail(f"has the unknown component type {part.values['componentType']}")
        count = part.integer("count")
        view = part.index("bufferView", len(self.views), "buffer view", -1)
        if view >= 0:
            out = self._elements(part, self.views[view], part.integer("byteOffset", 0), count, component, width)
        else:
            self._spend(part, 8 * count * width)  # zeros cost nothing in the file, so they are charged dearly
            out = np.zeros((count, width), component)
        sparse = part.part("sparse")
        if sparse is not None and count:
            out = self._patched(out, sparse, component, width)
        return out

    def _patched(self, out: NDArray, sparse: GltfPart, component: str, width: int) -> NDArray:
        changed = sparse.integer("count", None, 0, len(out))
        at_part, to_part = sparse.part("indices"), sparse.part("values")
        if at_part is None or to_part is None:
            sparse.fail("lacks indices or values")
        kind = _COMPONENTS.get(at_part.integer("componentType"), "")
        if kind not in ("<u1", "<u2", "<u4"):
            at_part.fail("has no unsigned integer type")
        views = [self.views[p.index("bufferView", len(self.views), "buffer view")] for p in (at_part, to_part)]
        at = self._elements(at_part, views[0], at_part.integer("byteOffset", 0), changed, kind, 1)[:, 0]
        if changed and int(at.max()) >= len(out):
            at_part.fail(f"points to element {int(at.max())}", f"there are {len(out)}")
        out = out.copy()
        out[at] = self._elements(to_part, views[1], to_part.integer("byteOffset", 0), changed, component, width)
        return out


def own_extras(container: Container) -> dict[str, Any]:
    """Extra data that elbowroom stored in a file, or nothing."""
    extras = container.json.values.get("extras")
    own = extras.get("elbowroom") if isinstance(extras, dict) else None
    return own if isinstance(own, dict) else {}


def _chunks(path: Path, data: memoryview) -> tuple[memoryview, memoryview | None]:
    """The JSON text and the binary chunk of a GLB file."""
    if len(data) < 20:
        raise BadFile(path, f"ends after {len(data)} bytes", would_do=_WANTED)
    version, length = int.from_bytes(data[4:8], "little"), int.from_bytes(data[8:12], "little")
    if version != 2:
        raise BadFile(path, f"is GLB of version {version}", would_do=_WANTED)
    if length > len(data):
        raise BadFile(path, f"claims {length} bytes but holds {len(data)}", would_do="it may be truncated")
    size = int.from_bytes(data[12:16], "little")
    if bytes(data[16:20]) != b"JSON" or 20 + size > len(data):
        raise BadFile(path, "does not begin with a complete JSON chunk", where="byte 12")
    text, at = data[20 : 20 + size], 20 + size
    if at + 8 > len(data):
        return text, None
    size, kind = int.from_bytes(data[at : at + 4], "little"), data[at + 4 : at + 8]
    if bytes(kind) != b"BIN\0":
        return text, None
    if at + 8 + size > len(data):
        raise BadFile(path, f"its binary chunk claims {size} bytes", where=f"byte {at}", would_do="it may be truncated")
    return text, data[at + 8 : at + 8 + size]
