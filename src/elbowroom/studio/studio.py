"""Studio without its page: one document, its motion, the selection, and the current work.

Listeners are notified of changes by topic: 'scene' (other characters or objects), 'motion' (other frames), 'time',
'place' (an object is being moved), 'selection', 'job', 'said', 'document' (edits, undo, files).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from elbowroom.errors import ElbowroomError
from elbowroom.geometry.rotations import Array
from elbowroom.plan.state.result import Plan
from elbowroom.search.birrt import keeping_trees
from elbowroom.stopping import Cancelled
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.document import Document, Imported, named_files, sharing
from elbowroom.studio.dragging import Dragging
from elbowroom.studio.folders import Folders
from elbowroom.studio.messages import advised, sentence
from elbowroom.studio.places import ScenePlace, places_of, task_of
from elbowroom.studio.player import Player
from elbowroom.studio.session import Autosave, PlanCache, Session, UnsavedWork
from elbowroom.studio.worker import BoardBuilder, StudioJob, Worker
from elbowroom.world.world import World

Topic = Literal["scene", "motion", "time", "place", "selection", "job", "said", "document"]
Tone = Literal["good", "bad", "plain"]
Verdict = Literal["certified", "free", "not free", "unknown"]


class Studio:
    """State and actions of the page. Calls may come from any thread."""

    def __init__(self, document: Document, folders: Folders, state: Path) -> None:
        self.folders = folders
        self.lock = threading.RLock()
        self._listeners: list[Callable[[Topic], None]] = []
        self.autosave = Autosave(state)
        self._has_dragged = state / "has-dragged"  # there once this user knows how
        self.kept: list[UnsavedWork] = self.autosave.found()
        self.selected: str | None = None
        self.said: tuple[Tone, str] = ("plain", "")
        self._said_of: Document | None = None
        self.plan: Plan | None = None
        self.live = False  # the motion is not proven yet
        self.reweighted: Plan | None = None  # by strengths of edits, last
        self.drags = Dragging(self)
        self.builder = BoardBuilder(lambda: self.tell("job"))
        self.worker = Worker(lambda: self.tell("job"))
        self.filer = Worker(lambda: self.tell("job"), "studio-files")  # files are handled while edits are made
        self.player = Player(lambda t: self.tell("time"))
        self.check_files(document)
        self.board: Storyboard = document.board()
        self.session = Session(document, self.autosave)
        self._cache = PlanCache(document)
        self.places: dict[str, ScenePlace] = places_of(document, self.board)
        self.imported: Imported | None = None
        self.player.set_span(self.world.span)

    # --- state

    @property
    def document(self) -> Document:
        """Current document."""
        return self.session.document

    @property
    def original(self) -> World:
        """World before planning."""
        return self.board.world

    @property
    def world(self) -> World:
        """World shown: with the planned motion if there is one, or with the preview of a drag."""
        return self.plan.world if self.plan is not None and (self.plan.edits or self.live) else self.board.world

    @property
    def verdict(self) -> Verdict:
        """Verdict on the motion shown: 'certified' is proven collision-free, 'free' is not proven to be so."""
        proof = None if self.live or self.plan is None else self.plan.certificate
        if proof is None:
            return "unknown"
        if proof.free and proof.continuous:
            return "certified"
        return "free" if proof.free or proof.only_unproven else "not free"

    @property
    def certified(self) -> bool:
        """Return whether the motion shown is proven collision-free."""
        return self.verdict == "certified"

    def listen(self, listener: Callable[[Topic], None]) -> None:
        """Register a listener for changes."""
        self._listeners.append(listener)

    def tell(self, *topics: Topic) -> None:
        """Notify all listeners of changes."""
        for topic in topics:
            for listener in self._listeners:
                listener(topic)

    @property
    def has_edits(self) -> bool:
        """True if edits of the plan are those of the motion shown: not while a drag changes it."""
        return self.plan is not None and (not self.live or self.plan is self.reweighted)

    def say(self, text: str, tone: Tone = "plain") -> None:
        """Show the user a message of one sentence."""
        self.said, self._said_of = (tone, text), self.document
        self.tell("said")

    def run(self, job: StudioJob) -> StudioJob:
        """Run a long job on the motion; errors are shown."""
        job.failed = self.failed
        return self.worker.submit(job)

    def run_files(self, job: StudioJob) -> StudioJob:
        """Run a long job on files, which edits do not stop; errors are shown."""
        job.failed = self.failed
        return self.filer.submit(job)

    @property
    def job(self) -> StudioJob | None:
        """Current job on the document, the motion or files: the one that has run longest."""
        going = [job for job in (self.builder.current, self.worker.current, self.filer.current) if job is not None]
        return max(going, key=lambda job: job.seconds, default=None)

    def trying(self, act: Callable[[], Any]) -> bool:
        """Run a user action and show its errors; returns whether it succeeded."""
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
        """End all threads; unsaved work stays autosaved."""
        self.player.stop()
        self.builder.cancel()
        self.filer.cancel()  # both end at the same time
        for worker in (self.worker, self.filer):
            worker.stop(0.5)
        self.autosave.close()

    # --- edits

    def edit(self, what: str, document: Document, *, replan: bool = True, board: Storyboard | None = None) -> None:
        """Make an edit, if the storyboard stays valid, and re-plan; `board` is that of the document if known."""
        self.check_files(document)
        with self.lock:
            board = board or self.builder.board(what, document)
            self.session.do(what, document)
            self.show(board)
            if replan:
                self.replan()

    def undo(self) -> None:
        """Undo the last edit."""
        self._step("undo", self.session.undo, self.session.redo)

    def redo(self) -> None:
        """Redo the last undone edit."""
        self._step("redo", self.session.redo, self.session.undo)

    def _step(self, verb: str, step: Callable[[], str], back: Callable[[], str]) -> None:
        with self.lock:
            what = step()
            if not what:
                return self.say(f"Nothing to {verb}.")
            try:
                board = self.builder.board(f"{verb} {what}", self.document)
            except BaseException:  # cancelled, or a file that it refers to is gone
                back()
                raise
            self.show(board)
            self.say(f"{'Undid' if verb == 'undo' else 'Redid'}: {what}.")
            self.replan()

    def show(self, board: Storyboard, *, keep: bool = False) -> None:
        """Show another storyboard; with `keep` the current motion is still valid for it."""
        board = board if keep else sharing(board, self.board.world)
        if not keep:
            self.drags.forget()
            self.plan, self.live = None, False
        self.board, same = board, self._cache.built(self.document)
        self.places = places_of(self.document, board)
        if self.selected is not None and self.selected not in self.places:
            self.selected = None
        self.player.set_span(self.world.span)
        self.tell(*(() if same else ("scene",)), "motion", "document", "selection", "time")

    def open(self, document: Document, board: Storyboard | None = None) -> None:
        """Open another document in place of this one; `board` is its storyboard if known."""
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
        """Restore a document that was not saved."""
        self.check_files(document)
        board = self.builder.board(f"restore {document.name}", document)
        with self.lock:
            self.session.take_up(document)
            self.show(board)
            self.replan()

    def check_files(self, document: Document) -> None:
        """Raise if a document refers to files that may not be read."""
        self.folders.check_named(named_files(document.values), document.path.parent)

    # --- planning

    def replan(self, instead: Callable[[], Plan | None] = lambda: None) -> None:
        """Re-plan the whole storyboard in place of the current work, unless `instead` or the cache has a plan."""
        with self.lock:
            self.worker.cancel()
            document, board = self.document, self.board
            known = self._cache.of(document)
            if known is not None:
                self.set_plan(known)
                return
            what = "planning" if board.tasks else "checking"
            kept: list[Plan] = []

            @keeping_trees()
            def work(job: StudioJob) -> Plan:
                followed = instead()
                kept.extend([followed] if followed is not None else [])
                return followed or plan_storyboard(board, seed=document.seed, tier=document.tier)

            def done(plan: Plan) -> None:
                with self.lock:
                    if self.board is board:
                        self.set_plan(plan)
                        if kept:
                            self.say("The motion followed the drag; press Re-plan to plan it from scratch.")

            self.worker.submit(StudioJob(what, work, done, self.failed))

    def plan_from_scratch(self) -> None:
        """Plan the whole storyboard from scratch, ignoring the cache."""
        with self.lock:
            self._cache.forget()
            self.replan()

    def cancel(self) -> None:
        """Cancel the current work."""
        if any([self.builder.cancel(), self.worker.cancel(), self.filer.cancel()]):
            kept = " The motion shown is not planned yet: press Re-plan to plan it, or Undo to revert the edit."
            self.say("Cancelled." + (kept if self.live and self.drags.current is None else ""))

    def set_plan(self, plan: Plan, *, live: bool = False) -> None:
        """Show a motion; a `live` one is not proven. Proven ones are cached for undo and redo."""
        other = self.plan is None
        self.plan, self.live = plan, live
        self.player.set_span(self.world.span)
        self.tell("motion", *(("document",) if other or not live else ()))
        if live:
            return
        self._cache.keep(self.document, plan)
        if other and self.selected is None and not self.session.can_undo:
            self._offer(plan)
        hint = self._hint()
        if not plan.found:
            self.say(advised(plan), "bad")
        elif self.said[0] != "good" or self._said_of is not self.document:
            self.say(self.autosave.warning or hint, "bad" if self.autosave.warning else "plain")

    def _hint(self) -> str:
        """Sentence for a user who has never dragged anything; empty for others."""
        if self.selected is None or self.session.can_undo or self._has_dragged.exists():
            return ""
        return f"Drag the {self.selected} by its arrows: the motion follows. Release to certify it."

    def began_drag(self) -> None:
        """Remember that this user knows how to drag, and drop messages about the motion before it."""
        with suppress(OSError):  # the hint is shown once more
            self._has_dragged.touch()
        if self.said[1]:
            self.say("")

    def _offer(self, plan: Plan) -> None:
        """Select a colliding obstacle, as something to drag, and go to the time of the collision."""
        if plan.collisions and not self.player.playing and self.player.time == self.player.span[0]:
            self.player.seek(0.5 * sum(plan.collisions[0].during))
        names = [name for c in plan.collisions for name in c.pair]
        self.select(next((n for n in names if n in self.places and self.places[n].kind in ("static", "object")), None))

    def failed(self, error: BaseException) -> None:
        """Show an error."""
        if isinstance(error, ElbowroomError):
            self.say(sentence(error, self.document.path), "bad")
        else:
            self.say(f"Internal error ({type(error).__name__}: {error}).", "bad")

    # --- selection and drags

    def select(self, name: str | None) -> None:
        """Select an object by name, or clear the selection."""
        with self.lock:
            if self.drags.current is not None and self.drags.current.name != name:
                self.drags.let_go()
            self.selected = name if name in self.places else None
            task = task_of(self.selected or "")
        self.tell("selection")
        if task is not None:  # show the task at its time
            ((_, args),) = self.document.values["tasks"][task].items()
            if args.get("at") is not None:
                self.player.pause()
                self.player.seek(float(args["at"]))

    def place(self, name: str, T: Array) -> None:
        """Move an object at once, as if dragged there and released."""
        self.drags.move(name, T)
        self.drags.let_go()
