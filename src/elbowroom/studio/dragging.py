"""Drags in the scene: of obstacles, which the motion avoids, and of task targets, which hands follow."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.plan.state.result import Plan
from elbowroom.studio.document import sharing
from elbowroom.studio.live import Drag, Walking
from elbowroom.studio.places import places_of
from elbowroom.studio.reaching import Reaching, Shown
from elbowroom.studio.worker import StudioJob
from elbowroom.world.certificate import certify

if TYPE_CHECKING:
    from elbowroom.studio.studio import Studio

# Seconds for re-planning while an object is dragged, and after it was released.
_LIVE, _SETTLE = 0.3, 1.0

# Hundredths of a second for which an object rests before a thorough re-plan.
_RESTS = 20

# Progress text after a motion is proven, while its clearance is measured.
MEASURING = "measuring"


class Dragging:
    """Current drag, if any: `to` is the object's current position, `followed` its position in the motion shown.

    `short` is a sentence on why a hand does not reach the target dragged last; empty if it does.
    """

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self.current: Drag | Reaching | Walking | None = None
        self.to: Array | None = None
        self.followed: Array | None = None
        self.short = ""
        self._before: tuple[Plan | None, bool] = (None, False)

    def move(self, name: str, T: Array) -> None:
        """Move an object to `T` (4, 4)."""
        studio = self._studio
        if not np.all(np.isfinite(T)):
            raise BadValue(f"'{name}' needs a position of finite numbers.")
        with studio.lock:
            if self.current is not None and (self.current.name, self.current.document) != (name, studio.document):
                self.let_go() if self.current.document is studio.document else self.forget()
            if self.current is None:
                self._begin(name)
            drag, self.to = self.current, T
            assert drag is not None
            if isinstance(drag, Drag):
                self._follow(drag, T)
            else:
                self._reach(drag, T)
        studio.tell("place")

    def _begin(self, name: str) -> None:
        """Begin a drag, in place of the current work."""
        studio = self._studio
        if name not in studio.places:
            raise UnknownName("movable object", name, studio.places)
        studio.worker.cancel()
        studio.began_drag()
        self._before, self.followed = (studio.plan, studio.live), None
        if Walking.suits(name, studio.document, studio.board):
            self.current, self.short = Walking(name, studio.document, studio.board, studio.plan), ""
            return
        drag = Drag(name, studio.document, studio.board, studio.plan)
        if drag.can_follow:
            self.current, self.short = drag, ""
            return
        exact = not (studio.live and self.short)  # a hand out of reach gives no target transform
        t = studio.player.time
        self.current = Reaching(name, studio.document, studio.board, studio.plan, t, exact=exact)
        if self.current.at is not None:  # show the task at its time
            studio.player.pause()
            studio.player.seek(self.current.at)

    def let_go(self) -> None:
        """End the drag with an edit; the motion is proven, or re-planned if tasks involve the object."""
        studio = self._studio
        with studio.lock:
            drag, T = self.current, self.to
            if drag is None or T is None:
                return
            self.current = self.to = None
            if isinstance(drag, Drag):
                studio.session.do(f"move {drag.name}", drag.let_go(T))
                self._settle(drag, T)
            elif not studio.trying(lambda: self._plan(drag, T)):
                self._back()

    def forget(self) -> None:
        """Abandon the drag: the document has changed otherwise."""
        self.current = self.to = None

    def things(self) -> Mapping[str, Array]:
        """Positions to show for dragged objects, by name, (4, 4)."""
        drag, T = self.current, self.to
        if drag is None or T is None:
            return {}
        if isinstance(drag, Drag):
            return dict.fromkeys(drag.names, T)
        return drag.things_at(T, self._studio.player.time)

    def _reach(self, drag: Reaching | Walking, T: Array) -> None:
        """Let the motion follow the dragged target, with the hand as close to it as possible."""
        studio = self._studio

        def done(shown: Shown) -> None:
            with studio.lock:
                if self.current is drag:
                    self.followed = T
                    self._show(shown)

        studio.worker.submit_live(StudioJob("reaching", lambda job: drag.follow(T), done, studio.failed))

    def _show(self, shown: Shown) -> None:
        studio, self.short = self._studio, shown.why
        studio.set_plan(shown.plan, live=True)
        if studio.said[1] != shown.why:
            studio.say(shown.why, "bad" if shown.why else "plain")

    def _plan(self, drag: Reaching | Walking, T: Array) -> None:
        """Plan for the released position; the preview is shown until that is done."""
        studio = self._studio
        document = drag.let_go(T)
        board = sharing(studio.builder.board(f"move {drag.name}", document), studio.board.world)
        studio.worker.cancel()
        if document.same(studio.document):
            return self._back()
        T = places_of(document, board)[drag.name].T  # as written in the storyboard
        shown = drag.follow(T)
        self._show(shown)
        studio.session.do(f"move {drag.name}", document)
        studio.show(board, keep=True)
        studio.replan(lambda: drag.kept(T, shown))

    def _back(self) -> None:
        """Restore the state before the drag."""
        studio = self._studio
        studio.plan, studio.live = self._before
        studio.show(studio.board, keep=studio.plan is not None)
        if studio.plan is None or studio.live:  # the interrupted work has to be restarted
            studio.replan()

    def _follow(self, drag: Drag, T: Array) -> None:
        """Let the motion follow an object, without proof. If no path is found at once, search while it rests."""
        studio = self._studio

        def show(plan: Plan) -> None:
            with studio.lock:
                if self.current is drag:
                    self.followed = T
                    studio.set_plan(plan, live=True)

        def longer(job: StudioJob) -> Plan:
            for _ in range(_RESTS):  # an object that moves on cancels this before compiled code has to end
                time.sleep(0.01)
                job.look()
            return drag.follow(T)

        def done(plan: Plan) -> None:
            show(plan)
            if not plan.found:
                studio.worker.submit_idle(StudioJob("searching for a detour", longer, show, studio.failed))

        studio.worker.submit_live(
            StudioJob("following", lambda job: drag.follow(T, seconds=_LIVE), done, studio.failed)
        )

    def _settle(self, drag: Drag, T: Array) -> None:
        """Prove the motion for the released position; clearance is measured after that."""
        studio = self._studio
        board = drag.moved_board(studio.document)
        T = places_of(studio.document, board)[drag.name].T  # as written in the storyboard
        studio.live = True  # even if nothing has followed yet: the proof is for another position
        studio.show(board, keep=True)

        def work(job: StudioJob) -> Plan:
            plan = drag.follow(T, sure=True, seconds=_SETTLE)
            plan = drag.prove(plan, T) if plan.found else plan
            if plan.found:
                return plan
            job.what, job.progress_line, job.lengthy = "searching for a detour", "", True
            studio.tell("job")
            return drag.repair_from_scratch(T)

        def measure(job: StudioJob) -> Plan:
            plan = studio.plan
            assert plan is not None
            before = certify(board.world, clearance=False, contacts="never").collisions
            return drag.prove(plan, T, clearance=True).with_(collisions=before)

        def done(plan: Plan) -> None:
            with studio.lock:
                if studio.board is board:
                    studio.set_plan(plan)
                    if plan.certificate is not None and plan.certificate.clearance_m is None and plan.found:
                        studio.worker.submit(StudioJob(MEASURING, measure, done, studio.failed))

        studio.worker.submit(StudioJob("certifying", work, done, studio.failed))
