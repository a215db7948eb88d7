"""The studio without its page: one document, its motion, what is selected, and the work that goes on.

Whoever shows it is told of changes by topic: 'scene' (other people or things), 'motion' (other frames), 'time', 'place'
(something is being moved), 'selection', 'job', 'said', 'document' (edits, undo, files).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from elbowroom.errors import ElbowroomError
from elbowroom.geometry.rotations import Array
from elbowroom.plan.result import Plan
from elbowroom.search.birrt import keeping_trees
from elbowroom.stopping import Cancelled
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.autosave import Autosave, Kept
from elbowroom.studio.building import Builder
from elbowroom.studio.document import Document, named_files
from elbowroom.studio.dragging import Dragging
from elbowroom.studio.folders import Folders
from elbowroom.studio.known import Known
from elbowroom.studio.places import Place, places_of, task_of
from elbowroom.studio.player import Player
from elbowroom.studio.session import Session
from elbowroom.studio.sharing import sharing
from elbowroom.studio.words import advised, sentence
from elbowroom.studio.worker import Job, Worker
from elbowroom.world.world import World

Topic = Literal["scene", "motion", "time", "place", "selection", "job", "said", "document"]
Tone = Literal["good", "bad", "plain"]
Verdict = Literal["certified", "free", "not free", "unknown"]


class Studio:
    """Everything that the page shows and does. Calls may come from any thread."""

    def __init__(self, document: Document, folders: Folders, state: Path) -> None:
        self.folders = folders
        self.lock = threading.RLock()
        self._listeners: list[Callable[[Topic], None]] = []
        self.autosave = Autosave(state)
        self.kept: list[Kept] = self.autosave.found()
        self.selected: str | None = None
        self.said: tuple[Tone, str] = ("plain", "")
        self._said_of: Document | None = None
        self.plan: Plan | None = None
        self.live = False  # whether the motion is one that was not proven yet
        self.drags = Dragging(self)
        self.builder = Builder(lambda: self.tell("job"))
        self.worker = Worker(lambda: self.tell("job"))
        self.filer = Worker(lambda: self.tell("job"), "studio-files")  # files come and go while edits are made
        self.player = Player(lambda t: self.tell("time"))
        self.check_files(document)
        self.board: Storyboard = document.board()
        self.session = Session(document, self.autosave)
        self._known = Known(document)
        self.places: dict[str, Place] = places_of(document, self.board)
        self.player.set_span(self.world.span)

    # --- what is there

    @property
    def document(self) -> Document:
        """The document as it is now."""
        return self.session.document

    @property
    def original(self) -> World:
        """The world before anything is planned."""
        return self.board.world

    @property
    def world(self) -> World:
        """The world that is shown: with the planned motion where there is one, or that which goes along with a drag."""
        return self.plan.world if self.plan is not None and (self.plan.edits or self.live) else self.board.world

    @property
    def verdict(self) -> Verdict:
        """What is known of the motion that is shown: 'certified' is proven free, 'free' is not proven to be so."""
        proof = None if self.live or self.plan is None else self.plan.certificate
        if proof is None:
            return "unknown"
        if proof.free and proof.continuous:
            return "certified"
        return "free" if proof.free or proof.only_unproven else "not free"

    @property
    def certified(self) -> bool:
        """Whether the motion that is shown is proven free."""
        return self.verdict == "certified"

    def listen(self, listener: Callable[[Topic], None]) -> None:
        """Be told of changes."""
        self._listeners.append(listener)

    def tell(self, *topics: Topic) -> None:
        """Tell everybody of changes."""
        for topic in topics:
            for listener in self._listeners:
                listener(topic)

    def say(self, text: str, tone: Tone = "plain") -> None:
        """Say something in one sentence where the user looks."""
        self.said, self._said_of = (tone, text), self.document
        self.tell("said")

    def run(self, job: Job) -> Job:
        """Do something long with the motion; what goes wrong is said."""
        job.failed = self.failed
        return self.worker.submit(job)

    def run_files(self, job: Job) -> Job:
        """Do something long with files, which edits do not stop; what goes wrong is said."""
        job.failed = self.failed
        return self.filer.submit(job)

    @property
    def job(self) -> Job | None:
        """What is going on, with the document, the motion or files: that which has been at it for longer."""
        going = [job for job in (self.builder.current, self.worker.current, self.filer.current) if job is not None]
        return max(going, key=lambda job: job.seconds, default=None)

    def trying(self, act: Callable[[], Any]) -> bool:
        """Do something that the user asked for; what is wrong with it is said. Whether it went well."""
        try:
            with self.lock:
                act()
        except ElbowroomError as error:
            self.say(sentence(error, self.document.path), "bad")
            return False
        except Cancelled:
            return False
        return True

    def close(self) -> None:
        """End all threads; unsaved work stays kept."""
        self.player.stop()
        self.builder.cancel()
        self.filer.cancel()  # both end at the same time
        for worker in (self.worker, self.filer):
            worker.stop(0.5)
        self.autosave.close()

    # --- edits

    def edit(self, what: str, document: Document, *, replan: bool = True, board: Storyboard | None = None) -> None:
        """Make an edit, if the storyboard can be meant so, and plan again; `board` is that of the document if known."""
        self.check_files(document)
        with self.lock:
            board = board or self.builder.board(what, document)
            self.session.do(what, document)
            self.show(board)
            if replan:
                self.replan()

    def undo(self) -> None:
        """Take the last edit back."""
        self._step("undo", self.session.undo, self.session.redo)

    def redo(self) -> None:
        """Make the last undone edit again."""
        self._step("redo", self.session.redo, self.session.undo)

    def _step(self, verb: str, step: Callable[[], str], back: Callable[[], str]) -> None:
        with self.lock:
            what = step()
            if not what:
                return self.say(f"Nothing to {verb}.")
            try:
                board = self.builder.board(f"{verb} {what}", self.document)
            except BaseException:  # cancelled, or a file that it names is gone
                back()
                raise
            self.show(board)
            self.say(f"{'Undid' if verb == 'undo' else 'Did again'}: {what}.")
            self.replan()

    def show(self, board: Storyboard, *, keep: bool = False) -> None:
        """Show another storyboard; with `keep` the motion that is there is still right for it."""
        board = board if keep else sharing(board, self.board.world)
        if not keep:
            self.drags.forget()
            self.plan, self.live = None, False
        self.board, same = board, self._known.built(self.document)
        self.places = places_of(self.document, board)
        if self.selected is not None and self.selected not in self.places:
            self.selected = None
        self.player.set_span(self.world.span)
        self.tell(*(() if same else ("scene",)), "motion", "document", "selection", "time")

    def open(self, document: Document, board: Storyboard | None = None) -> None:
        """Open another document in place of this one; `board` is its storyboard if that is known."""
        self.check_files(document)
        board = board or self.builder.board(f"open {document.name}", document)
        with self.lock:
            self.worker.cancel()
            self.session.open(document)
            self.kept = self.autosave.found()
            self.selected = None
            self.show(board)
            self.player.seek(board.world.span[0])
            self.replan()

    def take_up(self, document: Document) -> None:
        """Go on with a document that was not saved."""
        self.check_files(document)
        board = self.builder.board(f"restore {document.name}", document)
        with self.lock:
            self.session.take_up(document)
            self.show(board)
            self.replan()

    def check_files(self, document: Document) -> None:
        """Raise where a document names files that may not be read."""
        self.folders.check_named(named_files(document.values), document.path.parent)

    # --- planning

    def replan(self, instead: Callable[[], Plan | None] = lambda: None) -> None:
        """Plan the whole storyboard again, in place of what is going on, unless there is a plan to take instead."""
        with self.lock:
            self.worker.cancel()
            document, board = self.document, self.board
            known = self._known.of(document)
            if known is not None:
                self.set_plan(known)
                return
            what = "planning" if board.tasks else "checking"

            @keeping_trees()
            def work(job: Job) -> Plan:
                kept = instead()
                job.step = "" if kept is None else "kept"
                return kept or plan_storyboard(board, seed=document.seed, tier=document.tier)

            def done(plan: Plan) -> None:
                with self.lock:
                    if self.board is board:
                        self.set_plan(plan)
                        if job.step:
                            self.say("The motion went along; 'Plan anew' plans it from the start.")

            job = self.worker.submit(Job(what, work, done, self.failed))

    def plan_anew(self) -> None:
        """Plan the whole storyboard from the start, whatever is known of it."""
        with self.lock:
            self._known.forget()
            self.replan()

    def cancel(self) -> None:
        """Stop what is going on."""
        if any([self.builder.cancel(), self.worker.cancel(), self.filer.cancel()]):
            kept = " The motion that is shown is not planned yet: 'Plan anew' does that, 'Undo' takes the edit back."
            self.say("Cancelled." + (kept if self.live and self.drags.current is None else ""))

    def set_plan(self, plan: Plan, *, live: bool = False) -> None:
        """Show a motion; a `live` one is not proven. Proven ones are remembered for undo and redo."""
        other = self.plan is None
        self.plan, self.live = plan, live
        self.player.set_span(self.world.span)
        self.tell("motion", *(("document",) if other or not live else ()))
        if live:
            return
        self._known.keep(self.document, plan)
        if other and self.selected is None and not self.session.can_undo:
            self._offer(plan)
        if not plan.found:
            self.say(advised(plan), "bad")
        elif self.said[0] != "good" or self._said_of is not self.document:
            self.say(self.autosave.warning, "bad" if self.autosave.warning else "plain")

    def _offer(self, plan: Plan) -> None:
        """Select what was in the way, so that there is something to drag, and show when it was."""
        if plan.collisions and not self.player.playing and self.player.time == self.player.span[0]:
            self.player.seek(0.5 * sum(plan.collisions[0].during))
        names = [name for c in plan.collisions for name in c.pair]
        self.select(next((n for n in names if n in self.places and self.places[n].kind in ("static", "object")), None))

    def failed(self, error: BaseException) -> None:
        """Say that something went wrong."""
        if isinstance(error, ElbowroomError):
            self.say(sentence(error, self.document.path), "bad")
        else:
            self.say(f"Something went wrong inside ({type(error).__name__}: {error}).", "bad")

    # --- selection and drags

    def select(self, name: str | None) -> None:
        """Select something by name, or nothing."""
        with self.lock:
            if self.drags.current is not None and self.drags.current.name != name:
                self.drags.let_go()
            self.selected = name if name in self.places else None
            task = task_of(self.selected or "")
        self.tell("selection")
        if task is not None:  # what is done there is seen at its time
            ((_, told),) = self.document.values["tasks"][task].items()
            if told.get("at") is not None:
                self.player.pause()
                self.player.seek(float(told["at"]))

    def place(self, name: str, T: Array) -> None:
        """Put something somewhere else at once, as if it was dragged there and let go."""
        self.drags.move(name, T)
        self.drags.let_go()
