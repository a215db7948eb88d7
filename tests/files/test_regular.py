"""Only regular files are read, whatever names them: a device, a pipe or a folder is one sentence, at once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from elbowroom.errors import BadFile
from elbowroom.files.asf_amc import read_amc
from elbowroom.files.glb_read import read_glb
from elbowroom.files.meshes import read_meshes
from elbowroom.files.open import open_file
from elbowroom.files.urdf import read_urdf
from elbowroom.storyboard.storyboard import parse_storyboard, read_storyboard

SUFFIXES = ("bvh", "amc", "asf", "c3d", "glb", "gltf", "npz", "obj", "stl", "ply")


def odd(folder: Path, name: str, kind: str) -> Path:
    """A file that is none: a link to an endless device, a pipe that nobody writes to, or a folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    return path


@pytest.mark.parametrize("kind", ["device", "pipe", "folder"])
def test_readers_refuse_what_is_no_regular_file(tmp_path: Path, kind: str) -> None:
    for suffix in SUFFIXES:
        with pytest.raises(BadFile, match=f"is a {kind}; give"):
            open_file(odd(tmp_path, f"a.{suffix}", kind))
    for read, suffix in ((read_storyboard, "yaml"), (read_urdf, "urdf"), (read_glb, "glb"), (read_meshes, "ply")):
        with pytest.raises(BadFile, match=f"is a {kind}; give"):
            read(odd(tmp_path, f"b.{suffix}", kind))


@pytest.mark.parametrize("kind", ["device", "pipe", "folder"])
def test_files_that_a_file_names_are_regular(tmp_path: Path, kind: str) -> None:
    odd(tmp_path, "other.bin", kind)
    said = f"is a {kind}; give" if kind != "device" else "in or below the folder"
    with pytest.raises(BadFile, match=said):
        read_glb(gltf(tmp_path, "other.bin"))
    obj = tmp_path / "a.obj"
    obj.write_text("mtllib other.bin\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    if kind == "device":  # the link leads out of the folder: materials are left out, as where there are none
        assert len(read_meshes(obj).meshes) == 1
    else:
        with pytest.raises(BadFile, match=f"is a {kind}; give"):
            read_meshes(obj)
    odd(tmp_path, "other.asf", kind)
    (tmp_path / "other_01.amc").write_text("1\nroot 0 0 0 0 0 0\n")
    with pytest.raises(BadFile, match=f"is a {kind}; give"):
        read_amc(tmp_path / "other_01.amc")
    odd(tmp_path, "mesh.stl", kind)
    shape = '<collision><geometry><mesh filename="mesh.stl"/></geometry></collision>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="base">{shape}</link></robot>')
    with pytest.raises(BadFile, match=f"is a {kind}; give"):
        read_urdf(tmp_path / "r.urdf")


@pytest.mark.parametrize("kind", ["device", "pipe", "folder"])
def test_files_that_a_storyboard_names_are_regular(tmp_path: Path, kind: str) -> None:
    for name, part in {
        "a.obj": "scene: {{meshes: [{{file: {}}}]}}",
        "b.ply": "objects: {{box: {{mesh: {}}}}}",
        "c.bvh": "characters: {{ann: {{clip: {}}}}}",
        "d.glb": "characters: {{ann: {{body: {}}}}}",
        "e.urdf": "characters: {{ann: {{body: {{robot: {{file: {}}}}}}}}}",
    }.items():
        odd(tmp_path, name, kind)
        with pytest.raises(BadFile, match=rf"line 2: .*{name}: is a {kind}; give"):
            parse_storyboard(f"elbowroom: 1\n{part.format(name)}\n", tmp_path / "x.yaml")


def gltf(folder: Path, uri: str, claimed: int = 36) -> Path:
    """A triangle whose corners lie in another file."""
    document = {
        "asset": {"version": "2.0"},
        "buffers": [{"uri": uri, "byteLength": claimed}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}],
    }
    path = folder / "scene.gltf"
    path.write_text(json.dumps(document))
    return path


def test_buffers_of_a_gltf_lie_in_its_folder(tmp_path: Path) -> None:
    """A buffer's name may lead into the folder, below it and nowhere else, be it by '..', by a link or by '%2e'."""
    inside = tmp_path / "scene"
    (inside / "data").mkdir(parents=True)
    for place in (tmp_path / "secret.bin", inside / "data" / "a.bin"):
        place.write_bytes(bytes(36))
    (inside / "link.bin").symlink_to(tmp_path / "secret.bin")
    (inside / "near.bin").symlink_to(inside / "data" / "a.bin")
    (inside / "loop.bin").symlink_to(inside / "loop.bin")
    for uri in ("data/a.bin", "data/../data/a.bin", "near.bin", "data%2Fa.bin"):
        assert len(read_glb(gltf(inside, uri)).meshes) == 1
    for uri in ("../secret.bin", "link.bin", "%2e%2e/secret.bin", "../../../../../../dev/zero", "..", ".", "loop.bin"):
        with pytest.raises(BadFile, match=r"in or below the folder of the .gltf"):
            read_glb(gltf(inside, uri))
    with pytest.raises(BadFile, match=r"claims 1000 bytes; the file 'data/a.bin' holds 36"):
        read_glb(gltf(inside, "data/a.bin", 1000))


def test_large_files_are_refused_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    with path.open("wb") as file:
        file.truncate(2**31)  # a hole: two gigabytes that take no room
    with pytest.raises(BadFile, match=r"has 2,048 MB; at most 256 MB are read"):
        open_file(path)
