"""Page: scene, handle, timeline and side panel, their updates when the studio changes, and how it is served."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

import viser

from elbowroom.gallery.scenes import FOLDER
from elbowroom.studio.filing import document_of
from elbowroom.studio.folders import Folders
from elbowroom.studio.headers import check_token, is_loopback, kept_token
from elbowroom.studio.page_camera import BrowserView, PageCamera, PageLights
from elbowroom.studio.page_files import Files
from elbowroom.studio.page_gizmo import Gizmo
from elbowroom.studio.page_scene import SceneView
from elbowroom.studio.page_status import KeptWork, StatusBar
from elbowroom.studio.page_tasks import Tasks
from elbowroom.studio.page_things import Things
from elbowroom.studio.page_timeline import Timeline
from elbowroom.studio.page_view import Extras, KeyCommands, ViewTab
from elbowroom.studio.server import LOOPBACK, StudioServer, check_host
from elbowroom.studio.session import state_folder
from elbowroom.studio.studio import Studio, Topic


class Panel:
    """Side panel of the page."""

    def __init__(self, server: viser.ViserServer, studio: Studio, page: Page) -> None:
        self.status = StatusBar(server, studio)
        self.kept = KeptWork(server, studio)
        tabs = server.gui.add_tab_group(order=10.0)
        things = tabs.add_tab("Scene", viser.Icon.BOX)
        tasks = tabs.add_tab("Tasks", viser.Icon.HAND_STOP)
        view = tabs.add_tab("View", viser.Icon.EYE)
        files = tabs.add_tab("Files", viser.Icon.FILE)
        self.things = Things(server, studio, page, things)
        self.tasks = Tasks(server, studio, tasks)
        self.view = ViewTab(server, studio, page, view)
        self.files = Files(server, studio, files)

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        for part in (self.status, self.kept, self.things, self.tasks, self.view, self.files):
            part.notify(topic)


BRAND, BRAND_IN_THE_DARK = (47, 93, 124), (98, 163, 204)
WIDTH = 344


class Page:
    """Page of a studio in all connected browsers."""

    def __init__(self, studio: Studio, server: StudioServer, *, shadows: bool = True) -> None:
        self.studio, self.server, self.shadows = studio, server, shadows
        self._lock = threading.RLock()
        self.dark = False
        self.theme()
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(WIDTH)
        self.lights = PageLights(server, shadows=shadows)
        self.scene = SceneView(server, studio.select, shadows=shadows)
        self.gizmo = Gizmo(server, studio)
        self.camera = PageCamera(server, studio, self._framed)
        self.extras = Extras(server, studio)
        self.timeline = Timeline(server, studio)
        self.keys = KeyCommands(server, studio, self)
        self.panel = Panel(server, studio, self)
        studio.listen(self.notify)
        server.on_client_connect(self._connected)
        for topic in ("scene", "motion", "document", "selection", "job", "said"):
            self.notify(topic)  # type: ignore[arg-type]

    @property
    def url(self) -> str:
        """Address of the page, with the token."""
        host = self.server.get_host()
        shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::", "::1") else host
        place = f"{f'[{shown}]' if ':' in shown else shown}:{self.server.get_port()}"
        return f"http://{place}/?token={self.server.access.token}"

    @property
    def private(self) -> bool:
        """Return whether only this machine can reach it."""
        return is_loopback(self.server.get_host())

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        with self._lock:
            studio = self.studio
            if topic == "scene":
                self.scene.build(studio.world, studio.places)
                self.look()
            if topic in ("scene", "motion"):
                self.scene.fit_ghosts(studio.world, studio.original)
            if topic in ("scene", "motion", "time"):
                self.scene.pose(studio.world, studio.original, studio.player.time)
                self.server.flush()
            if topic == "motion":
                if studio.drags.current is None:
                    self.scene.put_static(studio.places)
                self.extras.show_motion()
                self.timeline.show_motion()
            if topic == "time":
                self.camera.show_time()
                self.extras.show_time()
                self.timeline.show_time()
            if topic in ("place", "motion", "time"):
                dragged = studio.drags.things()
                for name, T in dragged.items():
                    self.scene.put(name, T)
                if dragged:
                    self.server.flush()
            if topic == "selection":
                self.scene.mark(studio.selected)
                self.scene.pose(studio.world, studio.original, studio.player.time)
            if topic in ("selection", "document"):
                self.gizmo.show()
            self.panel.notify(topic)
            if topic == "job":
                self.server.tidy()

    def theme(self) -> None:
        """Light or dark."""
        brand = BRAND_IN_THE_DARK if self.dark else BRAND
        self.server.gui.configure_theme(
            show_logo=False, show_share_button=False, dark_mode=self.dark, brand_color=brand, control_width="medium"
        )

    def set_dark(self, dark: bool) -> None:
        """Light or dark."""
        self.dark = self.timeline.dark = self.scene.dark = dark
        self.theme()
        self.lights.set_dark(dark)
        self.scene.lay_floor()
        self.notify("motion")

    def _framed(self, view: BrowserView) -> None:
        """Cut walls open in front of what the camera has been turned to, and light it."""
        self.scene.cut_open(view.normal, view.limit)
        self.lights.aim(view.middle, view.radius)

    def look(self) -> None:
        """Frame the whole action."""
        self.camera.covered = self.timeline.height
        self.camera.frame()

    def _connected(self, client: viser.ClientHandle) -> None:
        """Fit timeline and camera to the scene, whose width is sent again when the panel has been laid out."""

        async def fit(camera: viser.CameraHandle) -> None:
            self.timeline.place(camera.image_width)
            self.camera.fit(client.client_id, camera)

        self.timeline.place(client.camera.image_width)
        client.camera.on_update(fit)

    def close(self) -> None:
        """Stop serving."""
        self.studio.close()
        self.gizmo.stop()
        self.panel.status.stop()
        self.server.stop()


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
