"""Writes what docs say of storyboards from the code: python tests/tools/write_storyboard_schema.py

That is docs/storyboard.schema.json, and the table of makers in docs/storyboard.md.
"""

from __future__ import annotations

import json
from pathlib import Path

from elbowroom.props.makers import MAKERS
from elbowroom.storyboard.storyboard import storyboard_schema

DOCS = Path(__file__).resolve().parents[2] / "docs"
_BEGIN, _END = "<!-- makers -->\n", "<!-- end of makers -->\n"


def with_makers(page: str) -> str:
    """The page with a table of all makers of meshes, their parts and options."""
    rows = ["| maker | meshes | options |", "|---|---|---|"]
    for name, maker in MAKERS.items():
        options = ", ".join(f"{key}: {value}" for key, value in maker.options.items())
        rows.append(f"| `{name}` | {', '.join(maker.parts) or name} | {options} |")
    before, rest = page.split(_BEGIN)
    return before + _BEGIN + "\n".join(rows) + "\n" + _END + rest.split(_END)[1]


if __name__ == "__main__":
    schema = json.dumps(storyboard_schema(), indent=1, ensure_ascii=False)
    (DOCS / "storyboard.schema.json").write_text(schema + "\n", encoding="utf-8")
    page = DOCS / "storyboard.md"
    page.write_text(with_makers(page.read_text(encoding="utf-8")), encoding="utf-8")
