"""Pictures of the studio for docs/studio.md, taken in a real browser, so that they stay true.

    python tools/studio_tour.py [-o docs/pictures] [--only NAME ...] [--dark]

With --dark the pictures of all stops are tiles of one, `studio-dark-tour.webp`.

Needs playwright and Chromium (`ELBOWROOM_CHROMIUM` says where, if it is not on the path).
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from PIL import Image
from playwright.sync_api import sync_playwright

from elbowroom.geometry.transforms import transform
from elbowroom.studio import edits, importing
from elbowroom.studio.document import ImportChoice
from elbowroom.studio.filing import document_of
from elbowroom.studio.page import Page, opened
from elbowroom.studio.places import target_name

FLAGS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run")
SIZE = (1600, 900)
_LOOKS = 20


class Tour:
    """A studio, somebody who looks at it, and a folder for pictures."""

    def __init__(self, page: Page, window: Any, folder: Path, *, dark: bool = False) -> None:
        self.page, self.studio, self.window, self.folder = page, page.studio, window, folder
        self.dark_throughout, self.tiles = dark, list[Image.Image]()
        page.set_dark(dark)

    def rest(self) -> None:
        """Wait until nothing is left to do, and the browser has heard of it."""
        while self.studio.job is not None:
            time.sleep(0.1)
        time.sleep(1.0)

    def tab(self, name: str) -> None:
        self.window.get_by_role("tab", name=name, exact=True).click()
        time.sleep(0.5)

    def take(self, name: str) -> None:
        """Store a picture of the page, once the browser has drawn all of it: two looks that are the same."""
        self.window.mouse.move(SIZE[0] - 20, SIZE[1] - 12)  # nothing is below it that would show a hint
        before, now = b"", self.window.screenshot()
        for _ in range(_LOOKS):
            if now == before:
                break
            time.sleep(1.0)
            before, now = now, self.window.screenshot()
        with Image.open(io.BytesIO(now)) as picture:
            if self.dark_throughout:
                self.tiles.append(picture.convert("RGB").resize((SIZE[0] // 2, SIZE[1] // 2), Image.Resampling.LANCZOS))
            else:
                self.store(name, picture.convert("RGB"))

    def store(self, name: str, picture: Image.Image) -> None:
        """Write a picture for the documentation."""
        path = self.folder / f"studio-{name}.webp"
        picture.save(path, quality=88, method=6)
        print(path)

    def sheet(self) -> Image.Image:
        """All dark pictures in two columns."""
        wide, high = SIZE[0] // 2, SIZE[1] // 2
        sheet = Image.new("RGB", (2 * wide, high * -(-len(self.tiles) // 2)))
        for k, tile in enumerate(self.tiles):
            sheet.paste(tile, (k % 2 * wide, k // 2 * high))
        return sheet

    def field(self, label: str) -> Any:
        """Field beside a label."""
        beside = f"//label[normalize-space()='{label}']/ancestor::p/parent::div/parent::div//input"
        return self.window.locator(f"xpath={beside}").first

    def tick(self, labels: tuple[str, ...], on: bool) -> None:
        """Tick boxes of the tab that is open, or not."""
        for label in labels:
            self.field(label).set_checked(on, force=True)

    def choose(self, label: str, value: str) -> None:
        """Choose from a list of the tab that is open."""
        self.field(label).click()
        self.window.get_by_role("option", name=value, exact=True).locator("visible=true").click()
        time.sleep(0.5)

    # --- the stops

    def first(self) -> None:
        """What one sees at first: a motion that was repaired, a ghost of how it was, and the post to drag."""
        self.studio.player.seek(1.85)
        self.rest()
        self.take("first")

    def drag(self) -> None:
        """The post is being dragged: the motion follows, and is not certified yet."""
        self.tab("Scene")
        place = self.studio.places["post"].T
        for k in range(1, 4):
            T = place @ transform([0.02 * k, 0.05 * k, 0.0])
            self.studio.drags.move("post", T)
        if self.page.gizmo.handle is not None:  # a mouse would have it with it
            self.page.gizmo.handle.position = T[:3, 3]
        self.rest()
        self.take("drag")
        self.studio.drags.let_go()
        self.rest()

    def view(self) -> None:
        """Paths of hands, the tightest place and collision shapes."""
        shown = ("Hand paths", "Minimum clearance", "Collision geometry")
        self.tab("View")
        self.tick(shown, True)
        self.rest()
        time.sleep(7.0)  # the label is drawn late where drawing is slow
        self.take("view")
        self.tick(shown, False)

    def beside(self) -> None:
        """The motion beside the clip before planning."""
        self.tab("View")
        self.studio.player.seek(1.85)
        self.window.get_by_text("Side by side", exact=True).first.click()
        self.choose("Compare with", "before planning")
        self.rest()
        self.take("beside")
        self.choose("Compare with", "nothing")
        self.rest()

    def target(self) -> None:
        """A target for a hand is dragged: who reaches for it is seen at once."""
        self.studio.player.seek(1.2)
        told = {"who": "ann", "hand": "left", "target": [0.35, -1.75, 1.25], "at": 1.2}
        self.studio.edit("add task touch", edits.add_task(self.studio.document, "touch", told))
        self.rest()
        self.tab("Tasks")
        self.studio.select(target_name(1))
        self.studio.drags.move(target_name(1), transform([0.42, -1.75, 1.35]))
        self.rest()
        self.take("target")
        self.studio.drags.let_go()
        self.rest()
        self.studio.undo()
        self.studio.undo()
        self.rest()

    def pins(self) -> None:
        """A repair that is held back: a pinned arm, a locked leg, a limit; in and out points."""
        for at, point in ((1.2, "in"), (2.4, "out")):
            self.studio.player.seek(at)
            self.studio.player.mark(point)
        self.tab("Tasks")
        self.choose("Action", "repair")
        self.choose("Limb", "left_arm")
        self.window.get_by_role("button", name="Pin", exact=True).locator("visible=true").click()
        self.rest()
        kept = self.field("Keep")
        kept.fill(f"{kept.input_value()}, left_leg")
        self.field("Aside (m)").fill("0.2")
        self.studio.player.seek(1.85)
        self.rest()
        self.take("pins")
        for at, point in ((1.2, "in"), (2.4, "out")):
            self.studio.player.seek(at)
            self.studio.player.mark(point)
        self.choose("Action", "touch")

    def imported(self) -> None:
        """A crate with a texture: a scene in centimetres, made an object in millimetres with two clicks."""
        crate = trimesh.creation.box([450.0, 450.0, 450.0])
        uv = crate.vertices[:, [0, 2]] / 450.0 + 0.5
        crate.visual = trimesh.visual.TextureVisuals(uv, image=planks())
        with tempfile.TemporaryDirectory() as folder:
            crate.export(Path(folder) / "crate.obj")
            for path in sorted(Path(folder).iterdir(), key=lambda p: p.suffix == ".obj"):
                (self.studio.folders.work / path.name).write_bytes(path.read_bytes())
        self.studio.select(None)
        importing.bring_in(self.studio, "crate.obj", ImportChoice())
        self.rest()
        self.tab("Files")
        self.window.get_by_text("Import", exact=True).locator("visible=true").first.click()
        self.rest()
        self.studio.select(None)  # onto the floor, not onto the lamp
        self.choose("As", "object")
        self.rest()
        self.choose("Units", "millimetres")
        self.rest()
        self.studio.player.seek(1.85)
        self.window.mouse.move(SIZE[0] - 100, SIZE[1] - 500)
        self.window.mouse.wheel(0, 400)
        self.take("import")
        self.studio.undo()
        self.rest()

    def files(self) -> None:
        """Open, save, import, export."""
        self.tab("Files")
        self.rest()
        self.take("files")

    def dark(self) -> None:
        """The same in the dark."""
        self.tab("Scene")
        self.page.set_dark(True)
        self.rest()
        self.take("dark")
        self.page.set_dark(self.dark_throughout)

    def curves(self) -> None:
        """Angles of a joint before and with an edit."""
        self.tab("Tasks")
        self.window.get_by_text("Edits", exact=True).first.click()
        self.window.get_by_role("button", name="ann, right arm: clear of post").click()
        self.rest()
        self.window.mouse.move(SIZE[0] - 100, SIZE[1] - 100)
        self.window.mouse.wheel(0, 900)
        self.rest()
        self.take("curves")

    def trees(self) -> None:
        """Trees of the search that found a path for the book; the tasks."""
        while self.studio.session.can_undo:
            self.studio.undo()
        self.studio.open(document_of("bookshelf"))
        self.rest()
        plan = self.studio.plan
        assert plan is not None
        searched = max(plan.edits, key=lambda edit: sum(map(len, edit.trees)))
        self.studio.player.seek(0.5 * sum(searched.during))
        self.tab("View")
        self.tick(("Hand paths", "Search trees"), True)
        self.page.look()
        self.tab("Tasks")
        self.rest()
        self.take("trees")


def planks() -> Image.Image:
    """A picture of five boards with grain."""
    rows, columns = np.mgrid[0:160, 0:160]
    grain = 10.0 * np.sin(0.9 * rows + 2.0 * np.sin(0.05 * columns + rows // 32))
    gap = np.where(rows % 32 < 2, 0.45, 1.0)
    shade = (1.0 + 0.08 * np.cos(2.4 * (rows // 32))) * gap
    pixels = (np.array([176.0, 128.0, 78.0]) + grain[..., None]) * shade[..., None]
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/pictures"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--dark", action="store_true", help="Every stop in dark mode")
    told = parser.parse_args()
    path = os.environ.get("ELBOWROOM_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=list(FLAGS))
        page = opened("umbrella", port=0, folder=Path(name), state=Path(name))
        try:
            window = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
            window.set_default_timeout(120_000.0)  # milliseconds: drawing in software takes its time
            window.goto(page.url)
            window.get_by_role("alert").get_by_role("button").dispatch_event("click")  # that WebGL is done so
            tour = Tour(page, window, told.output, dark=told.dark)
            tour.rest()
            stops = [
                tour.first,
                tour.view,
                tour.beside,
                tour.drag,
                tour.target,
                tour.pins,
                tour.files,
                tour.imported,
                tour.dark,
                tour.curves,
                tour.trees,
            ]
            for stop in stops:
                if stop.__name__ in told.only or (not told.only and not (told.dark and stop == tour.dark)):
                    stop()
            if tour.tiles:
                tour.store("dark-tour", tour.sheet())
        finally:
            browser.close()
            page.close()


if __name__ == "__main__":
    main()
