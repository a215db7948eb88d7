"""What is told to the user: errors as one sentence, names and numbers with their units."""

from __future__ import annotations

import re
from pathlib import Path


def sentence(error: BaseException, path: Path) -> str:
    """An error as one sentence; where it speaks of the storyboard that is open, its path and lines are left out."""
    text = str(error)
    text = re.sub(rf"^{re.escape(str(path))}(, line \d+)?: ", "", text)
    text = re.sub(r", on line \d+", "", text)
    text = re.sub(r"^tasks\[(\d+)\]", lambda m: f"task {int(m[1]) + 1}", text)
    return text[:1].upper() + text[1:]


def seconds(t: float) -> str:
    """A time as it is written everywhere: 1.25 s."""
    return f"{t:.2f} s"


def millimetres(x: float) -> str:
    """A short length: 12.3 mm."""
    return f"{1000.0 * x:.1f} mm"


def part(name: str) -> str:
    """A part of somebody, or a thing, in words: ann's left thigh."""
    who, dot, what = name.partition(".")
    return f"{who}'s {limb(what)}" if dot else name


def limb(name: str) -> str:
    """A limb in words: right arm."""
    return name.replace("_", " ")
