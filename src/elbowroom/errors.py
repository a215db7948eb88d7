"""Exceptions for bad input, each with one clear sentence.

Their text has what was wrong, where, and what would be valid. The command line prints the
sentence and exits with code 2. Not finding a motion is not an error: see `Plan.status`.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ElbowroomError(Exception):
    """Base of all errors that a user can cause; its text is one clear sentence."""

    # what the command line ends with
    exit_code = 2


class BadFile(ElbowroomError):
    """A file that cannot be read as what it claims to be.

    `where` is a line number, a joint, a byte offset or a node name, already put into words.
    """

    def __init__(self, path: object, what: str, where: str = "", would_do: str = "") -> None:
        place = f"{path}, {where}" if where else f"{path}"
        super().__init__(f"{place}: {what}" + (f"; {would_do}" if would_do else "") + ".")


class BadValue(ElbowroomError):
    """An argument out of range."""


class UnknownName(ElbowroomError):
    """A name that does not exist, with the ones that do."""

    def __init__(self, kind: str, name: object, known: Iterable[object]) -> None:
        names = [str(k) for k in known]
        close = get_close_matches(str(name), names, n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        shown = ", ".join(names[:40]) + (", …" if len(names) > 40 else "")
        super().__init__(f"unknown {kind} '{name}': {hint}available: {shown or 'none'}.")


class MissingExtra(ElbowroomError):
    """An optional dependency that is not installed, with the line that installs it."""

    def __init__(self, what: str, install: str) -> None:
        super().__init__(f"{what} needs an optional package: {install}")
