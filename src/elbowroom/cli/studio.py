"""`elbowroom studio`: repair and direct motion on a page in the browser."""

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
    port: Annotated[int, typer.Option(metavar="N", help="Port; if taken, the next free one.")] = 8080,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address to listen on. Any but 127.0.0.1 lets other machines connect."),
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    token: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", envvar="ELBOWROOM_TOKEN", help="Secret part of the address; default: random."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Working folder; default: that of the storyboard, else the current one."),
    ] = None,
    read: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="Additional readable folder; may be repeated.")
    ] = None,
) -> None:
    """Open the studio in the browser: drag objects and the motion follows; give characters tasks; export the result.

    Press Play, click an object in the scene, drag its arrows and release: the motion is then proven collision-free.
    The Files tab has open, save, import and export. Ctrl-C quits; unsaved changes are kept and offered at the next
    start. The studio writes only in the working folder, and reads there, in the gallery, and in the --read folders.
    Only the printed address with its token gives access.

    Exit code 2: bad input; 130: stopped by Ctrl-C; 143: by kill.

    Examples: elbowroom studio; elbowroom studio kitchen.yaml --read ~/scenes
    """
    if not 0 <= port <= 65535:
        raise BadValue(f"a port must be a number from 0 to 65535, not {port}.")
    from elbowroom.studio.page import opened

    compile_first(quiet=False)
    begun = time.perf_counter()
    page = opened(storyboard, host=host, port=port, token=token, folder=folder, read=read or [])
    try:
        _greet(page, host, port, time.perf_counter() - begun)
        if browser and not _shown(page.url):
            out.print("no browser found: open the address above in one.", highlight=False)
        while True:
            time.sleep(3600.0)
    except KeyboardInterrupt:
        heard()  # it is answered here, and not raised again amid the end
        unsaved = page.studio.session.unsaved
    finally:
        page.close()
    kept = f"; unsaved changes to {page.studio.document.name} are kept and offered at the next start"
    out.print(f"studio: stopped{kept if unsaved else ''}.", highlight=False, soft_wrap=True)
    ending()
    sys.exit(interrupted_by())


def _greet(page: Page, host: str, port: int, seconds: float) -> None:
    """Print the address of the page, with warnings if there are any."""
    from elbowroom.studio.viser_page import page as viser_page

    warnings = [page.studio.autosave.warning, viser_page().warning]
    if not page.private:
        may = f"anyone who has the address below can read and write files in {page.studio.folders.work}"
        warnings.append(f"{host} is reachable from other machines, and {may}.")
    for text in filter(None, warnings):
        err.print(f"warning: {text}", style="yellow", highlight=False, soft_wrap=True, markup=False)
    taken = f"; port {port} was taken" if port and page.server.get_port() != port else ""
    out.print(f"studio: {page.url} ({seconds:.1f} s{taken}); Ctrl-C to quit", highlight=False, soft_wrap=True)


def _shown(url: str) -> bool:
    """Return whether a browser could be opened on a page."""
    import webbrowser

    try:
        return webbrowser.open(url)
    except (OSError, webbrowser.Error):
        return False
