"""Names of classes and types: each stands for one thing."""

from __future__ import annotations

import ast
from collections import defaultdict

from conftest import ROOT

SOURCE = ROOT / "src" / "elbowroom"

# Names that still stand for several things; this list may only become shorter.
SEVERAL = {
    "Balls",
    "Blocked",
    "Follow",
    "Frames",
    "Path",
    "Place",
    "Step",
    "Team",
    "Tree",
    "Walk",
}


def names_in(code: str) -> list[str]:
    """Names, without a leading underscore, of the classes and type aliases that a source defines."""
    tree = ast.parse(code)
    classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assigned = [node for node in tree.body if isinstance(node, ast.Assign) and len(node.targets) == 1]
    targets = [node.targets[0].id for node in assigned if isinstance(node.targets[0], ast.Name)]
    aliases = [name for name in targets if name.lstrip("_")[:1].isupper() and not name.isupper()]
    return [name.lstrip("_") for name in (*classes, *aliases)]


def repeated() -> dict[str, list[str]]:
    """Files by name, for each name that several files define; kernels each say what their arrays are."""
    files = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for name in names_in(path.read_text()):
            if path.parent.name != "kernels" or name not in ("Array", "Ints"):
                files[name].append(str(path.relative_to(SOURCE)))
    return {name: found for name, found in files.items() if len(found) > 1}


def test_every_name_stands_for_one_thing() -> None:
    wrong = {name: found for name, found in repeated().items() if name not in SEVERAL}
    assert not wrong, f"names that several files define: {wrong}"


def test_exceptions_are_still_needed() -> None:
    assert set(repeated()) >= SEVERAL, "take names that stand for one thing off the list"


def test_names_in_a_source() -> None:
    code = 'Kind = Literal["a"]\n_LIMIT = 3\nX, Y = 1, 2\n\nclass _Part:\n    class Inner: ...\n'
    assert names_in(code) == ["Part", "Inner", "Kind"]
