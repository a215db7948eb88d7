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
# Rooms of planning, from the roof down: tasks say what is asked; what plans them they name, and load it when they do.
PLAN_ROOMS = ("", "teams", "walking", "verbs", "steps", "repair", "tight", "optimise", "checks", "state", "tasks")
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


def planning_imports(code: str, *, lazy: bool) -> set[str]:
    """Rooms of planning that a source imports, those at its top only or also `lazy` ones inside of functions."""
    tree = ast.parse(code)
    nodes = ast.walk(tree) if lazy else iter(tree.body)
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    parts = [module.split(".")[2:] for module in modules if module.startswith("elbowroom.plan.")]
    return {part[0] if part[0] in PLAN_ROOMS else "" for part in parts}


def test_no_upward_import_in_planning() -> None:
    wrong = {}
    for path in (SOURCE / "plan").rglob("*.py"):
        room = path.relative_to(SOURCE / "plan").parts[0] if path.parent.name != "plan" else ""
        found = planning_imports(path.read_text(), lazy=room != "tasks")
        above = {r for r in found if PLAN_ROOMS.index(r) < PLAN_ROOMS.index(room)}
        if above:
            wrong[str(path.relative_to(SOURCE))] = above
    assert not wrong, f"files of plan/ that import rooms above their own: {wrong}"
    code = "def f():\n    from elbowroom.plan.walking.go import go\n"
    assert planning_imports(code, lazy=True) == {"walking"} and not planning_imports(code, lazy=False)


def test_planning_undoes_by_keeping_the_take_before() -> None:
    """No snapshots, few places that catch a failed attempt, no large mutable classes, no verb told by its class."""
    caught, wrong = 0, []
    for path in (SOURCE / "plan").rglob("*.py"):
        code = path.read_text()
        caught += code.count("except PlanningFailure")
        wrong += [
            f"{path.name}: {word}" for word in (".save()", ".restore(", "vars(self", ").update(vars") if word in code
        ]
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ClassDef) and len(attributes_of(node)) > 12:
                wrong.append(f"{path.name}: {node.name} has {len(attributes_of(node))} attributes")
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
            if is_call and path.parent.name != "tasks" and ast.unparse(node.args[0]) == "task":  # type: ignore[attr-defined]
                wrong.append(f"{path.name}: {ast.unparse(node)}")
    assert not wrong
    assert caught <= 10


def attributes_of(node: ast.ClassDef) -> set[str]:
    """Attributes that the methods of a class assign; none for a frozen dataclass."""
    decorators = [ast.unparse(one) for one in node.decorator_list]
    if any("frozen=True" in one for one in decorators):
        return set()
    fields = {s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
    stored = {
        n.attr
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) and ast.unparse(n.value) == "self"
    }
    return stored | (fields if any("dataclass" in one for one in decorators) else set())


def test_the_check_can_fail() -> None:
    code = "def f():\n    from elbowroom.files.open import open_file\n    import elbowroom.geometry.mesh\n"
    assert upward("motion", imported_rooms(code)) == {"files"}


def test_files_stay_short() -> None:
    lines = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in FILES}
    long = {name: count for name, count in lines.items() if count > 400}
    assert not long, f"files of more than 400 lines: {long}"
