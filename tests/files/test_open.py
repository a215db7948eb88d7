"""Any file by its suffix: what it holds becomes a world, and the notes say how to tell otherwise."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from person_bvh import STANDING, person

from elbowroom.errors import BadFile
from elbowroom.files.bvh import read_bvh
from elbowroom.files.describe import describe
from elbowroom.files.glb_write import write_glb
from elbowroom.files.npz import write_npz
from elbowroom.files.open import open_file
from elbowroom.files.save import save
from elbowroom.geometry.solids import box
from elbowroom.storyboard.storyboard import read_storyboard
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World


def a_world() -> World:
    """A ball that rolls one metre beside a crate that stands."""
    times = np.linspace(0.0, 1.0, 31)
    path = Keyed.along(times, np.stack([times, 0 * times, 0.5 + 0 * times], axis=1))
    return World().with_static("crate", box([1, 1, 1])).with_object("ball", box([0.2, 0.2, 0.2]), path)


@pytest.mark.parametrize(("suffix", "write"), [(".glb", write_glb), (".npz", write_npz)])
def test_what_moves_in_a_file_moves_in_its_world(tmp_path: Path, suffix: str, write) -> None:
    path = tmp_path / f"things{suffix}"
    write(path, a_world(), 30)
    opened = open_file(path)
    assert set(opened.meshes) == {"crate"} and set(opened.objects) == {"ball"}
    facts = describe(opened)
    assert facts["meshes"]["count"] == 1
    assert facts["objects"]["ball"]["travelled_m"] == pytest.approx(1.0, abs=1e-3)
    assert facts["objects"]["ball"]["size_m"] == [0.2, 0.2, 0.2]
    world = opened.world()
    for t in (0.0, 0.5, 1.0):
        assert np.allclose(world.things["ball"].path(t)[:3, 3], [t, 0, 0.5], atol=1e-3)


def test_an_npz_file_keeps_its_floor(tmp_path: Path) -> None:
    write_npz(tmp_path / "low.npz", a_world().with_(floor=-0.25), 30)
    assert open_file(tmp_path / "low.npz").world().floor == -0.25


def test_names_that_are_taken_give_way(tmp_path: Path) -> None:
    (tmp_path / "floor.bvh").write_text(person([STANDING] * 2))
    world = open_file(tmp_path / "floor.bvh").world()
    assert list(world.characters) == ["floor.001"]
    save([tmp_path / "out.glb", tmp_path / "out.npz"], world)


def test_notes_name_options_that_exist_in_python_and_on_the_command_line(tmp_path: Path, data: Path) -> None:
    (tmp_path / "a.bvh").write_text(person([STANDING] * 2))
    notes = [*open_file(tmp_path / "a.bvh").notes]
    for name in ("cmu_bvh/143_11.bvh", "cmu_asf_amc/02/02_01.amc", "accad_c3d/Male1_crouch.c3d"):
        notes += open_file(data / "mocap" / name).notes
    notes += open_file(data / "scenes/hatchback.obj").notes
    options = {w for n in notes for w in re.findall(r"\(option(?: to restore them)?: ([a-z-]+)", n)}
    assert options == {"units", "up", "fps", "fix-rig"}
    assert not [n for n in notes if re.search(r"\bsay\b", n)]


def test_a_file_with_nothing_in_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "nothing.gltf"
    path.write_text('{"asset": {"version": "2.0"}}')
    with pytest.raises(BadFile, match="no rig and no triangles"):
        open_file(path)


def test_bones_without_length_are_told(tmp_path: Path) -> None:
    path = tmp_path / "zero.bvh"
    path.write_text(person([STANDING] * 2, turn=lambda v: tuple(0.0 * x for x in v)))
    clip = read_bvh(path)
    assert "The bones have zero length." in clip.character.notes
    assert clip.character.masses is None
    assert all(np.all(np.isfinite(s.T_joint_shape)) for s in clip.character.shapes)


def test_markers_are_a_clip_in_storyboards_too_and_solved_once(tmp_path: Path, data: Path) -> None:
    path = data / "mocap" / "accad_c3d" / "Female1_run.c3d"
    solved = open_file(path).clip()
    assert len(solved) == 203 and solved.character.skin is not None
    (tmp_path / "take.yaml").write_text(f"elbowroom: 1\nfps: 120\ncharacters: {{ann: {{clip: {path}}}}}\n")
    ann = read_storyboard(tmp_path / "take.yaml").world.characters["ann"]
    assert np.array_equal(ann.rotations, solved.rotations)
    assert open_file(path).clip().character is solved.character
