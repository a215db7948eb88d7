"""Files, new objects and the view on a page in a real browser, as in `test_studio_page`: all with mouse and keys."""

from __future__ import annotations

import io
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import copy

import numpy as np
import pytest
import trimesh
from PIL import Image
from seat import PATIENCE, Seat, seated, unharmed

from elbowroom.character.visual import visible
from elbowroom.geometry.rotations import Array
from elbowroom.studio.worker import StudioJob
from elbowroom.world.extent import action

pytestmark = pytest.mark.skipif(
    not os.environ.get("ELBOWROOM_BROWSER"),
    reason="a real browser wants the machine for itself: set ELBOWROOM_BROWSER=1",
)

TABLE = Path(__file__).with_name("table.yaml")
SIZE = (900, 600)
# Pixels at the lower edge of the window that the timeline covers.
TIMELINE = 220


@pytest.fixture(scope="module")
def seat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    folder: Path = tmp_path_factory.mktemp("studio")
    (folder / "work").mkdir()
    copy(TABLE, folder / "work")
    with seated(str(folder / "work" / TABLE.name), folder, size=SIZE, shadows=True) as found:
        yield found


@pytest.fixture(autouse=True)
def nothing_goes_wrong(seat: Seat, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    with unharmed(seat, request, capfd):
        yield


def _lowest(seat: Seat, name: str) -> float:
    """Height of the lowest point of an obstacle; NaN without it."""
    mesh = seat.studio.original.static.get(name)
    return float("nan") if mesh is None else float(mesh.bounds[0, 2])


def _box(seat: Seat, name: str) -> Array:
    """Box (2, 3) of an object where it is."""
    thing = seat.studio.original.objects[name]
    return thing.mesh.moved(thing.path(0.0)).bounds


def _framed(seat: Seat) -> bool:
    """Return whether the whole action is seen above the timeline, as large as the window allows."""
    (client,) = seat.page.server.get_clients().values()
    size = np.array([client.camera.image_width, client.camera.image_height - TIMELINE])
    try:
        places = np.array([seat.point(p) for p in action(seat.studio.world, [0.0, 1.0])])
    except AssertionError:  # some of it is behind the camera
        return False
    return bool(places.min() >= 0.0 and np.all(places <= size) and np.ptp(places[:, 1]) > 0.35 * size[1])


def test_the_camera_frames_the_action_in_any_window_and_again_at_a_key(seat: Seat) -> None:
    seat.proven(5 * PATIENCE)
    seat.until(lambda: _framed(seat), "the action is framed in a narrow window")
    seat.window.mouse.move(150, 60)
    seat.window.mouse.wheel(0, -2000)
    seat.until(lambda: not _framed(seat), "the camera is so near that it sees a part of it")
    seat.window.mouse.click(30, 30)  # keys are for the scene, not for a field
    seat.window.keyboard.press("f")
    seat.until(lambda: _framed(seat), "the action is framed again")


def test_shadows_are_cast_and_black_objects_are_seen_in_the_dark(seat: Seat) -> None:
    seat.rest()
    seat.tab("View")
    coal = np.array([-1.0, -0.6, 0.15])
    shaded = seat.settled()
    lamp = seat.page.server.scene.get_handle_by_name("/light/lamp")
    lamp.cast_shadow = False
    seat.until(lambda: not np.array_equal(seat.picture(), shaded), "shadows are gone")
    darker = (seat.settled() - shaded)[:-TIMELINE] > 8.0
    assert 50 < darker.sum() < 0.2 * darker.size  # below the table and beside the feet, nowhere else
    lamp.cast_shadow = True
    assert _floor(seat) > 200.0
    seat.tick("Dark", True, lambda: seat.page.dark)
    seat.until(lambda: _floor(seat) < 140.0, "the floor is dark")
    seat.settled()
    assert abs(_floor(seat) - _around(seat, coal).mean()) > 12.0
    seat.tick("Dark", False, lambda: seat.page.dark)


def _floor(seat: Seat) -> float:
    """Luminance of the floor, in the left of the window behind everything."""
    return float(seat.picture()[120:200, 20:80].mean())


def _around(seat: Seat, place: Array) -> Array:
    """Luminance (9, 9) of the page around a point of the scene (3,)."""
    x, y = (int(v) for v in seat.point(place))
    return seat.picture()[y - 4 : y + 5, x - 4 : x + 5]


def test_a_long_job_tells_its_stage_and_the_time_left_and_nothing_jumps(seat: Seat) -> None:
    seat.rest()
    go_on, end = threading.Event(), threading.Event()
    tabs = seat.window.get_by_role("tab", name="Scene", exact=True)
    before = tabs.bounding_box()

    def work(job: StudioJob) -> None:
        job.tell(0.0, "exact distances")
        go_on.wait(PATIENCE)
        job.tell(0.1)
        end.wait(PATIENCE)

    job = seat.studio.run(StudioJob("proving", work))
    seat.reads("Proving: exact distances, 0 %")
    time.sleep(2.2)  # an estimate is made after two seconds
    go_on.set()
    seat.window.get_by_text("s left").first.wait_for()
    assert re.fullmatch("proving: exact distances, 10 %, about [0-9]+ s left", job.progress_line)
    seat.window.get_by_role("button", name="Cancel").wait_for()
    assert tabs.bounding_box() == before  # the panel keeps still
    end.set()
    seat.window.get_by_text("exact distances").wait_for(state="hidden")
    assert job.finished.wait(PATIENCE) and tabs.bounding_box() == before


def test_new_objects_stand_on_the_selected_table_beside_each_other(seat: Seat) -> None:
    studio, first = seat.studio, seat.studio.document
    seat.tab("Scene")
    top = float(studio.original.static["table"].bounds[1, 2])
    seat.unfold("Add", "Kind")
    seat.choose("Kind", "object")
    seat.choose("Model", "mug")
    for name in ("mug", "mug_2"):
        seat.press("table")
        seat.until(lambda: studio.selected == "table", "the table is selected")
        seat.press("Add")
        seat.until(lambda name=name: studio.selected == name, "it is added and selected")
        assert _box(seat, name)[0, 2] == pytest.approx(top, abs=1e-3)
        assert np.allclose(studio.places[name].T[:3, :3], np.eye(3))
    one, two = _box(seat, "mug"), _box(seat, "mug_2")
    assert np.any(one[0, :2] > two[1, :2]) or np.any(two[0, :2] > one[1, :2])
    steps = (studio.places["mug_2"].T - studio.places["mug"].T)[:2, 3] / 0.05
    assert np.allclose(steps, np.round(steps), atol=1e-3)  # it snaps
    seat.press("table")
    seat.until(lambda: studio.selected == "table", "the table is selected")
    hanging = b"v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 -.2\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n"
    seat.drop("wedge.obj", hanging)
    seat.until(lambda: "wedge" in studio.original.objects, "the file is imported")
    assert _box(seat, "wedge")[0, 2] == pytest.approx(top, abs=1e-3)
    while studio.session.can_undo:
        studio.undo()
    assert studio.document.same(first)


def test_a_dropped_object_keeps_its_texture(seat: Seat) -> None:
    """A box with a picture, red on the left and green on the right."""
    seat.rest()
    studio, first = seat.studio, seat.studio.document
    crate = trimesh.creation.box([0.3, 0.3, 0.3])
    uv = crate.vertices[:, [0, 2]] / 0.3 + 0.5
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:, :4, 0] = pixels[:, 4:, 1] = 255
    crate.visual = trimesh.visual.TextureVisuals(uv, image=Image.fromarray(pixels))
    assert not any(_colored(seat, channel) > 200 for channel in (0, 1))
    seat.drop("crate.glb", bytes(crate.export(file_type="glb")))
    seat.until(lambda: "crate" in studio.original.objects, "the file is imported")
    studio.select(None)
    seat.until(lambda: all(_colored(seat, channel) > 200 for channel in (0, 1)), "both halves of the picture are seen")
    while studio.session.can_undo:
        studio.undo()
    assert studio.document.same(first)


def _colored(seat: Seat, channel: int) -> int:
    """Number of pixels of the scene that are red (0) or green (1)."""
    with Image.open(io.BytesIO(seat.window.screenshot())) as picture:
        pixels = np.asarray(picture.convert("RGB"), dtype=int)[:-TIMELINE]
    others = np.delete(pixels, channel, axis=-1).max(axis=-1)
    return int((pixels[..., channel] > 2 * others + 40).sum())


def test_floor_up_axis_and_units_of_a_scene_are_detected_shown_and_changed_with_a_click(seat: Seat) -> None:
    """A floor at 0.19 m with a wall and a cellar of 0.5 m under a corner of it, drawn with z up."""
    seat.rest()
    studio, first = seat.studio, seat.studio.document
    corners = [(x, y) for x in (-3.0, 3.0) for y in (-3.0, 3.0)]
    lines = [f"v {x} {y} 0.19" for x, y in corners] + [f"v {x} 3.0 2.69" for x in (-3.0, 3.0)]
    lines += ["v 2.9 2.9 -0.31", "v 3.0 2.9 -0.31", "v 2.9 3.0 -0.31"]
    text = "\n".join([*lines, "f 1 3 4", "f 1 4 2", "f 2 4 6", "f 2 6 5", "f 7 8 9", ""])
    seat.drop("room.obj", text.encode())
    seat.until(lambda: "room" in studio.original.static, "it is imported")
    seat.reads("Imported room.obj as scene, 6.00 x 6.00 x 3.00 m.")
    seat.reads("Units assumed: metres")
    seat.reads("Up axis assumed: Z")
    seat.reads("Its floor, at 0.190 m, was aligned")
    assert _lowest(seat, "room") == pytest.approx(-0.5, abs=1e-3)
    seat.tab("Files")
    seat.unfold("Import", "Floor")
    seat.choose("Floor", "its lowest point")
    seat.until(lambda: _lowest(seat, "room") == pytest.approx(0.0, abs=1e-3), "all of it is above the floor")
    seat.choose("Floor", "at 0 of the file")
    seat.until(lambda: _lowest(seat, "room") == pytest.approx(-0.31, abs=1e-3), "it is where the file has it")
    seat.choose("Up axis", "Y up")
    seat.until(lambda: _lowest(seat, "room") == pytest.approx(-3.0, abs=1e-3), "its y axis is up")
    seat.choose("Up axis", "from the file")
    seat.choose("Units", "feet")
    seat.until(lambda: _lowest(seat, "room") == pytest.approx(-0.31 * 0.3048, abs=1e-3), "it is smaller")
    seat.reads("Feet, as chosen")
    assert studio.session.can_undo == "import room.obj"
    seat.undo()
    seat.until(lambda: studio.document.same(first), "one step undoes it, however often it was changed")
    for field, value in (("Floor", "detected"), ("Units", "from the file"), ("As", "detected")):
        seat.choose(field, value)


def test_recorded_markers_are_dropped_and_a_body_moves_as_they_did(seat: Seat, data: Path) -> None:
    seat.rest()
    studio = seat.studio
    recording = data / "mocap" / "accad_c3d" / "Female1_run.c3d"
    seat.drop(recording.name, recording.read_bytes())
    seat.until(lambda: "Female1_run" in studio.original.characters, "somebody runs", 2 * PATIENCE)
    seat.reads("Imported Female1_run.c3d as clip")
    motion = studio.original.characters["Female1_run"]
    hips = np.asarray(motion.sample(motion.span)[0])
    assert np.linalg.norm(np.ptp(hips[:, :2], axis=0)) > 1.5 and 0.7 < hips[:, 2].min() < hips[:, 2].max() < 1.2
    assert len(visible(studio.original.body("Female1_run")).faces) > 5000  # a skin, no capsules
    seat.rest()
    seat.undo()
    seat.until(lambda: "Female1_run" not in studio.original.characters, "it is undone")
