"""Somebody at the browser, for tests of the studio's page: looks, clicks, types and drags as a user does.

Nothing here waits for time to pass: every step waits for what it needs, on the page or in the studio, however slow the
machine is. What Playwright clicks has to hold still and to be what is hit, so that a page that makes room for a line of
text in the last moment does no harm.
"""

from __future__ import annotations

import faulthandler
import io
import logging
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import browser, on_screen
from PIL import Image

from elbowroom.geometry.rotations import Array
from elbowroom.studio.page import Page, opened

# Seconds that anything may take before it counts as not happening.
PATIENCE = 60.0
# An arrow of the handle turns yellow when the mouse is over it: so much more red and green than blue, of 255.
_YELLOW = 40
# Metres from the camera to an arrow that is dragged, and from the arrow down to the middle of the picture.
_NEAR_M = 3.0
_BELOW_M = 0.55
# viser's sorting of splats compiles text, which the page's policy forbids; the studio shows none.
_SPLATS = "Evaluating a string as JavaScript violates"


class Log(logging.Handler):
    """Keeps what is logged, as lines."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class Seat:
    """The studio's page, and the browser's. `errors` are those of the page, and of the server's threads."""

    def __init__(self, page: Page, window: Any) -> None:
        self.window, self.page, self.studio = window, page, page.studio
        self.errors: list[str] = []
        self.log = Log()
        logging.getLogger().addHandler(self.log)
        window.on("pageerror", lambda error: None if _SPLATS in str(error) else self.errors.append(str(error)))
        window.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        """Note what the browser says; what the page's own policy forbids it is an error."""
        self.log.lines.append(f"browser: {message.text}")
        if "Content Security Policy" in message.text and _SPLATS not in message.text:
            self.errors.append(message.text)

    def sit_down(self, page: Page) -> None:
        """Look at a studio."""
        self.page, self.studio = page, page.studio
        self.studio.listen(lambda topic: self.log.lines.append(f"{time.strftime('%T')} {topic}: {self._now()}"))
        self.load()

    def load(self, *, again: bool = False) -> None:
        """Load the page, or load it again, by the address without the token, which the browser knows then."""
        before = set(self.page.server.get_clients())
        address = self.page.url.partition("token=")[0] if again else f"{self.page.url}&"
        self.window.goto(f"{address}fixedDpr=1")  # else it changes with the time that drawing takes
        self.until(lambda: set(self.page.server.get_clients()) - before, "the browser connects")
        self.window.get_by_role("tab", name="Scene", exact=True).wait_for()
        self.until(lambda: len(self.page.server.get_clients()) == 1, "it is the only one")

    # --- waiting

    def until(self, true: Callable[[], Any], what: str, seconds: float = PATIENCE) -> None:
        """Wait until something is so; the studio is looked at between its steps, never amid one."""
        end = time.monotonic() + seconds
        while True:
            with self.studio.lock:
                if true():
                    return
            assert time.monotonic() < end, f"it did not happen: {what}; {self._now()}"
            time.sleep(0.02)

    def rest(self) -> None:
        """Wait until the studio has nothing left to do."""
        self.until(lambda: self.studio.job is None, "the studio comes to rest")

    def proven(self, seconds: float = PATIENCE) -> None:
        """Wait until what is shown is proven, and told so on the page."""
        self.until(lambda: self.studio.certified and self.studio.job is None, "it is proven", seconds)
        self.reads("Certified collision-free")

    def reads(self, text: str) -> None:
        """Wait until a text is to be read on the page."""
        self.window.get_by_text(text).first.wait_for()

    def _now(self) -> str:
        studio, job = self.studio, self.studio.job
        doing = "idle" if job is None else f"{job.what} ({job.state})"
        return f"{studio.document.name}, {doing}, said {studio.said}, certified {studio.certified}"

    # --- the panel

    def tab(self, name: str) -> None:
        self.window.get_by_role("tab", name=name, exact=True).click()

    def press(self, name: str | re.Pattern[str]) -> None:
        self.window.get_by_role("button", name=name, exact=True).locator("visible=true").click()

    def undo(self) -> None:
        self.press(re.compile("^Undo "))

    def redo(self) -> None:
        self.press(re.compile("^Redo "))

    def unfold(self, folder: str, inside: str) -> None:
        """Open a folder of the panel, unless a field of it is seen already."""
        if not self.field(inside).count():
            self.window.get_by_text(folder, exact=True).locator("visible=true").last.click()
            self.window.wait_for_timeout(500.0)  # it opens slowly: a click on what still moves is lost
        self.field(inside).wait_for()

    def field(self, label: str) -> Any:
        """The field beside a label."""
        beside = f"//label[normalize-space()='{label}']/ancestor::p/parent::div/parent::div//input"
        return self.window.locator(f"xpath={beside}").locator("visible=true")

    def fill(self, label: str, text: str, taken: Callable[[], bool]) -> None:
        """Type into a field, until the studio has taken it."""
        self.field(label).fill(text)
        self.field(label).press("Tab")
        self.until(taken, f"{label} is '{text}'")

    def tick(self, label: str, on: bool, taken: Callable[[], bool]) -> None:
        """Tick a box, or not, until the studio has taken it."""
        if self.field(label).is_checked() != on:
            self.field(label).click()  # the page shows it as ticked once the studio has answered
        self.until(lambda: taken() == on, f"{label} is {'on' if on else 'off'}")

    def choose(self, label: str, value: str) -> None:
        """Choose from a list; one that closes because its choices have changed is opened again."""
        field, option = self.field(label), self.window.get_by_role("option", name=value, exact=True)
        end = time.monotonic() + PATIENCE
        while field.input_value() != value or option.locator("visible=true").count():
            assert time.monotonic() < end, f"'{value}' could not be chosen for {label}"
            if not option.locator("visible=true").count():
                field.click()
            try:
                option.click(timeout=5000)
            except Exception as error:
                if "Timeout" not in type(error).__name__:
                    raise
                field.press("Escape")

    # --- the scene

    def point(self, place: Any) -> tuple[float, float]:
        """Where a point of the scene (3,) is on the page now, in pixels."""
        (client,) = self.page.server.get_clients().values()
        return on_screen(client.camera, place)

    def click_scene(self, place: Any, done: Callable[[], bool]) -> None:
        """Click what is seen at a point of the scene (3,), again while nothing comes of it."""
        for _ in range(10):
            self.window.mouse.click(*self.point(place))
            end = time.monotonic() + 6.0
            while time.monotonic() < end:
                if done():
                    return
                time.sleep(0.05)
        raise AssertionError("a click on the scene did nothing")

    def take_hold(self, place: Any) -> None:
        """Press the mouse on an arrow of the handle whose tip is at `place` (3,), once the arrow lights up under it."""
        end, side = time.monotonic() + PATIENCE, 1.0
        while True:
            x, y = self.point(place)
            self.window.mouse.move(x + side, y)
            clip = {"x": max(x - 12, 0), "y": max(y - 12, 0), "width": 24, "height": 24}
            with Image.open(io.BytesIO(self.window.screenshot(clip=clip))) as picture:
                colors = np.asarray(picture.convert("RGB"), dtype=int)
            if (colors[..., :2].min(axis=-1) - colors[..., 2] > _YELLOW).sum() >= 4:
                break
            assert time.monotonic() < end, "no arrow of the handle lights up under the mouse"
            side = -side
        self.window.mouse.down()

    def look_closer(self, place: Array) -> None:
        """Look at `place` (3,) from near, above the timeline: from afar a handle's arrows and arcs are too close."""
        (client,) = self.page.server.get_clients().values()
        away = client.camera.position - place
        client.camera.position = eye = place + _NEAR_M * away / np.linalg.norm(away)
        client.camera.look_at = place - [0.0, 0.0, _BELOW_M]
        self.until(lambda: np.allclose(client.camera.position, eye, atol=1e-3), "the camera is near")

    def drag(self, place: Array, by: Array) -> None:
        """Drag the arrow whose tip is at `place` (3,) by some metres (3,), and keep hold of it."""
        self.look_closer(place)
        begin, end = np.array(self.point(place)), np.array(self.point(place + by))
        drags = self.studio.drags
        home = np.array(self.studio.places[self.studio.selected or ""].T[:3, 3])  # before it follows the mouse
        self.take_hold(place)
        for s in np.linspace(0.0, 1.0, 8):
            self.window.mouse.move(*((1 - s) * begin + s * end))
        half = 0.5 * float(by @ by)
        self.until(lambda: drags.to is not None and (drags.to[:3, 3] - home) @ by > half, "it is dragged")

    def picture(self) -> Array:
        """Luminance (H, W) of the page, 0 to 255."""
        with Image.open(io.BytesIO(self.window.screenshot())) as seen:
            return np.asarray(seen.convert("L"), dtype=float)

    def settled(self) -> Array:
        """Luminance of the page once two looks at it are the same."""
        end, before, now = time.monotonic() + PATIENCE, np.zeros(1), self.picture()
        while not np.array_equal(before, now):
            assert time.monotonic() < end, "the page does not come to rest"
            time.sleep(0.5)
            before, now = now, self.picture()
        return now

    def drop(self, name: str, content: bytes) -> None:
        """Drop a file onto the page."""
        self.window.evaluate(
            """([name, bytes]) => {
              const files = new DataTransfer();
              files.items.add(new File([new Uint8Array(bytes)], name));
              document.body.dispatchEvent(
                new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true}));
            }""",
            [name, list(content)],
        )

    # --- afterwards

    def keep_evidence(self, name: str) -> Path:
        """Store a picture of the page and the log where they can be looked at."""
        folder = Path(os.environ.get("ELBOWROOM_EVIDENCE") or Path(tempfile.gettempdir()) / "elbowroom-evidence")
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{name}.log").open("w") as log:
            log.write("\n".join([*self.log.lines, *self.errors, self._now(), "", "threads:", ""]))
            log.flush()
            faulthandler.dump_traceback(log, all_threads=True)
        self.window.screenshot(path=folder / f"{name}.png")
        return folder / f"{name}.png"


@contextmanager
def seated(
    storyboard: str, folder: Path, *, size: tuple[int, int] = (640, 400), shadows: bool = False
) -> Iterator[Seat]:
    """Somebody at a studio with a storyboard, which works in `folder`/work, in a window of a size in pixels."""
    (folder / "work").mkdir(exist_ok=True)
    with browser(*size) as window:
        page = opened(storyboard, port=0, folder=folder / "work", state=folder / "state", shadows=shadows)
        found = Seat(page, window)
        try:
            found.sit_down(page)
            yield found
        except Exception:
            print(f"picture and log: {found.keep_evidence('sitting_down')}")
            raise
        finally:
            found.page.close()


@contextmanager
def unharmed(seat: Seat, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Nothing goes wrong inside of the page, which would leave it empty, or of the server."""
    failed = request.session.testsfailed
    yield
    said = capfd.readouterr().err
    seat.log.lines.append(said)
    if request.session.testsfailed > failed or "Traceback" in said or seat.errors:
        print(f"picture and log: {seat.keep_evidence(request.node.name)}\n" + "\n".join(seat.log.lines[-40:]))
    assert "Traceback" not in said and not seat.errors
    assert seat.window.get_by_role("tab", name="Scene", exact=True).count() == 1
