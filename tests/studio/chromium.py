"""A real browser for tests of the studio's page: Debian's Chromium with software WebGL, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

FLAGS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
# The page warns of software WebGL with a notice over the scene: it is not told of what draws.
_NO_NOTICE = """
for (const kind of [WebGLRenderingContext, WebGL2RenderingContext]) {
  const get = kind.prototype.getExtension;
  kind.prototype.getExtension = function (name) {
    return name === "WEBGL_debug_renderer_info" ? null : get.call(this, name);
  };
}
"""
# Milliseconds that anything may take in a browser that draws in software on a busy machine.
PATIENCE = 60_000


@contextmanager
def browser(width: int = 640, height: int = 400) -> Iterator[Any]:
    """A page of a browser; skips the test where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("ELBOWROOM_CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed (set ELBOWROOM_CHROMIUM to it)")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=path, headless=True, args=list(FLAGS), timeout=2 * PATIENCE
        )
        try:
            window = running.new_page(viewport={"width": width, "height": height})
            window.set_default_timeout(PATIENCE)
            window.add_init_script(_NO_NOTICE)
            yield window
        finally:
            running.close()


def on_screen(camera: Any, point: Any) -> tuple[float, float]:
    """Where a point of the scene (3,) is on the page, in pixels."""
    w, x, y, z = camera.wxyz
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    local = R.T @ (np.asarray(point, dtype=float) - camera.position)  # x right, y down, z forward
    focal = 0.5 * camera.image_height / np.tan(0.5 * camera.fov)
    assert local[2] > 0.0, "the point is behind the camera"
    return (
        float(0.5 * camera.image_width + focal * local[0] / local[2]),
        float(0.5 * camera.image_height + focal * local[1] / local[2]),
    )
