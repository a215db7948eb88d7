"""The floor of a checked clip: given, stored in its file, found in the scene under its feet, or at 0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from elbowroom.character.human import human
from elbowroom.cli import app
from elbowroom.files.bvh import write_bvh
from elbowroom.files.glb_write import write_glb
from elbowroom.files.npz import write_npz
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.edit import place
from elbowroom.world.world import World


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A walk of 2 m along -Y, on the ground and at a height of 0.4 m, and scenes around it."""
    where = tmp_path_factory.mktemp("floor")
    clip = walk(human(skin=False), 1.0, 0.0, 2.0, 30.0)
    write_bvh(where / "walk.bvh", clip)
    upstairs = World(floor=0.4).with_character("ann", place(clip, lift=0.4))
    write_npz(where / "upstairs.npz", upstairs)
    write_glb(where / "upstairs.glb", upstairs)
    scenes = {
        "shelf": box([1.0, 0.3, 0.03], at=(0.0, -1.0, 1.5)),
        "stage": box([4.0, 3.0, 0.19], at=(0.0, -2.2, 0.095)),
        "slab": box([8.0, 8.0, 0.3], at=(0.0, 0.0, 0.04)),
    }
    for name, mesh in scenes.items():
        (where / f"{name}.obj").write_text(obj(mesh))
    return where


def obj(mesh: Mesh) -> str:
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in mesh.vertices]
    return "\n".join([*lines, *(f"f {a} {b} {c}" for a, b, c in (mesh.faces + 1).tolist())]) + "\n"


def check(*arguments: object) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(app, ["check", *map(str, arguments), "--json"])
    return result.exit_code, json.loads(result.stdout)


def test_a_shelf_is_no_floor(folder: Path) -> None:
    code, facts = check(folder / "walk.bvh", folder / "shelf.obj", "--scene-up", "Z")
    assert code == 1 and facts["floor_m"] == 0.0 and {c["pair"][1] for c in facts["collisions"]} == {"shelf"}
    assert any("No floor found" in note and "assumed at 0" in note for note in facts["notes"])


def test_a_stage_on_the_way_is_an_obstacle(folder: Path) -> None:
    code, facts = check(folder / "walk.bvh", folder / "stage.obj", "--scene-up", "Z")
    assert code == 1 and facts["floor_m"] == 0.0 and "stage" in {c["pair"][1] for c in facts["collisions"]}
    code, facts = check(folder / "walk.bvh", folder / "stage.obj", "--scene-up", "Z", "--at", "0,-1.2")
    assert code == 0 and facts["floor_m"] == pytest.approx(0.19), "all steps are on it"


def test_a_storyboard_finds_the_floor_under_the_feet(folder: Path) -> None:
    text = (
        "elbowroom: 1\nscene: {meshes: [{file: stage.obj, up: Z}]}\ncharacters:\n  ann: {clip: walk.bvh, at: [0, %s]}\n"
    )
    for y, floor, hits in ((0, 0.0, True), (-1.2, 0.19, False)):
        (folder / "board.yaml").write_text(text % y)
        _, facts = check(folder / "board.yaml")
        assert facts["floor_m"] == pytest.approx(floor)
        assert ("stage" in {c["pair"][1] for c in facts["collisions"]}) == hits


@pytest.mark.parametrize("name", ["upstairs.npz", "upstairs.glb"])
def test_a_file_keeps_the_floor_that_it_stores(folder: Path, name: str) -> None:
    _, facts = check(folder / name)
    assert facts["floor_m"] == 0.4
    touches = [*facts["certificate"]["allowed"], *facts["collisions"]]
    depths = [c["depth_m"] for c in touches if "floor" in c["pair"]]
    assert depths and max(depths) < 0.1, "feet are on it, neither over it nor deep in it"
    _, facts = check(folder / name, "--floor", "0.1")
    assert facts["floor_m"] == 0.1


def test_a_clip_goes_onto_the_floor_of_its_scene(folder: Path) -> None:
    code, facts = check(folder / "walk.bvh", folder / "slab.obj", "--scene-up", "Z")
    assert code == 0 and facts["floor_m"] == pytest.approx(0.19)
