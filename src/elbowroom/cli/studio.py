"""`elbowroom studio`: a page in the browser in which motion is repaired and directed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from elbowroom.cli.console import err, out
from elbowroom.errors import BadValue


def studio(
    storyboard: Annotated[
        str, typer.Argument(metavar="[STORYBOARD]", help="A storyboard file, or a name from the gallery.")
    ] = "umbrella",
    port: Annotated[int, typer.Option(metavar="N", help="Port; the next free one where it is taken.")] = 8080,
    host: Annotated[str, typer.Option(help="Address to listen on. Others than 127.0.0.1 let others in.")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to work in; by default the storyboard's, or this one.")
    ] = None,
    read: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="Another folder that may be read; may be repeated.")
    ] = None,
) -> None:
    """Open the studio: drag things, and the motion follows; direct people; export what was made.

    It reads and writes inside of the folder to work in alone. Unsaved work is kept and offered again.
    Example: elbowroom studio kitchen.yaml
    """
    if not 0 <= port <= 65535:
        raise BadValue(f"a port is a number from 0 to 65535, not {port}.")
    from elbowroom.studio.serve import opened

    begun = time.perf_counter()
    page = opened(storyboard, host=host, port=port, folder=folder, read=read or [])
    try:
        if not page.private:
            err.print(
                f"warning: {host} can be reached from other machines, and whoever reaches it can read and write "
                f"files in {page.studio.folders.work}.",
                style="yellow",
                highlight=False,
                soft_wrap=True,
            )
        out.print(f"studio: {page.url} ({time.perf_counter() - begun:.1f} s); Ctrl-C ends it", highlight=False)
        if browser:
            import webbrowser

            webbrowser.open(page.url)
        while True:
            time.sleep(3600.0)
    finally:
        page.close()
