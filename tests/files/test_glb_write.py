"""What is written as GLB comes back, and the Khronos validator has nothing to say about it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pygltflib
import pytest
from scipy.spatial import cKDTree

from conftest import ROOT, real_files
from elbowroom.errors import BadValue
from elbowroom.files.bvh import read_bvh
from elbowroom.files.glb_read import read_glb
from elbowroom.files.glb_write import write_glb
from elbowroom.files.save import save
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import box
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import without_lead
from elbowroom.world.world import World
from tools import plain_gltf, small_worlds


def validator_issues(path: Path) -> dict:
    """The report of the Khronos validator; skips where it is not installed."""
    folder, node = os.environ.get("ELBOWROOM_GLTF_VALIDATOR", ""), shutil.which("node")
    if not node or not (Path(folder) / "node_modules" / "gltf-validator").is_dir():
        pytest.skip(
            "the Khronos validator is not here: npm install gltf-validator in a folder, "
            "name it in ELBOWROOM_GLTF_VALIDATOR"
        )
    script = ROOT / "tests" / "tools" / "validate_gltf.js"
    run = subprocess.run([node, script, folder, path], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(run.stdout)


def assert_clean(path: Path) -> None:
    issues = validator_issues(path)
    assert not issues["messages"], issues["messages"][:3]


def test_names_places_and_skin_come_back(tmp_path):
    clip = small_worlds.moving(small_worlds.person())
    write_glb(tmp_path / "ann.glb", World(characters={"ann": clip}), fps=30)
    found = read_glb(tmp_path / "ann.glb")
    again = found.clips["motion"]
    assert list(found.characters) == ["ann"]
    assert again.character.skeleton.names == clip.character.skeleton.names
    assert again.fps == 30 and len(again) == len(clip)
    assert np.abs(again.positions() - clip.positions()).max() < 1e-5
    assert np.abs(again.character.skeleton.T_rest - clip.character.skeleton.T_rest).max() < 1e-6
    ours, theirs = (c.character.skin.posed(c.world()[20]) for c in (clip, again))
    assert cKDTree(theirs).query(ours)[0].max() < 1e-5
    near = cKDTree(clip.character.skin.vertices).query(again.character.skin.vertices)[1]
    assert np.abs(again.character.skin.colors - clip.character.skin.colors[near]).max() < 1e-4


def test_plain_formula_of_gltf_gives_our_skin(tmp_path):
    """The last frame, skinned by another reader straight from the specification."""
    clip = small_worlds.moving(small_worlds.person())
    write_glb(tmp_path / "ann.glb", World(characters={"ann": clip}))
    plain = plain_gltf.Plain(tmp_path / "ann.glb", last_key=True)
    ours = clip.character.skin.posed(clip.world()[-1])
    assert cKDTree(plain.skinned()).query(ours)[0].max() < 1e-5


def test_scene_and_objects_are_included(tmp_path):
    world = small_worlds.world()
    write_glb(tmp_path / "w.glb", world)
    found = read_glb(tmp_path / "w.glb")
    assert np.allclose(found.meshes["table"].bounds, world.static["table"].bounds, atol=1e-6)
    assert np.allclose(found.meshes["table"].color, world.static["table"].color, atol=1e-3)
    for t in (0.0, 0.3, 1.0):
        ours, theirs = world.objects["parcel"], found.objects["parcel"]
        assert np.allclose(theirs.path(t), ours.path(t), atol=1e-6)
    assert np.allclose(theirs.mesh.bounds, ours.mesh.bounds, atol=1e-6) and list(found.objects) == ["parcel"]
    plain = plain_gltf.Plain(tmp_path / "w.glb", last_key=True)
    end = world.objects["parcel"].path(world.span[1])
    assert np.allclose(plain.joints()["parcel"], end[:3, 3], atol=1e-6)
    number = [n.name for n in plain.gltf.nodes].index("parcel")
    turn = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert np.allclose(turn @ plain.T[number, :3, :3] @ turn.T, end[:3, :3], atol=1e-6)


def test_collision_geometry_is_shown_in_place_of_skins(tmp_path):
    world = small_worlds.world()
    save([tmp_path / "w.glb"], world, shapes=True)
    bob = read_glb(tmp_path / "w.glb").characters["bob"]
    assert bob.skin is not None
    owners = {bob.skeleton.names[j] for j in np.unique(bob.skin.owner)}
    assert owners == {"LeftForeArm", "Head", "Hips", "RightFoot"}
    T = world.characters["bob"].world()[7]
    head = bob.skin.posed(T)[bob.skin.owner == 3]
    assert len(head) > 50 and np.allclose(np.linalg.norm(head - T[3, :3, 3], axis=1), 0.1, atol=1e-5)


@pytest.mark.parametrize("fps", [12.0, 29.97, 60.0])
def test_other_rates(tmp_path, fps):
    clip = small_worlds.moving(small_worlds.person(skin=False))
    write_glb(tmp_path / "a.glb", World(characters={"ann": clip}), fps)
    again = read_glb(tmp_path / "a.glb").clips["motion"]
    assert again.fps == fps
    assert np.abs(again.positions() - clip.positions(again.times)).max() < 1e-5


def test_artificial_first_frames_are_left_out(tmp_path):
    clip = small_worlds.moving(small_worlds.person(skin=False))
    clip = clip.with_(source=clip.source.__class__(lead=2))
    write_glb(tmp_path / "a.glb", World(characters={"ann": clip}), 30)
    again = read_glb(tmp_path / "a.glb").clips["motion"]
    assert len(again) == len(clip) - 2
    np.testing.assert_allclose(again.root, clip.root[2:], atol=1e-6)


def test_a_bad_rate_leaves_no_file(tmp_path):
    with pytest.raises(BadValue):
        write_glb(tmp_path / "a.glb", small_worlds.world(), fps=0.0)
    assert not list(tmp_path.iterdir())


def test_another_library_opens_it(tmp_path):
    write_glb(tmp_path / "w.glb", small_worlds.world())
    gltf = pygltflib.GLTF2().load(str(tmp_path / "w.glb"))
    assert len(gltf.skins) == 2 and len(gltf.animations) == 1 and gltf.asset.version == "2.0"


def rest(character) -> Clip:
    return Clip(character, 30.0, character.skeleton.offsets[:1], character.skeleton.rest[None])


ODD_WORLDS = {
    "full": small_worlds.world,
    "empty": World,
    "one frame": lambda: small_worlds.world(frames=1),
    "at rest": lambda: World(characters={"ann": rest(small_worlds.person())}),
    "bones only": lambda: World(characters={"ann": rest(small_worlds.person(skin=False).with_(shapes=()))}),
    "flat and empty meshes": lambda: World(
        static={
            "line": Mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]]),
            "nothing": Mesh(np.zeros((0, 3)), np.zeros((0, 3))),
            'näme / "quoted"': Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]),
        }
    ),
}


@pytest.mark.parametrize("kind", ODD_WORLDS)
def test_validator_is_content(tmp_path, kind):
    write_glb(tmp_path / "a.glb", ODD_WORLDS[kind]())
    assert_clean(tmp_path / "a.glb")


def test_validator_sees_faults(tmp_path):
    """The check can fail: a weight that is no share is an error."""
    write_glb(tmp_path / "a.glb", small_worlds.world())
    document, binary = small_worlds.glb_parts((tmp_path / "a.glb").read_bytes())
    accessor = document["accessors"][document["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"]]
    start = document["bufferViews"][accessor["bufferView"]]["byteOffset"]
    broken = binary[:start] + np.float32(0.5).tobytes() + binary[start + 4 :]
    (tmp_path / "b.glb").write_bytes(small_worlds.glb_bytes(document, broken))
    assert validator_issues(tmp_path / "b.glb")["numErrors"] > 0


@pytest.mark.parametrize("path", real_files("characters/*.glb"), ids=lambda p: p.stem)
def test_real_characters_are_written_clean(tmp_path, path):
    found = read_glb(path)
    motions = {}
    for name, character in found.characters.items():
        own = [c for c in found.clips.values() if c.character is character]
        motions[name] = own[0] if own else rest(character)
    write_glb(tmp_path / "again.glb", World(characters=motions), 24)
    (again,) = read_glb(tmp_path / "again.glb").characters.values()
    (character,) = found.characters.values()
    assert again.skeleton.names == character.skeleton.names
    assert np.abs(again.skeleton.T_rest - character.skeleton.T_rest).max() < 1e-5
    assert_clean(tmp_path / "again.glb")


def test_scene_with_a_walk_is_written_clean(tmp_path, data):
    clip = read_bvh(data / "mocap" / "cmu_bvh" / "02_01.bvh")
    house = read_glb(data / "scenes" / "small_house.glb").meshes
    write_glb(tmp_path / "house.glb", World(characters={"ann": clip}, static=house), 60)
    assert_clean(tmp_path / "house.glb")


@pytest.mark.parametrize("name", ["cmu_bvh/02_01.bvh", "accad_bvh/Male1_A5_PickUpBox.bvh"])
def test_bvh_through_glb_keeps_positions(tmp_path, data, name):
    clip = read_bvh(data / "mocap" / name)
    write_glb(tmp_path / "walk.glb", World(characters={"ann": clip}), clip.fps)
    again = read_glb(tmp_path / "walk.glb").clips["motion"]
    assert again.character.skeleton.names == clip.character.skeleton.names
    clip = without_lead(clip)
    assert len(again) == len(clip)
    assert np.abs(again.positions() - clip.positions()).max() < 1e-4


def test_vertices_that_no_triangle_uses_may_be_anything(tmp_path: Path) -> None:
    plate = box([1.0, 1.0, 0.1])
    odd = Mesh(np.vstack([plate.vertices, [[np.nan, np.inf, 0.0]]]), plate.faces)
    write_glb(tmp_path / "a.glb", World().with_static("plate", odd))
    assert np.allclose(read_glb(tmp_path / "a.glb").meshes["plate"].bounds, plate.bounds)
    broken = Mesh(np.vstack([plate.vertices[:-1], [[np.nan, 0.0, 0.0]]]), plate.faces)
    with pytest.raises(BadValue, match="'plate' has vertices that are not finite"):
        write_glb(tmp_path / "a.glb", World().with_static("plate", broken))
