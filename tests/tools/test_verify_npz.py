"""The stand-alone checker fails on every kind of wrong file, made by hand with numpy alone, and passes clean ones."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import trimesh

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "verify_npz.py"
ALWAYS = (-np.inf, np.inf)
TIMES = np.linspace(0.0, 1.0, 11)


def checker() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("verify_npz", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["verify_npz"] = module
    spec.loader.exec_module(module)
    return module


CHECK = checker()


class File:
    """An NPZ in the making: everything that is at times (T,)."""

    def __init__(self, floor: float = np.nan, times: Any = TIMES) -> None:
        self.times = np.asarray(times, dtype=float)
        self.arrays: dict[str, Any] = {"times": self.times, "fps": np.array(10.0), "floor": np.array(floor)}
        self.rows: dict[str, list[Any]] = {}
        self.holds = 0

    def body(
        self, joints: dict[str, Any], shapes: dict[str, Any], root: Any = (0.0, 0.0, 0.0), name: str = "ann"
    ) -> File:
        """A body: joints by name with parent and offset, all unturned; shapes by name with joint, kind, size, place."""
        count, names = len(self.times), list(joints)
        local = np.tile(np.eye(4), (len(shapes), 1, 1))
        local[:, :3, 3] = [s[3] for s in shapes.values()]
        self.arrays |= {
            f"char/{name}/{key}": value
            for key, value in {
                "joint_names": np.array(names),
                "parents": np.array([p for p, _ in joints.values()]),
                "offsets": np.array([o for _, o in joints.values()], float),
                "rotations": np.tile([1.0, 0.0, 0.0, 0.0], (count, len(names), 1)),
                "root": np.broadcast_to(np.asarray(root, float), (count, 3)),
                "shape_names": np.array(list(shapes)),
                "shape_joint": np.array([names.index(s[0]) for s in shapes.values()]),
                "shape_kind": np.array([s[1] for s in shapes.values()]),
                "shape_size": np.array([s[2] for s in shapes.values()], float),
                "T_joint_shape": local,
            }.items()
        }
        return self

    def person(self, root: Any = (0.0, 0.0, 1.0)) -> File:
        """Somebody with a pelvis, a chest, two arms stretched out sideways and a leg: 2 cm above a floor at 0."""
        joints = {
            "pelvis": (-1, (0.0, 0.0, 0.0)),
            "chest": (0, (0.0, 0.0, 0.4)),
            "left_forearm": (1, (0.5, 0.0, 0.0)),
            "right_forearm": (1, (-0.5, 0.0, 0.0)),
            "left_shin": (0, (0.0, 0.0, -0.6)),
            "left_foot": (4, (0.0, 0.0, -0.3)),
        }
        shapes = {
            "pelvis": ("pelvis", "sphere", (0.12, 0, 0), (0, 0, 0)),
            "chest": ("chest", "box", (0.15, 0.1, 0.15), (0, 0, 0)),
            "left_forearm": ("left_forearm", "box", (0.12, 0.04, 0.04), (0, 0, 0)),
            "right_forearm": ("right_forearm", "box", (0.12, 0.04, 0.04), (0, 0, 0)),
            "left_shin": ("left_shin", "capsule", (0.05, 0.1, 0), (0, 0, 0)),
            "left_foot": ("left_foot", "box", (0.05, 0.12, 0.03), (0, -0.05, -0.05)),
        }
        return self.body(joints, shapes, root)

    def ball(self, at: Any, radius: float = 0.1, name: str = "ann") -> File:
        """A body that is nothing but a ball, at places (3,) or (T, 3)."""
        return self.body({"root": (-1, (0, 0, 0))}, {"ball": ("root", "sphere", (radius, 0, 0), (0, 0, 0))}, at, name)

    def mesh(self, key: str, mesh: Any) -> File:
        self.arrays |= {f"{key}/vertices": np.array(mesh.vertices), f"{key}/faces": np.array(mesh.faces)}
        return self

    def object(self, name: str, mesh: Any, at: Any) -> File:
        """An object at places (3,) or (T, 3)."""
        T = np.tile(np.eye(4), (len(self.times), 1, 1))
        T[:, :3, 3] = at
        self.arrays[f"object/{name}/T_world_object"] = T
        return self.mesh(f"object/{name}", mesh)

    def static(self, name: str, mesh: Any, dropped: Any = None) -> File:
        if dropped is not None:
            self.arrays[f"static/{name}/dropped"] = np.asarray(dropped)
        return self.mesh(f"static/{name}", mesh)

    def row(self, **values: Any) -> File:
        for key, value in values.items():
            self.rows.setdefault(key, []).append(value)
        return self

    def allow(self, a: str, b: str, depth: float, during: Any = ALWAYS, shift: Any = (np.nan,) * 3) -> File:
        return self.row(allowed_pair=(a, b), allowed_depth=depth, allowed_during=during, allowed_shift=shift)

    def excuse(self, a: str, b: str, during: Any = (0.0, 1.0)) -> File:
        return self.row(excused_pair=(a, b), excused_during=during)

    def hold(self, object: str, hand: str, during: Any = (0.0, 1.0)) -> File:
        for key, value in (("object", object), ("by", "ann"), ("hand", hand), ("during", during)):
            self.arrays[f"hold/{self.holds}/{key}"] = np.array(value)
        self.holds += 1
        return self

    def write(self, folder: Path) -> Path:
        path = folder / "made.npz"
        np.savez(path, **self.arrays, **{key: np.array(rows) for key, rows in self.rows.items()})
        return path


def box(size: Any, at: Any = (0, 0, 0)) -> trimesh.Trimesh:
    return trimesh.creation.box(size).apply_translation(at)


def joint(*meshes: trimesh.Trimesh) -> trimesh.Trimesh:
    return trimesh.util.concatenate(meshes)


def line(a: Any, b: Any) -> np.ndarray:
    """Places at TIMES on the way from one point to another."""
    return np.linspace(a, b, len(TIMES))


def two_chambers() -> trimesh.Trimesh:
    """A closed block of 4 m with one wall across it that shares the vertices of its shell."""
    left, right = box([2.0, 4.0, 4.0], (-1.0, 0, 0)), box([2.0, 4.0, 4.0], (1.0, 0, 0))
    both = joint(left, right)
    both.merge_vertices()
    return trimesh.Trimesh(both.vertices, both.faces[both.unique_faces()], process=False)


def fin_table() -> trimesh.Trimesh:
    """A table with its top at z = 0.7 and an upright fin of 10 cm on it."""
    return joint(box([1.0, 1.0, 0.02], (0, 0, 0.69)), box([0.3, 0.004, 0.1], (0.1, 0, 0.75)))


SILL = box([1.0, 0.05, 0.015], (0.0, -0.03, 0.0075))
ROD = box([1.4, 0.02, 0.02])
TRAY = box([0.4, 0.3, 0.01])
CARD = box([0.09, 0.06, 0.001])
THIN = box([1.0, 1.0, 0.002], (0, 0, 0.5))
JUMP = np.array([[-1.0, 0, 1.0]] * 5 + [[1.0, 0, 1.0]] * 6)
ONTO = line((0, 0, 0.8), (0, 0, 0.703))  # a tray set down onto the table, 2 mm into its top
FALL = line((0, 0, 0.6), (0, 0, 0.4))

WRONG: dict[str, tuple[File, set[str]]] = {
    "underground": (File(0.0).person((0, 0, -2.5)), {"ann.left_foot", "floor"}),
    "underground, allowed": (File(0.0).ball((0, 0, -2.5)).allow("ann.ball", "floor", 2.6), {"ann.ball", "floor"}),
    "feet 38 mm in the floor with 10 allowed": (
        File(0.0).person((0, 0, 0.942)).allow("ann.left_foot", "floor", 0.01),
        {"ann.left_foot", "floor"},
    ),
    "shin-deep in a stage": (
        File(0.0).person().static("stage", box([3.0, 3.0, 0.3], (0, 0, 0.15))),
        {"ann.left_shin", "stage"},
    ),
    "shin-deep in a floor that is too high": (
        File(0.3).person().allow("ann.left_foot", "floor", 0.5).allow("ann.left_shin", "floor", 0.5),
        {"ann.left_shin", "floor"},
    ),
    "a low sill": (File(0.0).person((0, 0, 0.99)).static("sill", SILL), {"ann.left_foot", "sill"}),
    "a low sill left out as floor": (
        File(0.0).person((0, 0, 0.99)).static("sill", SILL, np.ones(12, bool)),
        {"sill", "floor"},
    ),
    "a steep face left out as floor": (
        File(0.0).person((0, 0, 1.1)).static("kerb", box([1, 1, 0.004], (0, 0, 0.002)), np.ones(12, bool)),
        {"kerb", "floor"},
    ),
    "an object that cuts a chest between two frames": (
        File()
        .person()
        .object("saw", box([0.02, 0.02, 0.02]), np.where(TIMES[:, None] < 0.45, (0, -1, 1.4), (0, 1, 1.4))),
        {"ann.chest", "saw"},
    ),
    "a rod through both arms, excused by a hold of the chest": (
        File()
        .person()
        .object("rod", ROD, (0, 0, 1.4))
        .hold("rod", "chest")
        .excuse("ann.chest", "rod")
        .excuse("ann.left_forearm", "rod")
        .excuse("ann.right_forearm", "rod"),
        {"ann.left_forearm", "rod"},
    ),
    "a rod excused after its hold": (
        File()
        .person()
        .object("rod", box([0.1] * 3), line((0, 0, 1.4), (0, 0, 1.41)))
        .hold("rod", "chest", (0.0, 0.5))
        .excuse("ann.chest", "rod"),
        {"ann.chest", "rod"},
    ),
    "a tray pierced by a fin": (
        File()
        .object("tray", TRAY, line((0, 0, 0.8), (0, 0, 0.704)))
        .static("table", fin_table())
        .allow("tray", "table", 0.005),
        {"tray", "table"},
    ),
    "a tray pierced by a fin, shifted": (
        File()
        .object("tray", TRAY, ONTO)
        .static("table", fin_table())
        .allow("tray", "table", 0.005, (0.9, 1.0), (0, 0, 0.005)),
        {"tray", "table"},
    ),
    "a card that falls through a thin table": (
        File().object("card", CARD, FALL).static("table", THIN).allow("card", "table", 0.005),
        {"card", "table"},
    ),
    "a card that falls through a thin table, shifted": (
        File()
        .object("card", CARD, FALL)
        .static("table", THIN)
        .allow("card", "table", 0.005, (0.49, 0.5), (0, 0, 0.004))
        .allow("card", "table", 0.005, (0.5, 0.51), (0, 0, -0.004)),
        {"card", "table"},
    ),
    "a shift to the other side of a sheet": (
        File()
        .object("card", CARD, line((0, 0, 0.503), (0, 0, 0.5028)))
        .static("table", THIN)
        .allow("card", "table", 0.006, (0.4, 0.6), (0, 0, -0.006)),
        {"card", "table"},
    ),
    "a contact of 1 m": (
        File().ball((0, 0, 5)).object("post", box([1, 1, 1]), (0, 0, 0)).allow("ann.ball", "post", 1.0),
        {"ann.ball", "post"},
    ),
    "a jump through a wall": (
        File().ball((3, 0, 1)).object("cup", box([0.05] * 3), JUMP).static("wall", box([0.002, 3, 3], (0.2, 0, 1))),
        {"cup", "wall"},
    ),
    "inside of a block with one inner wall": (
        File().ball((1.0, 0, 0)).static("block", two_chambers()),
        {"ann.ball", "block"},
    ),
    "inside of a closed block": (File().ball((0, 0, 1)).static("block", box([4, 4, 4])), {"ann.ball", "block"}),
    "an object inside of a block with an inner wall": (
        File()
        .ball((9, 0, 0))
        .object("pea", box([0.01] * 3), line((0.5, 0, 0), (1.5, 0, 0)))
        .static("block", two_chambers()),
        {"pea", "block"},
    ),
    "a finger thinner than what is allowed, through a sheet": (
        File()
        .ball(line((0, 0, 0.6), (0, 0, 0.4)), 0.003)
        .static("table", box([1.0, 1.0, 0.001], (0, 0, 0.5)))
        .allow("ann.ball", "table", 0.005),
        {"ann.ball", "table"},
    ),
    "two people": (File().ball((0, 0, 1)).ball((0.15, 0, 1), name="bob"), {"ann.ball", "bob.ball"}),
    "two people, ignored": (
        File().ball((0, 0, 1)).ball((0.15, 0, 1), name="bob").row(ignored_pair=("ann.ball", "bob.ball")),
        {"ann.ball", "bob.ball"},
    ),
    "a wall that is ignored": (
        File().ball((0, 0, 1)).static("wall", box([1, 1, 3])).row(ignored_pair=("ann.ball", "wall")),
        {"ann.ball", "wall"},
    ),
    "two objects said to be linked": (
        File()
        .object("cup", box([0.1] * 3), line((0, 0, 0), (1, 0, 0)))
        .object("jug", box([0.1] * 3), (0.5, 0, 0))
        .row(linked_pair=("cup", "jug"), linked_during=ALWAYS),
        {"cup", "jug"},
    ),
    "a thing said to be held by a robot that leaves it": (
        File()
        .object("arm.hand", box([0.1] * 3), line((0, 0, 0), (1, 0, 0)))
        .object("cup", box([0.1] * 3), (0.5, 0, 0))
        .row(linked_pair=("arm.hand", "cup"), linked_during=ALWAYS),
        {"arm.hand", "cup"},
    ),
    "a thing inside of the robot's hand that holds it": (
        File()
        .object("arm.hand", box([0.1] * 3), line((0, 0, 0), (1, 0, 0)))
        .object("cup", box([0.1] * 3), line((0.05, 0, 0), (1.05, 0, 0)))
        .row(linked_pair=("arm.hand", "cup"), linked_during=ALWAYS),
        {"arm.hand", "cup"},
    ),
    "an object named like a part of a body": (
        File().ball((0, 0, 0)).object("ann.ball", box([0.1] * 3), (1, 0, 0)),
        {"ann.ball", ""},
    ),
    "not finite": (File().ball(np.where(TIMES[:, None] == 0.5, np.nan, 0.0) * np.ones(3)), {"ann", ""}),
}

CLEAN = {
    "a person above the floor": File(0.0).person(),
    "feet as deep as allowed": File(0.0).person((0, 0, 0.95)).allow("ann.left_foot", "floor", 0.05),
    "a person beside a block with an inner wall": File().person((-3.0, 0, 0)).static("block", two_chambers()),
    "a person in an open box": File()
    .person()
    .static("box", trimesh.Trimesh(box([4] * 3).vertices, box([4] * 3).faces[:-2])),
    "a person in a hollow": File()
    .person()
    .static("hall", joint(box([5] * 3), trimesh.Trimesh(box([4] * 3).vertices, box([4] * 3).faces[:, ::-1]))),
    "a held rod": File()
    .person()
    .object("rod", box([0.5, 0.02, 0.02]), (0, 0, 1.4))
    .hold("rod", "chest")
    .excuse("ann.chest", "rod"),
    "a tray set down": File()
    .object("tray", TRAY, ONTO)
    .static("table", box([1, 1, 0.02], (0, 0, 0.69)))
    .allow("tray", "table", 0.003),
    "a tray set down, shifted": File()
    .object("tray", TRAY, ONTO)
    .static("table", box([1, 1, 0.02], (0, 0, 0.69)))
    .allow("tray", "table", 0.003, (0.9, 1.0), (0, 0, 0.0025)),
    "a floor of the scene left out": File(0.0)
    .person()
    .static("ground", box([9, 9, 0.2], (0, 0, -0.1)), np.ones(12, bool)),
    "a low sill beside the foot": File(0.0).person().static("sill", box([1.0, 0.05, 0.015], (0.0, 0.3, 0.0075))),
    "neighbours": File()
    .body(
        {"a": (-1, (0, 0, 0)), "b": (0, (0.1, 0, 0))},
        {"a": ("a", "sphere", (0.1, 0, 0), (0, 0, 0)), "b": ("b", "sphere", (0.1, 0, 0), (0, 0, 0))},
    )
    .row(ignored_pair=("ann.a", "ann.b")),
    "things that never move": File()
    .object("cup", box([1] * 3), (0, 0, 0))
    .object("jug", box([1] * 3), (0, 0, 0.5))
    .static("table", box([2] * 3)),
    "a thing held by a robot": File()
    .object("arm.hand", box([0.1] * 3), line((0, 0, 0), (1, 0, 0)))
    .object("cup", box([0.1] * 3), line((0.097, 0, 0), (1.097, 0, 0)))
    .allow("arm.hand", "cup", 0.005, shift=(-0.004, 0, 0)),
    "links of a robot": File()
    .object("arm.upper", box([0.2] * 3), line((0, 0, 0), (1, 0, 0)))
    .object("arm.fore", box([0.2] * 3), line((0.1, 0, 0), (1.1, 0, 0)))
    .row(ignored_pair=("arm.upper", "arm.fore")),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_found(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, pair = WRONG[case]
    assert CHECK.main([str(file.write(tmp_path)), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert pair in [set(v["pair"]) for v in found["violations"]]


@pytest.mark.parametrize("case", CLEAN)
def test_what_is_clean_passes(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert CHECK.main([str(CLEAN[case].write(tmp_path))]) == 0, capsys.readouterr().out


def test_the_deepest_is_told_first_with_its_time(tmp_path: Path) -> None:
    file = File(0.0).ball(line((0, 0, 1.0), (0, 0, 0.05))).static("post", box([0.1, 0.1, 0.12], (0, 0, 0.0)))
    found = CHECK.verify(file.write(tmp_path)).violations
    assert [set(v.pair) for v in found] == [{"ann.ball", "post"}, {"ann.ball", "floor"}]
    assert found[0].at == pytest.approx(1.0) and found[0].depth == pytest.approx(0.11, abs=0.02)
    assert found[1].at == pytest.approx(1.0) and found[1].depth == pytest.approx(0.05)


def test_raised_limits_are_told(tmp_path: Path) -> None:
    file = File(0.0).person((0, 0, 0.92)).allow("ann.left_foot", "floor", 0.07)
    assert CHECK.verify(file.write(tmp_path)).violations
    file.arrays["evidence"] = np.array(json.dumps({"caps": {"feet": 0.08}}))
    report = CHECK.verify(file.write(tmp_path))
    assert not report.violations and "80 mm" in report.notes[0]


@pytest.mark.parametrize("broken", ["no zip", "no times", "faces", "skewed", "evidence"])
def test_bad_files_are_told_in_a_sentence(broken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = File().object("cup", box([1] * 3), (0, 0, 0))
    if broken == "no times":
        del file.arrays["times"]
    if broken == "faces":
        file.arrays["object/cup/faces"] = file.arrays["object/cup/faces"] + 5
    if broken == "skewed":
        file.arrays["object/cup/T_world_object"][:, 0, 0] = 2.0
    if broken == "evidence":
        file.arrays["evidence"] = np.array("{")
    path = file.write(tmp_path)
    if broken == "no zip":
        path.write_bytes(b"PK\x03\x04 nothing")
    assert CHECK.main([str(path)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
