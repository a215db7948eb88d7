"""Imports go downwards only."""

from __future__ import annotations

import ast
from pathlib import Path

from conftest import ROOT

SOURCE = ROOT / "src" / "elbowroom"

# From the roof down; a room may import itself and what is below it.
ROOMS = (
    "cli",
    "studio",
    "gallery",
    "report",
    "storyboard",
    "plan",
    "pictures",
    "files",
    "finish",
    "locomotion",
    "spaces",
    "posing",
    "world",
    "motion",
    "character",
    "search",
    "props",
    "geometry",
    "kernels",
    "stopping",
    "errors",
)
FILES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    """Room of a source file: its folder, or its own name for files at the top."""
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else path.stem


def imported_rooms(code: str) -> set[str]:
    """Rooms that a source imports, also inside of functions."""
    rooms = set()
    for node in ast.walk(ast.parse(code)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        rooms |= {n.split(".")[1] for n in names if n.startswith("elbowroom.")}
    return rooms - {"__version__"}


def upward(room: str, imported: set[str]) -> set[str]:
    """Imported rooms that lie above a room."""
    return {r for r in imported if ROOMS.index(r) < ROOMS.index(room)}


def test_no_upward_import() -> None:
    wrong = {
        str(path.relative_to(SOURCE)): rooms
        for path in FILES
        if path != SOURCE / "__init__.py" and (rooms := upward(room_of(path), imported_rooms(path.read_text())))
    }
    assert not wrong, f"files that import rooms above their own: {wrong}"


def test_the_check_can_fail() -> None:
    code = "def f():\n    from elbowroom.files.open import open_file\n    import elbowroom.geometry.mesh\n"
    assert upward("motion", imported_rooms(code)) == {"files"}


def test_files_stay_short() -> None:
    lines = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in FILES}
    long = {name: count for name, count in lines.items() if count > 400}
    assert not long, f"files of more than 400 lines: {long}"
