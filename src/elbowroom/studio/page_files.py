"""Files tab: open, save, import, export, and the same as a command or Python."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import viser

from elbowroom.studio import filing, importing
from elbowroom.studio.document import DETECTED, ImportChoice, Imported
from elbowroom.studio.exporting import FORMATS, as_command, as_python, export, report_on
from elbowroom.studio.folders import KINDS
from elbowroom.studio.headers import DROPPED, with_copy_button
from elbowroom.studio.page_looks import asked, offer, put
from elbowroom.studio.studio import Studio, Topic

_REPORT = "Measures the quality of the motion, on one page that opens offline."
_FLOOR = "Height in the imported scene that is aligned with the storyboard's floor."
_LINE = '<div style="margin:2px 10px 6px 10px;font-size:12.5px;opacity:.8">{}</div>'
_DROP = _LINE.format(
    "Drop files anywhere on the page, or choose one. Type, units, up axis and floor are detected; "
    "change them here to read the file again."
)
_NOBODY = "a new character"


class Files:
    """Form for opening, saving, importing and exporting."""

    def __init__(self, server: viser.ViserServer, studio: Studio, tab: Any) -> None:
        self._server, self._studio, gui = server, studio, server.gui
        drops = gui.add_upload_button("Dropped", mime_type=DROPPED, order=1.5)
        with tab:
            with gui.add_folder("Storyboard"):
                self._open = gui.add_dropdown("Open", tuple(filing.choices(studio)))
                opens = gui.add_button("Open", icon=viser.Icon.FOLDER_OPEN, color="gray")
                self._name = gui.add_text("Name", filing.suggested_name(studio))
                saves = gui.add_button("Save", icon=viser.Icon.DEVICE_FLOPPY)
            with gui.add_folder("Import", expand_by_default=False):
                self._read = gui.add_html(_DROP)
                self._as = gui.add_dropdown("As", importing.AS)
                self._whom = gui.add_dropdown("For", (_NOBODY,), visible=False)
                self._path = gui.add_text("Path", "", hint=f"A file in {studio.folders.work}.")
                self._units = gui.add_dropdown("Units", tuple(importing.UNITS))
                self._up = gui.add_dropdown("Up axis", tuple(importing.UP))
                self._floor = gui.add_dropdown("Floor", tuple(importing.FLOORS), hint=_FLOOR)
                brings = gui.add_button("Import", icon=viser.Icon.FILE_IMPORT, color="gray")
                loads = gui.add_upload_button("Upload", icon=viser.Icon.UPLOAD, color="gray", mime_type=_accepted())
            with gui.add_folder("Export"):
                self._formats = {name: gui.add_checkbox(name, name == "GLB") for name in FORMATS}
                self._stem = gui.add_text("File name", studio.document.name)
                exports = gui.add_button("Export", icon=viser.Icon.FILE_EXPORT)
                reports = gui.add_button("Report", icon=viser.Icon.REPORT_ANALYTICS, color="gray", hint=_REPORT)
            copies = gui.add_button("Copy as command or Python", icon=viser.Icon.CODE, color="gray")
        opens.on_click(asked(studio, lambda: filing.open_choice(studio, self._open.value)))
        saves.on_click(asked(studio, lambda: filing.save(studio, self._name.value)))
        brings.on_click(asked(studio, lambda: importing.bring_in(studio, self._path.value, self._choice)))
        loads.on_upload(asked(studio, lambda: self._load(loads.value)))
        drops.on_upload(asked(studio, lambda: self._load(drops.value)))
        exports.on_click(asked(studio, self._export))
        reports.on_click(asked(studio, lambda: report_on(studio, self._stem.value)))
        copies.on_click(asked(studio, self._show_code))
        for field in (self._as, self._units, self._up, self._floor, self._whom):
            field.on_update(self._chosen)
        self._doc: Path | None = None
        self._last: Imported | None = None
        self._rechosen = False  # a choice was made while a file was read

    @property
    def name(self) -> str:
        """File name to save under, from the form."""
        return self._name.value

    @property
    def path(self) -> str:
        """File to import, from the form."""
        return self._path.value

    @property
    def formats(self) -> list[str]:
        """Formats chosen for export."""
        return [name for name, box in self._formats.items() if box.value]

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        if topic == "document":
            offer(self._open, tuple(filing.choices(self._studio)))
            if self._doc != self._studio.document.path:
                self._doc = self._studio.document.path
                put(self._name, filing.suggested_name(self._studio))
                put(self._stem, self._studio.document.name)
            self._fit()
        if topic == "said" and self._last is not self._studio.imported:
            self._last = self._studio.imported
            if self._last is not None and self._rechosen:  # while it was read
                self._rechosen = False
                self._studio.trying(lambda: importing.again(self._studio, self._choice))
            elif self._last is not None:  # another choice reads the file again
                put(self._as, self._last.choice.kind)
                self._read.content = _LINE.format(f"{escape(self._last.text)} Change settings here to read it again.")
                self._fit()

    def _chosen(self, event: viser.GuiEvent) -> None:
        self._fit()
        if event.client is not None and self._studio.imported is not None:
            self._rechosen = self._studio.filer.busy
            if not self._rechosen:
                self._studio.trying(lambda: importing.again(self._studio, self._choice))

    def _fit(self) -> None:
        self._whom.visible = self._as.value in ("clip", "rig")
        self._floor.visible = self._as.value in (DETECTED, "scene")
        offer(self._whom, (_NOBODY, *self._studio.original.characters))

    @property
    def _choice(self) -> ImportChoice:
        """Hints for the import of a file, from the form."""
        whom = None if self._whom.value == _NOBODY or not self._whom.visible else self._whom.value
        floor = importing.FLOORS[self._floor.value] if self._floor.visible else None
        return ImportChoice(
            self._as.value, whom, importing.UNITS[self._units.value], importing.UP[self._up.value], floor
        )

    def _load(self, upload: viser.UploadedFile) -> None:
        """Import what was uploaded or dropped: as chosen, or detected where the choice was made for an earlier file."""
        choice = self._choice
        fits = choice.kind == DETECTED or Path(upload.name).suffix.lower() in KINDS[importing.kind_of(choice.kind)]
        if self._last is not None and (choice == self._last.choice or not fits):
            put(self._as, DETECTED)
            choice = ImportChoice()
        importing.upload(self._studio, upload.name, upload.content, choice)

    def _export(self) -> None:
        export(self._studio, self.formats, self._stem.value)

    def _show_code(self) -> None:
        document, stem = self._studio.document, self._stem.value
        with self._server.gui.add_modal("The same without the studio") as modal:
            unsaved = document.given or self._studio.session.unsaved
            note = '<div style="padding:2px 4px;font-size:13px">Save the storyboard first.</div>' if unsaved else ""
            self._server.gui.add_html(note + with_copy_button("Command", as_command(document, stem)))
            self._server.gui.add_html(with_copy_button("Python", as_python(document, stem)))
            close = self._server.gui.add_button("Close", color="gray")
            close.on_click(lambda event: modal.close())


def _accepted() -> str:
    return ",".join(sorted({suffix for kind in KINDS.values() for suffix in kind} - {".yaml", ".yml"}))
