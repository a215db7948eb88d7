"""What a glTF scene holds is read, or told: nothing of it is missing in silence."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbowroom.errors import BadFile
from elbowroom.files.glb_read import GlbFile, read_glb
from elbowroom.files.glb_write import write_glb
from elbowroom.geometry.solids import box, sphere
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World
from tools import small_worlds

Parts = tuple[dict[str, Any], bytes]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """A person, two tables and a ball that moves, as JSON and binary."""
    path = tmp_path_factory.mktemp("made") / "room.glb"
    world = World(characters={"ann": small_worlds.moving(small_worlds.person())})
    world = world.with_static("table", box([1, 1, 1], at=(3, 0, 0.5))).with_static(
        "desk", box([1, 1, 1], at=(6, 0, 0.5))
    )
    write_glb(path, world.with_object("ball", sphere(0.2), Keyed.along([0.0, 1.0], [[0, 2, 1], [1, 2, 1]])))
    document, binary = small_worlds.glb_parts(path.read_bytes())
    return document, bytes(binary)


def reread(folder: Path, document: dict[str, Any], binary: bytes) -> GlbFile:
    (folder / "bent.glb").write_bytes(small_worlds.glb_bytes(document, binary))
    return read_glb(folder / "bent.glb")


def numbered(document: dict[str, Any], name: str) -> int:
    return next(i for i, node in enumerate(document["nodes"]) if node.get("name") == name)


def test_what_is_not_shown_is_told(made: Parts, tmp_path: Path) -> None:
    document, binary = copy.deepcopy(made[0]), made[1]
    assert set(reread(tmp_path, document, binary).meshes) == {"table", "desk", "ball"}
    scene = document["scenes"][document.get("scene", 0)]
    scene["nodes"].remove(numbered(document, "desk"))
    found = reread(tmp_path, document, binary)
    assert "desk" not in found.meshes and any("Left out" in note and "desk" in note for note in found.notes)


def test_copies_of_a_node_are_refused(made: Parts, tmp_path: Path) -> None:
    document, binary = copy.deepcopy(made[0]), made[1]
    document["nodes"][numbered(document, "desk")]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": {}}}
    with pytest.raises(BadFile, match="a node of its own"):
        reread(tmp_path, document, binary)


def test_positions_without_data_are_refused(made: Parts, tmp_path: Path) -> None:
    """A compressed mesh whose plain positions are missing would be a heap of points at the origin."""
    document, binary = copy.deepcopy(made[0]), made[1]
    mesh = document["meshes"][document["nodes"][numbered(document, "desk")]["mesh"]]
    document["accessors"][mesh["primitives"][0]["attributes"]["POSITION"]].pop("bufferView")
    with pytest.raises(BadFile, match="without mesh compression"):
        reread(tmp_path, document, binary)


def test_a_scene_below_the_root_of_a_rig_stays_a_scene(made: Parts, tmp_path: Path) -> None:
    """Joints of a skin that have no common joint meet in a node that carries the whole scene."""
    document, binary = copy.deepcopy(made[0]), made[1]
    scene = document["scenes"][document.get("scene", 0)]
    helper = len(document["nodes"])
    document["nodes"] += [{"name": "helper"}, {"name": "everything", "children": [*scene["nodes"], helper]}]
    scene["nodes"] = [helper + 1]
    skin = document["skins"][0]
    skin["joints"].append(helper)
    skin.pop("inverseBindMatrices", None)
    found = reread(tmp_path, document, binary)
    assert {"table", "desk"} <= set(found.meshes)
    (character,) = found.characters.values()
    assert character.skin is None or character.skin.vertices[:, 0].max() < 2.5


def test_a_thing_that_grows_is_as_large_as_it_gets(made: Parts, tmp_path: Path) -> None:
    document, binary = copy.deepcopy(made[0]), bytearray(made[1])
    ball = numbered(document, "ball")
    animation = document["animations"][0]
    moves = next(c for c in animation["channels"] if c["target"] == {"node": ball, "path": "translation"})
    times = animation["samplers"][moves["sampler"]]["input"]
    scales = np.linspace(1.0, 3.0, document["accessors"][times]["count"]).repeat(3).astype(np.float32).tobytes()
    document["bufferViews"].append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(scales)})
    count = len(scales) // 12
    view = len(document["bufferViews"]) - 1
    document["accessors"].append({"bufferView": view, "componentType": 5126, "count": count, "type": "VEC3"})
    animation["samplers"].append({"input": times, "output": len(document["accessors"]) - 1})
    animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": {"node": ball, "path": "scale"}})
    document["buffers"][0]["byteLength"] = len(binary) + len(scales)
    found = reread(tmp_path, document, bytes(binary + scales))
    assert np.ptp(found.objects["ball"].mesh.bounds, axis=0).max() == pytest.approx(1.2, abs=0.05)
    assert any("changes its size" in note for note in found.notes)


def test_a_mirrored_node_looks_outwards(made: Parts, tmp_path: Path) -> None:
    document, binary = copy.deepcopy(made[0]), made[1]
    document["nodes"][numbered(document, "table")]["scale"] = [-1.0, 1.0, 1.0]
    mesh = reread(tmp_path, document, binary).meshes["table"]
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0 == pytest.approx(1.0)
