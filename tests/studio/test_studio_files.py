"""Files that come into the studio and go out of it: imports, saves, exports, and what is there already."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studio_makers import studio_of, umbrella

from elbowroom.character.human import preset
from elbowroom.cli import options
from elbowroom.errors import BadValue
from elbowroom.files.open import ImportHints, open_file
from elbowroom.files.save import save
from elbowroom.locomotion.standing import idle
from elbowroom.studio import edits, exporting, filing, importing
from elbowroom.studio.document import ImportChoice, new_document, read_document
from elbowroom.studio.exporting import export
from elbowroom.studio.folders import Folders
from elbowroom.studio.studio import Studio
from elbowroom.studio.worker import StudioJob
from elbowroom.world.world import World

TETRA = b"v 0 0 0\nv 120 0 0\nv 0 120 0\nv 0 0 240\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
WALK = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Spine
  {
    OFFSET 0 0.5 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 0.3 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.0333333
0 1 0 0 0 0 0 0 0
0 1 0.01 0 0 0 0 0 0
0 1 0.02 0 0 0 0 0 0
"""


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    with studio_of(new_document(tmp_path / "work"), tmp_path) as made:
        yield made


@pytest.fixture
def unplanned(tmp_path: Path) -> Iterator[Studio]:
    """The umbrella, which was not planned: the motion that is shown is not proven."""
    with studio_of(umbrella(), tmp_path) as made:
        yield made


def done(job: StudioJob) -> StudioJob:
    assert job.finished.wait(30.0)
    return job


def uploaded(studio: Studio, kind: str, name: str, content: bytes, units: float | None = None) -> StudioJob:
    return done(importing.upload(studio, name, content, ImportChoice(kind, None, units)))


def test_a_mesh_is_uploaded_and_its_size_is_told(studio: Studio) -> None:
    assert uploaded(studio, "object", "bottle.obj", TETRA).state == "done"
    tone, text = studio.said
    assert tone == "good"
    assert text.startswith("Imported bottle.obj as object, 1.20 x 1.20 x 2.40 m. Units assumed: centimetres.")
    assert np.ptp(studio.original.objects["bottle"].mesh.vertices, axis=0) == pytest.approx([1.2, 1.2, 2.4])
    assert uploaded(studio, "object", "bottle.obj", TETRA, units=0.001).state == "done"
    assert np.ptp(studio.original.objects["bottle_2"].mesh.vertices, axis=0) == pytest.approx([0.12, 0.12, 0.24])
    assert [p.name for p in studio.folders.uploads()] == ["bottle.obj"]  # the same file is not stored twice
    assert uploaded(studio, "object", "x" * 200 + ".obj", TETRA).state == "done"


@pytest.mark.parametrize(
    ("kind", "name", "content", "why"),
    [
        (
            "clip",
            "walk.bvh",
            WALK.replace("0 1 0.01", "0 nan 0.01").encode(),
            "walk.bvh, line 20: 'nan' is not a usable",
        ),
        ("clip", "walk.bvh", WALK[:300].encode(), "walk.bvh"),
        ("clip", "walk.glb", b"glTF", "walk.glb"),
        ("clip", "walk.npz", b"PK", "walk.npz"),
        ("clip", "walk.amc", b":FULLY-SPECIFIED\n", "walk.amc: no skeleton (.asf) is in its folder; import"),
        ("scene", "hall.obj", b"hello", "hall.obj: is not an OBJ"),
        ("scene", "hall.stl", b"hello", "hall.stl: ends after"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_sentence_and_does_not_stay(
    studio: Studio, kind: str, name: str, content: bytes, why: str
) -> None:
    assert uploaded(studio, kind, name, content).state == "failed"
    tone, text = studio.said
    assert tone == "bad" and text.startswith(f"Not imported: {why}") and "\n" not in text
    assert not studio.folders.uploads() and not studio.session.unsaved


def test_names_that_lead_nowhere_are_refused(studio: Studio) -> None:
    for name in (
        "~nobody-here/a.obj",
        "x" * 5000 + ".obj",
        "a\x00.obj",
        "a\n.obj",
        "../a.obj",
        "file:///etc/a.obj",
        " ",
        "a.obj",
    ):
        assert not studio.trying(lambda name=name: importing.bring_in(studio, name, ImportChoice("scene")))
        assert studio.said[0] == "bad" and "\n" not in studio.said[1]
    (studio.folders.work / "uploads").symlink_to("/")
    assert uploaded(studio, "scene", "a.obj", TETRA).state == "failed" and "may not write" in studio.said[1]


def test_the_first_clip_decides_on_the_rate(studio: Studio, data: Path) -> None:
    clip = (data / "mocap" / "cmu_bvh" / "02_01.bvh").read_bytes()
    assert uploaded(studio, "clip", "02_01.bvh", clip).state == "done"
    assert "02_01.bvh as clip, 2.86 s." in studio.said[1] and "Units assumed" in studio.said[1]
    assert done(importing.upload(studio, "still.bvh", WALK.encode(), ImportChoice("clip", "02_01"))).state == "done"
    assert "still.bvh as clip, 0.07 s." in studio.said[1]
    studio.undo()
    studio.cancel()
    assert done(export(studio, ["BVH"], "out")).state == "done"
    work = studio.folders.work
    again, given = open_file(work / "out.bvh").clip(), open_file(work / "uploads" / "02_01.bvh").clip()
    assert (again.fps, len(again.root)) == (pytest.approx(given.fps), len(given.root))


def test_what_was_assumed_of_a_clip_is_told_once(studio: Studio, data: Path) -> None:
    studio.edit("add eve", edits.add_character(studio.document, "eve", {"body": {"human": {"skin": False}}}))
    clip = (data / "mocap" / "cmu_bvh" / "02_01.bvh").read_bytes()
    assert done(importing.upload(studio, "02_01.bvh", clip, ImportChoice("clip", "eve"))).state == "done"
    assert studio.said[1].count("Units assumed") == 1 and studio.said[1].count("Up axis") == 1


def test_an_import_goes_over_what_was_edited_meanwhile(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    before = importing._added

    def late(*given: Any) -> Any:
        after = before(*given)
        monkeypatch.setattr(importing, "_added", before)
        studio.edit("seed", studio.document.with_(seed=5))
        return after

    monkeypatch.setattr(importing, "_added", late)
    importing.upload(studio, "a.obj", TETRA, ImportChoice("scene"))
    end = time.monotonic() + 20.0
    while "a" not in studio.original.static:
        assert time.monotonic() < end, studio.said
        time.sleep(0.01)
    assert studio.document.seed == 5


def test_what_others_have_changed_is_not_saved_over_unasked(studio: Studio) -> None:
    work = studio.folders.work
    filing.save(studio, "a.yaml")
    filing.save(studio, "a.yaml")  # nobody has touched it
    (work / "a.yaml").write_text("elbowroom: 1\nabout: of somebody else\n")
    (work / "b.yaml").write_text("elbowroom: 1\nabout: another\n")
    for name in ("a.yaml", "b.yaml", "a.yaml"):  # asked for each, and again after another name
        with pytest.raises(BadValue, match=f"{name} (already exists|was changed).*: press Save again to overwrite it"):
            filing.save(studio, name)
    assert "somebody else" in (work / "a.yaml").read_text()
    filing.save(studio, "a.yaml")
    assert "somebody else" not in (work / "a.yaml").read_text()


def test_comments_stay_or_are_kept_beside(studio: Studio) -> None:
    path = studio.folders.work / "a.yaml"
    path.write_text("# mine\nelbowroom: 1\nabout: | # long\n  many\n  words\n")
    done(filing.open_choice(studio, "a.yaml"))
    values = {**studio.document.values, "fps": 25}
    studio.edit("fps", studio.document.with_values(values))
    filing.save(studio, "a.yaml")
    assert path.read_text().startswith("# mine\n") or (path.with_name("a.yaml.bak")).read_text().startswith("# mine\n")
    assert read_document(path).values == values


def test_exports_say_what_is_not_certified_and_do_not_replace_unasked(unplanned: Studio) -> None:
    studio, work = unplanned, unplanned.folders.work
    assert done(export(studio, ["NPZ"], " out.npz ")).state == "done"  # a name with its suffix
    assert [p.name for p in work.iterdir()] == ["out.npz"]
    assert studio.said == ("bad", "Exported out.npz. The motion is not certified collision-free.")
    assert done(export(studio, ["NPZ"], "out")).state == "done"  # its own
    (work / "out.npz").write_bytes(b"of somebody else")
    with pytest.raises(BadValue, match=r"out\.npz .*: press Export again"):
        export(studio, ["NPZ"], "out")
    assert (work / "out.npz").read_bytes() == b"of somebody else"
    assert done(export(studio, ["NPZ"], "out")).state == "done" and open_file(work / "out.npz").clips


def test_a_full_disk_is_told_and_nothing_is_left(unplanned: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *rest: Any) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("elbowroom.files.npz.write_npz", full)
    job = done(export(unplanned, ["GLB", "NPZ"], "out"))
    assert job.state == "failed" and not list(unplanned.folders.work.iterdir())
    assert unplanned.said[1].endswith("out.npz: cannot be written (no space left on device).")


def test_edits_do_not_stop_an_export(unplanned: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    studio, begun, gate = unplanned, threading.Event(), threading.Event()

    def written(job: StudioJob, *rest: Any) -> None:
        begun.set()
        assert gate.wait(20.0)

    monkeypatch.setattr(exporting, "written", written)
    job = export(studio, ["NPZ"], "out")
    assert begun.wait(5.0) and studio.job is job
    studio.edit("seed", studio.document.with_(seed=3))
    assert job.state == "running"
    gate.set()
    assert done(job).state == "done"
    studio.cancel()


def test_folders_with_very_many_files_are_not_looked_through_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elbowroom.studio.folders._MOST_LOOKED_AT", 30)
    deep = tmp_path
    for k in range(20):
        (deep / f"{k}.yaml").touch()
        deep = deep / f"folder{k}"
        deep.mkdir()
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    found = Folders(tmp_path).files("storyboard")
    assert "0.yaml" in found and 10 <= len(found) < 20


def room(height: float) -> bytes:
    """A floor of 6 x 6 m at a height, metres, with a wall at its end, as OBJ with z up."""
    corners = [(x, y) for x in (-3.0, 3.0) for y in (-3.0, 3.0)]
    lines = [f"v {x} {y} {height}" for x, y in corners] + [f"v {x} 3.0 {height + 2.5}" for x in (-3.0, 3.0)]
    return "\n".join([*lines, "f 1 3 4", "f 1 4 2", "f 2 4 6", "f 2 6 5", ""]).encode()


@pytest.fixture(scope="module")
def hips_by_command(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Height of the hips above the floor of the room, at 0.19 m, as the command line puts a clip into it."""
    folder = tmp_path_factory.mktemp("command")
    (folder / "room.obj").write_bytes(room(0.19))
    save([folder / "ann.bvh"], World().with_character("ann", idle(preset("woman"), 1.0, 60.0)))
    around = options.Surroundings(folder / "room.obj", 1.0, "Z", "auto", None, 0.0)
    there = options.clip_in_scene(folder / "ann.bvh", ImportHints(), around, None, None)
    assert there.floor == pytest.approx(0.19, abs=1e-4)
    (joints,) = there.record([0.5]).joints.values()
    return float(joints[0, 0, 2, 3] - 0.19)


@pytest.mark.parametrize("floor", [0.0, 0.3, "auto"])
def test_the_floor_of_a_scene_comes_under_the_feet_as_by_the_command_line(
    floor: float | str, studio: Studio, hips_by_command: float
) -> None:
    people = {"ann": {"body": {"preset": "woman"}, "clip": {"idle": {"seconds": 1.0}}, "lift": "auto"}}
    values = {**studio.document.values, "characters": people, "scene": {"floor": floor}}
    studio.edit("begin", studio.document.with_values(values), replan=False)
    (studio.folders.work / "room.obj").write_bytes(room(0.19))
    (studio.folders.work / "stool.obj").write_bytes(TETRA)
    done(importing.bring_in(studio, "room.obj", ImportChoice("scene", None, 1.0)))
    height = 0.3 if floor == 0.3 else 0.0
    assert f"Its floor, at 0.190 m, was aligned with the floor of the storyboard, at {height:.3f} m." in studio.said[1]
    world = studio.original
    assert world.floor == pytest.approx(height, abs=1e-4)
    assert world.static["room"].vertices[:, 2].min() == pytest.approx(height, abs=1e-4)
    assert world.record([0.5]).joints["ann"][0, 0, 2, 3] - height == pytest.approx(hips_by_command, abs=0.01)
    done(importing.bring_in(studio, "stool.obj", ImportChoice("scene", None, 0.001)))
    assert "No floor found in the scene (it has no horizontal surface of 6 m² or more): assumed at 0." in studio.said[1]
    assert studio.original.floor == pytest.approx(height, abs=1e-4)


def test_what_a_file_is_is_detected_and_changed_in_place(studio: Studio) -> None:
    """A tetrahedron of 2.4 m is a scene, in millimetres an object; the change replaces the import."""
    assert uploaded(studio, "detected", "bottle.obj", TETRA).state == "done"
    assert studio.imported is not None and studio.imported.choice.kind == "scene" and "bottle" in studio.original.static
    changed = importing.again(studio, ImportChoice("detected", None, 0.001))
    assert changed is not None and done(changed).state == "done"
    assert list(studio.original.objects) == ["bottle"] and not studio.original.static
    assert importing.again(studio, studio.imported.choice) is None  # as it is
    turned = importing.again(studio, ImportChoice("object", None, 0.001, "Y"))
    assert turned is not None and done(turned).state == "done"
    assert np.ptp(studio.original.objects["bottle"].mesh.vertices, axis=0) == pytest.approx([0.12, 0.24, 0.12])
    assert uploaded(studio, "detected", "walk.bvh", WALK.encode()).state == "done"
    assert studio.imported.choice.kind == "clip" and list(studio.original.characters) == ["walk"]


def test_objects_land_upright_on_what_is_selected(studio: Studio) -> None:
    values = edits.add_static(studio.document, "table", {"maker": "table", "at": [2.0, 1.0, 0.0]})
    studio.edit("add table", values)
    studio.select("table")
    top = float(studio.original.static["table"].bounds[1, 2])
    hanging = TETRA.replace(b"v 0 0 240", b"v 0 0 -240")  # its lowest point is 24 cm below its origin
    assert done(importing.upload(studio, "bottle.obj", hanging, ImportChoice("object", None, 0.001))).state == "done"
    thing = studio.original.objects["bottle"]
    placed = thing.mesh.moved(thing.path(0.0))
    middle = studio.original.static["table"].bounds.mean(axis=0)
    assert placed.bounds[0, 2] == pytest.approx(top, abs=1e-3)
    assert np.allclose(thing.path(0.0)[:2, 3], middle[:2], atol=1e-3)
    studio.select("table")  # another one has room beside the first
    assert done(importing.upload(studio, "second.obj", hanging, ImportChoice("object", None, 0.001))).state == "done"
    second = studio.original.objects["second"]
    boxes = [m.mesh.moved(m.path(0.0)).bounds for m in (thing, second)]
    assert boxes[1][0, 2] == pytest.approx(top, abs=1e-3)
    assert np.any(boxes[0][0, :2] > boxes[1][1, :2]) or np.any(boxes[1][0, :2] > boxes[0][1, :2])
