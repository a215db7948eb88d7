"""`elbowroom library`: gait cycles of recordings, for characters that walk like the people in them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elbowroom.cli import options
from elbowroom.cli.console import StageTimer, out, print_json, print_written
from elbowroom.errors import BadFile

if TYPE_CHECKING:
    from elbowroom.locomotion.library import ClipLibrary


def library(
    files: Annotated[list[Path], typer.Argument(metavar="FILES...", help="Recordings: .bvh .amc .c3d .fbx .glb .npz")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Library to write (.npz).")],
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Picture of the cycles in speed and turn rate.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the library; default: that of the output.")] = None,
    units: options.UnitsOption = None,
    up: options.Up = None,
    fps: options.Fps = None,
    asf: options.Asf = None,
    as_json: options.Json = False,
) -> None:
    """Collect the gait cycles of recordings into a library that walks can be blended from.

    It needs walks at three or more speeds or turn rates: one recording is enough only if its walk changes them.

    In Python: er.walk_along(character, path, library=er.read_clip_library("my.npz")).

    Example: elbowroom library walk*.bvh turn*.bvh -o my.npz --plot my.png
    """
    from elbowroom.files.atomic import check_writable
    from elbowroom.files.clip_library import clip_library, write_clip_library
    from elbowroom.files.open import ImportHints

    for path, suffix in ((output, ".npz"), (plot, ".png")):
        if path is not None:
            if path.suffix.lower() != suffix:
                raise BadFile(path, f"has an unsupported suffix: '{path.suffix}'", would_do=f"supported: {suffix}")
            check_writable(path)
    clock = StageTimer(quiet=as_json)
    with clock("cycles", "looking for gait cycles") as say:
        hints = ImportHints(units, up, fps, True, asf)
        made = clip_library(
            files, name=name or output.stem, hints=hints, progress=lambda file: say(f"looking for steps in {file}")
        )
    with clock("write", f"writing {output.name}"):
        write_clip_library(output, made)
        if plot is not None:
            from elbowroom.pictures.gait_map import gait_map

            gait_map(plot, made)
    facts = _facts(made)
    written = [str(p) for p in (output, plot) if p is not None]
    if as_json:
        print_json(facts | {"written": written, "seconds": clock.seconds})
        return
    for mode, count in facts["cycles"].items():
        low, high = facts["speed_m_s"][mode]
        out.print(f"{mode:>7}: {count} cycles, {low:.2f} to {high:.2f} m/s", highlight=False)
    for file in files:
        if not any(clip.split("/")[0] == file.stem for clip in facts["clips"]):
            out.print(
                f"• {file.name} has no stride that can be repeated.", highlight=False, soft_wrap=True, markup=False
            )
    print_written(written)


def _facts(made: ClipLibrary) -> dict[str, Any]:
    import numpy as np

    modes = Counter(c.mode for c in made.cycles)
    speeds = {m: [float(np.hypot(*c.velocity[:2])) for c in made.cycles if c.mode == m] for m in modes}
    return {
        "name": made.name,
        "cycles": dict(modes),
        "clips": sorted({c.source for c in made.cycles}),
        "speed_m_s": {m: [round(min(v), 3), round(max(v), 3)] for m, v in speeds.items()},
    }
