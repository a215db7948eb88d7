"""Damage to files: bytes, lines, numbers, and the structure of JSON, XML and NPZ. The same seed, the same damage."""

from __future__ import annotations

import copy
import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tools import small_worlds

# Numbers in the place of others: such as could stand there, and huge, tiny, negative ones, and none at all.
USUAL = ("0", "1", "2", "3", "4", "7", "180", "-90", "0.5", "0.0001", "-1", "1e-300", "1e3", "1e6", "-9999999")
NUMBERS = (
    *("1e9", "1000000000", "2147483648", "-2147483649", "4294967296", "1e38", "1e308", "-1e308", "1e999"),
    *("nan", "-inf", "inf", "99999999999999999999", "0x10", "1e", "1.2.3", ""),
)
# Words that mean something in one of the formats, where they do not belong.
_WORDS = (
    "{ } [ ] : - , JOINT ROOT End Site OFFSET CHANNELS 6 MOTION Frames: :root begin end root solid facet vertex loop "
    "v f vt g o usemtl mtllib element property list end_header elbowroom: &a *a !!python/object ~ null true '' <robot> "
    "</link> <joint> <!-- ]]> ../../../../dev/zero /dev/zero . .. \u00e4\u00f6 \x1b[31m"
)
WORDS = tuple(_WORDS.split(" "))
# Values in the place of others, of any kind.
ODD: tuple[Any, ...] = (
    *(-1, 0, 1, 7, 0.5, 2**31, 10**9, 10**30, 1e308, -1e-9, float("nan"), float("inf"), None, True),
    *("", "VEC3", "nan", "auto", "../../../../dev/zero", "data:;base64,AAAA"),
    *([], {}, [[]], [1e38] * 16, [0] * 4, [0, 0, 0], [1e6, 0], {"a": {"b": []}}),
)

_PRINTABLE = tuple(word for word in WORDS if word.isprintable())

Damage = Callable[[bytes, random.Random], bytes]


def cut(data: bytes, rng: random.Random) -> bytes:
    """The beginning alone."""
    return data[: rng.randrange(len(data))]


def flip(data: bytes, rng: random.Random) -> bytes:
    """Some bits turned over."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 4, 20, 64))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def overwrite(data: bytes, rng: random.Random) -> bytes:
    """Some bytes made the same: all ones are NaN in floats and the largest index in integers."""
    at, count = rng.randrange(len(data)), rng.choice((1, 2, 4, 8, 16))
    value = rng.choice((b"\xff", b"\x00", b"\x7f", b"\x80", bytes([rng.randrange(256)])))
    return data[:at] + (value * count)[: len(data) - at] + data[at + count :]


def drop(data: bytes, rng: random.Random) -> bytes:
    """A piece left out."""
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randrange(1, 400) :]


def repeat(data: bytes, rng: random.Random) -> bytes:
    """A piece that comes again, up to four times."""
    at = rng.randrange(len(data))
    end = min(at + rng.randrange(1, 400), len(data))
    return data[:end] + data[at:end] * rng.randrange(1, 5) + data[end:]


def noise(data: bytes, rng: random.Random) -> bytes:
    """Random bytes put in."""
    at = rng.randrange(len(data))
    return data[:at] + rng.randbytes(rng.randrange(1, 60)) + data[at:]


def lines(data: bytes, rng: random.Random) -> bytes:
    """Lines left out, doubled or moved."""
    rows = data.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 5))):
        at, other = rng.randrange(len(rows)), rng.randrange(len(rows))
        match rng.randrange(3):
            case 0 if len(rows) > 1:
                del rows[at]
            case 1:
                rows.insert(at, rows[other])
            case _:
                rows[at], rows[other] = rows[other], rows[at]
    return b"\n".join(rows)


def word(data: bytes, rng: random.Random) -> bytes:
    """A word of one of the formats put in."""
    at = rng.randrange(len(data))
    return data[:at] + b" " + rng.choice(WORDS).encode() + b" " + data[at:]


def numbers(data: bytes, rng: random.Random) -> bytes:
    """Numbers that become others: what they mean is what goes wrong."""
    found = list(re.finditer(rb"-?\d+(\.\d+)?([eE][-+]?\d+)?", data))
    chosen = rng.sample(found, min(len(found), rng.choice((1, 1, 2, 5, 20))))
    chosen_from = rng.choice((USUAL, USUAL, NUMBERS))
    for match in sorted(chosen, key=lambda m: -m.start()):
        data = data[: match.start()] + rng.choice(chosen_from).encode() + data[match.end() :]
    return data


BYTES: tuple[Damage, ...] = (cut, flip, overwrite, drop, repeat, noise)
TEXT: tuple[Damage, ...] = (cut, flip, drop, repeat, noise, lines, lines, word, word, *[numbers] * 4)


def json_text(data: bytes, rng: random.Random) -> bytes:
    """The JSON of a .gltf or a storyboard with values replaced, dropped or doubled."""
    return json.dumps(_changed(json.loads(data), rng)).encode()


def glb_json(data: bytes, rng: random.Random) -> bytes:
    """The JSON chunk of a GLB with values replaced, dropped or doubled; all lengths stay right."""
    document, binary = small_worlds.glb_parts(data)
    return small_worlds.glb_bytes(_changed(document, rng), binary)


def glb_binary(data: bytes, rng: random.Random) -> bytes:
    """The binary chunk of a GLB damaged; the JSON stays right."""
    document, binary = small_worlds.glb_parts(data)
    return small_worlds.glb_bytes(document, rng.choice((flip, overwrite))(binary, rng))


def xml(data: bytes, rng: random.Random) -> bytes:
    """Elements of XML left out, doubled or moved, attributes changed."""
    tree = ElementTree.fromstring(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        inner = [(above, e) for above in tree.iter() for e in above]
        above, element = rng.choice(inner) if inner else (tree, tree)
        match rng.randrange(5):
            case 0 if element is not tree:
                above.remove(element)
            case 1:
                above.append(copy.deepcopy(element))
            case 2:
                rng.choice(list(tree.iter())).append(copy.deepcopy(element))
            case _ if element.attrib:
                key = rng.choice(sorted(element.attrib))
                words = element.attrib[key].split() or [""]
                words[rng.randrange(len(words))] = rng.choice((*USUAL, *NUMBERS, *_PRINTABLE))
                element.set(key, " ".join(words))
            case _:
                element.tag = rng.choice(("link", "joint", "box", "mesh", "mimic", "robot"))
    return ElementTree.tostring(tree)


def npz(data: bytes, rng: random.Random) -> bytes:
    """Arrays of an NPZ left out, of other shapes, types or values, or with a header that lies."""
    with np.load(io.BytesIO(data)) as file:
        arrays = {key: file[key] for key in file.files}
    headers: dict[str, bytes] = {}
    for _ in range(rng.choice((1, 1, 2, 3))):
        key = rng.choice(sorted(arrays))
        array = arrays[key]
        match rng.randrange(8):
            case 0 if len(arrays) > 1:
                del arrays[key]
            case 1:
                arrays[key] = array.reshape(-1)[: rng.randrange(array.size + 1)]
            case 2:
                arrays[key] = np.concatenate([array, array]) if array.ndim else array[None]
            case 3 if array.dtype.kind in "fiu" and np.all(np.isfinite(array)):
                arrays[key] = array.astype(rng.choice(("f4", "f8", "i8", "u1", "U3", "c8", "?")))
            case 4:
                arrays[rng.choice(sorted(arrays))] = array
            case 5:
                headers[key] = rng.choice(
                    (b"(1000000000,)", b"(10**9, 4)", b"(-1,)", b"(3, 1000000000000)", b"None", b"()")
                )
            case _ if array.dtype.kind in "fiu" and array.size:
                bent = array.astype(float).reshape(-1)
                bent[rng.randrange(array.size)] = rng.choice((np.nan, np.inf, -1.0, 1e300, 1e9, 0.0, -7.0))
                with np.errstate(all="ignore"):
                    arrays[key] = bent.reshape(array.shape).astype(array.dtype)
            case _:
                arrays[key] = np.array(rng.choice(("", "x" * 50, "char", "a/b")))
    return _zipped(arrays, headers, rng)


def _zipped(arrays: dict[str, np.ndarray], headers: dict[str, bytes], rng: random.Random) -> bytes:
    out = io.BytesIO()
    how = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(out, "w", how) as file:
        for key, array in arrays.items():
            raw = io.BytesIO()
            np.lib.format.write_array(raw, np.asarray(array), allow_pickle=False)
            content = raw.getvalue()
            if key in headers:
                content = re.sub(rb"'shape': \([^)]*\)", b"'shape': " + headers[key], content, count=1)
            file.writestr(f"{key}.npy", content)
    return out.getvalue()


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*at, key)
        yield from places(inner, (*at, key))


def _changed(document: Any, rng: random.Random) -> Any:
    """The document with one to three values replaced, dropped, doubled or taken from elsewhere."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        every = list(places(document))
        if not every:
            return document
        at = rng.choice(every)
        holder = _at(document, at[:-1])
        old = holder[at[-1]]
        match rng.randrange(8):
            case 0:
                del holder[at[-1]]
            case 5 | 6 | 7 if type(old) is float:
                holder[at[-1]] = old * rng.choice((-1.0, 0.0, 0.5, 1e-6, 1e3, 1e6)) + rng.choice((0.0, 0.0, 0.1))
            case 1 if isinstance(holder, list):
                holder.insert(at[-1], copy.deepcopy(old))
            case 2 if type(old) is int:
                holder[at[-1]] = old + rng.choice((-1, 1, 100))
            case 3:
                holder[at[-1]] = copy.deepcopy(_at(document, rng.choice(every)))
            case _:
                holder[at[-1]] = copy.deepcopy(rng.choice(ODD))
    return document


def _at(value: Any, steps: tuple[Any, ...]) -> Any:
    for step in steps:
        value = value[step]
    return value


def damaged(data: bytes, kinds: tuple[Damage, ...], rng: random.Random) -> bytes:
    """One to three kinds of damage, one after another."""
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
        if not data:
            return data
        try:
            data = rng.choice(kinds)(data, rng)
        except (ValueError, KeyError, IndexError, EOFError, ElementTree.ParseError, zipfile.BadZipFile, OSError):
            continue  # the structure was broken by what came before
        kinds = tuple(kind for kind in kinds if kind is not npz)  # a header that lies would deceive numpy itself
    return data
