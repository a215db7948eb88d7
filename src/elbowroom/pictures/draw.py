"""Draw a world to a file, by the file's suffix: a still or a strip as PNG, a film as MP4."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from elbowroom.character.visual import SHOWS, Show
from elbowroom.errors import BadFile, UnknownName
from elbowroom.files.atomic import check_writable
from elbowroom.files.c3d import Markers
from elbowroom.pictures.camera import Camera
from elbowroom.pictures.clouds import Cloud
from elbowroom.pictures.direction import whole_span
from elbowroom.pictures.images import film, still, strip, write_png
from elbowroom.world.world import World


def check_picture(path: str | Path) -> Path:
    """The path, if a picture or a film can be written there. Call before long work."""
    if Path(path).suffix.lower() not in (".png", ".mp4"):
        raise BadFile(path, "is not a supported picture format", would_do="give a name that ends in .png or .mp4")
    return check_writable(path)


def draw(
    path: str | Path,
    world: World,
    markers: Markers | None = None,
    *,
    time: float | None = None,
    frames: int = 1,
    look: str = "three-quarter",
    target: str | None = None,
    span: float | None = None,
    show: str = "skin",
    size: tuple[int, int] = (960, 640),
    fps: float = 30.0,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write a picture of a world, and of recorded markers besides.

    A PNG is a still at `time` (seconds; the middle of the motion when None) or, with more than one of
    `frames`, a strip of tiles of `size` each; an MP4 is a film of the whole motion at `fps`. `target` names a part
    or a thing for a close-up that shows `span` metres.
    """
    shown: Show | None = next((s for s in SHOWS if s == show), None)
    if shown is None:
        raise UnknownName("display mode of a character", show, SHOWS)
    camera = Camera.looking(look, target=target, span=span)
    clouds = [] if markers is None else [Cloud(markers.points, markers.fps)]
    if check_picture(path).suffix.lower() == ".mp4":
        film(path, world, fps=fps, size=size, camera=camera, show=shown, clouds=clouds, progress=progress)
    elif frames > 1:
        write_png(path, strip(world, n=frames, size=size, camera=camera, show=shown, clouds=clouds))
    else:
        start, end = whole_span(world, clouds)
        t = 0.5 * (start + end) if time is None else time
        write_png(path, still(world, t, size=size, camera=camera, show=shown, clouds=clouds))
