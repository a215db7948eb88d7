"""Docs refer only to what exists: links, headings, files, rooms, commands, options, names; docstrings begin well."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from typer.main import get_command

import elbowroom
from conftest import ROOT
from elbowroom.cli import app

SOURCE = ROOT / "src" / "elbowroom"
TOP = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")
PAGES = [*(ROOT / name for name in TOP), *sorted((ROOT / "docs").glob("*.md"))]

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FILE = re.compile(r"(?<![\w/.~-])((?:[\w*-]+/)+[\w*-]+\.(?:py|yaml|md|json))(?![\w/])")


_COMMAND = re.compile(r"(?:^ {4}|[`&] ?)elbowroom ([a-z]+)\b([^`\n&;#|]*)", re.M)


_FRAGMENT = re.compile(
    r"(What|Who|Whose|That|Of|How|When|Where|Whether|With|From|Whoever|Whatever|Somebody|Nobody|There|So|If)\b"
)


# Phrases that are not the English of the field: 'inside', 'a character', 'automatically', 'fixed', 'checked' are.
_DIALECT = re.compile(
    r"(?<!the )\b(in|out)side of\b|\b(some|any)body\b|\bwhoever\b|\bby (it|them)sel(f|ves)\b|\bmended\b|\blooked at\b"
    r"|\b(is|are) told\b|\bin vain\b|\bany more\b",
    re.I,
)


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


def unknown(text: str) -> list[str]:
    """Commands, their options, and names of the package that a text uses and that do not exist."""
    commands = get_command(app).commands  # type: ignore[attr-defined]
    out = [f"er.{name}" for name in re.findall(r"\ber\.(\w+)", text) if name not in elbowroom.__all__]
    for name, rest in _COMMAND.findall(text):
        known = {o for p in commands[name].params for o in (*p.opts, *p.secondary_opts)} if name in commands else set()
        out += [] if name in commands else [name]
        out += [f"{name} {o}" for o in re.findall(r"(?<!\S)--?[a-z][\w-]*", rest) if o not in known | {"--help"}]
    return out


def fragments(code: str) -> list[str]:
    """Docstrings of a source that begin as a clause, not with a verb or a noun."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(code)) if isinstance(node, documented)]
    return [text.partition("\n")[0] for text in texts if _FRAGMENT.match(text)]


def test_docstrings_begin_with_a_verb_or_noun() -> None:
    found = {str(p.relative_to(SOURCE)): fragments(p.read_text()) for p in SOURCE.rglob("*.py")}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert fragments('"""Offset of a limb."""\ndef f():\n    """Where it is."""\n') == ["Where it is."]


def messages(code: str) -> list[str]:
    """Texts of a source with spaces in them, without docstrings."""
    tree = ast.parse(code)
    plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in plain]
    return [node.value for node in texts if isinstance(node.value, str) and " " in node.value]


def test_messages_and_pages_are_in_plain_words() -> None:
    pages = {page.name: [page.read_text(encoding="utf-8")] for page in PAGES if page.name != "benchmarks.md"}
    pages["conventions.md"] = [text.partition("## Glossary")[0] for text in pages["conventions.md"]]
    boards = {p.name: [p.read_text(encoding="utf-8")] for p in SOURCE.rglob("*.yaml")}
    sources = {str(p.relative_to(SOURCE)): messages(p.read_text(encoding="utf-8")) for p in SOURCE.rglob("*.py")}
    found = {name: [m[0] for text in texts for m in _DIALECT.finditer(text)]
             for name, texts in (pages | boards | sources).items()}  # fmt: skip
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    code = '"""Somebody."""\nraise ValueError(f"{x} is inside of {y}")\nsay("the outside of a body")'
    assert [text for text in messages(code) if _DIALECT.search(text)] == [" is inside of "]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_what_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert broken(page, text) == [] and missing(text) == [] and unknown(text) == []


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
    text = "[a](docs/none.md) [b](docs/studio.md#nowhere) [c](https://example.org) `plan/none.py` `posing/reach*.py`"
    assert broken(readme, text) == ["docs/none.md", "docs/studio.md#nowhere"]
    assert missing(text) == ["docs/none.md", "plan/none.py"]
    told = "    elbowroom dance --slowly\n    elbowroom run a.yaml -o b.glb --loud | jq -e .x\n`elbowroom info --json`"
    assert unknown(told + " er.human() er.robot()") == ["er.robot", "dance", "dance --slowly", "run --loud"]
