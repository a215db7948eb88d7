"""Materials and textures of scenes are kept in what is written and drawn."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from test_html import recording

from elbowroom.character.human import human
from elbowroom.files.glb_read import read_glb
from elbowroom.files.glb_write import write_glb
from elbowroom.files.html import write_html
from elbowroom.files.meshes import read_meshes
from elbowroom.geometry.mesh import Mesh, cut_open, split_at_creases
from elbowroom.geometry.paint import Material, Paint
from elbowroom.locomotion.standing import idle
from elbowroom.pictures.images import still
from elbowroom.world.world import World

RED, GREEN = (255, 0, 0), (0, 255, 0)


def picture() -> bytes:
    """A texture that is red on the left and green on the right."""
    pixels = np.zeros((8, 16, 3), np.uint8)
    pixels[:, :8], pixels[:, 8:] = RED, GREEN
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def board() -> Mesh:
    """An upright board that faces -Y, textured, with a blue strip of another material on top."""
    x, z = np.array([0.0, 2.0, 2.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0])
    low = np.stack([x, np.zeros(4), z], axis=1)
    vertices = np.concatenate([low, low * [1.0, 1.0, 0.2] + [0.0, 0.0, 1.0]])
    uv = np.concatenate([np.stack([0.5 * x, 1.0 - z], axis=1), np.zeros((4, 2))])
    materials = (Material("poster", texture=picture()), Material("strip", (0.0, 0.0, 1.0)))
    paint = Paint(materials, np.repeat([0, 1], 4), uv)
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    return Mesh(vertices, np.concatenate([faces, faces + 4]), (0.5, 0.5, 0.5), paint.colors, paint)


def corners(mesh: Mesh) -> set[tuple]:
    """What is seen at each corner: place, material, place in the texture."""
    assert mesh.paint is not None
    used = np.unique(mesh.faces)
    names = [mesh.paint.materials[k].name for k in mesh.paint.of_vertex[used]]
    rows = np.round(np.concatenate([mesh.vertices, mesh.paint.uv], axis=1)[used], 5) + 0.0
    return {(*row.tolist(), name) for row, name in zip(rows, names, strict=True)}


def test_glb_keeps_materials_textures_and_names(tmp_path: Path) -> None:
    world = World().with_static("wall", board()).with_object("sign", board(), lambda t: np.eye(4))
    write_glb(tmp_path / "a.glb", world)
    found = read_glb(tmp_path / "a.glb").meshes
    for mesh in (found["wall"], found["sign"]):
        assert corners(mesh) == corners(board())
        assert mesh.paint is not None
        assert {m.name: (m.texture, m.color) for m in mesh.paint.materials} == {
            "poster": (picture(), (1.0, 1.0, 1.0)),
            "strip": (b"", (0.0, 0.0, 1.0)),
        }


def test_static_meshes_have_their_pivot_at_the_bottom_centre(tmp_path: Path) -> None:
    write_glb(tmp_path / "a.glb", World().with_static("wall", board()))
    import pygltflib

    document = pygltflib.GLTF2().load(tmp_path / "a.glb")
    (node,) = [n for n in document.nodes if n.name == "wall"]
    assert np.allclose(node.translation, [1.0, 0.0, 0.0])
    assert {m.name for m in document.materials} == {"poster", "strip"}


def test_textures_survive_cuts_and_creases() -> None:
    cut = cut_open(board(), np.array([1.0, 0.0, 0.0]), 1.5)
    for mesh in (cut, split_at_creases(cut)[0]):
        assert mesh.paint is not None
        low = mesh.paint.of_vertex == 0
        assert np.allclose(mesh.paint.uv[low, 0], 0.5 * mesh.vertices[low, 0])
        assert mesh.vertices[np.unique(mesh.faces), 0].max() == pytest.approx(1.5)


def test_pictures_show_textures() -> None:
    from elbowroom.pictures.direction import Camera

    seen = still(World(floor=None).with_static("wall", board()), 0.0, size=(160, 120), camera=Camera(azimuth=0.0))
    left, right = seen[60, 50].astype(int), seen[60, 110].astype(int)
    assert left[0] > left[1] + 60 and right[1] > right[0] + 60


def test_pages_get_textured_meshes_as_glb(tmp_path: Path) -> None:
    write_html(tmp_path / "a.html", World(floor=None).with_static("wall", board()))
    document, _ = recording(tmp_path / "a.html")
    (message,) = [m for _, m in document["messages"] if m["type"] == "GlbMessage"]
    assert message["name"] == "/static/wall/0"


def test_obj_has_one_mesh_per_object_with_all_of_its_materials(tmp_path: Path) -> None:
    (tmp_path / "wall.png").write_bytes(picture())
    (tmp_path / "a.mtl").write_text("newmtl poster\nKd 0.5 0.5 0.5\nmap_Kd wall.png\nnewmtl strip\nKd 0 0 1\n")
    mesh = board()
    assert mesh.paint is not None
    lines = ["mtllib a.mtl", "o wall", *(f"v {x} {y} {z}" for x, y, z in mesh.vertices)]
    lines += [f"vt {u} {1.0 - v}" for u, v in mesh.paint.uv]
    for name, faces in (("poster", mesh.faces[:2]), ("strip", mesh.faces[2:])):
        lines += [f"usemtl {name}", *("f " + " ".join(f"{k + 1}/{k + 1}" for k in face) for face in faces)]
    (tmp_path / "a.obj").write_text("\n".join(lines) + "\n")
    (found,) = read_meshes(tmp_path / "a.obj", units=1.0, up="Z").meshes.items()
    assert found[0] == "wall"
    assert corners(found[1]) == {(*c[:3], *((0.0, 0.0) if c[5] == "strip" else c[3:5]), c[5]) for c in corners(mesh)}


@pytest.mark.parametrize("address", ["../wall.png", "/wall.png", "http://x/wall.png"])
def test_textures_outside_of_the_folder_are_not_read(tmp_path: Path, address: str) -> None:
    (tmp_path / "wall.png").write_bytes(picture())
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "a.mtl").write_text(f"newmtl m\nKd 0 0 1\nmap_Kd {address}\n")
    (inner / "a.obj").write_text("mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl m\nf 1/1 2/1 3/1\n")
    (mesh,) = read_meshes(inner / "a.obj", units=1.0, up="Z").meshes.values()
    assert mesh.paint is not None and not mesh.paint.materials[0].texture


def test_damaged_textures_are_left_out_with_a_note(tmp_path: Path) -> None:
    wall = board()
    assert wall.paint is not None
    bad = Paint(
        (Material("poster", texture=b"\x89PNG, not"), wall.paint.materials[1]), wall.paint.of_vertex, wall.paint.uv
    )
    write_glb(tmp_path / "a.glb", World().with_static("wall", Mesh(wall.vertices, wall.faces, paint=bad)))
    found = read_glb(tmp_path / "a.glb")
    assert any("Textures that are missing, damaged" in note for note in found.notes)


def test_clothes_of_the_built_in_person_are_materials(tmp_path: Path) -> None:
    import pygltflib

    write_glb(tmp_path / "a.glb", World().with_character("ann", idle(human(1.7, name="ann"), seconds=0.1)))
    document = pygltflib.GLTF2().load(tmp_path / "a.glb")
    assert {"skin", "top", "trousers", "shoes", "hair", "iris", "white"} == {m.name for m in document.materials}
    assert len(document.meshes[0].primitives) == 7
