"""What the documents point at exists: links, headings, files, rooms of the house."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT

SOURCE = ROOT / "src" / "elbowroom"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FILE = re.compile(r"(?<![\w/.~-])((?:[\w*-]+/)+[\w*-]+\.(?:py|yaml|md|json))(?![\w/])")


def anchors(page: Path) -> set[str]:
    """Names of a page's headings, as they are linked to."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def broken(page: Path, text: str) -> list[str]:
    """Links in a page's text that lead nowhere; other sites are not asked."""
    out = []
    for link in _LINK.findall(text):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            out.append(link)
    return out


def missing(text: str) -> list[str]:
    """Files of this project that a text names and that do not exist; paths may begin in the package, and hold a '*'."""
    rooms = {p.name for p in (*ROOT.iterdir(), *SOURCE.iterdir()) if p.is_dir()}
    named = {name for name in _FILE.findall(text) if name.partition("/")[0] in rooms}
    return sorted(name for name in named if not any(any(top.glob(name)) for top in (ROOT, SOURCE)))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_and_named_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert broken(page, text) == [] and missing(text) == []


def test_architecture_names_all_rooms_and_no_others() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)(?:/|\.py)` \|", page, re.M)
    there = {p.stem for p in SOURCE.iterdir() if (p / "__init__.py").exists() or p.suffix == ".py"} - {"__init__"}
    assert set(named) == there and len(named) == len(set(named))


def test_pictures_are_shown_somewhere() -> None:
    shown = {link.rpartition("/")[2] for page in PAGES for link in _LINK.findall(page.read_text(encoding="utf-8"))}
    assert {p.name for p in (ROOT / "docs" / "pictures").iterdir()} <= shown


def test_the_checks_can_fail() -> None:
    readme = ROOT / "README.md"
    text = "[a](docs/none.md) [b](docs/studio.md#nowhere) [c](https://example.org) `tasks/none.py` `posing/reach*.py`"
    assert broken(readme, text) == ["docs/none.md", "docs/studio.md#nowhere"]
    assert missing(text) == ["docs/none.md", "tasks/none.py"]
