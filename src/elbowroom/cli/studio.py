"""`elbowroom studio`: a page in the browser in which motion is repaired and directed."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elbowroom.cli.console import compile_first, err, out
from elbowroom.cli.interrupt import ending, heard, interrupted_by
from elbowroom.errors import BadValue

if TYPE_CHECKING:
    from elbowroom.studio.page import Page


def studio(
    storyboard: Annotated[
        str, typer.Argument(metavar="[STORYBOARD]", help="A storyboard file, or a name from the gallery.")
    ] = "umbrella",
    port: Annotated[int, typer.Option(metavar="N", help="Port; the next free one where it is taken.")] = 8080,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on. Others than 127.0.0.1 let others in.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN", envvar="ELBOWROOM_TOKEN", help="Secret part of the address; by default a random one."
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to work in; by default the storyboard's, or this one.")
    ] = None,
    read: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="Another folder that may be read; may be repeated.")
    ] = None,
) -> None:
    """Open the studio in the browser: drag things, and the motion follows; direct people; export what was made.

    Press Play, click something in the scene, drag its arrows, let go: the motion is proven free. Files has open, save,
    import and export. Ctrl-C ends it; what was not saved is kept, and offered the next time.
    It writes in the folder to work in alone, and reads there, in the gallery, and in folders given by --read.
    Only who knows the address with its token, which is printed, gets the page.

    Exit code 2: bad input; 130: ended by Ctrl-C; 143: by kill.

    Examples: elbowroom studio; elbowroom studio kitchen.yaml --read ~/scenes
    """
    if not 0 <= port <= 65535:
        raise BadValue(f"a port is a number from 0 to 65535, not {port}.")
    from elbowroom.studio.serve import opened

    compile_first(quiet=False)
    begun = time.perf_counter()
    page = opened(storyboard, host=host, port=port, token=token, folder=folder, read=read or [])
    try:
        _greet(page, host, port, time.perf_counter() - begun)
        if browser and not _shown(page.url):
            out.print("no browser was found here: open the address above in one.", highlight=False)
        while True:
            time.sleep(3600.0)
    except KeyboardInterrupt:
        heard()  # it is answered here, and not raised again amid the end
        unsaved = page.studio.session.unsaved
    finally:
        page.close()
    kept = f"; changes of {page.studio.document.name} that were not saved are kept, and offered the next time"
    out.print(f"studio: ended{kept if unsaved else ''}.", highlight=False, soft_wrap=True)
    ending()
    sys.exit(interrupted_by())


def _greet(page: Page, host: str, port: int, seconds: float) -> None:
    """Say where the page is, and what is other than one may think."""
    warnings = [page.studio.autosave.warning]
    if not page.private:
        may = f"whoever has the address below can read and write files in {page.studio.folders.work}"
        warnings.append(f"{host} can be reached from other machines, and {may}.")
    for text in filter(None, warnings):
        err.print(f"warning: {text}", style="yellow", highlight=False, soft_wrap=True, markup=False)
    taken = f"; port {port} was taken" if port and page.server.get_port() != port else ""
    out.print(f"studio: {page.url} ({seconds:.1f} s{taken}); Ctrl-C ends it", highlight=False, soft_wrap=True)


def _shown(url: str) -> bool:
    """Whether a browser could be asked to show a page."""
    import webbrowser

    try:
        return webbrowser.open(url)
    except (OSError, webbrowser.Error):
        return False
