"""Validated access to the JSON of a glTF file: every access reports a fault and its place."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from elbowroom.errors import BadFile

# No real file nests or lists so much; beyond it reading would take long before anything useful came out.
MANY = 200_000
# Values in all the JSON of a file; each takes about a hundred bytes of memory.
MOST_VALUES = 5_000_000


class Part:
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

    def part(self, key: str) -> Part | None:
        """An object inside, or None where absent."""
        if key not in self.values:
            return None
        return Part(self.path, self.values[key], f"{self.where} {key}".strip())

    def parts(self, key: str, one: str) -> list[Part]:
        """A list of objects inside; `one` names one of them, e.g. 'node'."""
        values = self.values.get(key, [])
        if not isinstance(values, list) or len(values) > MANY:
            self.fail(f"'{key}' is not a list of at most {MANY} objects")
        prefix = f"{self.where} {one}".strip()
        return [Part(self.path, v, f"{prefix} {i}") for i, v in enumerate(values)]

    def items(self, key: str) -> Iterator[tuple[str, Any]]:
        """Names and values of an object inside."""
        inside = self.part(key)
        return iter(inside.values.items() if inside else ())


def parse(path: Path, text: memoryview) -> Part:
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
    return Part(path, values)


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) < 1e300


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"
