"""The page in a real browser: assertions are on the state of the studio, which runs in this process.

A browser that draws in software wants the processor for itself: these tests run where ELBOWROOM_BROWSER is set, after
all others and alone, as `.ci/run` does.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import browser, on_screen

from elbowroom.studio import edits
from elbowroom.studio.page import Page
from elbowroom.studio.serve import opened

pytestmark = pytest.mark.skipif(
    not os.environ.get("ELBOWROOM_BROWSER"),
    reason="a real browser wants the machine for itself: set ELBOWROOM_BROWSER=1",
)


def until(true: Callable[[], Any], what: str, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"it did not happen: {what}"
        time.sleep(0.02)


class Seat:
    """Somebody at the browser: the studio's page, and the browser's."""

    def __init__(self, page: Page, window: Any) -> None:
        self.page, self.studio, self.window = page, page.studio, window
        self.errors: list[str] = []
        window.on("pageerror", lambda error: self.errors.append(str(error)))

    def load(self) -> None:
        before = set(self.page.server.get_clients())
        self.window.goto(self.page.url)
        until(lambda: set(self.page.server.get_clients()) - before, "the browser connects")
        self.window.get_by_role("tab", name="Scene").wait_for()
        # the notice that WebGL is done in software lies over the scene
        self.window.get_by_role("alert").get_by_role("button").click(timeout=5000)

    def tab(self, name: str) -> None:
        self.window.get_by_role("tab", name=name, exact=True).click()

    def press(self, name: str) -> None:
        self.window.get_by_role("button", name=name, exact=True).click()

    def drag(self, begin: tuple[float, float], end: tuple[float, float], begun: Callable[[], bool]) -> None:
        """Drag with the mouse; a browser that draws slowly may miss where a drag begins, and is given another go."""
        for patience in (1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 8.0):
            self.window.mouse.move(*begin)
            time.sleep(0.7 * patience)
            self.window.mouse.down()
            time.sleep(0.3 * patience)
            for s in np.linspace(0.0, 1.0, 6):
                self.window.mouse.move(*((1 - s) * np.array(begin) + s * np.array(end)))
                time.sleep(0.05 * patience)
            late = time.monotonic() + patience
            while not begun() and time.monotonic() < late:
                time.sleep(0.05)
            dragged = begun()
            self.window.mouse.up()
            if dragged:
                return
        raise AssertionError("nothing was dragged")

    def rest(self) -> None:
        until(lambda: not self.studio.worker.busy, "the studio comes to rest", 60.0)

    def field(self, label: str) -> Any:
        """The field beside a label."""
        beside = f"//label[normalize-space()='{label}']/ancestor::p/parent::div/parent::div//input"
        return self.window.locator(f"xpath={beside}").locator("visible=true")

    def fill(self, label: str, text: str) -> None:
        self.field(label).fill(text)
        self.field(label).press("Tab")

    def tick(self, label: str, on: bool) -> None:
        """Tick a box, or not; a page that is slow to answer is given time."""
        box = self.field(label)
        if box.is_checked() != on:
            box.click(force=True)
        until(lambda: box.is_checked() == on, f"{label} is {'on' if on else 'off'}")

    def choose(self, label: str, value: str) -> None:
        self.field(label).click()
        self.window.get_by_role("option", name=value, exact=True).click()


@pytest.fixture(scope="module")
def seat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    folder: Path = tmp_path_factory.mktemp("studio")
    (folder / "work").mkdir()
    with browser() as window:
        page = opened("umbrella", port=0, folder=folder / "work", state=folder / "state", shadows=False)
        try:
            page.timeline.panel.minimize()
            found = Seat(page, window)
            found.load()
            yield found
        finally:
            page.close()


@pytest.fixture(autouse=True)
def unharmed(seat: Seat) -> Iterator[None]:
    """Nothing goes wrong inside of the page, which would leave it empty."""
    yield
    assert not seat.errors and seat.window.get_by_role("tab", name="Scene").count() == 1


def test_it_opens_with_a_certified_motion_and_is_scrubbed(seat: Seat) -> None:
    until(lambda: seat.studio.certified and not seat.studio.worker.busy, f"it is proven: {seat.studio.said}", 60.0)
    seat.window.get_by_text("Certified free").wait_for()
    seat.page.timeline.panel.expand()
    field = seat.window.locator("input").last
    until(lambda: field.count() == 1, "the timeline is there")
    slider = seat.window.get_by_role("slider").first
    slider.focus()
    for _ in range(3):
        slider.press("End")
    until(lambda: seat.studio.player.time == pytest.approx(seat.studio.player.span[1], abs=0.01), "the end is shown")
    seat.press("Start")
    until(lambda: seat.studio.player.time == seat.studio.player.span[0], "the start is shown")
    seat.press("Play")
    until(lambda: seat.studio.player.time > 0.3, "it plays")
    seat.press("Pause")
    until(lambda: not seat.studio.player.playing, "it stops")


def test_a_post_is_clicked_dragged_and_the_repair_arrives(seat: Seat) -> None:
    seat.page.timeline.panel.minimize()
    seat.rest()
    studio = seat.studio
    (client,) = seat.page.server.get_clients().values()
    time.sleep(1.0)  # the camera tells where it is a moment after it has moved
    post = studio.places["post"].T[:3, 3]
    seat.window.mouse.click(*on_screen(client.camera, post + [0.0, 0.0, 2.0]))
    until(lambda: studio.selected == "post", "the post is selected")
    until(lambda: seat.page.gizmo.handle is not None, "its handle is there")
    time.sleep(1.0)
    before = studio.world
    begin = on_screen(client.camera, post + [0.0, 0.47, 0.0])  # the tip of the arrow along y
    end = on_screen(client.camera, post + [0.0, 0.67, 0.0])
    seat.drag(begin, end, lambda: studio.drags.current is not None)
    until(lambda: studio.session.unsaved and studio.drags.current is None, "it is let go")
    until(lambda: studio.certified and not studio.worker.busy, "it is proven")
    moved = studio.places["post"].T[:3, 3] - post
    assert moved[1] == pytest.approx(0.2, abs=0.12) and abs(moved[0]) < 0.01 and abs(moved[2]) < 0.01
    assert studio.world is not before


def test_unsaved_work_is_there_after_a_reload(seat: Seat) -> None:
    assert seat.studio.session.unsaved
    document = seat.studio.document
    seat.load()
    seat.window.get_by_text("umbrella •").wait_for()
    assert seat.studio.document is document


def test_it_is_undone(seat: Seat) -> None:
    seat.press("Undo")
    back = lambda: seat.studio.places["post"].T[1, 3] == pytest.approx(-2.4)  # noqa: E731
    until(lambda: back() and seat.studio.certified, "it is undone, and proven again")
    assert not seat.studio.session.unsaved


def test_an_error_is_told_in_one_sentence_where_the_user_looks(seat: Seat) -> None:
    seat.tab("Files")
    seat.fill("Name", "../out.yaml")
    until(lambda: seat.page.panel.files.name == "../out.yaml", "the name is typed")
    seat.press("Save")
    seat.window.get_by_text("may not write").wait_for()
    assert seat.studio.said[0] == "bad" and seat.studio.said[1].count(".") >= 1


def test_it_is_exported_saved_and_opened_again(seat: Seat) -> None:
    seat.press("Export")
    until(lambda: (seat.studio.folders.work / "umbrella.glb").exists(), "the export is there")
    seat.fill("Name", "mine.yaml")
    until(lambda: seat.page.panel.files.name == "mine.yaml", "the name is typed")
    seat.press("Save")
    until(lambda: (seat.studio.folders.work / "mine.yaml").exists(), "the storyboard is there")
    until(lambda: seat.studio.document.name == "mine", "it has its name")
    seat.choose("Open", "gallery: stroll")
    seat.press("Open")
    until(lambda: seat.studio.document.name == "stroll", "another is opened")
    seat.choose("Open", "mine.yaml")
    seat.press("Open")
    until(lambda: seat.studio.document.name == "mine" and "post" in seat.studio.places, "it is opened again")
    assert not seat.studio.session.unsaved and seat.studio.places["post"].T[1, 3] == pytest.approx(-2.4)


def test_everything_can_be_shown_besides(seat: Seat) -> None:
    until(lambda: seat.studio.certified and not seat.studio.worker.busy, "what was opened is proven", 60.0)
    seat.tab("View")
    page = seat.page
    switches: dict[str, Callable[[], bool]] = {
        "Hand paths": lambda: page.extras.paths,
        "Search trees": lambda: page.extras.trees,
        "Clearance": lambda: page.extras.clearance,
        "Shapes": lambda: page.scene.shapes,
        "Dark": lambda: page.dark,
    }
    for label, on in switches.items():
        seat.tick(label, True)
        until(on, f"{label} are shown")
    until(lambda: "/extras/nearest" in page.extras.shown, "lines are drawn")
    seat.window.get_by_text("No search was needed").wait_for()  # the umbrella's way is leaned
    for label, on in {**switches, "Ghost": lambda: page.scene.ghost}.items():
        seat.tick(label, False)
        until(lambda on=on: not on(), f"{label} are no longer shown")
    seat.tab("Files")


def test_a_long_export_is_cancelled(seat: Seat) -> None:
    seat.rest()
    seat.tick("MP4", True)
    until(lambda: "MP4" in seat.page.panel.files.formats, "MP4 is chosen")
    seat.press("Export")
    seat.press("Cancel")
    until(lambda: seat.studio.said == ("plain", "Cancelled."), "it is cancelled")
    seat.rest()
    assert not [p for p in seat.studio.folders.work.iterdir() if p.suffix == ".mp4"]


def test_a_task_is_added(seat: Seat) -> None:
    seat.studio.edit("jar", edits.add_object(seat.studio.document, "jar", {"maker": "jar"}, [0.35, -2.0, 1.0]))
    seat.studio.cancel()
    seat.tab("Tasks")
    seat.choose("Does", "grab")
    seat.choose("What", "jar")
    seat.press("Add")
    until(lambda: [v for v, _ in edits.tasks_of(seat.studio.document)] == ["repair", "grab"], "the task is there")
    assert edits.tasks_of(seat.studio.document)[1][1] == {"who": "ann", "object": "jar"}
    seat.studio.cancel()
    seat.rest()
