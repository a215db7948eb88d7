"""Each way in which a glTF file can lie gives one sentence that names it, quickly."""

from __future__ import annotations

import copy
import time

import numpy as np
import pytest

from elbowroom.errors import BadFile
from elbowroom.files.glb_read import read_glb
from elbowroom.files.glb_write import write_glb
from elbowroom.world.world import World
from tools import small_worlds


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "ann.glb"
    write_glb(path, World(characters={"ann": small_worlds.moving(small_worlds.person())}))
    return path.read_bytes()


def first(d: dict, what: str) -> dict:
    """The accessor of an attribute of the first mesh."""
    return d["accessors"][d["meshes"][0]["primitives"][0]["attributes"][what]]


def cycle(d: dict) -> None:
    hand = next(n for n in d["nodes"] if n["name"] == "LeftHand")
    hand["children"] = [next(i for i, n in enumerate(d["nodes"]) if n["name"] == "LeftArm")]


def closed_cycle(d: dict) -> None:
    """Two nodes that hold each other, reached from nowhere."""
    count = len(d["nodes"])
    d["nodes"] += [{"name": "a", "children": [count + 1]}, {"name": "b", "children": [count]}]


def zeros(d: dict) -> None:
    """An accessor without data stands for zeros: cheap to claim, dear to make."""
    accessor = first(d, "POSITION")
    del accessor["bufferView"]
    accessor["count"] = 10**9


def chain(d: dict) -> None:
    count = len(d["nodes"])
    d["nodes"] += [{"children": [count + k + 1]} for k in range(5000)] + [{}]


LIES = {
    "buffer view outside": (lambda d: d["bufferViews"][0].update(byteOffset=10**9), "outside its buffer"),
    "accessor outside": (lambda d: first(d, "WEIGHTS_0").update(byteOffset=10**6), "buffer view has"),
    "a billion positions": (lambda d: first(d, "POSITION").update(count=10**9), "claims 1000000000 elements"),
    "a billion zeros": (zeros, "positions without data"),
    "buffer too long": (lambda d: d["buffers"][0].update(byteLength=2**30), "claims 1073741824 bytes"),
    "negative count": (lambda d: first(d, "POSITION").update(count=-3), "whole number"),
    "cycle of joints": (cycle, "shares its child"),
    "cycle of nodes": (closed_cycle, "its own ancestor"),
    "very deep": (chain, "levels deep"),
    "no such joint": (lambda d: d["skins"][0].update(joints=[9999]), "there are"),
    "no such accessor": (lambda d: d["meshes"][0]["primitives"][0].update(indices=77777), "points to accessor"),
    "too few binds": (lambda d: d["accessors"][d["skins"][0]["inverseBindMatrices"]].update(count=2), "inverse bind"),
    "wrong type": (lambda d: first(d, "POSITION").update(type="VEC2"), "expected VEC3"),
    "unknown component": (lambda d: first(d, "POSITION").update(componentType=5130), "component type"),
    "rotation of words": (lambda d: d["nodes"][1].update(rotation=["a", 0, 0, 1]), "4 finite numbers"),
    "no rotation": (lambda d: d["nodes"][1].update(rotation=[0, 0, 0, 0]), "zero length"),
    "infinite place": (lambda d: d["nodes"][1].update(translation=[1e300, 0, 0]), "too large"),
    "joints of a small skin": (
        lambda d: d["skins"][0].update(joints=d["skins"][0]["joints"][:3]),
        "bound to joint",
    ),
    "keys without times": (
        lambda d: d["accessors"][d["animations"][0]["samplers"][1]["output"]].update(count=2),
        "key times",
    ),
    "version 1": (lambda d: d["asset"].update(version="1.0"), "version '1.0'"),
    "compressed": (lambda d: d.update(extensionsRequired=["KHR_draco_mesh_compression"]), "without mesh compression"),
    "file elsewhere": (lambda d: d["buffers"][0].update(uri="https://example.org/a.bin"), "folder of the .gltf"),
    "file that is not there": (lambda d: d["buffers"][0].update(uri="gone.bin"), "not in its folder"),
    "broken base64": (lambda d: d["buffers"][0].update(uri="data:;base64,@@@"), "base64"),
    "nodes are a word": (lambda d: d.update(nodes="many"), "not a list"),
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_in_the_json(made, tmp_path, lie):
    document, binary = small_worlds.glb_parts(made)
    document = copy.deepcopy(document)
    bend, sentence = LIES[lie]
    bend(document)
    refused(tmp_path, small_worlds.glb_bytes(document, binary), sentence)


def refused(tmp_path, data: bytes, sentence: str) -> None:
    path = tmp_path / "lie.glb"
    path.write_bytes(data)
    start = time.process_time()
    with pytest.raises(BadFile) as caught:
        read_glb(path)
    assert time.process_time() - start < 1.0
    text = str(caught.value)
    assert sentence in text and str(path) in text
    assert "\n" not in text and text.endswith(".")


def test_numbers_that_are_none(made, tmp_path):
    document, binary = small_worlds.glb_parts(made)
    view = document["bufferViews"][first(document, "POSITION")["bufferView"]]
    at = view["byteOffset"]
    bad = binary[:at] + np.float32(np.nan).tobytes() + binary[at + 4 :]
    refused(tmp_path, small_worlds.glb_bytes(document, bad), "not finite")


@pytest.mark.parametrize(
    ("bend", "sentence"),
    [
        (lambda b: b[: len(b) // 2], "truncated"),
        (lambda b: b[:15], "ends after"),
        (lambda b: b[:8] + (2**30).to_bytes(4, "little") + b[12:], "claims 1073741824 bytes"),
        (lambda b: b[:12] + (2**30).to_bytes(4, "little") + b[16:], "complete JSON chunk"),
        (lambda b: b[:4] + (1).to_bytes(4, "little") + b[8:], "version 1"),
        (lambda b: b[:20] + b"\xff" * 40 + b[60:], "not UTF-8"),
        (lambda b: b[:20] + b"!" * 40 + b[60:], "JSON is invalid"),
        (lambda b: b"\x01\x02" * 5000, "is not glTF"),
        (lambda b: b"", "is not glTF"),
        (lambda b: b'{"a":' + b"[" * 200_000, "nested too deeply"),
        (lambda b: b'{"asset": {"version": NaN}}', "invalid number"),
        (lambda b: b'{"asset": {"version": "2.0"}, "nodes": [' + b"9" * 5000 + b"]}", "invalid number"),
    ],
)
def test_broken_containers(made, tmp_path, bend, sentence):
    refused(tmp_path, bend(made), sentence)


def test_what_is_no_file(tmp_path):
    for path in (tmp_path, tmp_path / "none.glb"):
        with pytest.raises(BadFile, match=r"is a folder|does not exist"):
            read_glb(path)


def test_a_file_with_no_skin_says_so(made, tmp_path):
    """Animations and joints without a skin are no character; meshes are still read."""
    document, binary = small_worlds.glb_parts(made)
    del document["skins"]
    for node in document["nodes"]:
        node.pop("skin", None)
    (tmp_path / "a.glb").write_bytes(small_worlds.glb_bytes(document, binary))
    found = read_glb(tmp_path / "a.glb")
    assert not found.characters and not found.clips and list(found.meshes) == ["ann skin"]
    assert any("no skin" in note for note in found.notes)
