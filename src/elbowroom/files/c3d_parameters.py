"""Numbers and the parameter section of C3D files, read within the bounds of the bytes that are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadFile
from elbowroom.files.text import shown

Kind = Literal["intel", "dec", "mips"]
_KINDS: dict[int, Kind] = {84: "intel", 85: "dec", 86: "mips"}


@dataclass(frozen=True)
class Processor:
    """Number format of the file."""

    kind: Kind

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
    # The block count of the section is wrong in some files: the chain of entries ends by itself.
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
