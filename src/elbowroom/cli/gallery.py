"""`elbowroom gallery`: list the built-in scenarios; with -o, plan and draw all of them and write an index page."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from elbowroom.cli import options
from elbowroom.cli.console import StageTimer, compile_first, out, print_json, print_written
from elbowroom.errors import BadFile

if TYPE_CHECKING:
    from elbowroom.gallery.scenes import Scenario


def gallery(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Build the scenarios into this folder, with index.html."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Build only this scenario; may be repeated.")
    ] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """List the gallery scenarios; with -o, build them: NAME.glb, NAME.html, NAME.png, NAME.yaml and an index page.

    Exit code 1: some of them are not collision-free. Example: elbowroom gallery -o gallery --only doorway
    """
    from elbowroom.gallery.scenes import scenario, scenarios

    shown = [scenario(name) for name in only] if only else list(scenarios().values())
    if output is None:
        _list(shown, as_json)
        return
    raise typer.Exit(_build(shown, output, seed, as_json))


def _list(shown: list[Scenario], as_json: bool) -> None:
    if as_json:
        facts = [{"name": s.name, "shows": s.shows, "features": list(s.features), "file": str(s.path)} for s in shown]
        print_json({"scenarios": facts})
        return
    table = Table(title="gallery", title_justify="left")
    for column in ("name", "shows", "features"):
        table.add_column(column)
    for s in shown:
        table.add_row(s.name, escape(s.shows), escape(", ".join(s.features)))
    out.print(table)
    out.print("'elbowroom demo NAME' builds one of them, 'elbowroom gallery -o DIR' all.", highlight=False)


def _build(shown: list[Scenario], folder: Path, seed: int, as_json: bool) -> int:
    from elbowroom import __version__
    from elbowroom.gallery.page import build, index_page

    clock = StageTimer(quiet=as_json)
    compile_first(as_json, everything=True)
    exhibits, facts = [], []
    with _all_or_none(folder) as (made, written), clock("build", "building") as say:
        for k, s in enumerate(shown):
            say(f"{s.name}, {k + 1} of {len(shown)}")
            plan, exhibit = build(s, made, seed)
            exhibits.append(exhibit)
            facts.append(_facts(s.name, plan))
            if not as_json:
                _print_built(exhibit.name, exhibit.verdict, exhibit.free)
        (made / "index.html").write_text(index_page(exhibits, __version__), encoding="utf-8")
    if as_json:
        print_json({"scenarios": facts, "seed": seed, "seconds": clock.seconds, "written": [str(p) for p in written]})
    else:
        print_written([folder / "index.html"])
    return 0 if all(e.free for e in exhibits) else 1


@contextmanager
def _all_or_none(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Temporary folder whose files are moved into `folder` on success; and the list of them, filled then."""
    if folder.exists() and not folder.is_dir():
        raise BadFile(folder, "is a file", would_do="give a folder name")
    written: list[Path] = []
    try:
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.absolute().parent) as made:
            yield Path(made), written
            folder.mkdir(exist_ok=True)
            for file in sorted(Path(made).iterdir()):
                os.replace(file, folder / file.name)
                written.append(folder / file.name)
    except OSError as error:
        raise BadFile(folder, f"cannot be written ({error.strerror or error})") from None


def _facts(name: str, plan: Any) -> dict[str, Any]:
    """A built scenario as JSON."""
    proven = plan.certificate
    return {
        "name": name,
        "status": plan.status,
        "why": plan.why,
        "plans": [p.facts() for p in plan.edits],
        "triangles": plan.world.triangles,
        "frames": 0 if proven is None else proven.frames,
        "clearance_m": None if proven is None else proven.clearance_m,
    }


def _print_built(name: str, verdict: str, free: bool) -> None:
    style = "green" if free else "red"
    out.print(f"{name}: {verdict}", style=style, highlight=False, soft_wrap=True, markup=False)
