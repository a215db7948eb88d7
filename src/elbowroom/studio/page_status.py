"""Status at the top of the panel, which never scrolls away, with cancel, repair, undo, redo and unsaved work."""

from __future__ import annotations

import threading
import time
from html import escape

import viser

from elbowroom.studio import filing
from elbowroom.studio.actions import repair_all, to_repair
from elbowroom.studio.dragging import MEASURING
from elbowroom.studio.headers import COMES_BACK, TAKES_FILES
from elbowroom.studio.messages import nearest
from elbowroom.studio.page_looks import asked, halves, pinned
from elbowroom.studio.studio import Studio, Tone, Topic

_GOOD, _BAD, _WAIT, _PLAIN = "#3d8a5f", "#c8443c", "#c98a1b", "#7a868e"
# Interval at which the duration of a job is updated, seconds; shorter jobs are not shown.
_EVERY = 0.4
# Time after which a job shows the Cancel button, seconds, so that it does not flicker.
_PATIENCE = 1.0
_TOP = "elbowroom-status"
_REPAIR = "Re-plans limbs that collide; everything else stays unchanged."


class StatusBar:
    """Status line, last message, and buttons."""

    def __init__(self, server: viser.ViserServer, studio: Studio) -> None:
        self._studio, gui = studio, server.gui
        self._server = server
        # one or the other is at the right of the line: there is nothing to repair while a job runs
        self._cancel = gui.add_button("Cancel", icon=viser.Icon.X, color="gray", order=-2, visible=False)
        self._repair = gui.add_button("Repair", icon=viser.Icon.BANDAGE, order=-1, visible=False, hint=_REPAIR)
        self._line = gui.add_html("", order=0)
        gui.add_html(pinned(_TOP, [self._cancel, self._repair]) + COMES_BACK + TAKES_FILES, order=1)
        self._undo = gui.add_button("Undo", icon=viser.Icon.ARROW_BACK_UP, color="gray", order=4, disabled=True)
        self._redo = gui.add_button("Redo", icon=viser.Icon.ARROW_FORWARD_UP, color="gray", order=4.1, disabled=True)
        gui.add_html(halves(self._undo, self._redo), order=4.2)
        self._cancel.on_click(lambda event: studio.cancel())  # the cancelled job may hold the studio's lock
        self._repair.on_click(asked(studio, lambda: repair_all(studio)))
        self._undo.on_click(asked(studio, studio.undo))
        self._redo.on_click(asked(studio, studio.redo))
        self._ended, self._awake = threading.Event(), threading.Event()
        self._watch = threading.Thread(target=self._watched, name="studio-status", daemon=True)
        self._watch.start()

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        if topic in ("motion", "job", "document", "said"):
            self._show()
        if topic == "document":
            session = self._studio.session
            for button, word, what in ((self._undo, "Undo", session.can_undo), (self._redo, "Redo", session.can_redo)):
                if button.label != f"{word} {what}".strip():
                    button.label = f"{word} {what}".strip()
                if button.disabled == bool(what):
                    button.disabled = not what
        if topic == "job" and self._studio.job is not None:
            self._awake.set()

    def _show(self) -> None:
        studio = self._studio
        job = studio.job
        long = job is not None and job.state == "running" and (job.lengthy or job.seconds > _EVERY)
        color, text = _summary(studio)
        if long and job is not None and job.what == MEASURING and studio.certified:
            text = f"{text}; {job.what} …"
        elif long and job is not None:
            line = job.progress_line or job.what
            color, text = _WAIT, f"{line[:1].upper()}{line[1:]} … {job.seconds:.1f} s"
        name = studio.document.name + (" •" if studio.session.unsaved else "")
        tone, said = studio.said
        done = job.progress if long and job is not None else None
        excused = escape("; ".join(_exceptions(studio)))
        # room for two lines of text, the bar and a message of two lines at any time: the tabs below stay where they are
        content = (
            f'<div id="{_TOP}" style="padding:8px 10px 2px 10px;font-size:13px"><div style="opacity:.65;'
            f'padding-right:84px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap">{escape(name)}</div>'
            f'<div title="{excused}" style="margin-top:2px;line-height:1.5;min-height:3em">'
            f'<span style="display:inline-block;width:8px;'
            f'height:8px;border-radius:4px;background:{color};margin-right:7px"></span>{escape(text)}</div>'
            f'{_bar(done)}<div style="min-height:3.9em">{_boxed(said, tone)}</div></div>'
        )
        if self._line.content != content:
            self._line.content = content
        self._cancel.visible = job is not None and job.state == "running" and job.seconds > _PATIENCE
        self._repair.visible = job is None and bool(to_repair(studio))

    def _watched(self) -> None:
        """Update the duration of a long job."""
        while not self._ended.is_set():
            self._awake.wait()
            self._awake.clear()
            while self._studio.job is not None and not self._ended.is_set():
                if not self._ended.wait(_EVERY):
                    self._show()

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        self._awake.set()
        self._watch.join(2.0)


def _summary(studio: Studio) -> tuple[str, str]:
    plan = studio.plan
    if studio.live and plan is not None and plan.status == "partial":
        return _BAD, f"Blocked: {plan.why}"
    if studio.live:
        return _WAIT, "Not yet certified"
    if plan is None:
        return _PLAIN, "Not planned yet"
    verdict = studio.verdict
    if verdict in ("unknown", "not free"):
        return _BAD, "Collisions remain" if verdict == "not free" else "No motion found"
    if not studio.world.characters:
        return _PLAIN, "No characters: nothing to certify"
    near = nearest(plan)
    color, text = (
        (_GOOD, "Certified collision-free") if verdict == "certified" else (_WAIT, "No collision found, not proven")
    )
    but = _exceptions(studio)
    said = [f"{len(but)} exception{'s' * (len(but) > 1)}: hover to read"] if but else []
    return color, "; ".join([text, *([near] if near else []), *said])


def _exceptions(studio: Studio) -> list[str]:
    """Sentences on what the proof of the plan excuses."""
    certificate = None if studio.plan is None else studio.plan.certificate
    return [] if certificate is None else certificate.exceptions


def _bar(done: float | None) -> str:
    """HTML progress bar, from 0 to 1; its room alone if unknown."""
    rail = "transparent" if done is None else f"{_WAIT}30"
    return (
        f'<div style="margin:5px 0 1px;height:4px;border-radius:2px;background:{rail}"><div style="height:4px;'
        f'border-radius:2px;background:{_WAIT};width:{100.0 * (done or 0.0):.1f}%"></div></div>'
    )


def _boxed(text: str, tone: Tone) -> str:
    """HTML of the last message with a coloured line; empty if there is none."""
    color = {"good": _GOOD, "bad": _BAD, "plain": _PLAIN}[tone]
    return text and (
        f'<div style="margin:5px 0 3px;padding:6px 9px;border-left:3px solid {color};font-size:12.5px;'
        f'background:{color}18">{escape(text)}</div>'
    )


_TAKE, _DROP = "Restore", "Discard"


class KeptWork:
    """Line and two buttons at the top of the panel, while there is unsaved work."""

    def __init__(self, server: viser.ViserServer, studio: Studio) -> None:
        self._studio, gui = studio, server.gui
        self._line = gui.add_html("", order=5.0, visible=False)
        self._buttons = gui.add_button_group(" ", (_TAKE, _DROP), order=6.0, visible=False)
        self._buttons.on_click(asked(studio, self._answered))

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        if topic != "document":
            return
        kept = self._studio.kept
        self._line.visible = self._buttons.visible = bool(kept)
        if kept:
            when = time.strftime("%d %B, %H:%M", time.localtime(kept[0].when))
            text = f"Unsaved changes to {kept[0].document.name} from {when} can be restored."
            self._line.content = f'<div style="padding:6px 10px 2px 10px;font-size:12.5px">{escape(text)}</div>'

    def _answered(self) -> None:
        if self._studio.kept:
            act = filing.restore if self._buttons.value == _TAKE else filing.drop
            act(self._studio, self._studio.kept[0])
