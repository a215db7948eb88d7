"""Writes what docs say of storyboards from the code: python tests/tools/write_storyboard_schema.py

That is docs/storyboard.schema.json, and the tables of verbs and makers in docs/storyboard.md.
"""

from __future__ import annotations

import json
from pathlib import Path

from elbowroom.plan.tasks import Task, verbs
from elbowroom.props.makers import MAKERS
from elbowroom.storyboard.storyboard import storyboard_schema
from elbowroom.storyboard.verbs import TaskPart

DOCS = Path(__file__).resolve().parents[2] / "docs"


def with_makers(page: str) -> str:
    """The page with a table of all makers of meshes, their parts and options."""
    rows = ["| maker | meshes | options |", "|---|---|---|"]
    for name, maker in MAKERS.items():
        options = ", ".join(f"{key}: {value}" for key, value in maker.options.items())
        rows.append(f"| `{name}` | {', '.join(maker.parts) or name} | {options} |")
    return _between(page, "makers", rows)


def with_verbs(page: str) -> str:
    """The page with a table of all verbs: what each does, and the keys that are its own, required ones in bold."""
    rows = ["| verb | does | keys of its own |", "|---|---|---|"]
    for verb, kind in verbs().items():
        if not kind.__module__.startswith("elbowroom."):
            continue
        fields = TaskPart.model_fields[verb].annotation.__args__[0].model_fields
        own = [name for name in fields if name not in Task.__dataclass_fields__]
        keys = ", ".join(f"**`{name}`**" if fields[name].is_required() else f"`{name}`" for name in own)
        does = (kind.__doc__ or "").partition("\n\n")[0].replace("\n    ", " ")
        rows.append(f"| `{verb}` | {does} | {keys} |")
    return _between(page, "verbs", rows)


def _between(page: str, what: str, rows: list[str]) -> str:
    """The page with other rows between the marks of a table."""
    begin, end = f"<!-- {what} -->\n", f"<!-- end of {what} -->\n"
    before, rest = page.split(begin)
    return before + begin + "\n".join(rows) + "\n" + end + rest.split(end)[1]


if __name__ == "__main__":
    schema = json.dumps(storyboard_schema(), indent=1, ensure_ascii=False)
    (DOCS / "storyboard.schema.json").write_text(schema + "\n", encoding="utf-8")
    page = DOCS / "storyboard.md"
    page.write_text(with_verbs(with_makers(page.read_text(encoding="utf-8"))), encoding="utf-8")
