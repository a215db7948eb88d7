"""Scenes and things from OBJ, STL, PLY and glTF."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
import trimesh

from conftest import real_files
from elbowroom.errors import BadFile, BadValue
from elbowroom.files.meshes import read_meshes

SCENES = real_files(*(f"scenes/**/*.{s}" for s in ("glb", "obj", "stl")))

# triangles, parts, size x, y, z with Z up in metres; the cars in their files' units
KNOWN = {
    "bookstore.glb": (118009, 137, (15.70, 14.61, 3.72)),
    "polaris_ranger.stl": (7714, 1, (1.49, 2.73, 1.95)),
    "polaris_ranger.glb": (7714, 1, (1.49, 2.73, 1.95)),
    "small_house.glb": (145840, 85, (19.00, 11.40, 3.00)),
    "warehouse.glb": (13559, 25, (14.00, 20.92, 10.11)),
    "willowgarage_office.glb": (6671, 1, (58.63, 45.67, 2.84)),
    "chaira.glb": (2416, 1, (0.44, 0.47, 0.91)),
}


def size(meshes) -> np.ndarray:
    bounds = np.array([m.bounds for m in meshes.values()])
    return bounds[:, 1].max(axis=0) - bounds[:, 0].min(axis=0)


@pytest.mark.parametrize("path", SCENES, ids=lambda p: p.name)
def test_real_scenes_load(path):
    found = read_meshes(path)
    assert found.meshes and all(len(m.faces) and np.all(np.isfinite(m.vertices)) for m in found.meshes.values())
    if path.suffix == ".glb":
        assert not any("assumed" in note for note in found.notes)  # glTF says its units and axes
    else:
        assert [n.split(" assumed")[0] for n in found.notes[:2]] == ["Units", "Up axis"]
        assert all("not closed" in note for note in found.notes[2:])
    if path.name in KNOWN:
        triangles, parts, extent = KNOWN[path.name]
        assert sum(len(m.faces) for m in found.meshes.values()) == triangles and len(found.meshes) == parts
        assert np.allclose(size(found.meshes), extent, atol=0.01)


def test_cars_with_told_units(data):
    car = read_meshes(data / "scenes" / "hatchback.obj", units=0.0254)
    assert np.allclose(size(car.meshes), (2.14, 4.00, 1.57), atol=0.01)
    assert {"Hatchback", "Wheels_Rear"} <= set(car.meshes)
    assert [n.split(" assumed")[0] for n in car.notes[:-1]] == ["Up axis"]
    assert car.notes[-1] == "'Hatchback' is not closed: the surface is an obstacle, the inside is not."
    suv = read_meshes(data / "scenes" / "suv.obj", units=0.06, up="Z")
    assert np.allclose(size(suv.meshes), (2.60, 5.02, 2.16), atol=0.01)
    assert suv.notes == ("'SUV' is not closed: the surface is an obstacle, the inside is not.",)
    # the material's grey 0.5882, kept as linear light
    assert np.allclose(suv.meshes["SUV"].color, ((0.5882 + 0.055) / 1.055) ** 2.4, atol=0.01)


def test_material_colours_of_gltf_are_kept(data):
    drawer = read_meshes(data / "scenes" / "parts" / "quaternius_drawer.glb").meshes["Drawer_4"]
    assert np.allclose(drawer.color, (0.092, 0.071, 0.045), atol=1e-3)


@pytest.mark.parametrize("suffix", [".obj", ".stl", ".ply"])
def test_formats_agree(tmp_path, suffix):
    """A box of trimesh's own, written by it, comes back the same from every format."""
    box = trimesh.creation.box((1.0, 2.0, 3.0)).apply_translation([5.0, 0.0, 1.5])
    box.export(tmp_path / f"thing{suffix}")
    found = read_meshes(tmp_path / f"thing{suffix}", units=0.5, up="Z")
    (mesh,) = found.meshes.values()
    assert len(mesh.faces) == 12 and np.allclose(mesh.bounds, 0.5 * box.bounds)
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    assert volume == pytest.approx(6.0 / 8)  # outward faces stay outward
    assert list(found.meshes) == ["thing"]


def test_up_axis_is_guessed_from_what_it_stands_on(tmp_path):
    box = trimesh.creation.box((1.0, 2.0, 0.5)).apply_translation([0.0, 1.0, 0.0])
    box.export(tmp_path / "a.obj")
    found = read_meshes(tmp_path / "a.obj")
    (mesh,) = found.meshes.values()
    assert np.allclose(mesh.bounds, [[-0.5, -0.25, 0.0], [0.5, 0.25, 2.0]])
    assert any("Up axis assumed: Y" in n for n in found.notes)
    with pytest.raises(BadValue):
        read_meshes(tmp_path / "a.obj", up="X")


def test_units_are_guessed_from_the_size(tmp_path):
    for extent, unit in ((2.0, "metres"), (180.0, "centimetres"), (9000.0, "millimetres")):
        trimesh.creation.box((extent, 0.1 * extent, 0.1 * extent)).export(tmp_path / "a.stl")
        assert f"Units assumed: {unit}" in read_meshes(tmp_path / "a.stl").notes[0]


def test_vertex_colours_of_ply_are_kept(tmp_path):
    box = trimesh.creation.box()
    box.visual.vertex_colors = [255, 0, 0, 255]
    box.export(tmp_path / "a.ply")
    (mesh,) = read_meshes(tmp_path / "a.ply").meshes.values()
    assert np.allclose(mesh.color, (1.0, 0.0, 0.0), atol=1e-3)


HEADER = "ply\nformat {} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
FACES = "element face {}\nproperty list uchar int vertex_indices\nend_header\n"

BAD = {
    "a.obj": (b"v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n", "not numbers"),
    "b.obj": (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 30\n", "damaged"),
    "c.obj": (b"hello\n", "not an OBJ"),
    "d.obj": (b"", "empty"),
    "e.obj": (b"v 0 0 0\nv 1 0 0\nf 1 2\n", ""),
    "a.stl": (b"\0" * 80 + (20_000_000).to_bytes(4, "little") + b"\0" * 50, "claims 20000000 triangles"),
    "b.stl": (b"\0" * 30, "ends after"),
    "c.stl": (b"\0" * 80 + (0).to_bytes(4, "little"), "no triangles"),
    "a.ply": ((HEADER.format("ascii", 10**9) + FACES.format(1)).encode() + b"0 0 0\n", "element vertex 1000000000"),
    "b.ply": ((HEADER.format("binary_little_endian", 3) + FACES.format(10**9)).encode() + b"\0" * 40, "element face"),
    "d.ply": ((HEADER.format("ascii", 1) + FACES.format(1).replace("list", "lost")).encode() + b"0 0 0\n3 0 0 0\n", ""),
    "c.ply": (b"ply\nformat ascii 1.0\nelement", "header"),
    "a.xyz": (b"1 2 3", ".stl or .ply"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_give_one_sentence(tmp_path, name):
    data, sentence = BAD[name]
    (tmp_path / name).write_bytes(data)
    start = time.process_time()
    with pytest.raises(BadFile) as caught:
        read_meshes(tmp_path / name)
    assert time.process_time() - start < 1.0
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_damage_prints_nothing(tmp_path):
    """In a process of its own: nothing but our sentence reaches the user."""
    text = trimesh.creation.box().export(file_type="stl_ascii").replace("normal ", "normal x", 1)
    (tmp_path / "a.stl").write_text(text)
    code = "import sys; from elbowroom.files.meshes import *\ntry: read_meshes(sys.argv[1])\nexcept BadFile: pass"
    run = subprocess.run([sys.executable, "-c", code, tmp_path / "a.stl"], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_what_is_no_file(tmp_path):
    (tmp_path / "folder.obj").mkdir()
    for name in ("folder.obj", "none.ply", "none.glb"):
        with pytest.raises(BadFile, match=r"is a folder|does not exist"):
            read_meshes(tmp_path / name)


@pytest.mark.parametrize(
    ("corners", "sentence"),
    [
        ("v 0 0 0\nv 0 0 0\nv 0 0 0\n", "only triangles without area"),
        ("v 0 0 0\nv 1 0 0\nv 2 0 0\n", "only triangles without area"),
        ("v 0 0 0\nv 1e-7 0 0\nv 0 1e-7 0\n", "give the units"),
    ],
)
def test_surfaces_without_size_are_refused(tmp_path, corners, sentence):
    path = tmp_path / "nothing.obj"
    path.write_text(f"{corners}f 1 2 3\n")
    with pytest.raises(BadFile, match=sentence):
        read_meshes(path)
