"""Pictures as arrays and files: a still, a strip of frames, a film."""

from __future__ import annotations

from pathlib import Path

import imageio.v3 as iio

from elbowroom.character.visual import Show
from elbowroom.files.atomic import writing
from elbowroom.pictures.camera import Camera
from elbowroom.pictures.renderer import Pixels, Renderer
from elbowroom.world.world import World


def still(
    world: World,
    t: float = 0.0,
    *,
    size: tuple[int, int] = (960, 640),
    camera: Camera | str | None = None,
    show: Show = "skin",
) -> Pixels:
    """The world at time `t` as a picture (H, W, 3) uint8."""
    look = Camera.looking(camera) if isinstance(camera, str) else camera
    with Renderer(world, size=size, camera=look, show=show, span=(t, t)) as renderer:
        return renderer.draw(t)


def write_png(path: str | Path, picture: Pixels) -> None:
    """Write a picture (H, W, 3) uint8, all or nothing."""
    with writing(path) as (stand_in,):
        iio.imwrite(stand_in, picture, extension=".png")
