"""Rigged glTF of many programs becomes the same body, pose and motion."""

from __future__ import annotations

import base64
import copy
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial import cKDTree

from conftest import real_files
from elbowroom.errors import BadValue
from elbowroom.files.glb_animation import KeyTrack
from elbowroom.files.glb_read import read_glb
from elbowroom.files.glb_rig import SKIN_COLOR
from elbowroom.files.glb_write import write_glb
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.transforms import apply
from elbowroom.world.world import World
from tools import plain_gltf, small_worlds

CHARACTERS = real_files("characters/*.glb")

# joints, clips, skinned size at rest (x, y, z with Z up), from independent readers
KNOWN = {
    "CesiumMan": (19, 1, (1.14, 0.31, 1.51)),
    "RiggedFigure": (19, 1, (1.18, 0.33, 1.45)),
    "RobotExpressive": (43, 14, (3.10, 2.69, 4.46)),
    "quaternius_worker": (49, 0, (1.68, 0.39, 1.87)),
    "rocketbox_male_adult_01": (80, 0, (1.35, 0.34, 1.82)),
    "rocketbox_male_child_01": (80, 0, (1.07, 0.26, 1.43)),
}


@pytest.mark.parametrize("path", CHARACTERS, ids=lambda p: p.stem)
def test_real_characters_have_the_known_size_and_stand(path):
    found = read_glb(path)
    joints, clips, size = KNOWN[path.stem]
    (character,) = found.characters.values()
    assert len(character.skeleton) == joints
    assert len(found.clips) == clips
    assert character.skin is not None
    skin = character.skin.posed(character.skeleton.T_rest)
    assert np.allclose(np.ptp(skin, axis=0), size, atol=0.011)
    assert abs(skin[:, 2].min()) < 0.05
    assert not found.meshes


@pytest.mark.parametrize("path", CHARACTERS, ids=lambda p: p.stem)
def test_skin_agrees_with_the_specification(path):
    """Every vertex that the plain formula of glTF gives is where our skin has one, and joints are where nodes are."""
    plain = plain_gltf.Plain(path)
    (character,) = read_glb(path).characters.values()
    ours = character.skin.posed(character.skeleton.T_rest)
    assert cKDTree(ours).query(plain.skinned())[0].max() < 1e-4
    places = plain.joints()
    for name, T in zip(character.skeleton.names, character.skeleton.T_rest, strict=True):
        if name in places and path.stem != "RobotExpressive":  # there meshes share the joints' names
            assert np.allclose(T[:3, 3], places[name], atol=1e-5), name


def test_animated_skin_agrees_with_the_specification(data):
    path = data / "characters" / "CesiumMan.glb"
    plain = plain_gltf.Plain(path, last_key=True)
    (clip,) = read_glb(path).clips.values()
    pose = clip(clip.span[1])
    skin = clip.character.skin.posed(clip.character.skeleton.at(pose))
    assert np.linalg.norm(skin - plain.skinned(), axis=1).max() < 0.006  # this walk stretches bones by 4 mm
    at_rest = clip.character.skin.posed(clip.character.skeleton.T_rest)
    assert np.linalg.norm(at_rest - plain.skinned(), axis=1).max() > 0.1  # the pose is another one


def test_meshes_on_bones_move_with_them(data):
    """The robot's torso is no skinned mesh; it must be part of the skin and follow its bone."""
    found = read_glb(data / "characters" / "RobotExpressive.glb")
    (character,) = found.characters.values()
    on = {character.skeleton.names[j] for j in np.unique(character.skin.owner)}
    assert {"Head", "Body", "UpperLeg.L", "Foot.R"} <= on
    assert any("Blend shapes" in note for note in found.notes)
    assert any("skeletons cannot do" in note for note in found.clips["Walking"].source.notes)


def test_boots_that_are_skinned_to_the_shins_stand_on_the_floor_as_feet(data):
    """Shins that reached down to the soles would go into the floor whenever the knees bend."""
    worker = read_glb(data / "characters" / "quaternius_worker.glb").characters["quaternius_worker"]
    for side in ("left", "right"):
        low = {}
        for part in ("shin", "foot"):
            joint = worker.role(f"{side}_{part}")
            (shape,) = (shape for shape in worker.shapes if shape.joint == joint)
            assert shape.mesh is not None
            low[part] = apply(worker.T_rest[joint] @ shape.T_joint_shape, shape.mesh.vertices)[:, 2].min()
        assert low["shin"] > low["foot"] + 0.008


def test_colours_are_kept_and_white_is_none(data):
    """White is what programs write where they have no colour: such figures get the colour of skin."""
    worker = read_glb(data / "characters" / "quaternius_worker.glb").characters["quaternius_worker"].skin
    assert len(np.unique(np.round(worker.colors, 3), axis=0)) == 11
    child = read_glb(data / "characters" / "rocketbox_male_child_01.glb").characters["rocketbox_male_child_01"].skin
    assert child.colors is None and child.color == SKIN_COLOR


def test_units_and_up_can_be_told(tmp_path):
    write_glb(tmp_path / "a.glb", World(characters={"ann": small_worlds.moving(small_worlds.person())}))
    plain = read_glb(tmp_path / "a.glb").clips["motion"].positions()
    small = read_glb(tmp_path / "a.glb", units=0.01).clips["motion"].positions()
    lying = read_glb(tmp_path / "a.glb", up="Z").clips["motion"].positions()
    assert np.allclose(small, 0.01 * plain, atol=1e-9)
    assert np.allclose(lying, plain[..., [0, 2, 1]] * [1, 1, -1], atol=1e-7)
    for wrong in ({"units": -1.0}, {"units": float("nan")}, {"up": "X"}):
        with pytest.raises(BadValue):
            read_glb(tmp_path / "a.glb", **wrong)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A person written by ourselves, as (clip, JSON, binary), for tests that bend the file."""
    clip = small_worlds.moving(small_worlds.person())
    path = tmp_path_factory.mktemp("made") / "ann.glb"
    write_glb(path, World(characters={"ann": clip}))
    document, binary = small_worlds.glb_parts(path.read_bytes())
    return clip, document, binary


def reread(tmp_path: Path, document: dict, binary: bytes):
    (tmp_path / "bent.glb").write_bytes(small_worlds.glb_bytes(document, binary))
    return read_glb(tmp_path / "bent.glb")


def floats(document: dict, binary: bytearray, accessor: int) -> np.ndarray:
    """Writable view of an accessor's numbers."""
    a = document["accessors"][accessor]
    start = document["bufferViews"][a["bufferView"]]["byteOffset"] + a["byteOffset"]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[a["type"]]
    return np.frombuffer(binary, np.float32, a["count"] * width, start).reshape(-1, width)


def by_name(clip, like) -> np.ndarray:
    """Positions of the joints of `like` in another clip."""
    return clip.positions()[:, [clip.character.skeleton.index(n) for n in like.character.skeleton.names]]


def test_scaled_armature_is_baked_in(made, tmp_path):
    """A rig in centimetres under an armature of 0.01, as FBX converters write it."""
    clip, document, binary = made
    document, binary = copy.deepcopy(document), bytearray(binary)
    for node in document["nodes"]:
        if node["name"] == "ann":
            node["scale"] = [0.01] * 3
        elif "translation" in node:
            node["translation"] = [100 * x for x in node["translation"]]
    for channel in document["animations"][0]["channels"]:
        if channel["target"]["path"] == "translation":
            floats(document, binary, document["animations"][0]["samplers"][channel["sampler"]]["output"])[:] *= 100
    binds = floats(document, binary, document["skins"][0]["inverseBindMatrices"]).reshape(-1, 4, 4)
    binds[:, :, :3] *= 100  # columns: the three rows of each transform that carry lengths
    found = reread(tmp_path, document, bytes(binary)).clips["motion"]
    assert np.abs(found.positions() - clip.positions()).max() < 1e-5
    T = clip.world()[17], found.world()[17]
    ours, theirs = clip.character.skin.posed(T[0]), found.character.skin.posed(T[1])
    assert cKDTree(theirs).query(ours)[0].max() < 1e-4


def test_nodes_between_joints_do_no_harm(made, tmp_path):
    clip, document, binary = made
    document = copy.deepcopy(document)
    nodes = document["nodes"]
    at = {n["name"]: i for i, n in enumerate(nodes)}
    half = [0.5 * x for x in nodes[at["LeftForeArm"]]["translation"]]
    nodes[at["LeftForeArm"]]["translation"] = half
    nodes.append({"name": "twist", "translation": half, "children": [at["LeftForeArm"]]})
    nodes[at["LeftArm"]]["children"] = [len(nodes) - 1]
    found = reread(tmp_path, document, binary).clips["motion"]
    assert "twist" in found.character.skeleton.names
    assert np.abs(by_name(found, clip) - clip.positions()).max() < 1e-5


def test_joint_list_in_any_order(made, tmp_path):
    """Children before parents in the skin's list, and nodes numbered backwards."""
    clip, document, binary = made
    document, binary = copy.deepcopy(document), bytearray(binary)
    skin = document["skins"][0]
    count = len(skin["joints"])
    skin["joints"] = skin["joints"][::-1]
    binds = floats(document, binary, skin["inverseBindMatrices"])
    binds[:] = binds[::-1].copy()
    a = document["accessors"][document["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"]]
    start = document["bufferViews"][a["bufferView"]]["byteOffset"]
    joints = np.frombuffer(binary, np.uint8, a["count"] * 4, start)
    joints[:] = count - 1 - joints
    last = len(document["nodes"]) - 1
    document["nodes"] = document["nodes"][::-1]
    for node in document["nodes"]:
        node["children"] = [last - c for c in node.get("children", [])]
    skin["joints"] = [last - j for j in skin["joints"]]
    document["scenes"][0]["nodes"] = [last - n for n in document["scenes"][0]["nodes"]]
    for channel in document["animations"][0]["channels"]:
        channel["target"]["node"] = last - channel["target"]["node"]
    found = reread(tmp_path, document, bytes(binary)).clips["motion"]
    assert np.abs(by_name(found, clip) - clip.positions()).max() < 1e-5
    theirs = found.character.skin.posed(found.world()[9])
    assert cKDTree(theirs).query(clip.character.skin.posed(clip.world()[9]))[0].max() < 1e-4


def test_hips_that_move_below_a_resting_root(made, tmp_path):
    """A root joint on the floor that never moves: the body must go where its hips go."""
    clip, document, binary = made
    document, binary = copy.deepcopy(document), bytearray(binary)
    hips = document["skins"][0]["joints"][0]
    document["nodes"].append({"name": "floor root", "children": [hips]})
    root = len(document["nodes"]) - 1
    for node in document["nodes"]:
        if node["name"] == "ann":
            node["children"] = [root]
    document["skins"][0]["joints"].append(root)
    binary += np.eye(4, dtype=np.float32).tobytes()
    old = floats(document, binary, document["skins"][0]["inverseBindMatrices"]).copy()
    document["bufferViews"].append({"buffer": 0, "byteOffset": len(binary), "byteLength": 64 * (len(old) + 1)})
    binary += old.tobytes() + np.eye(4, dtype=np.float32).tobytes()
    accessor = document["accessors"][document["skins"][0]["inverseBindMatrices"]]
    accessor |= {"bufferView": len(document["bufferViews"]) - 1, "byteOffset": 0, "count": len(old) + 1}
    document["buffers"][0]["byteLength"] = len(binary)
    found = reread(tmp_path, document, bytes(binary)).clips["motion"]
    assert found.character.skeleton.names[0] == "floor root"
    assert np.abs(by_name(found, clip) - clip.positions()).max() < 1e-5
    assert any("was moved with it" in note for note in found.source.notes)


def test_rate_is_guessed_and_told_where_the_file_says_none(made, tmp_path):
    clip, document, binary = made
    document = {k: v for k, v in document.items() if k != "extras"}
    found = reread(tmp_path, document, binary).clips["motion"]
    assert found.fps == 30.0 and len(found) == len(clip)
    assert any("Frame rate assumed: 30" in note for note in found.source.notes)


@pytest.mark.parametrize("embedded", [True, False])
def test_gltf_with_its_buffer_inside_or_beside(made, tmp_path, embedded):
    clip, document, binary = made
    document = copy.deepcopy(document)
    if embedded:
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(binary).decode()
    else:
        document["buffers"][0]["uri"] = "the%20data.bin"
        (tmp_path / "the data.bin").write_bytes(binary)
    (tmp_path / "ann.gltf").write_text(json.dumps(document))
    assert np.abs(read_glb(tmp_path / "ann.gltf").clips["motion"].positions() - clip.positions()).max() < 1e-5


def test_sparse_accessors_are_patched(made, tmp_path):
    _, document, binary = made
    document, binary = copy.deepcopy(document), bytearray(binary)
    accessor = document["accessors"][document["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]
    where, what = np.array([0, 2], np.uint16), np.array([[7, 8, 9], [1, 2, 3]], np.float32)
    for data in (where, what):
        document["bufferViews"].append({"buffer": 0, "byteOffset": len(binary), "byteLength": data.nbytes})
        binary += data.tobytes()
    views = len(document["bufferViews"])
    accessor["sparse"] = {
        "count": 2,
        "indices": {"bufferView": views - 2, "componentType": 5123},
        "values": {"bufferView": views - 1},
    }
    document["buffers"][0]["byteLength"] = len(binary)
    before = reread(tmp_path, made[1], made[2]).characters["ann"].skin.vertices
    after = reread(tmp_path, document, bytes(binary)).characters["ann"].skin.vertices
    assert list(np.flatnonzero(np.any(before != after, axis=1))) == [0, 2]
    assert np.allclose(after[2] - after[0], [1 - 7, -(3 - 9), 2 - 8], atol=1e-5)


def test_cubic_and_stepped_tracks():
    rng = np.random.default_rng(3)
    times, values = np.array([0.0, 0.5, 2.0, 2.2]), rng.normal(size=(4, 3, 3))
    at = np.linspace(0.0, 2.2, 50)
    spline = CubicHermiteSpline(times, values[:, 1], values[:, 2])
    values[:, 0] = values[:, 2]  # the same slope on both sides, as scipy's spline has
    assert np.allclose(KeyTrack(times, values, "CUBICSPLINE", False)(at), spline(at), atol=1e-12)
    turns = KeyTrack(times, rng.normal(size=(4, 3, 4)), "CUBICSPLINE", True)(at)
    assert np.allclose(np.linalg.norm(turns, axis=1), 1.0)
    stepped = KeyTrack(times, values[:, 1], "STEP", False)(np.array([-1.0, 0.49, 0.5, 1.9, 2.2, 9.0]))
    assert np.array_equal(stepped, values[[0, 0, 1, 1, 3, 3], 1])
    q = rot.exp(np.array([[0.0, 0, 0], [0, 0, 2.0]]))
    half = KeyTrack(np.array([1.0, 3.0]), q, "LINEAR", True)(np.array([1.5]))
    assert np.allclose(half, rot.exp([[0, 0, 0.5]]))


def test_two_people_in_one_file_stay_apart(tmp_path):
    world = small_worlds.world()
    write_glb(tmp_path / "two.glb", world)
    found = read_glb(tmp_path / "two.glb")
    assert list(found.characters) == ["ann", "bob"] and list(found.clips) == ["ann.motion", "bob.motion"]
    for name in ("ann", "bob"):
        assert np.abs(found.clips[f"{name}.motion"].positions() - world.characters[name].positions()).max() < 1e-5
