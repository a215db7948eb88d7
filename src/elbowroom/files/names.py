"""Names that a file format accepts, all different."""

from __future__ import annotations

import re
from collections.abc import Iterable


def accepted_names(names: Iterable[str], *, plain: bool = False) -> list[str]:
    """One name for each given one, without '/' and control characters, never empty, never twice.

    `plain` keeps ASCII letters, digits and underscores alone, with no digit first, as USD wants it.
    """
    out: list[str] = []
    taken: set[str] = set()
    for name in names:
        clean = re.sub(r"[^A-Za-z0-9_]", "_", name) if plain else re.sub(r"[/\x00-\x1f\x7f]", "_", name).strip()
        if not clean or (plain and clean[0].isdigit()):
            clean = f"_{clean}"
        unique, number = clean, 2
        while unique in taken:
            unique, number = f"{clean}_{number}", number + 1
        taken.add(unique)
        out.append(unique)
    return out
