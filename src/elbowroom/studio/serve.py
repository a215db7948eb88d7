"""Serving of a studio page for a storyboard name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from elbowroom.gallery.scenes import FOLDER
from elbowroom.studio.access import check_token, kept_token
from elbowroom.studio.autosave import state_folder
from elbowroom.studio.filing import document_of
from elbowroom.studio.folders import Folders
from elbowroom.studio.page import Page
from elbowroom.studio.server import LOOPBACK, StudioServer, check_host
from elbowroom.studio.studio import Studio


def opened(
    storyboard: str = "umbrella",
    *,
    host: str = LOOPBACK,
    port: int = 8080,
    folder: Path | None = None,
    read: Iterable[Path] = (),
    state: Path | None = None,
    token: str | None = None,
    shadows: bool = True,
) -> Page:
    """Serve a storyboard file, or a gallery scenario by name, and start planning it.

    `folder` is where files are written, by default that of the storyboard file, else the current one; `read` are
    further readable folders. `state` holds autosaved work, and the token of the address if none is given.
    Without `shadows` browsers that render in software have less to do.
    """
    state = state or state_folder()
    secret = kept_token(state) if token is None else check_token(token)
    document = document_of(storyboard)
    work = folder or (Path.cwd() if document.given else document.path.parent)
    folders = Folders(work, [FOLDER, *([] if document.given else [document.path.parent]), *read])
    studio = Studio(document, folders, state / "studio")
    try:
        server = StudioServer(check_host(host), port, secret)
        server.refused = lambda text: studio.say(text, "bad")
        page = Page(studio, server, shadows=shadows)
    except BaseException:
        studio.close()
        raise
    studio.replan()
    return page
