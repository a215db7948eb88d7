"""The studio's server in a process of its own, which can be killed, and which answers questions about its inside."""

from __future__ import annotations

import contextlib
import gc
import io
import logging
import multiprocessing
import os
import resource
import signal
import sys
import threading
import traceback
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.studio.document import Document, from_json
from elbowroom.studio.page import Page, opened
from elbowroom.studio.session import Session
from elbowroom.world.certificate import certify

# Threads without which the studio does nothing.
NEEDED = {"studio-worker", "studio-files", "studio-player", "studio-handle", "studio-status"}
# Seconds in which a server answers, on a machine that has much else to do.
_PATIENCE_S = 600.0
# Types whose objects are counted.
_COUNTED = ("World", "Plan", "Clip", "Mesh", "Character", "Skin", "DistanceField", "Document")


class Watched:
    """A server that runs; `url` is where."""

    def __init__(self, storyboard: str, work: Path, state: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, storyboard, work, state), daemon=True)
        self._process.start()
        self.url: str = self._answer(_PATIENCE_S)

    def ask(self, what: str) -> Any:
        """The answer to one of the questions of `Inside`."""
        self._pipe.send(what)
        return self._answer(_PATIENCE_S)

    def _answer(self, seconds: float) -> Any:
        assert self._pipe.poll(seconds), "the server does not answer: it hangs"
        answer = self._pipe.recv()
        if isinstance(answer, BaseException):
            raise AssertionError(str(answer)) from answer
        return answer

    def kill(self) -> None:
        """As a crash: nothing is done by the server after that."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.join(20.0)

    def stop(self) -> None:
        """End it in order."""
        self._pipe.send("stop")
        self._process.join(30.0)
        if self._process.is_alive():
            self.kill()


class Inside:
    """Answers, in the process of the server. What goes wrong in any of its threads is noted."""

    def __init__(self, page: Page, state: Path) -> None:
        self._page, self._studio, self._state = page, page.studio, state
        self._errors: list[str] = []
        self._certified = 0
        sys.stderr = _Heard(self._errors)
        threading.excepthook = lambda told: self._errors.append("".join(traceback.format_exception(told.exc_value)))
        logging.getLogger().addHandler(_Handler(self._errors))
        self._studio.listen(self._told)

    def _told(self, topic: str) -> None:
        text = self._studio.said[1]
        if topic == "said" and "went wrong inside" in text:
            self._errors.append(text)

    def facts(self) -> dict[str, Any]:
        """What is there now."""
        studio = self._studio
        with studio.lock:
            document, job = studio.document, studio.job
            names = {t.name for t in threading.enumerate() if t.is_alive()}
            errors, self._errors[:] = list(self._errors), []
            return {
                "document": document.as_json(),
                "name": document.name,
                "unsaved": studio.session.unsaved,
                "kept": len(studio.kept),
                "on disk": self._on_disk(),
                "places": {n: (p.kind, p.T[:3, 3].tolist()) for n, p in studio.places.items()},
                "people": list(studio.original.characters),
                "tasks": len(document.values.get("tasks", [])),
                "selected": studio.selected,
                "said": studio.said,
                "certified": studio.certified,
                "dragging": studio.drags.current is not None,
                "job": None if job is None else job.what,
                "dead": sorted(NEEDED - names),
                "threads": sorted(t.name for t in threading.enumerate()),
                "errors": errors,
            }

    def _on_disk(self) -> bool:
        """Whether the document as it is now is kept."""
        return any(_reads(file, self._studio.document) for file in (self._state / "studio").glob("*.autosave"))

    def readable(self) -> bool:
        """Whether the document can be read and meant again."""
        document = self._studio.document
        again = from_json(document.kept_text())
        again.board()
        return again.same(document)

    def first(self) -> str:
        """The document that undo leads back to."""
        with self._studio.lock:
            return _first(self._studio.session)

    def memory(self) -> float:
        """Megabytes in use after what nobody needs was given back."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 1024**2

    def counts(self) -> dict[str, int]:
        """How many there are of what could pile up."""
        server = self._page.server
        kinds = Counter(type(thing).__name__ for thing in gc.get_objects())
        return {
            "messages for new pages": len(server._websock_server._broadcast_buffer.message_from_id),
            "nodes of the scene": len(server.scene._handle_from_node_name),
            "controls": len(server.gui._gui_input_handle_from_uuid),
            "skins": self._page.scene._skins.kept,
            **{name: kinds[name] for name in _COUNTED},
            "objects": sum(kinds.values()),
        }

    def peak(self) -> float:
        """Megabytes in use at most since the server began."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def claim(self) -> str:
        """What is wrong with the claim that the motion is free; empty where it is right, or nothing is claimed."""
        studio = self._studio
        with studio.lock:
            if not studio.certified or studio.drags.current is not None:
                return "nothing is claimed"
            world, document = studio.world, studio.document
        meant = document.board().world
        for name, mesh in meant.static.items():
            off = float(np.abs(world.static[name].vertices - mesh.vertices).max(initial=0.0))
            if off > 1e-3:
                return f"{name} is {off:.4f} m from where the document says in {document.as_json()}"
        proof = certify(world, clearance=False)
        wrong = f"{proof.collisions[:2]} {proof.unproven[:2]} in {document.as_json()}"
        return "" if proof.free and proof.continuous else wrong


def _first(session: Session) -> str:
    return (session._done[0].before if session._done else session.document).as_json()


def _reads(file: Path, document: Document) -> bool:
    with contextlib.suppress(OSError):  # one that is thrown away just now
        return from_json(file.read_text()).same(document)
    return False


class _Heard(io.TextIOBase):
    """Notes what is printed as an error, and the lines of it that are no warnings."""

    def __init__(self, errors: list[str]) -> None:
        self._errors, self._text = errors, ""

    def write(self, text: str) -> int:
        self._text += text
        if self._text.endswith("\n") and "Error" in text:
            self._errors.append(self._text[-3000:])
        self._text = self._text[-6000:]
        sys.__stderr__.write(text)  # type: ignore[union-attr]
        return len(text)


class _Handler(logging.Handler):
    def __init__(self, errors: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._errors = errors

    def emit(self, record: logging.LogRecord) -> None:
        self._errors.append(self.format(record))


def _serve(pipe: Connection, storyboard: str, work: Path, state: Path) -> None:
    page = opened(storyboard, port=0, folder=work, state=state)
    inside = Inside(page, state)
    pipe.send(page.url)
    while (asked := pipe.recv()) != "stop":
        try:
            pipe.send(getattr(inside, asked)())
        except Exception:
            pipe.send(AssertionError(traceback.format_exc()))
    page.close()
