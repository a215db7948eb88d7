"""Pictures of a world as arrays and files: a still, a strip of frames, a film."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import imageio.v3 as iio
import imageio_ffmpeg
import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, ImageDraw, ImageFont

from elbowroom.character.visual import SHOWS, Show
from elbowroom.errors import BadFile, BadValue, UnknownName
from elbowroom.files.atomic import check_writable, writing
from elbowroom.files.c3d import Markers
from elbowroom.geometry.rotations import Array
from elbowroom.pictures.direction import Camera, whole_span
from elbowroom.pictures.renderer import Pixels, Renderer
from elbowroom.pictures.surfaces import Cloud
from elbowroom.stopping import may_stop_here, report
from elbowroom.world.extent import frame_times
from elbowroom.world.world import World

_GAP = 3  # pixels between the tiles of a strip
_ROW = 8  # tiles of a row at most, by default


def still(
    world: World,
    t: float = 0.0,
    *,
    size: tuple[int, int] = (960, 640),
    camera: Camera | str | None = None,
    show: Show = "skin",
    shapes_over: bool = False,
    clouds: Sequence[Cloud] = (),
    ghosts: Sequence[float] = (),
) -> Pixels:
    """The world at time `t` (seconds) as a picture (H, W, 3) uint8.

    `camera` may be the name of a look ('front', 'side', …); without one the side is chosen from which most is seen,
    and `Camera(target='ann.right_hand', span=0.4)` is a close-up. `ghosts` are further times drawn faintly, the
    first ones faintest; `clouds` are points drawn besides the world.
    """
    times = [t, *ghosts]
    span = (min(times), max(times))
    with Renderer(
        world,
        size=size,
        camera=_camera(camera),
        show=show,
        shapes_over=shapes_over,
        clouds=clouds,
        span=span,
    ) as renderer:
        return renderer.draw(t, ghosts=list(zip(ghosts, _fading(len(ghosts)), strict=True)))


def strip(
    world: World,
    times: ArrayLike | None = None,
    *,
    n: int = 8,
    layout: Literal["tiles", "path"] = "tiles",
    size: tuple[int, int] | None = None,
    columns: int | None = None,
    camera: Camera | str | None = None,
    show: Show = "skin",
    clouds: Sequence[Cloud] = (),
    labels: bool = True,
) -> Pixels:
    """Several moments in one picture: tiles side by side, or all figures together along their path.

    `times` in seconds, else `n` spread over the whole motion. `size` is that of one tile (default 240 × 320),
    or for 'path' of the whole picture (default 1600 × 500). Tiles carry their time where `labels`; rows
    have at most 8 unless `columns` says otherwise.
    """
    moments = _moments(whole_span(world, clouds), times, n)
    span = (float(moments.min()), float(moments.max()))
    if layout == "path":
        look = Camera.looking("side", follow="") if camera is None else _camera(camera)
        with Renderer(world, size=size or (1600, 500), camera=look, show=show, clouds=clouds, span=span) as renderer:
            return renderer.draw(float(moments[-1]), ghosts=[(float(t), 1.0) for t in moments[:-1]])
    if layout != "tiles":
        raise BadValue(f"a strip must be laid out as 'tiles' or along the 'path', not '{layout}'.")
    with Renderer(
        world, size=size or (240, 320), camera=_camera(camera), show=show, clouds=clouds, span=span, far=0.5
    ) as renderer:
        tiles = [renderer.draw(float(t)) for t in moments]
    if labels:
        tiles = [stamped(tile, f"{t:.2f} s") for tile, t in zip(tiles, moments, strict=True)]
    return _tiled(tiles, columns or -(-len(tiles) // -(-len(tiles) // _ROW)))


def film(
    path: str | Path,
    world: World,
    *,
    fps: float = 30.0,
    size: tuple[int, int] = (960, 540),
    camera: Camera | str | None = None,
    show: Show = "skin",
    shapes_over: bool = False,
    clouds: Sequence[Cloud] = (),
    span: tuple[float, float] | None = None,
    ghosts: Sequence[float] = (),
    labels: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write an MP4 (H.264) of the whole motion or of a span in seconds; returns how many frames it has.

    `ghosts` are offsets in seconds (such as -0.4, -0.2) at which bodies are drawn faintly besides. `progress`
    is called with the frames done and all frames. Odd sizes are made even, as H.264 wants them.
    """
    if not (np.isfinite(fps) and 0.0 < fps <= 1000.0):
        raise BadValue(f"a film needs a rate between 0 and 1000 frames per second, not {fps}.")
    if Path(path).suffix.lower() != ".mp4":
        raise BadFile(path, "is not a film", would_do="give a name that ends in .mp4")
    size = (size[0] - size[0] % 2, size[1] - size[1] % 2)
    span = span or whole_span(world, clouds)
    times = frame_times(span, fps)
    opacities = _fading(len(ghosts))
    with (
        Renderer(
            world,
            size=size,
            camera=_camera(camera),
            show=show,
            shapes_over=shapes_over,
            clouds=clouds,
            span=span,
        ) as renderer,
        writing(path) as (stand_in,),
    ):
        writer = imageio_ffmpeg.write_frames(
            str(stand_in),
            size,
            fps=fps,
            codec="libx264",
            pix_fmt_out="yuv420p",
            macro_block_size=2,
            quality=None,
            output_params=["-crf", "20", "-preset", "veryfast", "-movflags", "+faststart"],
        )
        try:  # from here on: ffmpeg starts with the first `send`, and must have ended before its file is taken away
            writer.send(None)
            for k, t in enumerate(times):
                echoes = [(float(t + by), opacity) for by, opacity in zip(ghosts, opacities, strict=True)]
                picture = renderer.draw(float(t), ghosts=echoes)
                writer.send(stamped(picture, f"{t:.2f} s") if labels else picture)
                if progress is not None:
                    progress(k + 1, len(times))
        except BaseException:
            with suppress(KeyboardInterrupt):  # that one ffmpeg is not waited for: the film is no longer wanted
                writer.throw(KeyboardInterrupt)
            raise
        writer.close()
    return len(times)


def write_png(path: str | Path, picture: Pixels) -> None:
    """Write a picture (H, W, 3) uint8, all or nothing."""
    with writing(path) as (stand_in,):
        iio.imwrite(stand_in, picture, extension=".png")


def stamped(picture: Pixels, text: str) -> Pixels:
    """A copy of a picture with a line of text at its lower left."""
    image = Image.fromarray(picture)
    font = ImageFont.load_default(max(11, picture.shape[0] // 24))
    at = (picture.shape[0] // 32, picture.shape[0] - picture.shape[0] // 40)
    ImageDraw.Draw(image).text(at, text, fill=(70, 74, 80), font=font, anchor="lb")
    return np.asarray(image)


def _reported(done: int, every: int) -> None:
    """Report frames that are drawn; a point at which the work may be stopped."""
    may_stop_here()
    report("", done / every)


def _camera(camera: Camera | str | None) -> Camera | None:
    return Camera.looking(camera) if isinstance(camera, str) else camera


def _fading(count: int) -> list[float]:
    """Opacities of ghosts, faintest first."""
    return [float(a) for a in np.linspace(0.16, 0.5, count)]


def _moments(span: tuple[float, float], times: ArrayLike | None, n: int) -> Array:
    if times is None:
        if not 1 <= n <= 1000:
            raise BadValue(f"a strip must have between 1 and 1000 frames, not {n}.")
        return np.linspace(*span, n)
    moments = np.atleast_1d(np.asarray(times, dtype=float))
    if moments.ndim != 1 or not len(moments) or not np.all(np.isfinite(moments)):
        raise BadValue("a strip needs at least one time, in seconds.")
    return moments


def _tiled(tiles: list[Pixels], columns: int) -> Pixels:
    """Tiles of one size in rows, with a light gap between them."""
    height, width, _ = tiles[0].shape
    rows = -(-len(tiles) // columns)
    sheet = np.full((rows * (height + _GAP) - _GAP, columns * (width + _GAP) - _GAP, 3), 250, dtype=np.uint8)
    for k, tile in enumerate(tiles):
        y, x = (k // columns) * (height + _GAP), (k % columns) * (width + _GAP)
        sheet[y : y + height, x : x + width] = tile
    return sheet


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
        film(path, world, fps=fps, size=size, camera=camera, show=shown, clouds=clouds, progress=_reported)
    elif frames > 1:
        write_png(path, strip(world, n=frames, size=size, camera=camera, show=shown, clouds=clouds))
    else:
        start, end = whole_span(world, clouds)
        t = 0.5 * (start + end) if time is None else time
        write_png(path, still(world, t, size=size, camera=camera, show=shown, clouds=clouds))
