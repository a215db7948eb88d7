"""The page in a real browser: all is done with mouse and keys; assertions are on the state of the studio behind it.

A browser that draws in software wants the processor for itself: these tests run where ELBOWROOM_BROWSER is set, after
all others and alone, as `.ci/run` does. A test that fails leaves a picture of the page and the log in the folder
ELBOWROOM_EVIDENCE, by default `elbowroom-evidence` among temporary files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copy

import numpy as np
import pytest
from seat import PATIENCE, Seat, seated, unharmed

from elbowroom.studio import edits
from elbowroom.studio.page import opened
from elbowroom.studio.places import target_name
from elbowroom.world.certificate import certify
from elbowroom.world.world import World

pytestmark = pytest.mark.skipif(
    not os.environ.get("ELBOWROOM_BROWSER"),
    reason="a real browser wants the machine for itself: set ELBOWROOM_BROWSER=1",
)

# Texts of buttons and labels that their boxes cut off.
_CUT_OFF = """() => [...document.querySelectorAll("button, label, p")]
  .filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1).map(e => e.innerText).filter(t => t.trim())"""
COUNTER, CRATE = (Path(__file__).with_name(name) for name in ("counter.yaml", "crate.yaml"))


@pytest.fixture(scope="module")
def seat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    folder: Path = tmp_path_factory.mktemp("studio")
    (folder / "work").mkdir()
    copy(COUNTER, folder / "work")
    copy(CRATE, folder / "work")
    with seated("umbrella", folder) as found:
        yield found


@pytest.fixture(autouse=True)
def nothing_goes_wrong(seat: Seat, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    with unharmed(seat, request, capfd):
        yield


def test_it_opens_with_a_certified_motion_and_is_scrubbed(seat: Seat) -> None:
    seat.proven(5 * PATIENCE)  # kernels are compiled where that has not been done yet
    seat.reads("Drag the post by its arrows")  # a hint for somebody who is here for the first time
    player = seat.studio.player
    begin, end = player.span
    slider = seat.window.get_by_role("slider").first
    slider.focus()
    slider.press("End")
    seat.until(lambda: player.time == pytest.approx(end, abs=0.01), "the end is shown")
    track = seat.window.locator(".mantine-Slider-track").first.bounding_box()
    seat.window.mouse.click(track["x"] + 0.5 * track["width"], track["y"] + 0.5 * track["height"])
    seat.until(
        lambda: player.time == pytest.approx(0.5 * (begin + end), abs=0.1 * (end - begin)), "the middle is shown"
    )
    seat.press("Start")
    seat.until(lambda: player.time == begin, "the start is shown")
    seat.press("Speed 1×")
    seat.until(lambda: player.speed == 0.5, "it is slower")
    seat.press("Play")
    seat.until(lambda: player.playing and player.time > 0.2, "it plays")
    seat.press("Pause")
    seat.until(lambda: not player.playing, "it stops")
    seat.press("Loop on")
    seat.until(lambda: not player.loop, "it would play once")


def test_a_post_is_clicked_dragged_and_the_repair_arrives(seat: Seat) -> None:
    studio = seat.studio
    seat.rest()
    seat.press("Minimize panel")  # the post's foot is behind the timeline
    seat.window.get_by_role("button", name="Expand panel", exact=True).wait_for()
    seat.press("post")  # its row: what is selected is let go
    seat.until(lambda: studio.selected is None, "nothing is selected")
    post = studio.places["post"].T[:3, 3]
    seat.click_scene(post + [0.0, 0.0, 2.0], lambda: studio.selected == "post")
    before, motion = studio.document, studio.world.motion("ann")
    seat.drag(post + [0.0, 0.47, 0.0], np.array([0.0, 0.2, 0.0]))
    seat.until(lambda: studio.live and not studio.certified, "the motion follows, not yet proven")
    seat.reads("Not yet certified")
    seat.window.get_by_text("Drag the post").wait_for(state="hidden")  # it is outdated
    seat.window.mouse.up()
    seat.until(lambda: studio.document is not before and studio.drags.current is None, "it is let go")
    seat.proven()
    moved = studio.places["post"].T[:3, 3] - post
    assert moved[1] == pytest.approx(0.2, abs=0.12) and abs(moved[0]) < 0.01 and abs(moved[2]) < 0.01
    assert studio.world.motion("ann") is not motion and certify(studio.world).free
    assert studio.session.unsaved


def test_unsaved_work_is_there_after_a_reload(seat: Seat) -> None:
    assert seat.studio.session.unsaved
    document, selected = seat.studio.document, seat.studio.selected
    seat.load(again=True)
    seat.reads("umbrella •")
    seat.reads("Certified collision-free")
    assert seat.studio.document is document and seat.studio.selected == selected == "post"


def test_it_is_undone_and_done_again(seat: Seat) -> None:
    studio, changed = seat.studio, seat.studio.document
    seat.press("Undo move post")
    seat.until(lambda: not studio.session.unsaved, "it is undone")
    seat.proven()
    assert studio.places["post"].T[1, 3] == pytest.approx(-2.4)
    seat.press("Redo move post")
    seat.until(lambda: studio.document.same(changed), "it is done again")
    seat.press("Undo move post")
    seat.until(lambda: not studio.session.unsaved, "it is undone again")
    seat.proven()


def test_an_error_is_told_in_one_sentence_where_the_user_looks(seat: Seat) -> None:
    seat.tab("Files")
    seat.fill("Name", "../out.yaml", lambda: seat.page.panel.files.name == "../out.yaml")
    seat.press("Save")
    seat.reads("may not write")
    box = seat.window.get_by_text("may not write").first.bounding_box()
    assert 0 <= box["y"] <= seat.window.viewport_size["height"] - box["height"]  # however far the panel is scrolled
    tone, text = seat.studio.said
    assert tone == "bad" and text.endswith(".") and "\n" not in text
    assert not (seat.studio.folders.work.parent / "out.yaml").exists()


def test_it_is_exported_saved_and_opened_again(seat: Seat) -> None:
    studio, work = seat.studio, seat.studio.folders.work
    seat.press("Export")
    seat.until(lambda: (work / "umbrella.glb").exists() and studio.job is None, "the export is there")
    seat.reads("Exported umbrella.glb")
    seat.fill("Name", "mine.yaml", lambda: seat.page.panel.files.name == "mine.yaml")
    seat.press("Save")
    seat.until(lambda: (work / "mine.yaml").exists() and studio.document.name == "mine", "the storyboard is there")
    seat.choose("Open", "gallery: stroll")
    seat.press("Open")
    seat.until(lambda: studio.document.name == "stroll", "another is opened")
    seat.choose("Open", "mine.yaml")
    seat.press("Open")
    seat.until(lambda: studio.document.name == "mine" and "post" in studio.places, "it is opened again")
    assert not studio.session.unsaved and studio.places["post"].T[1, 3] == pytest.approx(-2.4)
    seat.proven()


def test_what_was_exported_is_imported_again(seat: Seat) -> None:
    studio, files = seat.studio, seat.page.panel.files
    seat.unfold("Import", "As")
    seat.choose("As", "clip")
    seat.choose("For", "ann")
    seat.fill("Path", "umbrella.glb", lambda: files.path == "umbrella.glb")
    seat.press("Import")
    seat.until(lambda: studio.document.values["characters"]["ann"]["clip"] == "umbrella.glb", "she moves as exported")
    seat.proven()
    seat.press("Undo import umbrella.glb")
    seat.until(lambda: not studio.session.unsaved, "it is undone")
    seat.proven()


def test_everything_can_be_shown_besides(seat: Seat) -> None:
    seat.rest()
    seat.tab("View")
    page = seat.page
    switches: dict[str, Callable[[], bool]] = {
        "Hand paths": lambda: page.extras.paths,
        "Search trees": lambda: page.extras.trees,
        "Minimum clearance": lambda: page.extras.clearance,
        "Dark": lambda: page.dark,
        "Collision geometry": lambda: page.scene.shapes,  # last, and gone first: with it every frame takes long to draw
    }
    for label, on in switches.items():
        seat.tick(label, True, on)
    seat.until(lambda: {"/extras/nearest", "/extras/path0"} <= set(page.extras.shown), "lines are drawn")
    seat.reads("No search was needed")  # the umbrella's way is leaned
    for label, on in reversed({"Ghost": lambda: page.scene.ghost, **switches}.items()):
        seat.tick(label, False, on)
    seat.until(lambda: not page.extras.shown, "lines are gone")
    seat.window.get_by_text("No search was needed").wait_for(state="hidden")  # it is outdated


def test_the_ghost_shows_where_the_motion_differs_and_nowhere_else(seat: Seat) -> None:
    """A second body in the place of the first would flicker: before the edit nothing of it is drawn."""
    seat.rest()
    studio = seat.studio
    assert studio.plan is not None
    seat.tab("View")
    studio.select(None)
    for time, differs in ((studio.player.span[0], False), (1.85, True)):
        studio.player.seek(time)
        pictures = []
        for on in (True, False):
            seat.tick("Ghost", on, lambda: seat.page.scene.ghost)
            pictures.append(seat.settled())
        changed = (np.abs(pictures[0] - pictures[1]) > 4.0)[:180, :300]  # beside the panel, above the timeline
        assert (changed.sum() > 30) if differs else not changed.any()
    seat.tick("Ghost", True, lambda: seat.page.scene.ghost)


def test_none_of_several_changes_at_once_is_lost(seat: Seat) -> None:
    """As while the page draws, and a click takes longer to be sent than the next one to come."""
    seat.rest()
    seat.tab("View")
    extras = seat.page.extras
    labels = ["Hand paths", "Search trees", "Minimum clearance"]
    for on in (True, False):
        boxes = [seat.field(label).element_handle() for label in labels]
        seat.window.evaluate("boxes => boxes.forEach(box => box.click())", boxes)
        seat.until(lambda on=on: {extras.paths, extras.trees, extras.clearance} == {on}, f"all are {on}")


def test_an_edit_is_weakened_muted_and_its_joint_curves_are_drawn(seat: Seat) -> None:
    studio = seat.studio
    seat.rest()
    assert studio.plan is not None and studio.plan.edits
    seat.tab("Tasks")
    row = seat.window.get_by_role("button", name=re.compile(r"^1\s+ann, ")).locator("visible=true")
    if not row.count():
        seat.window.get_by_text("Edits", exact=True).locator("visible=true").last.click()
    row.click()
    seat.reads("dashed: before the edit, solid: with it")
    limb = studio.plan.edits[0].limb.replace("_", " ")
    assert limb in row.inner_text()  # the whole name
    assert not seat.window.evaluate(_CUT_OFF)
    seat.tick("Mute", True, lambda: studio.plan is not None and studio.plan.edits[0].muted)
    seat.rest()
    seat.reads("(muted)")
    seat.tick("Mute", False, lambda: studio.plan is not None and studio.plan.edits[0].muted)
    seat.proven()
    seat.fill("Strength", "0.9", lambda: studio.plan is not None and studio.plan.edits[0].strength == 0.9)
    seat.rest()
    seat.reads("(90 %)")
    seat.fill("Strength", "1", lambda: studio.plan is not None and studio.plan.edits[0].strength == 1.0)
    seat.proven()


def test_two_motions_are_shown_side_by_side(seat: Seat) -> None:
    seat.rest()
    compare, studio = seat.page.panel.view.compare, seat.studio
    seat.tab("View")
    seat.unfold("Side by side", "Compare with")
    seat.press("Keep this motion")
    seat.reads("Kept as '1: seed 0'")
    seat.choose("Compare with", "1: seed 0")
    seat.until(lambda: compare.beside.world is studio.world, "the motion that was kept is shown")
    assert np.linalg.norm(compare.shift) > 1.0  # beside it, not on top of it
    seat.choose("Compare with", "before planning")
    seat.until(lambda: compare.beside.world is studio.original, "the clip before planning is shown")
    seat.fill("Distance (m)", "2.5", lambda: bool(np.isclose(np.linalg.norm(compare.shift), 2.5)))
    seat.choose("Compare with", "nothing")
    seat.until(lambda: compare.beside.world is None, "it is gone")


def test_a_pose_is_pinned_between_in_and_out_points(seat: Seat) -> None:
    studio = seat.studio
    seat.tab("Tasks")
    seat.choose("Action", "repair")
    studio.player.seek(0.5)
    seat.choose("Limb", "left_arm")
    seat.press("Pin")
    field = seat.field("Keep")
    seat.until(lambda: field.input_value() == "left_arm 0.50-0.50", "the arm is pinned at the time shown")
    seat.fill("Keep", "left_leg", lambda: True)  # locked throughout
    aside = seat.field("Aside (m)")
    aside.fill("0.2")  # how far a repair may go
    seat.press("Add")
    seat.until(lambda: edits.tasks_of(studio.document)[-1][1].get("aside") == 0.2, "it is a task")
    verb, told = edits.tasks_of(studio.document)[-1]
    assert verb == "repair" and told == {"who": "ann", "aside": 0.2, "keep": ["left_leg"]}
    seat.proven()
    seat.undo()
    seat.until(lambda: not studio.session.unsaved, "it is undone")
    seat.proven()
    seat.choose("Action", "touch")


def test_frames_are_typed_and_in_and_out_points_are_set_by_keys(seat: Seat) -> None:
    seat.rest()
    player, fps = seat.studio.player, seat.studio.board.fps
    field = seat.window.get_by_label("Frame", exact=True)
    field.fill("30")
    field.press("Enter")
    seat.until(lambda: player.time == pytest.approx(30 / fps), "frame 30 is shown")
    field.blur()
    seat.window.keyboard.press("l")
    seat.until(lambda: player.time == pytest.approx(31 / fps), "the next frame is shown")
    seat.window.keyboard.press("j")
    seat.until(lambda: player.time == pytest.approx(30 / fps), "the frame before is shown")
    seat.window.keyboard.press("l")
    seat.until(lambda: player.time == pytest.approx(31 / fps), "the next frame is shown again")
    seat.window.keyboard.press("i")
    seat.until(lambda: player.points[0] == pytest.approx(31 / fps), "playing begins here")
    seat.press("End")
    seat.press("Out")
    seat.until(lambda: player.points[1] is not None, "and ends there")
    seat.press("Start")
    seat.until(lambda: player.time == pytest.approx(31 / fps), "the start is that of the range")
    seat.window.keyboard.press("i")
    seat.press("End")
    seat.window.keyboard.press("o")
    seat.until(lambda: player.points == (None, None), "all is played")


def _height(world: World, name: str) -> float:
    """Height of an object, metres; 0 without it."""
    return float(np.ptp(world.objects[name].mesh.bounds[:, 2])) if name in world.objects else 0.0


def test_a_file_is_dropped_onto_the_page_and_its_units_are_changed_with_a_click(seat: Seat) -> None:
    """A tetrahedron of 240 units is 2.4 m of a scene; in millimetres it is as large as a bottle."""
    seat.rest()
    seat.tab("Scene")  # the form that takes it is in another tab
    studio, unsaved = seat.studio, seat.studio.document
    seat.drop("bottle.obj", b"v 0 0 0\nv 120 0 0\nv 0 120 0\nv 0 0 240\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    seat.until(lambda: "bottle" in studio.original.static, "the file is imported")
    seat.reads("Imported bottle.obj as scene")
    seat.tab("Files")
    seat.unfold("Import", "As")
    seat.choose("As", "object")
    seat.until(lambda: "bottle" in studio.original.objects and "bottle" not in studio.original.static, "an object")
    seat.choose("Units", "millimetres")
    seat.until(lambda: _height(studio.original, "bottle") == pytest.approx(0.24), "it is as small as a bottle")
    while studio.session.can_undo.startswith("import"):
        studio.undo()
    assert studio.document.same(unsaved)
    seat.proven()


def test_a_long_export_is_cancelled(seat: Seat) -> None:
    seat.rest()
    seat.tab("Files")
    seat.tick("MP4", True, lambda: "MP4" in seat.page.panel.files.formats)
    seat.press("Export")
    seat.press("Cancel")
    seat.until(lambda: seat.studio.said == ("plain", "Cancelled."), "it is cancelled")
    seat.reads("Cancelled.")
    seat.rest()
    assert not [p for p in seat.studio.folders.work.iterdir() if p.suffix == ".mp4" or "mine.glb" in p.name]


def test_the_goal_of_a_move_is_dragged_and_the_body_follows(seat: Seat) -> None:
    studio = seat.studio
    seat.rest()
    seat.tab("Files")
    seat.choose("Open", "crate.yaml")
    seat.press("Open")
    seat.until(lambda: studio.document.name == "crate", "it is opened")
    seat.proven(5 * PATIENCE)
    (begin, end), before = studio.world.holds[0].during, studio.world
    studio.select(target_name(0))
    goal = studio.places[target_name(0)].T[:3, 3]
    seat.drag(goal + [0.0, 0.0, 0.47], np.array([0.0, 0.0, 0.15]))
    seat.until(lambda: studio.live and studio.drags.followed is not None, "the body follows, not yet proven")
    raised = studio.world.frame("crate", end) - before.frame("crate", end)
    hands = [studio.world.hand("ann", h, end) - before.hand("ann", h, end) for h in ("left", "right")]
    assert raised[2, 3] > 0.05 and all(hand[2, 3] == pytest.approx(raised[2, 3], abs=0.005) for hand in hands)
    assert np.abs(studio.world.frame("crate", begin) - before.frame("crate", begin)).max() < 0.005
    seat.window.mouse.up()
    seat.until(lambda: studio.drags.current is None and studio.places[target_name(0)].T[2, 3] > goal[2], "it is let go")
    seat.rest()
    assert studio.plan is not None and studio.plan.status in ("found", "not-certified")
    seat.tab("Files")
    seat.press("Save")
    seat.until(lambda: not studio.session.unsaved, "it is saved")


def test_a_jar_is_grabbed(seat: Seat) -> None:
    studio = seat.studio
    seat.choose("Open", "counter.yaml")
    seat.press("Open")
    seat.until(lambda: studio.document.name == "counter", "it is opened")
    first = studio.document
    seat.tab("Tasks")
    seat.choose("Action", "grab")
    seat.choose("Object", "jar")
    seat.press("Add")
    seat.until(lambda: edits.tasks_of(studio.document) == [("grab", {"who": "ann", "object": "jar"})], "it is a task")
    seat.proven(5 * PATIENCE)  # hands have kernels of their own
    assert studio.plan is not None and [(h.by, h.object) for h in studio.plan.world.holds] == [("ann", "jar")]
    seat.press("Undo add task grab")
    seat.until(lambda: studio.document.same(first), "it is undone")
    seat.press("Redo add task grab")
    seat.until(lambda: not studio.document.same(first), "it is done again")
    seat.proven()


def test_unsaved_work_is_offered_after_a_crash(seat: Seat) -> None:
    lost = seat.studio.document
    assert seat.studio.session.unsaved
    work, port = seat.studio.folders.work, seat.page.server.get_port()
    seat.page.close()  # nothing is saved by that
    page = opened("umbrella", port=port, folder=work, state=work.parent / "state", shadows=False)
    if page.server.get_port() == port:  # what was open in the browser comes back by itself, though viser's page breaks
        seat.until(lambda: page.server.get_clients(), "the browser comes back")
        seat.reads("Unsaved changes to counter")
        seat.errors.clear()
    seat.sit_down(page)
    assert seat.studio.document.name == "umbrella"
    seat.reads("Unsaved changes to counter")
    seat.press("Restore")
    seat.until(lambda: seat.studio.document.same(lost) and not seat.studio.kept, "it is there again")
    seat.reads("counter •")
    seat.proven()
