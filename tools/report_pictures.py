"""Draw the pictures of docs/report.md: pages of real reports, opened in Chromium.

Needs Playwright and a Chromium on the path.

    python tools/report_pictures.py
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from elbowroom.gallery.scenes import scenario
from elbowroom.report import report, write_report
from elbowroom.storyboard.plan import plan_storyboard

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
WIDTH = 1060


def written(name: str, folder: Path, meant: bool) -> Path:
    """A report on a scenario of the gallery; `meant` where it asks for another motion than it begins from."""
    board = scenario(name).board()
    plan = plan_storyboard(board).require()
    path = folder / f"{name}.html"
    found = report(plan.world, board.world, certificate=plan.certificate, change_meant=meant, title=name)
    write_report(path, found)
    return path


def top(page: Page, path: Path, name: str) -> None:
    """What a supervisor sees first: verdict, tiles, worst moments."""
    page.goto(path.as_uri())
    bottom = page.locator(".shots").bounding_box()
    assert bottom is not None
    height = bottom["y"] + bottom["height"] + 24
    _shoot(page, name, {"x": 0, "y": 0, "width": WIDTH, "height": height})


def section(page: Page, path: Path, anchor: str, name: str) -> None:
    """One measure, with the cursor at its first moment."""
    page.goto(path.as_uri())
    card = page.locator(f"#{anchor}")
    card.locator("svg").nth(1).hover()
    box = card.bounding_box()
    assert box is not None
    _shoot(page, name, {"x": 0, "y": box["y"] - 12, "width": WIDTH, "height": box["height"] + 24})


def _shoot(page: Page, name: str, clip: dict[str, float]) -> None:
    scrolled = page.evaluate("scrollY")
    file = FOLDER / f"{name}.png"
    page.screenshot(path=file, clip={**clip, "y": clip["y"] + scrolled}, full_page=True)
    Image.open(file).convert("RGB").save(file, optimize=True)
    print(f"wrote {file}")


def main() -> None:
    """Make the reports and take the pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("these pictures need Chromium: apt install chromium")
    with tempfile.TemporaryDirectory() as where, sync_playwright() as playwright:
        shelf, rain = written("bookshelf", Path(where), True), written("umbrella", Path(where), False)
        errand = written("cheese-and-hat", Path(where), True)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        light = browser.new_page(viewport={"width": WIDTH, "height": 900})
        top(light, errand, "report-top")
        section(light, rain, "ann-balance", "report-balance")
        dark = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="dark")
        section(dark, shelf, "ann-hands", "report-hands")
        browser.close()


if __name__ == "__main__":
    main()
