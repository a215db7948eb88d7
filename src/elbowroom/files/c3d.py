"""Read the markers of C3D files: Intel, DEC and MIPS numbers, stored as integers or as floats.

Written here and not left to a library because damaged files must end in one sentence: every offset, count
and size is checked against the bytes that are there before anything is read or made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.markers import MARKERS
from elbowroom.errors import BadFile, UnknownName
from elbowroom.files.conventions import checked_fps, checked_units, checked_up, turned_points
from elbowroom.files.text import MOST, read_bytes, shown
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array

ProcessorKind = Literal["intel", "dec", "mips"]
_KINDS: dict[int, ProcessorKind] = {84: "intel", 85: "dec", 86: "mips"}


@dataclass(frozen=True)
class Processor:
    """Number format of the file."""

    kind: ProcessorKind

    def words(self, raw: bytes) -> NDArray[np.uint16]:
        """Unsigned 16-bit numbers."""
        return np.frombuffer(raw, dtype=">u2" if self.kind == "mips" else "<u2").astype(np.uint16)

    def floats(self, raw: bytes) -> NDArray[np.float32]:
        """32-bit floats. DEC's have their words swapped and an exponent that is larger by two."""
        if self.kind == "dec":
            swapped = np.frombuffer(raw, dtype="<u2").reshape(-1, 2)[:, ::-1].copy()
            return swapped.view("<f4").reshape(-1) * np.float32(0.25)
        return np.frombuffer(raw, dtype=">f4" if self.kind == "mips" else "<f4").astype(np.float32)


@dataclass(frozen=True)
class Parameters:
    """Values by group and name, both upper case."""

    processor: Processor
    values: Mapping[tuple[str, str], NDArray | list[str]]

    def number(self, group: str, name: str, otherwise: float) -> float:
        """The first number of a parameter."""
        value = self.values.get((group, name))
        return float(value[0]) if isinstance(value, np.ndarray) and len(value) else otherwise

    def texts(self, group: str, name: str) -> list[str]:
        """The strings of a parameter; empty where there is none."""
        value = self.values.get((group, name))
        return list(value) if isinstance(value, list) else []


def read_parameters(path: str | Path, raw: bytes) -> Parameters:
    """Read the parameter section; the header's first byte is the number of its first block of 512 bytes."""
    start = (raw[0] - 1) * 512
    if start < 512 or start + 4 > len(raw):
        raise BadFile(path, f"has its parameters in block {raw[0]}, outside the file", "header")
    kind = _KINDS.get(raw[start + 3])
    if kind is None:
        raise BadFile(path, f"has the processor type {raw[start + 3]}", "parameters", "84, 85 and 86 are known")
    cpu = Processor(kind)
    # The block count of the section is wrong in some files: the chain of entries marks its own end.
    groups: dict[int, str] = {}
    found: list[tuple[int, str, NDArray | list[str]]] = []
    at = start + 4
    while at + 2 <= len(raw):
        length, group = abs(_signed(raw[at])), _signed(raw[at + 1])
        name_end = at + 2 + length
        if length == 0 or group == 0 or name_end + 2 > len(raw):
            break
        name = raw[at + 2 : name_end].decode("latin-1").strip().upper()
        if group < 0:
            groups[-group] = name
        else:
            found.append((group, name, _value(path, raw, name_end + 2, name, cpu)))
        step = int(cpu.words(raw[name_end : name_end + 2])[0])
        if step < 2:  # 0 ends the list; anything else would run in a circle
            break
        at = name_end + step
    if "POINT" not in groups.values():
        raise BadFile(path, "has no POINT parameters", "parameters", "a C3D file needs them")
    return Parameters(cpu, {(groups.get(g, ""), name): value for g, name, value in found})


def _value(path: str | Path, raw: bytes, at: int, name: str, cpu: Processor) -> NDArray | list[str]:
    """The data of one parameter whose type byte is at `at`."""
    if at + 2 > len(raw):
        raise BadFile(path, f"ends within parameter '{shown(name)}'", "parameters")
    kind, rank = _signed(raw[at]), raw[at + 1]
    shape = [int(n) for n in raw[at + 2 : at + 2 + rank]]
    begin = at + 2 + rank
    size = abs(kind)
    count = int(np.prod(shape, dtype=np.int64)) if rank <= 7 else -1
    if size not in (1, 2, 4) or rank > 7 or len(shape) < rank or begin + count * size > len(raw):
        raise BadFile(path, f"has a parameter '{shown(name)}' that does not fit into the file", "parameters")
    data = raw[begin : begin + count * size]
    if kind == -1:
        width = shape[0] if shape else 1
        return [data[k : k + width].decode("latin-1") for k in range(0, len(data), width)] if width else []
    if size == 4:
        return cpu.floats(data)
    return cpu.words(data) if size == 2 else np.frombuffer(data, dtype=np.uint8)


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


_UNITS = {
    "mm": 0.001,
    "cm": 0.01,
    "dm": 0.1,
    "m": 1.0,
    "in": 0.0254,
    "inch": 0.0254,
    "inches": 0.0254,
    "ft": 0.3048,
}


@dataclass(frozen=True, eq=False)
class Markers:
    """Marker tracks: `points` (T, M, 3) in metres, Z up, NaN where a marker was not seen.

    `first_frame` is the number that the recording gave to row 0 (it is not always 1).
    """

    labels: tuple[str, ...]
    points: Array
    fps: float
    notes: tuple[str, ...] = ()
    first_frame: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", frozen(self.points))

    @property
    def known(self) -> tuple[str, ...]:
        """Labels of the usual marker set of 41 that are present."""
        return tuple(label for label in MARKERS if label in self.labels)

    @property
    def absent(self) -> tuple[str, ...]:
        """Labels of the usual marker set of 41 that are missing."""
        return tuple(label for label in MARKERS if label not in self.labels)

    def track(self, label: str) -> Array:
        """Positions of one marker, (T, 3)."""
        if label not in self.labels:
            raise UnknownName("marker", label, self.labels)
        return self.points[:, self.labels.index(label)]


def read_c3d(
    path: str | Path, *, units: float | None = None, up: str | None = None, fps: float | None = None
) -> Markers:
    """Markers of a C3D file. units: metres per file unit; up: 'Y' or 'Z' (assumed); fps: frames a second."""
    raw = read_bytes(path)
    if len(raw) < 1024 or raw[1] != 0x50 or raw[0] == 0:
        raise BadFile(
            path, "is not a C3D file", would_do="C3D files have 80 in their second byte and 1024 bytes or more"
        )
    parameters = read_parameters(path, raw)
    cpu = parameters.processor
    header = cpu.words(raw[:24]).astype(np.int64)
    points, first, last = int(header[1]), int(header[3]), int(header[4])
    notes: list[str] = []
    table = _frames(path, raw, parameters, points, int(header[2]))
    span = last - first + 1
    # Word 5 cannot count past 65535; then the true number is among the parameters or in the file's size.
    if 0 < span < len(table) and last != 0xFFFF:
        table = table[:span]
    elif span > len(table) and last != 0xFFFF:
        what = f"declares {span} frames and has data for {len(table)}"
        raise BadFile(path, what, "header", "the file may be truncated")
    xyz, seen = _points(table, points, _scale(path, raw, parameters), cpu)
    if not np.all(np.abs(xyz[seen]) <= MOST):
        raise BadFile(path, "has coordinates that are not usable numbers", would_do=f"numbers up to {MOST:.0e} are")

    metres = _metres(parameters, units, notes)
    if up is None:
        notes.append("Up axis assumed: Z, the usual convention for markers (option: up).")
    xyz = turned_points(xyz * metres, checked_up(up or "Z"))
    xyz[~seen] = np.nan
    labels, kept = _labels(parameters, points, notes)
    rate = _rate(path, raw, parameters, notes) if fps is None else checked_fps(fps)
    return Markers(labels, xyz[:, kept], rate, tuple(notes), first)


def _frames(path: str | Path, raw: bytes, parameters: Parameters, points: int, analog: int) -> NDArray:
    """The data section as rows of raw 16-bit words, (T, words): as many whole frames as there are."""
    cpu = parameters.processor
    if points == 0:
        raise BadFile(path, "contains no markers", "header")
    used = int(parameters.number("POINT", "USED", points))
    if used != points:
        raise BadFile(path, f"has {points} markers by its header and {used} by its parameters", "POINT:USED")
    start_block = int(cpu.words(raw[16:18])[0]) or int(parameters.number("POINT", "DATA_START", 0))
    start = (start_block - 1) * 512
    if start < 512 or start >= len(raw):
        raise BadFile(path, f"has its data at block {start_block}, outside the file", "header")
    as_float = _scale(path, raw, parameters) < 0
    words = (4 * points + analog) * (2 if as_float else 1)
    count = (len(raw) - start) // (2 * words)
    if count == 0:
        raise BadFile(path, "ends before its first frame", "data section", "the file may be truncated")
    return np.frombuffer(raw, dtype="<u2", count=count * words, offset=start).reshape(count, words)


def _points(table: NDArray, points: int, scale: float, cpu: Processor) -> tuple[Array, NDArray[np.bool_]]:
    """Coordinates (T, M, 3) in file units and which of them were seen (T, M)."""
    shape = (len(table), points, 4)
    values: NDArray
    if scale < 0:
        values = cpu.floats(np.ascontiguousarray(table[:, : 8 * points]).tobytes()).reshape(shape)
        with np.errstate(invalid="ignore"):  # NaN of a kind that complains when it is copied
            xyz = values[..., :3].astype(float)
    else:
        words = cpu.words(np.ascontiguousarray(table[:, : 4 * points]).tobytes())
        values = words.astype(np.int16).reshape(shape)
        xyz = values[..., :3] * scale
    residual = values[..., 3]
    with np.errstate(invalid="ignore"):
        # A residual below zero marks a point that was not seen; some writers leave it at zero and put the
        # point into the very origin.
        seen = (residual >= 0) & np.isfinite(xyz).all(axis=-1) & xyz.any(axis=-1)
    return xyz, seen


def _scale(path: str | Path, raw: bytes, parameters: Parameters) -> float:
    """Units per integer step, or a negative number when points are floats."""
    scale = float(parameters.number("POINT", "SCALE", float(parameters.processor.floats(raw[12:16])[0])))
    if not np.isfinite(scale) or scale == 0 or abs(scale) > MOST:
        raise BadFile(path, f"has a scale of {scale:g}", "POINT:SCALE", "expected a number other than 0")
    return scale


def _metres(parameters: Parameters, units: float | None, notes: list[str]) -> float:
    if units is not None:
        return checked_units(units)
    texts = parameters.texts("POINT", "UNITS")
    name = texts[0].strip().lower() if texts else ""
    if name in _UNITS:
        return _UNITS[name]
    notes.append("Units assumed: millimetres, since the file names none (option: units).")
    return 0.001


def _rate(path: str | Path, raw: bytes, parameters: Parameters, notes: list[str]) -> float:
    rate = float(parameters.number("POINT", "RATE", float(parameters.processor.floats(raw[20:24])[0])))
    if rate == 0:
        notes.append("Rate assumed: 120 fps, since the file states none (option: fps).")
        return 120.0
    if not 0.1 <= rate <= 1e5:
        raise BadFile(
            path, f"has a rate of {rate:g} frames per second", "POINT:RATE", "override it with the option fps"
        )
    return rate


def _labels(parameters: Parameters, points: int, notes: list[str]) -> tuple[tuple[str, ...], list[int]]:
    """Labels without the subject's prefix, and which points they belong to."""
    texts = parameters.texts("POINT", "LABELS")
    more = 2
    while len(texts) < points and (extra := parameters.texts("POINT", f"LABELS{more}")):
        texts += extra
        more += 1
    full = [label.strip() for label in texts[:points]]
    full += [""] * (points - len(full))
    bare = [_usual_case(label.rpartition(":")[2].strip()) for label in full]
    twice = {label for label in bare if bare.count(label) > 1} if len(set(bare)) < points else set()
    taken: dict[str, int] = {}
    dropped: list[str] = []
    for k, label in enumerate(bare):
        base, _, number = label.rpartition("-")
        if label.startswith("*") or (base in bare and number.isdigit()):
            dropped.append(label)
            continue
        name = (full[k] if label in twice else label) or f"point{k + 1}"
        while name in taken:
            name += "_2"
        taken[name] = k
    if dropped:
        notes.append(f"Ignored unlabelled markers: {', '.join(map(shown, dropped[:10]))}.")
    prefixes = sorted({label.rpartition(":")[0] for label in full if ":" in label})
    if prefixes:
        notes.append(f"Removed the subject's name ({', '.join(map(shown, prefixes[:5]))}) from the labels.")
    missing = [label for label in MARKERS if label not in taken]
    if missing:
        found = len(MARKERS) - len(missing)
        notes.append(
            f"Found {found} of the 41 standard markers" + (f"; missing: {', '.join(missing)}." if found else ".")
        )
    return tuple(taken), list(taken.values())


def _usual_case(label: str) -> str:
    return label.upper() if label.upper() in MARKERS else label
