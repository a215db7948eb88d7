"""YAML as plain values with their line numbers.

Storyboards may come from untrusted sources: no tags, no aliases (a few lines of them can stand for gigabytes), limits
on size and depth. Plain words are read as YAML 1.2 does, so that a key `on` is not a boolean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from elbowroom.errors import BadFile, ElbowroomError
from elbowroom.files.text import read_bytes

LARGEST = 1024**2  # bytes
DEEPEST = 32

Location = tuple[str | int, ...]

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None, ".nan": float("nan")}
_WORDS |= {f"{sign}.inf": float(f"{sign}inf") for sign in ("", "+", "-")}


# The compiled parser reads a megabyte in 0.2 s, the one in Python in 5 s; not every build of PyYAML has it.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class YamlDocument:
    """Values of a file, and the line on which each of them begins, by its location."""

    path: Path
    values: Any
    lines: dict[Location, int] = field(default_factory=dict)

    def line(self, location: Location) -> int:
        """Line of a value, or of the nearest value around it."""
        while location and location not in self.lines:
            location = location[:-1]
        return self.lines.get(location, 1)

    def error(self, location: Location, what: str, would_do: str = "") -> BadFile:
        """Error for a value, with its line and location."""
        place = dotted(location)
        return BadFile(self.path, f"{place}: {what}" if place else what, f"line {self.line(location)}", would_do)

    @contextmanager
    def blaming(self, *location: str | int) -> Iterator[None]:
        """Report errors raised inside with a location and its line; steps that the file lacks are left out."""
        try:
            yield
        except ElbowroomError as error:
            while location and location not in self.lines:
                location = location[:-1]
            raise self.error(location, str(error).removesuffix(".")) from None


def dotted(location: Location) -> str:
    """A location as one writes it: objects.ball.path[1].t"""
    out = ""
    for step in location:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else str(step)
    return out


def read_yaml(path: Path) -> YamlDocument:
    """Values of a YAML file; raises `BadFile` with the line where that fails."""
    return parse_yaml(path, _text(path))


def parse_yaml(path: Path, text: str) -> YamlDocument:
    """Values of YAML text that came from a path."""
    document = YamlDocument(path, None)
    try:
        events = yaml.parse(text, Loader=_Loader)
        reader = _Reader(document, events)
        values = reader.whole()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # a value missing at the end is reported for the line after it
        where = f"line {min(mark.line, text.rstrip().count(chr(10))) + 1}" if mark is not None else ""
        raise BadFile(path, f"is not valid YAML ({error.problem or error.context})", where) from None
    except yaml.YAMLError as error:
        raise BadFile(path, f"is not valid YAML ({str(error).splitlines()[0]})") from None
    return YamlDocument(path, values, document.lines)


def _text(path: Path) -> str:
    raw = read_bytes(path, LARGEST, "give a .yaml file")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadFile(path, f"is not text: byte {error.start} is not UTF-8") from None


class _Reader:
    """Builder of values from the parser's events, safe at any depth."""

    def __init__(self, document: YamlDocument, events: Iterator[Any]) -> None:
        self._document = document
        self._events = events

    def whole(self) -> Any:
        """Single document of the file."""
        values: Any = None
        found = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                found += 1
                if found > 1:
                    raise self._bad(event, (), "has more than one document", "give one")
            elif isinstance(event, yaml.NodeEvent):
                values = self._value(event, ())
        return values

    def _value(self, event: Any, location: Location) -> Any:
        self._document.lines.setdefault(location, event.start_mark.line + 1)
        if isinstance(event, yaml.AliasEvent):
            raise self._bad(event, location, "refers to an anchor", "write the values out")
        if len(location) > DEEPEST:
            raise self._bad(event, location[:4], "is nested too deeply", f"at most {DEEPEST} levels are read")
        if event.tag is not None:
            raise self._bad(event, location, f"has the tag '{event.tag[:40]}'", "tags are not supported")
        if isinstance(event, yaml.ScalarEvent):
            return event.value if event.style else _scalar(event.value)  # plain words have the style None or ""
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
                items.append(self._value(event, (*location, len(items))))
            return items
        values: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.tag is not None:
                raise self._bad(event, location, "has a key that is not a word", "keys are words")
            key = event.value
            if key in values:
                first = self._document.lines[(*location, key)]
                raise self._bad(event, location, f"has the key '{key}' twice, first on line {first}", "keep one")
            self._document.lines[(*location, key)] = event.start_mark.line + 1
            values[key] = self._value(next(self._events), (*location, key))
        return values

    def _bad(self, event: Any, location: Location, what: str, would_do: str) -> BadFile:
        self._document.lines[location] = event.start_mark.line + 1
        return self._document.error(location, what, would_do)


def _scalar(text: str) -> Any:
    """A plain word as YAML 1.2's core schema reads it."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text
