"""`elbowroom repair` as a user runs it: files in, files out, exit codes, one JSON object."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from elbowroom.character.human import human
from elbowroom.cli import app
from elbowroom.files.bvh import read_bvh, write_bvh
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip

CONTRACT = {"status", "seed", "frames", "fps", "triangles", "seconds", "plans", "collisions", "certificate", "quality"}


def write_obj(path: Path, mesh: Mesh) -> None:
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in mesh.vertices]
    lines += [f"f {a} {b} {c}" for a, b, c in (mesh.faces + 1).tolist()]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A walk; a shelf that its right hand swings into; a wall across its way; a post aside."""
    where = tmp_path_factory.mktemp("repair")
    clip = walk(human(), 1.1, 0.0, 2.5, 30.0)
    write_bvh(where / "walk.bvh", clip)
    hand = clip.positions([1.3])[0, clip.character.role("right_hand")]
    write_obj(where / "shelf.obj", box((0.3, 0.08, 0.05), (hand[0] - 0.13, hand[1], hand[2])))
    write_obj(where / "wall.obj", box((2.0, 0.1, 2.0), (0.0, -1.4, 1.0)))
    write_obj(where / "aside.obj", box((0.1, 0.1, 2.0), (3.0, 0.0, 1.0)))
    return where


def test_a_budget_that_is_spent_is_told_and_what_is_repaired_by_then_is_written(folder: Path) -> None:
    told = (folder / "walk.bvh", folder / "wall.obj", "--scene-up", "Z", "--floor", "0", "-o", folder / "late.bvh")
    code, text = run(*told, "--budget", 0.05)
    assert code == 1 and "out of time: budget-spent" in text and "the budget of 0.05 s is spent" in text
    assert "give a larger budget (--budget SECONDS) or none" in " ".join(text.split())
    assert (folder / "late.bvh").is_file()
    code, text = run(*told, "--budget", 0.05, "--variants", 2, "--json")
    assert code == 1 and json.loads(text)["status"] == "budget-spent" and json.loads(text)["written"] == []


@pytest.mark.parametrize("budget", [0, -1, "nan"])
def test_budgets_that_are_none(folder: Path, budget: object) -> None:
    code, _ = run(folder / "walk.bvh", folder / "wall.obj", "-o", folder / "none.bvh", "--budget", budget)
    assert code != 0 and not (folder / "none.bvh").exists()


def run(*told: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["repair", *map(str, told)])
    return result.exit_code, result.stdout


@pytest.fixture(scope="module")
def repaired(folder: Path) -> dict:
    out = (folder / "out.bvh", folder / "out.npz")
    code, text = run(
        folder / "walk.bvh",
        folder / "shelf.obj",
        "--scene-up",
        "Z",
        "--floor",
        "0",
        "-o",
        out[0],
        "-o",
        out[1],
        "--json",
    )
    facts = json.loads(text)
    assert code == 0, facts
    return facts


def test_json_keeps_the_contract(repaired: dict) -> None:
    assert set(repaired) >= CONTRACT and repaired["status"] == "found"
    assert repaired["collisions"] and repaired["left"] == []
    assert all("shelf" in c["pair"] for c in repaired["collisions"])
    assert repaired["certificate"]["free"] and repaired["certificate"]["continuous"]
    plan = repaired["plans"][0]
    assert plan["limb"].startswith("right_arm")
    assert set(plan) >= {
        "who",
        "during",
        "first_solution_s",
        "smooth_s",
        "checks",
    }
    assert set(repaired["seconds"]) >= {"load", "prepare", "plan", "smooth", "certify", "write", "total"}


def test_bvh_comes_back_as_it_was_but_for_the_repair(folder: Path, repaired: dict) -> None:
    before, after = (read_bvh(folder / name) for name in ("walk.bvh", "out.bvh"))
    assert header(folder / "walk.bvh") == header(folder / "out.bvh")
    assert after.fps == before.fps and len(after) == len(before)
    apart = rot.angle_between(before.rotations, after.rotations)
    begin, end = repaired["plans"][0]["during"]
    outside = (before.times <= begin + 1e-6) | (before.times >= end - 1e-6)
    chains = before.character.chains
    arm = [*chains["right_arm"].lead, *chains["right_arm"].joints, *chains["spine"].joints]
    others = [j for j in range(len(before.character.skeleton)) if j not in arm]
    assert apart[outside].max() < 1e-5 and apart[:, others].max() < 1e-5
    assert apart[:, arm].max() > 0.02
    assert np.allclose(before.root, after.root, atol=1e-5)


def test_what_was_written_passes_the_check(folder: Path, repaired: dict) -> None:
    result = CliRunner().invoke(
        app, ["check", str(folder / "out.bvh"), str(folder / "shelf.obj"), "--scene-up", "Z", "--floor", "0", "--json"]
    )
    assert result.exit_code == 0 and json.loads(result.stdout)["certificate"]["free"]


def test_a_muted_repair_is_the_clip_as_it_came_and_not_free(folder: Path, repaired: dict) -> None:
    told = (folder / "walk.bvh", folder / "shelf.obj", "--scene-up", "Z", "--floor", "0", "--mute", "1")
    code, text = run(*told, "-o", folder / "muted.bvh", "--json")
    facts = json.loads(text)
    assert code == 1 and facts["status"] == "not-certified" and "shelf" in facts["why"] and facts["left"]
    assert facts["plans"][0]["muted"] and len(facts["plans"]) == len(repaired["plans"])
    before, after = read_bvh(folder / "walk.bvh"), read_bvh(folder / "muted.bvh")
    assert rot.angle_between(before.rotations, after.rotations).max() < 1e-5


def test_free_clip_is_left_as_it_is(folder: Path) -> None:
    out = folder / "same.bvh"
    code, text = run(folder / "walk.bvh", folder / "aside.obj", "--scene-up", "Z", "--floor", "0", "-o", out)
    assert code == 0 and "nothing to repair" in text
    before, after = read_bvh(folder / "walk.bvh"), read_bvh(out)
    assert isinstance(after, Clip) and rot.angle_between(before.rotations, after.rotations).max() < 1e-5


def test_what_is_left_is_told_written_and_exits_with_1(folder: Path) -> None:
    out = folder / "partial.bvh"
    code, text = run(folder / "walk.bvh", folder / "wall.obj", "--scene-up", "Z", "--floor", "0", "-o", out, "--json")
    facts = json.loads(text)
    assert code == 1 and facts["status"] == "partial" and not facts["certificate"]["free"]
    assert facts["left"] and "wall" in facts["why"] and out.exists()


def test_variants_are_written_one_by_one(folder: Path) -> None:
    here = ("--scene-up", "Z", "--floor", "0")
    code, text = run(
        folder / "walk.bvh", folder / "shelf.obj", *here, "-o", folder / "v.bvh", "--variants", 2, "--json"
    )
    facts = json.loads(text)
    assert code == 0 and len(facts["variants"]) == 2 and set(facts) >= CONTRACT
    assert [Path(v["written"][0]).name for v in facts["variants"]] == ["v-1.bvh", "v-2.bvh"]
    assert facts["variants"][1]["differs_m"] > 0.05
    a, b = (read_bvh(folder / f"v-{k}.bvh") for k in (1, 2))
    assert np.linalg.norm(a.positions() - b.positions(), axis=-1).max() > 0.05


@pytest.mark.parametrize(
    "told",
    [
        ["walk.bvh", "shelf.obj", "-o", "out.bvh", "--variants", "0"],
        ["walk.bvh", "shelf.obj", "-o", "out.bvh", "--max-aside", "7"],
        ["walk.bvh", "shelf.obj", "-o", "out.txt"],
        ["walk.bvh", "missing.obj", "-o", "out.bvh"],
        ["shelf.obj", "shelf.obj", "-o", "out.bvh"],
        ["walk.bvh", "shelf.obj", "-o", "out.bvh", "--at", "1;2"],
        ["walk.bvh", "shelf.obj", "-o", "out.bvh", "--max-shift", "-1"],
        ["walk.bvh", "shelf.obj", "-o", "out.bvh", "--floor", "low"],
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(folder: Path, told: list[str], tmp_path: Path) -> None:
    from elbowroom.errors import ElbowroomError

    paths = [str(tmp_path / t) if t.startswith("out.") else str(folder / t) if "." in t else t for t in told]
    result = CliRunner().invoke(app, ["repair", *paths])
    assert isinstance(result.exception, ElbowroomError) and result.exception.exit_code == 2
    assert not list(tmp_path.iterdir())


def header(path: Path) -> list[str]:
    """Joints and channels of a BVH, without numbers of places."""
    lines = path.read_text().split("MOTION")[0].splitlines()
    return [line.strip() for line in lines if "OFFSET" not in line]
