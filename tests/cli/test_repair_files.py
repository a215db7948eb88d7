"""Repair writes back the kind of file that it read: the same joints, channels, skin, rate and frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pygltflib import GLTF2
from typer.testing import CliRunner

from elbowroom.character.human import human
from elbowroom.cli import app
from elbowroom.errors import ElbowroomError
from elbowroom.files.glb_write import write_glb
from elbowroom.files.open import open_file
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import cut, place, without_lead
from elbowroom.motion.retarget import retarget
from elbowroom.world.world import World

CMU = "mocap/cmu_bvh/02_01.bvh"


def clip_in(path: Path) -> Clip:
    return next(iter(open_file(path).clips.values()))


def source(data: Path, kind: str, folder: Path) -> Path:
    """A file of a kind: recorded ones as they are, bodies without a clip with one put on."""
    files = {"bvh": CMU, "amc": "mocap/cmu_asf_amc/16/16_22.amc", "glb": "characters/CesiumMan.glb"}
    if kind in files:
        return _present(data / files[kind])
    if kind == "person":
        clip = walk(human(), 1.1, 0.0, 2.0, 30.0)
    else:
        body = next(iter(open_file(_present(data / "characters/rocketbox_male_adult_01.glb")).characters.values()))
        recorded = without_lead(clip_in(_present(data / CMU)))
        clip = retarget(cut(recorded, 0.2, 2.2), body)
    write_glb(folder / f"{kind}.glb", World(floor=None).with_character(kind, clip), clip.fps)
    return folder / f"{kind}.glb"


def _present(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    return path


def in_the_way(path: Path, folder: Path) -> Path:
    """A scene with a small thing in the way of the right hand, half way."""
    clip = place(clip_in(path), lift=0.0)
    t = float(np.mean(without_lead(clip).span))
    p = clip.positions([t])[0]
    hand, elbow = p[clip.character.role("right_hand")], p[clip.character.role("right_forearm")]
    thing = box((0.03, 0.03, 0.03), hand + 0.06 * (hand - elbow) / np.linalg.norm(hand - elbow))
    write_glb(folder / "scene.glb", World(floor=0.0).with_static("thing", thing))
    return folder / "scene.glb"


def repaired(path: Path, scene: Path, out: Path) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["repair", str(path), str(scene), "--floor", "0", "-o", str(out), "--json"])
    assert result.exit_code == 0, (result.stdout[-2000:], result.exception)
    facts: dict[str, Any] = json.loads(result.stdout)
    assert facts["collisions"] and facts["certificate"]["free"]
    return facts


def compare(before: Clip, after: Clip, facts: dict[str, Any]) -> None:
    """The same joints and frames; only what was planned is changed."""
    assert after.character.joint_names == before.character.joint_names
    assert after.fps == pytest.approx(before.fps) and len(after) == len(before)
    inside = np.zeros(len(before), dtype=bool)
    for plan in facts["plans"]:
        inside |= (before.times >= plan["during"][0]) & (before.times <= plan["during"][1])
    apart = rot.angle_between(before.rotations, after.rotations).max(axis=1)
    assert apart[~inside].max() < 1e-4 and apart[inside].max() > 0.02


@pytest.mark.parametrize("kind", ["bvh", "glb", "rocketbox", "person"])
def test_same_kind_of_file_comes_back(data: Path, kind: str, tmp_path: Path) -> None:
    path = source(data, kind, tmp_path)
    out = tmp_path / f"out{path.suffix}"
    facts = repaired(path, in_the_way(path, tmp_path), out)
    compare(clip_in(path), clip_in(out), facts)
    if path.suffix == ".bvh":
        assert _header(out) == _header(path)
        return
    old, new = (GLTF2().load(str(p)) for p in (path, out))
    assert _joints(new) == _joints(old)
    assert _count(new) == _count(old)


def test_amc_is_written_as_bvh_and_refused_as_amc(data: Path, tmp_path: Path) -> None:
    path = source(data, "amc", tmp_path)
    scene = in_the_way(path, tmp_path)
    facts = repaired(path, scene, tmp_path / "out.bvh")
    before, after = clip_in(path), clip_in(tmp_path / "out.bvh")
    assert after.fps == pytest.approx(before.fps) and len(after) == len(before)
    assert [n for n in before.character.joint_names if n not in after.character.joint_names] == []
    assert facts["plans"]
    result = CliRunner().invoke(app, ["repair", str(path), str(scene), "-o", str(tmp_path / "out.amc")])
    assert isinstance(result.exception, ElbowroomError) and ".bvh" in str(result.exception)


def _header(path: Path) -> list[str]:
    lines = path.read_text().split("MOTION")[0].splitlines()
    return [" ".join(line.split()) for line in lines if "OFFSET" not in line]


def _joints(file: GLTF2) -> set[str]:
    return {file.nodes[j].name for skin in file.skins for j in skin.joints}


def _count(file: GLTF2) -> int:
    """Corners of triangles of all skinned meshes."""
    meshes = [file.meshes[n.mesh] for n in file.nodes if n.skin is not None and n.mesh is not None]
    return sum(file.accessors[p.indices].count for mesh in meshes for p in mesh.primitives)
